"""
The topology of a sheet
=======================

In a Rossmann fold and a flavodoxin the same pieces, parallel strands with helices between them,
are laid out in a different order. Along the chain the two look alike. What differs is the order
of the strands *across the sheet*: dimension ``h``.
"""

import numpy as np

import relynx as rx

folds = rx.load_protein_folds()
two = np.isin(folds.y, ["c.2", "c.23"])
X, y = folds.X[two], folds.y[two]

# %%
# First, the chain alone: strands and helices as they follow each other, with their sizes.

chain = rx.parse_bias("""
    type(he(event,hand,class,size)). mode(he(+,#,#,#)).
    type(st(event,sense,size)).      mode(st(+,#,#)).
    dimension(next_s).
""")
along = rx.mine(X, y, chain, max_length=3)
along.top_k(3, "information_gain")

# %%
# Now the bias that comes with the data: strands, in the order of the chain among themselves
# (``b``) and across the sheet (``h``). Links may close circles: *next along the chain, and two
# apart in the sheet*.

print(folds.bias)
across = rx.mine(X, y, folds.bias, max_length=3, min_support=0.3)
across.top_k(3, "information_gain")

# %%
# The best pattern of each kind, in bits of information about the fold; one bit would be all there
# is to know of two classes of the same size.

for name, found in {"along the chain": along, "across the sheet": across}.items():
    print(
        f"{name}: {len(found):,} patterns, best {found.measure('information_gain').max():.2f} bits"
    )

# %%
# What each fold has, drawn as shares. (``b`` counts strands along the chain, ``h`` across the
# sheet.)

rx.plot_patterns(across, n=4, measure="information_gain")

# %%
# Put into one question: X and Y lie side by side, X the next strand after Y along the chain; then
# Y and Z lie side by side, Z the n-th after Y. With n = 2 the strands lie in the order 2-1-3,
# with n = 3 in the order 2-1-4.


def layout(n):
    """Three parallel strands side by side: 2, 1 and n + 1."""
    return (
        "next_h(X,Y), next_b(Y,X), ladder(X,Y,plus), "
        f"next_h(Y,Z), followat_b({n},Y,Z), ladder(Y,Z,plus)"
    )


for n in (2, 3):
    hits = rx.covers(layout(n), X)
    print(f"2-1-{n + 1}", {fold: f"{hits[y == fold].mean():.0%}" for fold in ("c.2", "c.23")})

# %%
# Here is a small Rossmann domain with its match:

hits = np.flatnonzero(rx.covers(layout(3), X) & (y == "c.2"))
rx.plot_sequence(X[int(min(hits, key=lambda i: len(X[int(i)].atoms)))], layout(3))

# %%
# **Found:** one digit. 2-1-3 is the flavodoxin, 2-1-4 the Rossmann fold, in whose middle the
# chain crosses over. Along the chain no pattern says half as much.
