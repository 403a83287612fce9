"""The words of the language of biases."""

from relynx.logic.dimensions import OPERATORS

EVENT = "event"
MODE_SIGNS = ("+", "-", "#", "*")


def operators(dimensions: tuple[str, ...]) -> dict[str, tuple[str, int]]:
    """The predicates of some dimensions: name to dimension and number of arguments."""
    return {
        f"{operator}_{dimension}": (dimension, arity)
        for dimension in dimensions
        for operator, arity in OPERATORS.items()
    }
