"""The one order of patterns, by length and canonical form, and the order in which atoms are read.

`order.canonical_order` sorts the rows of a trie; `reading` writes patterns as text, the same for
all variants. `shapes` and `_numbering_kernels` compute the canonical form of many patterns on
integers.
"""
