"""The list of steps at the left: each says in words and with a sign how it stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPalette
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from fairdesk.gui.kit import theme
from fairdesk.gui.kit.table_model import Index

_WORDS = Qt.ItemDataRole.UserRole
_SIGN = Qt.ItemDataRole.UserRole + 1


class Sign(Enum):
    """How a step or run stands: a sign beside the words."""

    NONE = ""
    NOT_YET = "○"
    RUNNING = "●"
    PAUSED = "‖"
    DONE = "✓"
    STOPPED = "■"
    FAILED = "!"
    OUTDATED = "△"


#: The sign of each state of a run.
OF_STATE = {
    "running": Sign.RUNNING,
    "paused": Sign.PAUSED,
    "stopped": Sign.STOPPED,
    "done": Sign.DONE,
    "failed": Sign.FAILED,
}


@dataclass(frozen=True)
class Standing:
    """How a step stands."""

    words: str = ""
    sign: Sign = Sign.NONE


class _Painter(QStyledItemDelegate):
    """Draws a step: its name, and below, quieter, how it stands."""

    def sizeHint(self, option: QStyleOptionViewItem, _index: Index) -> QSize:  # noqa: N802 - Qt's name
        line = option.fontMetrics.height()
        return QSize(150, 2 * line + 2 * theme.NEAR + 2)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rect: QRect = option.rect
        state = option.state
        palette: QPalette = option.palette
        font = option.font
        colours = theme.colours()
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = rect.adjusted(theme.NEAR, 2, -theme.NEAR, -2)
        if chosen:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.tint))
            painter.drawRoundedRect(ground, 6, 6)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(colours.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(ground, 6, 6)
        inside = ground.adjusted(theme.GAP, theme.TIGHT, -theme.GAP, -theme.TIGHT)
        half = inside.height() // 2
        upper = QRect(inside.left(), inside.top(), inside.width(), half)
        lower = QRect(inside.left(), inside.top() + half, inside.width(), half)
        painter.setFont(theme.scaled(font, 1.0, strong=chosen))
        painter.setPen(palette.color(QPalette.ColorRole.WindowText))
        name = str(index.data(Qt.ItemDataRole.DisplayRole))
        painter.drawText(upper, Qt.AlignmentFlag.AlignVCenter, name)
        painter.setFont(theme.scaled(font, 0.85))
        sign: Sign = index.data(_SIGN) or Sign.NONE
        loud = {Sign.FAILED: colours.wrong, Sign.RUNNING: colours.accent}
        painter.setPen(QColor(loud.get(sign, colours.quiet)))
        words = f"{sign.value} {index.data(_WORDS) or ''}".strip()
        words = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, lower.width())
        painter.drawText(lower, Qt.AlignmentFlag.AlignVCenter, words)
        painter.restore()


class Steps(QListWidget):
    """The steps of an audit.

    Signals
    -------
    chosen : int
        Another step is to be shown.
    """

    chosen = Signal(int)

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__()
        self.setAccessibleName("Steps of the audit")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setItemDelegate(_Painter(self))
        self.setFixedWidth(192)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        for number, name in enumerate(names, start=1):
            item = QListWidgetItem(name, self)
            item.setToolTip(f"{name} (Ctrl+{number % 10})")
        self.setCurrentRow(0)
        self.currentRowChanged.connect(self.chosen)

    def stand(self, row: int, standing: Standing) -> None:
        """Say how a step stands."""
        item = self.item(row)
        item.setData(_WORDS, standing.words)
        item.setData(_SIGN, standing.sign)
        item.setData(
            Qt.ItemDataRole.AccessibleTextRole,
            f"{item.text()}, {standing.words}" if standing.words else item.text(),
        )
