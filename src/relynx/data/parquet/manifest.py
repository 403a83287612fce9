"""What a folder of partitions says of itself: `manifest.json`, written last and read with checks.

manifest.json         format, version, relations, classes, and what every other file holds
vocabulary.parquet    the constants in the order of their codes
part-00000.parquet    one row per sequence: its id, its class, and a list of facts per predicate
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from relynx.data.schema import Schema, schema_of, schema_state
from relynx.errors import DataError, InputError
from relynx.logic.datalog import Background, parse_background
from relynx.logic.tables import Key
from relynx.logic.terms import SURROGATE, Constant, constant_key, is_constant
from relynx.storage import ModelFile, Part
from relynx.storage.archive import read_json

FORMAT, VERSION = "relynx sequences", 1
MANIFEST, VOCABULARY = "manifest.json", "vocabulary.parquet"
LARGEST_TEXT = 1 << 28  # bytes of the manifest
MOST = (1 << 31) - 1  # sequences, facts of a predicate in a partition, constants
MOST_PARTITIONS = 100_000
TIMES = ("integer", "number", "text")
DAMAGED = "the folder is damaged or no work of to_parquet: take another copy, or write it again"


@dataclass(frozen=True, slots=True)
class File:
    """A file of the folder, and what is known of it."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PartFile:
    """A partition, written when only the first `n_relations` predicates were known."""

    file: File
    n_sequences: int
    n_facts: tuple[int, ...]
    class_sizes: tuple[int, ...]

    @property
    def n_relations(self) -> int:
        return len(self.n_facts)


@dataclass(frozen=True, slots=True)
class Manifest:
    """All that is known of a folder without opening its Parquet files."""

    relynx: str
    relations: tuple[Key, ...]
    classes: tuple[Constant, ...] | None
    times: tuple[str, ...] | None  # what starts and ends of intervals are
    background: Background | None
    reading: Schema | None
    vocabulary: File
    n_constants: int
    parts: tuple[PartFile, ...]

    def text(self) -> bytes:
        state = {
            "format": FORMAT,
            "version": VERSION,
            "relynx": self.relynx,
            "relations": [list(key) for key in self.relations],
            "classes": None if self.classes is None else list(self.classes),
            "times": None if self.times is None else list(self.times),
            "background": None if self.background is None else str(self.background),
            "reading": None if self.reading is None else schema_state(self.reading),
            "vocabulary": {"constants": self.n_constants, **_file_state(self.vocabulary)},
            "parts": [
                {
                    "sequences": part.n_sequences,
                    "facts": list(part.n_facts),
                    "classes": list(part.class_sizes),
                    **_file_state(part.file),
                }
                for part in self.parts
            ],
        }
        return json.dumps(state, allow_nan=False, indent=1).encode("ascii")


def part_name(number: int) -> str:
    return f"part-{number:05d}.parquet"


def _file_state(file: File) -> dict[str, Any]:
    return {"file": file.name, "bytes": file.size, "sha256": file.sha256}


def read_manifest(data: bytes, path: str, version: str) -> Manifest:
    """The manifest in a text, named `path` in messages. Raises DataError where it is none."""
    file = ModelFile(path, {}, DAMAGED)
    if len(data) > LARGEST_TEXT:
        raise file.problem(f"the manifest has {len(data):,} bytes, which is too much")
    try:
        tree = read_json(data)
    except ValueError:
        raise file.problem("the manifest is no JSON text") from None
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        raise file.problem(f"this is no manifest of partitions: it says no format '{FORMAT}'")
    part = Part(tree, file)
    part.text("format")
    number = part.count("version", 1)
    if number > VERSION:
        what = f"this folder was written by a newer relynx: its format is {number}"
        raise DataError(what, path, hint=f"update relynx; {version} reads formats up to {VERSION}")
    words = part.part("vocabulary")
    manifest = Manifest(
        relynx=part.text("relynx"),
        relations=_relations(part),
        classes=None if part.none("classes") else _classes(part),
        times=None if part.none("times") else _times(part),
        background=None if part.none("background") else _background(part),
        reading=None if part.none("reading") else schema_of(part.part("reading")),
        n_constants=_count(words, "constants"),
        vocabulary=_file(words, VOCABULARY),
        parts=tuple(_part(i, one) for i, one in enumerate(part.parts("parts"))),
    )
    words.end()
    part.end()
    _check_parts(manifest, part)
    return manifest


def _relations(part: Part) -> tuple[Key, ...]:
    keys: list[Key] = []
    for value in part.listed("relations"):
        match value:
            case [str(name), int(arity)] if not isinstance(arity, bool) and 0 <= arity < 1000:
                keys.append((name, arity))
            case _:
                raise part.wrong("relations", "holds what is no predicate with its arity")
        if SURROGATE.search(name):
            raise part.wrong("relations", "holds a name that is no Unicode text")
    if len({name for name, _ in keys}) < len(keys):
        raise part.wrong("relations", "names a predicate twice")
    return tuple(keys)


def _classes(part: Part) -> tuple[Constant, ...]:
    classes = part.listed("classes")
    if not all(is_constant(value) and not isinstance(value, bool) for value in classes):
        raise part.wrong("classes", "holds what is no class")
    if len({constant_key(c) for c in classes}) < len(classes):
        raise part.wrong("classes", "holds a class twice")
    return tuple(classes)


def _times(part: Part) -> tuple[str, ...]:
    kinds = part.texts("times")
    if len(kinds) != 2 or not set(kinds) <= set(TIMES):
        raise part.wrong("times", f"are no two of {', '.join(TIMES)}")
    return kinds


def _background(part: Part) -> Background:
    text = part.text("background")
    try:
        return parse_background(text)
    except InputError:
        raise part.wrong("background", "holds what are no rules") from None


def _part(number: int, part: Part) -> PartFile:
    if number >= MOST_PARTITIONS:
        raise part.file.problem(f"there are more than {MOST_PARTITIONS:,} partitions")
    one = PartFile(
        file=_file(part, part_name(number)),
        n_sequences=_count(part, "sequences"),
        n_facts=_counts(part, "facts"),
        class_sizes=_counts(part, "classes"),
    )
    part.end()
    return one


def _file(part: Part, name: str) -> File:
    """A file of the folder itself, under the one name that it may have."""
    if part.text("file") != name:
        raise part.wrong("file", f"is not '{name}'")
    sha256 = part.text("sha256")
    if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
        raise part.wrong("sha256", "is no checksum")
    return File(name, part.count("bytes"), sha256)


def _count(part: Part, name: str) -> int:
    count = part.count(name)
    if count > MOST:
        raise part.wrong(name, f"is {count:,}, which is too much")
    return count


def _counts(part: Part, name: str) -> tuple[int, ...]:
    counts = part.listed(name)
    if not all(type(n) is int and 0 <= n <= MOST for n in counts):
        raise part.wrong(name, "holds what is no number of sequences or facts")
    return tuple(counts)


def _check_parts(manifest: Manifest, part: Part) -> None:
    """What the partitions say fits what the whole says."""
    if not manifest.parts:
        raise part.wrong("parts", "is empty")
    if sum(one.n_sequences for one in manifest.parts) > MOST:
        raise part.wrong("parts", "holds more sequences than there can be")
    n_classes = len(manifest.classes or ())
    known, named = 0, 0
    for i, one in enumerate(manifest.parts):
        location = f"parts.{i}"
        if not known <= one.n_relations <= len(manifest.relations):
            raise part.wrong(f"{location}.facts", "has not a number for each predicate")
        if not named <= len(one.class_sizes) <= n_classes:
            raise part.wrong(f"{location}.classes", "has not a number for each class")
        if manifest.classes is not None and sum(one.class_sizes) != one.n_sequences:
            raise part.wrong(f"{location}.classes", "do not sum to the number of sequences")
        known, named = one.n_relations, len(one.class_sizes)
