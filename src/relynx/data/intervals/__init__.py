"""Interval tables: events that last, with Allen's relations between them.

`from_intervals` reads the starts and ends of the rows, finds the related pairs without comparing
all of them (`endpoints`), and encodes the rest as an event table.
"""

from relynx.data.intervals.reader import from_intervals

__all__ = ["from_intervals"]
