"""Files of the original program: `begin(Id,Class). fact. ... end.`, unchanged."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.data.event_arguments import dimension_names, event_conflicts
from relynx.data.lynx.reader import LynxReader
from relynx.data.sequences import Sequences
from relynx.errors import DataError, Problem
from relynx.logic.datalog import Background, read_background
from relynx.logic.parser import read_source
from relynx.logic.terms import Constant, constant_key, constant_text, quoted
from relynx.logic.tokens import MAX_DIGITS
from relynx.storage.whole_files import whole_file


def read_lynx(
    path: str | os.PathLike[str],
    background: str | os.PathLike[str] | Background | None = None,
) -> tuple[Sequences, NDArray[Any] | None]:
    """Read sequences, and their labels, from a file of the original program.

    Parameters
    ----------
    path
        A file of `begin(Id,Class). fact. ... end.`; where the classes are not known, `begin(Id).`
        Nested terms are flattened, `he(e1,h(right,alpha))` to `he(e1,right,alpha)`, and
        `a(x) < b(y) < (c, d(z)).` makes one event for each position, linked by `next_s`.
    background
        Rules that hold in every sequence: a file (`.bk`) or a `Background`.

    Returns
    -------
    tuple
        The sequences, and an array of their labels, which is None when they have none.

    Raises
    ------
    InputError
        With everything that is wrong with the file.

    Examples
    --------
    >>> import pathlib, tempfile, relynx as rx
    >>> path = pathlib.Path(tempfile.mkdtemp(), "train.m")
    >>> _ = path.write_text("begin(s1,fox). p(e1,a). next_s(e1,e2). p(e2,b). end.")
    >>> rx.read_lynx(path)[1].tolist()
    ['fox']
    """
    if background is not None and not isinstance(background, Background):
        background = read_background(background)
    X = LynxReader(read_source(path)).read(background)
    return X, X.labels


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
        raise DataError(Problem(what, hint=conflict.hint))
    seen: set[object] = set()
    for name in X.ids:
        if constant_key(name) in seen:
            raise DataError(
                Problem(
                    f"two sequences have the id {constant_text(name)}: they cannot be written",
                    hint="give every sequence an id of its own",
                )
            )
        seen.add(constant_key(name))
    operators = {f"{op}_{s}": s for s in dimension_names(X.tables) for op in ("follow", "followat")}
    for name, arity in X.tables:
        reason = ""
        if name in ("begin", "end"):
            reason = "the format uses its name"
        elif name in operators:
            reason = f"it is an operator of the dimension {operators[name]}"
        if reason:
            raise DataError(
                Problem(
                    f"the predicate {quoted(name)}/{arity} cannot be written: {reason}",
                    hint="give the predicate another name",
                )
            )


def _constant_texts(constants: Iterable[Constant]) -> Iterator[str]:
    """Constants as text; refuses the few that no file can hold."""
    for constant in constants:
        if isinstance(constant, str):
            if not constant.isascii() and re.search("[\ud800-\udfff]", constant):
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
