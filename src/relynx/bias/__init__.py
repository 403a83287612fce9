"""The language bias: which patterns a search may build, as a value, as text, or inferred.

`declarations` has the class `Bias`, `modes` its declarations as plain values and where they are in
a text, `reader` its text format, and `foreign` the formats of Aleph and Popper. `checks` finds
contradictions; `constraints` tests patterns. `infer` makes a bias for some data, as large as
`size_estimate` allows. `wording` holds the texts that describe patterns.
"""

from relynx.bias.declarations import Bias
from relynx.bias.reader import AnyBias, as_bias, parse_bias, read_bias

__all__ = ["AnyBias", "Bias", "as_bias", "parse_bias", "read_bias"]
