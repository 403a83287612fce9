"""`relynx fit`, `predict`, `explain`, `report`: classifiers and their predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relynx.cli import options as opt
from relynx.errors import DataError, counted, did_you_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from relynx.data.sequences import Sequences
    from relynx.models.lynx.classifier import LynxClassifier

MODEL = ".relynx"
INFERRED = "no bias was given: one is inferred from the sequences"
SHOWN_IDS = 5
LONGEST = 50  # characters of the names of more than two classes
PAGES = (".html", ".htm")


@click.command()
@click.argument("train")
@click.option("-o", "--output", required=True, help="The model, a .relynx file.")
@opt.table_options
@opt.mining_options
@opt.model_options
def fit(
    train: str,
    output: str,
    columns: opt.Columns,
    bias_file: str | None,
    background: str | None,
    **settings: Any,
) -> int:
    """Train a classifier on TRAIN and write it to a file.

    TRAIN is a .m file with classes, a .csv or .parquet table with a row for each event, or a .xes
    log. By default a sparse linear model is learnt on all patterns that a budget of work finds; it
    decides --min-support and --min-frequency, if neither is given, and without a bias --max-gap, up
    to 10. With --method optimal it is the best model of all patterns up to --max-length. With
    --paper, --min-confidence or an option of GRASP: for each pair of classes mine, select
    patterns by GRASP, fit naive Bayes. Any other setting that is not given is that of the
    bias, else the one in brackets.
    """
    if Path(output).suffix.lower() != MODEL:
        raise click.UsageError(f"{output} does not end in {MODEL}")
    from relynx.bias.size_estimate import LEFT_OUT
    from relynx.console import plain_warnings, working
    from relynx.store import save

    with opt.writing(output, settings["checkpoint"]):
        X, y = read_labelled(train, background, columns)
        model = classifier_of(bias_file, settings)
        with plain_warnings(), working(f"learning from {opt.described(X)}"):
            model.fit(X, y)
            score = model.score(X, y)
        save(model, output)
    _show_model(model)
    if hasattr(model, "certificate_"):
        click.echo(str(model.certificate_))
    inferred = model.bias is None  # then fit has warned of what is left out
    opt.show_notes(one for one in model.bias_.notes if not (inferred and LEFT_OUT in one))
    click.echo(f"training accuracy {score:.3f};\nrelynx evaluate estimates it for new sequences")
    click.echo(f"{output}: {counted(len(model.selected_), 'pattern')} for {opt.described(X)}")
    return 0


@click.command()
@click.argument("model")
@click.argument("test")
@click.option("-o", "--output", required=True, help=opt.OUTPUT)
@opt.test_options
def predict(model: str, test: str, output: str, background: str | None, allow_missing: bool) -> int:
    """Predict the class of each sequence of TEST with a fitted model.

    TEST is a .m file, a table of events like the training table, or a folder of partitions, which
    is read one partition at a time. The output has a row for each sequence: its id, the predicted
    class, and the class probabilities. If TEST has classes, they are included, and the accuracy is
    printed.
    """
    opt.table_ending(output)
    from relynx.console import working
    from relynx.models.evaluation.predictions import write_predictions

    with opt.writing(output):
        if Path(test).is_dir():
            folder = opt.open_folder(test, background=background)
            loaded = opt.read_classifier(model, allow_missing)
            opt.warn_of_unknown_predicates(loaded, folder.without_sequences(), test)
            what, parts = opt.described(folder), folder.partitions()
        else:
            loaded, X, _ = opt.read_model_and_test(model, test, background, allow_missing)
            what, parts = opt.described(X), iter([X])
        with working(f"predicting {what}"):
            told = write_predictions(loaded, parts, output)
    if told.unknown:
        what = f"{counted(told.unknown, 'sequence')} of a class that the model does not know"
        click.echo(f"warning: {test} has {what}", err=True)
    if told.accuracy is not None:
        click.echo(f"accuracy {told.accuracy:.3f}, by the classes in {test}")
    click.echo(f"{output}: {counted(told.n, 'prediction')}")
    return 0


@click.command()
@click.argument("model")
@click.argument("test")
@click.option("--id", "wanted", required=True, help="The sequence to explain.")
@opt.test_options
def explain(model: str, test: str, wanted: str, background: str | None, allow_missing: bool) -> int:
    """Explain why a model predicts the class of a sequence of TEST.

    MODEL is written by relynx fit. TEST is a .m file, or a table of events like the training table.
    Prints the class probabilities, the patterns of largest effect, where they match, and which
    changes would change the class.
    """
    from relynx.reports.explain import explain as explained

    loaded, X, _ = opt.read_model_and_test(model, test, background, allow_missing)
    click.echo(str(explained(loaded, X[_number(X, test, wanted)])))
    return 0


@click.command()
@click.argument("model")
@click.argument("test")
@click.option("-o", "--output", required=True, help="The page, a .html file.")
@opt.test_options
def report(model: str, test: str, output: str, background: str | None, allow_missing: bool) -> int:
    """Show a model and its predictions for TEST on one page.

    TEST is a .m file, or a table of events like the training table. If it has classes, the page
    shows accuracy, calibration and the misclassified sequences. It needs no network: open it in a
    browser.
    """
    if Path(output).suffix.lower() not in PAGES:
        raise click.UsageError(f"{output} does not end in {PAGES[0]}")
    from relynx.console import working
    from relynx.reports.html import report as make

    with opt.writing(output):
        loaded, X, y = opt.read_model_and_test(model, test, background, allow_missing)
        with working(f"reporting on {opt.described(X)}"):
            page = make(loaded, X, y)
        page.save(output)
    click.echo(f"{page}\n{output}: open it in a browser")
    return 0


def read_labelled(
    train: str, background: str | None, columns: opt.Columns
) -> tuple[Sequences, NDArray[Any]]:
    """The sequences and their classes. Raises DataError where there are none."""
    X, y = opt.read_train(train, background, columns)
    opt.show_reading(X)
    if y is None:
        hint = "give every sequence its class: begin(s1,up)."
        if X.reading is not None:
            hint = "say which column is the class, with --label"
        raise DataError("the sequences have no classes", train, hint=hint)
    return X, y


def classifier_of(bias_file: str | None, settings: dict[str, Any]) -> LynxClassifier:
    """The classifier that the options describe; other parameters have their defaults."""
    from relynx.models.lynx.classifier import OF_GRASP, PAPER, LynxClassifier
    from relynx.models.lynx.final_estimators import learner

    if bias_file is None:
        click.echo(INFERRED, err=True)
    left = dict(settings)
    bias = opt.read_language(bias_file, left.pop("event_type"))
    given: dict[str, Any] = dict(PAPER) if left.pop("paper") else {}
    if left.pop("all_patterns"):
        given["selection"] = None
    if name := left.pop("learner"):
        given["final_estimator"] = learner(name)
    given |= {name: value for name, value in left.items() if value is not None}
    if name or any(one in OF_GRASP for one in given):  # even where it is what GRASP has by default
        given.setdefault("method", "grasp")
    return LynxClassifier(bias, **given)


def _show_model(model: LynxClassifier) -> None:
    """A row for each pair of classes: numbers of candidates and of selected patterns."""
    from relynx.console import show_table
    from relynx.mining.wording import names_of

    rows = [
        [
            _told(names_of(pair.classes.tolist())),
            f"{pair.n_candidates or len(pair.patterns):,}",
            f"{len(pair.selected):,}",
        ]
        for pair in model.estimators_
    ]
    show_table(["classes", "patterns", "selected"], rows)


def _told(names: list[str]) -> str:
    """The classes of a model; of many how many there are."""
    told = " / ".join(names)
    return told if len(names) <= 2 or len(told) <= LONGEST else counted(len(names), "class")


def _number(X: Sequences, test: str, wanted: str) -> int:
    """Which sequence has an id. Raises DataError where none has."""
    ids = [str(name) for name in X.ids.tolist()]
    if wanted in ids:
        return ids.index(wanted)
    more = ", ..." if len(ids) > SHOWN_IDS else ""
    hint = did_you_mean(wanted, ids) or f"its ids are {', '.join(ids[:SHOWN_IDS])}{more}"
    raise DataError(f"no sequence has the id {wanted!r}", test, hint=hint)
