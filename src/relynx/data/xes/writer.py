"""Sequences as a XES event log."""

from __future__ import annotations

import gzip
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TextIO
from xml.sax.saxutils import quoteattr

import numpy as np

from relynx.data.schema import Column, Schema
from relynx.data.sequences import Sequences, shown
from relynx.data.tables.writer import event_rows
from relynx.data.xes import event_table as et
from relynx.data.xes.reader import ENDINGS, is_xes
from relynx.errors import DataError, InputError
from relynx.logic.terms import Constant
from relynx.storage import whole_file

LABEL = "label"
ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
SITE = "http://www.xes-standard.org/"
CONCEPT = (("name", "Concept"), ("prefix", "concept"), ("uri", f"{SITE}concept.xesext"))
HEAD = et.Node(
    "log", (("xes.version", "1849-2016"), ("xmlns", SITE)), (et.Node("extension", CONCEPT),)
)


def write_xes(
    X: Sequences,
    path: str | os.PathLike[str],
    labels: Iterable[object] | None = None,
    *,
    label: str | None = None,
) -> None:
    """Write sequences to an event log, a `.xes` or `.xes.gz` file, one trace each.

    Sequences that `read_xes` read are written with all that the log had: each attribute with its
    type, its value as it was, what is nested in it, in the same order, and the head of the log.
    Sequences that `from_events` read are written as far as they became facts, numbers that were cut
    by the names of their ranges; so are those of `read_xes` that come from a file of relynx or
    another process. `read_xes(path, reading=X.reading)` gives equal sequences; with several
    dimensions, up to the names of events.

    Parameters
    ----------
    X
        The sequences, with a `reading`.
    path
        The file to write.
    labels
        Other labels than those of `X`, such as predictions.
    label
        The attribute of the trace that holds the label: that which it was read from, or `label`.

    Examples
    --------
    >>> import os, tempfile, relynx as rx
    >>> path = os.path.join(tempfile.mkdtemp(), "steps.xes")
    >>> X, _ = rx.from_events({"case": ["a", "a", "b"], "step": list("pqp")}, sequence="case")
    >>> rx.write_xes(X, path, ["good", "bad"])
    >>> rx.read_xes(path, reading=X.reading)[0] == X, rx.read_xes(path, label="label")[1].tolist()
    (True, ['good', 'bad'])
    """
    schema = X.reading if isinstance(X, Sequences) else None
    if schema is None or X.times is not None:
        what = "only sequences that read_xes or from_events read can be written as an event log"
        raise DataError(what, hint="rx.write_lynx writes any sequences to a file")
    if not is_xes(path):
        what = f"{os.fsdecode(path)} ends in none of {', '.join(ENDINGS)}"
        raise InputError(what, hint="an event log is a .xes or .xes.gz file")
    if labels is not None:
        X = X.with_labels(labels)
    key = label if label is not None else _label_key(schema)
    if not isinstance(key, str) or not key:
        raise InputError(f"label is {key!r}", hint="give the key of an attribute")
    with _opened(path) as file:
        writer = _Writer(file)
        if X.origin is None:
            _write_facts(writer, X, schema, key)
        else:
            other = key != _label_key(schema) or _changed(X, X.origin, schema)
            _write_log(writer, X, X.origin, key if other else None)


def _label_key(schema: Schema) -> str:
    return LABEL if schema.label is None else schema.label.name.removeprefix(et.CASE)


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """A file to write text to, packed if its name says so."""
    with ExitStack() as stack:
        file: Any = stack.enter_context(open(stack.enter_context(whole_file(path)), "wb"))
        if os.fsdecode(path).lower().endswith(".gz"):
            file = stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))
        yield stack.enter_context(io.TextIOWrapper(file, "utf-8", newline="\n"))


class _Writer:
    """Writes elements, each on a line of its own."""

    def __init__(self, file: TextIO) -> None:
        self._write = file.write
        self._open: list[str] = []
        self._keys: dict[str, str] = {}  # those that were written, in quotes
        self._write('<?xml version="1.0" encoding="UTF-8"?>\n')

    def open(self, tag: str, pairs: Iterable[tuple[str, str]] = (), *, empty: bool = False) -> None:
        said = "".join(f" {name}={_quoted(name, value, pairs)}" for name, value in pairs)
        self._write(f"{'  ' * len(self._open)}<{tag}{said}{'/' if empty else ''}>\n")
        if not empty:
            self._open.append(tag)

    def close(self) -> None:
        tag = self._open.pop()
        self._write(f"{'  ' * len(self._open)}</{tag}>\n")

    def attribute(self, tag: str, key: str, value: str | None, *, empty: bool = True) -> None:
        known = self._keys.get(key)
        if known is None or value is None or ILLEGAL.search(value):
            pairs = [("key", key)] if key else []
            self.open(tag, pairs if value is None else [*pairs, ("value", value)], empty=empty)
            self._keys[key] = quoteattr(key)
            return
        end = "/" if empty else ""
        indent = "  " * len(self._open)
        self._write(f"{indent}<{tag} key={known} value={quoteattr(value)}{end}>\n")
        if not empty:
            self._open.append(tag)

    def node(self, node: et.Node, *, keep_open: bool = False) -> None:
        self.open(node.tag, node.attributes, empty=not node.children and not keep_open)
        for child in node.children:
            self.node(child)
        if node.children and not keep_open:
            self.close()

    def element(self, part: et.Part, i: int, label: tuple[str, str, str] | None = None) -> None:
        """The attributes of a trace or an event; a label, if one is given, in its place."""
        shape, codes = part.element(i)
        rest = iter(codes)
        depth = 0
        for token, after in zip(shape, (*shape[1:], et.CLOSE), strict=False):
            if token == et.CLOSE:
                self.close()
                depth -= 1
            elif token == et.OPEN:
                depth += 1
            else:
                one, code = part.attributes[token], next(rest)
                tag, value = one.tag, None if code < 0 else one.texts[code]
                if label is not None and one.key == label[1] and not depth:
                    tag, _, value = label
                    label = None
                    if one.tag in et.WITHOUT_VALUE:  # what is nested may not stay without it
                        tag = "string"
                self.attribute(tag, one.key, value, empty=after != et.OPEN)
        if label is not None:
            self.attribute(*label)


def _quoted(name: str, value: str, pairs: Iterable[tuple[str, str]]) -> str:
    if ILLEGAL.search(value):
        whose = "" if name == "key" else f" of {shown(dict(pairs).get('key', name))}"
        what = f"the {name} {shown(value)}{whose} cannot be written"
        raise DataError(what, hint="it holds a character that XML does not have")
    return quoteattr(value)


def _write_log(writer: _Writer, X: Sequences, log: et.Log, key: str | None) -> None:
    """All that a log had, of the traces that are left; their labels, if a key is given."""
    number = {name: i for i, name in enumerate(et.XesTable(log, "").trace_names)}
    labels = [None] * len(X) if X.labels is None else X.labels.tolist()
    column = None if X.reading is None else X.reading.label
    writer.node(log.root, keep_open=True)
    for name, label in zip(X.ids.tolist(), labels, strict=True):
        i = number[name]
        writer.open("trace")
        said = None if key is None or label is None else _typed(key, label, column)
        writer.element(log.traces, i, said)
        for j in range(int(log.first[i]), int(log.first[i + 1])):
            writer.open("event")
            writer.element(log.events, j)
            writer.close()
        writer.close()
    writer.close()


def _changed(X: Sequences, log: et.Log, schema: Schema) -> bool:
    """Whether the labels are others than those that the log has."""
    if X.labels is None:
        return False
    table = et.XesTable(log, "")
    if schema.label is None or schema.label.name not in table.names:
        return True
    values = table.values(schema.label.name)
    known: dict[Constant, Constant] = {}
    for trace, code in zip(table.values(table.names[0]).codes, values.codes, strict=True):
        if code >= 0:
            known.setdefault(table.trace_names[trace], values.constants[code])
    said = zip(X.ids.tolist(), X.labels.tolist(), strict=True)
    return any(known.get(name) != label for name, label in said)


def _write_facts(writer: _Writer, X: Sequences, schema: Schema, key: str) -> None:
    """What became facts, by the names of the columns."""
    sequences, real, values = event_rows(X, schema)
    fluents = {column.name: column for group in schema.fluents for column in group.columns}
    for _, name in schema.order if len(schema.order) > 1 else ():  # a file has one order only
        fluents.setdefault(name, Column(name, "integer"))
    attributes = [column for group in schema.attributes for column in group.columns]
    labels = None if X.labels is None else X.labels.tolist()
    _check_keys([column.name.removeprefix(et.CASE) for column in attributes], labels and key)
    starts = np.searchsorted(sequences, np.arange(len(X) + 1))
    writer.node(HEAD, keep_open=True)
    for i, name in enumerate(X.ids.tolist()):
        writer.open("trace")
        writer.attribute(*_typed(et.NAME, name, None))
        for column in attributes:
            value = values[column.name][starts[i]]
            if value is not None:
                writer.attribute(*_typed(column.name.removeprefix(et.CASE), value, column))
        if labels is not None:
            writer.attribute(*_typed(key, labels[i], schema.label))
        for row in range(starts[i], starts[i + 1]):
            if real[row]:
                writer.open("event")
                for column in fluents.values():
                    if (value := values[column.name][row]) is not None:
                        writer.attribute(*_typed(column.name, value, column))
                writer.close()
        writer.close()
    writer.close()


def _check_keys(keys: Sequence[str], label: str | None) -> None:
    """Raise where a trace would have two attributes of one key."""
    hint = f"rename the column; the name of the trace is its {et.NAME!r}"
    for i, key in enumerate(keys):
        if key in (et.NAME, *keys[:i]):
            raise DataError(f"a trace would have the attribute {key!r} twice", hint=hint)
    if label in (et.NAME, *keys):
        what = f"a trace would have the attribute {label!r} twice: one is the label"
        raise DataError(what, hint="give another key of the label: label='class'")


def _typed(key: str, value: Constant, column: Column | None) -> tuple[str, str, str]:
    if isinstance(value, int | float):
        return ("int" if isinstance(value, int) else "float"), key, repr(value)
    text = str(value)
    column_type = "text" if column is None or column.cuts is not None else column.type
    if column_type == "boolean" and text in ("true", "false"):
        return "boolean", key, text
    if column_type == "date" and re.match(r"\d{4}-\d\d-\d\d(T|\Z)", text):
        return "date", key, f"{text}{'' if 'T' in text else 'T00:00:00'}+00:00"
    return "string", key, text
