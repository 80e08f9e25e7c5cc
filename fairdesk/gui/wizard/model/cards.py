"""Cards of the model page: whether a file may run, ways to feed it, and what came of trying it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QRadioButton, QWidget

from fairdesk.audit.sandbox.folders import Confinement
from fairdesk.data.profiling.outcomes import OR
from fairdesk.gui.forms.dialogs import NamesDialog, ValuesDialog
from fairdesk.gui.kit import hints, layouts, theme
from fairdesk.gui.kit.fields import Choice, NumberField, bounded, decimal, label_of, labelled
from fairdesk.gui.kit.parts import (
    Card,
    Words,
    clear,
    heading,
    in_order,
    push_button,
    quiet,
    scrolled,
    short,
)
from fairdesk.gui.wizard.data.fields import COMPARISONS
from fairdesk.gui.wizard.model.opening import Untrusted
from fairdesk.gui.wizard.state.wizard_state import WizardState
from fairdesk.models.decisions.favourable import Answer, sign_of
from fairdesk.models.decisions.rule import VALUES
from fairdesk.models.inputs import numbering
from fairdesk.models.inputs.input_check import InputCheck
from fairdesk.models.inputs.numbering import Codes, Numbering, Order, codes_text
from fairdesk.models.inputs.usual import CAVEAT, Offer
from fairdesk.models.model import Mapping, ModelCard
from fairdesk.models.pickles.contents import ImportedName
from fairdesk.wording.decisions import good_answers
from fairdesk.wording.inspected import OFFERED, roc_sentence
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


_SEVERAL = "Several decisions…"


class AnswerField(QWidget):
    """What the model's answers mean, as the one text that `models.favourable` reads.

    Signals
    -------
    chosen : str, object
        The answers that are good, and the threshold, if it is another than one half.
    named : tuple of str
        What the decisions are called; of none when the model's own names are kept.
    """

    chosen = Signal(str, object)
    named = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._card: ModelCard | None = None
        self._good = ""
        self.combo = bounded(Choice("Choose a decision…"))
        self.combo.activated.connect(self._choose)
        self.threshold = decimal(0.001, 0.999, 0.5, changed=self._move, digits=3)
        self.threshold.setKeyboardTracking(False)
        self.estimate = NumberField()
        self.estimate.valueChanged.connect(self._move)
        self._by_score = layouts.panel(labelled("Decision threshold (abo&ve)", self.threshold))
        self._by_estimate = layouts.panel(labelled("This n&umber", self.estimate))
        self._label = label_of("", self.combo)
        self.naming = push_button("Name the d&ecisions…", self._name)
        self._names: tuple[str, ...] = ()
        both = layouts.row(layouts.grow(self.combo), self.naming, spacing=theme.NEAR)
        choosing = layouts.column(self._label, both, spacing=theme.TIGHT)
        row = layouts.row(layouts.grow(choosing), on=self, spacing=theme.GAP)
        self.name_decisions(of_model=True)
        for box in (self._by_score, self._by_estimate):
            row.addWidget(box, 0, Qt.AlignmentFlag.AlignBottom)

    def name_decisions(self, *, of_model: bool) -> None:
        """Say whose decisions these are: the model's, or those in a column without one."""
        self._label.setText("&Model’s favourable decision" if of_model else "Fa&vourable decision")
        self.combo.setAccessibleName(self._label.text().replace("&", ""))

    def show_answers(self, card: ModelCard, mapping: Mapping | Answer | None) -> None:
        """Show the answers that a model can give, and what they are taken to mean, if that is."""
        self._card = card
        blocked = [QSignalBlocker(each) for each in (self.combo, self.threshold, self.estimate)]
        self.combo.clear()
        values = card.scores == VALUES
        self._by_estimate.setVisible(values)
        self.threshold.setValue(0.5)
        self._by_score.setVisible(len(card.classes) == 2 and card.scores != "labels")
        if values:
            for sign, words in COMPARISONS.items():
                self.combo.addItem(words.rstrip("…"), sign)
        else:
            self._names = mapping.names if isinstance(mapping, Mapping) else ()
            called = self._names or card.classes
            for own, name in zip(card.classes, called, strict=True):
                self.combo.addItem(name if name == own else f"{name} ({own})", own)
        self.naming.setVisible(not values and all(name.isdigit() for name in card.classes))
        self.combo.setCurrentIndex(-1)
        if mapping is not None:
            self._show_meaning(card, mapping)
        if len(card.classes) > 2:
            self.combo.addItem(_SEVERAL, _SEVERAL)
        del blocked

    def _show_meaning(self, card: ModelCard, mapping: Mapping | Answer) -> None:
        if card.scores == VALUES:
            self.combo.setCurrentIndex(self.combo.findData(sign_of(mapping)))
            self.estimate.setValue(mapping.threshold or 0.0)
            return
        self._good = OR.join(good_answers(card, mapping))
        if self.combo.findData(self._good) < 0:
            self.combo.addItem(self._good, self._good)
        self.combo.setCurrentIndex(self.combo.findData(self._good))
        self.threshold.setValue(0.5 if mapping.threshold is None else mapping.threshold)

    def _name(self) -> None:
        """Ask what the decisions are called."""
        if self._card is None:
            return
        hinted = self._card.hints.classes
        offered = hinted if len(hinted) == len(self._card.classes) else ()
        dialog = NamesDialog(self._card.classes, self._names or offered, self)
        if dialog.answered():
            self.named.emit(dialog.names())

    def _choose(self) -> None:
        if self._card is None:
            return
        if self.combo.currentData() == _SEVERAL:
            classes = self._card.classes
            dialog = ValuesDialog(
                "Favourable decisions",
                "Which of the model’s decisions are favourable?",
                "the model’s decisions",
                classes,
                self._good.split(OR),
                self,
                most=len(classes) - 1,
            )
            if not dialog.answered():
                self.combo.setCurrentIndex(self.combo.findData(self._good))
                return
            self._good = OR.join(dialog.values())
        else:
            self._good = self.combo.currentData()
        self._move()

    def _move(self) -> None:
        if self._card is None or self.combo.currentIndex() < 0:
            return
        if self._card.scores == VALUES:
            text = f"{self.combo.currentData()} {self.estimate.value():.15g}"
            self.chosen.emit(text, None)
            return
        limit = self.threshold.value()
        plain = limit == 0.5 or self._by_score.isHidden()
        self.chosen.emit(self._good, None if plain else limit)


#: So many problems are shown one by one, each cut after so many letters: names can be long.
_PROBLEMS, _LETTERS = 6, 400
_MAP = (
    "Choose the source of each input below, or add the preprocessing file that was saved with the "
    "model."
)
#: So many decisions are listed with their shares.
_DECISIONS = 5


class ProblemsCard(Card):
    """Why the model cannot be tried yet."""

    def __init__(self) -> None:
        super().__init__(tone="notice", margin=theme.GAP)

    def show_problems(self, problems: Sequence[str], *, fed: bool) -> None:
        """Show problems; hidden without any.

        Parameters
        ----------
        fed : bool
            Whether there is a model, whose inputs are made from columns.
        """
        clear(self.body)
        self.setVisible(bool(problems))
        if not problems:
            return
        lead = "The model cannot be tested yet" if fed else "These decisions cannot be used yet"
        self.body.addWidget(heading(lead))
        for sentence in problems[:_PROBLEMS]:
            shown = Words(f"!  {short(sentence, _LETTERS)}")
            shown.setToolTip(hints.plain(sentence))
            self.body.addWidget(shown)
        if len(problems) > _PROBLEMS:
            self.body.addWidget(quiet(f"and {len(problems) - _PROBLEMS} more"))
        if fed:
            self.body.addWidget(quiet(_MAP))
        self.setAccessibleName(" ".join(problems))


class CheckCard(Card):
    """How far the model agrees with the label, and what its answers mean.

    Attributes
    ----------
    answer : AnswerField
        Which of its answers is the good one.
    """

    def __init__(self) -> None:
        self._agreement, self._more = Words(size=1.08), quiet()
        self.answer = AnswerField()
        left = layouts.column(self._agreement, self._more, spacing=theme.NEAR)
        self._confusion_box = QWidget()
        self._confusion = layouts.grid(on=self._confusion_box, across=theme.WIDE, down=theme.TIGHT)
        table = layouts.at(self._confusion_box, Qt.AlignmentFlag.AlignTop)
        across = layouts.row(layouts.grow(left), table, spacing=theme.PAGE)
        across.setAlignment(left, Qt.AlignmentFlag.AlignTop)
        self._warnings = layouts.column()
        super().__init__(across, self.answer, self._warnings, margin=theme.GAP)

    def show_check(self, state: WizardState, notes: Sequence[str]) -> None:
        """Show what the model answered to the rows, its warnings, and notes on how it is fed."""
        proof = state.proof
        clear(self._warnings)
        clear(self._confusion)
        warnings = list(state.card.warnings) if state.card else []
        if proof is not None:
            self._show_figures(state, proof)
            warnings += proof.warnings
        for widget in (self._agreement, self._more, self._confusion_box):
            widget.setVisible(proof is not None)
        for warning in warnings:
            self._warnings.addWidget(Words(f"!  {warning}", tone="wrong"))
        for note in notes:
            self._warnings.addWidget(Words(f"·  {note}", tone="quiet"))

    def _show_figures(self, state: WizardState, proof: InputCheck) -> None:
        self._agreement.setText(
            ("The recorded outcome is the decision itself, so there is nothing to compare it with.")
            if state.predictions == state.label
            else f"On {proof.rows:,} of your rows, the decision matches “{state.label}” "
            f"in {percent(proof.accuracy, 1)} (accuracy)."
        )
        self._more.setText(" ".join(_more(proof)))
        good = short(state.favourable, 14)
        other = _other(state)
        for position, words in enumerate((f"decision: {good}", f"decision: {other}")):
            self._cell(0, position + 1, words, tone="quiet")
        for row, words in enumerate((f"recorded: {good}", f"recorded: {other}")):
            self._cell(row + 1, 0, words, tone="quiet")
            for column, count in enumerate(proof.confusion[row]):
                self._cell(row + 1, column + 1, f"{count:,}", strong=row == column)

    def _cell(
        self, row: int, column: int, text: str, *, tone: str = "", strong: bool = False
    ) -> None:
        words = Words(text, tone=tone, strong=strong, wrap=False)
        side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
        self._confusion.addWidget(words, row, column, side)


def _other(state: WizardState) -> str:
    """Name what is not favourable: the other recorded outcome where there are two."""
    values = state.table.column(state.label).values if state.table is not None else ()
    rest = [value for value in values if value != state.favourable]
    return short(rest[0], 14) if len(rest) == 1 else "other"


def _more(proof: InputCheck) -> list[str]:
    """Say what else is known of how the model fares."""
    sentences = [f"Always guessing the most common value would give {percent(proof.majority, 1)}."]
    if proof.auc is not None:
        sentences.append(roc_sentence(proof.auc))
    if proof.predictions:
        most = sorted(proof.predictions, key=lambda each: -each[1])
        shares = [
            f"“{short(name)}” {percent(count, proof.rows)}" for name, count in most[:_DECISIONS]
        ]
        if rest := len(most) - len(shares):
            shares.append(f"{rest} others less often")
        sentences.append(f"Decisions: {', '.join(shares)}.")
    if proof.left_out:
        sentences.append(f"{proof.left_out:,} rows were excluded: {_lacking(proof)}.")
    if proof.checked_against and proof.said_alike is not None:
        sentences.append(f"It matches “{proof.checked_against}” in {percent(proof.said_alike, 1)}.")
    return sentences


def _lacking(proof: InputCheck) -> str:
    parts = [f"{count:,} lack “{name}”" for name, count in proof.set_aside.items() if count]
    return ", ".join(parts[:4]) or "missing cells"
