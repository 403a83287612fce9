"""JSON from untrusted files."""

from __future__ import annotations

import json
import math
from typing import Any

DEEPEST = 60  # levels


def read_json(data: bytes) -> Any:
    """The values of a JSON text in UTF-8: finite numbers, no name twice, not nested too deeply.
    Raises ValueError (TooDeep)."""
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
