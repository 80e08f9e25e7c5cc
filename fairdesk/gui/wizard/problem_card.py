"""A card of the data page: what is odd about a column, and buttons for what can be done."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton

from fairdesk.data.profiling.profile import Problem
from fairdesk.data.table import Kind
from fairdesk.gui.kit import theme
from fairdesk.gui.kit.parts import Card, Words, quiet
from fairdesk.gui.wizard.preview import KINDS


class ProblemCard(Card):
    """The card.

    Parameters
    ----------
    cells : bool
        Whether the column has odd cells, of which each can be given a value.

    Signals
    -------
    retyped : str, str
        The column is to get this kind.
    reread : Dialect
        The table is to be read so.
    opened : str
        The odd cells of this column are to be decided one by one.
    """

    retyped = Signal(str, str)
    reread = Signal(object)
    opened = Signal(str)

    def __init__(self, problem: Problem, *, cells: bool) -> None:
        super().__init__(margin=theme.GAP)
        self.buttons: dict[str, QPushButton] = {}
        self._column = problem.column
        self.body.setSpacing(theme.TIGHT)
        self.body.addWidget(Words(problem.what))
        if problem.remedy:
            self.body.addWidget(quiet(problem.remedy))
        if (kind := problem.suggested) is not None:
            words = "Exclude it" if kind is Kind.IGNORED else f"Read as {KINDS[kind].lower()}"
            self._add(words).clicked.connect(lambda: self.retyped.emit(problem.column, kind.value))
        for change in problem.changes:
            self._add(change.words).clicked.connect(
                lambda _checked=False, dialect=change.dialect: self.reread.emit(dialect)
            )
        if cells:
            self._add("Cell by cell…").clicked.connect(lambda: self.opened.emit(problem.column))

    def _add(self, words: str) -> QPushButton:
        button = self.buttons[words] = QPushButton(words)
        button.setAutoDefault(False)
        button.setAccessibleName(f"{words}: {self._column}")
        self.body.addWidget(button)
        return button
