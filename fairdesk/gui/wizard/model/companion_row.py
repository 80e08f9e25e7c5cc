"""The files beside the model that tell how it is fed: shown, added, taken away."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from fairdesk.gui.kit import theme, tips
from fairdesk.gui.kit.dropping import dropped
from fairdesk.gui.kit.parts import Words, clear, in_order, short


class CompanionRow(QWidget):
    """The row; a file dropped on it is added.

    Signals
    -------
    wanted
        A file is to be chosen and added.
    added : Path
        A file was dropped.
    removed : Path
        A file is to be left out.
    """

    wanted = Signal()
    added = Signal(object)
    removed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        self._chips = QHBoxLayout()
        self._chips.setSpacing(theme.NEAR)
        self.add = QPushButton("A&dd a file…")
        self.add.setAutoDefault(False)
        self.add.setToolTip(
            "A scaler, encoders, or the list of the model’s inputs: whatever was saved beside it"
        )
        self.add.clicked.connect(self.wanted)
        self._none = Words("none", tone="quiet", wrap=False)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.NEAR)
        row.addWidget(Words("Files beside it:", tone="quiet", wrap=False))
        row.addWidget(self._none)
        row.addLayout(self._chips)
        row.addWidget(self.add)
        row.addStretch(1)

    def show_files(self, paths: tuple[Path, ...]) -> None:
        """Show the files."""
        clear(self._chips)
        self._none.setVisible(not paths)
        chips = [self._chip(path) for path in paths]
        for chip in chips:
            self._chips.addWidget(chip)
        in_order(*chips, self.add)

    def _chip(self, path: Path) -> QPushButton:
        chip = QPushButton(f"{short(path.name, 28)}  ✕".replace("&", "&&"))
        chip.setAutoDefault(False)
        chip.setToolTip(tips.plain(f"Leave {path} out"))
        chip.setAccessibleName(f"Leave {path.name} out")
        chip.clicked.connect(lambda _checked=False: self.removed.emit(path))
        return chip

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Take one file."""
        if dropped(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 - Qt's name
        """Add it."""
        path = dropped(event.mimeData())
        if path is not None:
            event.acceptProposedAction()
            self.added.emit(path)
