"""Relational regression trees: against trees grown and read by definition."""

from __future__ import annotations

import numpy as np
import pytest
import tildecrf_reference as twin
from hypothesis import given, settings
from hypothesis import strategies as st

from relynx import Atom, DataError, Sequences, parse_background, parse_bias
from relynx.data.event_order import learn_event_arguments
from relynx.logic.terms import Var
from relynx.models.tildecrf.candidates import Candidates
from relynx.models.tildecrf.encoding import Language, encode
from relynx.models.tildecrf.estimator import trees_of, trees_state
from relynx.models.tildecrf.growing import Grower, Limits, Targets
from relynx.models.tildecrf.trees import Leaf, Part, Split, add_values, tree_text
from relynx.storage.parts import ModelFile
from relynx.storage.parts import Part as FilePart

BIAS = """\
type(p(event,c)). mode(p(+,*)).
type(q(event,c,s)). mode(q(+,*,*)).
type(r(event,event)). mode(r(+,*)). mode(r(*,+)).
type(good(c)). mode(good(+)).
type(made(c,s)). mode(made(*,*)).
dimension(next_s).
"""
COLOURS, SIZES = ("red", "blue", "green"), ("big", "small")


# One sequence has every predicate, so that the language is always the same.
FULL = "p(e1,red) q(e2,blue,big) r(e1,e2) good(red) made(red,big) next_s(e1,e2)"


def world(seed: int, n_sequences: int = 4, n_events: int = 5) -> Sequences:
    """Short sequences, with facts of one event, of two, and of none."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n_sequences):
        n = int(rng.integers(1, n_events + 1))
        atoms = [Atom("next_s", (f"e{i}", f"e{i + 1}")) for i in range(1, n)]
        for i in range(1, n + 1):
            atoms += [Atom("p", (f"e{i}", c)) for c in COLOURS if rng.random() < 0.4]
            if rng.random() < 0.5:
                values = str(rng.choice(COLOURS)), str(rng.choice(SIZES))
                atoms.append(Atom("q", (f"e{i}", *values)))
        for i, j in rng.integers(1, n + 1, size=(3, 2)).tolist():
            atoms += [Atom("r", (f"e{i}", f"e{j}"))] if i != j else []
        atoms += [Atom("good", (c,)) for c in COLOURS if rng.random() < 0.5]
        atoms += [Atom("made", (c, s)) for c in COLOURS for s in SIZES if rng.random() < 0.3]
        out.append(atoms)
    return Sequences.from_atoms([*out, [_atom(text) for text in FULL.split()]])


def _atom(text: str) -> Atom:
    name, args = text[:-1].split("(")
    return Atom(name, tuple(args.split(",")))


def encoded(X: Sequences, bias=BIAS):
    return encode(X, Language.of(parse_bias(bias), "s", learn_event_arguments(X, "s")))


def examples_of(encoding, n_labels):
    """Each example with its event and the number of the label before."""
    out = {}
    for p in range(encoding.n_events):
        s = int(np.searchsorted(encoding.offsets, p, side="right")) - 1
        place = p - int(encoding.offsets[s])
        for k in range(n_labels if place else 1):
            out[twin.Example(s, place, k if place else None)] = (p, k)
    return out


def grown(X, residuals, limits, n_labels=2, half=1):
    """The tree of the library, its values, and the example of each place."""
    encoding = encoded(X)
    where = examples_of(encoding, n_labels)
    residual = np.zeros((encoding.n_events, n_labels))
    weight = np.zeros_like(residual)
    for value, at in zip(residuals, where.values(), strict=False):
        residual[at], weight[at] = value, 1
    names = [f"k{k}" for k in range(n_labels)]
    grower = Grower(encoding, Candidates.of(encoding), limits, names)
    part = Part.whole(np.arange(encoding.n_events), half, n_labels)
    tree, values = grower.grow(part, Targets(residual, weight))
    return tree, values, where, encoding


def same(one, other) -> bool:
    if isinstance(one, Leaf) or isinstance(other, Leaf):
        return (
            isinstance(one, Leaf)
            and isinstance(other, Leaf)
            and one.n_examples == other.n_examples
            and abs(one.value - other.value) < 1e-9
        )
    return one.test == other.test and same(one.yes, other.yes) and same(one.no, other.no)


SEEDS = st.integers(0, 2**32 - 1)
LIMITS = st.builds(Limits, st.integers(1, 4), st.integers(2, 6), st.integers(1, 3), st.booleans())
LABELS = ["k0", "k1"]


def residuals_of(seed: int, *, ties: bool = False) -> list[float]:
    rng = np.random.default_rng(seed)
    return (rng.integers(-2, 3, 60) if ties else rng.normal(size=60)).tolist()


@pytest.mark.kernels
@given(SEEDS, st.booleans(), LIMITS)
def test_a_tree_is_the_one_that_trying_every_literal_grows(seed, ties, limits):
    X = world(seed, n_sequences=2) if limits.look_ahead else world(seed)
    residuals = residuals_of(seed, ties=ties)
    tree, _, where, _ = grown(X, residuals, limits)
    expected = twin.grow(
        twin.Given(
            twin.World.of(X, parse_bias(BIAS), 1, "s"),
            dict(zip(where, residuals, strict=False)),
            LABELS,
            limits.max_depth,
            limits.max_leaves,
            limits.min_samples_leaf,
            limits.look_ahead,
        )
    )
    assert same(tree, expected), tree_text(tree, LABELS) + "\n" + tree_text(expected, LABELS)


@pytest.mark.kernels
@given(SEEDS, SEEDS)
def test_a_tree_says_of_other_sequences_what_backtracking_says(seed, other):
    tree, _, _, trained = grown(world(seed), residuals_of(seed), Limits(4, 8, 1))
    X = renamed(world(other), {"big": "huge"})  # a constant that the tree has not seen
    encoding = encode(X, trained.language)
    values = np.zeros((encoding.n_events, 2))
    part = Part.whole(np.arange(encoding.n_events), 1, 2)
    add_values(tree, encoding, part, 1.0, values)
    where = examples_of(encoding, 2)
    expected = twin.values_of(tree, twin.World.of(X, parse_bias(BIAS), 1, "s"), list(where))
    assert [values[at] for at in where.values()] == expected


@given(SEEDS)
def test_growing_gives_the_values_of_the_tree(seed):
    tree, values, where, encoding = grown(world(seed), residuals_of(seed), Limits(4, 8, 1))
    again = np.zeros_like(values)
    part = Part.whole(np.arange(encoding.n_events), 1, 2)
    add_values(tree, encoding, part, 1.0, again)
    assert [values[at] for at in where.values()] == [again[at] for at in where.values()]


@given(SEEDS)
def test_leaves_hold_the_mean_of_their_residuals(seed):
    residuals = residuals_of(seed)
    tree, values, where, _ = grown(world(seed), residuals, Limits(4, 8, 2))
    groups = {}
    for at, residual in zip(where.values(), residuals, strict=False):
        groups.setdefault(values[at], []).append(residual)
    for value, members in groups.items():
        assert np.mean(members) == pytest.approx(value)
        assert len(members) >= 2
    assert sum(leaf.n_examples for leaf in leaves(tree)) == len(where)


def leaves(tree) -> list[Leaf]:
    return [tree] if isinstance(tree, Leaf) else [*leaves(tree.yes), *leaves(tree.no)]


def renamed(X: Sequences, names: dict[str, str]) -> Sequences:
    def new(value):
        return names.get(value, value)

    return Sequences.from_atoms(
        [[Atom(a.predicate, tuple(map(new, a.args))) for a in one.atoms] for one in X]
    )


@given(SEEDS)
def test_new_names_for_constants_and_events_change_nothing_else(seed):
    """The new names are in the order of the old ones, which decides between equal tests."""
    names = {name: f"{name[0]}_{name}" for name in (*COLOURS, *SIZES)}
    names |= {f"e{i}": f"e{i * 7}" for i in range(1, 6)}
    residuals = residuals_of(seed)
    tree = grown(world(seed), residuals, Limits(4, 8, 1))[0]
    other = grown(renamed(world(seed), names), residuals, Limits(4, 8, 1))[0]
    text = tree_text(tree, LABELS)
    for old, new in names.items():
        for mark in (",", "(", "== "):
            text = text.replace(f"{mark}{old}", f"{mark}{new}")
    assert tree_text(other, LABELS) == text


@given(SEEDS, st.booleans())
def test_the_order_of_sequences_does_not_matter(seed, ties):
    X, residuals = world(seed), residuals_of(seed, ties=ties)
    tree, _, where, _ = grown(X, residuals, Limits(4, 8, 1))
    order = np.random.default_rng(seed).permutation(len(X))
    of = dict(zip(where, residuals, strict=False))
    mixed = X[order]
    moved = [
        of[twin.Example(int(order[e.sequence]), e.place, e.label)]
        for e in examples_of(encoded(mixed), 2)
    ]
    assert same(grown(mixed, moved, Limits(4, 8, 1))[0], tree)


@settings(max_examples=10)
@given(SEEDS)
def test_examples_of_weight_0_do_not_count(seed):
    X, residuals = world(seed), residuals_of(seed)
    more = Sequences.concatenate([X, world(seed + 1)])
    more_residuals = [*residuals[: len(examples_of(encoded(X), 2))], *[0.0] * 60]
    encoding = encoded(more)
    n = encoded(X).n_events
    residual, weight = np.zeros((encoding.n_events, 2)), np.zeros((encoding.n_events, 2))
    for value, at in zip(more_residuals, examples_of(encoding, 2).values(), strict=False):
        if at[0] < n:
            residual[at], weight[at] = value, 1
    grower = Grower(encoding, Candidates.of(encoding), Limits(4, 8, 1), LABELS)
    part = Part.whole(np.arange(encoding.n_events), 1, 2)
    assert same(
        grower.grow(part, Targets(residual, weight))[0], grown(X, residuals, Limits(4, 8, 1))[0]
    )


def two_kinds() -> tuple[Sequences, list[float]]:
    """Events with two colours: the residual is 1 where the next event shares one, else -1."""
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(30):
        rows.append([str(rng.choice(COLOURS)) for _ in range(4)])
    atoms = [
        [Atom("p", (f"e{i}", c)) for i, c in enumerate(row, 1)]
        + [Atom("next_s", (f"e{i}", f"e{i + 1}")) for i in range(1, 4)]
        for row in rows
    ]
    residuals = [1.0 if i < 3 and row[i] == row[i + 1] else -1.0 for row in rows for i in range(4)]
    return Sequences.from_atoms(atoms), residuals


JOIN = "type(p(event,c)). mode(p(+,-)). mode(p(+,+)). dimension(next_s)."


def grown_alone(X, residuals, bias, limits, half=1):
    """A tree for events alone: one label."""
    encoding = encoded(X, bias)
    grower = Grower(encoding, Candidates.of(encoding), limits, ["k"])
    residual = np.array(residuals)[:, None]
    part = Part.whole(np.arange(encoding.n_events), half, 1)
    return grower.grow(part, Targets(residual, np.ones_like(residual)))[0]


def test_look_ahead_finds_a_variable_that_joins_two_events():
    """Nothing is gained by `p(E0,V1)` alone."""
    X, residuals = two_kinds()
    found = grown_alone(X, residuals, JOIN, Limits(1, 2, 1, look_ahead=True))
    assert tree_text(found, ["k"]) == "if p(E0,V1), p(E1,V1): +1\nelse: -1"
    assert "p(" not in tree_text(grown_alone(X, residuals, JOIN, Limits(1, 2, 1)), ["k"])


def test_what_is_said_of_the_sequence_is_a_test_without_variables():
    texts = ["made(red) p(e1) next_s(e1,e2)", "p(e1) next_s(e1,e2)", "made(red)"]
    X = Sequences.from_atoms([[_atom(text) for text in row.split()] for row in texts])
    bias = "type(made(c)). mode(made(#)). type(p(event)). mode(p(+)). dimension(next_s)."
    tree = grown_alone(X, [1.0, 1.0, -1.0, -1.0], bias, Limits(4, 8, 1))
    assert tree_text(tree, ["k"]) == "if made(red): +1\nelse: -1"
    no_constant = bias.replace("#", "+")
    assert "made" not in tree_text(
        grown_alone(X, [1.0, 1.0, -1.0, -1.0], no_constant, Limits(4, 8, 1)), ["k"]
    )


def test_a_tree_prints_as_nested_rules():
    tree = Split(
        (Atom("he", (Var("E0"), "right", Var("V1"))), Atom("st", (Var("E1"), Var("V1")))),
        Split(
            1,
            Leaf(0.41, 3),
            Split((Atom("==", (Var("V1"), "3to10")),), Leaf(-12.5, 4), Leaf(0.0004, 1)),
        ),
        Leaf(-0.1, 2),
    )
    assert tree_text(tree, ["a", "b"]).splitlines() == [
        "if he(E0,right,V1), st(E1,V1)",
        "    if prev(b): +0.41",
        "    else",
        "        if V1 == '3to10': -12.5",
        "        else: +0.0004",
        "else: -0.1",
    ]


def test_what_rounding_leaves_of_0_prints_as_0():
    assert tree_text(Leaf(-1.4e-17, 8), []) == "+0"


def test_a_leaf_alone_prints_as_its_value():
    assert tree_text(Leaf(0.25, 8), []) == "+0.25"


def literals_of(X: Sequences, bias: str) -> set[str]:
    """Every literal that speaks of one variable, its variables written as `_`."""
    encoding = encoded(X, bias)
    features = Candidates.of(encoding).features
    out = set()
    for form, codes in zip(features.form, features.codes.tolist(), strict=True):
        key = encoding.language.relations[features.forms[form].relation].key
        args = ["_" if c < 0 else str(encoding.vocabulary[c]) for c in codes[: key[1]]]
        out.add(f"{key[0]}({','.join(args)})")
    return out - {"first(_)", "last(_)", "event(_)", "next_s(_,_)"}


FEW = "p(e1,red) p(e2,blue) next_s(e1,e2)"


def few() -> Sequences:
    return Sequences.from_atoms([[_atom(text) for text in FEW.split()]])


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("+,#", {"p(_,red)", "p(_,blue)", "==(_,red)", "==(_,blue)"}),
        ("+,-", {"p(_,_)"}),
        ("+,*", {"p(_,red)", "p(_,blue)", "p(_,_)", "==(_,red)", "==(_,blue)"}),
        ("-,#", {"==(_,red)", "==(_,blue)"}),
    ],
)
def test_modes_say_what_literals_there_are(mode, expected):
    bias = f"type(p(event,c)). mode(p({mode})). dimension(next_s)."
    assert literals_of(few(), bias) == expected


def test_values_say_what_a_constant_may_be():
    bias = "type(p(event,c)). mode(p(+,#)). values(c,[red]). dimension(next_s)."
    assert literals_of(few(), bias) == {"p(_,red)", "==(_,red)"}


def test_a_white_list_says_what_a_literal_may_be():
    bias = "type(p(event,c)). mode(p(+,*)). v(p(E,blue)). dimension(next_s)."
    literals = literals_of(few(), bias)
    assert "p(_,blue)" in literals
    assert "p(_,red)" not in literals


def test_no_event_is_a_constant():
    X = Sequences.from_atoms([[_atom("r(e1,e2)"), _atom("next_s(e1,e2)")]])
    bias = "type(r(event,event)). mode(r(+,*)). dimension(next_s)."
    assert literals_of(X, bias) == {"r(_,_)"}


def test_of_many_arguments_few_are_constants_or_all():
    values = ",".join("abcdef")
    X = Sequences.from_atoms([[_atom(f"p(e1,{values})"), _atom("next_s(e1,e2)")]])
    kinds = ",".join(f"t{i}" for i in range(6))
    bias = f"type(p(event,{kinds})). mode(p(+,{','.join('*' * 6)})). dimension(next_s)."
    literals = [text for text in literals_of(X, bias) if text.startswith("p(")]
    assert sorted(7 - text.count("_") for text in literals) == [0, *[1] * 6, *[2] * 15, 6]


@pytest.mark.parametrize("name", ["first", "last", "event"])
def test_a_predicate_of_the_data_goes_before_a_test_of_its_name(name):
    X = Sequences.from_atoms([[_atom(f"{name}(e2)"), *map(_atom, ("next_s(e1,e2)", "p(e3,red)"))]])
    bias = f"type({name}(event)). mode({name}(+)). dimension(next_s)."
    encoding = encoded(X, bias)
    number = [r.key for r in encoding.language.relations].index((name, 1))
    facts = encoding.cells[encoding.relation == number, 0]
    assert [encoding.vocabulary[encoding.code[thing]] for thing in facts] == ["e2"]


def test_a_node_with_too_many_bindings_binds_no_more(monkeypatch):
    X, residuals = two_kinds()
    join = JOIN.replace("mode(p(+,-))", "mode(p(+,*))")
    monkeypatch.setattr("relynx.models.tildecrf.growing.MOST_ROWS", 0)
    text = tree_text(grown_alone(X, residuals, join, Limits(4, 8, 1)), ["k"])
    assert "V1" not in text


def test_background_rules_give_facts_to_trees():
    X, residuals = two_kinds()
    rules = parse_background("same(X,Y) :- next_s(X,Y), p(X,C), p(Y,C).")
    bias = "type(same(event,event)). mode(same(+,-)). dimension(next_s)."
    # Under Object Identity a rule binds different variables to different constants.
    tree = grown_alone(X.with_background(rules), residuals, bias, Limits(1, 2, 1))
    assert tree_text(tree, ["k"]) == "if same(E0,F1): +1\nelse: -1"


# Trees in a file


def kept(state: dict, language: Language, *, n_labels: int = 2):
    return trees_of(FilePart(state, ModelFile("m.relynx", {})), n_labels, language, 1)


@settings(max_examples=15)
@given(SEEDS)
def test_trees_are_read_back_as_they_were(seed):
    tree, _, _, encoding = grown(world(seed), residuals_of(seed), Limits(4, 8, 1, True))
    other = grown(world(seed), residuals_of(seed + 1), Limits(4, 8, 1))[0]
    rounds = ((tree, other), (other, Leaf(0.5, 3)))
    assert kept(trees_state(rounds), encoding.language) == rounds


def test_no_trees_are_kept_as_none():
    assert kept(trees_state(()), encoded(few(), JOIN).language) == ()


def forged(**changes) -> str:
    """What is said of a file of two small trees in which something was changed."""
    test = (Atom("p", (Var("E0"), Var("V1"))), Atom("p", (Var("E1"), Var("V1"))))
    state = trees_state(
        ((Split(test, Leaf(1.0, 2), Leaf(-1.0, 2)), Split(0, Leaf(1, 1), Leaf(2, 1))),)
    )
    with pytest.raises(DataError) as caught:
        kept(state | changes, encoded(few(), JOIN).language)
    assert caught.value.path == "m.relynx"
    return caught.value.problems[0].message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"literals": [["p(E0"]]}, "literals holds a text that is no literal"),
        ({"literals": [[]]}, "literals is no list of lists of texts"),
        ({"literals": [["z(E0)"]]}, "literals holds z(E0), of which the bias knows nothing"),
        (
            {"literals": [["p(E9,V1)"]]},
            "literals holds p(E9,V1), which does not fit where it stands",
        ),
        (
            {"literals": [["p(e1,V1)"]]},
            "literals holds p(e1,V1), which does not fit where it stands",
        ),
        (
            {"literals": [["p(E0,E1)"]]},
            "literals holds p(E0,E1), which does not fit where it stands",
        ),
        (
            {"literals": [["p(E0,V1)", "'=='(V2,a)"]]},
            "literals holds '=='(V2,a), which does not fit where it stands",
        ),
        ({"n_rounds": 2}, "tests makes no whole trees"),
        ({"n_rounds": 9}, "tests makes no whole trees"),
        ({"n_rounds": 0}, "tests makes more trees than there are rounds"),
        ({"tests": np.array([0, -1, -1, -9, -1, -1])}, "tests holds a number outside -3 to 0"),
        ({"values": np.array([1.0])}, "values has the shape (1,), not (4)"),
    ],
)
def test_a_file_that_was_forged_is_refused(changes, message):
    assert forged(**changes) == message


def test_a_tree_that_is_too_deep_is_refused():
    tree = Leaf(0.0, 1)
    for _ in range(300):
        tree = Split(0, Leaf(0.0, 1), tree)
    with pytest.raises(DataError) as caught:
        kept(trees_state(((tree,),)), encoded(few(), JOIN).language, n_labels=1)
    assert caught.value.problems[0].message == "tests goes too deep"
