"""Tables of events for tests, and what they become."""

import pytest
from hypothesis import strategies as st

from relynx import InputError, from_events

TEXTS = st.sampled_from(["a", "b", "c d", "e1", "Z", "it's", "ü,;|"])


def atoms(X, i=0):
    return {str(atom) for atom in X[i].atoms}


def message(*args, **kwargs):
    with pytest.raises(InputError) as caught:
        from_events(*args, **kwargs)
    return str(caught.value)


@st.composite
def tables(draw, *, min_rows=1):
    """A dict of lists with a column of each kind, with gaps."""
    n = draw(st.integers(min_rows, 12))

    def column(values):
        return draw(st.lists(values, min_size=n, max_size=n))

    return {
        "case": column(st.sampled_from(["p", "q", "r s"])),
        "time": column(st.integers(0, 5)),
        "step": column(st.none() | TEXTS),
        "count": column(st.none() | st.integers(-3, 3)),
        "cost": column(st.none() | st.integers(-400, 400).map(lambda i: i / 8)),
        "done": column(st.none() | st.booleans()),
    }


def order_of(times, **more):
    """The rows, named by letters, in the order that some times give them."""
    table = {"case": [1] * len(times), "time": times, "v": list("abcdef"[: len(times)])}
    X, _ = from_events(table | more, sequence="case", order="time", fluents=["v"])
    names = {atom.args[0]: atom.args[1] for atom in X[0].atoms if atom.predicate == "v"}
    return "".join(names[f"e{i + 1}"] for i in range(len(times)))
