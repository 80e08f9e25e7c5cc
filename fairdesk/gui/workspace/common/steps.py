"""The list of steps at the left: each says in words and with a sign how it stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPalette, QResizeEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from fairdesk.files import resources
from fairdesk.gui.kit import theme
from fairdesk.gui.kit.hints import define_entries
from fairdesk.gui.kit.tables import Index

_WORDS = Qt.ItemDataRole.UserRole
_SIGN = Qt.ItemDataRole.UserRole + 1
_ICON = Qt.ItemDataRole.UserRole + 2
#: How wide the list is, and an icon.
_WIDTH, _PICTURE = 208, 20


def draw_icon(painter: QPainter, place: QRectF, name: str, colour: str) -> None:
    """Draw an icon.

    Parameters
    ----------
    painter : QPainter
        Draws it, as sharp as its device is.
    name : str
        Of a file in ``resources/icons/pages``.
    colour : str
        As ``#RRGGBB``.
    """
    _renderer(name, colour).render(painter, place)


@cache
def _renderer(name: str, colour: str) -> QSvgRenderer:
    text = (resources() / "icons" / "pages" / f"{name}.svg").read_text(encoding="utf-8")
    return QSvgRenderer(text.replace("currentColor", colour).encode())


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
    """Draws a step: its icon and name, and how it stands: below, or where that is too high beside.

    Attributes
    ----------
    low : bool
        Whether steps take one line each.
    """

    low = False

    def sizeHint(self, option: QStyleOptionViewItem, _index: Index) -> QSize:  # noqa: N802 - Qt's name
        line = option.fontMetrics.height()
        lines = 1.0 if self.low else 1.9
        return QSize(_WIDTH - theme.GAP, round(lines * line) + 2 * theme.NEAR)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rect: QRect = option.rect
        state = option.state
        palette: QPalette = option.palette
        font = option.font
        colours = theme.colours()
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = rect.adjusted(theme.NEAR, 1, -theme.NEAR, -1)
        painter.setPen(Qt.PenStyle.NoPen)
        if chosen:
            painter.setBrush(QColor(colours.tint))
            painter.drawRoundedRect(ground, theme.ROUNDED, theme.ROUNDED)
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.setBrush(QColor(colours.card))
            painter.drawRoundedRect(ground, theme.ROUNDED, theme.ROUNDED)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(colours.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(ground, theme.ROUNDED, theme.ROUNDED)
        inside = ground.adjusted(theme.NEAR, theme.TIGHT, -theme.NEAR, -theme.TIGHT)
        line = option.fontMetrics.height()
        top = inside.top() + (inside.height() - _PICTURE) / 2 if self.low else inside.top() + 1
        place = QRectF(inside.left(), top, _PICTURE, _PICTURE)
        draw_icon(painter, place, index.data(_ICON), colours.accent if chosen else colours.quiet)
        inside.setLeft(inside.left() + _PICTURE + theme.NEAR)
        painter.setFont(theme.scaled(font, 1.0, strong=chosen))
        painter.setPen(palette.color(QPalette.ColorRole.WindowText))
        name = str(index.data(Qt.ItemDataRole.DisplayRole))
        sign: Sign = index.data(_SIGN) or Sign.NONE
        loud = {Sign.FAILED: colours.wrong, Sign.RUNNING: colours.accent}
        middle = Qt.AlignmentFlag.AlignVCenter
        if self.low:
            painter.drawText(inside, middle, name)
            painter.setPen(QColor(loud.get(sign, colours.quiet)))
            painter.drawText(inside, middle | Qt.AlignmentFlag.AlignRight, sign.value)
            painter.restore()
            return
        upper = QRect(inside.left(), inside.top(), inside.width(), line + 2)
        lower = QRect(
            inside.left(), upper.bottom(), inside.width(), inside.bottom() - upper.bottom()
        )
        painter.drawText(upper, middle, name)
        painter.setFont(theme.scaled(font, 0.88))
        painter.setPen(QColor(loud.get(sign, colours.quiet)))
        words = f"{sign.value} {index.data(_WORDS) or ''}".strip()
        words = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, lower.width())
        painter.drawText(lower, middle, words)
        painter.restore()


class Steps(QListWidget):
    """The steps of an audit.

    Parameters
    ----------
    names, icons : tuple of str
        What they are called, and the pictures beside their names.

    Signals
    -------
    chosen : int
        Another step is to be shown.
    """

    chosen = Signal(int)

    def __init__(self, names: tuple[str, ...], icons: tuple[str, ...]) -> None:
        super().__init__()
        self.setAccessibleName("Steps of the audit")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._painter = _Painter(self)
        self.setItemDelegate(self._painter)
        self.setMouseTracking(True)
        self.setFixedWidth(_WIDTH)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        for number, (name, icon) in enumerate(zip(names, icons, strict=True), start=1):
            item = QListWidgetItem(name, self)
            item.setToolTip(f"{name} (Ctrl+{number % 10})")
            item.setData(_ICON, icon)
        define_entries(self)
        self.setCurrentRow(0)
        self.currentRowChanged.connect(self.chosen)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Give steps one line each where two would need more height than there is."""
        super().resizeEvent(event)
        there = sum(not self.item(row).isHidden() for row in range(self.count()))
        needed = there * (2 * self.fontMetrics().height() + 2 * theme.NEAR)
        low = self.viewport().height() < needed
        if low != self._painter.low:
            self._painter.low = low
            self.scheduleDelayedItemsLayout()

    def stand(self, row: int, standing: Standing) -> None:
        """Say how a step stands."""
        item = self.item(row)
        item.setData(_WORDS, standing.words)
        item.setData(_SIGN, standing.sign)
        item.setData(
            Qt.ItemDataRole.AccessibleTextRole,
            f"{item.text()}, {standing.words}" if standing.words else item.text(),
        )
