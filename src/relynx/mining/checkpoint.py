"""The checkpoint of a search: what was counted for each unit of work, in their order."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.bias import Bias
from relynx.data.sequences import Sequences
from relynx.search_settings import SearchSettings
from relynx.storage.journal import Journal, Work, digest

# Of what is counted: change it when an engine counts in another form or goes in another order.
KEPT_FORM = 6


def search_journal(
    checkpoint: Any,
    X: Sequences,
    labels: NDArray[np.int64],
    classes: tuple[object, ...],
    bias: Bias,
    settings: SearchSettings,
    *,
    keep_coverage: bool = False,
) -> AbstractContextManager[Journal | None]:
    """The journal of a search, where there is to be one."""
    if checkpoint is None:
        return nullcontext()
    inputs = {
        "the data": X.digest(),
        "the classes": digest([labels, classes]),
        "the bias": digest([str(bias)]),
    }
    about = f"mining of {len(X):,} sequences in {len(classes):,} classes"
    parameters = settings.digested() | ({"keep_coverage": True} if keep_coverage else {})
    return Journal(checkpoint, Work("mining", KEPT_FORM, about, inputs, parameters))
