"""Event tables: data frames, CSV and Parquet files to sequences, and back.

The door is `reader.from_events` and `writer.to_events`; import them from there, so that `frames`,
which other rooms use to write tables, stays light. `inputs` opens a table and checks its names,
`columns` encodes each column, `plans` decides what becomes of it, and `facts` makes the facts. The
result is a `Schema` (`relynx.data.schema`), so that later tables are read in the same way. `frames`
is the only module that uses narwhals.
"""
