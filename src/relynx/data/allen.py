"""The names of Allen's thirteen relations of two intervals, and of what they become.

Intervals are closed: the one from 1 to 3 and the one from 3 to 5 share the moment 3, and the first
meets the second. Which relation the first has to the second is a matter of two comparisons:

- it starts first: `finished_by` if they end together, `contains` if it ends last; else it is
  `before` the second, `meets` or `overlaps` it, as it ends before, when or after that starts;
- they start together: `starts` if it ends first, `equals` or `started_by`;
- it starts last: the inverses of the first line, `finishes`, `during`, `after`, `met_by` and
  `overlapped_by`.

So one relation holds of any two intervals, also of points, which end when they start: a point at
the start of an interval `starts` it, one at its end `finishes` it, and no point meets or overlaps
anything.
"""

from __future__ import annotations

CONTACT = ("meets", "overlaps", "starts", "during", "finishes", "equals")  # one of each pair
INVERSE = {
    "before": "after",
    "meets": "met_by",
    "overlaps": "overlapped_by",
    "starts": "started_by",
    "during": "contains",
    "finishes": "finished_by",
    "equals": "equals",
}
INVERSE |= {inverse: name for name, inverse in INVERSE.items()}
BEFORE, AFTER = "before", "after"
SHARE_TIME = tuple(name for name in INVERSE if name not in (BEFORE, AFTER))

START, END = "start", "end"
DIMENSIONS = (START, END, BEFORE, *SHARE_TIME)  # what may link intervals
MADE = DURATION, GAP = "duration", "gap"  # the columns that are made of their times
