"""XES files, read event by event: no tree of a file is ever in memory.

Files are untrusted. A document type, and with it every entity, is rejected; the length of a
value, the depth of nesting and the number of different attributes have limits.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TypeAlias, cast
from xml.parsers import expat

import numpy as np

from relynx.data.xes import event_table as et
from relynx.errors import DataError, InputError, ParseError, Problem, Source, raise_all
from relynx.logic.source_files import FREE, MAGIC, most_unpacked, too_much, unreadable

CHUNK = 1 << 18  # bytes
LONGEST_ELEMENT = 1 << 23  # bytes
LONGEST_VALUE = 1_000_000  # characters
DEEPEST = 32
MOST_ATTRIBUTES = 1000
MOST_PROBLEMS = 50
TRACE, EVENT, LOG = "trace", "event", "log"
HEAD = ("extension", "global", "classifier")
ENDED = ("no element found", "unclosed token", "partial character", "unclosed CDATA section")
KEYS = re.compile(r"'([^']*)'|(\S+)")
EXAMPLE = "<log><trace><event><string key='concept:name' value='a'/></event></trace></log>"
WRITE_AGAIN = "write the file again with the program that made it"


def read_log(path: str | os.PathLike[str]) -> et.Log:
    """All of a `.xes` or `.xes.gz` file. Raises InputError with what is wrong and on which line."""
    name = os.fsdecode(path)
    source = Source("", name)
    reader, fed = _Reader(source), 0
    with _opened(name, source) as file:
        while chunk := file.read(CHUNK):
            reader.feed(chunk)
            fed += len(chunk)
            if fed > FREE and fed > most_unpacked(size := os.path.getsize(name)):
                raise ParseError(too_much(size, name))
        reader.feed(b"", last=True)
    return reader.log()


@contextmanager
def _opened(name: str, source: Source) -> Iterator[IO[bytes]]:
    """The file, unpacked; errors of the system become messages."""
    try:
        with open(name, "rb") as plain:
            packed = name.lower().endswith(".gz")
            if not packed and plain.read(2) == MAGIC:
                hint = "end its name in .xes.gz, or unpack it with gunzip"
                raise ParseError("this file is compressed", source, hint=hint)
            plain.seek(0)
            yield cast(IO[bytes], gzip.GzipFile(fileobj=plain)) if packed else plain
    except (gzip.BadGzipFile, EOFError, zlib.error):
        what, hint = "this is no gzip file, or it is cut", "gzip packs a file"
        raise ParseError(what, source, hint=hint) from None
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise unreadable(error, name) from None


Level: TypeAlias = dict[tuple[str, str], tuple[int, dict[str, int]]]


class _PartBuilder:
    """The attributes of events, or of traces, while they are read."""

    def __init__(self) -> None:
        self.attributes: list[tuple[str, str, str, int]] = []
        self.texts: list[dict[str, int]] = []
        self.levels: dict[int, Level] = {-1: {}}  # what is nested in each, by tag and key
        self.shapes: dict[et.Shape, int] = {}
        self.shape = array("i")
        self.codes = array("i")
        self.tokens: list[int] = []
        self.parents: list[int] = []  # the attributes that are open and hold others

    @property
    def parent(self) -> int:
        return self.parents[-1] if self.parents else -1

    @property
    def level(self) -> Level:
        return self.levels[self.parent]

    def open(self, tag: str, key: str, value: str | None) -> None:
        found = self.level.get((tag, key))
        if found is None:
            parent, i = self.parent, len(self.attributes)
            above = "" if parent < 0 else self.attributes[parent][0]
            path = above if tag == et.VALUES else f"{above}/{key}" if above else key
            self.attributes.append((path, tag, key, parent))
            self.texts.append({})
            found = self.level[tag, key] = i, self.texts[i]
        i, texts = found
        self.tokens.append(i)
        self.codes.append(-1 if value is None else texts.setdefault(value, len(texts)))

    def nest(self) -> None:
        """The attribute that began last holds others."""
        self.parents.append(self.tokens[-1])
        self.levels.setdefault(self.tokens[-1], {})
        self.tokens.append(et.OPEN)

    def close(self) -> None:
        self.parents.pop()
        self.tokens.append(et.CLOSE)

    def end(self) -> str | None:
        """An element ends; a key that it has twice."""
        shape = tuple(self.tokens)
        self.tokens.clear()
        known = len(self.shapes)
        self.shape.append(self.shapes.setdefault(shape, known))
        return self._repeated(shape) if len(self.shapes) > known else None

    def _repeated(self, shape: et.Shape) -> str | None:
        """A key that stands twice in one element; only in lists and containers it may."""
        open_ones: list[tuple[int, set[str]]] = [(-1, set())]
        for before, token in zip((-1, *shape), shape, strict=False):
            if token == et.OPEN:
                open_ones.append((before, set()))
            elif token == et.CLOSE:
                open_ones.pop()
            else:
                parent, seen = open_ones[-1]
                path, tag, key, _ = self.attributes[token]
                if key in seen and (
                    parent < 0 or self.attributes[parent][1] not in et.WITHOUT_VALUE
                ):
                    return path
                if tag != et.VALUES:
                    seen.add(key)
        return None

    def built(self) -> et.Part:
        attributes = tuple(
            et.Attribute(*one, list(texts))
            for one, texts in zip(self.attributes, self.texts, strict=True)
        )
        shape, codes = (np.array(a, np.int32) for a in (self.shape, self.codes))
        return et.Part(attributes, tuple(self.shapes), shape, codes)


class _Reader:
    """What was read so far, and where in the file the parser is."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.traces, self.events = _PartBuilder(), _PartBuilder()
        self.first, self.lines, self.trace_lines = array("q", [0]), array("q"), array("q")
        self.skipped: dict[str, list[int]] = {}  # ignored elements, and their lines
        self._part: _PartBuilder | None = None  # what the element that is open belongs to
        self._level: Level | None = None  # the attributes that are known there
        self._leaf = False  # whether an attribute is open in which nothing is nested so far
        self._head: list[tuple[str, tuple[tuple[str, str], ...], list[et.Node]]] = []
        self._root: et.Node | None = None
        self._skip = 0  # the number of open elements that are ignored
        self._fed = 0
        parser = self._parser = expat.ParserCreate()
        parser.ordered_attributes = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype

    def feed(self, chunk: bytes, *, last: bool = False) -> None:
        try:
            self._parser.Parse(chunk, last)
        except expat.ExpatError as error:
            raise self._broken(expat.ErrorString(error.code)) from None
        except (LookupError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise self._broken("unknown encoding") from None
        self._fed += len(chunk)
        if self._fed - self._parser.CurrentByteIndex > LONGEST_ELEMENT + CHUNK:
            what = f"something that begins here is longer than {LONGEST_ELEMENT >> 20} MB"
            raise self._wrong(what, "XES has short elements; is this a log?")

    def _wrong(self, what: str, hint: str | None = None) -> ParseError:
        line = self._parser.CurrentLineNumber
        problem = Problem(f"line {line}: {what}", self.source, hint=hint)
        return ParseError([*self.problems, problem])

    def _problem(self, what: str, hint: str) -> None:
        self.problems.append(self._wrong(what, hint).problems[-1])
        if len(self.problems) >= MOST_PROBLEMS:
            raise ParseError(self.problems)

    def _broken(self, why: str) -> ParseError:
        """What a file that is no XML gets to hear."""
        if why in ENDED:
            if not self._fed:
                return ParseError("this file is empty", self.source, hint=EXAMPLE)
            where = " before its first element"
            if self._part is not None or self._head:
                inside = EVENT if self._part is self.events else TRACE if self._part else LOG
                where = f" inside <{inside}>"
            return self._wrong(f"the file ends{where}", f"it is cut: {WRITE_AGAIN}")
        hint = WRITE_AGAIN
        if why in ("unknown encoding", "encoding specified in XML declaration is incorrect"):
            hint = "save the file as UTF-8, and say so in its first line"
        elif "invalid token" in why:
            hint = "a letter is no UTF-8, or one of < and & is not written as &lt; and &amp;"
        return self._wrong(f"this is no XML: {why}", hint)

    def _doctype(self, *_: object) -> None:
        hint = "leave out <!DOCTYPE ...>; XES needs none, and what it declares may do harm"
        raise self._wrong("the file has a document type", hint)

    def _start(self, tag: str, given: list[str]) -> None:
        level = self._level
        if level is not None and not self._leaf and len(given) == 4:
            known = level.get((tag, given[1]))
            if known is not None and given[0] == "key" and given[2] == "value":
                value = given[3]
                if len(value) <= LONGEST_VALUE:  # what most elements are, at once
                    part = self._part
                    i, texts = known
                    part.tokens.append(i)  # type: ignore[union-attr]
                    part.codes.append(texts.setdefault(value, len(texts)))  # type: ignore[union-attr]
                    self._leaf = True
                    return
        if self._skip:
            self._skip += 1
        elif self._part is None:
            self._start_head(tag.rpartition(":")[2], tag, given)
        else:
            self._start_inside(self._part, tag.rpartition(":")[2], given)

    def _start_head(self, tag: str, written: str, given: list[str]) -> None:
        """Something begins that is in no trace."""
        if not self._head and tag != LOG:
            what = f"the first element is <{written}>, not <log>"
            raise self._wrong(what, f"a log is written as {EXAMPLE}")
        if len(self._head) > DEEPEST:
            raise self._too_deep()
        if not self._head or tag in et.TYPES or tag in HEAD or tag == et.VALUES:
            self._head.append((tag, _pairs(given), []))
        elif tag == TRACE and len(self._head) == 1:
            self._enter(self.traces)
            self.trace_lines.append(self._parser.CurrentLineNumber)
        else:
            self._pass_over(tag, self._head[-1][0])

    def _start_inside(self, part: _PartBuilder, tag: str, given: list[str]) -> None:
        """Something begins in a trace or an event."""
        if tag in et.TYPES or tag == et.VALUES:
            if self._leaf:
                part.nest()
                self._level, self._leaf = part.level, False
                if len(part.parents) > DEEPEST:
                    raise self._too_deep()
            if tag == et.VALUES:
                part.open(tag, "", None)
            else:
                self._attribute(part, tag, given)
            self._leaf = True
            if len(part.attributes) > MOST_ATTRIBUTES:
                what = f"there are {len(part.attributes):,} different attributes up to here"
                whose = "events" if part is self.events else "traces"
                hint = f"{whose} may have {MOST_ATTRIBUTES:,}; do keys hold values?"
                raise self._wrong(what, hint)
        elif tag == EVENT and part is self.traces and not self._leaf and not part.parents:
            self._enter(self.events)
            self.lines.append(self._parser.CurrentLineNumber)
        else:
            self._pass_over(tag, EVENT if part is self.events else TRACE)

    def _attribute(self, part: _PartBuilder, tag: str, given: list[str]) -> None:
        pairs = dict(_pairs(given))
        key, value = pairs.get("key"), pairs.get("value")
        if not key:
            self._problem(f"<{tag}> has no key", f"write <{tag} key='name' value='...'/>")
        elif value is None and tag not in et.WITHOUT_VALUE:
            self._problem(f"attribute {key!r} has no value", f"write value='...' in <{tag}>")
        elif value is not None and len(value) > LONGEST_VALUE:
            what = f"attribute {key!r} has a value of {len(value):,} characters"
            self._problem(what, f"{LONGEST_VALUE:,} are allowed")
            value = None
        part.open(tag, key or "", None if tag in et.WITHOUT_VALUE else value)

    def _enter(self, part: _PartBuilder | None) -> None:
        self._part = part
        self._level = None if part is None else part.level

    def _pass_over(self, tag: str, inside: str) -> None:
        where = f"<{tag}> in <{inside}>"
        self.skipped.setdefault(where, []).append(self._parser.CurrentLineNumber)
        self._skip, self._level = 1, None

    def _too_deep(self) -> ParseError:
        return self._wrong(f"elements are nested more than {DEEPEST} deep", "flatten them")

    def _end(self, tag: str) -> None:
        if self._leaf and not self._skip:
            self._leaf = False
            return
        part = self._part
        if self._skip:
            self._skip -= 1
            self._level = None if self._skip or part is None else part.level
        elif part is None:
            name, pairs, children = self._head.pop()
            node = et.Node(name, pairs, tuple(children))
            if self._head:
                self._head[-1][2].append(node)
            else:
                self._root = node
        elif part.parents:
            part.close()
            self._level = part.level
        else:
            self._end_element(part)

    def _end_element(self, part: _PartBuilder) -> None:
        repeated = part.end()
        if repeated is not None:
            whose = "event" if part is self.events else "trace"
            what = f"the {whose} that ends here has the attribute {repeated!r} twice"
            self._problem(what, "only entries of a list may have the same key")
        if part is self.events:
            self._enter(self.traces)
        else:
            self.first.append(len(self.lines))
            self._enter(None)

    def log(self) -> et.Log:
        """All that was read. Raises ParseError with all that was wrong."""
        raise_all(self.problems, ParseError)
        assert self._root is not None  # the parser has seen its end
        if not self.trace_lines:
            hint = f"a log is written as {EXAMPLE}"
            raise DataError("the log has no trace", self.source, hint=hint)
        notes = []
        for what, lines in self.skipped.items():
            n = "once" if len(lines) == 1 else f"{len(lines):,} times"
            notes.append(f"{what} is ignored, {n}, first in line {lines[0]}")
        head = self._root.children
        return et.Log(
            self._root,
            self.traces.built(),
            self.events.built(),
            np.array(self.first, np.int64),
            np.array(self.lines, np.int64),
            np.array(self.trace_lines, np.int64),
            _classifiers(head),
            _declared(head),
            tuple(notes),
        )


def _pairs(given: list[str]) -> tuple[tuple[str, str], ...]:
    return tuple(zip(given[::2], given[1::2], strict=True))


def _classifiers(head: tuple[et.Node, ...]) -> dict[str, tuple[str, ...]]:
    """The keys that classifiers of events join; those with blanks are quoted."""
    out = {}
    for node in head:
        said = dict(node.attributes)
        if node.tag == "classifier" and said.get("scope", EVENT) == EVENT and "name" in said:
            keys = KEYS.findall(said.get("keys", ""))
            out[said["name"]] = tuple(quoted or plain for quoted, plain in keys)
    return out


def _declared(head: tuple[et.Node, ...]) -> dict[str, tuple[str, ...]]:
    out: dict[str, tuple[str, ...]] = {}
    for node in head:
        if node.tag == "global":
            keys = tuple(dict(child.attributes).get("key", "") for child in node.children)
            scope = dict(node.attributes).get("scope", EVENT)
            out[scope] = (*out.get(scope, ()), *keys)
    return out
