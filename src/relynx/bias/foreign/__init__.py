"""Biases of other systems: the declarations of Aleph and Popper, translated into ours.

`read_foreign` is the door; `translation` collects what the declarations of either come to.
"""
