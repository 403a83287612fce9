"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from relynx.errors import InputError, Problem, Source


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[str]:
    """A name beside `path` to write to, moved there in one step when the block ends well.

    Raises InputError when the file cannot be written.
    """
    name = os.fsdecode(path)
    target = os.path.realpath(name)
    partial = f"{target}.{os.getpid()}.part"
    try:
        try:
            yield partial
            os.replace(partial, target)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.remove(partial)
    except OSError as error:
        reason = f"this file cannot be written ({error.strerror})"
        raise InputError(Problem(reason, Source("", name))) from None
