"""What came of trying the model on the auditor’s own rows, or what keeps it from being tried."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from fairdesk.gui.kit import layouts, theme, tips
from fairdesk.gui.kit.parts import Card, Words, clear, heading, quiet, short
from fairdesk.gui.wizard.model.answer_field import AnswerField
from fairdesk.gui.wizard.state.wizard_state import WizardState
from fairdesk.models.inputs.input_check import InputCheck
from fairdesk.wording.inspected import roc_sentence
from fairdesk.wording.words import percent

#: So many problems are shown one by one, each cut after so many letters: names can be long.
_PROBLEMS, _LETTERS = 6, 400
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
        self.body.addWidget(
            heading(
                "The model cannot be tested yet" if fed else "These decisions cannot be used yet"
            )
        )
        for sentence in problems[:_PROBLEMS]:
            shown = Words(f"!  {short(sentence, _LETTERS)}")
            shown.setToolTip(tips.plain(sentence))
            self.body.addWidget(shown)
        if len(problems) > _PROBLEMS:
            self.body.addWidget(quiet(f"and {len(problems) - _PROBLEMS} more"))
        if fed:
            self.body.addWidget(
                quiet(
                    "Choose the source of each input below, or add the preprocessing file "
                    "that was saved with the model."
                )
            )
        self.setAccessibleName(" ".join(problems))


class CheckCard(Card):
    """How far the model agrees with the label, and what its answers mean.

    Attributes
    ----------
    answer : AnswerField
        Which of its answers is the good one.
    """

    def __init__(self) -> None:
        super().__init__(margin=theme.GAP)
        self._agreement = Words(size=1.08)
        self._more = quiet()
        self.answer = AnswerField()
        left = layouts.column(self._agreement, self._more, spacing=theme.NEAR)
        across = layouts.row(layouts.grow(left), spacing=theme.PAGE)
        across.setAlignment(left, Qt.AlignmentFlag.AlignTop)
        self._confusion_box = QWidget()
        self._confusion = QGridLayout(self._confusion_box)
        self._confusion.setContentsMargins(0, 0, 0, 0)
        self._confusion.setHorizontalSpacing(theme.WIDE)
        self._confusion.setVerticalSpacing(theme.TIGHT)
        across.addWidget(self._confusion_box, 0, Qt.AlignmentFlag.AlignTop)
        self.body.addLayout(across)
        self.body.addWidget(self.answer)
        self._warnings = layouts.column()
        self.body.addLayout(self._warnings)

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
