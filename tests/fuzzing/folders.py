"""Folders: partitions of a data set, and checkpoints. One of their files is broken at a time."""

from __future__ import annotations

import hashlib
import json
import random
import struct
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from fuzzing.files import broken
from fuzzing.models import TABLE, VALUES, nodes
from fuzzing.targets import Target
from relynx.data.parquet.partitions import scan_parquet
from relynx.data.tables.reader import from_events
from relynx.storage.journal import Journal, Work

WORK = Work("squares", 1, "squares of numbers", {"data": "x"}, {"power": 2})


def read_all(path: Path) -> list[Target]:
    """Two targets; `path` is a folder to make."""
    whole, kept = _partitions(), _checkpoint()

    def partitions(data: bytes) -> bool:
        with _written(data) as folder:
            found = scan_parquet(folder)
            repr(found)
            found.labels  # noqa: B018  # it is read when it is asked for
            str(found.load()[0])
        return True

    def checkpoint(data: bytes) -> bool:
        with _written(data) as folder, Journal(folder, WORK) as journal:
            for result in journal.kept():
                _ = [array.sum() for array in result]
        return True

    def _written(data: bytes) -> tempfile.TemporaryDirectory[str]:
        folder = tempfile.TemporaryDirectory(dir=path.parent)
        for name, content in _unpacked(data).items():
            Path(folder.name, name).write_bytes(content)
        return folder

    return [
        Target("partitions", 0.5, lambda rng: _packed(_broken_partitions(whole, rng)), partitions),
        Target("checkpoint", 1, lambda rng: _packed(_broken_checkpoint(kept, rng)), checkpoint),
    ]


def _partitions() -> dict[str, bytes]:
    X, _ = from_events(TABLE, sequence="case", order="time", label="ok")
    with tempfile.TemporaryDirectory() as folder:
        X.to_parquet(f"{folder}/set", partitions=2)
        return {one.name: one.read_bytes() for one in sorted(Path(folder, "set").iterdir())}


def _checkpoint() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        with Journal(folder, WORK) as journal:
            for n in range(3):
                journal.add((np.arange(n), np.full((2, 2), n / 3), np.array([True, False])))
        return {one.name: one.read_bytes() for one in sorted(Path(folder).iterdir())}


def _broken_partitions(files: dict[str, bytes], rng: random.Random) -> dict[str, bytes]:
    """The folder with another value in its manifest, or another file with a sum that is right."""
    files = dict(files)
    name = rng.choice(list(files))
    manifest = json.loads(files["manifest.json"])
    if name == "manifest.json" or rng.random() < 0.4:
        if rng.random() < 0.1:
            return files | {"manifest.json": broken(files["manifest.json"], rng)}
        _change(manifest, rng)
    else:
        files[name] = broken(files[name], rng)
        for entry in (manifest["vocabulary"], *manifest["parts"]):
            if entry["file"] == name and rng.random() < 0.95:
                entry["bytes"] = len(files[name])
                entry["sha256"] = hashlib.sha256(files[name]).hexdigest()
    return files | {"manifest.json": json.dumps(manifest).encode()}


def _change(tree: Any, rng: random.Random) -> None:
    *path, last = rng.choice([place for place in nodes(tree) if place])
    for key in path:
        tree = tree[key]
    old = tree[last]
    if rng.random() < 0.1:
        del tree[last]
    elif isinstance(old, int) and rng.random() < 0.5:
        tree[last] = rng.choice((old + 1, old - 1, -old, old * 2**40, 2**62))
    elif isinstance(old, str) and rng.random() < 0.3:
        tree[last] = rng.choice(("../x", "/etc/passwd", "part-00000.parquet", old[::-1], old * 2))
    else:
        tree[last] = rng.choice(VALUES)


def _broken_checkpoint(files: dict[str, bytes], rng: random.Random) -> dict[str, bytes]:
    """The folder with another manifest, or another segment, its sum right or not."""
    files = dict(files)
    name = rng.choice(["manifest.json", "segment-000000.bin", "segment-000000.bin"])
    if name == "manifest.json" and rng.random() < 0.7:
        manifest = json.loads(files[name])
        _change(manifest, rng)
        files[name] = json.dumps(manifest).encode()
    else:
        files[name] = broken(files[name], rng)
    if name != "manifest.json" and rng.random() < 0.8:
        data = bytearray(files[name])
        if rng.random() < 0.5:
            at = 80 + 8 * rng.randrange(4)
            data[at : at + 8] = struct.pack("<q", rng.choice((0, 1, -1, 2**40, 2**62, 9, 30)))
        data[16:48] = hashlib.sha256(data[48:]).digest()
        files[name] = bytes(data)
    if rng.random() < 0.05:
        files[rng.choice(("segment-000002.bin", "segment-000000.bin.1.part", "x"))] = b"x"
    return files


def _packed(files: dict[str, bytes]) -> bytes:
    """A folder as one input."""
    out = bytearray()
    for name, data in files.items():
        out += struct.pack("<HL", len(name), len(data)) + name.encode() + data
    return zlib.compress(bytes(out), 1)


def _unpacked(data: bytes) -> dict[str, bytes]:
    out, at, plain = {}, 0, zlib.decompress(data)
    while at < len(plain):
        name, size = struct.unpack_from("<HL", plain, at)
        at += 6
        out[plain[at : at + name].decode()] = plain[at + name : at + name + size]
        at += name + size
    return out
