"""
Different names, different things
=================================

In plain logic two variables may stand for one thing. *A helix of some length, later a helix of
some length* is then true of two short helices, and of a short and a long one. Under Object
Identity, the default, different variables are different. What does that change?
"""

import matplotlib.pyplot as plt
import numpy as np

import relynx as rx
from relynx.models.evaluation.cross_validation import cross_validate

folds = rx.load_protein_folds()

# %%
# A question with two lengths, three ways:

same = "helix(X,alpha,L), next_s(X,Y), helix(Y,alpha,L)"
other = "helix(X,alpha,L), next_s(X,Y), helix(Y,alpha,M)"
any_ = "helix(X,alpha,_), next_s(X,Y), helix(Y,alpha,_)"
for text in (same, other, any_):
    on = rx.covers(text, folds.X).sum()
    off = rx.covers(text, folds.X, object_identity=False).sum()
    print(f"{text:50} with {on:3}   without {off:3}")

# %%
# With Object Identity, L and M are two lengths; L and L are one; and the underscore is for *never
# mind*. Without it the second question is the same as the third, and *two helices of different
# lengths* cannot be said at all.
#
# It also shapes the search. Here are helices with a length that is a variable, along the chain:

bias = rx.parse_bias("""
    type(helix(event,class,size)). mode(helix(+,#,*)).
    type(strand(event)).           mode(strand(+)).
    dimension(next_s).
""")
X, y = folds.X[::3], folds.y[::3]
found = {
    identity: rx.mine(X, y, bias, max_length=3, max_gap=1, object_identity=identity)
    for identity in (True, False)
}
for identity, patterns in found.items():
    print("with" if identity else "without", f"Object Identity: {len(patterns):,} patterns")

# %%
# Patterns that cover the same sequences are one feature. Which features can be had with it, and
# which without?

features = {
    identity: {np.packbits(column).tobytes() for column in patterns.coverage(X).T}
    for identity, patterns in found.items()
}
counts = {
    "only with": len(features[True] - features[False]),
    "with and without": len(features[True] & features[False]),
    "only without": len(features[False] - features[True]),
}
figure, ax = plt.subplots(figsize=(6, 1.6), layout="constrained")
ax.barh([*counts], [*counts.values()])
ax.bar_label(ax.containers[0])
_ = ax.set(xlabel="different features")

# %%
# Does it matter for a classifier? All patterns of length 2, one naive Bayes for the five folds,
# no family on both sides:

for identity in (True, False):
    model = rx.LynxClassifier(
        bias,
        max_length=2,
        object_identity=identity,
        multiclass="single",
        selection=None,
        max_features=200,
    )
    result = cross_validate(model, folds.X, folds.y, folds=3, groups=folds.groups)
    print("with" if identity else "without", f"Object Identity: accuracy {result.mean:.3f}")

# %%
# **Found:** it is a choice of questions more than of accuracy. Hundreds of features can be asked
# for only with Object Identity, those about things that differ, and hundreds only without. With
# it a pattern is what it looks like: two names, two things.
