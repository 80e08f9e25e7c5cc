"""Boosted trees as one list of nodes, for whoever proves something about them.

XGBoost rounds what it is given to single precision, LightGBM takes the tiniest numbers for 0: both
are written as the threshold that says the same of every number.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.boosting.ensemble import TINY, BrokenError, Ensemble, Linear, Link, Tree
from fairdesk.models.boosting.lightgbm_model import read_lightgbm
from fairdesk.models.boosting.reading import Reading, UnsupportedError
from fairdesk.models.boosting.ubjson import decode
from fairdesk.models.boosting.xgboost_model import read_xgboost
from fairdesk.models.model import Inputs, ModelCard, as_matrix
from fairdesk.models.structure.dense_layers import Activation
from fairdesk.models.structure.forests import ForestBuilder, Names, Read, Sets, rounded_first
from fairdesk.models.structure.types import (
    CLOSE,
    Decides,
    Forest,
    Layer,
    Layers,
    ModelStructure,
    OpaqueError,
)

Float64 = NDArray[np.float64]

_SINGLE, _DOUBLE = 2.0**-24, 2.0**-53
#: How near to nothing an estimated number can be and round to it.
_NOTHING = 2.0**-126
_DECIDES: dict[tuple[str, Link], Decides] = {
    ("probabilities", "logistic"): "sigmoid",
    ("probabilities", "softmax"): "argmax",
    ("scores", "identity"): "sigmoid",
    ("values", "identity"): "value",
}


def anatomy_of_body(body: Ensemble | Linear, card: ModelCard) -> ModelStructure:
    """Look into boosted trees or a boosted linear model.

    Raises
    ------
    OpaqueError
        When its arithmetic is none that can be followed.
    """
    inside: Forest | Layers
    names: tuple[Names, ...] = ()
    if isinstance(body, Linear):
        inside = _layers(body, card.scores)
    else:
        read = read_of(body, card.scores)
        inside, names = read.forest, read.names
    sources = tuple((i,) for i in range(body.width))
    smooth = (True,) * body.width
    # what is not a whole number loses its fraction before LightGBM looks for it
    named = (
        np.flatnonzero(body.categorical)
        if isinstance(body, Ensemble) and body.precision is np.float64
        else np.zeros(0, np.intp)
    )

    def prepare(inputs: Inputs) -> Float64:
        matrix = as_matrix(inputs)
        if isinstance(body, Linear):
            return np.where(np.isnan(matrix), 0.0, matrix)
        if named.size:
            matrix = matrix.copy()
            matrix[:, named] = np.trunc(matrix[:, named])
        return np.column_stack([matrix, *(each.of(matrix[:, each.column]) for each in names)])

    close = CLOSE
    if inside.decides == "value":
        close = _NOTHING
    elif inside.decides == "argmax":
        # scores of classes are normalised in single precision
        close = max(close, len(card.classes) * 2.0**-21)
    return ModelStructure(
        prepare,
        (*sources, *((each.column,) for each in names)),
        (*smooth, *(False for _ in names)),
        inside,
        close,
    )


def read_of(ensemble: Ensemble, scores: str) -> Read:
    """Write trees as one list of nodes.

    Parameters
    ----------
    scores : str
        As in `ModelCard`.

    Raises
    ------
    OpaqueError
        When their sum decides in a way that cannot be followed.
    """
    groups = len(ensemble.base)
    decides = _decides(scores, ensemble.link, groups)
    single = ensemble.precision is np.float32
    grove, sets = ForestBuilder.empty(), Sets(ensemble.width)
    for tree in ensemble.trees:
        if tree.zero_missing is not None and tree.zero_missing.any():
            raise OpaqueError("its trees treat a missing number as zero")
        value = np.zeros((len(tree.column), groups))
        value[:, tree.group] = tree.value * ensemble.scale / ensemble.share
        column, threshold = _splits_of(tree, sets, single=single, otherwise=ensemble.otherwise)
        grove.plant(column, (tree.left, tree.right), threshold, tree.missing_left, value)
    base = ensemble.base * ensemble.scale
    forest = grove.forest(base, decides, _SINGLE if single else _DOUBLE)
    return Read(_of_two(forest) if decides == "argmax" and groups == 2 else forest, sets.all())


def _splits_of(
    tree: Tree, sets: Sets, *, single: bool, otherwise: bool
) -> tuple[NDArray[np.int64], Float64]:
    """Return the column that each node looks at, and its threshold."""
    column = tree.column.copy()
    inner = np.where(column >= 0, tree.threshold, 0.0)
    threshold = rounded_first(inner) if single else _zero_first(inner)
    for node, left in tree.sets.items():
        column[node] = sets.column(int(column[node]), left, otherwise)
        threshold[node] = 0.5
    return column, threshold


def _zero_first(threshold: Float64) -> Float64:
    """Write thresholds for numbers of which the tiniest are taken for nought."""
    below = np.where(threshold >= -TINY, np.nextafter(-TINY, -np.inf), threshold)
    return np.where(threshold >= 0, np.maximum(threshold, TINY), below)


def _decides(scores: str, link: Link, groups: int) -> Decides:
    found = _DECIDES.get((scores, link))
    if found is None or (found != "argmax" and groups > 1):
        raise OpaqueError("how its sums become outputs is not known")
    return found


def _of_two(forest: Forest) -> Forest:
    """Write a softmax of two sums as the logistic function of their difference."""
    base = forest.base[1:] - forest.base[:1]
    return replace(
        forest,
        value=forest.value[:, 1:] - forest.value[:, :1],
        base=base,
        decides="sigmoid",
        slack=2.0 * forest.slack + float(np.abs(forest.base).sum()) * 4 * _DOUBLE,
    )


def _layers(body: Linear, scores: str) -> Layers:
    decides = _decides(scores, body.link, len(body.bias))
    weights, bias = body.weights, body.bias
    if decides == "argmax" and len(bias) == 2:
        raise OpaqueError("how its sums become outputs is not known")
    return Layers((Layer(weights, bias, Activation("linear")),), np.float32, decides)


def read_estimator(estimator: Any) -> Read:  # noqa: ANN401 - XGBoost's or LightGBM's
    """Read the trees of an estimator with scikit-learn's interface.

    Raises
    ------
    OpaqueError
        When they are of a kind that is not read.
    """
    try:
        reading = reading_of(estimator)
    except (BrokenError, UnsupportedError) as error:
        raise OpaqueError(str(error)) from error
    if isinstance(reading.body, Linear):
        raise OpaqueError("it is an XGBoost linear model")
    if reading.body.categorical.any():
        raise OpaqueError("its trees test for sets of categories")
    read = read_of(reading.body, reading.scores)
    missing = getattr(estimator, "missing", None)
    return replace(read, missing=float("nan") if missing is None else float(missing))


def reading_of(estimator: Any) -> Reading:  # noqa: ANN401 - XGBoost's or LightGBM's
    """Read the trees that answer for an estimator with scikit-learn's interface.

    Raises
    ------
    BrokenError, UnsupportedError
        When they are of a kind that is not read.
    """
    if type(estimator).__module__.partition(".")[0] == "lightgbm":
        return read_booster(estimator.booster_)
    booster = estimator.get_booster()
    best = booster.attributes().get("best_iteration")
    return read_booster(booster if best is None else booster[: int(best) + 1])


def read_booster(booster: Any) -> Reading:  # noqa: ANN401 - XGBoost's or LightGBM's
    """Read a booster by the file that its library would write.

    Raises
    ------
    BrokenError, UnsupportedError
        When it is of a kind that is not read.
    """
    if type(booster).__module__.partition(".")[0] == "lightgbm":
        return read_lightgbm(booster.model_to_string(num_iteration=booster.best_iteration))
    return read_xgboost(decode(bytes(booster.save_raw("ubj"))))
