"""What came of trying the model on the auditor's own rows, and what its decisions mean."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QWidget

from fairdesk.data.profiling.outcomes import OR
from fairdesk.gui.forms.dialogs import NamesDialog, ValuesDialog
from fairdesk.gui.forms.options import NumberField
from fairdesk.gui.kit import hints, layouts, theme
from fairdesk.gui.kit.fields import Choice, bounded, decimal, label_of, labelled
from fairdesk.gui.kit.parts import Card, Words, clear, heading, push_button, quiet, short
from fairdesk.gui.wizard.data.favourable import COMPARISONS
from fairdesk.gui.wizard.state.wizard_state import WizardState
from fairdesk.models.decisions.favourable import Answer, sign_of
from fairdesk.models.decisions.rule import VALUES
from fairdesk.models.inputs.input_check import InputCheck
from fairdesk.models.model import Mapping, ModelCard
from fairdesk.wording.decisions import good_answers
from fairdesk.wording.inspected import roc_sentence
from fairdesk.wording.words import percent

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
