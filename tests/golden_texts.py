"""Texts that must not change by themselves: each stands in a file, and is compared as a whole.

After a change of wording, `RELYNX_REGENERATE=1 pytest tests/<room>/test_...py` writes them anew;
read each of them before it is committed.
"""

from __future__ import annotations

import os
from pathlib import Path


def compare(text: str, expected: Path) -> None:
    """Compare a text with that of a file."""
    if os.environ.get("RELYNX_REGENERATE"):
        expected.write_text(text, encoding="utf-8", newline="\n")
    assert text == expected.read_text(encoding="utf-8")


def told(error: BaseException) -> str:
    """An error as it is kept: its kind, and all that it says."""
    return f"{type(error).__name__}\n{error}\n"
