"""Reading files of the original Lynx program: `begin(Id,Class). fact. ... end.`"""

from __future__ import annotations

import os
from typing import Any

from numpy.typing import NDArray

from relynx.data.lynx.parser import LynxReader
from relynx.data.sequences import Sequences
from relynx.logic.datalog import Background, read_background
from relynx.logic.source_files import read_source


def read_lynx(
    path: str | os.PathLike[str],
    background: str | os.PathLike[str] | Background | None = None,
) -> tuple[Sequences, NDArray[Any] | None]:
    """Read sequences, and their labels, from a file of the original program.

    Parameters
    ----------
    path
        A file of `begin(Id,Class). fact. ... end.`; where the classes are not known, `begin(Id).`
        Nested terms are flattened, `he(e1,h(right,alpha))` to `he(e1,right,alpha)`, and
        `a(x) < b(y) < (c, d(z)).` makes one event for each position, linked by `next_s`.
    background
        Rules that hold in every sequence: a file (`.bk`) or a `Background`.

    Returns
    -------
    tuple
        The sequences, and an array of their labels, which is None when they have none.

    Raises
    ------
    InputError
        With everything that is wrong with the file.

    Examples
    --------
    >>> import pathlib, tempfile, relynx as rx
    >>> path = pathlib.Path(tempfile.mkdtemp(), "train.m")
    >>> _ = path.write_text("begin(s1,fox). p(e1,a). next_s(e1,e2). p(e2,b). end.")
    >>> rx.read_lynx(path)[1].tolist()
    ['fox']
    """
    if background is not None and not isinstance(background, Background):
        background = read_background(background)
    X = LynxReader(read_source(path)).read(background)
    return X, X.labels
