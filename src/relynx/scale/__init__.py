"""Data larger than the memory of one machine, on the workers of Dask.

`connected` opens a client of a scheduler; `transform` and `predict` let its workers do the work of
a vectorizer or classifier, one partition at a time. `mine` takes a client itself.
"""

from relynx.scale.dask import connected, predict, transform

__all__ = ["connected", "predict", "transform"]
