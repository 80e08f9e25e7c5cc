"""Questions of the model page: whether a file may run, and which way to feed the model."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QRadioButton, QWidget

from fairdesk.audit.sandbox.folders import Confinement
from fairdesk.gui.kit import hints, layouts, theme
from fairdesk.gui.kit.parts import (
    Card,
    Words,
    clear,
    heading,
    in_order,
    push_button,
    quiet,
    scrolled,
)
from fairdesk.gui.wizard.model.opening import Untrusted
from fairdesk.models.inputs import numbering
from fairdesk.models.inputs.input_check import InputCheck
from fairdesk.models.inputs.numbering import Codes, Numbering, Order, codes_text
from fairdesk.models.inputs.usual import CAVEAT, Offer
from fairdesk.models.model import Mapping
from fairdesk.models.pickles.contents import ImportedName
from fairdesk.wording.inspected import OFFERED
from fairdesk.wording.words import percent


class WaysCard(Card):
    """Ways to feed the model, each with how far it would agree; none is chosen but by the auditor.

    Signals
    -------
    chosen : object
        The way that the auditor chose.
    """

    chosen = Signal(object)

    def __init__(self, title: str, text: str) -> None:
        self._lines = layouts.grid(across=theme.WIDE, down=theme.TIGHT, stretches=(1,))
        said = quiet(f"{text} Your choice is recorded in the audit.")
        super().__init__(heading(title), said, self._lines, tone="notice", margin=theme.GAP)
        self._choices: list[tuple[QRadioButton, object]] = []
        self.hide()

    @property
    def choices(self) -> list[QRadioButton]:
        """The choices from top to bottom."""
        return [button for button, _ in self._choices]

    def _heads(self, title: str, *words: str) -> None:
        """Add a line with what stands in each column."""
        row = self._lines.rowCount()
        for column, text in enumerate((title, *words)):
            self._cell(row, column, text, tone="quiet")

    def _line(self, title: str, way: object, figures: dict[str, str]) -> None:
        """Add a way, with its figures by what they are."""
        row = self._lines.rowCount()
        button = QRadioButton(title.replace("&", "&&"))
        button.setToolTip(hints.plain(title))
        told = ", ".join(f"{name} {figure}" for name, figure in figures.items())
        button.setAccessibleName(f"{title}: {told}")
        # the keyboard moves along the choices without choosing: each is tried on all rows
        button.setAutoExclusive(False)
        button.clicked.connect(lambda _checked=False: self.chosen.emit(way))
        self._lines.addWidget(button, row, 0)
        for column, figure in enumerate(figures.values(), start=1):
            self._cell(row, column, figure)
        self._choices.append((button, way))

    def _cell(self, row: int, column: int, text: str, *, tone: str = "") -> None:
        words = Words(text, tone=tone, wrap=False)
        side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
        self._lines.addWidget(words, row, column, side)


def tried_figures(tried: Offer | Order | InputCheck) -> dict[str, str]:
    """Write how far the model would agree, by what each figure is."""
    return {
        "accuracy": percent(tried.accuracy, 1),
        "AUC": "–" if tried.auc is None else f"{tried.auc:.2f}",
    }


class PreparingCard(WaysCard):
    """The usual preparations of the table, offered where no scaler came with the model.

    What is chosen is the `Mapping` of an offer, or that before them.
    """

    def __init__(self) -> None:
        super().__init__(
            "No scaler came with the model: choose how its inputs are prepared",
            f"{OFFERED} {CAVEAT}",
        )
        self._shown: tuple[tuple[Offer, ...], tuple[Mapping, InputCheck] | None] = ((), None)

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

    def _build(self, offers: tuple[Offer, ...], before: tuple[Mapping, InputCheck] | None) -> None:
        self._choices = []
        clear(self._lines)
        if not offers or before is None:
            return
        self._heads("", "Accuracy", "AUC")
        mapping, proof = before
        self._line("Unchanged, not scaled", mapping, tried_figures(proof))
        for offer in offers:
            title = f"{offer.title[:1].upper()}{offer.title[1:]}"
            self._line(title, offer.mapping, tried_figures(offer))
        in_order(*self.choices)


class Confirmed(NamedTuple):
    """The columns whose values have these numbers; without any, those that they have now."""

    columns: tuple[str, ...]
    codes: Codes | None = None


class NumberingCard(WaysCard):
    """For each column the orders that authors use; what is chosen is a `Confirmed`."""

    def __init__(self) -> None:
        super().__init__(
            "No file states the model’s numbers for categorical values: confirm them",
            f"The audit cannot start before. {numbering.CAVEAT}",
        )
        self.as_now = push_button(
            "Con&firm all as they are now", lambda: self.chosen.emit(Confirmed(self._guessed))
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


_PROGRAM = (
    "This file does not only contain numbers: it uses instructions that run as soon as it is "
    "opened, and not all of them are on FairDesk’s list of harmless ones. No check can "
    "determine with certainty whether they are harmful. Open it only if you know who made it "
    "and how it reached you."
)
_STANDINGS = {
    "dangerous": "▲ known to be dangerous",
    "unknown": "○ not on the list of harmless names",
    "known": "✓ on the list of harmless names",
}
#: Names that are shown; a forest asks for thousands of times the same few.
_SHOWN = 60


class TrustCard(QWidget):
    """The card.

    Signals
    -------
    trusted : str
        The auditor agreed to run the file with this fingerprint.
    other
        Another file is to be chosen.
    """

    trusted = Signal(str)
    other = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._what = heading("")
        self._sha256 = Words(selectable=True)
        self._sha256.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._sha256.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._sha256.setAccessibleName("SHA-256 of the file")
        self._names = layouts.column(spacing=theme.TIGHT)
        self._held = layouts.column(spacing=theme.TIGHT)
        self.button = push_button(
            "I &trust this file", lambda: self.trusted.emit(self._sha256.text())
        )
        self.choose = push_button("&Choose another file…", self.other)
        card = Card(
            *(self._what, Words(_PROGRAM)),
            quiet("Its SHA-256 hash, to compare with the sender’s:"),
            self._sha256,
            quiet("Your choice is remembered for exactly this file and recorded in the report."),
            layouts.row(self.button, self.choose, layouts.stretch()),
            tone="notice",
            spacing=theme.GAP,
        )
        inside = layouts.panel(
            *(card, heading("Names that it uses"), self._names),
            *(heading("How it would be confined"), self._held, layouts.stretch()),
            margin=(0, 0, theme.GAP, 0),
            spacing=theme.GAP,
        )
        layouts.column(scrolled(inside), on=self)

    def show_file(self, found: Untrusted) -> None:
        """Show a file and what is known about it."""
        self._what.setText(found.why.what)
        self._sha256.setText(found.sha256)
        clear(self._names)
        imports = sorted(found.contents.imports, key=_badness)
        self._names.addWidget(
            quiet(
                (
                    "Read from the file without running it. This is information, not a verdict: "
                    "harmless names can be misused, and unknown names can be harmless."
                )
                if imports
                else "Nothing could be determined without running it."
            )
        )
        for each in imports[:_SHOWN]:
            tone = "wrong" if each.standing == "dangerous" else ""
            words = f"{_STANDINGS[each.standing]}:  {each.name}"
            self._names.addWidget(Words(words, tone=tone))
        if len(imports) > _SHOWN:
            self._names.addWidget(quiet(f"and {len(imports) - _SHOWN} more"))
        clear(self._held)
        for line in held(found.confinement):
            self._held.addWidget(line)


def _badness(imported: ImportedName) -> int:
    return list(_STANDINGS).index(imported.standing)


def held(confinement: Confinement) -> list[QWidget]:
    """Say what the process that opens model files cannot do on this machine, a line each."""
    by = confinement.by or "nothing but process separation"
    lines: list[QWidget] = [quiet(f"It is opened in a separate process, confined by {by}.")]
    for hold in confinement.holds:
        mark, tone = ("✓", "") if hold.holds else ("✗", "wrong")
        lines.append(Words(f"{mark}  {hold.what.capitalize()}: {hold.how}", tone=tone))
    return lines
