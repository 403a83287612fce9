"""`relynx explain` and `relynx report`: why a model gives sequences their classes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from relynx.cli.options import described, writing
from relynx.cli.reading import read_model_and_test
from relynx.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from relynx.data.sequences import Sequences

SHOWN_IDS = 5
PAGES = (".html", ".htm")


@click.command()
@click.argument("model")
@click.argument("test")
@click.option("--id", "wanted", required=True, help="The sequence to explain.")
@click.option("-k", "--background", help="The background rules of the model.")
def explain(model: str, test: str, wanted: str, background: str | None) -> int:
    """Explain why a model predicts the class of a sequence of TEST.

    MODEL is written by relynx fit. TEST is a .m file, or a table of events like the training table.
    Prints the class probabilities, the patterns of largest effect, where they match, and which
    changes would change the class.
    """
    from relynx.reports.explain import explain as explained

    loaded, X, _ = read_model_and_test(model, test, background)
    number = _number(X, test, wanted)
    click.echo(str(explained(loaded, X[number])))
    return 0


@click.command()
@click.argument("model")
@click.argument("test")
@click.option("-o", "--output", required=True, help="The page, a .html file.")
@click.option("-k", "--background", help="The background rules of the model.")
def report(model: str, test: str, output: str, background: str | None) -> int:
    """Show a model and its predictions for TEST on one page.

    TEST is a .m file, or a table of events like the training table. If it has classes, the page
    shows accuracy, calibration and the misclassified sequences. It needs no network: open it in a
    browser.
    """
    if Path(output).suffix.lower() not in PAGES:
        raise click.UsageError(f"{output} does not end in {PAGES[0]}")
    from relynx.console import working
    from relynx.reports.html import report as make

    with writing(output):
        loaded, X, y = read_model_and_test(model, test, background)
        with working(f"reporting on {described(X)}"):
            page = make(loaded, X, y)
        page.save(output)
    click.echo(f"{page}\n{output}: open it in a browser")
    return 0


def _number(X: Sequences, test: str, wanted: str) -> int:
    """Which sequence has an id. Raises DataError where none has."""
    ids = [str(name) for name in X.ids.tolist()]
    if wanted in ids:
        return ids.index(wanted)
    more = ", ..." if len(ids) > SHOWN_IDS else ""
    hint = did_you_mean(wanted, ids) or f"its ids are {', '.join(ids[:SHOWN_IDS])}{more}"
    raise DataError(f"no sequence has the id {wanted!r}", test, hint=hint)
