"""Step 3: the people. What may differ between them, and what must not matter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from fairdesk.data.domain import BINS, Role
from fairdesk.data.profile import histogram, suggest_protected
from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import SpecError
from fairdesk.gui import theme, tips
from fairdesk.gui.parts import Words, calm, clear, quiet, scrolled, short
from fairdesk.gui.wizard.page import Desk, Page
from fairdesk.gui.wizard.preview import KINDS, TinyChart
from fairdesk.gui.wizard.state import Choice, Step, compared_choices, compared_text
from fairdesk.report.words import listed

_ROLES = {Role.VARIES: "May vary", Role.PROTECTED: "Protected", Role.FIXED: "Fixed"}
_ROLE_HINTS = {
    Role.VARIES: "The search may change it to invent people.",
    Role.PROTECTED: "It must not matter: all its values are tried on everybody.",
    Role.FIXED: "It stays as it is in the data’s rows.",
}


class ValuesDialog(QDialog):
    """Which of a column's values are allowed."""

    def __init__(self, column: Column, allowed: tuple[str, ...], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"Values of {column.name}")
        self._list = QListWidget()
        self._list.setAccessibleName(f"Values of {column.name}")
        for value in column.values:
            item = QListWidgetItem(value)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            state = Qt.CheckState.Checked if value in allowed else Qt.CheckState.Unchecked
            item.setCheckState(state)
            self._list.addItem(item)
        self._list.itemChanged.connect(self._check)
        self.all_button, self.none_button = QPushButton("&All"), QPushButton("&None")
        self.all_button.clicked.connect(lambda: self._set_all(Qt.CheckState.Checked))
        self.none_button.clicked.connect(lambda: self._set_all(Qt.CheckState.Unchecked))
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        self.ok_button = buttons.button(QDialogButtonBox.StandardButton.Ok)
        column_layout = QVBoxLayout(self)
        column_layout.setContentsMargins(theme.WIDE, theme.WIDE, theme.WIDE, theme.WIDE)
        column_layout.setSpacing(theme.GAP)
        column_layout.addWidget(
            quiet("Only people with the ticked values are asked about and invented.")
        )
        column_layout.addWidget(self._list, 1)
        row = QHBoxLayout()
        row.addWidget(self.all_button)
        row.addWidget(self.none_button)
        row.addStretch(1)
        row.addWidget(buttons)
        column_layout.addLayout(row)
        self.resize(420, 420)

    def values(self) -> tuple[str, ...]:
        """Give the values that are ticked."""
        items = [self._list.item(row) for row in range(self._list.count())]
        return tuple(item.text() for item in items if item.checkState() == Qt.CheckState.Checked)

    def _set_all(self, state: Qt.CheckState) -> None:
        for row in range(self._list.count()):
            self._list.item(row).setCheckState(state)

    def _check(self) -> None:
        self.ok_button.setEnabled(bool(self.values()))


class _Limit(QDoubleSpinBox):
    """A number without trailing zeros."""

    def textFromValue(self, value: float) -> str:  # noqa: N802 - Qt's name
        """Write the number."""
        return self.locale().toString(value, "g", 15)


class PeoplePage(Page):
    """The third page."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(
            desk,
            Step.PEOPLE,
            "People",
            "Mark what must not matter as protected. Two people who differ in nothing else "
            "should get the same decision.",
        )
        self._shown: tuple[Table | None, tuple[str, ...]] = (None, ())
        self.roles: dict[str, QComboBox] = {}
        self._names: dict[str, Words] = {}
        self.compared: dict[str, QWidget] = {}
        self.chips: dict[str, QPushButton] = {}
        self.ranges: dict[str, tuple[QDoubleSpinBox, QDoubleSpinBox]] = {}
        self.values: dict[str, QPushButton] = {}
        self._suggest = QWidget()
        self._suggestions = QGridLayout(self._suggest)
        self._suggestions.setContentsMargins(0, 0, 0, 0)
        self._suggestions.setSpacing(theme.NEAR)
        self._inside = QWidget()
        self._rows = QGridLayout(self._inside)
        self._rows.setContentsMargins(0, 0, theme.GAP, 0)
        self._rows.setHorizontalSpacing(theme.WIDE)
        self._rows.setVerticalSpacing(theme.NEAR)
        self._count = Words(strong=True)
        self._start = quiet()
        self._unused = quiet()
        self.body.addWidget(self._suggest)
        self.body.addWidget(scrolled(self._inside), 1)
        foot = QVBoxLayout()
        foot.setSpacing(theme.TIGHT)
        for words in (self._count, self._start, self._unused):
            foot.addWidget(words)
        self.body.addLayout(foot)

    def enter(self) -> None:
        """Show the attributes."""
        super().enter()
        state = self.state
        now = (state.table, state.attribute_names())
        if now[0] is not self._shown[0] or now[1] != self._shown[1]:
            self._shown = now
            self._build()
        self._show_counts()

    def first_field(self) -> QWidget:
        """Give what has the keyboard when the page comes on screen."""
        return next(iter(self.roles.values()), self)

    # -- building -----------------------------------------------------------------------------

    def _build(self) -> None:
        clear(self._rows)
        self.roles, self._names, self.compared = {}, {}, {}
        self.ranges, self.values = {}, {}
        table = self.state.table
        if table is None:
            return
        for place, head in enumerate(("Attribute", "In the data", "Allowed", "Role", "Compared")):
            self._rows.addWidget(quiet(head), 0, place)
        for row, name in enumerate(self.state.attribute_names(), start=1):
            self._add(row, table, name)
        for place, stretch in enumerate((3, 0, 4, 0, 3)):
            self._rows.setColumnStretch(place, stretch)
        self._rows.setRowStretch(self._rows.rowCount(), 1)
        self._build_suggestions(table)
        unused = self.state.unused_names()
        self._unused.setVisible(bool(unused))
        self._unused.setText(
            f"Not listed, because the model does not use it: {listed(unused)}."
            if len(unused) == 1
            else f"Not listed, because the model does not use them: {listed(unused)}."
        )

    def inputs(self) -> Iterator[QWidget]:
        """Give the suggestions, and the inputs of all rows from left to right."""
        yield from self.chips.values()
        for name, role in self.roles.items():
            yield from self.ranges.get(name) or (self.values[name],)
            yield role
            yield self.compared[name]

    def _add(self, row: int, table: Table, name: str) -> None:
        column = table.column(name)
        words = Words(
            short(name, 28), strong=self.state.choice(name).role is Role.PROTECTED, wrap=False
        )
        words.setToolTip(tips.plain(name))
        kind = quiet(KINDS[column.kind].lower())
        named = QVBoxLayout()
        named.setSpacing(0)
        named.addWidget(words)
        named.addWidget(kind)
        self._names[name] = words
        self._rows.addLayout(named, row, 0)
        self._rows.addWidget(TinyChart(name, histogram(table, name)), row, 1)
        allowed = self._range(column) if column.kind.is_number else self._values(column)
        self._rows.addWidget(allowed, row, 2)
        role = QComboBox()
        for each, text in _ROLES.items():
            role.addItem(text, each.value)
            role.setItemData(role.count() - 1, _ROLE_HINTS[each], Qt.ItemDataRole.ToolTipRole)
        role.setCurrentIndex(role.findData(self.state.choice(name).role.value))
        role.setAccessibleName(f"Role of {name}")
        role.activated.connect(lambda _index: self._choose_role(name, Role(role.currentData())))
        calm(role)
        self.roles[name] = role
        self._rows.addWidget(role, row, 3)
        self.compared[name] = self._comparison(column)
        self._rows.addWidget(self.compared[name], row, 4)
        self._show_role(name)

    def _range(self, column: Column) -> QWidget:
        limits = self.state.choice(column.name).limits or (column.low, column.high)
        fields = []
        for which, value in zip(("Least", "Greatest"), limits, strict=True):
            spin = _Limit()
            spin.setDecimals(0 if column.kind is Kind.INTEGER else 4)
            spin.setRange(-1e12, 1e12)
            spin.setKeyboardTracking(False)
            spin.setValue(float(value))
            spin.setMinimumWidth(90)
            spin.setMaximumWidth(150)
            spin.setAccessibleName(f"{which} {column.name}")
            calm(spin)
            fields.append(spin)
        low, high = fields
        self.ranges[column.name] = (low, high)
        for spin in fields:
            spin.valueChanged.connect(lambda _value: self._choose_range(column, low, high))
        box = QWidget()
        line = QHBoxLayout(box)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(theme.NEAR)
        line.addWidget(low, 1)
        line.addWidget(Words("to", tone="quiet", wrap=False))
        line.addWidget(high, 1)
        line.addStretch(1)
        return box

    def _values(self, column: Column) -> QWidget:
        button = QPushButton()
        button.setAutoDefault(False)
        button.clicked.connect(lambda _checked=False: self._choose_values(column, button))
        self.values[column.name] = button
        self._show_values(column, button)
        return button

    def _comparison(self, column: Column) -> QWidget:
        if not compared_choices(column):
            return Words(tone="quiet")
        combo = QComboBox()
        combo.addItem(f"{BINS} values", userData=False)
        combo.addItem("each value", userData=True)
        combo.setCurrentIndex(int(self.state.choice(column.name).every_value))
        combo.setAccessibleName(f"Compared values of {column.name}")
        combo.activated.connect(
            lambda _index: self._choose(
                column.name,
                replace(self.state.choice(column.name), every_value=bool(combo.currentData())),
            )
        )
        calm(combo)
        return combo

    def _build_suggestions(self, table: Table) -> None:
        clear(self._suggestions)
        names = [name for name in suggest_protected(table) if name in self.roles]
        self._suggest.setVisible(bool(names))
        self._suggestions.addWidget(Words("Often protected:", tone="quiet", wrap=False), 0, 0)
        self.chips = {}
        for place, name in enumerate(names[:8]):
            chip = QPushButton()
            chip.setCheckable(True)
            chip.setAutoDefault(False)
            chip.setAccessibleName(f"Protect {name}")
            chip.setToolTip(tips.plain(f"Press to mark “{name}” as protected"))
            self._show_chip(chip, name)
            chip.toggled.connect(partial(self._press, name))
            self.chips[name] = chip
            self._suggestions.addWidget(chip, place // 4, 1 + place % 4)
        self._suggestions.setColumnStretch(5, 1)

    # -- answering ----------------------------------------------------------------------------

    def _press(self, name: str, pressed: bool) -> None:  # noqa: FBT001 - the signal's argument
        self._choose_role(name, Role.PROTECTED if pressed else Role.VARIES)

    def _choose_role(self, name: str, role: Role) -> None:
        self._choose(name, replace(self.state.choice(name), role=role))
        combo = self.roles[name]
        combo.setCurrentIndex(combo.findData(role.value))
        if (chip := self.chips.get(name)) is not None:
            self._show_chip(chip, name)

    def _choose_range(self, column: Column, low: QDoubleSpinBox, high: QDoubleSpinBox) -> None:
        # a limit that was not touched stays exact, whatever the field rounds
        limits = tuple(
            exact if round(exact, spin.decimals()) == spin.value() else spin.value()
            for spin, exact in ((low, column.low), (high, column.high))
        )
        kept = None if limits == (column.low, column.high) else limits
        self._choose(column.name, replace(self.state.choice(column.name), limits=kept))

    def _choose_values(self, column: Column, button: QPushButton) -> None:
        limits = self.state.choice(column.name).limits or column.values
        dialog = ValuesDialog(column, tuple(str(value) for value in limits), self)
        if dialog.exec():
            values = dialog.values()
            kept = None if values == column.values else values
            self._choose(column.name, replace(self.state.choice(column.name), limits=kept))
            self._show_values(column, button)
        dialog.deleteLater()

    def _choose(self, name: str, choice: Choice) -> None:
        self.state.choose(name, choice)
        self._show_role(name)
        self._show_counts()
        self.changed.emit()

    # -- showing ------------------------------------------------------------------------------

    def _show_values(self, column: Column, button: QPushButton) -> None:
        limits = self.state.choice(column.name).limits
        chosen = [str(value) for value in limits] if limits else list(column.values)
        total = len(column.values)
        if len(chosen) < total:
            text = f"{len(chosen)} of {total} values…"
        else:
            joined = ", ".join(chosen)
            text = joined if len(joined) <= 22 else f"all {total} values…"
        button.setText(text.replace("&", "&&"))
        button.setAccessibleName(f"Allowed values of {column.name}: {text}")

    def _show_chip(self, chip: QPushButton, name: str) -> None:
        protected = self.state.choice(name).role is Role.PROTECTED
        blocked = QSignalBlocker(chip)
        chip.setChecked(protected)
        del blocked
        chip.setText(f"{'✓' if protected else '+'}  {short(name).replace('&', '&&')}")

    def _show_role(self, name: str) -> None:
        protected = self.state.choice(name).role is Role.PROTECTED
        words, compared = self._names[name], self.compared[name]
        words.setFont(theme.scaled(self.font(), 1.0, strong=protected))
        compared.setVisible(protected)
        if isinstance(compared, Words) and protected:
            try:
                compared.setText(compared_text(self.state.attribute(name)))
            except SpecError as error:
                compared.setText(str(error))

    def _show_counts(self) -> None:
        state = self.state
        protected = [n for n in state.attribute_names() if state.choice(n).role is Role.PROTECTED]
        if not protected or state.table is None:
            self._count.setText("Nothing is protected yet.")
            self._start.setText("")
            return
        self._count.setText(
            f"{listed(protected)}: {state.combinations():,} combinations are compared for every "
            f"{state.person}."
        )
        try:
            people = state.people()
        except SpecError:
            self._start.setText("")
            return
        rows = len(state.table.codes)
        self._start.setText(
            f"The search starts from all {rows:,} rows."
            if people == rows
            else f"The search starts from the {people:,} of the {rows:,} rows that are complete "
            "and allowed."
        )
