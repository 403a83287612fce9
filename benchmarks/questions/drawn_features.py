"""Features drawn at random that depend a little on the class."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZE = 2_000  # sequences, and features


def drawn_data(n_classes: int, seed: int = 0) -> tuple[Any, Any]:
    """Features of all frequencies, each of which depends a little on the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, SIZE)
    share = rng.beta(1, 4, SIZE)
    odds = np.log(share / (1 - share)) + rng.normal(0, 0.6, (n_classes, SIZE))
    return (rng.random((SIZE, SIZE)) < 1 / (1 + np.exp(-odds[y]))).astype(np.uint8), y
