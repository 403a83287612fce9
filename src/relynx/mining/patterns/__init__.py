"""Patterns and sets of patterns.

`Pattern` is a conjunction of atoms, `PatternSet` the result of a search. A set keeps its patterns
as a `trie`; `measures`, `borders` and `version_space` compute on it.
"""
