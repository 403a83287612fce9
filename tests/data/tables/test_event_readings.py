"""A table is read as an earlier one was; models keep how."""

import pickle

import numpy as np
import pandas as pd
import pytest
from event_cases import atoms, tables
from hypothesis import given
from hypothesis import strategies as st

import relynx as rx
from relynx import InputError, from_events, to_events


@given(tables(min_rows=4), st.data())
def test_part_of_a_table_read_again_is_that_part_of_the_sequences(table, data):
    X, _ = from_events(table, sequence="case", order="time")
    name = data.draw(st.sampled_from(X.ids.tolist()))
    rows = [i for i, case in enumerate(table["case"]) if case == name]
    part = {column: [values[i] for i in rows] for column, values in table.items()}
    again, _ = from_events(part, reading=X.reading)
    i = X.ids.tolist().index(name)
    events = {f"{prefix}{k}": f"e{k}" for prefix in ("event", "event_") for k in range(1, 13)}

    def plain(sequence):
        atoms = [(a.predicate, *(events.get(arg, arg) for arg in a.args)) for a in sequence.atoms]
        return {tuple((type(arg), arg) for arg in atom) for atom in atoms}

    if not any(value in events for values in table.values() for value in values):
        assert plain(again[0]) == plain(X[i])
    assert again.reading == X.reading


def test_a_later_table_has_the_cuts_of_the_first():
    numbers = list(range(40))
    X, _ = from_events({"case": [1] * 40, "n": numbers}, sequence="case")
    later, _ = from_events({"case": [1, 1], "n": [1000, 0.5]}, reading=X.reading)
    assert {"n(e1,'>=30')", "n(e2,'<10')"} <= atoms(later)


def test_a_later_table_has_the_kinds_of_the_first(tmp_path):
    (tmp_path / "train.csv").write_text("case,code,mass,y\n1,A,1.5,x\n1,7,2,x\n2,7,2,1\n")
    (tmp_path / "test.csv").write_text("case,code,mass,y\n1,7,2,1\n")
    X, _ = from_events(tmp_path / "train.csv", sequence="case", fluents=["code", "mass"], label="y")
    later, y = from_events(tmp_path / "test.csv", reading=X.reading)
    assert {(type(a), a) for atom in later[0].atoms for a in atom.args[1:]} == {
        (str, "7"),
        (float, 2.0),
    }
    assert y.tolist() == ["1"]
    frame = pd.DataFrame({"case": [1], "code": [7], "mass": [2], "y": [1]})
    assert from_events(frame, reading=X.reading)[0] == later


def test_a_fraction_among_integers_stays_one():
    X, _ = from_events({"case": [1, 1], "n": [1, 2]}, sequence="case", attributes=[])
    later, _ = from_events({"case": [1, 1], "n": [2.0, 2.5]}, reading=X.reading)
    assert {"n(e1,2)", "n(e2,2.5)"} <= atoms(later)


def test_a_later_table_needs_no_label():
    X, _ = from_events(
        {"case": [1, 2], "v": list("ab"), "y": list("uw")}, sequence="case", label="y"
    )
    later, y = from_events({"case": [1], "v": ["b"]}, reading=X.reading)
    assert (y, atoms(later)) == (None, {"v(e1,b)"})


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ([0, 0, None], "no labels are read: column 'y' has no label for 1 sequence (2)"),
        (
            ["?", "?", "?"],
            "no labels are read: column 'y' holds text, and numbers where it was first read",
        ),
        (
            [0, 1, 1],
            "no labels are read: column 'y', the label, changes inside sequence 1: 0 in row 1, "
            "1 in row 2",
        ),
        ([None, None, None], "column 'y' holds no label"),
    ],
)
def test_labels_of_a_later_table_that_are_wrong_are_passed_over_with_a_note(labels, why):
    table = {"case": [1, 1, 2], "v": list("abb")}
    X, _ = from_events(table | {"y": [0, 0, 1]}, sequence="case", label="y")
    later, y = from_events(table | {"y": labels}, reading=X.reading)
    assert (y, later.reading.notes) == (None, (why,))
    assert [atoms(later, i) for i in (0, 1)] == [atoms(X, i) for i in (0, 1)]


def test_the_notes_of_a_later_table_are_its_own():
    first = {"c": [1, 1], "t": [1, 1], "v": ["a", "b"], "same": ["x", "x"]}
    X, _ = from_events(first, sequence="c", order="t")
    assert len(X.reading.notes) == 2
    later, _ = from_events(first | {"t": [1, 2]}, reading=X.reading)
    assert later.reading.notes == ()
    again, _ = from_events(first, reading=later.reading)
    assert again.reading.notes == X.reading.notes[1:]


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_a_table_of_ranges_is_read_again_by_the_reading(backend, tmp_path):
    table = {"case": [1] * 12 + [2] * 3, "n": [*range(12), 3, None, 5], "v": ["a", "b", "c"] * 5}
    X, _ = from_events(table, sequence="case")
    assert X.reading.fluents[0].columns[0].cuts
    frame = to_events(X, backend=backend)
    assert from_events(frame, reading=X.reading)[0] == X
    if backend == "polars":
        frame.write_csv(tmp_path / "t.csv")
    else:
        frame.to_csv(tmp_path / "t.csv", index=False)
    assert from_events(tmp_path / "t.csv", reading=X.reading)[0] == X


def test_the_reading_stays_with_the_sequences():
    X, _ = from_events({"case": [1, 2], "v": list("ab")}, sequence="case")
    others = [X[[0]], X[0].sequences, X + X[1:], X.with_labels(["a", "b"]), X.with_background(None)]
    others += [X.recoded(X.vocabulary), pickle.loads(pickle.dumps(X))]
    assert all(other.reading == X.reading for other in others)
    Y, _ = from_events({"case": [3], "w": ["a"]}, sequence="case")
    assert (X + Y).reading is None


# Models


@pytest.fixture(scope="module")
def fitted():
    n = 60
    rng = np.random.default_rng(0)
    label = np.repeat(rng.integers(0, 2, n), 4)
    table = {
        "case": np.repeat(np.arange(n), 4).tolist(),
        "cost": (rng.uniform(0, 10, 4 * n) + 8 * label).tolist(),
        "step": rng.choice(list("abc"), 4 * n).tolist(),
        "y": [f"c{i}" for i in label],
    }
    X, y = from_events(table, sequence="case", label="y", attributes=[])
    return rx.LynxClassifier(max_length=1, max_iter=3, random_state=0).fit(X, y), X, table


def test_a_model_keeps_the_reading_and_so_does_its_file(fitted, tmp_path):
    model, X, table = fitted
    rx.save(model, tmp_path / "m.relynx")
    loaded = rx.load(tmp_path / "m.relynx")
    assert loaded.reading_ == model.reading_ == X.reading
    assert loaded.reading_.notes == X.reading.notes
    later, _ = from_events({name: v[:40] for name, v in table.items()}, reading=loaded.reading_)
    assert loaded.predict(later).tolist() == model.predict(X[:10]).tolist()


def test_a_model_refuses_a_table_with_other_cuts(fitted):
    model, X, table = fitted
    later, _ = from_events(
        {name: v[:40] for name, v in table.items()}, sequence="case", label="y", attributes=[]
    )
    with pytest.raises(InputError) as caught:
        model.predict(later)
    ours, theirs = (str(x.reading.fluents[0].columns[0]) for x in (later, X))
    assert str(caught.value) == (
        "this table was read in another way than that of the model: "
        f"cost is made of {ours}, not of {theirs}\n"
        "hint: read it as that one: rx.from_events(frame, reading=model.reading_)"
    )


@pytest.mark.parametrize(
    ("arguments", "difference"),
    [
        ({"order": {"t": "time"}}, "the dimensions are t, not s"),
        ({"fluents": ["step"]}, "it has no predicate cost among its fluents"),
        ({"attributes": ["kind"]}, "it has a new predicate kind among its attributes"),
        (
            {"fluents": {"cost": "step", "step": "step"}},
            "cost is made of step (text), not of cost (integer)",
        ),
    ],
)
def test_a_reading_says_how_it_differs(arguments, difference):
    table = {"case": [1, 1], "time": [1, 2], "cost": [1, 2], "step": ["a", "b"], "kind": [3, 3]}
    first = {"sequence": "case", "order": "time", "fluents": ["cost", "step"]}
    one, other = (from_events(table, **given)[0].reading for given in (first | arguments, first))
    assert one.difference(other) == difference
    assert other.difference(other) is None
