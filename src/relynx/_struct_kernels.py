"""Groups of arrays that compiled loops take by reference.

numba takes a named tuple apart: a loop that takes 25 arrays in a tuple has 175 arguments, and hands
them on, one by one, to each loop that it calls. That takes longer to compile than the loops
themselves. A struct is one pointer.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, TypeVar

from numba import config, njit, types
from numba.core.extending import overload
from numba.experimental import structref

T = TypeVar("T")


class _StructType(types.StructRef):  # type: ignore[misc]
    """The numba type of a struct. One with other fields, or other types of them, is another."""

    @property
    def mangling_args(self) -> tuple[str, tuple[str, ...]]:
        # The names of all fields would go into the name of each loop that takes the struct.
        digest = blake2b(self.name.encode(), digest_size=8).hexdigest()
        return f"{type(self).__name__}_{digest}", ()


class _Struct(structref.StructRefProxy):  # type: ignore[misc]
    """A struct as Python sees it: its fields are those of a named tuple."""

    __slots__ = ("_parts",)
    _parts_class: Any

    def __new__(cls, *args: Any, **named: Any) -> _Struct:
        parts = cls._parts_class(*args, **named)
        struct: _Struct = _packed(parts)
        struct._parts = parts
        return struct

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parts, name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parts)

    def _replace(self, **named: Any) -> _Struct:
        return type(self)(*self._parts._replace(**named))


def by_reference(parts: type[T]) -> type[T]:
    """Make a class of named tuples into one of structs, which compiled loops take as one pointer.

    Fields are read in the same way, in Python and in loops; a loop cannot make such a struct, nor
    put another array into it. Without the compiler it is the named tuple.
    """
    if config.DISABLE_JIT:
        return parts
    # numba keeps what it compiled for classes that it can find again by their names.
    name = parts.__qualname__
    parts.__qualname__ = f"{name}._parts_class"
    body = {"__module__": parts.__module__, "__qualname__": f"{name}.numba_type"}
    numba_type = structref.register(type(f"{parts.__name__}Type", (_StructType,), body))
    body = {
        "__doc__": parts.__doc__,
        "__module__": parts.__module__,
        "__slots__": (),
        "_fields": parts._fields,  # type: ignore[attr-defined]
        "_parts_class": parts,
        "numba_type": numba_type,
    }
    struct = type(parts.__name__, (_Struct,), body)
    structref.define_boxing(numba_type, struct)
    parts.struct_type = numba_type  # type: ignore[attr-defined]
    return struct  # type: ignore[return-value]


def _pack(parts):
    """A struct of the fields of a named tuple; in compiled loops only."""


@overload(_pack)
def _overloaded_pack(parts):
    made = parts.instance_class.struct_type(list(zip(parts.fields, parts.types, strict=True)))
    lines = ["def pack(parts):", "    struct = new(made)"]
    lines += [f"    struct.{name} = parts.{name}" for name in parts.fields]
    scope = {"__name__": __name__, "new": structref.new, "made": made}
    exec("\n".join([*lines, "    return struct"]), scope)
    return scope["pack"]


@njit(cache=True)
def _packed(parts):
    return _pack(parts)
