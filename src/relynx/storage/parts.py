"""The parts of a model file: plain values for writing, checked values when reading.

A part is a JSON object with named fields. What JSON cannot say is an object with one field:
`{"tuple": [...]}`, `{"dict": [[key, value], ...]}`, `{"float": "inf"}`, and `{"array": name}` for
an array that is stored beside the text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from relynx.errors import DataError, InputError

Array: TypeAlias = NDArray[Any]
Shape: TypeAlias = tuple[int | None, ...]
T = TypeVar("T")

ARRAY_TYPES = ("|b1", "|i1", "|u1", *(f"<{k}{n}" for k in "iu" for n in (2, 4, 8)), "<f4", "<f8")
SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
WIDEST_LABELS = 1 << 26  # bytes
_TEXTS = re.compile("<U([0-9]{1,8})")  # the numpy type of texts
DAMAGED = "the file is damaged or no work of relynx.save: take another copy, or save it again"


def plain(value: object, what: str) -> Any:
    """A value in the form of the file; `what` names it in the error where it cannot be stored."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, np.ndarray) and _little(value).dtype.str in ARRAY_TYPES:
        return _little(value)
    if isinstance(value, list):
        return [plain(one, what) for one in value]
    if isinstance(value, tuple):
        return {"tuple": [plain(one, what) for one in value]}
    if isinstance(value, Mapping):
        return {"dict": [[plain(key, what), plain(one, what)] for key, one in value.items()]}
    kept = "numbers, texts, lists, tuples, dicts and arrays of numbers"
    raise _not_kept(f"{what} is {_short(value)}", kept)


def plain_labels(labels: Array, what: str) -> Any:
    """The classes of a model: numbers as an array, others as values with their numpy type."""
    if labels.dtype.kind not in "UO":
        return plain(labels, what)
    values = [plain_label(label, what) for label in labels.tolist()]
    return {"dtype": "object" if labels.dtype.kind == "O" else labels.dtype.str, "values": values}


def plain_label(label: object, what: str) -> Any:
    """One class: a text, a number or a boolean."""
    if isinstance(label, np.generic):
        label = label.item()
    if not is_label(label):
        kept = "classes that are texts, finite numbers or truth values"
        raise _not_kept(f"{what} has the class {_short(label)}", kept)
    return label


def _not_kept(what: str, kept: str) -> InputError:
    return InputError(f"{what}, which a model file cannot keep", hint=f"it keeps {kept}")


def is_label(value: object) -> bool:
    """Whether a value can be a class: a text, a finite number or a boolean."""
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _little(array: Array) -> Array:
    """The array with the byte order of the file."""
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


@dataclass(frozen=True, slots=True)
class ModelFile:
    """The arrays of a model file by name, and which of them have been taken."""

    path: str
    arrays: Mapping[str, Array]
    hint: str = DAMAGED
    taken: set[str] = field(default_factory=set)

    def problem(self, what: str) -> DataError:
        """The error for a file in which something is wrong."""
        return DataError(what, self.path, hint=self.hint)

    def take(self, name: str) -> Array | None:
        """An array, once."""
        if name in self.taken:
            return None
        self.taken.add(name)
        return self.arrays.get(name)

    def end(self) -> None:
        for name in self.arrays:
            if name not in self.taken:
                raise self.problem(f"the array {_short(name)} belongs to nothing")


class Part:
    """The fields of a part, each taken by a method of its type; `end` rejects what is left."""

    __slots__ = ("_fields", "file", "location")

    def __init__(self, fields: object, file: ModelFile, location: str = "") -> None:
        if not isinstance(fields, dict):
            raise file.problem(f"{location or 'the model'} is no object")
        self._fields: dict[str, Any] = dict(fields)
        self.file = file
        self.location = location

    def wrong(self, name: str, what: str) -> DataError:
        """The error for a field: what it should be, or what is wrong with it."""
        return self.file.problem(f"{self._at(name)} {what}")

    def _at(self, name: str) -> str:
        return f"{self.location}.{name}" if self.location else name

    def has(self, name: str) -> bool:
        return name in self._fields

    def names(self) -> tuple[str, ...]:
        """The fields that were not taken yet."""
        return tuple(self._fields)

    def _take(self, name: str) -> Any:
        if name not in self._fields:
            raise self.wrong(name, "is missing")
        return self._fields.pop(name)

    def end(self) -> None:
        for name in self._fields:
            raise self.file.problem(f"{_short(self._at(name))} is a field that nothing asks for")

    def none(self, name: str) -> bool:
        """Whether there is null, which is then taken."""
        if name not in self._fields or self._fields[name] is not None:
            return False
        del self._fields[name]
        return True

    def _typed(self, name: str, value: object, type_: type[T], what: str) -> T:
        if not isinstance(value, type_):
            raise self.wrong(name, what)
        return value

    def text(self, name: str) -> str:
        return self._typed(name, self._take(name), str, "is no text")

    def text_or_none(self, name: str) -> str | None:
        return None if self.none(name) else self.text(name)

    def truth(self, name: str) -> bool:
        return self._typed(name, self._take(name), bool, "is neither true nor false")

    def count(self, name: str, least: int = 0) -> int:
        value = self._take(name)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value < 2**63:
            raise self.wrong(name, f"is no whole number from {least} on")
        return value

    def number(self, name: str) -> float:
        """A number; it may be infinite, but not NaN."""
        value = self.value(name)
        if not isinstance(value, int | float) or isinstance(value, bool) or value != value:
            raise self.wrong(name, "is no number")
        return value

    def share(self, name: str) -> float:
        value = self.number(name)
        if not 0 <= value <= 1:
            raise self.wrong(name, "is no number from 0 to 1")
        return value

    def listed(self, name: str) -> list[Any]:
        return self._typed(name, self.value(name), list, "is no list")

    def texts(self, name: str) -> tuple[str, ...]:
        values = self.listed(name)
        if not all(isinstance(value, str) for value in values):
            raise self.wrong(name, "is no list of texts")
        return tuple(values)

    def value(self, name: str) -> Any:
        return self._decoded(self._take(name), name)

    def part(self, name: str) -> Part:
        return Part(self._take(name), self.file, self._at(name))

    def part_or_none(self, name: str) -> Part | None:
        return None if self.none(name) else self.part(name)

    def parts(self, name: str) -> Iterator[Part]:
        for i, value in enumerate(self._typed(name, self._take(name), list, "is no list")):
            yield Part(value, self.file, f"{self._at(name)}.{i}")

    def array(
        self, name: str, dtype: DTypeLike, shape: Shape | None = None, *, infinite: bool = False
    ) -> Array:
        """An array of a type and shape, None for any; without NaN, and finite unless allowed."""
        array = self.value(name)
        wanted = np.dtype(dtype)
        if not isinstance(array, np.ndarray) or array.dtype != wanted:
            raise self.wrong(name, f"is no array of {wanted.name}")
        if shape is not None and not _fits(array.shape, shape):
            sizes = ", ".join("any" if size is None else str(size) for size in shape)
            raise self.wrong(name, f"has the shape {array.shape}, not ({sizes})")
        if wanted.kind == "f":
            if np.isnan(array).any():
                raise self.wrong(name, "holds NaN")
            if not infinite and not np.isfinite(array).all():
                raise self.wrong(name, "holds an infinite number")
        return array

    def numbers(self, name: str, shape: Shape, least: int, most: int) -> Array:
        """An array of whole numbers, none below `least` or above `most`."""
        array = self.array(name, np.int64, shape)
        if array.size and (array.min() < least or array.max() > most):
            raise self.wrong(name, f"holds a number outside {least} to {most}")
        return array

    def shares(self, name: str, n: int) -> Array:
        """Nonnegative numbers that sum to 1."""
        values = self.array(name, np.float64, (n,))
        if (values < 0).any() or not np.isclose(values.sum(), 1):
            raise self.wrong(name, "are no shares that sum to 1")
        return values

    def labels(self, name: str) -> Array:
        """Classes: different, in order, at least one."""
        field = self._take(name)
        if isinstance(field, dict) and field.keys() == {"dtype", "values"}:
            labels = self._typed_labels(name, field["dtype"], field["values"])
        else:
            labels = self._decoded(field, name)
        if not isinstance(labels, np.ndarray) or labels.ndim != 1 or not len(labels):
            raise self.wrong(name, "is no list of classes")
        try:
            in_order = np.array_equal(np.unique(labels), labels)
        except TypeError:  # texts and numbers have no order
            in_order = False
        if not in_order or (labels.dtype.kind == "f" and not np.isfinite(labels).all()):
            raise self.wrong(name, "are no different classes in order")
        return labels

    def _typed_labels(self, name: str, dtype: object, values: object) -> Array:
        if not isinstance(values, list) or not all(map(is_label, values)):
            raise self.wrong(name, "is no list of classes")
        if dtype == "object":
            labels = np.empty(len(values), object)
            labels[:] = values
            return labels
        found = _TEXTS.fullmatch(str(dtype))
        if found is not None and all(isinstance(value, str) for value in values):
            width = int(found[1])
            longest = max(map(len, values), default=0)
            if longest <= width and 4 * width * len(values) <= WIDEST_LABELS:
                return np.array(values, f"<U{width}")
        raise self.wrong(name, "has a type that no classes have")

    def _decoded(self, value: Any, name: str) -> Any:
        """The inverse of `plain`."""
        if isinstance(value, list):
            return [self._decoded(one, name) for one in value]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            [(tag, inner)] = value.items()
            if tag == "array" and isinstance(inner, str):
                array = self.file.take(inner)
                if array is None:
                    raise self.wrong(name, "is an array that is missing, or used twice")
                return array
            if tag == "tuple" and isinstance(inner, list):
                return tuple(self._decoded(one, name) for one in inner)
            if tag == "float" and isinstance(inner, str) and inner in SPECIAL:
                return SPECIAL[inner]
            if tag == "dict" and isinstance(inner, list):
                return self._mapping(inner, name)
        raise self.wrong(name, "holds an object of an unknown kind")

    def _mapping(self, pairs: list[Any], name: str) -> dict[Any, Any]:
        out = {}
        for pair in pairs:
            if not isinstance(pair, list) or len(pair) != 2:
                raise self.wrong(name, "holds a dict that is none")
            key = self._decoded(pair[0], name)
            try:
                known = key in out
            except TypeError:
                raise self.wrong(name, "holds a dict that is none") from None
            if known:
                raise self.wrong(name, "holds a key twice")
            out[key] = self._decoded(pair[1], name)
        return out


def _fits(sizes: tuple[int, ...], shape: Shape) -> bool:
    return len(sizes) == len(shape) and all(
        want is None or size == want for size, want in zip(sizes, shape, strict=True)
    )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
