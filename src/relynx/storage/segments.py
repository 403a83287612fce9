"""Segments of a checkpoint: results, each some arrays of numbers, as bytes with a checksum."""

from __future__ import annotations

import hashlib
import math
import struct
import zlib
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.storage.parts import ARRAY_TYPES

Result: TypeAlias = tuple[NDArray[Any], ...]

_MAGIC = b"relynx segment 1"
_HEAD = struct.Struct("<16s32s32sqqqq")  # magic, checksum, key, number, results, index, bytes
_SUMMED = 48  # where what the checksum is of begins
_DTYPES = [np.dtype(name) for name in ARRAY_TYPES]
_NUMBER = {dtype: i for i, dtype in enumerate(_DTYPES)}


def packed(key: bytes, number: int, results: Sequence[Result]) -> bytes:
    index: list[int] = []
    pieces: list[bytes] = []
    for result in results:
        index.append(len(result))
        for array in result:
            little = array.astype(array.dtype.newbyteorder("<"), copy=False)
            index += (_NUMBER[little.dtype], array.ndim, *array.shape)
            pieces.append(little.tobytes())
    numbers = np.array(index, "<i8").tobytes()
    n_bytes = sum(map(len, pieces))
    content = zlib.compress(b"".join([numbers, *pieces]), 1)
    rest = _HEAD.pack(b"", b"", key, number, len(results), len(index), n_bytes)[_SUMMED:] + content
    return _MAGIC + hashlib.sha256(rest).digest() + rest


def unpacked(data: bytes, key: bytes, number: int) -> list[Result]:
    """The results of a segment. Raises ValueError where it is none of this checkpoint."""
    if len(data) < _HEAD.size or not data.startswith(_MAGIC):
        raise ValueError("this is no part of a checkpoint")
    _, checksum, of, index, n_results, n_index, n_bytes = _HEAD.unpack_from(data)
    if hashlib.sha256(memoryview(data)[_SUMMED:]).digest() != checksum:
        raise ValueError("this part of a checkpoint is damaged")
    if (of, index) != (key, number):
        raise ValueError("this part belongs to another checkpoint, or to another place of it")
    try:
        return _results(memoryview(data)[_HEAD.size :], n_results, n_index, n_bytes)
    except (ValueError, IndexError, OverflowError, RuntimeError, StopIteration, zlib.error):
        raise ValueError("this part of a checkpoint is damaged") from None


def _results(packed: memoryview, n_results: int, n_index: int, n_bytes: int) -> list[Result]:
    if min(n_index, n_bytes) < 0:
        raise ValueError
    content = zlib.decompressobj().decompress(packed, 8 * n_index + n_bytes + 1)
    if len(content) != 8 * n_index + n_bytes:
        raise ValueError
    index = iter(np.frombuffer(content, "<i8", n_index).tolist())
    results, at = [], 8 * n_index
    for _ in range(n_results):
        arrays = []
        for _ in range(next(index)):
            dtype, n = _DTYPES[next(index)], next(index)
            shape = tuple(next(index) for _ in range(n))
            flat = np.frombuffer(content, dtype, math.prod(shape), at)
            arrays.append(flat.astype(dtype.newbyteorder("=")).reshape(shape))
            at += flat.nbytes
        results.append(tuple(arrays))
    return results
