"""Biases of other systems: the declarations of Aleph and Popper, translated into ours.

`ForeignReader` of `systems` reads them clause by clause; `dialect` recognises the system. `terms`
parses the declarations, and `translation` collects the resulting bias.
"""

from relynx.bias.foreign.systems import ForeignReader, dialect

__all__ = ["ForeignReader", "dialect"]
