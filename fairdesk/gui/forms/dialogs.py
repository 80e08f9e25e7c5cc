"""Dialogs that ask for one answer: how cells are written, names, some values, where to run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

import msgspec
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QListWidget,
    QListWidgetItem,
    QRadioButton,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from fairdesk.cluster.connection import Place, read_place
from fairdesk.cluster.members import Examined, examine
from fairdesk.data.columns.kinds import as_numbers, written_like
from fairdesk.data.columns.rereading import number_text, place_words
from fairdesk.data.table import Column, ColumnReading, Dialect, NumberFormat
from fairdesk.errors import FairDeskError
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.fields import choice, label_of, labelled, line, together
from fairdesk.gui.kit.parts import Busy, Words, push_button, quiet, resize_on_screen, scrolled
from fairdesk.gui.kit.tables import TextTable
from fairdesk.gui.kit.threads import Task, in_background
from fairdesk.wording import words


class FormDialog(QDialog):
    """A dialog that is answered or cancelled; what is wrong with the answer stands in it.

    A dialog of its own calls `_add_buttons` with its fields.

    Attributes
    ----------
    body : QVBoxLayout
        The fields, from the top.
    ok_button : QPushButton
        Takes the answer.
    """

    def __init__(self, title: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        # the help can be read meanwhile
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.body = layouts.column(on=self, margin=theme.WIDE, spacing=theme.GAP)
        self._wrong = Words(tone="wrong")
        self._buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        self.ok_button = self._buttons.button(QDialogButtonBox.StandardButton.Ok)

    def answered(self) -> bool:
        """Ask, and return whether there is an answer; the dialog is not shown again."""
        accepted = bool(self.exec())
        self.deleteLater()
        return accepted

    def _add_buttons(self, *fields: layouts.Item) -> None:
        """Add fields, which scroll on a small screen, and below what is wrong, and the buttons."""
        if fields:
            # the edge of what has the keyboard is drawn in the margin
            inside = layouts.panel(*fields, margin=(1, 0, theme.GAP, 0), spacing=theme.GAP)
            self.body.addWidget(scrolled(inside), 1)
        layouts.fill(self.body, self._wrong, self._buttons)
        # once it is in the dialog: else Return in a field would press another
        self.ok_button.setDefault(True)

    def _refuse(self, wrong: str) -> None:
        """Say what is wrong with the answer, which cannot be taken then; empty: nothing is."""
        self._wrong.say(wrong)
        self.ok_button.setEnabled(not wrong)


_HEADS = ("Cell", "Cells", "Where", "In another format", "Number")
_CELLS = (
    "These cells are not numbers, but the other cells of the column are. Enter the number that a "
    "cell means; a cell without a number counts as missing."
)
_NUMBER = len(_HEADS) - 1
_GROUPINGS = {".": ("", ",", " ", "'"), ",": ("", ".", " ", "'")}


class CellsDialog(FormDialog):
    """Asks about one column of numbers."""

    def __init__(self, column: Column, dialect: Dialect, parent: QWidget) -> None:
        super().__init__(f"Cells of “{column.name}”", parent)
        self._column, self._before = column, dialect.reading(column.name)
        usual = [NumberFormat(mark, each) for mark, all_ in _GROUPINGS.items() for each in all_]
        if self._before.format is not None and self._before.format not in usual:
            usual.append(self._before.format)
        forms = [("As found in the file", None), *((written_like(each), each) for each in usual)]
        self.format = choice(forms, chosen=self._before.format)
        self.cells = self._table(dialect)
        written = labelled("Numbers are &written like", self.format)
        self._add_buttons(quiet(_CELLS), layouts.grow(self.cells), written)
        resize_on_screen(self, 560, 480)
        self.cells.itemChanged.connect(self._check)
        self._check()

    def reading(self) -> ColumnReading:
        """Return what was decided of the column."""
        cells = {
            each.text: _number(self._written(row)) for row, each in enumerate(self._column.odd)
        }
        # those that are too many to be listed stay missing, or mended, together
        return msgspec.structs.replace(
            self._before,
            format=self.format.currentData(),
            odd=self._before.odd or "missing",
            cells=cells,
        )

    def _table(self, dialect: Dialect) -> QTableWidget:
        table = QTableWidget(len(self._column.odd), len(_HEADS))
        table.setAccessibleName(f"Cells of {self._column.name} that are not numbers")
        table.setHorizontalHeaderLabels(_HEADS)
        table.verticalHeader().hide()
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setTabKeyNavigation(False)
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        for row, each in enumerate(self._column.odd):
            place = place_words(dialect, each.lines, each.rows)
            other = "" if each.proposed is None else number_text(each.proposed)
            cells = (f"“{each.text[:80]}”", f"{each.rows:,}", place, other)
            for at, text in enumerate(cells):
                item = QTableWidgetItem(text)
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEditable)
                table.setItem(row, at, item)
            value = QTableWidgetItem("" if each.value is None else number_text(each.value))
            table.setItem(row, _NUMBER, value)
        if self._column.odd:
            table.setCurrentCell(0, _NUMBER)
        return table

    def _written(self, row: int) -> str:
        item = self.cells.item(row, _NUMBER)
        return "" if item is None else item.text().strip()

    def _check(self) -> None:
        strange = [
            text
            for row in range(self.cells.rowCount())
            if (text := self._written(row)) and _number(text) is None
        ]
        self._refuse(f"“{strange[0][:40]}” is not a number." if strange else "")


def _number(text: str) -> float | None:
    """Read what was written: a number, or nothing."""
    for mark in ".,":
        numbers = as_numbers([text], mark)
        if numbers is not None:
            return float(numbers[0])
    return None


_NAMES = (
    "Window and report show these names instead of the model’s own. Leave all empty to keep its "
    "own."
)


class NamesDialog(FormDialog):
    """Asks what a model's classes are called: each by a name of its own, or none.

    Parameters
    ----------
    names : sequence of str
        What they are called so far, or what is offered; may be empty.
    """

    def __init__(self, classes: Sequence[str], names: Sequence[str], parent: QWidget) -> None:
        super().__init__("Name the decisions", parent)
        self._classes = tuple(classes)
        said = (*names, *[""] * len(classes))
        self.fields = [
            line(name, f"Name of the decision “{own}”", changed=self._check)
            for own, name in zip(classes, said, strict=False)
        ]
        rows = zip(map(label_of, classes, self.fields), self.fields, strict=True)
        inside = QWidget()
        layouts.grid(*rows, on=inside, margin=(0, 0, theme.NEAR, 0))
        self._add_buttons(quiet(_NAMES), layouts.grow(scrolled(inside)))
        self._check()
        resize_on_screen(self, 420, 320)

    def names(self) -> tuple[str, ...]:
        """Return the names, one for each class; empty where its own are kept."""
        said = tuple(field.text().strip() for field in self.fields)
        return said if any(said) else ()

    def _check(self) -> None:
        said = self.names()
        wrong = ""
        if said and not all(said):
            wrong = "Name every decision, or none."
        elif len(set(said)) < len(said):
            wrong = "Two decisions have the same name."
        self._refuse(wrong)


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
        self.search = line(prompt="part of a value", clears=True, changed=self._filter)
        self.all_button = push_button("&All", partial(self._set_all, Qt.CheckState.Checked))
        self.none_button = push_button("&None", partial(self._set_all, Qt.CheckState.Unchecked))
        layouts.column(
            *([labelled("F&ind", self.search)] if len(values) >= _MANY else []),
            layouts.grow(self.list),
            layouts.row(self.all_button, self.none_button, layouts.stretch()),
            on=self,
            spacing=theme.NEAR,
        )

    def values(self) -> tuple[str, ...]:
        """Return the values that are ticked, shown or not."""
        items = [self.list.item(row) for row in range(self.list.count())]
        return tuple(item.text() for item in items if item.checkState() == Qt.CheckState.Checked)

    def _set_all(self, state: Qt.CheckState, _on: bool = False) -> None:  # noqa: FBT001,FBT002 - Qt's
        """Tick, or not, all that are shown."""
        with QSignalBlocker(self.list):
            for row in range(self.list.count()):
                if not self.list.isRowHidden(row):
                    self.list.item(row).setCheckState(state)
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
        self._add_buttons(quiet(sentence), layouts.grow(self.ticks))
        resize_on_screen(self, 420, 460)
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


_WORKER_HEADS = ("Worker", "Cores", "Memory", "State")
_WORKER_NUMBERS = (1, 2)
_ALL_CORES = "local"
_APPLIES = (
    "Applies to runs that begin from now on. Methods that cannot be divided, and the report, "
    "always use one process of this computer."
)
_ADDRESS = (
    "The address of a Dask scheduler, or the path of its scheduler file. Use tls:// on any network "
    "that others can reach."
)
_ALL_MUST = (
    "A run begins only when all of them can: set up the others like this computer, or remove them "
    "from the cluster."
)


class WhereDialog(FormDialog):
    """Asks where runs are made, and tries it.

    Parameters
    ----------
    cluster : str
        What was chosen last, as `read_place` reads it; empty for this computer.
    ask : callable
        Returns the workers of a cluster, with what they say of themselves.
    """

    def __init__(
        self, cluster: str, parent: QWidget, ask: Callable[[Place], tuple[Examined, ...]] = examine
    ) -> None:
        super().__init__("Where to run", parent)
        self._ask = ask
        self._task: Task | None = None
        self.here = QRadioButton("&This computer")
        self.cores = QRadioButton("This computer, all &cores")
        self.elsewhere = QRadioButton("A c&luster")
        buttons = (self.here, self.cores, self.elsewhere)
        self._choices = together(self, buttons)
        self.address = line(prompt="tls://host:8786, or a scheduler file")
        self.test = push_button("Test c&onnection", self._try)
        self.busy = Busy(cancel=True)
        self.busy.cancelled.connect(self._give_up)
        self.outcome = Words()
        self.table = TextTable("Workers of the cluster", _WORKER_HEADS, _WORKER_NUMBERS, most=0)
        self._add_buttons(
            quiet(_APPLIES),
            layouts.column(*buttons, spacing=theme.TIGHT),
            labelled("&Scheduler", self.address, _ADDRESS),
            layouts.row(self.test, self.busy, layouts.stretch(), spacing=theme.GAP),
            self.outcome,
            layouts.grow(self.table, 100),
            # while there is no table
            layouts.stretch(),
        )
        self._show(cluster)
        self._choices.buttonToggled.connect(self._changed)
        self.address.textChanged.connect(self._changed)
        self._changed()
        resize_on_screen(self, 720, 600)

    def cluster(self) -> str:
        """Return what was chosen, as `read_place` reads it; empty for this computer."""
        if self.elsewhere.isChecked():
            return self.address.text().strip()
        return _ALL_CORES if self.cores.isChecked() else ""

    def _show(self, cluster: str) -> None:
        chosen = self.elsewhere if cluster else self.here
        if cluster == _ALL_CORES:
            chosen = self.cores
        elif cluster:
            self.address.setText(cluster)
        chosen.setChecked(True)

    def _changed(self) -> None:
        """Say whether the answer can be taken; what was tried before no longer holds."""
        self._give_up()
        self.outcome.setText("")
        self.table.show_rows(())
        self.table.hide()
        self.address.setEnabled(self.elsewhere.isChecked())
        wrong = ""
        if self.elsewhere.isChecked():
            try:
                read_place(self.cluster())
            except FairDeskError as error:
                wrong = error.remedy if self.cluster() == "" else str(error)
        self._refuse(wrong)
        self.test.setEnabled(bool(self.cluster()) and not wrong)

    def _try(self) -> None:
        place = read_place(self.cluster())
        self.outcome.setText("")
        self.test.setEnabled(False)
        self.busy.say("Connecting to the workers")
        self._task = in_background(self, lambda: self._ask(place), self._tell, self._fail)

    def _give_up(self) -> None:
        if self._task is not None:
            self._task.drop()
            self._task = None
        self.busy.say("")
        self.test.setEnabled(bool(self.cluster()))

    def _fail(self, error: FairDeskError) -> None:
        self._give_up()
        self.outcome.setText(str(error))
        # the button could not keep the focus while it was off
        field = self.address if self.elsewhere.isChecked() else self.test
        field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _tell(self, workers: tuple[Examined, ...]) -> None:
        self._give_up()
        fit = [each for each in workers if each.fit]
        cores = sum(each.worker.threads for each in fit)
        self.outcome.setText(
            f"{len(fit):,} of {len(workers):,} workers can run audits, with {cores:,} "
            f"{'core' if cores == 1 else 'cores'} together."
            + ("" if len(fit) == len(workers) else f" {_ALL_MUST}")
        )
        self.table.show_rows(
            [
                (each.worker.address, f"{each.worker.threads:,}", _memory(each), state(each))
                for each in workers
            ]
        )
        self.table.show()
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)


def place_text(cluster: str) -> str:
    """Say where runs are made, by what was chosen."""
    if not cluster:
        return "On this computer, in one process"
    place = read_place(cluster)
    if place.kind != "local":
        return f"On the cluster {place}"
    if place.workers:
        return f"On this computer, with {words.counted(place.workers, 'worker')}"
    return "On this computer, on all of its cores"


def state(examined: Examined) -> str:
    """Say whether a worker can run audits, and why not."""
    if examined.trouble:
        return examined.trouble
    if examined.differing:
        return f"Other versions: {'; '.join(examined.differing)}"
    if examined.unconfined:
        return f"Ready; a model’s own code is not kept from: {', '.join(examined.unconfined)}"
    return "Ready"


def _memory(examined: Examined) -> str:
    memory = examined.worker.memory
    return f"{memory / 2**30:.1f} GB" if memory else "no limit"
