"""Protein structures (PDB, mmCIF, BinaryCIF) as sequences of helices and strands.

`read_structures` reads the files and orders the strands of each sheet; `formats` is the only module
that uses biotite.
"""

from relynx.data.structures.reader import read_structures

__all__ = ["read_structures"]
