"""How a group fares beside everybody else: a dot per rate with its interval, on one scale."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPalette, QPen

from fairdesk.groups.metrics.outcomes import wilson
from fairdesk.gui.charts.chart import ticks
from fairdesk.gui.charts.painted import Canvas, PaintedChart
from fairdesk.gui.kit import theme
from fairdesk.gui.workspace.subgroups.findings_list import rate_text
from fairdesk.results.events import RuleSet
from fairdesk.wording import words

_DOT = 5.0


@dataclass(frozen=True)
class Rate:
    """One rate.

    Attributes
    ----------
    name : str
        Of whom.
    kind : str
        ``"estimated"`` from samples, or ``"observed"`` in the untouched rows.
    inside : bool
        Whether it is of the group, and not of everybody else.
    value : float
        The rate, or mean score.
    people : int
        Of how many.
    low, high : float, optional
        Wilson's interval (95 %); none of a mean score.
    """

    name: str
    kind: str
    inside: bool
    value: float
    people: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Rates:
    """All that the chart shows.

    Attributes
    ----------
    rates : tuple[Rate, ...]
        From top to bottom.
    outcome : str
        What is counted; empty for mean scores.
    title : str
        What it tells.
    """

    rates: tuple[Rate, ...] = ()
    outcome: str = ""
    title: str = "The rate inside the group and outside it"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.rates

    def text(self, rate: Rate) -> str:
        """Write a rate with its interval."""
        value = rate_text(self.outcome, rate.value)
        if rate.low is None or rate.high is None:
            return value
        return f"{value} ({100 * rate.low:.1f} to {100 * rate.high:.1f})"

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""
        if self.empty:
            return f"{self.title}: nothing yet."
        told = "; ".join(
            f"{each.name}, {each.kind}: {self.text(each)}, of {words.number(each.people)}"
            for each in self.rates
        )
        return f"{self.title}. {told}."

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table, a header and rows; of these at most so many."""
        factor, digits = (100, 1) if self.outcome else (1, 3)
        header = ("Of", "Kind", "%" if self.outcome else "Mean score", "From", "To", "n")
        return header, [
            (
                each.name,
                each.kind,
                *(
                    "" if value is None else f"{factor * value:.{digits}f}"
                    for value in (each.value, each.low, each.high)
                ),
                str(each.people),
            )
            for each in self.rates[:most]
        ]


def rates_of(rule_set: RuleSet, many: str) -> Rates:
    """Draw the rates of a rule set: of the samples, and of the untouched rows.

    Parameters
    ----------
    rule_set : RuleSet
        As measured.
    many : str
        The auditor's word for people.
    """
    everybody = round(rule_set.rows / rule_set.support) if rule_set.support else rule_set.rows
    told = (
        ("In the group", "estimated", True, rule_set.phi_in, rule_set.n_in),
        ("All others", "estimated", False, rule_set.phi_out, rule_set.n_out),
        ("In the group", "observed", True, rule_set.data_in, rule_set.rows),
        ("All others", "observed", False, rule_set.data_out, everybody - rule_set.rows),
    )
    # of texts it is not told how many hold just these terms: then there is no interval either
    texts = any(each.term for each in rule_set.conditions)
    rates = tuple(
        Rate(
            *(name, kind, inside, value, people),
            *(
                (None, None)
                if texts and kind == "observed"
                else _ends(rule_set.outcome, value, people)
            ),
        )
        for name, kind, inside, value, people in told
        if value is not None and people > 0
    )
    title = f"“{rule_set.outcome}” among these {many} and all others"
    return Rates(rates, rule_set.outcome, title if rule_set.outcome else "Mean scores")


def _ends(outcome: str, value: float, people: int) -> tuple[float | None, float | None]:
    return wilson(round(value * people), people) if outcome else (None, None)


class RatesChart(PaintedChart):
    """The rates as dots: filled in the group, hollow outside; also a table (T)."""

    _canvas: _Canvas

    def __init__(self) -> None:
        super().__init__()
        self._rates = Rates()
        self._canvas = _Canvas()
        self._stack.addWidget(self._canvas)

    @property
    def drawing(self) -> Rates:
        """What is shown."""
        return self._rates

    def draw(self, rates: Rates) -> None:
        """Show others."""
        self._rates = rates
        self._tell()
        self._canvas.show_rates(rates)
        self.setFixedHeight(self.sizeHint().height())
        self._redraw()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for a line per rate, and one for the scale."""
        head = self._as_table.sizeHint().height() + theme.TIGHT
        return QSize(420, self._canvas.needed() + head)


class _Canvas(Canvas):
    """Draws it."""

    def __init__(self) -> None:
        super().__init__()
        self._rates = Rates()

    def show_rates(self, rates: Rates) -> None:
        self._rates = rates
        self.update()

    def needed(self) -> int:
        """How high it is."""
        return round(len(self._rates.rates) * self._row() + 1.4 * self.fontMetrics().height())

    def paint(
        self, painter: QPainter, colours: theme.Colours, ink: QColor, _ground: QColor
    ) -> None:
        if self._rates.empty:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics = self.fontMetrics()
        names = [f"{_MARKS[each.kind]} {each.name}, {each.kind}" for each in self._rates.rates]
        left = max(map(metrics.horizontalAdvance, names)) + theme.WIDE
        texts = [self._rates.text(each) for each in self._rates.rates]
        right = self.width() - max(map(metrics.horizontalAdvance, texts)) - theme.WIDE
        if right - left < theme.PAGE:  # no room for a scale: names and numbers alone
            left = right = self.width()
        self._paint_scale(painter, colours, left, right)
        for place, (rate, name, text) in enumerate(
            zip(self._rates.rates, names, texts, strict=True)
        ):
            middle = (place + 0.5) * self._row()
            baseline = middle + metrics.ascent() / 2 - 1
            painter.setFont(self.font())
            painter.setPen(ink)
            painter.drawText(QPointF(0, baseline), name)
            wide = metrics.horizontalAdvance(text)
            painter.drawText(QPointF(self.width() - wide, baseline), text)
            if right > left:
                self._paint_rate(painter, colours, rate, left, right, middle)

    def _paint_scale(
        self, painter: QPainter, colours: theme.Colours, left: float, right: float
    ) -> None:
        if right <= left:
            return
        bottom = len(self._rates.rates) * self._row()
        painter.setFont(theme.scaled(self.font(), 0.85))
        percent = bool(self._rates.outcome)
        for value in ticks(1.0, 4 if right - left > 8 * theme.PAGE else 2):
            x = left + value * (right - left)
            painter.setPen(QPen(QColor(colours.line), 1))
            painter.drawLine(QPointF(x, 0), QPointF(x, bottom))
            text = f"{100 * value:g}{words.NBSP}%" if percent else f"{value:g}"
            wide = painter.fontMetrics().horizontalAdvance(text)
            painter.setPen(QColor(colours.quiet))
            painter.drawText(QPointF(x - wide / 2, bottom + self.fontMetrics().height()), text)

    def _paint_rate(
        self,
        painter: QPainter,
        colours: theme.Colours,
        rate: Rate,
        left: float,
        right: float,
        middle: float,
    ) -> None:
        def at(value: float) -> QPointF:
            return QPointF(left + min(max(value, 0.0), 1.0) * (right - left), middle)

        colour = QColor(colours.unlike if rate.inside else colours.undecided)
        observed = rate.kind == "observed"
        if rate.low is not None and rate.high is not None:
            style = Qt.PenStyle.DotLine if observed else Qt.PenStyle.SolidLine
            painter.setPen(QPen(colour, 2.5, style, Qt.PenCapStyle.FlatCap))
            painter.drawLine(at(rate.low), at(rate.high))
        painter.setPen(QPen(colour, 2))
        ground = self.palette().color(QPalette.ColorRole.Window)
        painter.setBrush(ground if observed else colour)
        painter.drawEllipse(at(rate.value), _DOT, _DOT)

    def _row(self) -> float:
        return 1.7 * self.fontMetrics().height()


_MARKS = {"estimated": "▨", "observed": "□"}
