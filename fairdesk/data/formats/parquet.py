"""The cells of a Parquet file, and tables of codes written as one."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute, parquet

from fairdesk.data.columns.kinds import as_numbers
from fairdesk.data.formats.packing import Packing
from fairdesk.data.formats.raw_table import Cells, Watch, check_size, check_width, readable
from fairdesk.data.formats.text_layout import with_content
from fairdesk.data.table import Column, Dialect, Kind
from fairdesk.errors import DataError
from fairdesk.results.events import Rows

#: So many cells are unpacked at a time.
_CELLS_AT_ONCE = 4_000_000
#: What a file's own description may take, in bytes and in entries.
_MOST_DESCRIPTION = 1 << 26
_MOST_ENTRIES = 1 << 20


def read_parquet(
    path: Path, dialect: Dialect | None, watch: Watch
) -> tuple[Cells, Dialect, tuple[str, ...]]:
    """Read a Parquet file, a group of rows after the other.

    Columns of lists, records or bytes are there, but empty, and their note says so.

    Raises
    ------
    DataError
        When the file is broken, needs what is not supported, or exceeds the caps.
    """
    with readable(path), explained(path), path.open("rb") as stream:
        file = parquet.ParquetFile(
            stream,
            thrift_string_size_limit=_MOST_DESCRIPTION,
            thrift_container_size_limit=_MOST_ENTRIES,
        )
        header = file.schema_arrow.names
        width, rows = len(header), file.metadata.num_rows
        check_width(path, width)
        check_size(path, rows * width)
        packing, done = Packing(width), 0
        for batch in file.iter_batches(max(1, _CELLS_AT_ONCE // max(width, 1))):
            done += batch.num_rows
            check_size(path, done * width)
            # what the file says of its texts and their places is not believed
            batch.validate(full=True)
            packing.add(batch.columns)
            watch(done / max(rows, 1))
    if not width:
        raise DataError(
            f"The file “{path.name}” has no columns.", remedy="Choose a file that contains a table."
        )
    cells = Cells.under(header, packing.columns())
    return cells, with_content(Dialect(format="parquet"), dialect, cells), ()


@contextmanager
def explained(
    path: Path, what: str = "", remedy: str = "Save the table again, or save it as CSV."
) -> Iterator[None]:
    """Turn what Arrow says of a broken file into `DataError`; ``what`` says that it is broken."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataError(
            what or f"The Parquet file “{path.name}” cannot be read.",
            why=f"The reader reported: {str(error)[:300]}",
            remedy=remedy,
        ) from error


#: Rows of a group: what is turned into Arrow's arrays at a time.
_ROWS_AT_ONCE = 200_000
#: What programs take for truth values, not names.
_TRUTH = frozenset({"true", "True", "TRUE", "false", "False", "FALSE"})
#: A number that is spelt with zeros before it is a name: a postcode.
_PADDED = re.compile(r"\s*[+-]?0\d.*")


def packed(
    columns: Sequence[Column], codes: Rows, added: Rows, decimal: str, original: Path | None = None
) -> bytes:
    """Write a table, with rows added to it, as a Parquet file.

    Of a table that was a Parquet file, its own rows are those of the file, and every column keeps
    its type; a value of an added row that the file has too is the file's. Else whole numbers are
    64-bit integers, other numbers doubles, ``True`` and ``False`` truth values, and names that are
    all numbers without leading zeros numbers, as programs read them from CSV; everything else is
    text. A missing cell is null.

    Parameters
    ----------
    codes : Rows
        ``(n, w)``; the table's own rows.
    added : Rows
        ``(m, w)``; those that are added.
    decimal : str
        The decimal mark of names that are numbers.
    original : Path, optional
        The Parquet file that the table came from; it may lack the last ones of the columns.

    Returns
    -------
    bytes
        The same for the same table.

    Raises
    ------
    DataError
        When the original cannot be read, or has other rows or columns.
    """
    if original is None:
        typed = [
            _Typed(column, np.concatenate((codes[:, place], added[:, place])), decimal)
            for place, column in enumerate(columns)
        ]
        schema = pa.schema([pa.field(each.name, each.type) for each in typed])
        parts = (
            pa.table([each.array(part[:, i]) for i, each in enumerate(typed)], schema=schema)
            for rows in (codes, added)
            for part in _pieces(rows)
        )
        return _written(schema, parts)
    own = _read(original, len(codes), len(columns))
    width = own.num_columns
    more = [
        _Typed(column, np.concatenate((codes[:, place], added[:, place])), decimal)
        for place, column in enumerate(columns[width:], start=width)
    ]
    fields = [*own.schema, *(pa.field(each.name, each.type) for each in more)]
    schema = pa.schema(fields, metadata=own.schema.metadata)
    first = [each.array(codes[:, i]) for i, each in enumerate(more, start=width)]
    last = [
        _as_in_file(column, own.column(place), codes[:, place], added[:, place])
        for place, column in enumerate(columns[:width])
    ]
    last += [each.array(added[:, i]) for i, each in enumerate(more, start=width)]
    whole = pa.table([*own.columns, *first], schema=schema)
    return _written(schema, (whole, pa.table(last, schema=schema)))


class _Typed:
    """How a column's codes become an array of Arrow's.

    Attributes
    ----------
    name : str
        The column's.
    type : pa.DataType
        Of the array.
    """

    def __init__(self, column: Column, codes: NDArray[np.float64], decimal: str) -> None:
        self.name = column.name
        self._values = _values(column.values, decimal) if column.values else None
        if self._values is not None:
            self.type = self._values.type
        else:
            present = codes[~np.isnan(codes)]
            whole = column.kind is not Kind.REAL and bool((present == np.round(present)).all())
            self.type = pa.int64() if whole else pa.float64()

    def array(self, codes: NDArray[np.float64]) -> Any:  # noqa: ANN401 - Arrow has no types
        """Make an array of codes ``(n,)``."""
        gone = np.isnan(codes)
        if self._values is None:
            numbers = np.where(gone, 0.0, codes)
            return pa.array(numbers.astype(self.type.to_pandas_dtype()), self.type, mask=gone)
        places = np.where(gone, 0.0, codes).astype(np.int64)
        return self._values.take(pa.array(places, mask=gone))


def _values(values: Sequence[str], decimal: str) -> Any:  # noqa: ANN401 - as above
    """Return a column's values as programs read them from a CSV file."""
    if set(values) <= _TRUTH:
        return pa.array([value.lower() == "true" for value in values])
    numbers = None if any(map(_PADDED.fullmatch, values)) else as_numbers(values, decimal)
    if numbers is None:
        return pa.array(values, pa.string())
    if all(value.strip().lstrip("+-").isdigit() for value in values):
        return pa.array(numbers.astype(np.int64))
    return pa.array(numbers)


def _read(path: Path, rows: int, most: int) -> Any:  # noqa: ANN401 - as above
    """Read the original; it was read before, cell by cell, and is the same file."""
    with readable(path), explained(path):
        own = parquet.read_table(path)
    if own.num_rows != rows or own.num_columns > most:
        raise DataError(
            f"“{path.name}” is not the file that was audited.",
            remedy="Restore that file, or move this one elsewhere.",
        )
    return own


def _as_in_file(
    column: Column,
    own: Any,  # noqa: ANN401 - as above
    codes: NDArray[np.float64],
    added: NDArray[np.float64],
) -> Any:  # noqa: ANN401 - as above
    """Write added codes with the file's own values, and new ones in the file's type."""
    known, first = np.unique(codes, return_index=True)
    place = np.minimum(np.searchsorted(known, added), len(known) - 1)
    gone = np.isnan(added)
    new = ~gone & (known[place] != added)
    taken = own.take(pa.array(first[place].astype(np.int64), mask=gone | new))
    taken = taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken
    if not new.any():
        return taken
    fresh: list[Any] = [
        column.values[int(code)] if column.values else code for code in added[new].tolist()
    ]
    kind = own.type
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    cells = compute.replace_with_mask(
        taken.cast(plain), pa.array(new), compute.cast(pa.array(fresh), plain, safe=False)
    )
    return cells.cast(kind) if plain is kind else cells.dictionary_encode().cast(kind)


def _pieces(rows: Rows) -> list[Rows]:
    return [rows[start : start + _ROWS_AT_ONCE] for start in range(0, len(rows), _ROWS_AT_ONCE)]


def _written(schema: Any, parts: Any) -> bytes:  # noqa: ANN401 - as above
    file = io.BytesIO()
    with parquet.ParquetWriter(file, schema) as writer:
        for part in parts:
            writer.write_table(part)
    return file.getvalue()
