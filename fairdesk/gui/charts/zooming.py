"""Showing a part of a chart: what is dragged across is what is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QRubberBand

from fairdesk.charts.kinds.lines import Line

#: From so many pixels on, a movement of the mouse is a drag.
DRAGGED = 8


def cut(line: Line, low: float, high: float) -> Line:
    """Return the part of a line between two places, with what is next to it at both ends."""
    first = max(int(np.searchsorted(line.x, low)) - 1, 0)
    last = int(np.searchsorted(line.x, high, side="right")) + 1
    part = slice(first, last)
    return replace(
        line,
        x=line.x[part],
        y=line.y[part],
        low=None if line.low is None else line.low[part],
        high=None if line.high is None else line.high[part],
    )


class Dragging(QObject):
    """Follows the mouse over a plot.

    Parameters
    ----------
    can : callable
        Says whether a part of it can be shown.

    Signals
    -------
    dragged : object
        The two ends along, or ``None`` where all is to be shown again.
    """

    dragged = Signal(object)

    def __init__(self, plot: Any, can: Callable[[], bool]) -> None:  # noqa: ANN401 - the library has no types
        super().__init__(plot)
        self._plot, self._can = plot, can
        self._band = QRubberBand(QRubberBand.Shape.Rectangle, plot.viewport())
        self._pressed: QPoint | None = None
        plot.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Follow a drag across the chart."""
        if isinstance(event, QMouseEvent) and self._can():
            place, kind = event.position().toPoint(), event.type()
            if kind == QEvent.Type.MouseButtonDblClick:
                self.dragged.emit(None)
            elif kind == QEvent.Type.MouseButtonPress:
                left = event.button() == Qt.MouseButton.LeftButton
                self._pressed = place if left else None
            elif kind == QEvent.Type.MouseMove and self._pressed is not None:
                self._show(self._pressed, place)
            elif kind == QEvent.Type.MouseButtonRelease and self._pressed is not None:
                self._end(self._pressed, place)
        return super().eventFilter(watched, event)

    def _show(self, begun: QPoint, place: QPoint) -> None:
        low = QPoint(place.x(), self._plot.viewport().height())
        self._band.setGeometry(QRect(QPoint(begun.x(), 0), low).normalized())
        self._band.show()

    def _end(self, begun: QPoint, place: QPoint) -> None:
        self._pressed = None
        self._band.hide()
        if abs(place.x() - begun.x()) >= DRAGGED:
            self.dragged.emit((self._along(begun), self._along(place)))

    def _along(self, place: QPoint) -> float:
        """Return what stands at a place of the chart, along."""
        view = self._plot.getPlotItem().getViewBox()
        return float(view.mapSceneToView(self._plot.mapToScene(place)).x())
