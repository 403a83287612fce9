"""Model files: broken inside, with sums that are right, and broken as bytes.

What is taken is used, for a model that loads must answer.
"""

from __future__ import annotations

import hashlib
import json
import random
import struct
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from stored_models import BIAS, COIN

from fuzzing.files import broken
from fuzzing.targets import Target
from relynx import (
    FisherKernelClassifier,
    FisherScores,
    GraspSelector,
    LoHMM,
    LoHMMClassifier,
    LynxClassifier,
    PatternNB,
    PatternSet,
    PatternVectorizer,
    TildeCRF,
    TildeCRFClassifier,
    from_events,
    from_lists,
    load,
    mine,
    parse_bias,
    save,
)
from relynx.models.observations import observations

LISTS = ["ab", "abc", "bca", "cc", "dab", "cd", "bd", "da", "dcb", "abd", "bb", "ca"]
X, Y = from_lists([list(one) for one in LISTS], ["x" if "ab" in one else "y" for one in LISTS])
Z = ["x" if "ab" in one else "y" if "c" in one else "z" for one in LISTS]
PARTS = [["one" if i % 2 else "other" for i in range(len(one))] for one in LISTS]
TABLE = {
    "case": [1, 1, 2, 2, 3, 3, 4, 4],
    "time": [1, 2] * 4,
    "step": list("abbaabcc"),
    "cost": [1.5, 2.5, 9.0, 1.0, 7.0, 3.0, 2.0, 8.0],
    "ok": list("yynnyynn"),
}
TEXTS = ["", "x", "object", "os.system", "e1", "\ud800", "a" * 3000, "type(a(event)). mode(a(+))."]
VALUES: list[Any] = [
    *(None, True, False, -1, 0, 1, 2, 7, 2**31, 2**63, 2**70, -(2**70), 0.5, -0.0, 1e308, 1e-320),
    *([], [[]], {}, {"a": 1}, [1], ["a"], [None] * 3, {"float": "nan"}, {"float": "inf"}),
    *({"float": "-inf"}, {"tuple": [1]}, {"tuple": []}, {"dict": [[1, 2]]}, {"dict": [["a", 1]]}),
    *({"array": "none"}, {"dtype": "object", "values": ["a", 1]}, {"dict": [[[1], 2]]}, *TEXTS),
    {"dtype": "<U1", "values": ["x", "y"]},
]
ARRAYS = [
    *(np.zeros(0), np.zeros((0, 3), np.int32), np.array(3), np.full(3, -1), np.ones((2, 2), bool)),
    *(np.arange(5, dtype=np.int32), np.full(2, np.nan), np.full((3, 4), 2**31 - 1, np.int32)),
    *(np.zeros((2, 2, 2)), np.full(2, np.inf), np.zeros((1, 1, 1, 1, 1)), np.uint8([255])),
    np.full((2, 5), 2**62),
]
NAMES = [
    "../x",
    "/etc/passwd",
    "arrays/../../x.npy",
    "arrays/a.npy",
    "a" * 400,
    "",
    "\u202e",
    "..\\x",
]
KINDS = ["PatternSet", "LynxClassifier", "LoHMM", "GraspSelector", "os.system", "", None, 3]
HEADERS = [
    *(b"'<i4'", b"'|O'", b"'>f8'", b"'<U9'", b"'<f8'", b"'|b1'", b"[('a', '<i4')]", b"'<m8[s]'"),
    *(b"True", b"(99999999999,)", b"(-1,)", b"(0, 99999999999)", b"()", b"__import__('os')"),
    *(b"(2, 2, 2, 2, 2, 2)", b"(4294967296, 4294967296)", b"'shape': (1,), ", b"(1L,)"),
]


def fitted() -> dict[str, Any]:
    """Small models, one or two of each kind."""
    quick = {"max_length": 2, "max_iter": 2, "random_state": 0}
    events, labels = from_events(TABLE, sequence="case", order="time", label="ok")
    M = PatternVectorizer(max_length=1).fit(X, Y).transform(X).toarray()
    structure = LoHMM.parse(COIN)
    return {
        "lynx": LynxClassifier(**quick).fit(X, Y),
        "lynx, table": LynxClassifier(bias=None, multiclass="single", **quick).fit(events, labels),
        "lynx, pairs": LynxClassifier(bias=parse_bias(BIAS), **quick).fit(X, Z),
        "vectorizer": PatternVectorizer(max_length=2, top_k=6).fit(events, labels),
        "naive Bayes": PatternNB(0.5).fit(M, Z),
        "GRASP": GraspSelector(3, random_state=1).fit(M, Y),
        "patterns": mine(X, Y, max_length=2, top_k=8),
        "LoHMM": structure.fit(observations(X), max_iter=1),
        "LoHMM classifier": LoHMMClassifier(structure, max_iter=1).fit(X, Y),
        "TildeCRF": TildeCRF(window=1, max_iter=1).fit(X, PARTS),
        "TildeCRF classifier": TildeCRFClassifier(window=1, max_iter=1).fit(X, Y),
        "Fisher scores": FisherScores(structure, max_iter=1).fit(X, Y),
        "Fisher kernel": FisherKernelClassifier(structure, max_iter=1).fit(X, Y),
    }


def use(model: Any) -> None:
    """Ask a model for what it can say; it may refuse with InputError."""
    few = X[:3]
    str(model)
    repr(model)
    if isinstance(model, PatternSet):
        [*model.texts()]
        model.coverage(few)
        model.explain_search()
    elif isinstance(model, PatternNB):
        M = np.zeros((2, model.n_features_in_), np.int8)
        model.predict_proba(M)
    elif isinstance(model, GraspSelector):
        model.transform(np.zeros((2, model.n_features_in_), np.int8))
    elif isinstance(model, LoHMM):
        model.log_probability(observations(few))
    elif isinstance(model, FisherScores | PatternVectorizer):
        model.transform(few)
    elif isinstance(model, TildeCRF):
        model.predict(few)
        model.predict_marginals(few)
    else:
        model.predict(few)
        getattr(model, "predict_proba", getattr(model, "decision_function", None))(few)
    reading = getattr(model, "reading_", None)
    if reading is not None:
        str(reading)
        new, _ = from_events(TABLE, reading=reading)
        (model.transform if hasattr(model, "transform") else model.predict)(new)


def read_all(path: Path) -> list[Target]:
    """A target for each model; each is saved once, to be taken to pieces."""
    file = path.with_name(path.name + ".relynx")

    def check(data: bytes) -> bool:
        file.write_bytes(data)
        model = load(file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            use(model)
        return True

    out = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model in fitted().items():
            save(model, file)
            maker = Forger(file.read_bytes())
            use(load(file))
            out.append(Target(f"load, {name}", 0.3 if "pairs" in name else 0.6, maker, check))
    return out


class Forger:
    """Takes a model file to pieces and puts together others that are wrong somewhere."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        members = dict(unzipped(data))
        self.manifest = json.loads(members.pop("manifest.json"))
        self.model = members.pop("model.json")
        self.arrays = members
        self.names = list(members)
        self.places = [place for place in nodes(json.loads(self.model)) if place]

    def __call__(self, rng: random.Random) -> bytes:
        chance = rng.random()
        if chance < 0.15:
            return broken(self.data, rng)
        text, arrays, manifest = self.model, dict(self.arrays), dict(self.manifest)
        twice: list[tuple[str, bytes]] = []
        for _ in range(rng.choice((1, 1, 1, 2))):
            kind = rng.random()
            if kind < 0.5:
                text = self._other_text(text, rng)
            elif kind < 0.85 and arrays:
                name = rng.choice(self.names)
                arrays[name] = _other_array(self.arrays[name], rng)
            else:
                twice += self._other_members(arrays, manifest, rng)
        members = [("model.json", text), *arrays.items(), *twice]
        sums = {name: [len(data), hashlib.sha256(data).hexdigest()] for name, data in members}
        if "members" in manifest and rng.random() < 0.98:
            manifest["members"] = sums
        head = json.dumps(manifest).encode()
        data = zipped([("manifest.json", head), *members], packed=rng.random() < 0.2)
        return data if rng.random() < 0.95 else broken(data, rng)

    def _other_text(self, text: bytes, rng: random.Random) -> bytes:
        """The text of the model with another value at some place."""
        chance = rng.random()
        if chance < 0.05:
            return broken(text, rng)
        if chance < 0.07:
            deep = rng.choice((50, 70, 2000, 100_000))
            return b'{"a":' + b"[" * deep + b"]" * deep + b"}"
        *path, last = rng.choice(self.places)
        try:
            node = tree = json.loads(text)
            for key in path:
                node = node[key]
            old = node[last]
        except (LookupError, TypeError, ValueError, RecursionError):  # it was changed before
            return text
        if not isinstance(node, dict | list):
            return text
        match rng.randrange(8):
            case 0:
                del node[last]
            case 1 if isinstance(node, dict):
                node[rng.choice(("more", "float", "array", ""))] = old
            case 2 if isinstance(old, list):
                node[last] = rng.choice((old[:-1], old[::-1], old * 2, [*old, None], old * 300))
            case 2 | 3 if isinstance(old, int | float) and not isinstance(old, bool):
                node[last] = rng.choice((old + 1, -old, old - 1, old * 2**40, float(old), 1 - old))
            case 4 if isinstance(old, str):
                other = bytearray(old.encode("utf-8", "surrogatepass"))
                node[last] = broken(bytes(other), rng).decode("latin-1")
            case 5:
                *other_path, other_last = rng.choice(self.places)
                try:
                    other_node: Any = tree
                    for key in (*other_path, other_last):
                        other_node = other_node[key]
                except (KeyError, IndexError, TypeError):
                    return text
                node[last] = json.loads(json.dumps(other_node))
            case _:
                node[last] = rng.choice(VALUES)
        return json.dumps(tree).encode()

    def _other_members(
        self, arrays: dict[str, bytes], manifest: dict[str, Any], rng: random.Random
    ) -> list[tuple[str, bytes]]:
        """Something wrong with the members or the manifest; members to add."""
        match rng.randrange(8):
            case 0 if arrays:
                arrays.pop(rng.choice(list(arrays)))
            case 1:
                arrays[rng.choice(NAMES)] = rng.choice((b"", npy(np.zeros(1))))
            case 2 if arrays:
                return [rng.choice(list(arrays.items()))]
            case 3:
                return [("model.json", b"{}")]
            case 4:
                manifest["kind"] = rng.choice(KINDS)
            case 5:
                manifest[rng.choice(list(manifest))] = rng.choice(VALUES)
            case 6:
                manifest.pop(rng.choice(list(manifest)))
            case _:
                arrays |= {f"arrays/x{i}.npy": b"" for i in range(rng.choice((1, 40)))}
        return []


def _other_array(data: bytes, rng: random.Random) -> bytes:
    """An array with other numbers, another form, or another head."""
    chance = rng.random()
    if chance < 0.1:
        return broken(data, rng)
    if chance < 0.2:
        return npy(rng.choice(ARRAYS))
    length = struct.unpack("<H", data[8:10])[0]
    head, body = data[10 : 10 + length], data[10 + length :]
    if chance < 0.35:
        old = rng.choice(
            (b"(1,)", head[head.index(b"(") : head.index(b")") + 1], b"'<i4'", b"False")
        )
        head = head.replace(old, rng.choice(HEADERS), 1)
        return data[:8] + struct.pack("<H", len(head)) + head + body
    kind, order, shape = _described(head)
    array = np.frombuffer(body, kind).reshape(shape, order=order).copy()
    if not array.size:
        return npy(rng.choice(ARRAYS))
    match rng.randrange(6):
        case 0:
            array = rng.choice((array[:-1], array[::-1], np.concatenate([array, array])))
        case 1:
            array = array.astype(rng.choice((np.int32, np.int64, np.float64, np.float32, bool)))
        case 2:
            array = array.reshape(-1) if rng.random() < 0.5 else array[..., None]
        case _:
            flat = array.reshape(-1)
            values: list[Any] = [0, 1, 2, 3, 5]
            if array.dtype.kind == "i":
                values += [-1, -2, -7, np.iinfo(array.dtype).max, np.iinfo(array.dtype).min]
            elif array.dtype.kind == "f":
                values += [-1, 1e308, -1e308, 5e-324, np.inf, -np.inf, np.nan, 0.5]
            for _ in range(rng.choice((1, 1, 2, 9))):
                flat[rng.randrange(len(flat))] = rng.choice(values)
    return npy(array)


def _described(head: bytes) -> tuple[str, Any, tuple[int, ...]]:
    """The type, order and shape of a good array."""
    kind = head.split(b"'descr': '")[1].split(b"'")[0].decode()
    order = "F" if b"'fortran_order': True" in head else "C"
    shape = head[head.index(b"(") + 1 : head.index(b")")]
    return kind, order, tuple(int(n) for n in shape.split(b",") if n.strip())


def npy(array: Any) -> bytes:
    """An array in numpy's format 1.0, written by hand: numpy's own way is slow for small ones."""
    order = array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous
    head = f"{{'descr': '{array.dtype.str}', 'fortran_order': {order}, 'shape': {array.shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    body = array.tobytes("F" if order else "C")
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + body


def nodes(tree: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a JSON text."""
    yield place
    listed = enumerate(tree if isinstance(tree, list) else ())
    for key, one in tree.items() if isinstance(tree, dict) else listed:
        yield from nodes(one, (*place, key))


def unzipped(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The members of a good zip."""
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(data)) as file:
        for info in file.infolist():
            yield info.filename, file.read(info)


def zipped(members: list[tuple[str, bytes]], *, packed: bool) -> bytes:
    """A zip by hand: ten times as fast as the library, and it takes any name, also twice."""
    out, index = bytearray(), bytearray()
    for name, data in members:
        title = name.encode("utf-8", "surrogatepass")
        body = _deflated(data) if packed else data
        sizes = zlib.crc32(data), len(body), len(data), len(title)
        common = struct.pack("<HHHHHLLLHH", 20, 0x800, 8 * packed, 0, 0x21, *sizes, 0)
        index += b"PK\x01\x02\x14\x03" + common
        index += struct.pack("<HHHLL", 0, 0, 0, 0o644 << 16, len(out)) + title
        out += b"PK\x03\x04" + common + title + body
    end = struct.pack("<HHHHLLH", 0, 0, len(members), len(members), len(index), len(out), 0)
    return bytes(out + index + b"PK\x05\x06" + end)


def _deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()
