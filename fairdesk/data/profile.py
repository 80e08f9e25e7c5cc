"""What is worth knowing about a table before it is audited: shapes, problems, suggestions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data import vocabulary
from fairdesk.data.kinds import as_numbers, counts_rows, identifies, is_prose, name_parts
from fairdesk.data.table import Column, Kind, Table

#: From this share of missing cells a column is worth a word; from the second it is best left out.
SOME_MISSING = 0.05
MOSTLY_MISSING = 0.5
#: More values than this are too many to be told apart one by one.
MANY_VALUES = 100
#: An outcome has at most so many values.
MOST_OUTCOMES = 20


class Problem(msgspec.Struct, frozen=True):
    """Something about a column that the auditor should know.

    Attributes
    ----------
    column : str
        Its name.
    what : str
        What it is, one sentence.
    remedy : str
        What can be done, one sentence.
    suggested : Kind, optional
        The kind that mends it, where one does.
    """

    column: str
    what: str
    remedy: str
    suggested: Kind | None = None


def histogram(table: Table, name: str, bins: int = 12) -> tuple[tuple[str, int], ...]:
    """Count a column's values for a small chart.

    Parameters
    ----------
    table : Table
        The data.
    name : str
        A column of it.
    bins : int
        The most bars, at least 2.

    Returns
    -------
    tuple of (str, int)
        Labels and counts. Of names the most frequent first and the rest as ``"other"``; ordinal
        values in their order; numbers by value, or in bins of equal width. Missing cells are
        not counted.

    Raises
    ------
    DataError
        When there is no such column.
    """
    column = table.column(name)
    codes = table.codes[:, table.index(name)]
    present = codes[~np.isnan(codes)]
    if not present.size:
        return ()
    if column.values:
        return _bars_of_names(column, present, bins)
    numbers, counts = np.unique(present, return_counts=True)
    if numbers.size <= bins:
        return tuple(zip(map(_short, numbers.tolist()), counts.tolist(), strict=True))
    return _bars_of_numbers(column, present, bins)


def _bars_of_names(
    column: Column, present: NDArray[np.float64], bins: int
) -> tuple[tuple[str, int], ...]:
    counts = np.bincount(present.astype(np.intp), minlength=len(column.values))
    if column.kind is Kind.ORDINAL and len(column.values) <= bins:
        return tuple(zip(column.values, counts.tolist(), strict=True))
    order = np.argsort(-counts, kind="stable").tolist()
    shown = order if len(order) <= bins else order[: bins - 1]
    bars = [(column.values[i], int(counts[i])) for i in shown]
    if len(order) > bins:
        bars.append(("other", int(counts[order[bins - 1 :]].sum())))
    return tuple(bars)


def _bars_of_numbers(
    column: Column, present: NDArray[np.float64], bins: int
) -> tuple[tuple[str, int], ...]:
    low, high = present.min(), present.max()
    if column.kind is Kind.REAL or (present != np.round(present)).any():
        counts, edges = np.histogram(present, bins=bins)
        labels = [f"{_short(a)} – {_short(b)}" for a, b in pairwise(edges.tolist())]
        return tuple(zip(labels, counts.tolist(), strict=True))
    width = np.ceil((high - low + 1) / bins)
    counts = np.bincount(((present - low) // width).astype(np.intp))
    starts = (low + width * np.arange(counts.size)).tolist()
    if width == 1:
        labels = [_short(start) for start in starts]
    else:
        labels = [f"{_short(start)} – {_short(start + width - 1)}" for start in starts]
    return tuple(zip(labels, counts.tolist(), strict=True))


def _short(number: float) -> str:
    """Write a number for a chart's label."""
    return f"{int(number)}" if number == int(number) else f"{number:.4g}"


def problems(table: Table) -> tuple[Problem, ...]:
    """Find what stands in the way of a sound audit, column by column."""
    decimal = table.source.dialect.decimal
    return tuple(
        problem
        for position, column in enumerate(table.columns)
        for problem in _problems_of(column, table.codes[:, position], decimal)
    )


def _problems_of(column: Column, codes: NDArray[np.float64], decimal: str) -> Iterator[Problem]:
    name, missing = f"“{column.name}”", column.missing / codes.size
    if column.missing == codes.size:
        yield Problem(column.name, f"{name} is empty.", "It is left out.")
        return
    useless = _nothing_to_audit(column, codes)
    if useless:
        yield _problem(column, f"{name} {useless}")
        return
    if column.kind is Kind.IGNORED:
        return
    if column.low == column.high:
        where = "wherever it is known" if column.missing else "in every row"
        yield _problem(column, f"{name} has the same value {where}, so it tells nobody apart.")
    elif column.kind is Kind.NOMINAL and len(column.values) > MANY_VALUES:
        yield _problem(column, f"{name} has {len(column.values):,} different values.")
    if missing >= SOME_MISSING:
        mostly = missing >= MOSTLY_MISSING
        yield Problem(
            column.name,
            f"In {name} {column.missing:,} of {codes.size:,} values are missing ({missing:.0%}).",
            "Leave it out, or only the other rows are audited."
            if mostly
            else "Only the other rows are audited while it is in.",
            Kind.IGNORED if mostly else None,
        )
    if not column.kind.is_number:
        yield from _spelling(column, decimal)


def _problem(column: Column, what: str) -> Problem:
    """Make a problem that is mended by leaving the column out."""
    if column.kind is Kind.IGNORED:
        return Problem(column.name, what, "It is left out; give it a kind to take it in.")
    return Problem(column.name, what, "Leave it out unless the model needs it.", Kind.IGNORED)


def _nothing_to_audit(column: Column, codes: NDArray[np.float64]) -> str:
    """Say why a column does not describe people; empty when it may."""
    if is_prose(column, codes):
        return "holds free text."
    if identifies(column, codes):
        return "names the rows: nearly every one has a value of its own."
    if not column.values and codes.size > 2 and counts_rows(codes):
        return "only counts the rows."
    return ""


def _spelling(column: Column, decimal: str) -> Iterator[Problem]:
    """Find values that are nearly alike, and names that are nearly numbers."""
    same = defaultdict(list)
    for value in column.values:
        same[_plain(value)].append(value)
    twins = next((values for values in same.values() if len(values) > 1), None)
    if twins:
        yield Problem(
            column.name,
            f"“{column.name}” has values that differ only in capitals or spaces: {_quoted(twins)}.",
            "Make them one in the file, or each counts as a group of its own.",
        )
    strangers = [value for value in column.values if as_numbers([value], decimal) is None]
    if not strangers:
        return
    other = "," if decimal == "." else "."
    if as_numbers(column.values, other) is not None:
        yield Problem(
            column.name,
            f"“{column.name}” holds numbers with another decimal mark or with thousands marked.",
            "Choose the other decimal mark, or write the numbers plainly in the file.",
        )
        return
    numbers = len(column.values) - len(strangers)
    if len(strangers) <= 3 and numbers >= 5:
        yield Problem(
            column.name,
            f"“{column.name}” would hold numbers but for {_quoted(strangers)}.",
            "If that means that nothing is known, add it to the missing values.",
        )


def _quoted(values: list[str]) -> str:
    return ", ".join(f"“{value}”" for value in values[:3])


def suggest_protected(table: Table) -> tuple[str, ...]:
    """Name the columns that look like protected attributes, by their names and values.

    To be shown, never to be applied silently. Ignored columns are left out.
    """
    return tuple(
        column.name
        for column in table.columns
        if column.kind is not Kind.IGNORED
        and (_named_protected(column.name) or _valued_protected(column.values))
    )


def _named_protected(name: str) -> bool:
    parts = set(name_parts(name))
    if parts & vocabulary.THINGS:
        return False
    return bool(
        parts & vocabulary.PROTECTED
        or any(part.startswith(vocabulary.PROTECTED_STEMS) for part in parts)
        or any(parts.issuperset(together) for together in vocabulary.PROTECTED_TOGETHER)
    )


def _valued_protected(values: Iterable[str]) -> bool:
    plain = {_plain(value) for value in values}
    return any(
        len(shared := plain & known) >= 2 and not shared <= vocabulary.COLOURS
        for known in vocabulary.VALUES_OF_PROTECTED
    )


def suggest_label(table: Table) -> str | None:
    """Name the column that most looks like the decision or outcome; None when none does.

    A usual name counts most, then two values, then the last place.
    """
    best, best_score = None, 0
    for position, column in enumerate(table.columns):
        parts = name_parts(column.name)
        if column.kind in (Kind.IGNORED, Kind.REAL) or vocabulary.SURVEY.intersection(parts):
            continue
        present = table.codes[:, position]
        distinct = np.unique(present[~np.isnan(present)]).size
        if not 2 <= distinct <= MOST_OUTCOMES:
            continue
        plain, last = "".join(parts), position == len(table.columns) - 1
        named = 4 * (plain in vocabulary.LABELS) + 2 * (plain in vocabulary.PERHAPS_LABELS)
        score = named + (distinct == 2) + last
        if (named or last) and score >= best_score:
            best, best_score = column.name, score
    return best


def _plain(value: str) -> str:
    """Write a value without regard to capitals and spaces."""
    return " ".join(value.casefold().split())
