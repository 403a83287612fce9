"""Model files that are damaged, forged or hostile: InputError, and nothing else happens."""

import copy
import io
import json
import os
import pickle
import random
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored_models import X, Y, answers, fitted, forged, members, npy, zipped

from relynx import DataError, InputError, __version__, load, mine, save
from relynx.storage import archive
from relynx.storage.parts import DAMAGED, ModelFile, Part


def refused(data, path):
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        load(path)
    head, _, hint = str(caught.value).partition("\nhint: ")
    assert head.startswith(f"{path}: ")
    return head.removeprefix(f"{path}: "), hint


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """The members of a good file of a kind."""
    folder = tmp_path_factory.mktemp("good")

    def get(name):
        path = folder / f"{name}.relynx"
        if not path.exists():
            save(fitted(name), path)
        return members(path)

    return get


class Bad:
    """What pickle would run."""

    def __reduce__(self):
        return os.system, ("echo this must never run",)


def twice(contents):
    with pytest.warns(UserWarning, match="Duplicate name"):
        return zipped([*contents.items(), ("model.json", b"{}")])


def packed_twice(contents):
    """A bomb in a bomb: what is inside looks like a small file."""
    inner = zipped([("arrays/bomb.npy", bytes(10_000_000))])
    return forged(contents | {"arrays/inner.npy": inner})


def overlapping(contents):
    """Two thousand names for one and the same packed content, as in the best zip bombs."""
    bomb = ("arrays/x.npy", bytes(1_000_000))
    whole = zipped([("manifest.json", contents["manifest.json"]), bomb])
    first, last = whole.index(b"PK\x01\x02"), whole.rindex(b"PK\x01\x02")
    entry = whole[last : whole.index(b"PK\x05\x06")]
    index = whole[first:last]
    for i in range(2000):
        name = f"arrays/{i:05}.npy".encode()
        index += entry[:28] + struct.pack("<H", len(name)) + entry[30:46] + name
    end = struct.pack("<HHHHLLH", 0, 0, 2001, 2001, len(index), first, 0)
    return whole[:first] + index + b"PK\x05\x06" + end


def lying(contents):
    """A member that unpacks to more than the file says."""
    data = forged(contents)
    size = len(contents["model.json"])
    assert data.count(struct.pack("<L", size)) >= 2
    return data.replace(struct.pack("<L", size), struct.pack("<L", size - 9))


def flagged(contents, bit):
    """The file with a flag set for its first member."""
    data = bytearray(forged(contents))
    for magic, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(magic) + at] |= bit
    return bytes(data)


def linked(contents):
    """A member that is a symbolic link, as far as the zip says."""
    out = io.BytesIO(forged(contents | {SUPPORTS: b"/etc/passwd"}))
    with zipfile.ZipFile(out) as file:
        infos = [(info, file.read(info)) for info in file.infolist()]
    again = io.BytesIO()
    with zipfile.ZipFile(again, "w") as file:
        for info, data in infos:
            new = zipfile.ZipInfo(info.filename)
            new.create_system = 3
            new.external_attr = (0o120777 if info.filename == SUPPORTS else 0o644) << 16
            file.writestr(new, data)
    return again.getvalue()


def with_head(contents, head):
    """The file with another head of an array, its numbers as they were."""
    data = contents[SUPPORTS]
    (length,) = struct.unpack("<H", data[8:10])
    head = head.ljust(length - 1) + b"\n"
    return forged(contents | {SUPPORTS: data[:8] + struct.pack("<H", len(head)) + head + data[-8:]})


def without(contents, name):
    return {key: data for key, data in contents.items() if key != name}


SUPPORTS = "arrays/supports.npy"
NO_ARRAY = "the member 'arrays/supports.npy' is no array of numbers"
FORGED = {
    "empty": (lambda c: b"", "this is no model file"),
    "text": (lambda c: b"print('hello')", "this is no model file"),
    "a pickle": (lambda c: b"\x80\x04K\x01.", "this is no model file"),
    "another zip": (
        lambda c: zipped([("a.txt", b"a")]),
        "this is no model file: it has no manifest.json",
    ),
    "a zip cut short": (lambda c: forged(c)[:-30], "this file is damaged"),
    "another manifest": (
        lambda c: forged(c, format="other"),
        "this is no model file: its manifest says no format 'relynx model'",
    ),
    "a manifest that is a list": (
        lambda c: zipped([("manifest.json", b"[]")]),
        "this is no model file: its manifest says no format 'relynx model'",
    ),
    "no version": (lambda c: forged(c, version="1"), "the manifest has no version"),
    "a field too many": (
        lambda c: forged(c, more=1),
        "the manifest lacks a field, or has one too many",
    ),
    "no kind": (lambda c: forged(c, kind=3), "the manifest lists no members"),
    "a sum that is none": (
        lambda c: forged(c, members={"model.json": 3}),
        "the manifest says nothing useful of 'model.json'",
    ),
    "another kind": (
        lambda c: forged(c, kind="os.system"),
        "the kind 'os.system' is none of LynxClassifier, PatternVectorizer, PatternNB,"
        " GraspSelector, PatternSet, LoHMM, LoHMMClassifier, TildeCRF, TildeCRFClassifier,"
        " FisherScores, FisherKernelClassifier",
    ),
    "a missing array": (
        lambda c: zipped(without(c, SUPPORTS).items()),
        "the member 'arrays/supports.npy' is missing",
    ),
    "a missing model": (
        lambda c: forged(without(c, "model.json")),
        "the member 'model.json' is missing",
    ),
    "a member too many": (
        lambda c: zipped([*c.items(), ("more.txt", b"")]),
        "the member 'more.txt' is not in the manifest",
    ),
    "a name that leads elsewhere": (
        lambda c: forged(c | {"arrays/../../x.npy": npy(np.zeros(1))}),
        "the member 'arrays/../../x.npy' has a name that is not ours",
    ),
    "an absolute name": (
        lambda c: forged(c | {"/etc/x.npy": npy(np.zeros(1))}),
        "the member '/etc/x.npy' has a name that is not ours",
    ),
    "a name twice": (twice, "the member 'model.json' is there twice"),
    "another content": (
        lambda c: zipped((c | {SUPPORTS: npy(np.zeros((1, 3), np.int32))}).items()),
        "the member 'arrays/supports.npy' is not what the manifest says",
    ),
    "no JSON": (
        lambda c: forged(c | {"model.json": b"{"}),
        "the member 'model.json' is no JSON text",
    ),
    "a name twice in JSON": (
        lambda c: forged(c | {"model.json": b'{"a":1,"a":2}'}),
        "the member 'model.json' is no JSON text",
    ),
    "NaN in JSON": (
        lambda c: forged(c | {"model.json": b'{"a":NaN}'}),
        "the member 'model.json' is no JSON text",
    ),
    "infinity in JSON": (
        lambda c: forged(c | {"model.json": b'{"a":1e999}'}),
        "the member 'model.json' is no JSON text",
    ),
    "a number without end": (
        lambda c: forged(c | {"model.json": b'{"a":' + b"9" * 10_000 + b"}"}),
        "the member 'model.json' is no JSON text",
    ),
    "brackets without end": (
        lambda c: forged(c | {"model.json": b"[" * 100_000}),
        "the member 'model.json' is no JSON text",
    ),
    "deep JSON": (
        lambda c: forged(c | {"model.json": b"[" * 100 + b"1" + b"]" * 100}),
        "the member 'model.json' is nested too deeply",
    ),
    "a model that is a list": (
        lambda c: forged(c | {"model.json": b"[1]"}),
        "the model is no object",
    ),
    "an array of objects": (
        lambda c: forged(c | {SUPPORTS: npy(np.array([Bad()], object))}),
        "the member 'arrays/supports.npy' is no array of numbers",
    ),
    "an array that is huge": (
        lambda c: forged(c | {SUPPORTS: c[SUPPORTS].replace(b", 3), }  ", b", 300000)}", 1)}),
        "the member 'arrays/supports.npy' is no array of numbers",
    ),
    "an array with a size below 0": (
        lambda c: with_head(c, b"{'descr': '<i4', 'fortran_order': False, 'shape': (-2, -1), }"),
        NO_ARRAY,
    ),
    "an array whose size overflows": (
        lambda c: with_head(
            c, b"{'descr': '<i4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"
        ),
        NO_ARRAY,
    ),
    "an array of nothing in a huge shape": (
        lambda c: forged(c | {SUPPORTS: npy(np.zeros((0, 10**11), np.int32))}),
        "supports has the shape (0, 100000000000), not (30, 3)",
    ),
    "an array with a head that is a program": (
        lambda c: with_head(c, b"__import__('os').system('echo this must never run')"),
        NO_ARRAY,
    ),
    "an array of a type with fields": (
        lambda c: forged(c | {SUPPORTS: npy(np.zeros(2, [("a", "<i4")]))}),
        NO_ARRAY,
    ),
    "an array of Python objects, pickled": (
        lambda c: forged(c | {SUPPORTS: pickle.dumps(Bad())}),
        NO_ARRAY,
    ),
    "an array of the other byte order": (
        lambda c: forged(c | {SUPPORTS: npy(np.zeros(2, ">i4"))}),
        NO_ARRAY,
    ),
    "an array in a later format": (
        lambda c: forged(c | {SUPPORTS: c[SUPPORTS].replace(b"\x01\x00", b"\x02\x00", 1)}),
        NO_ARRAY,
    ),
    "a bomb in a bomb": (packed_twice, "the member 'arrays/inner.npy' is no array of numbers"),
    "a member that is larger than it says": (lying, "the member 'model.json' is damaged"),
    "a member with a password": (
        lambda c: flagged(c, 1),
        "the member 'manifest.json' is packed in a way that is not ours",
    ),
    "a member that is a patch": (
        lambda c: flagged(c, 0x20),
        "the member 'manifest.json' is damaged",
    ),
    "a member that is a link": (linked, NO_ARRAY),
    "a name of another system": (
        lambda c: forged(c | {"arrays\\..\\..\\x.npy": npy(np.zeros(1))}),
        "the member 'arrays\\\\..\\\\..\\\\x.npy' has a name that is not ours",
    ),
    "a name without end": (
        lambda c: forged(c | {f"arrays/{'a' * 9999}.npy": npy(np.zeros(1))}),
        f"the member 'arrays/{'a' * 50}...' has a name that is not ours",
    ),
    "bytes that are no UTF-8": (
        lambda c: forged(c | {"model.json": b'{"a":"\xff"}'}),
        "the member 'model.json' is no JSON text",
    ),
    "a text in UTF-16": (
        lambda c: forged(c | {"model.json": '{"a":1}'.encode("utf-16")}),
        "the member 'model.json' is no JSON text",
    ),
    "an array cut short": (
        lambda c: forged(c | {SUPPORTS: c[SUPPORTS][:-1]}),
        "the member 'arrays/supports.npy' is no array of numbers",
    ),
    "an array without a head": (
        lambda c: forged(c | {SUPPORTS: b"\x93NUMPY\x01\x00"}),
        "the member 'arrays/supports.npy' is no array of numbers",
    ),
    "an array that nothing asks for": (
        lambda c: forged(c | {"arrays/more.npy": npy(np.zeros(1))}),
        "the array 'more' belongs to nothing",
    ),
    "numbers of another type": (
        lambda c: forged(c | {SUPPORTS: npy(np.zeros(3))}),
        "supports is no array of int32",
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_file_that_is_not_ours_is_refused(name, good, tmp_path):
    make, message = FORGED[name]
    assert refused(make(good("patterns")), tmp_path / "m.relynx") == (message, DAMAGED)


def test_a_newer_file_says_to_update(good, tmp_path):
    contents = good("patterns") | {"new.bin": b""}
    assert refused(forged(contents, version=2, more=1), tmp_path / "m.relynx") == (
        "this file was written by a newer relynx: its format is 2",
        f"update relynx; {__version__} reads formats up to 1",
    )


def test_a_zip_bomb_is_refused_before_it_is_unpacked(good, tmp_path):
    data = zipped([*good("patterns").items(), ("arrays/bomb.npy", bytes(40_000_000))])
    what, hint = refused(data, tmp_path / "m.relynx")
    total = 40_000_000 + sum(map(len, good("patterns").values()))
    assert what == (
        f"this file of {len(data):,} bytes would unpack to {total:,} bytes in 8 members"
    )
    assert hint == f"a model file holds at most 1,024 MiB; {DAMAGED}"


def test_a_bomb_of_overlapping_members_is_refused_before_it_is_unpacked(good, tmp_path):
    data = overlapping(good("patterns"))
    what, hint = refused(data, tmp_path / "m.relynx")
    total = 2_000_000_000 + len(good("patterns")["manifest.json"])
    assert what == (
        f"this file of {len(data):,} bytes would unpack to {total:,} bytes in 2,001 members"
    )
    assert hint == f"a model file holds at most 1,024 MiB; {DAMAGED}"


def test_a_file_of_very_many_members_is_refused(good, tmp_path, monkeypatch):
    data = forged(good("patterns") | {f"arrays/{i}.npy": b"" for i in range(300)})
    monkeypatch.setattr(archive, "MOST_MEMBERS", 200)
    what, hint = refused(data, tmp_path / "m.relynx")
    assert what.endswith("in 307 members")
    assert hint == f"a model file holds at most 1,024 MiB; {DAMAGED}"


def test_a_small_file_is_read_into_little_memory(good, tmp_path):
    path = tmp_path / "m.relynx"
    path.write_bytes(forged(good("patterns")))
    tracemalloc.start()
    load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000


@pytest.mark.parametrize("name", ["packed_twice", "overlapping", "lying"])
def test_a_bomb_takes_little_memory(name, good, tmp_path):
    data = globals()[name](good("patterns"))
    tracemalloc.start()
    refused(data, tmp_path / "m.relynx")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60_000_000


def test_nothing_is_written_beside_a_hostile_file(good, tmp_path):
    folder = tmp_path / "inner"
    folder.mkdir()
    for make, _ in FORGED.values():
        refused(make(good("patterns")), folder / "m.relynx")
    assert [path.name for path in tmp_path.rglob("*")] == ["inner", "m.relynx"]


def test_a_text_that_is_too_large_is_refused(good, tmp_path, monkeypatch):
    data = zipped(good("patterns").items())
    monkeypatch.setattr(archive, "LARGEST_TEXT", 100)
    what, hint = refused(data, tmp_path / "m.relynx")
    assert what == "the member 'manifest.json' is too large"
    assert hint == f"a model file holds at most 1,024 MiB; {DAMAGED}"


def test_a_file_that_is_too_large_is_refused(good, tmp_path, monkeypatch):
    data = zipped(good("patterns").items())
    monkeypatch.setattr(archive, "LARGEST", 100)
    what, hint = refused(data, tmp_path / "m.relynx")
    assert (what, hint) == (
        "this file is too large",
        f"a model file holds at most 0 MiB; {DAMAGED}",
    )


def test_a_member_that_is_packed_otherwise_is_refused(good, tmp_path):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_LZMA) as file:
        file.writestr("manifest.json", good("patterns")["manifest.json"])
    assert refused(out.getvalue(), tmp_path / "m.relynx") == (
        "the member 'manifest.json' is packed in a way that is not ours",
        DAMAGED,
    )


def test_a_member_with_a_wrong_check_sum_is_damaged(good, tmp_path):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as file:
        file.writestr("manifest.json", good("patterns")["manifest.json"])
    data = out.getvalue().replace(b'"format"', b'"formal"', 1)
    assert refused(data, tmp_path / "m.relynx") == (
        "the member 'manifest.json' is damaged",
        DAMAGED,
    )


def test_what_cannot_be_opened_is_said(tmp_path):
    for path, reason in (
        (tmp_path / "none.relynx", "there is no such file"),
        (tmp_path, "this is a folder, not a file"),
        ("/dev/null", "this is no ordinary file"),
    ):
        with pytest.raises(InputError) as caught:
            load(path)
        assert str(caught.value) == f"{path}: {reason}"


# Contents that make no sense, with sums that are right


def changed(contents, place, value):
    """The file with another value at a place of the model, or another array."""
    if isinstance(value, np.ndarray):
        return forged(contents | {f"arrays/{place}.npy": npy(value)})
    tree = json.loads(contents["model.json"])
    *path, last = [int(key) if key.isdigit() else key for key in place.split("/")]
    node = tree
    for key in path:
        node = node[key]
    if value is ...:
        del node[last]
    else:
        node[last] = value
    return forged(contents | {"model.json": json.dumps(tree).encode()})


def array(contents, place):
    return np.load(io.BytesIO(contents[f"arrays/{place}.npy"])).copy()


NUMBERS = "holds a number that stands for nothing"
GROWTH = "do not grow patterns variable by variable"
PART = "holds a number that is no part of its class"
TYPE = "has a type that no classes have"
STEPS = "are no scalers and a classifier"
ORDER = "are not the selected patterns in order"
VALUES = "is no size and an exponent from 0 to 1"
PAIR = "estimators_/0/"
SCALE = "estimators_.0.estimator.steps.0.fitted.scale_"

# A file, a place in it, what stands there now (or what becomes of the array), what is said of it.
BAD_RULE = "are no rules: unsafe variable X: it is in the head, but nothing in the body binds it"
NONSENSE = [
    ("patterns", "parent", lambda a: np.abs(a), "holds a number that is no earlier row"),
    ("patterns", "parent", lambda a: a - 1, "holds a number that is no earlier row"),
    ("patterns", "steps", lambda a: a[:, :4], "has fewer than 5 columns"),
    ("patterns", "steps", lambda a: a + 9, NUMBERS),
    ("patterns", "steps", lambda a: a - 9, NUMBERS),
    ("patterns", "steps", lambda a: a + (np.arange(a.shape[1]) == 5), GROWTH),
    ("patterns", "steps", lambda a: np.where(np.arange(a.shape[1]) == 4, -1, a), NUMBERS),
    ("patterns", "supports", lambda a: a - 99, PART),
    ("patterns", "supports", lambda a: a + 99, PART),
    ("patterns", "class_sizes", lambda a: -a, "holds a number outside 0 to 2147483647"),
    ("patterns", "class_sizes", lambda a: a[:2], "has the shape (2,), not (3)"),
    ("patterns", "relations", [["a", "1"]], "is no list of names and numbers of arguments"),
    ("patterns", "relations", [["a", 2**70]], "is no list of names and numbers of arguments"),
    ("patterns", "constants", ["a", "a"], "holds one twice"),
    ("patterns", "constants", [True], "is no list of texts and finite numbers"),
    ("patterns", "classes", ["x", "x", "z"], "is no list of different classes"),
    ("patterns", "dimensions", "s", "is no list"),
    ("patterns", "dimensions", [1], "is no list of texts"),
    ("patterns", "partial", 1, "is no text"),
    ("patterns", "partial", ..., "is missing"),
    ("patterns", "complete_up_to", -1, "is no whole number from 0 on"),
    ("patterns", "object_identity", 1, "is neither true nor false"),
    ("patterns", "levels/0/kept", None, "is no whole number from 0 on"),
    ("patterns", "levels/0/nearest_support", "1", "is no number"),
    ("patterns", "levels/0/nearest_support", 2, "is no number from 0 to 1"),
    ("patterns", "levels", {}, "is no list"),
    ("patterns", "removed", {"dict": [["a", "b"]]}, "is no count for each filter"),
    ("patterns", "removed", {"dict": [["a", 1], ["a", 2]]}, "holds a key twice"),
    ("patterns", "removed", {"dict": [["a"]]}, "holds a dict that is none"),
    ("patterns", "removed", {"dict": [[[], 1]]}, "holds a dict that is none"),
    ("patterns", "removed", {"call": "os.system"}, "holds an object of an unknown kind"),
    ("patterns", "rows", {"array": "parent"}, "is an array that is missing, or used twice"),
    ("GRASP", "params/more", 1, "is no parameter of GraspSelector"),
    ("GRASP", "output", "arrow", "is neither default nor pandas nor polars"),
    ("GRASP", "history_/best/0", 1, "holds what no round has"),
    ("GRASP", "history_/best", [], "has lists of different lengths"),
    ("GRASP, frames", "feature_names_in_", ["p"], "are not 4 names"),
    ("vectorizer", "bias_", "mode(p(+)).", "is no bias: p has a mode and no type"),
    ("vectorizer", "background_", "p(X) :- q(Y).", BAD_RULE),
    (
        "vectorizer",
        "background_",
        "p(X) :- q(",
        "are no rules: expected a term, found the end of the text",
    ),
    ("vectorizer", "background_", 3, "is no text"),
    ("naive Bayes", "model.fitted._slope", lambda a: a * np.nan, "holds NaN"),
    ("naive Bayes", "model.fitted._slope", lambda a: a * np.inf, "holds an infinite number"),
    ("naive Bayes", "model/fitted", None, "is no fitted PatternNB"),
    ("naive Bayes", "model/default/threshold", "0", "is no value of this parameter"),
    ("naive Bayes", "model/given/n_jobs", 1, "is out of place"),
    (
        "naive Bayes",
        "model/fitted/classes_/values",
        ["z", "y", "x"],
        "are no different classes in order",
    ),
    ("naive Bayes", "model/fitted/classes_/values", [], "is no list of classes"),
    ("naive Bayes", "model/fitted/classes_/values", [None], "is no list of classes"),
    ("naive Bayes", "model/fitted/classes_/dtype", "<U99999999", TYPE),
    ("naive Bayes", "model/fitted/classes_/dtype", "<Ux", TYPE),
    ("naive Bayes", "model/fitted/classes_/dtype", "|O8", TYPE),
    ("lynx", "class_prior_", lambda a: -a, "are no shares that sum to 1"),
    ("lynx", PAIR + "estimator", None, "is missing"),
    ("lynx", PAIR + "estimator/name", "eval", "is no learner of a model file"),
    ("lynx", PAIR + "classes/values", ["x", "z"], "are not one for each pair of classes"),
    ("lynx", "estimators_.0.growth", lambda a: a * 0, VALUES),
    ("lynx", "estimators_.0.growth", lambda a: -a, VALUES),
    ("lynx", "estimators_.0.growth", lambda a: np.array([9.0, 1.01]), VALUES),
    ("lynx", "estimators_.0.growth", lambda a: np.array([9.0, -0.01]), VALUES),
    ("lynx", "estimators_.0.growth", lambda a: np.array([np.nan, 0.5]), "holds NaN"),
    ("lynx", "estimators_.0.growth", lambda a: np.array([np.inf, 0.5]), "holds an infinite number"),
    ("lynx", "estimators_.0.growth", lambda a: a[:1], "has the shape (1,), not (2)"),
    ("lynx", PAIR + "growth", 1.5, "is no array of float64"),
    ("lynx", "_columns.0", lambda a: a + 9999, "hold a number that is no selected pattern"),
    ("lynx", "_columns", [], "are not as many as the models"),
    ("lynx, one model", "_columns.0", lambda a: a[::-1].copy(), ORDER),
    ("TildeCRF", "params/max_iter", "x", "hold what fit refuses: max_iter is 'x'"),
    ("TildeCRF", "params/learning_rate", 2, "hold what fit refuses: learning_rate is 2"),
    ("TildeCRF classifier", "params/readout", "x", "hold what fit refuses: readout is 'x'"),
    ("lynx, scaled", SCALE, lambda a: a * 0, "holds a number that is not above 0"),
    ("lynx, scaled", PAIR + "estimator/steps", [], STEPS),
    ("lynx, scaled", PAIR + "estimator/steps/0/label", "a__b", STEPS),
    ("lynx, scaled", PAIR + "estimator/steps/0/fitted", None, "do not fit together"),
]


@pytest.mark.parametrize("case", NONSENSE, ids=lambda case: f"{case[0]}: {case[1]}")
def test_contents_that_make_no_sense_are_refused(case, good, tmp_path):
    name, place, value, message = case
    contents = good(name)
    if callable(value):
        value = value(array(contents, place))
    what, hint = refused(changed(contents, place, value), tmp_path / "m.relynx")
    assert hint == DAMAGED
    where, _, said = what.partition(" ")
    assert said == message
    assert place.replace("/", ".").startswith(where) or where == "model.threshold"


def test_numbers_out_of_range_are_named(good, tmp_path):
    contents = good("lynx")
    place = "estimators_.0.selected"
    last = len(array(contents, "estimators_.0.patterns.rows")) - 1
    what, _ = refused(changed(contents, place, array(contents, place) + 9999), tmp_path / "m")
    assert what == f"{place} holds a number outside 0 to {last}"


def test_weights_of_another_shape_are_refused(good, tmp_path):
    contents = good("lynx, ridge")
    place = "estimators_.0.estimator.fitted."
    n = len(array(contents, "estimators_.0.selected"))
    what, _ = refused(changed(contents, f"{place}coef_", np.zeros((2, 1))), tmp_path / "m")
    assert what == f"{place}coef_ has the shape (2, 1), not (1, {n})"
    what, _ = refused(changed(contents, f"{place}intercept_", np.zeros(9)), tmp_path / "m")
    assert what == f"{place}intercept_ has the shape (9,), not (1,)"
    what, _ = refused(changed(contents, f"{place}classes_", np.arange(1, 3)), tmp_path / "m")
    assert what == ("estimators_.0.estimator does not fit the classes and patterns of its model")


def test_a_file_from_before_patterns_had_values_is_read(good, tmp_path):
    contents = without(good("lynx, one model"), "arrays/estimators_.0.growth.npy")
    tree = json.loads(contents["model.json"])
    del tree["estimators_"][0]["growth"]
    path = tmp_path / "m.relynx"
    path.write_bytes(forged(contents | {"model.json": json.dumps(tree).encode()}))
    model, now = load(path), fitted("lynx, one model")
    assert model.pattern_values(X).tolist() == [1.0] * len(X)
    assert model.predict_proba(X).tolist() == now.predict_proba(X).tolist()


def test_a_field_too_many_is_refused(good, tmp_path):
    what, _ = refused(changed(good("patterns"), "more", 1), tmp_path / "m.relynx")
    assert what == "'more' is a field that nothing asks for"


def test_a_selector_of_other_patterns_is_refused(good, tmp_path):
    contents = good("lynx")
    place = "estimators_.0.selector.support_"
    support = array(contents, place)
    tree = json.loads(contents["model.json"])
    tree["estimators_"][0]["selector"]["n_features_in_"] = len(support) + 1
    contents = contents | {
        "model.json": json.dumps(tree).encode(),
        f"arrays/{place}.npy": npy(np.append(support, True)),
    }
    what, _ = refused(forged(contents), tmp_path / "m.relynx")
    assert what == "estimators_.0.selector does not fit the patterns of its model"


def test_a_pattern_without_end_is_refused(tmp_path):
    n = 2000
    save(mine(X, Y, max_length=1)[:1], tmp_path / "p.relynx")
    contents = members(tmp_path / "p.relynx")
    for place, value in (
        ("parent", np.arange(-1, n - 1, dtype=np.int32)),
        ("steps", np.repeat(array(contents, "steps"), n, axis=0)),
        ("supports", np.repeat(array(contents, "supports"), n, axis=0)),
    ):
        contents = contents | {f"arrays/{place}.npy": npy(value)}
    what, _ = refused(forged(contents), tmp_path / "p.relynx")
    assert what == "parent makes a pattern of more than 256 steps"


def test_a_parameter_of_another_version_is_refused_unless_it_is_a_default(good, tmp_path):
    contents = good("lynx, logistic")
    path = tmp_path / "m.relynx"
    data = changed(contents, "final_estimator/default/gone", "auto")
    path.write_bytes(data)
    assert load(path).final_estimator.get_params()["C"] == 0.5
    assert refused(changed(contents, "final_estimator/given/gone", "ovr"), path) == (
        "LogisticRegression has no parameter 'gone' in this version of scikit-learn",
        "load the model with the version with which it was saved",
    )


# Noise


def outcome(path):
    """The model of a file, or None where it is refused."""
    try:
        return load(path)
    except InputError:
        return None


@pytest.mark.parametrize("name", ["lynx", "patterns"])
def test_a_file_that_is_cut_anywhere_is_refused(name, tmp_path):
    path = tmp_path / "m.relynx"
    save(fitted(name), path)
    data = path.read_bytes()
    rng = random.Random(0)
    for n in [*range(60), *rng.sample(range(len(data)), 300), *range(len(data) - 60, len(data))]:
        path.write_bytes(data[:n])
        assert outcome(path) is None


@pytest.mark.parametrize("name", ["lynx", "patterns", "naive Bayes"])
def test_a_flipped_byte_is_refused_or_changes_nothing(name, tmp_path):
    path = tmp_path / "m.relynx"
    save(fitted(name), path)
    data = path.read_bytes()
    rng = random.Random(0)
    accepted = 0
    for _ in range(300):
        at = rng.randrange(len(data))
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :])
        model = outcome(path)
        if model is not None:
            accepted += 1
            save(model, path)
            assert path.read_bytes() == data
    assert accepted < 120  # dates and the like, which nobody reads


def nodes(tree, place=()):
    """Every place of a JSON text."""
    yield place
    inner = (
        tree if isinstance(tree, dict) else dict(enumerate(tree if isinstance(tree, list) else ()))
    )
    for key, one in inner.items():
        yield from nodes(one, (*place, key))


VALUES = [
    *(None, True, -1, 0, 1, 2**70, 0.5, "", "x", "object", [], [[]], {}, {"a": 1}),
    *({"float": "nan"}, {"float": "inf"}, {"tuple": [1]}, {"dict": [[1, 2]]}, {"array": "none"}),
]
ARRAYS = [
    *(np.zeros(0), np.zeros((0, 3), np.int32), np.array(3), np.full(3, -1), np.ones((2, 2), bool)),
    *(np.arange(5, dtype=np.int32), np.full(2, np.nan), np.full((3, 4), 2**31 - 1, np.int32)),
]


@pytest.mark.parametrize("name", ["lynx", "lynx, scaled", "lynx, Bernoulli", "GRASP"])
@given(data=st.data())
def test_a_forged_file_gives_a_model_or_an_input_error(name, good, tmp_path_factory, data):
    contents = dict(good(name))
    tree = json.loads(contents["model.json"])
    for _ in range(data.draw(st.integers(1, 2))):
        if data.draw(st.booleans()):
            key = data.draw(st.sampled_from([k for k in contents if k.startswith("arrays/")]))
            contents[key] = npy(data.draw(st.sampled_from(ARRAYS)))
            continue
        *path, last = data.draw(st.sampled_from([place for place in nodes(tree) if place]))
        node = tree
        for one in path:
            node = node[one]
        if data.draw(st.booleans()):
            del node[last]
        else:
            node[last] = copy.deepcopy(data.draw(st.sampled_from(VALUES)))
    contents["model.json"] = json.dumps(tree).encode()
    path = tmp_path_factory.getbasetemp() / "forged.relynx"
    path.write_bytes(forged(contents))
    model = outcome(path)
    if model is not None:
        answers(model)


def test_a_field_is_named_by_its_place():
    part = Part({"a": {"b": [1]}}, ModelFile("m.relynx", {}))
    with pytest.raises(DataError) as caught:
        part.part("a").text("b")
    assert str(caught.value) == f"m.relynx: a.b is no text\nhint: {DAMAGED}"
