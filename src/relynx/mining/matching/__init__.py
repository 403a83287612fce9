"""Matching: which sequences a pattern covers, and by which substitutions.

`match` has the doors, `covers` and `match`; `index` arranges the facts of some sequences.
"""
