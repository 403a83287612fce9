"""English articles, plurals and lists, as far as patterns need them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

# Words whose sound differs from their first letter: an hour, a unit, a European, an X.
SILENT = re.compile(r"(hour|honest|hono(u)?r|heir)")
SPOKEN_AS_YOU = re.compile(
    r"(uni(?![mnd])|u[st][aeiu]|eu|ewe|one(?![a-z])|once(?![a-z])|u(?![a-z]))"
)
LETTER = re.compile(r"[fhlmnrsx](?![a-z])")
NUMBER = re.compile(r"(8\d*|11|18)(?!\d)")
PLURAL = re.compile(r"[^\W\d_]{2,}(?<![siu])s")


def visible(text: str) -> str:
    """Text with unprintable and direction-changing characters as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def names_of(classes: Iterable[object], text: Callable[[str], str] = visible) -> list[str]:
    """The classes as distinct texts, even if 1 and '1' are both classes."""
    classes = list(classes)
    names = [text(str(c)) for c in classes]
    return names if len(set(names)) == len(names) else [text(repr(c)) for c in classes]


def with_article(word: str) -> str:
    """The word with its indefinite article."""
    return f"{'an' if _takes_an(word) else 'a'} {word}"


def _takes_an(word: str) -> bool:
    sound = word.lower().lstrip("'\"“‘([ ")
    if SPOKEN_AS_YOU.match(sound):
        return False
    regular = sound[:1] in tuple("aeiou")
    return regular or any(rule.match(sound) for rule in (SILENT, LETTER, NUMBER))


def is_plural(word: str) -> bool:
    """Whether a word looks like a plural."""
    return PLURAL.fullmatch(word) is not None


def singular(word: str) -> str:
    """The singular of a plural."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if re.search(r"(x|ch|sh|ss|zz)es$", word):
        return word[:-2]
    return word[:-1]


def listed(parts: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *most, last = [*parts] or [""]
    return " and ".join(filter(None, [", ".join(most), last]))
