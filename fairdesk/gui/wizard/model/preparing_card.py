"""The usual preparations of the table, offered where no scaler came with the model."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QRadioButton

from fairdesk.gui.kit import theme, tips
from fairdesk.gui.kit.parts import Card, Words, clear, heading, in_order, quiet
from fairdesk.models.inputs.input_check import InputCheck
from fairdesk.models.inputs.usual import CAVEAT, Offer
from fairdesk.models.model import Mapping
from fairdesk.wording.inspected import OFFERED
from fairdesk.wording.words import percent


class PreparingCard(Card):
    """The offers with what the model would say; none is chosen but by the auditor.

    Signals
    -------
    chosen : Mapping
        How the model is to be fed: as an offer has it, or as it was before.
    """

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__(tone="notice", margin=theme.GAP)
        self.body.addWidget(
            heading("No scaler came with the model: choose how its inputs are prepared")
        )
        self.body.addWidget(quiet(f"{OFFERED} {CAVEAT} Your choice is recorded in the audit."))
        self._lines = QGridLayout()
        self._lines.setHorizontalSpacing(theme.WIDE)
        self._lines.setVerticalSpacing(theme.TIGHT)
        self._lines.setColumnStretch(0, 1)
        self.body.addLayout(self._lines)
        self._choices: list[tuple[QRadioButton, Mapping]] = []
        self._shown: tuple[tuple[Offer, ...], tuple[Mapping, InputCheck] | None] = ((), None)
        self.hide()

    def show_offers(
        self,
        offers: tuple[Offer, ...],
        before: tuple[Mapping, InputCheck] | None,
        now: Mapping | None,
    ) -> None:
        """Show what is offered beside how the model was fed before, and which of it holds now."""
        self.setVisible(bool(offers) and before is not None)
        shown = (offers, before)
        if shown != self._shown:
            self._shown = shown
            self._build(offers, before)
        for button, mapping in self._choices:
            button.setChecked(mapping == now)

    @property
    def choices(self) -> list[QRadioButton]:
        """The choices from top to bottom; the first is to leave the inputs as they are."""
        return [button for button, _ in self._choices]

    def _build(self, offers: tuple[Offer, ...], before: tuple[Mapping, InputCheck] | None) -> None:
        self._choices = []
        clear(self._lines)
        if not offers or before is None:
            return
        for column, words in enumerate(("Accuracy", "AUC"), start=1):
            self._cell(0, column, words, tone="quiet")
        mapping, proof = before
        self._line("Unchanged, not scaled", mapping, proof.accuracy, proof.auc)
        for offer in offers:
            title = f"{offer.title[:1].upper()}{offer.title[1:]}"
            self._line(title, offer.mapping, offer.accuracy, offer.auc)
        in_order(*self.choices)

    def _line(self, title: str, mapping: Mapping, accuracy: float, auc: float | None) -> None:
        row = len(self._choices) + 1
        agrees, ranks = percent(accuracy, 1), "–" if auc is None else f"{auc:.2f}"
        button = QRadioButton(title.replace("&", "&&"))
        button.setToolTip(tips.plain(title))
        button.setAccessibleName(f"{title}: accuracy {agrees}, AUC {ranks}")
        # the keyboard moves along the choices without choosing: each is tried on all rows
        button.setAutoExclusive(False)
        button.clicked.connect(lambda _checked=False: self.chosen.emit(mapping))
        self._lines.addWidget(button, row, 0)
        self._cell(row, 1, agrees)
        self._cell(row, 2, ranks)
        self._choices.append((button, mapping))

    def _cell(self, row: int, column: int, text: str, *, tone: str = "") -> None:
        words = Words(text, tone=tone, wrap=False)
        self._lines.addWidget(words, row, column, Qt.AlignmentFlag.AlignRight)
