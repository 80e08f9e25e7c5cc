"""The cells of a Parquet file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from fairdesk.data.formats.packing import Packing
from fairdesk.data.formats.raw_table import Cells, Watch, check_size, check_width, readable
from fairdesk.data.formats.sniffing import with_content
from fairdesk.data.table import Dialect
from fairdesk.errors import DataError

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
