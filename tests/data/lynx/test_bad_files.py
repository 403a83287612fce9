"""Every file of golden/bad is wrong, and its whole message is the text beside it."""

from pathlib import Path

import pytest
from golden_texts import compare, told
from paths import GOLDEN

from relynx.data.lynx.files import read_lynx
from relynx.errors import InputError, ParseError
from relynx.logic.parser import node_rule, parse_clauses, read_source

BAD = GOLDEN / "bad"
FILES = sorted(path.name for path in BAD.iterdir() if path.suffix in (".pl", ".m"))


def read_rules(path: str) -> None:
    """Read a file as rules, and raise all that is wrong with it."""
    source = read_source(path)
    clauses, problems = parse_clauses(source)
    for clause in clauses:
        try:
            node_rule(clause.node, source)
        except ParseError as error:
            problems.extend(error.problems)
    if problems:
        raise ParseError(sorted(problems, key=lambda problem: problem.offset))


@pytest.mark.parametrize("name", FILES)
def test_a_bad_file_gets_its_whole_message(name, monkeypatch):
    monkeypatch.chdir(BAD)
    with pytest.raises(InputError) as caught:
        (read_rules if name.endswith(".pl") else read_lynx)(name)
    compare(told(caught.value), BAD / f"{Path(name).stem}.txt")


def test_every_expected_message_has_its_file():
    assert {Path(name).stem for name in FILES} == {path.stem for path in BAD.glob("*.txt")}
    assert len(FILES) >= 60
