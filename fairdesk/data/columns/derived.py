"""Columns that follow from others: ages from dates, and one attribute from columns of 0 and 1.

Dates become whole years to a date, so that groups are of ages and not of days. An attribute that an
encoder wrote as several columns of 0 and 1 becomes the column that it was.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import groupby

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


#: ``(n,)``; a column's cells as 0, 1 and NaN.
Flags = NDArray[np.float64]
#: What the value of such an attribute is where all of its columns are 0: an encoder may leave one
#: value out, and writes one that it does not know so.
NONE_OF_THESE = "none of these"
#: If the columns were independent, so many pairs of 1 in one row would be expected at least ...
_LEAST_EXPECTED = 5.0
#: ... of which no more than this share is there: rows with a wrong cell.
_MOST_TOGETHER = 0.02
_ENDS = " _=.:-/|"
#: Where the name of an attribute may end, and that of its value begin.
_BOUNDARY = re.compile(rf"(?<=[{re.escape(_ENDS)}])(?=.)|(?<=[a-z])(?=[A-Z0-9])")
#: What 0 and 1 may be written as.
_NO_YES = (("0", "1"), ("0.0", "1.0"), ("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"))


def find_groups(table: Table, but: Iterable[str] = ()) -> dict[str, tuple[str, ...]]:
    """Find the attributes that are in several columns, of which at most one is 1 in a row.

    The columns have the beginning of their names in common (race_Black, race_White); or, whatever
    their names, are neighbours of which exactly one is 1 in every row (female, male).

    Parameters
    ----------
    but : iterable of str
        Columns that are no part of any: the outcome.

    Returns
    -------
    dict[str, tuple[str, ...]]
        The attributes by names that no column has, with their columns.
    """
    combined = {name for column in table.columns for name in column.derived}
    left_out = combined.union(but)
    flags = {}
    for place, column in enumerate(table.columns):
        if column.name not in left_out and column.kind is not Kind.IGNORED and not column.derived:
            flag = _flag(column, table.codes[:, place])
            if flag is not None:
                flags[column.name] = flag
    found: dict[str, tuple[str, ...]] = {}

    def note(members: tuple[str, ...], name: str) -> None:
        if name in table.names:
            name = f"{name} (one of {len(members)} columns)"
        found[name] = members
        for member in members:
            del flags[member]

    for prefix in _prefixes(flags):
        members = tuple(name for name in flags if name.startswith(prefix) and name != prefix)
        if len(members) > 1 and _exclusive([flags[name] for name in members]):
            note(members, prefix.rstrip(_ENDS) or prefix)
    for members in tuple(_neighbours(table, flags)):
        note(members, "/".join(members))
    return found


def _prefixes(names: Iterable[str]) -> list[str]:
    """Return the beginnings of names up to where a value may begin, the shortest first."""
    found = {name[: each.start()] for name in names for each in _BOUNDARY.finditer(name)}
    return sorted(found, key=lambda prefix: (len(prefix), prefix))


def _neighbours(table: Table, flags: dict[str, Flags]) -> Iterator[tuple[str, ...]]:
    """Yield neighbouring columns of which exactly one is 1 in every row."""
    for is_flag, run in groupby(table.names, lambda name: name in flags):
        names = list(run) if is_flag else []
        while names:
            chosen = _exactly_one(names, flags)
            if len(chosen) > 1 and _exclusive([flags[name] for name in chosen]):
                yield chosen
            names = names[max(len(chosen), 1) :]


def _exactly_one(names: Sequence[str], flags: dict[str, Flags]) -> tuple[str, ...]:
    """Return the first columns of which exactly one is 1 in every row; empty where there are none.

    Once two are 1 in a row, more columns do not help.
    """
    count = np.zeros_like(flags[names[0]])
    for place, name in enumerate(names, start=1):
        count = count + flags[name]
        if not (count <= 1).all():
            break
        if (count == 1).all():
            return tuple(names[:place])
    return ()


def _flag(column: Column, codes: Flags) -> Flags | None:
    """Return a column's cells as 0, 1 and NaN; none where it holds anything else, or only one."""
    if column.kind.is_number:
        fits = (column.low, column.high) == (0.0, 1.0) and _is_whole(codes)
        return codes if fits else None
    lowered = [value.strip().lower() for value in column.values]
    yes = next((yes for no, yes in _NO_YES if sorted(lowered) == [no, yes]), None)
    return None if yes is None else np.where(np.isnan(codes), np.nan, codes == lowered.index(yes))


def _is_whole(codes: Flags) -> bool:
    return bool(((codes == 0) | (codes == 1) | np.isnan(codes)).all())


def _exclusive(flags: Sequence[Flags]) -> bool:
    """Return whether at most one of some columns is 1 in a row, and not by chance."""
    count, ones = np.zeros_like(flags[0]), []
    for flag in flags:
        is_one = flag == 1
        count += is_one
        ones.append(np.count_nonzero(is_one))
    total = sum(ones)
    expected = (total * total - sum(each * each for each in ones)) / 2 / max(len(count), 1)
    together = (count * (count - 1) / 2).sum()
    return bool(expected >= _LEAST_EXPECTED and together <= _MOST_TOGETHER * expected)


def with_groups(
    columns: tuple[Column, ...], codes: NDArray[np.float64], groups: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[Column, ...], NDArray[np.float64]]:
    """Add to a table one column for each attribute that is in several columns.

    Its values are what the names of the columns do not have in common; one more where all of them
    are 0 in some row. It is missing where a cell is missing, or two are 1. An attribute whose
    columns are not there, or hold anything else, is left aside.
    """
    names = [column.name for column in columns]
    for name, members in groups.items():
        if name in names or not set(members) <= set(names):
            continue
        places = [names.index(member) for member in members]
        flags = [_flag(columns[place], codes[:, place]) for place in places]
        cells = np.array([flag for flag in flags if flag is not None])
        if len(cells) < len(flags):
            continue
        count = cells.sum(axis=0)
        which = np.where(count == 0, len(members), cells.argmax(axis=0))
        which = np.where(count <= 1, which, np.nan)  # a missing cell makes the count NaN
        values = _values(members)
        if (count == 0).any():
            values.append(NONE_OF_THESE)
        # values are in the order of texts, as those of any column
        order = sorted(range(len(values)), key=values.__getitem__)
        place_of = np.append(np.argsort(order).astype(np.float64), [np.nan] * 2)
        which = place_of[np.where(np.isnan(which), len(values), which).astype(np.intp)]
        columns = (
            *columns,
            Column(
                name,
                Kind.NOMINAL,
                values=tuple(values[place] for place in order),
                low=0.0,
                high=len(values) - 1.0,
                missing=int(np.isnan(which).sum()),
                note=f"“{name}” is one attribute, in {len(members)} columns of 0 and 1 that change "
                f"together: {', '.join(members)}.",
                derived=members,
            ),
        )
        codes = np.concatenate([codes, which[:, None]], axis=1)
    return columns, codes


def _values(members: tuple[str, ...]) -> list[str]:
    """Name the values of an attribute by what the names of its columns do not have in common."""
    common = 0
    for prefix in _prefixes(members):
        if all(name.startswith(prefix) and name != prefix for name in members):
            common = len(prefix)
    return [name[common:] for name in members]


def grouped(table: Table, but: Iterable[str] = ()) -> Table:
    """Return a table with a column for each attribute that is found in several columns.

    Of a table that is read in parts the columns stay apart.
    """
    groups = {} if table.source.sample is not None else find_groups(table, but)
    if not groups:
        return table
    dialect = msgspec.structs.replace(
        table.source.dialect, groups={**table.source.dialect.groups, **groups}
    )
    columns, codes = with_groups(table.columns, table.codes, groups)
    return replace(
        table,
        source=msgspec.structs.replace(table.source, dialect=dialect),
        columns=columns,
        codes=codes,
    )
