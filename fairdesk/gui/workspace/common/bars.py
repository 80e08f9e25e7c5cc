"""Counts as bars, each named and numbered beside it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from fairdesk.gui.kit import theme
from fairdesk.wording import words


class Bars(QWidget):
    """One bar per name, of a whole that all share.

    Drawn, not built of widgets: it is renewed ten times a second while a run goes on.
    """

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._counts: tuple[tuple[str, int], ...] = ()
        self._whole = 0
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(title)

    def show_counts(self, counts: tuple[tuple[str, int], ...], whole: int) -> None:
        """Show other counts; ``whole`` is a full bar."""
        if (counts, whole) == (self._counts, self._whole):
            return
        grown = len(counts) != len(self._counts)
        self._counts, self._whole = counts, whole
        self.setAccessibleDescription(
            "; ".join(
                f"{name}: {words.number(count)}, {words.percent(count, whole)}"
                for name, count in counts
            )
        )
        if grown:
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for a line per bar."""
        return QSize(230, max(1, len(self._counts)) * self._line() - theme.GAP)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Stay readable."""
        return QSize(160, self.sizeHint().height())

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if theme.palette_changed(event):
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the bars."""
        colours = theme.colours()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics = self.fontMetrics()
        text = self.palette().color(QPalette.ColorRole.WindowText)
        for place, (name, count) in enumerate(self._counts):
            top = place * self._line()
            number = f"{words.number(count)}  ({words.percent(count, self._whole, 0)})"
            room = self.width() - metrics.horizontalAdvance(number) - theme.NEAR
            painter.setPen(text)
            label = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, room)
            baseline = top + metrics.ascent()
            painter.drawText(0, baseline, label)
            painter.drawText(self.width() - metrics.horizontalAdvance(number), baseline, number)
            track = QRectF(0, top + metrics.height() + 2, self.width(), 7)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.line))
            painter.drawRoundedRect(track, 3.5, 3.5)
            if count and self._whole:
                track.setWidth(max(7.0, track.width() * count / self._whole))
                painter.setBrush(QColor(colours.unlike))
                painter.drawRoundedRect(track, 3.5, 3.5)

    def _line(self) -> int:
        return self.fontMetrics().height() + 9 + theme.GAP
