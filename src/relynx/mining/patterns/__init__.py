"""Patterns and sets of patterns.

`Pattern` is a conjunction of atoms, `PatternSet` the result of a search. A set keeps its patterns
as a `trie`; `measures` and `borders` compute on it, and `ordering` has the one order of patterns.
"""
