"""
A rule under wrong labels
=========================

Real labels are never all right. Here the truth is known: every event is an action on an object,
and a sequence is a *yes* if the action ``a0`` and later ``a1`` are done to the same object. Then
some labels are turned round. Up to which share is the rule still found?
"""

import matplotlib.pyplot as plt
import numpy as np

import relynx as rx
from relynx.models.evaluation.baselines import baselines

bias = rx.parse_bias("""
    type(do(event,action,object)). mode(do(+,#,*)).
    dimension(next_s). maxsize(2).
""")
rule = "do(A,a0,B), follow_s(A,C), do(C,a1,B)"
X_test, y_test = rx.planted_rule(400, random_state=100)

# %%
# Two classifiers for each share of wrong labels, three draws each; the test labels are all right.

shares = [0.0, 0.1, 0.2, 0.3]
draws = range(3)
accuracy = {
    "patterns": np.zeros((len(shares), len(draws))),
    "n-grams": np.zeros((len(shares), len(draws))),
}
found = np.zeros((len(shares), len(draws)), bool)
for i, share in enumerate(shares):
    for draw in draws:
        X, y = rx.planted_rule(200, flip=share, random_state=draw)
        model = rx.LynxClassifier(bias, max_iter=5, n_features=2, random_state=0).fit(X, y)
        accuracy["patterns"][i, draw] = model.score(X_test, y_test)
        found[i, draw] = rule in model.selected_.texts()
        simple = baselines(X)["n-gram linear SVM"].fit(X, y)
        accuracy["n-grams"][i, draw] = simple.score(X_test, y_test)

figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for name, values in accuracy.items():
    ax.plot(shares, values.mean(axis=1), marker="o", label=name)
    ax.fill_between(shares, values.min(axis=1), values.max(axis=1), alpha=0.2)
ax.set(
    xlabel="share of wrong labels in training", ylabel="accuracy on right labels", ylim=(0.4, 1.02)
)
_ = ax.legend()

# %%
# How often the rule itself is among the patterns selected:

for share, hits in zip(shares, found, strict=True):
    print(f"{share:4.0%} wrong: in {hits.sum()} of {len(draws)} draws")

# %%
# And what a model looks like with one label in five wrong:

X, y = rx.planted_rule(200, flip=0.2, random_state=0)
rx.LynxClassifier(bias, max_iter=5, random_state=0).fit(X, y).selected_

# %%
# **Found:** the rule survives, since no other pattern comes near it. Runs of symbols never had
# hold of it: they know what was done, but not to what.
