"""How many values a Parquet file says that it holds, read from its footer.

pyarrow reports this, too, but a damaged footer may crash it. A footer is a
struct in the compact protocol of Thrift; only the numbers of values are taken out of it.
"""

from __future__ import annotations

MAGIC = b"PAR1"
DEEPEST = 20
STOP, TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 11, 12
INTEGERS = (4, 5, 6)
# The fields that lead to the values of a column: row groups, columns, metadata, number of values.
ROW_GROUPS, COLUMNS, METADATA, N_VALUES = 4, 1, 3, 5
PATH = (ROW_GROUPS, COLUMNS, METADATA, N_VALUES)


def n_values(data: bytes) -> int:
    """The values of all columns together. Raises ValueError where there is no good footer."""
    size = int.from_bytes(data[-8:-4], "little")
    if len(data) < 12 or data[:4] != MAGIC or data[-4:] != MAGIC or size > len(data) - 12:
        raise ValueError("no Parquet file")
    reader = _Reader(data[-8 - size : -8])
    try:
        reader.struct(PATH)
    except IndexError:
        raise ValueError("the footer is cut") from None
    return reader.total


class _Reader:
    """Goes through a struct; adds up the integers at a path of fields."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.total = 0

    def struct(self, path: tuple[int, ...], depth: int = 0) -> None:
        """A struct; `path` are the fields, from here on, that are looked for."""
        if depth > DEEPEST:
            raise ValueError("nested too deeply")
        field = 0
        while (head := self._byte()) != STOP:
            field = field + (head >> 4) if head >> 4 else self._zigzag()
            found = path[1:] if path and field == path[0] else None
            self._value(head & 15, found, depth)

    def _value(self, type_code: int, path: tuple[int, ...] | None, depth: int) -> None:
        """A value of a field; `path` is what to look for inside, None for nothing."""
        if type_code in INTEGERS:
            number = self._zigzag()
            if path == ():
                if number < 0:
                    raise ValueError("a number of values below 0")
                self.total += number
        elif type_code == STRUCT:
            self.struct(path or (), depth + 1)
        elif type_code in (LIST, SET):
            head = self._byte()
            n = head >> 4 if head >> 4 < 15 else self._varint()
            self._several(n, (head & 15,), path, depth + 1)
        elif type_code == MAP:
            n = self._varint()
            head = self._byte() if n else 0
            self._several(n, (head >> 4, head & 15), None, depth + 1)
        elif type_code == BINARY:
            self._skip(self._varint())
        elif type_code in (BYTE, DOUBLE):
            self._skip(1 if type_code == BYTE else 8)
        elif type_code not in (TRUE, FALSE):
            raise ValueError("an unknown kind of value")

    def _several(
        self, n: int, type_codes: tuple[int, ...], path: tuple[int, ...] | None, depth: int
    ) -> None:
        """The values of a list, or the pairs of a map; a truth value is a byte there."""
        if n > len(self.data):  # each takes a byte at least
            raise ValueError("a list that is longer than the footer")
        if n and depth > DEEPEST:
            raise ValueError("nested too deeply")
        for type_code in type_codes * n:
            self._value(BYTE if type_code in (TRUE, FALSE) else type_code, path, depth)

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _skip(self, n: int) -> None:
        self.at += n
        if self.at > len(self.data):
            raise IndexError

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError("a number of more than 64 bits")

    def _zigzag(self) -> int:
        value = self._varint()
        return value >> 1 if not value & 1 else -(value >> 1) - 1
