"""A structure is made from the observations of sequences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relynx import Atom, InputError, LoHMM, parse_atom
from relynx.logic.terms import Var
from relynx.models.lohmm import structure as structure_module
from relynx.models.lohmm.structure import Known, first_steps, structure


def rows(*texts):
    return [tuple(parse_atom(a) for a in text.split()) for text in texts]


FEW = settings(max_examples=settings.default.max_examples // 2)
PROTEINS = rows("h(r,long) h(l,short) s(1) s(2) s(3)", "s(4) h(r,short)")

values = st.sampled_from(["a", "b", "other", "other_", 1, 1.0])
atoms = st.one_of(
    st.builds(lambda x: Atom("p", (x,)), values),
    st.builds(lambda x, y: Atom("q", (x, y)), values, values),
    st.sampled_from([Atom("other"), Atom("other_")]),
    st.just(Atom("in_p")),
    st.just(Atom("end_")),
)
sequences = st.lists(st.lists(atoms, max_size=4).map(tuple), min_size=1, max_size=4)
options = st.fixed_dictionaries(
    {
        "max_kinds": st.integers(1, 5),
        "n_hidden": st.integers(1, 2),
        "blocks": st.integers(1, 2),
        "end": st.booleans(),
        "selection": st.sampled_from(["argument", "type"]),
    }
)


def kinds(model):
    return sorted({str(Known.of(model).other), *map(str, Known.of(model).kinds)})


def test_arguments_with_the_fewest_values_tell_kinds_apart_while_there_are_not_too_many():
    assert kinds(structure(PROTEINS, max_kinds=2)) == ["h(_,_)", "other", "s(_)"]
    assert kinds(structure(PROTEINS, max_kinds=3)) == ["h(l,_)", "h(r,_)", "other", "s(_)"]
    assert kinds(structure(PROTEINS, max_kinds=4)) == [
        "h(l,short)",
        "h(r,long)",
        "h(r,short)",
        "other",
        "s(_)",
    ]


def test_an_argument_that_may_not_be_fixed_is_a_variable():
    model = structure(PROTEINS, fixed=[(("h", 2), 1)])
    assert kinds(model) == ["h(_,long)", "h(_,short)", "other", "s(_)"]


def test_of_too_many_predicates_the_rarest_are_other():
    model = structure(rows("a a b b c"), max_kinds=2)
    assert kinds(model) == ["a", "b", "other"]
    assert Known.of(model).shown(rows("a c")) == rows("a other")


def test_a_state_shows_its_kind_and_draws_what_is_not_fixed_anew():
    model = structure(PROTEINS, max_kinds=3, blocks=1, end=False)
    clauses = [t.clause() for t in model.transitions if t.body.predicate == "in_h_r"]
    assert clauses == [
        "in_h_l(NV2) <- h(r,V2) - in_h_r(V2)",
        "in_h_r(NV2) <- h(r,V2) - in_h_r(V2)",
        "in_other <- h(r,V2) - in_h_r(V2)",
        "in_s(NV1) <- h(r,V2) - in_h_r(V2)",
    ]


def test_hidden_copies_are_states_of_their_own_that_show_the_same():
    model = structure(rows("a b"), n_hidden=2, blocks=1, end=False)
    assert [str(start.head) for start in model.start] == [
        f"in_{kind}({copy})" for kind in ("a", "b", "other") for copy in ("k1", "k2")
    ]
    assert len(model.transitions) == 6 * 6


def test_blocks_have_transitions_of_their_own():
    model = structure(rows("a a a a a a"), blocks=3, end=False)
    assert model.blocks == (1, 3, 5)
    assert len(model.transitions) == 3 * 2 * 2


@pytest.mark.parametrize(
    ("lengths", "blocks", "starts"),
    [
        ([6], 3, (1, 3, 5)),
        ([6], 1, (1,)),
        ([1, 1, 1, 9], 2, (1, 4)),
        ([2], 9, (1, 2)),
        ([0], 3, (1,)),
        ([6], (1, 2, 40), (1, 2, 40)),
    ],
)
def test_blocks_have_equal_shares_of_the_steps(lengths, blocks, starts):
    given_rows = [(Atom("a"),) * n for n in lengths]
    assert first_steps(given_rows, blocks) == starts


def test_without_an_end_all_sequences_of_one_length_sum_to_1():
    model = structure(rows("p(a) q", "q q q"), end=False)
    shown = [parse_atom(a) for a in ("p(a)", "p(other)", "q", "other")]
    pairs = [[a, b] for a in shown for b in shown]
    assert np.exp(model.log_probability(pairs)).sum() == pytest.approx(1)


def test_with_an_end_a_sequence_is_one_that_ends():
    model = structure(rows("a"), blocks=1)
    a, other = Atom("a"), Atom("other")
    chances = np.exp(model.log_probability([[], [a], [other], [a, a]]))
    assert chances.tolist() == pytest.approx([1 / 3, 1 / 9, 1 / 9, 1 / 27])


def test_an_other_that_is_taken_gets_another_name():
    model = structure(rows("p(other) other p(a)"), max_kinds=2, blocks=1)
    known = Known.of(model)
    assert str(known.other) == "other_"
    assert known.shown(rows("p(b) other new")) == rows("p(other_) other other_")


def test_an_other_of_the_sequences_is_not_taken_for_what_was_never_seen():
    model = structure(rows("p(other_) other_ p(a)"), max_kinds=2, blocks=1)
    known = Known.of(model)
    assert known.shown(rows("p(b) other_ new")) == rows("p(other__) other_ other__")


def test_a_structure_of_too_many_transitions_is_refused(monkeypatch):
    monkeypatch.setattr(structure_module, "MOST_TRANSITIONS", 47)
    structure(rows("a b"), blocks=4)
    with pytest.raises(InputError) as caught:
        structure(rows("a b a b"), blocks=4)
    assert str(caught.value) == (
        "the structure would have 48 transitions: 3 states, 4 blocks\n"
        "hint: take fewer kinds, hidden copies or blocks; no more than 47 can be learnt"
    )


@FEW
@given(sequences, options)
def test_any_sequence_is_shown_with_some_probability(training, given_options):
    model = structure(training, **given_options)
    known = Known.of(model)
    unseen = [(), (Atom("new"), Atom("p", ("new",))), (Atom("q", ("a", "new")), Atom("p", (2,)))]
    found = model.log_probability(known.shown([*training, *unseen]))
    assert np.isfinite(found).all()


@FEW
@given(sequences, options)
def test_what_was_seen_is_shown_as_it_is(training, given_options):
    keys = {atom.key for row in training for atom in row}
    given_options["max_kinds"] = max(given_options["max_kinds"], len(keys))
    assert Known.of(structure(training, **given_options)).shown(training) == training


@FEW
@given(sequences, options)
def test_the_text_of_a_structure_reads_back_and_knows_the_same(training, given_options):
    model = structure(training, **given_options)
    again = LoHMM.parse(str(model))
    assert again == model
    assert Known.of(again) == Known.of(model)


@FEW
@given(sequences, options)
def test_the_order_of_sequences_changes_nothing(training, given_options):
    model = structure(training, **given_options)
    assert structure(training[::-1], **given_options) == model


def test_names_that_need_quotes_make_plain_names_of_states():
    model = structure([(Atom("Turn - Mill", ("Machine 4",)), Atom("+"))], blocks=1, end=False)
    assert [str(start.head) for start in model.start] == [
        "in_",
        "in_Turn_Mill_Machine_4",
        "in_other",
    ]
    assert not any(isinstance(arg, Var) for start in model.start for arg in start.head.args)
