"""Files of the original Lynx program: `begin(Id,Class). ... end.`

`read_lynx` and `write_lynx` read and write them; `parser` turns the text into facts.
"""

from relynx.data.lynx.reader import read_lynx
from relynx.data.lynx.writer import write_lynx

__all__ = ["read_lynx", "write_lynx"]
