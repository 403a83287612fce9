"""Logical hidden Markov models for tests: known ones, and random ones."""

import itertools

import numpy as np
from hypothesis import strategies as st
from lohmm_reference import END

from relynx import LoHMM, parse_atom
from relynx.logic.terms import Atom, Var
from relynx.models.lohmm.clauses import Transition, variant_key

UNIX = """
type(emacs(file,user)). type(ls(user)). type(latex(file,user)).
type(emacs(file)). type(latex(file)).
values(file,[f1,f2]). values(user,[tex,other]).
0.55 : emacs(F,U) <- start.
0.45 : ls(U) <- start.
0.7 : ls(V) <- emacs(F) - emacs(F,U).
0.3 : emacs(G,U) <- emacs(F) - emacs(F,U).
0.6 : latex(F,tex) <- emacs(F) - emacs(F,tex).
0.3 : ls(V) <- emacs(F) - emacs(F,tex).
0.1 : emacs(G,V) <- emacs(F) - emacs(F,tex).
0.4 : ls(U) <- ls - ls(U).
0.6 : emacs(F,V) <- ls - ls(U).
0.2 : ls(V) <- latex(F) - latex(F,tex).
0.2 : emacs(F,tex) <- latex(F) - latex(F,tex).
0.6 : emacs(G,V) <- latex(F) - latex(F,tex).
"""
# With an end; the probabilities are rounded, as in the port to PRISM that the number is from.
STOPPING = """
type(emacs(file,user)). type(ls(user)). type(latex(file,user)).
type(emacs(file)). type(latex(file)).
values(file,[f1,f2]). values(user,[tex,other]).
0.45 : emacs(F,U) <- start.
0.55 : ls(U) <- start.
0.65 : ls(V) <- emacs(F) - emacs(F,U).
0.25 : emacs(G,U) <- emacs(F) - emacs(F,U).
0.1 : end <- stop - emacs(F,U).
0.5666 : latex(F,tex) <- emacs(F) - emacs(F,tex).
0.2666 : ls(V) <- emacs(F) - emacs(F,tex).
0.0666 : emacs(G,V) <- emacs(F) - emacs(F,tex).
0.1 : end <- stop - emacs(F,tex).
0.35 : ls(U) <- ls - ls(U).
0.55 : emacs(F,V) <- ls - ls(U).
0.1 : end <- stop - ls(U).
0.1666 : ls(V) <- latex(F) - latex(F,tex).
0.1666 : emacs(F,tex) <- latex(F) - latex(F,tex).
0.5666 : emacs(G,V) <- latex(F) - latex(F,tex).
0.1 : end <- stop - latex(F,tex).
"""


def sequence(text):
    return [parse_atom(part) for part in text.split()]


SHOWN = sequence("ls emacs(f1) emacs(f2) latex(f1) latex(f2)")


# Random models: bodies in families that are closed, heads and observations of any kind.

TYPES = {("p", 2): ("t", "u"), ("d", 2): ("t", "t"), ("o", 2): ("t", "u"), ("w", 1): ("t",)}
VALUES = {"t": ("a", "b", 3), "u": ("c", "e")}
X, Y = Var("X"), Var("Y")
FAMILIES = {
    ("p", 2): [
        [(X, Y)],
        [(X, Y), ("a", Y)],
        [(X, Y), ("a", Y), (X, "c"), ("a", "c")],
        [(X, "c"), (X, "e")],
        [("a", Y), ("b", Y), (3, Y), (3, "e")],
    ],
    ("d", 2): [[(X, Y)], [(X, Y), (X, X)], [(X, Y), (X, X), ("a", Y), ("a", "a")]],
    ("r", 0): [[()]],
}
STATES = [("p", 2), ("d", 2), ("r", 0)]
SHOWS = [("o", 2), ("w", 1), ("z", 0)]


@st.composite
def atoms(draw, keys, known):
    """An atom of one of the predicates; `known` variables, by type, may stand in it."""
    name, arity = draw(st.sampled_from(keys))
    args = []
    for kind in TYPES.get((name, arity), ()):
        old = sorted(known[kind])
        new = {"t": ["M", "N"], "u": ["K", "L"]}[kind]
        choices = [*map(Var, old), *map(Var, old), *map(Var, new), Var("_"), *VALUES[kind]]
        args.append(draw(st.sampled_from(choices)))
    atom = Atom(name, tuple(args))
    for arg, kind in zip(atom.args, TYPES.get(atom.key, ()), strict=False):
        if isinstance(arg, Var) and not arg.anonymous:
            known[kind].add(arg.name)
    return atom


@st.composite
def transitions(draw, body, block, ends):
    """The transitions of a body, of equal probability."""
    kinds = dict(zip(body.args, TYPES.get(body.key, ()), strict=False))
    found = {}
    for _ in range(draw(st.integers(1, 3))):
        known = {"t": set(), "u": set()}
        for arg, kind in kinds.items():
            if isinstance(arg, Var):
                known[kind].add(arg.name)
        head = draw(atoms(STATES, known))
        shown = draw(atoms(SHOWS, known))
        found[variant_key([body, shown, head])] = head, shown
    if ends:
        found["end"] = END, Atom("z")
    return [Transition(1 / len(found), h, o, body, block) for h, o in found.values()]


@st.composite
def models(draw, ends=None):
    """A small model with random parameters."""
    ends = draw(st.booleans()) if ends is None else ends
    blocks = draw(st.sampled_from([(), (), (1, 2), (1, 2, 3)]))
    clauses = []
    for key in STATES:
        for args in draw(st.sampled_from(FAMILIES[key])):
            body = Atom(key[0], args)
            split = blocks and draw(st.booleans())
            for block in range(1, len(blocks) + 1) if split else [None]:
                clauses += draw(transitions(body, block, ends))
    heads = {}
    for _ in range(draw(st.integers(1, 2))):
        head = draw(atoms(STATES, {"t": set(), "u": set()}))
        heads[variant_key([head])] = head
    model = LoHMM(
        clauses,
        start=[(1 / len(heads), head) for head in heads.values()],
        types=TYPES,
        values=VALUES,
        selection=draw(st.sampled_from(["argument", "type"])),
        blocks=blocks,
    )
    return with_random_parameters(model, draw(st.integers(0, 10**6)))


def with_random_parameters(model, seed, zeros=0.1):
    """Parameters drawn at random, of which some are 0."""
    rng = np.random.default_rng(seed)
    groups = model.parameters.groups
    values = rng.exponential(size=len(groups)) * (rng.random(len(groups)) >= zeros)
    for group in range(groups.max() + 1):
        if values[groups == group].sum() == 0:
            values[groups == group] = 1.0
    return model.with_parameters(values / np.bincount(groups, weights=values)[groups])


def shown_atoms():
    return [
        Atom(name, args)
        for name, arity in SHOWS
        for args in itertools.product(*(VALUES[k] for k in TYPES.get((name, arity), ())))
    ]


def drawn_sequences(model, seed, n=4, length=4):
    """Sequences of the model, and one that it may not be able to show."""
    rng = np.random.default_rng(seed)
    found = model.sample(n, length=length, random_state=seed)
    other = [shown_atoms()[i] for i in rng.integers(0, len(shown_atoms()), 3)]
    return [*found, other, []]


def probabilities(model, sequences):
    return np.exp(model.log_probability(sequences))


TEXTBOOK_MOVES = [[0.7, 0.3], [0.4, 0.6]]
TEXTBOOK_SHOWS = [[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]]


def flat_model(start, moves, shows):
    """A plain HMM: no predicate has arguments."""
    n, m = len(start), len(shows[0])
    clauses = [
        Transition(moves[i][j] * shows[i][k], Atom(f"s{j}"), Atom(f"o{k}"), Atom(f"s{i}"))
        for i in range(n)
        for j in range(n)
        for k in range(m)
    ]
    return LoHMM(clauses, start=[(p, Atom(f"s{i}")) for i, p in enumerate(start)])
