"""Files of the original program: read, refused with a reason, and written back."""

import contextlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from paths import SHARED
from timing import assert_grows_no_faster_than_size

from relynx.data.event_arguments import event_conflicts
from relynx.data.lynx import writer as lynx_writer
from relynx.data.lynx.reader import LynxReader, read_lynx
from relynx.data.lynx.writer import write_lynx
from relynx.data.sequences import Sequences
from relynx.errors import DataError, InputError, ParseError, Source
from relynx.logic.datalog import read_background
from relynx.logic.parser import parse_atom, parse_atoms
from relynx.logic.terms import Atom

ORIGINALS = sorted(
    path
    for folder in ("golden", "data/mutagenesis")
    for path in (SHARED / folder).rglob("*")
    if path.suffix in (".m", ".val")
)


def read(text, background=None):
    return LynxReader(Source(text, "x.m")).read(background)


def atoms(text):
    return set(parse_atoms(text))


def message_of(function, *args, **options):
    with pytest.raises(InputError) as caught:
        function(*args, **options)
    return str(caught.value)


constants = st.one_of(
    st.sampled_from(["a", "b", "e1", "end", "begin", "X", "a,b", "a b", "it's", "\n", "", "1"]),
    st.integers(-3, 3),
    st.sampled_from([0.5, -0.25, 1.0, 1e300, 5e-324]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
)
predicates = [
    ("p", 1),
    ("q", 2),
    ("next_s", 2),
    ("r", 3),
    ("'", 2),
    ("Été", 1),
    ("z", 0),
    ("<", 2),
    ("mod", 2),
]
facts = st.sampled_from(predicates).flatmap(
    lambda key: st.builds(Atom, st.just(key[0]), st.tuples(*[constants] * key[1]))
)
examples = st.lists(st.lists(facts, max_size=6), min_size=1, max_size=4)


@given(examples, st.booleans(), st.data())
def test_written_sequences_read_back_equal(tmp_path_factory, sequences, labelled, data):
    path = tmp_path_factory.mktemp("written") / "x.m"
    n = len(sequences)
    ids = data.draw(st.lists(constants, min_size=n, max_size=n, unique_by=repr))
    labels = data.draw(st.lists(constants, min_size=n, max_size=n)) if labelled else None
    X = Sequences.from_atoms(sequences, ids=ids, labels=labels)
    assume(not event_conflicts(X.tables, X.vocabulary))
    write_lynx(X, path)
    again, y = read_lynx(path)
    assert again == X
    assert (y is None) == (labels is None)
    if labels is not None:
        assert list(map(repr, y.tolist())) == list(map(repr, X.labels.tolist()))


spaces = st.sampled_from(["", "", " ", "\n", "\t", " % p(z).\n", "/* q(z,z). */"])


@given(examples, st.data())
def test_layout_and_comments_change_nothing(sequences, data):
    def piece(text):
        return data.draw(spaces) + text + data.draw(spaces)

    lines = []
    for i, sequence in enumerate(sequences):
        lines.append(f"begin(s{i + 1}).")
        for atom in sequence:
            args = [piece(str(Atom("f", (arg,)))[2:-1]) for arg in atom.args]
            name = str(Atom(atom.predicate))
            lines.append(name + (f"({','.join(args)})" if args else "") + data.draw(spaces) + ".")
        lines.append("end.")
    expected = Sequences.from_atoms(sequences)
    assume(not event_conflicts(expected.tables, expected.vocabulary))
    assert read("\n".join(map(piece, lines))) == expected


words = ["p(a,1)", "p(a)", "q(b).", "r(f(a)).", "begin(s1,c)", "begin(s2).", "end", "end."]


@given(st.lists(st.sampled_from([*words, ".", ",", "'", "X", "<", "(", ")", "next_s(a,b)."])))
def test_any_text_is_read_or_refused(pieces):
    with contextlib.suppress(InputError):
        assert len(read(" ".join(pieces)))


@pytest.mark.skipif(not ORIGINALS, reason="the original program's files (../shared) are not here")
@pytest.mark.parametrize("path", ORIGINALS, ids=lambda path: path.name)
def test_a_file_of_the_original_program_is_read_and_written_back(path, tmp_path):
    X, y = read_lynx(path)
    sequences = path.read_text().split("end.")[:-1]
    facts = {
        (i, fact) for i, text in enumerate(sequences) for fact in re.findall(r"\w+\(.*?\)", text)
    }
    assert len(X) == len(y) == len(sequences)
    # The begin of each sequence looks like a fact, too.
    assert sum(table.shape[1] for table in X.tables.values()) == len(facts) - len(sequences)
    write_lynx(X, tmp_path / "again.m")
    again, labels = read_lynx(tmp_path / "again.m")
    assert again == X
    assert np.array_equal(labels, y)


@pytest.mark.skipif(not ORIGINALS, reason="the original program's files (../shared) are not here")
def test_background_is_given_as_a_path_or_as_a_value(tmp_path):
    folder = SHARED / "golden" / "molecules"
    X, _ = read_lynx(folder / "molecules.m", background=folder / "molecules.bk")
    background = read_background(folder / "molecules.bk")
    assert X.background == background
    assert read_lynx(str(folder / "molecules.m"), background)[0] == X
    write_lynx(X, tmp_path / "x.m", background_path=tmp_path / "x.bk")
    assert read_lynx(tmp_path / "x.m", tmp_path / "x.bk")[0] == X


def test_sequences_without_labels_give_none(tmp_path):
    (tmp_path / "x.m").write_text("begin(s1). p(a). end. begin(2). end.")
    X, y = read_lynx(tmp_path / "x.m")
    assert y is None
    assert X.ids.tolist() == ["s1", 2]


def test_numbers_of_different_kinds_stay_different():
    X = read("begin(s1). p(1). p(1.0). p('1'). p(-1). p(- 1). p(0x1). p(-0.0). p(0.0). end.")
    assert set(map(repr, (atom.args[0] for atom in X[0].atoms))) == {"1", "1.0", "'1'", "-1", "0.0"}


def test_nested_terms_are_flattened():
    X = read(
        "begin(s1). he(e1,h(right,alpha),f(g(1)),long). he(e2, h( left ,'a(b'),f(g(2)),x). end."
    )
    assert set(X[0].atoms) == atoms("he(e1,right,alpha,1,long), he(e2,left,'a(b',2,x)")


def test_a_line_of_positions_makes_linked_events():
    X = read("begin(s1). he(h(right,alpha),long) < (st(plus), q) < st(minus). end.")
    assert set(X[0].atoms) == atoms(
        "he(e1,right,alpha,long), st(e2,plus), q(e2), st(e3,minus), next_s(e1,e2), next_s(e2,e3)"
    )


def test_fresh_events_skip_the_constants_of_their_sequence():
    X = read("begin(s1). a(e2) < b. c(e1,1). end. begin(s2). a(x) < b. end.")
    assert set(X[0].atoms) == atoms("a(e3,e2), b(e4), next_s(e3,e4), c(e1,1)")
    assert set(X[1].atoms) == atoms("a(e1,x), b(e2), next_s(e1,e2)")


def test_two_lines_of_positions_are_not_linked():
    X = read("begin(s1). a < b. c < d. end.")
    assert set(X[0].atoms) == atoms("a(e1), b(e2), next_s(e1,e2), c(e3), d(e4), next_s(e3,e4)")


def test_positions_and_facts_share_their_predicates():
    X = read("begin(s1). a(f(x)) < a(f(y)). end. begin(s2). a(e7,f(z)). end.")
    assert X.tables.keys() == {("a", 2), ("next_s", 2)}


def test_line_ends_of_windows_are_read():
    text = "begin(s1,c).\np(a).\nq('b c',1).\nend.\n"
    assert read(text.replace("\n", "\r\n")) == read(text)


def test_follow_is_an_ordinary_name_without_its_dimension():
    assert ("follow_up", 1) in read("begin(s1). follow_up(a). next_s(x,y). end.").tables


@pytest.mark.parametrize(
    "broken", ["\x01", "p(a", "p(a,", "p('a", "p(X) :- q(X", '"', "p(a b", "p(", "p(a) q", "'"]
)
def test_a_broken_clause_does_not_hide_the_end_after_it(broken):
    with pytest.raises(ParseError) as caught:
        read(f"begin(s1).\n{broken}\nend.\nbegin(s2).\np(a).\nend.\n")
    (problem,) = caught.value.problems
    assert problem.source.line_and_column(problem.offset)[0] in (2, 3)


def test_an_open_comment_does_not_count_as_a_missing_end():
    message = message_of(read, "begin(s1).\n/* p(a).\nend.\n")
    assert message == (
        "x.m:2:1: this comment is never closed\n    /* p(a).\n    ^~\nhint: close it with */"
    )


def test_a_broken_clause_does_not_hide_the_begin_after_it():
    assert message_of(read, "begin(s1).\np(a b\nbegin(s2).\nend.\n") == (
        "x.m:1:1: the sequence s1 has no 'end.'\n"
        "    begin(s1).\n"
        "    ^~~~~\n"
        "hint: write 'end.' before the begin of line 3\n"
        "x.m:2:5: expected ',' or ')', found 'b'\n"
        "    p(a b\n"
        "        ^\n"
        "hint: write ',' between arguments; a name with spaces goes between quotes"
    )


def test_syntax_makes_a_parse_error_and_meaning_a_data_error():
    with pytest.raises(ParseError):
        read("begin(s1). p(a b). end.")
    with pytest.raises(DataError):
        read("begin(s1). p(X). end.")


def test_every_problem_of_a_file_is_reported_in_order():
    with pytest.raises(InputError) as caught:
        read("begin(s1).\np(X).\np(a b).\nq(Y).\np(a,b).\nend.\nend.\n")
    lines = [problem.source.line_and_column(problem.offset)[0] for problem in caught.value.problems]
    assert lines == [2, 3, 4, 7]


def test_a_line_of_ten_megabytes_stays_fast_and_its_excerpt_short():
    text = "begin(s1). " + "p(a1,b). " * 1_100_000 + "p(X,c). " + "p(a2,b). " * 1000 + "end."
    start = time.process_time()
    message = message_of(read, text)
    assert time.process_time() - start < 60
    assert message.startswith("x.m:1:9900014: the variable X where only a constant can stand\n")
    assert all(len(line) < 200 for line in message.splitlines())


def test_a_million_facts_are_read_in_well_under_a_minute():
    lines = []
    for i in range(10_000):
        lines.append(f"begin(s{i},c{i % 3}).")
        lines += [f"p(e{j},v{j % 7},{(i * j) % 100 / 10})." for j in range(100)]
        lines.append("end.")
    text = "\n".join(lines)
    start = time.process_time()
    X = read(text)
    assert time.process_time() - start < 45
    assert X.tables[("p", 3)].shape == (4, 1_000_000)


def test_given_labels_replace_those_of_the_sequences(tmp_path):
    X = read("begin(s1,a). end. begin(s2,b). end.")
    write_lynx(X, tmp_path / "x.m", labels=[1, "new label"])
    assert (tmp_path / "x.m").read_text() == "begin(s1,1).\nend.\nbegin(s2,'new label').\nend.\n"


def test_a_written_file_replaces_the_old_one_and_leaves_nothing_else(tmp_path):
    (tmp_path / "x.m").write_text("old")
    write_lynx(read("begin(s1). z. p(a,'B'). end."), tmp_path / "x.m")
    assert (tmp_path / "x.m").read_text() == "begin(s1).\nz.\np(a,'B').\nend.\n"
    assert os.listdir(tmp_path) == ["x.m"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.chdir(tmp_path)
    Path("x.m").write_text("old")
    monkeypatch.setattr(lynx_writer.os, "replace", fail)
    message = message_of(write_lynx, read("begin(s1). end."), "x.m")
    assert message == (
        "x.m: this file cannot be written (No space left on device)\n"
        "hint: the disk is full: make room, or write to another one"
    )
    assert Path("x.m").read_text() == "old"
    assert os.listdir() == ["x.m"]


def test_a_folder_that_is_missing_is_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message_of(write_lynx, read("begin(s1). end."), "none/x.m") == (
        "none/x.m: this file cannot be written (No such file or directory)"
    )


def test_sequences_of_one_id_are_not_written(tmp_path):
    X = read("begin(s1). end. begin(s2). end.")[[0, 0]]
    assert message_of(write_lynx, X, tmp_path / "x.m") == (
        "two sequences have the id s1: they cannot be written\n"
        "hint: give every sequence an id of its own"
    )
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("atom", ["begin(a)", "end"])
def test_names_of_the_format_are_not_written(atom, tmp_path):
    X = Sequences.from_atoms([[parse_atom(atom)]])
    name, arity = parse_atom(atom).key
    assert message_of(write_lynx, X, tmp_path / "x.m") == (
        f"the predicate {name}/{arity} cannot be written: the format uses its name\n"
        "hint: give the predicate another name"
    )


def test_a_text_that_is_no_unicode_is_not_written(tmp_path):
    X = Sequences.from_atoms([[Atom("p", ("\ud800",))]])
    assert message_of(write_lynx, X, tmp_path / "x.m") == (
        "'\\ud800' is no Unicode text: it cannot be written"
    )


def test_a_number_of_too_many_digits_is_not_written(tmp_path):
    X = Sequences.from_atoms([[Atom("p", (10**5000,))]])
    assert message_of(write_lynx, X, tmp_path / "x.m") == (
        "a number of more than 3000 digits cannot be written"
    )


def test_no_sequences_are_not_written(tmp_path):
    X = read("begin(s1). end.")[[]]
    assert message_of(write_lynx, X, tmp_path / "x.m") == "there is no sequence to write"


def test_an_event_that_is_also_a_value_is_not_written(tmp_path):
    text = "p(e1,x), next_s(e1,e2), p(e2,y), next_s(e2,e3), p(e3,e1)"
    X = Sequences.from_atoms([parse_atoms(text)])
    assert message_of(write_lynx, X, tmp_path / "x.m") == (
        "the sequence s1 cannot be written: in p(e3,e1), "
        "e1 is used both as an event and as a value: 1 of 3 facts of p/2 hold an event there\n"
        "hint: events are what next_... links, and what stands where at least half of the facts "
        "hold one; give the value another name, or leave out facts such as p(e1,x)"
    )


def test_operators_of_a_dimension_are_not_written(tmp_path):
    X = Sequences.from_atoms([parse_atoms("next_s(e1,e2), follow_s(e1,e2)")])
    assert message_of(write_lynx, X, tmp_path / "x.m") == (
        "the predicate follow_s/2 cannot be written: it is an operator of the dimension s\n"
        "hint: give the predicate another name"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux counts it")
def test_events_with_three_fluents_fit_into_memory(tmp_path):
    """Two hundred thousand events with three fluents each stay under a fifth of 1.5 GB."""
    path = tmp_path / "big.m"
    with path.open("w") as file:
        for i in range(10_000):
            file.write(f"begin(s{i},c{i % 2}).\n")
            for j in range(i * 20, i * 20 + 20):
                file.write(f"p(e{j},a). q(e{j},{j % 30}). r(e{j},{j % 99}.5). ")
                file.write(f"next_s(e{j},e{j + 1}).\n" if j % 20 < 19 else "\n")
            file.write("end.\n")
    code = (
        "import sys\n"
        "from relynx.data.lynx.reader import read_lynx\n"
        "def peak():  # of this process alone; ru_maxrss begins with that of the parent\n"
        "    lines = open('/proc/self/status').read().splitlines()\n"
        "    return int(next(one for one in lines if one.startswith('VmHWM')).split()[1])\n"
        "before = peak()\n"
        "X, y = read_lynx(sys.argv[1])\n"
        "print(len(X), peak() - before)\n"
    )
    source = Path(lynx_writer.__file__).parents[3]
    environment = os.environ | {"PYTHONPATH": str(source)}
    answer = subprocess.run(
        [sys.executable, "-c", code, path], env=environment, capture_output=True, check=True
    )
    n, kilobytes = map(int, answer.stdout.split())
    assert n == 10_000
    assert kilobytes < 300_000


def test_a_broken_begin_counts_as_a_begin():
    with pytest.raises(ParseError) as caught:
        read("begin(s1\np(a).\nend.\nbegin(s2).\nend.\n")
    assert [problem.message for problem in caught.value.problems] == [
        "expected ',' or ')', found 'p'"
    ]


@pytest.mark.parametrize(
    "piece", ["begin(\n", "begin(a,\n", "end\n", "p(\n", "begin(s1).\np(a b\n", ":- p(\n"]
)
def test_time_grows_no_faster_than_a_broken_text(piece):
    assert_grows_no_faster_than_size(lambda n: message_of(read, piece * n), 12_000)
