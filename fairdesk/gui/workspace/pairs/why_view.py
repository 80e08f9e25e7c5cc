"""Why the two people of a pair are decided differently: what speaks for and against each."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFocusEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import Pair
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.common.short_table import short_table
from fairdesk.gui.workspace.session.session import Session
from fairdesk.individual.surrogates.explanation import Explanation
from fairdesk.models.decisions.rule import score_name
from fairdesk.wording import words

#: Attributes that are drawn: those that weigh most for either of the two.
STRONGEST = 8
#: From this R squared on a local explanation follows the model well; below the second, poorly.
_WELL, _POORLY = 0.7, 0.4
_THICK = 9


@dataclass(frozen=True)
class Weight:
    """What being as these two are in one attribute adds to the score of each."""

    name: str
    row: float
    partner: float


def strongest(spec: AuditSpec, pair: Pair, why: Explanation) -> list[Weight]:
    """Return the attributes that weigh most for either of the two, the heaviest first."""
    weights = []
    for p, attribute in enumerate(spec.domain.attributes):
        here, there = attribute.text(pair.row[p]), attribute.text(pair.partner[p])
        value = here if here == there else f"{here} / {there}"
        weights.append(
            Weight(f"{attribute.name}: {value}", why.row.weights[p], why.partner.weights[p])
        )
    weights.sort(key=lambda each: -max(abs(each.row), abs(each.partner)))
    return [each for each in weights[:STRONGEST] if each.row or each.partner]


def fit_words(why: Explanation, person: str) -> str:
    """Say how well the local explanations follow the model."""
    here, there = _fit(why.row.fit), _fit(why.partner.fit)
    numbers = f"R squared {_number(why.row.fit)}", _number(why.partner.fit)
    if here == there:
        said = f"The local explanation follows the model {here} here ({' and '.join(numbers)})."
    else:
        said = (
            f"The local explanation follows the model {here} around the {person} ({numbers[0]}) "
            f"and {there} around the other ({numbers[1]})."
        )
    poor = min(why.row.fit, why.partner.fit) < _POORLY
    return f"{said} Where it follows poorly, its bars tell little." if poor else said


def _fit(fit: float) -> str:
    return "well" if fit >= _WELL else "poorly" if fit < _POORLY else "only in part"


def _number(fit: float) -> str:
    return signed(fit, 2).removeprefix("+")


def signed(value: float, digits: int = 3) -> str:
    """Write a number with its sign, as it is set."""
    text = f"{value:+.{digits}f}"
    return text.replace("-", "−") if float(text) else text[1:]


class WeightBars(QWidget):
    """Two bars per attribute, around nought: to the right what adds, to the left the rest."""

    def __init__(self, weights: list[Weight], person: str) -> None:
        super().__init__()
        self._weights = weights
        self._small = theme.scaled(self.font(), 0.88)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("What adds to the score of each of the two, and what takes away")
        self.setAccessibleDescription(
            "; ".join(
                f"{each.name}: {person} {signed(each.row)}, the other {signed(each.partner)}"
                for each in weights
            )
            or "Nothing has any weight."
        )

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for a line per attribute."""
        return QSize(360, len(self._weights) * self._line() + theme.TIGHT)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Stay readable."""
        return QSize(240, self.sizeHint().height())

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if theme.palette_changed(event):
            self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Show the focus."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Take it away."""
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the bars."""
        painter = QPainter(self)
        colours = theme.colours()
        names = min(
            max(
                (self.fontMetrics().horizontalAdvance(each.name) for each in self._weights),
                default=0,
            )
            + 2,
            int(self.width() * 0.42),
        )
        painter.setFont(self._small)
        number = painter.fontMetrics().horizontalAdvance("+0.000") + theme.TIGHT
        left, right = names + theme.NEAR + number, self.width() - number
        middle = (left + right) / 2
        greatest = max((max(abs(w.row), abs(w.partner)) for w in self._weights), default=1.0)
        reach = (right - left) / 2 / greatest
        painter.setPen(QPen(QColor(colours.quiet), 1))
        painter.drawLine(int(middle), 0, int(middle), self.height())
        for place, each in enumerate(self._weights):
            top = place * self._line() + theme.TIGHT
            painter.setFont(self.font())
            painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
            name = self.fontMetrics().elidedText(each.name, Qt.TextElideMode.ElideMiddle, names)
            box = QRectF(0, top, names, self._line() - theme.NEAR)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name)
            painter.setFont(self._small)
            step = painter.fontMetrics().height()
            for row, (value, solid) in enumerate(((each.row, True), (each.partner, False))):
                self._draw_bar(painter, middle, top + row * step, value * reach, value, solid=solid)
        if self.hasFocus():
            painter.setPen(QPen(QColor(colours.accent), 1, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def _draw_bar(
        self,
        painter: QPainter,
        middle: float,
        top: float,
        length: float,
        value: float,
        *,
        solid: bool,
    ) -> None:
        """Draw one bar from nought, full or hatched, with its number at its end."""
        colours = theme.colours()
        colour = QColor(colours.alike if value > 0 else colours.unlike)
        height = painter.fontMetrics().height()
        bar = QRectF(middle, top + (height - _THICK) / 2, length, _THICK).normalized()
        painter.setPen(QPen(colour, 1))
        painter.setBrush(
            QBrush(colour, Qt.BrushStyle.SolidPattern if solid else Qt.BrushStyle.BDiagPattern)
        )
        painter.drawRect(bar)
        text = signed(value)
        width = painter.fontMetrics().horizontalAdvance(text)
        start = bar.right() + theme.TIGHT if value > 0 else bar.left() - theme.TIGHT - width
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        painter.drawText(QRectF(start, top, width + 2, height), Qt.AlignmentFlag.AlignVCenter, text)

    def _line(self) -> int:
        return 2 * (self.fontMetrics().height() - 1) + theme.NEAR


class WhyView(QWidget):
    """The explanation of one pair: bars, or their table (key T), and every variant below."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._content = layouts.column(spacing=theme.NEAR)
        self._as_table = QToolButton()
        self._as_table.setText("Table")
        self._as_table.setCheckable(True)
        self._as_table.setToolTip("Show the bars as a table (T)")
        self._as_table.setAccessibleName("Show the bars as a table")
        self._as_table.toggled.connect(self._turn)
        self._bars: QWidget | None = None
        self._twin: QWidget | None = None
        self._fit = parts.Words()
        legend = parts.quiet(
            f"Full bars: the {session.spec.person}; hatched: the other. To the right what speaks "
            f"for “{session.spec.favourable}”, to the left what speaks against it."
        )
        head = layouts.row(
            layouts.grow(legend),
            layouts.at(self._as_table, Qt.AlignmentFlag.AlignTop),
            spacing=theme.NEAR,
        )
        inside = layouts.panel(
            self._fit,
            head,
            self._content,
            layouts.stretch(),
            margin=(0, 0, theme.NEAR, 0),
            spacing=theme.NEAR,
        )
        self._area = parts.scrolled(inside)
        layouts.column(self._area, on=self)

    def show_why(self, pair: Pair, why: Explanation) -> None:
        """Show another explanation."""
        spec = self._session.spec
        weights = strongest(spec, pair, why)
        self._fit.setText(fit_words(why, spec.person))
        parts.clear(self._content)
        self._bars = WeightBars(weights, spec.person)
        self._twin = short_table(
            "What adds to the score of each of the two, and what takes away",
            ("Attribute", spec.person.capitalize(), "The other"),
            [(each.name, signed(each.row), signed(each.partner)) for each in weights],
            right=(1, 2),
            wide=0,
        )
        self._content.addWidget(self._bars)
        self._content.addWidget(self._twin)
        self._content.addWidget(parts.heading("With other protected values"))
        self._content.addWidget(self._make_variants(pair, why))
        self._turn()
        self._area.verticalScrollBar().setValue(0)

    def toggle_table(self) -> None:
        """Turn from the bars to their table, or back."""
        self._as_table.toggle()

    def _turn(self) -> None:
        if self._bars is not None and self._twin is not None:
            self._bars.setVisible(not self._as_table.isChecked())
            self._twin.setVisible(self._as_table.isChecked())

    def _make_variants(self, pair: Pair, why: Explanation) -> QWidget:
        """Make the table of the same person under every combination of protected values."""
        spec, decisions = self._session.spec, self._session.decisions
        domain = spec.domain
        attributes = [domain.attributes[p] for p in domain.protected]
        own, other = (tuple(who[domain.protected].tolist()) for who in (pair.row, pair.partner))
        whose = {own: f"the {spec.person}", other: "the other"}
        rows = [
            (
                *(each.text(code) for each, code in zip(attributes, variant.values, strict=True)),
                words.score(spec, variant.score),
                decisions[variant.decided],
                whose.get(tuple(variant.values), ""),
            )
            for variant in why.variants
        ]
        header = (*(each.name for each in attributes), score_name(spec.model), "Decision", "")
        return short_table(
            "The same person with every combination of protected values",
            header,
            rows,
            right=(len(attributes),),
            wide=len(header) - 1,
        )
