"""Patterns in words, and the words of a bias."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import relynx as rx
from relynx import Bias, parse_bias, parse_pattern
from relynx.errors import BiasError
from relynx.logic.terms import Atom, Var
from relynx.mining.english import aligned, n_cells, with_article, wrapped
from relynx.mining.wording import in_words, visible


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (
            "he(X,alpha,L), next_s(X,Y), st(Y,plus,L)",
            "a he with alpha and L, directly followed by a st with plus and the same L",
        ),
        ("a(X), follow_s(X,Y), b(Y)", "an a, followed later by a b"),
        ("a(X), followat_s(3,X,Y), b(Y,_)", "an a, followed 3 steps later by an event with some b"),
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
        ("size(5,N), even(N)", "an event with size 5 that is also even"),
        ("next_s(a,b)", "a fact next_s of a and b"),
        (
            "bond(a,b,s), age(30), rainy",
            "a fact bond of a, b and s, and age is 30, and a fact rainy",
        ),
        (
            "a(X), next_s(X,Y), age(30), rainy",
            "an a, directly followed by an event, where age is 30, where rainy holds",
        ),
        ("a(X), followat_s(1,X,Y), b(Y)", "an a, followed 1 step later by a b"),
        ("ward(X,icu)", "an event with ward icu"),
        ("ward(X,'Dr. O''Hara')", "an event with ward ‘Dr. O'Hara’"),
        (
            "ward(X,''), next_s(X,Y), ward(Y,' ')",
            "an event with ward '', directly followed by an event with ward ' '",
        ),
        (
            "ward(X,icu), dose(X,5.0), urgent(X)",
            "an event with ward icu and dose 5.0 that is also urgent",
        ),
        ("scan(X), ward(X,icu)", "a scan with ward icu"),
        ("did(X,test,ann), cost(X,5)", "a did with test, ann and cost 5"),
        ("a('X'), b('\\x1b\\')", "a is X, and b is \\x1b"),
    ],
)
def test_a_pattern_is_told_in_words(pattern, words):
    assert in_words(parse_pattern(pattern)) == words


@pytest.mark.parametrize(
    ("pattern", "words", "without"),
    [
        (
            "did(A,B,C), next_s(A,D), did(D,test,E)",
            "a did with B and C, directly followed by a did with test and a different E",
            "a did with B and C, directly followed by a did with test and E",
        ),
        (
            "did(A,fit,C), next_s(A,D), did(D,E,C)",
            "a did with fit and C, directly followed by a did with a different E and the same C",
            "a did with fit and C, directly followed by a did with E and the same C",
        ),
        (
            "ward(A,B), next_s(A,C), ward(C,D)",
            "an event with some ward, directly followed by an event with another ward",
            "an event with ward B, directly followed by an event with ward D",
        ),
        (
            "ward(A,icu), next_s(A,C), ward(C,D)",
            "an event with ward icu, directly followed by an event with another ward",
            "an event with ward icu, directly followed by an event with ward D",
        ),
        (
            "ward(A,B), next_s(A,C), ward(C,D), next_s(C,E), ward(E,B)",
            "an event with ward B, directly followed by an event with another ward D, directly "
            "followed by an event with the same ward B",
            "an event with ward B, directly followed by an event with ward D, directly followed "
            "by an event with the same ward B",
        ),
    ],
)
def test_another_variable_of_a_kind_is_another_thing_under_object_identity(pattern, words, without):
    assert in_words(parse_pattern(pattern)) == words
    assert in_words(parse_pattern(pattern), object_identity=False) == without


def test_a_variable_that_comes_again_in_its_predicate_needs_no_name():
    pattern = parse_pattern("ward(A,B), next_s(A,C), ward(C,B)")
    told = "an event with some ward, directly followed by an event with the same ward"
    assert in_words(pattern) == told


def test_a_variable_that_comes_again_as_something_else_goes_by_its_name():
    pattern = parse_pattern("sender(A,B), next_s(A,C), receiver(C,B), sender(C,D)")
    assert in_words(pattern) == (
        "an event with sender B, directly followed by an event with the same B as receiver and "
        "another sender D"
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("hour", "an hour"),
        ("honest", "an honest"),
        ("unit", "a unit"),
        ("unicorn", "a unicorn"),
        ("unimportant", "an unimportant"),
        ("one_way", "a one_way"),
        ("onerous", "an onerous"),
        ("eu", "a eu"),
        ("user", "a user"),
        ("uncle", "an uncle"),
        ("x", "an x"),
        ("80", "an 80"),
        ("110", "a 110"),
        ("'Ann'", "an 'Ann'"),
    ],
)
def test_the_article_goes_by_the_sound(words, told):
    assert with_article(words) == told


@pytest.mark.parametrize(
    ("text", "n"), [("abc", 3), ("北京", 4), ("القاهرة", 7), ("e\u0301", 1), ("👍", 2)]
)
def test_a_text_is_as_wide_as_in_a_terminal(text, n):
    assert n_cells(text) == n
    assert n_cells(aligned(text, 9)) == n_cells(aligned(text, 9, right=True)) == 9


def test_lines_are_broken_by_width():
    assert wrapped("北京 上海 东京 a", 9, "- ", "  ") == ["- 北京", "  上海", "  东京 a"]
    assert wrapped("x" * 20 + " y", 9) == ["x" * 20, "y"]
    assert wrapped("", 9) == [""]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("👩\u200d⚕️", "👩\u200d⚕️"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("a\u200db", "a\\u200db"),
        ("\u200d", "\\u200d"),
        ("\u202egnp", "\\u202egnp"),
    ],
)
def test_only_joiners_of_emoji_and_of_other_scripts_stay(text, shown):
    assert visible(text) == shown


BOUGHT = """
type(buy(event,item,n)). mode(buy(+,*,*)). type(wait(event,n)). mode(wait(+,*)). dimension(next_s).
words(buy(E,I,N), '{N} units of {I} bought'). words(wait(E,N), 'a wait of {N} days').
"""


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("buy(A,tea,1)", "1 unit of tea bought"),
        ("buy(A,'China tea',11)", "11 units of China tea bought"),
        ("buy(A,B,2)", "2 units of some item bought"),
        ("buy(A,_,2)", "2 units of some item bought"),
        ("wait(A,1)", "a wait of 1 day"),
        ("wait(A,1.1)", "a wait of 1.1 days"),
        ("wait(A,B)", "a wait of some days"),
        (
            "buy(A,tea,B), next_s(A,C), buy(C,tea,B)",
            "some units of tea bought, directly followed by as many units of tea bought",
        ),
        (
            "wait(A,B), next_s(A,C), wait(C,D)",
            "a wait of some days, directly followed by a wait of another number of days",
        ),
    ],
)
def test_numbers_in_the_words_of_a_bias_read_well(pattern, words):
    assert in_words(parse_pattern(pattern), parse_bias(BOUGHT)) == words


VISITS = {
    "case": [1] * 6 + [2] * 6,
    "Event": ["return", "pay", "ship it", "pay", "return", "pay"] * 2,
    "Part Desc.": ["Rotor, left", "<5", "退货", "O'Hara", "and", "x" * 200] * 2,
    "product_id": [1, 2, 3, 4, 5, 6] * 2,
    "bili": [1.5, 2.0, 3.5, -4.0, 100000.25, 6.0] * 2,
    "Minutes": [31, 19, 40, 12, 7, 8] * 2,
    "Urgent": [True, False] * 6,
    "Age": [30] * 6 + [40] * 6,
    "Sex": ["f"] * 6 + ["m"] * 6,
}


def told(pattern, bias=None, **how):
    how.setdefault("bins", {"bili": [-1.5, 3.5, 100000]})
    X, _ = rx.from_events(VISITS, sequence="case", **how)
    bias = Bias.infer(X) if bias is None else parse_bias(bias)
    return in_words(parse_pattern(pattern), bias, reading=X.reading)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (
            "event(A,return), product_id(A,B), follow_s(A,C), event(C,return), product_id(C,B)",
            "a return event with some product_id, followed later by a return event with the same "
            "product_id",
        ),
        (
            "event(A,'ship it'), next_s(A,B), event(B,C), next_s(B,D), event(D,C)",
            "a ‘ship it’ event, directly followed by an event with another Event C, directly "
            "followed by an event with the same Event C",
        ),
        ("bili(A,'<-1.5')", "an event with bili below -1.5"),
        ("bili(A,'-1.5..3.5')", "an event with bili of -1.5 to under 3.5"),
        ("bili(A,'>=100000')", "an event with bili of 100,000 or more"),
        ("minutes(A,31), urgent(A,true)", "an event with Minutes 31 and Urgent true"),
        (
            "minutes(A,B), next_s(A,C), minutes(C,D)",
            "an event with some Minutes, directly followed by an event with other Minutes",
        ),
        (
            "event(A,B), urgent(A,true), next_s(A,C), event(C,pay), next_s(C,D), "
            "event(D,'ship it')",
            "an event with an Event other than pay or ‘ship it’ and Urgent true, directly followed "
            "by a pay event, directly followed by a ‘ship it’ event",
        ),
        (
            "minutes(A,B), next_s(A,C), minutes(C,31)",
            "an event with Minutes other than 31, directly followed by an event with Minutes 31",
        ),
        ("part_desc(A,'Rotor, left')", "an event with Part Desc. ‘Rotor, left’"),
        ("part_desc(A,and)", "an event with Part Desc. ‘and’"),
        ("part_desc(A,'退货')", "an event with Part Desc. 退货"),
        ("part_desc(A,'O''Hara')", "an event with Part Desc. O'Hara"),
        ("part_desc(A,'<5')", "an event with Part Desc. <5"),
        (f"part_desc(A,{'x' * 200})", f"an event with Part Desc. {'x' * 38}…{'x' * 16}"),
        ("age(30), sex(f)", "a sequence with Age 30 and Sex f"),
        (
            "event(A,pay), next_s(A,B), age(30)",
            "a pay event, directly followed by an event, in a sequence with Age 30",
        ),
    ],
)
def test_values_of_a_table_go_by_the_names_of_their_columns(pattern, words):
    assert told(pattern) == words


def test_a_predicate_of_several_columns_is_told_as_these():
    fluents = {"did": ["Event", "Part Desc."], "seen": ["product_id", "Minutes"]}
    together = {"fluents": fluents, "bins": 4}
    assert told("did(A,pay,B), next_s(A,C), did(C,pay,D)", **together) == (
        "a pay event with some Part Desc., directly followed by a pay event with another Part Desc."
    )
    pattern = "seen(A,B,_), did(A,_,_), next_s(A,C), seen(C,_,31)"
    assert told(pattern, **together) == (
        "an event with some product_id, some Event and some Part Desc., directly followed by an "
        "event with Minutes 31"
    )


def test_the_words_of_a_bias_go_before_those_of_columns():
    bias = """
        type(event(event,kind)). mode(event(+,*)). type(product_id(event,product)).
        mode(product_id(+,*)). dimension(next_s).
        words(event(E,K), 'a {K} note'). words(pay, 'payment'). words(3, 'three').
    """
    assert told("event(A,pay), product_id(A,3)", bias) == "a payment note with product_id three"
    assert told("event(A,B), next_s(A,C), event(C,B)", bias) == (
        "a note, directly followed by a note of the same kind"
    )


def test_two_columns_of_one_type_are_told_apart():
    moves = {"case": [1, 1], "From Ward": ["a", "b"], "To Ward": ["b", "a"]}
    X, _ = rx.from_events(moves, sequence="case")
    pattern = parse_pattern("from_ward(A,B), next_s(A,C), to_ward(C,B)")
    assert in_words(pattern, Bias.infer(X), reading=X.reading) == (
        "an event with From Ward B, directly followed by an event with the same B as To Ward"
    )


def test_numbers_of_a_column_are_told_as_they_were_written():
    table = {"case": [1, 1], "dose": [5.0, 0.25]}
    X, _ = rx.from_events(table, sequence="case")
    assert [in_words(parse_pattern(f"dose(A,{n})"), reading=X.reading) for n in (5.0, 0.25)] == [
        "an event with dose 5",
        "an event with dose 0.25",
    ]


def test_facts_of_further_tables_name_their_table():
    atoms = {"mol": [1, 1, 1], "id": ["a", "b", "c"], "element": ["c", "o", "h"]}
    bonds = {"mol": [1, 1], "id_1": ["a", "b"], "id_2": ["b", "c"], "kind": ["double", "single"]}
    relations = {
        "bond": bonds,
        "molecule": {"mol": [1], "weight": [17]},
        "test": {"mol": [1, 1], "id": ["a", "b"], "name": ["ph", "ir"], "value": [7, 9]},
    }
    X, _ = rx.from_events(atoms, sequence="mol", event="id", relations=relations)
    pattern = parse_pattern(
        "element(A,c), next_s(A,B), test(B,ph,7), bond(A,B,double), molecule(17)"
    )
    assert in_words(pattern, Bias.infer(X), reading=X.reading) == (
        "an event (1) with element c, directly followed by an event (2) with a test (name ph and "
        "value 7), in a sequence with molecule weight 17, where bond holds for (1) and (2) "
        "with kind double"
    )


def test_intervals_go_by_their_symbol():
    table = {"day": [1, 1], "from": [9, 8], "to": [12, 10], "what": ["rain", "wind"]}
    X, _ = rx.from_intervals(table, sequence="day", start="from", end="to", symbol="what")
    pattern = parse_pattern("what(A,rain), next_start(A,B), overlaps(A,B), during(B,A)")
    assert in_words(pattern, Bias.infer(X), reading=X.reading) == (
        "a rain interval (1), directly followed by an interval (2), where (1) overlaps (2), "
        "where (2) is during (1)"
    )


def test_values_go_by_their_types_where_the_bias_has_some():
    bias = parse_bias(
        "type(he(event,kind,size)). mode(he(+,#,-)). type(st(event,sense,size)). mode(st(+,#,+))."
    )
    pattern = parse_pattern("he(A,alpha,B), next_s(A,C), st(C,plus,B), next_s(C,D), st(D,plus,E)")
    assert in_words(pattern, bias) == (
        "a he with alpha and size B, directly followed by a st with plus and the same size B, "
        "directly followed by a st with plus and another size E"
    )


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
            "an alpha helix, directly followed by a pi helix of another length",
        ),
        (
            "helix(A,alpha,B), next_s(A,C), helix(C,pi,D), next_s(C,E), helix(E,pi,B)",
            "an alpha helix of length B, directly followed by a pi helix of another length D, "
            "directly followed by a pi helix of the same length B",
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
            "an alpha helix of length B, directly followed by an alpha helix of another length D, "
            "where B is more than D, where it rains",
        ),
        ("odd(A,plus), next_s(A,B)", "an event with odd parallel, directly followed by an event"),
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
    assert in_words(pattern, bias) == "an event with size N, where even holds for the same N"


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
            "{E} is the event itself, which the whole phrase describes\nhint: leave it out",
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
