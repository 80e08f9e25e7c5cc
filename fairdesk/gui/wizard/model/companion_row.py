"""The files beside the model that tell how it is fed: shown, added, taken away."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QPushButton, QWidget

from fairdesk.gui.kit import layouts, theme, tips
from fairdesk.gui.kit.dropping import dropped
from fairdesk.gui.kit.parts import Words, clear, in_order, push_button, short


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
        self._chips = layouts.row(spacing=theme.NEAR)
        self.add = push_button("A&dd a file…", self.wanted, auto_default=False)
        self.add.setToolTip(
            "A scaler, encoders, or the list of the model’s inputs, where they were saved in "
            "files of their own"
        )
        self._none = Words("none", tone="quiet", wrap=False)
        layouts.row(
            Words("Companion files:", tone="quiet", wrap=False),
            self._none,
            self._chips,
            self.add,
            layouts.stretch(),
            on=self,
            spacing=theme.NEAR,
        )

    def show_files(self, paths: tuple[Path, ...], beside: tuple[Path, ...] = ()) -> None:
        """Show the files, and those next to the model that can be added."""
        clear(self._chips)
        self._none.setVisible(not paths)
        chips = [self._chip(path) for path in paths]
        chips += [self._offer(path) for path in beside]
        for chip in chips:
            self._chips.addWidget(chip)
        in_order(*chips, self.add)

    def _chip(self, path: Path) -> QPushButton:
        chip = push_button(
            f"{short(path.name, 28)}  ✕".replace("&", "&&"),
            lambda _checked=False: self.removed.emit(path),
            auto_default=False,
        )
        chip.setToolTip(tips.plain(f"Remove {path}"))
        chip.setAccessibleName(f"Remove {path.name}")
        return chip

    def _offer(self, path: Path) -> QPushButton:
        chip = push_button(
            f"Use {short(path.name, 28)}".replace("&", "&&"),
            lambda _checked=False: self.added.emit(path),
            auto_default=False,
        )
        chip.setToolTip(tips.plain(f"{path} holds a scaler or an encoder, and is not used: add it"))
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
