"""Who was found by which searches: sizes of intersections as bars, above a matrix of dots.

After UpSet (Lex and others, 2014): with more than three sets circles cannot show it.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
)

from fairdesk.gui.charts.chart import paint
from fairdesk.gui.charts.painted import Canvas, PaintedChart
from fairdesk.gui.kit import theme
from fairdesk.wording import words

#: From one bar to the next, at least: the number above it needs that room.
_LEAST_STEP, _MOST_STEP = 58.0, 110.0
_DOT = 5.0


@dataclass(frozen=True)
class Set:
    """One of the sets.

    Attributes
    ----------
    name : str
        For people.
    size : int
        How many are in it.
    colour : str
        As of a `fairdesk.gui.charts.chart.Line`.
    """

    name: str
    size: int
    colour: str


@dataclass(frozen=True)
class Intersections:
    """All that the chart shows.

    Attributes
    ----------
    title : str
        What it tells.
    what : str
        What is counted, in the plural.
    sets : tuple[Set, ...]
        Each is a row of dots.
    parts : tuple[tuple[tuple[int, ...], int], ...]
        Positions of sets, and how many are in exactly these; in the order to be drawn.
    """

    title: str
    what: str
    sets: tuple[Set, ...]
    parts: tuple[tuple[tuple[int, ...], int], ...]

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.parts

    def names(self, members: tuple[int, ...]) -> str:
        """Name the sets that make an intersection."""
        if len(members) == len(self.sets) > 1:
            return "all of them" if len(self.sets) > 2 else "both"
        found = words.joined([self.sets[member].name for member in members])
        return f"{found} only"

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""
        if self.empty:
            return f"{self.title}: nothing yet."
        said = "; ".join(f"{words.number(count)} by {self.names(who)}" for who, count in self.parts)
        return f"{self.title}. {self.what.capitalize()} found: {said}."

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table: a header and rows; of these at most so many."""
        header = ("found by", *(each.name for each in self.sets), self.what)
        return header, [
            (
                self.names(who),
                *("●" if place in who else "" for place in range(len(self.sets))),
                str(count),
            )
            for who, count in self.parts[:most]
        ]


class UpSetChart(PaintedChart):
    """Intersections of sets, read with the pointer or the arrow keys; a table with T."""

    _canvas: _Canvas

    def __init__(self) -> None:
        super().__init__()
        self._drawing = Intersections("", "", (), ())
        self._at: int | None = None
        self._canvas = _Canvas()
        self._canvas.pointed.connect(self._point_at)
        self._stack.addWidget(self._canvas)

    @property
    def drawing(self) -> Intersections:
        """What is shown."""
        return self._drawing

    def draw(self, drawing: Intersections) -> None:
        """Show another drawing."""
        self._drawing = drawing
        self._point_at(None)
        self._canvas.show_parts(drawing)
        self._tell()
        self._redraw()
        self.updateGeometry()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for bars of a comfortable height, and a line per set."""
        rows = len(self._drawing.sets) * self._canvas.row_height()
        return QSize(420, round(190 + rows))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Stay readable."""
        return QSize(320, round(110 + len(self._drawing.sets) * self._canvas.row_height()))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Walk along the bars with the arrow keys."""
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if step is None or self._drawing.empty:
            super().keyPressEvent(event)
            return
        at = 0 if self._at is None else self._at + step
        self._point_at(min(max(at, 0), self._canvas.shown() - 1))

    def _point_at(self, at: int | None) -> None:
        self._at = at
        self._canvas.point_at(at)
        if at is None:
            self._read("")
            return
        members, count = self._drawing.parts[at]
        by = self._drawing.names(members)
        self._read(f"{words.number(count)} {self._drawing.what} were found by {by}")


class _Canvas(Canvas):
    """Draws it."""

    pointed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setMouseTracking(True)
        self._drawing = Intersections("", "", (), ())
        self._at: int | None = None

    def show_parts(self, drawing: Intersections) -> None:
        self._drawing = drawing
        self.update()

    def point_at(self, at: int | None) -> None:
        self._at = at
        self.update()

    def row_height(self) -> float:
        return 1.5 * self.fontMetrics().height()

    def shown(self) -> int:
        """How many intersections there is room for."""
        room = self.width() - self._left()
        return max(min(len(self._drawing.parts), int(room // _LEAST_STEP)), 1)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        if self._drawing.empty:
            return
        at = int((event.position().x() - self._left()) // self._step())
        self.pointed.emit(at if 0 <= at < self.shown() else None)

    def leaveEvent(self, _event: QEvent) -> None:  # noqa: N802 - Qt's name
        self.pointed.emit(None)

    def paint(
        self, painter: QPainter, colours: theme.Colours, ink: QColor, _ground: QColor
    ) -> None:
        """Draw all of it."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.font())
        top = self._matrix_top()
        self._paint_rows(painter, colours, ink, top)
        tallest = max(count for _who, count in self._drawing.parts)
        for place, (members, count) in enumerate(self._drawing.parts[: self.shown()]):
            middle = self._left() + (place + 0.5) * self._step()
            chosen = place == self._at
            height = (top - self.row_height() - theme.NEAR) * count / tallest
            wide = min(0.55 * self._step(), 34.0)
            bar = QRectF(middle - wide / 2, top - theme.NEAR - height, wide, height)
            colour = (
                paint(self._drawing.sets[members[0]].colour, colours)
                if len(members) == 1
                else colours.bar
            )
            painter.fillRect(bar, QColor(colours.accent if chosen else colour))
            painter.setPen(ink)
            painter.setFont(theme.scaled(self.font(), 0.95, strong=True))
            above = QRectF(
                middle - self._step() / 2,
                bar.top() - self.row_height(),
                self._step(),
                self.row_height(),
            )
            painter.drawText(above, Qt.AlignmentFlag.AlignCenter, words.number(count))
            self._paint_dots(painter, colours, members, middle, top)
        left_out = len(self._drawing.parts) - self.shown()
        if left_out > 0:
            painter.setPen(QColor(colours.quiet))
            painter.setFont(theme.scaled(self.font(), 0.85))
            painter.drawText(
                QRectF(self._left(), 0, self.width() - self._left(), self.row_height()),
                Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop,
                f"and {words.number(left_out)} smaller: see the table (T)",
            )

    def _paint_rows(
        self, painter: QPainter, colours: theme.Colours, ink: QColor, top: float
    ) -> None:
        """Draw a row per set: its name and size, on a ground that leads the eye."""
        for place, each in enumerate(self._drawing.sets):
            row = QRectF(0, top + place * self.row_height(), self.width(), self.row_height())
            if place % 2 == 0:
                ground = QColor(colours.line)
                ground.setAlphaF(0.35)
                painter.fillRect(row, ground)
            painter.setPen(QColor(paint(each.colour, colours)))
            painter.setFont(theme.scaled(self.font(), 1.0, strong=True))
            label = QRectF(theme.NEAR, row.top(), self._left() - 2 * theme.GAP, row.height())
            metrics = QFontMetricsF(painter.font())
            number = words.number(each.size)
            room = label.width() - metrics.horizontalAdvance(number) - theme.GAP
            name = metrics.elidedText(each.name, Qt.TextElideMode.ElideMiddle, room)
            painter.drawText(label, Qt.AlignmentFlag.AlignVCenter, name)
            painter.setPen(ink)
            painter.setFont(self.font())
            painter.drawText(
                label, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, number
            )

    def _paint_dots(
        self,
        painter: QPainter,
        colours: theme.Colours,
        members: tuple[int, ...],
        middle: float,
        top: float,
    ) -> None:
        """Draw which sets an intersection is of."""

        def spot(place: int) -> QPointF:
            return QPointF(middle, top + (place + 0.5) * self.row_height())

        if len(members) > 1:
            painter.setPen(QPen(QColor(colours.quiet), 2))
            painter.drawLine(spot(members[0]), spot(members[-1]))
        painter.setPen(Qt.PenStyle.NoPen)
        for place, each in enumerate(self._drawing.sets):
            inside = place in members
            painter.setBrush(QColor(paint(each.colour, colours) if inside else colours.line))
            radius = _DOT if inside else 0.6 * _DOT
            painter.drawEllipse(spot(place), radius, radius)

    def _matrix_top(self) -> float:
        return self.height() - len(self._drawing.sets) * self.row_height() - 2

    def _left(self) -> float:
        """Return where the bars begin: right of the names and sizes."""
        metrics = QFontMetricsF(theme.scaled(self.font(), 1.0, strong=True))
        widest = max(
            (
                metrics.horizontalAdvance(f"{each.name}{words.number(each.size)}")
                for each in self._drawing.sets
            ),
            default=0.0,
        )
        return min(widest + 5 * theme.GAP, 0.45 * self.width())

    def _step(self) -> float:
        room = self.width() - self._left()
        return min(max(room / max(self.shown(), 1), _LEAST_STEP), _MOST_STEP)
