"""Patterns in words."""

import pytest

from relynx import parse_pattern
from relynx.mining.words import in_words


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (
            "he(X,alpha,L), next_s(X,Y), st(Y,plus,L)",
            "a he with alpha and L, directly followed by a st with plus and the same L",
        ),
        ("a(X), follow_s(X,Y), b(Y)", "an a, followed later by a b"),
        ("a(X), followat_s(3,X,Y), b(Y,_)", "an a, followed 3 steps later by a b with anything"),
        ("he(X,1,2,M), long(X)", "a he with 1, 2 and M that is also long"),
        (
            "a(X), next_s(X,Y), b(Y), next_t(X,Z), c(Z)",
            "an a (1), directly followed in s by a b, and (1) directly followed in t by a c",
        ),
        (
            "a(X), next_s(X,Y), b(Y), next_s(Y,X)",
            "an a (1), directly followed by a b (2), and (2) directly followed by (1)",
        ),
        ("a(X), next_s(X,X)", "an a (1), and (1) directly followed by (1)"),
        (
            "b(Y), next_s(Y,Z), next_s(X,Y), a(X)",
            "a b (1), directly followed by an event, and an a directly followed by (1)",
        ),
        (
            "a(X), next_s(X,Y), b(Y), contact(X,Y,near), wet",
            "an a (1), directly followed by a b (2), where contact holds for (1), (2) and near, "
            "where wet holds",
        ),
        ("a(X), b(Y)", "an a, and a b"),
        ("size(5,N), even(N)", "a size with 5 that is also even"),
        ("next_s(a,b)", "where next_s holds for a and b"),
    ],
)
def test_a_pattern_is_told_in_words(pattern, words):
    assert in_words(parse_pattern(pattern)) == words
