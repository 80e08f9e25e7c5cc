"""The space of people that a search walks: attributes, their values, and the protected ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from functools import cached_property
from itertools import product
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.kinds import EXACT
from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import SpecError
from fairdesk.events import Rows

#: At most so many values of a protected number are compared one by one; more are binned.
EVERY_VALUE_UP_TO = 20
#: Into so many bins of equal width.
BINS = 10
#: Combinations of protected values beyond this are refused: every one is asked for every person.
MOST_COMBINATIONS = 5_000


class Role(StrEnum):
    """What a search may do with an attribute."""

    PROTECTED = "protected"
    """Compared: all its values are tried on every person."""
    VARIES = "varies"
    """May be changed by the search to invent people."""
    FIXED = "fixed"
    """Kept as it is in the data's rows."""


class Attribute(msgspec.Struct, frozen=True):
    """One attribute of a person, as the search sees it: a column of codes.

    Attributes
    ----------
    name : str
        The table's column.
    kind : Kind
        Never `Kind.IGNORED`. Nominal and ordinal codes index ``values``.
    values : tuple[str, ...]
        The cell texts of codes 0, 1, ... (nominal, ordinal); empty for numbers.
    low, high : float
        The allowed range of codes, inclusive.
    role : Role
        What a search may do with it.
    compared : tuple[float, ...]
        Of a protected attribute: the codes that are compared, ascending. Else empty.
    numeric : bool
        Whether ``values`` are numbers that the model takes as numbers (a column of numbers that
        was limited to a list of values).
    unknown : bool
        Whether the last of ``values`` stands for a missing cell.
    """

    name: str
    kind: Kind
    values: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0
    role: Role = Role.VARIES
    compared: tuple[float, ...] = ()
    numeric: bool = False
    unknown: bool = False

    @property
    def integral(self) -> bool:
        """Whether its codes are whole numbers."""
        return self.kind is not Kind.REAL

    @property
    def unit(self) -> float:
        """The size of one search step: 1 for codes, about a hundredth of the range for reals.

        Integers with a wide range (a loan amount) take a whole hundredth of it, for a step of 1
        would change nothing that a model can see; below a range of 150 the unit is 1.
        """
        if self.values:
            return 1.0
        share = (self.high - self.low) / 100
        if self.kind is Kind.INTEGER:
            return max(1.0, float(round(share)))
        return share or 1.0

    def nearest_compared(self, codes: Rows) -> NDArray[np.intp]:
        """Give for each code the index of the nearest value in ``compared``; of two the lower."""
        compared = np.array(self.compared)
        return np.searchsorted((compared[:-1] + compared[1:]) / 2, codes)

    def fits(self, column: Column) -> bool:
        """Tell whether a column's codes can be read as this attribute's."""
        if self.kind is Kind.INTEGER:
            return column.kind is Kind.INTEGER
        if self.kind is Kind.REAL or self.numeric:
            return column.kind.is_number
        return column.kind in (Kind.NOMINAL, Kind.ORDINAL)

    def text(self, code: float) -> str:
        """Write a code in the auditor's terms."""
        if np.isnan(code):
            return "(missing)"
        if self.values:
            return self.values[int(code)]
        if self.kind is Kind.INTEGER:
            return f"{int(code)}"
        # six digits, or more rather than a power of ten
        return f"{code:.{max(6, len(f'{abs(code):.0f}') + 1)}g}"


class Domain(msgspec.Struct, frozen=True, dict=True):
    """The people that may be asked about.

    Rows are ``(n, d)`` float64 arrays with one column of codes per attribute.

    Attributes
    ----------
    attributes : tuple[Attribute, ...]
        In the order of the rows' columns.
    """

    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        """Refuse a domain that no search can work on.

        Raises
        ------
        SpecError
            When nothing is protected, a protected attribute has fewer than two values to
            compare, nothing may vary, or there are more than `MOST_COMBINATIONS`.
        """
        if not self.protected.size:
            raise SpecError(
                "No attribute is protected.",
                remedy="Mark at least one attribute as protected, for example sex, race or age.",
            )
        for attribute in self.attributes:
            if attribute.role is Role.PROTECTED and len(attribute.compared) < 2:
                raise SpecError(
                    f"The protected attribute “{attribute.name}” has only one value.",
                    why="Discrimination shows when its value changes and the decision with it.",
                    remedy="Choose another attribute, or allow more values of this one.",
                )
        if not self.varying.size:
            raise SpecError(
                "Every attribute is protected, fixed, or has one value only, so nobody can be "
                "invented.",
                remedy="Let at least one attribute with two values or more vary.",
            )
        if self.combination_count > MOST_COMBINATIONS:
            raise SpecError(
                f"The protected values make {self.combination_count:,} combinations; "
                f"at most {MOST_COMBINATIONS:,} can be compared.",
                remedy="Protect fewer attributes at once, or group the values of a number "
                "into bins.",
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names."""
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def protected(self) -> NDArray[np.intp]:
        """Positions of the protected attributes."""
        return self._with_role(Role.PROTECTED)

    @cached_property
    def varying(self) -> NDArray[np.intp]:
        """Positions of the attributes that a search can change: those with one value cannot be."""
        return np.array(
            [i for i in self._with_role(Role.VARIES) if self.low[i] < self.high[i]], dtype=np.intp
        )

    @cached_property
    def fixed(self) -> NDArray[np.intp]:
        """Positions of the attributes that are kept as they are in the data's rows."""
        return self._with_role(Role.FIXED)

    @cached_property
    def others(self) -> NDArray[np.intp]:
        """Positions of all attributes that are not protected."""
        return np.setdiff1d(np.arange(len(self.attributes)), self.protected)

    @cached_property
    def low(self) -> Rows:
        """``(d,)``; the least code of each attribute."""
        return np.array([attribute.low for attribute in self.attributes])

    @cached_property
    def high(self) -> Rows:
        """``(d,)``; the greatest code of each attribute."""
        return np.array([attribute.high for attribute in self.attributes])

    @cached_property
    def unit(self) -> Rows:
        """``(d,)``; the size of one step along each attribute."""
        return np.array([attribute.unit for attribute in self.attributes])

    @cached_property
    def grid(self) -> Rows:
        """``(d,)``; how many codes there are in 1: reals too are kept on a (very fine) grid.

        A millionth of a step or finer, in decimals. Without it a person who takes a step and
        steps back would be another one, by the last bits of a float.
        """
        return np.array([_grid(attribute) for attribute in self.attributes])

    @cached_property
    def integral(self) -> NDArray[np.bool_]:
        """``(d,)``; whether codes are whole numbers."""
        return np.array([attribute.integral for attribute in self.attributes])

    @property
    def combination_count(self) -> int:
        """The number of combinations of protected values, without making them."""
        count = 1
        for position in self.protected:
            count *= len(self.attributes[position].compared)
        return count

    @cached_property
    def combinations(self) -> Rows:
        """``(C, p)``; every combination of the compared values of the protected attributes."""
        return np.array(
            list(product(*(self.attributes[i].compared for i in self.protected))), dtype=float
        )

    def similar(self, rows: Rows) -> Rows:
        """Give the similar sets of rows: each with every combination of protected values.

        Returns
        -------
        Rows
            ``(n, C, d)``; ``[:, c]`` has the protected values ``combinations[c]``.
        """
        everyone = np.repeat(rows[:, None, :], len(self.combinations), axis=1)
        everyone[:, :, self.protected] = self.combinations
        return everyone

    def snap(self, rows: Rows) -> tuple[Rows, NDArray[np.intp]]:
        """Put rows into the domain: clipped, and protected values at the nearest compared ones.

        Returns
        -------
        rows : Rows
            ``(n, d)``; a copy.
        combination : NDArray[np.intp]
            ``(n,)``; the index of each row's own combination of protected values.
        """
        snapped = self.clip(rows)
        combination = np.zeros(len(rows), dtype=np.intp)
        for position in self.protected:
            attribute = self.attributes[position]
            nearest = attribute.nearest_compared(snapped[:, position])
            snapped[:, position] = np.array(attribute.compared)[nearest]
            combination = combination * len(attribute.compared) + nearest
        return snapped, combination

    def clip(self, codes: Rows, positions: NDArray[np.intp] | slice = slice(None)) -> Rows:
        """Put codes on the grid of their attributes and into the range.

        Parameters
        ----------
        codes : Rows
            ``(..., m)``; whole rows, or the codes of the attributes at ``positions``.
        positions : NDArray[np.intp] or slice
            ``(m,)``; by default all attributes.
        """
        grid = self.grid[positions]
        return np.clip(np.round(codes * grid) / grid, self.low[positions], self.high[positions])

    def contains(self, rows: Rows) -> NDArray[np.bool_]:
        """Tell for each row whether it lies in the domain: in range, whole where it must be."""
        inside = ((rows >= self.low) & (rows <= self.high)).all(axis=1)
        whole = (rows[:, self.integral] == np.round(rows[:, self.integral])).all(axis=1)
        return np.asarray(inside & whole)

    def sample(self, rng: np.random.Generator, n: int) -> Rows:
        """Draw people uniformly: ``(n, d)``; protected values among the compared ones."""
        rows = self.clip(rng.uniform(self.low, self.high, (n, len(self.attributes))))
        whole = np.flatnonzero(self.integral)
        rows[:, whole] = rng.integers(
            self.low[whole].astype(np.int64), self.high[whole].astype(np.int64) + 1, (n, whole.size)
        )
        rows[:, self.protected] = self.combinations[rng.integers(len(self.combinations), size=n)]
        return rows

    def encode(self, table: Table) -> Rows:
        """Bring a table's rows into this domain's codes.

        Returns
        -------
        Rows
            ``(rows of the table, d)``; NaN where a cell is missing or its value is not allowed.

        Raises
        ------
        DataError
            When the table lacks a column.
        SpecError
            When a column is of another kind than its attribute was made from.
        """
        encoded = np.empty((len(table.codes), len(self.attributes)))
        for position, attribute in enumerate(self.attributes):
            index = table.index(attribute.name)
            codes, column = table.codes[:, index], table.columns[index]
            if not attribute.fits(column):
                raise SpecError(
                    f"The column “{column.name}” is {column.kind}, but was {attribute.kind} "
                    "when the audit was set up.",
                    remedy="Give it that kind again, or set up a new audit.",
                )
            if attribute.values and attribute.values != column.values:
                codes = _recode(codes, column, attribute)
            encoded[:, position] = codes
        return encoded

    def people(self, table: Table) -> Rows:
        """Give the table's rows from which a search can start: complete, and in the domain.

        Numbers outside a narrowed range are left out too, so that nobody is bent into it.
        """
        rows = self.encode(table)
        return np.asarray(rows[((rows >= self.low) & (rows <= self.high)).all(axis=1)])

    def _with_role(self, role: Role) -> NDArray[np.intp]:
        return np.array(
            [i for i, attribute in enumerate(self.attributes) if attribute.role is role],
            dtype=np.intp,
        )


def _grid(attribute: Attribute) -> float:
    """Give the number of grid points per 1: a power of ten that floats can still tell apart."""
    if attribute.integral:
        return 1.0
    finest = 15 - math.ceil(math.log10(max(abs(attribute.low), abs(attribute.high), 1e-300)))
    wanted = 6 - math.floor(math.log10(attribute.unit))
    return float(10 ** max(0, min(finest, wanted)))


def _recode(codes: Rows, column: Column, attribute: Attribute) -> Rows:
    """Map a column's codes to an attribute with another list of values."""
    allowed: dict[Any, int]
    if column.kind.is_number:
        allowed = {float(value): i for i, value in enumerate(attribute.values)}
        return np.array([allowed.get(code, np.nan) for code in codes.tolist()])
    allowed = {value: i for i, value in enumerate(attribute.values)}
    lookup = np.array([allowed.get(value, np.nan) for value in column.values] + [np.nan])
    return np.asarray(lookup[np.where(np.isnan(codes), len(column.values), codes).astype(np.intp)])


def attribute_of(
    column: Column,
    role: Role = Role.VARIES,
    limits: Sequence[float | str] | None = None,
    *,
    every_value: bool = False,
) -> Attribute:
    """Make an attribute from a table's column.

    Parameters
    ----------
    column : Column
        Not ignored, with at least one value.
    role : Role
        What a search may do with it.
    limits : sequence of two numbers, or of values, optional
        For a number column ``[low, high]`` or a list of values; for a nominal or ordinal one
        the list of allowed values. By default all that the data hold. Two numbers are always
        read as a range, unless the column is not a number.
    every_value : bool
        Compare each value of a protected integer, however many there are, not
        `BINS` bins' middles beyond `EVERY_VALUE_UP_TO`.

    Raises
    ------
    SpecError
        When limits do not fit the column, with the reason.
    """
    if column.kind is Kind.IGNORED:
        raise SpecError(
            f"The column “{column.name}” is ignored.",
            remedy="Give it another kind on the data page to audit it.",
        )
    if not column.kind.is_number and not column.values:
        raise SpecError(
            f"The column “{column.name}” is empty.", remedy="Leave it out of the audit."
        )
    attribute = Attribute(
        name=column.name, kind=column.kind, values=column.values, low=column.low, high=column.high
    )
    if limits is not None:
        attribute = _limited(attribute, column, limits)
    if attribute.values:
        attribute = msgspec.structs.replace(
            attribute, low=0.0, high=float(len(attribute.values) - 1)
        )
    if role is Role.PROTECTED:
        compared = _compared(attribute, every_value=every_value)
        return msgspec.structs.replace(attribute, role=role, compared=compared)
    return msgspec.structs.replace(attribute, role=role)


def _limited(attribute: Attribute, column: Column, limits: Sequence[float | str]) -> Attribute:
    """Narrow an attribute to the given limits."""
    wrong = SpecError(
        f"The domain of “{column.name}” cannot be {list(limits)!r}.",
        remedy="Give [low, high] with low <= high or a list of values for a number, "
        "a list of its values for names.",
    )
    if not limits:
        raise wrong
    if not column.kind.is_number:
        known = set(column.values)
        chosen = {str(value) for value in limits}
        if not chosen <= known:
            strangers = ", ".join(sorted(chosen - known))
            raise SpecError(
                f"The column “{column.name}” has no value {strangers}.",
                remedy=f"Its values are: {', '.join(column.values)}.",
            )
        kept = tuple(value for value in column.values if value in chosen)
        return msgspec.structs.replace(attribute, values=kept)
    try:
        numbers = [float(value) for value in limits]
    except (TypeError, ValueError):
        raise wrong from None
    if not np.isfinite(numbers).all():
        raise wrong
    if column.kind is Kind.INTEGER and any(
        number != int(number) or abs(number) >= EXACT for number in numbers
    ):
        raise wrong
    if len(numbers) == 2:
        if numbers[0] > numbers[1]:
            raise wrong
        return msgspec.structs.replace(attribute, low=numbers[0], high=numbers[1])
    texts = tuple(column.text(number) for number in sorted(set(numbers)))
    return msgspec.structs.replace(attribute, kind=Kind.ORDINAL, values=texts, numeric=True)


def _compared(attribute: Attribute, *, every_value: bool) -> tuple[float, ...]:
    """Choose the codes of a protected attribute that are compared."""
    if attribute.values:
        return tuple(float(code) for code in range(len(attribute.values)))
    span = attribute.high - attribute.low
    if every_value and attribute.kind is Kind.INTEGER and span >= MOST_COMBINATIONS:
        raise SpecError(
            f"The protected attribute “{attribute.name}” has {span + 1:,.0f} values; "
            f"at most {MOST_COMBINATIONS:,} can be compared.",
            remedy="Group its values into bins, or narrow its range.",
        )
    if attribute.kind is Kind.INTEGER and (every_value or span + 1 <= EVERY_VALUE_UP_TO):
        return tuple(float(code) for code in range(int(attribute.low), int(attribute.high) + 1))
    if span == 0:
        return (attribute.low,)
    middles = attribute.low + span * (np.arange(BINS) + 0.5) / BINS
    if attribute.kind is Kind.INTEGER:
        middles = np.round(middles)
    return tuple(float(middle) for middle in middles)
