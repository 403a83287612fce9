"""Matching by words of bits, an event a bit, for facts about one event each.

`cover` is the door. `lines` matches patterns that are paths along one dimension, in which the
sequences are lines, on arrays of words, one array for each fact; it needs variables of few values.
`tries` matches mined patterns along paths in any dimensions, each from what it extends. What
neither can do is left to backtracking.
"""

from relynx.mining.matching.bits.covering import Asked, Left, cover

__all__ = ["Asked", "Left", "cover"]
