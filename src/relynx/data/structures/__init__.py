"""Protein structures (PDB, mmCIF, BinaryCIF) as sequences of helices and strands.

`read_structures` is the door. `files` is the only module that uses biotite; `sheets` orders the
strands of each sheet.
"""
