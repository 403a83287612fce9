"""The settings of a search: their names, defaults and limits, and how each is spelt where.

`SearchSettings` is the value that a search, its checkpoint, the estimators and the command line
share, and has the defaults. `SETTINGS` says of each setting what it may be, its declaration in a
bias file, and its help on the command line. This module needs no numpy, so that `relynx --help`
stays instant.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from numbers import Integral, Real
from typing import Any, TypeAlias

from relynx.errors import InputError
from relynx.logic.terms import Constant, constant_text

Value: TypeAlias = Constant | bool

PRIORS = ("empirical", "uniform")
MANY = (1 << 31) - 1  # sequences
MOST = 10_000  # atoms or steps; to look for more would not end


@dataclass(frozen=True, slots=True)
class Setting:
    """What a setting may be, and its names in Python, in a bias file, and in the original program
    where that is another."""

    field: str
    declaration: str
    kind: str  # count (of `low` to `most`), share, truth or prior
    example: str  # a value in a file
    low: int = 0
    most: int | None = None
    stated_low: int = 0  # the least count that a bias may state
    shift: int = 0  # what a file says less: `minfreq(1)` asks for more than one sequence
    flag: str | None = None
    help: str = ""  # on the command line

    def checked(self, value: Any) -> Any:
        """The value of a call as a plain one. Raises InputError for one that has no meaning."""
        if self.kind == "share":
            return as_share(self.field, value)
        if self.kind == "truth":
            return as_truth(self.field, value)
        value = as_count(self.field, value, self.low)
        if self.most is not None and value > self.most:
            raise InputError(f"{self.field} is {value!r}: give an integer of at most {self.most:,}")
        return min(value, MANY)

    def wanted(self, *, in_file: bool) -> str:
        """What a bias may state, in the words of a message."""
        if self.kind == "count":
            low = self.stated_low - self.shift if in_file else self.stated_low
            return f"a whole number of at least {low}"
        if self.kind == "share":
            return "a number from 0 to 1"
        if self.kind == "truth":
            return "true or false" if in_file else "True or False"
        return "empirical or uniform" if in_file else "'empirical' or 'uniform'"

    def valid(self, value: object) -> bool:
        if self.kind == "truth":
            return isinstance(value, bool)
        if self.kind == "prior":
            return value in PRIORS
        if isinstance(value, bool):
            return False
        if self.kind == "count":
            return isinstance(value, int) and value >= self.stated_low
        return isinstance(value, int | float) and 0 <= value <= 1

    def from_file(self, value: object) -> Value | None:
        """What the field gets for a file's value; None where that is not allowed."""
        if self.kind == "truth":
            return {"true": True, "false": False}.get(str(value))
        if self.kind == "count" and isinstance(value, int):
            value += self.shift
        return value if isinstance(value, str | int | float) and self.valid(value) else None

    def file_text(self, value: Value) -> str:
        """A field's value as a file says it."""
        if isinstance(value, bool):
            return "true" if value else "false"
        return constant_text(value - self.shift if isinstance(value, int) else value)


def _longest(field: str, declaration: str, example: str, help: str) -> Setting:
    return Setting(field, declaration, "count", example, 1, MOST, 1, help=help)


# In the order in which a bias is written.
SETTINGS = {
    setting.declaration: setting
    for setting in (
        _longest("max_length", "maxsize", "3", "Most atoms, links not counted."),
        _longest("max_gap", "maxfollowat", "2", "Largest n of followat."),
        Setting(
            "min_frequency",
            "minfreq",
            "count",
            "1",
            stated_low=1,
            shift=1,
            help="Least number of sequences.",
        ),
        Setting(
            "min_support",
            "minsupport",
            "share",
            "0.1",
            flag="minclassrecall",
            help="Least share of some class.",
        ),
        Setting("min_cover", "mincover", "count", "10"),
        Setting("object_identity", "object_identity", "truth", "true"),
        Setting("prior", "prior", "prior", "uniform"),
    )
}
NAMED = {setting.field: setting for setting in SETTINGS.values()}


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What a pattern must satisfy to be kept and refined, and the one filter a bias may state."""

    min_support: float = 0.1
    min_frequency: int = 1
    max_length: int = 3
    max_gap: int = 2
    object_identity: bool = True
    min_cover: int | None = None

    @classmethod
    def of(cls, bias: object, **given: float | None) -> SearchSettings:
        """The settings given, or those of the bias, or the defaults."""
        values: dict[str, Any] = {}
        for name in (field.name for field in fields(cls)):
            value = given.get(name)
            value = getattr(bias, name, None) if value is None else value
            if value is not None:
                values[name] = NAMED[name].checked(value)
        return cls(**values)

    @classmethod
    def of_estimator(cls, bias: object, estimator: object) -> SearchSettings:
        """The settings that are parameters of an estimator, else as `of` has them."""
        names = [field.name for field in fields(cls)]
        return cls.of(bias, **{name: getattr(estimator, name, None) for name in names})

    def arguments(self) -> dict[str, Any]:
        return asdict(self)

    def digested(self) -> dict[str, Any]:
        """What a checkpoint depends on: all but the filter of what was found."""
        return {name: value for name, value in self.arguments().items() if name != "min_cover"}


def default(name: str) -> Any:
    """What a setting is where neither the call nor the bias says."""
    return getattr(SearchSettings(), name)


def as_share(name: str, value: Any) -> float:
    """The value as a number from 0 to 1. Raises InputError for another."""
    if not is_number(value) or not 0 <= value <= 1:
        raise InputError(f"{name} is {value!r}: give a share from 0 to 1")
    return float(value)


def as_count(name: str, value: Any, least: int) -> int:
    """The value as an integer. Raises InputError for one below the least, and for another type."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} is {value!r}: give an integer of at least {least}")
    return int(value)


def as_truth(name: str, value: Any) -> bool:
    """The value as a truth value, of Python or of numpy. Raises InputError for another."""
    is_numpys = str(getattr(value, "dtype", "")) == "bool" and value.shape == ()
    if not (isinstance(value, bool) or is_numpys):
        raise InputError(f"{name} is {value!r}: give True or False")
    return bool(value)


def is_number(value: object) -> bool:
    """Whether a value is a number, of Python or of numpy, other than NaN."""
    return not isinstance(value, bool) and isinstance(value, Real) and value == value
