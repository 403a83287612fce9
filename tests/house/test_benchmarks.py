"""The benchmarks ask what they say they ask."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from paths import ROOT

sys.path.append(str(ROOT / "benchmarks"))

import baum_welch
from crf_vs_crfsuite import Domains, read
from questions.bars import Bar, report
from questions.prolog import VARIANTS, Variant, ask, facts_text
from questions.workload import FLUENTS, OPERATORS, random_patterns, random_sequences, shares_a_value

from relynx.data.sequences import Sequences
from relynx.mining.matching.match import covers
from relynx.mining.patterns.pattern import Pattern


def test_the_same_seed_draws_the_same_inputs() -> None:
    assert random_sequences(5, seed=3) == random_sequences(5, seed=3)
    assert random_sequences(5, seed=3) != random_sequences(5, seed=4)
    assert random_patterns(20, seed=3) == random_patterns(20, seed=3)
    assert random_patterns(20, seed=3) != random_patterns(20, seed=4)


def test_half_of_the_patterns_share_a_variable_between_events() -> None:
    assert sum(map(shares_a_value, random_patterns(100))) == 50


def test_a_shared_variable_joins_values_of_one_domain_only() -> None:
    for pattern in random_patterns(100):
        domains: dict[str, set[tuple[str, ...]]] = {}
        for atom in pattern:
            for arg, domain in zip(atom.args[1:], FLUENTS.get(atom.predicate, ()), strict=False):
                if not isinstance(arg, str):
                    domains.setdefault(str(arg), set()).add(domain)
        assert all(len(found) == 1 for found in domains.values())


def test_every_operator_is_asked() -> None:
    assert {atom.predicate for p in random_patterns(50) for atom in p} == {*OPERATORS, *FLUENTS}


def test_every_event_of_a_sequence_has_one_fluent_on_a_chain() -> None:
    (atoms,) = random_sequences(1, n_events=6)
    assert [a.args[0] for a in atoms if a.predicate in FLUENTS] == [f"e{i}" for i in range(6)]
    steps = [a.args for a in atoms if a.predicate == "next_s"]
    assert steps == [(f"e{i}", f"e{i + 1}") for i in range(5)]


@pytest.mark.oracle
@pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog (swipl) is not installed")
@pytest.mark.parametrize("object_identity", [True, False])
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_way_to_ask_prolog_asks_what_covers_answers(
    variant: Variant, object_identity: bool, tmp_path: Path
) -> None:
    sequences, patterns = random_sequences(8, n_events=9), random_patterns(60)
    facts = tmp_path / "facts.pl"
    facts.write_text(facts_text(sequences, variant))
    answer = ask(
        facts,
        patterns,
        variant,
        sample=range(8),
        n_events=9,
        object_identity=object_identity,
        passes=1,
    )
    asked = [Pattern(atoms) for atoms in patterns]
    covered = covers(asked, Sequences.from_atoms(sequences), object_identity=object_identity)
    expected = {(s, k) for s, row in enumerate(covered.tolist()) for k, c in enumerate(row) if c}
    assert 0 < len(expected) < covered.size
    assert answer.covered == expected


def test_a_missed_bar_is_marked_and_makes_the_exit_code_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bars = [Bar("ratio", 49.0, 50.0, at_least=True), Bar("time", 1.5, 2.0, "s")]
    assert report(bars) == 1
    assert capsys.readouterr().out == (
        "bar    measured   limit\n"
        "ratio        49   >= 50  MISSED\n"
        "time      1.5 s  <= 2 s      ok\n"
        "\n"
    )


def test_bars_that_hold_make_the_exit_code_0() -> None:
    assert report([Bar("ratio", 50.0, 50.0, at_least=True), Bar("time", 2.0, 2.0, "s")]) == 0


def test_both_sides_of_baum_welch_learn_the_same() -> None:
    model = baum_welch.random_parameters(baum_welch.structure())
    sequences = model.sample(3, length=3, random_state=0)
    ours, _ = baum_welch.our_fit(model, sequences, iterations=2)
    for remember in (False, True):
        theirs, _ = baum_welch.twin_fit(model, sequences, iterations=2, remember=remember)
        assert theirs == pytest.approx(ours)


def test_both_random_fields_are_told_the_same_of_the_same_elements() -> None:
    domains = Domains([[("helix", "long"), ("strand", "short")]], [["helix", "plus"]])
    (rows,) = domains.attributes()
    assert rows[0] == ["-2:none", "-1:none", "0:helix", "0:long", "1:strand", "1:short", "2:none"]
    facts = {str(atom) for atom in domains.sequences()[0].atoms if atom.predicate != "next_s"}
    assert facts == {"is(e1,helix)", "length(e1,long)", "is(e2,strand)", "length(e2,short)"}


def test_helices_are_their_own_label_and_strands_have_a_sense() -> None:
    domains = read()
    assert len(domains.labels) == 966
    for elements, labels in zip(domains.elements, domains.labels, strict=True):
        for (kind, _), label in zip(elements, labels, strict=True):
            assert (kind == "helix") == (label == "helix")
            assert label in ("helix", "plus", "minus", "null")
