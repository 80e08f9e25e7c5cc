"""Files that are either whole or not there, and plain words when they cannot be written."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairdesk.errors import ReportError

_FULL = (errno.ENOSPC, errno.EDQUOT) if hasattr(errno, "EDQUOT") else (errno.ENOSPC,)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Return a temporary file beside ``path``; it takes its place when the block ends well.

    What was at ``path`` stays as it was when the block raises.

    Raises
    ------
    ReportError
        When the folder is missing, may not be written to, or the disk is full.
    """
    try:
        with tempfile.TemporaryDirectory(prefix=".fairdesk-", dir=path.parent) as folder:
            draft = Path(folder) / "draft"
            yield draft
            draft.replace(path)
    except OSError as error:
        raise write_error(path, error) from error


def check_place(path: Path) -> None:
    """Check that a file can be written to a place, before anything is made for it.

    Raises
    ------
    ReportError
        When the folder is missing, may not be written to, or the disk is full.
    """
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "")
        with tempfile.TemporaryFile(dir=path.absolute().parent) as trial:
            trial.write(b"\0")
    except OSError as error:
        raise write_error(path, error) from error


def write_error(path: Path, error: OSError) -> ReportError:
    """Say in plain words why a file could not be written."""
    what = f"“{path.name}” could not be written."
    if error.errno in _FULL:
        return ReportError(
            what,
            why=f"The disk with {path.parent} is full.",
            remedy="Free some space there, or choose a folder on another disk.",
        )
    if isinstance(error, IsADirectoryError) or path.is_dir():
        return ReportError(
            what, why=f"{path} is a folder.", remedy="Choose another name for the file."
        )
    if not path.parent.is_dir():
        return ReportError(
            what,
            why=f"The folder {path.parent} does not exist.",
            remedy="Create the folder, or choose another one.",
        )
    if error.errno in _FORBIDDEN:
        return ReportError(
            what,
            why=f"You do not have permission to write to {path}, or another program has it open.",
            remedy="Close the file where it is open, or choose another folder.",
        )
    return ReportError(
        what,
        why=f"System message: {error.strerror or error}.",
        remedy="Choose another folder and try again.",
    )
