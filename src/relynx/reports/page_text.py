"""Text of the data as a page shows it."""

from __future__ import annotations

import json

# Inside a script element these would end it, or a line of JavaScript.
UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def as_json(value: object) -> str:
    """ASCII JSON that is safe inside a script element, whatever text it holds."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).translate(UNSAFE)


def short(value: float) -> str:
    """A number with three digits, or as a whole number where it is large."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
