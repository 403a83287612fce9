"""Plots: what is drawn is what was found, and no name of the user breaks one."""

import builtins
import io
import re
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt

import relynx as rx
from relynx.mining.wording import in_words, names_of
from relynx.models.evaluation.cross_validation import cross_validate
from relynx.plots import canvas, layout
from relynx.plots.layout import in_order, levels

matplotlib.use("Agg")
HOSTILE = [
    "$x_1$",
    "a_b^2$",
    "\\frac{",
    "<b>&",
    "_hidden",
    "שלום",
    "\u202erevo",
    "a\nb\x00",
    "%s{0}",
]


@pytest.fixture(autouse=True)
def settings_as_they_were():
    before = dict(matplotlib.rcParams)
    yield
    plt.close("all")
    assert dict(matplotlib.rcParams) == before


@pytest.fixture(scope="module")
def planted():
    return rx.planted_rule(60, random_state=0)


@pytest.fixture(scope="module")
def folds():
    return rx.load_protein_folds()


@pytest.fixture(scope="module")
def five(folds):
    """A quick model of five classes, so ten pairs."""
    chosen = np.arange(0, 966, 12)
    model = rx.LynxClassifier(folds.bias, max_length=2, max_iter=5, n_features=4, random_state=0)
    return model.fit(folds.X[chosen], folds.y[chosen])


def drawn(ax, form="png"):
    """Render the figure, so that everything in it has been laid out and drawn."""
    buffer = io.BytesIO()
    ax.figure.savefig(buffer, format=form, dpi=40)
    return buffer.getvalue()


def message(call):
    with pytest.raises((rx.InputError, TypeError)) as error:
        call()
    return str(error.value)


def marked_with(ax, beginning):
    """The artists whose name begins so, without that beginning."""
    artists = [*ax.patches, *ax.lines]
    names = [str(artist.get_gid()) for artist in artists]
    return [name[len(beginning) :].strip() for name in names if name.startswith(beginning)]


# Patterns


def test_a_bar_is_the_share_of_a_class_that_a_pattern_covers(planted):
    X, y = planted
    found = rx.mine(X, y, max_length=2)
    ax = rx.plot_patterns(found, n=7)
    assert len(ax.containers) == 2
    assert [len(bars) for bars in ax.containers] == [7, 7]
    for i, label in enumerate(ax.get_yticklabels()):
        covered = rx.covers(label.get_text().replace("\n", " "), X)
        for bars, name in zip(ax.containers, found.classes, strict=True):
            assert bars[i].get_width() == pytest.approx(covered[y == name].mean())


def test_the_classes_take_turns_and_the_first_pattern_is_above(planted):
    X, y = planted
    found = rx.mine(X, y, max_length=2)
    ax = rx.plot_patterns(found, n=4, measure="wracc")
    shares = np.array([[bar.get_width() for bar in bars] for bars in ax.containers])
    assert shares.argmax(axis=0).tolist() == [0, 1, 0, 1]
    low, high = ax.get_ylim()
    assert low > high
    ticks = ax.get_yticks()
    assert (np.diff(ticks) > 0).all()


def test_the_longest_bar_tells_its_counts(planted):
    X, y = planted
    found = rx.mine(X, y, max_length=2)
    ax = rx.plot_patterns(found, n=3)
    for i, text in enumerate(ax.texts):
        count, size = map(int, text.get_text().split(" of "))
        assert count / size == max(bars[i].get_width() for bars in ax.containers)


def test_the_legend_names_the_classes_and_how_large_they_are():
    X, y = rx.from_lists([["a"], ["a"], ["b"]], ["_x", "_x", "$y$"])
    legend = rx.plot_patterns(rx.mine(X, y, max_length=1)).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["$y$ (1)", "_x (2)"]


def test_without_classes_there_is_one_bar_and_no_legend():
    X, _ = rx.from_lists([["a"], ["a"], ["b"]])
    ax = rx.plot_patterns(rx.mine(X, max_length=1))
    assert len(ax.containers) == 1
    assert ax.get_legend() is None


def test_of_many_classes_the_two_most_covered_are_drawn_by_name():
    labels = [f"c{i}" for i in range(9)]
    X, y = rx.from_lists([["a", f"b{i}"] for i in range(9)], labels)
    ax = rx.plot_patterns(rx.mine(X, y, max_length=1, min_support=1).filter(min_confidence=1.0))
    assert len(ax.containers) == 2
    firsts, seconds = ax.containers
    assert [bar.get_width() for bar in firsts] == [1.0] * 9
    assert [bar.get_width() for bar in seconds] == [0.0] * 9
    assert [text.get_text() for text in ax.texts[:9]] == [f"c{i}: 1 of 1" for i in range(9)]


def test_patterns_can_be_told_in_words(planted):
    X, y = planted
    found = rx.mine(X, y, max_length=1).filter(max_length=1)[:1]
    bias = rx.Bias.infer(X)
    wanted = {words: rx.plot_patterns(found, words=words) for words in (True, bias)}
    for words, ax in wanted.items():
        told = in_words(found[0].pattern, None if words is True else bias)
        assert ax.get_yticklabels()[0].get_text() == told


def test_a_long_pattern_takes_several_lines_and_so_more_room():
    X, y = rx.from_lists([["a" * 30, "b" * 30], ["c"]], ["u", "v"])
    ax = rx.plot_patterns(rx.mine(X, y, max_length=2))
    lines = [label.get_text().count("\n") + 1 for label in ax.get_yticklabels()]
    ends = [line.get_ydata()[0] for line in ax.lines]
    heights = np.diff([0, *ends, ax.get_ylim()[0]])
    assert max(lines) > 1
    assert np.argmax(heights) == np.argmax(lines)
    assert (
        max(len(part) for label in ax.get_yticklabels() for part in label.get_text().split()) < 47
    )


def test_patterns_of_a_table_are_labelled_by_its_columns():
    table = {"Job": [1, 1, 2, 2], "Part Desc.": ["a", "b", "b", "c"], "Back": list("yynn")}
    X, y = rx.from_events(table, sequence="Job", label="Back")
    found = rx.mine(X, y, max_length=1)
    ax = rx.plot_patterns(found, words=True, reading=X.reading)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert "an event with Part Desc. a" in labels


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda s: rx.plot_patterns(list(s)),
            "patterns is a list: give a PatternSet, as mine returns it",
        ),
        (
            lambda s: rx.plot_patterns(s[:0]),
            "there are no patterns to draw\nhint: explain_search() of the set says why",
        ),
        (lambda s: rx.plot_patterns(s, n=0), "n is 0\nhint: give a number of patterns, 1 or more"),
        (
            lambda s: rx.plot_patterns(s, words="yes"),
            "words is 'yes'\nhint: give True, False or a Bias",
        ),
        (
            lambda s: rx.plot_patterns(s, words=True, reading="Step"),
            "reading is a str\nhint: give X.reading, or reading_ of a model",
        ),
        (
            lambda s: rx.plot_patterns(s, measure="chi"),
            "unknown measure 'chi': did you mean 'chi2'?",
        ),
    ],
)
def test_what_cannot_be_drawn_as_patterns_is_refused(planted, call, text):
    X, y = planted
    assert message(lambda: call(rx.mine(X, y, max_length=1))) == text


# Sequences


def test_every_event_is_a_box_with_its_facts(planted):
    X, _ = planted
    ax = rx.plot_sequence(X[0])
    assert marked_with(ax, "event") == [str(i) for i in range(8)]
    assert marked_with(ax, "match") == []
    texts = [text.get_text() for text in ax.texts]
    for atom in X[0].atoms:
        if atom.predicate == "do":
            assert texts[texts.index(atom.args[0]) - 3 :][:3] == ["do", *atom.args[1:]]


@settings(max_examples=15)
@given(st.integers(0, 59), st.integers(0, 3))
def test_the_marked_boxes_are_the_events_of_the_match(i, number):
    X, _ = rx.planted_rule(60, random_state=0)
    pattern = "do(A,B,C), follow_s(A,D), do(D,E,C)"
    found = rx.match(pattern, X[i])
    assume(number < len(found))
    ax = rx.plot_sequence(X[i], pattern, match=number)
    wanted = {int(found[number][name][1:]) - 1 for name in "AD"}
    assert {int(place) for place in marked_with(ax, "match")} == wanted
    assert marked_with(ax, "relation") == [
        " ".join(str(int(found[number][n][1:]) - 1) for n in "AD")
    ]
    names = {text.get_text() for text in ax.texts}
    assert {f"{name} = {found[number][name]}" for name in "AD"} <= names
    bindings = ", ".join(f"{name} = {value}" for name, value in found[number].items())
    assert (
        ax.get_title(loc="left")
        .replace("\n", " ")
        .endswith(f"match {number + 1} of {len(found)}: {bindings}")
    )
    plt.close(ax.figure)


def test_each_dimension_but_the_first_is_a_lane_with_its_links(folds):
    sequence = folds.X[0]
    ax = rx.plot_sequence(sequence)
    place = {f"e{i + 1}": i for i in range(11)}
    wanted = {
        f"{atom.predicate[5:]} {place[atom.args[0]]} {place[atom.args[1]]}"
        for atom in sequence.atoms
        if atom.predicate in ("next_b", "next_h")
    }
    assert len(wanted) == 8
    assert set(marked_with(ax, "link")) == wanted


def test_the_first_dimension_named_orders_the_strip(folds):
    ax = rx.plot_sequence(folds.X[0], dimensions=["h"])
    names = [text.get_text() for text in ax.texts if re.fullmatch(r"e\d+", text.get_text())]
    assert names[:5] == ["e3", "e1", "e5", "e7", "e9"]
    assert sorted(names) == sorted(f"e{i}" for i in range(1, 12))
    assert marked_with(ax, "link") == []


def test_what_rules_derive_is_shown_where_the_pattern_asks_for_it(folds):
    pattern = "strand(A), next_b(A,B), sense(B,plus), neighbour(A,B)"
    plain, asked = rx.plot_sequence(folds.X[0]), rx.plot_sequence(folds.X[0], pattern)
    before, after = ([text.get_text() for text in ax.texts] for ax in (plain, asked))
    assert "strand" not in before
    assert after.count("strand") == after.count("sense") == 1
    assert "next_b, neighbour" in after


def test_a_long_strip_goes_on_in_rows_and_links_between_them_name_the_other_end():
    X, _ = rx.from_lists([["a"] * 30])
    ax = rx.plot_sequence(X[0], "followat_s(25,A,B), a(A)")
    boxes = [patch for patch in ax.patches if patch.get_gid()]
    assert len(boxes) == 30
    assert len({round(box.get_y(), 3) for box in boxes}) > 1
    texts = [text.get_text() for text in ax.texts]
    assert "followat_s 25 to e26" in texts
    assert "followat_s 25 from e1" in texts
    assert marked_with(ax, "stub") == ["0", "25"]


def test_of_too_many_rows_those_with_the_match_are_drawn(monkeypatch):
    monkeypatch.setattr(layout, "MOST_ROWS", 2)
    X, _ = rx.from_lists([["a"] * 99 + ["b"]])
    ax = rx.plot_sequence(X[0], "b(A)")
    assert marked_with(ax, "match") == ["99"]
    places = {int(place) for place in marked_with(ax, "event")}
    assert 0 in places
    assert 50 not in places
    notes = [t.get_text() for t in ax.texts if t.get_text().endswith("not drawn ...")]
    [number] = re.fullmatch(r"\.\.\. (\d+) events not drawn \.\.\.", notes[0]).groups()
    assert len(notes) == 1
    assert int(number) == 100 - len(places) - 1


def test_an_event_alone_is_drawn():
    X, _ = rx.from_lists([["a"], ["a", "b"]])
    assert marked_with(rx.plot_sequence(X[0], "a(A)"), "match") == ["0"]


def test_a_circle_and_a_loop_are_drawn():
    links = ["next_s(a,b)", "next_s(b,a)", "next_s(c,c)", "p(a)"]
    X = rx.Sequences.from_atoms([map(rx.parse_atom, links)])
    ax = rx.plot_sequence(X[0])
    drawn(ax)
    assert marked_with(ax, "event") == ["0", "1", "2"]
    assert marked_with(ax, "link") == ["s 1 0", "s 2 2"]


def test_variables_for_one_event_stand_before_it_together():
    X, _ = rx.from_lists([["a", "b"]])
    ax = rx.plot_sequence(X[0], "a(A), a(B)", object_identity=False)
    assert "A = B = e1" in [text.get_text() for text in ax.texts]


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=12))
def test_every_event_has_one_place_and_chains_are_in_order(links):
    order = in_order(range(9), links)
    assert sorted(order) == list(range(9))
    forward = [(x, y) for x, y in links if x < y]  # no circle
    order = in_order(range(9), forward)
    assert all(order.index(x) < order.index(y) for x, y in forward)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=8, unique=True))
def test_arcs_that_overlap_are_on_different_levels(links):
    arcs = levels((link, "r") for link in links)
    assert sorted(arc.ends for arc in arcs) == sorted(links)
    for a in arcs:
        for b in arcs:
            if a is not b and min(a.ends) < max(b.ends) and min(b.ends) < max(a.ends):
                assert a.level != b.level


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda X: rx.plot_sequence(X[0], "a(A), next_s(A,B), a(B)"),
            "the pattern does not cover the sequence s1: a(A), next_s(A,B), a(B)\n"
            "hint: relynx.covers(pattern, X) says which sequences it covers",
        ),
        (
            lambda X: rx.plot_sequence(X[0], "a(A)", match=2),
            "match is 2: the pattern has 2 matches in the sequence s1\n"
            "hint: give a number from 0 to 1",
        ),
        (
            lambda X: rx.plot_sequence(X[0], "b(A)", match=1),
            "match is 1: the pattern has 1 match in the sequence s1\nhint: give 0",
        ),
        (
            lambda X: rx.plot_sequence(X[0], "a(A)", match=-1),
            "match is -1\nhint: give the number of a match, 0 for the first",
        ),
        (lambda X: rx.plot_sequence(X), "sequence is 2 sequences\nhint: give one of them: X[i]"),
        (lambda X: rx.plot_sequence(["a"]), "sequence is a list: give one sequence, X[i]"),
        (
            lambda X: rx.plot_sequence(X[0], dimensions="s"),
            "dimensions is 's'\nhint: give a list of names",
        ),
        (
            lambda X: rx.plot_sequence(X[0], dimensions=["time"]),
            "unknown dimension 'time'\nhint: give some of s",
        ),
        (
            lambda X: rx.plot_sequence(rx.Sequences.from_atoms([[rx.Atom("wet", ())]])[0]),
            "the sequence s1 has no events to draw\nhint: print it to see its facts",
        ),
        (
            lambda X: rx.plot_sequence(
                rx.Sequences.from_atoms([[rx.Atom("wet", ("e",))]])[0], dimensions=["s"]
            ),
            "unknown dimension 's'\nhint: the sequence has none",
        ),
    ],
)
def test_what_cannot_be_drawn_as_a_strip_is_refused(call, text):
    X, _ = rx.from_lists([["a", "b", "a"], ["a"]])
    assert message(lambda: call(X)) == text


# GRASP


def fitted(objective="errors"):
    rng = np.random.default_rng(0)
    X, y = rng.integers(2, size=(40, 12)), rng.integers(2, size=40)
    return rx.GraspSelector(8, n_features=3, objective=objective, random_state=0).fit(X, y)


def test_the_rounds_of_a_selector_are_points():
    selector = fitted()
    ax = rx.plot_grasp(selector)
    points = ax.collections[1]
    wanted = [(one.round + 1, one.error) for one in selector.history_]
    assert points.get_offsets().tolist() == [list(pair) for pair in wanted]
    assert points.get_array().tolist() == [one.alpha for one in selector.history_]
    gains = [segment.tolist() for segment in ax.collections[0].get_segments()]
    assert gains == [
        [[r.round + 1, r.error], [r.round + 1, r.error_built]] for r in selector.history_
    ]
    sizes = [one.size for one in selector.history_]
    areas = points.get_sizes()
    assert np.argsort(areas, kind="stable").tolist() == np.argsort(sizes, kind="stable").tolist()


def test_the_line_is_the_fewest_errors_so_far():
    selector = fitted("balanced")
    ax = rx.plot_grasp(selector)
    line = ax.lines[0].get_ydata()
    assert line[-1] == selector.objective_
    assert line.tolist() == np.minimum.accumulate([r.error for r in selector.history_]).tolist()
    assert ax.get_ylabel() == "mean error of the classes on the training sequences"


def test_a_model_of_pairs_has_a_line_for_each(five):
    ax = rx.plot_grasp(five)
    assert len(ax.lines) == 10
    left = sorted(model.selector.objective_ for model in five.estimators_)
    assert sorted(line.get_ydata()[-1] for line in ax.lines) == left
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(names) == 8
    assert names[-1] == "3 other pairs"
    most = max(five.estimators_, key=lambda model: model.selector.objective_)
    assert names[0] == f"{' and '.join(most.classes)}: {left[-1]:g}"


@pytest.mark.parametrize("pair", [("c.1", "c.23"), ("c.23", "c.1")])
def test_one_pair_can_be_chosen_in_any_order(five, pair):
    ax = rx.plot_grasp(five, pair=pair)
    assert ax.get_title(loc="left") == "c.1 and c.23"
    errors = [one.error for one in five.estimators_[1].selector.history_]
    assert ax.collections[1].get_offsets()[:, 1].tolist() == errors


def test_pairs_whose_names_run_together_stay_apart():
    X, y = rx.from_lists([["p"], ["q"], ["r"], ["t"]] * 5, ["a", "b and c", "a and b", "c"] * 5)
    model = rx.LynxClassifier(max_length=1, max_iter=2, n_features=2, random_state=0).fit(X, y)
    assert len(rx.plot_grasp(model).lines) == 6


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda m: rx.plot_grasp([1]),
            "selector_or_model is a list: give a GraspSelector or a LynxClassifier",
        ),
        (
            lambda m: rx.plot_grasp(rx.GraspSelector()),
            "the GraspSelector is not fitted\nhint: call fit first",
        ),
        (
            lambda m: rx.plot_grasp(rx.LynxClassifier()),
            "the LynxClassifier is not fitted\nhint: call fit first",
        ),
        (
            lambda m: rx.plot_grasp(fitted(), pair=("a", "b")),
            "pair is ('a', 'b')\nhint: a GraspSelector has no pairs",
        ),
        (
            lambda m: rx.plot_grasp(m, pair=("c.1", "c.3")),
            "pair is ('c.1', 'c.3')\nhint: give one of ('c.1', 'c.2'), ('c.1', 'c.23'), "
            "('c.1', 'c.37'), ('c.1', 'c.55'), ('c.2', 'c.23'), ('c.2', 'c.37'), ...",
        ),
    ],
)
def test_what_has_no_rounds_is_refused(five, call, text):
    assert message(lambda: call(five)) == text


@pytest.mark.parametrize(
    ("options", "pair", "text"),
    [
        (
            {"selection": None},
            None,
            "the model has selection=None: no patterns were selected\n"
            "hint: fit one with selection='grasp'",
        ),
        (
            {"multiclass": "single", "max_iter": 2},
            ("u", "v"),
            "pair is ('u', 'v')\nhint: leave it out: the model has one selection for all classes",
        ),
    ],
)
def test_a_model_without_such_a_search_says_so(options, pair, text):
    X, y = rx.from_lists([["a"], ["b"], ["c"]] * 4, ["u", "v", "w"] * 4)
    model = rx.LynxClassifier(max_length=1, n_features=None, **options).fit(X, y)
    assert message(lambda: rx.plot_grasp(model, pair=pair)) == text


def test_a_model_that_found_nothing_says_so():
    X, y = rx.from_lists([["a"], ["a"]] * 4, ["u", "v"] * 4)
    with pytest.warns(UserWarning, match="the prior decides"):
        model = rx.LynxClassifier(max_length=1).fit(X, y)
    assert message(lambda: rx.plot_grasp(model)) == (
        "no pattern was found for u and v: there was nothing to select from\n"
        "hint: fit a model with a smaller min_support"
    )


# Confusion

labels = st.sampled_from(["a", "b", "c", 1, 2.5, None])


@given(st.lists(st.tuples(labels, labels), min_size=1, max_size=12))
def test_a_cell_is_how_often_a_class_was_given_another(pairs):
    ax = rx.plot_confusion(*zip(*pairs, strict=True))
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [label.get_text() for label in ax.get_xticklabels()]
    n = len(names)
    counts = {(names[i // n], names[i % n]): t.get_text() for i, t in enumerate(ax.texts)}
    for (true, given_), text in counts.items():
        assert int(text) == sum((str(a), str(b)) == (true, given_) for a, b in pairs)
    assert sum(map(int, counts.values())) == len(pairs)
    plt.close(ax.figure)


def test_shares_are_those_of_the_row():
    ax = rx.plot_confusion(["a", "a", "a", "b"], ["a", "a", "b", "c"], normalize=True)
    texts = [text.get_text() for text in ax.texts]
    assert texts == ["67%", "33%", "0%", "0%", "0%", "100%", "0%", "0%", "0%"]
    assert ax.images[0].get_array()[0].tolist() == pytest.approx([2 / 3, 1 / 3, 0])


def test_the_diagonal_is_bold_and_has_frames():
    ax = rx.plot_confusion(["a", "b"], ["a", "b"])
    weights = [text.get_fontweight() for text in ax.texts]
    assert weights == ["bold", "normal", "normal", "bold"]
    assert [line.get_xdata().mean().round() for line in ax.lines] == [0, 1]


def test_a_cross_validation_is_drawn_as_it_is(planted):
    X, y = planted
    outcome = cross_validate(rx.LynxClassifier(max_length=1, selection=None), X, y, folds=2)
    ax = rx.plot_confusion(outcome)
    assert [int(text.get_text()) for text in ax.texts] == outcome.confusion.ravel().tolist()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["no", "yes"]


def test_a_large_matrix_leaves_out_the_noughts_beside_the_diagonal():
    names = [f"class number {i:02}" for i in range(40)]
    ax = rx.plot_confusion([*names, names[0]], [*names[1:], names[1], names[0]])
    assert len(ax.texts) == 40 + 40  # the diagonal, and 40 other cells
    drawn(ax)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda cv: rx.plot_confusion(["a"]),
            "y_pred is missing\nhint: give the classes predicted, or a CrossValidation alone",
        ),
        (
            lambda cv: rx.plot_confusion(cv, ["a"]),
            "y_pred is given besides a CrossValidation\n"
            "hint: give the CrossValidation alone, or two lists",
        ),
        (
            lambda cv: rx.plot_confusion(["a", "b"], ["a"]),
            "2 labels in y_true, 1 in y_pred\nhint: give one of each for every sequence",
        ),
        (lambda cv: rx.plot_confusion([], []), "y_true is empty\nhint: give at least one class"),
    ],
)
def test_what_is_no_pair_of_labels_is_refused(planted, call, text):
    X, y = planted
    outcome = cross_validate(rx.LynxClassifier(max_length=1, selection=None), X, y, folds=2)
    assert message(lambda: call(outcome)) == text


# All of them


def every_plot(names):
    """One plot of each kind with these names wherever a user may write one."""
    rows = [[(name, name), "a"] for name in names] * 2
    X, y = rx.from_lists(rows, [*names] * 2)
    X = rx.Sequences.from_atoms(
        [one.atoms for one in X], ids=[*names, *range(len(names))], labels=y
    )
    y = np.array(y)
    model = rx.LynxClassifier(max_length=1, max_iter=2, n_features=2, random_state=0).fit(X, y)
    pattern = model.patterns_[0]
    number = int(np.flatnonzero(rx.covers(pattern, X))[0])
    yield lambda ax: rx.plot_patterns(rx.mine(X, y, max_length=1), ax=ax)
    yield lambda ax: rx.plot_patterns(rx.mine(X, y, max_length=1), words=True, ax=ax)
    yield lambda ax: rx.plot_sequence(X[number], pattern, ax=ax)
    yield lambda ax: rx.plot_grasp(model, ax=ax)
    yield lambda ax: rx.plot_grasp(model, pair=tuple(model.classes_[:2]), ax=ax)
    yield lambda ax: rx.plot_confusion(y, y, ax=ax)


@pytest.mark.parametrize(
    ("names", "form"), [(HOSTILE[:5], "svg"), (HOSTILE[5:], "pdf"), (HOSTILE[:5], "png")]
)
def test_names_of_any_kind_are_drawn_as_they_are(names, form):
    for call in every_plot(names):
        ax = call(None)
        assert drawn(ax, form)
        plt.close(ax.figure)


def test_a_dollar_is_a_dollar_and_what_does_not_show_is_an_escape():
    ax = rx.plot_confusion(["$x$", "a\nb\u202e"], ["$x$", "a\nb\u202e"])
    names = ax.get_xticklabels()
    assert [name.get_text() for name in names] == ["$x$", r"a\nb\u202e"]
    assert not any(name.get_parse_math() or name.get_usetex() for name in names)


def texts_of(legend):
    return [text.get_text().replace("\n", " ") for text in legend.get_texts()]


def boxes_of(ax, artists):
    """Where artists are drawn, in pixels of the figure; and the figure itself."""
    ax.figure.canvas.draw()
    made = ax.figure.canvas.get_renderer()
    return [one.get_window_extent(made) for one in artists], ax.figure.bbox


@pytest.fixture(scope="module")
def long_names():
    """A quick model of five classes with names of forty letters."""
    names = [f"class number {i} with a very long name, in" for i in range(5)]
    assert {*map(len, names)} == {40}
    X, y = rx.from_lists([["a", f"b{i % 5}"] for i in range(50)], [names[i % 5] for i in range(50)])
    return names, rx.LynxClassifier(max_length=1, max_iter=2, random_state=0).fit(X, y)


def test_long_names_of_classes_leave_room_for_the_bars(long_names):
    names, model = long_names
    ax = rx.plot_patterns(model.selected_)
    legend = ax.get_legend()
    assert texts_of(legend) == [f"{name} (10)" for name in names]
    [place, key], figure = boxes_of(ax, [ax, legend])
    assert place.width > 0.5 * figure.width
    assert figure.x0 <= key.x0 < key.x1 <= figure.x1
    assert key.y1 <= figure.y1


def test_short_names_of_classes_stand_side_by_side():
    X, y = rx.from_lists([["a"], ["b"], ["c"]], ["u", "v", "w"])
    ax = rx.plot_patterns(rx.mine(X, y, max_length=1))
    [*keys], _ = boxes_of(ax, ax.get_legend().get_texts())
    assert len({round(key.y0) for key in keys}) == 1


def test_long_names_of_pairs_leave_room_for_the_lines(long_names):
    names, model = long_names
    ax = rx.plot_grasp(model)
    told = texts_of(ax.get_legend())
    assert told[0] == f"{names[0]} and {names[1]}: 0"
    [place, key], figure = boxes_of(ax, [ax, ax.get_legend()])
    assert place.width > 0.4 * figure.width
    assert figure.x0 <= key.x0 < key.x1 <= figure.x1
    assert figure.y0 <= key.y0 < key.y1 <= figure.y1


def test_a_long_title_takes_several_lines(long_names):
    names, model = long_names
    ax = rx.plot_grasp(model, pair=(names[0], names[1]))
    title = ax.get_title(loc="left")
    assert title.replace("\n", " ") == f"{names[0]} and {names[1]}"
    assert "\n" in title
    ax.figure.canvas.draw()
    box = ax._left_title.get_window_extent()
    assert box.x1 <= ax.figure.bbox.x1


def test_classes_with_one_text_are_told_apart():
    assert names_of([1, "1"]) == ["1", "'1'"]


def test_given_axes_are_drawn_on_and_returned():
    for call in every_plot(["u", "v"]):
        _, ax = plt.subplots(figsize=(2, 2))
        before = plt.get_fignums()
        assert call(ax) is ax
        assert plt.get_fignums() == before
        sizes = {text.get_fontsize() for text in [*ax.texts, ax.title]}
        assert min(sizes) < canvas.SMALL
        drawn(ax)


def test_drawing_in_a_part_of_a_figure_works():
    figure = plt.figure(layout="constrained")
    left, _ = figure.subfigures(1, 2)
    ax = rx.plot_confusion(["a"], ["a"], ax=left.subplots())
    figure.savefig(io.BytesIO(), dpi=40)
    assert ax.texts[0].get_text() == "1"


def test_without_matplotlib_its_extra_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    assert message(lambda: rx.plot_confusion(["a"], ["a"])) == (
        "plots need matplotlib, which is not installed\nhint: pip install 'relynx[plots]'"
    )


def test_matplotlib_is_loaded_by_drawing_alone():
    code = (
        "import sys, relynx; relynx.plot_patterns, relynx.plot_sequence; "
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "False"
