"""Biases of other systems: the declarations of Aleph and Popper, translated into ours.

`ForeignReader` reads them clause by clause; `dialect` recognises the system. `systems` interprets
the declarations, `terms` parses them, and `translation` collects the resulting bias.
"""

from relynx.bias.foreign.reader import ForeignReader, dialect

__all__ = ["ForeignReader", "dialect"]
