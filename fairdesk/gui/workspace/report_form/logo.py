"""The picture on the report's cover: chosen, looked at, taken away."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt, Signal
from PySide6.QtGui import QImage, QImageReader, QPixmap
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton, QWidget

from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.threads.background import in_background
from fairdesk.report.content.fields import read_logo

_SHOWN = QSize(220, 72)


class LogoEditor(QWidget):
    """Chooses the logo.

    Signals
    -------
    chosen : bytes
        Another picture; empty when it was taken away.
    failed : FairDeskError
        A file that is no picture.
    """

    chosen = Signal(object)
    failed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._content = b""
        self._folder = ""
        self._picture = QLabel()
        self._picture.setMinimumHeight(_SHOWN.height())
        self._picture.hide()
        self._told = parts.quiet("None. An SVG, PNG or JPEG file of at most 2 MB.")
        self.choose = QPushButton("Choose a &logo…")
        self.remove = QPushButton("Remove")
        self.remove.setAccessibleName("Remove the logo")
        self.choose.clicked.connect(self._ask)
        self.remove.clicked.connect(lambda: self.chosen.emit(b""))
        row = layouts.row(self.choose, self.remove, layouts.stretch(), spacing=theme.NEAR)
        layouts.column(self._picture, self._told, row, on=self, spacing=theme.NEAR)
        self.show_logo(b"")

    def show_logo(self, content: bytes) -> None:
        """Show the picture that is kept."""
        self.remove.setVisible(bool(content))
        self._told.setVisible(not content)
        if content == self._content:
            return
        self._content = content
        self._picture.hide()
        if content:
            in_background(self, lambda: _small(content), self._show_picture, self.failed.emit)

    def take(self, path: Path) -> None:
        """Read a picture from a file."""
        self._folder = str(path.parent)
        in_background(self, lambda: read_logo(path), self.chosen.emit, self.failed.emit)

    def _ask(self) -> None:
        name, _kind = QFileDialog.getOpenFileName(
            self, "Choose a logo", self._folder, "Pictures (*.svg *.png *.jpg *.jpeg)"
        )
        if name:
            self.take(Path(name))

    def _show_picture(self, image: QImage) -> None:
        pixmap = QPixmap.fromImage(image)
        pixmap.setDevicePixelRatio(2)
        self._picture.setPixmap(pixmap)
        self._picture.setAccessibleName("The logo on the report’s cover")
        self._picture.setVisible(bool(self._content))


def _small(content: bytes) -> QImage:
    """Draw a picture small, to look at."""
    device = QBuffer()
    device.setData(QByteArray(content))
    device.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(device)
    reader.setScaledSize(reader.size().scaled(_SHOWN * 2, Qt.AspectRatioMode.KeepAspectRatio))
    return reader.read()
