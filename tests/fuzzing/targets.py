"""What is fuzzed: a name, a share of all inputs, how an input is made, and who reads it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parents[1]
GOLDEN = TESTS / "golden"
LARGEST = 20_000  # bytes of an input
USUAL = 300
TOKEN = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*|[0-9]+(?:\.[0-9]+)?|\s+|.", re.DOTALL)
WORD = re.compile(rb"([A-Za-z_])|[0-9]")
NUMBERS = [
    *(b"0", b"1", b"-1", b"2", b"00", b"1.5", b"-0.0", b"1e308", b"1e999", b"1e-999", b"nan"),
    *(b"inf", b"-inf", b"2147483647", b"-2147483649", b"9223372036854775807", b"0.1", b"1000000"),
    *(
        b"9223372036854775808",
        b"99999999999",
        b"9" * 400,
        b"9" * 5000,
        b"0x41",
        b"1_000",
        b"\xd9\xa3",
    ),
]
NOISE = [
    *(b"\x00", b"\xff", b"\xef\xbb\xbf", b"\r\n", b"\n", b"\t", b" ", b"\xe2\x80\xa8", b"\xc3\xa9"),
    *(b"\xcc\x81", b"\xed\xa0\x80", b"\xf0\x9f\xa6\x8a", b"\x1f\x8b", b"'", b'"', b"\\", b"%"),
    *(b"(" * 150, b"[" * 150, b"f(" * 60, b"a" * 1000),
]


@dataclass(frozen=True, slots=True)
class Target:
    """`check` gives an input to its reader, which may raise InputError and nothing else.

    What it returns says whether the input was taken. `weight` is the share of the inputs.
    """

    name: str
    weight: float
    make: Callable[[random.Random], bytes]
    check: Callable[[bytes], bool]

    def input(self, seed: int, number: int) -> bytes:
        """One input: the same for the same numbers, whatever came before it."""
        return self.make(random.Random(f"{self.name}/{seed}/{number}"))


class Mutator:
    """Makes inputs of good and bad examples by breaking a few things, as bytes or as tokens."""

    def __init__(self, pool: Sequence[bytes], pieces: Sequence[bytes] = ()) -> None:
        self.pool = [one[:LARGEST] for one in pool]
        self.tokens = [TOKEN.findall(one) for one in self.pool]
        self.words = sorted({token for tokens in self.tokens for token in tokens})
        self.names = [word for word in self.words if word[:1].isalpha()] or [b"a"]
        self.pieces = [*pieces, *NUMBERS] * 3 + NOISE

    def __call__(self, rng: random.Random) -> bytes:
        chance = rng.random()
        if chance < 0.01:
            return rng.randbytes(rng.randrange(200))
        i = rng.randrange(len(self.pool))
        broken = self._broken_tokens if chance < 0.6 else self._broken_bytes
        return broken(i, rng)[:LARGEST]

    def _broken_bytes(self, i: int, rng: random.Random) -> bytes:
        data = bytearray(self.pool[i])
        if len(data) > 2 * USUAL and rng.random() < 0.5:
            start = rng.randrange(len(data) - USUAL) if rng.random() < 0.5 else 0
            data = data[start : start + rng.randrange(USUAL)]
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            at, size = rng.randrange(len(data) + 1), rng.choice((1, 1, 2, 5, 30))
            match rng.randrange(7):
                case 0:
                    del data[at : at + size]
                case 1:
                    data[at:at] = rng.choice(self.pieces)
                case 2:
                    data[at : at + size] = rng.choice(self.pieces)
                case 3:
                    data[at:at] = bytes(data[at : at + size]) * rng.choice((1, 1, 2, 50))
                case 4:
                    data[at : at + 1] = bytes([rng.randrange(256)])
                case 5 if at < len(data):
                    data[at] ^= 1 << rng.randrange(8)
                case _:
                    other = rng.choice(self.pool)
                    cut = rng.randrange(len(other) + 1)
                    data[at:at] = other[cut : cut + 10 * size]
        return bytes(data)

    def _broken_tokens(self, i: int, rng: random.Random) -> bytes:
        tokens = list(self.tokens[i])
        if len(tokens) > 300 and rng.random() < 0.5:
            start = rng.randrange(len(tokens) - 100) if rng.random() < 0.5 else 0
            tokens = tokens[start : start + rng.randrange(20, 150)]
        for _ in range(rng.choice((1, 1, 1, 1, 2, 4))):
            if not tokens:
                break
            at = rng.randrange(len(tokens))
            kind = WORD.match(tokens[at])
            if kind and rng.random() < 0.5:  # a word for a word, a number for a number
                tokens[at] = rng.choice(self.names if kind[1] else NUMBERS)
                continue
            match rng.randrange(5):
                case 0:
                    del tokens[at : at + rng.choice((1, 1, 2, 6))]
                case 1:
                    tokens[at] = rng.choice(self.words)
                case 2:
                    tokens[at] = rng.choice(self.pieces)
                case 3:
                    other = rng.randrange(len(tokens))
                    tokens[at], tokens[other] = tokens[other], tokens[at]
                case _:
                    end = at + rng.choice((1, 3, 8, 30))
                    tokens[at:at] = tokens[at:end] * rng.choice((1, 1, 3))
        return b"".join(tokens)


def golden(*patterns: str) -> list[bytes]:
    """The files of the tests that match, always in one order."""
    paths = [path for pattern in patterns for path in sorted(GOLDEN.glob(pattern))]
    if not paths:
        raise FileNotFoundError(f"no file of {GOLDEN} matches {patterns}")
    return [path.read_bytes() for path in paths]
