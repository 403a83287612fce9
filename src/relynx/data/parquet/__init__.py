"""Data sets larger than memory: folders of Parquet partitions.

`scan_parquet` opens a folder as `Partitions`, and `write_parquet` writes one. `manifest` describes
a folder, `codec` is the only module that uses pyarrow, and `writer` writes the partitions.
"""

from relynx.data.parquet.partitions import Partitions, scan_parquet
from relynx.data.parquet.writer import write_parquet

__all__ = ["Partitions", "scan_parquet", "write_parquet"]
