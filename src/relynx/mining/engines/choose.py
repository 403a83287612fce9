"""Which engine searches a language in some data."""

from __future__ import annotations

from typing import Any

from relynx.mining.engines.base import Conditions, Engine
from relynx.mining.engines.bits import engine as bits
from relynx.mining.engines.compiled import Compiled
from relynx.mining.engines.general.engine import General


def choose(
    compiled: Compiled, conditions: Conditions, *, object_identity: bool
) -> type[Engine[Any, Any]]:
    """The fastest engine that can search a language."""
    if bits.fits(compiled, conditions, object_identity=object_identity):
        return bits.Bits
    return General
