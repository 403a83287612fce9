"""English articles, plurals, lists and quotation marks, as far as patterns need them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

# Words whose sound differs from their first letter: an hour, a unit, a European, an X.
SILENT = re.compile(r"(hour|honest|hono(u)?r|heir)")
SPOKEN_AS_YOU = re.compile(
    r"(uni(?![mnd])|u[st][aeiu]|eu|ewe|one(?![a-z])|once(?![a-z])|u(?![a-z]))"
)
LETTER = re.compile(r"[fhlmnrsx](?![a-z])")
NUMBER = re.compile(r"(8\d*|11|18)(?!\d)")
PLURAL = re.compile(r"[^\W\d_]{2,}(?<![siu])s")
LONGEST, HEAD, TAIL = 60, 38, 16  # characters of a name or value: those shown of a longer one
UNCLEAR = re.compile(r"[\s,;()‘’]|(and|with|some|the|another|other|that|of)\Z")


def with_article(word: str) -> str:
    """The word with its indefinite article."""
    sound = word.lower().lstrip("'\"“‘([ ")
    regular = sound[:1] in tuple("aeiou")
    takes_an = regular or any(rule.match(sound) for rule in (SILENT, LETTER, NUMBER))
    return f"{'an' if takes_an and not SPOKEN_AS_YOU.match(sound) else 'a'} {word}"


def is_plural(word: str) -> bool:
    """Whether a word looks like a plural."""
    return PLURAL.fullmatch(word) is not None


def singular(word: str) -> str:
    """The singular of a plural, and any other word as it is."""
    if not is_plural(word):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if re.search(r"(x|ch|sh|ss|zz)es$", word):
        return word[:-2]
    return word[:-1]


def listed(parts: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *most, last = [*parts] or [""]
    return " and ".join(filter(None, [", ".join(most), last]))


def shortened(text: str) -> str:
    """The beginning and the end of a long text."""
    return text if len(text) <= LONGEST else f"{text[:HEAD]}…{text[-TAIL:]}"


def set_off(text: str) -> str:
    """A value in quotation marks, where it could be taken for other words of its sentence."""
    return f"‘{text}’" if UNCLEAR.search(text) else text


def n_cells(text: str) -> int:
    """How many cells of a terminal a text takes: Chinese characters have two, accents none."""
    if text.isascii():
        return len(text)
    none = ("Mn", "Me", "Cf")
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.category(c) in none for c in text)


def aligned(text: str, width: int, *, right: bool = False) -> str:
    """A text with blanks behind or before it, up to so many cells."""
    blanks = " " * (width - n_cells(text))
    return blanks + text if right else text + blanks


def wrapped(
    text: str, width: int, first: str = "", rest: str = "", *, breaks: str | None = None
) -> list[str]:
    """The lines of a text, of no more cells than `width` but for longer words; it is broken at
    blanks, or at what `breaks` says."""
    lines = [first]
    for i, word in enumerate(text.split(breaks)):
        begins = i == 0 or lines[-1] == rest
        if not begins and n_cells(lines[-1]) + 1 + n_cells(word) > width:
            lines.append(rest)
            begins = True
        lines[-1] += word if begins else f" {word}"
    return lines
