"""The systems that the paper compares with do their work on real data of several kinds."""

import numpy as np
import pytest
from paths import ROOT

import relynx as rx
from relynx.models.evaluation.baselines import SYSTEMS, system, systems
from relynx.models.evaluation.cross_validation import cross_validate

EXAMPLES = ROOT / "examples" / "data"
QUICK = {"TildeCRF": {"max_iter": 30, "window": 1}}


def promoters():
    """DNA: the base at each place."""
    rows = [line.split(",") for line in (EXAMPLES / "promoters.data").read_text().splitlines()]
    strings = [[("at", b, i) for i, b in enumerate(row[2].strip())] for row in rows]
    return rx.from_lists(strings, [row[0] for row in rows])


def blocks():
    """Intervals with their relations."""
    lines = (EXAMPLES / "blocks" / "data.txt").read_text().splitlines()
    rows = [map(int, line.split()) for line in lines]
    sequence, symbol, start, end = (list(column) for column in zip(*rows, strict=True))
    classes = (EXAMPLES / "blocks" / "classes.txt").read_text().split()
    table = {
        "sequence": sequence,
        "symbol": [f"s{one}" for one in symbol],
        "start": start,
        "end": end,
        "label": [f"c{classes[i]}" for i in sequence],
    }
    names = {"sequence": "sequence", "start": "start", "end": "end", "symbol": "symbol"}
    X, y = rx.from_intervals(table, label="label", **names)
    return X[::2], y[::2]


def folds():
    """Two protein folds."""
    data = rx.load_protein_folds()
    two = np.flatnonzero(np.isin(data.y, ["c.2", "c.23"]))[::2]
    return data.X[two], data.y[two]


@pytest.fixture(scope="module", params=[promoters, blocks, folds], ids=lambda f: f.__name__)
def data(request):
    return request.param()


@pytest.mark.parametrize("name", [name for name, _ in SYSTEMS.values()])
def test_a_system_learns_real_data(name, data):
    X, y = data
    model = system(name).set_params(**QUICK.get(name, {}))
    largest = np.unique(y, return_counts=True)[1].max() / len(y)
    assert cross_validate(model, X, y, folds=2).mean > largest + 0.15


def test_systems_are_made_by_name_in_the_order_given():
    found = systems(" fisher,lohmm ,")
    assert {name: type(model).__name__ for name, model in found.items()} == {
        "Fisher kernel": "FisherKernelClassifier",
        "LoHMM": "LoHMMClassifier",
    }
    assert list(found) == ["Fisher kernel", "LoHMM"]
    assert systems("") == {}


def test_a_name_that_is_no_system_is_refused():
    with pytest.raises(rx.InputError) as error:
        systems("crf")
    assert str(error.value) == (
        "there is no system 'crf' to compare with\nhint: give some of lohmm,fisher,tildecrf"
    )
