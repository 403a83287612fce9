"""Sets of patterns: decoding, choosing, sorting, writing, showing."""

import json
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tries import random_rows, trie_of

import relynx as rx
from relynx import parse_pattern
from relynx.data.tables import frames
from relynx.logic.terms import numbered_variable
from relynx.mining.patterns import pattern_set
from relynx.mining.patterns import tables as pattern_tables
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.report import SearchLevel, SearchReport

ROWS = [
    (-1, "he(A,alpha,B)", (4, 8)),
    (0, "next_s(A,C), st(C,plus,B)", (0, 6)),
    (0, "follow_s(A,C), st(C,plus,D)", (2, 6)),
    (1, "long(C)", (0, 3)),
    (2, "followat_t(2,C,A)", (1, 1)),
    (-1, "wet", (10, 10)),
]
TEXTS = [
    "he(A,alpha,B)",
    "he(A,alpha,B), next_s(A,C), st(C,plus,B)",
    "he(A,alpha,B), follow_s(A,C), st(C,plus,D)",
    "he(A,alpha,B), next_s(A,C), long(C), st(C,plus,B)",
    "he(A,alpha,B), follow_s(A,C), st(C,plus,D), followat_t(2,C,A)",
    "wet",
]


@pytest.fixture
def six():
    return PatternSet(trie_of(ROWS), complete_up_to=3)


def texts(patterns):
    return list(patterns.texts())


def spelled(rows, i):
    """The text of a row by following its parents one by one."""
    steps = []
    while i >= 0:
        i, step, _ = rows[i]
        steps.append(step)
    return ", ".join(str(atom) for step in reversed(steps) for atom in parse_pattern(step).atoms)


# What is in a set


def test_a_set_has_the_patterns_of_its_trie(six):
    assert texts(six) == TEXTS


def test_links_do_not_count_in_the_length(six):
    assert six.lengths.tolist() == [1, 2, 2, 3, 2, 1]


def test_an_entry_tells_supports_and_confidences_by_class(six):
    entry = six[2]
    assert entry.pattern == parse_pattern(TEXTS[2])
    assert (entry.length, entry.frequency) == (2, 8)
    assert entry.support == {"no": 2, "yes": 6}
    assert entry.confidence == {"no": 0.25, "yes": 0.75}
    assert str(entry) == TEXTS[2]


def test_what_covers_nothing_has_confidence_0():
    entry = PatternSet(trie_of([(-1, "p(A)", (0, 0))]))[0]
    assert entry.confidence == {"no": 0.0, "yes": 0.0}


@given(random_rows())
def test_decoding_follows_the_parents(rows):
    patterns = PatternSet(trie_of(rows))
    wanted = [parse_pattern(spelled(rows, i)).canonical() for i in range(len(rows))]
    assert [entry.pattern.canonical() for entry in patterns] == wanted
    assert texts(patterns) == [str(entry.pattern) for entry in patterns]
    assert [patterns[i].pattern for i in range(len(rows))] == [e.pattern for e in patterns]


@given(random_rows())
def test_the_text_of_a_pattern_reads_back(rows):
    for entry in PatternSet(trie_of(rows)):
        assert parse_pattern(str(entry.pattern)) == entry.pattern


def test_variables_beyond_z_get_numbers():
    assert [numbered_variable(i).name for i in (0, 25, 26, 53)] == ["A", "Z", "A1", "B2"]


def test_more_rows_than_are_decoded_at_a_time_come_in_order():
    rows = [(-1, f"p(A,{i})", (1, 1)) for i in range(50)] + [(7, "q(A)", (1, 1))]
    chosen = np.tile(np.arange(51), 400)
    found = PatternSet(trie_of(rows), chosen)
    singles = texts(PatternSet(trie_of(rows)))
    assert texts(found) == singles * 400


def test_an_empty_set_has_no_patterns():
    empty = PatternSet(trie_of([]))
    assert (len(empty), list(empty), texts(empty)) == (0, [], [])


# Indexing


def test_a_slice_a_mask_and_a_list_choose_patterns(six):
    mask = np.array([False, True, False, False, True, False])
    assert texts(six[1:3]) == TEXTS[1:3]
    assert texts(six[mask]) == [TEXTS[1], TEXTS[4]]
    assert texts(six[[4, 1]]) == [TEXTS[4], TEXTS[1]]
    assert texts(six[[]]) == []
    assert str(six[-1].pattern) == "wet"


@pytest.mark.parametrize("index", [6, -7])
def test_an_index_outside_the_set_is_refused(six, index):
    with pytest.raises(IndexError, match=f"^pattern {index} of 6$"):
        six[index]


@pytest.mark.parametrize("index", ["pattern", [0.5], [[0]]])
def test_an_index_of_another_kind_is_refused(six, index):
    with pytest.raises(IndexError) as error:
        six[index]
    assert str(error.value) == ("index patterns by a number, a slice, a list of numbers or a mask")


# Equality and pickling


@given(random_rows(), st.data())
def test_a_pickled_set_is_equal_to_itself(rows, data):
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1)))
    report = SearchReport((SearchLevel(1, 2, 0, 0, 0, 2),))
    patterns = PatternSet(trie_of(rows), chosen, complete_up_to=2, partial="late", report=report)
    again = pickle.loads(pickle.dumps(patterns))
    assert again == patterns
    assert again.report == report
    assert len(again.trie) <= len(rows)


def test_a_pickle_holds_only_what_its_patterns_need():
    rows = [(-1, f"p(A,{i})", (1, 1)) for i in range(5000)]
    whole = PatternSet(trie_of(rows))
    assert len(pickle.loads(pickle.dumps(whole[:3])).trie) == 3


def test_sets_differ_by_patterns_supports_order_and_origin(six):
    other_support = PatternSet(trie_of([*ROWS[:5], (-1, "wet", (10, 9))]), complete_up_to=3)
    other_text = PatternSet(trie_of([*ROWS[:5], (-1, "dry", (10, 10))]), complete_up_to=3)
    same = PatternSet(trie_of(ROWS), complete_up_to=3)
    assert six == same
    for other in (other_support, other_text, six[:5], six[::-1], "six"):
        assert six != other
    for change in ({"partial": "late"}, {"complete_up_to": 2}, {"object_identity": False}):
        assert six != PatternSet(six.trie, **{"complete_up_to": 3, **change})


# Choosing


def test_filters_keep_what_meets_all_of_them(six):
    assert texts(six.filter(min_confidence=1.0)) == [TEXTS[1], TEXTS[3]]
    assert texts(six.filter(min_confidence=0.75, min_frequency=7)) == [TEXTS[2]]
    assert texts(six.filter(min_support=0.8)) == [TEXTS[0], TEXTS[5]]
    assert texts(six.filter(min_support=0.4, classes=["no"])) == [TEXTS[0], TEXTS[5]]
    assert texts(six.filter(max_support={"no": 0.1})) == [TEXTS[1], TEXTS[3], TEXTS[4]]
    assert texts(six.filter(min_length=2, max_length=2)) == [TEXTS[1], TEXTS[2], TEXTS[4]]
    assert texts(six.filter(at_least={"growth_rate": 3.0})) == TEXTS[1:4]
    assert texts(six.filter(at_least={"growth_rate": 3.0}, classes=["no"])) == []
    assert six.filter() == six


def test_a_threshold_is_met_up_to_rounding():
    patterns = PatternSet(trie_of([(-1, "p(A)", (0, 3))], class_sizes=(10, 30)))
    assert len(patterns.filter(min_support=0.1)) == 1
    assert len(patterns.filter(min_support=0.1 + 1e-6)) == 0


def test_sorting_is_by_measure_then_frequency_then_length():
    rows = [
        (-1, "p(A)", (1, 1)),
        (-1, "q(A)", (2, 2)),
        (1, "r(A)", (2, 2)),
        (-1, "s(A)", (0, 1)),
        (2, "t(A)", (2, 2)),
    ]
    patterns = PatternSet(trie_of(rows))[[4, 2, 0, 1, 3]]
    ordered = patterns.sort("confidence")
    assert texts(ordered) == ["s(A)", "q(A)", "q(A), r(A)", "q(A), r(A), t(A)", "p(A)"]
    rising = patterns.sort("confidence", class_="no", descending=False)
    assert texts(rising) == ["s(A)", "q(A)", "q(A), r(A)", "q(A), r(A), t(A)", "p(A)"]


@given(random_rows(), st.randoms(use_true_random=False), st.integers(0, 15))
def test_the_best_k_do_not_depend_on_the_order_of_the_set(rows, random, k):
    patterns = PatternSet(trie_of(rows))
    order = list(range(len(rows)))
    random.shuffle(order)
    best, shuffled = patterns.top_k(k), patterns[order].top_k(k)
    assert len(best) == min(k, len(rows))
    assert sorted(texts(best)) == sorted(texts(shuffled))
    values = sorted(patterns.measure("confidence").round(12), reverse=True)[:k]
    assert best.measure("confidence").round(12).tolist() == values


def test_ties_at_the_end_of_the_best_k_go_by_text():
    rows = [(-1, f"{name}(A)", (1, 1)) for name in "dcab"]
    assert texts(PatternSet(trie_of(rows)).top_k(2)) == ["a(A)", "b(A)"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.measure("chi"), "unknown measure 'chi': did you mean 'chi2'?"),
        (
            lambda s: s.sort("beauty"),
            "unknown measure 'beauty': give one of frequency, length, support, confidence, "
            "growth_rate, wracc, chi2, information_gain",
        ),
        (
            lambda s: s.measure("chi2", "maybe"),
            "unknown class 'maybe': the classes are 'no', 'yes'",
        ),
        (
            lambda s: s.filter(min_support=0.1, classes=["maybe"]),
            "unknown class 'maybe': the classes are 'no', 'yes'",
        ),
        (
            lambda s: s.filter(max_support={"maybe": 0.1}),
            "unknown class 'maybe': the classes are 'no', 'yes'",
        ),
        (lambda s: s.filter(classes="yes"), "classes is 'yes': give a list of classes"),
        (lambda s: s.filter(min_support="0.1"), "min_support is '0.1': give a number"),
        (lambda s: s.filter(min_confidence=float("nan")), "min_confidence is nan: give a number"),
        (
            lambda s: s.filter(max_support={"yes": None}),
            "max_support of 'yes' is None: give a number",
        ),
        (lambda s: s.filter(max_support=["yes"]), "max_support is ['yes']: give a dict"),
        (lambda s: s.filter(at_least={"chi2": "x"}), "chi2 of at_least is 'x': give a number"),
        (lambda s: s.to_frame(measures="chi2"), "measures is 'chi2': give a list of names"),
        (lambda s: s.top_k(1.5), "k is 1.5: give a number of patterns, 0 or more"),
        (lambda s: s.covering(None, 1.5), "times is 1.5: give a number of patterns, 1 or more"),
        (lambda s: s.top_k(-1), "k is -1: give a number of patterns, 0 or more"),
        (lambda s: s.covering(None, 0), "times is 0: give a number of patterns, 1 or more"),
        (lambda s: s.to_frame("panda"), "unknown backend 'panda': did you mean 'pandas'?"),
        (
            lambda s: s.to_frame("excel"),
            "unknown backend 'excel': give one of pandas, polars, pyarrow",
        ),
    ],
)
def test_a_wrong_argument_is_refused(six, call, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call(six)


# Coverage

SEQUENCES = [["a", "b"], ["b", "a"], ["a"], ["c"], ["a", "b", "c"]]


@pytest.fixture
def covering():
    rows = [
        (-1, "a(A)", (3, 1)),
        (0, "next_s(A,B), b(B)", (1, 1)),
        (-1, "c(A)", (1, 1)),
        (-1, "b(A)", (2, 1)),
    ]
    return PatternSet(trie_of(rows, class_sizes=(4, 1)))


def test_coverage_is_one_row_a_sequence_and_one_column_a_pattern(covering):
    X, _ = rx.from_lists(SEQUENCES)
    wanted = [[1, 1, 0, 1], [1, 0, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0], [1, 1, 1, 1]]
    assert covering.coverage(X).dtype == np.bool_
    assert covering.coverage(X).tolist() == np.array(wanted, bool).tolist()


def test_packed_coverage_unpacks_to_the_matrix(covering):
    X, _ = rx.from_lists(SEQUENCES * 3)
    packed = covering.coverage(X, packed=True)
    assert packed.shape == (2, 4)
    assert np.array_equal(np.unpackbits(packed, axis=0, count=15), covering.coverage(X))


def test_coverage_heeds_object_identity():
    rows = [(-1, "p(A,B)", (1, 1)), (0, "q(A,C)", (1, 1))]
    X = rx.Sequences.from_atoms([[rx.parse_atom("p(a,x)"), rx.parse_atom("q(a,x)")]])
    apart = PatternSet(trie_of(rows)).coverage(X)
    together = PatternSet(trie_of(rows), object_identity=False).coverage(X)
    assert apart.tolist() == [[True, False]]
    assert together.tolist() == [[True, True]]


def test_the_best_patterns_are_kept_until_all_is_covered(covering):
    X, _ = rx.from_lists(SEQUENCES)
    assert texts(covering.sort()) == ["a(A)", "b(A)", "c(A)", "a(A), next_s(A,B), b(B)"]
    assert texts(covering.covering(X, 1)) == ["a(A)", "c(A)"]
    assert texts(covering.covering(X, 2)) == ["a(A)", "b(A)", "c(A)"]
    assert texts(covering.covering(X, 3)) == texts(covering.sort())


@pytest.mark.parametrize("times", [1, 2, 3])
def test_the_kept_patterns_do_not_depend_on_how_many_are_matched_at_once(
    covering, times, monkeypatch
):
    X, _ = rx.from_lists(SEQUENCES)
    at_once = texts(covering.covering(X, times))
    monkeypatch.setattr(pattern_set, "COVERED_AT_ONCE", 1)
    assert texts(covering.covering(X, times)) == at_once


# Frames and files

COLUMNS = {
    "pattern": TEXTS[:2],
    "length": [1, 2],
    "frequency": [12, 6],
    "support_no": [4, 0],
    "support_yes": [8, 6],
    "confidence_no": [4 / 12, 0.0],
    "confidence_yes": [8 / 12, 1.0],
    "wracc": [0.1, 0.15],
}


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_a_frame_has_a_row_a_pattern(six, backend):
    library = pytest.importorskip(backend)
    made = six[:2].to_frame(backend, measures=["wracc"])
    assert isinstance(made, library.DataFrame)
    columns = {name: made[name].to_list() for name in made.columns}
    assert columns.pop("wracc") == pytest.approx(COLUMNS["wracc"])
    assert columns == {name: values for name, values in COLUMNS.items() if name != "wracc"}


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_an_empty_frame_has_the_same_columns(six, backend):
    pytest.importorskip(backend)
    assert list(six[:0].to_frame(backend).columns) == list(COLUMNS)[:-1]


def test_a_frame_in_several_chunks_is_one_frame(six, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.setattr(pattern_tables, "AT_ONCE", 2)
    made = six.to_frame("pandas")
    assert made["pattern"].to_list() == TEXTS
    assert made.index.to_list() == list(range(6))


def test_classes_with_one_text_are_told_apart():
    patterns = PatternSet(trie_of([(-1, "p(A)", (1, 2))], classes=(1, "1")))
    assert pattern_tables.class_names(patterns) == ["1", "'1'"]


def test_a_missing_library_is_named(six, monkeypatch):
    monkeypatch.setattr(frames, "find_spec", lambda name: None)
    with pytest.raises(rx.InputError) as error:
        six.to_frame("polars")
    assert str(error.value) == (
        "a polars frame needs polars, which is not installed\nhint: pip install polars"
    )


def test_parquet_without_its_libraries_is_refused(six, monkeypatch, tmp_path):
    monkeypatch.setattr(frames, "find_spec", lambda name: None)
    with pytest.raises(rx.InputError) as error:
        six.to_parquet(tmp_path / "p.parquet")
    assert str(error.value) == (
        "Parquet files need polars or pyarrow, and neither is installed\n"
        "hint: pip install polars, or write .csv or .jsonl"
    )


def test_csv_quotes_patterns_and_holds_all_columns(six, tmp_path, monkeypatch):
    monkeypatch.setattr(pattern_tables, "AT_ONCE", 1)
    path = tmp_path / "patterns.csv"
    six[[1, 5]].to_csv(path)
    assert path.read_text(encoding="utf-8") == (
        "pattern,length,frequency,support_no,support_yes,confidence_no,confidence_yes\n"
        '"he(A,alpha,B), next_s(A,C), st(C,plus,B)",2,6,0,6,0.0,1.0\n'
        "wet,1,20,10,10,0.5,0.5\n"
    )


def test_json_lines_hold_one_object_a_pattern(six, tmp_path):
    path = tmp_path / "patterns.jsonl"
    six[2:4].to_jsonl(path)
    first, second = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert first == {
        "pattern": TEXTS[2],
        "length": 2,
        "frequency": 8,
        "support": {"no": 2, "yes": 6},
        "confidence": {"no": 0.25, "yes": 0.75},
    }
    assert second["pattern"] == TEXTS[3]


def test_parquet_reads_back_as_the_frame(six, tmp_path):
    polars = pytest.importorskip("polars")
    path = tmp_path / "patterns.parquet"
    six.to_parquet(path, measures=["chi2"])
    assert polars.read_parquet(path).equals(six.to_frame("polars", measures=["chi2"]))


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_file_appears_whole_or_not_at_all(six, tmp_path, monkeypatch, ending):
    if ending == "parquet":
        pytest.importorskip("polars")
    path = tmp_path / f"patterns.{ending}"
    path.write_text("old")

    def broken(*args):
        raise RuntimeError("broken")
        yield

    monkeypatch.setattr(pattern_tables, "chunks", broken)
    monkeypatch.setattr(pattern_tables, "json_rows", broken)
    with pytest.raises(RuntimeError, match="broken"):
        getattr(six, f"to_{ending}")(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_is_named(six, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(rx.InputError) as error:
        six.to_csv("nowhere/patterns.csv")
    assert str(error.value) == (
        "nowhere/patterns.csv: this file cannot be written (No such file or directory)"
    )


# What people see


def test_repr_shows_the_first_patterns_and_how_many_there_are(six):
    assert repr(six[[0, 5]]) == (
        "pattern        length  frequency  no  yes\n"
        "he(A,alpha,B)       1         12   4    8\n"
        "wet                 1         20  10   10\n"
        "2 patterns; complete up to length 3"
    )


def test_repr_of_a_long_partial_set_says_so():
    rows = [(-1, f"p(A,{i})", (1, 1)) for i in range(1200)]
    patterns = PatternSet(trie_of(rows), complete_up_to=0, partial="time_limit=5")
    lines = repr(patterns).splitlines()
    assert len(lines) == 12
    assert lines[-1] == "1,200 patterns, 10 shown; complete up to length 0; partial: time_limit=5"


def test_repr_of_an_empty_set_is_one_line(six):
    assert repr(six[:0]) == "0 patterns; complete up to length 3"


def test_html_is_escaped():
    patterns = PatternSet(trie_of([(-1, "p(A,'<b>&')", (1, 2))], classes=("<i>", "yes")))
    assert patterns._repr_html_() == (
        "<table><thead><tr><th>pattern</th><th>length</th><th>frequency</th><th>&lt;i&gt;</th>"
        "<th>yes</th></tr></thead><tbody><tr><td>p(A,&#x27;&lt;b&gt;&amp;&#x27;)</td><td>1</td>"
        "<td>3</td><td>1</td><td>2</td></tr></tbody></table>"
        "<p>1 pattern; complete up to length 0</p>"
    )


# Why so few


def test_the_search_is_explained_level_by_level():
    report = SearchReport(
        (
            SearchLevel(1, 12, 0, 4, 0, 8, nearest_support=0.08333333, n_nearest_support=1),
            SearchLevel(
                2,
                3000,
                1000,
                1500,
                495,
                5,
                nearest_support=0.09,
                nearest_frequency=4,
                n_nearest_support=1200,
                n_nearest_frequency=2,
            ),
            SearchLevel(3, 4, 0, 0, 1, 0),
            SearchLevel(4, 0, 0, 0, 0, 0),
        ),
        {"posconstraint": 1, "min_confidence": 1200, "closed": 0},
    )
    patterns = PatternSet(trie_of([]), complete_up_to=2, partial="time_limit=5", report=report)
    assert patterns.explain_search() == (
        "length 1: 12 candidates occurred, 4 below min_support, 8 kept\n"
        "    min_support=0.0833 would keep more: 1 candidate reached it\n"
        "length 2: 3,000 candidates occurred, 1,000 below min_frequency, 1,500 below min_support, "
        "495 against a constraint of the bias, 5 kept\n"
        "    min_frequency=4 would keep more: 2 candidates reached it\n"
        "    min_support=0.09 would keep more: 1,200 candidates reached it\n"
        "length 3: 4 candidates occurred, 1 against a constraint of the bias, 3 found before, "
        "0 kept\n"
        "length 4: no candidate occurs in the sequences\n"
        "posconstraint removed 1 pattern from the result\n"
        "min_confidence removed 1,200 patterns from the result\n"
        "the search stopped early: time_limit=5\n"
        "the result is complete up to length 2"
    )


def test_a_set_without_a_report_says_that_nothing_was_searched(six):
    assert six.explain_search() == "nothing was searched\nthe result is complete up to length 3"
