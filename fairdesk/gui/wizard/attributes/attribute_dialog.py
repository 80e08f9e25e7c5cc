"""The editor of one attribute: its range or its values, its step, and what it follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QCheckBox, QComboBox, QWidget

from fairdesk.app.plan import Choice, may_be_unknown
from fairdesk.data.table import Column, Kind
from fairdesk.gui.forms.dialogs import FormDialog, ValueList
from fairdesk.gui.forms.options import NumberField
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.fields import bounded, labelled
from fairdesk.gui.kit.parts import push_button, quiet


class RangeChart(QWidget):
    """A histogram of a number with the allowed range on it; its ends can be dragged.

    Whoever cannot drag uses the fields beside it, which say the same.

    Signals
    -------
    moved : float, float
        The range was dragged: its ends.
    """

    moved = Signal(float, float)

    def __init__(self, column: Column, counts: Sequence[int]) -> None:
        super().__init__()
        self._column, self._counts = column, counts
        self._low, self._high = column.low, column.high
        self._dragged = ""
        self.setMinimumHeight(110)
        self.setCursor(Qt.CursorShape.SizeHorCursor)
        self.setAccessibleName(f"Frequency of each value of {column.name}")

    def show_range(self, low: float, high: float) -> None:
        """Show another range."""
        self._low, self._high = low, high
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the bars, faint where they are not allowed, and the ends of the range."""
        colours = theme.colours()
        painter = QPainter(self)
        most = max(self._counts, default=0)
        low, high = self._place(self._low), self._place(self._high)
        bottom = self.height() - 1
        painter.fillRect(low, 0, max(high - low, 1), bottom, QColor(colours.tint))
        wide = self.width() / max(len(self._counts), 1)
        for position, count in enumerate(self._counts):
            if not count:
                continue
            tall = max(round(count / most * (bottom - 8)), 1)
            left, right = round(position * wide), round((position + 1) * wide) - 1
            inside = low <= (left + right) / 2 <= high
            colour = QColor(colours.bar if inside else colours.line)
            painter.fillRect(left, bottom - tall, max(right - left, 1), tall, colour)
        painter.setPen(QColor(colours.line))
        painter.drawLine(0, bottom, self.width(), bottom)
        painter.setPen(QPen(QColor(colours.accent), 2))
        for place in (low, high):
            painter.drawLine(place, 0, place, bottom)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Take the nearer end."""
        at = event.position().x()
        nearer_low = abs(at - self._place(self._low)) <= abs(at - self._place(self._high))
        self._dragged = "low" if nearer_low else "high"
        self.mouseMoveEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Move the end that was taken."""
        value = self._value(event.position().x())
        if self._dragged == "low":
            self._low = min(value, self._high)
        elif self._dragged == "high":
            self._high = max(value, self._low)
        self.update()
        self.moved.emit(self._low, self._high)

    def _place(self, value: float) -> int:
        span = self._column.high - self._column.low
        share = (value - self._column.low) / span if span else 0.5
        return round(1 + min(max(share, 0.0), 1.0) * (self.width() - 3))

    def _value(self, place: float) -> float:
        share = min(max((place - 1) / max(self.width() - 3, 1), 0.0), 1.0)
        value = self._column.low + share * (self._column.high - self._column.low)
        return float(round(value)) if self._column.kind is Kind.INTEGER else float(f"{value:.4g}")


class AttributeDialog(FormDialog):
    """Asks what is allowed of one attribute.

    Parameters
    ----------
    counts : sequence of int
        Of a number: how many rows are in each of equal parts of its range.
    others : sequence of str
        The attributes that it may follow.
    follows : str
        The one that it follows; empty when none.
    takes_missing : bool
        Whether the model can be asked about missing cells.
    """

    def __init__(
        self,
        column: Column,
        choice: Choice,
        counts: Sequence[int],
        others: Sequence[str],
        follows: str,
        parent: QWidget,
        *,
        takes_missing: bool = True,
    ) -> None:
        super().__init__(f"Allowed values of {column.name}", parent)
        self._column, self._choice = column, choice
        self._takes_missing = takes_missing
        self.body.addWidget(quiet("Only data rows and instances with these values are tested."))
        if column.kind.is_number:
            self._add_range(counts)
        else:
            self._add_values()
        self.follows = bounded(QComboBox(), 20)
        self.follows.addItem("nothing: it can change by itself", "")
        for name in others:
            self.follows.addItem(name, name)
        self.follows.setCurrentIndex(max(self.follows.findData(follows), 0))
        hint = (
            "An attribute that is determined by another, such as the number of a school "
            "degree, changes only together with it, as in the data rows."
        )
        self.body.addLayout(labelled("&Determined by", self.follows, hint))
        self._add_buttons()
        self.resize(480, 520 if not column.kind.is_number else 420)
        self._check()

    def choice(self) -> Choice:
        """Return what was decided."""
        if self._column.kind.is_number:
            return replace(self._choice, limits=self._range(), step=self.step.value())
        values = self.ticks.values()
        kept = None if values == self._column.values else values
        choice = replace(self._choice, limits=kept)
        if may_be_unknown(self._column):
            choice = replace(choice, unknown=self.unknown.isChecked())
        return choice

    # -- building -----------------------------------------------------------------------------

    def _add_range(self, counts: Sequence[int]) -> None:
        column = self._column
        self.chart = RangeChart(column, counts)
        self.low, self.high, self.step = NumberField(), NumberField(), NumberField()
        least, greatest = self._choice.limits or (column.low, column.high)
        for spin, value in ((self.low, least), (self.high, greatest), (self.step, 0.0)):
            spin.suit(column)
            spin.setValue(float(value))
        self.step.setMinimum(0.0)
        self.step.setSpecialValueText(
            "any whole number" if column.kind is Kind.INTEGER else "any number"
        )
        self.step.setMinimumWidth(150)
        self.step.setValue(self._choice.step)
        self.chart.moved.connect(self._drag)
        for spin in (self.low, self.high, self.step):
            spin.valueChanged.connect(self._check)
        whole = push_button("&As in the data", self._as_in_data)
        self.whole = whole
        row = layouts.row(
            layouts.grow(labelled("&Minimum", self.low), 2),
            layouts.grow(labelled("Ma&ximum", self.high), 2),
            layouts.grow(labelled("&Step", self.step), 3),
            layouts.at(whole, Qt.AlignmentFlag.AlignBottom),
            spacing=theme.GAP,
        )
        self.body.addWidget(self.chart, 1)
        text = f"Range in the data: {column.text(column.low)} to {column.text(column.high)}."
        if column.missing:
            text += f" {column.missing:,} rows are excluded because the value is missing."
        self.body.addWidget(quiet(text))
        self.body.addLayout(row)

    def _add_values(self) -> None:
        column = self._column
        ticked = self._choice.limits or column.values
        self.ticks = ValueList(column.name, column.values, [str(value) for value in ticked])
        self.ticks.changed.connect(self._check)
        self.body.addWidget(self.ticks, 1)
        if may_be_unknown(column):
            self.unknown = QCheckBox(f"&Unknown: {column.missing:,} rows with a missing value")
            self.unknown.setChecked(self._takes_missing and self._choice.unknown is not False)
            self.unknown.setEnabled(self._takes_missing)
            self.unknown.toggled.connect(self._check)
            self.body.addWidget(self.unknown)
            self.body.addWidget(
                quiet(
                    (
                        "If ticked, they are a separate category and are sent to the model as "
                        "missing. Otherwise these rows are excluded. Missing values are never "
                        "imputed."
                    )
                    if self._takes_missing
                    else (
                        "The model does not accept missing cells in this attribute, so these "
                        "rows are excluded. Missing values are never imputed."
                    )
                )
            )

    # -- answering ----------------------------------------------------------------------------

    def _range(self) -> tuple[float, float] | None:
        """Return the range; a limit that was not touched stays exact, whatever the field rounds."""
        column = self._column
        low, high = (
            exact if round(exact, spin.decimals()) == spin.value() else spin.value()
            for spin, exact in ((self.low, column.low), (self.high, column.high))
        )
        return None if (low, high) == (column.low, column.high) else (low, high)

    def _as_in_data(self) -> None:
        self.low.setValue(self._column.low)
        self.high.setValue(self._column.high)
        self.step.setValue(0.0)

    def _drag(self, low: float, high: float) -> None:
        blocked = [QSignalBlocker(each) for each in (self.low, self.high)]
        self.low.setValue(low)
        self.high.setValue(high)
        del blocked
        self._check()

    def _check(self) -> None:
        wrong = ""
        if self._column.kind.is_number:
            self.chart.show_range(self.low.value(), self.high.value())
            if self.low.value() > self.high.value():
                wrong = "The minimum is greater than the maximum."
        elif not self.ticks.values():
            wrong = "Tick at least one value."
        self._refuse(wrong)
