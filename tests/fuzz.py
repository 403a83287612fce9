"""Broken files for the readers: anything but InputError, and any hang, is a failure.

`python tests/fuzz.py [SECONDS]` runs for ten minutes unless told otherwise. It mutates the good and
the bad files of the tests; with atheris installed, half of the time is spent on inputs guided by
coverage. An input that fails is kept as fuzz-failure.bin.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from relynx.data.lynx_files import read_lynx
from relynx.data.xes import read_xes
from relynx.errors import InputError, Source
from relynx.logic.datalog import read_background
from relynx.logic.parser import (
    node_rule,
    parse_atom,
    parse_atoms,
    parse_clauses,
    parse_rule,
    parse_term,
)

SLOW = 5.0
LARGEST = 20_000
KEPT = Path("fuzz-failure.bin")
HERE = Path(__file__).parent
PIECES = [
    *[b"(", b")", b"[", b"]", b",", b".", b". ", b"|", b"'", b"''", b'"', b"`", b"\\", b"%", b"/*"],
    *[
        b"*/",
        b":-",
        b"\\+",
        b"<",
        b"=<",
        b"is",
        b"mod",
        b"-",
        b"+",
        b"0'",
        b"0x",
        b"1.5e",
        b"_",
        b"X",
    ],
    *[b"begin(s1,a).", b"begin(", b"end.", b"next_s(e1,e2).", b"follow_s(e1,e2).", b"a < b < c."],
    *[
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\r\n",
        b"\n",
        b" ",
        b"\xe2\x80\xa8",
        b"\xc3\xa9",
        b"9" * 400,
    ],
    *[
        b"p(X) :- q(X), \\+ r(X), Y is X + 1.",
        b"f(" * 60,
        b"[" * 150,
        b"'\\x41\\'",
        b"\\x",
        b"\xcc\x81",
    ],
    *[
        b"<event>",
        b"</event>",
        b"</trace><trace>",
        b"<int key='k' value='1'/>",
        b"<list key='l'><values>",
        b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
        b"&#1;",
        b"&b;",
        b"<![CDATA[",
        b"<!--",
        b"value='nan'",
        b"date",
    ],
]


def seeds() -> list[bytes]:
    """Good and bad files to start from."""
    found = [b"begin(s1,a). p(e1,f(x,1.5)). next_s(e1,e2). end.\n", b"p(X) :- q(X,_), X >= -1.\n"]
    for folder in (HERE / "golden", HERE.parents[1] / "shared" / "golden"):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".pl", ".m", ".bk", ".l", ".val", ".xes"):
                found.append(path.read_bytes()[:LARGEST])
    return found


def mutated(pool: list[bytes], rng: random.Random) -> bytes:
    """A file of the pool with a few things broken, or plain noise."""
    if rng.random() < 0.02:
        return rng.randbytes(rng.randrange(200))
    data = bytearray(rng.choice(pool))
    if len(data) > 400 and rng.random() < 0.7:
        start = rng.randrange(len(data) - 300)
        data = data[start : start + rng.randrange(300)]
    for _ in range(rng.choice([1, 1, 2, 3, 8])):
        at, size = rng.randrange(len(data) + 1), rng.choice([1, 1, 2, 5, 30])
        match rng.randrange(6):
            case 0:
                del data[at : at + size]
            case 1:
                data[at:at] = rng.choice(PIECES)
            case 2:
                data[at : at + size] = rng.choice(PIECES)
            case 3:
                data[at:at] = bytes(data[at : at + size]) * rng.choice([1, 2, 50])
            case 4:
                data[at : at + 1] = bytes([rng.randrange(256)])
            case _:
                other = rng.choice(pool)
                cut = rng.randrange(len(other) + 1)
                data[at:at] = other[cut : cut + 10 * size]
    return bytes(data[:LARGEST])


def check(data: bytes, path: Path) -> None:
    """Give one input to every reader."""
    path.write_bytes(data)
    for read in (read_lynx, read_background, read_xes):
        with contextlib.suppress(InputError):
            read(path)
    text = data.decode("utf-8", "replace")
    source = Source(text, "fuzz.pl")
    clauses, problems = parse_clauses(source)
    str(InputError(problems) if problems else "")
    for clause in clauses:
        with contextlib.suppress(InputError):
            rule = node_rule(clause.node, source)
            if parse_rule(str(rule)) != rule:
                raise AssertionError(f"{rule} reads back as {parse_rule(str(rule))}")
    for parse in (parse_term, parse_atom, parse_atoms):
        with contextlib.suppress(InputError):
            parse(text)


def check_and_keep(data: bytes, path: Path) -> None:
    """Check an input; keep it when it fails or takes too long."""
    faulthandler.dump_traceback_later(10 * SLOW, exit=True)
    path.with_name("current.bin").write_bytes(data)
    start = time.perf_counter()
    try:
        check(data, path)
        seconds = time.perf_counter() - start
        if seconds > SLOW:
            raise TimeoutError(f"one input took {seconds:.1f} s")
    except BaseException as error:
        if not isinstance(error, KeyboardInterrupt):
            KEPT.write_bytes(data)
            print(f"failed on {len(data)} bytes, kept as {KEPT}: {data[:300]!r}")
        raise
    finally:
        faulthandler.cancel_dump_traceback_later()


def run_mutations(seconds: float, path: Path) -> int:
    rng = random.Random(os.environ.get("RELYNX_FUZZ_SEED", time.time_ns()))
    pool, count, end = seeds(), 0, time.monotonic() + seconds
    while time.monotonic() < end:
        check_and_keep(mutated(pool, rng), path)
        count += 1
    return count


def run_atheris(atheris: object, seconds: float, path: Path) -> None:
    corpus = path.with_name("corpus")
    corpus.mkdir()
    for i, seed in enumerate(seeds()):
        (corpus / str(i)).write_bytes(seed)
    options = [f"-max_total_time={int(seconds)}", f"-timeout={int(SLOW)}", f"-max_len={LARGEST}"]
    options += ["-verbosity=0", "-print_final_stats=1", f"-artifact_prefix={path.parent}/"]
    atheris.instrument_all()  # type: ignore[attr-defined]
    atheris.Setup(  # type: ignore[attr-defined]
        [sys.argv[0], *options, str(corpus)], lambda data: check_and_keep(data, path)
    )
    atheris.Fuzz()  # type: ignore[attr-defined]


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600.0
    try:
        import atheris
    except ImportError:
        atheris = None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fuzz.m"
        count = run_mutations(seconds / 2 if atheris else seconds, path)
        print(f"{count:,} mutated inputs, nothing but InputError", flush=True)
        if atheris:
            child = os.fork()  # libFuzzer ends its process, and would leave the folder behind
            if child == 0:
                run_atheris(atheris, seconds / 2, path)
            raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    main()
