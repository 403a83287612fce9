"""Cutting Prolog text into tokens that remember where they stand.

The lexer hands out one token at a time, so that a file of any size costs no more memory than its
text. It stops at the first thing that is no token with a `Failure`, which the parser records.
"""

from __future__ import annotations

import contextlib
import math
import re

from relynx.errors import Problem, Source

MAX_DIGITS = 3000

_LAYOUT = re.compile(r"(?:\s++|%[^\r\n]*+)*+")
_TOKEN = re.compile(
    r"""
      (?P<word>[^\W\d][\w\u0300-\u036f]*+)
    | (?P<number>0'(?:\\x[0-9A-Fa-f]+\\?|\\[^\r\n]|''|[^'\\\r\n])
        | 0x[0-9A-Fa-f]+ | 0o[0-7]+ | 0b[01]+
        | [0-9]++(?:_[0-9]++)*+(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+)
    | (?P<quoted>'(?:[^'\\\r\n]++|\\(?:x[0-9A-Fa-f]++\\?|[0-7]++\\|\r?[^\r])|'')*+')
    | (?P<end>\.(?=[\s%]|/\*|\Z))
    | (?P<symbol>:-|-->|->|\?-|\\\+|\\==|\\=|=\\=|=:=|=\.\.|=@=|==|=<|=>|>=|<=|<>|!=|@=<|@>=|@<|@>
        |//|\*\*|\*/|&&|\|\||[-+*/\#<>=^:&@~$?\\;!])
    | (?P<punctuation>[()\[\],{}|])
    | (?P<dot>\.)
    """,
    re.VERBOSE,
)
_ESCAPE = re.compile(
    r"''|\\(?:x([0-9A-Fa-f]+)\\?|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-7]+)\\|(\r?\n)|([\s\S]))"
)
_ESCAPED = {
    **dict(zip("ntrabfve0", "\n\t\r\a\b\f\v\x1b\0", strict=True)),
    **dict(zip("\\'\"`", "\\'\"`", strict=True)),
}
_CLAUSE_END = re.compile(r"\.(?=[\s%]|/\*|\Z)")


class Failure(Exception):
    """One clause cannot be read; `problem` says why. Never leaves the parser."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class Lexer:
    """The current token of a text: `kind` (name, variable, number, quoted, symbol, punctuation, end
    for the `.` after a clause, dot for another, eof), `start` and `end`; `last_end` is where the
    one before ended."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.move(0)
        self._known_line = (0, 1)

    @property
    def token(self) -> str:
        return self.text[self.start : self.end]

    def move(self, position: int) -> None:
        """Forget the current token; the next one is read from `position` on."""
        self.kind = "start"
        self.start = self.end = self.last_end = position

    def line(self, offset: int) -> int:
        """The line of an offset, counted from that of the previous call."""
        known, line = self._known_line
        step = self.text.count("\n", min(known, offset), max(known, offset))
        line += step if offset >= known else -step
        self._known_line = (offset, line)
        return line

    def failure(
        self, message: str, hint: str | None = None, *, at: tuple[int, int] | None = None
    ) -> Failure:
        """What is wrong with the current token, or with the text between two offsets."""
        start, end = at or (self.start, self.end)
        return Failure(Problem(message, self.source, start, max(end - start, 1), hint))

    def on_new_line(self) -> bool:
        """Whether a line break stands between the token before and this one."""
        return self.text.find("\n", self.last_end, self.start) >= 0

    def advance(self) -> None:
        """Move to the next token; raises Failure, without moving, where there is none."""
        self.last_end = self.end
        start = self._skip_layout(self.end)
        match = _TOKEN.match(self.text, start)
        self.start = start
        if match is None:
            self._no_token(start)
            return
        self.end = match.end()
        kind = match.lastgroup or ""
        if kind == "word":
            first = self.text[start]
            if not (first.isalpha() or first == "_"):
                raise self._stray(start)
            kind = "variable" if first == "_" or first.isupper() or first.istitle() else "name"
        elif kind == "number":
            self._check_number_ends(match.group())
        self.kind = kind

    def skip_clause(self, start: int, resume: re.Pattern[str] | None) -> None:
        """After a Failure: move behind the end of the clause that begins at `start`, or to a line
        that `resume` matches."""
        failed_line = max(start, self.text.rfind("\n", start, self.start)) + 1
        while self.kind not in ("end", "eof"):
            if self.kind == "unclosed":
                self._skip_unclosed()
                continue
            with contextlib.suppress(Failure):
                self.advance()
            if resume and self.on_new_line():
                line = resume.match(self.text, self.text.rfind("\n", 0, self.start) + 1)
                if line:
                    self.kind, self.end = "end", line.end()
        line = resume.search(self.text, failed_line, self.end) if resume else None
        self.end = line.start() if line else self.end

    def _skip_unclosed(self) -> None:
        """After an unclosed quote: the clause may end on its line, or continue after it."""
        line_end = self.text.find("\n", self.start)
        line_end = len(self.text) if line_end < 0 else line_end
        stop = _CLAUSE_END.search(self.text, self.start, min(line_end + 1, len(self.text)))
        self.end = stop.end() if stop else line_end
        self.kind = "end" if stop else "stray"

    def _skip_layout(self, position: int) -> int:
        text = self.text
        while True:
            match = _LAYOUT.match(text, position)
            position = match.end() if match else position
            if not text.startswith("/*", position):
                return position
            close = text.find("*/", position + 2)
            if close < 0:
                self.start, self.end, self.kind = position, len(text), "eof"
                at = position, position + 2
                raise self.failure("this comment is never closed", "close it with */", at=at)
            position = close + 2

    def _no_token(self, start: int) -> None:
        """Handle text without a token: the end of the text, or an error."""
        if start >= len(self.text):
            self.end, self.kind = start, "eof"
            return
        character = self.text[start]
        self.end, self.kind = start + 1, "stray"
        if character == "'":
            self.kind = "unclosed"
            inside = "inside quotes, '' stands for a quote and \\n for a line break"
            hint = f"close it with ' on the same line; {inside}"
            raise self.failure("this quote is never closed", hint)
        if character in '"`':
            close = self.text.find(character, start + 1)
            line_end = self.text.find("\n", start)
            closed = close >= 0 and (line_end < 0 or close < line_end)
            self.end = close + 1 if closed else start + 1
            self.kind = "stray" if closed else "unclosed"
            quotes = "double" if character == '"' else "back"
            what = f"a text in {quotes} quotes is not of this language"
            raise self.failure(what, "use single quotes: 'like this'")
        raise self._stray(start)

    def _stray(self, start: int) -> Failure:
        character = self.text[start]
        self.end, self.kind = start + 1, "stray"
        shown = f"the character '{character}'"
        look = {"\u2018": "'", "\u2019": "'", "\u201c": "'", "\u201d": "'"}
        look |= {"\u2013": "-", "\u2212": "-", "\uff0c": ",", "\u2264": "=<", "\u2265": ">="}
        if character in look:
            hint = f"write {look[character]} instead"
        elif character.isprintable():
            hint = f"put a name that holds '{character}' between single quotes"
        else:
            shown, hint = f"the invisible character U+{ord(character):04X}", "delete it"
        return self.failure(f"{shown} cannot stand here", hint)

    def _check_number_ends(self, number: str) -> None:
        """A number must not run into a name, as in `3d` or `1.0Inf`."""
        word = _TOKEN.match(self.text, self.end)
        if word is None or word.lastgroup != "word":
            return
        whole = short(number + word.group())
        self.end, self.kind = word.end(), "stray"
        if word.group().lower() in ("inf", "infinite", "nan"):
            raise self.failure(f"{whole} is no constant: a number must be finite")
        hint = f"put it between quotes: '{whole}'"
        raise self.failure(f"a name cannot begin with a digit: {whole}", hint)

    def number(self) -> int | float:
        """The value of the current token, a number."""
        text = self.token
        if text.startswith("0'"):
            body = text[2:]
            return ord(body if len(body) == 1 else self._unescaped(body, self.start + 2))
        if len(text) > MAX_DIGITS:
            hint = f"at most {MAX_DIGITS} are read; put it between quotes if it is a name"
            raise self.failure(f"a number of {len(text)} characters is too long", hint)
        if text[:2] in ("0x", "0o", "0b"):
            return int(text, 0)
        if text.isdigit():
            return int(text)
        if not any(c in text for c in ".eE"):
            return int(text.replace("_", ""))
        value = float(text)
        if not math.isfinite(value):
            hint = "the largest is about 1.8e308"
            raise self.failure(f"the number {short(text)} is too large", hint)
        return value

    def name(self) -> str:
        """The name that the current token, plain or quoted, denotes."""
        if self.kind == "name":
            return self.token
        inner = self.text[self.start + 1 : self.end - 1]
        if "\\" not in inner and "'" not in inner:
            return inner
        return self._unescaped(inner, self.start + 1)

    def _unescaped(self, inner: str, offset: int) -> str:
        def replace(match: re.Match[str]) -> str:
            hexadecimal = match[1] or match[2] or match[3]
            if hexadecimal or match[4]:
                digits, base = (hexadecimal, 16) if hexadecimal else (match[4], 8)
                code = int(digits, base) if len(digits) <= 12 else -1
                if 0 <= code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
                    return chr(code)
                problem, hint = "stands for no character", "codes go from 0 to 10FFFF"
            elif match[5]:
                return ""
            elif match[6] is None:
                return "'"
            elif match[6] in _ESCAPED:
                return _ESCAPED[match[6]]
            else:
                problem, hint = "is no escape", "write \\\\ for a backslash"
            at = offset + match.start(), offset + match.end()
            raise self.failure(f"{short(match[0])} {problem}", hint, at=at)

        return _ESCAPE.sub(replace, inner)


def short(text: str) -> str:
    """A text cut to what a message can hold."""
    return text if len(text) <= 40 else text[:37] + "..."
