"""The search engines: how all frequent patterns of a language are enumerated.

`choose` takes one for a bias and settings, `base` has what every engine shares, `compiled` the bias
as numbers. Kernels, in the modules whose names begin with an underscore, are compiled by numba and
work on flat arrays.
"""
