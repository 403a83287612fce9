"""The dictionary that turns constants into int32 codes and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from relynx.arrays import Ints
from relynx.logic.terms import Constant, constant_key


class Vocabulary:
    """The constants of some sequences, numbered from 0 in order of first appearance.

    A vocabulary never changes; `extended` and `merged` make new ones that keep every old code.

    Examples
    --------
    >>> from relynx import Vocabulary
    >>> train = Vocabulary(["alpha", "short", 7])
    >>> train.code(7), train.code("unseen"), train[1]
    (2, -1, 'short')
    """

    __slots__ = ("_codes", "constants")

    def __init__(self, constants: Iterable[Constant] = ()) -> None:
        self.constants: tuple[Constant, ...] = tuple(constants)
        self._codes = {constant_key(c): i for i, c in enumerate(self.constants)}
        if len(self._codes) != len(self.constants):
            raise ValueError("a constant occurs twice in a vocabulary")

    def __len__(self) -> int:
        return len(self.constants)

    def __iter__(self) -> Iterator[Constant]:
        return iter(self.constants)

    def __getitem__(self, code: int) -> Constant:
        return self.constants[code]

    def __contains__(self, constant: Constant) -> bool:
        return constant_key(constant) in self._codes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self is other or (
            len(self) == len(other) and list(self._codes) == list(other._codes)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.constants[:6]))
        return f"Vocabulary([{shown}{', ...' if len(self) > 6 else ''}], {len(self)} constants)"

    def code(self, constant: Constant) -> int:
        """The code of a constant, or -1 when it is not in the vocabulary."""
        return self._codes.get(constant_key(constant), -1)

    def extended(self, constants: Iterable[Constant]) -> Vocabulary:
        """This vocabulary with the constants that it lacks added at the end."""
        new = {constant_key(c): c for c in constants}
        added = [c for key, c in new.items() if key not in self._codes]
        return Vocabulary(self.constants + tuple(added)) if added else self

    def merged(self, other: Vocabulary) -> tuple[Vocabulary, Ints]:
        """This vocabulary extended by another, and the new code of each of the other's codes."""
        if self is other:
            return self, np.arange(len(self), dtype=np.int32)
        both = self.extended(other.constants)
        codes = (both._codes[constant_key(c)] for c in other.constants)
        return both, np.fromiter(codes, np.int32, len(other))
