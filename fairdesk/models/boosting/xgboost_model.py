"""XGBoost's models, versions 1.0 to 3.x, as their JSON or UBJSON describes them."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.boosting.ensemble import (
    MOST_CLASSES,
    MOST_INPUTS,
    BrokenError,
    Ensemble,
    Linear,
    Link,
    Reading,
    Tree,
    UnsupportedError,
    column_of,
    gathered,
    whole_number,
)
from fairdesk.models.model import number_of

#: How deeply containers may lie in each other. A model has seven levels.
_MOST_DEPTH = 64
#: Numbers by their markers.
_NUMBERS = {
    marker: np.dtype(kind)
    for marker, kind in (
        *((b"i", ">i1"), (b"U", ">u1"), (b"I", ">i2"), (b"l", ">i4"), (b"L", ">i8")),
        *((b"d", ">f4"), (b"D", ">f8")),
    )
}
_CONSTANTS = {b"Z": None, b"T": True, b"F": False}
_WHOLE = frozenset((b"i", b"U", b"I", b"l", b"L"))


def decode(data: bytes) -> Any:  # noqa: ANN401 - any JSON
    """Return what a document says; arrays of one type of number as NumPy's.

    Raises
    ------
    BrokenError
        When it is cut short, nested too deeply, or not such a document.
    """
    reader = _Reader(data)
    value = reader.value(reader.marker(), _MOST_DEPTH)
    if data[reader.at :].strip(b"N"):
        raise BrokenError("something follows its end")
    return value


class _Reader:
    """A document and how far it was read."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def _take(self, count: int) -> bytes:
        # looked at before memory is taken: a count may claim anything
        if count < 0 or count > len(self._data) - self.at:
            raise BrokenError("it ends too early")
        self.at += count
        return self._data[self.at - count : self.at]

    def _peek(self) -> bytes:
        return self._data[self.at : self.at + 1]

    def marker(self) -> bytes:
        """Read the marker of the next value, past those that say nothing."""
        while (found := self._take(1)) == b"N":
            pass
        return found

    def value(self, marker: bytes, depth: int) -> Any:  # noqa: ANN401 - any JSON
        """Read the value behind a marker."""
        if marker in _NUMBERS:
            return self._numbers(marker, 1)[0].item()
        if marker in _CONSTANTS:
            return _CONSTANTS[marker]
        if marker == b"C":
            return self._take(1).decode("latin-1")
        if marker in (b"S", b"H"):
            return self._text()
        if marker in (b"[", b"{"):
            if not depth:
                raise BrokenError("it is nested too deeply")
            return self._array(depth - 1) if marker == b"[" else self._object(depth - 1)
        raise BrokenError(f"the marker {marker!r} means nothing")

    def _numbers(self, marker: bytes, count: int) -> Any:  # noqa: ANN401 - an array of any number
        kind = _NUMBERS[marker]
        return np.frombuffer(self._take(kind.itemsize * count), kind)

    def _length(self) -> int:
        marker = self._take(1)
        if marker not in _WHOLE:
            raise BrokenError("a length is not a whole number")
        length = int(self._numbers(marker, 1)[0])
        if length < 0:
            raise BrokenError("a length is below zero")
        return length

    def _text(self) -> str:
        try:
            return self._take(self._length()).decode()
        except UnicodeDecodeError as error:
            raise BrokenError("a text is not UTF-8") from error

    def _head(self) -> tuple[bytes, int | None]:
        """Read the type and the count that a container may tell first."""
        kind = b""
        if self._peek() == b"$":
            kind = self._take(2)[1:]
            if self._peek() != b"#":
                raise BrokenError("a typed container does not state its length")
        if self._peek() != b"#":
            return kind, None
        self._take(1)
        count = self._length()
        # values without bytes of their own would make any count true
        if kind in _CONSTANTS or kind == b"N" or count > len(self._data) - self.at:
            raise BrokenError("it claims more values than it has")
        return kind, count

    def _array(self, depth: int) -> Any:  # noqa: ANN401 - a list or an array
        kind, count = self._head()
        if kind in _NUMBERS and count is not None:
            numbers = self._numbers(kind, count)
            return numbers.astype(numbers.dtype.newbyteorder("="))
        found = []
        if count is not None:
            for _ in range(count):
                found.append(self.value(kind or self.marker(), depth))  # noqa: PERF401 - as below
            return found
        while (marker := self.marker()) != b"]":
            found.append(self.value(marker, depth))
        return found

    def _object(self, depth: int) -> dict[str, Any]:
        kind, count = self._head()
        found: dict[str, Any] = {}
        while count != 0:
            if count is None:
                while self._peek() == b"N":
                    self._take(1)
                if self._peek() == b"}":
                    self._take(1)
                    break
            else:
                count -= 1
            # names have no marker of a text, only their length
            name = self._text()
            found[name] = self.value(kind or self.marker(), depth)
        return found


Kind = TypeVar("Kind", dict[str, Any], list[Any], str)
Float32 = NDArray[np.float32]

_VALUES, _PROBABILITIES = "values", "probabilities"
#: Of each objective how sums become answers, and what these are.
_OBJECTIVES: dict[str, tuple[Link, str]] = {
    "binary:logistic": ("logistic", _PROBABILITIES),
    "binary:logitraw": ("identity", "scores"),
    "binary:hinge": ("hinge", "labels"),
    "multi:softprob": ("softmax", _PROBABILITIES),
    "multi:softmax": ("softmax", _PROBABILITIES),
    "reg:logistic": ("logistic", _VALUES),
    **dict.fromkeys(
        (
            *("reg:squarederror", "reg:linear", "reg:squaredlogerror", "reg:pseudohubererror"),
            *("reg:absoluteerror", "reg:quantileerror", "reg:expectileerror"),
            *("rank:pairwise", "rank:ndcg", "rank:map"),
        ),
        ("identity", _VALUES),
    ),
    **dict.fromkeys(
        ("reg:gamma", "reg:tweedie", "count:poisson", "survival:cox", "survival:aft"),
        ("exponential", _VALUES),
    ),
}
#: Their base score is a probability.
_LOGITS = frozenset({"binary:logistic", "reg:logistic"})
#: Names that XGBoost itself gives.
_NUMBERED = re.compile(r"f\d+", re.ASCII)
_EXPORT = (
    "Ask for a model whose trees have one output each, or for the model’s scores as a column "
    "of the data."
)


def read_xgboost(document: Any) -> Reading:  # noqa: ANN401 - any JSON
    """Read a model.

    Parameters
    ----------
    document : Any
        What the file says, as JSON or UBJSON; also what a pickled booster holds.

    Raises
    ------
    BrokenError
        When it is not what XGBoost writes.
    UnsupportedError
        When it is a kind of model that is not read.
    """
    if isinstance(document, dict) and isinstance(document.get("Model"), dict):
        document = document["Model"]
    learner = _part({"file": document}, "file", dict).get("learner")
    learner = _part({"learner": learner}, "learner", dict)
    if "learner_model_param" not in learner or "model" not in str(learner.get("gradient_booster")):
        raise BrokenError("it has settings of a training, but no trees")
    settings = _part(learner, "learner_model_param", dict)
    objective = _part(_part(learner, "objective", dict), "name", str)
    if objective not in _OBJECTIVES:
        raise UnsupportedError(f"it was trained with the objective “{objective[:80]}”", _EXPORT)
    link, scores = _OBJECTIVES[objective]
    width = whole_number(settings, "num_feature", MOST_INPUTS)
    groups = max(1, whole_number(settings, "num_class", MOST_CLASSES, 0))
    if whole_number(settings, "num_target", 1 << 31, 1) > 1:
        raise UnsupportedError("it estimates several numbers at once", _EXPORT)
    if (groups > 1) != (link == "softmax"):
        raise BrokenError(f"{groups:,} classes do not match “{objective}”")
    base = _base(settings, objective, groups)
    booster = _part(learner, "gradient_booster", dict)
    attributes = learner.get("attributes") or {}
    wrapped = isinstance(attributes, dict) and "scikit_learn" in attributes
    notes: list[str] = []
    body: Ensemble | Linear
    if booster.get("name") == "gblinear":
        # the library gives all classes the first one's
        base[:] = base[0]
        body = _linear(booster, width, groups, base, link)
        summary = "linear model"
    else:
        trees = gathered(_trees(booster), width, groups)
        kept, note = _kept(booster, attributes, groups, len(trees), wrapped=wrapped)
        notes += [note] if note else []
        body = Ensemble(
            trees[:kept], width, base.astype(np.float64), np.float32, link, otherwise=True
        )
        summary = number_of(kept, "tree")
    if objective == "binary:logitraw":
        notes.append(
            "Its output is a score, not a probability: class 1 is decided above 0, which is "
            "a probability of one half."
        )
    codes = _codes(booster, width)
    names = _names(learner, width)
    classes = _classes(attributes, max(2, groups)) if scores != _VALUES else ()
    return Reading(body, scores, classes, names, _version(document), summary, codes, tuple(notes))


def _part(document: dict[str, Any], name: str, kind: type[Kind]) -> Kind:
    found = document.get(name)
    if not isinstance(found, kind):
        raise BrokenError(f"its part “{name}” is missing")
    return found


def _base(settings: dict[str, Any], objective: str, groups: int) -> Float32:
    """Return where the sums begin: one number of each class, before the answer is made of it."""
    text = str(settings.get("base_score", "0.5"))
    try:
        scores = np.array(
            [float(each) for each in text.strip().strip("[]").split(",")], dtype=np.float32
        )
    except ValueError as error:
        raise BrokenError("“base_score” is not a number") from error
    if len(scores) not in (1, groups):
        raise BrokenError(f"“base_score” has {len(scores):,} entries, not {groups:,}")
    one = np.float32(1)
    # what cannot be a probability becomes no number, which is refused below; logarithms are
    # rounded once, as the library's are
    with np.errstate(all="ignore"):
        if objective in _LOGITS:
            scores = (-np.log((one / scores - one).astype(np.float64))).astype(np.float32)
        elif _OBJECTIVES[objective][0] == "exponential":
            scores = np.log(scores.astype(np.float64)).astype(np.float32)
    if not np.isfinite(scores).all():
        raise BrokenError(f"“base_score” is {text[:40]}")
    return np.array(np.broadcast_to(scores, (groups,)))


def _model(booster: dict[str, Any]) -> dict[str, Any]:
    """Return the description of the trees: that of “dart” lies one level deeper."""
    name = booster.get("name")
    if name == "dart":
        booster = _part(booster, "gbtree", dict)
    elif name != "gbtree":
        raise UnsupportedError(f"it is of the type “{str(name)[:40]}”", _EXPORT)
    return _part(booster, "model", dict)


def _trees(booster: dict[str, Any]) -> list[Tree]:
    model = _model(booster)
    trees = _part(model, "trees", list)
    group = column_of(model.get("tree_info", []), "tree_info", np.int64, len(trees))
    weights = np.ones(len(trees), np.float32)
    if booster.get("name") == "dart":
        weights = column_of(booster.get("weight_drop"), "weight_drop", np.float32, len(trees))
    return [
        _tree(tree, int(own), weight)
        for tree, own, weight in zip(trees, group, weights, strict=True)
    ]


def _tree(tree: Any, group: int, weight: np.float32) -> Tree:  # noqa: ANN401 - any JSON
    tree = _part({"trees": tree}, "trees", dict)
    parameters = _part(tree, "tree_param", dict)
    if whole_number(parameters, "size_leaf_vector", 1 << 31, 0) > 1:
        raise UnsupportedError("each of its leaves has several outputs", _EXPORT)
    left = column_of(tree.get("left_children"), "left_children", np.int64)
    count = len(left)

    def column(name: str, kind: type) -> NDArray[Any]:
        return column_of(tree.get(name), name, kind, count)

    if whole_number(parameters, "num_nodes", 1 << 31, count) != count:
        raise BrokenError(f"a tree claims {parameters['num_nodes']} nodes and has {count:,}")
    inner = left >= 0
    right = column("right_children", np.int64)
    if (inner != (right >= 0)).any():
        raise BrokenError("a node has one branch only")
    condition = column("split_conditions", np.float32)
    kinds = column("split_type", np.int64) if tree.get("split_type") is not None else 0 * left
    # to the left goes what is below: what is not above the number before it
    below = np.nextafter(condition, np.float32(-np.inf)).astype(np.float64)
    return Tree(
        np.where(inner, column("split_indices", np.int64), -1),
        left,
        right,
        np.where(inner & (kinds == 0), below, 0.0),
        inner & (column("default_left", np.int64) == 1),
        np.where(inner, np.float32(0), condition * weight).astype(np.float64),
        group,
        sets=_sets(tree, np.flatnonzero(inner & (kinds == 1))),
    )


def _sets(tree: dict[str, Any], nodes: NDArray[np.intp]) -> dict[int, NDArray[np.bool_]]:
    """Read which categories go to the right; all others go to the left."""
    if not nodes.size:
        return {}
    own = column_of(tree.get("categories_nodes"), "categories_nodes", np.int64)
    starts = column_of(tree.get("categories_segments"), "categories_segments", np.int64, len(own))
    sizes = column_of(tree.get("categories_sizes"), "categories_sizes", np.int64, len(own))
    every = column_of(tree.get("categories"), "categories", np.int64)
    wrong = (starts < 0) | (sizes < 0) | (starts + sizes > len(every))
    if wrong.any() or sorted(own.tolist()) != nodes.tolist():
        raise BrokenError("the categories of its splits are missing")
    if ((every < 0) | (every >= 1 << 24)).any():
        raise BrokenError("a category is numbered below 0 or beyond all others")
    found = {}
    for node, start, size in zip(own.tolist(), starts.tolist(), sizes.tolist(), strict=True):
        right = every[start : start + size]
        left = np.ones(int(right.max(initial=-1)) + 1, np.bool_)
        left[right] = False
        found[node] = left
    return found


def _kept(
    booster: dict[str, Any], attributes: dict[str, Any], groups: int, trees: int, *, wrapped: bool
) -> tuple[int, str]:
    """Return how many trees answer, and what is to be said of that.

    XGBClassifier and XGBRegressor answer with the rounds up to the best one where training was
    stopped early; a bare booster with all of them. Files of theirs say whose they are.
    """
    best = attributes.get("best_iteration") if isinstance(attributes, dict) else None
    if best is None:
        return trees, ""
    rounds = whole_number({"best_iteration": best}, "best_iteration", 1 << 31) + 1
    model = _model(booster)
    ends = model.get("iteration_indptr")
    if ends is not None and len(ends):
        ends = column_of(ends, "iteration_indptr", np.int64)
        count = int(ends[min(rounds, len(ends) - 1)])
    else:
        parameters = model.get("gbtree_model_param") or {}
        count = rounds * groups * max(1, whole_number(parameters, "num_parallel_tree", 1 << 20, 1))
    if not 0 < count < trees:
        return trees, ""
    if not wrapped:
        return trees, (
            f"Its training was stopped early, after round {rounds:,} had been the best: a booster "
            f"uses all {trees:,} trees, and so does this file. XGBClassifier would use "
            f"{count:,} of them."
        )
    return count, (
        f"Its training was stopped early: of {trees:,} trees the first {count:,} are used, as in "
        "XGBClassifier and XGBRegressor."
    )


def _linear(booster: dict[str, Any], width: int, groups: int, base: Float32, link: Link) -> Linear:
    weights = column_of(
        _part(booster, "model", dict).get("weights"), "weights", np.float32, (width + 1) * groups
    ).reshape(width + 1, groups)
    if not np.isfinite(weights).all():
        raise BrokenError("a weight is not finite")
    return Linear(weights[:-1].astype(np.float64), (weights[-1] + base).astype(np.float64), link)


def _names(learner: dict[str, Any], width: int) -> tuple[str, ...]:
    names = learner.get("feature_names") or []
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise BrokenError("“feature_names” are not names")
    if len(names) not in (0, width) or len(set(names)) != len(names):
        raise BrokenError(f"“feature_names” are {len(names):,}, for {width:,} inputs")
    return () if all(map(_NUMBERED.fullmatch, names)) else tuple(names)


def _classes(attributes: dict[str, Any], count: int) -> tuple[str, ...]:
    """Return the names of the classes: versions 1.3 to 1.5 write them down."""
    names: Any = None
    try:
        wrapper = json.loads(attributes.get("scikit_learn", "{}"))
        names = wrapper.get("classes_") or (wrapper.get("_le") or {}).get("classes_")
    except (AttributeError, TypeError, ValueError, RecursionError):
        names = None
    if isinstance(names, list) and len(names) == len(set(map(str, names))) == count:
        return tuple(
            str(int(each)) if isinstance(each, float) and each.is_integer() else str(each)
            for each in names
        )
    return tuple(map(str, range(count)))


def _codes(booster: dict[str, Any], width: int) -> dict[int, dict[str, float]]:
    """Return the categories that the training table had, by their numbers: from version 3.1 on."""
    if booster.get("name") == "gblinear":
        return {}
    every = (_model(booster).get("cats") or {}).get("enc") or []
    if not isinstance(every, list) or len(every) not in (0, width):
        raise BrokenError("the number of its categories differs from the number of its inputs")
    found = {}
    for i, categories in enumerate(every):
        texts = _texts(_part({"cats": categories}, "cats", dict))
        if texts and len(set(texts)) == len(texts):
            found[i] = {text: float(code) for code, text in enumerate(texts)}
    return found


def _texts(categories: dict[str, Any]) -> list[str]:
    """Read names: numbers, or texts one after the other with where each ends."""
    values = categories.get("values")
    if "offsets" not in categories:
        numbers = np.asarray([] if values is None else values)
        return [f"{each:g}" if each % 1 else str(int(each)) for each in numbers.tolist()]
    ends = column_of(categories["offsets"], "offsets", np.int64)
    content = column_of(values, "values", np.int64).astype(np.uint8).tobytes()
    if (np.diff(ends) < 0).any() or (len(ends) and not 0 <= ends[0] <= ends[-1] <= len(content)):
        raise BrokenError("the names of its categories are missing")
    if not content.isascii():
        # some versions count letters where bytes are meant and cut the last name: none is known
        return []
    return [
        content[start:end].decode()
        for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    ]


def _version(document: dict[str, Any]) -> str:
    version = document.get("version")
    if isinstance(version, list | np.ndarray) and len(version) == 3:
        return "XGBoost " + ".".join(str(int(each)) for each in list(version))
    return "XGBoost"
