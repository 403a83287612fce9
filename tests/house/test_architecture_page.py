"""The page on the architecture names what is there: packages, modules, files and the layers."""

import re
import tomllib

import pytest
from paths import ROOT

PACKAGE = ROOT / "src" / "relynx"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PICTURE = re.search(r"    errors .*?(?=\nApart from numpy)", PAGE, re.DOTALL)[0]
NAMED = sorted(set(re.findall(r"`([\w./]+)`", PAGE)))
TESTS = {path.name for path in (ROOT / "tests").rglob("*.py")}
FILES = [name for name in NAMED if "/" in name or name.endswith((".py", ".md", ".toml"))]


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
    places = [PACKAGE / name, ROOT / name]
    assert any(place.exists() for place in places) or name in TESTS


@pytest.mark.parametrize("room", rooms())
def test_every_package_of_the_picture_exists(room):
    assert (PACKAGE / room / "__init__.py").exists() or (PACKAGE / f"{room}.py").exists()


def test_the_picture_has_every_package():
    found = (path.parent.relative_to(PACKAGE) for path in PACKAGE.glob("**/__init__.py"))
    assert {str(room) for room in found if 1 <= len(room.parts) <= 2} <= set(rooms())


def test_the_picture_has_the_order_of_the_layers():
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = config["tool"]["importlinter"]["contracts"][0]["layers"]
    order = [layer.strip("()").removeprefix("relynx.") for layer in reversed(layers)]
    shown = [room for room in rooms() if "/" not in room]
    alike = {"scale", "reports", "plots", "store"}, {"console", "reproduce", "demo", "cli"}
    assert [n for n in order if n in set(shown) - set.union(*alike)] == shown[:-8]
    assert ({*shown[-8:-4]}, {*shown[-4:]}) == alike
