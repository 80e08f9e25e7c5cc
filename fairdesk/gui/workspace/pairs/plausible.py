"""How usual somebody is among real people: a small bar beside the number."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QStyleOptionViewItem, QWidget

from fairdesk.gui.kit import theme
from fairdesk.gui.kit.table_model import Index
from fairdesk.gui.kit.tables import Padded
from fairdesk.gui.workspace.session.pair_columns import PairRole

_THICK = 7.0


def draw_share(painter: QPainter, track: QRectF, share: float) -> None:
    """Draw a bar of which a share is full."""
    colours = theme.colours()
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colours.line))
    radius = track.height() / 2
    painter.drawRoundedRect(track, radius, radius)
    if share > 0:
        full = QRectF(track)
        full.setWidth(max(track.height(), track.width() * share))
        painter.setBrush(QColor(colours.bar))
        painter.drawRoundedRect(full, radius, radius)
    painter.restore()


class ShareDelegate(Padded):
    """Draws a cell's share as a bar at the left of its text."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the cell, then the bar."""
        super().paint(painter, option, index)
        share = index.data(PairRole.SHARE)
        if share is None:
            return
        room = option.rect.adjusted(theme.NEAR, 0, -theme.TIGHT, 0)
        widest = option.fontMetrics.horizontalAdvance("100\u00a0%") + theme.NEAR
        width = room.width() - widest
        if width < 2 * _THICK:
            return
        top = room.center().y() - _THICK / 2 + 1
        track = QRectF(room.left(), top, width, _THICK)
        draw_share(painter, track, share)


class ShareBar(QWidget):
    """One such bar by itself; what it tells stands in words beside it."""

    def __init__(self) -> None:
        super().__init__()
        self._share = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_share(self, share: float) -> None:
        """Show another share."""
        self._share = share
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for a line of text."""
        return QSize(72, self.fontMetrics().height())

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if theme.palette_changed(event):
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw it in the middle of its line."""
        top = (self.height() - _THICK) / 2
        draw_share(QPainter(self), QRectF(0, top, self.width(), _THICK), self._share)
