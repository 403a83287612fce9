"""The page on the architecture names what is there: packages, files, names in them and layers."""

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from paths import ROOT

PACKAGE = ROOT / "src" / "relynx"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PICTURE = re.search(r"    errors .*?(?=\n\S)", PAGE, re.DOTALL)[0]
QUOTED = sorted(set(re.findall(r"`([^`\n]+)`", PAGE.replace("```", ""))))
TESTS = {path.name: path for path in (ROOT / "tests").rglob("*.py")}
FILES = [name for name in QUOTED if re.fullmatch(r"[\w./]*(/[\w.]+|\.(py|md|toml))", name)]
PLACES = re.findall(r"((?:`\w+`(?:,|,? and)?\s+)+)of\s+`([\w/]+\.py)`", PAGE)


def found(name: str) -> Path | None:
    """The file or folder that the page means by a name."""
    places = [PACKAGE / name, ROOT / name, TESTS.get(name, ROOT / name)]
    return next((place for place in places if place.exists()), None)


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


@cache
def words_of_the_code() -> set[str]:
    """Every word of the sources, the tests but this one, and the files that run them."""
    paths = [*(ROOT / "src").rglob("*.py"), *TESTS.values()]
    paths += [ROOT / "pyproject.toml", ROOT / "Makefile"]
    here = Path(__file__).resolve()
    return set[str]().union(*(words(path.read_text("utf-8")) for path in paths if path != here))


def rooms() -> list[str]:
    """The packages of the picture, those inside another with its name before theirs."""
    found, outer = [], ""
    for line in PICTURE.splitlines():
        inner = re.match(r"      \|-- (\w+) ", line)
        top = re.match(r"    ((?:\w+, )*\w+)(?:  |$)", line)
        if inner:
            found.append(f"{outer}/{inner[1]}")
        elif top:
            found += top[1].split(", ")
            outer = found[-1]
    return found


@pytest.mark.parametrize("name", FILES)
def test_every_file_that_the_page_names_exists(name):
    assert found(name) is not None


def test_every_name_on_the_page_is_in_the_code():
    names = set().union(*(words(text) for text in QUOTED if text not in FILES))
    examples = {"follow_NAME", "followat_NAME"}
    assert sorted(names - examples - words_of_the_code()) == []


@pytest.mark.parametrize(("names", "module"), PLACES)
def test_a_name_of_a_module_is_in_that_module(names, module):
    path = found(module)
    assert path is not None
    assert set(re.findall(r"`(\w+)`", names)) <= words(path.read_text("utf-8"))


@pytest.mark.parametrize("room", rooms())
def test_every_package_of_the_picture_exists(room):
    assert (PACKAGE / room / "__init__.py").exists() or (PACKAGE / f"{room}.py").exists()


def test_the_picture_has_every_package():
    there = (path.parent.relative_to(PACKAGE) for path in PACKAGE.glob("**/__init__.py"))
    assert {str(room) for room in there if 1 <= len(room.parts) <= 2} <= set(rooms())


def test_the_picture_has_the_order_of_the_layers():
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = config["tool"]["importlinter"]["contracts"][0]["layers"]
    order = [layer.strip("()").removeprefix("relynx.") for layer in reversed(layers)]
    shown = [room for room in rooms() if "/" not in room]
    alike = {"scale", "reports", "plots", "store"}, {"console", "reproduce", "demo", "cli"}
    assert [n for n in order if n in set(shown) - set.union(*alike)] == shown[:-8]
    assert ({*shown[-8:-4]}, {*shown[-4:]}) == alike
