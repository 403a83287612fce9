"""A conditional random field on logical sequences: boosted relational regression trees."""
