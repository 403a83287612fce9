"""Data larger than the memory of one machine, on the workers of Dask."""
