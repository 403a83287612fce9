"""The bundled data with the language to mine them in."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.bias.declarations import Bias
from relynx.bias.reader import parse_bias
from relynx.data.data_sets import read_folds
from relynx.data.sequences import Sequences

DESCRIPTION = """\
Protein domains of five alpha/beta folds (SCOP c.1, c.2, c.23, c.37, c.55): helices and strands in
chain order, and the place of each strand in its sheet.

  he(E,Hand,Class,Length)   helix: right or left; alpha, '3to10' or pi; short, medium or long
  st(E,Sense,Length)        strand: plus, minus or null against its neighbour in the sheet
  sense_prev(E,Sense)       the same against the strand before it in the chain
  next_s(X,Y)               Y follows X along the chain
  next_b(X,Y)               the same, among the strands of one sheet
  next_h(X,Y)               Y lies beside X when the sheet is walked from its edge
  ladder(X,Y,Sense)         X and Y are bonded, parallel (plus) or antiparallel (minus); symmetric

by rules:
  neighbour(X,Y)            X and Y are bonded; symmetric
  helix(E,Class,Length)     a helix, whatever its hand
  strand(E)                 a strand, whatever else
  sense(E,Sense)            a strand of this sense, whatever its length

`y` is the fold. `groups` is the SCOP family: split by it, and no relative of a training domain is
in the test part. `bias` is a language for the topology of sheets; write your own to ask for more.
Sources and licences are in PROVENANCE.md beside the file.
"""

# How strands that follow each other along the chain lie in the sheet: the topology of the fold.
BIAS = """\
type(strand(event)).
type(sense(event,sense)).
mode(strand(+)).
mode(sense(+,#)).
dimension(next_b).
dimension(next_h).
maxfollowat(3).
words(strand(E),'a strand').
words(sense(E,plus),'a parallel strand').
words(sense(E,minus),'an antiparallel strand').
words(sense(E,null),'the first strand of a sheet').
words(next_b,'along the chain').
words(next_h,'across the sheet').
"""


@dataclass(frozen=True, slots=True)
class ProteinFolds:
    """What `load_protein_folds` returns; `folds.X` and `folds["X"]` are the same."""

    X: Sequences
    y: NDArray[np.str_]
    groups: NDArray[np.str_]
    bias: Bias
    description: str

    def __getitem__(self, name: str) -> Any:
        if name not in self.__slots__:
            raise KeyError(name)
        return getattr(self, name)

    def keys(self) -> tuple[str, ...]:
        return tuple(self.__slots__)


def load_protein_folds(
    nonredundant: bool = False, path: str | os.PathLike[str] | None = None
) -> ProteinFolds:
    """Load the bundled protein folds: 966 domains of five folds.

    Parameters
    ----------
    nonredundant
        Only the 709 domains of which no two share more than 40 % of their residues.
    path
        Another file of the same format, plain or compressed with gzip.

    Returns
    -------
    ProteinFolds
        `X` the sequences, `y` the folds, `groups` the families, `bias` a language to mine them in,
        `description` what the predicates mean.

    Examples
    --------
    >>> import relynx as rx
    >>> folds = rx.load_protein_folds()
    >>> len(folds.X), folds.X.dimensions, sorted(set(folds.y.tolist()))
    (966, ('s', 'b', 'h'), ['c.1', 'c.2', 'c.23', 'c.37', 'c.55'])
    """
    X, y, groups = read_folds(nonredundant, path)
    return ProteinFolds(X, y, groups, parse_bias(BIAS, "protein folds"), DESCRIPTION)
