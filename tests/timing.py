"""How the time of a function grows with the size of its input, in CPU time."""

import time
from collections.abc import Callable

FACTOR = 4


def seconds(function: Callable[[], object]) -> float:
    """The CPU time of one call, which other work on the machine does not stretch."""
    start = time.process_time()
    function()
    return time.process_time() - start


def assert_grows_no_faster_than_size(call: Callable[[int], object], size: int) -> None:
    """Compare `size` with a quarter of it: quadratic time takes 16 times as long, linear 4."""
    small = min(seconds(lambda: call(size // FACTOR)) for _ in range(2))
    large = min(seconds(lambda: call(size)) for _ in range(2))
    assert large < 2.2 * FACTOR * small + 0.1, f"{small:.3f} s, then {large:.3f} s"
