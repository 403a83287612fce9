"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator

from relynx.errors import InputError, Problem, Source


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise InputError where `whole_file` would, before there is anything to write."""
    with _named(path) as target:
        if os.path.isdir(target):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        partial = _beside(target)
        open(partial, "wb").close()
        os.remove(partial)


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[str]:
    """A name beside `path` to write to, moved there in one step when the block ends well.

    Raises InputError when the file cannot be written.
    """
    with _named(path) as target:
        partial = _beside(target)
        try:
            yield partial
            os.replace(partial, target)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.remove(partial)


def _beside(target: str) -> str:
    return f"{target}.{os.getpid()}.part"


@contextlib.contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[str]:
    """The file that a path stands for; errors of the system become messages about the path."""
    name = os.fsdecode(path)
    try:
        yield os.path.realpath(name)
    except OSError as error:
        reason = f"this file cannot be written ({error.strerror})"
        raise InputError(Problem(reason, Source("", name))) from None
