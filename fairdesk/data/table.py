"""A table in memory: columns that say what their codes mean, and one array of codes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import msgspec
import numpy as np

from fairdesk.errors import DataError
from fairdesk.events import Rows


class Kind(StrEnum):
    """What the values of a column are."""

    NOMINAL = "nominal"
    """Names without an order."""
    ORDINAL = "ordinal"
    """Names with an order; neighbours in the order are neighbours."""
    INTEGER = "integer"
    """Whole numbers."""
    REAL = "real"
    """Numbers with fractions."""
    TEXT = "text"
    """Text that people wrote: a model may read it, no search changes it."""
    IGNORED = "ignored"
    """An identifier, or what the auditor leaves out: kept, never audited."""

    @property
    def is_number(self) -> bool:
        """Whether codes are the numbers themselves, not indexes into the column's values."""
        return self in (Kind.INTEGER, Kind.REAL)


class Dialect(msgspec.Struct, frozen=True):
    """How a table's file is written.

    Attributes
    ----------
    format : str
        ``"csv"`` (any delimited text), ``"parquet"``, ``"excel"`` or ``"sqlite"``; what the file
        is decides when it is read. For all but text only ``table`` and ``missing`` have a
        meaning, and ``header`` for Excel.
    table : str
        The sheet or table that was read, of a file with several; else empty.
    delimiter : str
        One character.
    encoding : str
        A codec name of Python, e.g. ``"utf-8-sig"``.
    header : bool
        Whether the first row names the columns.
    decimal : str
        ``"."`` or ``","``.
    missing : tuple[str, ...]
        Cells that mean "no value", besides the empty cell.
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    header: bool = True
    decimal: str = "."
    missing: tuple[str, ...] = ()
    format: Literal["csv", "parquet", "excel", "sqlite"] = "csv"
    table: str = ""


class Column(msgspec.Struct, frozen=True):
    """One column of a table.

    Attributes
    ----------
    name : str
        The header, unique in the table.
    kind : Kind
        What its values are.
    values : tuple[str, ...]
        The cell text of code 0, 1, ...; empty for numbers, whose code is the number itself.
        Nominal values are sorted as text (those that are all numbers by their size), ordinal
        ones in their order. A column of text has values in any order; an ignored one keeps what
        it had: values, or numbers.
    low, high : float
        The range of the codes present; both 0 when every cell is missing.
    missing : int
        The number of missing cells.
    missing_token : str
        How a missing cell is written in this file (the most frequent way), for exports.
    note : str
        What reading had to change, one sentence for the auditor; else empty.
    """

    name: str
    kind: Kind
    values: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0
    missing: int = 0
    missing_token: str = ""
    note: str = ""

    def text(self, code: float) -> str:
        """Write a code as the file would (with a decimal point); missing as its token."""
        if np.isnan(code):
            return self.missing_token
        if self.values:
            return self.values[int(code)]
        if self.kind is not Kind.REAL and code == int(code):
            return str(int(code))
        return repr(float(code))


class Source(msgspec.Struct, frozen=True):
    """Where a table came from: the file, its fingerprint, its size and how it was read.

    ``tables`` names the sheets or tables of a file that has several, ``dialect.table`` among them.
    """

    path: str
    sha256: str
    rows: int
    dialect: Dialect
    tables: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table of codes.

    Attributes
    ----------
    source : Source
        The file it was read from.
    columns : tuple[Column, ...]
        One per column of ``codes``.
    codes : Rows
        ``(n, len(columns))`` float64; NaN is a missing cell. Never written to: tables share it.
    """

    source: Source
    columns: tuple[Column, ...]
    codes: Rows

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in file order."""
        return tuple(column.name for column in self.columns)

    def index(self, name: str) -> int:
        """Give a column's position.

        Raises
        ------
        DataError
            When no column has that name; the message lists the names there are.
        """
        try:
            return self.names.index(name)
        except ValueError:
            raise DataError(
                f"There is no column “{name}” in the table.",
                remedy=f"Its columns are: {', '.join(self.names)}.",
            ) from None

    def column(self, name: str) -> Column:
        """Give a column by name; raises like `index`."""
        return self.columns[self.index(name)]

    def counts(self, name: str) -> dict[str, int]:
        """Count a column's values as the file writes them, in the order of their codes.

        Missing cells are left out; raises like `index`.
        """
        index = self.index(name)
        codes = self.codes[:, index]
        values, counts = np.unique(codes[~np.isnan(codes)], return_counts=True)
        return {
            self.columns[index].text(value): count
            for value, count in zip(values.tolist(), counts.tolist(), strict=True)
        }
