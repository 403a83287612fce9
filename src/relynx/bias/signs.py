"""The words of the language of biases."""

EVENT = "event"
SIGNS = ("+", "-", "#", "*")
OPERATORS = {"next": 2, "follow": 2, "followat": 3}


def operators(dimensions: tuple[str, ...]) -> dict[str, tuple[str, int]]:
    """The predicates of some dimensions: name to dimension and number of arguments."""
    return {
        f"{operator}_{dimension}": (dimension, arity)
        for dimension in dimensions
        for operator, arity in OPERATORS.items()
    }
