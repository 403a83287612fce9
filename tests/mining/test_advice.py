"""What made a search large, told by lines of the bias."""

from relynx import Sequences, from_lists, load, mine, parse_bias, save
from relynx.logic.parser import parse_atoms
from relynx.mining.report import SearchReport, advice, explained

X, Y = from_lists([list("abab"), list("abcb"), list("bcaa")], ["u", "u", "v"])
LETTERS = parse_bias("""
    type(a(event)). type(b(event)). mode(a(+)). mode(b(+)).
    dimension(next_s). maxfollowat(2).
""")


def test_predicates_and_dimensions_are_told_with_their_counts():
    found = mine(X, Y, LETTERS, max_length=2)
    assert advice(found.trie, found.rows, LETTERS) == (
        "what made it large, in what was found of length 2, 10 so far:",
        "    6 end in a/1: mode(a(+))",
        "    4 end in b/1: mode(b(+))",
        "    10 link by dimension(next_s): 3 next, 4 follow, 3 followat up to 2",
        "    with min_support=1 there would be 8",
        "    with max_length=1 there would be 2 in all",
    )


def test_the_thresholds_named_keep_so_many_patterns():
    found = mine(X, Y, LETTERS, max_length=2)
    supported = mine(X, Y, LETTERS, max_length=2, min_support=1.0)
    assert (supported.lengths == 2).sum() == 8
    assert len(mine(X, Y, LETTERS, max_length=1)) == 2 == (found.lengths == 1).sum()


def test_arguments_that_are_constants_are_told_apart_from_variables():
    facts = "p(e1,x,k), p(e2,y,l), next_s(e1,e2)", "p(e1,x,k), p(e2,z,k), next_s(e1,e2)"
    properties = Sequences.from_atoms([parse_atoms(one) for one in facts])
    bias = parse_bias("type(p(event,t,u)). mode(p(+,*,#)). dimension(next_s).")
    found = mine(properties, ["u", "v"], bias, max_length=1)
    assert advice(found.trie, found.rows, bias) == (
        "what made it large, in what was found of length 1, 5 so far:",
        "    5 end in p/3: mode(p(+,*,#))",
        "        argument 2 is one of 3 constants in 3, a variable in 2: # or - for *",
        "        argument 3 is one of 2 constants in 5",
    )


def test_where_nothing_was_found_there_is_no_advice():
    found = mine(X, Y, LETTERS)
    assert advice(found.trie, found.rows[:0], LETTERS) == ()


def test_the_explanation_of_a_search_ends_with_the_advice():
    report = SearchReport((), {}, ("what made it large", "    this"))
    assert explained(report, complete_up_to=1, partial="stopped") == (
        "nothing was searched\n"
        "the search stopped early: stopped\n"
        "the result is complete up to length 1\n"
        "what made it large\n"
        "    this"
    )


def test_a_search_that_ended_early_gives_advice_and_a_file_keeps_it(tmp_path):
    found = mine(X, Y, LETTERS, max_length=2, time_limit=0)
    assert found.report.advice == advice(found.trie, found.rows, LETTERS) != ()
    save(found, tmp_path / "found.relynx")
    assert load(tmp_path / "found.relynx").report.advice == found.report.advice
    assert mine(X, Y, LETTERS, max_length=2).report.advice == ()
