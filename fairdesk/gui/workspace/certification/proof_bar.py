"""What is proven of whom, as stacked bars: alike, unlike, and what is left; estimates hatched.

What is proven is rounded down and solid. What is only estimated is hatched, inside of what is
undecided, and never added to what is proven.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
    QResizeEvent,
)

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.gui.charts.painted import Canvas, PaintedChart
from fairdesk.gui.charts.verdicts import MARKS, shown
from fairdesk.gui.kit import parts, theme
from fairdesk.gui.workspace.estimates.share_bars import hatched
from fairdesk.results.events import Metric, Proven, Share
from fairdesk.wording import figures, words

#: The height of a bar, and what a part of it needs at least to be seen, and to carry its mark.
_BAR, _LEAST, _MARKED = 26.0, 2.0, 22.0


class Guess(NamedTuple):
    """What sampling says of an undecided part: how much of it is unlike, and the interval."""

    share: float
    low: float
    high: float
    confidence: float

    def text(self) -> str:
        """Write it: ``41.0 % (38.1 to 44.0)``."""
        digits = figures.digits_of(self.low, self.high)
        return (
            f"{figures.shown_percent(self.share, digits)} "
            f"({100 * self.low:.{digits}f} to {100 * self.high:.{digits}f})"
        )


@dataclass(frozen=True)
class Space:
    """Of whom something is proven, and how much.

    Attributes
    ----------
    name : str
        ``"All possible applicants"``.
    alike, unlike : Fraction
        Proven shares, 0 to 1; the rest is undecided.
    exact : bool
        Everybody is decided.
    people : int
        How many there are; 0 where they are not counted.
    guess : Guess, optional
        What sampling says of the rest.
    """

    name: str
    alike: Fraction
    unlike: Fraction
    exact: bool
    people: int = 0
    guess: Guess | None = None

    @property
    def left(self) -> Fraction:
        """The undecided share."""
        return 1 - self.alike - self.unlike

    def parts(self) -> Iterator[tuple[str, Fraction]]:
        """Yield the verdicts with their shares, those of nobody left out."""
        for verdict, share in zip(MARKS, (self.alike, self.unlike, self.left), strict=True):
            if share > 0:
                yield verdict, share

    def text(self, verdict: str, share: Fraction) -> str:
        """Write a share: what is proven is at least that."""
        if self.exact:
            return f"{figures.shown_percent(float(share), 2)} {verdict}"
        least = "" if verdict == "undecided" else "at least "
        return f"{least}{shown(verdict, share)} {verdict}"

    def count(self, share: Fraction) -> str:
        """Write how many people a share is; empty where they are not counted."""
        return f"{round(share * self.people):,}" if self.people else ""

    def told(self, verdict: str, share: Fraction) -> str:
        """Say one part of the bar in a sentence."""
        many = f" ({self.count(share)} of {self.people:,})" if self.people else ""
        kind = "" if verdict == "undecided" else ": proven"
        said = f"{self.name}: {self.text(verdict, share)}{many}{kind}"
        if verdict == "undecided" and self.guess is not None:
            said += f"; of these an estimated {self.guess.text()} are treated unlike, not proven"
        return said


def spaces_of(spec: AuditSpec, measured: Sequence[Metric]) -> tuple[Space, ...]:
    """Make a bar of everything that a run says of people: proven, counted or only estimated.

    All protected attributes are changed together there; `alone_of` is for each of them.
    """
    many = words.plural(spec.person)
    names = {
        "domain": f"All possible {many}",
        "population": "Your population: every value as common as in your data",
        "data": f"The {many} in your data",
        "perturbed": f"{many.capitalize()} a little unlike your data",
    }
    found: dict[str, Space] = {}
    for figure in measured:
        match figure:
            # the first of each kind is of all protected attributes
            case Proven():
                found.setdefault(figure.of, _proven(names[figure.of], figure))
            case Share() if figure.people:
                found.setdefault(figure.whom, _asked(names[figure.whom], figure))
            case _:
                pass
    return tuple(found[whom] for whom in names if whom in found)


def alone_of(spec: AuditSpec, measured: Sequence[Metric]) -> tuple[Space, ...]:
    """Make a bar of each protected attribute by itself, of all possible people."""
    several = len(spec.domain.protected) > 1
    return tuple(
        _proven(f"When only {words.quoted(figure.attributes[0])} changes", figure)
        for figure in measured
        if isinstance(figure, Proven)
        and figure.of == "domain"
        and several
        and len(figure.attributes) == 1
    )


def _proven(name: str, proven: Proven) -> Space:
    alike, unlike, _left = figures.proven_fractions(proven)
    guess, seen = None, proven.estimated
    if seen is not None and seen.people and not proven.exact:
        guess = Guess(seen.estimate, seen.low, seen.high, seen.confidence)
    return Space(name, alike, unlike, proven.exact, int(proven.total or 0), guess)


def _asked(name: str, share: Share) -> Space:
    """Tell of people who were asked about one by one, or of whom some were."""
    if share.exhaustive:
        unlike = Fraction(share.hits, share.people)
        return Space(name, 1 - unlike, unlike, exact=True, people=share.people)
    guess = Guess(share.estimate, share.low, share.high, share.confidence)
    return Space(name, Fraction(0), Fraction(0), exact=False, guess=guess)


@dataclass(frozen=True)
class Spaces:
    """All that the bars show."""

    bars: tuple[Space, ...]
    title: str = "What is proven, and what is left"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.bars

    def parts(self) -> list[tuple[Space, str, Fraction]]:
        """Return every part of every bar."""
        return [(bar, verdict, share) for bar in self.bars for verdict, share in bar.parts()]

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""
        if self.empty:
            return f"{self.title}: nothing yet."
        return ". ".join(bar.told(*part) for bar in self.bars for part in bar.parts()) + "."

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table: a header and rows; of these at most so many."""
        rows: list[tuple[str, ...]] = []
        for bar, verdict, share in self.parts():
            known = "not known" if verdict == "undecided" else "proven"
            at_least = bar.text(verdict, share).removesuffix(f" {verdict}")
            rows.append((bar.name, verdict, at_least, bar.count(share), known))
            if verdict == "undecided" and bar.guess is not None:
                kind = f"estimated, {100 * bar.guess.confidence:g}{words.NBSP}%"
                rows.append((bar.name, "of the undecided: unlike", bar.guess.text(), "", kind))
        return ("Of whom", "Treated", "Share", "How many", "Known how"), rows[:most]


class ProofBars(PaintedChart):
    """The bars, with their table (T); parts are read with the pointer or the arrow keys.

    Parameters
    ----------
    heading : str
        Stands above them.
    """

    _canvas: _Canvas

    def __init__(self, heading: str) -> None:
        super().__init__()
        self._drawing = Spaces(())
        self._at: int | None = None
        self._canvas = _Canvas()
        self._canvas.pointed.connect(self._point_at)
        self._heading = parts.Words(heading, size=1.12, strong=True, wrap=False)
        self.tools.addWidget(self._heading)
        self._stack.addWidget(self._canvas)

    @property
    def drawing(self) -> Spaces:
        """What is shown."""
        return self._drawing

    def draw(self, drawing: Spaces) -> None:
        """Show other bars."""
        if drawing == self._drawing:
            return
        self._drawing = drawing
        self._canvas.show_bars(drawing)
        self._fit()
        self._point_at(None)
        self._tell()
        self._redraw()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Take another height where labels take more lines."""
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Walk from part to part with the arrow keys."""
        key = Qt.Key(event.key())
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if key not in step or self._drawing.empty:
            super().keyPressEvent(event)
            return
        at = 0 if self._at is None else self._at + step[key]
        self._point_at(min(max(at, 0), len(self._drawing.parts()) - 1))

    def _fit(self) -> None:
        """Be as high as all bars with their labels."""
        head = max(self._heading.sizeHint().height(), self._more.sizeHint().height())
        self.setFixedHeight(head + theme.TIGHT + self._canvas.needed(self.width()))

    def _point_at(self, at: int | None) -> None:
        self._at = at
        self._canvas.point_at(at)
        if at is None:
            self._read("")
            return
        bar, verdict, share = self._drawing.parts()[at]
        self._read(bar.told(verdict, share))
        self._canvas.setToolTip(bar.told(verdict, share))


class _Label(NamedTuple):
    """A direct label: its mark, what it says, where."""

    verdict: str
    text: str
    x: float
    line: int


class _Canvas(Canvas):
    """Draws the bars."""

    pointed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setMouseTracking(True)
        self._bars: tuple[Space, ...] = ()
        self._at: int | None = None

    def show_bars(self, drawing: Spaces) -> None:
        self._bars = drawing.bars
        self.update()

    def point_at(self, at: int | None) -> None:
        self._at = at
        self.update()

    def needed(self, width: int) -> int:
        """Return the height of all bars where there is so much room for their labels."""
        return round(sum(self._row(bar, width) for bar in self._bars)) + 2

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        place = event.position()
        number = 0
        for bar, top in self._tops():
            line = self.fontMetrics().height() + 3
            inside = top + line <= place.y() <= top + line + _BAR
            for _verdict, left, wide in self._spans(bar):
                if inside and left <= place.x() <= left + wide:
                    self.pointed.emit(number)
                    return
                number += 1
        self.pointed.emit(None)

    def leaveEvent(self, _event: QEvent) -> None:  # noqa: N802 - Qt's name
        self.pointed.emit(None)

    def paint(self, painter: QPainter, colours: theme.Colours, ink: QColor, ground: QColor) -> None:
        """Draw all of it."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        number = 0
        for bar, top in self._tops():
            line = self.fontMetrics().height()
            painter.setFont(theme.scaled(self.font(), 1.0, strong=True))
            painter.setPen(ink)
            painter.drawText(QPointF(0, top + self.fontMetrics().ascent()), bar.name)
            whole = QRectF(0, top + line + 3, self.width(), _BAR)
            for verdict, left, wide in self._spans(bar):
                part = QRectF(left, whole.top(), wide, _BAR)
                if verdict == "undecided" and bar.guess is not None:
                    guessed = max(bar.guess.share * wide, 1.5)
                    rest = part.adjusted(guessed, 0, 0, 0)
                    self._paint_part(painter, colours, ground, verdict, rest)
                    self._paint_guess(painter, colours, (ink, ground), part, bar.guess)
                else:
                    self._paint_part(painter, colours, ground, verdict, part)
                if number == self._at:
                    painter.setPen(QPen(ink, 2))
                    painter.setBrush(Qt.BrushStyle.NoBrush)
                    painter.drawRect(part.adjusted(1, 1, -1, -1))
                number += 1
            for label in self._labels(bar, self.width()):
                self._paint_label(painter, colours, ink, label, whole.bottom() + 3)

    def _paint_part(
        self,
        painter: QPainter,
        colours: theme.Colours,
        ground: QColor,
        verdict: str,
        part: QRectF,
    ) -> None:
        """Draw one verdict's part: its colour, and in it its mark."""
        painter.fillRect(part, QColor(getattr(colours, verdict)))
        if part.width() >= _MARKED:
            painter.setPen(ground)
            painter.setFont(theme.scaled(self.font(), 1.2, strong=True))
            painter.drawText(part, Qt.AlignmentFlag.AlignCenter, MARKS[verdict])

    def _paint_guess(
        self,
        painter: QPainter,
        colours: theme.Colours,
        shades: tuple[QColor, QColor],
        part: QRectF,
        guess: Guess,
    ) -> None:
        """Draw what is estimated inside the undecided part: hatched, and its interval as a line."""
        ink, ground = shades
        shape = QRectF(part.left(), part.top(), max(guess.share * part.width(), 1.5), part.height())
        painter.fillRect(shape, ground)
        painter.fillRect(shape, hatched(colours.unlike, self.devicePixelRatioF()))
        painter.setPen(QPen(QColor(colours.unlike), 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(shape.adjusted(0.6, 0.6, -0.6, -0.6))
        low, high = (part.left() + end * part.width() for end in (guess.low, guess.high))
        painter.setPen(QPen(ink, 2.0, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
        middle = part.center().y()
        painter.drawLine(QPointF(low, middle), QPointF(high, middle))
        for end in (low, high):
            painter.drawLine(QPointF(end, middle - 4), QPointF(end, middle + 4))

    def _paint_label(
        self, painter: QPainter, colours: theme.Colours, ink: QColor, label: _Label, top: float
    ) -> None:
        """Write a label behind a little square of its colour, which has the mark in it."""
        metrics = self.fontMetrics()
        line = top + label.line * (metrics.height() + 3)
        square = QRectF(label.x, line + 1, metrics.height() - 2, metrics.height() - 2)
        painter.setFont(theme.scaled(self.font(), 0.95, strong=True))
        if label.verdict == "guess":
            painter.fillRect(square, hatched(colours.unlike, self.devicePixelRatioF()))
            painter.setPen(QPen(QColor(colours.unlike), 1.2))
            painter.drawRect(square.adjusted(0.6, 0.6, -0.6, -0.6))
        else:
            painter.setPen(QColor(getattr(colours, label.verdict)))
            painter.drawText(square, Qt.AlignmentFlag.AlignCenter, MARKS[label.verdict])
        painter.setFont(self.font())
        painter.setPen(ink)
        painter.drawText(QPointF(square.right() + 5, line + metrics.ascent()), label.text)

    def _labels(self, bar: Space, width: float) -> list[_Label]:
        """Place the labels of a bar, on as many lines as they need."""
        texts = [(verdict, bar.text(verdict, share)) for verdict, share in bar.parts()]
        if bar.guess is not None:
            whole = not (bar.alike or bar.unlike)
            of = "" if whole else "of the undecided "
            texts.append(("guess", f"estimated, not proven: {of}{bar.guess.text()} unlike"))
        metrics = QFontMetricsF(self.font())
        found: list[_Label] = []
        x, line = 0.0, 0
        for verdict, text in texts:
            wide = metrics.height() + 5 + metrics.horizontalAdvance(text)
            if x and x + wide > width:
                x, line = 0.0, line + 1
            found.append(_Label(verdict, text, x, line))
            x += wide + theme.WIDE
        return found

    def _spans(self, bar: Space) -> list[tuple[str, float, float]]:
        """Return for each part where it begins and how wide it is; none is too small to be seen."""
        wide = [
            (verdict, max(float(share) * self.width(), _LEAST)) for verdict, share in bar.parts()
        ]
        scale = self.width() / max(sum(each for _verdict, each in wide), 1.0)
        found, left = [], 0.0
        for verdict, each in wide:
            found.append((verdict, left, each * scale))
            left += each * scale
        return found

    def _tops(self) -> Iterator[tuple[Space, float]]:
        top = 0.0
        for bar in self._bars:
            yield bar, top
            top += self._row(bar, self.width())

    def _row(self, bar: Space, width: float) -> float:
        line = self.fontMetrics().height() + 3
        labels = self._labels(bar, width)
        lines = labels[-1].line + 1 if labels else 0
        return line * (1 + lines) + _BAR + 3 + theme.GAP
