"""What an opened file holds, once more: data only, and none of it in the place of code.

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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.pickles.rebuilding import Lifeless, RefusedError, check_nodes

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
