"""Languages in which a search does not end."""

from __future__ import annotations

from random import Random
from typing import Any

from relynx import load_protein_folds
from relynx.bias import Bias, parse_bias
from relynx.data.lists import from_lists
from relynx.data.sequences import Sequences


def exploding(name: str) -> tuple[Sequences, Any, Bias, dict[str, Any]]:
    """Sequences, classes, bias and settings: all of the bundled folds, or very many constants."""
    if name == "folds":
        folds = load_protein_folds()
        return folds.X, folds.y, Bias.infer(folds.X), {"max_length": 6}
    random = Random(11)
    lists = [[("p", random.randrange(300)) for _ in range(40)] for _ in range(1_500)]
    X, _ = from_lists(lists)
    bias = parse_bias("type(p(event,t)). mode(p(+,*)). dimension(next_s).")
    return X, None, bias, {"max_length": 8, "max_gap": 6, "min_support": 0.001}
