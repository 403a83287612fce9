"""Model files: a zip of a manifest, a JSON text and arrays, written atomically, read with checks.

    manifest.json      format, version, kind, and the size and SHA-256 of every other member
    model.json         the parts of the model
    arrays/NAME.npy    its arrays

Files are untrusted: nothing in them is executed. Members are read into memory, never written to
disk, after their sizes have been checked. The same state gives the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import stat
import struct
import zipfile
import zlib
from typing import Any

import numpy as np

from relynx.errors import DataError, InputError
from relynx.logic.source_files import unreadable
from relynx.storage.parts import ARRAY_TYPES, DAMAGED, Array, ModelFile, Part
from relynx.storage.whole_files import whole_file
from relynx.version import __version__

FORMAT, VERSION = "relynx model", 1
MANIFEST, MODEL = "manifest.json", "model.json"

LARGEST = 1 << 30  # bytes of all members together, and of the file
LARGEST_TEXT = 1 << 26  # bytes of a JSON text
MOST_MEMBERS = 200_000
DEEPEST = 60  # levels of JSON
RATIO, FREE = 200, 1 << 24  # a file unpacks to at most RATIO times its size and FREE bytes
STORED_ABOVE, STORED_RATIO = 1 << 14, 100  # what would pack better than this is not packed

_ARRAY_NAME = re.compile(r"arrays/([A-Za-z0-9_.]{1,300})\.npy")
_HEADER = re.compile(
    rb"\{'descr': '([<|][a-z][0-9])', 'fortran_order': (True|False),"
    rb" 'shape': \(((?:[0-9]{1,12}(?:,|(?:, [0-9]{1,12})+))?)\), \} *\n"
)
_MAGIC = b"\x93NUMPY\x01\x00"
_WRONG_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    RuntimeError,  # NotImplementedError is one
)


def write_archive(path: str | os.PathLike[str], kind: str, state: dict[str, Any]) -> None:
    """Write a state of dicts with identifiers as keys, lists, arrays and JSON values."""
    arrays: dict[str, Array] = {}
    text = _text(_lifted(state, "", arrays))
    members = {MODEL: text} | {f"arrays/{name}.npy": _npy(a) for name, a in arrays.items()}
    total = sum(map(len, members.values()))
    if total > LARGEST or len(text) > LARGEST_TEXT or len(members) >= MOST_MEMBERS:
        what = f"the model takes {total / 2**20:,.0f} MiB in {len(members):,} members"
        what += f", {len(text) / 2**20:,.0f} MiB of them text"
        most = f"{LARGEST >> 20:,} MiB in {MOST_MEMBERS:,} members, {LARGEST_TEXT >> 20} MiB text"
        hint = f"a model file holds at most {most}: keep fewer patterns"
        raise InputError(what, os.fsdecode(path), hint=hint)
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "relynx": __version__,
        "kind": kind,
        "members": {name: [len(data), _digest(data)] for name, data in members.items()},
    }
    packed = _zipped({MANIFEST: _text(manifest)} | members)
    with whole_file(path) as partial, open(partial, "wb") as file:
        file.write(packed)


def _lifted(state: Any, location: str, arrays: dict[str, Array]) -> Any:
    """The state with its arrays replaced by names, under which `arrays` gets them."""
    if isinstance(state, np.ndarray):
        arrays[location] = state
        return {"array": location}
    if isinstance(state, dict):
        return {key: _lifted(one, _under(location, key), arrays) for key, one in state.items()}
    if isinstance(state, list):
        return [_lifted(one, _under(location, i), arrays) for i, one in enumerate(state)]
    return state


def _under(location: str, key: str | int) -> str:
    return f"{location}.{key}" if location else str(key)


def _text(tree: Any) -> bytes:
    return json.dumps(tree, allow_nan=False, separators=(",", ":")).encode("ascii")


def _npy(array: Array) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=(1, 0), allow_pickle=False)
    return out.getvalue()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _zipped(members: dict[str, bytes]) -> bytes:
    """A zip that does not depend on when and where it is written."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)  # its date is 1980-01-01
            info.create_system = 3
            info.external_attr = 0o644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            # A file may not look like a zip bomb.
            if len(data) > STORED_ABOVE and len(data) > STORED_RATIO * len(zlib.compress(data)):
                info.compress_type = zipfile.ZIP_STORED
            file.writestr(info, data, compresslevel=6)
    return out.getvalue()


def read_archive(path: str | os.PathLike[str]) -> tuple[str, Part]:
    """The kind of the model and its parts. Raises InputError, DataError where it is invalid."""
    name = os.fsdecode(path)
    data = _bytes(name)
    reader = _Reader(name, data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            return reader.read(file)
    except DataError:
        raise
    except _WRONG_ZIP:
        what = "this is no model file" if data[:2] != b"PK" else "this file is damaged"
        raise reader.problem(what) from None


def _bytes(name: str) -> bytes:
    try:
        status = os.stat(name)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError
        if not stat.S_ISREG(status.st_mode):
            raise InputError("this is no ordinary file", name)
        if status.st_size > LARGEST:
            raise DataError("this file is too large", name, hint=_limit())
        with open(name, "rb") as file:
            return file.read(status.st_size + 1)  # it sets as much memory aside
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise unreadable(error, name) from None


def _limit() -> str:
    return f"a model file holds at most {LARGEST >> 20:,} MiB; {DAMAGED}"


class _Reader:
    """Reads one file; each step relies on those before it."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.size = len(data)

    def problem(self, what: str, hint: str = DAMAGED) -> DataError:
        return DataError(what, self.path, hint=hint)

    def read(self, file: zipfile.ZipFile) -> tuple[str, Part]:
        infos = self._members(file)
        if MANIFEST not in infos:
            raise self.problem(f"this is no model file: it has no {MANIFEST}")
        kind, sums = self._manifest(self._json(self._content(file, infos[MANIFEST]), MANIFEST))
        contents: dict[str, bytes] = {}
        for name, info in infos.items():
            if name == MANIFEST:
                continue
            if name not in sums:
                raise self.problem(f"the member {_shown(name)} is not in the manifest")
            contents[name] = self._content(file, info)
        for name, (size, digest) in sums.items():
            if name not in contents:
                raise self.problem(f"the member {_shown(name)} is missing")
            if len(contents[name]) != size or _digest(contents[name]) != digest:
                raise self.problem(f"the member {_shown(name)} is not what the manifest says")
        if MODEL not in contents:
            raise self.problem(f"the member '{MODEL}' is missing")
        model = self._json(contents.pop(MODEL), MODEL)
        arrays = {}
        for name, data in contents.items():
            ours = _ARRAY_NAME.fullmatch(name)
            if ours is None:
                raise self.problem(f"the member {_shown(name)} has a name that is not ours")
            arrays[ours[1]] = self._array(name, data)
        return kind, Part(model, ModelFile(self.path, arrays))

    def _members(self, file: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
        """The members by name, once their number and sizes are known to be within the limits."""
        infos = file.infolist()
        total = sum(info.file_size for info in infos)
        if len(infos) > MOST_MEMBERS or total > min(LARGEST, RATIO * self.size + FREE):
            what = f"this file of {self.size:,} bytes would unpack to {total:,} bytes"
            raise self.problem(f"{what} in {len(infos):,} members", _limit())
        members: dict[str, zipfile.ZipInfo] = {}
        for info in infos:
            name = info.filename
            if name in members:
                raise self.problem(f"the member {_shown(name)} is there twice")
            packed = info.compress_type
            if info.flag_bits & 1 or packed not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise self.problem(f"the member {_shown(name)} is packed in a way that is not ours")
            members[name] = info
        return members

    def _content(self, file: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
        try:
            with file.open(info) as member:
                data = member.read(info.file_size + 1)
        except _WRONG_ZIP:
            raise self.problem(f"the member {_shown(info.filename)} is damaged") from None
        if len(data) != info.file_size:
            raise self.problem(f"the member {_shown(info.filename)} is damaged")
        return data

    def _json(self, data: bytes, name: str) -> Any:
        if len(data) > LARGEST_TEXT:
            raise self.problem(f"the member '{name}' is too large", _limit())
        try:
            return read_json(data)
        except TooDeep:
            raise self.problem(f"the member '{name}' is nested too deeply") from None
        except ValueError:
            raise self.problem(f"the member '{name}' is no JSON text") from None

    def _manifest(self, tree: Any) -> tuple[str, dict[str, tuple[int, str]]]:
        """The kind of the model, and the size and SHA-256 of each other member."""
        if not isinstance(tree, dict) or tree.get("format") != FORMAT:
            raise self.problem(f"this is no model file: its manifest says no format '{FORMAT}'")
        version = tree.get("version")
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            raise self.problem("the manifest has no version")
        if version > VERSION:
            what = f"this file was written by a newer relynx: its format is {version}"
            raise self.problem(what, f"update relynx; {__version__} reads formats up to {VERSION}")
        kind, members = tree.get("kind"), tree.get("members")
        if tree.keys() != {"format", "version", "relynx", "kind", "members"}:
            raise self.problem("the manifest lacks a field, or has one too many")
        if not isinstance(kind, str) or not isinstance(members, dict):
            raise self.problem("the manifest lists no members")
        sums: dict[str, tuple[int, str]] = {}
        for name, entry in members.items():
            match entry:
                case [int(size), str(digest)]:
                    sums[name] = size, digest
                case _:
                    raise self.problem(f"the manifest says nothing useful of {_shown(name)}")
        return kind, sums

    def _array(self, name: str, data: bytes) -> Array:
        """An array in numpy's format 1.0, of a type that a model has."""
        wrong = self.problem(f"the member {_shown(name)} is no array of numbers")
        if not data.startswith(_MAGIC) or len(data) < 10:
            raise wrong
        (length,) = struct.unpack("<H", data[8:10])
        header = _HEADER.fullmatch(data[10 : 10 + length])
        if header is None or header[1].decode() not in ARRAY_TYPES:
            raise wrong
        dtype = np.dtype(header[1].decode())
        shape = tuple(int(size) for size in header[3].split(b",") if size.strip())
        if len(shape) > 4 or math.prod(shape) * dtype.itemsize != len(data) - 10 - length:
            raise wrong
        if dtype.kind == "b" and data[10 + length :].strip(b"\x00\x01"):
            raise wrong
        flat = np.frombuffer(data, dtype, offset=10 + length)
        return flat.reshape(shape, order="F" if header[2] == b"True" else "C").copy(order="K")


def _shown(name: str) -> str:
    return repr(name if len(name) <= 60 else f"{name[:57]}...")


def read_json(data: bytes) -> Any:
    """The values of a JSON text: finite numbers, no name twice. Raises ValueError (TooDeep)."""
    try:
        tree = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_once,
            parse_constant=_no_number,
            parse_float=_finite,
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if _deeper(tree, DEEPEST):
        raise TooDeep
    return tree


class TooDeep(ValueError):
    """A text that is nested too deeply."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a name occurs twice")
    return fields


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def _deeper(tree: Any, levels: int) -> bool:
    """Whether there are more levels than this."""
    inner = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return bool(inner) and (levels == 0 or any(_deeper(one, levels - 1) for one in inner))
