"""Infers a bias from data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations, product

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from relynx.arrays import Ints, Longs
from relynx.bias.modes import EVENT, Language, operators
from relynx.bias.size_estimate import LEFT_OUT, Size, fitting_size
from relynx.data.event_arguments import Argument, Tables, dimension_names, event_keys
from relynx.data.schema import Column
from relynx.data.sequences import Sequences
from relynx.data.vocabulary import Vocabulary
from relynx.errors import BiasError
from relynx.logic import tables as tb
from relynx.logic.tables import Key
from relynx.logic.terms import Constant, quoted

MAX_CONSTANTS = 40  # of an argument of more values than this only shared ones are constants,
SHARED = 2  # values in so many sequences,
COMMON = 0.05  # if one of them is in this share of all
OVERLAP = 0.5  # text columns that share this fraction of the smaller one's values have one type
EMPTY = np.empty(0, np.int32)
EVENT_NAME = re.compile(r"e[1-9]\d*\Z")
_MODE_SIGNS = {"loose": "-", "event": "*", "name": "+"}
MOST_ARGUMENTS, MOST_MODES = 12, 62  # of a predicate, that the miner takes
# Up to this number, each variable of an atom may be old or new; of more, one or all are old.
MAX_FREE = 4

Used = dict[Argument, Ints]  # the different values of each argument
Common = dict[Argument, Ints]  # of arguments of many values those that are constants


def infer_language(
    X: Sequences, y: Iterable[object] | None = None, *, size: Size | None = None
) -> tuple[Language, tuple[str, ...]]:
    """A language for the predicates of some data, of a given size or a fitting one, and notes."""
    facts = X.facts()
    tables = {key: table for key, table in facts.tables.items() if table.shape[1]}
    dimensions = dimension_names(tables)
    events = _event_arguments(X, tables, facts.vocabulary)
    keys, wide = _predicates(tables, dimensions)
    used = {
        (key, i): np.unique(tables[key][1 + i])
        for key in keys
        for i in range(key[1])
        if (key, i) not in events
    }
    columns = {} if X.reading is None else X.reading.arguments
    names = _column_types(used, columns) if columns else _type_names(used, len(facts.vocabulary))
    later = [one for one, column in columns.items() if column.supervised and column.cuts is None]
    many = {one for one in used if len(used[one]) > MAX_CONSTANTS and one not in later}
    # Measured numbers are rarely equal, and then by chance.
    constants = facts.vocabulary
    measured = {p for p in many if any(isinstance(constants[c], float) for c in used[p].tolist())}
    common = _common_values(many - measured, tables, len(X))
    many -= set(common)
    loose = {p for p in many if p in measured or _joins_nothing(p, names, tables)}
    dropped = _says_nothing(keys, events, loose)
    keys = [key for key in keys if key not in dropped]
    types = {
        key[0]: tuple(
            EVENT if (key, i) in events else _type_name(names[key, i]) for i in range(key[1])
        )
        for key in keys
    }
    naming = _naming(keys, loose - measured, names, tables)
    categories = {
        key: [_category((key, i), events, many, loose, naming) for i in range(key[1])]
        for key in keys
    }
    has_fluents = any(EVENT in signature for signature in types.values())
    dimensions = dimensions if has_fluents else ()
    if size is None:
        size = fitting_size(tables, categories, common, _classes(X, y), len(dimensions))
    if not size.related:
        keys = [key for key in keys if categories[key].count("event") < 2]
    kept = {argument: codes for argument, codes in common.items() if argument[0] in keys}
    types = {key[0]: types[key[0]] for key in keys}
    modes = {key[0]: _modes(categories[key], size.mode_sign) for key in keys}
    values = _listed_values(kept, used, names, facts.vocabulary)
    choices = _notes(used, many, loose, common, dropped, naming)
    notes = *map(_too_wide, wide), *choices, *map(_cut_later, later), *size.notes
    return Language(types, modes, values, dimensions, **size.settings), notes


def _predicates(tables: Tables, dimensions: tuple[str, ...]) -> tuple[list[Key], list[Key]]:
    """The predicates that patterns may have, and those of too many arguments. Raises BiasError."""
    of_dimensions = operators(dimensions)
    keys = [key for key in tables if key[0] not in of_dimensions]
    if not keys:
        what = "only links between events" if tables else "no facts"
        raise BiasError(f"the sequences hold {what}: there is nothing to make patterns of")
    wide = [key for key in keys if key[1] > MOST_ARGUMENTS]
    keys = [key for key in keys if key not in wide]
    if not keys:
        what = f"{_too_wide(wide[0])}, and there are no others"
        raise BiasError(what, hint="give fewer values to a predicate, or several predicates")
    return keys, wide


def _too_wide(key: Key) -> str:
    what = f"the miner takes no more than {MOST_ARGUMENTS} arguments"
    return f"{quoted(key[0])}/{key[1]}: {what}: {LEFT_OUT}"


def _classes(X: Sequences, y: Iterable[object] | None) -> Longs:
    """The class of each sequence as a number: those given, else those of X, else one for all."""
    labels = X.labels if y is None else y
    given = [0] * len(X) if labels is None else list(labels)
    numbers = {one: i for i, one in enumerate(sorted(set(given), key=str))}
    return np.array([numbers[one] for one in given], np.int64)


def _common_values(many: set[Argument], tables: Tables, n: int) -> Common:
    """For arguments with many values of which one is common, those in several sequences, the most
    common first."""
    found = {}
    for key, i in many:
        pairs = tb.in_order(tables[key][[0, 1 + i]])
        codes, counts = np.unique(pairs[1], return_counts=True)
        shared = np.flatnonzero(counts >= SHARED)
        if counts[shared].max(initial=0) >= COMMON * n:
            order = shared[np.argsort(-counts[shared], kind="stable")]
            found[key, i] = codes[order].astype(np.int32)
    return found


def _listed_values(
    common: Common, used: Used, names: dict[Argument, Argument], vocabulary: Vocabulary
) -> dict[str, tuple[Constant, ...]]:
    """The constants of types with too many values for all of them to be constants."""
    listed: dict[str, tuple[Constant, ...]] = {}
    for argument in common:
        peers = [peer for peer, first in names.items() if first == names[argument]]
        codes = [common[p] if p in common else used[p] for p in peers]
        few = [
            c for p, c in zip(peers, codes, strict=True) if p in common or len(c) <= MAX_CONSTANTS
        ]
        united = dict.fromkeys(np.concatenate(few).tolist())
        listed[_type_name(names[argument])] = tuple(vocabulary[code] for code in united)
    return listed


def _event_arguments(X: Sequences, tables: Tables, vocabulary: Vocabulary) -> set[Argument]:
    """The arguments that hold events, by the schema; without one and without any link, those whose
    values are all named as `from_lists` names events."""
    arguments = event_keys(tables, max(len(vocabulary), 1))[1]
    if X.reading is not None:
        n_events = X.reading.n_events
        arguments |= {(key, i) for key in tables for i in range(n_events.get(key[0], 0))}
        others = [key for key in tables if key[0] not in n_events]  # links, and what rules derive
        codes = np.unique(np.concatenate([EMPTY, *(tables[key][1 + i] for key, i in arguments)]))
    elif dimension_names(tables):
        return arguments
    else:
        named = [code for code, name in enumerate(vocabulary) if EVENT_NAME.match(str(name))]
        others, codes = list(tables), np.array(named, np.int32)
        if not all(key[1] and np.isin(tables[key][1], codes).all() for key in tables):
            return arguments
    holds = {(key, i) for key in others for i in range(key[1])}
    return arguments | {
        argument for argument in holds if np.isin(tables[argument[0]][1 + argument[1]], codes).all()
    }


def _category(
    argument: Argument,
    events: set[Argument],
    many: set[Argument],
    loose: set[Argument],
    naming: set[Argument],
) -> str:
    if argument in events:
        return "event"
    if argument not in many:
        return "few"
    others = [(argument[0], i) for i in range(argument[0][1])]
    has_event = any(other in events for other in others)
    joined = any(other in many and other not in loose for other in others)
    if argument in loose and (has_event or joined):
        return "name" if argument in naming else "loose"
    return "many"


def _joins_nothing(argument: Argument, names: dict[Argument, Argument], tables: Tables) -> bool:
    """Whether its values never occur in two facts of a sequence, or are the sequence's name."""
    pairs = _held(argument, names, tables)
    return tb.in_order(pairs).shape[1] == pairs.shape[1] or _is_name(pairs)


def _naming(
    keys: list[Key], loose: set[Argument], names: dict[Argument, Argument], tables: Tables
) -> set[Argument]:
    """The arguments that hold the name of the sequence, if every predicate has one. Each is one
    variable in all atoms: under Object Identity different ones would be different names, and no
    sequence has two."""
    found = {
        (key, i)
        for key in keys
        for i in range(key[1])
        if (key, i) in loose and _is_name(_held((key, i), names, tables))
    }
    return found if {key for key, _ in found} == set(keys) else set()


def _held(argument: Argument, names: dict[Argument, Argument], tables: Tables) -> tb.Table:
    """The sequences and values of an argument and of all others of its type."""
    peers = [peer for peer, first in names.items() if first == names[argument]]
    return np.hstack([tables[key][[0, 1 + i]] for key, i in peers])


def _is_name(pairs: tb.Table) -> bool:
    """Whether each sequence has one value, in all its facts."""
    distinct = tb.in_order(pairs)
    return bool(len(np.unique(distinct[0])) == distinct.shape[1] < pairs.shape[1])


def _says_nothing(keys: list[Key], events: set[Argument], loose: set[Argument]) -> set[Key]:
    """Predicates that only say that some value exists; none if there are no others."""
    values = {key: {(key, i) for i in range(key[1])} - events for key in keys}
    found = {key for key in keys if values[key] and values[key] <= loose}
    return found if len(found) < len(keys) else set()


def _notes(
    used: Used,
    many: set[Argument],
    loose: set[Argument],
    common: Common,
    dropped: set[Key],
    naming: set[Argument],
) -> Iterator[str]:
    for argument, values in used.items():
        key, i = argument
        what = f"{quoted(key[0])}/{key[1]}: argument {i + 1} has {len(values):,} values"
        if key in dropped:
            yield f"{what}, none of which is frequent or recurs: {LEFT_OUT}"
        elif argument in common:
            n = len(common[argument])
            which = "the most common one" if n == 1 else f"the {n} most common"
            yield f"{what}: {which} may be constant"
        elif argument in naming:
            yield f"{what}, the names of the sequences: one variable in all atoms"
        elif argument in loose:
            yield f"{what}, more than {MAX_CONSTANTS}: it does not recur and is no constant"
        elif argument in many:
            yield f"{what}, more than {MAX_CONSTANTS}: it is a variable, never a constant"


def _cut_later(argument: Argument) -> str:
    """The note on numbers which `fit` cuts into few ranges."""
    (name, arity), i = argument
    what = f"{quoted(name)}/{arity}: argument {i + 1}"
    return f"{what} holds numbers that are cut by class inside fit"


def _column_types(used: Used, columns: dict[Argument, Column]) -> dict[Argument, Argument]:
    """For each argument the first one of its type, where arguments are columns of a table: only
    texts of different columns can mean the same, and only where many of them are the same."""
    pairs = combinations(range(len(used)), 2)
    arguments = list(used)
    same = [(i, j) for i, j in pairs if _one_type(arguments[i], arguments[j], used, columns)]
    return _first_of_each(arguments, same)


def _one_type(a: Argument, b: Argument, used: Used, columns: dict[Argument, Column]) -> bool:
    shared = len(np.intersect1d(used[a], used[b], assume_unique=True))
    if not (a in columns and b in columns):  # derived by a rule
        return shared > 0
    texts = columns[a].type == columns[b].type == "text"
    return texts and shared > OVERLAP * min(len(used[a]), len(used[b]))


def _type_names(used: Used, n_constants: int) -> dict[Argument, Argument]:
    """For each argument the first one that it shares values with, directly or through others."""
    owner = np.full(n_constants, -1)
    shared: list[tuple[int, int]] = []
    for i, codes in enumerate(used.values()):
        shared += [(i, j) for j in np.unique(owner[codes]).tolist() if j >= 0]
        owner[codes] = i
    return _first_of_each(list(used), shared)


def _first_of_each(
    arguments: list[Argument], pairs: list[tuple[int, int]]
) -> dict[Argument, Argument]:
    """For each argument the first of those that pairs connect, directly or through others."""
    rows, columns = np.array(pairs, np.int64).reshape(-1, 2).T
    links = coo_array((np.ones(len(rows)), (rows, columns)), shape=[len(arguments)] * 2)
    group = connected_components(links, directed=False)[1]
    first = np.unique(group, return_index=True)[1][group].tolist()
    return {argument: arguments[i] for argument, i in zip(arguments, first, strict=True)}


def _type_name(argument: Argument) -> str:
    (name, _), i = argument
    return f"{name}_{i + 1}"


def _modes(categories: list[str], few: str) -> tuple[tuple[str, ...], ...]:
    """The modes of a predicate; `few` is the sign of arguments with few values. An atom is
    connected to the pattern by one of its events, or without any by an argument with many values.
    """
    events = [i for i, category in enumerate(categories) if category == "event"]
    many = [i for i, category in enumerate(categories) if category == "many"]
    choices = list(product("+-", repeat=len(many)))
    if len(many) > MAX_FREE or len(events) * len(choices) > MOST_MODES:
        choices = [("+",) * len(many)] + [
            tuple("+" if i == j else "-" for j in range(len(many))) for i in range(len(many))
        ]
    if many and not events:
        choices = [choice for choice in choices if "+" in choice]
    modes = []
    for old in events or [-1]:
        for choice in choices:
            signs = [_MODE_SIGNS.get(category, few) for category in categories]
            if old >= 0:
                signs[old] = "+"
            for i, sign in zip(many, choice, strict=True):
                signs[i] = sign
            modes.append(tuple(signs))
    return tuple(modes)
