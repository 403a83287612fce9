"""Labelled sequences of structured events, and the rooms that read and write them.

`sequences` is the container and `vocabulary` holds its constants; `event_arguments` and
`event_order` say which constants are events, and in which order. `schema` records how a table was
read, with the cuts of its numbers (`discretise`, and `class_cuts` for those learnt inside `fit`).
Each format has a room with a `reader` and, where it can be written, a `writer` (in `parquet`, both
are `partitions`): `tables`, `intervals`, `xes`, `lynx`, `structures`, `parquet`. They import the
container, never the reverse: a writer that is a method of the container registers itself there, and
is loaded here. `lists` reads Python lists; `data_sets` has the data that come with relynx.
"""

import relynx.data.parquet.partitions  # noqa: F401
