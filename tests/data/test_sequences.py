"""The data container and its vocabulary."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from timing import assert_grows_no_faster_than_size

from relynx import DataError, Sequences, Vocabulary, covers
from relynx.data.event_arguments import event_conflicts, event_keys
from relynx.logic import tables as tb
from relynx.logic.datalog import parse_background
from relynx.logic.parser import parse_atoms
from relynx.logic.terms import Atom

constants = st.one_of(
    st.sampled_from(["a", "b", "e1", "e2", "It's", "<b>"]),
    st.integers(-3, 3),
    st.sampled_from([1.0, -0.5, 2.0]),
)
atoms = st.one_of(
    st.builds(lambda a, b: Atom("p", (a, b)), constants, constants),
    st.builds(lambda a: Atom("q", (a,)), constants),
    st.just(Atom("flag")),
)
sequences = st.lists(st.lists(atoms, max_size=6), min_size=1, max_size=6)


def make(*texts: str, **kwargs: object) -> Sequences:
    return Sequences.from_atoms([parse_atoms(text) if text else [] for text in texts], **kwargs)


@given(sequences)
def test_the_atoms_that_went_in_come_out(given_atoms):
    X = Sequences.from_atoms(given_atoms)
    assert [set(sequence.atoms) for sequence in X] == [set(sequence) for sequence in given_atoms]


@given(sequences, st.data())
def test_a_part_holds_the_chosen_sequences_in_the_chosen_order(given_atoms, data):
    X = Sequences.from_atoms(given_atoms, labels=[str(i) for i in range(len(given_atoms))])
    chosen = data.draw(st.lists(st.integers(0, len(X) - 1)))
    part = X[chosen]
    assert [s.id for s in part] == [f"s{i + 1}" for i in chosen]
    assert [set(s.atoms) for s in part] == [set(given_atoms[i]) for i in chosen]
    assert part.labels.tolist() == [str(i) for i in chosen]
    mask = np.isin(np.arange(len(X)), chosen)
    assert X[mask] == X[sorted(set(chosen))]
    for table in part.tables.values():
        assert np.array_equal(table, tb.in_order(table))


@given(sequences, sequences)
def test_concatenation_is_undone_by_slicing(first, second):
    X, Y = Sequences.from_atoms(first), Sequences.from_atoms(second)
    both = X + Y
    assert len(both) == len(X) + len(Y)
    assert both[: len(X)] == X
    assert both[len(X) :] == Y


@given(sequences)
def test_equality_looks_at_the_facts_and_not_at_their_codes(given_atoms):
    X = Sequences.from_atoms(given_atoms)
    shuffled = Sequences.from_atoms([list(reversed(sequence)) for sequence in given_atoms])
    assert shuffled == X
    assert X.recoded(Vocabulary(["b", 1.0, "new", 1])) == X
    assert X[:-1] != X
    assert Sequences.from_atoms([*given_atoms[:-1], [*given_atoms[-1], Atom("other")]]) != X


def test_one_and_one_point_nought_are_different_constants():
    X, Y = make("p(a,1)"), make("p(a,1.0)")
    assert X != Y
    both = X + Y
    assert [type(s.atoms[0].args[1]) for s in both] == [int, float]
    assert covers("p(X,1)", both).tolist() == [True, False]


def test_a_pickle_comes_back_equal():
    X = make("p(e1,a), next_s(e1,e2)", "q(3)", labels=["u", "v"])
    again = pickle.loads(pickle.dumps(X))
    assert again == X
    assert again.labels.tolist() == ["u", "v"]
    assert covers("p(X,a)", again).tolist() == [True, False]


def test_the_arrays_cannot_be_written():
    X = make("p(e1,a)", labels=["u"])
    for values in (X.ids, X.labels, X.tables["p", 2], X[[0]].labels):
        with pytest.raises(ValueError, match="read-only"):
            values[...] = 0


@pytest.mark.parametrize("index", [3, -4])
def test_a_number_out_of_range_is_an_index_error(index):
    with pytest.raises(IndexError, match=f"sequence {index} of 3"):
        make("q(1)", "q(2)", "q(3)")[index]


@pytest.mark.parametrize("index", ["a", 1.5, [0.5], [[0], [1]], None])
def test_a_strange_index_is_refused(index):
    with pytest.raises(IndexError):
        make("q(1)", "q(2)")[index]


def test_a_mask_of_another_length_is_refused():
    with pytest.raises(IndexError):
        make("q(1)", "q(2)")[[True]]


def test_a_negative_number_counts_from_the_end():
    assert make("q(1)", "q(2)")[-1].atoms == (Atom("q", (2,)),)


def test_labels_have_the_kind_that_learners_expect():
    assert make("q(1)", "q(2)", labels=["a", "b"]).labels.dtype.kind == "U"
    assert make("q(1)", "q(2)", labels=np.array([0, 1])).labels.dtype.kind == "i"
    assert make("q(1)", "q(2)", labels=[0, "b"]).labels.dtype == object
    assert make("q(1)").labels is None


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"labels": ["a"]}, "1 label for 2 sequences\nhint: give one label for each sequence"),
        ({"ids": ["a", "b", "c"]}, "3 ids for 2 sequences\nhint: give one id for each sequence"),
        ({"labels": ["a", None]}, "some sequences have a label and some have none"),
        (
            {"labels": ["a", float("nan")]},
            "nan is no constant: a number must be finite (as an id or label)",
        ),
        (
            {"ids": ["a", "a"]},
            "two sequences have the id a\nhint: give every sequence an id of its own",
        ),
        ({"ids": ["a", []]}, "[] is no constant: give text or a number (as an id or label)"),
    ],
)
def test_ids_and_labels_that_do_not_fit_are_refused(kwargs, message):
    with pytest.raises(DataError) as caught:
        make("q(1)", "q(2)", **kwargs)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p(X)", "sequence s1: p(X) is not a ground fact: X is a variable"),
        ("p([a])", "sequence s1: p([a]) is not a ground fact: [a] is a list"),
    ],
)
def test_a_fact_that_is_not_ground_is_refused(text, message):
    with pytest.raises(DataError) as caught:
        make(text)
    assert str(caught.value) == message


READ = "rx.parse_atom('a(e1)') reads an atom from text"


@pytest.mark.parametrize(
    ("atom", "message"),
    [
        ("a(e1)", f"sequence s1: 'a(e1)' is no atom\nhint: {READ}"),
        (("a", "e1"), f"sequence s1: ('a', 'e1') is no atom\nhint: {READ}"),
        (Atom(3), f"sequence s1: Atom(predicate=3, args=()) is no atom\nhint: {READ}"),
        (
            Atom("p", "e1"),
            "sequence s1: the arguments of Atom(predicate='p', args='e1') are no tuple\n"
            "hint: write Atom('p', ('e1',)), with a comma after a single argument",
        ),
        (
            Atom("p", ("e1", None)),
            "sequence s1: the argument None of p(e1,None) is no constant\n"
            "hint: give text or a finite number; leave out what is missing, or name it 'unknown'",
        ),
        (
            Atom("p", (float("nan"),)),
            "sequence s1: the argument nan of p(nan) is no constant\n"
            "hint: give text or a finite number; leave out what is missing, or name it 'unknown'",
        ),
    ],
)
def test_what_is_no_ground_atom_is_refused_with_its_sequence(atom, message):
    with pytest.raises(DataError) as caught:
        Sequences.from_atoms([[atom]])
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("sequence", "what"),
    [("a(e1)", "'a(e1)'"), (Atom("a"), "Atom(predicate='a', args=())"), (None, "None")],
)
def test_what_is_no_list_of_atoms_is_refused(sequence, what):
    with pytest.raises(DataError) as caught:
        Sequences.from_atoms([[], sequence])
    assert str(caught.value) == (
        f"sequence s2 is {what}, not a list of atoms\n"
        f"hint: give one list of atoms for each sequence; {READ}"
    )


def test_one_sequence_is_counted_as_one():
    with pytest.raises(DataError) as caught:
        make("q(1)", ids=["a", "b"])
    assert str(caught.value) == "2 ids for 1 sequence\nhint: give one id for each sequence"


def test_parts_may_repeat_ids():
    X = make("q(1)", "q(2)")
    assert (X + X).ids.tolist() == ["s1", "s2", "s1", "s2"]
    assert X[[0, 0]].ids.tolist() == ["s1", "s1"]


def test_a_dimension_of_other_than_two_arguments_is_refused():
    with pytest.raises(DataError) as caught:
        make("next_s(e1,e2,e3)")
    assert str(caught.value) == (
        "next_s has 3 arguments: a dimension links two events\n"
        "hint: write next_s(e1,e2), or give the predicate another name"
    )


def test_a_predicate_of_mixed_arity_is_refused():
    with pytest.raises(DataError) as caught:
        make("p(a)", "p(a,b)")
    assert str(caught.value) == (
        "p has 1 argument in one place, 2 in another\n"
        "hint: give it the same number of arguments everywhere, or another name"
    )
    with pytest.raises(DataError, match="p has 1 argument in one place, 2 in another"):
        make("p(a)") + make("p(a,b)")


def test_parts_that_do_not_belong_together_are_refused():
    with pytest.raises(DataError, match="nothing to concatenate"):
        Sequences.concatenate([])
    with pytest.raises(DataError, match="some of the parts have labels and some have none"):
        make("q(1)", labels=["a"]) + make("q(1)")
    with pytest.raises(DataError, match="the parts have different background knowledge"):
        make("q(1)") + make("q(1)", background=parse_background("r(X) :- q(X)."))


def test_nested_terms_are_flattened():
    assert make("he(e1,h(right,alpha),long)")[0].atoms == (
        Atom("he", ("e1", "right", "alpha", "long")),
    )


def test_derived_facts_depend_on_object_identity_and_survive_slicing():
    background = parse_background("sym(X,Y) :- r(X,Y).  sym(X,Y) :- r(Y,X).")
    X = make("r(a,b), r(c,c)", "r(a,a)", "r(b,a)", background=background)
    assert X.facts(True).tables["sym", 2].shape[1] == 4
    assert X.facts(False).tables["sym", 2].shape[1] == 6
    part = X[[2, 1]]
    assert part.facts(True).tables["sym", 2].shape[1] == 2
    assert part.facts(False).tables["sym", 2].shape[1] == 3
    assert covers("sym(a,X)", X).tolist() == [True, False, True]
    assert covers("sym(X,X)", X, object_identity=False).tolist() == [True, True, False]


def test_one_sequence_has_its_own_derived_facts():
    background = parse_background("sym(X,Y) :- r(X,Y).  sym(X,Y) :- r(Y,X).")
    X = make("r(a,b), r(c,d)", "q(a)", "r(b,a)", background=background)
    before = [covers("sym(X,Y), r(Y,X)", one.sequences).tolist() for one in X]
    X.facts()
    assert [covers("sym(X,Y), r(Y,X)", one.sequences).tolist() for one in X] == before
    assert [one.sequences.facts().tables["sym", 2].shape[1] for one in X] == [4, 0, 2]


def test_one_sequence_costs_no_more_among_many():
    def iterate(n):
        X = Sequences.from_atoms([[Atom("q", (1,)), Atom("r", (1, 2))]])[[0] * n]
        X.facts()
        for _ in X:
            pass

    assert_grows_no_faster_than_size(iterate, 20_000)


def test_facts_cannot_be_written_and_pickle():
    X = make("q(1)", "q(2)", background=parse_background("r(X) :- q(X), X > 1."))
    facts = X.facts()
    for values in (facts.tables["r", 1], facts.offsets(("r", 1)), X[0].sequences.tables["q", 1]):
        with pytest.raises(ValueError, match="read-only"):
            values[...] = 0
    assert facts.offsets(("r", 1)).tolist() == [0, 0, 1]
    again = pickle.loads(pickle.dumps(facts))
    assert again.offsets(("q", 1)).tolist() == [0, 1, 2]


def test_the_text_of_facts_is_short():
    X = make("q(1)", "q(2)", background=parse_background("r(X) :- q(X), X > 1."))
    assert repr(X.facts()) == "<Facts: 3 facts of 2 predicates in 2 sequences>"
    assert repr(X[0].sequences.with_background(None).facts()) == (
        "<Facts: 1 fact of 1 predicate in 1 sequence>"
    )


def test_the_text_of_sequences_says_what_is_in_them():
    X = make(
        "he(e1,alpha), next_s(e1,e2), he(e2,pi)",
        "he(e1,pi)",
        labels=["c1", "c2"],
        background=parse_background("odd(X) :- he(X,pi)."),
    )
    assert repr(X) == (
        "Sequences\n"
        "  sequences   2\n"
        "  facts       4\n"
        "  classes     c1 (1), c2 (1)\n"
        "  dimensions  s\n"
        "  predicates  he/2 (3), next_s/2 (1)\n"
        "  background  1 rule"
    )
    assert str(X[1]) == "begin(s2,c2). he(e1,pi). end."


def test_the_notebook_view_escapes_what_it_shows():
    X = make("q(1)", labels=["<script>alert(1)</script>"])
    assert "<script>" not in X._repr_html_()
    assert "&lt;script&gt;" in X._repr_html_()
    assert "<script>" not in X[0]._repr_html_()


def test_with_labels_and_with_background_make_new_sequences():
    X = make("q(1)", "q(2)")
    assert X.with_labels(["a", "b"]).labels.tolist() == ["a", "b"]
    assert X.labels is None
    with pytest.raises(DataError, match="3 labels for 2 sequences"):
        X.with_labels(["a", "b", "c"])
    derived = X.with_background(parse_background("r(X) :- q(X), X > 1."))
    assert covers("r(X)", derived).tolist() == [False, True]


def test_unseen_constants_get_codes_after_those_of_training():
    train, test = make("p(e1,alpha)"), make("p(e1,omega)")
    recoded = test.recoded(train.vocabulary)
    assert recoded.vocabulary.constants == ("e1", "alpha", "omega")
    assert recoded == test
    assert test.vocabulary.constants == ("e1", "omega")


def test_a_vocabulary_tells_numbers_apart_and_holds_no_constant_twice():
    words = Vocabulary([1, 1.0, "1", "a"])
    assert [words.code(c) for c in (1, 1.0, "1", "a", "b")] == [0, 1, 2, 3, -1]
    assert 1.0 in words
    assert "b" not in words
    assert list(words.extended(["b", 1])) == [1, 1.0, "1", "a", "b"]
    assert words.extended([1]) is words
    with pytest.raises(ValueError, match="a constant occurs twice"):
        Vocabulary(["a", "a"])


def test_an_isolated_event_is_an_event_by_the_argument_it_stands_in():
    X = make("p(e1,a), next_s(e1,e2), p(e2,b), p(e3,b)", "p(e9,a)")
    events, places = event_keys(X.tables, len(X.vocabulary))
    assert places == {(("p", 2), 0), (("next_s", 2), 0), (("next_s", 2), 1)}
    n = len(X.vocabulary)
    assert {(e // n, X.vocabulary[e % n]) for e in events.tolist()} == {
        (0, "e1"),
        (0, "e2"),
        (0, "e3"),
        (1, "e9"),
    }


@pytest.mark.parametrize(
    ("text", "conflict"),
    [
        ("p(e1,a), p(e2,b), p(e3,e2), next_s(e1,e2), next_s(e2,e3)", (Atom("p", ("e3", "e2")), 1)),
        (
            "p(e1,a), p(e2,b), p(b,a), next_s(e1,e2), next_s(e2,e3), p(e3,a)",
            (Atom("p", ("b", "a")), 0),
        ),
    ],
)
def test_an_event_among_values_and_a_value_among_events_are_conflicts(text, conflict):
    X = make(text)
    assert [found[:3] for found in event_conflicts(X.tables, X.vocabulary)] == [(0, *conflict)]


def test_relations_between_events_are_no_conflict():
    X = make("p(e1,a), p(e2,b), near(e1,e2), next_s(e1,e2)", "m(c), atm(c,d)")
    assert event_conflicts(X.tables, X.vocabulary) == []


@given(st.lists(st.tuples(st.integers(0, 5), *[st.integers(0, 2**31 - 1)] * 3), max_size=30))
def test_a_table_in_order_is_sorted_and_without_duplicates(columns):
    table = np.array(columns, np.int32).reshape(-1, 4).T
    assert tb.in_order(table).T.tolist() == sorted(map(list, set(columns)))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5))))
def test_ranges_follow_each_other(pairs):
    starts, lengths = (np.array([p[i] for p in pairs], np.int64) for i in (0, 1))
    expected = [start + i for start, length in pairs for i in range(length)]
    assert tb.ranges(starts, lengths).tolist() == expected
