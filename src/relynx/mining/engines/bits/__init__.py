"""The bit-parallel engine: sets of events are words of 64 bits.

`engine.Bits` is the door. `event_facts` encodes the facts of some sequences, indexed both ways; on
these, `_row_kernels` follow the matches of a pattern from step to step, `_count_kernels` count
all refinements of a pattern in one pass, and `_attachment_kernels` find the ways to link a new
event, and write refinements in canonical form. `mining.matching.tries` uses the same rows.
"""
