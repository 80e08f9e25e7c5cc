"""Files that are dropped on the window or chosen in a dialog, and what they are by their names."""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from functools import partial
from itertools import islice
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QWidget


class Sort(StrEnum):
    """What can be dropped."""

    AUDIT = "audit"
    DATA = "data"
    MODEL = "model"


_ENDINGS = {
    ending: sort
    for sort, endings in (
        (Sort.AUDIT, ".fairdesk"),
        (Sort.DATA, ".csv .tsv .txt .data .parquet .pq .xlsx .xls .xlsm .xlsb .ods"),
        (Sort.DATA, ".sqlite .sqlite3 .db"),
        (Sort.MODEL, ".keras .h5 .hdf5 .onnx .pkl .pickle .joblib .skops .pmml .json .ubj"),
        (Sort.MODEL, ".model .bst .cbm"),
    )
    for ending in endings.split()
}
#: Endings of the parts of a table, and how many files of a folder are looked at.
_PARTS = frozenset({".csv", ".tsv", ".parquet", ".pq"})
_MOST_LOOKED_AT = 200
#: How the texts of LightGBM's models begin.
_LIGHTGBM = (b"tree\nversion=", b"tree\r\nversion=")


def filter_of(sort: Sort, words: str) -> str:
    """Return a file dialog's filter for a sort of file, with all files as the second."""
    listed = [ending for ending, each in _ENDINGS.items() if each is sort]
    # LightGBM's models are texts
    listed += [".txt"] if sort is Sort.MODEL else []
    endings = " ".join(f"*{ending}" for ending in listed)
    return f"{words} ({endings});;All files (*)"


def ask_open(parent: QWidget, title: str, start: str | Path, kinds: str = "") -> Path | None:
    """Ask for a file to open."""
    name, _kind = QFileDialog.getOpenFileName(parent, title, str(start), kinds)
    return Path(name) if name else None


def ask_folder(parent: QWidget, title: str, start: str | Path) -> Path | None:
    """Ask for a folder."""
    name = QFileDialog.getExistingDirectory(parent, title, str(start))
    return Path(name) if name else None


def ask_save(
    parent: QWidget, title: str, start: str | Path, kinds: str, suffix: str = ""
) -> Path | None:
    """Ask where to write a file; a name without an ending gets ``suffix``."""
    name, _kind = QFileDialog.getSaveFileName(parent, title, str(start), kinds)
    if not name:
        return None
    return Path(name) if Path(name).suffix or not suffix else Path(name).with_suffix(suffix)


def sort_of(path: Path) -> Sort | None:
    """Return what a file is by its ending; None when FairDesk does not know it.

    A folder is a model when it is that of a TensorFlow SavedModel, data when it holds parts of a
    table; a text is a model when it begins as LightGBM's do.
    """
    if path.is_dir():
        if (path / "saved_model.pb").is_file():
            return Sort.MODEL
        return Sort.DATA if _holds_parts(path) else None
    if path.suffix.lower() == ".txt" and _begins(path).startswith(_LIGHTGBM):
        return Sort.MODEL
    return _ENDINGS.get(path.suffix.lower())


def _holds_parts(folder: Path) -> bool:
    """Return whether a part of a table is among the first files in a folder, or in those in it."""
    with suppress(OSError):
        return any(
            each.suffix.lower() in _PARTS and not each.name.startswith((".", "_"))
            for pattern in ("*", "*/*")
            for each in islice(folder.glob(pattern), _MOST_LOOKED_AT)
        )
    return False


def _begins(path: Path) -> bytes:
    with suppress(OSError), path.open("rb") as stream:
        return stream.read(len(_LIGHTGBM[-1]))
    return b""


class Takes:
    """Takes one file that is dropped on a part of the window; goes before Qt's class."""

    def takes(self, _path: Path) -> bool:
        """Return whether a file can be taken."""
        return True

    def take(self, path: Path) -> None:
        """Take a file."""
        raise NotImplementedError

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Let a file be dropped that can be taken."""
        path = dropped(event.mimeData())
        if path is not None and self.takes(path):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 - Qt's name
        """Take it, once the drag is over."""
        path = dropped(event.mimeData())
        if path is not None and self.takes(path):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            QTimer.singleShot(0, partial(self.take, path))


def dropped(data: QMimeData) -> Path | None:
    """Return the one local file that is dragged; None for anything else."""
    urls = data.urls()
    if len(urls) != 1 or not urls[0].isLocalFile():
        return None
    return Path(urls[0].toLocalFile())
