"""Making what a pickle describes: arrays, generators of chance, names of columns; and vetting it.

Each function of the first part stands for one of NumPy's, Python's or a table library's that
pickles call. Those trust what they are given: a type of numbers that says it is made of Python
objects, or an array that is filled twice, would let a file reach into memory. These check it first.

The allow-list sees to it that a file is made of harmless classes. But such classes call what they
are filled with: a stack of models asks each of its parts for the method that an attribute names,
and an attribute called as a method takes that method's place. So what was rebuilt is looked through
before anything is asked of it. Compiled code goes further and takes numbers for places in memory:
those are compared with what they point into.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from types import BuiltinFunctionType, FunctionType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray


class RefusedError(Exception):
    """A pickle asks for what no honest file asks for."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Token:
    """A class or function of which a pickle may only say that it is to be used now.

    A model cannot keep one: to its own code it is no class and cannot be called.

    Parameters
    ----------
    called, made : bool
        Whether a pickle may call it, and make empty instances of it.
    """

    def __init__(self, name: str, thing: Any, *, called: bool, made: bool) -> None:  # noqa: ANN401 - any class
        self.name = name
        self.called = called
        self.made = made
        self._thing = thing

    def call(self, *arguments: Any) -> Any:  # noqa: ANN401 - any class
        """Call it."""
        if not self.called:
            raise RefusedError(f"{self.name}()")
        return self._thing(*arguments)

    def make(self, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - any class
        """Make an instance without its constructor."""
        if not self.made:
            raise RefusedError(f"{self.name}.__new__")
        return self._thing.__new__(self._thing, *arguments, **named)

    def meant(self, kind: type) -> Any:  # noqa: ANN401 - any class
        """Return what is meant, when it is a subclass of ``kind``."""
        if not (isinstance(self._thing, type) and issubclass(self._thing, kind)):
            raise RefusedError(self.name)
        return self._thing


class Lifeless:
    """The record of a thing that a model keeps but does not need; nothing can be done with it."""

    def __init__(self, *_: object, **__: object) -> None:
        self.state: object = None

    def append(self, item: object) -> None:
        """Take what a pickle puts in, and forget it."""

    extend = add = update = append

    def __setitem__(self, key: object, value: object) -> None:
        pass

    def __bool__(self) -> bool:
        raise TypeError("a thing that was kept as a record only is asked for")


def plain(value: object) -> str | bytes:
    """Return a description back as it is."""
    if not isinstance(value, (str, bytes, bytearray)):
        raise RefusedError("pyarrow.lib of no bytes")
    return value if isinstance(value, str) else bytes(value)


def latin_bytes(text: str, encoding: str) -> bytes:
    """Return bytes that an old pickle holds as text."""
    if encoding not in ("latin1", "latin-1"):
        raise RefusedError("_codecs.encode")
    return text.encode(encoding)


def instance(kind: Token | type[Lifeless], base: type, state: object = None) -> object:
    """Make an instance as the oldest pickles ask for it, with what its base class holds."""
    if not isinstance(kind, Token):
        return _record(kind)
    if base is object:
        return kind.make()
    if base is tuple and isinstance(state, tuple):
        return kind.make(*state)
    if base is dict and isinstance(state, dict):
        made = kind.make()
        dict.update(made, state)
        return made
    raise RefusedError("copyreg._reconstructor")


def _record(kind: object) -> Lifeless:
    if not (isinstance(kind, type) and issubclass(kind, Lifeless)):
        raise RefusedError("copyreg._reconstructor")
    return kind()


def new(kind: Token) -> object:
    """Make an empty search tree or distance."""
    return kind.make()


def dtype(kind: object, align: bool = False, copy: bool = False) -> np.dtype[Any]:  # noqa: ARG001, FBT001, FBT002 - as pickled
    """Return the type of an array's numbers."""
    if not (isinstance(kind, str) or (isinstance(kind, type) and issubclass(kind, np.generic))):
        raise RefusedError("numpy.dtype")
    return np.dtype(kind)


def dtype_with(made: np.dtype[Any], state: tuple[Any, ...]) -> np.dtype[Any]:
    """Return the type that a state completes; the one that is given stays as it is.

    Parameters
    ----------
    made : np.dtype
        From `dtype`.
    state : tuple
        ``(version, order, base, names, fields, size, alignment, flags, ...)``.
    """
    _, order, base, names, fields, size, _, flags, *more = state
    if base is not None:
        return np.dtype((_without_objects(base[0]), tuple(base[1])))
    if names is not None:
        return np.dtype(
            {
                "names": list(names),
                "formats": [_without_objects(fields[name][0]) for name in names],
                "offsets": [fields[name][1] for name in names],
                "itemsize": size,
            },
            align=bool(flags & 0x80),
        )
    if made.kind in "mM" and more:
        unit, times, *_ = more[0][1]
        unit = unit.decode() if isinstance(unit, bytes) else str(unit)
        made = np.dtype(f"{made.kind}8" if unit == "generic" else f"{made.kind}8[{times}{unit}]")
    elif made.kind in "SUV" and size > 0:
        made = np.dtype(f"{made.kind}{size // 4 if made.kind == 'U' else size}")
    return made.newbyteorder(order) if order in ("<", ">") else made


def _without_objects(part: np.dtype[Any]) -> np.dtype[Any]:
    if not isinstance(part, np.dtype) or part.hasobject:
        raise RefusedError("numpy.dtype of objects inside another")
    return part


def array(kind: Token, shape: tuple[int, ...], letter: bytes | str) -> NDArray[Any]:
    """Make an empty array, which is then filled."""
    kind.meant(np.ndarray)
    _refuse_filled(shape, letter)
    return np.ndarray.__new__(np.ndarray, (0,), "b")


def masked_array(kind: Token, base: Token, shape: tuple[int, ...], letter: bytes | str) -> object:
    """Make an empty array with gaps, which is then filled."""
    kind.meant(np.ma.MaskedArray)
    base.meant(np.ndarray)
    _refuse_filled(shape, letter)
    return np.ma.MaskedArray(np.ndarray((0,), "b"), mask=np.ndarray((0,), bool))


def _refuse_filled(shape: tuple[int, ...], letter: bytes | str) -> None:
    if shape != (0,) or letter not in (b"b", "b"):
        raise RefusedError("numpy.ndarray of unknown content")


def array_of_bytes(
    content: bytes | bytearray, kind: np.dtype[Any], shape: tuple[int, ...], order: str
) -> NDArray[Any]:
    """Make an array of the bytes that hold its numbers."""
    if not isinstance(content, (bytes, bytearray)) or kind.hasobject or order not in ("C", "F"):
        raise RefusedError("numpy._core.numeric._frombuffer")
    flat = np.frombuffer(content, _without_objects(kind))
    return flat.reshape(shape, order=order)  # type: ignore[call-overload,no-any-return]  # either


def scalar(kind: np.dtype[Any], content: bytes = b"") -> Any:  # noqa: ANN401 - any number
    """Make one number or text of NumPy's."""
    if not isinstance(kind, np.dtype) or kind.hasobject or not isinstance(content, bytes):
        raise RefusedError("numpy._core.multiarray.scalar")
    return np.frombuffer(content, kind, 1)[0] if kind.itemsize else kind.type()


def bit_generator(kind: Token | str = "MT19937") -> np.random.BitGenerator:
    """Make a source of chance."""
    from numpy.random import _pickle  # noqa: PLC0415 - what its pickles name

    if isinstance(kind, Token):
        return cast("np.random.BitGenerator", kind.meant(np.random.BitGenerator)())
    kinds: dict[str, type[np.random.BitGenerator]] = dict(_pickle.BitGenerators.items())  # type: ignore[arg-type]
    return kinds[kind]()


def generator(source: object = "MT19937", maker: object = None) -> np.random.Generator:  # noqa: ARG001 - as pickled
    """Make a generator of chance."""
    return np.random.Generator(_source(source))


def random_state(source: object = "MT19937", maker: object = None) -> np.random.RandomState:  # noqa: ARG001 - as pickled
    """Make a generator of chance of the older kind."""
    return np.random.RandomState(_source(source))


def _source(given: object) -> np.random.BitGenerator:
    if isinstance(given, np.random.BitGenerator):
        return given
    if isinstance(given, (str, Token)):
        return bit_generator(given)
    raise RefusedError("numpy.random")


def seed_sequence(kind: Token, checksum: int, state: object) -> object:
    """Make the seed of a source of chance."""
    from numpy.random import bit_generator as home  # noqa: PLC0415 - its private constructor

    rebuild = home.__pyx_unpickle_SeedSequence  # type: ignore[attr-defined]  # noqa: SLF001 - as pickled
    return rebuild(kind.meant(np.random.SeedSequence), checksum, state)


def labels(kind: object, given: Mapping[str, Any]) -> object:  # noqa: ARG001 - as pickled
    """Return a table's column or row names as an array: all that models need of them."""
    if "start" in given:
        return np.arange(given["start"], given["stop"], given["step"])
    content = given.get("data")
    if isinstance(content, Lifeless) and isinstance(content.state, dict):
        content = content.state.get("_pa_array", content.state.get("_ndarray"))
    if not isinstance(content, np.ndarray):
        return Lifeless()
    return content


def arrow_texts(given: tuple[Any, ...]) -> object:
    """Return texts that a table library holds in columns of Arrow; anything else as a record."""
    kind, length, _, offset, buffers, *_ = given
    width = {"large_string": "<i8", "string": "<i4"}.get(kind) if isinstance(kind, str) else None
    if width is None or len(buffers) != 3 or buffers[0] is not None:
        return Lifeless()
    ends = np.frombuffer(buffers[1], width)[offset : offset + length + 1].tolist()
    content = bytes(buffers[2] or b"")
    return np.array(
        [content[start:end].decode() for start, end in zip(ends, ends[1:])],
        dtype=object,
    )


def check_state(thing: object, state: object) -> None:
    """Refuse what a model's own compiled code would take on trust.

    Raises
    ------
    ValueError
        As `check_nodes`.
    """
    if isinstance(state, dict) and isinstance(nodes := state.get("nodes"), np.ndarray):
        check_nodes(thing, nodes)
        if "left_child" in (nodes.dtype.names or ()) and state.get("node_count") != len(nodes):
            raise ValueError(
                "the number of a tree’s branches differs from the number that it states"
            )


def check_nodes(thing: object, nodes: object) -> None:
    """Refuse a tree's nodes that compiled code would follow out of their array, or for ever.

    Parameters
    ----------
    nodes : object
        What it is filled with; looked at only when it is an array with the fields of nodes.

    Raises
    ------
    ValueError
        When a tree's branches lead nowhere, or back: following them would read foreign memory, or
        never end.
    """
    if not (isinstance(nodes, np.ndarray) and nodes.dtype.names):
        return
    if {"left_child", "right_child", "feature"} <= set(nodes.dtype.names):
        inner = nodes["left_child"] != -1
        branches = (nodes["left_child"], nodes["right_child"])
        wrong = (nodes["feature"] >= getattr(thing, "n_features", np.inf)) & inner
        wrong |= (nodes["feature"] < 0) & inner
    elif {"left", "right", "is_leaf", "feature_idx"} <= set(nodes.dtype.names):
        inner = nodes["is_leaf"] == 0
        branches = (nodes["left"].astype(np.int64), nodes["right"].astype(np.int64))
        wrong = inner & (nodes["feature_idx"] < 0)
    else:
        return
    place = np.arange(len(nodes))
    for branch in branches:
        wrong |= inner & ((branch <= place) | (branch >= len(nodes)))
    if wrong.any():
        raise ValueError("a tree’s branches do not lead to its leaves")


#: Attributes that name a method, end so.
_NAMES_METHOD = (
    "response_method",
    "stack_method",
    "stack_method_",
    "chain_method",
    "chain_method_",
)
#: What a model may be asked for.
_ANSWERS = frozenset(
    (
        *("auto", "predict", "predict_proba", "predict_log_proba", "decision_function"),
        *("score_samples", "transform"),
    )
)
_GETTER = "importance_getter"
_FILES = ("filename", "file")
_PLAIN = (str, bytes, bytearray, int, float, complex, type(None), range, np.generic, np.dtype)
#: The allow-list gives functions as they are; NumPy has a type of its own for most of its.
_KEPT_WHOLE = (type, FunctionType, BuiltinFunctionType, np.ufunc, type(np.mean))


def vet(thing: object) -> None:
    """Look through all that was rebuilt, however deep it lies.

    Raises
    ------
    RefusedError
        When data stand where a class has its code, or name what is to be called, or let a reader
        of texts open files.
    ValueError
        When compiled code would be led out of its memory.
    """
    waiting: list[object] = [thing]
    seen: dict[int, object] = {}
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, (*_PLAIN, *_KEPT_WHOLE, Lifeless)):
            continue
        seen[id(part)] = part  # kept, so that no other gets its number
        attributes = getattr(part, "__dict__", None)
        if isinstance(attributes, dict) and not isinstance(part, np.ndarray):
            _vet_attributes(part, attributes)
        _vet_memory(part)
        waiting += _parts(part)


def _parts(part: Any) -> Iterator[object]:  # noqa: ANN401 - anything
    if isinstance(part, np.ndarray):
        if part.dtype.hasobject:
            yield from part.ravel().tolist()
        return
    if isinstance(part, Mapping):
        yield from part.keys()
        yield from part.values()
        yield getattr(part, "default_factory", None)
    elif isinstance(part, (list, tuple, set, frozenset)):
        yield from part
    elif isinstance(part, slice):
        yield from (part.start, part.stop, part.step)
    yield from (getattr(part, "__dict__", None) or {}).values()


def _vet_attributes(thing: object, attributes: dict[Any, Any]) -> None:
    kind = type(thing)
    whose = f"{kind.__module__}.{kind.__name__}"
    for name, value in attributes.items():
        if not isinstance(name, str) or name.startswith("__") or _is_code(kind, name):
            raise RefusedError(f"a change of {whose}.{name}")
        if name.endswith(_NAMES_METHOD) and not set(_texts(value)) <= _ANSWERS:
            raise RefusedError(f"{whose}.{name}")
        if name == _GETTER and not _is_public(value):
            raise RefusedError(f"{whose}.{name}")
    if hasattr(kind, "build_analyzer") and attributes.get("input") in _FILES:
        raise RefusedError(f"{whose} of files")


def _is_public(value: object) -> bool:
    """Return whether a value is no text, or names nothing that is private."""
    return not isinstance(value, str) or all(part[:1] != "_" for part in value.split("."))


def _is_code(kind: type, name: str) -> bool:
    """Return whether a class has a method of a name, which an attribute would hide."""
    for each in kind.__mro__:
        if name in vars(each):
            there = vars(each)[name]
            hides = hasattr(type(there), "__get__") and not hasattr(type(there), "__set__")
            return hides and not isinstance(there, functools.cached_property)
    return False


def _texts(value: object) -> Iterator[str]:
    """Yield the texts in a value; of anything else, none that is allowed."""
    if isinstance(value, str):
        yield str(value)
    elif isinstance(value, (list, tuple)):
        yield from (each if isinstance(each, str) else "" for each in value)
    elif value is not None:
        yield ""


def _vet_memory(thing: Any) -> None:  # noqa: ANN401 - anything
    kind = type(thing)
    home = kind.__module__
    if home.startswith("scipy.sparse."):
        _vet_sparse(thing)
    elif home == "sklearn.tree._tree":
        check_nodes(thing, thing.__getstate__()["nodes"])
    elif home.startswith("sklearn.ensemble._hist_gradient_boosting.") and hasattr(thing, "nodes"):
        check_nodes(thing, thing.nodes)
        _vet_categories(thing, thing.nodes)
    elif home.startswith("sklearn."):
        _vet_trees(thing)


def _vet_sparse(matrix: Any) -> None:  # noqa: ANN401 - any of SciPy's
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    elif hasattr(matrix, "_check"):
        matrix._check()  # noqa: SLF001 - what its constructor calls


def _vet_categories(predictor: Any, nodes: object) -> None:  # noqa: ANN401 - scikit-learn's
    """Compare the sets of categories that nodes name with those that there are."""
    names = getattr(getattr(nodes, "dtype", None), "names", None) or ()
    if not isinstance(nodes, np.ndarray) or "is_categorical" not in names:
        return
    wanted = _count_of(
        nodes["bitset_idx"][(nodes["is_leaf"] == 0) & (nodes["is_categorical"] != 0)]
    )
    for name in ("raw_left_cat_bitsets", "binned_left_cat_bitsets"):
        if wanted > len(getattr(predictor, name, ())):
            raise ValueError("a tree names sets of categories that it does not have")


def _count_of(places: NDArray[Any]) -> int:
    """Return how many things there must be for all places to exist, whatever type they have."""
    return int(places.max()) + 1 if places.size else 0


def _vet_trees(estimator: Any) -> None:  # noqa: ANN401 - any of scikit-learn's
    """Compare what trees ask for with the inputs of the model that they belong to."""
    held = getattr(estimator, "__dict__", {})
    count = held.get("n_features_in_", held.get("n_features_", held.get("_n_features")))
    if not isinstance(count, (int, np.integer)):
        return
    trees = [held.get("tree_"), *_flat(held.get("estimators_")), *_flat(held.get("_predictors"))]
    for tree in trees:
        grown = getattr(tree, "tree_", tree)
        wanted = getattr(grown, "n_features", None)
        nodes = getattr(grown, "nodes", None)
        if wanted is None and isinstance(nodes, np.ndarray) and "feature_idx" in nodes.dtype.names:
            wanted = _count_of(nodes["feature_idx"][nodes["is_leaf"] == 0])
        if isinstance(wanted, (int, np.integer)) and wanted > count:
            raise ValueError("a tree uses more inputs than its model has")


def _flat(held: object) -> Iterable[object]:
    if isinstance(held, np.ndarray):
        yield from held.ravel().tolist()
    elif isinstance(held, (list, tuple)):
        for each in held:
            yield from each if isinstance(each, (list, tuple)) else (each,)
