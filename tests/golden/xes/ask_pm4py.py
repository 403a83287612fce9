"""Asks pm4py whether each log of a folder is the one written again: `ask_pm4py.py FOLDER`."""

import sys
from pathlib import Path

import pandas as pd
from pm4py.objects.conversion.log import converter
from pm4py.objects.log.importer.xes import importer
from pm4py.objects.log.importer.xes.importer import Variants

for second in sorted(Path(sys.argv[1]).glob("again_*")):
    first = second.with_name(second.name.removeprefix("again_"))
    one, two = (importer.apply(str(path), variant=Variants.ITERPARSE) for path in (first, second))
    assert [dict(t.attributes) for t in one] == [dict(t.attributes) for t in two], second
    assert (one.attributes, one.classifiers) == (two.attributes, two.classifiers), second
    frames = [converter.apply(log, variant=converter.Variants.TO_DATA_FRAME) for log in (one, two)]
    pd.testing.assert_frame_equal(*frames)
    print(f"{first.name}: {len(two)} traces and {len(frames[1])} events, the same again")
