"""How loops are compiled: each by one of three decorators, with arrays that it takes by reference.

Compiling takes longer than any other first step, so that all here is about doing less of it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np
from numba import config, njit, typeof, types
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.typing.arraydecl import GetItemBuffer, SetItemBuffer
from numba.core.typing.templates import AttributeTemplate, infer_global
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    unbox,
)

T = TypeVar("T")

# A loop that Python calls. It never raises, so that no division needs a look at the divisor.
kernel = njit(cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True)
# A few lines that are copied to where they are used.
inlined = njit(inline="always")

# numba tries dozens of rules for every `a[i]`, the one for arrays late; those for "cpu" come first.
for _what, _rule in ((operator.getitem, GetItemBuffer), (operator.setitem, SetItemBuffer)):
    infer_global(_what)(type(_rule.__name__, (_rule,), {"metadata": {"target": "cpu"}}))


class _LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code of a loop that only other loops call. It is neither optimised nor made machine code by
    itself: each caller is linked with it, and is optimised as a whole."""

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True


class _LinkedCompiler(Compiler):  # type: ignore[misc]
    def compile_extra(self, function):
        self.state.flags.no_compile = True
        self.state.library = _LinkedLibrary(self.state.targetctx.codegen(), function.__qualname__)
        compiled = super().compile_extra(function)
        entry = [].append  # callers find it by any such object, which nobody calls
        self.state.targetctx.insert_user_function(entry, compiled.fndesc, [compiled.library])
        return compiled._replace(entry_point=entry)


_for_loops = njit(
    nogil=True,
    error_model="numpy",
    no_cfunc_wrapper=True,
    no_cpython_wrapper=True,
    pipeline_class=_LinkedCompiler,
)


class _Inner:
    """A loop that other loops call. numba compiles no way to call it from Python, where it is the
    function that was written."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._compiled = _for_loops(function)
        self._numba_type_ = self._compiled._numba_type_

    def __call__(self, *args: Any) -> Any:
        return self._function(*args)


def inner_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop that only other loops call."""
    return function if config.DISABLE_JIT else _Inner(function)


class _StructType(types.Type):  # type: ignore[misc]
    """The numba type of a struct: its name, and the names and types of its fields."""

    def __init__(self, name: str, fields: tuple[tuple[str, types.Type], ...]) -> None:
        self.types = dict(fields)
        self.first_word = {}
        n = 0
        for field, kind in fields:
            self.first_word[field] = n
            n += _n_words(kind)
        # The name is part of the name of each loop that takes the struct: it had better be short.
        digest = blake2b(repr(fields).encode(), digest_size=8).hexdigest()
        super().__init__(f"{name}_{digest}")


def _n_words(kind: types.Type) -> int:
    """Of 64 bits, in which numba has an array, a whole number or a truth value."""
    return 5 + 2 * kind.ndim if isinstance(kind, types.Array) else 1


class _Struct:
    """A struct as Python sees it: its fields are those of a named tuple."""

    __slots__ = ("_address", "_numba_type_", "_parts", "_words")
    _parts_class: Any
    _types: dict[tuple[Any, ...], _StructType]  # those that were met, by what tells them apart

    def __init__(self, *args: Any, **named: Any) -> None:
        parts = self._parts_class(*args, **named)
        key: list[Any] = []
        words: list[int] = []
        for part in parts:
            if isinstance(part, np.ndarray):
                key.append((part.dtype.str, part.ndim, part.flags.num))
                address = part.__array_interface__["data"][0]
                # Without an owner: the struct outlives the loop, and numba need not count.
                words += [0, 0, part.size, part.itemsize, address, *part.shape, *part.strides]
            else:
                key.append(type(part))
                words.append(int(part))
        self._parts = parts
        self._words = np.array(words, np.int64)
        self._address = self._words.__array_interface__["data"][0]
        self._numba_type_ = self._types.get(tuple(key))
        if self._numba_type_ is None:
            fields = tuple(zip(parts._fields, map(typeof, parts), strict=True))
            self._numba_type_ = self._types[tuple(key)] = _StructType(type(self).__name__, fields)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parts, name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(self._parts)

    def _replace(self, **named: Any) -> _Struct:
        return type(self)(*self._parts._replace(**named))


def by_reference(parts: type[T]) -> type[T]:
    """Make a class of named tuples into one of structs, which compiled loops take as one pointer.

    numba takes a named tuple apart: a loop that takes 25 arrays in a tuple has 175 arguments, and
    hands them on, one by one, to each loop that it calls.

    Fields are read in the same way, in Python and in loops. A loop cannot make such a struct, nor
    put another array into it, nor return one of its arrays, which Python owns. Without the compiler
    it is the named tuple.
    """
    if config.DISABLE_JIT:
        return parts
    body = {
        "__doc__": parts.__doc__,
        "__module__": parts.__module__,
        "__qualname__": parts.__qualname__,
        "__slots__": (),
        "_fields": parts._fields,  # type: ignore[attr-defined]
        "_parts_class": parts,
        "_types": {},
    }
    return type(parts.__name__, (_Struct,), body)


register_model(_StructType)(models.OpaqueModel)  # a pointer


@unbox(_StructType)
def _pointer(kind, struct, c):
    """The pointer that a loop gets for a struct."""
    address = c.pyapi.object_getattr_string(struct, "_address")
    number = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(c.builder.inttoptr(number, c.context.get_value_type(kind)))


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    key = _StructType

    def generic_resolve(self, struct, name):
        return struct.types.get(name)


@lower_getattr_generic(_StructType)
def _field(context, builder, struct, pointer, name):
    """Read a field from memory. It never changes, which allows to do so once for a whole loop."""
    kind = struct.types[name]
    is_array = isinstance(kind, types.Array)
    word = context.get_value_type(types.int64)
    stored = context.get_value_type(kind) if is_array else word
    words = builder.bitcast(pointer, word.as_pointer())
    at = builder.gep(words, [context.get_constant(types.int64, struct.first_word[name])])
    value = builder.load(builder.bitcast(at, stored.as_pointer()))
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    if is_array:  # what has no owner is not counted
        for i in range(2):
            value = builder.insert_value(value, cgutils.get_null_value(stored.elements[i]), i)
    elif kind == types.boolean:
        value = builder.trunc(value, context.get_value_type(kind))
    return value
