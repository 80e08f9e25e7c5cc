"""Opening pickles without letting them run anything but what rebuilds a model.

A pickle is a program for a small machine with a stack. Python's own machine calls whatever a file
names. Here it is asked at every step: names are looked up in
`fairdesk.models.pickles.allowed_names` before anything is imported, classes can be made but not
kept, and only what the file itself made may be filled. Arrays that joblib wrote between the
instructions are read here too, so that no inner pickle is read by another machine.

The same machine with nothing behind it tells what a file asks for (`names_in`).
"""

from __future__ import annotations

import lzma
import math
import pickle
import struct
import zlib
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from fairdesk.errors import ModelError
from fairdesk.models.packed import DAMAGED, Bounded, unpacked
from fairdesk.models.pickles import allowed_names, rebuilding
from fairdesk.models.pickles.rebuilding import Lifeless, RefusedError, Token, vet

#: What joblib aligns its arrays to is told by one byte; a name or a text is not longer.
_MOST_NAME = 500
#: So many instructions are carried out; a model of a million texts takes a tenth of them.
MOST_STEPS = 50_000_000
#: So many bytes that are handed to a function count as one instruction.
_BYTES_A_STEP = 256
#: So many marks may wait for one another: what Python writes is not nested as deep.
_MOST_MARKS = 10_000
#: Of so many values a key may be made. To hash one takes time for each, however short the file is.
_MOST_IN_KEY = 10_000
#: What is raised when a file ends too early, or holds what is no pickle.
CUT_OFF = (EOFError, pickle.UnpicklingError, lzma.LZMAError, zlib.error)
#: What Python's machine raises when a file is damaged.
BROKEN = (
    *DAMAGED,
    pickle.UnpicklingError,
    *(AttributeError, ImportError, LookupError, TypeError, ArithmeticError, MemoryError),
    *(RecursionError, AssertionError, NotImplementedError, struct.error),
)

Thing = Any


class _Array:
    """What joblib writes before the numbers of an array."""

    state: dict[str, Any]


#: What Python's machine does at each instruction.
_PYTHONS: dict[int, Callable[..., None]] = dict(pickle._Unpickler.dispatch)  # noqa: SLF001 - see below


class Steps(dict[int, Callable[..., None]]):
    """What a machine does at each instruction; it ends a file that asks for too much.

    Attributes
    ----------
    left : int
        How many instructions it still carries out.
    """

    def __init__(self, steps: dict[int, Callable[..., None]]) -> None:
        super().__init__(steps)
        self.left = MOST_STEPS

    def __getitem__(self, code: int) -> Callable[..., None]:
        self.left -= 1
        if self.left < 0:
            raise _endless()
        return super().__getitem__(code)

    def spend(self, arguments: tuple[Thing, ...]) -> None:
        """Count what a function is given: it may go through all of it."""
        sized = (each for each in arguments if isinstance(each, _SIZED))
        self.left -= sum(map(len, sized)) // _BYTES_A_STEP


def _endless() -> ModelError:
    return ModelError(
        "The file asks for more work than any model of tabular data.",
        why="A file designed to keep the computer busy does so.",
        remedy="Ask for the model as ONNX, or from another source.",
    )


class _Machine(pickle._Unpickler):  # noqa: SLF001 - the machine in Python: in C its steps cannot be changed
    """Python's machine, whose steps that reach outside are left to its subclasses."""

    steps: ClassVar[dict[int, Callable[..., None]]] = dict(_PYTHONS)
    dispatch: Steps  # type: ignore[misc]  # each machine counts for itself
    stack: list[Thing]
    metastack: list[list[Thing]]
    memo: dict[int, Thing]
    append: Callable[[Thing], None]
    pop_mark: Callable[[], list[Thing]]
    readline: Callable[[], bytes]

    def __init__(self, stream: Bounded, dispatch: Steps | None = None) -> None:
        super().__init__(stream)
        self.stream = stream
        # a machine within another one shares its steps
        self.dispatch = dispatch or Steps(self.steps)
        self._places: dict[int, int] = {}  # of what is remembered, as far as it was looked for
        self._placed = 0

    def load(self) -> Thing:
        """Run the file to its end.

        Raises
        ------
        UnpicklingError
            When it holds what is no instruction, or takes what it has not put on the stack.
        """
        try:
            return super().load()
        except (KeyError, IndexError) as error:
            if isinstance(error, KeyError) and not isinstance(error.args[0], int):
                raise
            raise pickle.UnpicklingError(
                "it contains bytes that are not part of a pickle"
            ) from error

    def called(self, thing: Thing, arguments: tuple[Thing, ...]) -> Thing:
        raise NotImplementedError

    def made(self, kind: Thing, arguments: tuple[Thing, ...], named: dict[str, Thing]) -> Thing:
        raise NotImplementedError

    def filled(self, thing: Thing, state: Thing) -> Thing:
        raise NotImplementedError

    def array(self, described: dict[str, Any]) -> Thing:
        raise NotImplementedError

    def get_extension(self, code: int) -> None:
        raise RefusedError(f"extension {code}")

    def load_mark(self) -> None:
        if len(self.metastack) >= _MOST_MARKS:
            raise _endless()
        _PYTHONS[pickle.MARK[0]](self)

    def load_reduce(self) -> None:
        arguments = self.stack.pop()
        self.stack[-1] = self.called(self.stack[-1], arguments)

    def load_newobj(self) -> None:
        arguments = self.stack.pop()
        self.stack[-1] = self.made(self.stack[-1], arguments, {})

    def load_newobj_ex(self) -> None:
        named = self.stack.pop()
        arguments = self.stack.pop()
        self.stack[-1] = self.made(self.stack[-1], arguments, named)

    def load_inst(self) -> None:
        module = self.readline()[:-1].decode("ascii")
        name = self.readline()[:-1].decode("ascii")
        kind = self.find_class(module, name)
        arguments = tuple(self.pop_mark())
        self.stack.append(self.called(kind, arguments))

    def load_obj(self) -> None:
        kind, *arguments = self.pop_mark()
        self.stack.append(self.called(kind, tuple(arguments)))

    def load_build(self) -> None:
        state = self.stack.pop()
        thing = self.stack[-1]
        if isinstance(thing, _Array):
            self.stack[-1] = self.array(state)
            return
        filled = self.filled(thing, state)
        if filled is not thing:
            self.stack[-1] = filled
            # whatever refers to it means the filled one
            new = list(islice(reversed(self.memo), len(self.memo) - self._placed))
            self._places |= {id(self.memo[place]): place for place in reversed(new)}
            self._placed = len(self.memo)
            place = self._places.get(id(thing), -1)
            if self.memo.get(place) is thing:
                self.memo[place] = filled
                self._places[id(filled)] = place

    # what a file puts into a thing goes into containers, not into what was looked at before
    def load_append(self) -> None:
        self._into(list, 1)
        _PYTHONS[pickle.APPEND[0]](self)

    def load_appends(self) -> None:
        self._into(list)
        _PYTHONS[pickle.APPENDS[0]](self)

    def load_additems(self) -> None:
        self._into(set)
        _check_keys(self.stack)
        _PYTHONS[pickle.ADDITEMS[0]](self)

    def load_frozenset(self) -> None:
        _check_keys(self.stack)
        _PYTHONS[pickle.FROZENSET[0]](self)

    def load_dict(self) -> None:
        _check_keys(self.stack[::2])
        _PYTHONS[pickle.DICT[0]](self)

    def load_setitem(self) -> None:
        self._into(dict, 2)
        _check_keys(self.stack[-2:-1])
        _PYTHONS[pickle.SETITEM[0]](self)

    def load_setitems(self) -> None:
        self._into(dict)
        _check_keys(self.stack[::2])
        _PYTHONS[pickle.SETITEMS[0]](self)

    def _into(self, kind: type, above: int | None = None) -> None:
        """Refuse any but a container, below what is put into it or below the mark."""
        there = self.metastack[-1][-1] if above is None else self.stack[-1 - above]
        if not isinstance(there, (kind, Lifeless)):
            raise RefusedError(f"a change of {_name(there)}")

    for _step, _code in (
        (load_mark, pickle.MARK),
        (load_frozenset, pickle.FROZENSET),
        (load_dict, pickle.DICT),
        (load_reduce, pickle.REDUCE),
        (load_newobj, pickle.NEWOBJ),
        (load_newobj_ex, pickle.NEWOBJ_EX),
        (load_inst, pickle.INST),
        (load_obj, pickle.OBJ),
        (load_build, pickle.BUILD),
        (load_append, pickle.APPEND),
        (load_appends, pickle.APPENDS),
        (load_additems, pickle.ADDITEMS),
        (load_setitem, pickle.SETITEM),
        (load_setitems, pickle.SETITEMS),
    ):
        steps[_code[0]] = _step
    del _step, _code

    def pass_padding(self, described: dict[str, Any]) -> None:
        if described.get("numpy_array_alignment_bytes") is not None:
            padding = self.stream.read(1)
            self.stream.skip(padding[0] if padding else 0)


class _Rebuilder(_Machine):
    """The machine that rebuilds a model of what is allowed."""

    def __init__(
        self,
        stream: Bounded,
        ours: dict[int, Thing] | None = None,
        dispatch: Steps | None = None,
    ) -> None:
        super().__init__(stream, dispatch)
        # what the file made, kept alive so that no other thing gets its number
        self._ours: dict[int, Thing] = {} if ours is None else ours
        self._filled: set[int] = set()

    def find_class(self, module: str, name: str) -> Thing:
        return resolve(module, name)

    def persistent_load(self, pid: object) -> Thing:  # noqa: ARG002 - as Python's
        raise RefusedError("a persistent id")

    def called(self, thing: Thing, arguments: tuple[Thing, ...]) -> Thing:
        self.dispatch.spend(arguments)
        if isinstance(thing, Token):
            return self._our(thing.call(*arguments))
        if isinstance(thing, type) and (issubclass(thing, Lifeless) or thing in _CONTAINERS):
            if thing in _FILLED:
                _check_content(thing, arguments)
            return self._our(thing(*arguments))
        raise RefusedError(_name(thing))

    def made(self, kind: Thing, arguments: tuple[Thing, ...], named: dict[str, Thing]) -> Thing:
        if isinstance(kind, Token):
            return self._our(kind.make(*arguments, **named))
        if isinstance(kind, type) and issubclass(kind, Lifeless):
            return self._our(kind())
        raise RefusedError(_name(kind))

    def filled(self, thing: Thing, state: Thing) -> Thing:
        if isinstance(thing, np.dtype):
            return rebuilding.dtype_with(thing, state)
        if isinstance(thing, Lifeless):
            thing.state = state
            return thing
        if id(thing) not in self._ours or isinstance(thing, (type, Token)):
            raise RefusedError(f"a change of {_name(thing)}")
        if id(thing) in self._filled:
            raise RefusedError(f"{_name(thing)} that is filled twice")
        self._filled.add(id(thing))
        rebuilding.check_state(thing, state)
        if hasattr(type(thing), "__setstate__"):
            if not isinstance(state, (dict, tuple)):
                raise RefusedError(f"a change of {_name(thing)}")
            thing.__setstate__(state)
            return thing
        attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, {})
        for name, value in (attributes or {}).items():
            thing.__dict__[str(name)] = value
        for name, value in (slots or {}).items():
            if name.startswith("__"):
                raise RefusedError(f"a change of {name}")
            setattr(thing, name, value)
        return thing

    def array(self, described: dict[str, Any]) -> Thing:
        kind, shape = described["dtype"], tuple(int(length) for length in described["shape"])
        if not isinstance(kind, np.dtype) or any(length < 0 for length in shape):
            raise pickle.UnpicklingError("an array is described wrongly")
        if kind.hasobject:
            inner = _Rebuilder(self.stream, self._ours, self.dispatch).load()
            if not isinstance(inner, np.ndarray):
                raise RefusedError("an inner pickle that is not an array")
            return inner
        self.pass_padding(described)
        size = math.prod(shape) * kind.itemsize
        content = self.stream.read(size)
        if len(content) < size:
            raise EOFError("the numbers of an array end too early")
        # a copy: models write into some of their arrays
        flat = np.frombuffer(content, kind).copy() if size else np.empty(0, kind)
        array = flat.reshape(shape, order="F" if described["order"] == "F" else "C")
        return array if kind.isnative else array.astype(kind.newbyteorder("="))

    def _our(self, thing: Thing) -> Thing:
        self._ours[id(thing)] = thing
        return thing


#: What a pickle may call to make an empty or filled container.
_CONTAINERS = (
    *(bytes, bytearray, complex, frozenset, range, set, slice),
    *(Counter, OrderedDict, defaultdict),
)


#: Those that go through what they are given.
_FILLED = (bytes, bytearray, frozenset, set, Counter, OrderedDict, defaultdict)
#: What has a length that a function goes through.
_SIZED = (str, bytes, bytearray, tuple, list, dict, set, frozenset)


def _check_content(kind: type, arguments: tuple[Thing, ...]) -> None:
    """Refuse what would make a large container of a short description, or hash what is too deep."""
    for each in arguments:
        if isinstance(each, range) or (kind in (bytes, bytearray) and isinstance(each, int)):
            raise RefusedError(_name(kind))
        if isinstance(each, (list, tuple)):
            _check_keys(each)


def _check_keys(keys: Sequence[Thing]) -> None:
    """Refuse keys of too many values: a few instructions nest one in itself again and again."""
    for key in keys:
        if not isinstance(key, (tuple, frozenset)):
            continue
        waiting, count = [key], 0
        while waiting:
            part = waiting.pop()
            count += len(part)
            if count > _MOST_IN_KEY:
                raise _endless()
            waiting += [each for each in part if isinstance(each, (tuple, frozenset))]


def _name(thing: Thing) -> str:
    kind = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{getattr(kind, '__module__', 'unknown')}.{kind.__qualname__}"


def resolve(module: str, name: str) -> Thing:
    """Return what a name stands for when it may be asked for.

    Raises
    ------
    RefusedError
        When it may not; then nothing was imported, unless it belongs to a library whose classes
        are allowed but is no class of the right kind.
    ImportError, AttributeError
        When the library, or what is asked for in it, is not there.
    """
    full = f"{module}.{name}"
    if not allowed_names.is_known(module, name):
        raise RefusedError(full)
    if full in allowed_names.JOBLIB_ARRAYS:
        return Token(full, _Array, called=False, made=True)
    if full in allowed_names.REBUILT:
        function = getattr(rebuilding, allowed_names.REBUILT[full])
        return Token(full, function, called=True, made=False)
    if allowed_names.is_loss_maker(module, name):
        return Token(full, _loss, called=True, made=False)
    if full in allowed_names.BUILTINS:
        old = {"unicode": "str", "long": "int", "xrange": "range"}
        home = "collections" if module == "collections" else "builtins"
        return getattr(import_module(home), old.get(name, name))
    if allowed_names.is_lifeless(module, name):
        return type(name, (Lifeless,), {"__module__": module})
    return _from_library(full, getattr(_module(module), name))


def _from_library(full: str, thing: Thing) -> Thing:
    """Return what may be done with what a library has under a name."""
    if full in allowed_names.FUNCTIONS or allowed_names.is_scalar_or_ufunc(thing):
        return thing
    if not isinstance(thing, type):
        raise RefusedError(full)
    if full in allowed_names.TOLD:
        return Token(full, thing, called=False, made=False)
    if full in allowed_names.MADE:
        return Token(full, thing, called=False, made=True)
    # a module may hold what it imported from elsewhere: what counts is where a class is at home
    home = f"{thing.__module__}.{thing.__qualname__}"
    helps = home.startswith(allowed_names.HELPERS) and not issubclass(thing, type)
    if not (helps or _is_estimator(thing)):
        raise RefusedError(full)
    return Token(full, thing, called=full.startswith(allowed_names.CALLED), made=True)


def _loss(kind: Token, checksum: int, state: object) -> Thing:
    """Make a loss of scikit-learn's by the function that is meant for its class."""
    home = import_module(allowed_names.LOSSES)
    loss = kind.meant(object)
    if loss not in vars(home).values():
        raise RefusedError(kind.name)
    return getattr(home, f"__pyx_unpickle_{loss.__name__}")(loss, checksum, state)


def _module(name: str) -> Thing:
    if name == allowed_names.LOSSES_ALSO:
        return import_module(allowed_names.LOSSES)
    try:
        return import_module(name)
    except ImportError:
        # NumPy moved its core; files name it as it was called when they were written
        if name.startswith("numpy._core"):
            return import_module(name.replace("numpy._core", "numpy.core"))
        if name.startswith("numpy.core"):
            return import_module(name.replace("numpy.core", "numpy._core"))
        raise


def _is_estimator(kind: type) -> bool:
    from sklearn.base import BaseEstimator  # noqa: PLC0415 - takes seconds; the model needs it anyway

    return issubclass(kind, BaseEstimator) and allowed_names.is_estimator_home(kind.__module__)


class _Nothing(Lifeless):
    """What stands for everything in a machine with nothing behind it."""

    def __bool__(self) -> bool:
        return True


class _Reader(_Machine):
    """The machine with nothing behind it: it notes what a file asks for, and reads its texts.

    Parameters
    ----------
    names : dict[tuple[str, str], None]
        Where the names go, in their order.
    fills : list
        Where the names of what is filled go, with what it is filled with.
    """

    def __init__(
        self,
        stream: Bounded,
        names: dict[tuple[str, str], None],
        fills: list[tuple[str, dict[Any, Any]]],
        dispatch: Steps | None = None,
    ) -> None:
        super().__init__(stream, dispatch)
        self._names = names
        self._fills = fills

    def find_class(self, module: str, name: str) -> Thing:
        self._names[str(module)[:_MOST_NAME], str(name)[:_MOST_NAME]] = None
        if f"{module}.{name}" in allowed_names.JOBLIB_ARRAYS:
            return _Array
        nothing = _Nothing()
        nothing.state = f"{module}.{name}"
        return nothing

    def persistent_load(self, pid: object) -> Thing:  # noqa: ARG002 - as Python's
        return _Nothing()

    def get_extension(self, code: int) -> None:
        self._names["copyreg extension", str(code)] = None
        self.append(_Nothing())

    def called(self, thing: Thing, arguments: tuple[Thing, ...]) -> Thing:
        return self.made(thing, arguments, {})

    def made(
        self,
        kind: Thing,
        arguments: tuple[Thing, ...],
        named: dict[str, Thing],  # noqa: ARG002
    ) -> Thing:
        if kind is _Array:
            return _Array()
        result = _Nothing()
        result.state = (getattr(kind, "state", ""), arguments)
        return result

    def filled(self, thing: Thing, state: Thing) -> Thing:
        whose = getattr(thing, "state", None)
        if isinstance(state, dict) and isinstance(whose, tuple):
            self._fills.append((_text(whose[0]), state))
        return thing

    def array(self, described: dict[str, Any]) -> Thing:
        code = _dtype_of(described.get("dtype"))
        if code is None:
            raise pickle.UnpicklingError("an array is described wrongly")
        if code.hasobject:
            return _Reader(self.stream, self._names, self._fills, self.dispatch).load()
        self.pass_padding(described)
        shape = described["shape"]
        self.stream.skip(math.prod(int(length) for length in shape) * code.itemsize)
        return _Nothing()


def _dtype_of(thing: Thing) -> np.dtype[Any] | None:
    """Read the type of an array's numbers of what the reading machine keeps of it."""
    state = getattr(thing, "state", None)
    if not (isinstance(state, tuple) and state[0] == "numpy.dtype"):
        return None
    return np.dtype(_text(state[1][0]))


def _text(thing: Thing) -> str:
    """Return a text; of anything else none: it may be nested without end."""
    return thing if isinstance(thing, str) else ""


def names_in(
    path: Path,
) -> tuple[dict[tuple[str, str], None], list[tuple[str, dict[Any, Any]]], str]:
    """Return what a pickle asks for; nothing of it is run and nothing is imported.

    Returns
    -------
    names : dict[tuple[str, str], None]
        Modules and names, in the order of the file.
    fills : list[tuple[str, dict]]
        What things are filled with, as far as it is plain data: their names and attributes.
    trouble : str
        Why reading ended before the end of the file; empty when it did not.

    Raises
    ------
    ModelError
        When it unpacks to more than is read.
    """
    names: dict[tuple[str, str], None] = {}
    fills: list[tuple[str, dict[Any, Any]]] = []
    try:
        with unpacked(path) as stream:
            _Reader(stream, names, fills).load()
    except RefusedError as error:
        return names, fills, str(error)
    except BROKEN as error:
        return names, fills, f"{type(error).__name__}: {error}"
    return names, fills, ""


def rebuild(path: Path) -> object:
    """Open a pickle by the allow-list.

    Raises
    ------
    RefusedError
        When it asks for what is not allowed; nothing of it was run.
    ValueError
        When compiled code would be led out of its memory.
    ModelError
        When it unpacks to more than is read.
    """
    with unpacked(path) as stream:
        thing: object = _Rebuilder(stream).load()
    vet(thing)
    return thing
