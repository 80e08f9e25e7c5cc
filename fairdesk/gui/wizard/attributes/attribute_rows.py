"""The attributes as rows of a grid: what they are, what they may be, and their role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QPushButton,
    QStyleOptionButton,
    QVBoxLayout,
    QWidget,
)

from fairdesk.app.plan import Choice
from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import SpecError
from fairdesk.gui.kit import hints, layouts, parts, theme
from fairdesk.gui.kit.fields import choice
from fairdesk.gui.kit.parts import Elided, Words, quiet, short
from fairdesk.gui.wizard.preview import KINDS, Histogram, TinyChart
from fairdesk.gui.wizard.state.domain import compared_choices, compared_text
from fairdesk.gui.wizard.state.wizard_state import WizardState
from fairdesk.wording.words import quoted
from fairdesk.wording.words import short as brief

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
    """A button that cuts its text at the end when the room is short."""

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Stay readable."""
        return QSize(6 * self.fontMetrics().height(), super().minimumSizeHint().height())

    def initStyleOption(self, option: QStyleOptionButton) -> None:  # noqa: N802 - Qt's name
        """Cut the text."""
        super().initStyleOption(option)
        room = self.width() - theme.WIDE
        option.text = option.fontMetrics.elidedText(
            option.text, Qt.TextElideMode.ElideRight, room, int(Qt.TextFlag.TextShowMnemonic)
        )


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
