"""The memory of this process: what it holds and the most it has held."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")


def peak_bytes() -> int:
    """The most memory this process has held; what its parent held does not count."""
    if _STATUS.exists():
        return _of_status("VmHWM")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def held_bytes() -> int:
    """The memory this process holds; where the system does not say, the most it has held."""
    return _of_status("VmRSS") if _STATUS.exists() else peak_bytes()


def forget_peak() -> None:
    """Let the peak start again from what is held; without effect where there is no /proc."""
    if _STATUS.exists():
        Path("/proc/self/clear_refs").write_text("5")


def _of_status(name: str) -> int:
    line = next(one for one in _STATUS.read_text().splitlines() if one.startswith(name))
    return int(line.split()[1]) * 1024
