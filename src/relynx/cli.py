"""The command line. Exit 0 fine, 2 the user's error (a message, no traceback), 1 ours."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relynx import __version__
from relynx.errors import DataError, InputError, ParseError, Problem, Source

if TYPE_CHECKING:
    from relynx.data.sequences import Sequences
    from relynx.logic.datalog import Background

DATA, BACKGROUND, BIAS = (".m", ".val"), (".bk", ".pl"), (".l",)
ENDINGS = "data end in .m or .val, background knowledge in .bk or .pl, a bias in .l"
INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="relynx", message="%(prog)s %(version)s")
def relynx() -> None:
    """Learn to classify relational sequences, and say why."""


@relynx.command()
@click.argument("files", nargs=-1, required=True)
def check(files: tuple[str, ...]) -> int:
    """Report every problem of FILES at once, and run nothing.

    Data end in .m or .val, background knowledge in .bk or .pl, a bias in .l.
    """
    errors: list[InputError] = []
    data: list[Sequences] = []
    backgrounds: list[Background] = []
    for path in files:
        try:
            click.echo(_checked(path, data, backgrounds))
        except InputError as error:
            errors.append(error)
    for background in backgrounds:
        if problems := list(_arity_problems(background, data)):
            errors.append(DataError(problems))
    for wrong in errors:
        click.echo(str(wrong), err=True)
    return 2 if errors else 0


@relynx.command()
def demo() -> None:
    """Ask three patterns of the bundled protein folds."""
    from relynx.demo import show

    show()


@relynx.command()
def warmup() -> None:
    """Compile what is compiled on first use, and keep it for later runs."""
    from relynx.demo import warm_up

    click.echo(f"ready after {warm_up():.1f} s")


def _checked(path: str, data: list[Sequences], backgrounds: list[Background]) -> str:
    """One line about a good file; what was read joins the lists. Raises InputError."""
    # Imported here so that `relynx --help` loads neither numpy nor the readers.
    from relynx.data.lynx_files import read_lynx
    from relynx.logic.datalog import read_background

    ending = Path(path).suffix
    if ending in DATA:
        X, _ = read_lynx(path)
        data.append(X)
        return f"{path}: {_described(X)}"
    if ending in BACKGROUND:
        background = read_background(path)
        backgrounds.append(background)
        facts = sum(not rule.body for rule in background.rules)
        rules = len(background.rules) - facts
        return f"{path}: {_count(rules, 'rule')}, {_count(facts, 'fact')}"
    if ending in BIAS:
        return f"{path}: {_count(_declarations(path), 'declaration')}"
    what = f"unknown kind of file '{ending}'" if ending else "a file without an ending"
    raise InputError(Problem(what, Source("", path), hint=ENDINGS))


def _declarations(path: str) -> int:
    """How many declarations a bias file has. Raises ParseError where its syntax is wrong."""
    from relynx.logic.parser import parse_clauses
    from relynx.logic.source_files import read_source

    clauses, problems = parse_clauses(read_source(path))
    if problems:
        raise ParseError(problems)
    return len(clauses)


def _arity_problems(background: Background, data: list[Sequences]) -> Iterator[Problem]:
    """Atoms of the rules that have another number of arguments than the data."""
    from relynx.logic.terms import Atom, Not, quoted

    arities = {name: arity for X in data for name, arity in X.tables}
    for rule in background.rules:
        for literal in (rule.head, *rule.body):
            atom = literal.atom if isinstance(literal, Not) else literal
            if not isinstance(atom, Atom):
                continue
            name, arity = atom.key
            if arities.get(name, arity) != arity:
                here = _count(arity, "argument")
                yield Problem(
                    f"{quoted(name)} has {here} here and {arities[name]} in the data",
                    background.source,
                    atom.offset,
                    len(name),
                    hint="give it the same number of arguments in both, or another name",
                )


def _described(X: Sequences) -> str:
    """What is in some sequences, in one line."""
    parts = [_count(len(X), "sequence")]
    if X.labels is not None:
        parts.append(_count(len(set(X.labels.tolist())), "class"))
    parts.append(_count(sum(table.shape[1] for table in X.tables.values()), "fact"))
    if X.dimensions:
        parts.append(f"dimensions {', '.join(X.dimensions)}")
    return ", ".join(parts)


def _count(n: int, noun: str) -> str:
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{n:,} {noun if n == 1 else plural}"


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        code = relynx.main(args=args, prog_name="relynx", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except InputError as error:
        click.echo(str(error), err=True)
        return 2
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        return INTERRUPTED
    except Exception:
        traceback.print_exc()
        click.echo("this is a fault of relynx, not of your input: please report it", err=True)
        return 1
