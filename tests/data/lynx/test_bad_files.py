"""Every file of golden/bad is wrong, and its whole message is the text beside it."""

from golden_texts import refusals

from relynx.data.lynx.reader import read_lynx
from relynx.errors import ParseError
from relynx.logic.nodes import node_rule
from relynx.logic.parser import parse_clauses
from relynx.logic.source_files import read_source


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


def read(path: str) -> None:
    (read_rules if path.endswith(".pl") else read_lynx)(path)


test_a_bad_file_gets_its_whole_message = refusals("bad", read)
