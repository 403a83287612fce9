"""The public names: each resolves, and none is loaded before it is used."""

import json
import resource
import subprocess
import sys

import pytest
from paths import ROOT

import relynx

HEAVY = ("numpy", "numba", "scipy", "sklearn", "pandas", "narwhals", "joblib", "jinja2", "rich")


def loaded_after(statement: str) -> set[str]:
    """The top-level modules that a fresh process has loaded after a statement."""
    code = f"import sys, json; {statement}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return {name.split(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


@pytest.mark.parametrize("name", relynx.__all__)
def test_every_public_name_resolves(name):
    value = getattr(relynx, name)
    assert value.__name__ == name
    assert value.__module__.startswith("relynx.")


@pytest.mark.parametrize("name", relynx.__all__)
def test_every_public_name_is_documented(name):
    summary = (getattr(relynx, name).__doc__ or "").strip().splitlines()[0]
    assert len(summary) > 10
    assert not summary.startswith(f"{name}(")  # what dataclass writes when there is no docstring


@pytest.mark.parametrize("name", relynx.__all__)
def test_every_public_name_is_in_the_reference(name):
    page = ROOT / "docs" / "reference.md"
    assert f":: relynx.{name}\n" in page.read_text()


def test_dir_shows_every_public_name():
    assert set(relynx.__all__) <= set(dir(relynx))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError) as caught:
        relynx.no_such_name  # noqa: B018
    assert str(caught.value) == "module 'relynx' has no attribute 'no_such_name'"


def test_importing_relynx_loads_nothing_heavy():
    assert loaded_after("import relynx").isdisjoint(HEAVY)


def test_help_loads_nothing_heavy():
    assert loaded_after("from relynx.cli import main; main(['--help'])").isdisjoint(HEAVY)


def test_reading_and_matching_do_not_load_scikit_learn():
    statement = (
        "import relynx as rx; X, _ = rx.from_lists([['a']]); rx.covers(rx.parse_pattern('a(X)'), X)"
    )
    assert loaded_after(statement).isdisjoint({"sklearn", "pandas", "click", "rich"})


def test_help_takes_less_than_three_tenths_of_a_second():
    """In CPU time, which other work does not stretch; `make bench` measures the wall."""
    command = [sys.executable, "-c", "from relynx.cli import main; main(['--help'])"]

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def seconds() -> float:
        start = spent()
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        return spent() - start

    assert min(seconds() for _ in range(5)) < 0.3
