"""Trees of estimators of scikit-learn, XGBoost and LightGBM, read as one list of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.boosting.inside import read_estimator
from fairdesk.models.structure.forests import ForestBuilder, Read, Sets, rounded_first
from fairdesk.models.structure.types import Decides, Forest, OpaqueError

Float64 = NDArray[np.float64]

#: The unit roundoff of double precision.
_DOUBLE = 2.0**-53
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
    if home in ("xgboost", "lightgbm"):
        return read_estimator(estimator)
    return None


def _of_scikit(estimator: Any) -> Forest:  # noqa: ANN401 - a tree or several of scikit-learn
    """Read one tree, or the mean of several: rows are rounded to single precision first."""
    trees = getattr(estimator, "estimators_", [estimator])
    classes = len(getattr(estimator, "classes_", ()))
    grove = ForestBuilder.empty()
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


def _plant_scikit(grove: ForestBuilder, tree: Any, value: Float64) -> None:  # noqa: ANN401 - scikit-learn's
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
        raise OpaqueError(f"its trees start from the outputs of another model, “{kind}”")
    if estimator.loss not in _LOSSES:
        raise OpaqueError(f"it was trained with the loss “{estimator.loss}”")
    decides = _LOSSES[estimator.loss]
    nobody = np.zeros((1, estimator.n_features_in_), np.float32)
    base = np.asarray(estimator._raw_predict_init(nobody), np.float64)[0]  # noqa: SLF001 - told nowhere else
    # the logistic function is taken of twice the sum
    scale = 2.0 if estimator.loss == "exponential" else 1.0
    grove = ForestBuilder.empty()
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
    grove, sets = ForestBuilder.empty(), Sets(width)
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
