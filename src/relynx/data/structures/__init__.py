"""Protein structures (PDB, mmCIF, BinaryCIF) as sequences of helices and strands.

`read_structures` reads the files; `formats` is the only module that uses biotite, and `sheets`
orders the strands of each sheet.
"""

from relynx.data.structures.reader import read_structures

__all__ = ["read_structures"]
