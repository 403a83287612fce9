"""Event tables: data frames, CSV and Parquet files to sequences, and back.

`from_events` and `to_events` are the doors. On the way in, `tables` opens the input, `columns`
encodes each column, `plans` decides what becomes of it, `order` sorts the events, and `facts`
makes the facts. What was decided is kept as a `schema`, so that later tables are read alike.
`frames` is the only module that uses narwhals.
"""
