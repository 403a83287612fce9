"""`mine` finds what plain enumeration finds, each pattern once, with exact supports.

RELYNX_LANGUAGES says on how many random languages the two are compared, 20 unless set.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from enumerate_patterns import Found, Variants
from languages import Language, renamed, shuffled, solved_language
from paths import SHARED

from relynx import (
    DataError,
    Sequences,
    covers,
    from_lists,
    load_protein_folds,
    parse_atom,
    parse_pattern,
    read_lynx,
)
from relynx.bias import Bias, parse_bias, read_bias
from relynx.logic.canonical import canonical
from relynx.logic.terms import Atom
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.search import mine

N_LANGUAGES = int(os.environ.get("RELYNX_LANGUAGES", "20"))
SEEDS = [seed for seed in range(N_LANGUAGES) if seed != 11 or N_LANGUAGES > 20]  # 11 takes seconds
SHOWN = 15
GOLDEN = SHARED / "golden"
LETTERS = Bias(
    types={"p": ("event", "t")}, modes={"p": (("+", "*"),)}, dimensions=("s",), max_length=2
)

solved = solved_language


def mined(language: Language) -> PatternSet:
    """The answer of the miner; classes go in as `y` or with the sequences."""
    X = language.X
    if language.seed % 2 or language.labels is None:
        return mine(X, bias=language.bias, **language.parameters)
    return mine(X.with_labels(None), list(language.labels), language.bias, **language.parameters)


def counted(patterns: Iterable[Found] | PatternSet) -> list[tuple[tuple[Atom, ...], dict]]:
    """Atoms and supports of each pattern of either answer."""
    return [
        (tuple(p.pattern) if hasattr(p, "pattern") else p.atoms, dict(p.support)) for p in patterns
    ]


def shown(atoms: Sequence[Atom]) -> str:
    return ", ".join(map(str, atoms))


def differences(
    expected: Iterable[tuple[Sequence[Atom], dict]], found: Iterable[tuple[Sequence[Atom], dict]]
) -> list[str]:
    """What is missing, extra, twice or counted wrongly, a line each."""
    wanted, seen, lines = Variants(), Variants(), []
    for atoms, support in expected:
        wanted.add(atoms, support)
    for atoms, support in found:
        if not seen.add(atoms, support):
            lines.append(f"twice:   {shown(atoms)}")
            continue
        entry = wanted.get(atoms)
        if entry is None:
            lines.append(f"extra:   {shown(atoms)}  {support}")
        elif entry[1] != support:
            lines.append(f"support: {shown(atoms)}  is {support}, should be {entry[1]}")
    lines += [
        f"missing: {shown(atoms)}  {support}"
        for atoms, support in wanted
        if seen.get(atoms) is None
    ]
    if len(lines) > SHOWN:
        lines[SHOWN:] = [f"... and {len(lines) - SHOWN} more"]
    return lines


# against enumeration


@pytest.mark.parametrize("seed", SEEDS)
def test_the_answer_is_that_of_enumeration(seed):
    language, expected = solved(seed)
    lines = differences(counted(expected), counted(mined(language)))
    if lines:
        pytest.fail("\n".join([str(language), "--- mine against enumeration", *lines]))


@pytest.mark.parametrize("seed", range(0, N_LANGUAGES, 10))
def test_the_answer_stays_when_sequences_facts_and_declarations_are_shuffled(seed):
    language, expected = solved(seed)
    other = shuffled(language, Random(seed))
    lines = differences(counted(expected), counted(mined(other)))
    assert not lines, "\n".join([str(other), *lines])


@pytest.mark.parametrize("seed", SEEDS[1::10])
def test_the_answer_stays_but_for_the_names_when_constants_are_renamed(seed):
    language, expected = solved(seed)
    other, rename = renamed(language, Random(seed))
    names = [(tuple(map(rename, atoms)), support) for atoms, support in counted(expected)]
    lines = differences(names, counted(mined(other)))
    assert not lines, "\n".join([str(other), *lines])


@pytest.mark.parametrize("seed", range(2, N_LANGUAGES, 10))
def test_every_pattern_recounts_to_its_support(seed):
    language, _ = solved(seed)
    entries = list(mined(language))
    patterns = [entry.pattern for entry in entries]
    flag = language.conditions.object_identity
    covered = covers(patterns, language.X, object_identity=flag)
    labels = np.array([str(label) for label in language.classes])
    for column, entry in zip(covered.T, entries, strict=True):
        recount = {label: int(column[labels == str(label)].sum()) for label in entry.support}
        assert recount == dict(entry.support), f"{language}\n{entry.pattern}"


@pytest.mark.parametrize("seed", range(4, N_LANGUAGES, 10))
def test_the_answer_has_one_order_and_no_variants(seed):
    language, _ = solved(seed)
    first, second = ([str(entry.pattern) for entry in mined(language)] for _ in range(2))
    assert first == second
    forms = {canonical(parse_pattern(text)) for text in first}
    assert len(forms) == len(first)


@pytest.mark.parametrize("seed", range(5, N_LANGUAGES, 10))
def test_a_pattern_reads_back_from_its_text(seed):
    language, _ = solved(seed)
    for entry in mined(language):
        assert parse_pattern(str(entry.pattern)) == entry.pattern


# classes and mistakes


def letters(*texts: str, labels: Sequence[object] | None = None) -> Sequences:
    """Chains of p(E,letter), one event a letter."""
    sequences = []
    for text in texts:
        atoms = [Atom("p", (f"e{i}", letter)) for i, letter in enumerate(text)]
        atoms += [Atom("next_s", (f"e{i - 1}", f"e{i}")) for i in range(1, len(text))]
        sequences.append(atoms)
    return Sequences.from_atoms(sequences, labels=labels)


def supports(answer: PatternSet) -> dict[str, dict]:
    return {str(entry.pattern.canonical()): dict(entry.support) for entry in answer}


def test_without_labels_there_is_one_class_of_all():
    answer = supports(mine(letters("ab", "ba", "aa"), bias=LETTERS))
    assert answer["next_s(A,B), p(A,a), p(B,b)"] == {"all": 1}
    assert answer["p(A,a)"] == {"all": 3}


def test_labels_of_the_sequences_are_used_unless_others_are_given():
    X = letters("ab", "ba", labels=["up", "down"])
    assert supports(mine(X, bias=LETTERS))["p(A,a)"] == {"down": 1, "up": 1}
    assert supports(mine(X, ["one", "one"], LETTERS))["p(A,a)"] == {"one": 2}


def test_a_class_that_has_the_pattern_often_enough_is_enough():
    X = letters("ab", "ba", "cc", "cc", "cc", labels=["rare", "rare", "c", "c", "c"])
    answer = supports(mine(X, bias=LETTERS, min_support=1.0, max_length=1))
    assert answer == {
        "p(A,B)": {"c": 3, "rare": 2},
        "p(A,a)": {"c": 0, "rare": 2},
        "p(A,b)": {"c": 0, "rare": 2},
        "p(A,c)": {"c": 3, "rare": 0},
    }


def test_a_setting_of_the_call_wins_over_that_of_the_bias():
    X = letters("ab", "ba")
    assert {entry.length for entry in mine(X, bias=LETTERS)} == {1, 2}
    assert {entry.length for entry in mine(X, bias=LETTERS, max_length=1)} == {1}


def test_numbers_that_differ_in_kind_are_different_constants():
    X = Sequences.from_atoms([[parse_atom("p(e,1)")], [parse_atom("p(e,1.0)")]])
    answer = supports(mine(X, bias=LETTERS, max_length=1))
    assert answer == {"p(A,B)": {"all": 2}, "p(A,1)": {"all": 1}, "p(A,1.0)": {"all": 1}}


def test_a_bias_is_inferred_where_none_is_given():
    X, y = from_lists([["a", "b"], ["a", "c", "b"], ["b", "a"]], ["up", "up", "down"])
    answer = supports(mine(X, y, max_length=2, min_support=1.0))
    assert answer["a(A), b(B), follow_s(A,B)"] == {"down": 0, "up": 2}


def test_no_sequences_are_refused():
    with pytest.raises(DataError) as caught:
        mine(Sequences.from_atoms([]), bias=LETTERS)
    assert str(caught.value) == "there are no sequences to mine"


# budgets


def exploding() -> tuple[Sequences, Bias]:
    random = Random(7)
    X = letters(*("".join(random.choices("abcdefgh", k=25)) for _ in range(60)))
    return X, replace(LETTERS, max_length=12, max_gap=6, min_support=0.01)


def test_an_answer_cut_short_says_so_and_has_all_patterns_up_to_the_length_it_claims():
    X, bias = exploding()
    mine(X, bias=bias, max_length=2)  # kernels are compiled outside the limit
    answer = mine(X, bias=bias, time_limit=0.5)
    assert answer.partial is not None
    assert answer.partial.startswith("stopped by time_limit=0.5 at length ")
    assert 1 <= answer.complete_up_to < 12
    whole = mine(X, bias=bias, max_length=answer.complete_up_to)
    assert whole.partial is None
    assert whole.complete_up_to == answer.complete_up_to
    up_to = [entry for entry in answer if entry.length <= answer.complete_up_to]
    assert sorted(str(e.pattern) for e in up_to) == sorted(str(e.pattern) for e in whole)


def test_what_an_answer_cut_short_has_is_counted_right():
    X, bias = exploding()
    answer = list(mine(X, bias=bias, time_limit=0.2))
    sample = Random(3).sample(answer, min(len(answer), 200))
    covered = covers([entry.pattern for entry in sample], X)
    assert covered.sum(axis=0).tolist() == [entry.frequency for entry in sample]


def test_a_whole_answer_is_complete_up_to_the_largest_length():
    answer = mine(letters("abc", "acb"), bias=LETTERS, max_length=3)
    assert answer.partial is None
    assert answer.complete_up_to == 3


# the cases of the original program


def golden(case: str) -> tuple[Sequences, Bias, dict[str, tuple[dict[str, int], dict[str, int]]]]:
    """Data, bias, and the listed patterns with their supports and the sizes of the classes."""
    folder = GOLDEN / case
    if not folder.is_dir():
        pytest.skip(f"the golden cases of the original program are not at {GOLDEN}")
    X, y = read_lynx(folder / f"{case}.m", background=folder / f"{case}.bk")
    header, *lines = (folder / "expected.tsv").read_text().splitlines()
    classes = header.split("\t")[1:]
    listed = {}
    for line in lines:
        text, *counts = line.split("\t")
        pairs = [tuple(map(int, count.split("/"))) for count in counts]
        listed[str(parse_pattern(text).canonical())] = (
            {c: n for c, (n, _) in zip(classes, pairs, strict=True)},
            {c: n for c, (_, n) in zip(classes, pairs, strict=True)},
        )
    return X.with_labels(y), read_bias(folder / f"{case}.l"), listed


def by_definition(answer: PatternSet, sizes: dict[str, int], above: float) -> dict[str, dict]:
    """What the original reports: more than one atom, unequal shares, the largest above a bound."""
    reported = {}
    for entry in answer:
        shares = [n / sizes[c] for c, n in entry.support.items()]
        if len(entry.pattern) > 1 and len(set(shares)) > 1 and max(shares) > above:
            reported[str(entry.pattern.canonical())] = dict(entry.support)
    return reported


def mined_golden(case: str, above: float) -> tuple[dict[str, dict], dict[str, dict]]:
    """By our search and as listed; the original ignores its `minfreq`."""
    X, bias, listed = golden(case)
    sizes = next(iter(listed.values()))[1]
    answer = by_definition(mine(X, bias=bias, min_frequency=1), sizes, above)
    return answer, {text: support for text, (support, _) in listed.items()}


def test_the_two_events_of_the_original_are_found_as_listed():
    answer, listed = mined_golden("two_events", 0.3)
    assert answer == listed
    assert len(listed) == 23


def test_the_variables_of_the_original_are_found_as_listed():
    answer, listed = mined_golden("variables", 0.2)
    assert {t: n for t, n in answer.items() if "follow_s" not in t} == listed
    assert len(listed) == 6


def test_the_longer_variables_of_the_original_are_found_with_those_it_lost():
    answer, listed = mined_golden("variables_length3", 0.2)
    assert {text: answer.get(text) for text in listed} == listed
    assert len(answer) == 52


def test_the_molecules_of_the_original_are_found_with_the_more_general_ones():
    answer, listed = mined_golden("molecules", 0.1)
    assert {text: answer.get(text) for text in listed} == listed
    assert len(answer) == 27


def test_events_in_an_argument_of_values_are_refused():
    X = Sequences.from_atoms([[parse_atom("q(e1,e2)"), parse_atom("next_s(e1,e2)")]])
    bias = Bias(types={"q": ("o", "event")}, modes={"q": (("#", "+"),)}, dimensions=("s",))
    with pytest.raises(DataError) as caught:
        mine(X, bias=bias)
    assert str(caught.value) == (
        "argument 1 of q/2 has the type 'o' in the bias, but holds events such as e1: declare it "
        "as event, or give the values other names than the events"
    )


def test_the_report_counts_a_closing_link_at_the_length_of_its_pattern():
    text = "near(e1,e2), next_s(e1,e2), next_h(e1,e2)"
    X = Sequences.from_atoms([[parse_atom(f"{a})") for a in text[:-1].split("), ")]] * 3)
    bias = Bias(
        types={"near": ("event", "event")}, modes={"near": (("+", "+"),)}, dimensions=("s", "h")
    )
    found = mine(X, bias=bias, max_length=1, max_gap=1)
    (level,) = found.report.levels
    assert level.length == 1
    assert level.occurred >= level.kept == len(found) > 1


def test_a_fact_that_can_be_written_in_very_many_ways_is_left_to_the_general_engine():
    values = ",".join("a" * 6)
    facts = [f"wide(e1,{values})", f"wide(e2,{values})", "next_s(e1,e2)"]
    X = Sequences.from_atoms([[parse_atom(fact) for fact in facts]])
    bias = Bias(
        types={"wide": ("event", *"t" * 6)}, modes={"wide": (("+", *"*" * 6),)}, dimensions=("s",)
    )
    found = mine(X, bias=bias, max_length=1, object_identity=False)
    texts = set(found.texts())
    assert len(texts) == len(found)
    assert covers([entry.pattern for entry in found[:50]], X, object_identity=False).all()


def test_on_the_bundled_folds_every_pattern_recounts_to_its_support():
    folds = load_protein_folds()
    bias = parse_bias(
        "type(he(event,hand,class,length)). mode(he(+,#,#,#)). type(st(event,sense,length)). "
        "mode(st(+,#,#)). dimension(next_s). dimension(next_h)."
    )
    found = mine(folds.X, folds.y, bias, max_length=2)
    covered = found.coverage(folds.X)
    recounted = np.stack([covered[folds.y == c].sum(axis=0) for c in found.classes], axis=1)
    assert len(found) > 500
    assert (recounted == found.supports).all()
