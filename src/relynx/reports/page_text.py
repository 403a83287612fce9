"""Text of the data as a page shows it."""

from __future__ import annotations

from typing import Any


def visible(text: str) -> str:
    """Text with characters that are not printed, or turn the direction, as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def class_names(values: list[Any]) -> tuple[str, ...]:
    """Classes as text that tells them apart and shows every character."""
    names = [visible(str(value)) for value in values]
    if len(set(names)) < len(names):  # 1 and '1'
        names = [visible(repr(value)) for value in values]
    return tuple(names)
