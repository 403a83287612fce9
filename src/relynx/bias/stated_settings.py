"""The settings of a search that a bias file may state, and the names they have there."""

from __future__ import annotations

from dataclasses import dataclass

from relynx.logic.terms import Constant, constant_text

PRIORS = ("empirical", "uniform")


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: its field of `Bias`, what it may be, and how a file's value differs from that.

    `kind` is count (of at least `low`), share, truth or prior. `shift` is added to what a file
    says: `minfreq(1)` asks for more than one sequence.
    """

    field: str
    kind: str
    low: int = 0
    shift: int = 0

    def wanted(self, *, in_file: bool) -> str:
        """What the value must be, in the words of a message."""
        if self.kind == "count":
            return f"a whole number of at least {self.low - self.shift if in_file else self.low}"
        if self.kind == "share":
            return "a number from 0 to 1"
        if self.kind == "truth":
            return "true or false" if in_file else "True or False"
        return "empirical or uniform" if in_file else "'empirical' or 'uniform'"

    def valid(self, value: object) -> bool:
        """Whether a field may have this value."""
        if self.kind == "truth":
            return isinstance(value, bool)
        if self.kind == "prior":
            return value in PRIORS
        if isinstance(value, bool):
            return False
        if self.kind == "count":
            return isinstance(value, int) and value >= self.low
        return isinstance(value, int | float) and 0 <= value <= 1

    def from_file(self, value: object) -> Constant | bool | None:
        """What the field gets for a file's value; None where that is not allowed."""
        if self.kind == "truth":
            return {"true": True, "false": False}.get(str(value))
        if self.kind == "count" and isinstance(value, int):
            value += self.shift
        return value if isinstance(value, str | int | float) and self.valid(value) else None

    def file_text(self, value: Constant | bool) -> str:
        """A field's value as a file says it."""
        if isinstance(value, bool):
            return "true" if value else "false"
        return constant_text(value - self.shift if isinstance(value, int) else value)


SETTINGS = {
    "maxsize": Setting("max_length", "count", low=1),
    "maxfollowat": Setting("max_gap", "count", low=1),
    "minfreq": Setting("min_frequency", "count", low=1, shift=1),
    "minsupport": Setting("min_support", "share"),
    "mincover": Setting("min_cover", "count"),
    "object_identity": Setting("object_identity", "truth"),
    "prior": Setting("prior", "prior"),
}

# The flags of the original program that are settings here, by our names; '$unbalanced_data' is a
# prior, and '$lynx_verbose' says nothing of the language.
FLAGS = {
    "maxsize": "maxsize",
    "maxfollowat": "maxfollowat",
    "minfreq": "minfreq",
    "minclassrecall": "minsupport",
    "mincover": "mincover",
    "object_identity": "object_identity",
}
UNBALANCED = "unbalanced_data"
IGNORED_FLAGS = ("lynx_verbose",)
