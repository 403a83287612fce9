"""What is special about each of some models of one structure, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relynx.models.lohmm.clauses import Floats
from relynx.models.lohmm.model import LoHMM

LEAST = 1e-12


def models_text(
    names: Sequence[str], prior: Floats, models: Sequence[LoHMM], uses: Floats, top: int
) -> str:
    """The clauses that each class uses most in excess of the others; `uses` has a row a class."""
    parameters = models[0].parameters
    values = np.stack([model.parameters.values for model in models])
    n_bodies = len({(t.body, t.block) for t in models[0].transitions})
    lines = [
        f"{len(models)} models of {len(models[0].transitions):,} transitions from {n_bodies:,} "
        f"bodies, {len(parameters):,} parameters"
    ]
    for c, name in enumerate(names):
        others = values[[k for k in range(len(models)) if k != c] or [c]].mean(axis=0)
        gain = uses[c] * np.log(np.maximum(values[c], LEAST) / np.maximum(others, LEAST))
        lines += ["", f"class {name}, prior {prior[c]:.3f}"]
        best = [i for i in np.argsort(-gain, kind="stable")[:top].tolist() if gain[i] > 0]
        for i in best:
            lines.append(
                f"  {values[c, i]:.3f} : {parameters.names[i]}."
                f"  % others {others[i]:.3f}, used {uses[c, i]:,.1f} times"
            )
        if not best:
            lines.append("  nothing that the others do not have")
    return "\n".join(lines)
