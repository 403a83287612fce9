"""Files that relynx writes for itself: model files and checkpoints, and atomic writing.

`write_archive` packs plain values and arrays into a model file, and `read_archive` reads it back
with checks, as a `Part` whose fields are checked when they are taken; `fields` has the declarations
of what a class stores. A `Journal` keeps the results of interrupted work in a folder; `whole_file`
makes files appear complete or not at all. Nothing here knows about sequences, patterns or models.
"""

from relynx.storage.archive import read_archive, write_archive
from relynx.storage.journal import Journal, Work
from relynx.storage.parts import ModelFile, Part
from relynx.storage.whole_files import whole_file

__all__ = ["Journal", "ModelFile", "Part", "Work", "read_archive", "whole_file", "write_archive"]
