"""
What GRASP does
===============

Selection is a search with luck in it. Its history shows how much the luck matters, and when more
rounds stop paying. The data are the promoters of the example before.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import relynx as rx

strings, labels = [], []
for line in Path("data/promoters.data").read_text().splitlines():
    sign, _, bases = (part.strip() for part in line.split(","))
    strings.append(list(bases))
    labels.append("promoter" if sign == "+" else "other")
X, y = rx.from_lists(strings, labels)
bias = rx.parse_bias("""
    type(a(event)). type(c(event)). type(g(event)). type(t(event)).
    mode(a(+)). mode(c(+)). mode(g(+)). mode(t(+)).
    dimension(next_s). negconstraint([follow_s(_,_)]).
""")
found = rx.mine(X, y, bias, min_support=0.3, max_length=3, max_gap=3)
M = found.coverage(X).astype(int)
M.shape

# %%
# Thirty rounds, with at most six patterns. Each draws its own alpha: 0 takes the best candidate
# at each step, 1 any.

selector = rx.GraspSelector(max_iter=30, n_features=6, random_state=0).fit(M, y)
rx.plot_grasp(selector)

# %%
# The line of each round leads from the errors of the set that it built to those after the local
# search. A round with a large alpha builds a bad set, and the local search repairs nearly all of
# it.

built = np.array([one.error_built for one in selector.history_])
final = np.array([one.error for one in selector.history_])
print(f"built: {built.mean():.1f} errors in the mean; after the local search: {final.mean():.1f}")
print(f"the best round: {selector.errors_} errors of {len(y)}")

# %%
# So which moves matter? The paper's local search adds and swaps, the original program's adds and
# drops.

moves = {
    "none": (),
    "add, drop": ("add", "drop"),
    "add, swap": ("add", "swap"),
    "all": ("add", "drop", "swap"),
}
errors = {
    name: [
        one.error
        for one in rx.GraspSelector(max_iter=30, n_features=6, moves=some, random_state=0)
        .fit(M, y)
        .history_
    ]
    for name, some in moves.items()
}
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.boxplot([*errors.values()], tick_labels=[*errors], orientation="horizontal")
ax.set(xlabel="errors of a round", ylabel="moves")
for name, some in errors.items():
    print(f"{name:10} mean {np.mean(some):5.1f}   best {min(some):.0f}")

# %%
# **Found:** with a bound on the number of patterns, *swap* does the work. A full set cannot take
# one more, and to drop one hardly ever helps by itself.
