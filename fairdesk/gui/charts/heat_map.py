"""Rates of the groups that two attributes make together, as a heat map with the number of people.

The stronger the colour, the higher the rate, in one hue; the number stands in it. Groups too small
to be compared are hatched, and where nobody is the cell is open.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QPainter,
    QPen,
)

from fairdesk.gui.charts import group_marks
from fairdesk.gui.charts.painted import PaintedChart
from fairdesk.gui.charts.pointed import Pointed
from fairdesk.gui.kit import parts, theme, tips
from fairdesk.results.events import GroupLine, GroupTable
from fairdesk.wording import words

#: How wide a cell is at most, and how much of the width the rows' names take.
_WIDEST, _NAMES = 190.0, 0.3
#: With more rows than this a cell has one line.
_ROOMY = 12
#: How much of the colour the lowest rate has, and the highest.
_PALE, _FULL = 0.06, 0.76


@dataclass(frozen=True)
class Heat:
    """All that a heat map shows.

    Attributes
    ----------
    groups : GroupTable
        Of two attributes.
    title : str
        What it tells.
    person : str
        The auditor's word for one of the people.
    """

    groups: GroupTable = group_marks.NOTHING
    title: str = "Rates of intersections"
    person: str = "person"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return len(self.groups.attributes) != 2 or not self.groups.lines

    @cached_property
    def _axes(self) -> tuple[int, int]:
        """Which attribute goes down, and which along: the one with more values goes down."""
        counts = [len({line.values[axis] for line in self.groups.lines}) for axis in (0, 1)]
        return (0, 1) if counts[0] >= counts[1] else (1, 0)

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """The values that go down, in their own order."""
        return self._values(self._axes[0])

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The values that go along, in their own order."""
        return self._values(self._axes[1])

    @property
    def names(self) -> tuple[str, str]:
        """The attributes: the one that goes down, and the one along."""
        down, along = self._axes
        return self.groups.attributes[down], self.groups.attributes[along]

    @cached_property
    def cells(self) -> dict[tuple[int, int], int]:
        """Where each group stands, row and column: its place in the table."""
        down, along = self._axes
        return {
            (self.rows.index(line.values[down]), self.columns.index(line.values[along])): place
            for place, line in enumerate(self.groups.lines)
        }

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest rate of groups that are compared; of others if there is none.

        One person in a group would else take all the colour.
        """
        lines = [line for line in self.groups.lines if line.rate is not None]
        large = [line.rate or 0.0 for line in lines if line.known and not line.excluded]
        rates = large or [line.rate or 0.0 for line in lines]
        return min(rates, default=0.0), max(rates, default=1.0)

    def told(self, cell: tuple[int, int]) -> str:
        """Say what is known of a cell."""
        place = self.cells.get(cell)
        if place is None:
            row, column = cell
            return f"{self.rows[row]}, {self.columns[column]}: nobody"
        return group_marks.told(self.groups.lines[place], self.person)

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""
        return group_marks.summary(self.groups, self.title, self.person)

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table: a header and rows; of these at most so many."""
        return group_marks.twin(self.groups, most)

    def _values(self, axis: int) -> tuple[str, ...]:
        """Return an attribute's values in their own order: that of their codes."""
        found: dict[str, float] = {}
        for line in self.groups.lines:
            # of a group that is not known there may be no codes
            code = line.codes[axis] if line.codes else math.inf
            found[line.values[axis]] = min(code, found.get(line.values[axis], math.inf))
        return tuple(sorted(found, key=lambda value: found[value]))


class HeatMap(PaintedChart):
    """A heat map, with its table (T); the arrow keys walk its cells.

    Signals
    -------
    chosen : int
        A group is chosen, by its place in the table.
    """

    chosen = Signal(int)
    _canvas: _Canvas

    def __init__(self) -> None:
        super().__init__()
        self._drawing = Heat()
        self._canvas = _Canvas()
        self._canvas.pointed.connect(self._point_at)
        self._canvas.pressed.connect(self._press)
        self._heading = parts.Words("Rate of each intersection", strong=True, wrap=False)
        self.tools.addWidget(self._heading)
        self._stack.addWidget(self._canvas)

    @property
    def drawing(self) -> Heat:
        """What is shown."""
        return self._drawing

    @property
    def chosen_cell(self) -> tuple[int, int] | None:
        """The cell that is chosen: its row and column."""
        return self._canvas.chosen

    def draw(self, drawing: Heat) -> None:
        """Show other groups."""
        if drawing == self._drawing:
            return
        self._drawing = drawing
        self._canvas.show_heat(drawing)
        self._fit()
        self._read("")
        self._tell()
        self._redraw()

    def choose(self, place: int | None) -> None:
        """Mark a group; nothing is told of it."""
        cells = {group: cell for cell, group in self._drawing.cells.items()}
        self._canvas.choose(None if place is None else cells.get(place))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme, and the size of type."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Walk from cell to cell with the arrow keys."""
        steps = {
            Qt.Key.Key_Up: (-1, 0),
            Qt.Key.Key_Down: (1, 0),
            Qt.Key.Key_Left: (0, -1),
            Qt.Key.Key_Right: (0, 1),
        }
        key = Qt.Key(event.key())
        if key not in steps or self._drawing.empty or self._as_table.isChecked():
            super().keyPressEvent(event)
            return
        down, along = steps[key]
        now = self._canvas.chosen
        row, column = (0, 0) if now is None else (now[0] + down, now[1] + along)
        drawing = self._drawing
        self._press(
            (
                min(max(row, 0), len(drawing.rows) - 1),
                min(max(column, 0), len(drawing.columns) - 1),
            )
        )

    def _fit(self) -> None:
        """Be as high as all cells."""
        head = max(self._heading.sizeHint().height(), self._more.sizeHint().height())
        self.setFixedHeight(head + theme.TIGHT + max(self._canvas.needed(), 120))

    def _press(self, cell: tuple[int, int]) -> None:
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self._canvas.choose(cell)
        self._point_at(cell)
        if (place := self._drawing.cells.get(cell)) is not None:
            self.chosen.emit(place)

    def _point_at(self, cell: tuple[int, int] | None) -> None:
        if cell is None:
            cell = self._canvas.chosen
        told = "" if cell is None else self._drawing.told(cell)
        self._read(told)
        self._canvas.setToolTip(tips.plain(told) if told else "")


class _Canvas(Pointed):
    """Draws it: names of one attribute at the left, of the other above."""

    def __init__(self) -> None:
        super().__init__()
        self._heat = Heat()
        self.chosen: tuple[int, int] | None = None

    def show_heat(self, heat: Heat) -> None:
        self._heat = heat
        self._pointed = None
        if self.chosen is not None and (
            self.chosen[0] >= len(heat.rows) or self.chosen[1] >= len(heat.columns)
        ):
            self.chosen = None
        self.update()

    def choose(self, cell: tuple[int, int] | None) -> None:
        self.chosen = cell
        self.update()

    def needed(self) -> int:
        """Return the height of all cells and what stands above and below them."""
        if self._heat.empty:
            return 0
        return round(self._head + len(self._heat.rows) * self._high + self._foot)

    def paint(
        self, painter: QPainter, colours: theme.Colours, ink: QColor, _ground: QColor
    ) -> None:
        """Draw all of it."""
        if self._heat.empty:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_names(painter, colours, ink)
        heat = self._heat
        for row in range(len(heat.rows)):
            for column in range(len(heat.columns)):
                place = heat.cells.get((row, column))
                box = self.box((row, column))
                if place is None or not heat.groups.lines[place].people:
                    self._paint_nobody(painter, colours, box)
                else:
                    self._paint_cell(painter, colours, heat.groups.lines[place], box)
        for cell, width in ((self._pointed, 1.5), (self.chosen, 3.0)):
            if isinstance(cell, tuple):
                painter.setPen(QPen(ink, width))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(self.box(cell).adjusted(1, 1, -1, -1))
        self._paint_foot(painter, colours)

    # Where things are

    @property
    def _line(self) -> float:
        return float(self.fontMetrics().height())

    @property
    def _high(self) -> float:
        roomy = len(self._heat.rows) <= _ROOMY
        return 2 * self._line + 10 if roomy else self._line + 8

    @property
    def _head(self) -> float:
        return 2 * self._line + 6

    @property
    def _foot(self) -> float:
        return 1.5 * self._line

    def _left(self) -> float:
        metrics = QFontMetricsF(self.font())
        told = (*self._heat.rows, self._heat.names[0])
        widest = max(metrics.horizontalAdvance(text) for text in told)
        return min(widest, _NAMES * self.width()) + theme.GAP

    def _wide(self) -> float:
        return min((self.width() - self._left()) / len(self._heat.columns), _WIDEST)

    def box(self, cell: tuple[int, int]) -> QRectF:
        """Return a cell's rectangle."""
        row, column = cell
        wide, high = self._wide(), self._high
        left = self._left() + column * wide
        return QRectF(left, self._head + row * high, wide - 2, high - 2)

    def under(self, where: QPointF) -> tuple[int, int] | None:
        """Return the part at a place."""
        if self._heat.empty:
            return None
        column = int((where.x() - self._left()) // self._wide())
        row = int((where.y() - self._head) // self._high)
        inside = 0 <= row < len(self._heat.rows) and 0 <= column < len(self._heat.columns)
        return (row, column) if inside else None

    # How they look

    def _paint_names(self, painter: QPainter, colours: theme.Colours, ink: QColor) -> None:
        heat, line = self._heat, self._line
        metrics = QFontMetricsF(self.font())
        painter.setFont(self.font())
        left, wide = self._left(), self._wide()
        room = left - theme.GAP + 1
        elide = Qt.TextElideMode.ElideMiddle
        down, along = heat.names
        painter.setPen(QColor(colours.quiet))
        painter.drawText(QPointF(0, line + metrics.ascent()), metrics.elidedText(down, elide, room))
        painter.drawText(
            QPointF(left, metrics.ascent()), metrics.elidedText(along, elide, self.width() - left)
        )
        painter.setPen(ink)
        for column, value in enumerate(heat.columns):
            box = QRectF(left + column * wide, line, wide - 2, line)
            text = metrics.elidedText(value, elide, wide - 6)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        for row, value in enumerate(heat.rows):
            box = QRectF(0, self._head + row * self._high, room, self._high - 2)
            text = metrics.elidedText(value, elide, room)
            side = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(box, side, text)

    def _paint_cell(
        self, painter: QPainter, colours: theme.Colours, line: GroupLine, box: QRectF
    ) -> None:
        """Fill a cell by its rate, and write the numbers into it."""
        low, high = self._heat.ends
        share = 1.0 if high == low else ((line.rate or 0.0) - low) / (high - low)
        share = _PALE + min(max(share, 0.0), 1.0) * (_FULL - _PALE)
        ground = group_marks.mixed(QColor(colours.card), QColor(colours.alike), share)
        ink = group_marks.ink_on(ground)
        painter.fillRect(box, ground)
        painter.setPen(QPen(QColor(colours.alike), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(box)
        if line.excluded or not line.known:
            faint = QColor(ink)
            faint.setAlphaF(0.2)
            painter.fillRect(box, QBrush(faint, Qt.BrushStyle.BDiagPattern))
        painter.setPen(ink)
        for text, where in zip(self._texts(line, box), self._places(box), strict=False):
            painter.drawText(where, Qt.AlignmentFlag.AlignCenter, text)

    def _texts(self, line: GroupLine, box: QRectF) -> list[str]:
        """Return what is written in a cell, as much as there is room for."""
        metrics = QFontMetricsF(self.font())

        def fits(text: str) -> bool:
            return metrics.horizontalAdvance(text) <= box.width() - 6

        mark = f"{group_marks.BELOW} " if line.below and not line.excluded else ""
        counts = (f"n{words.NBSP}{words.number(line.people)}", words.number(line.people))
        rates = [
            f"{mark}{group_marks.rate(line, digits)}{unit}" for digits, unit in ((1, ""), (0, ""))
        ]
        if len(self._heat.rows) > _ROOMY:
            both = [f"{rate}, {counts[0]}" for rate in rates]
            return [next(filter(fits, (*both, *rates)), mark.strip())]
        return [next(filter(fits, told), "") for told in ((*rates, mark.strip()), counts)]

    def _places(self, box: QRectF) -> list[QRectF]:
        if len(self._heat.rows) > _ROOMY:
            return [box]
        half = box.height() / 2
        return [
            QRectF(box.left(), box.top() + 2, box.width(), half),
            QRectF(box.left(), box.top() + half - 2, box.width(), half),
        ]

    def _paint_nobody(self, painter: QPainter, colours: theme.Colours, box: QRectF) -> None:
        painter.setPen(QPen(QColor(colours.line), 1, Qt.PenStyle.DashLine))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(box)
        painter.setPen(QColor(colours.quiet))
        text = "nobody"
        if QFontMetricsF(self.font()).horizontalAdvance(text) > box.width() - 4:
            text = "–"
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_foot(self, painter: QPainter, colours: theme.Colours) -> None:
        """Say what marks mean, as far as there are any."""
        lines = self._heat.groups.lines
        said = ["the stronger the colour, the higher the rate"]
        if any(line.below and not line.excluded for line in lines):
            said.append(f"{group_marks.BELOW} below four fifths of the highest")
        if any(line.excluded or not line.known for line in lines):
            said.append("hatched: too few, or unknown; not compared")
        painter.setFont(theme.scaled(self.font(), 0.9))
        painter.setPen(QColor(colours.quiet))
        metrics = QFontMetricsF(painter.font())
        text = "; ".join(said)
        text = metrics.elidedText(
            text[0].upper() + text[1:], Qt.TextElideMode.ElideRight, self.width()
        )
        bottom = self._head + len(self._heat.rows) * self._high
        painter.drawText(QPointF(0, bottom + 1.1 * metrics.height()), text)
