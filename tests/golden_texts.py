"""Texts that must not change by themselves: each stands in a file, and is compared as a whole.

After a change of wording, `RELYNX_REGENERATE=1 pytest tests/<room>/test_...py` writes them anew;
read each of them before it is committed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from paths import GOLDEN

from relynx import InputError


def compare(text: str, expected: Path) -> None:
    """Compare a text with that of a file."""
    if os.environ.get("RELYNX_REGENERATE"):
        expected.write_text(text, encoding="utf-8", newline="\n")
    assert text == expected.read_text(encoding="utf-8")


def told(error: BaseException) -> str:
    """An error as it is kept: its kind, and all that it says."""
    return f"{type(error).__name__}\n{error}\n"


def refusals(
    folder: str, read: Callable[..., object], cases: Mapping[str, tuple] | None = None
) -> Callable[..., None]:
    """The test that each wrong input is refused, its message the text of its name in the folder.

    Without cases, the inputs are the files beside the texts, and `read` gets the name of one; else
    it gets what the case holds, in an empty folder. A text without its input is a failure.
    """
    texts = GOLDEN / folder
    if cases is None:
        cases = {path.stem: (path.name,) for path in texts.iterdir() if path.suffix != ".txt"}
        place: Path | None = texts
    else:
        place = None

    @pytest.mark.parametrize("name", sorted({*cases, *(path.stem for path in texts.glob("*.txt"))}))
    def test(name, tmp_path, monkeypatch):
        monkeypatch.chdir(place or tmp_path)
        with pytest.raises(InputError) as caught:
            read(*cases[name])
        text = told(caught.value).replace(f"{tmp_path}{os.sep}", "")
        compare(text, texts / f"{name}.txt")

    return test


def written(path: str, content: str | bytes) -> str:
    """The path of a new file with this content."""
    Path(path).write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
