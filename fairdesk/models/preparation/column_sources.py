"""What fitted transformers make of a model's inputs: which column is made from which input.

The preparation is run by the fitted transformers themselves; here it is only told where their
columns come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.model import Inputs, ModelCard, Takes
from fairdesk.models.preparation.estimators import alone, places_of, rows_for, transformed
from fairdesk.models.structure import ModelStructure, OpaqueError

Float64 = NDArray[np.float64]

#: Each makes one column of each, by a line.
_STRAIGHT = frozenset(("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"))
#: Each makes one column of each, by any function.
_ONE_BY_ONE = frozenset(
    (*("OrdinalEncoder", "PowerTransformer", "QuantileTransformer", "Binarizer"), "FrozenEstimator")
)


@dataclass(frozen=True)
class ColumnSources:
    """The way of a model's inputs to what decides.

    Attributes
    ----------
    card : ModelCard
        Of the model that takes them.
    steps : tuple of (str, Any)
        Fitted transformers by name, in order.
    sources, smooth
        As `fairdesk.models.structure.ModelStructure`.
    """

    card: ModelCard
    steps: tuple[tuple[str, Any], ...]
    sources: tuple[tuple[int, ...], ...]
    smooth: tuple[bool, ...]

    def of(self, inputs: Inputs) -> Float64:
        """Make ``(n, m)`` numbers of inputs.

        Raises
        ------
        ModelError
            When a transformer refuses them.
        """
        with alone():
            matrix: NDArray[np.float64] = transformed(
                self.steps, rows_for(self.card, inputs), numbers=True
            )
        return matrix

    def before(self, inner: ModelStructure) -> ModelStructure:
        """Return the structure of a model that is given what the transformers make."""

        def prepare(inputs: Inputs) -> Float64:
            return inner.prepare(list(self.of(inputs).T))

        return ModelStructure(
            prepare,
            tuple(
                tuple(sorted({i for place in own for i in self.sources[place]}))
                for own in inner.sources
            ),
            tuple(
                smooth and all(self.smooth[place] for place in own)
                for smooth, own in zip(inner.smooth, inner.sources, strict=True)
            ),
            inner.body,
            inner.close,
        )


def sources_of(steps: Sequence[tuple[str, Any]], card: ModelCard) -> ColumnSources:
    """Return what fitted transformers make of the inputs of a model.

    Raises
    ------
    OpaqueError
        When one of them is not known to make each of its columns from few others.
    """
    if card.takes is not Takes.MATRIX and not card.named:
        raise OpaqueError("it accepts text")
    made = Made(tuple((i,) for i in range(len(card.inputs))), (True,) * len(card.inputs))
    real = tuple((name, step) for name, step in steps if not _idle(step))
    for _, step in real:
        made = _transformed(step, made)
    return ColumnSources(card, real, made.sources, made.smooth)


def _idle(step: object) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def from_scikit(thing: object, *kinds: str) -> bool:
    """Return whether a thing is of one of these kinds, and that kind scikit-learn's own."""
    return type(thing).__name__ in kinds and type(thing).__module__.startswith("sklearn.")


@dataclass(frozen=True, slots=True)
class Made:
    """Columns on the way: of each the inputs it is made from, and whether by a line."""

    sources: tuple[tuple[int, ...], ...]
    smooth: tuple[bool, ...]

    def chosen(self, places: Sequence[int], *, smooth: bool = True) -> Made:
        """Return some of them, as they are or changed."""
        return Made(
            tuple(self.sources[i] for i in places),
            tuple(smooth and self.smooth[i] for i in places),
        )

    def beside(self, other: Made) -> Made:
        """Put others behind them."""
        return Made(self.sources + other.sources, self.smooth + other.smooth)


NOTHING_MADE = Made((), ())


def _transformed(step: Any, given: Made) -> Made:  # noqa: ANN401, PLR0911, PLR0912 - one way for each kind
    """Return what a fitted transformer makes of columns."""
    if _idle(step):
        return given
    kind, width = type(step).__name__, len(given.sources)
    everything = range(width)
    if not type(step).__module__.startswith("sklearn."):
        raise OpaqueError(f"the effect of “{kind}” before the model decides is not known")
    if kind in _STRAIGHT:
        return given.chosen(everything, smooth=not getattr(step, "clip", False))
    if kind in _ONE_BY_ONE:
        return given.chosen(everything, smooth=False)
    if hasattr(step, "get_support") and hasattr(step, "transform"):
        return given.chosen(np.flatnonzero(step.get_support()).tolist())
    match kind:
        case "Pipeline":
            for _, part in step.steps:
                given = _transformed(part, given)
            return given
        case "ColumnTransformer":
            return _side_by_side(step, given)
        case "FeatureUnion":
            made = NOTHING_MADE
            for _, part in step.transformer_list:
                made = made if part == "drop" else made.beside(_transformed(part, given))
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
            raise OpaqueError(f"“{kind}” combines the model’s inputs before it decides")


def _side_by_side(step: Any, given: Made) -> Made:  # noqa: ANN401 - a ColumnTransformer
    names = [str(name) for name in getattr(step, "feature_names_in_", ())]
    made = NOTHING_MADE
    for _, part, columns in step.transformers_:
        try:
            places = places_of(columns, names, len(given.sources))
        except (TypeError, ValueError, IndexError) as error:
            raise OpaqueError("it does not state which columns its transformers use") from error
        if not places or (isinstance(part, str) and part == "drop"):
            continue
        made = made.beside(_transformed(part, given.chosen(places)))
    return made


def _repeated(given: Made, widths: Sequence[int]) -> Made:
    places = [i for i, count in enumerate(widths) for _ in range(count)]
    return given.chosen(places, smooth=False)


def _one_hot_widths(encoder: Any) -> list[int]:  # noqa: ANN401 - a OneHotEncoder
    """Return how many columns each input becomes: rare values may share one, or one is dropped."""
    rare = getattr(encoder, "infrequent_categories_", [None] * len(encoder.categories_))
    dropped = encoder.drop_idx_
    return [
        len(values)
        - (0 if rare[i] is None else len(rare[i]) - 1)
        - (dropped is not None and dropped[i] is not None)
        for i, values in enumerate(encoder.categories_)
    ]


def _imputed(imputer: Any, given: Made) -> Made:  # noqa: ANN401 - a SimpleImputer
    """Return what imputing makes: on a line nobody has a missing cell, unless a number says so."""
    missing = imputer.missing_values
    number = isinstance(missing, int | float | np.number) and missing == missing  # noqa: PLR0124 - NaN
    empty = [
        not imputer.keep_empty_features and isinstance(each, float) and np.isnan(each)
        for each in imputer.statistics_.tolist()
    ]
    made = given.chosen([i for i, left_out in enumerate(empty) if not left_out], smooth=not number)
    if not imputer.add_indicator:
        return made
    return made.beside(given.chosen(imputer.indicator_.features_.tolist(), smooth=False))


def _multiplied(powers: NDArray[np.int64], given: Made) -> Made:
    """Return what products of columns are made from."""
    sources = [
        tuple(sorted({i for place in np.flatnonzero(row) for i in given.sources[place]}))
        for row in powers
    ]
    smooth = [
        row.sum() == 0 or (row.sum() == 1 and given.smooth[int(row.argmax())]) for row in powers
    ]
    return Made(tuple(sources), tuple(bool(each) for each in smooth))
