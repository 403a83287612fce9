"""Sequences to a folder of partitions, which appears whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from relynx.arrays import Ints
from relynx.data.parquet import codec
from relynx.data.parquet.manifest import MANIFEST, VOCABULARY, File, Manifest, PartFile, part_name
from relynx.data.sequences import SAME_ARITY, WRITERS, Sequences, recoded_tables, shown
from relynx.data.vocabulary import Vocabulary
from relynx.errors import DataError, InputError, Source
from relynx.logic.tables import Key
from relynx.logic.terms import quoted
from relynx.search_settings import as_count
from relynx.storage.whole_files import named, remove_partials, sync
from relynx.version import __version__

PARTIAL = re.compile(r"(.+)\.[0-9a-f]{8}\.([0-9]{1,9})\.part", re.DOTALL)  # while it is written
UNWRITABLE = "this folder cannot be written"
ROWS = 100_000  # sequences per partition by default


def write_sequences(
    X: Sequences,
    folder: str | os.PathLike[str],
    partitions: int | None,
    rows_per_partition: int | None,
) -> None:
    """Write sequences in a number of partitions, or in partitions of a number of sequences; their
    sizes differ by one at most."""
    if partitions is not None and rows_per_partition is not None:
        raise InputError("give partitions or rows_per_partition, not both")
    for name, value in (("partitions", partitions), ("rows_per_partition", rows_per_partition)):
        if value is not None:
            as_count(name, value, 1)
    n = max(partitions or -(-len(X) // (rows_per_partition or ROWS)), 1)
    edges = [len(X) * i // n for i in range(n + 1)]
    write_parquet((X[a:b] for a, b in pairwise(edges)), folder)


WRITERS["parquet"] = write_sequences


def write_parquet(chunks: Iterable[Sequences], folder: str | os.PathLike[str]) -> None:
    """Write a data set larger than memory, chunk by chunk, each as a partition.

    `scan_parquet(folder).load()` equals `Sequences.concatenate(chunks)`. The folder appears when
    the last chunk is written; an existing folder is an error.

    Parameters
    ----------
    chunks
        An iterable of `Sequences`. Each may have new constants, predicates and classes; all have
        labels or none has, and their background knowledge is the same.
    folder
        A new folder.

    Examples
    --------
    >>> import tempfile, relynx as rx
    >>> chunks = (rx.from_lists([[letter, "a"]])[0] for letter in "abc")
    >>> folder = tempfile.mkdtemp() + "/letters"
    >>> rx.write_parquet(chunks, folder)
    >>> rx.scan_parquet(folder)
    Partitions
      sequences   3 in 3 partitions, of 1 to 1
      facts       9
      dimensions  s
      predicates  next_s/2, a/1, b/1, c/1
    """
    # What is known keeps its number when more comes: a partition is right as soon as it is written,
    # and no two chunks are held at a time.
    codec.check_installed()
    with _whole_folder(folder) as partial:
        writer = _Writer(folder, partial)
        for chunk in chunks:
            if not isinstance(chunk, Sequences):
                raise TypeError(f"a chunk is {shown(chunk)}: give Sequences, one after the other")
            writer.add(chunk)
            del chunk
        writer.end()


class _Writer:
    """Writes one folder; what it knows of the whole grows with each chunk."""

    def __init__(self, folder: str | os.PathLike[str], partial: str) -> None:
        self.folder, self.partial = folder, partial
        self.vocabulary = Vocabulary()
        self.relations: dict[Key, None] = {}
        self.classes = Vocabulary()
        self.parts: list[PartFile] = []
        self.first: Sequences | None = None
        self.same_reading = True

    def add(self, X: Sequences) -> None:
        self._check(X)
        if not self.parts:
            self.vocabulary = X.vocabulary
        self.vocabulary, codes = self.vocabulary.merged(X.vocabulary)
        self.relations |= dict.fromkeys(X.tables)
        self._check_arities()
        if not np.array_equal(codes, np.arange(len(codes))):
            X = X.with_tables(self.vocabulary, recoded_tables(X.tables, codes))
        labels = self._labels(X)
        times = codec.time_types(X.times)
        columns = codec.Columns(tuple(self.relations), labels is not None, times)
        data = codec.part_bytes(X, columns, labels)
        file = self._write(part_name(len(self.parts)), data)
        sizes = np.bincount([] if labels is None else labels, minlength=len(self.classes))
        n_facts = [X.tables[key].shape[1] if key in X.tables else 0 for key in self.relations]
        self.parts.append(PartFile(file, len(X), tuple(n_facts), tuple(sizes.tolist())))

    def end(self) -> None:
        first = self.first
        if first is None:
            raise DataError("there is nothing to write: give at least one Sequences")
        constants = codec.vocabulary_bytes(self.vocabulary.constants)
        manifest = Manifest(
            relynx=__version__,
            relations=tuple(self.relations),
            classes=None if first.labels is None else self.classes.constants,
            times=codec.time_types(first.times),
            background=first.background,
            reading=first.reading if self.same_reading else None,
            vocabulary=self._write(VOCABULARY, constants),
            n_constants=len(self.vocabulary),
            parts=tuple(self.parts),
        )
        self._write(MANIFEST, manifest.text())

    def _check(self, X: Sequences) -> None:
        """Raise where a chunk has not what the first had. Of that only what is small is kept."""
        if self.first is None:
            self.first = X[:0]
        first = self.first
        if X.background != first.background:
            raise DataError("the parts have different background knowledge; give them the same")
        if (X.labels is None) != (first.labels is None):
            raise DataError("some of the parts have labels and some have none")
        if codec.time_types(X.times) != codec.time_types(first.times):
            raise DataError("the parts have times of different types, or some have none")
        self.same_reading &= X.reading == first.reading

    def _check_arities(self) -> None:
        arities: dict[str, int] = {}
        for name, arity in self.relations:
            if arities.setdefault(name, arity) != arity:
                what = f"{quoted(name)} has {arities[name]} arguments in one part, {arity} in"
                raise DataError(f"{what} another", hint=SAME_ARITY)

    def _labels(self, X: Sequences) -> Ints | None:
        """The numbers of the classes; new classes come last."""
        if X.labels is None:
            return None
        labels = X.labels.tolist()
        self.classes = self.classes.extended(labels)
        return np.array(list(map(self.classes.code, labels)), np.int32)

    def _write(self, name: str, data: bytes) -> File:
        with named(self.folder, UNWRITABLE), open(os.path.join(self.partial, name), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        return File(name, len(data), hashlib.sha256(data).hexdigest())


@contextlib.contextmanager
def _whole_folder(folder: str | os.PathLike[str]) -> Iterator[str]:
    """An empty folder beside the one wanted, which takes its name when the block ends well."""
    with named(folder, UNWRITABLE) as target:
        if os.path.lexists(target):
            hint = "give another name, or remove it first"
            source = Source("", os.fsdecode(folder))
            raise InputError("this is there already", source, hint=hint)
        remove_partials(target, PARTIAL, lambda left: shutil.rmtree(left, ignore_errors=True))
        partial = f"{target}.{secrets.token_hex(4)}.{os.getpid()}.part"  # threads have one number
        os.mkdir(partial)
    try:
        yield partial
        with named(folder, UNWRITABLE):
            sync(partial)
            os.rename(partial, target)
            sync(os.path.dirname(target))
    finally:
        shutil.rmtree(partial, ignore_errors=True)
