"""
Why this fold?
==============

A model of patterns can say what it saw. We learn to tell Rossmann folds from flavodoxins with a
handful of patterns, and ask for the reasons of single decisions.
"""

import numpy as np
from sklearn.model_selection import GroupShuffleSplit

import relynx as rx

folds = rx.load_protein_folds()
two = np.isin(folds.y, ["c.2", "c.23"])
X, y, families = folds.X[two], folds.y[two], folds.groups[two]
train, test = next(GroupShuffleSplit(1, test_size=0.3, random_state=0).split(y, y, families))
model = rx.LynxClassifier(
    folds.bias, max_length=2, max_features=200, n_features=6, max_iter=20, random_state=0
).fit(X[train], y[train])
print(f"{model.score(X[test], y[test]):.3f} of {len(test)} domains of families not seen")

# %%
# The whole model, as shares of the training domains:

rx.plot_patterns(model.selected_, words=folds.bias)

# %%
# The domain of the test part that the model is most sure about, and why:

shares = model.predict_proba(X[test])
sure = X[int(test[shares.max(axis=1).argmax()])]
explanation = rx.explain(model, sure)
print(explanation)

# %%
# One of its patterns, where it lies:

here = next(entry.pattern for entry in model.selected_ if rx.covers(entry.pattern, sure)[0])
rx.plot_sequence(sure, here)

# %%
# A domain that the model gets wrong is more telling. What did it see there?

wrong = np.flatnonzero(model.predict(X[test]) != y[test])
print(len(wrong), "wrong:", *(X[int(test[i])].id for i in wrong))
doubtful = X[int(test[wrong[0]])]
print(rx.explain(model, doubtful))

# %%
# **Found:** each decision is a sum of a few lines, and each line is a sentence about strands that
# can be looked up in the structure. One pattern more or less would often have changed it, and the
# explanation says which.
