"""The text of a model: what it says when it is wrong, and that what it prints reads back.

Every file of golden/bad_lohmm is wrong, and its whole message is the text beside it.
"""

from itertools import product

import pytest
from golden_texts import refusals
from hypothesis import given, settings
from hypothesis import strategies as st
from lohmm_reference import matched, same, substituted

from relynx import InputError, LoHMM, ParseError
from relynx.logic.terms import Atom, Struct, Var
from relynx.models.lohmm.clauses import Start, Transition

test_a_bad_model_gets_its_whole_message = refusals("bad_lohmm", LoHMM.read)


S = Atom("s")
ONE = [Start(1.0, S)]
STAY = [Transition(1.0, S, Atom("o"), S)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: LoHMM(STAY, start=[]),
            "the model has no start\nhint: add a clause such as 1.0 : s <- start.",
        ),
        (
            lambda: LoHMM(STAY * 2, start=ONE),
            "this clause is given twice\nhint: keep one, with the sum of the two probabilities",
        ),
        (lambda: LoHMM(STAY, start=[(True, S)]), "a probability is from 0 to 1, not True"),
        (lambda: LoHMM(STAY, start=[("x", S)]), "a probability is from 0 to 1, not x"),
        (lambda: LoHMM(STAY, start=[(float("nan"), S)]), "a probability is from 0 to 1, not nan"),
        (
            lambda: LoHMM(STAY, start=ONE, selection="kind"),
            "selection must be argument or type, not 'kind'",
        ),
        (
            lambda: LoHMM([*STAY, Transition(1.0, S, Atom("o"), Atom("start"))], start=ONE),
            "nothing is shown at the start\nhint: give the head as a clause of the start",
        ),
        (
            lambda: LoHMM([Transition(1.0, S, Atom("o"), S, 1.5)], start=ONE, blocks=(1, 2)),
            "there is no block 1.5\nhint: the blocks are numbered from 1 to 2",
        ),
        (
            lambda: LoHMM([Transition(1.0, S, Atom("o"), S, 1.0)], start=ONE, blocks=(1,)),
            "there is no block 1.0\nhint: the blocks are numbered from 1 to 1",
        ),
        (
            lambda: LoHMM(None, start=S, blocks=3),
            "transitions is None\nhint: as in [Transition(1.0, head, observation, body)]\n"
            "start is Atom(predicate='s', args=())\nhint: as in [(1.0, head)]\n"
            "blocks is 3\nhint: as in (1, 6, 20)",
        ),
        (
            lambda: LoHMM([(1.0, "s", "o", "s")], start=ONE),
            "one of the transitions is (1.0, 's', 'o', 's')\n"
            "hint: as in [Transition(1.0, head, observation, body)]",
        ),
        (
            lambda: LoHMM([Transition(1.0, "s", Atom("o"), S)], start=[(1.0, "s")]),
            "one of the transitions is Transition(probability=1.0, head='s', "
            "observation=Atom(predicate='o', args=()), body=Atom(predicate='s', args=()), "
            "block=None)\n"
            "hint: as in [Transition(1.0, head, observation, body)]\n"
            "one of the start is (1.0, 's')\nhint: as in [(1.0, head)]",
        ),
        (
            lambda: LoHMM(STAY, start=ONE, types=[("q", 1)], values={"t": "abc"}),
            'types is [(\'q\', 1)]\nhint: as in {("emacs", 2): ("file", "user")}\n'
            "values['t'] is 'abc'\n"
            'hint: as in {"file": ("f1", "f2")}',
        ),
        (
            lambda: LoHMM(STAY, start=ONE, values={"t": (None,)}, selections={"t": ("x",)}),
            "values['t'] is (None,)\n"
            'hint: as in {"file": ("f1", "f2")}\n'
            "selections['t'] is ('x',)\n"
            'hint: as in {("emacs", 2, 1): (0.2, 0.8)}',
        ),
        (
            lambda: LoHMM(STAY, start=ONE, blocks=(1, 2.5)),
            "the blocks [1, 2.5] do not begin with 1 and grow\n"
            "hint: give the first step of each block, as in [1,6,20]",
        ),
        (
            lambda: LoHMM(
                [Transition(1.0, Atom("q", (Struct("f", ("a",)),)), Atom("o"), S)],
                start=ONE,
                types={("q", 1): ("t",)},
                values={"t": ("a",)},
            ),
            "expected a variable or a constant, found f(a)",
        ),
        (
            lambda: LoHMM(STAY, start=ONE, types={"q": ("t", "t")}, values={"t": ("a",)}),
            "'q' is no predicate with 2 arguments\n"
            'hint: give name and number, as in {("emacs", 2): ("file", "user")}',
        ),
        (
            lambda: LoHMM(STAY, start=ONE, selections={("q", 1): (1.0,)}),
            "('q', 1) is no argument and no type\n"
            'hint: give predicate, number of arguments and place, as in ("emacs", 2, 1)',
        ),
        (
            lambda: LoHMM(STAY, start=ONE, selections={("q", 2, 1): (1.0,)}),
            "argument 1 of q/2 is never drawn\nhint: leave this out",
        ),
    ],
)
def test_a_bad_model_made_in_python_gets_its_whole_message(make, message):
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value) == message


def test_a_text_that_is_no_model_is_a_parse_error():
    with pytest.raises(ParseError) as caught:
        LoHMM.parse("0.5 s.", "toy.lohmm")
    assert (caught.value.path, caught.value.line, caught.value.column) == ("toy.lohmm", 1, 5)


def test_the_most_probable_comes_first_within_a_body():
    model = LoHMM.parse(
        "1.0 : s <- start. 0.1 : s <- a - s. 0.7 : s <- b - s. 1.0 : s <- a - r. 0.2 : r <- a - s."
    )
    assert str(model) == (
        "1.0 : s <- start.\n"
        "\n"
        "0.7 : s <- b - s.\n"
        "0.2 : r <- a - s.\n"
        "0.1 : s <- a - s.\n"
        "\n"
        "1.0 : s <- a - r."
    )


def test_every_declaration_is_written_as_it_is_read():
    text = (
        "type(s(t,'A b')).\n"
        "type(o(t)).\n"
        "values(t,[a,1,1.0,-2]).\n"
        "values('A b',['X',c]).\n"
        "select(s(X,_),X,[0.7,0.1,0.1,0.1]).\n"
        "blocks([1,4]).\n"
        "1.0 : s(X,Y) <- start.\n"
        "\n"
        "0.75 : s(X,_) <- o(X) - s(X,Y), block(1).\n"
        "0.25 : s(_,Y) <- o(X) - s(X,Y), block(1).\n"
        "\n"
        "1.0e-05 : s(1.0,'X') <- o(-2) - s(X,Y), block(2).\n"
        "0.99999 : s(1,c) <- o(X) - s(X,Y), block(2)."
    )
    lines = text.splitlines()
    expected = "\n".join([*lines[:-2], lines[-1], lines[-2]])
    model = LoHMM.parse(text)
    assert str(model) == expected
    assert LoHMM.parse(expected) == model


def test_a_uniform_selection_is_not_written():
    text = "type(s(t)).\nvalues(t,[a,b,c]).\nselection(type).\n"
    clauses = "1.0 : s(X) <- start.\n\n1.0 : s(X) <- o - s(X)."
    shares = "select(t,[0.3333333333333333,0.3333333333333333,0.3333333333333333]).\n"
    assert str(LoHMM.parse(text + shares + clauses)) == text + clauses


def test_comments_and_line_breaks_are_free():
    model = LoHMM.parse("1.0 : s <- start. % begin\n/* stay */ 1.0\n:\ns <-o-\n s.")
    assert model == LoHMM(STAY, start=ONE)


def test_equality_does_not_depend_on_the_order_within_a_body():
    one = LoHMM.parse("1.0 : s <- start. 0.5 : s <- a - s. 0.5 : s <- b - s.")
    other = LoHMM.parse("0.5 : s <- b - s. 1.0 : s <- start. 0.5 : s <- a - s.")
    assert one == other
    assert one != LoHMM.parse("1.0 : s <- start. 0.4 : s <- a - s. 0.6 : s <- b - s.")


def test_a_state_that_no_clause_reaches_needs_no_body():
    model = LoHMM.parse(
        "type(s(t)). type(q(t)). values(t,[a,b]). 1.0 : s(X) <- start. 1.0 : q(X) <- o - s(X). "
        "1.0 : s(X) <- o - s(a). 1.0 : s(X) <- o - q(b)."
    )
    assert model.log_probability([[Atom("o")] * 3]) == pytest.approx([0.0])


def test_bodies_for_all_values_need_no_general_one():
    text = "type(s(t,t)). values(t,[a,b]). 1.0 : s(X,Y) <- start. "
    model = LoHMM.parse(text + "1.0 : s(X,Y) <- o - s(a,Y). 1.0 : s(Y,X) <- o - s(b,Y).")
    assert len(model.transitions) == 2


def test_each_underscore_is_a_variable_of_its_own():
    model = LoHMM.parse(
        "type(s(t,t)). type(o(t,t)). values(t,[a,b]). 1.0 : s(_,_) <- start. "
        "1.0 : s(_,_) <- o(X,Y) - s(X,Y)."
    )
    assert model.transitions[0].head.args == (Var("_"), Var("_"))
    shown = [[Atom("o", (x, y))] for x in "ab" for y in "ab"]
    assert model.log_probability(shown) == pytest.approx([-1.3862943611198906] * 4)


# Bodies, against going through all ground states

KINDS = {"s": ("t", "t"), "q": ("t",)}
VALUES = ("a", "b", "c")
TERMS = [Var("X"), Var("Y"), *VALUES]


@st.composite
def some_atoms(draw, name):
    return Atom(name, tuple(draw(st.sampled_from(TERMS)) for _ in KINDS[name]))


@st.composite
def loose_clauses(draw):
    """A start and some bodies with one transition each, which may fit nothing."""
    start = draw(st.sampled_from(["s", "q"]).flatmap(some_atoms))
    clauses = []
    bodies = [Atom("s", (Var("X"), Var("Y"))), Atom("q", (Var("X"),))]
    bodies += [draw(some_atoms(name)) for name in ("s", "s", "s", "q", "q")]
    for body in bodies:
        if draw(st.booleans()) and not any(same(body, other) for _, other in clauses):
            clauses.append((draw(st.sampled_from(["s", "q"]).flatmap(some_atoms)), body))
    return start, clauses


def ground_atoms(atom, binding):
    """Every grounding of an atom whose variables are not all bound."""
    free = sorted({v.name for v in atom.variables()} - set(binding))
    for values in product(VALUES, repeat=len(free)):
        yield substituted(atom, {**binding, **dict(zip(free, values, strict=True))})


def most_specific(state, bodies):
    fitting = [body for body in bodies if matched(body, state, {}) is not None]
    return [b for b in fitting if all(matched(other, b, {}) is not None for other in fitting)]


@given(loose_clauses())
@settings(max_examples=300)
def test_a_model_is_refused_when_a_state_has_no_body_of_its_own(drawn):
    start, clauses = drawn
    bodies = [body for _, body in clauses]
    states = [
        Atom(name, args) for name in KINDS for args in product(VALUES, repeat=len(KINDS[name]))
    ]
    torn = any(
        any(matched(b, state, {}) is not None for b in bodies) and not most_specific(state, bodies)
        for state in states
    )
    reached = list(ground_atoms(start, {}))
    for state in states:
        for head, body in clauses:
            if any(b is body for b in most_specific(state, bodies)):
                reached += ground_atoms(head, matched(body, state, {}))
    lost = any(all(matched(b, h, {}) is None for b in bodies) for h in reached)
    try:
        LoHMM(
            [Transition(1.0, head, Atom("o"), body) for head, body in clauses],
            start=[(1.0, start)],
            types={(name, len(kinds)): kinds for name, kinds in KINDS.items()},
            values={"t": VALUES},
        )
        messages = ""
    except InputError as error:
        messages = str(error)
    assert "both fit" in messages or not torn
    if "both fit" not in messages:
        assert ("no body fits the state" in messages) == lost


def test_a_constant_of_a_head_alone_is_told_from_other_values():
    with pytest.raises(InputError) as caught:
        LoHMM.parse(
            "type(s(t,t)). values(t,[a,b]). 1.0 : s(a,Y) <- start. 1.0 : s(X,X) <- o - s(X,X).", "m"
        )
    assert str(caught.value) == (
        "m:1:38: no body fits the state s(a,b)\n"
        "    type(s(t,t)). values(t,[a,b]). 1.0 : s(a,Y) <- start. 1.0 : s(X,X) <- o - s(X,X).\n"
        "                                         ^~~~~~\n"
        "hint: add transitions with the body s(a,b), or a more general one"
    )


TEXT = """type(s(t)). type(o(t)). values(t,[a,'B']). select(s(X),X,[0.5,0.5]). blocks([1,3]).
1.0 : s(X) <- start. % begin
0.5 : s(Y) <- o(X) - s(X), block(1). 0.5 : end <- z - s(X), block(1).
1.0 : s(Y) <- o(X) - s(X), block(2).
"""


@given(st.data())
@settings(max_examples=300)
def test_a_spoilt_text_is_a_model_or_an_input_error(data):
    text = TEXT
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 4))
        added = data.draw(
            st.sampled_from(["", ".", ",", "(", ")", "[", "-", "<-", "1", "X", ":", "'"])
        )
        text = text[:at] + added + text[at + cut :]
    try:
        model = LoHMM.parse(text)
    except InputError:
        return
    assert LoHMM.parse(str(model)) == model
