"""A table in memory: columns that say what their codes mean, and one array of codes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import msgspec
import numpy as np

from fairdesk.errors import DataError, did_you_mean
from fairdesk.results.events import Rows

#: So many odd or garbled texts of a column are listed, and so many line numbers of each.
MOST_LISTED, MOST_LINES = 100, 20


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


class NumberFormat(msgspec.Struct, frozen=True):
    """How the numbers of a column are written.

    Attributes
    ----------
    decimal : str
        ``"."`` or ``","``.
    grouping : str
        What groups the digits before it: ``","``, ``"."``, ``" "`` (of any width), ``"'"``;
        empty for nothing.
    unit : str
        A currency or percent sign before or after them; empty for none.
    """

    decimal: str = "."
    grouping: str = ""
    unit: str = ""


class ColumnReading(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the auditor decided that a column is read; what is left out is found by looking.

    Attributes
    ----------
    numeric : bool, optional
        Whether it holds numbers, however many of its cells are none; else names.
    format : NumberFormat, optional
        How its numbers are written.
    odd : str
        What is done with its odd cells: they are missing, or those that are numbers in another
        format are mended. Empty where the auditor did not decide: then they are missing too.
    cells : dict[str, float or None]
        What single odd cells are, by their text without spaces around it: a number, or missing.
    missing : tuple[str, ...], optional
        Its cells that mean "no value", besides the empty cell; None for those of the whole file.
    by_model : bool
        Whether this follows from the values that the model's encoder knows, and nobody decided it.
    """

    numeric: bool | None = None
    format: NumberFormat | None = None
    odd: Literal["", "missing", "mended"] = ""
    cells: dict[str, float | None] = msgspec.field(default_factory=dict)
    missing: tuple[str, ...] | None = None
    by_model: bool = False


#: A column whose cells are all kept as they stand in the file: each text is a value.
AS_THEY_ARE = ColumnReading(numeric=False, missing=())


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
    columns : dict[str, ColumnReading]
        What the auditor decided of single columns, by name.
    encoding_mended : bool
        Whether texts that were written in another encoding than the rest of the file (“KÃ¶ln”
        for “Köln”) are read as what they were meant to be.
    ages : dict[str, str]
        Columns of dates from which a column of ages follows, each with the date of the ages.
    groups : dict[str, tuple[str, ...]]
        Attributes that are in several columns of 0 and 1, with these.
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
    columns: dict[str, ColumnReading] = msgspec.field(default_factory=dict)
    encoding_mended: bool = False
    ages: dict[str, str] = msgspec.field(default_factory=dict)
    groups: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)

    def reading(self, name: str) -> ColumnReading:
        """Return what was decided of a column; nothing where it is not named."""
        return self.columns.get(name, ColumnReading())

    def tokens(self, name: str) -> frozenset[str]:
        """Return what means "no value" in a column besides the empty cell, without spaces."""
        own = self.reading(name).missing
        return frozenset(token.strip() for token in (self.missing if own is None else own))


class OddCell(msgspec.Struct, frozen=True):
    """A text in a column of numbers that is none.

    Attributes
    ----------
    text : str
        The text, without spaces around it.
    rows : int
        How many cells hold it.
    lines : tuple[int, ...]
        Where: the first few line numbers of the file, or row numbers where it has no lines.
    value : float, optional
        The number that it was mended to; None where it counts as missing.
    proposed : float, optional
        The number that it would be if only its format were another.
    """

    text: str
    rows: int
    lines: tuple[int, ...] = ()
    value: float | None = None
    proposed: float | None = None


class Garbled(msgspec.Struct, frozen=True):
    """A text that was written in another encoding than the rest of its file.

    Attributes
    ----------
    text, meant : str
        How it reads, and what it was meant to be.
    rows : int
        How many cells hold it.
    twin : bool
        Whether other cells hold what was meant, so that one group is two.
    lines : tuple[int, ...]
        As of `OddCell`.
    """

    text: str
    meant: str
    rows: int
    twin: bool
    lines: tuple[int, ...] = ()


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
    missing_texts : tuple of (str, int)
        The texts of missing cells that are not empty, without spaces around them, and how many
        cells have each: the most frequent first, at most `MOST_LISTED`. Odd cells are not among
        them.
    note : str
        What reading had to change, one sentence for the auditor; else empty.
    format : NumberFormat, optional
        How its numbers are written, where that is not the file's plain way.
    ambiguous : str
        One of its numbers, where all fractions could as well be thousands: “1.234”.
    odd : tuple[OddCell, ...]
        The texts of a column of numbers that are none, the most frequent first, at most
        `MOST_LISTED`.
    odd_rows : int
        How many cells are odd, mended ones among them.
    garbled : tuple[Garbled, ...]
        Texts in another encoding, the most frequent first, at most `MOST_LISTED`.
    derived : tuple[str, ...]
        Of ages, the column of dates from which they follow; of an attribute that is in several
        columns of 0 and 1, these. It is no column of the file.
    """

    name: str
    kind: Kind
    values: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0
    missing: int = 0
    missing_token: str = ""
    missing_texts: tuple[tuple[str, int], ...] = ()
    note: str = ""
    format: NumberFormat | None = None
    ambiguous: str = ""
    odd: tuple[OddCell, ...] = ()
    odd_rows: int = 0
    garbled: tuple[Garbled, ...] = ()
    derived: tuple[str, ...] = ()

    @property
    def is_one_hot(self) -> bool:
        """Whether it is an attribute that the file has in several columns of 0 and 1."""
        return bool(self.derived and self.values)

    def text(self, code: float) -> str:
        """Write a code as the file would (with a decimal point); missing as its token."""
        if np.isnan(code):
            return self.missing_token
        if self.values:
            return self.values[int(code)]
        if self.kind is not Kind.REAL and code == int(code):
            return str(int(code))
        return repr(float(code))


class Sample(msgspec.Struct, frozen=True):
    """The rows that are held of a table that is larger than memory.

    Attributes
    ----------
    rows : int
        How many, drawn uniformly without replacement.
    seed : int
        Of the generator that drew them.
    """

    rows: int
    seed: int


class Source(msgspec.Struct, frozen=True):
    """Where a table came from.

    Attributes
    ----------
    path : str
        The file, or the folder with its parts.
    sha256 : str
        Its SHA-256; of a folder as `fairdesk.files.sha256`.
    rows : int
        How many rows it has.
    dialect : Dialect
        How it was read.
    tables : tuple[str, ...]
        The sheets or tables of a file that has several, ``dialect.table`` among them.
    parts : dict[str, str]
        Of a table in parts the SHA-256 of each by its place in the folder.
    sample : Sample, optional
        The rows that are held, where these are not all.
    """

    path: str
    sha256: str
    rows: int
    dialect: Dialect
    tables: tuple[str, ...] = ()
    parts: dict[str, str] = msgspec.field(default_factory=dict)
    sample: Sample | None = None

    @property
    def held(self) -> int:
        """How many rows are held: all, or those of the sample."""
        return self.rows if self.sample is None else self.sample.rows


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
        """Return a column's position.

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
                remedy=did_you_mean(name, self.names, f"Its columns are: {', '.join(self.names)}."),
            ) from None

    def column(self, name: str) -> Column:
        """Return a column by name; raises like `index`."""
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
