"""One attribute in several columns of 0 and 1, as encoders write it, and the column that it was."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.table import Column, Kind, Table

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
    columns: tuple[Column, ...],
    codes: NDArray[np.float64],
    groups: Mapping[str, tuple[str, ...]],
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
