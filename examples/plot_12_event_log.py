"""
An event log there and back
===========================

Tools of process mining exchange XES logs. The check-ins of four people become such a log, one week
a trace; relynx reads it, learns whose week it is, and gives the log back with its answers.
"""

import tempfile
from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

import relynx as rx

table = pd.read_csv("data/checkins/checkins.csv.gz", na_values=["-999", "-999.0"])
table["person"] = "p" + table["label"].astype(str)
table = table.rename(columns={"poi": "concept:name", "tid": "week"})
weeks, y = rx.from_events(
    table,
    sequence="week",
    label="person",
    fluents=["concept:name", "day", "hour", "weather"],
    bins={"hour": None},
)
folder = Path(tempfile.mkdtemp())
rx.write_xes(weeks, folder / "weeks.xes.gz")
rx.write_xes(weeks[:1], folder / "first.xes")
print("\n".join((folder / "first.xes").read_text().splitlines()[3:13]))

# %%
# Attributes of events are in the events, the person is an attribute of the trace. Reading it needs
# the name of the label only. The reading says what became of each attribute.

X, y = rx.read_xes(folder / "weeks.xes.gz", label="person", bins={"hour": [6, 12, 18]})
print(X.reading)

# %%
# Half of the weeks are learnt from, the other half is asked about.

bias = rx.parse_bias("""
    type(concept_name(event,place)).  mode(concept_name(+,#)).
    type(day(event,day)).             mode(day(+,#)).
    type(hour(event,hour)).           mode(hour(+,#)).
    dimension(next_s). negconstraint([follow_s(_,_)]).
    maxsize(2). minsupport(0.3).
    words(concept_name(E,P), 'a visit to {P}').
    words(day(E,D), 'a visit on {D}').
    words(hour(E,H), 'a visit at {H} h').
""")
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
model = rx.LynxClassifier(
    bias, multiclass="single", max_features=200, max_iter=10, n_features=8, random_state=0
).fit(X_train, y_train)
rx.plot_patterns(model.selected_, words=bias)

# %%
# The weeks of the test as a log again, each with its prediction beside the person. All else is as
# it was, types and order included, so that any other tool can go on from here.

answers = model.predict(X_test)
rx.write_xes(X_test, folder / "answers.xes", answers, label="predicted")
_, written = rx.read_xes(folder / "answers.xes", label="predicted", attributes=[])
print(f"{(written == y_test).mean():.3f} of {len(written)} weeks have the right person")
rx.plot_confusion(y_test, written)

# %%
# **Found:** a log can go through relynx without a loss. What it learnt comes back as one more
# attribute of each trace.
