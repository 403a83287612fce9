"""Matching: which sequences a pattern covers, and by which substitutions.

`match` has the doors, `covers` and `match`; `index` arranges the facts of some sequences. Facts
about one event each are matched on words of bits, an event a bit: `lines` takes patterns that are
paths along one dimension, in which the sequences are lines, and needs variables of few values;
`tries` takes mined patterns along paths in any dimensions, each from what it extends. What neither
can do is left to backtracking, by a `plan` for each pattern.
"""
