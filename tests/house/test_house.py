"""The shape of the source: small folders, short functions, no import cycles, doors that speak."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import relynx

SRC = Path(relynx.__file__).parent
MODULES = {
    ".".join(("relynx", *path.relative_to(SRC).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): path
    for path in SRC.rglob("*.py")
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}
FOLDERS = sorted({path.parent for path in MODULES.values()})
MOST_MODULES = 16
MOST_LINES = 60
# Of named tuples, of the stack of Python, and of what RidgeClassifier predicts by.
FOREIGN = {"_fields", "_replace", "_getframe", "_label_binarizer"}


def imported(tree: ast.Module) -> Iterator[str]:
    """The modules of relynx that a module imports, wherever in it the statement stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else str(node.module)


def is_kernel(name: str, function: ast.FunctionDef) -> bool:
    in_kernels = MODULES[name].name.startswith("_") and name.endswith("_kernels")
    return in_kernels or any("njit" in ast.unparse(d) for d in function.decorator_list)


def body_lines(function: ast.FunctionDef) -> int:
    """The lines of a function without its signature and its docstring."""
    first, *more = function.body
    start = more[0] if ast.get_docstring(function) is not None and more else first
    return (function.end_lineno or 0) - start.lineno + 1


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(SRC.parent)))
def test_a_folder_has_few_modules_and_a_door_that_says_what_it_is_for(folder):
    assert len([*folder.glob("*.py")]) - 1 <= MOST_MODULES
    door = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    assert door is not None
    assert len(door.split()) > 3
    assert ". " in f"{door} "


def test_a_function_fits_on_a_screen():
    too_long = [
        f"{name}.{node.name}: {lines} lines"
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and (lines := body_lines(node)) > MOST_LINES
        and not is_kernel(name, node)
    ]
    assert not too_long


def test_modules_do_not_import_each_other_in_a_circle():
    graph = {
        name: {other for other in imported(tree) if other in MODULES and other != name}
        for name, tree in TREES.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))


def test_a_private_attribute_is_used_in_its_own_module_only():
    own = {
        name: {
            node.attr if isinstance(node, ast.Attribute) else node.name
            for node in ast.walk(tree)
            if (isinstance(node, ast.FunctionDef | ast.ClassDef))
            or (isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("self", "cls"))
        }
        for name, tree in TREES.items()
    }
    reached = [
        f"{name}:{node.lineno}: {ast.unparse(node)}"
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.endswith("_")
        and node.attr not in own[name] | FOREIGN
    ]
    assert reached == []
