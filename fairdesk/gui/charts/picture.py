"""A chart of the kit by itself: as high as it needs to be, told in words, nothing around it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy

from fairdesk.gui.charts.canvas import Canvas, Layable
from fairdesk.gui.kit import theme, tips


class Picture(Canvas):
    """Shows a chart between the widgets of a page.

    Parameters
    ----------
    presses : str
        As of `offer`.
    """

    def __init__(self, drawing: Layable, presses: str = "") -> None:
        super().__init__()
        self._summary = ""
        self.offer(presses)
        self.pointed.connect(self._tell)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.draw(drawing)

    def draw(self, drawing: Layable) -> None:
        """Show something else."""
        if drawing == self.drawing:
            return
        self.setAccessibleName(drawing.title)
        self._summary = drawing.summary()
        self.show_drawing(drawing)
        self._tell(self.marked.pointed)
        self._fit()

    def offer(self, presses: str) -> None:
        """Let its parts be pressed, with the mouse, or with the arrow keys and Enter.

        Parameters
        ----------
        presses : str
            Says what that does; empty where they cannot be pressed.
        """
        self._presses = presses
        self.setMouseTracking(bool(presses))
        policy = Qt.FocusPolicy.StrongFocus if presses else Qt.FocusPolicy.NoFocus
        self.setFocusPolicy(policy)
        self._tell(self.marked.pointed)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Walk its parts with the arrow keys, and press the one that is marked by Enter."""
        if self.zoom_by_key(event):
            return
        keys = [key for way in self.laid.down for key in way] if self._presses else []
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        now = keys.index(self.marked.pointed) if self.marked.pointed in keys else None
        if keys and step:
            at = 0 if now is None else min(max(now + step, 0), len(keys) - 1)
            self._point_at(keys[at])
        elif now is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.pressed.emit(keys[now])
        else:
            super().keyPressEvent(event)

    def _tell(self, key: int | None) -> None:
        """Say what is pointed at, and what pressing it does."""
        tip = self.tip(key) if key is not None else ""
        self.setToolTip(tips.plain(f"{tip}\n{self._presses}") if tip else "")
        self.setAccessibleDescription(f"{tip or self._summary}\n{self._presses}".strip())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw it, and the focus."""
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setPen(QPen(QColor(theme.colours().accent), 1, Qt.PenStyle.DotLine))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for a comfortable width."""
        return QSize(360, self.height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Stay readable."""
        return QSize(200, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Take another height where texts take more lines."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the size of type."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        """Be as high as all of it."""
        self.setFixedHeight(round(self.laid_on(self.size()).height))
