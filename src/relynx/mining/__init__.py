"""Patterns: asking them of sequences, and finding them."""
