"""What a file or folder that is dropped on the window is, told by its name."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import QMimeData


class Sort(StrEnum):
    """What can be dropped."""

    AUDIT = "audit"
    DATA = "data"
    MODEL = "model"


_ENDINGS = {
    ".fairdesk": Sort.AUDIT,
    ".csv": Sort.DATA,
    ".tsv": Sort.DATA,
    ".txt": Sort.DATA,
    ".data": Sort.DATA,
    ".parquet": Sort.DATA,
    ".pq": Sort.DATA,
    ".xlsx": Sort.DATA,
    ".xls": Sort.DATA,
    ".xlsm": Sort.DATA,
    ".xlsb": Sort.DATA,
    ".ods": Sort.DATA,
    ".sqlite": Sort.DATA,
    ".sqlite3": Sort.DATA,
    ".db": Sort.DATA,
    ".keras": Sort.MODEL,
    ".h5": Sort.MODEL,
    ".hdf5": Sort.MODEL,
    ".onnx": Sort.MODEL,
    ".pkl": Sort.MODEL,
    ".pickle": Sort.MODEL,
    ".joblib": Sort.MODEL,
    ".skops": Sort.MODEL,
    ".pmml": Sort.MODEL,
}


def filter_of(sort: Sort, words: str) -> str:
    """Give a file dialog's filter for a sort of file, with all files as the second."""
    endings = " ".join(f"*{ending}" for ending, each in _ENDINGS.items() if each is sort)
    return f"{words} ({endings});;All files (*)"


def sort_of(path: Path) -> Sort | None:
    """Tell what a file is by its ending; None when FairDesk does not know it.

    A folder is a model when it is that of a TensorFlow SavedModel.
    """
    if path.is_dir():
        return Sort.MODEL if (path / "saved_model.pb").is_file() else None
    return _ENDINGS.get(path.suffix.lower())


def dropped(data: QMimeData) -> Path | None:
    """Give the one local file that is dragged; None for anything else."""
    urls = data.urls()
    if len(urls) != 1 or not urls[0].isLocalFile():
        return None
    return Path(urls[0].toLocalFile())
