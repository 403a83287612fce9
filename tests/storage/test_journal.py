"""Files that are whole, and checkpoints: what is kept is read back, and nothing else is taken."""

import errno
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

import relynx as rx
from relynx.data.sequences import data_digest
from relynx.errors import DataError, InputError
from relynx.storage import journal as jn
from relynx.storage.journal import Journal, Work, digest, locked
from relynx.storage.parts import ARRAY_TYPES
from relynx.storage.whole_files import check_writable, whole_file

WORK = Work("counting", 1, "counting to ten", {"the data": "a1"}, {"step": 1, "most": None})


def keep(folder, *numbers, work=WORK, finish=False):
    """Numbers in a journal, a segment each."""
    with Journal(folder, work) as journal:
        list(journal.kept())
        for number in numbers:
            journal.add((np.array([number]),))
            journal.flush()
        if finish:
            journal.finish()


def kept(folder, work=WORK):
    with Journal(folder, work) as journal:
        return [int(result[0][0]) for result in journal.kept()]


def message_of(call, *args, **named):
    with pytest.raises(InputError) as caught:
        call(*args, **named)
    return str(caught.value)


def failing(code):
    def fail(*_, **__):
        raise OSError(code, os.strerror(code))

    return fail


# Files that are whole


def test_a_file_is_on_the_disk_before_it_has_its_name_and_the_name_too(tmp_path, monkeypatch):
    done = []
    replace, fsync = os.replace, os.fsync

    def named(*paths):
        done.append("name")
        replace(*paths)

    def synced(handle):
        done.append("folder" if os.path.isdir(f"/proc/self/fd/{handle}") else "file")
        fsync(handle)

    monkeypatch.setattr(os, "replace", named)
    monkeypatch.setattr(os, "fsync", synced)
    with whole_file(tmp_path / "x") as partial, open(partial, "w") as file:
        file.write("whole")
    assert done == ["file", "name", "folder"]
    assert (tmp_path / "x").read_text() == "whole"


def test_an_error_on_the_way_leaves_the_old_file_and_no_other(tmp_path):
    (tmp_path / "x").write_text("old")

    def write():
        with whole_file(tmp_path / "x") as partial, open(partial, "w") as file:
            file.write("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write()
    assert os.listdir(tmp_path) == ["x"]
    assert (tmp_path / "x").read_text() == "old"


def test_what_killed_processes_left_of_a_file_is_removed_and_nothing_else(tmp_path):
    other = subprocess.Popen([sys.executable, "-c", ""])
    other.wait()
    names = [f"x.{pid}.part" for pid in (other.pid, os.getppid(), 10**30)]
    for name in (*names, f"y.{other.pid}.part", "x.part"):
        (tmp_path / name).write_text("half")
    with whole_file(tmp_path / "x") as partial:
        open(partial, "w").close()
    there = {"x", *names[1:], f"y.{other.pid}.part", "x.part"}
    assert set(os.listdir(tmp_path)) == there


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            errno.ENOSPC,
            "No space left on device)\nhint: the disk is full: make room, or write to another one",
        ),
        (
            errno.EDQUOT,
            "Disk quota exceeded)\n"
            "hint: your share of the disk is full: make room, or write to another one",
        ),
        (
            errno.EFBIG,
            "File too large)\nhint: files may not be so large here: write to another disk",
        ),
        (
            errno.EROFS,
            "Read-only file system)\nhint: the folder is read-only: write to another one",
        ),
        (
            errno.EACCES,
            "Permission denied)\nhint: you may not write there: write to another folder",
        ),
        (errno.EIO, "Input/output error)"),
    ],
)
def test_what_stands_in_the_way_is_told(tmp_path, monkeypatch, code, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.open", failing(code))

    def write():
        with whole_file("x") as partial, open(partial, "w") as file:
            file.write("y")

    assert message_of(write) == f"x: this file cannot be written ({said}"
    assert message_of(check_writable, "x") == f"x: this file cannot be written ({said}"


def test_a_file_system_that_cannot_sync_a_folder_is_no_error(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", failing(errno.EINVAL))
    with whole_file(tmp_path / "x") as partial:
        open(partial, "w").close()
    assert os.listdir(tmp_path) == ["x"]


# What is kept


arrays = st.sampled_from(ARRAY_TYPES).flatmap(
    lambda name: hn.arrays(name, hn.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)


@given(st.lists(st.lists(arrays, max_size=3).map(tuple), max_size=5), st.integers(0, 10**6))
def test_results_come_back_as_they_were(results, number):
    key = bytes(range(32))
    back = jn.unpacked(jn.packed(key, number, results), key, number)
    assert len(back) == len(results)
    for result, same in zip(results, back, strict=True):
        assert [(a.dtype, a.shape, a.tobytes()) for a in result] == [
            (a.dtype, a.shape, a.tobytes()) for a in same
        ]
        assert all(array.flags.writeable and array.flags.aligned for array in same)


@given(st.data())
def test_a_segment_with_a_changed_byte_is_refused(data):
    key = bytes(32)
    whole = jn.packed(key, 3, [(np.arange(20), np.ones(3)), (np.zeros(0, bool),)])
    place = data.draw(st.integers(0, len(whole) - 1))
    other = data.draw(st.integers(1, 255))
    changed = bytearray(whole)
    changed[place] ^= other
    with pytest.raises(ValueError, match="checkpoint"):
        jn.unpacked(bytes(changed), key, 3)
    with pytest.raises(ValueError, match="checkpoint"):
        jn.unpacked(whole[:place], key, 3)


@given(st.lists(st.integers(-(2**62), 2**62), max_size=12), st.binary(max_size=40))
def test_a_forged_segment_gives_arrays_or_a_clear_refusal(index, content):
    forged = np.array(index, "<i8").tobytes() + content
    packed = jn.zlib.compress(forged)
    head = jn._HEAD.pack(b"", b"", bytes(32), 0, 2, len(index), len(content))
    rest = head[jn._SUMMED :] + packed
    whole = jn._MAGIC + jn.hashlib.sha256(rest).digest() + rest
    said, results = "", []
    try:
        results = jn.unpacked(whole, bytes(32), 0)
    except ValueError as error:
        said = str(error)
    assert said in ("", "this part of a checkpoint is damaged")
    assert all(isinstance(array, np.ndarray) for result in results for array in result)


def test_what_was_added_is_kept_in_order_over_several_times(tmp_path):
    keep(tmp_path / "c", 1, 2)
    keep(tmp_path / "c", 3)
    assert kept(tmp_path / "c") == [1, 2, 3]
    assert sorted(os.listdir(tmp_path / "c")) == [
        "lock",
        "manifest.json",
        *(f"segment-00000{i}.bin" for i in range(3)),
    ]


def test_once_computes_only_what_is_not_kept(tmp_path):
    keep(tmp_path / "c", 1, 2)
    with Journal(tmp_path / "c", WORK) as journal:
        found = [int(journal.once(lambda i=i: (np.array([i]),))[0][0]) for i in (7, 8, 9)]
    assert found == [1, 2, 9]
    assert kept(tmp_path / "c") == [1, 2, 9]


def test_results_wait_a_while_and_are_written_when_it_ends_by_an_error_too(tmp_path, monkeypatch):
    folder = tmp_path / "c"

    def count():
        with Journal(folder, WORK) as journal:
            journal.add((np.array([1]),))
            assert not [*folder.glob("segment*")]
            monkeypatch.setattr(jn, "FLUSH_SECONDS", 0.0)
            journal.add((np.array([2]),))
            assert len([*folder.glob("segment*")]) == 1
            monkeypatch.setattr(jn, "FLUSH_SECONDS", 5.0)
            journal.add((np.array([3]),))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count()
    assert kept(folder) == [1, 2, 3]


def test_many_bytes_do_not_wait(tmp_path, monkeypatch):
    monkeypatch.setattr(jn, "FLUSH_BYTES", 100)
    with Journal(tmp_path / "c", WORK) as journal:
        journal.add((np.zeros(12),))
        assert not [*(tmp_path / "c").glob("segment*")]
        journal.add((np.zeros(1),))
        assert [*(tmp_path / "c").glob("segment*")]


def test_the_manifest_says_what_it_is_of_and_whether_it_is_finished(tmp_path):
    keep(tmp_path / "c", 1)
    manifest = json.loads((tmp_path / "c" / "manifest.json").read_text())
    assert manifest == {
        "format": "relynx checkpoint",
        "version": 1,
        "about": "counting to ten",
        "finished": False,
        "work": {
            "kind": "counting",
            "results": 1,
            "relynx": rx.__version__,
            "inputs": {"the data": "a1"},
            "settings": {"step": "1", "most": "None"},
        },
    }
    keep(tmp_path / "c", finish=True)
    assert json.loads((tmp_path / "c" / "manifest.json").read_text())["finished"] is True
    keep(tmp_path / "c", 2)
    assert json.loads((tmp_path / "c" / "manifest.json").read_text())["finished"] is False
    assert kept(tmp_path / "c") == [1, 2]


def test_what_a_killed_process_left_is_removed_and_what_is_not_ours_stays(tmp_path):
    keep(tmp_path / "c", 1)
    for name in ("manifest.json.99.part", "segment-000001.bin.99.part", "mine.99.part"):
        (tmp_path / "c" / name).write_text("half")
    assert kept(tmp_path / "c") == [1]
    assert sorted(os.listdir(tmp_path / "c")) == [
        "lock",
        "manifest.json",
        "mine.99.part",
        "segment-000000.bin",
    ]


def test_a_process_killed_before_there_was_a_manifest_is_no_hindrance(tmp_path):
    (tmp_path / "manifest.json.99.part").write_text("{")
    (tmp_path / "lock").write_text("")
    keep(tmp_path, 1)
    assert kept(tmp_path) == [1]


def test_a_finished_checkpoint_is_read_where_nothing_can_be_written(tmp_path, monkeypatch):
    keep(tmp_path / "c", 1, finish=True)
    monkeypatch.setattr(os, "replace", failing(errno.EROFS))
    with Journal(tmp_path / "c", WORK) as journal:
        assert journal.finished
        assert len([*journal.kept()]) == 1
        journal.finish()


# What is refused


def test_other_work_is_refused_and_all_that_differs_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keep("c", 1)
    other = Work("counting", 2, "", {"the data": "a2"}, {"step": np.int64(2), "least": 3})
    assert message_of(Journal, "c", other) == (
        "c: this checkpoint is of other work: the form of the results was 1 and is 2; "
        "the data changed; step was 1 and is 2; most was None and is unknown; "
        "least was unknown and is 3\n"
        "hint: give another folder, or remove this one to start afresh"
    )
    assert kept("c") == [1]


def test_work_of_another_kind_or_relynx_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keep("c", 1)
    assert message_of(Journal, "c", Work("mining", 1, "", {}, {})) == (
        "c: this checkpoint is of other work: it is of counting, this is mining\n"
        "hint: give another folder, or remove this one to start afresh"
    )
    monkeypatch.setattr(jn, "__version__", "9.9")
    assert message_of(Journal, "c", WORK) == (
        f"c: this checkpoint is of other work: relynx was {rx.__version__} and is 9.9\n"
        "hint: give another folder, or remove this one to start afresh"
    )


def test_numbers_of_numpy_and_of_python_are_the_same_setting(tmp_path):
    keep(tmp_path / "c", 1)
    same = Work("counting", 1, "", {"the data": "a1"}, {"step": np.int32(1), "most": None})
    assert kept(tmp_path / "c", same) == [1]
    assert kept(tmp_path / "c", same) == [1]


def test_a_second_one_at_the_same_time_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Journal("c", WORK):
        assert message_of(Journal, "c", WORK) == (
            "c: another process, or another part of this one, works on this checkpoint\n"
            "hint: wait until it is done, or give another folder"
        )
    keep("c", 1)


def test_a_killed_process_leaves_no_lock(tmp_path):
    code = (
        "import os, signal, sys; from relynx.storage.journal import locked\n"
        "with locked(sys.argv[1]): os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], timeout=60)
    assert done.returncode == -9
    keep(tmp_path, 1)
    assert kept(tmp_path) == [1]


def test_a_folder_with_other_things_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "thesis.tex").write_text("")
    assert message_of(Journal, ".", WORK) == (
        ".: this folder is no checkpoint, and it is not empty: it holds 'thesis.tex'\n"
        "hint: give a folder that is empty or not there yet"
    )


@pytest.mark.parametrize("folder", [5, "", "a\0b", ["c"], b"c"])
def test_what_is_no_folder_is_refused(folder):
    assert message_of(Journal, folder, WORK) == (
        f"checkpoint is {folder!r}\nhint: give a folder to keep results in, or None"
    )


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c").write_text("")
    assert message_of(Journal, "c", WORK) == (
        "c: this folder cannot be used for a checkpoint (File exists)"
    )


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "relynx checkpoint", "version": "1", "finished": 1}']
)
def test_a_manifest_that_is_none_is_refused(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    keep("c", 1)
    (tmp_path / "c" / "manifest.json").write_text(text)
    assert message_of(Journal, "c", WORK) == (
        f"{os.path.join('c', 'manifest.json')}: this is no manifest of a checkpoint, or it is "
        "damaged\nhint: something else changed it: remove the folder to start afresh, or restore "
        "it from a copy"
    )


def test_a_checkpoint_of_a_newer_format_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keep("c", 1)
    path = tmp_path / "c" / "manifest.json"
    path.write_text(path.read_text().replace('"version": 1', '"version": 2'))
    assert message_of(Journal, "c", WORK) == (
        "c: this checkpoint was written by a newer relynx: its format is 2\n"
        f"hint: update relynx, or give another folder; {rx.__version__} knows formats to 1"
    )


def test_a_missing_segment_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keep("c", 1, 2, 3)
    (tmp_path / "c" / "segment-000001.bin").unlink()
    assert message_of(Journal, "c", WORK) == (
        "c: segment-000001.bin is missing, and later ones are there\n"
        "hint: something else changed it: remove the folder to start afresh, or restore it from a "
        "copy"
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data, _: data[:-1], "this part of a checkpoint is damaged"),
        (lambda data, _: b"", "this is no part of a checkpoint"),
        (
            lambda _, other: other,
            "this part belongs to another checkpoint, or to another place of it",
        ),
    ],
)
def test_a_damaged_segment_is_refused(tmp_path, monkeypatch, change, said):
    monkeypatch.chdir(tmp_path)
    keep("c", 1, 2)
    path, other = (os.path.join("c", f"segment-00000{i}.bin") for i in (1, 0))
    with open(path, "rb") as file, open(other, "rb") as another:
        changed = change(file.read(), another.read())
    with open(path, "wb") as file:
        file.write(changed)
    assert message_of(kept, "c") == (
        f"{path}: {said}\n"
        "hint: something else changed it: remove the folder to start afresh, or restore it from a "
        "copy"
    )
    with pytest.raises(DataError):
        kept("c")


def test_a_segment_that_cannot_be_read_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keep("c", 1)
    path = os.path.join("c", "segment-000000.bin")
    os.remove(path)
    os.mkdir(path)
    assert message_of(kept, "c") == (
        f"{path}: this part of a checkpoint cannot be read (Is a directory)"
    )


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            errno.ENOSPC,
            "(No space left on device)\nhint: the disk is full: make room, or write to another one",
        ),
        (
            errno.EROFS,
            "(Read-only file system)\nhint: the folder is read-only: write to another one",
        ),
    ],
)
def test_what_was_kept_stays_when_nothing_more_can_be_written(tmp_path, monkeypatch, code, said):
    monkeypatch.chdir(tmp_path)
    keep("c", 1)
    with monkeypatch.context() as full:
        full.setattr(os, "replace", failing(code))
        assert message_of(keep, "c", 2) == (
            f"{os.path.join('c', 'segment-000001.bin')}: this file cannot be written {said}; "
            "what was kept before stays, and the same call resumes from there"
        )
    assert sorted(os.listdir("c")) == ["lock", "manifest.json", "segment-000000.bin"]
    keep("c", 2)
    assert kept("c") == [1, 2]


def test_every_folder_that_is_made_is_on_the_disk(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(jn, "sync", synced.append)
    with locked(tmp_path / "a" / "b" / "c"):
        pass
    assert synced == [str(tmp_path), str(tmp_path / "a"), str(tmp_path / "a" / "b")]


def test_a_read_only_folder_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "makedirs", failing(errno.EROFS))
    assert message_of(Journal, "c", WORK) == (
        "c: this folder cannot be used for a checkpoint (Read-only file system)\n"
        "hint: the folder is read-only: write to another one"
    )


def test_a_folder_that_cannot_be_locked_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(jn.fcntl, "flock", failing(errno.ENOLCK))
    assert message_of(Journal, "c", WORK) == "c: this folder cannot be locked (No locks available)"


def test_one_may_wait_for_the_lock(tmp_path):
    code = (
        "import sys, time; from relynx.storage.journal import locked\n"
        "with locked(sys.argv[1]): print('in', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout.readline() == "in\n"
        with pytest.raises(InputError), locked(tmp_path):
            pass
        other.stdin.close()
        with locked(tmp_path, wait=True):
            pass
        assert other.wait(60) == 0


# What data are called


def test_a_digest_changes_with_every_part_and_its_type():
    texts = [
        digest(parts)
        for parts in (
            [],
            [1],
            ["1"],
            [1.0],
            [1, 2],
            [12],
            [np.array([1, 2])],
            [np.array([1, 2], np.int32)],
            [np.array([[1, 2]])],
            [np.array([1.0, 2.0])],
        )
    ]
    assert len(set(texts)) == len(texts)
    assert digest([np.arange(6).reshape(2, 3).T]) == digest([np.arange(6).reshape(2, 3).T.copy()])


def test_the_digest_of_sequences_changes_with_facts_and_rules_but_not_with_labels():
    X, _ = rx.from_lists([["a", "b"], ["a", "c"]], ["up", "down"])
    other, _ = rx.from_lists([["a", "b"], ["a", "b"]], ["up", "down"])
    ruled = X.with_background(rx.parse_background("p(E) :- a(E)."))
    assert len({data_digest(one) for one in (X, other, ruled, X[:1])}) == 4
    assert data_digest(X.with_labels(["x", "y"])) == data_digest(X)
