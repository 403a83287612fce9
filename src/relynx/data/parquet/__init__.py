"""Data sets larger than memory: folders of Parquet partitions.

`partitions` has the doors, `scan_parquet` and `write_parquet`. `files` is the only module that uses
pyarrow, `manifest` describes a folder, `writer` writes one, and `footers` checks untrusted files.
"""
