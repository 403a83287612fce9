"""Files of the original Lynx program: `begin(Id,Class). ... end.`

`reader` turns the text into facts, and `writer` writes it.
"""

from relynx.data.lynx.reader import read_lynx
from relynx.data.lynx.writer import write_lynx

__all__ = ["read_lynx", "write_lynx"]
