"""
Whose week is it?
=================

Four people, 159 weeks, 7,297 check-ins: where they went, at what hour, on which day, what it
cost. The table is a data frame, as such data usually come. Can a week be given back to its
person, and by what?
"""

import pandas as pd
from sklearn.model_selection import train_test_split

import relynx as rx

table = pd.read_csv("data/checkins/checkins.csv.gz", na_values=["-999", "-999.0"])
table["label"] = "p" + table["label"].astype(str)
table.head()

# %%
# One row is one event. ``tid`` says which week it is of, the rows are in the order of time, and
# each further column becomes a fact of its event. Hours are cut into quarters of the day.

X, y = rx.from_events(
    table,
    sequence="tid",
    label="label",
    fluents=["poi", "day", "hour", "price", "weather"],
    bins={"hour": [6, 12, 18]},
)
print(X.reading)

# %%
# The bias: values are names, so they are constants; and *somewhere later* is true of almost
# anything in a week of fifty check-ins, so only *next* and *the one after next* are left.

bias = rx.parse_bias("""
    type(poi(event,poi)).         mode(poi(+,#)).
    type(day(event,day)).         mode(day(+,#)).
    type(hour(event,hour)).       mode(hour(+,#)).
    type(price(event,price)).     mode(price(+,#)).
    dimension(next_s). negconstraint([follow_s(_,_)]).
    maxsize(2). minsupport(0.3).
    words(poi(E,P), 'a visit to {P}').
    words(day(E,D), 'a visit on {D}').
    words(hour(E,H), 'a visit at {H} h').
    words(price(E,P), 'a visit of price {P}').
""")
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
model = rx.LynxClassifier(
    bias, multiclass="single", max_features=200, max_iter=10, n_features=10, random_state=0
).fit(X_train, y_train)
print(f"{model.score(X_test, y_test):.3f} of {len(y_test)} weeks go to the right person")

# %%
# Ten habits are enough:

rx.plot_patterns(model.selected_, words=bias)

# %%
# Which weeks go wrong?

rx.plot_confusion(y_test, model.predict(X_test))

# %%
# **Found:** people are told by habits that are small and their own. No map and no name was
# needed, which is worth remembering when such tables are given away.
