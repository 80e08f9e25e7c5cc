"""Rates of groups with their intervals, a row per group: a forest plot.

After Lewis and Clarke, “Forest plots: trying to see the wood and the trees” (BMJ, 2001). What is
drawn was observed in the rows of the data: every mark is an outline.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QPainter,
    QPen,
    QPolygonF,
)

from fairdesk.groups.metrics.outcomes import FOUR_FIFTHS
from fairdesk.gui.charts import group_marks
from fairdesk.gui.charts.chart import ticks
from fairdesk.gui.charts.painted import PaintedChart
from fairdesk.gui.charts.pointed import Pointed
from fairdesk.gui.kit import parts, theme, tips
from fairdesk.results.events import GroupLine, GroupTable
from fairdesk.wording import words

_HEADING = "Rate and interval of each group"
#: So many groups are drawn at most; the table has all.
MOST = 30
#: Half the size of a group's mark.
_MARK = 5.0
#: How much of the width groups' names take at most.
_NAMES = 0.34


@dataclass(frozen=True)
class Forest:
    """All that a forest plot shows.

    Attributes
    ----------
    groups : GroupTable
        The groups.
    title : str
        What it tells.
    person : str
        The auditor's word for one of the people.
    """

    groups: GroupTable = group_marks.NOTHING
    title: str = "Rates by group"
    person: str = "person"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.groups.lines

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The groups that are drawn, by their place in the table: known ones before unknown."""
        lines = self.groups.lines
        largest = sorted(range(len(lines)), key=lambda place: (-lines[place].people, place))
        return tuple(sorted(largest[:MOST], key=lambda place: (not lines[place].known, place)))

    @property
    def lines(self) -> tuple[GroupLine, ...]:
        """The groups that are drawn."""
        return tuple(self.groups.lines[place] for place in self.places)

    @cached_property
    def reach(self) -> float:
        """How far to the right it goes: a rate, 0 to 1."""
        return min(1.05 * max((line.high for line in self.lines if line.people), default=1.0), 1.0)

    @property
    def omitted(self) -> str:
        """Say how many groups are not drawn; empty where all are."""
        drawn, there = len(self.places), len(self.groups.lines)
        return f"the {drawn} largest of {there:,} groups" if drawn < there else ""

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""
        return group_marks.summary(self.groups, self.title, self.person)

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table: a header and rows; of these at most so many."""
        return group_marks.twin(self.groups, most)


class ForestPlot(PaintedChart):
    """A forest plot, with its table (T); groups are walked with the arrow keys.

    Signals
    -------
    chosen : int
        A group is chosen, by its place in the table.
    """

    chosen = Signal(int)
    _canvas: _Canvas

    def __init__(self) -> None:
        super().__init__()
        self._drawing = Forest()
        self._canvas = _Canvas()
        self._canvas.pointed.connect(self._point_at)
        self._canvas.pressed.connect(self._press)
        self._heading = parts.Words(_HEADING, strong=True, wrap=False)
        self.tools.addWidget(self._heading)
        self._stack.addWidget(self._canvas)

    @property
    def drawing(self) -> Forest:
        """What is shown."""
        return self._drawing

    @property
    def chosen_group(self) -> int | None:
        """The group that is chosen, by its place in the table."""
        return self._canvas.chosen

    def draw(self, drawing: Forest) -> None:
        """Show other groups."""
        if drawing == self._drawing:
            return
        self._drawing = drawing
        self._heading.setText(f"{_HEADING}{drawing.omitted and f': {drawing.omitted}'}")
        self._canvas.show_forest(drawing)
        self._fit()
        self._read("")
        self._tell()
        self._redraw()

    def choose(self, place: int | None) -> None:
        """Mark a group; nothing is told of it."""
        self._canvas.choose(place)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme, and the size of type."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Walk from group to group with the arrow keys."""
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()))
        if step is None or self._drawing.empty or self._as_table.isChecked():
            super().keyPressEvent(event)
            return
        places, now = self._drawing.places, self._canvas.chosen
        at = places.index(now) + step if now in places else 0
        self._press(places[min(max(at, 0), len(places) - 1)])

    def _fit(self) -> None:
        """Be as high as all groups."""
        head = max(self._heading.sizeHint().height(), self._more.sizeHint().height())
        self.setFixedHeight(head + theme.TIGHT + max(self._canvas.needed(), 120))

    def _press(self, place: int) -> None:
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self._canvas.choose(place)
        self._point_at(place)
        self.chosen.emit(place)

    def _point_at(self, place: int | None) -> None:
        if place is None:
            place = self._canvas.chosen
        lines = self._drawing.groups.lines
        told = "" if place is None else group_marks.told(lines[place], self._drawing.person)
        self._read(told)
        self._canvas.setToolTip(tips.plain(told) if told else "")


class _Canvas(Pointed):
    """Draws it: names at the left, rates between, numbers at the right."""

    def __init__(self) -> None:
        super().__init__()
        self._forest = Forest()
        self._widths: tuple[float, ...] = (0.0, 0.0, 0.0)
        self.chosen: int | None = None

    def show_forest(self, forest: Forest) -> None:
        self._forest = forest
        self._widths = self._measured()
        self._pointed = None
        if self.chosen is not None and self.chosen >= len(forest.groups.lines):
            self.chosen = None
        self.update()

    def choose(self, place: int | None) -> None:
        self.chosen = place
        self.update()

    def needed(self) -> int:
        """Return the height of all groups, two lines above them and the scale below."""
        line = self.fontMetrics().height()
        apart = self._row / 2 if self._parted() else 0.0
        return round(self._head + len(self._forest.places) * self._row + apart + 1.6 * line)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._widths = self._measured()
            self.update()

    def paint(self, painter: QPainter, colours: theme.Colours, ink: QColor, ground: QColor) -> None:
        """Draw all of it."""
        if self._forest.empty:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.font())
        tops = self._tops()
        for place, top in tops.items():
            if place in (self.chosen, self._pointed):
                row = QRectF(0, top, self.width(), self._row)
                tint = QColor(colours.tint)
                tint.setAlphaF(1.0 if place == self.chosen else 0.5)
                painter.fillRect(row, tint)
        self._paint_scale(painter, colours)
        self._paint_reference(painter, colours, ink)
        lines = self._forest.groups.lines
        for place, top in tops.items():
            self._paint_name(painter, colours, ink, lines[place], top)
            self._paint_rate(painter, colours, ground, place, top)
        if self._parted():
            unknown = next(top for place, top in tops.items() if not lines[place].known)
            painter.setPen(QPen(QColor(colours.line), 1))
            y = unknown - self._row / 4
            painter.drawLine(QPointF(0, y), QPointF(self.width(), y))

    # Where things are

    @property
    def _row(self) -> float:
        return self.fontMetrics().height() + 10.0

    @property
    def _head(self) -> float:
        return 2.3 * QFontMetricsF(theme.scaled(self.font(), 0.9)).height()

    def _parted(self) -> bool:
        """Return whether there are groups that are not known, below others that are."""
        known = [line.known for line in self._forest.lines]
        return any(known) and not all(known)

    def _tops(self) -> dict[int, float]:
        """Return the top of each group's row, by its place in the table."""
        tops, top = {}, self._head
        parted = self._parted()
        for place, line in zip(self._forest.places, self._forest.lines, strict=True):
            if parted and not line.known:
                top, parted = top + self._row / 2, False
            tops[place] = top
            top += self._row
        return tops

    def _sides(self) -> tuple[float, float]:
        """Return where rates begin and end."""
        names, rates, people = self._widths
        left = min(names, _NAMES * self.width()) + theme.GAP
        return left, max(self.width() - rates - people - 2 * theme.GAP, left + 60.0)

    def _measured(self) -> tuple[float, ...]:
        """Return how wide names, rates and numbers of people are when written."""
        wide = QFontMetricsF(self.font()).horizontalAdvance
        return tuple(
            max((wide(write(line)) for line in self._forest.lines), default=0.0)
            for write in (_named, group_marks.rate, _people)
        )

    def _x(self, rate: float) -> float:
        left, right = self._sides()
        return left + min(rate / self._forest.reach, 1.0) * (right - left)

    def under(self, where: QPointF) -> int | None:
        """Return the part at a place."""
        return next(
            (place for place, top in self._tops().items() if top <= where.y() < top + self._row),
            None,
        )

    # How they look

    def _paint_scale(self, painter: QPainter, colours: theme.Colours) -> None:
        bottom = max(self._tops().values()) + self._row
        left, right = self._sides()
        painter.setFont(theme.scaled(self.font(), 0.85))
        metrics = painter.fontMetrics()
        about = max(2, min(5, int((right - left) / 70)))
        for value in ticks(100 * self._forest.reach, about):
            x = self._x(value / 100)
            text = f"{value:g}{words.NBSP}%"
            painter.setPen(QPen(QColor(colours.line), 1))
            painter.drawLine(QPointF(x, self._head), QPointF(x, bottom))
            painter.setPen(QColor(colours.quiet))
            wide = metrics.horizontalAdvance(text)
            painter.drawText(QPointF(x - wide / 2, bottom + 1.1 * metrics.height()), text)

    def _paint_reference(self, painter: QPainter, colours: theme.Colours, ink: QColor) -> None:
        """Draw the highest rate, and the band below four fifths of it."""
        best = group_marks.highest(self._forest.groups)
        if best is None or not best.rate:
            return
        bottom = max(self._tops().values()) + self._row
        left = self._sides()[0]
        fifths = float(FOUR_FIFTHS) * best.rate
        top, line = self._x(best.rate), self._x(fifths)
        band = QColor(colours.unlike)
        band.setAlphaF(0.10)
        painter.fillRect(QRectF(left, self._head, line - left, bottom - self._head), band)
        painter.setPen(QPen(QColor(colours.unlike), 1.2, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(line, self._head), QPointF(line, bottom))
        painter.setPen(QPen(ink, 1.2))
        painter.drawLine(QPointF(top, self._head), QPointF(top, bottom))
        painter.setFont(theme.scaled(self.font(), 0.9))
        metrics = QFontMetricsF(painter.font())
        for at, text, colour, place in (
            (top, f"highest: {group_marks.name(best)}, {group_marks.rate(best)}", ink, 0),
            (
                line,
                f"{group_marks.BELOW} below four fifths of it ({100 * fifths:.1f}{words.NBSP}%)",
                colours.wrong,
                1,
            ),
        ):
            room = self.width() - left
            text = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, room)  # noqa: PLW2901
            wide = metrics.horizontalAdvance(text)
            x = min(max(at - wide + (wide / 2 if place == 0 else 0), left), self.width() - wide)
            painter.setPen(QColor(colour))
            painter.drawText(QPointF(x, place * metrics.height() + metrics.ascent()), text)

    def _paint_name(
        self,
        painter: QPainter,
        colours: theme.Colours,
        ink: QColor,
        line: GroupLine,
        top: float,
    ) -> None:
        """Write a group's name, and its numbers at the other end."""
        painter.setFont(self.font())
        painter.setPen(ink if line.known else QColor(colours.quiet))
        metrics = QFontMetricsF(self.font())
        left, right = self._sides()
        _names, rates, people = self._widths
        baseline = top + (self._row - metrics.height()) / 2 + metrics.ascent()
        room = left - theme.GAP + 1
        text = metrics.elidedText(_named(line), Qt.TextElideMode.ElideMiddle, room)
        painter.drawText(QPointF(0, baseline), text)
        end = right + theme.GAP + rates
        for number, at in (
            (group_marks.rate(line), end),
            (_people(line), end + theme.GAP + people),
        ):
            painter.drawText(QPointF(at - metrics.horizontalAdvance(number), baseline), number)

    def _paint_rate(
        self,
        painter: QPainter,
        colours: theme.Colours,
        ground: QColor,
        place: int,
        top: float,
    ) -> None:
        """Draw a rate's mark on its interval: an outline, for it was observed."""
        line = self._forest.groups.lines[place]
        if line.rate is None:
            return
        colour = group_marks.colour_of(line, colours)
        style = Qt.PenStyle.DashLine if line.excluded else Qt.PenStyle.SolidLine
        y = top + self._row / 2
        low, middle, high = (self._x(rate) for rate in (line.low, line.rate, line.high))
        painter.setPen(QPen(colour, 1.8, style, Qt.PenCapStyle.FlatCap))
        painter.drawLine(QPointF(low, y), QPointF(high, y))
        painter.setPen(QPen(colour, 1.8))
        for end in (low, high):
            painter.drawLine(QPointF(end, y - 3.5), QPointF(end, y + 3.5))
        painter.setBrush(ground)
        centre = QPointF(middle, y)
        if place == self._forest.groups.reference:
            painter.drawRect(QRectF(middle - _MARK, y - _MARK, 2 * _MARK, 2 * _MARK))
        elif line.below and not line.excluded:
            painter.drawPolygon(_triangle(centre))
        else:
            painter.drawEllipse(centre, _MARK, _MARK)
        painter.setBrush(Qt.BrushStyle.NoBrush)


def _people(line: GroupLine) -> str:
    return f"n{words.NBSP}{words.number(line.people)}"


def _named(line: GroupLine) -> str:
    """Name a group as its row does."""
    if line.excluded:
        return f"{group_marks.name(line)} (too few)"
    return group_marks.name(line)


def _triangle(centre: QPointF) -> QPolygonF:
    size = 1.2 * _MARK
    return QPolygonF(
        [
            QPointF(centre.x() - size, centre.y() - 0.8 * size),
            QPointF(centre.x() + size, centre.y() - 0.8 * size),
            QPointF(centre.x(), centre.y() + size),
        ]
    )
