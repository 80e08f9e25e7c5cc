"""How the model’s inputs are made, with what is sent for a row, and the first rows."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QLabel, QSpinBox, QTabWidget

from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.parts import Words, calm, push_button, short
from fairdesk.gui.kit.threads.background import Latest
from fairdesk.gui.wizard.model.inputs.dialog import Fed
from fairdesk.gui.wizard.model.inputs.mapping_table import (
    HOW,
    MADE_FROM,
    ChoiceDelegate,
    MappingModel,
    PlainTable,
    grid,
    on_enter,
)
from fairdesk.gui.wizard.page import Desk
from fairdesk.models.decisions.rule import own_text, score_name
from fairdesk.models.inputs.input_check import SampleRow
from fairdesk.models.model import Mapping, ModelCard
from fairdesk.wording import words

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
        self.mapping_view.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 14)
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
            "C&hange this input…",
            lambda: self.change.emit(self.mapping_view.currentIndex().row()),
            auto_default=False,
        )
        self.row = QSpinBox()
        self.row.setMinimum(1)
        self.row.setKeyboardTracking(False)
        self.row.setMaximumWidth(130)
        calm(self.row)
        self.row.valueChanged.connect(self.show_row)
        self.row_answer = Words(tone="quiet", wrap=False)
        which = QLabel("Data &row to show:")
        which.setBuddy(self.row)
        self.row.setAccessibleName("Data row to show")
        foot = layouts.row(
            self.change_button,
            layouts.stretch(),
            which,
            self.row,
            self.row_answer,
            spacing=theme.GAP,
        )
        made = layouts.panel(layouts.grow(self.mapping_view), foot, spacing=theme.NEAR)
        self._rows = PlainTable()
        self.rows_view = grid(self._rows, "The first rows with the model’s outputs")
        self.setDocumentMode(True)
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
            self._rows.show_cells((), ())
            return
        card, mapping = state.card, state.mapping
        if card is None or mapping is None:
            return
        decided = mapping.decisions(card)[mapping.favourable_class]
        self._rows.show_cells(
            (state.label, "Model decision", f"{score_name(card)} of “{decided}”", *proof.inputs),
            [
                (row.label, row.prediction, _number(row, mapping, card), *map(_sent, row.sent))
                for row in proof.sample
            ],
        )
        self.rows_view.resizeColumnsToContents()

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
