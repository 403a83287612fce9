"""What the script of the page reads: patterns, models and sequences, as small as they can be.

Everything here is plain values that JSON keeps. Of very many patterns or sequences the page has a
part; what the patterns left out add to a score is there as a sum. Facts of sequences come last:
they take what room is left.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.data.sequences import Facts, Sequences
from relynx.logic.tables import Key
from relynx.mining.wording.english import visible
from relynx.models.lynx.classifier import LynxClassifier
from relynx.models.lynx.contributions import weights
from relynx.reports.page_answers import answers, pair_terms
from relynx.reports.page_facts import packed_rows, page_facts
from relynx.reports.page_text import as_json, short
from relynx.reports.pattern_rows import PatternRow
from relynx.reports.report_data import ReportData, Told

MOST_SEQUENCES = 2_000
MOST_PATTERNS = 1_000
PATTERN_ROOM = 1_200_000  # bytes for the patterns and their weights
TERM = 9  # bytes of a weight, about
ARGUMENT = 9  # bytes of an argument of a pattern, at most
THOUSANDTHS = 1_000  # shares are whole numbers of them


def page_data(model: LynxClassifier, said: Told, data: ReportData, room: int) -> dict[str, Any]:
    """The data of the interactive parts of a report.

    Parameters
    ----------
    model, said, data
        What the report is about.
    room
        The bytes that all of it may take as JSON. Facts are left out first, those of right
        sequences before those of wrong ones, then whole sequences.
    """
    most = MOST_SEQUENCES
    while True:
        page = _data(model, said, data, _listed(said, most), room)
        if len(as_json(page)) <= room or most == 1:
            return page
        most = min(most, len(said.X)) // 2 or 1


def _data(
    model: LynxClassifier, said: Told, data: ReportData, listed: NDArray[np.int64], room: int
) -> dict[str, Any]:
    shown = _shown(model, data.patterns)
    place = {number: at for at, number in enumerate(shown.tolist())}
    all_patterns = [*model.selected_.patterns()]
    patterns = [all_patterns[i] for i in shown.tolist()]
    page: dict[str, Any] = {
        "classes": list(said.label_names),
        "nClasses": len(model.classes_),
        "classSizes": model.selected_.class_sizes.tolist(),
        "objectIdentity": data.object_identity,
        "labelled": said.labels is not None,
        "patterns": [
            _pattern(data.patterns[i], pattern.variables)
            for i, pattern in zip(shown.tolist(), patterns, strict=True)
        ],
        "nPatterns": len(all_patterns),
        "pairs": _pairs(model, data, place),
        "sequences": _sequences(said, listed, shown),
        "nSequences": len(said.X),
        **answers(model, said, listed, shown),
    }
    facts = said.X.facts(data.object_identity)
    atoms = [atom for pattern in patterns for atom in pattern]
    keys = _keys(said.X, facts, (atom.key for atom in atoms))
    fixed = len(
        as_json([page, [[visible(name), [1] * arity, 99, 1] for name, arity in facts.tables]])
    )
    fixed += ARGUMENT * sum(len(atom.args) + 4 for atom in atoms) + 6 * len(listed)
    wanted = _wrong_first(said, listed)
    packed = page_facts(facts, keys, wanted, room - fixed, patterns)
    for one, pattern in zip(page["patterns"], patterns, strict=True):
        one["atoms"] = packed.atoms(pattern)
    page["sequences"]["facts"] = list(packed.sequences)
    return page | {
        "keys": [[visible(name), arity] for name, arity in packed.keys],
        "derived": [int(key not in said.X.tables) for key in packed.keys],
        "dimensions": [[visible(name), key] for name, key in packed.dimensions.items()],
        "events": [[int(flag) for flag in flags] for flags in packed.events],
        "constants": list(packed.constants),
    }


def _listed(said: Told, most: int) -> NDArray[np.int64]:
    """The sequences that the page lists, in order; of too many the wrong ones and the first."""
    return np.sort(_wrong_first(said, np.arange(len(said.X)))[:most])


def _wrong_first(said: Told, which: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sequences in the order in which they get room: people look at mistakes first."""
    if said.labels is None:
        return which
    right = said.labels[which] == said.predicted[which]
    return which[np.argsort(right, kind="stable")]


def _shown(model: LynxClassifier, rows: tuple[PatternRow, ...]) -> NDArray[np.int64]:
    """The patterns of the page, in order; where there are too many, those that tell most."""
    best = sorted(rows, key=lambda row: (-round(row.chi2, 9), row.number))[:MOST_PATTERNS]
    sizes = [len(one.classes) for one in model.estimators_]
    room, kept = PATTERN_ROOM, []
    for row in best:
        room -= 120 + len(row.text) + len(row.words) + 4 * len(row.supports)
        room -= sum(2 * TERM * sizes[pair] + 5 for pair in row.pairs)
        if room < 0:
            break
        kept.append(row.number)
    return np.array(sorted(kept), np.int64)


def _keys(X: Sequences, facts: Facts, asked: Iterable[Key]) -> list[Key]:
    """Predicates that were read, and derived ones that patterns ask for or that are dimensions."""
    wanted = {*X.tables, *asked}
    return [key for key in facts.tables if key in wanted or key[0].startswith("next_")]


def _pattern(row: PatternRow, variables: tuple[str, ...]) -> dict[str, Any]:
    return {
        "text": row.text,
        "words": row.words,
        "length": row.length,
        "class": row.class_,
        "supports": list(row.supports),
        "odds": float(f"{row.odds:.6g}"),
        "oddsText": short(row.odds),
        "pairs": list(row.pairs),
        "variables": list(variables),
    }


def _pairs(model: LynxClassifier, data: ReportData, place: dict[int, int]) -> list[dict[str, Any]]:
    """The models: their classes, their patterns on the page, and what these add to the scores."""
    out = []
    for row, one, columns in zip(data.pairs, model.estimators_, model._columns, strict=True):
        kept = [k for k, column in enumerate(columns.tolist()) if column in place]
        found = weights(one)
        out.append(
            {
                "classes": list(row.classes),
                "patterns": [place[int(columns[k])] for k in kept],
                "left": len(columns) - len(kept),
                **({} if found is None else pair_terms(found, kept)),
            }
        )
    return out


def _sequences(said: Told, listed: NDArray[np.int64], shown: NDArray[np.int64]) -> dict[str, Any]:
    """A list for each thing that is known of the sequences."""
    labels = None if said.labels is None else said.labels[listed].tolist()
    shares = np.rint(said.shares[listed] * THOUSANDTHS).astype(int)
    return {
        "ids": [visible(str(name)) for name in said.X.ids[listed].tolist()],
        "labels": labels,
        "predicted": said.predicted[listed].tolist(),
        "shares": shares.tolist(),
        "covered": packed_rows(said.covered[np.ix_(listed, shown)]),
    }
