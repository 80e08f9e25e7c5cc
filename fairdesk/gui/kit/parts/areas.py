"""Areas that scroll, and windows that fit on the screen."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QGridLayout,
    QMessageBox,
    QScrollArea,
    QSpacerItem,
    QWidget,
)

from fairdesk.gui.kit import theme

#: Of a page: how much of its right margin a scroll bar has.
_TAKEN = "taken"


class _Column(QScrollArea):
    """Scrolls up and down only: what is inside takes the width there is."""

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Keep the inside as wide as the view, and what is in it as wide as without the bar."""
        super().resizeEvent(event)
        if (inside := self.widget()) is not None:
            inside.setMaximumWidth(self.viewport().width())
            make_room(inside, self.width() - self.viewport().width())


def make_room(page: QWidget, bar: int) -> None:
    """Take a scroll bar, so many pixels wide, out of the right margin of the page beside it."""
    layout = page.layout()
    if layout is None:
        return
    margins, taken = layout.contentsMargins(), int(page.property(_TAKEN) or 0)
    own = margins.right() + taken
    if (takes := min(bar, own)) != taken:
        page.setProperty(_TAKEN, takes)
        margins.setRight(own - takes)
        layout.setContentsMargins(margins)


def scrolled(inside: QWidget) -> QScrollArea:
    """Put a page into an area that scrolls up and down."""
    area = _Column()
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(inside)
    return area


def asked(parent: QWidget, what: str, more: str, *, yes: str, no: str) -> bool:
    """Ask whether to do what cannot be undone; doing nothing is the default."""
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.Question)
    box.setWindowTitle(parent.windowTitle())
    box.setText(what)
    box.setInformativeText(more)
    doing = box.addButton(yes, QMessageBox.ButtonRole.DestructiveRole)
    keeping = box.addButton(no, QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(keeping)
    box.setEscapeButton(keeping)
    if isinstance(grid := box.layout(), QGridLayout):
        # short sentences would be broken to the width of the buttons
        grid.addItem(QSpacerItem(420, 0), grid.rowCount(), 0, 1, grid.columnCount())
    box.exec()
    box.deleteLater()
    return box.clickedButton() is doing


def open_dialog(dialog: QDialog) -> None:
    """Open a dialog over its window, but not over the help; it is gone when it is closed."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()


def resize_on_screen(window: QWidget, width: int, height: int) -> None:
    """Give a window a size, or less where the screen with its bars and frames has less room."""
    frame = QSize(2 * theme.NEAR, 2 * theme.WIDE)
    room = QGuiApplication.primaryScreen().availableSize() - frame
    window.resize(QSize(width, height).boundedTo(room))
