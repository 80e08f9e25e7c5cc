"""What is inside models of the interface of scikit-learn: steps, and trees as one list of nodes.

Of each estimator that is read it is tried, on made-up rows,
whether it answers what its numbers say: versions of a library differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.boosting.opening import read_estimator
from fairdesk.models.model import Inputs, ModelCard
from fairdesk.models.preparation.column_sources import (
    NOTHING_MADE,
    ColumnSources,
    Made,
    from_scikit,
    sources_of,
)
from fairdesk.models.preparation.estimators import Asked, innermost, places_of
from fairdesk.models.structure import (
    CLOSE,
    Activation,
    Decides,
    Forest,
    ForestBuilder,
    Layer,
    Layers,
    ModelStructure,
    OpaqueError,
    Read,
    Sets,
    rounded_first,
    sums,
)
from fairdesk.results.events import Scores

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
    grove = ForestBuilder()
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
    return grove.forest(np.zeros(classes if classes > 2 else 1), decides, _DOUBLE)


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
    grove = ForestBuilder()
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
    grove, sets = ForestBuilder(), Sets(width)
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


_LINEAR_CLASSIFIERS = frozenset(
    (
        *("LogisticRegression", "LogisticRegressionCV", "SGDClassifier", "LinearSVC"),
        *("Perceptron", "PassiveAggressiveClassifier", "RidgeClassifier", "RidgeClassifierCV"),
        "LinearDiscriminantAnalysis",
    )
)
_LINEAR_REGRESSORS = frozenset(
    (
        *("LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "LassoLars", "LassoLarsCV"),
        *("LassoLarsIC", "ElasticNet", "ElasticNetCV", "Lars", "LarsCV", "BayesianRidge"),
        *("ARDRegression", "HuberRegressor", "SGDRegressor", "TheilSenRegressor", "LinearSVR"),
        *("OrthogonalMatchingPursuit", "OrthogonalMatchingPursuitCV", "QuantileRegressor"),
        "PassiveAggressiveRegressor",
    )
)
LAYERED = _LINEAR_CLASSIFIERS | _LINEAR_REGRESSORS | {"MLPClassifier", "MLPRegressor", "SVC"}
_ACTIVATIONS = {"identity": "linear", "logistic": "sigmoid", "tanh": "tanh", "relu": "relu"}
#: How near to nothing an estimated number can be and round to it.
_NOTHING = 2.0**-126
#: So many made-up rows are asked about.
_TRIED = 256
#: No library refuses numbers up to this one.
_FAR = 1e30


class Answering(Protocol):
    """An estimator, and how it is asked."""

    @property
    def card(self) -> ModelCard:
        """What it is."""

    @property
    def estimator(self) -> Any:  # noqa: ANN401 - any class that the file names
        """It."""

    @property
    def asked(self) -> Asked:
        """What is asked of it."""

    def of(self, estimator: Any) -> Answering:  # noqa: ANN401 - as above
        """Return another estimator, asked in the same way."""

    def answer(self, rows: Any) -> Scores:  # noqa: ANN401 - a matrix, a pandas frame or texts
        """Answer for rows in the form that the estimator takes."""


def structure_of_estimator(
    opened: Answering, before: Sequence[tuple[str, Any]], card: ModelCard
) -> ModelStructure:
    """Look into a model of scikit-learn's kind.

    Parameters
    ----------
    before : sequence of (str, Any)
        Fitted transformers that come before it, by name.

    Raises
    ------
    OpaqueError
        When its arithmetic is not known, or is none that this part reads.
    """
    try:
        return _anatomy(opened, before, card)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        # saved with another version, or by a class that only looks like one of the library's
        raise OpaqueError("its internal structure differs from that of its library") from error


def _anatomy(
    opened: Answering, given: Sequence[tuple[str, Any]], card: ModelCard
) -> ModelStructure:
    if opened.asked.column is not None or opened.asked.scores == "labels":
        raise OpaqueError("it returns only its decision, or several at once")
    steps = [*given, *_steps_of(opened.estimator)]
    final = innermost(opened.estimator)
    body, read = _body(final, opened)
    before = _own(final, sources_of(steps, card))
    preparation = before if read is None else _WithNames(before, read)
    close = _NOTHING if body.decides == "value" else CLOSE
    return ModelStructure(
        preparation.of, preparation.sources, preparation.smooth, body, max(close, _spread(body))
    )


def _spread(body: Layers | Forest) -> float:
    """Return what the answers' rounding asks for beside: scores of classes that are normalised."""
    outputs = body.base.size if isinstance(body, Forest) else body.layers[-1].bias.size
    return outputs * 2.0**-21 if body.decides == "argmax" else 0.0


def _steps_of(estimator: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any estimator
    """Yield the transformers of nested pipelines and searches, in order."""
    while hasattr(estimator, "steps") or hasattr(estimator, "best_estimator_"):
        if not hasattr(estimator, "steps"):
            estimator = estimator.best_estimator_
            continue
        if not from_scikit(estimator, "Pipeline"):
            raise OpaqueError(f"it is a pipeline of another library, “{type(estimator).__name__}”")
        yield from estimator.steps[:-1]
        estimator = estimator.steps[-1][1]


def _own(final: Any, preparation: ColumnSources) -> ColumnSources:  # noqa: ANN401 - any estimator
    """Add what an estimator does itself before its trees: it puts columns with names first."""
    own = getattr(final, "_preprocessor", None)
    if own is None or not from_scikit(own, "ColumnTransformer"):
        return preparation
    made = Made(preparation.sources, preparation.smooth)
    after = NOTHING_MADE
    names = [str(name) for name in getattr(own, "feature_names_in_", ())]
    for name, _, columns in own.transformers_:
        places = places_of(columns, names, len(made.sources))
        after = after.beside(made.chosen(places, smooth=name == "numerical"))
    steps = (*preparation.steps, ("categories", own))
    return replace(preparation, steps=steps, sources=after.sources, smooth=after.smooth)


@dataclass(frozen=True)
class _WithNames:
    """What trees ask for beside: their mark of a missing number, and columns for sets of names."""

    before: ColumnSources
    read: Read

    def of(self, inputs: Inputs) -> Float64:
        """Make ``(n, m)`` numbers of inputs; as `ColumnSources.of`."""
        matrix = self.before.of(inputs)
        if not np.isnan(self.read.missing):
            matrix = np.where(matrix == self.read.missing, np.nan, matrix)
        added = [each.of(matrix[:, each.column]) for each in self.read.names]
        return np.column_stack([matrix, *added])

    @property
    def sources(self) -> tuple[tuple[int, ...], ...]:
        """As `fairdesk.models.structure.ModelStructure`."""
        before = self.before.sources
        return before + tuple(before[each.column] for each in self.read.names)

    @property
    def smooth(self) -> tuple[bool, ...]:
        """As `fairdesk.models.structure.ModelStructure`."""
        before = self.before.smooth
        if not np.isnan(self.read.missing):
            before = (False,) * len(before)
        return before + (False,) * len(self.read.names)


def _body(final: Any, opened: Answering) -> tuple[Layers | Forest, Read | None]:  # noqa: ANN401 - any estimator
    """Read what decides, and try whether it does."""
    read = read_trees(final)
    answering = opened.of(final)
    if read is not None:
        if not _answers_so(answering, read.forest, _rows_for_trees(read), read):
            raise OpaqueError("its outputs do not match the numbers in its trees")
        return read.forest, read
    found = list(_layers(final, opened.asked.scores))
    if not found:
        raise OpaqueError(f"it is a “{type(final).__name__}”")
    for layers in found:
        if not all(
            np.isfinite(x).all() for each in layers.layers for x in (each.weights, each.bias)
        ):
            raise OpaqueError("some of its weights are not finite numbers")
        if _answers_so(answering, layers, _rows_for_layers(layers)):
            return layers, None
    raise OpaqueError("its outputs do not match its weights")


def _layers(final: Any, scores: str) -> Iterator[Layers]:  # noqa: ANN401 - any estimator
    """Yield the ways in which an estimator's weights may decide, the likeliest first."""
    kind = type(final).__name__
    if not type(final).__module__.startswith("sklearn."):
        return
    if kind in ("MLPClassifier", "MLPRegressor"):
        yield _of_network(final)
    elif kind in _LINEAR_REGRESSORS:
        weights, bias = _weights(final)
        if bias.size == 1:
            yield _linear(weights, bias, "value", final.coef_.dtype)
    elif kind in _LINEAR_CLASSIFIERS:
        weights, bias = _weights(final)
        if getattr(final, "loss", "") == "modified_huber" and scores == "probabilities":
            if bias.size == 1:
                yield _linear(weights / 2, (bias + 1) / 2, "share", final.coef_.dtype)
        elif bias.size == 1:
            yield _linear(weights, bias, "sigmoid", final.coef_.dtype)
            # what older versions call multinomial: the softmax of the sum and its negative
            yield _linear(weights * 2, bias * 2, "sigmoid", final.coef_.dtype)
        elif scores == "scores":
            # answers are rounded to single precision before the greatest is sought; the bound on
            # the rounding of a sum in that precision covers it
            yield _linear(weights, bias, "argmax", np.dtype(np.float32))
        else:
            yield from _of_several(weights, bias, final.coef_.dtype)
    elif kind == "SVC" and final.kernel == "linear" and scores == "scores":
        yield from _of_support_vectors(final)


def _weights(final: Any) -> tuple[Float64, Float64]:  # noqa: ANN401 - a linear model
    weights = np.atleast_2d(np.asarray(final.coef_, np.float64)).T
    bias = np.atleast_1d(np.asarray(final.intercept_, np.float64)).ravel()
    return weights, np.broadcast_to(bias, (weights.shape[1],)).copy()


def _precision(kind: np.dtype[Any]) -> type[np.float32 | np.float64]:
    """Return what products with such weights are added up in, at the least.

    Rows in double precision are not rounded to single where weights are single; the bound on
    rounding in single precision covers both.
    """
    return np.float64 if kind == np.float64 else np.float32


def _linear(weights: Float64, bias: Float64, decides: Decides, kind: np.dtype[Any]) -> Layers:
    return Layers((Layer(weights, bias, Activation("linear")),), _precision(kind), decides)


def _of_several(weights: Float64, bias: Float64, kind: np.dtype[Any]) -> Iterator[Layers]:
    """Yield the two ways of several classes: one softmax, or each against the rest."""
    yield _linear(weights, bias, "argmax", kind)
    each = Layer(weights, bias, Activation("sigmoid"))
    last = Layer(np.eye(bias.size), np.zeros(bias.size), Activation("linear"))
    yield Layers((each, last), _precision(kind), "argmax")


def _of_network(final: Any) -> Layers:  # noqa: ANN401 - a multilayer perceptron
    ends: dict[str, Decides] = {"logistic": "sigmoid", "softmax": "argmax", "identity": "value"}
    if final.out_activation_ not in ends or final.activation not in _ACTIVATIONS:
        raise OpaqueError(f"its units use the activation “{final.activation}”")
    decides = ends[final.out_activation_]
    if (final.coefs_[-1].shape[1] == 1) != (decides != "argmax"):
        raise OpaqueError("it makes several decisions at once")
    hidden = Activation(_ACTIVATIONS[final.activation])
    layers = [
        Layer(np.asarray(weights, np.float64), np.asarray(bias, np.float64), hidden)
        for weights, bias in zip(final.coefs_, final.intercepts_, strict=True)
    ]
    layers[-1] = replace(layers[-1], activation=Activation("linear"))
    return Layers(tuple(layers), _precision(final.coefs_[0].dtype), decides)


def _of_support_vectors(final: Any) -> Iterator[Layers]:  # noqa: ANN401 - a support vector machine
    """Read a linear machine as it computes: a product with each support vector, then their sum."""
    vectors, shares = final.support_vectors_, final.dual_coef_
    if len(final.classes_) != 2 or hasattr(vectors, "toarray") or hasattr(shares, "toarray"):
        return
    first = Layer(np.asarray(vectors, np.float64).T, np.zeros(len(vectors)), Activation("linear"))
    last = np.asarray(shares, np.float64).T
    yield Layers(
        (first, Layer(last, np.asarray(final.intercept_, np.float64), Activation("linear"))),
        np.float64,
        "sigmoid",
    )


def _rows_for_layers(body: Layers) -> Float64:
    """Make up rows, as far from each other as the first layer tells apart."""
    rng = np.random.default_rng(0)
    weights = body.layers[0].weights
    steepest = np.abs(weights).max(axis=1)
    spread = 2.0 / np.sqrt(len(weights)) / np.where(steepest > 0, steepest, 1.0)
    rows = rng.normal(size=(_TRIED, len(weights))) * spread
    return np.asarray(rows)


def _rows_for_trees(read: Read) -> Float64:
    """Make up rows: numbers exactly at thresholds, next to them, and beyond."""
    rng = np.random.default_rng(0)
    forest = read.forest
    named = {each.column for each in read.names}
    width = int(forest.column.max(initial=-1)) + 1 - len(read.names)
    rows = np.zeros((_TRIED, max(width, *(column + 1 for column in named), 1)))
    for column in range(rows.shape[1]):
        if column in named:
            rows[:, column] = rng.integers(0, 3, _TRIED)
            continue
        own = forest.threshold[(forest.column == column) & (np.abs(forest.threshold) < _FAR)]
        if own.size:
            at = rng.choice(own, _TRIED)
            by = rng.integers(0, 4, _TRIED)
            rows[:, column] = np.select(
                [by == 0, by == 1, by == 2], [at, np.nextafter(at, np.inf), at - 1.0], at + 1.0
            )
    return rows


def _answers_so(
    answering: Answering, body: Layers | Forest, rows: Float64, read: Read | None = None
) -> bool:
    """Return whether an estimator answers for rows what a body's numbers say."""
    final = answering.estimator
    width = int(getattr(final, "n_features_in_", None) or rows.shape[1])
    given = np.zeros((len(rows), width))
    given[:, : min(rows.shape[1], width)] = rows[:, :width]
    if getattr(final, "_preprocessor", None) is not None:
        # its own encoder wants the names that it has seen; its trees are asked by whoever proves
        return True
    if read is not None and read.names:
        given = np.column_stack([given, *(n.of(given[:, n.column]) for n in read.names)])
    numbers = _answers(body, given)
    answers = answering.answer(given[:, :width]).astype(np.float64)
    if body.decides == "argmax":
        if answers.shape != numbers.shape:
            return False
        beaten = np.sort(numbers, axis=1)
        clear = beaten[:, -1] - beaten[:, -2] > 1e-4 * (1 + np.abs(beaten[:, -1]))
        return bool((answers.argmax(axis=1) == numbers.argmax(axis=1))[clear].all())
    if answers.shape != numbers.shape:
        return False
    if body.decides == "sigmoid":
        # exp overflows to infinity far below zero, and then 0 is the right answer
        with np.errstate(over="ignore"):
            numbers = 1 / (1 + np.exp(-numbers))
    if body.decides == "share":
        numbers = np.clip(numbers, 0.0, 1.0)
    size = np.abs(answers).max(initial=0.0) if body.decides == "value" else 1.0
    return bool((np.abs(answers - numbers) <= 1e-5 * size + 1e-30).all())


def _answers(body: Layers | Forest, rows: Float64) -> Float64:
    """Compute a body's numbers for rows."""
    if isinstance(body, Forest):
        return sums(body, rows)
    values = rows.astype(body.precision).astype(np.float64)
    for layer in body.layers:
        values = values @ layer.weights + layer.bias
        match layer.activation.name:
            case "relu":
                values = np.maximum(values, 0.0)
            case "tanh":
                values = np.tanh(values)
            case "sigmoid":
                values = 0.5 * (1 + np.tanh(0.5 * values))
    return values
