"""Checkpoints: a folder that keeps the results of a long computation in order, even after kill -9.

    manifest.json         the format, what the work is, and whether it is finished
    segment-000000.bin    the first results, segment-000001.bin the next ones, ...
    lock                  held while a process works in the folder; the system frees it

Files are written atomically. A segment has a checksum and holds plain arrays of numbers. A resumed
computation reads the stored results instead of computing them again.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import math
import os
import re
import struct
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.errors import DataError, InputError
from relynx.storage.parts import ARRAY_TYPES
from relynx.storage.whole_files import PARTIAL, named, sync, whole_file
from relynx.version import __version__

Result: TypeAlias = tuple[NDArray[Any], ...]

FORMAT, VERSION = "relynx checkpoint", 1
MANIFEST, LOCK = "manifest.json", "lock"
FLUSH_SECONDS = 5.0  # results wait so long at most before they are written
FLUSH_BYTES = 1 << 24

_SEGMENT = re.compile(r"segment-([0-9]{6,})\.bin")
_KEPT = "what was kept before stays, and the same call resumes from there"
_DAMAGED = "something else changed it: remove the folder to start afresh, or restore it from a copy"

# A segment: results, each some arrays of numbers, as bytes with a checksum.
_MAGIC = b"relynx segment 1"
_HEAD = struct.Struct("<16s32s32sqqqq")  # magic, checksum, key, number, results, index, bytes
_SUMMED = 48  # where what the checksum is of begins
_DTYPES = [np.dtype(name) for name in ARRAY_TYPES]
_NUMBER = {dtype: i for i, dtype in enumerate(_DTYPES)}


@dataclass(frozen=True, slots=True)
class Work:
    """The computation of a checkpoint; equal ones have equal results in the same order."""

    kind: str
    version: int  # of the format of the results
    about: str  # for people
    inputs: Mapping[str, str]  # digests of data, by name
    settings: Mapping[str, object]  # what else the results depend on

    def described(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "results": self.version,
            "relynx": __version__,
            "inputs": dict(self.inputs),
            "settings": {name: _shown(value) for name, value in self.settings.items()},
        }

    def key(self) -> str:
        """A digest of everything that the results depend on."""
        text = json.dumps(self.described(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()


class Journal:
    """The results of a computation, in order: stored ones, then those that are added. Raises
    InputError where the folder cannot be written, is in use, or is of other work, DataError where
    it is damaged. It flushes at the end, also after an error."""

    def __init__(self, folder: str | os.PathLike[str], work: Work) -> None:
        self.folder = folder_name(folder)
        self.work = work
        self._key = bytes.fromhex(work.key())
        self._lock = locked(self.folder)
        self._lock.__enter__()
        try:
            self.finished = False
            self._read_manifest()
            self._n_segments = self._segments()
        except BaseException:
            self._lock.__exit__(None, None, None)
            raise
        self._old = self._replayed()
        self._waiting: list[Result] = []
        self._n_bytes = 0
        self._flushed = time.monotonic()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            if not isinstance(error, InputError):  # which may be that nothing can be written
                self.flush()
        finally:
            self._lock.__exit__(None, None, None)

    def kept(self) -> Iterator[Result]:
        """The stored results, each once. The following ones are to be computed and added."""
        return self._old

    def once(self, compute: Callable[[], Result]) -> Result:
        """The next result: the stored one, or else computed and added."""
        for result in self._old:
            return result
        result = compute()
        self.add(result)
        return result

    def add(self, result: Result) -> None:
        """Keep a result, of plain arrays; it is on the disk a few seconds later."""
        self._waiting.append(result)
        self._n_bytes += sum(array.nbytes for array in result)
        if time.monotonic() - self._flushed > FLUSH_SECONDS or self._n_bytes > FLUSH_BYTES:
            self.flush()

    def flush(self) -> None:
        if self._waiting:
            if self.finished:  # a larger limit was requested
                self._write_manifest(finished=False)
            data = packed(self._key, self._n_segments, self._waiting)
            self._write(f"segment-{self._n_segments:06d}.bin", data)
            self._n_segments += 1
            self._waiting, self._n_bytes = [], 0
        self._flushed = time.monotonic()

    def finish(self) -> None:
        """Flush, and mark the work as finished; the results can still be read."""
        self.flush()
        if not self.finished:
            self._write_manifest(finished=True)

    def _replayed(self) -> Iterator[Result]:
        for number in range(self._n_segments):
            path = os.path.join(self.folder, f"segment-{number:06d}.bin")
            try:
                with open(path, "rb") as file:
                    data = file.read()
            except OSError as error:
                what = f"this part of a checkpoint cannot be read ({error.strerror})"
                raise InputError(what, path) from None
            try:
                results = unpacked(data, self._key, number)
            except ValueError as error:
                raise DataError(str(error), path, hint=_DAMAGED) from None
            yield from results

    def _read_manifest(self) -> None:
        """Read it, or write one. Raises InputError where the folder is of other work."""
        path = os.path.join(self.folder, MANIFEST)
        if not os.path.exists(path):
            self._check_empty()
            self._write_manifest(finished=False)
            return
        try:
            with open(path, encoding="utf-8") as file:
                tree = json.load(file)
            version, finished = tree["version"], tree["finished"]
            if tree["format"] != FORMAT or not isinstance(version, int):
                raise ValueError
            if version <= VERSION:
                differences = _differences(tree["work"], self.work.described())
        except OSError as error:
            raise InputError(f"this checkpoint cannot be read ({error.strerror})", path) from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            what = "this is no manifest of a checkpoint, or it is damaged"
            raise DataError(what, path, hint=_DAMAGED) from None
        if version > VERSION:
            what = f"this checkpoint was written by a newer relynx: its format is {version}"
            known = f"{__version__} knows formats to {VERSION}"
            hint = f"update relynx, or give another folder; {known}"
            raise InputError(what, self.folder, hint=hint)
        if differences:
            what = f"this checkpoint is of other work: {'; '.join(differences)}"
            hint = "give another folder, or remove this one to start afresh"
            raise InputError(what, self.folder, hint=hint)
        self.finished = finished is True

    def _check_empty(self) -> None:
        for name in sorted(os.listdir(self.folder)):
            if name != LOCK:
                what = f"this folder is no checkpoint, and it is not empty: it holds {name!r}"
                hint = "give a folder that is empty or not there yet"
                raise InputError(what, self.folder, hint=hint)

    def _segments(self) -> int:
        """How many there are. Raises DataError where one is missing in between."""
        there = {m[0] for name in os.listdir(self.folder) if (m := _SEGMENT.fullmatch(name))}
        for number in range(len(there)):
            name = f"segment-{number:06d}.bin"
            if name not in there:
                what = f"{name} is missing, and later ones are there"
                raise DataError(what, self.folder, hint=_DAMAGED)
        return len(there)

    def _write_manifest(self, *, finished: bool) -> None:
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "about": self.work.about,
            "finished": finished,
            "work": self.work.described(),
        }
        self._write(MANIFEST, json.dumps(manifest, indent=2).encode("ascii") + b"\n")
        self.finished = finished

    def _write(self, name: str, data: bytes) -> None:
        path = os.path.join(self.folder, name)
        with whole_file(path, tidy=False, kept=_KEPT) as partial, open(partial, "wb") as file:
            file.write(data)


def digest(parts: Iterable[object]) -> str:
    """A digest of some parts: arrays of numbers, and the `repr` of anything else."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            total.update(repr((part.dtype.str, part.shape)).encode())
            total.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
        else:
            text = repr(part).encode(errors="surrogatepass")
            total.update(b"%d:" % len(text))
            total.update(text)
    return total.hexdigest()


def folder_name(checkpoint: Any) -> str:
    """The name of a folder. Raises InputError where it is invalid."""
    if isinstance(checkpoint, str | os.PathLike):
        name = os.fsdecode(checkpoint)
        if name and "\0" not in name:
            return name
    hint = "give a folder to keep results in, or None"
    raise InputError(f"checkpoint is {checkpoint!r}", hint=hint)


def _is_ours(name: str) -> bool:
    return name == MANIFEST or _SEGMENT.fullmatch(name) is not None


@contextlib.contextmanager
def locked(
    folder: str | os.PathLike[str], *, ours: Callable[[str], bool] = _is_ours, wait: bool = False
) -> Iterator[str]:
    """Make a folder where it is missing, lock it, and remove what a killed process left
    half-written there of the files that are `ours`. Raises InputError where another one is in it,
    unless we wait for it, or where it cannot be made."""
    name = os.fsdecode(folder)
    with named(name, "this folder cannot be used for a checkpoint") as path:
        _make(path)
        handle = os.open(os.path.join(path, LOCK), os.O_RDONLY | os.O_CREAT, 0o666)
    try:
        with named(name, "this folder cannot be locked"):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    raise
                what = "another process, or another part of this one, works on this checkpoint"
                hint = "wait until it is done, or give another folder"
                raise InputError(what, name, hint=hint) from None
            for left in os.listdir(path):
                partial = PARTIAL.fullmatch(left)
                if partial and ours(partial[1]):
                    os.remove(os.path.join(path, left))
        yield name
    finally:
        os.close(handle)


def _make(path: str) -> None:
    """Make a folder and those above it; their names are on the disk when this returns."""
    missing = [path]
    while not os.path.isdir(missing[-1]):
        missing.append(os.path.dirname(missing[-1]))
    os.makedirs(path, exist_ok=True)
    for above in reversed(missing[1:]):
        sync(above)


def _differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    if before["kind"] != now["kind"]:
        return [f"it is of {before['kind']}, this is {now['kind']}"]
    found = []
    for part, words in (("relynx", "relynx"), ("results", "the form of the results")):
        if before[part] != now[part]:
            found.append(f"{words} was {before[part]} and is {now[part]}")
    inputs, settings = before["inputs"], before["settings"]
    names = {**inputs, **now["inputs"]}
    found += [f"{name} changed" for name in names if inputs.get(name) != now["inputs"].get(name)]
    for name in {**settings, **now["settings"]}:
        old, new = settings.get(name, "unknown"), now["settings"].get(name, "unknown")
        if old != new:
            found.append(f"{name} was {old} and is {new}")
    return found


def _shown(value: object) -> str:
    """A setting as text: the same for numbers of numpy and of Python."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    return repr(value)


def packed(key: bytes, number: int, results: Sequence[Result]) -> bytes:
    index: list[int] = []
    pieces: list[bytes] = []
    for result in results:
        index.append(len(result))
        for array in result:
            little = array.astype(array.dtype.newbyteorder("<"), copy=False)
            index += (_NUMBER[little.dtype], array.ndim, *array.shape)
            pieces.append(little.tobytes())
    numbers = np.array(index, "<i8").tobytes()
    n_bytes = sum(map(len, pieces))
    content = zlib.compress(b"".join([numbers, *pieces]), 1)
    rest = _HEAD.pack(b"", b"", key, number, len(results), len(index), n_bytes)[_SUMMED:] + content
    return _MAGIC + hashlib.sha256(rest).digest() + rest


def unpacked(data: bytes, key: bytes, number: int) -> list[Result]:
    """The results of a segment. Raises ValueError where it is none of this checkpoint."""
    if len(data) < _HEAD.size or not data.startswith(_MAGIC):
        raise ValueError("this is no part of a checkpoint")
    _, checksum, of, index, n_results, n_index, n_bytes = _HEAD.unpack_from(data)
    if hashlib.sha256(memoryview(data)[_SUMMED:]).digest() != checksum:
        raise ValueError("this part of a checkpoint is damaged")
    if (of, index) != (key, number):
        raise ValueError("this part belongs to another checkpoint, or to another place of it")
    try:
        return _results(memoryview(data)[_HEAD.size :], n_results, n_index, n_bytes)
    except (ValueError, IndexError, OverflowError, RuntimeError, StopIteration, zlib.error):
        raise ValueError("this part of a checkpoint is damaged") from None


def _results(data: memoryview, n_results: int, n_index: int, n_bytes: int) -> list[Result]:
    if min(n_index, n_bytes) < 0:
        raise ValueError
    content = zlib.decompressobj().decompress(data, 8 * n_index + n_bytes + 1)
    if len(content) != 8 * n_index + n_bytes:
        raise ValueError
    index = iter(np.frombuffer(content, "<i8", n_index).tolist())
    results, at = [], 8 * n_index
    for _ in range(n_results):
        arrays = []
        for _ in range(next(index)):
            dtype, n = _DTYPES[next(index)], next(index)
            shape = tuple(next(index) for _ in range(n))
            flat = np.frombuffer(content, dtype, math.prod(shape), at)
            arrays.append(flat.astype(dtype.newbyteorder("=")).reshape(shape))
            at += flat.nbytes
        results.append(tuple(arrays))
    return results
