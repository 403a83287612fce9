"""The variables of a node, and which of its examples a literal holds in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relynx.bias.modes import EVENT
from relynx.logic.terms import Atom, Var, constant_text
from relynx.models.tildecrf import _crf_kernels as kernels
from relynx.models.tildecrf.candidates import FREE
from relynx.models.tildecrf.encoding import Encoding, Ints
from relynx.models.tildecrf.literal_language import EQUAL

UNKNOWN = np.iinfo(np.int32).max  # the code of a constant that the sequences do not have


@dataclass(frozen=True, slots=True)
class Scope:
    """The variables of a node: the events of the window, then those that literals brought in.

    `types` are the types of the latter, in the order of their columns.
    """

    half: int
    names: tuple[str, ...]
    types: tuple[str, ...] = ()

    @classmethod
    def of_window(cls, half: int) -> Scope:
        """`E0` is the event itself, `E1` the next one, `E_1` the one before."""
        names = (f"E{j}" if j >= 0 else f"E_{-j}" for j in range(-half, half + 1))
        return cls(half, tuple(names))

    def type_(self, v: int) -> str:
        """The type of a variable."""
        return EVENT if v < len(self.names) - len(self.types) else self.types[v - 2 * self.half - 1]

    def fresh(self, types: list[str]) -> list[str]:
        """Names for new variables: `F1`, `F2` for events, `V1`, `V2` for values."""
        names, known = [], list(self.types)
        for type_ in types:
            known.append(type_)
            same = sum((k == EVENT) == (type_ == EVENT) for k in known)
            names.append(f"{'F' if type_ == EVENT else 'V'}{same}")
        return names

    def extended(self, names: list[str], types: list[str]) -> Scope:
        return Scope(self.half, (*self.names, *names), (*self.types, *types))


def yes_rows(encoding: Encoding, scope: Scope, rows: Ints, atom: Atom) -> tuple[Ints, Scope]:
    """The rows in which a literal holds, with its new variables; and the variables then."""
    number, relation = next(
        (i, r) for i, r in enumerate(encoding.language.relations) if r.key == atom.key
    )
    codes = np.full(encoding.cells.shape[1], FREE, np.int32)
    old, new = [], []
    for i, arg in enumerate(atom.args):
        if isinstance(arg, Var):
            if arg.name in scope.names:
                old.append((i, scope.names.index(arg.name)))
            elif not arg.anonymous:
                new.append(i)
        else:
            assert not isinstance(arg, tuple)
            code = encoding.vocabulary.code(arg)  # type: ignore[arg-type]
            codes[i] = UNKNOWN if code < 0 else code
    if len(old) > 1 and scope.type_(old[1][1]) == EVENT != scope.type_(old[0][1]):
        old.reverse()
    anchor = old[0] if old else (len(atom.args), -1)
    joined = old[1] if len(old) > 1 else (-1, 0)
    repeats = any(isinstance(arg, Var) and arg.anonymous for arg in atom.args)
    literal = np.array([number, anchor[1], anchor[0], *joined, repeats], np.int64)
    arguments = np.array(new, np.int64)
    nothing = np.empty((0, rows.shape[1] + len(new)), np.int32)
    data, n = encoding.data, len(rows)
    if new:
        n = kernels.divide(data, rows, scope.half, literal, codes, arguments, nothing)
    out = np.empty((n, nothing.shape[1]), np.int32)
    n = kernels.divide(data, rows, scope.half, literal, codes, arguments, out) if n else 0
    names = [str(atom.args[i]) for i in new]
    return out[:n], scope.extended(names, [relation.types[i] for i in new])


def literal_text(atom: Atom) -> str:
    """The literal as Prolog writes it."""
    if atom.key == EQUAL:
        left, right = (str(a) if isinstance(a, Var) else constant_text(a) for a in atom.args)  # type: ignore[arg-type]
        return f"{left} == {right}"
    return str(atom)
