"""Data sets larger than memory: folders of Parquet partitions.

`scan_parquet` opens a folder as `Partitions`, and `write_parquet` writes one. `manifest` describes
a folder, and `codec` is the only module that uses pyarrow.
"""

from relynx.data.parquet.partitions import Partitions, scan_parquet, write_parquet

__all__ = ["Partitions", "scan_parquet", "write_parquet"]
