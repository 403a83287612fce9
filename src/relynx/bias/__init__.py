"""The language bias: which patterns a search may build, as a value, as text, or inferred."""

from relynx.bias.declarations import Bias
from relynx.bias.reader import parse_bias, read_bias

__all__ = ["Bias", "parse_bias", "read_bias"]
