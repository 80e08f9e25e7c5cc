"""What the readers of all formats share: cells, names of columns, caps, errors of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import DataError

if TYPE_CHECKING:
    from fairdesk.data.columns.texts import Numbers, Texts

#: Files with more columns or cells are refused: they are no tables of people.
MOST_COLUMNS = 10_000
MOST_CELLS = 200_000_000

#: Told which share of the work is done.
Watch = Callable[[float], None]


@dataclass(frozen=True)
class Cells:
    """A file's cells.

    Attributes
    ----------
    names : tuple[str, ...]
        The names of its columns, unique.
    columns : tuple of Texts or Numbers
        What stands in them.
    notes : tuple[str, ...]
        As `fairdesk.data.table.Column.note`, one per column.
    sha256 : str
        The fingerprint of the file, where it was taken on the way; else empty.
    row_numbers : NDArray[np.int32], optional
        ``(n,)``; what the file's own program numbers the rows, of a sheet.
    """

    names: tuple[str, ...]
    columns: tuple[Texts | Numbers, ...]
    notes: tuple[str, ...]
    sha256: str = ""
    row_numbers: NDArray[np.int32] | None = None

    @classmethod
    def under(
        cls,
        header: Sequence[str] | None,
        columns: Sequence[Texts | Numbers],
        sha256: str = "",
        row_numbers: NDArray[np.int32] | None = None,
    ) -> Cells:
        """Put columns under the names of a header, as far as they can be kept; None has none."""
        names = unique_names(header or [""] * len(columns))
        notes = _notes_on_names(header, names) if header else ("",) * len(columns)
        return cls(names, tuple(columns), notes, sha256, row_numbers)

    @property
    def rows(self) -> int:
        """The number of data rows."""
        return len(self.columns[0].codes)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn the failures of opening, decoding and parsing a file into `DataError`."""
    try:
        if path.exists() and not path.is_file():
            raise DataError(f"“{path.name}” is not a file.", remedy="Choose a table file.")
        yield
    except FileNotFoundError:
        raise DataError(
            f"The file “{path}” does not exist.", remedy="Check its name and folder."
        ) from None
    except PermissionError:
        raise DataError(
            f"You do not have permission to read the file “{path.name}”.",
            remedy="Ask its owner for permission to read it, or copy it to a folder of your own.",
        ) from None
    except OSError as error:
        raise DataError(
            f"The file “{path.name}” cannot be read.",
            why=f"The system reported: {error.strerror or error}.",
            remedy="Copy it to a folder on this computer and try again.",
        ) from error
    except UnicodeError as error:
        raise DataError(
            f"The file “{path.name}” is not in the encoding that was chosen.",
            why=f"The codec reported: {error}.",
            remedy="Choose another encoding, so that no character is lost.",
        ) from error


def unique_names(header: Iterable[str]) -> tuple[str, ...]:
    """Make names of a header: stripped; ``"column 3"`` for an empty one; ``"name (2)"`` again."""
    wanted = [cell.strip() or f"column {i}" for i, cell in enumerate(header, start=1)]
    reserved, taken = set(wanted), set[str]()
    copies: dict[str, int] = {}
    names = []
    for name in wanted:
        unique, copy = name, copies.get(name, 1)
        while unique in taken or (copy > 1 and unique in reserved):
            copy += 1
            unique = f"{name} ({copy})"
        copies[name] = copy
        taken.add(unique)
        names.append(unique)
    return tuple(names)


def _notes_on_names(header: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence for each name that is not the header's own."""
    return tuple(
        f"Column {place} has no name in the file; here it is called “{name}”."
        if not cell.strip()
        else f"The file has several columns called “{cell.strip()}”; "
        f"the one at position {place} is called “{name}” here."
        if cell.strip() != name
        else ""
        for place, (cell, name) in enumerate(zip(header, names, strict=True), start=1)
    )


def check_width(path: Path, width: int) -> None:
    """Raise `DataError` when a table has more than `MOST_COLUMNS`."""
    if width > MOST_COLUMNS:
        raise DataError(
            f"The file “{path.name}” has {width:,} columns; at most {MOST_COLUMNS:,} can be read.",
            remedy="Choose another delimiter, or remove columns that the model does not use.",
        )


def check_size(path: Path, cells: int) -> None:
    """Raise `DataError` when a table has more than `MOST_CELLS`."""
    if cells > MOST_CELLS:
        raise DataError(
            f"The file “{path.name}” has more than {MOST_CELLS:,} cells.",
            remedy="Use a random sample of its rows.",
        )
