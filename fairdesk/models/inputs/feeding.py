"""The model under audit, asked in the domain's codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.table import Column
from fairdesk.errors import ModelError
from fairdesk.models.decisions.rule import VALUES, decided, decided_slopes, is_plain
from fairdesk.models.model import (
    Capability,
    How,
    Input,
    Inputs,
    Mapping,
    MatrixModel,
    OpenedModel,
    SmoothModel,
    Step,
    Takes,
    as_matrix,
)
from fairdesk.results.events import Rows, Scores

Codes = NDArray[np.float64]
Values = NDArray[np.float64] | NDArray[np.object_]


class FedModel:
    """An opened model behind a mapping: what the searches ask.

    Parameters
    ----------
    attributes : tuple[Attribute, ...]
        What the columns of the rows are.

    Attributes
    ----------
    steady : bool
        Whether equal rows have equal answers, to the last bit, in whatever batch and wherever in
        it, so that an answer need not be asked for again in another place.

    Raises
    ------
    ModelError
        When an input is made from an attribute that is not there, or from one with a value that
        the mapping has no number for.
    """

    def __init__(
        self, opened: OpenedModel, mapping: Mapping, attributes: tuple[Attribute, ...]
    ) -> None:
        self.opened = opened
        self.mapping = mapping
        self.attributes = attributes
        self.steady: bool = getattr(opened, "steady", False)
        positions = {attribute.name: i for i, attribute in enumerate(attributes)}
        strangers = [
            item
            for item in mapping.inputs
            if item.how is not How.CONSTANT and item.attribute not in positions
        ]
        if strangers:
            raise ModelError(
                f"The model’s input “{strangers[0].name}” is made from the column "
                f"“{strangers[0].attribute}”, which is not among the attributes.",
                remedy=(
                    "Give that column a type other than “excluded”, or make the input from "
                    "another column."
                ),
            )
        # a constant may look at any column: it sees only how many rows there are
        self._positions = [positions.get(item.attribute, 0) for item in mapping.inputs]
        made = [
            _maker_of(item, attributes[position])
            for item, position in zip(mapping.inputs, self._positions, strict=True)
        ]
        self._others = {i: each for i, each in enumerate(made) if not isinstance(each, _Number)}
        numbers = [each if isinstance(each, _Number) else _Number() for each in made]
        self._recipes = _recipes(self._positions, numbers)
        self._matrix = opened.card.takes is Takes.MATRIX
        self._as_is = self._positions == list(range(len(attributes))) and all(
            each == _Number() for each in made
        )
        self._plain = is_plain(mapping)

    def predict(self, rows: Rows) -> Scores:
        """Answer for ``(n, d)`` rows of codes: ``(n, k)`` scores of the mapping's decisions.

        Raises
        ------
        ModelError
            When the model refuses the rows, or answers without a number for some.
        """
        answers = self.answers(rows)
        return answers if self._plain else decided(answers, self.mapping, self.opened.card)

    def answers(self, rows: Rows) -> Scores:
        """Return the model's own answers, before they become decisions.

        Returns
        -------
        Scores
            ``(n, k)`` scores of the classes that its card names, or estimated numbers ``(n, 1)``.

        Raises
        ------
        ModelError
            As of `predict`.
        """
        card = self.opened.card
        if self._matrix:
            answers = cast("MatrixModel", self.opened).matrix_scores(self.matrix(rows))
        else:
            answers = self.opened.scores(self.columns(rows))
        return _valid(answers, len(rows), 1 if card.scores == VALUES else len(card.classes))

    @property
    def has_gradients(self) -> bool:
        """Whether `gradients` can be asked."""
        return Capability.GRADIENTS in self.opened.card.can

    def gradients(self, rows: Rows, column: NDArray[np.intp]) -> Rows:
        """Return how scores change with each attribute, per unit of its code.

        By the chain rule: the model's own derivative by each input, times how that input changes
        with the attribute's code. What has codes for values has no derivative there, so this is
        its change along one step (`Attribute.unit`), upwards, and downwards at the upper edge.

        Parameters
        ----------
        rows : Rows
            ``(n, d)`` codes.
        column : NDArray[np.intp]
            ``(n,)``; whose score, of each row: a column of `predict`.

        Returns
        -------
        Rows
            ``(n, d)``; finite. 0 for an attribute that feeds no input, has no other value, or
            by which the model has no finite derivative.

        Raises
        ------
        ModelError
            When the model has no derivatives (`Capability.GRADIENTS` is not in its card), or
            refuses the rows.
        """
        numbers, stepped = self._numbers(rows), self._stepped(rows)
        model = cast("SmoothModel", self.opened)
        weights = self._weights(rows, column)
        slopes = np.zeros(numbers.shape)
        for answer in np.flatnonzero(weights.any(axis=0)).tolist():
            rows_weighted = np.flatnonzero(weights[:, answer])
            slope = model.gradients(numbers[rows_weighted], answer)
            slopes[rows_weighted] += weights[rows_weighted, answer, None] * slope
        # where there is no other code, nought is divided by nought
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            away = (stepped - rows)[:, self._positions]
            changes = slopes * ((self._numbers(stepped) - numbers) / away)
        changes[~np.isfinite(changes)] = 0.0
        feeds = np.equal.outer(self._positions, range(len(self.attributes)))
        return np.asarray(changes @ feeds.astype(np.float64))

    def _weights(self, rows: Rows, column: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return how a column of `predict` changes with each of the model's own answers: (n, k)."""
        if not self._plain:
            return decided_slopes(self.answers(rows), self.mapping, self.opened.card)
        return np.equal.outer(column, np.arange(column.max(initial=0) + 1)).astype(np.float64)

    def _stepped(self, rows: Rows) -> Rows:
        """Move every attribute by one step, each to a code that it may have."""
        unit, low, high = (
            np.array([getattr(each, name) for each in self.attributes])
            for name in ("unit", "low", "high")
        )
        below = np.where(rows - unit >= low, rows - unit, rows)
        return np.where(rows + unit <= high, rows + unit, below)

    def _numbers(self, rows: Rows) -> Codes:
        """Make the numbers that the model is given, one column per input, whatever it takes."""
        return self.matrix(rows) if self._matrix else as_matrix(self.columns(rows))

    def matrix(self, rows: Rows) -> Codes:
        """Make the matrix ``(n, inputs)`` that a model of `Takes.MATRIX` is given.

        It is ``rows`` itself, not a copy, where nothing has to be changed.
        """
        if self._as_is:
            return rows
        matrix = self._filled(rows, "C")
        for place, maker in self._others.items():
            matrix[:, place] = maker(rows[:, self._positions[place]])
        return matrix

    def columns(self, rows: Rows) -> Inputs:
        """Make the arrays that a model of `Takes.COLUMNS` is given, one per input."""
        columns: Inputs = list(self._filled(rows, "F").T)
        for place, maker in self._others.items():
            columns[place] = maker(rows[:, self._positions[place]])
        return columns

    def _filled(self, rows: Rows, order: Literal["C", "F"]) -> Codes:
        """Make the inputs that are looked up or computed, ``(n, inputs)``."""
        # compiled code is loaded where a model is asked, never in the window's process
        from fairdesk.models.inputs.filling import fill  # noqa: PLC0415

        if rows.shape[1] != len(self.attributes):
            raise IndexError("a row has not the attributes' codes")  # the loops do not look
        filled = np.empty((len(rows), len(self._positions)), order=order)
        if not fill(np.ascontiguousarray(rows, np.float64), *self._recipes, filled):
            raise IndexError("a row has a code that its attribute does not")
        return filled


def numbers_of(item: Input, attribute: Attribute, codes: Codes) -> Codes:
    """Make one input that is a number from a column's codes, without its arithmetic.

    Parameters
    ----------
    codes : NDArray[np.float64]
        ``(n,)``.

    Raises
    ------
    ModelError
        When the mapping has no number for a value.
    """
    made = _first(item, attribute)
    if not isinstance(made, _Number):
        return made(codes).astype(np.float64)
    if not made.entries:
        return codes
    # the last is that of a missing cell, and of the code after all others
    last = len(made.entries) - 1
    places = np.minimum(np.where(np.isnan(codes), last, codes), last).astype(np.intp)
    return np.array(made.entries)[places]


@dataclass(frozen=True, slots=True)
class _Number:
    """How a number is made from a code: looked up where there are entries, then computed.

    Attributes
    ----------
    entries : tuple[float, ...]
        By code; the last is that of a missing one, and of the code after all others, which an
        attribute that names missing cells has. One alone is everybody's.
    then : tuple[Step, ...]
        Arithmetic, in order.
    """

    entries: tuple[float, ...] = ()
    then: tuple[Step, ...] = ()


_Maker = Callable[[Codes], Values]
_Recipes = tuple[NDArray[np.int64], Codes, NDArray[np.int64], Codes]
_OPERATIONS: dict[str, Callable[[Values, float], Codes]] = {
    "subtract": np.subtract,
    "divide": np.divide,
    "multiply": np.multiply,
    "add": np.add,
}


def _recipes(positions: Sequence[int], numbers: Sequence[_Number]) -> _Recipes:
    """Write down how inputs are made, as `fairdesk.models.inputs.filling.fill` reads it."""
    recipes, entries, steps = [], [np.empty(0)], list[Step]()
    at = 0
    for position, number in zip(positions, numbers, strict=True):
        own, then = np.array(number.entries, dtype=np.float64), number.then
        if own.size:
            for step in then:
                own = _OPERATIONS[step.op](own, step.by)
            then = ()
        recipes.append((position, at, own.size, len(steps), len(then)))
        entries.append(own)
        at += own.size
        steps += then
    names = list(_OPERATIONS)
    return (
        np.array(recipes, dtype=np.int64).reshape(-1, 5),
        np.concatenate(entries),
        np.array([names.index(step.op) for step in steps], dtype=np.int64),
        np.array([step.by for step in steps], dtype=np.float64),
    )


def _maker_of(item: Input, attribute: Attribute) -> _Number | _Maker:
    """Return how an input is made from codes: as a number, or by a function of its own."""
    made = _first(item, attribute)
    if not item.then:
        return made
    if item.how is How.LABEL or isinstance(item.constant, str):
        raise ModelError(
            f"The model’s input “{item.name}” is text, so no arithmetic is possible.",
            remedy="Remove the arithmetic, or make the input from a number.",
        )
    return (
        replace(made, then=item.then) if isinstance(made, _Number) else _computed(made, item.then)
    )


def _first(item: Input, attribute: Attribute) -> _Number | _Maker:
    """Return how an input is made, before any arithmetic."""
    if item.how is How.CONSTANT:
        return _constant(item.constant)
    # the value that stands for a missing cell is none that a model has seen
    values = attribute.values[:-1] if attribute.unknown else attribute.values
    if item.how is How.LABEL:
        return _labels(item, values) if attribute.values else _texts(item, attribute)
    if item.how is How.CODE and not attribute.values:
        return _numbers_by_text(item, attribute)
    if item.how is How.CODE:
        numbers = _codes(item, values)
        missing = _code_of_missing(item)
    else:
        places = range(len(values))
        numbers = [float(value) for value in (values if attribute.numeric else places)]
        missing = np.nan
    if numbers == list(range(len(numbers))) and np.isnan(missing) and not attribute.unknown:
        return _Number()
    return _Number((*numbers, missing))


def _constant(value: float | str) -> _Number | _Maker:
    if isinstance(value, str):
        return lambda codes: np.full(len(codes), value, dtype=object)
    return _Number((value,))


def _computed(make: _Maker, steps: Sequence[Step]) -> _Maker:
    """Do arithmetic on what was made, operation by operation, as a scaler does it."""

    def compute(codes: Codes) -> Values:
        values = make(codes)
        for step in steps:
            values = _OPERATIONS[step.op](values, step.by)
        return values

    return compute


def _codes(item: Input, values: Sequence[str]) -> list[float]:
    if item.others is None or len(item.codes) >= len(values):
        return [_code(item, value) for value in values]
    # one of thousands of inputs that are each made for one of thousands of values
    numbers = [item.others] * len(values)
    for value, number in item.codes.items():
        if value in values:
            numbers[values.index(value)] = number
    return numbers


def _code(item: Input, value: str) -> float:
    number = item.codes.get(value, item.others)
    if number is None:
        raise ModelError(
            f"The model’s input “{item.name}” has no number for “{value}” of “{item.attribute}”.",
            remedy="Give it a number in the mapping, or exclude that value from the audit.",
        )
    return number


def _code_of_missing(item: Input) -> float:
    """Return the number for a missing cell; NaN where the model is to see it as missing."""
    return _code(item, item.missing) if item.missing else item.codes.get("", np.nan)


def _labels(item: Input, values: Sequence[str]) -> _Maker:
    """Look texts up; the last is that of a missing cell."""
    texts = [item.texts.get(value, value) for value in values]
    entries = np.array([*texts, item.missing or np.nan], dtype=object)

    def make(codes: Codes) -> Values:
        return entries.take(np.where(np.isnan(codes), len(values), codes).astype(np.intp))

    return make


def _texts(item: Input, attribute: Attribute) -> _Maker:
    """Write numbers as text, for a model that takes them so."""

    def make(codes: Codes) -> Values:
        distinct, where = np.unique(codes, return_inverse=True)
        texts = _written(distinct, attribute)
        if item.texts or item.missing:
            missing = item.missing or np.nan
            known = [item.texts.get(t, t) if isinstance(t, str) else missing for t in texts]
            texts = np.array(known, dtype=object)
        return texts.take(where)

    return make


def _numbers_by_text(item: Input, attribute: Attribute) -> _Maker:
    """Replace numbers by the numbers that the mapping has for their texts."""
    missing = _code_of_missing(item)

    def make(codes: Codes) -> Values:
        distinct, where = np.unique(codes, return_inverse=True)
        texts = _written(distinct, attribute)
        numbers = [_code(item, text) if isinstance(text, str) else missing for text in texts]
        return np.array(numbers).take(where)

    return make


def _written(numbers: Codes, attribute: Attribute) -> NDArray[np.object_]:
    """Write numbers as their column's file does; a missing one is NaN."""
    column = Column(attribute.name, attribute.kind)
    texts = [np.nan if np.isnan(number) else column.text(number) for number in numbers]
    return np.array(texts, dtype=object)


def _valid(scores: Scores, rows: int, classes: int) -> Scores:
    """Refuse answers that are no scores of so many classes, or no values (of one)."""
    width = 1 if classes == 2 else classes
    if scores.shape != (rows, width):
        what = f" and {classes} classes" if classes > 1 else ""
        raise ModelError(
            f"The model returned {_shape(scores.shape)} for {rows:,} rows{what}.",
            why="An output for each row was expected, with a score for each class.",
            remedy=(
                "Check that the file is a classifier, or which of its outputs is used for the "
                "decision."
            ),
        )
    if not np.isfinite(scores).all():
        bad = int((~np.isfinite(scores)).any(axis=1).sum())
        raise ModelError(
            f"The model returned no finite number for {bad:,} of {rows:,} rows.",
            why=(
                "This happens when a cell is missing and the model does not support missing "
                "cells, or when its arithmetic overflows."
            ),
            remedy="Exclude rows with missing cells, or check the model.",
        )
    return scores


def _shape(shape: Sequence[int]) -> str:
    return " × ".join(f"{length:,}" for length in shape) + " numbers"
