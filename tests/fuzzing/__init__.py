"""Broken inputs for every reader and for `load`; `python tests/fuzz.py` runs them."""
