"""The bias as a value: its text, its constraints, the files of the original, inference."""

import copy
import pickle
import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import product

import pytest
from canonical_keys import are_variants
from enumerate_patterns import Conditions, enumerate_patterns
from hypothesis import given
from hypothesis import strategies as st
from languages import make_language
from paths import SHARED

import relynx as rx
from relynx.bias import Bias, parse_bias, read_bias
from relynx.bias.infer import MAX_CONSTANTS
from relynx.errors import BiasError, InputError
from relynx.logic.parser import parse_atom, parse_atoms
from relynx.logic.terms import Atom, Comparison, Var, as_constant, constant_key
from relynx.search_settings import SETTINGS

GOLDEN = SHARED / "golden"
BASE = "type(p(event,t)). mode(p(+,*)). type(q(event)). mode(q(+)). dimension(next_s). "
here_only = pytest.mark.skipif(
    not GOLDEN.is_dir(), reason="the original program's cases (../shared) are not here"
)


def message_of(call, *args, **kwargs) -> str:
    with pytest.raises(BiasError) as caught:
        call(*args, **kwargs)
    return str(caught.value)


# The value


def test_a_bias_made_in_python_needs_types_and_modes_only():
    bias = Bias({"he": ("event", "t")}, {"he": (("+", "#"),)})
    assert (bias.values, bias.dimensions, bias.key, bias.max_length) == ({}, (), (), None)


def test_lists_and_the_old_name_of_events_are_taken_as_they_should_be_written():
    loose = Bias({"he": ["e", "t"]}, {"he": ["+#", ["+", "-"]]}, {"t": [True, 1]}, ["s"])
    strict = Bias(
        {"he": ("event", "t")}, {"he": (("+", "#"), ("+", "-"))}, {"t": ("true", 1)}, ("s",)
    )
    assert loose == strict
    assert str(loose) == str(strict)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))])
def test_a_copy_is_equal_and_has_the_same_hash(copied):
    bias = parse_bias(BASE + "key([p(_,a)]). negconstraint([p(X,A),q(X),A \\== b]). maxsize(2).")
    other = copied(bias)
    assert other == bias
    assert hash(other) == hash(bias)


def test_the_order_of_declarations_makes_no_difference():
    one = parse_bias("type(p(event,t)). mode(p(+,#)). mode(p(+,-)). values(t,[a,b]).")
    other = parse_bias("values(t,[b,a]). mode(p(+,-)). mode(p(+,#)). type(p(e,t)).")
    assert one == other
    assert hash(one) == hash(other)


@pytest.mark.parametrize(
    "change",
    [
        {"values": {"t": (1.0,)}},
        {"max_length": 3},
        {"key": (Atom("p", (Var("_"), Var("_"))),)},
        {"dimensions": ("b",)},
        {"modes": {"p": ("+-",), "q": ("+",)}},
    ],
)
def test_a_bias_with_another_meaning_is_not_equal(change):
    bias = parse_bias(BASE + "values(t,[1]).")
    assert replace(bias, **change) != bias
    assert bias != "a bias"


@given(st.integers(0, 2000))
def test_the_text_of_a_bias_reads_back(seed):
    bias = make_language(seed).bias
    again = parse_bias(str(bias))
    assert again == bias
    assert str(again) == str(bias)


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.lists(st.text(st.characters(exclude_categories=["Cs"])) | st.integers() | st.floats(-9, 9)),
)
def test_any_name_and_any_constant_reads_back(name, constants):
    unique = {constant_key(as_constant(c)): c for c in constants}.values()
    bias = Bias({name: ("event", "T")}, {name: ("+#",)}, {"T": tuple(unique)}, ("s",))
    assert parse_bias(str(bias)) == bias


def test_every_setting_reads_back():
    bias = Bias(
        {"p": ("event",)},
        {"p": ("+",)},
        max_length=4,
        max_gap=3,
        min_frequency=1,
        min_support=0.25,
        min_cover=5,
        object_identity=False,
        prior="uniform",
    )
    assert str(bias).splitlines()[2:] == [
        "maxsize(4).",
        "maxfollowat(3).",
        "minfreq(0).",
        "minsupport(0.25).",
        "mincover(5).",
        "object_identity(false).",
        "prior(uniform).",
    ]
    assert parse_bias(str(bias)) == bias


def test_minfreq_asks_for_more_than_it_says():
    assert parse_bias(BASE + "minfreq(3).").min_frequency == 4


def test_nested_terms_are_flattened_as_in_the_data():
    bias = parse_bias(
        "type(he(e,h(hand,cls),len)). mode(he(+,h(#,*),-)). key([he(_,h(right,_),_)])."
    )
    assert bias.types == {"he": ("event", "hand", "cls", "len")}
    assert bias.modes == {"he": (("+", "#", "*", "-"),)}
    assert str(bias.key[0]) == "he(_,right,_,_)"


def test_a_predicate_may_have_no_argument():
    bias = parse_bias("type(wet). mode(wet). type(p(event)). mode(p(+)).")
    assert bias.types["wet"] == ()
    assert bias.modes["wet"] == ((),)
    assert parse_bias(str(bias)) == bias


def test_modes_add_up_and_the_same_one_counts_once():
    bias = parse_bias("type(p(event,t)). mode(p(+,#)). mode(p(+,-)). mode(p(+,#)).")
    assert bias.modes == {"p": (("+", "#"), ("+", "-"))}


def test_a_type_without_a_mode_is_a_predicate_that_patterns_do_not_use():
    bias = parse_bias("type(p(event)). mode(p(+)). type(q(event)).")
    assert list(bias.modes) == ["p"]


def test_several_keys_add_up():
    bias = parse_bias(BASE + "key([p(_,a)]). key([q(_)]).")
    assert [str(atom) for atom in bias.key] == ["p(_,a)", "q(_)"]


def test_problems_of_a_python_value_come_without_a_place():
    assert message_of(
        Bias,
        {"p": ("event", "t")},
        {"p": ("+?",), "st": ("+",)},
        values={"t": (1, 1), "event": ("e1",)},
        dimensions=("s", "s", ""),
        max_length=0,
        min_frequency=0,
        min_support=2,
        object_identity="yes",
        prior="flat",
    ) == (
        "unknown sign '?' in a mode\n"
        "hint: + a variable already there, - a new one, # a constant, * any of these\n"
        "st has a mode and no type\n"
        "hint: declare it: type(st(t1)).\n"
        "1 stands twice among the values of 't'\n"
        "hint: leave one out\n"
        "an event is never a constant: events have no values\n"
        "hint: leave this out\n"
        "the dimension s is declared twice\n"
        "a dimension needs a name: 's' for next_s\n"
        "max_length must be a whole number of at least 1, not 0\n"
        "min_frequency must be a whole number of at least 1, not 0\n"
        "min_support must be a number from 0 to 1, not 2\n"
        "object_identity must be True or False, not 'yes'\n"
        "prior must be 'empirical' or 'uniform', not 'flat'"
    )


def test_a_constraint_made_in_python_may_hold_no_list_and_no_other_test():
    assert message_of(
        parse_bias_with, atmostone=((Comparison("\\==", Var("A"), "a"),), (parse_atom("q([a])"),))
    ) == (
        "this atmostone has no atom\n"
        "hint: leave it out\n"
        "'A \\== a' cannot stand in this atmostone\n"
        "hint: it holds atoms only\n"
        "a variable or a constant must stand here"
    )


def parse_bias_with(**changes) -> Bias:
    """The base bias made in Python, with other fields."""
    base = parse_bias(BASE)
    return Bias(base.types, base.modes, dimensions=base.dimensions, **changes)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"types": [("p", "event")]}, "types is [('p', 'event')]: give a dict"),
        ({"types": {"p": "event"}}, "types of 'p' is 'event': give a tuple of texts"),
        ({"types": {"p": (1,)}}, "types of 'p' is (1,): give a tuple of texts"),
        ({"modes": {"p": "+"}}, "modes of 'p' is '+': give a tuple of modes, as in ('+#', '+-')"),
        ({"modes": {"p": None}}, "modes of 'p' is None: give a tuple of modes, as in ('+#', '+-')"),
        ({"values": {"t": "abc"}}, "values of 't' is 'abc': give a tuple of constants"),
        ({"values": {"t": (None,)}}, "values of 't' is (None,): give a tuple of constants"),
        ({"dimensions": "chain"}, "dimensions is 'chain': give a tuple of names, as in ('s',)"),
        ({"key": ("p(X)",)}, "key is ('p(X)',): give a tuple of atoms"),
        ({"atmostone": ("p(X)",)}, "atmostone is ('p(X)',): give a tuple of tuples of atoms"),
    ],
)
def test_a_part_of_the_wrong_kind_is_refused(parts, message):
    right = {"types": {"p": ("event",)}, "modes": {"p": ("+",)}}
    assert message_of(Bias, **{**right, **parts}) == message


def test_a_dimension_named_by_its_predicate_is_told_its_name():
    bias = Bias({"p": ("event",)}, {"p": ("+",)}, dimensions=("next_s",))
    X = rx.Sequences.from_atoms([[rx.parse_atom("p(e1)"), rx.parse_atom("next_s(e1,e2)")]])
    assert message_of(bias.check, X) == (
        "the dimension of next_s is called s\nhint: write 's' instead of 'next_s'"
    )


@pytest.mark.parametrize("call", [Bias.infer, Bias({"p": ("event",)}, {"p": ("+",)}).check])
def test_something_else_than_sequences_is_refused(call):
    with pytest.raises(TypeError) as caught:
        call([["a", "b"]])
    assert str(caught.value) == "X is a list: give Sequences"


def test_a_flag_is_no_number():
    assert message_of(parse_bias_with, max_gap=True, min_support=False) == (
        "max_gap must be a whole number of at least 1, not True\n"
        "min_support must be a number from 0 to 1, not False"
    )


def test_a_test_of_a_constraint_takes_variables_and_constants_only():
    text = BASE + "negconstraint([p(_,A),A \\== [a]])."
    assert message_of(parse_bias, text).splitlines()[0] == (
        f"<text>:1:{text.index('[a]') + 1}: a variable or a constant must stand here"
    )


def test_every_mode_that_a_key_leads_to_is_accepted():
    bias = parse_bias(
        "type(m(mol)). mode(m(+)). type(atm(mol,atom)). mode(atm(+,-)). "
        "type(charge(atom,c)). mode(charge(+,#)). key([m(_)])."
    )
    assert bias.key == (parse_atom("m(_)"),)


GOOD = BASE + (
    "values(t,[a,b]). key([p(_,a)]). negconstraint([p(X,A),q(X),A \\== b]). atmostone([q(X)]). "
    "posconstraint([followat_s(2,_,_)]). v(p(_,a)). maxsize(2). :- set_lynx_flag('$maxsize',2). "
    "words(p(X,A),'a {A} p'). words(a,b). words(next_s,'along')."
)
WORDS = re.findall(r"\w+|\\==|:-|\s|.", GOOD)


@given(st.data())
def test_any_text_is_read_or_refused(data):
    words = list(WORDS)
    for _ in range(data.draw(st.integers(1, 4))):
        i = data.draw(st.integers(0, len(words) - 1))
        words[i : i + 1] = data.draw(st.lists(st.sampled_from(WORDS), max_size=3))
    bias = None
    with suppress(InputError):
        bias = parse_bias("".join(words))
    assert bias is None or parse_bias(str(bias)) == bias


# Constraints


@pytest.mark.parametrize(
    ("constraint", "pattern", "forbidden"),
    [
        ("p(A,_),p(A,_)", "p(X,a)", False),
        ("p(A,_),p(A,_)", "p(X,a), p(X,Y)", True),
        ("p(A,_),p(A,_)", "p(X,a), next_s(X,Y), p(Y,b)", False),
        ("p(A,_),p(B,_)", "p(X,a), next_s(X,Y), p(Y,b)", True),
        ("p(A,a)", "p(X,L)", False),
        ("p(A,a)", "p(X,a)", True),
        ("p(A,1)", "p(X,1.0)", False),
        ("p(A,B),p(C,B)", "p(X,L), next_s(X,Y), p(Y,L)", True),
        ("p(A,B),p(C,B)", "p(X,L), next_s(X,Y), p(Y,M)", False),
        ("p(A,B),p(C,D),B \\== D", "p(X,L), next_s(X,Y), p(Y,L)", False),
        ("p(A,B),p(C,D),B \\== D", "p(X,L), next_s(X,Y), p(Y,M)", True),
        ("p(A,B),B \\== a", "p(X,a)", False),
        ("p(A,B),B \\== a", "p(X,L)", True),
        ("p(A,B),B \\== a", "p(X,a), next_s(X,Y), p(Y,b)", True),
        ("followat_s(2,A,B)", "p(X,a), followat_s(2,X,Y), q(Y)", True),
        ("followat_s(3,A,B)", "p(X,a), followat_s(2,X,Y), q(Y)", False),
        ("followat_s(N,A,B)", "p(X,a), followat_s(2,X,Y), q(Y)", True),
        ("next_s(A,B),follow_s(B,C)", "p(X,a), next_s(X,Y), q(Y), follow_s(Y,Z), q(Z)", True),
    ],
)
def test_a_negconstraint_forbids_what_it_subsumes(constraint, pattern, forbidden):
    bias = parse_bias(BASE + f"negconstraint([{constraint}]).")
    wanted = parse_bias(BASE + f"posconstraint([{constraint}]).")
    atoms = parse_atoms(pattern)
    assert bias.forbids(atoms) == forbidden
    assert wanted.wants(atoms) == forbidden
    assert (bias.constrained, bias.selective) == (True, False)
    assert (wanted.constrained, wanted.selective) == (False, True)


def test_without_constraints_everything_is_wanted_and_nothing_forbidden():
    bias = parse_bias(BASE)
    atoms = parse_atoms("p(X,a)")
    assert (bias.constrained, bias.forbids(atoms), bias.wants(atoms)) == (False, False, True)


@pytest.mark.parametrize("declaration", ["negconstraint", "atmostone", "onlyone", "sametype"])
def test_a_bias_that_forbids_something_says_so(declaration):
    assert parse_bias(BASE + f"{declaration}([p(A,_),q(A)]).").constrained


def test_all_posconstraints_must_hold():
    bias = parse_bias(BASE + "posconstraint([p(_,a)]). posconstraint([q(_)]).")
    assert not bias.constrained
    assert bias.wants(parse_atoms("p(X,a), q(X)"))
    assert not bias.wants(parse_atoms("p(X,a)"))
    assert not bias.wants(parse_atoms("q(X)"))


@pytest.mark.parametrize(
    ("listed", "pattern", "more_than_one", "same_element"),
    [
        ("p(A,_),q(A)", "p(X,a)", False, False),
        ("p(A,_),q(A)", "p(X,a), q(X)", True, False),
        ("p(A,_),q(A)", "q(X), p(X,a)", True, False),
        ("p(A,_),q(A)", "p(X,a), p(X,b)", True, True),
        ("p(A,_),q(A)", "p(X,a), next_s(X,Y), q(Y)", False, False),
        ("p(A,B)", "p(X,a), p(X,b)", False, False),
        ("p(_,_)", "p(X,a), next_s(X,Y), p(Y,b)", True, True),
        ("p(A,a),p(A,b)", "p(X,a), p(X,b)", True, False),
        ("p(A,a),p(A,b)", "p(X,a), p(X,c)", False, False),
    ],
)
def test_at_most_one_atom_matches_a_list(listed, pattern, more_than_one, same_element):
    atoms = parse_atoms(pattern)
    assert parse_bias(BASE + f"atmostone([{listed}]).").forbids(atoms) == more_than_one
    assert parse_bias(BASE + f"sametype([{listed}]).").forbids(atoms) == same_element


VARIABLES = st.sampled_from("XYZ").map(Var)
ATOMS = st.one_of(
    st.tuples(VARIABLES, VARIABLES | st.sampled_from([1, 1.0, "a"])).map(lambda t: Atom("p", t)),
    VARIABLES.map(lambda x: Atom("q", (x,))),
)
GENERAL = st.one_of(ATOMS, ATOMS.map(lambda a: Atom(a.predicate, (*a.args[:-1], Var("_")))))


def brute_force(constraint, atoms) -> bool:
    """Whether some choice of distinct atoms, one for each of the constraint's, makes them equal."""
    for chosen in product(range(len(atoms)), repeat=len(constraint)):
        if len(set(chosen)) < len(chosen):
            continue
        pairs = [
            (wanted, (type(found), found))
            for general, i in zip(constraint, chosen, strict=True)
            if general.key == atoms[i].key
            for wanted, found in zip(general.args, atoms[i].args, strict=True)
            if not (isinstance(wanted, Var) and wanted.anonymous)
        ]
        fits = all(g.key == atoms[i].key for g, i in zip(constraint, chosen, strict=True))
        bound = {}
        for wanted, found in pairs:
            if isinstance(wanted, Var):
                fits &= bound.setdefault(wanted.name, found) == found
            else:
                fits &= (type(wanted), wanted) == found
        if fits:
            return True
    return False


@given(st.lists(GENERAL, min_size=1, max_size=3), st.lists(ATOMS, max_size=4, unique=True))
def test_forbids_equals_trying_all_choices_of_atoms(constraint, atoms):
    bias = parse_bias_with(negconstraints=(tuple(constraint),))
    assert bias.forbids(atoms) == brute_force(constraint, atoms)


@given(
    st.lists(GENERAL, min_size=1, max_size=3),
    st.lists(ATOMS, max_size=4, unique=True),
    st.integers(0, 3),
)
def test_what_is_forbidden_stays_forbidden_with_more_atoms(listed, atoms, n):
    bias = parse_bias_with(
        negconstraints=(tuple(listed),), atmostone=(tuple(listed),), sametype=(tuple(listed),)
    )
    assert bias.forbids(atoms) >= bias.forbids(atoms[:n])


# The white list


@pytest.mark.parametrize(
    ("atom", "admitted"),
    [
        ("p(X,a,1)", True),
        ("p(X,a,2)", False),
        ("p(X,A,1)", True),
        ("p(X,A,B)", True),
        ("p(X,b,B)", False),
        ("q(X,b,b)", True),
        ("q(X,b,c)", False),
        ("q(X,b,A)", True),
        ("q(X,A,A)", True),
        ("q(A,A,B)", True),
        ("r(X,b)", True),
    ],
)
def test_the_white_list_admits_what_unifies_with_it(atom, admitted):
    bias = parse_bias(
        "type(p(event,t,t)). mode(p(+,*,*)). type(q(event,t,t)). mode(q(+,*,*)). "
        "type(r(event,t)). mode(r(+,*)). v(p(_,a,1)). v(q(_,A,A))."
    )
    assert bias.admits(parse_atom(atom)) == admitted


def test_two_variables_that_stand_for_each_other_meet_two_constants():
    bias = parse_bias("type(p(event,t,t)). mode(p(+,*,*)). v(p(_,A,B)). v(p(_,a,A)).")
    assert bias.admits(parse_atom("p(X,Y,Y)"))


def test_without_a_white_list_every_atom_is_admitted():
    assert parse_bias(BASE).admits(parse_atom("p(X,a)"))


# Files of the original program

OLD = ":- set_lynx_flag('$lynx_verbose',0). "


def test_a_hash_of_the_original_is_any_of_the_three():
    bias = parse_bias(OLD + "type(p(e,t)). mode(p(+,#)). values(t,[a]).")
    assert bias.modes == {"p": (("+", "*"),)}


def test_a_plus_of_the_original_admits_listed_values():
    bias = parse_bias(OLD + "type(p(e,t,u)). mode(p(+,+,+)). values(t,[a]).")
    assert bias.modes == {"p": (("+", "+", "+"), ("+", "#", "+"))}


def test_a_type_of_the_original_without_values_has_no_constants():
    bias = parse_bias(OLD + "type(p(e,t,u)). mode(p(+,#,#)). values(t,[a]).")
    assert bias.values == {"t": ("a",), "u": ()}


def test_without_flags_the_signs_mean_what_they_are():
    bias = parse_bias("type(p(e,t)). mode(p(+,#)). values(t,[a]).")
    assert bias.modes == {"p": (("+", "#"),)}


def test_the_flags_of_the_original_are_settings():
    flags = {
        "minfreq": "1",
        "maxsize": "2",
        "minclassrecall": "0.3",
        "maxfollowat": "4",
        "lynx_verbose": "0",
        "mincover": "100",
        "unbalanced_data": "true",
        "object_identity": "false",
    }
    text = "".join(f":- set_lynx_flag('${flag}',{value}).\n" for flag, value in flags.items())
    bias = parse_bias(text + "type(p(e)). mode(p(+)).")
    assert {s.field: getattr(bias, s.field) for s in SETTINGS.values()} == {
        "min_frequency": 2,
        "max_length": 2,
        "min_support": 0.3,
        "max_gap": 4,
        "min_cover": 100,
        "prior": "uniform",
        "object_identity": False,
    }


def test_an_old_file_reads_back_in_our_dialect():
    bias = parse_bias(OLD + BASE + "values(t,[a]). type(s(t,u)). mode(s(+,#)). v(p(_,a)).")
    assert "set_lynx_flag" not in str(bias)
    assert parse_bias(str(bias)) == bias


def golden_patterns(case: str) -> dict[tuple[Atom, ...], tuple[int, ...]]:
    """What the definitions of the golden cases give, by enumeration, with the class counts."""
    bias = read_bias(GOLDEN / case / f"{case}.l")
    X, y = rx.read_lynx(GOLDEN / case / f"{case}.m", background=GOLDEN / case / f"{case}.bk")
    facts = X.facts(bias.object_identity)
    sequences = [set() for _ in X]
    for (name, _), table in facts.tables.items():
        for i, *codes in table.T.tolist():
            sequences[i].add(Atom(name, tuple(facts.vocabulary[code] for code in codes)))
    conditions = Conditions(
        min_support=bias.min_support,
        min_frequency=1,  # the original knows minfreq and ignores it
        max_length=bias.max_length,
        max_gap=bias.max_gap,
        object_identity=bias.object_identity,
    )
    sizes = Counter(y.tolist())
    found = {}
    for pattern in enumerate_patterns(sequences, y.tolist(), bias, conditions):
        shares = [pattern.support[label] / sizes[label] for label in sorted(sizes)]
        if len(pattern.atoms) > 1 and max(shares) > bias.min_support and len(set(shares)) > 1:
            found[pattern.atoms] = tuple(pattern.support[label] for label in sorted(sizes))
    return found


def listed_patterns(case: str) -> dict[tuple[Atom, ...], tuple[int, ...]]:
    """What the original program saved."""
    lines = (GOLDEN / case / "expected.tsv").read_text().splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    return {
        parse_atoms(pattern): tuple(int(count.split("/")[0]) for count in counts)
        for pattern, *counts in rows
    }


@here_only
@pytest.mark.parametrize(
    ("case", "n"), [("molecules", 27), ("two_events", 23), ("variables_length3", 52)]
)
def test_old_biases_give_the_patterns_of_the_golden_cases(case, n):
    found = golden_patterns(case)
    assert len(found) == n
    for pattern, counts in listed_patterns(case).items():
        assert [c for atoms, c in found.items() if are_variants(atoms, pattern)] == [counts]


@here_only
def test_old_biases_without_values_give_patterns_of_variables_only():
    found = golden_patterns("variables")
    without_follow = [atoms for atoms in found if all(a.predicate != "follow_s" for a in atoms)]
    assert len(without_follow) == 6
    assert all(
        isinstance(arg, Var)
        for atoms in found
        for a in atoms
        if a.predicate == "p"
        for arg in a.args
    )


# Inference


def infer(*sequences: str, background: str | None = None) -> Bias:
    """The bias that is inferred from sequences written as atoms."""
    rules = rx.parse_background(background) if background else None
    atoms = [parse_atoms(text) for text in sequences]
    return Bias.infer(rx.Sequences.from_atoms(atoms, background=rules))


def test_inference_finds_events_dimensions_and_small_vocabularies():
    bias = infer("he(e1,alpha,long), next_s(e1,e2), st(e2,long)")
    assert bias.dimensions == ("s",)
    assert bias.types == {"he": ("event", "he_2", "he_3"), "st": ("event", "he_3")}
    assert bias.modes == {"he": (("+", "*", "*"),), "st": (("+", "*"),)}


def test_inference_sees_derived_predicates():
    bias = infer("p(e1,1), next_s(e1,e2), p(e2,2)", background="big(E) :- p(E,N), N > 1.")
    assert bias.types["big"] == ("event",)
    assert bias.modes["big"] == (("+",),)


def test_an_inferred_fluent_of_two_events_joins_by_either():
    bias = infer("p(e1), next_s(e1,e2), p(e2), near(e1,e2)")
    assert bias.modes["near"] == (("+", "*"), ("*", "+"))


def test_an_argument_of_many_values_is_never_a_constant():
    few = ", ".join(f"f(n{i})" for i in range(MAX_CONSTANTS))
    many = ", ".join(f"g(m{i})" for i in range(MAX_CONSTANTS + 1))
    bias = infer(f"{few}, {many}, {many.replace('g(', 'h(')}")
    assert bias.modes == {"f": (("*",),), "g": (("+",),), "h": (("+",),)}


def test_an_inferred_atom_without_events_joins_by_an_argument_of_many_values():
    facts = [f"bond(a{i},a{i + 1},single)" for i in range(MAX_CONSTANTS + 1)]
    bias = infer(", ".join(facts))
    assert bias.types == {"bond": ("bond_1", "bond_1", "bond_3")}
    assert bias.modes == {"bond": (("+", "+", "*"), ("+", "-", "*"), ("-", "+", "*"))}


def test_many_arguments_of_many_values_do_not_make_many_modes():
    facts = [f"r({','.join(f'c{i}_{j}' for j in range(7))})" for i in range(MAX_CONSTANTS + 1)]
    modes = infer(", ".join(facts)).modes["r"]
    assert len(modes) == 8
    assert ("+",) * 7 in modes
    assert all("+" in mode for mode in modes)


def test_arguments_that_share_a_value_through_a_third_have_one_type():
    bias = infer("a(x), b(y), c(x), c(y), d(z)")
    assert bias.types == {"a": ("a_1",), "b": ("a_1",), "c": ("a_1",), "d": ("d_1",)}


def test_numbers_of_different_kind_are_different_values():
    assert infer("a(1), b(1.0)").types == {"a": ("a_1",), "b": ("b_1",)}


def test_an_inferred_bias_without_facts_is_refused():
    assert message_of(Bias.infer, rx.Sequences.from_atoms([[]])) == (
        "the sequences hold no facts: there is nothing to make patterns of"
    )


def test_data_with_links_only_have_nothing_to_infer_a_bias_from():
    assert message_of(infer, "next_s(e1,e2)") == (
        "the sequences hold only links between events: there is nothing to make patterns of"
    )


@given(st.integers(0, 500))
def test_an_inferred_bias_fits_its_data_and_reads_back(seed):
    X = make_language(seed).X
    bias = Bias.infer(X)
    bias.check(X)
    assert parse_bias(str(bias)) == bias
    assert set(bias.types) == set(bias.modes)


# A bias and data


def test_a_bias_that_fits_the_data_is_accepted():
    X, _ = rx.from_lists([["a", "b"]])
    parse_bias("type(a(event)). mode(a(+)). dimension(next_s). dimension(next_b).").check(X)


def test_a_predicate_that_the_background_defines_is_known():
    X = rx.Sequences.from_atoms(
        [parse_atoms("p(e1)")], background=rx.parse_background("q(E) :- p(E), p(zz).")
    )
    parse_bias("type(q(event)). mode(q(+)).").check(X)


def test_a_type_without_a_mode_need_not_be_in_the_data():
    X, _ = rx.from_lists([["a", "b"]])
    parse_bias("type(a(event)). mode(a(+)). type(zebra(event)).").check(X)


def test_what_the_data_lack_is_reported_with_its_place():
    X = rx.Sequences.from_atoms([parse_atoms("he(e1,a), next_s(e1,e2), he(e2,b)")])
    bias = parse_bias(
        "type(he(event)). mode(he(+)).\n"
        "type(hee(event,k)). mode(hee(+,#)).\n"
        "type(zebra(event)). mode(zebra(+)).\n"
        "dimension(next_s). dimension(next_t).\n",
        "toy.l",
    )
    assert message_of(bias.check, X) == (
        "toy.l:1:6: he has 1 argument here and 2 in the data\n"
        "    type(he(event)). mode(he(+)).\n"
        "         ^~~~~~~~~\n"
        "hint: give a type and a sign for each argument that the data have\n"
        "toy.l:2:6: hee is in neither the data nor the background knowledge\n"
        "    type(hee(event,k)). mode(hee(+,#)).\n"
        "         ^~~~~~~~~~~~\n"
        "hint: did you mean 'he'?\n"
        "toy.l:3:6: zebra is in neither the data nor the background knowledge\n"
        "    type(zebra(event)). mode(zebra(+)).\n"
        "         ^~~~~~~~~~~~\n"
        "hint: leave it out, or check its name\n"
        "toy.l:4:30: next_t is in neither the data nor the background knowledge\n"
        "    dimension(next_s). dimension(next_t).\n"
        "                                 ^~~~~~\n"
        "hint: did you mean 'next_s'?"
    )


def test_a_file_that_is_not_there_is_reported_by_name(tmp_path):
    with pytest.raises(rx.InputError) as caught:
        read_bias(tmp_path / "none.l")
    assert str(caught.value) == f"{tmp_path / 'none.l'}: there is no such file"


def test_a_plus_may_repeat_a_variable_that_its_own_atom_brings_in():
    text = "type(p(event)). type(q(event,u,u)). mode(p(+)). mode(q(+,-,+)). key([p(_)])."
    assert parse_bias(text).modes["q"] == (("+", "-", "+"),)
