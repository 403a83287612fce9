"""
Intervals, and Allen's relations as rules
=========================================

The data are 210 recordings of a hand that handles coloured blocks. What was seen are intervals:
*something holds from here to there*. Intervals are not in a line; they overlap, contain and meet
each other. Allen's relations say how, and they are a few rules.
"""

from collections import defaultdict
from pathlib import Path

import numpy as np

import relynx as rx
from relynx.models.evaluation import cross_validate

folder = Path("data/blocks")
intervals = defaultdict(list)
for line in (folder / "data.txt").read_text().splitlines():
    sequence, symbol, start, end = map(int, line.split())
    intervals[sequence].append((start, end, symbol))
y = np.array([f"class {c}" for c in (folder / "classes.txt").read_text().split()])

# %%
# Each interval is an event with a symbol and two times.


def atoms(some):
    """The facts of one recording, its intervals in the order of their starts."""
    for i, (start, end, symbol) in enumerate(sorted(some)):
        yield rx.Atom("on", (f"e{i}", f"s{symbol}"))
        yield rx.Atom("time", (f"e{i}", start, end))


rules = rx.parse_background("""
    before(X,Y)   :- time(X,_,B), time(Y,C,_), B < C.
    overlaps(X,Y) :- time(X,A,B), time(Y,C,D), A < C, C =< B, B < D.
    during(X,Y)   :- time(X,A,B), time(Y,C,D), C < A, B < D.
    starts(X,Y)   :- time(X,A,B), time(Y,A,D), B < D.
    finishes(X,Y) :- time(X,A,B), time(Y,C,B), C < A.
""")
X = rx.Sequences.from_atoms(
    [[*atoms(intervals[i])] for i in range(len(y))], background=rules, labels=y
)
X

# %%
# Nothing here is a dimension: the rules are the order. A relation may be entered from either
# side.

relations = ("before", "overlaps", "during", "starts", "finishes")
bias = rx.parse_bias(
    "type(on(event,symbol)). mode(on(+,#)). key([on(_,_)]). "
    + " ".join(f"type({r}(event,event)). mode({r}(+,-)). mode({r}(-,+))." for r in relations)
)
found = rx.mine(X, y, bias, min_support=0.5, max_length=3)
marks = found.filter(min_confidence=0.95)
rx.plot_patterns(marks, n=8, measure="wracc")

# %%
# Many patterns mark a class without exception. The classes also come in pairs, with the same
# symbols in the opposite order:

for text in ("on(A,s3), before(A,B), on(B,s8)", "on(A,s8), before(A,B), on(B,s3)"):
    hits = rx.covers(text, X)
    print(text, {c: int(hits[y == c].sum()) for c in np.unique(y).tolist() if hits[y == c].any()})

# %%
# One model for all eight classes, each part of three held out in turn:

model = rx.LynxClassifier(
    bias,
    min_support=0.5,
    max_length=3,
    multiclass="single",
    max_features=200,
    max_iter=5,
    n_features=12,
)
result = cross_validate(model, X, y, folds=3)
print(f"accuracy {result.mean:.3f}")
rx.plot_confusion(result)

# %%
# **Found:** classes 1, 3 and 6 have symbol 3 before symbol 8, and classes 2, 4 and 5 the other
# way round: the same actions, done and undone. A count of symbols cannot tell them apart; one
# relation can.
