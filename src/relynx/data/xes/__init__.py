"""XES event logs of process mining.

`read_xes` and `writer.write_xes` are the doors. `reader` parses the file event by event, `log`
keeps all that it said, and `tables` turns it into an event table.
"""
