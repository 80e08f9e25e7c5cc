"""What every trial of a repair costs and brings: accuracy against discrimination, to pick from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor, log10

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QPainter,
    QPen,
    QPolygonF,
)

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.gui.charts.painted import PaintedChart
from fairdesk.gui.charts.pointed import Pointed
from fairdesk.gui.kit import parts, theme, tips
from fairdesk.results.events import Metric
from fairdesk.results.trials import Measure, Trial, What
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import words

#: Half the size of a mark, and how near the pointer must come to it.
_MARK, _NEAR = 5.0, 14.0
#: Of the reach of the points so much is left free around them.
_ROOM = 0.07
_LEAST = "least accuracy allowed"

#: What the search made of a portion, shortly.
VERDICTS = {
    "": "",
    "better": "better than the best before",
    "worse": "worse than the best before",
    "open": "not shown to be better than the best before",
    "costly": "costs more accuracy than allowed",
}


@dataclass(frozen=True)
class Point:
    """A trial where it stands: percentages, each with the ends of its interval."""

    trial: Trial
    name: str
    x: tuple[float, float, float]
    y: tuple[float, float, float]


@dataclass(frozen=True)
class Curve:
    """All that the chart shows.

    Attributes
    ----------
    spec : AuditSpec, optional
        The question.
    figures : tuple[Figure, ...]
        Of the run, as they stand.
    """

    spec: AuditSpec | None = None
    figures: tuple[Metric, ...] = ()

    @property
    def title(self) -> str:
        """What it tells."""
        return "Accuracy against discrimination"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.points

    @cached_property
    def target(self) -> What:
        """What is to fall."""
        repair = mitigation_words.repair_of(self.figures)
        return "share_domain" if repair is None else repair.target

    @cached_property
    def chosen(self) -> int:
        """The number of the trial that the search chose; -1 for none."""
        repair = mitigation_words.repair_of(self.figures)
        return -1 if repair is None else repair.chosen

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """The trials that can be drawn, the least discriminatory first."""
        found = []
        for trial in mitigation_words.trials_of(self.figures):
            x, y = measured(trial, self.target), measured(trial, "accuracy")
            if x is not None and y is not None:
                found.append(Point(trial, _short(trial), _span(x), _span(y)))
        return tuple(sorted(found, key=lambda each: (each.x[1], each.trial.number)))

    @property
    def x_title(self) -> str:
        """What is counted to the right."""
        if self.target == "rule_score":
            return f"difference of rates of the rule set, points {words.NBSP}→"
        return f"estimated share treated unlike, %{words.NBSP} →"

    @property
    def y_title(self) -> str:
        """What is counted upwards."""
        return "↑ accuracy on the validation rows, %"

    @cached_property
    def floor(self) -> float | None:
        """The least accuracy that is allowed, in percent; ``None`` where it is not known."""
        repair = mitigation_words.repair_of(self.figures)
        before = next((each for each in self.points if each.trial.kind == "retrained"), None)
        return None if repair is None or before is None else before.y[1] - repair.allowance

    def told(self, point: Point) -> str:
        """Say where a trial stands."""
        added = point.trial.added
        rows = f", {words.counted(added, 'row')} added" if added else ""
        unit = "points" if self.target == "rule_score" else f"{words.NBSP}% treated unlike"
        gap = " " if self.target == "rule_score" else ""
        said = (
            f"{point.name}{rows}: {_with_ends(point.x)}{gap}{unit}, "
            f"accuracy {_with_ends(point.y)}{words.NBSP}%"
        )
        verdict = VERDICTS[point.trial.verdict]
        best = "chosen" if point.trial.number == self.chosen else ""
        front = "none is better in both" if point.trial.front else ""
        return "; ".join(filter(None, (said, best, verdict, front)))

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""
        if self.empty:
            return f"{self.title}: nothing yet."
        told = "; ".join(f"{each.name} {each.x[1]:.1f} and {each.y[1]:.1f}" for each in self.points)
        return (
            f"{self.title}, estimated, in percent: {told}. Arrow keys pick a model; T shows a "
            "table."
        )

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table: a header and rows; of these at most so many."""
        if self.spec is None:
            return ("Model",), []
        rows = mitigation_words.trial_rows(self.spec, self.figures)
        return mitigation_words.TRIAL_HEADS, [tuple(row) for row in rows[:most]]


def measured(trial: Trial, what: What) -> Measure | None:
    """Return what a trial is chosen by: the measure on validation rows or people, else another."""
    found = {each.rows: each for each in trial.measures if each.what == what and not each.of}
    for rows in ("validation", "domain", "test"):
        each = found.get(rows)
        if each is not None and each.estimate is not None:
            return each
    return None


def _short(trial: Trial) -> str:
    """Name a trial where there is little room: ``2.9 %``."""
    name = mitigation_words.trial_name(trial)
    return name.removesuffix(" added") if trial.kind == "portion" else name


def _span(measure: Measure) -> tuple[float, float, float]:
    """Return the ends of an interval around an estimate, in percent."""
    at = measure.estimate or 0.0
    low = at if measure.low is None else measure.low
    high = at if measure.high is None else measure.high
    return 100 * low, 100 * at, 100 * high


def _with_ends(span: tuple[float, float, float]) -> str:
    low, at, high = span
    digits = words.digits_of(low / 100, high / 100)
    return f"{at:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


class RepairChart(PaintedChart):
    """The trials, with their table (T); the arrow keys and the pointer pick one.

    Signals
    -------
    picked : int
        The trial of this number is picked.
    """

    picked = Signal(int)

    _canvas: _Canvas

    def __init__(self) -> None:
        super().__init__()
        self._drawing = Curve()
        self._canvas = _Canvas()
        self._canvas.pointed.connect(self._point_at)
        self._canvas.pressed.connect(self._press)
        heading = parts.Words("What each costs and brings", size=1.12, strong=True, wrap=False)
        self.tools.addWidget(heading)
        self._stack.addWidget(self._canvas)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for room for labels."""
        return QSize(560, 360)

    @property
    def drawing(self) -> Curve:
        """What is shown."""
        return self._drawing

    def draw(self, drawing: Curve) -> None:
        """Show other trials."""
        if drawing == self._drawing:
            return
        self._drawing = drawing
        self._canvas.show_curve(drawing)
        self._read("")
        self._tell()
        self._redraw()

    def pick(self, number: int) -> None:
        """Mark a trial; nothing is told of it."""
        self._canvas.pick(number)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Walk from trial to trial: along discrimination, or along accuracy."""
        step = {
            Qt.Key.Key_Left: (0, -1),
            Qt.Key.Key_Right: (0, 1),
            Qt.Key.Key_Down: (1, -1),
            Qt.Key.Key_Up: (1, 1),
        }.get(Qt.Key(event.key()))
        points = self._drawing.points
        if step is None or not points or self._as_table.isChecked():
            super().keyPressEvent(event)
            return
        along, by = step
        order = sorted(points, key=lambda each: (each.y if along else each.x)[1])
        numbers = [each.trial.number for each in order]
        now = self._canvas.picked
        at = numbers.index(now) + by if now in numbers else 0
        self._press(order[min(max(at, 0), len(order) - 1)])

    def _press(self, point: Point) -> None:
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self._canvas.pick(point.trial.number)
        self._point_at(point)
        self.picked.emit(point.trial.number)

    def _point_at(self, point: Point | None) -> None:
        if point is None:
            point = next(
                (each for each in self._drawing.points if each.trial.number == self._canvas.picked),
                None,
            )
        told = "" if point is None else self._drawing.told(point)
        self._read(told)
        self._canvas.setToolTip(tips.plain(told) if told else "")


@dataclass(frozen=True)
class _Scale:
    """Where percentages stand in a picture: the area, and the ends of both axes."""

    area: QRectF
    along: tuple[float, float]
    up: tuple[float, float]

    def at(self, x: float, y: float) -> QPointF:
        """Return the place of two percentages."""
        (left, right), (low, high) = self.along, self.up
        return QPointF(
            self.area.left() + (x - left) / (right - left) * self.area.width(),
            self.area.bottom() - (y - low) / (high - low) * self.area.height(),
        )


class _Canvas(Pointed):
    """Draws it: the front as a line, a mark per trial with its intervals, names beside them."""

    def __init__(self) -> None:
        super().__init__()
        self._curve = Curve()
        self.picked = -1

    def show_curve(self, curve: Curve) -> None:
        self._curve = curve
        self._pointed = None
        self.update()

    def pick(self, number: int) -> None:
        self.picked = number
        self.update()

    def paint(self, painter: QPainter, colours: theme.Colours, ink: QColor, ground: QColor) -> None:
        """Draw all of it."""
        if self._curve.empty:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.font())
        scale = self.scale()
        self._paint_axes(painter, scale, colours)
        self._paint_floor(painter, scale, colours)
        self._paint_front(painter, scale, colours)
        for point in self._curve.points:
            self._paint_ends(painter, scale, colours, ink, point)
        for point in self._curve.points:
            self._paint_mark(painter, scale, colours, ink, ground, point)
        self._paint_names(painter, scale, colours, ink, ground)

    # Where things are

    def scale(self) -> _Scale:
        """Make room for all trials with their intervals, and for what is written around them."""
        points, metrics = self._curve.points, QFontMetricsF(theme.scaled(self.font(), 0.9))
        line = metrics.height()
        left, top = metrics.horizontalAdvance("100.0") + theme.GAP, 1.5 * line
        area = QRectF(left, top, self.width() - left - theme.GAP, self.height() - top - 2.4 * line)
        right = max(each.x[2] for each in points)
        least = min(each.x[0] for each in points)
        ys = [end for each in points for end in each.y]
        if self._curve.floor is not None:
            ys.append(self._curve.floor)
        # what is near nought is seen against it
        start = 0.0 if least < 0.6 * right else least
        wide, high = right - start or 1.0, max(ys) - min(ys) or 1.0
        return _Scale(
            area,
            (start - (_ROOM * wide if start else 0.0), right + _ROOM * wide),
            (min(ys) - _ROOM * high, min(max(ys) + _ROOM * high, 100.0 + _ROOM * high)),
        )

    def under(self, where: QPointF) -> Point | None:
        """Return the trial at a place."""
        if self._curve.empty:
            return None

        scale = self.scale()

        def away(point: Point) -> float:
            line = scale.at(point.x[1], point.y[1]) - where
            return QPointF.dotProduct(line, line)

        nearest = min(self._curve.points, key=away)
        return nearest if away(nearest) <= _NEAR**2 else None

    # How they look

    def _paint_axes(self, painter: QPainter, scale: _Scale, colours: theme.Colours) -> None:
        area, along, up = scale.area, scale.along, scale.up
        small = theme.scaled(self.font(), 0.9)
        painter.setFont(small)
        metrics = QFontMetricsF(small)
        line, quiet = QPen(QColor(colours.line), 1), QColor(colours.quiet)
        values = marks(*up, int(area.height() / 48))
        digits = _digits(values)
        for value in values:
            y = scale.at(along[0], value).y()
            painter.setPen(line)
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            text = f"{value:.{digits}f}"
            painter.setPen(quiet)
            wide = metrics.horizontalAdvance(text)
            middle = y + metrics.ascent() / 2 - 1
            painter.drawText(QPointF(area.left() - wide - theme.NEAR, middle), text)
        values = marks(*along, int(area.width() / 90))
        digits = _digits(values)
        for value in values:
            x = scale.at(value, up[0]).x()
            painter.setPen(line)
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            text = f"{value:.{digits}f}"
            painter.setPen(quiet)
            wide = metrics.horizontalAdvance(text)
            painter.drawText(QPointF(x - wide / 2, area.bottom() + 1.1 * metrics.height()), text)
        painter.setPen(quiet)
        painter.drawText(QPointF(0, metrics.ascent()), self._curve.y_title)
        title = self._curve.x_title
        painter.drawText(
            QPointF(
                area.right() - metrics.horizontalAdvance(title),
                area.bottom() + 2.2 * metrics.height(),
            ),
            title,
        )

    def _paint_floor(self, painter: QPainter, scale: _Scale, colours: theme.Colours) -> None:
        """Draw the least accuracy that is allowed."""
        least = self._curve.floor
        if least is None:
            return
        area, along = scale.area, scale.along
        y = scale.at(along[0], least).y()
        painter.setPen(QPen(QColor(colours.quiet), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        painter.setFont(theme.scaled(self.font(), 0.9))
        painter.drawText(self._floor_text(scale), Qt.AlignmentFlag.AlignRight, _LEAST)

    def _floor_text(self, scale: _Scale) -> QRectF:
        """Return the place of what is written on the line of the least accuracy allowed."""
        if self._curve.floor is None:
            return QRectF()
        metrics = QFontMetricsF(theme.scaled(self.font(), 0.9))
        wide, high = metrics.horizontalAdvance(_LEAST) + 2, metrics.height()
        y = scale.at(scale.along[0], self._curve.floor).y()
        return QRectF(scale.area.right() - wide, y - high - 1, wide, high)

    def _paint_front(self, painter: QPainter, scale: _Scale, colours: theme.Colours) -> None:
        """Join those that no other one beats in both."""
        front = [each for each in self._curve.points if each.trial.front]
        line = QPolygonF([scale.at(each.x[1], each.y[1]) for each in front])
        painter.setPen(QPen(QColor(colours.series[0]), 1.8))
        painter.drawPolyline(line)

    def _colour(self, colours: theme.Colours, ink: QColor, point: Point) -> QColor:
        kind = point.trial.kind
        if kind in ("imported", "retrained"):
            return QColor(ink)
        return QColor(colours.series[0 if kind == "portion" else 3])

    def _paint_ends(
        self, painter: QPainter, scale: _Scale, colours: theme.Colours, ink: QColor, point: Point
    ) -> None:
        """Draw the intervals: all that could as well be."""
        colour = self._colour(colours, ink, point)
        strong = point.trial.number == self.picked or point is self._pointed
        colour.setAlphaF(0.9 if strong else 0.32)
        painter.setPen(QPen(colour, 1.6 if strong else 1.2))
        (x_low, x, x_high), (y_low, y, y_high) = point.x, point.y
        painter.drawLine(scale.at(x_low, y), scale.at(x_high, y))
        painter.drawLine(scale.at(x, y_low), scale.at(x, y_high))

    def _paint_mark(
        self,
        painter: QPainter,
        scale: _Scale,
        colours: theme.Colours,
        ink: QColor,
        ground: QColor,
        point: Point,
    ) -> None:
        """Draw a mark of its kind; full on the front, else an outline."""
        at, colour = scale.at(point.x[1], point.y[1]), self._colour(colours, ink, point)
        if point.trial.number == self.picked:
            painter.setPen(QPen(QColor(colours.accent), 2))
            painter.setBrush(QColor(colours.tint))
            painter.drawEllipse(at, 2.1 * _MARK, 2.1 * _MARK)
        painter.setPen(QPen(colour, 1.8))
        painter.setBrush(colour if point.trial.front else ground)
        match point.trial.kind:
            case "imported":
                painter.drawRect(QRectF(at.x() - _MARK, at.y() - _MARK, 2 * _MARK, 2 * _MARK))
            case "retrained":
                painter.drawPolygon(_corners(at, ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0))))
            case "portion":
                painter.drawEllipse(at, _MARK, _MARK)
            case "other":
                painter.drawPolygon(_corners(at, ((0, -1.3), (1.25, 0.95), (-1.25, 0.95))))

    def _paint_names(
        self, painter: QPainter, scale: _Scale, colours: theme.Colours, ink: QColor, ground: QColor
    ) -> None:
        """Write names where they cover the least; of the many that would lie on each other some."""
        taken = [self._floor_text(scale)]
        taken += [_around(scale.at(each.x[1], each.y[1]), _MARK + 2) for each in self._curve.points]
        room = QRectF(0, 0, self.width(), scale.area.bottom())
        shade = QColor(ground)
        shade.setAlphaF(0.8)
        for point in sorted(self._curve.points, key=self._rank):
            first = self._rank(point) < 4
            font = theme.scaled(self.font(), 0.95, strong=first)
            metrics = QFontMetricsF(font)
            text = label(point, self._curve.chosen)
            size = QRectF(0, 0, metrics.horizontalAdvance(text) + 4, metrics.height())
            place, hidden = _best_place(scale.at(point.x[1], point.y[1]), size, taken, room)
            if hidden > 0.25 * size.width() * size.height() and not first:
                continue
            taken.append(place)
            painter.setFont(font)
            painter.fillRect(place, shade)
            painter.setPen(self._colour(colours, ink, point))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)

    def _rank(self, point: Point) -> int:
        """Return the order in which names are placed."""
        number, kind = point.trial.number, point.trial.kind
        order = (
            number == self.picked,
            number == self._curve.chosen,
            kind == "imported",
            kind == "retrained",
            point.trial.front,
            kind == "other",
        )
        return order.index(True) if True in order else len(order)


def label(point: Point, chosen: int) -> str:
    """Name a point beside its mark."""
    if point.trial.number == chosen:
        return f"{point.name}, chosen"
    return f"{point.name}, too costly" if point.trial.verdict == "costly" else point.name


def marks(low: float, high: float, about: int) -> list[float]:
    """Return round numbers between two ends, about so many."""
    raw = (high - low) / max(about, 2)
    power = 10.0 ** floor(log10(raw))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= raw * 0.999)
    return [step * i for i in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def _digits(values: Sequence[float]) -> int:
    """Choose decimals by how far apart an axis's marks are, so that each tells where it stands."""
    step = values[1] - values[0] if len(values) > 1 else 0.01
    return max(0, -floor(log10(step) + 1e-9))


def _corners(at: QPointF, places: Sequence[tuple[float, float]]) -> QPolygonF:
    return QPolygonF([QPointF(at.x() + _MARK * x, at.y() + _MARK * y) for x, y in places])


def _around(at: QPointF, half: float) -> QRectF:
    return QRectF(at.x() - half, at.y() - half, 2 * half, 2 * half)


def _best_place(
    at: QPointF, size: QRectF, taken: Sequence[QRectF], room: QRectF
) -> tuple[QRectF, float]:
    """Place a label around its point where it covers the least; gives how much that is."""
    wide, high, gap = size.width(), size.height(), _MARK + 5
    places = [
        QRectF(at.x() + dx, at.y() + dy, wide, high)
        for dx, dy in (
            (gap, -high - 2),
            (gap, 2),
            (-gap - wide, -high - 2),
            (-gap - wide, 2),
            (gap, -high / 2),
            (-gap - wide, -high / 2),
            (-wide / 2, -gap - high),
            (-wide / 2, gap),
        )
    ]

    def covered(place: QRectF) -> float:
        inside = place.intersected(room)
        outside = wide * high - inside.width() * inside.height()
        both = (place.intersected(each) for each in taken)
        return 4 * outside + sum(each.width() * each.height() for each in both)

    best = min(places, key=covered)
    return best, covered(best)
