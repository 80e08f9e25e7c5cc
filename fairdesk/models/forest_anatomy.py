"""Trees of scikit-learn, XGBoost and LightGBM, read as one list of nodes.

Every library compares in its own way; here a person goes to the left who is not above a threshold
in double precision. What a library rounds first, or compares by “below”, is written as the
threshold that says the same of every number.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.anatomy import Decides, Forest, OpaqueError

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

_SINGLE, _DOUBLE = 2.0**-24, 2.0**-53
_HUGE = float(np.finfo(np.float64).max)
_TREES = frozenset(
    f"{kind}{role}"
    for kind in ("DecisionTree", "ExtraTree", "RandomForest", "ExtraTrees")
    for role in ("Classifier", "Regressor")
)
#: The losses of gradient boosting, and how the sum of the leaves' values becomes a decision.
_LOSSES: dict[str, Decides] = {
    **dict.fromkeys(("log_loss", "deviance", "exponential"), "sigmoid"),
    **dict.fromkeys(("squared_error", "absolute_error", "huber", "quantile", "ls"), "value"),
}
_XGBOOST: dict[str, Decides] = {
    "binary:logistic": "sigmoid",
    **dict.fromkeys(("multi:softprob", "multi:softmax"), "argmax"),
    **dict.fromkeys(("reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror"), "value"),
}
_LIGHTGBM: dict[str, Decides] = {
    "binary": "sigmoid",
    "multiclass": "argmax",
    **dict.fromkeys(("regression", "regression_l1", "huber", "quantile", "mape", "fair"), "value"),
}
#: Each set of names that splits look for is a column of its own; no more than so many.
_MOST_SETS = 4_096


@dataclass(frozen=True, slots=True)
class Names:
    """A column that tells where names send a person: 1 to the right, 0 to the left.

    Attributes
    ----------
    column : int
        The column with the names' numbers.
    left : NDArray[np.bool_]
        By number, cut off to a whole one: whether to the left.
    otherwise : bool
        Whether missing ones, those below 0, and those beyond ``left`` go to the left.
    """

    column: int
    left: NDArray[np.bool_]
    otherwise: bool

    def of(self, numbers: Float64) -> Float64:
        """Make the column ``(n,)`` of the one with the numbers."""
        inside = (numbers >= 0) & (numbers < len(self.left))
        at = np.where(inside, numbers, 0.0).astype(np.intp)
        left = np.where(inside, self.left[at], self.otherwise)
        return np.where(left, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Read:
    """Trees as they were read.

    Attributes
    ----------
    forest : Forest
        They.
    names : tuple[Names, ...]
        Columns that are added behind those that the estimator is given.
    missing : float
        The number that stands for a missing one; NaN where only that does.
    """

    forest: Forest
    names: tuple[Names, ...] = ()
    missing: float = float("nan")


def read_trees(estimator: Any) -> Read | None:  # noqa: ANN401 - any estimator
    """Read trees; ``None`` of what is none.

    Raises
    ------
    OpaqueError
        When they are of a kind that is not read.
    """
    kind, home = type(estimator).__name__, type(estimator).__module__.partition(".")[0]
    if home == "sklearn" and kind in _TREES:
        return Read(_of_scikit(estimator))
    if home == "sklearn" and kind.startswith("HistGradientBoosting"):
        return _of_histograms(estimator)
    if home == "sklearn" and kind.startswith("GradientBoosting"):
        return Read(_of_boosting(estimator))
    if home == "xgboost":
        return _of_xgboost(estimator)
    if home == "lightgbm":
        return Read(_of_lightgbm(estimator))
    return None


def sums(forest: Forest, matrix: Float64) -> Float64:
    """Add up the leaves' values of rows ``(n, m)``: ``(n, k)``."""
    rows = np.arange(len(matrix))[:, None]
    at = np.repeat(forest.roots[None], len(matrix), axis=0)
    while (inner := forest.column[at] >= 0).any():
        numbers = matrix[rows, np.where(inner, forest.column[at], 0)]
        left = np.where(np.isnan(numbers), forest.missing_left[at], numbers <= forest.threshold[at])
        at = np.where(inner, np.where(left, forest.left[at], forest.right[at]), at)
    return np.asarray(forest.base + forest.value[at].sum(axis=1))


def rounded_first(threshold: Float64) -> Float64:
    """Give the greatest double that is, rounded to single precision, not above a threshold.

    Parameters
    ----------
    threshold : NDArray[np.float64]
        ``(N,)``.
    """
    # the largest numbers are infinite in single precision
    with np.errstate(over="ignore"):
        near = threshold.astype(np.float32)
    below = np.where(near > threshold, np.nextafter(near, np.float32(-np.inf)), near)
    above = np.nextafter(below, np.float32(np.inf))
    middle = (below.astype(np.float64) + above.astype(np.float64)) / 2
    # half-way it goes to the even one of the two
    with np.errstate(over="ignore"):
        even = middle.astype(np.float32) <= below
    return np.where(even, middle, np.nextafter(middle, -np.inf))


@dataclass(slots=True)
class Grove:
    """Trees while they are gathered: of each the arrays of `Forest`, with its own numbers."""

    column: list[Numbers]
    left: list[Numbers]
    right: list[Numbers]
    threshold: list[Float64]
    missing_left: list[NDArray[np.bool_]]
    value: list[Float64]

    @classmethod
    def empty(cls) -> Grove:
        """Begin."""
        return cls([], [], [], [], [], [])

    def plant(
        self,
        column: NDArray[Any],
        children: tuple[NDArray[Any], NDArray[Any]],
        threshold: Float64,
        missing_left: NDArray[Any],
        value: Float64,
    ) -> None:
        """Add a tree; ``column`` is below 0 in leaves, and what stands there else is ignored."""
        inner = column >= 0
        own = np.arange(len(column))
        self.column.append(np.where(inner, column, -1).astype(np.int64))
        self.left.append(np.where(inner, children[0], own).astype(np.int64))
        self.right.append(np.where(inner, children[1], own).astype(np.int64))
        # an infinite one tells only the missing from all others
        self.threshold.append(np.clip(np.where(inner, threshold, 0.0), -_HUGE, _HUGE))
        self.missing_left.append(inner & (missing_left == 1))
        self.value.append(np.where(inner[:, None], 0.0, value))

    def forest(self, base: Float64, decides: Decides, unit: float) -> Forest:
        """Put all trees together.

        Parameters
        ----------
        base : NDArray[np.float64]
            ``(k,)``.
        decides : Decides
            As `Forest`.
        unit : float
            The unit roundoff of the library's sums.
        """
        lengths = [len(each) for each in self.column]
        roots = np.concatenate([[0], np.cumsum(lengths)])[:-1].astype(np.int64)
        if not lengths:
            raise OpaqueError("it has no trees")
        most = sum(np.abs(each).max(axis=0) for each in self.value) + np.abs(base)
        terms = (len(lengths) + 8) * unit
        forest = Forest(
            column=np.concatenate(self.column),
            left=np.concatenate([a + r for a, r in zip(self.left, roots, strict=True)]),
            right=np.concatenate([a + r for a, r in zip(self.right, roots, strict=True)]),
            threshold=np.concatenate(self.threshold),
            missing_left=np.concatenate(self.missing_left),
            value=np.concatenate(self.value),
            roots=roots,
            base=base,
            decides=decides,
            slack=float(terms / (1 - terms) * np.max(most)) + 2.0**-126,
        )
        if np.isnan(forest.threshold).any() or not np.isfinite(forest.value).all():
            raise OpaqueError("some of its numbers are not finite")
        return forest


def _of_scikit(estimator: Any) -> Forest:  # noqa: ANN401 - a tree or several of scikit-learn
    """Read one tree, or the mean of several: rows are rounded to single precision first."""
    trees = getattr(estimator, "estimators_", [estimator])
    classes = len(getattr(estimator, "classes_", ()))
    grove = Grove.empty()
    for each in trees:
        value = np.asarray(each.tree_.value, np.float64)[:, 0, :]
        if classes:
            shares = value.sum(axis=1, keepdims=True)
            # older versions keep how many there were
            if np.abs(shares - 1).max() > 1e-6:
                value = value / shares
            value = value[:, 1:2] if classes == 2 else value[:, :classes]
        _plant_scikit(grove, each.tree_, value / len(trees))
    decides: Decides = "value" if not classes else "share" if classes == 2 else "argmax"
    return grove.forest(np.zeros(grove.value[0].shape[1]), decides, _DOUBLE)


def _plant_scikit(grove: Grove, tree: Any, value: Float64) -> None:  # noqa: ANN401 - scikit-learn's
    inner = tree.children_left >= 0
    missing = getattr(tree, "missing_go_to_left", np.zeros(len(inner), np.bool_))
    threshold = rounded_first(np.where(inner, tree.threshold, 0.0))
    grove.plant(
        np.where(inner, tree.feature, -1),
        (tree.children_left, tree.children_right),
        threshold,
        missing,
        value,
    )


def _of_boosting(estimator: Any) -> Forest:  # noqa: ANN401 - gradient boosting of scikit-learn
    kind = type(estimator.init_).__name__
    if estimator.init_ != "zero" and kind not in ("DummyClassifier", "DummyRegressor"):
        raise OpaqueError(f"its trees begin from what another model, “{kind}”, says")
    if estimator.loss not in _LOSSES:
        raise OpaqueError(f"it was trained with the loss “{estimator.loss}”")
    decides = _LOSSES[estimator.loss]
    nobody = np.zeros((1, estimator.n_features_in_), np.float32)
    base = np.asarray(estimator._raw_predict_init(nobody), np.float64)[0]  # noqa: SLF001 - told nowhere else
    # the logistic function is taken of twice the sum
    scale = 2.0 if estimator.loss == "exponential" else 1.0
    grove = Grove.empty()
    for stage in estimator.estimators_:
        for k, each in enumerate(stage):
            value = np.zeros((each.tree_.node_count, len(stage)))
            value[:, k] = scale * estimator.learning_rate * each.tree_.value[:, 0, 0]
            _plant_scikit(grove, each.tree_, value)
    return grove.forest(scale * base, "argmax" if len(base) > 1 else decides, _DOUBLE)


def _of_histograms(estimator: Any) -> Read:  # noqa: ANN401 - histogram gradient boosting
    if estimator.loss not in _LOSSES:
        raise OpaqueError(f"it was trained with the loss “{estimator.loss}”")
    width = estimator.n_features_in_
    base = np.asarray(estimator._baseline_prediction, np.float64).ravel()  # noqa: SLF001 - told nowhere else
    mapper = estimator._bin_mapper  # noqa: SLF001 - as above
    known, place_of = mapper.make_known_categories_bitsets()
    grove, sets = Grove.empty(), _Sets(width)
    for stage in estimator._predictors:  # noqa: SLF001 - as above
        for k, each in enumerate(stage):
            nodes = each.nodes
            inner = nodes["is_leaf"] == 0
            value = np.zeros((len(nodes), len(stage)))
            value[:, k] = nodes["value"]
            column = np.where(inner, nodes["feature_idx"], -1).astype(np.int64)
            threshold = np.where(inner, nodes["num_threshold"], 0.0)
            for i in np.flatnonzero(inner & (nodes["is_categorical"] == 1)).tolist():
                left = _bits(each.raw_left_cat_bitsets[nodes["bitset_idx"][i]])
                otherwise = bool(nodes["missing_go_to_left"][i])
                unknown = ~_bits(known[place_of[column[i]]]) & ~left
                left = np.where(unknown, otherwise, left)
                column[i], threshold[i] = sets.column(int(column[i]), left, otherwise), 0.5
            grove.plant(
                column,
                (nodes["left"], nodes["right"]),
                threshold,
                nodes["missing_go_to_left"],
                value,
            )
    decides = _LOSSES[estimator.loss]
    forest = grove.forest(base, "argmax" if len(base) > 1 else decides, _DOUBLE)
    return Read(forest, sets.all())


def _bits(words: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Write a set of up to 256 numbers, 32 to a word, as ``(256,)`` truths."""
    spread = (np.asarray(words, np.uint32)[:, None] >> np.arange(32, dtype=np.uint32)) & 1
    return np.asarray(spread.ravel() == 1)


class _Sets:
    """Columns for the sets of names that splits look for, each once."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._places: dict[tuple[int, bytes, bool], int] = {}
        self._sets: list[Names] = []

    def column(self, column: int, left: NDArray[np.bool_], otherwise: bool) -> int:  # noqa: FBT001 - as it stands in a node
        """Give the column that tells where a split of names sends people."""
        key = (column, left.tobytes(), otherwise)
        if key not in self._places:
            if len(self._sets) == _MOST_SETS:
                raise OpaqueError("its trees look for too many sets of names")
            self._places[key] = self._width + len(self._sets)
            self._sets.append(Names(column, left, otherwise))
        return self._places[key]

    def all(self) -> tuple[Names, ...]:
        """Give all, in the order of their columns."""
        return tuple(self._sets)


def _of_xgboost(estimator: Any) -> Read:  # noqa: ANN401 - XGBoost's
    """Read XGBoost's trees: single precision throughout, to the left who is below."""
    booster = estimator.get_booster()
    best = booster.attributes().get("best_iteration")
    if best is not None:
        booster = booster[: int(best) + 1]
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    objective, grown = learner["objective"]["name"], learner["gradient_booster"]
    if grown["name"] != "gbtree":
        raise OpaqueError(f"it is of XGBoost's kind “{grown['name']}”")
    if objective not in _XGBOOST:
        raise OpaqueError(f"it was trained for “{objective}”")
    decides = _XGBOOST[objective]
    groups = max(1, int(learner["learner_model_param"]["num_class"]))
    grove = Grove.empty()
    for group, tree in zip(grown["model"]["tree_info"], grown["model"]["trees"], strict=True):
        if any(tree["split_type"]) or int(tree["tree_param"]["size_leaf_vector"]) > 1:
            raise OpaqueError("its trees look for sets of names, or decide several things at once")
        column = np.array(tree["split_indices"], np.int64)
        left = np.array(tree["left_children"], np.int64)
        condition = np.array(tree["split_conditions"], np.float64).astype(np.float32)
        below = np.nextafter(condition, np.float32(-np.inf)).astype(np.float64)
        value = np.zeros((len(column), groups))
        value[:, group] = condition
        grove.plant(
            np.where(left >= 0, column, -1),
            (left, np.array(tree["right_children"], np.int64)),
            rounded_first(np.where(left >= 0, below, 0.0)),
            np.array(tree["default_left"], np.bool_),
            value,
        )
    told = json.loads(learner["learner_model_param"]["base_score"])
    base = np.broadcast_to(np.asarray(told, np.float64), (groups,)).copy()
    if decides == "sigmoid":
        base = np.log(base / (1 - base))
    missing = estimator.missing
    return Read(
        grove.forest(base, decides, _SINGLE),
        missing=float("nan") if missing is None else float(missing),
    )


def _of_lightgbm(estimator: Any) -> Forest:  # noqa: ANN401 - LightGBM's
    """Read LightGBM's trees from its own text: what it writes as JSON is rounded."""
    booster = estimator.booster_
    header, *trees = booster.model_to_string(booster.best_iteration).split("\nTree=")
    told = _settings(header)
    objective, *settings = told.get("objective", "").split()
    if objective not in _LIGHTGBM or "sqrt" in settings or "average_output" in told:
        raise OpaqueError(f"it was trained for “{objective}”")
    steep = [float(each.partition(":")[2]) for each in settings if each.startswith("sigmoid:")]
    scale = steep[0] if objective == "binary" and steep else 1.0
    groups = int(told["num_tree_per_iteration"])
    grove = Grove.empty()
    for i, tree in enumerate(trees):
        _plant_lightgbm(grove, _settings(tree), i % groups, groups, scale)
    return grove.forest(np.zeros(groups), _LIGHTGBM[objective], _DOUBLE)


def _settings(text: str) -> dict[str, str]:
    """Read lines of the form ``name=value``, up to the first empty one."""
    lines = text.partition("\n\n")[0].splitlines()
    return {name: value for name, _, value in (line.partition("=") for line in lines)}


def _plant_lightgbm(
    grove: Grove, told: dict[str, str], group: int, groups: int, scale: float
) -> None:
    """Add a tree whose splits are numbered from 0, and its leaves ``-1 - number``."""
    if int(told.get("num_cat", 0)) or int(told.get("is_linear", 0)):
        raise OpaqueError("its trees look for sets of names, or end in lines")
    leaves = _doubles(told, "leaf_value")
    threshold = _doubles(told, "threshold")
    splits = len(threshold)
    ways = _doubles(told, "decision_type").astype(np.int64)
    # bit 1: missing ones to the left; bits 2 and 3: what is missing (nothing, nought, NaN)
    missing = (ways >> 2) & 3
    if (missing == 1).any():
        raise OpaqueError("its trees take nought for a missing number")
    left, right = (
        np.where(child < 0, splits - 1 - child, child)
        for child in (_doubles(told, name).astype(np.int64) for name in _CHILDREN)
    )
    none = np.full(len(leaves), -1)
    value = np.zeros((splits + len(leaves), groups))
    value[splits:, group] = scale * leaves
    grove.plant(
        np.concatenate([_doubles(told, "split_feature").astype(np.int64), none]),
        (np.concatenate([left, none]), np.concatenate([right, none])),
        np.concatenate([_nought_first(threshold), np.zeros(len(leaves))]),
        np.concatenate([np.where(missing == 2, (ways >> 1) & 1, threshold >= 0), none]) == 1,
        value,
    )


def _nought_first(threshold: Float64) -> Float64:
    """Write thresholds for numbers of which the tiniest are taken for nought."""
    below = np.where(threshold >= -_TINY, np.nextafter(-_TINY, -np.inf), threshold)
    return np.where(threshold >= 0, np.maximum(threshold, _TINY), below)


_CHILDREN = ("left_child", "right_child")
#: LightGBM takes what is no farther from nought for it.
_TINY = float(np.float32(1e-35))


def _doubles(told: dict[str, str], name: str) -> Float64:
    return np.array([float(each) for each in told.get(name, "").split()])


__all__ = ["Grove", "Names", "Read", "read_trees", "rounded_first", "sums"]
