"""The methods of a custom plan in their order, to be moved up and down."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.parts import Card, heading, push_button, quiet
from fairdesk.wording.words import duration

_KEY = Qt.ItemDataRole.UserRole


class MethodOrder(Card):
    """Lists what was chosen, and lets it be moved.

    Signals
    -------
    moved : str, int
        A method is to be moved by so many places.
    shown : str
        The auditor looks at a method.
    """

    moved = Signal(str, int)
    shown = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.list = QListWidget()
        self.list.setAccessibleName("Chosen methods, in their order")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.currentItemChanged.connect(self._show)
        self.up = push_button(
            "Move up", lambda: self._move(-1), auto_default=False, name="Move the method up"
        )
        self.down = push_button(
            "Move down", lambda: self._move(1), auto_default=False, name="Move the method down"
        )
        self._none = quiet("Tick methods above: they are listed here in the order of their runs.")
        self.body.addWidget(heading("Order"))
        self.body.addWidget(self._none)
        self.body.addLayout(
            layouts.row(
                layouts.grow(self.list),
                layouts.column(self.up, self.down, layouts.stretch(), spacing=theme.NEAR),
                spacing=theme.GAP,
            )
        )

    @property
    def key(self) -> str:
        """The method of the current line; empty without one."""
        item = self.list.currentItem()
        return "" if item is None else str(item.data(_KEY))

    def show_runs(self, methods: Sequence[str], runs: Sequence[RunSpec], current: str) -> None:
        """List the methods, each with the time of its run."""
        seconds = {run.method: run.budget.seconds for run in runs}
        with QSignalBlocker(self.list):
            self.list.clear()
            for place, method in enumerate(methods, 1):
                limit = seconds.get(method)
                time = "" if limit is None else f", at most {duration(limit)}"
                item = QListWidgetItem(f"{place}. {METHODS[method].title}{time}", self.list)
                item.setData(_KEY, method)
            if current in methods:
                self.list.setCurrentRow(methods.index(current))
        line = self.list.fontMetrics().height() + theme.NEAR
        self.list.setFixedHeight(line * max(2, len(methods)) + theme.NEAR)
        self._none.setVisible(not methods)
        self.list.setVisible(bool(methods))
        self._fit()

    def _fit(self) -> None:
        place = self.list.currentRow()
        self.up.setEnabled(place > 0)
        self.down.setEnabled(0 <= place < self.list.count() - 1)

    def _show(self) -> None:
        self._fit()
        if self.key:
            self.shown.emit(self.key)

    def _move(self, by: int) -> None:
        if self.key:
            self.moved.emit(self.key, by)
