"""`covers` and `match` against brute-force enumeration, on shapes of every kind."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from reference import brute_force_covers, brute_force_matches

from relynx import DataError, Pattern, Sequences, covers, from_lists, match, parse_pattern
from relynx.logic.parser import parse_atoms
from relynx.logic.terms import Atom, Var

pytestmark = pytest.mark.kernels

GOLDEN = "he(e1,alpha,short), next_s(e1,e2), st(e2,plus,medium), next_s(e2,e3), he(e3,alpha,short)"


@pytest.mark.parametrize(
    ("text", "under_identity", "without"),
    [
        ("he(X,alpha,L), next_s(X,Y), st(Y,plus,M)", True, True),
        ("he(X,alpha,L), follow_s(X,Y), he(Y,alpha,M)", False, True),
        ("he(X,alpha,L), follow_s(X,Y), he(Y,alpha,L)", True, True),
    ],
)
def test_the_golden_cases_of_the_specification(text, under_identity, without):
    X = Sequences.from_atoms([parse_atoms(GOLDEN)])
    assert covers(text, X).tolist() == [under_identity]
    assert covers(text, X, object_identity=False).tolist() == [without]


def chain(rng: random.Random, n: int, name: str = "s", start: int = 0) -> list[Atom]:
    return [Atom(f"next_{name}", (f"e{start + i}", f"e{start + i + 1}")) for i in range(n - 1)]


def links(rng: random.Random, shape: str, n: int) -> list[Atom]:
    if shape == "chain":
        return chain(rng, n)
    if shape == "paths":
        cut = rng.randint(1, max(n - 1, 1))
        return chain(rng, cut) + chain(rng, n - cut, start=cut)
    pairs = {(rng.randrange(n), rng.randrange(n)) for _ in range(n)}
    return [Atom("next_s", (f"e{a}", f"e{b}")) for a, b in pairs if shape == "cyclic" or a < b]


def random_sequence(rng: random.Random, shape: str, n: int) -> list[Atom]:
    atoms = links(rng, shape, n)
    if rng.random() < 0.5:
        order = list(range(n))
        rng.shuffle(order)
        atoms += [
            Atom("next_h", (f"e{a}", f"e{b}"))
            for a, b in itertools.pairwise(order)
            if rng.random() < 0.8
        ]
    for i in range(n):
        for _ in range(rng.choice([0, 1, 1, 1, 2])):
            args = [rng.choice("ab"), rng.choice(["a", "c", 1, 1.0])]
            atoms.append(Atom("p", (f"e{i}", *args)))
        if rng.random() < 0.3:
            atoms.append(Atom("q", (f"e{i}",)))
        if rng.random() < 0.2:
            atoms.append(Atom("near", (f"e{i}", f"e{rng.randrange(n)}")))
    if rng.random() < 0.5:
        atoms.append(Atom("kind", (rng.choice("abc"),)))
    if rng.random() < 0.5:
        atoms.append(Atom("flag"))
    return atoms


def random_pattern(rng: random.Random, *, plain_path: bool) -> Pattern:
    """Events X0, X1, ... linked in order; unless a plain path, with all that can disturb it."""
    values = [Var("A"), Var("B"), Var("C"), Var("_"), "a", "b", "c", 1, 1.0]
    events = [Var(f"X{i}") for i in range(rng.randint(1, 4))]
    atoms = []
    for i, event in enumerate(events):
        if i:
            source = events[i - 1] if plain_path else rng.choice(events[:i])
            dimension = "s" if plain_path or rng.random() < 0.7 else "h"
            pair = (source, event) if plain_path or rng.random() < 0.8 else (event, source)
            atoms.append(link(rng, dimension, *pair))
        for _ in range(rng.choice([0, 1, 1, 1, 2])):
            atoms.append(Atom("p", (event, rng.choice(values), rng.choice(values))))
        if rng.random() < 0.2:
            atoms.append(Atom("q", (event,)))
    if not plain_path:
        terms = [*events, Var("_"), "e1", "e2", Var("A")]
        for _ in range(rng.choice([0, 0, 1, 2])):
            a, b = rng.choice(terms), rng.choice(terms)
            atoms.append(
                rng.choice(
                    [
                        Atom("near", (a, b)),
                        Atom("p", (a, rng.choice(values), rng.choice(values))),
                        link(rng, rng.choice("sh"), a, b),
                        Atom("kind", (rng.choice(values),)),
                        Atom("flag"),
                    ]
                )
            )
    if not atoms:
        atoms = [Atom("q", (events[0],))]
    return Pattern(tuple(atoms))


def link(rng: random.Random, dimension: str, x: object, y: object) -> Atom:
    operator = rng.choice(["next", "follow", "followat"])
    steps = (rng.choice([1, 2, 3, 66]),) if operator == "followat" and rng.random() < 0.9 else ()
    if operator == "followat" and not steps:
        operator = "follow"
    return Atom(f"{operator}_{dimension}", (*steps, x, y))


def a_case(seed: int, *, plain_path: bool) -> tuple[Sequences, list[list[Atom]], list[Pattern]]:
    rng = random.Random(seed)
    shapes = ["chain"] if seed % 2 else ["chain", "paths", "branching", "cyclic"]
    atoms = [random_sequence(rng, rng.choice(shapes), rng.randint(1, 6)) for _ in range(6)]
    if seed % 5 == 0:
        atoms.append(random_sequence(rng, "chain", 70))
    if seed % 7 == 0:
        atoms.append([])
    patterns = [random_pattern(rng, plain_path=plain_path) for _ in range(8)]
    return Sequences.from_atoms(atoms), atoms, patterns


@pytest.mark.parametrize("plain_path", [True, False])
@pytest.mark.parametrize("object_identity", [True, False])
@pytest.mark.parametrize("seed", range(25))
def test_covers_equals_brute_force(seed, object_identity, plain_path):
    X, atoms, patterns = a_case(seed, plain_path=plain_path)
    small = [i for i, sequence in enumerate(atoms) if len(sequence) < 60]
    expected = np.array(
        [[brute_force_covers(p.atoms, atoms[i], object_identity) for p in patterns] for i in small]
    )
    together = covers(patterns, X, object_identity)
    assert together.shape == (len(X), len(patterns))
    for j, pattern in enumerate(patterns):
        one = covers(pattern, X, object_identity)
        assert one[small].tolist() == expected[:, j].tolist(), str(pattern)
        assert together[:, j].tolist() == one.tolist(), str(pattern)


@pytest.mark.parametrize("object_identity", [True, False])
@pytest.mark.parametrize("n", [63, 64, 65, 130])
def test_sequences_longer_than_a_machine_word_are_matched_alike(n, object_identity):
    rng = random.Random(n)
    atoms = random_sequence(rng, "chain", n)
    X = Sequences.from_atoms([atoms, [*atoms, Atom("near", ("e1", "e2"))]])
    for text in [
        f"followat_s({n - 1},X,Y)",
        f"followat_s({n},X,Y)",
        f"p(X,A,B), followat_s({n - 2},X,Y), p(Y,A,C)",
        "p(X,a,c), followat_s(63,X,Y), p(Y,b,A)",
        "p(X,A,1), follow_s(X,Y), p(Y,A,1.0)",
        "q(X), next_s(X,Y), q(Y), next_s(Y,Z), p(Z,A,A)",
        "p(X,A,B), next_s(X,Y), follow_h(Y,Z), p(Z,B,A)",
    ]:
        expected = brute_force_covers(parse_atoms(text), atoms, object_identity)
        assert covers(text, X, object_identity).tolist() == [expected, expected], text


@pytest.mark.parametrize("object_identity", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_match_finds_every_substitution_once(seed, object_identity):
    X, atoms, patterns = a_case(seed, plain_path=bool(seed % 3))
    for i, sequence in enumerate(atoms[:4]):
        for pattern in patterns[:4]:
            found = match(pattern, X[i], object_identity=object_identity)
            expected = brute_force_matches(pattern.atoms, sequence, object_identity)
            assert as_set(found) == as_set(expected), str(pattern)
            assert len(found) == len(as_set(found))
            assert len(match(pattern, X[i], 2, object_identity)) == min(2, len(found))


def as_set(bindings):
    return {frozenset((k, type(v), v) for k, v in binding.items()) for binding in bindings}


def test_a_variable_keeps_its_value_under_every_binding():
    X = Sequences.from_atoms([parse_atoms("p(e1,a), next_s(e1,e2), p(e2,a), p(e2,b)")])
    assert match("p(X,V), next_s(X,Y), p(Y,V)", X[0]) == [{"X": "e1", "V": "a", "Y": "e2"}]


def test_an_unknown_predicate_or_constant_covers_nothing():
    X = Sequences.from_atoms([parse_atoms(GOLDEN)])
    for text in [
        parse_pattern("strand(X)"),
        "he(X,beta,L)",
        "he(X,alpha,L), next_z(X,Y)",
        "he(e9,T,L)",
    ]:
        assert covers(text, X).tolist() == [False]
        assert match(text, X[0]) == []


def test_a_pattern_with_another_arity_than_the_data_is_refused():
    X = Sequences.from_atoms([parse_atoms(GOLDEN)])
    with pytest.raises(DataError) as caught:
        covers("he(X,alpha)", X)
    assert str(caught.value) == "he(X,alpha): he has 2 arguments here and 3 in the data"
    with pytest.raises(DataError) as caught:
        covers("next_s(X,Y,Z)", X)
    assert str(caught.value) == "next_s(X,Y,Z): next_s takes 2 arguments, here it has 3"


@pytest.mark.parametrize("n", ["0", "-1", "1.5", "N", "a", "5000000000"])
def test_the_number_of_steps_must_be_a_positive_integer(n):
    X = Sequences.from_atoms([parse_atoms(GOLDEN)])
    with pytest.raises(DataError) as caught:
        covers(f"followat_s({n},X,Y)", X)
    assert str(caught.value) == (
        f"followat_s({n},X,Y): the first argument of followat_s is the number of steps, "
        "a positive integer up to 1,073,741,824"
    )


def test_match_wants_one_sequence():
    X = Sequences.from_atoms([parse_atoms(GOLDEN)] * 2)
    with pytest.raises(ValueError, match="match looks into one sequence, not 2: give X"):
        match("he(X,T,L)", X)
    with pytest.raises(ValueError, match="limit is -1: give a positive number, or None"):
        match("he(X,T,L)", X[0], -1)
    with pytest.raises(TypeError, match="X is a list: give Sequences, or one sequence"):
        covers("he(X,T,L)", ["he"])


def test_the_answer_does_not_change_when_facts_are_shuffled_or_constants_renamed():
    rng = random.Random(5)
    for seed in range(20):
        X, atoms, patterns = a_case(seed, plain_path=bool(seed % 2))
        shuffled = [rng.sample(sequence, len(sequence)) for sequence in atoms]
        names = {name: f"n{i}" for i, name in enumerate(rng.sample("abc", 3))}
        names |= {f"e{i}": f"z{(i * 7) % 101}" for i in range(101)}
        renamed = [[rename(atom, names) for atom in sequence] for sequence in shuffled]
        new_patterns = [Pattern(tuple(rename(atom, names) for atom in p)) for p in patterns]
        before = covers(patterns, X)
        assert (covers(new_patterns, Sequences.from_atoms(renamed)) == before).all()


def rename(atom: Atom, names: dict[str, str]) -> Atom:
    args = [names.get(arg, arg) if isinstance(arg, str) else arg for arg in atom.args]
    return Atom(atom.predicate, tuple(args))


def test_adding_an_atom_never_covers_more():
    for seed in range(20):
        X, _, patterns = a_case(seed, plain_path=bool(seed % 2))
        for pattern in patterns:
            beginnings = [Pattern(pattern.atoms[: k + 1]) for k in range(len(pattern))]
            covered = covers(beginnings, X)
            assert (covered[:, 1:] <= covered[:, :-1]).all(), str(pattern)


def test_a_pattern_text_and_a_pattern_are_the_same_question():
    X = Sequences.from_atoms([parse_atoms(GOLDEN)])
    text = "he(X,alpha,L), next_s(X,Y)"
    assert covers(text, X).tolist() == covers(parse_pattern(text), X).tolist() == [True]
    assert covers([], X).shape == (1, 0)
    assert covers(text, X[0]).tolist() == [True]


def test_twenty_disconnected_atoms_do_not_explode():
    facts = [Atom("p", (f"c{i}",)) for i in range(30)]
    X = Sequences.from_atoms([[*facts, Atom("r", ("c0",))]])
    atoms = [Atom("p", (Var(f"V{i}"),)) for i in range(20)]
    assert covers(Pattern((*atoms, Atom("r", (Var("Z"),)), Atom("p", ("c1",)))), X).tolist() == [
        True
    ]
    assert covers(
        Pattern((*atoms, Atom("r", (Var("Z"),)), Atom("r", ("c1",)))), X, object_identity=False
    ).tolist() == [False]


@pytest.mark.parametrize("n", [64, 65, 150])
def test_more_different_values_than_a_sequence_has_are_refused_at_once(n):
    rng = random.Random(n)
    X, _ = from_lists([[rng.choice("acgt") for _ in range(n)]], predicate="base")
    events = [Var(f"E{i}") for i in range(5)]
    atoms = [Atom("base", (event, Var(f"V{i}"))) for i, event in enumerate(events)]
    atoms += [Atom("follow_s", pair) for pair in itertools.pairwise(events)]
    assert covers(Pattern(tuple(atoms)), X).tolist() == [False]
    assert match(Pattern(tuple(atoms)), X[0]) == []
    assert covers(Pattern((*atoms[:4], *atoms[5:8])), X).tolist() == [True]


@pytest.mark.parametrize("k", [2, 12, 30])
def test_more_different_objects_than_a_sequence_has_are_refused_at_once(k):
    X = Sequences.from_atoms([[Atom("a", (f"c{i}",)) for i in range(k - 1)]])
    atoms = tuple(Atom("a", (Var(f"X{i}"),)) for i in range(k))
    assert covers(Pattern(atoms), X).tolist() == [False]
    assert covers(Pattern(atoms[1:]), X).tolist() == [True]


def test_match_does_not_enumerate_what_has_no_name():
    X, _ = from_lists([["a"] * 60])
    found = match("a(X), follow_s(_,X), follow_s(X,_), follow_s(_,_)", X[0])
    assert [binding["X"] for binding in found] == [f"e{i}" for i in range(2, 60)]


def test_a_wrong_arity_is_told_whatever_stands_before_it():
    X, _ = from_lists([["a"]])
    for text in ["a(X,Y), zz(X)", "zz(X), a(X,Y)"]:
        with pytest.raises(DataError, match="a has 2 arguments here and 1 in the data"):
            covers(text, X)


def test_what_is_no_pattern_is_refused():
    X, _ = from_lists([["a"]])
    message = "a pattern is a Pattern or its text, not a Atom: make one with parse_pattern"
    with pytest.raises(TypeError, match=message):
        covers([Atom("a", (Var("X"),))], X)
    with pytest.raises(TypeError, match="not a list: make one with parse_pattern"):
        match(["a(X)"], X[0])
