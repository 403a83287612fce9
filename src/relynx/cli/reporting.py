"""`relynx report`: a model and its predictions as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from relynx.cli.options import described, writing
from relynx.cli.reading import read_model_and_test

PAGES = (".html", ".htm")


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
    # Imported here so that `relynx --help` loads neither numpy nor scikit-learn.
    from relynx.console import working
    from relynx.reports.html import report as make

    with writing(output):
        loaded, X, y = read_model_and_test(model, test, background)
        with working(f"reporting on {described(X)}"):
            page = make(loaded, X, y)
        page.save(output)
    click.echo(f"{page}\n{output}: open it in a browser")
    return 0
