"""How loops are compiled: a tree of functions once, and not each of them for each that calls it."""
# numba has no types
# mypy: disallow-untyped-decorators=False, disallow-subclassing-any=False, warn-return-any=False

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, cast, get_args, get_origin, get_type_hints

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import from_dtype, njit, types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager
from numba.core.datamodel import DataModelManager
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AttributeTemplate, Signature
from numba.extending import (
    as_numba_type,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
)
from numpy.typing import NDArray

import fairdesk

try:
    from numba.core.caching import UserProvidedCacheLocator
except ImportError:  # an older numba, which asks for none
    from numba.core.caching import _UserProvidedCacheLocator as UserProvidedCacheLocator

# arrays of two or three axes, as `tuple_type` reads them
Float2 = Annotated[NDArray[np.float64], 2]
Float3 = Annotated[NDArray[np.float64], 3]
Int2 = Annotated[NDArray[np.int64], 2]
Int3 = Annotated[NDArray[np.int64], 3]
Word2 = Annotated[NDArray[np.uint64], 2]

_HOME = Path(fairdesk.__file__).resolve().parent.parent


class Locator(UserProvidedCacheLocator):
    """Where in numba's cache a function is kept: by what FairDesk calls it, not by where it lies.

    So another copy of the same loops finds what was compiled for the first. numba takes it from the
    environment variable ``NUMBA_CACHE_LOCATOR_CLASSES``.
    """

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """Return the folder of a source file: its package's name."""
        folder = Path(py_file).resolve().parent
        if not folder.is_relative_to(_HOME):
            return super().get_suitable_cache_subpath(py_file)
        return ".".join(folder.relative_to(_HOME).parts)


class _Library(JITCodeLibrary):
    """The code of a function that is only ever linked into those that call it.

    It is optimised and made machine code of there. numba would do that for itself too, with a copy
    of all that it calls: four fifths of the time that compiling takes.
    """

    @property
    def codegen(self) -> _Library:
        """Where numba looks for what takes an address of the machine code."""
        return self

    def set_env(self, _name: str, _env: object) -> None:
        """Do nothing: only what calls Python reads its environment."""

    def get_pointer_to_function(self, _name: str) -> int:
        """Link what it calls, and give no address: Python never calls it."""
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _Part(Compiler):
    """numba's own steps, with such a library."""

    def define_pipelines(self) -> list[PassManager]:
        state = self.state
        state.library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()


# without counting who holds an array: the caller of all holds them
_LEAN: Final = {"_nrt": False}
#: Compile a function that Python calls.
whole: Final = partial(njit, cache=True, nogil=True, no_cfunc_wrapper=True)
#: Compile one that neither allocates nor returns an array.
outer: Final = partial(whole, **_LEAN)
#: Compile a function that only other compiled ones call, and that does neither: it becomes a part
#: of them. It has no signature, so that nothing is compiled where those are in the cache.
inner: Final = partial(
    njit, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=_Part, **_LEAN
)


@inner()
def put(to: NDArray[Any], of: NDArray[Any]) -> None:
    """Fill an array with the first numbers of another: an assignment would allow for overlaps."""
    for i in range(to.size):
        to[i] = of[i]


def typed(number: int) -> int:
    """Return a constant that is passed on to a part as a number like any other.

    Otherwise it has a type of its own for the compiler, which compiles all that is called once more
    for each.
    """
    return cast(int, np.int64(number))


ZERO: Final = typed(0)
ONE: Final = typed(1)


def tuple_type(kind: type) -> types.NamedTuple:
    """Return what the compiler calls a named tuple of numbers, arrays and named tuples.

    An array has one axis, unless it is annotated with how many.
    """
    fields = []
    for hint in get_type_hints(kind, include_extras=True).values():
        of, axes = get_args(hint) if get_origin(hint) is Annotated else (hint, 1)
        if of in (int, float):
            fields.append(as_numba_type(of))
        elif get_origin(of) is np.ndarray:
            (number,) = get_args(get_args(of)[1])
            fields.append(types.Array(from_dtype(np.dtype(number)), axes, "C"))
        else:
            fields.append(tuple_type(of))
    return types.NamedTuple(fields, kind)


class _Shared(types.Type):
    """The place of a tuple of arrays, which is handed on in one word."""

    def __init__(self, of: types.BaseNamedTuple) -> None:
        self.of = of
        super().__init__(f"shared({of})")

    def field(self, name: str) -> tuple[int, types.Type]:
        """Return where a field is, and its type."""
        at = self.of.fields.index(name)
        return at, self.of.types[at]


@register_model(_Shared)
class _Place(models.PrimitiveModel):
    def __init__(self, manager: DataModelManager, kind: _Shared) -> None:
        super().__init__(manager, kind, manager.lookup(kind.of).get_value_type().as_pointer())


@infer_getattr
class _Fields(AttributeTemplate):
    key = _Shared

    def generic_resolve(self, kind: _Shared, name: str) -> types.Type:
        return kind.field(name)[1]


@lower_getattr_generic(_Shared)
def _field(
    context: BaseContext, builder: ir.IRBuilder, kind: _Shared, place: ir.Value, name: str
) -> ir.Value:
    at, of = kind.field(name)
    loaded = builder.load(cgutils.gep_inbounds(builder, place, 0, at))
    return impl_ret_borrowed(context, builder, of, loaded)


@intrinsic
def shared(_: object, of: types.BaseNamedTuple) -> tuple[Signature, Callable[..., ir.Value]]:
    """Return the place of a tuple that the caller was given, to hand that on to parts.

    A tuple itself is taken apart at each call, into seven words for an array.
    """

    def put_down(
        _: object, builder: ir.IRBuilder, _of: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        return cgutils.alloca_once_value(builder, given[0])

    return _Shared(of)(of), put_down
