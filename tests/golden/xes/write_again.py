"""Reads every log of a folder with relynx and writes it beside it: `write_again.py FOLDER`."""

import sys
from pathlib import Path

import relynx as rx

folder = Path(sys.argv[1])
for path in sorted(folder.glob("*.xes*")):
    X, _ = rx.read_xes(path)
    rx.write_xes(X, folder / f"again_{path.name}")
