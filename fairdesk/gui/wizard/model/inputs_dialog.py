"""How the model's inputs are made: tabs of the page, and a dialog for one input."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QTabWidget,
    QWidget,
)

from fairdesk.data.table import Table
from fairdesk.errors import FairDeskError
from fairdesk.gui.forms.dialogs import FormDialog
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.fields import Choice, bounded, choice, label_of, line, offer, whole
from fairdesk.gui.kit.parts import Words, clear, push_button, quiet, resize_on_screen, short
from fairdesk.gui.kit.tables import RIGHT, TextTable
from fairdesk.gui.kit.threads import Latest
from fairdesk.gui.wizard.model.mapping_table import (
    HOW,
    MADE_FROM,
    ChoiceDelegate,
    MappingModel,
    grid,
    on_enter,
)
from fairdesk.gui.wizard.page import Desk
from fairdesk.models.decisions.rule import own_text, score_name
from fairdesk.models.inputs import editing
from fairdesk.models.inputs.input_check import SampleRow
from fairdesk.models.inputs.mapping.propose import Proposal
from fairdesk.models.model import How, Input, Mapping, ModelCard, Step
from fairdesk.wording import words
from fairdesk.wording.words import OPERATIONS, WAYS, how_made

Fed = Mapping | Proposal

_ONE = "1 for one value, 0 for all others"
_CONSTANT = "the same for every row"
#: Of so many values each has a line of its own; a column with more is no column of codes.
_MOST_CODES = 2_000
#: The dialog's height without and with such lines.
_LOW, _HIGH = 300, 560


class InputDialog(FormDialog):
    """Asks how one input is made. Every change is shown at once in the sentence below.

    Attributes
    ----------
    fed : Mapping or Proposal
        With the auditor's answer.
    """

    def __init__(
        self,
        fed: Fed,
        position: int,
        card: ModelCard,
        table: Table,
        columns: tuple[str, ...],
        parent: QWidget,
    ) -> None:
        super().__init__(f"Model input {position + 1}: {card.inputs[position]}", parent)
        self.fed = fed
        self._position, self._card, self._table = position, card, table
        self.column = bounded(Choice("Choose a column…"), 24)
        self.column.addItems(columns)
        self.column.activated.connect(self._choose_column)
        self.way = Choice("Choose…")
        ways = ((label, way) for way, label in WAYS.items())
        offer(self.way, (*ways, (_ONE, _ONE), (_CONSTANT, How.CONSTANT)))
        self.way.activated.connect(self._choose_way)
        self.value = choice(letters=24, run=self._choose_value)
        self.constant = line()
        self.constant.editingFinished.connect(self._choose_constant)
        self.codes = QTableWidget(0, 2)
        self.codes.setHorizontalHeaderLabels(["Value in the data", "Number"])
        self.codes.setAccessibleName("The number for each value")
        self.codes.verticalHeader().hide()
        self.codes.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.codes.itemChanged.connect(self._choose_code)
        self._more_codes = quiet()
        self._steps = layouts.column(spacing=theme.TIGHT)
        self.add_step = push_button(
            "Add an &arithmetic step", lambda: self._set_steps((*self._then(), Step("subtract", 0)))
        )
        self._told = Words(strong=True)
        self._form = QFormLayout()
        self._steps_title = quiet("Then, in this order, as in the model’s scaler:")
        self._lay_out()
        self._filling = False
        self._show()

    def _lay_out(self) -> None:
        self._form.setHorizontalSpacing(theme.WIDE)
        self._form.setVerticalSpacing(theme.NEAR)
        for label, field in (
            ("&Source column", self.column),
            ("&Transformation", self.way),
            ("&Value marked by this input", self.value),
            ("&Constant value", self.constant),
        ):
            self._form.addRow(label, field)
            field.setAccessibleName(label.replace("&", ""))
        self._add_buttons(
            self._form,
            layouts.grow(self.codes),
            self._more_codes,
            self._steps_title,
            self._steps,
            layouts.row(self.add_step, layouts.stretch()),
            self._told,
            layouts.stretch(0),
        )
        resize_on_screen(self, 560, _LOW)

    # -- answering ----------------------------------------------------------------------------

    def _item(self) -> Input | None:
        return self.fed.inputs[self._position]

    def _then(self) -> tuple[Step, ...]:
        item = self._item()
        return () if item is None else item.then

    def _try(self, change: Callable[[], Fed]) -> None:
        """Take a change, or say what is wrong with it."""
        try:
            self.fed = change()
        except FairDeskError as error:
            self._wrong.setText(str(error))
        else:
            self._wrong.setText("")
        self._show()

    def _choose_column(self) -> None:
        name = self.column.currentText()
        self._try(lambda: editing.remap(self.fed, self._position, name, self._table, self._card))

    def _choose_way(self) -> None:
        way, item = self.way.currentData(), self._item()
        if way == How.CONSTANT:
            self._try(lambda: editing.constant(self.fed, self._position, 0.0, self._card))
        elif item is None or not item.attribute:
            self._wrong.setText("Choose a column first.")
            self._show()
        elif way == _ONE:
            values = tuple(self._table.counts(item.attribute))
            self._try(lambda: self._for_value(item.attribute, values[0] if values else ""))
        else:
            self._try(
                lambda: editing.as_way(self.fed, self._position, How(way), self._table, self._card)
            )

    def _choose_value(self) -> None:
        if (item := self._item()) is not None:
            self._try(lambda: self._for_value(item.attribute, self.value.currentText()))

    def _for_value(self, attribute: str, value: str) -> Fed:
        return editing.for_value(
            self.fed, self._position, attribute, value, self._table, self._card
        )

    def _choose_constant(self) -> None:
        if self._filling or self.constant.isHidden():
            return
        text = self.constant.text()
        try:
            given: float | str = float(text)
        except ValueError:
            given = text
        self._try(lambda: editing.constant(self.fed, self._position, given, self._card))

    def _choose_code(self, item: QTableWidgetItem) -> None:
        if self._filling or item.column() != 1:
            return
        value = self.codes.model().index(item.row(), 0).data(Qt.ItemDataRole.UserRole)
        try:
            number = float(item.text())
        except ValueError:
            self._wrong.setText(f"“{item.text()}” is not a number.")
            self._show()
            return
        self._try(lambda: editing.numbered(self.fed, self._position, value, number))

    def _set_steps(self, steps: tuple[Step, ...]) -> None:
        self._try(lambda: editing.computed(self.fed, self._position, steps))

    # -- showing ------------------------------------------------------------------------------

    def _show(self) -> None:
        self._filling = True
        item = self._item()
        one = item is not None and item.how is How.CODE and item.others is not None
        constant = item is not None and item.how is How.CONSTANT
        self.column.setCurrentText(item.attribute) if item is not None and not constant else (
            self.column.setCurrentIndex(-1)
        )
        if item is None:
            self.way.setCurrentIndex(-1)
        else:
            self.way.setCurrentIndex(self.way.findData(_ONE if one else item.how))
        self._form.setRowVisible(self.value, one)
        self._form.setRowVisible(self.constant, constant)
        if item is not None and one:
            self._show_values(item)
        if item is not None and constant:
            self.constant.setText(
                item.constant if isinstance(item.constant, str) else f"{item.constant:.15g}"
            )
        coded = item is not None and item.how is How.CODE and not one
        self.codes.setVisible(coded)
        codes = item.codes if item is not None else {}
        if coded:
            self._show_codes(codes)
            resize_on_screen(self, self.width(), max(self.height(), _HIGH))
        self._more_codes.setVisible(coded and len(codes) > _MOST_CODES)
        numeric = item is not None and not (
            item.how is How.LABEL or (constant and isinstance(item.constant, str))
        )
        self._show_steps()
        self.add_step.setVisible(numeric)
        self._steps_title.setVisible(bool(self._then()))
        self._told.setText(
            "No source chosen yet." if item is None else f"The model receives {how_made(item, 6)}."
        )
        self.ok_button.setEnabled(item is not None)
        self._wrong.setVisible(bool(self._wrong.text()))
        self._filling = False

    def _show_values(self, item: Input) -> None:
        self.value.clear()
        self.value.addItems(list(self._table.counts(item.attribute)))
        counted = [text for text, number in item.codes.items() if number != item.others]
        self.value.setCurrentText(counted[0] if counted else "")

    def _show_codes(self, codes: dict[str, float]) -> None:
        shown_codes = list(codes.items())[:_MOST_CODES]
        self.codes.setRowCount(len(shown_codes))
        for row, (text, number) in enumerate(shown_codes):
            shown = QTableWidgetItem(text or "(missing)")
            shown.setData(Qt.ItemDataRole.UserRole, text)
            shown.setFlags(shown.flags() & ~Qt.ItemFlag.ItemIsEditable)
            self.codes.setItem(row, 0, shown)
            written = QTableWidgetItem(f"{number:.15g}")
            written.setTextAlignment(RIGHT)
            self.codes.setItem(row, 1, written)
        self._more_codes.setText(
            f"The first {_MOST_CODES:,} of {len(codes):,}; the others are not changed."
        )

    def _show_steps(self) -> None:
        clear(self._steps)
        for place, step in enumerate(self._then()):
            self._steps.addLayout(self._step(place, step))

    def _step(self, place: int, step: Step) -> QHBoxLayout:
        def changed() -> None:
            if self._filling:
                return
            try:
                by = float(number.text())
            except ValueError:
                self._wrong.setText(f"“{number.text()}” is not a number.")
                self._wrong.show()
                return
            steps = list(self._then())
            if steps[place] != (new := Step(operation.currentData(), by)):
                steps[place] = new
                self._set_steps(tuple(steps))

        def drop() -> None:
            self._set_steps(tuple(each for i, each in enumerate(self._then()) if i != place))

        ways = [(label, key) for key, label in OPERATIONS.items()]
        operation = choice(ways, f"Step {place + 1}", chosen=step.op, run=changed)
        number = line(repr(step.by), f"Number of step {place + 1}")
        number.editingFinished.connect(changed)
        take = push_button("Remove", drop, name=f"Remove step {place + 1}")
        return layouts.row(QLabel(f"{place + 1}."), operation, layouts.grow(number), take)


#: So many inputs are shown at least and at most before their table scrolls by itself.
_FEWEST, _MOST = 3, 9


class InputTabs(QTabWidget):
    """Two tables: a line an input, and a line a row of the data.

    Signals
    -------
    remade : int, str
        An input is to be made from another column.
    change : int
        How an input is made is to be changed.
    """

    remade = Signal(int, str)
    change = Signal(int)

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._shower = Latest(self)
        self.mapping = MappingModel()
        self.mapping.remade.connect(self.remade)
        self.mapping_view = grid(self.mapping, "Input mapping")
        self.mapping_view.setItemDelegateForColumn(MADE_FROM, ChoiceDelegate(self.mapping_view))
        self.mapping_view.setEditTriggers(QAbstractItemView.EditTrigger.AllEditTriggers)
        head = self.mapping_view.horizontalHeader()
        head.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        for place, share in ((0, 150), (MADE_FROM, 170), (HOW + 1, 140)):
            head.setSectionResizeMode(place, QHeaderView.ResizeMode.Interactive)
            head.resizeSection(place, share)
        self.mapping_view.doubleClicked.connect(
            lambda index: self.change.emit(index.row()) if index.column() >= HOW else None
        )
        on_enter(
            self.mapping_view,
            lambda index: (
                self.mapping_view.edit(index)
                if index.column() == MADE_FROM
                else self.change.emit(index.row())
            ),
        )
        self.change_button = push_button(
            "C&hange this input…", lambda: self.change.emit(self.mapping_view.currentIndex().row())
        )
        self.row = whole(1, 1, 1, "Data row to show", self.show_row)
        self.row.setKeyboardTracking(False)
        self.row.setMaximumWidth(130)
        self.row_answer = Words(tone="quiet", wrap=False)
        foot = layouts.row(
            *(self.change_button, layouts.stretch(), label_of("Data &row to show:", self.row)),
            *(self.row, self.row_answer),
            spacing=theme.GAP,
        )
        made = layouts.panel(layouts.grow(self.mapping_view), foot, spacing=theme.NEAR)
        self.rows_view = TextTable("The first rows with the model’s outputs", most=0)
        self.addTab(made, "&Input mapping")
        self.addTab(self.rows_view, "The &first rows")

    def show_inputs(self, fed: Fed | None, columns: tuple[str, ...]) -> None:
        """Show how inputs are made, and from which columns they may be."""
        state = self._desk.state
        names = state.card.inputs if state.card is not None else ()
        inputs = () if fed is None else fed.inputs
        self.mapping.show_inputs(names, inputs, columns)
        lines = min(max(len(inputs), _FEWEST), _MOST) + 1
        line = self.mapping_view.verticalHeader().defaultSectionSize()
        self.mapping_view.setMinimumHeight(lines * line)
        if state.table is not None:
            self.row.setMaximum(len(state.table.codes))

    def show_rows(self) -> None:
        """Show the first rows with the answers that the model gave them."""
        state, proof = self._desk.state, self._desk.state.proof
        if proof is None:
            self.rows_view.show_rows((), header=())
            return
        card, mapping = state.card, state.mapping
        if card is None or mapping is None:
            return
        decided = mapping.decisions(card)[mapping.favourable_class]
        score = f"{score_name(card)} of “{decided}”"
        self.rows_view.show_rows(
            [
                (row.label, row.prediction, _number(row, mapping, card), *map(_sent, row.sent))
                for row in proof.sample
            ],
            header=(state.label, "Model decision", score, *proof.inputs),
        )

    def show_row(self) -> None:
        """Show what is sent for the chosen row."""
        state, worker = self._desk.state, self._desk.model
        mapping, table, label = state.mapping, state.table, state.label
        if mapping is None or table is None or state.proof is None or state.predictions:
            return
        row = self.row.value()
        first = next((each for each in state.proof.sample if each.row == row), None)
        if first is not None:
            self._show_sent(first)
            return
        self._shower.ask(
            lambda: worker.show(mapping, table, label, (row,))[0],
            self._show_sent,
            lambda error: self.row_answer.setText(error.what),
        )

    def _show_sent(self, sample: SampleRow) -> None:
        state = self._desk.state
        if state.card is None or state.mapping is None:
            return
        self.mapping.show_sent(sample.row, tuple(_sent(value) for value in sample.sent))
        self.row_answer.setText(self._row_sentence(sample))

    def _row_sentence(self, sample: SampleRow) -> str:
        state = self._desk.state
        if state.card is None or state.mapping is None or sample.score is None:
            return "The model does not accept this row."
        number = _number(sample, state.mapping, state.card)
        name = score_name(state.card).lower()
        return f"Decision: “{short(sample.prediction)}” ({name} {number})."


def _number(sample: SampleRow, mapping: Mapping, card: ModelCard) -> str:
    """Write the number with which a row was decided."""
    if sample.score is None:
        return "–"
    second = sample.prediction == mapping.decisions(card)[1]
    return own_text(sample.score, mapping, card, second=second)


def _sent(value: float | str | None) -> str:
    """Write what a model was given."""
    return "–" if value is None else value if isinstance(value, str) else words.short(value)
