"""What the script of the page reads: patterns, models and sequences, as small as they can be.

Everything here is plain values that JSON keeps. Of very many patterns or sequences the page has a
part; what the patterns left out add to a score is there as a sum.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.data.sequences import Facts, Sequences
from relynx.logic.tables import Key
from relynx.models.contributions import Weights, weights
from relynx.models.lynx import LynxClassifier
from relynx.reports.page_facts import PageFacts, packed_rows, page_facts
from relynx.reports.page_text import visible
from relynx.reports.pattern_rows import PatternRow
from relynx.reports.report_data import ReportData, Told

MOST_SEQUENCES = 2_000
MOST_PATTERNS = 1_000
ROOM = 1_000_000  # bytes for facts
THOUSANDTHS = 1_000  # shares are whole numbers of them


def page_data(model: LynxClassifier, said: Told, data: ReportData) -> dict[str, Any]:
    """The data of the interactive parts of a report."""
    listed = _listed(said)
    shown = _shown(data.patterns)
    facts = said.X.facts(data.object_identity)
    patterns = [*model.selected_.patterns()]
    asked = [atom.key for i in shown.tolist() for atom in patterns[i]]
    packed = page_facts(facts, _keys(said.X, facts, asked), _wrong_first(said, listed), ROOM)
    place = {number: at for at, number in enumerate(shown.tolist())}
    return {
        "classes": list(said.label_names),
        "nClasses": len(model.classes_),
        "classSizes": model.selected_.class_sizes.tolist(),
        "objectIdentity": data.object_identity,
        "labelled": said.labels is not None,
        "keys": [[visible(name), arity] for name, arity in packed.keys],
        "derived": [int(key not in said.X.tables) for key in packed.keys],
        "dimensions": [[visible(name), key] for name, key in packed.dimensions.items()],
        "events": [[int(flag) for flag in flags] for flags in packed.events],
        "constants": list(packed.constants),
        "patterns": [
            _pattern(data.patterns[i], patterns[i].variables, packed.atoms(patterns[i]))
            for i in shown.tolist()
        ],
        "nPatterns": len(patterns),
        "pairs": _pairs(model, data, place),
        "sequences": _sequences(said, listed, packed, shown),
        "nSequences": len(said.X),
        **_answers(model, said, listed, shown),
    }


def _listed(said: Told) -> NDArray[np.int64]:
    """The sequences that the page lists, in order; of too many the wrong ones and the first."""
    if len(said.X) <= MOST_SEQUENCES:
        return np.arange(len(said.X))
    return np.sort(_wrong_first(said, np.arange(len(said.X)))[:MOST_SEQUENCES])


def _wrong_first(said: Told, which: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sequences in the order in which they get room: people look at mistakes first."""
    if said.labels is None:
        return which
    right = said.labels[which] == said.predicted[which]
    return which[np.argsort(right, kind="stable")]


def _shown(rows: tuple[PatternRow, ...]) -> NDArray[np.int64]:
    """The patterns of the page, in order; where there are too many, those that tell most."""
    best = sorted(rows, key=lambda row: (-round(row.chi2, 9), row.number))[:MOST_PATTERNS]
    return np.array(sorted(row.number for row in best), np.int64)


def _keys(X: Sequences, facts: Facts, asked: list[Key]) -> list[Key]:
    """Predicates that were read, and derived ones that patterns ask for or that are dimensions."""
    wanted = {*X.tables, *asked}
    return [key for key in facts.tables if key in wanted or key[0].startswith("next_")]


def _pattern(row: PatternRow, variables: tuple[str, ...], atoms: list[list[int]]) -> dict[str, Any]:
    return {
        "text": row.text,
        "words": row.words,
        "length": row.length,
        "class": row.class_,
        "supports": list(row.supports),
        "shares": [round(share, 4) for share in row.shares],
        "odds": float(f"{row.odds:.4g}"),
        "pairs": list(row.pairs),
        "variables": list(variables),
        "atoms": atoms,
    }


def _pairs(model: LynxClassifier, data: ReportData, place: dict[int, int]) -> list[dict[str, Any]]:
    """The models: their classes, their patterns on the page, and what these add to the scores."""
    out = []
    for row, one, columns in zip(data.pairs, model.estimators_, model._columns, strict=True):
        kept = [k for k, column in enumerate(columns.tolist()) if column in place]
        pair: dict[str, Any] = {
            "classes": list(row.classes),
            "patterns": [place[int(columns[k])] for k in kept],
            "left": len(columns) - len(kept),
        }
        found = weights(one)
        if found is not None:
            pair["prior"] = [_number(value) for value in found.prior.tolist()]
            pair["present"] = [_number(v) for v in found.present[kept].ravel().tolist()]
            pair["absent"] = [_number(v) for v in found.absent[kept].ravel().tolist()]
        out.append(pair)
    return out


def _number(value: float) -> float | None:
    """A number with few digits; None for minus infinity, which JSON does not have."""
    return round(value, 5) if math.isfinite(value) else None


def _sequences(
    said: Told, listed: NDArray[np.int64], packed: PageFacts, shown: NDArray[np.int64]
) -> dict[str, Any]:
    """A list for each thing that is known of the sequences."""
    labels = None if said.labels is None else said.labels[listed].tolist()
    shares = np.rint(said.shares[listed] * THOUSANDTHS).astype(int)
    return {
        "ids": [visible(str(name)) for name in said.X.ids[listed].tolist()],
        "labels": labels,
        "predicted": said.predicted[listed].tolist(),
        "shares": shares.tolist(),
        "covered": packed_rows(said.covered[np.ix_(listed, shown)]),
        "facts": list(packed.sequences),
    }


def _answers(
    model: LynxClassifier, said: Told, listed: NDArray[np.int64], shown: NDArray[np.int64]
) -> dict[str, Any]:
    """What each model of a pair says, and the sums of the patterns that the page leaves out."""
    votes: list[NDArray[np.int64]] = []
    shares: list[NDArray[np.int64]] = []
    rest: list[list[list[float | None]]] = []
    on_page = np.isin(np.arange(said.covered.shape[1]), shown)
    for one, columns in zip(model.estimators_, model._columns, strict=True):
        M = said.covered[np.ix_(listed, columns)].astype(np.float64)
        if len(model.estimators_) > 1:
            votes.append(one.votes(M))
            shares.append(np.rint(one.posteriors(M)[:, 0] * THOUSANDTHS).astype(np.int64))
        left = ~on_page[columns]
        found = weights(one)
        if left.any() and found is not None:
            rest.append(_sums(found, M[:, left] > 0, left))
        else:
            rest.append([])
    return {
        "votes": ["".join(map(str, row)) for row in np.array(votes).T.tolist()],
        "pairShares": np.array(shares).T.tolist(),
        "rest": rest,
    }


def _sums(
    found: Weights, covered: NDArray[np.bool_], left: NDArray[np.bool_]
) -> list[list[float | None]]:
    """For each sequence and class the sum of the terms of some patterns."""
    present, absent = found.present[left], found.absent[left]
    infinite = covered @ np.isinf(present) | ~covered @ np.isinf(absent)
    finite = [np.where(np.isinf(terms), 0.0, terms) for terms in (present, absent)]
    sums = covered @ finite[0] + ~covered @ finite[1]
    sums[infinite] = -np.inf
    return [[_number(value) for value in row] for row in sums.tolist()]
