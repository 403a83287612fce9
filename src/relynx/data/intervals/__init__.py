"""Interval tables: events that last, with Allen's relations between them.

`from_intervals` is the door. `endpoints` reads the starts and ends, `pairs` finds the related
pairs without looking at all of them, and `allen` names the thirteen relations.
"""
