"""Patterns in words, and the words of a bias."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import relynx as rx
from relynx import Bias, parse_bias, parse_pattern
from relynx.errors import BiasError
from relynx.logic.terms import Atom, Var
from relynx.mining.words import in_words


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (
            "he(X,alpha,L), next_s(X,Y), st(Y,plus,L)",
            "a he with alpha and L, directly followed by a st with plus and the same L",
        ),
        ("a(X), follow_s(X,Y), b(Y)", "an a, followed later by a b"),
        ("a(X), followat_s(3,X,Y), b(Y,_)", "an a, followed 3 steps later by a b with anything"),
        ("he(X,1,2,M), long(X)", "a he with 1, 2 and M that is also long"),
        (
            "a(X), next_s(X,Y), b(Y), next_t(X,Z), c(Z)",
            "an a (1), directly followed in s by a b, and (1) directly followed in t by a c",
        ),
        (
            "a(X), next_s(X,Y), b(Y), next_s(Y,X)",
            "an a (1), directly followed by a b (2), and (2) directly followed by (1)",
        ),
        ("a(X), next_s(X,X)", "an a (1), and (1) directly followed by (1)"),
        (
            "b(Y), next_s(Y,Z), next_s(X,Y), a(X)",
            "a b (1), directly followed by an event, and an a directly followed by (1)",
        ),
        (
            "a(X), next_s(X,Y), b(Y), contact(X,Y,near), wet",
            "an a (1), directly followed by a b (2), where contact holds for (1), (2) and near, "
            "where wet holds",
        ),
        ("a(X), b(Y)", "an a, and a b"),
        ("size(5,N), even(N)", "a size with 5 that is also even"),
        ("next_s(a,b)", "where next_s holds for a and b"),
    ],
)
def test_a_pattern_is_told_in_words(pattern, words):
    assert in_words(parse_pattern(pattern)) == words


SHEETS = """
type(helix(event,class,length)). mode(helix(+,*,*)).
type(st(event,sense,length)).    mode(st(+,*,*)).
type(bent(event)).               mode(bent(+)).
type(ladder(event,event,sense)). mode(ladder(+,+,#)).
type(more(length,length)).       mode(more(+,+)).
type(wet).                       mode(wet).
dimension(next_s). dimension(next_h).
words(helix(E,'3to10',L), 'a {L} tight helix').
words(helix(E,C,L), 'a {L} {C} helix').
words(st(E,S,L), 'a {S} strand of a {L} kind').
words(bent(E), 'bent').
words(ladder(X,Y,S), '{X} and {Y} are {S}').
words(more(L,M), '{L} is more than {M}').
words(wet, 'it rains').
words(plus, 'parallel').
words(minus, 'antiparallel').
words(5, 'five').
words(next_h, 'across the sheet').
"""


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("helix(A,alpha,long)", "a long alpha helix"),
        ("helix(A,'3to10',short)", "a short tight helix"),
        ("helix(A,alpha,B)", "an alpha helix"),
        ("helix(A,B,C)", "a helix"),
        ("helix(A,_,_)", "a helix"),
        ("st(A,plus,long)", "a parallel strand of a long kind"),
        ("st(A,minus,old)", "an antiparallel strand of an old kind"),
        ("st(A,plus,5)", "a parallel strand of a five kind"),
        ("st(A,plus,5.0)", "a parallel strand of a 5.0 kind"),
        ("st(A,plus,_)", "a parallel strand of some kind"),
        (
            "helix(A,alpha,B), next_s(A,C), helix(C,pi,B)",
            "an alpha helix, directly followed by a pi helix of the same length",
        ),
        (
            "helix(A,alpha,B), next_s(A,C), helix(C,pi,D)",
            "an alpha helix of length B, directly followed by a pi helix of length D",
        ),
        (
            "helix(A,alpha,B), next_s(A,C), helix(C,pi,D), next_s(C,E), helix(E,pi,B)",
            "an alpha helix of length B, directly followed by a pi helix of length D, directly "
            "followed by a pi helix of the same length B",
        ),
        (
            "helix(A,alpha,B), next_h(A,C), helix(C,alpha,long)",
            "an alpha helix of length B, directly followed across the sheet by a long alpha helix",
        ),
        ("bent(A)", "an event that is bent"),
        ("bent(A), helix(A,alpha,long)", "a long alpha helix that is also bent"),
        (
            "helix(A,alpha,long), helix(A,pi,long)",
            "a long alpha helix that is also a long pi helix",
        ),
        (
            "helix(A,alpha,B), next_s(A,C), st(C,plus,B), ladder(A,C,minus)",
            "an alpha helix (1), directly followed by a parallel strand of the same kind (2), "
            "where (1) and (2) are antiparallel",
        ),
        (
            "helix(A,alpha,B), next_s(A,C), helix(C,alpha,D), more(B,D), wet",
            "an alpha helix of length B, directly followed by an alpha helix of length D, where B "
            "is more than D, where it rains",
        ),
        ("odd(A,plus), next_s(A,B)", "an odd with parallel, directly followed by an event"),
        (
            "a(A), follow_h(A,B), follow_s(B,C), b(C)",
            "an a, followed later across the sheet by an event, followed later in s by a b",
        ),
    ],
)
def test_the_words_of_a_bias_go_before_ours(pattern, words):
    assert in_words(parse_pattern(pattern), parse_bias(SHEETS)) == words


def test_a_bias_without_words_changes_nothing_but_what_is_an_event():
    bias = parse_bias("type(size(n,event)). mode(size(#,+)). type(even(n)). mode(even(+)).")
    pattern = parse_pattern("size(N,E), even(N)")
    assert in_words(pattern, bias) == "a size with N, where even holds for the same N"


def test_the_words_of_the_bundled_bias_tell_the_topology_of_a_sheet():
    pattern = parse_pattern(
        "sense(A,plus), next_h(A,B), strand(B), followat_b(2,B,C), sense(C,null)"
    )
    assert in_words(pattern, rx.load_protein_folds().bias) == (
        "a parallel strand, directly followed across the sheet by a strand, followed 2 steps "
        "later along the chain by the first strand of a sheet"
    )


# The declaration


def test_words_are_a_field_and_read_back():
    bias = parse_bias(SHEETS)
    assert bias.words["plus"] == "parallel"
    assert bias.words[Atom("bent", (Var("E"),))] == "bent"
    again = parse_bias(str(bias))
    assert again == bias
    assert str(again) == str(bias)
    assert hash(again) == hash(bias)


def test_biases_with_other_words_are_not_equal():
    plain = "type(p(event)). mode(p(+)). "
    assert parse_bias(plain) != parse_bias(plain + "words(p(E),'a point').")


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="{}"), min_size=1)


@given(texts, texts.filter(str.strip), st.integers() | st.floats(-9, 9) | st.just("no name"))
def test_any_words_read_back(name, text, constant):
    fact = Atom(name, (Var("E"), Var("L")))
    words = {fact: text + "{L}", constant: text}
    bias = Bias({name: ("event", "T")}, {name: ("+#",)}, words=words)
    assert parse_bias(str(bias)) == bias


def test_a_model_file_keeps_the_words(tmp_path):
    X, y = rx.planted_rule(40, random_state=0)
    bias = parse_bias(
        "type(do(event,a,o)). mode(do(+,#,*)). dimension(next_s). words(do(E,A,O),'{A} of {O}')."
    )
    model = rx.LynxClassifier(bias, max_length=2, max_iter=2, n_features=2, random_state=0)
    rx.save(model.fit(X, y), tmp_path / "m.relynx")
    assert rx.load(tmp_path / "m.relynx").bias_.words == bias.words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("plus", "words is 'plus': give a dict"),
        ({"plus": 1}, "words of 'plus' is 1: give a text for an atom or a constant"),
        ({None: "a"}, "words of None is 'a': give a text for an atom or a constant"),
        ({"plus": " "}, "these words are empty\nhint: leave this out"),
        (
            {Atom("p", (Var("E"),)): "{E}"},
            "{E} is the event itself, which the whole phrase stands for\nhint: leave it out",
        ),
        (
            {Atom("p", (Var("_"),)): "one", Atom("p", (Var("E"),)): "two"},
            "these words are never used: those before them fit every such fact\n"
            "hint: put the words of special facts first, or leave one out",
        ),
        ({"next_s": "in time"}, "the dimension s is not declared\nhint: add dimension(next_s)."),
    ],
)
def test_wrong_words_of_a_bias_made_in_python_are_refused(words, message):
    with pytest.raises(BiasError) as caught:
        Bias({"p": ("event",)}, {"p": ("+",)}, words=words)
    assert str(caught.value) == message


def test_a_constant_may_have_the_name_of_a_predicate_where_it_is_a_value():
    bias = parse_bias(
        "type(p(event,k)). mode(p(+,#)). values(k,[p,q]). words(p,'pea'). words(p(E,K),'a {K}')."
    )
    assert in_words(parse_pattern("p(A,p)"), bias) == "a pea"
