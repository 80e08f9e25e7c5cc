"""The attributes as rows of a grid, and the editor of what one of them may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from fairdesk.app.plan import Choice, may_be_unknown
from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import SpecError
from fairdesk.gui.forms.dialogs import FormDialog, ValueList
from fairdesk.gui.kit import fields, hints, layouts, parts, theme
from fairdesk.gui.kit.fields import NumberField, choice, labelled
from fairdesk.gui.kit.parts import Elided, Words, push_button, quiet, resize_on_screen, short
from fairdesk.gui.wizard.preview import KINDS, Histogram, TinyChart
from fairdesk.gui.wizard.state.plans import compared_choices, compared_text
from fairdesk.gui.wizard.state.wizard_state import WizardState
from fairdesk.wording.words import quoted
from fairdesk.wording.words import short as brief


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


_DETERMINED = (
    "An attribute that is determined by another, such as the number of a school degree, changes "
    "only together with it, as in the data rows."
)
_MISSING = (
    "If ticked, they are a separate category and are sent to the model as missing. Otherwise these "
    "rows are excluded. Missing values are never imputed."
)
_NOT_ACCEPTED = (
    "The model does not accept missing cells in this attribute, so these rows are excluded. "
    "Missing values are never imputed."
)


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
        asked = self._range_fields(counts) if column.kind.is_number else self._value_fields()
        entries = [("nothing: it can change by itself", ""), *((name, name) for name in others)]
        self.follows = fields.choice(entries, chosen=follows, letters=20)
        self._add_buttons(
            quiet("Only data rows and instances with these values are tested."),
            *asked,
            labelled("&Determined by", self.follows, _DETERMINED),
        )
        resize_on_screen(self, 560, 480 if column.kind.is_number else 520)
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

    def _range_fields(self, counts: Sequence[int]) -> tuple[layouts.Item, ...]:
        column = self._column
        self.chart = RangeChart(column, counts)
        self.low, self.high, self.step = NumberField(), NumberField(), NumberField()
        least, greatest = self._choice.limits or (column.low, column.high)
        for spin, value in ((self.low, least), (self.high, greatest), (self.step, 0.0)):
            spin.suit(column.low, column.high, whole=column.kind is Kind.INTEGER)
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
        self.whole = push_button("&As in the data", self._as_in_data)
        text = f"Range in the data: {column.text(column.low)} to {column.text(column.high)}."
        if column.missing:
            text += f" {column.missing:,} rows are excluded because the value is missing."
        row = layouts.row(
            layouts.grow(labelled("&Minimum", self.low), 2),
            layouts.grow(labelled("Ma&ximum", self.high), 2),
            layouts.grow(labelled("&Step", self.step), 3),
            layouts.at(self.whole, Qt.AlignmentFlag.AlignBottom),
            spacing=theme.GAP,
        )
        return layouts.grow(self.chart), quiet(text), row

    def _value_fields(self) -> tuple[layouts.Item, ...]:
        column = self._column
        ticked = self._choice.limits or column.values
        self.ticks = ValueList(column.name, column.values, [str(value) for value in ticked])
        self.ticks.changed.connect(self._check)
        if not may_be_unknown(column):
            return (layouts.grow(self.ticks),)
        self.unknown = QCheckBox(f"&Unknown: {column.missing:,} rows with a missing value")
        self.unknown.setChecked(self._takes_missing and self._choice.unknown is not False)
        self.unknown.setEnabled(self._takes_missing)
        self.unknown.toggled.connect(self._check)
        why = quiet(_MISSING if self._takes_missing else _NOT_ACCEPTED)
        return layouts.grow(self.ticks), self.unknown, why

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


#: What each role is called, and means.
_ROLES = {
    Role.VARIES: ("Variable", "Instances may have any of its allowed values."),
    Role.PROTECTED: (
        "Protected",
        "For every instance, the decisions with all its tested values are compared.",
    ),
    Role.FIXED: ("Fixed", "It keeps the values of the data rows."),
}
#: The roles of what the model is not given.
_UNSEEN = {
    Role.VARIES: ("Not used", "It is not part of the audit."),
    Role.PROTECTED: (
        "Protected",
        "It defines groups. Only inputs that say the same change with it.",
    ),
}
#: So many letters of values are written on a button; of more there is only the number.
_LISTED = 22


class AttributeRows(QWidget):
    """The rows, one for each attribute, below their titles.

    Attributes
    ----------
    names, kinds, notes : dict
        Per attribute its name, its type, and which of its values are tested.
    roles, allowed, compared : dict
        Per attribute what is chosen or pressed; a free text has none.

    Signals
    -------
    role_chosen : str, Role
        An attribute is to have another role.
    every_value_chosen : str, bool
        Whether each value of a number is tested, or some across its range.
    wanted : Column
        What is allowed of a column is to be changed.
    """

    role_chosen = Signal(str, object)
    every_value_chosen = Signal(str, bool)
    wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[str, Words] = {}
        self.kinds: dict[str, Elided] = {}
        self.notes: dict[str, Elided] = {}
        self.roles: dict[str, QComboBox] = {}
        self.allowed: dict[str, QPushButton] = {}
        self.compared: dict[str, QComboBox] = {}
        self._rows = layouts.grid(
            on=self, margin=(0, theme.GAP, theme.GAP, 0), across=theme.GAP, down=theme.NEAR
        )

    def clear(self) -> None:
        """Take all rows away."""
        parts.clear(self._rows)
        for words in (self.names, self.kinds, self.notes):
            words.clear()
        for inputs in (self.roles, self.allowed, self.compared):
            inputs.clear()

    def show_columns(
        self,
        table: Table,
        seen: Sequence[str],
        unseen: Sequence[str],
        histograms: Mapping[str, Histogram],
    ) -> None:
        """Make a row for each column.

        Parameters
        ----------
        seen, unseen : sequence of str
            The columns that the model is given, and those that it is not.
        """
        self.clear()
        for place, head in enumerate(
            ("Attribute", "In the data", "Allowed", "Role", "Values tested")
        ):
            self._rows.addWidget(_line(head), 0, place)
        # of what is visible Qt would show, and lay out anew, each of hundreds of parts by itself
        self.hide()
        for row, name in enumerate(seen, start=1):
            self._add(row, table.column(name), histograms.get(name, ()))
        if unseen:
            note = quiet(
                "The model does not receive these columns. If protected, they define groups "
                "whose outcomes can be measured and compared."
            )
            note.setContentsMargins(0, theme.GAP, 0, 0)
            self._rows.addWidget(note, len(seen) + 1, 0, 1, 5)
        for row, name in enumerate(unseen, start=len(seen) + 2):
            self._add(row, table.column(name), histograms.get(name, ()), seen=False)
        self.show()
        for place, stretch in enumerate((4, 0, 3, 0, 4)):
            self._rows.setColumnStretch(place, stretch)
        self._rows.setRowStretch(self._rows.rowCount(), 1)

    def inputs(self) -> Iterator[QWidget]:
        """Yield the inputs of all rows, from left to right."""
        for name in self.names:
            for inputs in (self.allowed, self.roles, self.compared):
                if name in inputs:
                    yield inputs[name]

    def show_choice(self, name: str, state: WizardState, follows: str) -> None:
        """Show what is decided about one attribute, and which other one it follows, if any."""
        table = state.table
        if table is None:
            return
        column, choice = table.column(name), state.choice(name)
        protected = choice.role is Role.PROTECTED
        self.names[name].setFont(theme.scaled(self.font(), 1.0, strong=protected))
        kind = KINDS[column.kind].lower()
        if name not in self.roles:
            self.kinds[name].say(kind)
            return
        role = self.roles[name]
        # what the model is not given has fewer roles
        role.setCurrentIndex(max(role.findData(choice.role.value), 0))
        note, allowed, several, unknown = "", "", False, False
        try:
            attribute = state.attribute(name)
        except SpecError as error:
            note = str(error)
            allowed = "Change…"
        else:
            several, unknown = compared_choices(attribute), attribute.unknown
            allowed = _allowed(column, choice, attribute)
            if protected and not several:
                note = compared_text(attribute)
        if follows:
            note = f"determined by {quoted(follows)}"
        missing = f"{column.missing:,} missing"
        self.kinds[name].say(f"{kind}  ·  {missing}" if column.missing else kind)
        if unknown:
            known = f"{missing}: tested as a value of its own, “Unknown”"
            self.kinds[name].setToolTip(hints.plain(known))
        button = self.allowed[name]
        button.setText(allowed.replace("&", "&&"))
        button.setAccessibleName(f"Allowed values of {name}: {allowed}")
        button.setToolTip(hints.plain(allowed))
        self.notes[name].say(note)
        self.notes[name].setVisible(bool(note))
        if (combo := self.compared.get(name)) is not None:
            combo.setVisible(protected and several and not follows)
            combo.setCurrentIndex(int(choice.every_value))

    def _add(self, row: int, column: Column, bars: Histogram, *, seen: bool = True) -> None:
        name = column.name
        words = Words(short(name, 28), wrap=False)
        words.setToolTip(hints.plain(name))
        self.kinds[name] = Elided(tone="quiet")
        named = layouts.column(words, self.kinds[name], spacing=0)
        self.names[name] = words
        self._rows.addLayout(named, row, 0)
        self._rows.addWidget(TinyChart(name, bars), row, 1)
        if column.kind is Kind.TEXT:
            self._rows.addWidget(_line("any text"), row, 2)
            self._rows.addWidget(_line("Unchanged"), row, 3)
            return
        button = _Cut()
        button.clicked.connect(lambda _checked=False: self.wanted.emit(column))
        self.allowed[name] = button
        self._rows.addWidget(button, row, 2)
        role = self.roles[name] = choice(
            [
                (text, each.value, tip)
                for each, (text, tip) in (_ROLES if seen else _UNSEEN).items()
            ],
            f"Role of {name}",
            run=lambda: self.role_chosen.emit(name, Role(role.currentData())),
        )
        self._rows.addWidget(role, row, 3)
        self._rows.addLayout(self._comparison(column), row, 4)

    def _comparison(self, column: Column) -> QVBoxLayout:
        """Make what says which values are compared: a choice where there is one, else words."""
        self.notes[column.name] = Elided(tone="quiet")
        place = layouts.column(self.notes[column.name], spacing=0)
        if column.kind.is_number:
            combo = self.compared[column.name] = choice(
                [("some values across the range", False), ("each value", True)],
                f"Tested values of {column.name}",
                run=lambda: self.every_value_chosen.emit(column.name, bool(combo.currentData())),
            )
            place.addWidget(combo)
        return place


class _Cut(QPushButton):
    """A button that may be narrower than its text, which is cut then."""

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Stay readable."""
        return QSize(6 * self.fontMetrics().height(), super().minimumSizeHint().height())


def _line(text: str = "") -> Words:
    """Make one quiet line: a hundred rows of words that wrap would take seconds to lay out."""
    return Words(text, tone="quiet", wrap=False)


def _allowed(column: Column, choice: Choice, attribute: Attribute) -> str:
    """Say in a few words what is allowed of a column."""
    if column.kind.is_number:
        low, high = choice.limits or (column.low, column.high)
        step = f", step {brief(choice.step)}" if choice.step else ""
        return f"{_figure(low)} to {_figure(high)}{step}"
    chosen = [str(value) for value in choice.limits] if choice.limits else list(column.values)
    total = len(column.values)
    if len(chosen) < total:
        return f"{len(chosen):,} of {total:,} values"
    # with “Unknown”, where missing cells are a value
    values = attribute.values or tuple(chosen)
    together = ", ".join(values)
    return together if len(together) <= _LISTED else f"all {len(values):,} values"


def _figure(value: float | str) -> str:
    number = float(value)
    return f"{number:,.0f}" if number == int(number) else brief(number, 4)
