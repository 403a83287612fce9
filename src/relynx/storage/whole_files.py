"""Atomic and durable writing of files."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Callable, Iterator

from psutil import pid_exists

from relynx.errors import InputError

PARTIAL = re.compile(r"(.+)\.([0-9]{1,9})\.part")  # what a process that was killed may leave behind
HINTS = {
    errno.ENOSPC: "the disk is full: make room, or write to another one",
    errno.EDQUOT: "your share of the disk is full: make room, or write to another one",
    errno.EFBIG: "files may not be so large here: write to another disk",
    errno.EROFS: "the folder is read-only: write to another one",
    errno.EACCES: "you may not write there: write to another folder",
}


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise InputError where `whole_file` would, before there is anything to write."""
    with named(path) as target:
        if os.path.isdir(target):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        partial = _beside(target)
        open(partial, "wb").close()
        os.remove(partial)


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str], *, tidy: bool = True, kept: str = "") -> Iterator[str]:
    """A temporary name next to `path`, renamed to it when the block ends without error, all of it
    then on the disk. `kept` is added to the hint where the file cannot be written: what remains in
    that case."""
    with named(path, kept=kept) as target:
        if tidy:
            remove_partials(target)
        partial = _beside(target)
        try:
            yield partial
            sync(partial)
            os.replace(partial, target)
            sync(os.path.dirname(target))
        finally:
            with contextlib.suppress(OSError):  # it has its name, or there is an error already
                os.remove(partial)


def remove_partials(
    target: str, pattern: re.Pattern[str] = PARTIAL, remove: Callable[[str], object] = os.remove
) -> None:
    """Remove what killed processes of this machine left of a file or folder."""
    folder, name = os.path.split(target)
    with contextlib.suppress(OSError):  # the next one may have more luck
        for left in os.listdir(folder):
            partial = pattern.fullmatch(left)
            if partial and partial[1] == name and not pid_exists(int(partial[2])):
                remove(os.path.join(folder, left))


def sync(path: str) -> None:
    """Wait until a file or a folder is on the disk, as far as the file system can tell."""
    try:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EACCES):  # of folders, here and there
            raise


def _beside(target: str) -> str:
    return f"{target}.{os.getpid()}.part"


@contextlib.contextmanager
def named(
    path: str | os.PathLike[str], what: str = "this file cannot be written", *, kept: str = ""
) -> Iterator[str]:
    """Turn errors of the operating system into messages about a path."""
    name = os.fsdecode(path)
    try:
        yield os.path.realpath(name)
    except OSError as error:
        hint = "; ".join(hint for hint in [HINTS.get(error.errno or 0), kept] if hint)
        raise InputError(f"{what} ({error.strerror or error})", name, hint=hint or None) from None
