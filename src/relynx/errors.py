"""Errors about the user's input: where, what is wrong, and what to do.

Every message is built here. A reader collects `Problem` values, one for each thing that is wrong
with a file, and raises them together, so that a user can fix a file in one go.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SHOWN_PROBLEMS = 50
MOST_PROBLEMS = 100  # a reader stops after this number
MOST_KNOWN = 500  # words among which the nearest is looked for
STOPPED = f"reading stopped here, after {MOST_PROBLEMS} problems"
SHOWN_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Source:
    """A text and its name for the user, usually a path."""

    text: str
    path: str | None = None

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 1."""
        offset = min(max(offset, 0), len(self.text))
        return self.text.count("\n", 0, offset) + 1, self.line_at(offset)[1] + 1

    def line_at(self, offset: int) -> tuple[str, int]:
        """The line that holds an offset, and the offset inside that line."""
        offset = min(max(offset, 0), len(self.text))
        start = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        return self.text[start : len(self.text) if end < 0 else end].rstrip("\r"), offset - start


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, and its position. Without a source it has none."""

    message: str
    source: Source | None = None
    offset: int = -1
    length: int = 1
    hint: str | None = None

    def __str__(self) -> str:
        lines = [self.message]
        if self.source is not None and self.offset >= 0:
            line, column = self.source.line_and_column(self.offset)
            lines = [f"{self.source.path or '<text>'}:{line}:{column}: {self.message}"]
            lines += _excerpt(self.source, self.offset, self.length)
        elif self.source is not None and self.source.path:
            lines = [f"{self.source.path}: {self.message}"]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


def _visible(text: str) -> str:
    """Text with control and other invisible characters escaped."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else " " if c == "\t" else c.encode("unicode_escape").decode()
        for c in text
    )


def _excerpt(source: Source, offset: int, length: int) -> list[str]:
    """The line of a problem with a caret under it, cut to what fits on a screen."""
    line, at = source.line_at(offset)
    before, marked = line[:at], line[at : at + max(length, 1)]
    after = line[at + len(marked) :]
    cut_before = len(before) > SHOWN_WIDTH * 2 // 3
    left = _visible(before[-SHOWN_WIDTH // 2 :] if cut_before else before)
    middle = _visible(marked[:SHOWN_WIDTH])
    room = max(SHOWN_WIDTH - len(left) - len(middle), 10)
    right = _visible(after[:room])
    if cut_before:
        left = "..." + left
    if len(marked) > SHOWN_WIDTH:
        right = "..."
    elif len(after) > room:
        right += "..."
    caret = " " * len(left) + "^" + "~" * (len(middle) - 1)
    return ["    " + left + middle + right, "    " + caret]


class InputError(ValueError):
    """The user's input is wrong. `problems` holds all that was found, in the order of the file.

    One alone may be given as its message, its source or path, and a hint. `path`, `line`, `column`
    and `hint` are those of the first problem (None where it has none).
    """

    def __init__(
        self,
        problems: Problem | str | Iterable[Problem],
        at: Source | str | None = None,
        *,
        hint: str | None = None,
    ) -> None:
        if isinstance(problems, str):
            problems = Problem(problems, Source("", at) if isinstance(at, str) else at, hint=hint)
        if isinstance(problems, Problem):
            problems = [problems]
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__(str(self))

    def __str__(self) -> str:
        stopped = bool(self.problems) and self.problems[-1].message == STOPPED
        found = self.problems[:-1] if stopped else self.problems
        shown = [str(problem) for problem in found[:SHOWN_PROBLEMS]]
        if len(found) > SHOWN_PROBLEMS:
            shown.append(f"... and {len(found) - SHOWN_PROBLEMS} more problems")
        if stopped:
            shown.append(str(self.problems[-1]))
        return "\n".join(shown)

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)

    @property
    def path(self) -> str | None:
        source = self.problems[0].source
        return source.path if source else None

    @property
    def line(self) -> int | None:
        return self._line_and_column()[0]

    @property
    def column(self) -> int | None:
        return self._line_and_column()[1]

    def _line_and_column(self) -> tuple[int, int] | tuple[None, None]:
        first = self.problems[0]
        if first.source is None or first.offset < 0:
            return None, None
        return first.source.line_and_column(first.offset)

    @property
    def hint(self) -> str | None:
        return self.problems[0].hint


class ParseError(InputError):
    """The text has a syntax error."""


class BiasError(InputError):
    """The declarations of a bias contradict each other or the data."""


class DataError(InputError):
    """The facts, the background rules or the labels do not make sense together."""


def first_problems(problems: Iterable[Problem]) -> list[Problem]:
    """The problems of a text in its order; where there are too many, a last one says so."""
    found = sorted(problems, key=lambda problem: problem.offset)
    if len(found) > MOST_PROBLEMS:
        first = found[MOST_PROBLEMS]
        hint = "mend these, and read it again"
        found[MOST_PROBLEMS:] = [Problem(STOPPED, first.source, first.offset, hint=hint)]
    return found


def raise_all(problems: Iterable[Problem | None], kind: type[InputError] = InputError) -> None:
    """Raises one error with all problems, if there are any; a None among them is none."""
    if found := [problem for problem in problems if problem is not None]:
        raise kind(found)


def raise_first(problems: Iterable[Problem], kind: type[InputError]) -> None:
    """Raises the first problems of a text, if there are any."""
    raise_all(first_problems(problems), kind)


def counted(n: int, noun: str) -> str:
    """A number with its noun: `1 argument`, `1,000 classes`."""
    plural = noun + ("es" if noun.endswith(("s", "ch")) else "s")
    return f"{n:,} {noun if n == 1 else plural}"


def did_you_mean(word: str, known: Sequence[str]) -> str | None:
    """A hint that names the most similar known word, or None."""
    if len(word) > 2 * SHOWN_WIDTH:
        return None
    known = known[:MOST_KNOWN]
    near = [one for one in known if one.lower() == word.lower()]
    near += difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"did you mean '{near[0]}'?" if near else None
