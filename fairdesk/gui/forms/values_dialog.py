"""A dialog to tick some of a column's values."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QLineEdit, QListWidget, QListWidgetItem, QPushButton, QWidget

from fairdesk.gui.forms.form_dialog import FormDialog
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.parts import labelled, quiet

#: From so many values on there is a field to find some.
_MANY = 12


class ValueList(QWidget):
    """Values with a tick each; of many, some can be found by their letters.

    Signals
    -------
    changed
        Ticks were set or taken away.
    """

    changed = Signal()

    def __init__(self, name: str, values: Sequence[str], ticked: Collection[str]) -> None:
        super().__init__()
        self.list = QListWidget()
        self.list.setAccessibleName(f"Values of {name}")
        # a view that knows that rows are alike lays out ten thousand of them at once
        self.list.setUniformItemSizes(True)
        chosen = set(ticked)
        for value in values:
            item = QListWidgetItem(value)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            state = Qt.CheckState.Checked if value in chosen else Qt.CheckState.Unchecked
            item.setCheckState(state)
            self.list.addItem(item)
        self.list.itemChanged.connect(self.changed)
        self.search = QLineEdit()
        self.search.setPlaceholderText("part of a value")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.all_button, self.none_button = QPushButton("&All"), QPushButton("&None")
        for button, state in (
            (self.all_button, Qt.CheckState.Checked),
            (self.none_button, Qt.CheckState.Unchecked),
        ):
            button.setAutoDefault(False)
            button.clicked.connect(lambda _checked=False, state=state: self._set_all(state))
        column = layouts.column(on=self, spacing=theme.NEAR)
        if len(values) >= _MANY:
            column.addLayout(labelled("F&ind", self.search))
        column.addWidget(self.list, 1)
        row = layouts.row(self.all_button, self.none_button, layouts.stretch())
        column.addLayout(row)

    def values(self) -> tuple[str, ...]:
        """Return the values that are ticked, shown or not."""
        items = [self.list.item(row) for row in range(self.list.count())]
        return tuple(item.text() for item in items if item.checkState() == Qt.CheckState.Checked)

    def _set_all(self, state: Qt.CheckState) -> None:
        """Tick, or not, all that are shown."""
        blocked = QSignalBlocker(self.list)
        for row in range(self.list.count()):
            if not self.list.isRowHidden(row):
                self.list.item(row).setCheckState(state)
        del blocked
        self.list.viewport().update()
        self.changed.emit()

    def _filter(self, text: str) -> None:
        wanted = text.casefold().strip()
        for row in range(self.list.count()):
            self.list.setRowHidden(row, wanted not in self.list.item(row).text().casefold())


class ValuesDialog(FormDialog):
    """Asks which of a column's values are meant: at least one.

    Parameters
    ----------
    most : int, optional
        So many can be ticked at most.
    """

    def __init__(
        self,
        title: str,
        sentence: str,
        name: str,
        values: Sequence[str],
        ticked: Collection[str],
        parent: QWidget,
        *,
        most: int | None = None,
    ) -> None:
        super().__init__(title, parent)
        self._most = most
        self.ticks = ValueList(name, values, ticked)
        self.ticks.changed.connect(self._check)
        self.body.addWidget(quiet(sentence))
        self.body.addWidget(self.ticks, 1)
        self._add_buttons()
        self.resize(420, 460)
        self._check()

    def values(self) -> tuple[str, ...]:
        """Return the values that are ticked."""
        return self.ticks.values()

    def _check(self) -> None:
        ticked = len(self.values())
        wrong = ""
        if not ticked:
            wrong = "Tick at least one value."
        elif self._most is not None and ticked > self._most:
            wrong = f"Tick at most {self._most} values."
        self._refuse(wrong)
