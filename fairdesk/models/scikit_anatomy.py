"""What is inside models of scikit-learn's kind: the preparation they really have, and what decides.

The preparation is run by the fitted transformers themselves; here it is only told which of their
columns is made from which input. Of each estimator that is read it is tried, on made-up rows,
whether it answers what its numbers say: versions of a library differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.models.anatomy import (
    CLOSE,
    Anatomy,
    Decides,
    Forest,
    Layer,
    Layers,
    OpaqueError,
)
from fairdesk.models.answers import first_line
from fairdesk.models.dense_layers import Activation
from fairdesk.models.estimators import innermost, rows_for
from fairdesk.models.forest_anatomy import read_trees
from fairdesk.models.forests import Read, sums
from fairdesk.models.model import Capability, Inputs, ModelCard, OpenedModel, Takes
from fairdesk.models.sklearn_file import ScikitModel, alone

Float64 = NDArray[np.float64]

#: Each makes one column of each, by a line.
_STRAIGHT = frozenset(("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"))
#: Each makes one column of each, by any function.
_ONE_BY_ONE = frozenset(
    (
        *("OrdinalEncoder", "PowerTransformer", "QuantileTransformer", "Binarizer"),
        "FrozenEstimator",
    )
)
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
_LAYERED = _LINEAR_CLASSIFIERS | _LINEAR_REGRESSORS | {"MLPClassifier", "MLPRegressor", "SVC"}
_ACTIVATIONS = {"identity": "linear", "logistic": "sigmoid", "tanh": "tanh", "relu": "relu"}
#: How near to nothing an estimated number can be and round to it.
_NOTHING = 2.0**-126
#: So many made-up rows are asked about.
_TRIED = 256
#: No library refuses numbers up to this one.
_FAR = 1e30


def anatomy_of_estimator(
    opened: ScikitModel, before: Sequence[tuple[str, Any]] = (), card: ModelCard | None = None
) -> Anatomy:
    """Look into a model of scikit-learn's kind.

    Parameters
    ----------
    opened : ScikitModel
        The model.
    before : sequence of (str, Any)
        Fitted transformers that come before it, by name.
    card : ModelCard, optional
        Of the model with them, where there are any.

    Raises
    ------
    OpaqueError
        When its arithmetic is not known, or is none that this part reads.
    """
    try:
        return _anatomy(opened, before, card or opened.card)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        # saved with another version, or by a class that only looks like one of the library's
        raise OpaqueError("what is inside is not as its library has it") from error


def _anatomy(opened: ScikitModel, before: Sequence[tuple[str, Any]], card: ModelCard) -> Anatomy:
    if opened.asked.column is not None or opened.asked.scores == "labels":
        raise OpaqueError("it tells its decision only, or several at once")
    steps = [*before, *_steps_of(opened.estimator)]
    final = innermost(opened.estimator)
    preparation = prepared(steps, card)
    preparation = _own(final, preparation)
    body, read = _body(final, opened)
    if read is not None:
        preparation = _with_names(preparation, read)
    close = _NOTHING if body.decides == "value" else CLOSE
    return Anatomy(
        preparation.of, preparation.sources, preparation.smooth, body, max(close, _spread(body))
    )


def with_layers(opened: OpenedModel) -> OpenedModel:
    """Say in the card of dense layers, a linear model among them, that they are known."""
    estimator = getattr(opened, "estimator", None)
    if not isinstance(opened, ScikitModel) or type(innermost(estimator)).__name__ not in _LAYERED:
        return opened
    try:
        known = isinstance(anatomy_of_estimator(opened).body, Layers)
    except (OpaqueError, ModelError):
        return opened
    if not known:
        return opened
    can = (*opened.card.can, Capability.LAYERS)
    card = msgspec.structs.replace(opened.card, can=can)
    return ScikitModel(card, opened.estimator, opened.asked)


def _spread(body: Layers | Forest) -> float:
    """Give what the answers' rounding asks for beside: scores of classes that are normalised."""
    outputs = body.base.size if isinstance(body, Forest) else body.layers[-1].bias.size
    return outputs * 2.0**-21 if body.decides == "argmax" else 0.0


@dataclass(frozen=True)
class Preparation:
    """The way of a model's inputs to what decides.

    Attributes
    ----------
    card : ModelCard
        Of the model that takes them.
    steps : tuple of (str, Any)
        Fitted transformers by name, in order.
    sources, smooth
        As `fairdesk.models.anatomy.Anatomy`.
    read : Read, optional
        What trees ask for beside.
    """

    card: ModelCard
    steps: tuple[tuple[str, Any], ...]
    sources: tuple[tuple[int, ...], ...]
    smooth: tuple[bool, ...]
    read: Read | None = None

    def of(self, inputs: Inputs) -> Float64:
        """Make ``(n, m)`` numbers of inputs.

        Raises
        ------
        ModelError
            When a transformer refuses them.
        """
        rows = rows_for(self.card, inputs)
        count, name = len(inputs[0]), ""
        try:
            with alone():
                for name, transformer in self.steps:  # noqa: B007 - told when it fails
                    rows = transformer.transform(rows)
            matrix = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)
        except Exception as error:
            # any kind: the file's own code may run
            raise ModelError(
                f"“{name}”, which comes before the model, refused {count:,} rows.",
                why=f"It says: {first_line(error)}",
                remedy="Check that each input is made from the right column; missing cells and "
                "values that it has never seen are other causes.",
            ) from error
        if self.read is None:
            return matrix
        if not np.isnan(self.read.missing):
            matrix = np.where(matrix == self.read.missing, np.nan, matrix)
        added = [each.of(matrix[:, each.column]) for each in self.read.names]
        return np.column_stack([matrix, *added])


def prepared(steps: Sequence[tuple[str, Any]], card: ModelCard) -> Preparation:
    """Tell what fitted transformers make of the inputs of a model.

    Raises
    ------
    OpaqueError
        When one of them is not known to make each of its columns from few others.
    """
    if card.takes is not Takes.MATRIX and not card.named:
        raise OpaqueError("it reads text")
    made = _Made(tuple((i,) for i in range(len(card.inputs))), (True,) * len(card.inputs))
    real = tuple((name, step) for name, step in steps if not _idle(step))
    for _, step in real:
        made = _through(step, made)
    return Preparation(card, real, made.sources, made.smooth)


def _idle(step: object) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _steps_of(estimator: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any estimator
    """Give the transformers of nested pipelines and searches, in order."""
    while hasattr(estimator, "steps") or hasattr(estimator, "best_estimator_"):
        if not hasattr(estimator, "steps"):
            estimator = estimator.best_estimator_
            continue
        if not _from_scikit(estimator, "Pipeline"):
            raise OpaqueError(f"it is a pipeline of another library, “{type(estimator).__name__}”")
        yield from estimator.steps[:-1]
        estimator = estimator.steps[-1][1]


def _from_scikit(thing: object, *kinds: str) -> bool:
    """Tell whether a thing is of one of these kinds, and that kind scikit-learn's own."""
    return type(thing).__name__ in kinds and type(thing).__module__.startswith("sklearn.")


@dataclass(frozen=True, slots=True)
class _Made:
    """Columns on the way: of each the inputs it is made from, and whether by a line."""

    sources: tuple[tuple[int, ...], ...]
    smooth: tuple[bool, ...]

    def chosen(self, places: Sequence[int], *, smooth: bool = True) -> _Made:
        """Give some of them, as they are or changed."""
        return _Made(
            tuple(self.sources[i] for i in places),
            tuple(smooth and self.smooth[i] for i in places),
        )

    def beside(self, other: _Made) -> _Made:
        """Put others behind them."""
        return _Made(self.sources + other.sources, self.smooth + other.smooth)


_NOTHING_MADE = _Made((), ())


def _through(step: Any, given: _Made) -> _Made:  # noqa: ANN401, PLR0911, PLR0912 - one way for each kind
    """Tell what a fitted transformer makes of columns."""
    if _idle(step):
        return given
    kind, width = type(step).__name__, len(given.sources)
    everything = range(width)
    if not type(step).__module__.startswith("sklearn."):
        raise OpaqueError(f"what “{kind}” does before the model decides is not known")
    if kind in _STRAIGHT:
        return given.chosen(everything, smooth=not getattr(step, "clip", False))
    if kind in _ONE_BY_ONE:
        return given.chosen(everything, smooth=False)
    if hasattr(step, "get_support") and hasattr(step, "transform"):
        return given.chosen(np.flatnonzero(step.get_support()).tolist())
    match kind:
        case "Pipeline":
            for _, part in step.steps:
                given = _through(part, given)
            return given
        case "ColumnTransformer":
            return _side_by_side(step, given)
        case "FeatureUnion":
            made = _NOTHING_MADE
            for _, part in step.transformer_list:
                made = made if part == "drop" else made.beside(_through(part, given))
            return made
        case "OneHotEncoder":
            return _repeated(given, _one_hot_widths(step))
        case "KBinsDiscretizer" if step.encode == "ordinal":
            return given.chosen(everything, smooth=False)
        case "KBinsDiscretizer":
            return _repeated(given, [int(count) for count in step.n_bins_])
        case "SimpleImputer":
            return _imputed(step, given)
        case "MissingIndicator":
            return given.chosen(step.features_.tolist(), smooth=False)
        case "TargetEncoder":
            return _repeated(given, [len(step.encodings_) // width] * width)
        case "SplineTransformer":
            return _repeated(given, [len(step.get_feature_names_out()) // width] * width)
        case "PolynomialFeatures":
            return _multiplied(step.powers_, given)
        case "FunctionTransformer" if step.func is None:
            return given
        case "FunctionTransformer" if isinstance(step.func, np.ufunc) and step.func.nin == 1:
            return given.chosen(everything, smooth=False)
        case _:
            raise OpaqueError(f"“{kind}” mixes what the model is given before it decides")


def _side_by_side(step: Any, given: _Made) -> _Made:  # noqa: ANN401 - a ColumnTransformer
    names = [str(name) for name in getattr(step, "feature_names_in_", ())]
    made = _NOTHING_MADE
    for _, part, columns in step.transformers_:
        places = _places(columns, names, len(given.sources))
        if not places or (isinstance(part, str) and part == "drop"):
            continue
        made = made.beside(_through(part, given.chosen(places)))
    return made


def _places(columns: Any, names: Sequence[str], width: int) -> list[int]:  # noqa: ANN401 - however columns are told
    """Give the positions of the columns that a part of a ColumnTransformer takes."""
    if isinstance(columns, slice):
        if isinstance(columns.start, str) or isinstance(columns.stop, str):
            first = names.index(columns.start) if columns.start is not None else 0
            last = names.index(columns.stop) if columns.stop is not None else width - 1
            return list(range(width))[first : last + 1 : columns.step]
        return list(range(width))[columns]
    if isinstance(columns, str | int | np.integer):
        columns = [columns]
    listed = [getattr(each, "item", lambda each=each: each)() for each in list(columns)]
    if listed and all(isinstance(each, bool) for each in listed):
        return [i for i, taken in enumerate(listed) if taken]
    if not all(isinstance(each, str | int) for each in listed):
        raise OpaqueError("it does not say which columns its transformers take")
    return [
        names.index(each) if isinstance(each, str) else range(width)[int(each)] for each in listed
    ]


def _repeated(given: _Made, widths: Sequence[int]) -> _Made:
    places = [i for i, count in enumerate(widths) for _ in range(count)]
    return given.chosen(places, smooth=False)


def _one_hot_widths(encoder: Any) -> list[int]:  # noqa: ANN401 - a OneHotEncoder
    """Tell how many columns each input becomes: rare values may share one, one may be left out."""
    rare = getattr(encoder, "infrequent_categories_", [None] * len(encoder.categories_))
    dropped = encoder.drop_idx_
    return [
        len(values)
        - (0 if rare[i] is None else len(rare[i]) - 1)
        - (dropped is not None and dropped[i] is not None)
        for i, values in enumerate(encoder.categories_)
    ]


def _imputed(imputer: Any, given: _Made) -> _Made:  # noqa: ANN401 - a SimpleImputer
    """Tell what imputing makes: on a line nobody has a missing cell, unless a number says so."""
    told = imputer.missing_values
    number = isinstance(told, int | float | np.number) and told == told  # noqa: PLR0124 - NaN
    empty = [
        not imputer.keep_empty_features and isinstance(each, float) and np.isnan(each)
        for each in imputer.statistics_.tolist()
    ]
    made = given.chosen([i for i, left_out in enumerate(empty) if not left_out], smooth=not number)
    if not imputer.add_indicator:
        return made
    return made.beside(given.chosen(imputer.indicator_.features_.tolist(), smooth=False))


def _multiplied(powers: NDArray[np.int64], given: _Made) -> _Made:
    """Tell what products of columns are made from."""
    sources = [
        tuple(sorted({i for place in np.flatnonzero(row) for i in given.sources[place]}))
        for row in powers
    ]
    smooth = [
        row.sum() == 0 or (row.sum() == 1 and given.smooth[int(row.argmax())]) for row in powers
    ]
    return _Made(tuple(sources), tuple(bool(each) for each in smooth))


def _own(final: Any, preparation: Preparation) -> Preparation:  # noqa: ANN401 - any estimator
    """Add what an estimator does itself before its trees: it puts columns with names first."""
    own = getattr(final, "_preprocessor", None)
    if own is None or not _from_scikit(own, "ColumnTransformer"):
        return preparation
    made = _Made(preparation.sources, preparation.smooth)
    after = _NOTHING_MADE
    names = [str(name) for name in getattr(own, "feature_names_in_", ())]
    for name, _, columns in own.transformers_:
        places = _places(columns, names, len(made.sources))
        after = after.beside(made.chosen(places, smooth=name == "numerical"))
    steps = (*preparation.steps, ("categories", own))
    return replace(preparation, steps=steps, sources=after.sources, smooth=after.smooth)


def _with_names(preparation: Preparation, read: Read) -> Preparation:
    added = tuple(preparation.sources[each.column] for each in read.names)
    smooth = preparation.smooth
    if not np.isnan(read.missing):
        smooth = (False,) * len(smooth)
    return replace(
        preparation,
        sources=preparation.sources + added,
        smooth=smooth + (False,) * len(added),
        read=read,
    )


def _body(final: Any, opened: ScikitModel) -> tuple[Layers | Forest, Read | None]:  # noqa: ANN401 - any estimator
    """Read what decides, and try whether it does."""
    read = read_trees(final)
    asked = ScikitModel(opened.card, final, replace(opened.asked, estimator=final))
    if read is not None:
        if not _answers_so(asked, read.forest, _rows_for_trees(read), read):
            raise OpaqueError("its trees do not answer what their numbers say")
        return read.forest, read
    found = list(_layers(final, opened.asked.scores))
    if not found:
        raise OpaqueError(f"it is a “{type(final).__name__}”")
    for layers in found:
        if not all(
            np.isfinite(x).all() for each in layers.layers for x in (each.weights, each.bias)
        ):
            raise OpaqueError("some of its weights are no finite numbers")
        if _answers_so(asked, layers, _rows_for_layers(layers)):
            return layers, None
    raise OpaqueError("it does not answer what its weights say")


def _layers(final: Any, scores: str) -> Iterator[Layers]:  # noqa: ANN401 - any estimator
    """Give the ways in which an estimator's weights may decide, the likeliest first."""
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
    """Tell what products with such weights are added up in, at the least.

    Rows in double precision are not rounded to single where weights are single; the bound on
    rounding in single precision covers both.
    """
    return np.float64 if kind == np.float64 else np.float32


def _linear(weights: Float64, bias: Float64, decides: Decides, kind: np.dtype[Any]) -> Layers:
    return Layers((Layer(weights, bias, Activation("linear")),), _precision(kind), decides)


def _of_several(weights: Float64, bias: Float64, kind: np.dtype[Any]) -> Iterator[Layers]:
    """Give the two ways of several classes: one softmax, or each against the rest."""
    yield _linear(weights, bias, "argmax", kind)
    each = Layer(weights, bias, Activation("sigmoid"))
    last = Layer(np.eye(bias.size), np.zeros(bias.size), Activation("linear"))
    yield Layers((each, last), _precision(kind), "argmax")


def _of_network(final: Any) -> Layers:  # noqa: ANN401 - a multilayer perceptron
    ends: dict[str, Decides] = {"logistic": "sigmoid", "softmax": "argmax", "identity": "value"}
    if final.out_activation_ not in ends or final.activation not in _ACTIVATIONS:
        raise OpaqueError(f"its units answer with “{final.activation}”")
    decides = ends[final.out_activation_]
    if (final.coefs_[-1].shape[1] == 1) != (decides != "argmax"):
        raise OpaqueError("it decides several things at once")
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
    asked: ScikitModel, body: Layers | Forest, rows: Float64, read: Read | None = None
) -> bool:
    """Tell whether an estimator answers for rows what a body's numbers say."""
    final = asked.estimator
    width = int(getattr(final, "n_features_in_", None) or rows.shape[1])
    given = np.zeros((len(rows), width))
    given[:, : min(rows.shape[1], width)] = rows[:, :width]
    if getattr(final, "_preprocessor", None) is not None:
        # its own encoder wants the names that it has seen; its trees are asked by whoever proves
        return True
    if read is not None and read.names:
        given = np.column_stack([given, *(n.of(given[:, n.column]) for n in read.names)])
    numbers = _answers(body, given)
    answers = asked.answer(given[:, :width]).astype(np.float64)
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


__all__ = ["Preparation", "anatomy_of_estimator", "prepared", "with_layers"]
