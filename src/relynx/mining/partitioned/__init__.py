"""Search over partitions, one at a time or on the workers of Dask.

`search.PartitionSearch` is the door: a first pass finds candidates in each partition, a second one
counts them in all; `passes` has what is done with one partition, here or on a worker.
"""
