"""The parser: text that is printed reads back, and no text makes it fail in an unknown way."""

import contextlib
import re
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parsing import parse_rule, parse_term
from timing import assert_grows_no_faster_than_size

from relynx.errors import InputError, ParseError, Source
from relynx.logic.nodes import node_atom, node_rule
from relynx.logic.parser import parse_atom, parse_atoms, parse_clauses
from relynx.logic.source_files import read_source
from relynx.logic.terms import (
    ARITHMETIC,
    COMPARISONS,
    Atom,
    Comparison,
    Not,
    Rule,
    Struct,
    Var,
    constant_text,
    term_text,
)

names = st.one_of(
    st.sampled_from(["a", "alpha", "mod", "is", "e1", "begin", "end", "x_Y"]),
    st.sampled_from(["", "'", "''", "\\", "\\'", "\n", "\r\n", "\0", "[]", "{}", "!", "+", "-"]),
    st.sampled_from(["Alpha", "_", "3d", "a b", "\\x41\\", "\u2028", "été", "\U0001f600", "a.b"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
integers = st.one_of(st.integers(), st.integers(-(10**60), 10**60))
floats = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
constants = st.one_of(names, integers, floats)
variables = st.sampled_from(["X", "Y", "_", "_a", "Été", "L1", "Σ"]).map(Var)
leaves = st.one_of(constants, variables)


def structs(terms):
    binary = [name for name, arity in ARITHMETIC.items() if arity == 2]
    return st.one_of(
        st.builds(Struct, st.sampled_from(binary), st.tuples(terms, terms)),
        st.builds(Struct, names, st.lists(terms, min_size=1, max_size=3).map(tuple)),
        st.lists(terms, max_size=3).map(tuple),
    )


terms = st.recursive(leaves, structs, max_leaves=12)
atoms = st.builds(Atom, names, st.lists(terms, max_size=4).map(tuple))
comparisons = st.builds(Comparison, st.sampled_from([*COMPARISONS, "is"]), terms, terms)
literals = st.one_of(atoms, st.builds(Not, atoms), comparisons)
rules = st.builds(Rule, atoms, st.lists(literals, max_size=4).map(tuple))


def same(left, right):
    """Equality of terms that tells 1 from 1.0."""
    return Atom("p", (left,)) == Atom("p", (right,))


@given(terms)
def test_a_printed_term_reads_back(term):
    assert same(parse_term(term_text(term)), term)


@given(atoms)
def test_a_printed_atom_reads_back(atom):
    assert parse_atom(str(atom)) == atom


@given(rules)
def test_a_printed_rule_reads_back(rule):
    assert parse_rule(str(rule)) == rule


@given(st.lists(atoms, min_size=1, max_size=4))
def test_a_printed_conjunction_reads_back_in_every_dress(conjunction):
    text = ", ".join(map(str, conjunction))
    for dressed in (text, f"{text}.", f"[{text}]", f"[{text}] ."):
        assert parse_atoms(dressed) == tuple(conjunction)


@given(st.lists(rules, max_size=5))
def test_a_printed_program_reads_back_with_its_places(program):
    source = Source(" % note\n".join(map(str, program)))
    clauses, problems = parse_clauses(source)
    assert not problems
    assert [node_rule(clause.node, source) for clause in clauses] == program
    for clause, rule in zip(clauses, program, strict=True):
        assert source.text[clause.start : clause.end] + "." == str(rule)


@given(constants)
def test_a_constant_keeps_its_type(constant):
    assert type(parse_term(constant_text(constant))) is type(constant)


soup = st.lists(
    st.one_of(
        st.sampled_from(list("()[]{},.|'\"`%\\+-*/<>=:;!_#&~^@$? \n\r\t\0aX10")),
        st.sampled_from(["p(", "X", ":-", "\\+", "/*", "*/", "0'", "1.5", ". ", "is", "'a'", "<"]),
        st.characters(),
    ),
    max_size=40,
).map("".join)


@given(soup)
def test_any_text_is_read_or_refused(text):
    source = Source(text)
    _, problems = parse_clauses(source)
    for problem in problems:
        assert 0 <= problem.offset <= len(text)
        assert str(problem)
    for parse in (parse_term, parse_atom, parse_atoms, parse_rule):
        with contextlib.suppress(ParseError):
            parse(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-1", -1),
        ("- 1", -1),
        ("-0.0", 0.0),
        ("0x1F", 31),
        ("0b101", 5),
        ("0o17", 15),
        ("1_000_000", 1_000_000),
        ("0'a", 97),
        ("0'''", 39),
        ("0'\\n", 10),
        ("0'\\x41\\", 65),
        ("1.0e10", 1.0e10),
        ("1e3", 1000.0),
        ("2.5E-3", 0.0025),
        ("-7.25", -7.25),
        ("'it''s'", "it's"),
        ("'a\\tb\\n'", "a\tb\n"),
        ("'\\x41\\\\x42\\'", "AB"),
        ("'\\u00e9\\U0001F600'", "é\U0001f600"),
        ("'\\101\\'", "A"),
        ("'one \\\nline'", "one line"),
        ("été", "été"),
        ("中文", "中文"),
        ("[]", ()),
        ("[a, [1], X]", ("a", (1,), Var("X"))),
        ("((a))", "a"),
        ("f(+, -, *, #, =)", Struct("f", ("+", "-", "*", "#", "="))),
        ("-(1)", Struct("-", (1,))),
        ("1 - 2 - 3", Struct("-", (Struct("-", (1, 2)), 3))),
        ("1 - (2 - 3)", Struct("-", (1, Struct("-", (2, 3))))),
        ("1 + 2 * 3", Struct("+", (1, Struct("*", (2, 3))))),
        ("X-1", Struct("-", (Var("X"), 1))),
        ("2*-1", Struct("*", (2, -1))),
        ("7 mod 2 // 3", Struct("//", (Struct("mod", (7, 2)), 3))),
        ("max(X, 2)", Struct("max", (Var("X"), 2))),
    ],
)
def test_a_term_is_read_as_prolog_reads_it(text, value):
    assert same(parse_term(text), value)


def test_a_rule_of_all_constructs_is_read():
    rule = parse_rule("p(X) :- q(X, _), \\+ r, \\+(s(X)), Y is X+1, Y =\\= 3, (t, X \\== a).")
    x, y = Var("X"), Var("Y")
    assert rule == Rule(
        Atom("p", (x,)),
        (
            Atom("q", (x, Var("_"))),
            Not(Atom("r")),
            Not(Atom("s", (x,))),
            Comparison("is", y, Struct("+", (x, 1))),
            Comparison("=\\=", y, 3),
            Atom("t"),
            Comparison("\\==", x, "a"),
        ),
    )


def test_values_remember_their_offsets():
    rule = parse_rule("p(X) :- \\+ q(X), X < 3.")
    assert (rule.offset, rule.head.offset, rule.head.args[0].offset) == (0, 0, 2)
    assert [literal.offset for literal in rule.body] == [11, 17]


def test_comments_and_line_ends_of_all_kinds_are_skipped():
    text = "% one\r\np(a). /* two\n * p(b). */ p(c).%three\rp(d)."
    clauses, problems = parse_clauses(Source(text))
    assert not problems
    assert [clause.node.args[0].value for clause in clauses] == ["a", "c", "d"]


def test_modes_and_flags_of_a_bias_are_read():
    text = "mode(p(+,#)). mode(q(+event,-x,#c)). :- set_lynx_flag('$minfreq',1)."
    clauses, problems = parse_clauses(Source(text))
    assert not problems
    assert [clause.is_directive for clause in clauses] == [False, False, True]
    (mode,) = clauses[1].node.args
    assert [(arg.kind, arg.value) for arg in mode.args] == [("prefix", sign) for sign in "+-#"]


def test_positions_of_a_chain_stay_flat():
    (clause,), problems = parse_clauses(Source("a < b(x) < (c, d) < e."))
    assert not problems
    assert [node.kind for node in clause.node.args] == ["atom", "call", "and", "atom"]


@pytest.mark.parametrize("opening", ["(", "[", "f(", "+", "\\+ ", "1+(", "[f(", "- ", "a,("])
@pytest.mark.parametrize("before", ["", "p(", "p :- "])
def test_deep_nesting_is_refused_and_the_next_clause_read(opening, before):
    source = Source(before + opening * 10_000 + "a.\nq(b).")
    clauses, (problem,) = parse_clauses(source)
    assert problem.message == "this is nested too deeply"
    assert [node_atom(clause.node, source) for clause in clauses] == [Atom("q", ("b",))]


def test_long_sums_are_refused_and_long_conjunctions_read():
    _, (problem,) = parse_clauses(Source("p(X) :- X is 1" + " + 1" * 10_000 + "."))
    assert problem.message == "this is nested too deeply"
    assert len(parse_rule("p :- q" + ", q" * 10_000).body) == 10_001


@pytest.mark.parametrize(
    ("begin", "piece", "end", "size"),
    [
        ("p(", "a,", "a).", 100_000),
        ("p('", "''", "').", 250_000),
        ("p('", "\\n", "", 500_000),
        ("", " ", "", 1_000_000),
        ("", "%", "", 1_000_000),
        ("", "/*", "", 250_000),
        ("", ".", "", 100_000),
        ("", "'", "", 100_000),
        ("", "((.\n", "", 20_000),
        ("", "p(a b).\n", "", 20_000),
        ("", "1_", "", 100_000),
        ("", "0'", "", 100_000),
        ("", "a", "", 1_000_000),
        ("", "p\n", "", 50_000),
        ("", '"\n', "", 50_000),
        ("", ":- p(\n", "", 20_000),
    ],
)
def test_time_grows_no_faster_than_the_text(begin, piece, end, size):
    assert_grows_no_faster_than_size(lambda n: parse_clauses(Source(begin + piece * n + end)), size)


def message_of(function, *args):
    with pytest.raises(InputError) as caught:
        function(*args)
    return str(caught.value)


def test_an_empty_text_is_refused():
    assert message_of(parse_atoms, " % none") == (
        "<text>:1:8: there is nothing to read in this text\n     % none\n           ^"
    )


def test_more_than_one_term_is_refused():
    assert message_of(parse_term, "a b") == (
        "<text>:1:3: expected an operator or the end of the text, found 'b'\n    a b\n      ^"
    )


def test_a_second_clause_is_refused():
    assert message_of(parse_rule, "p. q.") == (
        "<text>:1:4: expected an operator or the end of the text, found 'q'\n    p. q.\n       ^"
    )


def test_all_the_problems_of_a_conjunction_are_reported():
    assert message_of(parse_atoms, "p, \\+ q, X < 1, 3, [a]") == (
        "<text>:1:4: expected an atom, found an expression with '\\+'\n"
        "    p, \\+ q, X < 1, 3, [a]\n"
        "       ^~~~\n"
        "hint: a negated atom can stand in a rule's body only\n"
        "<text>:1:10: expected an atom, found an expression with '<'\n"
        "    p, \\+ q, X < 1, 3, [a]\n"
        "             ^~~~~\n"
        "hint: a comparison can stand in a rule's body only\n"
        "<text>:1:17: expected an atom, found the number 3\n"
        "    p, \\+ q, X < 1, 3, [a]\n"
        "                    ^\n"
        "hint: a predicate is a name, as in p(1)\n"
        "<text>:1:20: expected an atom, found a list\n"
        "    p, \\+ q, X < 1, 3, [a]\n"
        "                       ^~~"
    )


def test_head_and_body_are_both_checked():
    assert message_of(parse_rule, "X :- p(-Y).") == (
        "<text>:1:1: expected an atom, found the variable X\n"
        "    X :- p(-Y).\n"
        "    ^\n"
        "hint: a name that begins with a capital letter goes between quotes\n"
        "<text>:1:8: expected a term, found an expression with '-'\n"
        "    X :- p(-Y).\n"
        "           ^~\n"
        "hint: only a number takes a minus sign; write 0 - X for -X"
    )


def test_an_open_bracket_at_the_end_of_the_text_is_reported():
    assert message_of(parse_atom, "p((") == (
        "<text>:1:4: expected a term, found the end of the text\n    p((\n       ^"
    )


def test_a_missing_file_is_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message_of(read_source, "none.m") == "none.m: there is no such file"


def test_a_folder_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    assert message_of(read_source, "data") == "data: this is a folder, not a file"


def test_a_file_that_may_not_be_read_is_reported(monkeypatch):
    def refuse(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    assert message_of(read_source, "secret.m") == "secret.m: you may not read this file"


def test_a_path_that_cannot_exist_is_reported():
    assert message_of(read_source, "a\0b") == "a\0b: this file cannot be read (embedded null byte)"


def test_a_byte_order_mark_is_skipped(tmp_path):
    path = tmp_path / "mark.pl"
    path.write_bytes("p(é).".encode("utf-8-sig"))
    assert read_source(path) == Source("p(é).", str(path))


# Prints each fact of a file with its atoms as character codes, so that no quoting is involved.
ECHO = r"""
main :- current_prolog_flag(argv, [Path|_]), open(Path, read, In, [encoding(utf8)]),
    repeat, read_term(In, T, []),
    ( T == end_of_file -> ! ; T = fact(F), echo(F), write('.'), nl, fail ).
echo(T) :- var(T), !, write('_').
echo(T) :- number(T), !, write(T).
echo(T) :- is_list(T), !, echo(list, T).
echo(T) :- atom(T), !, atom_codes(T, Codes), write(name(Codes)).
echo(T) :- compound_name_arguments(T, Name, Args), atom_codes(Name, Codes),
    write('struct('), write(Codes), write(','), echo(list, Args), write(')').
echo(list, Ts) :- write('['), echo_rest(Ts), write(']').
echo_rest([]).
echo_rest([T|Ts]) :- echo(T), ( Ts == [] -> true ; write(','), echo_rest(Ts) ).
:- initialization((main, halt)).
"""


def echoed(term):
    """What ECHO prints for a term, read."""
    if isinstance(term, Var):
        return Var("_")
    if isinstance(term, str):
        return Struct("name", (tuple(map(ord, term)),))
    if isinstance(term, Struct):
        return Struct("struct", (tuple(map(ord, term.functor)), echoed(term.args)))
    return tuple(map(echoed, term)) if isinstance(term, tuple) else term


@pytest.mark.oracle
@pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog (swipl) is not installed")
def test_swi_prolog_reads_what_is_printed_as_the_same(tmp_path):
    printed = []

    @settings(max_examples=5 * settings.default.max_examples, database=None)
    @given(terms)
    def collect(term):
        # SWI-Prolog refuses some escapes of unassigned characters beyond U+FFFF.
        if not re.search(r"\\x[0-9a-f]{5}", term_text(term)):
            printed.append(term)

    collect()
    (tmp_path / "echo.pl").write_text(ECHO)
    facts = "".join(f"fact({term_text(term)}).\n" for term in printed)
    (tmp_path / "facts.pl").write_text(facts, encoding="utf-8")
    command = ["swipl", "-q", tmp_path / "echo.pl", "--", tmp_path / "facts.pl"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert answer.stderr == ""
    theirs = [parse_term(line) for line in answer.stdout.splitlines()]
    assert len(theirs) == len(printed)
    for term, their in zip(printed, theirs, strict=True):
        assert same(their, echoed(term)), term_text(term)
