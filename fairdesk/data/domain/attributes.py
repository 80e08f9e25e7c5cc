"""What a search sees of a table's columns: attributes with their values, ranges and roles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.columns.kinds import EXACT
from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import SpecError
from fairdesk.results.events import Rows

#: At most so many values of a protected number are compared one by one; more are binned.
EVERY_VALUE_UP_TO = 20
#: Into so many bins of equal width.
BINS = 10
#: Combinations of protected values beyond this are refused: every one is asked for every person.
MOST_COMBINATIONS = 5_000
#: The names of the category of missing cells: the second where a column has a value of the first.
UNKNOWN_NAMES = ("Unknown", "Unknown (missing)")


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
        Whether the last of ``values`` stands for a missing cell: a category that is compared,
        counted and sent to the model as missing, never filled in.
    step : float
        Of numbers: their distance from ``low`` is a multiple of this; 0 is any.
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
    step: float = 0.0

    @property
    def integral(self) -> bool:
        """Whether its codes are whole numbers."""
        return self.kind is not Kind.REAL

    @property
    def unit(self) -> float:
        """The size of one search step: 1 for codes, about a hundredth of the range for reals.

        Integers with a wide range (a loan amount) take a whole hundredth of it, for a step of 1
        would change nothing that a model can see; below a range of 150 the unit is 1. Numbers
        with a step of their own take the multiple of it that is nearest to a hundredth.
        """
        if self.values:
            return 1.0
        share = (self.high - self.low) / 100
        if self.spacing:
            return max(self.spacing, round(share / self.spacing) * self.spacing)
        return share or 1.0

    @property
    def spacing(self) -> float:
        """How far neighbouring codes are apart; 0 for numbers with any fraction."""
        return self.step or float(self.integral)

    @property
    def grid(self) -> float:
        """How many codes there are in 1: a power of ten that floats can still tell apart."""
        if self.integral:
            return 1.0
        finest = 15 - math.ceil(math.log10(max(abs(self.low), abs(self.high), 1e-300)))
        wanted = 6 - math.floor(math.log10(self.unit))
        return float(10 ** max(0, min(finest, wanted)))

    @property
    def unknown_code(self) -> float:
        """The code of a missing cell: that of the last value, or NaN."""
        return len(self.values) - 1.0 if self.unknown else np.nan

    @property
    def named(self) -> tuple[str, ...]:
        """The values that a cell can name: without the category of missing cells."""
        return self.values[:-1] if self.unknown else self.values

    def nearest_compared(self, codes: Rows) -> NDArray[np.intp]:
        """Return for each code the index of the nearest value in ``compared``; of two the lower."""
        compared = np.array(self.compared)
        return np.searchsorted((compared[:-1] + compared[1:]) / 2, codes)

    def fits(self, column: Column) -> bool:
        """Return whether a column's codes can be read as this attribute's."""
        if self.kind is Kind.INTEGER:
            return column.kind is Kind.INTEGER
        if self.kind is Kind.REAL or self.numeric:
            return column.kind.is_number
        if self.kind is Kind.TEXT:
            return column.kind is Kind.TEXT
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


class Limit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is allowed of one attribute; whatever is left out is as in the data.

    Attributes
    ----------
    low, high : float, optional
        The range of a number, inclusive.
    step : float
        Of a number: only multiples of this, counted from the low end of the range. 0 is any.
    values : tuple, optional
        The allowed values, instead of a range.
    role : str
        ``"fixed"`` for an attribute that is never changed.
    """

    low: float | None = None
    high: float | None = None
    step: float = 0.0
    values: tuple[int | float | str, ...] | None = None
    role: Literal["varies", "fixed"] = "varies"


def encode(attributes: Sequence[Attribute], table: Table) -> Rows:
    """Bring a table's rows into the codes of attributes.

    Returns
    -------
    Rows
        ``(rows of the table, d)``; NaN where a cell is missing, unless that is a category of the
        attribute, or where its value is not allowed.

    Raises
    ------
    DataError
        When the table lacks a column.
    SpecError
        When a column is of another kind than its attribute was made from.
    """
    encoded = np.empty((len(table.codes), len(attributes)))
    for position, attribute in enumerate(attributes):
        index = table.index(attribute.name)
        codes, column = table.codes[:, index], table.columns[index]
        if not attribute.fits(column):
            raise SpecError(
                f"The column “{column.name}” is {column.kind}, but was {attribute.kind} "
                "when the audit was set up.",
                remedy="Give it that type again, or create a new audit.",
            )
        if attribute.values and attribute.values != column.values:
            codes = _recode(codes, column, attribute)
        encoded[:, position] = codes
    return encoded


def _recode(codes: Rows, column: Column, attribute: Attribute) -> Rows:
    """Map a column's codes to an attribute with another list of values."""
    allowed: dict[Any, int]
    if column.kind.is_number:
        allowed = {float(value): i for i, value in enumerate(attribute.values)}
        return np.array([allowed.get(code, np.nan) for code in codes.tolist()])
    allowed = {value: i for i, value in enumerate(attribute.named)}
    known = [allowed.get(value, np.nan) for value in column.values]
    lookup = np.array([*known, attribute.unknown_code])
    return np.asarray(lookup[np.where(np.isnan(codes), len(known), codes).astype(np.intp)])


def attribute_of(
    column: Column,
    role: Role = Role.VARIES,
    limits: Limit | Sequence[float | str] | None = None,
    *,
    every_value: bool = False,
    unknown: bool = False,
) -> Attribute:
    """Make an attribute from a table's column.

    Parameters
    ----------
    column : Column
        Not ignored, with at least one value.
    role : Role
        What a search may do with it. A text is always fixed.
    limits : Limit, or sequence of two numbers or of values, optional
        Instead of a `Limit`, for a number column ``[low, high]`` or a list of values; for a
        nominal or ordinal one the list of allowed values. By default all that the data hold. Two
        numbers are always read as a range, unless the column is not a number. A limit's role is
        not looked at.
    every_value : bool
        Compare each value of a protected number with a step, however many there are, not
        `BINS` bins' middles beyond `EVERY_VALUE_UP_TO`.
    unknown : bool
        Make missing cells of names a category of their own, one of `UNKNOWN_NAMES`, after the
        others; a list of allowed values must then name it too. Has no meaning for numbers and
        texts: rows where they are missing are set aside.

    Raises
    ------
    SpecError
        When limits or the role do not fit the column, with the reason.
    """
    _check(column, role)
    attribute = Attribute(
        name=column.name, kind=column.kind, values=column.values, low=column.low, high=column.high
    )
    if unknown and column.kind in (Kind.NOMINAL, Kind.ORDINAL):
        name = next(each for each in UNKNOWN_NAMES if each not in column.values)
        attribute = msgspec.structs.replace(attribute, values=(*column.values, name), unknown=True)
    if limits is not None:
        attribute = _limited(attribute, column, _limit(column, limits))
    if attribute.values:
        attribute = msgspec.structs.replace(
            attribute, low=0.0, high=float(len(attribute.values) - 1)
        )
    if role is Role.PROTECTED:
        decades = bool(column.derived) and not every_value
        compared = _compared(attribute, every_value=every_value, decades=decades)
        return msgspec.structs.replace(attribute, role=role, compared=compared)
    return msgspec.structs.replace(attribute, role=role)


def _check(column: Column, role: Role) -> None:
    """Refuse a column that cannot be an attribute of this role."""
    if column.kind is Kind.IGNORED:
        raise SpecError(
            f"The column “{column.name}” is excluded.",
            remedy="Give it another type, or exclude it from the audit.",
        )
    if not column.kind.is_number and not column.values:
        raise SpecError(
            f"The column “{column.name}” is empty.", remedy="Exclude it from the audit."
        )
    if column.kind is Kind.TEXT and role is not Role.FIXED:
        raise SpecError(
            f"The column “{column.name}” contains free text, so its values are always those "
            "in the data.",
            why=(
                "Free text cannot be generated, and two free texts are not values that can be "
                "compared."
            ),
            remedy=(
                "Protect another attribute, or give the column the type “categorical” if it has "
                "only a few different values."
            ),
        )


def _wrong(column: Column, limits: object) -> SpecError:
    return SpecError(
        f"The allowed values of “{column.name}” cannot be {limits}.",
        remedy=(
            "For a number, give [low, high] with low <= high or a list of values; otherwise give "
            "a list of its values."
        ),
    )


def _limit(column: Column, given: Limit | Sequence[float | str]) -> Limit:
    """Read the short form of a limit."""
    if isinstance(given, Limit):
        return given
    if column.kind.is_number and len(given) == 2:
        low, high = _numbers(column, given)
        return Limit(low=low, high=high)
    return Limit(values=tuple(given))


def _numbers(column: Column, given: Sequence[float | str]) -> list[float]:
    """Read numbers that a column can hold."""
    try:
        numbers = [float(value) for value in given]
    except (TypeError, ValueError):
        raise _wrong(column, list(given)) from None
    whole = column.kind is Kind.INTEGER
    if not np.isfinite(numbers).all() or (
        whole and any(number != int(number) or abs(number) >= EXACT for number in numbers)
    ):
        raise _wrong(column, list(given))
    return numbers


def _limited(attribute: Attribute, column: Column, limit: Limit) -> Attribute:
    """Narrow an attribute to the given limits."""
    ranged = limit.low is not None or limit.high is not None or limit.step != 0
    limits = {key: value for key, value in msgspec.structs.asdict(limit).items() if value}
    if limit.values is not None:
        if ranged or not limit.values:
            raise _wrong(column, limits if ranged else [])
        return _listed(attribute, column, limit.values)
    if not ranged:
        return attribute
    if not column.kind.is_number:
        raise _wrong(column, limits)
    low, high = _numbers(
        column,
        (
            attribute.low if limit.low is None else limit.low,
            attribute.high if limit.high is None else limit.high,
        ),
    )
    (step,) = _numbers(column, (limit.step,))
    if low > high:
        raise _wrong(column, [low, high])
    if step < 0 or (step and (high - low) / step >= EXACT):
        raise SpecError(
            f"The step of “{column.name}” cannot be {limit.step:g}.",
            remedy="Give a step greater than zero that is not tiny compared with the range.",
        )
    if step:
        # a hair more, for 0.3 / 0.1 is a little less than 3
        high = min(high, float(f"{low + math.floor((high - low) / step + 1e-9) * step:.15g}"))
    return msgspec.structs.replace(attribute, low=low, high=high, step=step)


def _listed(attribute: Attribute, column: Column, values: Sequence[int | float | str]) -> Attribute:
    """Narrow an attribute to a list of values."""
    if column.kind.is_number:
        numbers = sorted(set(_numbers(column, values)))
        texts = tuple(column.text(number) for number in numbers)
        return msgspec.structs.replace(attribute, kind=Kind.ORDINAL, values=texts, numeric=True)
    chosen = {str(value) for value in values}
    strangers = chosen.difference(attribute.values)
    if strangers:
        raise SpecError(
            f"The column “{column.name}” has no value {', '.join(sorted(strangers))}.",
            remedy=f"Its values are: {', '.join(attribute.values)}.",
        )
    return msgspec.structs.replace(
        attribute,
        values=tuple(value for value in attribute.values if value in chosen),
        unknown=attribute.unknown and attribute.values[-1] in chosen,
    )


def _compared(
    attribute: Attribute, *, every_value: bool, decades: bool = False
) -> tuple[float, ...]:
    """Choose the codes of a protected attribute that are compared.

    Of ages in ``decades`` those in the middle of the usual bands: 25 to 34, 35 to 44.
    """
    if attribute.values:
        return tuple(float(code) for code in range(len(attribute.values)))
    low, spacing = attribute.low, attribute.spacing
    span = attribute.high - low
    count = round(span / spacing) + 1 if spacing else math.inf
    if every_value and spacing and count > MOST_COMBINATIONS:
        raise SpecError(
            f"The protected attribute “{attribute.name}” has {count:,.0f} values; "
            f"at most {MOST_COMBINATIONS:,} can be compared.",
            remedy="Group its values into bins, or narrow its range.",
        )
    if spacing and (every_value or count <= EVERY_VALUE_UP_TO):
        codes = low + np.arange(count) * spacing
    elif span == 0:
        return (low,)
    elif decades:
        codes = np.arange(np.ceil(low / 10), np.floor(attribute.high / 10) + 1) * 10
    else:
        codes = low + span * (np.arange(BINS) + 0.5) / BINS
        if attribute.step:
            codes = low + np.round((codes - low) / attribute.step) * attribute.step
        elif attribute.integral:
            codes = np.round(codes)
    if attribute.step:
        codes = np.minimum(np.round(codes * attribute.grid) / attribute.grid, attribute.high)
    return tuple(np.unique(codes).tolist())
