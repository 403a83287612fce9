"""A bias and background rules in a model file: their texts, and back."""

from __future__ import annotations

from dataclasses import replace

from relynx.bias.declarations import Bias
from relynx.bias.reader import parse_bias
from relynx.data.schema import SCHEMA
from relynx.errors import InputError
from relynx.logic.datalog import Background, parse_background
from relynx.storage import Part
from relynx.storage.fields import Field, Fields

LONGEST_BIAS = 1 << 20  # characters


def bias_text(bias: Bias) -> str:
    """The bias without its notes, which are not read back."""
    text = str(replace(bias, notes=()))
    if len(text) > LONGEST_BIAS:
        what = f"the bias is a text of {len(text):,} characters, which a model file cannot keep"
        hint = f"it keeps {LONGEST_BIAS:,}: declare fewer values and constraints"
        raise InputError(what, hint=hint)
    return text


def bias_of(part: Part, name: str) -> Bias:
    """The bias whose text is a field of a part."""
    text = part.text(name)
    if len(text) > LONGEST_BIAS:
        raise part.wrong(name, f"has {len(text):,} characters, more than {LONGEST_BIAS:,}")
    try:
        return parse_bias(text)
    except InputError as error:
        raise part.wrong(name, f"is no bias: {error.problems[0].message}") from None


BIAS = Field(lambda bias, _: bias_text(bias), lambda part, key, _: bias_of(part, key))


def _background_of(part: Part, name: str, _: object) -> Background | None:
    """The rules whose text is a field of a part; older files have none."""
    if not part.has(name) or part.none(name):
        return None
    text = part.text(name)
    try:
        return parse_background(text)
    except InputError as error:
        raise part.wrong(name, f"are no rules: {error.problems[0].message}") from None


# What a model knows of the facts that it asks for.
KNOWLEDGE: Fields = {
    "background_": Field(lambda rules, _: None if rules is None else str(rules), _background_of),
    "reading_": SCHEMA,
}
