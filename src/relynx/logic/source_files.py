"""Source files as UTF-8 text, or a clear error message."""

from __future__ import annotations

import gzip
import io
import os
import zlib

from relynx.errors import InputError, ParseError, Problem, Source

_MARK = "\ufeff"
MAGIC = b"\x1f\x8b"  # with which a file that gzip packed begins
RATIO, FREE = 200, 1 << 26  # a file unpacks to at most RATIO times its size, or FREE bytes


def read_source(path: str | os.PathLike[str]) -> Source:
    """The text of a UTF-8 file. Raises InputError, or ParseError when it is no such text."""
    name = os.fsdecode(path)
    return Source(decoded(read_bytes(path), name), name)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """All of a file. Raises InputError when it cannot be opened."""
    name = os.fsdecode(path)
    try:
        with open(name, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise unreadable(error, name) from None


def read_unpacked(path: str | os.PathLike[str]) -> bytes:
    """All of a file, unpacked where its name ends in .gz. Raises InputError, ParseError."""
    name, data = os.fsdecode(path), read_bytes(path)
    return unpacked(data, name) if name.lower().endswith(".gz") else data


def unreadable(error: Exception, name: str) -> InputError:
    """The error of the user behind one of opening or reading a file."""
    reasons: dict[type[Exception], str] = {
        FileNotFoundError: "there is no such file",
        IsADirectoryError: "this is a folder, not a file",
        PermissionError: "you may not read this file",
    }
    return InputError(reasons.get(type(error), f"this file cannot be read ({error})"), name)


def unpacked(data: bytes, name: str) -> bytes:
    """What is in a file that gzip packed. Raises ParseError where it is none, or a bomb."""
    most = most_unpacked(len(data))
    try:
        with gzip.open(io.BytesIO(data)) as file:
            out = file.read(most + 1)
    except (OSError, EOFError, zlib.error):
        what, hint = "this is no gzip file, or it is cut", "gzip packs a file"
        raise ParseError(what, name, hint=hint) from None
    if len(out) > most:
        raise ParseError(too_much(len(data), name))
    return out


def most_unpacked(size: int) -> int:
    """How many bytes a packed file of a size may hold."""
    return max(RATIO * size, FREE)


def too_much(size: int, name: str) -> Problem:
    """The problem of a packed file that holds more."""
    what = f"this file of {size:,} bytes unpacks to more than {most_unpacked(size):,} bytes"
    return Problem(what, Source("", name), hint="if you trust it, unpack it with gunzip")


def decoded(data: bytes, name: str) -> str:
    """The text of a file, given its bytes. Raises ParseError when it is no UTF-8."""
    whole = Source("", name)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ParseError("this file is saved as UTF-16", whole, hint="save it as UTF-8")
    if data.startswith(MAGIC):
        raise ParseError("this file is compressed", whole, hint="unpack it with gunzip")
    zero = data.find(b"\0")
    if zero >= 0:
        message = "this file holds a zero byte: it is no plain text"
        raise ParseError(_at_byte(data, zero, name, message, "give a text file, saved as UTF-8"))
    try:
        return data.decode("utf-8").removeprefix(_MARK)
    except UnicodeDecodeError as error:
        message = f"byte {error.start} of this file, 0x{data[error.start]:02x}, is not UTF-8"
        problem = _at_byte(data, error.start, name, message, "save the file as UTF-8")
        raise ParseError(problem) from None


def _at_byte(data: bytes, position: int, name: str, message: str, hint: str) -> Problem:
    """A problem at a byte of a file that cannot be read as text."""
    before = data[:position].decode("utf-8", "replace").removeprefix(_MARK)
    text = before + data[position:].decode("utf-8", "replace")
    return Problem(message, Source(text, name), len(before), hint=hint)
