"""Each page runs in an empty folder; the page on tables has its table there."""

import re
from pathlib import Path

import pytest

collect_ignore = ["conf.py", "conftest.py"]  # no pages

TABLES = Path(__file__).parent / "events.md"


def make_table() -> None:
    """What the first lines of Python on the page write."""
    script = re.search(r"```python\n(import csv.*?)```", TABLES.read_text(), re.DOTALL)
    assert script is not None
    exec(script[1], {})


@pytest.fixture(autouse=True)
def own_folder(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if request.path == TABLES:
        make_table()
