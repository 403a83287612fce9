"""Canonical forms, variants and theta-subsumption, against brute force and networkx."""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import combinations, permutations, product
from random import Random

import pytest
from canonical_keys import are_variants
from hypothesis import assume, given
from hypothesis import strategies as st

from relynx.logic.canonical import canonical, core, subsumes
from relynx.logic.terms import Atom, Struct, Term, Var

PREDICATES = {"p": 1, "q": 2, "r": 3}
CONSTANTS: tuple[Term, ...] = ("a", "1", 1, 1.0)
Pattern = tuple[Atom, ...]


def patterns(
    *, anonymous: bool = True, max_atoms: int = 4, constants: tuple[Term, ...] = CONSTANTS
) -> st.SearchStrategy[Pattern]:
    names = ["X", "Y", "Z", "_"] if anonymous else ["X", "Y", "Z"]
    variables = st.sampled_from(names).map(Var)
    terms = st.one_of(variables, variables, st.sampled_from(constants)) if constants else variables
    fluents = [
        st.builds(Atom, st.just(name), st.tuples(*[terms] * arity))
        for name, arity in PREDICATES.items()
    ]
    steps = st.builds(Atom, st.just("followat_s"), st.tuples(st.sampled_from([1, 2]), terms, terms))
    return st.lists(st.one_of(*fluents, steps), min_size=1, max_size=max_atoms).map(tuple)


def graphs(max_nodes: int = 5) -> st.SearchStrategy[frozenset[tuple[int, int]]]:
    """Directed graphs without loops, by their edges."""
    pairs = [(i, j) for i in range(max_nodes) for j in range(max_nodes) if i != j]
    return st.frozensets(st.sampled_from(pairs), min_size=1, max_size=9)


def pattern_of(edges: Iterable[tuple[int, int]]) -> Pattern:
    return tuple(Atom("q", (Var(f"V{i}"), Var(f"V{j}"))) for i, j in edges)


def both_ways(edges: Iterable[tuple[int, int]]) -> Pattern:
    return pattern_of([pair for i, j in edges for pair in ((i, j), (j, i))])


def cycle(n: int, *, start: int = 0) -> list[tuple[int, int]]:
    return [(start + i, start + (i + 1) % n) for i in range(n)]


def named(pattern: Pattern) -> list[str]:
    return sorted({v.name for atom in pattern for v in atom.variables()} - {"_"})


def renamed(pattern: Pattern, names: dict[str, str]) -> Pattern:
    return tuple(
        Atom(
            atom.predicate,
            tuple(Var(names.get(a.name, a.name)) if isinstance(a, Var) else a for a in atom.args),
        )
        for atom in pattern
    )


def variants_by_force(first: Pattern, second: Pattern) -> bool:
    """Some bijection of the variables makes the two sets of atoms equal."""
    ours, theirs = named(first), named(second)
    return len(ours) == len(theirs) and any(
        set(renamed(first, dict(zip(ours, order, strict=True)))) == set(second)
        for order in permutations(theirs)
    )


def frozen(pattern: Pattern) -> list[tuple[str, tuple[object, ...]]]:
    """Facts whose arguments are texts or typed constants: no two different terms are equal."""
    facts = []
    for i, atom in enumerate(dict.fromkeys(pattern)):
        args: list[object] = []
        for j, arg in enumerate(atom.args):
            if isinstance(arg, Var):
                args.append(("variable", arg.name if arg.name != "_" else (i, j)))
            else:
                args.append((type(arg), arg))
        facts.append((atom.predicate, tuple(args)))
    return facts


def subsumes_by_force(general: Pattern, specific: Pattern, *, object_identity: bool) -> bool:
    """Try every substitution of the variables of `general`, as the definition has it."""
    facts = frozen(specific)
    terms = list(dict.fromkeys(arg for _, args in facts for arg in args))
    own_constants = {
        (type(arg), arg)
        for atom in general
        for place, arg in enumerate(atom.args)
        if not isinstance(arg, Var) and (atom.predicate, place) != ("followat_s", 0)
    }
    names = named(general)

    def holds(atom: Atom, values: dict[str, object]) -> bool:
        def agrees(arg: Term, value: object) -> bool:
            if not isinstance(arg, Var):
                return (type(arg), arg) == value
            return arg.name == "_" or values[arg.name] == value

        return any(
            predicate == atom.predicate and all(map(agrees, atom.args, args))
            for predicate, args in facts
        )

    for chosen in product(terms, repeat=len(names)):
        if object_identity and (
            len(set(chosen)) < len(chosen) or not own_constants.isdisjoint(chosen)
        ):
            continue
        if all(holds(atom, dict(zip(names, chosen, strict=True))) for atom in general):
            return True
    return False


@st.composite
def near_pairs(draw: st.DrawFn, *, anonymous: bool = True) -> tuple[Pattern, Pattern]:
    """A pattern, and the same renamed and shuffled, in half of the cases with an atom changed."""
    first = draw(patterns(anonymous=anonymous))
    names = named(first)
    others = draw(st.permutations(["X", "Y", "Z", "U"]))
    second = list(renamed(first, dict(zip(names, others, strict=False))))
    second = draw(st.permutations(second))
    if draw(st.booleans()):
        i = draw(st.integers(0, len(second) - 1))
        second[i : i + 1] = draw(patterns(anonymous=anonymous, max_atoms=1))
    return first, tuple(second)


def related(**options: bool) -> st.SearchStrategy[tuple[Pattern, Pattern]]:
    """Two patterns, at times with the first part of the second."""
    kind = patterns(**options)
    part_and_whole = st.tuples(kind, kind).map(lambda pair: (pair[0][:2], pair[0] + pair[1]))
    return st.one_of(st.tuples(kind, kind), part_and_whole, near_pairs(**options))


@given(patterns(max_atoms=7), st.permutations(["B", "A", "Q7"]), st.randoms())
def test_renaming_shuffling_and_repeating_do_not_change_the_form(
    pattern: Pattern, names: list[str], random: Random
) -> None:
    atoms = list(renamed(pattern, dict(zip("XYZ", names, strict=True))))
    atoms.append(random.choice(atoms))
    random.shuffle(atoms)
    assert canonical(atoms) == canonical(pattern)


@given(near_pairs())
def test_forms_are_equal_exactly_for_variants(pair: tuple[Pattern, Pattern]) -> None:
    first, second = pair
    assert (canonical(first) == canonical(second)) == variants_by_force(first, second)
    assert are_variants(first, second) == variants_by_force(first, second)


@given(patterns(max_atoms=6))
def test_the_form_is_a_variant_of_the_pattern(pattern: Pattern) -> None:
    assert variants_by_force(canonical(pattern), pattern)


@given(patterns(max_atoms=6))
def test_the_form_is_its_own_form(pattern: Pattern) -> None:
    assert canonical(canonical(pattern)) == canonical(pattern)


@given(patterns(max_atoms=6))
def test_variables_are_named_in_order_of_first_occurrence(pattern: Pattern) -> None:
    order = dict.fromkeys(v.name for atom in canonical(pattern) for v in atom.variables())
    order.pop("_", None)
    assert list(order) == list("ABC")[: len(order)]


def test_names_go_on_with_a_number_after_z() -> None:
    chain = [Atom("q", (Var(f"V{i}"), Var(f"V{i + 1}"))) for i in range(28)]
    names = [v.name for atom in canonical(chain) for v in atom.variables()]
    assert list(dict.fromkeys(names))[24:] == ["Y", "Z", "A1", "B1", "C1"]


def test_the_empty_pattern_is_its_own_form() -> None:
    assert canonical([]) == ()


def test_constants_of_different_types_stay_apart_and_in_one_order() -> None:
    atoms = [Atom("p", (c,)) for c in ("1", 1.0, "a", 1)]
    assert [str(atom) for atom in canonical(atoms)] == ["p(1)", "p(1.0)", "p('1')", "p(a)"]


@pytest.mark.parametrize("other", [1.0, "1"])
def test_patterns_that_differ_in_the_type_of_a_constant_are_no_variants(other: Term) -> None:
    assert not are_variants([Atom("p", (1,))], [Atom("p", (other,))])


def test_predicates_of_one_name_and_different_arity_stay_apart() -> None:
    atoms = [Atom("p", (Var("X"), Var("X"))), Atom("p", (Var("X"),)), Atom("p")]
    assert [str(atom) for atom in canonical(atoms)] == ["p", "p(A)", "p(A,A)"]


def test_atoms_with_the_same_anonymous_variable_are_kept_once() -> None:
    atoms = [Atom("q", (Var("X"), Var("_"))), Atom("q", (Var("X"), Var("_")))]
    assert [str(atom) for atom in canonical(atoms)] == ["q(A,_)"]


def test_an_anonymous_variable_is_no_variant_of_a_named_one() -> None:
    assert not are_variants([Atom("p", (Var("_"),))], [Atom("p", (Var("X"),))])


def test_the_form_reads_like_a_pattern() -> None:
    x, y, length = Var("X"), Var("Y"), Var("L")
    atoms = [
        Atom("st", (y, "plus", length)),
        Atom("next_s", (x, y)),
        Atom("he", (x, "alpha", length)),
    ]
    assert " ".join(map(str, canonical(atoms))) == "he(A,alpha,B) next_s(A,C) st(C,plus,B)"


def test_a_nested_term_is_refused() -> None:
    with pytest.raises(TypeError) as raised:
        canonical([Atom("p", (Struct("f", (Var("X"), 1)),))])
    assert str(raised.value) == (
        "f(X,1) is no argument of a pattern: give a variable or a constant"
    )


@given(graphs(), graphs(), st.permutations(range(5)))
def test_variants_among_graphs_are_isomorphic_graphs(
    first: frozenset[tuple[int, int]], second: frozenset[tuple[int, int]], order: list[int]
) -> None:
    nx = pytest.importorskip("networkx")
    moved = [(order[i], order[j]) for i, j in first]
    assert are_variants(pattern_of(first), pattern_of(moved))
    assert are_variants(pattern_of(first), pattern_of(second)) == nx.is_isomorphic(
        nx.DiGraph(list(first)), nx.DiGraph(list(second))
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (cycle(6), cycle(3) + cycle(3, start=3)),
        (cycle(8), cycle(4) + cycle(4, start=4)),
        (cycle(7), cycle(3) + cycle(4, start=3)),
    ],
)
def test_graphs_that_colours_alone_cannot_tell_apart_are_told_apart(
    first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    assert not are_variants(both_ways(first), both_ways(second))


STAR = tuple(Atom("q", (Var("X"), Var(f"W{i}"))) for i in range(20))
PETERSEN = cycle(5) + [(i, i + 5) for i in range(5)] + [(5 + i, 5 + (i + 2) % 5) for i in range(5)]
SYMMETRIC = {
    "20 interchangeable variables": STAR,
    "interchangeable variables and cycles": STAR
    + both_ways(cycle(3) + cycle(3, start=3) + cycle(6, start=6)),
    "cycle": pattern_of(cycle(20)),
    "cycle both ways": both_ways(cycle(20)),
    "complete graph of 8": pattern_of(permutations(range(8), 2)),
    "Petersen graph": both_ways(PETERSEN),
    "12 separate edges": pattern_of((2 * i, 2 * i + 1) for i in range(12)),
}


@pytest.mark.parametrize("pattern", SYMMETRIC.values(), ids=SYMMETRIC.keys())
def test_symmetric_patterns_are_quick_and_keep_their_form(pattern: Pattern) -> None:
    random = Random(3)
    names = named(pattern)
    start = time.process_time()
    for _ in range(3):
        others = random.sample(names, len(names))
        atoms = list(renamed(pattern, dict(zip(names, others, strict=True))))
        random.shuffle(atoms)
        assert canonical(atoms) == canonical(pattern)
    assert time.process_time() - start < 6.0


@given(related(), st.booleans())
def test_subsumption_is_what_its_definition_enumerates(
    pair: tuple[Pattern, Pattern], object_identity: bool
) -> None:
    general, specific = pair
    assert subsumes(general, specific, object_identity=object_identity) == subsumes_by_force(
        general, specific, object_identity=object_identity
    )


@given(patterns(), st.booleans())
def test_a_pattern_subsumes_itself(pattern: Pattern, object_identity: bool) -> None:
    assert subsumes(pattern, pattern, object_identity=object_identity)


@st.composite
def chains(draw: st.DrawFn, *, anonymous: bool) -> list[Pattern]:
    """Three patterns; each holds the one before it with some of its variables replaced."""
    grown = [draw(patterns(anonymous=anonymous, max_atoms=2))]
    for _ in range(2):
        last = grown[-1]
        names = draw(st.permutations(["X", "Y", "Z"]))
        more = draw(patterns(anonymous=anonymous, max_atoms=2))
        grown.append(renamed(last, dict(zip("XYZ", names, strict=True))) + more)
    return grown


@given(chains(anonymous=False))
def test_subsumption_under_object_identity_is_transitive(chain: list[Pattern]) -> None:
    first, second, third = chain
    assume(subsumes(first, second) and subsumes(second, third))
    assert subsumes(first, third)


@given(chains(anonymous=True))
def test_plain_subsumption_is_transitive(chain: list[Pattern]) -> None:
    first, second, third = chain
    assume(subsumes(first, second, object_identity=False))
    assume(subsumes(second, third, object_identity=False))
    assert subsumes(first, third, object_identity=False)


@given(near_pairs(anonymous=False))
def test_patterns_that_subsume_each_other_under_object_identity_are_variants(
    pair: tuple[Pattern, Pattern],
) -> None:
    first, second = pair
    mutual = subsumes(first, second) and subsumes(second, first)
    assert mutual == (canonical(first) == canonical(second))


@given(related())
def test_subsumption_under_object_identity_implies_plain_subsumption(
    pair: tuple[Pattern, Pattern],
) -> None:
    general, specific = pair
    if subsumes(general, specific):
        assert subsumes(general, specific, object_identity=False)


@given(related(anonymous=False))
def test_under_object_identity_the_general_pattern_is_not_the_longer_one(
    pair: tuple[Pattern, Pattern],
) -> None:
    general, specific = pair
    if subsumes(general, specific):
        assert len(set(general)) <= len(set(specific))


@given(graphs(4), graphs(5))
def test_subsumption_among_graphs_is_monomorphism(
    general: frozenset[tuple[int, int]], specific: frozenset[tuple[int, int]]
) -> None:
    nx = pytest.importorskip("networkx")
    matcher = nx.algorithms.isomorphism.DiGraphMatcher(
        nx.DiGraph(list(specific)), nx.DiGraph(list(general))
    )
    assert subsumes(pattern_of(general), pattern_of(specific)) == matcher.subgraph_is_monomorphic()


@given(patterns(anonymous=False))
def test_the_core_is_the_least_part_that_is_equivalent(pattern: Pattern) -> None:
    atoms = list(dict.fromkeys(pattern))
    least = core(pattern)
    assert set(least) <= set(atoms)
    assert subsumes_by_force(pattern, least, object_identity=False)
    for smaller in combinations(atoms, len(least) - 1) if least else []:
        assert not subsumes_by_force(pattern, smaller, object_identity=False)


@given(related(anonymous=False))
def test_patterns_subsume_each_other_exactly_if_their_cores_are_variants(
    pair: tuple[Pattern, Pattern],
) -> None:
    one, other = pair
    both = subsumes(one, other, object_identity=False) and subsumes(
        other, one, object_identity=False
    )
    assert both == are_variants(core(one), core(other))


def test_two_variables_may_meet_only_without_object_identity() -> None:
    x, y = Var("X"), Var("Y")
    general, specific = [Atom("q", (x, y))], [Atom("q", (x, x))]
    assert not subsumes(general, specific)
    assert subsumes(general, specific, object_identity=False)


def test_a_variable_may_not_become_a_constant_of_its_own_pattern() -> None:
    general = [Atom("p", (Var("X"),)), Atom("q", ("a", "a"))]
    specific = [Atom("p", ("a",)), Atom("q", ("a", "a"))]
    assert not subsumes(general, specific)
    assert subsumes(general, specific, object_identity=False)


def test_an_anonymous_variable_may_meet_any_term() -> None:
    x = Var("X")
    assert subsumes([Atom("q", (x, Var("_")))], [Atom("q", (x, x))])


def test_anonymous_variables_of_the_specific_pattern_are_different_terms() -> None:
    x, unnamed = Var("X"), Var("_")
    assert not subsumes([Atom("q", (x, x))], [Atom("q", (unnamed, unnamed))])


def test_the_operators_are_compared_as_written() -> None:
    x, y = Var("X"), Var("Y")
    assert not subsumes([Atom("follow_s", (x, y))], [Atom("next_s", (x, y))])
    assert not subsumes([Atom("next_s", (x, y))], [Atom("follow_s", (x, y))])


def test_the_steps_of_followat_must_be_equal() -> None:
    x, y = Var("X"), Var("Y")
    assert subsumes([Atom("followat_s", (2, x, y))], [Atom("followat_s", (2, y, x))])
    assert not subsumes([Atom("followat_s", (2, x, y))], [Atom("followat_s", (3, x, y))])


def test_the_steps_of_followat_are_no_constant_for_object_identity() -> None:
    x, y, n = Var("X"), Var("Y"), Var("N")
    general = [Atom("followat_s", (2, x, y)), Atom("p", (n,))]
    specific = [Atom("followat_s", (2, x, y)), Atom("p", (2,))]
    assert subsumes(general, specific)


def test_more_interchangeable_atoms_than_there_are_is_refused_at_once() -> None:
    general = [Atom("q", (Var("X"), Var(f"V{i}"))) for i in range(12)]
    start = time.process_time()
    assert not subsumes(general, general[:11])
    assert time.process_time() - start < 1.0


def test_an_atom_that_fits_nothing_is_looked_at_before_those_that_fit_much() -> None:
    pairs = [Atom("q", (Var(f"V{i}"), Var(f"W{i}"))) for i in range(10)]
    start = time.process_time()
    assert not subsumes([*pairs, Atom("p", ("a",))], [*pairs, Atom("p", ("b",))])
    assert time.process_time() - start < 1.0
