"""Files that relynx writes for itself: model files, checkpoints, and writing them safely.

`archive` packs plain values and arrays into a model file and reads it back with checks; `parts`
holds the checked values of such a file. `journal` is the folder of a checkpoint, `segments` its
format, and `whole_files` writes files that appear complete or not at all. Nothing here knows about
sequences, patterns or models.
"""
