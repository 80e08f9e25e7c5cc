"""A constraint, and whether people keep it: in three values, as a missing cell decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.domain.formulas import Formula, named, names_in
from fairdesk.results.events import Rows

#: How far two numbers may be apart, as a share of the terms they come from, and still be equal:
#: in floating point 0.1 + 0.2 is not 0.3.
_EQUAL = 1e-12


@dataclass(frozen=True, slots=True)
class Dependence:
    """That an attribute follows another: ``education_num is determined by education``."""

    attribute: str
    by: str

    @property
    def text(self) -> str:
        """As it is written."""
        return f"{named(self.attribute)} is determined by {named(self.by)}"

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes it speaks of."""
        return (self.attribute, self.by)


@dataclass(frozen=True)
class Constraint:
    """A condition that every person of the domain fulfils.

    Attributes
    ----------
    formula : Formula
        What it says.
    attributes : tuple[Attribute, ...]
        What the columns of the rows are.
    """

    formula: Formula
    attributes: tuple[Attribute, ...]

    @property
    def text(self) -> str:
        """The constraint as it is written, always in the same way."""
        return str(self.formula)

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes it speaks of, in the order of the rows' columns."""
        used = names_in(self.formula)
        return tuple(each.name for each in self.attributes if each.name in used)

    def holds(self, rows: Rows) -> NDArray[np.bool_]:
        """Return for each row whether it keeps the constraint: ``(n,)``.

        Parameters
        ----------
        rows : Rows
            ``(n, d)`` codes of the attributes; NaN is a missing cell.

        Returns
        -------
        NDArray[np.bool_]
            ``(n,)``; true also where missing cells keep it from being decided.
        """
        with np.errstate(all="ignore"):
            _, false = self.formula.truth(_RowTerms(self.attributes, rows))
        return np.asarray(~false)

    def decided(self, rows: Rows) -> NDArray[np.bool_]:
        """Return for each row whether its known cells are enough to decide: ``(n,)``."""
        with np.errstate(all="ignore"):
            true, false = self.formula.truth(_RowTerms(self.attributes, rows))
        return np.asarray(true | false)


@dataclass(frozen=True, slots=True)
class _Measured:
    """Numbers, and how large the terms were that they come from, to tell what is a last bit."""

    value: Any
    size: Any

    def __add__(self, other: _Measured) -> _Measured:
        return _Measured(self.value + other.value, self.size + other.size)

    def __sub__(self, other: _Measured) -> _Measured:
        return _Measured(self.value - other.value, self.size + other.size)

    def __mul__(self, other: _Measured) -> _Measured:
        return _Measured(self.value * other.value, self.size * other.size)

    def __truediv__(self, other: _Measured) -> _Measured:
        return _Measured(self.value / other.value, self.size / other.size)


class _RowTerms:
    """The people of an array of codes."""

    def __init__(self, attributes: Sequence[Attribute], rows: Rows) -> None:
        self._attributes = {each.name: each for each in attributes}
        self._codes = {each.name: rows[:, i] for i, each in enumerate(attributes)}
        self._count = len(rows)

    def known(self, name: str) -> NDArray[np.bool_]:
        codes, attribute = self._codes[name], self._attributes[name]
        there = ~np.isnan(codes)
        return there & (codes != attribute.unknown_code) if attribute.unknown else there

    def has(self, name: str, value: str) -> NDArray[np.bool_]:
        return np.asarray(self._codes[name] == self._attributes[name].values.index(value))

    def place(self, name: str) -> _Measured:
        return _measured(self._codes[name])

    def place_of(self, name: str, value: str) -> _Measured:
        return self.constant(self._attributes[name].values.index(value))

    def alike(self, first: str, second: str) -> NDArray[np.bool_]:
        places = {value: i for i, value in enumerate(self._attributes[first].named)}
        there = [places.get(value, -1.0) for value in self._attributes[second].values]
        return np.asarray(self._codes[first] == _looked_up(self._codes[second], there))

    def number(self, name: str) -> _Measured:
        attribute = self._attributes[name]
        if attribute.values:
            numbers = [float(value) for value in attribute.values]
            return _measured(_looked_up(self._codes[name], numbers))
        return _measured(self._codes[name])

    def constant(self, value: float) -> _Measured:
        return _measured(np.full(self._count, float(value)))

    def equal(self, left: _Measured, right: _Measured) -> NDArray[np.bool_]:
        return np.asarray(np.abs(left.value - right.value) <= _EQUAL * (left.size + right.size))

    def less(self, left: _Measured, right: _Measured) -> NDArray[np.bool_]:
        return np.asarray((left.value < right.value) & ~self.equal(left, right))


def _measured(values: Rows) -> _Measured:
    return _Measured(values, np.abs(values))


def _looked_up(codes: Rows, values: Sequence[float]) -> Rows:
    """Return the value of each code; NaN for what is no code."""
    inside = (codes >= 0) & (codes < len(values))
    return np.where(inside, np.array(values)[np.where(inside, codes, 0).astype(np.intp)], np.nan)
