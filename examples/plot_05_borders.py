"""
Two borders say it all
======================

A search may find many patterns, most of them variations. What lies between *often in one class*
and *hardly ever in another* is enclosed by two borders: the most general patterns that do it, and
the most specific ones. Here for the fold of ribonuclease H (c.55) against the four others.
"""

import numpy as np

import relynx as rx

folds = rx.load_protein_folds()
y = np.where(folds.y == "c.55", "c.55", "other")

# %%
# A strand has a sense, parallel or antiparallel to its neighbour (``null`` for the first of a
# sheet), and a size. With a predicate for each, a pattern can say one without the other; the size
# gets its own by a rule.

rules = rx.parse_background(f"{folds.X.background}\nsize(E,L) :- st(E,_,L).")
X = folds.X.with_background(rules)
bias = rx.parse_bias("""
    type(sense(event,sense)). mode(sense(+,#)). atmostone([sense(E,_)]).
    type(size(event,size)).   mode(size(+,#)).  atmostone([size(E,_)]).
    dimension(next_b). negconstraint([follow_b(_,_)]).
""")

# %%
# All patterns of up to five facts that cover at least 40 % of c.55, and at most 5 % of the
# others:

found = rx.mine(X, y, bias, min_support=0.4, max_support={"other": 0.05}, max_length=5)
general, specific = found.most_general(), found.maximal()
print(f"{len(found)} patterns, {len(general)} most general, {len(specific)} maximal")

# %%
# The most general ones are the questions to remember: take a fact away, and too many other
# domains have it as well.

rx.plot_patterns(general, n=6, measure="wracc")

# %%
# Whatever a pattern between the borders covers, one on the first border covers too, since it is
# more general.

border = general.coverage(X).any(axis=1)
everything = found.coverage(X).any(axis=1)
print("the border covers the same domains as the whole answer:", bool((border == everything).all()))

# %%
# The other border tells how far a question may be sharpened before it becomes rare. Its longest:

for entry in specific.sort("length")[:3]:
    print(entry.support, entry)

# %%
# The best on the first border, in a small domain:

best = general.top_k(1, "wracc")[0]
hits = np.flatnonzero(rx.covers(best.pattern, X) & (y == "c.55"))
rx.plot_sequence(
    X[int(min(hits, key=lambda i: len(X[int(i)].atoms)))], best.pattern, dimensions=["s", "b"]
)

# %%
# **Found:** one question with two facts covers 99 of 111 domains of c.55 and 13 of 855 others: an
# antiparallel strand, and two strands further on the first of the sheet. All that the search
# found beyond the first border is a special case.
