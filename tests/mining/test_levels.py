"""Searches by a budget: what they keep of each length is what `mine` finds, each coverage once."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from languages import shuffled, solved_language

import relynx as rx
from relynx.bias import Bias
from relynx.mining import _level_kernels as kernels
from relynx.mining import levels
from relynx.mining.levels import mine_at, mine_levels, sequence_sizes
from relynx.mining.search import mine
from relynx.search_settings import SearchSettings

LETTERS = SearchSettings(max_length=3)


def letters(n=24, seed=0, size=6):
    rng = np.random.default_rng(seed)
    lists = [rng.choice(list("abcd"), size=rng.integers(1, size)).tolist() for _ in range(n)]
    return rx.from_lists(lists)[0]


@pytest.fixture(scope="module")
def data():
    X = letters()
    return X, Bias.infer(X)


def columns_of(level, n):
    """The rows of each pattern, as sets."""
    parts = np.split(level.rows, level.offset[1:-1]) if len(level.patterns) else []
    return [frozenset(part.tolist()) for part in parts]


def span_of(pattern):
    """How many steps its links go beyond the next event; `follow` counts as three."""
    steps = [
        {"next": 1, "follow": 3}.get(atom.predicate.split("_")[0]) or atom.args[0]
        for atom in pattern.atoms
        if atom.predicate.startswith(("next_", "follow_", "followat_"))
    ]
    return sum(steps) - len(steps)


def found_at(X, bias, settings, length, least):
    """What the patterns of a length cover, each once, in the order of `mine`: of those that cover
    the same sequences the first of the shortest links."""
    how = settings.arguments() | {"min_frequency": least, "min_support": 0.0, "max_length": length}
    found = mine(X, np.zeros(len(X), int), bias, **how, keep_coverage=True)
    found = found[found.lengths == length]
    columns = [frozenset(np.flatnonzero(c).tolist()) for c in found.training_coverage().T]
    spans = [span_of(entry.pattern) for entry in found]
    stays = {}
    for i in sorted(range(len(columns)), key=lambda i: (spans[i], i)):
        stays.setdefault(columns[i], i)
    return [columns[i] for i in sorted(stays.values())], len(columns)


def texts_of(found):
    return [list(level.patterns.texts()) for level in found]


# The kernels


@st.composite
def bits(draw):
    n, width = draw(st.integers(0, 6)), draw(st.integers(1, 3))
    word = st.integers(0, (1 << 64) - 1) | st.sampled_from([0, 1, 1 << 63, (1 << 64) - 1])
    words = draw(st.lists(st.lists(word, min_size=width, max_size=width), min_size=n, max_size=n))
    return np.array(words, np.uint64).reshape(n, width)


@pytest.mark.kernels
@given(bits())
def test_the_rows_of_bits_are_their_places(words):
    places = [
        64 * w + bit
        for row in words.tolist()
        for w, word in enumerate(row)
        for bit in range(64)
        if word >> bit & 1
    ]
    assert kernels.rows_of_bits(words, np.empty(len(places), np.int32)).tolist() == places


@pytest.mark.kernels
@given(bits())
def test_hashes_are_equal_for_equal_bits_alone(words):
    multipliers = np.random.default_rng(0).integers(1 << 62, 1 << 63, 3, np.uint64) | np.uint64(1)
    many = np.concatenate([words, words])
    numbers = kernels.hashes(many, multipliers[: words.shape[1]], np.empty(len(many), np.uint64))
    assert numbers[: len(words)].tolist() == numbers[len(words) :].tolist()
    assert len(set(numbers.tolist())) == len(set(map(tuple, words.tolist())))


# What is kept


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_each_length_has_what_mine_finds_and_each_coverage_once(seed):
    X = letters(seed=seed)
    bias = Bias.infer(X)
    seen = {frozenset(range(len(X)))}
    found = mine_levels(X, bias, LETTERS)
    assert len(found) == 3
    for length, level in enumerate(found, 1):
        expected = [
            one
            for one in found_at(X, bias, LETTERS, length, level.min_frequency)[0]
            if one not in seen
        ]
        assert columns_of(level, len(X)) == expected
        assert set(level.patterns.lengths.tolist()) <= {length}
        seen |= set(expected)


@pytest.mark.parametrize("seed", [0, 4, 12, 16])
def test_each_length_of_a_random_language_has_what_mine_finds(seed):
    language, _ = solved_language(seed)
    X, bias = language.X, language.bias
    settings = SearchSettings.of(bias, max_length=2)
    seen = {frozenset(range(len(X)))}
    for level in mine_levels(X, bias, settings):
        length = int(level.found.lengths.max(initial=1))
        expected = set(found_at(X, bias, settings, length, level.min_frequency)[0]) - seen
        assert sorted(map(sorted, columns_of(level, len(X)))) == sorted(map(sorted, expected))
        seen |= expected


def test_the_rows_are_those_that_a_matcher_covers(data):
    X, bias = data
    for level in mine_levels(X, bias, LETTERS):
        covered = level.patterns.coverage(X)
        for i, column in enumerate(covered.T):
            rows = level.rows[level.offset[i] : level.offset[i + 1]]
            assert rows.tolist() == np.flatnonzero(column).tolist()


def test_short_patterns_need_two_sequences(data):
    X, bias = data
    assert [level.min_frequency for level in mine_levels(X, bias, LETTERS)] == [2, 2, 2]


def test_no_pattern_covers_all_sequences():
    X = rx.from_lists([["a", "b"], ["a", "c"], ["a", "b"]])[0]
    for level in mine_levels(X, Bias.infer(X), LETTERS):
        assert (np.diff(level.offset) < 3).all()
        assert (np.diff(level.offset) >= 2).all()


def test_the_sizes_of_sequences_are_numbers_of_facts():
    X = rx.from_lists([["a", "b"], ["a"], []])[0]
    assert sequence_sizes(X, LETTERS.object_identity).tolist() == [3, 1, 0]  # `next` is one, too


# The budget


def test_a_small_budget_asks_for_more_sequences(data):
    X, bias = data
    full, small = (mine_levels(X, bias, LETTERS, budget=one) for one in (1.0, 1e-4))
    least = [level.min_frequency for level in small]
    assert least == sorted(least)
    assert least[-1] > 2
    assert sum(len(one.patterns) for one in small) < sum(len(one.patterns) for one in full)


@pytest.mark.parametrize(
    ("name", "most"), [("LOOKS", 800), ("MOST_PATTERNS", 20), ("MOST_ONES", 100)]
)
def test_each_part_of_the_budget_limits(data, monkeypatch, name, most):
    X, bias = data
    monkeypatch.setattr(levels, name, most)
    found = mine_levels(X, bias, LETTERS)
    assert max(level.min_frequency for level in found) > 2
    if name == "MOST_PATTERNS":
        assert all(len(level.found) <= most for level in found)
    if name == "MOST_ONES":
        assert all(level.found.frequencies.sum() <= most for level in found)


def test_a_search_that_finds_too_many_is_given_up_and_tried_again(data, monkeypatch):
    X, bias = data
    monkeypatch.setattr(levels, "MOST_PATTERNS", 10)
    found = mine_levels(X, bias, LETTERS)
    assert all(len(level.found) <= 10 for level in found)
    for length, level in enumerate(found, 1):
        _, n = found_at(X, bias, LETTERS, length, level.min_frequency)
        assert len(level.found) == n


def test_a_budget_of_next_to_nothing_leaves_one_level_without_patterns(data):
    X, bias = data
    (only,) = mine_levels(X, bias, LETTERS, budget=1e-9)
    assert (len(only.patterns), only.rows.tolist(), only.offset.tolist()) == (0, [], [0])


def test_more_scores_leave_room_for_fewer_columns(data, monkeypatch):
    X, bias = data
    monkeypatch.setattr(levels, "MOST_ONES", 1000)
    one, many = (mine_levels(X, bias, LETTERS, n_scores=n) for n in (1, 40))
    assert sum(len(level.rows) for level in many) < sum(len(level.rows) for level in one)
    assert all(level.found.frequencies.sum() <= 100 for level in many)


# The same data, the same patterns


@pytest.mark.parametrize("seed", [0, 4, 12])
def test_the_order_of_facts_changes_nothing(seed):
    language, _ = solved_language(seed)
    settings = SearchSettings.of(language.bias, max_length=2)
    other = shuffled(language, Random(seed))
    one = mine_levels(language.X, language.bias, settings)
    again = mine_levels(other.X, other.bias, settings)
    assert [level.min_frequency for level in one] == [level.min_frequency for level in again]
    assert texts_of(one) == texts_of(again)


def test_threads_change_nothing(data):
    X, bias = data
    one, two = (mine_levels(X, bias, LETTERS, budget=1e-3, n_jobs=n) for n in (1, 2))
    assert texts_of(one) == texts_of(two)
    for a, b in zip(one, two, strict=True):
        assert a.rows.tolist() == b.rows.tolist()


# Languages of which one might not think


def test_without_frequent_patterns_there_is_one_empty_level():
    X = rx.from_lists([["a"], ["b"], ["c"]])[0]
    (only,) = mine_levels(X, Bias.infer(X), LETTERS)
    assert (len(only.patterns), len(only.found), only.offset.tolist()) == (0, 0, [0])


def test_equal_sequences_have_patterns_that_are_not_kept():
    X = rx.from_lists([["a", "b"]] * 4)[0]
    found = mine_levels(X, Bias.infer(X), LETTERS)
    assert all(len(level.patterns) == 0 for level in found)
    assert len(found[0].found) == 2


def test_a_posconstraint_of_two_atoms_does_not_end_the_search_at_one():
    X, _ = rx.from_lists([["a", "b"], ["b", "a"], ["a", "c"], ["c", "a", "b"]] * 5, ["u"] * 20)
    bias = rx.parse_bias(
        "type(a(event)). mode(a(+)). type(b(event)). mode(b(+)). dimension(next_s). maxsize(2).\n"
        "posconstraint([a(X),next_s(X,Y),b(Y)])."
    )
    found = mine_levels(X, bias, SearchSettings.of(bias))
    assert texts_of(found) == [[], ["a(A), next_s(A,B), b(B)"]]


def test_the_data_say_how_far_steps_reach(data, monkeypatch):
    X, bias = data

    def gaps():
        return [one.max_gap for one in mine_levels(X, bias, LETTERS, any_gap=True)]

    assert [one.max_gap for one in mine_levels(X, bias, LETTERS)] == [2] * 3
    assert gaps() == [10, 1, 1, 10, 10]  # stretches of two and three events come before
    links = int(mine_levels(X, bias, LETTERS)[0].found.frequencies.sum())
    for gap in (7, 5, 3, 2):
        monkeypatch.setattr(levels, "MOST_LINKS", links * gap)
        assert gaps()[0] == gap
    monkeypatch.setattr(levels, "MOST_LINKS", 0)
    assert gaps()[0] == 2


@pytest.mark.parametrize(
    ("name", "most", "lengths"),
    [("LONGEST", 5, 4), ("LONGEST", 3, 3), ("MOST_PATTERNS", 80, 2), ("LOOKS", 400, 2)],
)
def test_patterns_are_longer_while_there_is_room_for_all(data, monkeypatch, name, most, lengths):
    X, bias = data
    settings = SearchSettings(max_length=2, max_gap=1)
    monkeypatch.setattr(levels, name, most)
    plain = mine_levels(X, bias, settings)
    longer = mine_levels(X, bias, settings, any_length=True)
    assert texts_of(longer[:2]) == texts_of(plain)
    assert len(longer) == lengths
    assert all(level.min_frequency == 2 for level in longer[2:])
    for length, level in enumerate(longer[2:], 3):
        assert len(level.found) == found_at(X, bias, settings, length, 2)[1]


# Stretches


def ngrams(lists, n):
    """The sequences that hold each n-gram."""
    found = {}
    for i, events in enumerate(lists):
        for start in range(len(events) - n + 1):
            found.setdefault(tuple(events[start : start + n]), set()).add(i)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_stretches_are_the_ngrams_of_lists(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    lists = [rng.choice(list("abc"), size=rng.integers(1, 9)).tolist() for _ in range(30)]
    X, _ = rx.from_lists(lists)
    monkeypatch.setattr(levels, "LOOKS", 10**12)
    near = [o for o in mine_levels(X, Bias.infer(X), LETTERS, any_gap=True) if o.is_apart]
    for n, level in zip((2, 3), near, strict=True):
        expected = {gram: len(rows) for gram, rows in ngrams(lists, n).items() if len(rows) >= 2}
        got = {
            tuple(atom.predicate for atom in entry.pattern.atoms if len(atom.args) == 1): sum(
                entry.support.values()
            )
            for entry in level.found
        }
        assert got == expected


def test_stretches_are_searched_in_one_dimension_without_a_bias_alone(data):
    X, bias = data
    assert not any(one.is_apart for one in mine_levels(X, bias, LETTERS))
    folds = rx.load_protein_folds()
    some = folds.X[:40]
    found = mine_levels(some, Bias.infer(some), SearchSettings(max_length=2), any_gap=True)
    assert not any(one.is_apart for one in found)


def test_stretches_have_a_minimum_frequency_of_their_own(data, monkeypatch):
    X, bias = data
    monkeypatch.setattr(levels, "LOOKS", 800)
    found = mine_levels(X, bias, LETTERS, any_gap=True)
    assert [(o.is_apart, o.min_frequency) for o in found[1:]] == [
        (True, 2),
        (True, 2),
        (False, 2),
        (False, 4),
    ]


def test_spans_are_sums_of_steps_beyond_the_next_event(data):
    X, bias = data
    found = mine(X, np.zeros(len(X), int), bias, max_length=3, max_gap=4, min_support=0)
    expected = [span_of(entry.pattern) for entry in found]
    assert levels.spans(found).tolist() == expected
    assert {0, 1, 2, 3, 4} <= set(expected)


def test_of_patterns_of_equal_coverage_the_one_of_shortest_links_stays():
    X, _ = rx.from_lists([["a", "b"], ["a", "b"], ["a", "c"], ["b", "a"]])
    level = mine_levels(X, Bias.infer(X), SearchSettings(max_length=2))[1]
    assert "a(A), next_s(A,B), b(B)" in level.patterns.texts()
    assert "a(A), follow_s(A,B), b(B)" not in level.patterns.texts()


def test_thresholds_are_used_as_they_are(data):
    X, bias = data
    y = np.arange(len(X)) % 2
    settings = SearchSettings(max_length=2, min_support=0.3, min_frequency=5)
    (only,) = mine_at(X, y, bias, settings, None)
    found = mine(X, y, bias, **settings.arguments(), keep_coverage=True)
    assert [*only.found.texts()] == [*found.texts()]
    columns = [frozenset(np.flatnonzero(c).tolist()) for c in found.training_coverage().T]
    expected = [one for one in dict.fromkeys(columns) if len(one) < len(X)]
    assert columns_of(only, len(X)) == expected
    assert only.min_frequency == found.frequencies.min()


def test_thresholds_that_nothing_meets_leave_an_empty_level(data):
    X, bias = data
    settings = SearchSettings(min_frequency=1000)
    (only,) = mine_at(X, np.zeros(len(X), int), bias, settings, None)
    assert (len(only.patterns), only.offset.tolist()) == (0, [0])
