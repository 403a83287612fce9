"""XES event logs of process mining.

`read_xes` parses a file event by event (`parser`), keeps all that it holds as a `Log`, and reads
the log as an event table (`event_table`). `writer.write_xes` writes sequences and their log again;
it needs more of scipy than a reader should load, so import it from its module.
"""

from relynx.data.xes.reader import is_xes, read_xes

__all__ = ["is_xes", "read_xes"]
