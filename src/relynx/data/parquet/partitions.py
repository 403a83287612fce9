"""Data sets larger than memory: folders of Parquet partitions, written whole, loaded one by one."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise, zip_longest
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Ints
from relynx.data import sequences as sq
from relynx.data.event_arguments import dimension_names
from relynx.data.parquet import codec
from relynx.data.parquet import manifest as mf
from relynx.data.sequences import Sequences
from relynx.data.vocabulary import Vocabulary
from relynx.errors import DataError, InputError, Source
from relynx.logic import tables as tb
from relynx.logic.tables import Key
from relynx.logic.terms import Constant, quoted
from relynx.search_settings import as_count
from relynx.storage.whole_files import named, remove_partials, sync
from relynx.version import __version__

T = TypeVar("T")

PARTIAL = re.compile(r"(.+)\.[0-9a-f]{8}\.([0-9]{1,9})\.part", re.DOTALL)  # while it is written
UNWRITABLE = "this folder cannot be written"
ROWS = 100_000  # sequences per partition by default


def scan_parquet(folder: str | os.PathLike[str]) -> Partitions:
    """Open a folder that `Sequences.to_parquet` or `write_parquet` wrote.

    Only the manifest is read; partitions are loaded on demand. `mine`, a fitted
    `PatternVectorizer` and a fitted `LynxClassifier` take the result as `X`.

    Parameters
    ----------
    folder
        The folder. pyarrow must be installed (`pip install 'relynx[dask]'`).

    Examples
    --------
    >>> import tempfile, relynx as rx
    >>> X, y = rx.from_lists([["a", "b"], ["b"], ["a"]], ["up", "up", "down"])
    >>> folder = tempfile.mkdtemp() + "/train"
    >>> X.to_parquet(folder, partitions=2)
    >>> parts = rx.scan_parquet(folder)
    >>> len(parts), parts.sizes, parts.load() == X
    (3, (1, 2), True)
    """
    codec.check_installed()
    name = os.fsdecode(folder)
    if not os.path.isdir(name):
        what = "this is a file, not a folder" if os.path.exists(name) else "there is no such folder"
        raise InputError(what, name)
    return Partitions(name)


class Partitions:
    """Sequences on disk, in partitions, as `scan_parquet` returns them. It holds no facts itself.

    A constant has the same code in every partition.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder  # as it was given, for messages
        self.path = os.path.abspath(folder)  # wherever the process goes
        path = os.path.join(folder, mf.MANIFEST)
        if not os.path.lexists(path):
            what = f"this is no folder of partitions: it has no {mf.MANIFEST}"
            raise DataError(what, folder, hint=mf.DAMAGED)
        data = _content(path, mf.LARGEST_TEXT)
        self.digest = hashlib.sha256(data).hexdigest()
        self.manifest = mf.read_manifest(data, path, __version__)
        self.background, self.reading = self.manifest.background, self.manifest.reading
        self._vocabulary: Vocabulary | None = None

    def __len__(self) -> int:
        return sum(self.sizes)

    @property
    def shape(self) -> tuple[int]:
        return (len(self),)

    @property
    def n_partitions(self) -> int:
        return len(self.manifest.parts)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of sequences of each partition."""
        return tuple(part.n_sequences for part in self.manifest.parts)

    @property
    def class_sizes(self) -> dict[Constant, int] | None:
        """The number of sequences of each class; None without labels."""
        classes = self.manifest.classes
        if classes is None:
            return None
        sizes = [part.class_sizes for part in self.manifest.parts]
        totals = map(sum, zip_longest(*sizes, fillvalue=0))
        return dict(zip_longest(classes, totals, fillvalue=0))

    @property
    def relations(self) -> tuple[Key, ...]:
        """The predicates, with their arities."""
        return self.manifest.relations

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The names of the dimensions, as those of `Sequences`."""
        defined = self.background.heads if self.background else ()
        return dimension_names([*self.relations, *defined])

    @property
    def vocabulary(self) -> Vocabulary:
        """The constants of all partitions; read once."""
        if self._vocabulary is None:
            file = self.manifest.vocabulary
            constants = self._decoded(file, codec.read_vocabulary, self.manifest.n_constants)
            try:
                self._vocabulary = Vocabulary(constants)
            except ValueError:
                raise self._problem(file, "has a constant twice") from None
        return self._vocabulary

    @property
    def labels(self) -> NDArray[Any] | None:
        """The labels of all sequences in order; None where they have none."""
        classes = self.manifest.classes
        if classes is None:
            return None
        labels: list[Constant] = []
        for part in self.manifest.parts:
            columns = self._columns(part)
            numbers = self._decoded(part.file, codec.read_labels, columns, part.n_sequences)
            labels += self._classes_of(part, classes, numbers)
        return sq.label_array(labels)

    def partition(self, number: int) -> Sequences:
        """One partition, in memory."""
        if not -self.n_partitions <= number < self.n_partitions:
            raise IndexError(f"partition {number} of {self.n_partitions}")
        manifest = self.manifest
        part = manifest.parts[number]
        sizes = part.n_sequences, len(self.vocabulary)
        columns = self._columns(part)
        known, ids, numbers, times = self._decoded(part.file, codec.read_part, columns, *sizes)
        if tuple(table.shape[1] for table in known.values()) != part.n_facts:
            raise self._problem(part.file, "has not as many facts as the manifest says")
        labels = None
        if manifest.classes is not None and numbers is not None:
            labels = self._classes_of(part, manifest.classes, numbers)
        tables = {key: known.get(key, tb.empty(key[1])) for key in manifest.relations}
        some = {"tables": tables, "ids": ids, "labels": labels, "times": times}
        return self.without_sequences().replaced(**some)

    def partitions(self) -> Iterator[Sequences]:
        """The partitions one after the other, each loaded when it is reached."""
        return (self.partition(i) for i in range(self.n_partitions))

    def without_sequences(self) -> Sequences:
        """No sequences, but all else: predicates, constants and background knowledge."""
        nothing = {key: tb.empty(key[1]) for key in self.relations}
        return Sequences(self.vocabulary, nothing, [], None, self.background, reading=self.reading)

    def load(self) -> Sequences:
        """All sequences, in memory."""
        return Sequences.concatenate(self.partitions())

    def __reduce__(self) -> tuple[Any, ...]:
        return Partitions, (self.path,)

    def __repr__(self) -> str:
        sizes = self.sizes
        n_facts = sum(sum(part.n_facts) for part in self.manifest.parts)
        many = f"{sq.counted(len(sizes), 'partition')}, of {min(sizes):,} to {max(sizes):,}"
        classes = None
        if self.class_sizes is not None:
            classes = [f"{name} ({n:,})" for name, n in self.class_sizes.items()]
        names = [f"{name}/{arity}" for name, arity in self.relations]
        size = f"{len(self):,} in {many}"
        return sq.summary_text(
            "Partitions", sq.summary(size, n_facts, classes, self.dimensions, names)
        )

    def _columns(self, part: mf.PartFile) -> codec.Columns:
        manifest = self.manifest
        known = manifest.relations[: part.n_relations]
        return codec.Columns(known, manifest.classes is not None, manifest.times)

    def _decoded(self, file: mf.File, read: Callable[..., T], *arguments: Any) -> T:
        """What a file holds, verified against the manifest."""
        data = _content(os.path.join(self.path, file.name), file.size)
        if len(data) != file.size or hashlib.sha256(data).hexdigest() != file.sha256:
            raise self._problem(file, "is not what the manifest says: its checksum is another")
        try:
            return read(data, *arguments)
        except codec.WrongFile as error:
            raise self._problem(file, str(error)) from None

    def _classes_of(
        self, part: mf.PartFile, classes: tuple[Constant, ...], numbers: Ints
    ) -> list[Constant]:
        n_classes = len(part.class_sizes)
        if len(numbers) and (numbers.min() < 0 or numbers.max() >= n_classes):
            raise self._problem(part.file, "has a label that is no class")
        if np.bincount(numbers, minlength=n_classes).tolist() != list(part.class_sizes):
            raise self._problem(part.file, "has not as many of a class as the manifest says")
        return [classes[number] for number in numbers.tolist()]

    def _problem(self, file: mf.File, what: str) -> DataError:
        source = Source("", os.path.join(self.folder, file.name))
        return DataError(f"this file {what}", source, hint=mf.DAMAGED)


def _content(path: str, most: int) -> bytes:
    """At most `most` + 1 bytes of a file. Raises InputError where it cannot be read."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise InputError("this is no ordinary file", path)
        with open(path, "rb") as file:
            return file.read(min(most, status.st_size) + 1)  # it sets as much memory aside
    except InputError:
        raise
    except FileNotFoundError:
        what = "there is no such file, but the manifest lists it"
        raise DataError(what, path, hint=mf.DAMAGED) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"this file cannot be read ({reason})", path) from None


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


sq.WRITERS["parquet"] = write_sequences


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
                raise TypeError(
                    f"a chunk is {sq.shown(chunk)}: give Sequences, one after the other"
                )
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
        self.parts: list[mf.PartFile] = []
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
            X = X.with_tables(self.vocabulary, sq.recoded_tables(X.tables, codes))
        labels = self._labels(X)
        times = codec.time_types(X.times)
        columns = codec.Columns(tuple(self.relations), labels is not None, times)
        data = codec.part_bytes(X, columns, labels)
        file = self._write(mf.part_name(len(self.parts)), data)
        sizes = np.bincount([] if labels is None else labels, minlength=len(self.classes))
        n_facts = [X.tables[key].shape[1] if key in X.tables else 0 for key in self.relations]
        self.parts.append(mf.PartFile(file, len(X), tuple(n_facts), tuple(sizes.tolist())))

    def end(self) -> None:
        first = self.first
        if first is None:
            raise DataError("there is nothing to write: give at least one Sequences")
        constants = codec.vocabulary_bytes(self.vocabulary.constants)
        manifest = mf.Manifest(
            relynx=__version__,
            relations=tuple(self.relations),
            classes=None if first.labels is None else self.classes.constants,
            times=codec.time_types(first.times),
            background=first.background,
            reading=first.reading if self.same_reading else None,
            vocabulary=self._write(mf.VOCABULARY, constants),
            n_constants=len(self.vocabulary),
            parts=tuple(self.parts),
        )
        self._write(mf.MANIFEST, manifest.text())

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
                raise DataError(f"{what} another", hint=sq.SAME_ARITY)

    def _labels(self, X: Sequences) -> Ints | None:
        """The numbers of the classes; new classes come last."""
        if X.labels is None:
            return None
        labels = X.labels.tolist()
        self.classes = self.classes.extended(labels)
        return np.array(list(map(self.classes.code, labels)), np.int32)

    def _write(self, name: str, data: bytes) -> mf.File:
        with named(self.folder, UNWRITABLE), open(os.path.join(self.partial, name), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        return mf.File(name, len(data), hashlib.sha256(data).hexdigest())


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
