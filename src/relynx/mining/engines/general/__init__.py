"""The general engine: lists of matches, for every language.

`engine.General` is the door. `_listing_kernels` list the matches of a pattern from those of its
parent, `_general_kernels` count all refinements that occur beside them, `_refinement_kernels` write
these down, and `_sibling_kernels` do all of this for many siblings in one call.
"""
