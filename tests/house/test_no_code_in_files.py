"""Nothing that relynx reads is run: no module of it calls what makes code or objects of bytes."""

import ast
from pathlib import Path

import pytest

import relynx

ROOT = Path(relynx.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
# Modules that make objects of bytes, and functions that run text.
FORBIDDEN_MODULES = {
    *("pickle", "_pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "yaml", "xmlrpc"),
    *("code", "codeop", "imp", "runpy", "xml.etree", "xml.dom", "xml.sax", "lxml", "tarfile"),
}
FORBIDDEN_NAMES = {"eval", "exec", "compile", "__import__", "execfile"}
FORBIDDEN_ATTRIBUTES = {
    *("loads", "load", "extract", "extractall", "unpack_archive", "read_pickle", "to_pickle"),
    *("literal_eval", "system", "popen", "fromfile"),
}
# What has a name of the lists and is no danger, with the reason.
ALLOWED = {
    "builder.load": "an instruction of the compiler, which reads a number",
    "json.load": "makes numbers, texts, lists and dicts only",
    "json.loads": "the same",
    "parts.load": "Partitions: plain columns, whose files are checked",
    "xml.sax.saxutils": "writes: it escapes texts",
}


def calls(tree):
    """The names of all that is called, and of all modules that are imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield "name", node.func.id, node
            elif isinstance(node.func, ast.Attribute):
                yield "attribute", node.func.attr, node
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield "module", alias.name, node
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield "module", node.module, node


def is_allowed(node):
    function = node.func
    named = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
    return named and f"{function.value.id}.{function.attr}" in ALLOWED


def dangers(tree):
    for kind, name, node in calls(tree):
        if kind == "module":
            parts = name.split(".")
            if FORBIDDEN_MODULES & {parts[0], ".".join(parts[:2])} and name not in ALLOWED:
                yield f"line {node.lineno} imports {name}"
        elif kind == "name" and name in FORBIDDEN_NAMES:
            yield f"line {node.lineno} calls {name}"
        elif kind == "attribute" and name in FORBIDDEN_ATTRIBUTES and not is_allowed(node):
            yield f"line {node.lineno} calls .{name}"
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                off = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                if keyword.arg == "allow_pickle" and not off:
                    yield f"line {node.lineno} allows pickle"


def test_no_module_makes_code_or_objects_of_what_it_reads():
    found = {
        str(path.relative_to(ROOT)): list(dangers(ast.parse(path.read_text(encoding="utf-8"))))
        for path in MODULES
    }
    assert len(found) > 100
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from pickle import loads",
        "import xml.etree.ElementTree as ET",
        "eval('1')",
        "joblib.load(path)",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "write_array(out, array, allow_pickle=flag)",
        "yaml.load(text)",
        "pickle.loads(data)",
        "file.extractall(folder)",
        "__import__(name)",
    ],
)
def test_the_search_finds_what_it_is_for(text):
    assert list(dangers(ast.parse(text)))


def test_the_search_lets_json_and_patterns_be():
    text = "json.loads(text); re.compile('a'); np.save(path, a, allow_pickle=False)"
    assert list(dangers(ast.parse(text))) == []
