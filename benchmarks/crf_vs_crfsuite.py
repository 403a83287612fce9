"""`TildeCRF` without variables against python-crfsuite: the same labels, data and window.

The bundled protein folds. What is known of each element is whether it is a helix or a strand, and
its length; to be found is for each strand its sense against its neighbour in the sheet. Both
models see the elements of a window; crfsuite gets one attribute for each fact there, as it takes
them, TildeCRF tests of the same facts. Two thirds of the domains are learnt from, the others
asked. Times are processor times.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from questions.bars import Bar, print_table, report

from relynx import Sequences, TildeCRF, from_lists, load_protein_folds, parse_bias

WINDOW = 2
BIAS = """\
type(is(event,kind)). mode(is(+,#)).
type(length(event,length)). mode(length(+,#)).
"""
Elements = list[tuple[str, str]]  # the kind and length of each


@dataclass(frozen=True, slots=True)
class Domains:
    """The elements of each domain, and their labels."""

    elements: list[Elements]
    labels: list[list[str]]

    def part(self, chosen: list[int]) -> Domains:
        return Domains([self.elements[i] for i in chosen], [self.labels[i] for i in chosen])

    def sequences(self) -> Sequences:
        rows = [[[("is", kind), ("length", n)] for kind, n in row] for row in self.elements]
        return from_lists(rows)[0]

    def attributes(self) -> list[list[list[str]]]:
        """For each element the facts of its window, as texts."""
        return [
            [
                [
                    f"{j}:{value}"
                    for j in range(-WINDOW, WINDOW + 1)
                    for value in (row[i + j] if 0 <= i + j < len(row) else ("none",))
                ]
                for i in range(len(row))
            ]
            for row in self.elements
        ]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model makes of the domains that were left out."""

    seconds: float
    accuracy: float
    strands: float
    log_likelihood: float

    def cells(self) -> list[str]:
        shares = (self.accuracy, self.strands, self.log_likelihood)
        return [f"{self.seconds:.1f} s", *(f"{value:.4f}" for value in shares)]


def read() -> Domains:
    """Every domain as kinds and lengths; helices are their own label."""
    elements, labels = [], []
    for one in load_protein_folds().X:
        known = {}
        for atom in one.atoms:
            if atom.predicate == "he":
                known[atom.args[0]] = ("helix", str(atom.args[3]), "helix")
            elif atom.predicate == "st":
                known[atom.args[0]] = ("strand", str(atom.args[2]), str(atom.args[1]))
        ordered = [known[event] for event in sorted(known, key=lambda e: int(str(e)[1:]))]
        elements.append([(kind, n) for kind, n, _ in ordered])
        labels.append([label for _, _, label in ordered])
    return Domains(elements, labels)


def judged(predicted: list[list[str]], logs: list[float], test: Domains, seconds: float) -> Answer:
    right = np.array(
        [
            a == b
            for p, y in zip(predicted, test.labels, strict=True)
            for a, b in zip(p, y, strict=True)
        ]
    )
    strand = np.array([kind == "strand" for row in test.elements for kind, _ in row])
    return Answer(seconds, float(right.mean()), float(right[strand].mean()), sum(logs) / len(right))


def with_relynx(train: Domains, test: Domains) -> Answer:
    X, X_new = train.sequences(), test.sequences()
    TildeCRF(parse_bias(BIAS), window=WINDOW, max_iter=1).fit(X[:20], train.labels[:20])  # compile
    start = time.process_time()
    model = TildeCRF(parse_bias(BIAS), window=WINDOW).fit(X, train.labels)
    predicted = [row.tolist() for row in model.predict(X_new)]
    seconds = time.process_time() - start
    logs = model.log_likelihood(X_new, test.labels).tolist()
    return judged(predicted, logs, test, seconds)


def with_crfsuite(train: Domains, test: Domains) -> Answer:
    import pycrfsuite

    start = time.process_time()
    trainer: Any = pycrfsuite.Trainer(verbose=False)
    for attributes, labels in zip(train.attributes(), train.labels, strict=True):
        trainer.append(attributes, labels)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.crfsuite")
        trainer.train(path)
        tagger: Any = pycrfsuite.Tagger()
        tagger.open(path)
        predicted = [tagger.tag(row) for row in test.attributes()]
        seconds = time.process_time() - start
        logs = []
        for attributes, labels in zip(test.attributes(), test.labels, strict=True):
            tagger.set(attributes)
            logs.append(float(np.log(tagger.probability(labels))))
        tagger.close()
    return judged(predicted, logs, test, seconds)


def main() -> int:
    domains = read()
    order = np.random.default_rng(0).permutation(len(domains.labels)).tolist()
    cut = 2 * len(order) // 3
    train, test = domains.part(order[:cut]), domains.part(order[cut:])
    ours = with_relynx(train, test)
    rows = [["relynx", *ours.cells()]]
    theirs = None
    if importlib.util.find_spec("pycrfsuite") is not None:
        theirs = with_crfsuite(train, test)
        rows.append(["python-crfsuite", *theirs.cells()])
    print(
        f"{len(train.labels)} domains to learn from, {sum(map(len, test.labels)):,} elements asked"
    )
    print_table(["model", "time", "accuracy", "of strands", "log-likelihood"], rows)
    if theirs is None:
        print("skipped: python-crfsuite is not installed")
        return 0
    return report(
        [
            Bar("accuracy above crfsuite's", ours.accuracy - theirs.accuracy, -0.01, at_least=True),
            Bar(
                "log-likelihood above crfsuite's",
                ours.log_likelihood - theirs.log_likelihood,
                -0.01,
                at_least=True,
            ),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
