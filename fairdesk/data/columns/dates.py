"""Columns of dates: whole years from each to a date, so that groups are of ages, not of days."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.table import Column, Dialect, Kind, Table
from fairdesk.errors import DataError

#: What may follow a date: a time of day.
_TIME = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
_YEAR_FIRST = re.compile(rf"\s*(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}}){_TIME}\s*")
_YEAR_LAST = re.compile(rf"\s*(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}){_TIME}\s*")
_MONTH_NAMED = re.compile(r"\s*(\d{1,2})[ -]([A-Za-z]{3})[a-z]*\.?[ -](\d{4})\s*")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def dates_of(values: Sequence[str]) -> tuple[date, ...] | None:
    """Read texts as dates, all or none: 1990-12-31, 31/12/1990, 12/31/1990, 31 Dec 1990.

    Where the day may as well be the month in all of them, the day is first.
    """
    for places in ((0, 1, 2), (2, 1, 0), (2, 0, 1)):
        found = _read(values, places)
        if found is not None:
            return found
    return None


def _read(values: Sequence[str], places: tuple[int, int, int]) -> tuple[date, ...] | None:
    """Read texts whose year, month and day are at these places; ``None`` where one is not so."""
    pattern = _YEAR_LAST if places[0] else _YEAR_FIRST
    found = []
    for text in values:
        if shape := pattern.fullmatch(text):
            parts = (shape[1], shape[3], shape[4])
            year, month, day = (int(parts[place]) for place in places)
        elif (named := _MONTH_NAMED.fullmatch(text)) and named[2].lower() in _MONTHS:
            year, day = int(named[3]), int(named[1])
            month = _MONTHS.index(named[2].lower()) + 1
        else:
            return None
        try:
            found.append(date(year, month, day))
        except ValueError:
            return None
    return tuple(found) or None


def is_of_dates(column: Column) -> bool:
    """Return whether a column holds dates of more than one year."""
    if not column.values or dates_of(column.values[:1]) is None:
        return False
    dates = dates_of(column.values)
    return dates is not None and min(dates).year != max(dates).year


def default_date(table: Table, name: str) -> date:
    """Return the date at which ages are taken unless the auditor gives another.

    The newest date of the table's other columns of dates, where it is not before the newest of the
    column itself: the data are from about then. Else today.
    """
    own = dates_of(table.column(name).values) or ()
    others = [
        max(dates)
        for column in table.columns
        if column.name != name and column.values and (dates := dates_of(column.values))
    ]
    newest = max(others, default=None)
    return newest if newest is not None and newest >= max(own, default=newest) else today()


def today() -> date:
    """Return the date here and now."""
    return datetime.now(UTC).astimezone().date()


def age_name(name: str) -> str:
    """Name the column of the ages that follow from a column of dates."""
    return f"age from {name}"


def dated(table: Table, names: Collection[str]) -> tuple[str, ...]:
    """Return the columns of dates that some names mean: their own, or those of their ages."""
    return tuple(
        column.name
        for column in table.columns
        if {column.name, age_name(column.name)} & set(names) and is_of_dates(column)
    )


def with_ages(
    columns: tuple[Column, ...], codes: NDArray[np.float64], dialect: Dialect
) -> tuple[tuple[Column, ...], NDArray[np.float64]]:
    """Add to a table the ages that its dialect asks for: whole years from each date to another.

    Raises
    ------
    DataError
        When a column holds no dates, or none is before the date that is given.
    """
    for name, at in dialect.ages.items():
        place = next((i for i, each in enumerate(columns) if each.name == name), -1)
        dates = dates_of(columns[place].values) if place >= 0 else None
        if dates is None:
            raise DataError(
                f"The column “{name}” does not hold dates.",
                remedy="Give a column in which each cell is a date, like 1990-12-31.",
            )
        years = np.array([_years(each, date.fromisoformat(at)) for each in dates] + [np.nan])
        own = codes[:, place]
        ages = years[np.where(np.isnan(own), len(dates), own).astype(np.intp)]
        there = ages[~np.isnan(ages)]
        if not there.size:
            raise DataError(
                f"No date in “{name}” is before {at}, so there are no ages.",
                remedy="Give a later date (--age-at).",
            )
        column = Column(
            age_name(name),
            Kind.INTEGER,
            low=float(there.min()),
            high=float(there.max()),
            missing=int(np.isnan(ages).sum()),
            note=f"Whole years from “{name}” to {at}.",
            derived=(name,),
        )
        columns, codes = (*columns, column), np.column_stack([codes, ages])
    return columns, codes


def _years(born: date, at: date) -> float:
    """Count whole years from one date to another; NaN where the first is later."""
    years = at.year - born.year - ((at.month, at.day) < (born.month, born.day))
    return float(years) if born <= at else np.nan


def at_date(dialect: Dialect, name: str, at: date) -> Dialect:
    """Return a dialect that adds the ages at a date."""
    return msgspec.structs.replace(dialect, ages={**dialect.ages, name: at.isoformat()})
