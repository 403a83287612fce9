"""Writing files of the original Lynx program."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import numpy as np

from relynx.data.event_arguments import dimension_names, event_conflicts
from relynx.data.sequences import Sequences
from relynx.errors import DataError
from relynx.logic.terms import SURROGATE, Constant, constant_key, constant_text, quoted
from relynx.logic.tokens import MAX_DIGITS
from relynx.storage import whole_file


def write_lynx(
    X: Sequences,
    path: str | os.PathLike[str],
    *,
    background_path: str | os.PathLike[str] | None = None,
    labels: Iterable[object] | None = None,
) -> None:
    """Write sequences to a file that `read_lynx` reads back as equal ones.

    The file appears whole or not at all. `labels` replaces the labels that `X` has; the background
    rules of `X` are written only when `background_path` names a file for them.
    """
    if labels is not None:
        X = X.with_labels(labels)
    _check_writable(X)
    _write(path, _sequence_texts(X))
    if background_path is not None:
        _write(background_path, ["" if X.background is None else str(X.background)])


def _check_writable(X: Sequences) -> None:
    """Refuse what the format cannot hold, though `Sequences` can."""
    if not len(X):
        raise DataError("there is no sequence to write")
    for conflict in event_conflicts(X.tables, X.vocabulary)[:1]:
        name = constant_text(X.ids[conflict.sequence])
        what = f"the sequence {name} cannot be written: in {conflict.atom}, {conflict.message}"
        raise DataError(what, hint=conflict.hint)
    seen: set[object] = set()
    for name in X.ids:
        if constant_key(name) in seen:
            what = f"two sequences have the id {constant_text(name)}: they cannot be written"
            raise DataError(what, hint="give every sequence an id of its own")
        seen.add(constant_key(name))
    reasons = dict.fromkeys(("begin", "end"), "the format uses its name")
    for s in dimension_names(X.tables):
        why = f"it is an operator of the dimension {s}"
        reasons |= dict.fromkeys((f"follow_{s}", f"followat_{s}"), why)
    for name, arity in X.tables:
        if name in reasons:
            what = f"the predicate {quoted(name)}/{arity} cannot be written: {reasons[name]}"
            raise DataError(what, hint="give the predicate another name")


def _constant_texts(constants: Iterable[Constant]) -> Iterator[str]:
    """Constants as text; refuses the few that no file can hold."""
    for constant in constants:
        if isinstance(constant, str):
            if not constant.isascii() and SURROGATE.search(constant):
                raise DataError(f"{constant!a} is no Unicode text: it cannot be written")
        elif isinstance(constant, int) and abs(constant) >= 10 ** (MAX_DIGITS - 1):
            raise DataError(f"a number of more than {MAX_DIGITS} digits cannot be written")
        yield constant_text(constant)


def _sequence_texts(X: Sequences) -> Iterator[str]:
    texts = list(_constant_texts(X.vocabulary))
    heads = list(_constant_texts(X.ids.tolist()))
    if X.labels is not None:
        labels = _constant_texts(X.labels.tolist())
        heads = [f"{name},{label}" for name, label in zip(heads, labels, strict=True)]
    rows = np.arange(len(X) + 1)
    tables = [
        (quoted(name), table, np.searchsorted(table[0], rows).tolist())
        for (name, _), table in X.tables.items()
    ]
    for i, head in enumerate(heads):
        lines = [f"begin({head})."]
        for name, table, starts in tables:
            for codes in table[1:, starts[i] : starts[i + 1]].T.tolist():
                args = ",".join([texts[code] for code in codes])
                lines.append(f"{name}({args})." if codes else f"{name}.")
        lines.append("end.\n")
        yield "\n".join(lines)


def _write(path: str | os.PathLike[str], pieces: Iterable[str]) -> None:
    with whole_file(path) as partial, open(partial, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(pieces)
