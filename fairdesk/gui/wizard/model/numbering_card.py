"""The numbers of a column's values where no file states them: the auditor confirms or chooses."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QSignalBlocker

from fairdesk.gui.kit import layouts
from fairdesk.gui.kit.parts import clear, in_order, push_button
from fairdesk.gui.wizard.model.preparing_card import WaysCard, tried_figures
from fairdesk.models.inputs.numbering import CAVEAT, Codes, Numbering, codes_text
from fairdesk.models.model import Mapping


class Confirmed(NamedTuple):
    """The columns whose values have these numbers; without any, those that they have now."""

    columns: tuple[str, ...]
    codes: Codes | None = None


class NumberingCard(WaysCard):
    """For each column the orders that authors use; what is chosen is a `Confirmed`."""

    def __init__(self) -> None:
        super().__init__(
            "No file states the model’s numbers for categorical values: confirm them",
            f"The audit cannot start before. {CAVEAT}",
        )
        self.as_now = push_button(
            "Con&firm all as they are now",
            lambda: self.chosen.emit(Confirmed(self._guessed)),
            auto_default=False,
        )
        self.body.addLayout(layouts.row(self.as_now, layouts.stretch()))
        self._guessed: tuple[str, ...] = ()
        self._shown: tuple[Numbering, ...] = ()

    def show_numberings(self, numberings: tuple[Numbering, ...], now: Mapping | None) -> None:
        """Show the orders, and which of them the auditor has confirmed."""
        self.setVisible(bool(numberings))
        if numberings != self._shown:
            self._shown = numberings
            self._build(numberings)
        self._guessed = () if now is None else now.guessed
        self.as_now.setEnabled(bool(self._guessed))
        held = {} if now is None else {each.attribute: each.codes for each in now.inputs}
        for button, way in self._choices:
            if isinstance(way, Confirmed):
                (column,) = way.columns
                confirmed = column not in self._guessed and held.get(column) == way.codes
                with QSignalBlocker(button):
                    button.setChecked(confirmed)

    def _build(self, numberings: tuple[Numbering, ...]) -> None:
        self._choices = []
        clear(self._lines)
        for each in numberings:
            self._heads(f"“{each.column}”", "Accuracy", "AUC", "Calibration error")
            for order in each.orders:
                error = "–" if order.calibration is None else f"{order.calibration:.3f}"
                self._line(
                    f"{codes_text(order.codes)} ({order.title})",
                    Confirmed((each.column,), order.codes),
                    {**tried_figures(order), "calibration error": error},
                )
        in_order(*self.choices, self.as_now)
