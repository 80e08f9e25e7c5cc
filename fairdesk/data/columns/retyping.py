"""From one kind of column to another."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.columns.kinds import EXACT, as_numbers
from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import DataError


def retype(table: Table, name: str, kind: Kind) -> Table:
    """Return a column another kind.

    To `Kind.IGNORED` and `Kind.TEXT` and back nothing is lost: an ignored column keeps its values
    and codes, one of text its values in their order.
    Numbers that become names are in numeric order; an ordinal column that becomes nominal is
    sorted as `Column` says.

    Returns
    -------
    Table
        A new one; the other columns are the same.

    Raises
    ------
    DataError
        When there is no such column, it is empty, or its values are no (whole) numbers.
    """
    position = table.index(name)
    column, codes = table.columns[position], table.codes[:, position]
    if kind is column.kind:
        return table
    if kind is Kind.IGNORED:
        return _with(table, position, msgspec.structs.replace(column, kind=kind), codes)
    if np.isnan(codes).all():
        raise DataError(f"The column “{name}” is empty.", remedy="Leave it excluded.")
    decimal = table.source.dialect.decimal
    if kind.is_number:
        column, codes = _to_numbers(column, codes, kind, decimal)
    else:
        column, codes = _to_names(column, codes, kind, decimal)
    column = msgspec.structs.replace(
        column, kind=kind, low=float(np.nanmin(codes)), high=float(np.nanmax(codes))
    )
    return _with(table, position, column, codes)


def included(table: Table, names: Collection[str]) -> Table:
    """Give excluded columns that are needed after all the first type that they can have."""
    for column in table.columns:
        if column.kind is not Kind.IGNORED or column.name not in names:
            continue
        names_only = table.source.dialect.reading(column.name).numeric is False
        for kind in (Kind.NOMINAL,) if names_only else (Kind.INTEGER, Kind.REAL, Kind.NOMINAL):
            with suppress(DataError):  # of another kind; an empty one stays excluded
                table = retype(table, column.name, kind)
                break
    return table


def _with(table: Table, position: int, column: Column, codes: NDArray[np.float64]) -> Table:
    """Put a column in place of another."""
    columns = (*table.columns[:position], column, *table.columns[position + 1 :])
    before = table.codes[:, position]
    if codes is before or np.array_equal(codes, before, equal_nan=True):
        return replace(table, columns=columns)
    changed = table.codes.copy(order="K")
    changed[:, position] = codes
    return replace(table, columns=columns, codes=changed)


def _to_numbers(
    column: Column, codes: NDArray[np.float64], kind: Kind, decimal: str
) -> tuple[Column, NDArray[np.float64]]:
    """Make values numbers; whole ones where the kind asks for it."""
    if column.values:
        numbers = as_numbers(column.values, decimal)
        if numbers is None:
            wrong = next(v for v in column.values if as_numbers([v], decimal) is None)
            raise DataError(
                f"The column “{column.name}” cannot be read as numbers.",
                why=f"Its value “{wrong[:80]}” is not a number.",
                remedy=(
                    "Give it another type or, if that value means that the value is not known, "
                    "add it to the missing values."
                ),
            )
        codes = _look_up(numbers, codes)
    present = codes[~np.isnan(codes)]
    if kind is Kind.INTEGER:
        broken = (present != np.round(present)) | (np.abs(present) >= EXACT)
        if broken.any():
            raise DataError(
                f"The column “{column.name}” cannot be read as whole numbers.",
                why=f"Its value {present[broken][0]:g} is not a whole number, or it is too large.",
                remedy="Keep the type “decimal numbers”.",
            )
    return msgspec.structs.replace(column, values=()), codes


def _to_names(
    column: Column, codes: NDArray[np.float64], kind: Kind, decimal: str
) -> tuple[Column, NDArray[np.float64]]:
    """Make codes indexes into a list of values."""
    if not column.values:
        numbers = np.unique(codes[~np.isnan(codes)])
        values = tuple(column.text(number).replace(".", decimal) for number in numbers)
        return (
            msgspec.structs.replace(column, values=values),
            np.where(np.isnan(codes), np.nan, np.searchsorted(numbers, codes)),
        )
    if kind in (Kind.ORDINAL, Kind.TEXT):
        return column, codes
    as_read = as_numbers(column.values, decimal)
    order = (
        np.argsort(as_read, kind="stable")
        if as_read is not None
        else np.array(sorted(range(len(column.values)), key=column.values.__getitem__))
    )
    values = tuple(column.values[i] for i in order)
    return msgspec.structs.replace(column, values=values), _look_up(np.argsort(order), codes)


def _look_up(
    new: NDArray[np.float64] | NDArray[np.intp], codes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Replace each code by its entry in ``new``; missing stays missing."""
    padded = np.append(new.astype(np.float64), np.nan)
    return padded[np.where(np.isnan(codes), len(new), codes).astype(np.intp)]
