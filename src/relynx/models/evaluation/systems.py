"""The systems that the paper compares Lynx with, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relynx.errors import InputError, did_you_mean
from relynx.models.fisher.classifier import FisherKernelClassifier
from relynx.models.lohmm.classifier import LoHMMClassifier
from relynx.models.lynx.classifier import LynxClassifier
from relynx.models.tildecrf.classifier import TildeCRFClassifier

# By what is typed on the command line: the name in a table, and the classifier.
SYSTEMS: Mapping[str, tuple[str, Any]] = {
    "lohmm": ("LoHMM", LoHMMClassifier),
    "fisher": ("Fisher kernel", FisherKernelClassifier),
    "tildecrf": ("TildeCRF", TildeCRFClassifier),
}

# All that give a sequence its class.
CLASSIFIERS = (LynxClassifier, *(kind for _, kind in SYSTEMS.values()))


def systems(names: str) -> dict[str, Any]:
    """New classifiers with their default settings, by the names of their rows.

    Parameters
    ----------
    names
        Some of `lohmm`, `fisher` and `tildecrf`, with commas between them, in letters of any case.
    """
    given = [name.strip().lower() for name in names.split(",") if name.strip()]
    for name in given:
        if name not in SYSTEMS:
            hint = did_you_mean(name, [*SYSTEMS]) or f"give some of {','.join(SYSTEMS)}"
            raise InputError(f"there is no system {name!r} to compare with", hint=hint)
    return {SYSTEMS[name][0]: SYSTEMS[name][1]() for name in given}


def system(title: str) -> Any:
    """A new classifier with its default settings, by the name of its row."""
    return dict(SYSTEMS.values())[title]()
