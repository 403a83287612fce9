"""An estimate of the number of patterns of a bias in some data, and settings that bound it.

Facts that occur together in enough sequences of a class make a pattern for each link that may
connect them. Such combinations are counted for two facts, and for three in a sample, with the
settings of `CHOICES`, from wide to narrow, until the number is small enough. Facts of several
events, linked along a dimension, may match a sequence a million times, and so may facts with
variables in a long sequence: these matches are counted, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Ints, Longs
from relynx.data.event_arguments import Argument, Tables
from relynx.logic import tables as tb
from relynx.logic.tables import Key
from relynx.logic.terms import quoted

Bits: TypeAlias = NDArray[np.float32]  # facts by sequences, 1 where a sequence has a fact

MOST = 200_000  # patterns, of all pairs of classes together
MOST_MATCHES = 20_000_000  # of facts of several events that a dimension links
MOST_VARIABLE_MATCHES = 2_000_000  # of facts with variables, in sequences of more events than these
MANY_EVENTS = 64  # beyond, the search enumerates all matches of variables
MOST_CLASSES, MOST_SEQUENCES = 6, 400  # that are looked at, the sequences of each class
MOST_FACTS = 1500  # of them the most common
N_TRIPLES = 10_000
ESTIMATED = "by the same estimate"  # begins a note on settings of the search
LEFT_OUT = "left out"  # in notes on what a search could find and does not look for
SHOWN = 4  # names in a note
LINKS = 2  # next, follow, followat: of the three about two are frequent where facts are together
MASKED = 4  # of more arguments, one or all are constants


@dataclass(frozen=True, slots=True)
class Size:
    """The mode sign of arguments with few values, whether relations are kept, and the settings."""

    mode_sign: str
    related: bool = True
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


# From wide to narrow: the sign, the least support, the largest length, and whether facts of several
# events are kept, which multiply the matches along a dimension.
CHOICES = (
    ("*", 0.1, 3, True),
    ("#", 0.1, 3, True),
    ("#", 0.2, 3, True),
    ("#", 0.1, 2, True),
    ("#", 0.2, 2, True),
    ("#", 0.1, 2, False),
    ("#", 0.2, 2, False),
    ("#", 0.4, 2, False),
)


def fitting_size(
    tables: Tables,
    categories: Mapping[Key, Sequence[str]],
    common: Mapping[Argument, Ints],
    classes: Longs,
    n_dimensions: int,
) -> Size:
    """The widest choice that makes few enough patterns. Of `categories`, the kind of each argument,
    only `few` ones are constants, and the values in `common`."""
    parts = _sampled(classes)
    n_classes = len(np.unique(classes))
    pairs = max(n_classes - 1, 1) * n_classes / len(parts)  # the number of pairs that a class is in
    widest, n_matches = 0, 0.0
    alone = {key: one for key, one in categories.items() if list(one).count("event") < 2}
    can_leave = 0 < len(alone) < len(categories) and n_dimensions > 0
    long = n_dimensions > 0 and _has_long_sequences(tables)
    for sign, support, length, related in CHOICES:
        used = categories if related or not can_leave else alone
        n = matches = found = 0.0
        for part in parts:
            if long and length > 2:
                with_variables = _matches(tables, _with_variables(used, sign), part, length)
                found += pairs * with_variables / math.factorial(length)
            matches += (
                pairs * _matches(tables, used.keys() - alone, part, length) if can_leave else 0
            )
            facts, links = _facts(tables, used, common, part, joined=sign == "*")
            n += pairs * _patterns(facts, links, support, length, n_dimensions)
        widest, n_matches = widest or round(n), n_matches or found
        if n <= MOST and matches <= MOST_MATCHES and found <= MOST_VARIABLE_MATCHES:
            break
    if sign == CHOICES[0][0]:
        return Size(sign)
    what = "facts of several events match in too many ways"
    if n_matches > MOST_VARIABLE_MATCHES:
        events = f"a sequence has more than {MANY_EVENTS} events"
        what = f"variables match in too many ways where {events}"
    if widest > MOST:
        what = f"{_rounded(widest)} patterns are too many"
    shared = {key[0]: one for key, one in categories.items() if "few" in one}
    return _narrowed(sign, support, length, what, shared, related=related or not can_leave)


def _narrowed(
    sign: str,
    support: float,
    length: int,
    why: str,
    shared: Mapping[str, Sequence[str]],
    *,
    related: bool,
) -> Size:
    """The size of a language that is not the widest, with notes that say how it is narrower."""
    settings: dict[str, Any] = {}
    some, notes = [*map(quoted, shared)], []
    if some:
        names = ", ".join(some[:SHOWN])
        names += f" and {len(some) - SHOWN} more" if len(some) > SHOWN else ""
        signs = ",".join("+" if kind == "event" else "*" for kind in next(iter(shared.values())))
        notes = [
            f"{why}: equal values of {names} in two facts are {LEFT_OUT};"
            f" a bias with mode({some[0]}({signs})) searches those of {some[0]}"
        ]
    if not related:
        notes.append(f"facts of several events are {LEFT_OUT}, as dimensions link events already")
    narrower = []
    if length != CHOICES[0][2]:
        settings["max_length"] = length
        narrower.append(f"maxsize is {length}")
    if support != CHOICES[0][1]:
        settings["min_support"] = support
        narrower.append(f"minsupport is {support}")
    notes += [f"{ESTIMATED}, {', '.join(narrower)}"] if narrower else []
    return Size(sign, related, settings, tuple(notes))


def _sampled(classes: Longs) -> list[Longs]:
    """Some sequences of some classes, spread over all of them."""
    known = np.unique(classes)
    chosen = known[_spread(len(known), MOST_CLASSES)]
    found = [np.flatnonzero(classes == one) for one in chosen]
    return [part[_spread(len(part), MOST_SEQUENCES)] for part in found]


def _spread(n: int, most: int) -> Longs:
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def _facts(
    tables: Tables,
    categories: Mapping[Key, Sequence[str]],
    common: Mapping[Argument, Ints],
    part: Longs,
    *,
    joined: bool,
) -> tuple[Bits, Longs]:
    """Which sequences have which facts, constants in all arguments of few values or in some, and
    how many pairs of events each fact has."""
    number = np.full(int(part.max()) + 1, -1)
    number[part] = np.arange(len(part))
    found: list[Bits] = []
    links: list[int] = []
    for key, arguments in categories.items():
        n_events = list(arguments).count("event")
        table = tables[key]
        table = table[:, table[0] < len(number)]
        table = table[:, number[table[0]] >= 0]
        few = [i for i, category in enumerate(arguments) if category == "few"]
        for constants in _masks(few) if joined else [tuple(few)]:
            rows = table
            for i in constants:
                if (key, i) in common:
                    rows = rows[:, np.isin(rows[1 + i], common[key, i])]
            if not rows.shape[1]:
                continue
            values = tb.packed(rows[[1 + i for i in constants]]) if constants else rows[0] * 0
            _, fact = np.unique(values, return_inverse=True)
            bits = np.zeros((int(fact.max()) + 1, len(part)), np.float32)
            bits[fact, number[rows[0]]] = 1
            found.append(bits)
            links += [n_events * (n_events - 1) // 2] * len(bits)
    facts = np.concatenate([np.zeros((0, len(part)), np.float32), *found])
    most = np.argsort(-facts.sum(axis=1), kind="stable")[:MOST_FACTS]
    return facts[most], np.array(links, np.int64)[most]


def _matches(tables: Tables, keys: Iterable[Key], part: Longs, length: int) -> float:
    """The number of combinations of facts of some predicates, in some sequences."""
    counts = np.zeros(int(part.max()) + 1)
    for key in keys:
        rows = tables[key][0]
        counts += np.bincount(rows[rows < len(counts)], minlength=len(counts))
    return float((counts[part] ** length).sum())


def _has_long_sequences(tables: Tables) -> bool:
    """Whether some sequence has many events, by the links of a dimension."""
    links = [table[0] for (name, _), table in tables.items() if name.startswith("next_")]
    return any(int(np.bincount(one).max(initial=0)) >= MANY_EVENTS for one in links)


def _with_variables(categories: Mapping[Key, Sequence[str]], sign: str) -> list[Key]:
    """The predicates of one event that have a variable beside it."""
    constant = {"event"} if sign == "*" else {"event", "few"}
    return [
        k for k, one in categories.items() if list(one).count("event") == 1 and {*one} - constant
    ]


def _masks(few: Sequence[int]) -> list[tuple[int, ...]]:
    """Which arguments are constants: any of them, or of many all, one or none."""
    sizes = range(len(few) + 1) if len(few) <= MASKED else (0, 1, len(few))
    return [mask for size in sizes for mask in combinations(few, size)]


def _patterns(facts: Bits, links: Longs, support: float, length: int, n_dimensions: int) -> float:
    """About how many patterns of up to three facts are frequent; `links` has the number of pairs of
    events of each fact."""
    # Of how many patterns of one fact each is: its events may be linked, too.
    forms = np.asarray((1.0 + LINKS) ** (links * n_dimensions))
    least = max(support * facts.shape[1], 1)
    often = facts.sum(axis=1) >= least
    facts, forms = facts[often], forms[often]
    if not len(facts):
        return 0
    n_links = 1 + LINKS * n_dimensions
    together = facts @ facts.T >= least
    n_pairs = float(forms @ together @ forms) / 2
    n = float(forms.sum()) + n_pairs * n_links
    if length < 3:
        return n
    draw = np.random.default_rng(0)
    first, second = np.nonzero(together)
    some = draw.integers(len(first), size=N_TRIPLES)
    third = draw.integers(len(facts), size=N_TRIPLES)
    all_three = facts[first[some]] * facts[second[some]] * facts[third]
    share = float((all_three.sum(axis=1) >= least).mean())
    return n + share * n_pairs * float(forms.sum()) / 3 * n_links**2


def _rounded(n: int) -> str:
    """An approximate number in words."""
    for unit, name in ((10**9, "billion"), (10**6, "million")):
        if n >= unit:
            return f"some {max(n // unit, 1):,} {name}"
    return f"some {max(n // 1000, 1):,} thousand"
