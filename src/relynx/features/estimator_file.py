"""An estimator as a part of a model file, by what its class declares.

`STORED` says what it learnt, `STORED_PARAMS` which parameters have a form of their own, and
`NOT_STORED` which attributes are made again from others; see `relynx.storage.fields`. What only
all of it together can be checked for, `check_restored` refuses.
"""

from __future__ import annotations

from typing import Any

from relynx.errors import InputError
from relynx.features.vectorizer import FRAMES
from relynx.storage.fields import State, restore, stored_state
from relynx.storage.parts import Part, plain

# How the work is done here, not what was learnt: it is not kept.
MACHINE = frozenset({"n_jobs", "memory", "checkpoint"})
OUTPUT = "_sklearn_output_config"  # what set_output wrote
ROUTING = "_metadata_request"  # of scikit-learn, which belongs to a pipeline


def fitted_state(model: Any) -> State:
    """The parameters, the form of the output, and what was learnt; nothing may be left over."""
    name = type(model).__name__
    params = model.get_params(deep=False)
    own = getattr(model, "STORED_PARAMS", {})
    known = {*params, *model.STORED, *getattr(model, "NOT_STORED", ()), OUTPUT, ROUTING}
    for attribute in vars(model):
        if attribute not in known:
            what = f"{name} has an attribute {attribute!r} that a model file does not keep"
            raise InputError(what, hint="delete it before you save")
    state: State = {
        "params": {
            key: plain(value, f"{key} of {name}")
            for key, value in params.items()
            if key not in MACHINE and key not in own
        }
    }
    output = {"output": getattr(model, OUTPUT, {}).get("transform")}
    return state | stored_state(model, own) | output | stored_state(model, model.STORED)


def fitted_of(type_: Any, part: Part) -> Any:
    """The estimator of a part. Raises DataError where the part describes none.

    Parameters that the file does not have, because it is older than they are, have their default.
    """
    model = type_()
    own = getattr(model, "STORED_PARAMS", {})
    known = model.get_params(deep=False).keys() - {*MACHINE, *own}
    given = part.part("params")
    for key in given.names():
        if key not in known:
            raise given.wrong(key, f"is no parameter of {type_.__name__}")
        setattr(model, key, given.value(key))
    restore(model, part, own)
    output = part.text_or_none("output")
    if output is not None:
        if output not in (*FRAMES, "default") or not hasattr(model, "set_output"):
            raise part.wrong("output", f"is neither default nor {' nor '.join(FRAMES)}")
        model.set_output(transform=output)
    restore(model, part, model.STORED)
    if hasattr(model, "check_restored"):
        model.check_restored(part)
    return model
