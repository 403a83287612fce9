"""What TildeCRF and its classifier have in common: parameters, and fields of a model file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from relynx.arrays import Bools, Longs
from relynx.bias import AnyBias, Bias, as_bias
from relynx.bias.infer import infer_language
from relynx.bias.model_file import BIAS, KNOWLEDGE
from relynx.bias.modes import EVENT
from relynx.bias.size_estimate import Size
from relynx.data.event_arguments import Argument, arguments_of, arguments_state
from relynx.data.event_order import link_of
from relynx.data.sequences import Sequences
from relynx.errors import InputError
from relynx.features.vectorizer import SequenceEstimator
from relynx.logic.parser import parse_atom
from relynx.logic.terms import Atom, Var
from relynx.models.checks import SWITCH, Rule, is_count, is_positive, none_or_a, parameter_problems
from relynx.models.observations import observed_arguments
from relynx.models.tildecrf.encoding import ANY, Language
from relynx.models.tildecrf.trees import Leaf, Scope, Split, Test, Tree
from relynx.storage.fields import TEXT, Field, Fields, array, labels, none_or
from relynx.storage.parts import Part, plain

Rounds = tuple[tuple[Tree, ...], ...]

WIDEST = 10_000  # the largest window
DEEPEST = 200  # the most tests on a path from the root of a tree
LEAF, BEFORE = -1, -2  # in the column of tests of a file; BEFORE - k is a test of label k


def _number_of(what: str, least: int, most: int | None = None) -> Rule:
    until = "on" if most is None else f"to {most:,}"
    hint = f"give a number of {what} from {least} {until}"
    return lambda value: is_count(value, least) and (most is None or value <= most), hint


RULES: Mapping[str, Rule] = {
    "window": _number_of("events", 0, WIDEST),
    "max_iter": _number_of("rounds", 0),
    "max_depth": _number_of("tests", 1, DEEPEST),
    "max_leaves": _number_of("leaves", 2),
    "min_samples_leaf": _number_of("examples", 1),
    "dimension": none_or_a(str, "give the name of a dimension, or None"),
    "learning_rate": (
        lambda value: is_positive(value) and value <= 1,
        "give a number above 0 and up to 1",
    ),
    "look_ahead": SWITCH,
    "n_iter_no_change": (
        lambda value: value is None or is_count(value),
        "give a number of rounds from 1 on, or None to hold nothing out",
    ),
    "validation_fraction": (
        lambda value: is_positive(value) and value < 1,
        "give a number between 0 and 1",
    ),
}


@dataclass(eq=False, repr=False)
class BoostedEstimator(SequenceEstimator):
    """The parameters of an estimator that boosts trees."""

    STORED_PARAMS: ClassVar[Fields] = {"bias": none_or(BIAS)}
    RULES: ClassVar[Mapping[str, Rule]] = RULES

    bias: AnyBias | None = None
    _: KW_ONLY
    dimension: str | None = None
    window: int = 3
    max_iter: int = 100
    learning_rate: float = 1.0
    max_depth: int = 4
    max_leaves: int = 8
    min_samples_leaf: int = 5
    look_ahead: bool = False
    n_iter_no_change: int | None = None
    validation_fraction: float = 0.1

    def check_restored(self, part: Part) -> None:
        """Refuse what `fit` refuses, for `predict` goes by the same parameters."""
        for problem in parameter_problems(self, self.RULES):
            raise part.wrong("params", f"hold what fit refuses: {problem.message}")


def language_of(X: Sequences, given: AnyBias | None, dimension: str | None) -> Language:
    """The language of the training sequences; without a bias, one is inferred.

    Raises InputError for an unknown dimension, BiasError for unknown predicates.
    """
    name = link_of(X, dimension)[0].removeprefix("next_")
    event_arguments = observed_arguments(X, dimension)
    bias = as_bias(given)
    known = wide_bias(X, event_arguments) if bias is None else bias
    known.check(X)
    return Language.of(known, name, event_arguments)


def wide_bias(X: Sequences, event_arguments: frozenset[Argument]) -> Bias:
    """A bias inferred from the data that leaves nothing out: trees do not enumerate patterns.
    Arguments of few values may be constants and variables, and facts of several events are kept.
    `event_arguments` may be unknown to `infer_language`, in sequences of one event."""
    found, _ = infer_language(X, size=Size("*"))
    types: dict[str, tuple[str, ...]] = {}
    modes = {}
    for name, given in found.types.items():
        new = [
            type_ != EVENT and ((name, len(given)), i) in event_arguments
            for i, type_ in enumerate(given)
        ]
        types[name] = tuple(EVENT if n else type_ for n, type_ in zip(new, given, strict=True))
        modes[name] = tuple(
            tuple("+" if n else sign for n, sign in zip(new, mode, strict=True))
            for mode in found.modes[name]
        )
    return Bias(types, modes, found.values, dimensions=found.dimensions)


def held_out(groups: Longs, model: Any, random_state: np.random.RandomState) -> Bools:
    """The validation sequences, which decide when to stop: a fraction of each group, never all."""
    chosen = np.zeros(len(groups), bool)
    if model.n_iter_no_change is None:
        return chosen
    for group in np.unique(groups):
        members = random_state.permutation(np.flatnonzero(groups == group))
        n = min(max(round(model.validation_fraction * len(members)), 1), len(members) - 1)
        chosen[members[:n]] = True
    return chosen


# In model files


def trees_state(rounds: Rounds) -> dict[str, Any]:
    """The trees as lists and arrays; each conjunction of literals is kept once."""
    numbers: dict[tuple[str, ...], int] = {}
    nodes = [node for trees in rounds for tree in trees for node in _nodes(tree)]
    tests = []
    for node in nodes:
        if isinstance(node, Leaf):
            tests.append(LEAF)
        elif isinstance(node.test, int):
            tests.append(BEFORE - node.test)
        else:
            texts = tuple(map(str, node.test))
            tests.append(numbers.setdefault(texts, len(numbers)))
    leaves = [node for node in nodes if isinstance(node, Leaf)]
    return {
        "literals": [[*texts] for texts in numbers],
        "tests": plain(np.array(tests, np.int64), "tests"),
        "values": plain(np.array([leaf.value for leaf in leaves], np.float64), "values"),
        "n_examples": plain(np.array([leaf.n_examples for leaf in leaves], np.int64), "n_examples"),
        "n_rounds": len(rounds),
    }


def _nodes(tree: Tree) -> Iterator[Tree]:
    yield tree
    if isinstance(tree, Split):
        yield from _nodes(tree.yes)
        yield from _nodes(tree.no)


def trees_of(part: Part, n_labels: int, language: Language, window: int) -> Rounds:
    """The trees that a part of a model file describes, checked against a language."""
    conjunctions = [_conjunction(part, texts) for texts in part.listed("literals")]
    tests = part.numbers("tests", (None,), BEFORE - n_labels + 1, len(conjunctions) - 1)
    n_leaves = int((tests == LEAF).sum())
    values = part.array("values", np.float64, (n_leaves,))
    counts = part.numbers("n_examples", (n_leaves,), 0, 2**62)
    leaves = zip(values.tolist(), counts.tolist(), strict=True)
    rest = iter(tests.tolist())

    def tree(scope: Scope, depth: int) -> Tree:
        number = next(rest, None)
        if number is None or depth > DEEPEST:
            raise part.wrong("tests", "makes no whole trees" if number is None else "goes too deep")
        if number == LEAF:
            return Leaf(*next(leaves))
        test: Test = BEFORE - number if number < 0 else conjunctions[number]
        return Split(
            test, tree(_after(part, test, scope, language), depth + 1), tree(scope, depth + 1)
        )

    n_rounds = part.count("n_rounds")
    if n_rounds * n_labels > len(tests):
        raise part.wrong("tests", "makes no whole trees")
    window_scope = Scope.of_window(window)
    rounds = tuple(tuple(tree(window_scope, 0) for _ in range(n_labels)) for _ in range(n_rounds))
    if next(rest, None) is not None:
        raise part.wrong("tests", "makes more trees than there are rounds")
    return rounds


def _conjunction(part: Part, texts: object) -> tuple[Atom, ...]:
    if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
        raise part.wrong("literals", "is no list of lists of texts")
    try:
        return tuple(map(parse_atom, texts))
    except InputError:
        raise part.wrong("literals", "holds a text that is no literal") from None


def _after(part: Part, test: Test, scope: Scope, language: Language) -> Scope:
    """The variables where a test holds. Raises DataError for a literal that makes no sense."""
    for atom in () if isinstance(test, int) else test:
        relation = next((r for r in language.relations if r.key == atom.key), None)
        if relation is None:
            raise part.wrong("literals", f"holds {atom}, of which the bias knows nothing")
        old: list[tuple[str, str]] = []
        new: list[tuple[str, str]] = []
        for arg, type_ in zip(atom.args, relation.types, strict=True):
            if isinstance(arg, Var) and not arg.anonymous:
                known = arg.name in scope.names
                fits = not known or type_ in (ANY, scope.type_(scope.names.index(arg.name)))
                (old if known and fits else new).append((arg.name, type_))
            elif isinstance(arg, tuple) or (not isinstance(arg, Var) and type_ == EVENT):
                new.append(("", ANY))
        names = [name for name, _ in new]
        is_attribute = relation.of_sequence and not any(isinstance(arg, Var) for arg in atom.args)
        wrong = not (is_attribute or 1 <= len(old) <= 2) or ANY in (type_ for _, type_ in new)
        if wrong or len({*names, *scope.names}) < len(names) + len(scope.names):
            raise part.wrong("literals", f"holds {atom}, which does not fit where it stands")
        scope = scope.extended(names, [type_ for _, type_ in new])
    return scope


def _read_trees(part: Part, key: str, model: Any) -> Rounds:
    trees, window = part.part(key), model.window
    if type(window) is not int or not 0 <= window <= WIDEST:
        raise part.wrong(key, f"have no window from 0 to {WIDEST}")
    language = Language.of(model.bias_, model.dimension_, model.places_)
    rounds = trees_of(trees, len(model.classes_), language, window)
    trees.end()
    return rounds


# What trees are made of, which all labellers of a classifier share.
LANGUAGE: Fields = {
    "bias_": BIAS,
    "dimension_": TEXT,
    "places_": Field(
        lambda places, _: arguments_state(places),
        lambda part, key, _: tuple(sorted(arguments_of(part, key))),
    ),
    **KNOWLEDGE,
}
LEARNT: Fields = {
    "classes_": labels("TildeCRF"),
    "trees_": Field(lambda trees, _: trees_state(trees), _read_trees),
    "history_": array(np.float64, (None,)),
    "held_out_": array(np.float64, (None,)),
}
