"""The three kinds of plans as cards: which questions each answers, and how long it takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPen
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QRadioButton, QWidget

from fairdesk.answers.answer import ANSWERING, Question
from fairdesk.app.standard import LIMITS, PlanKind
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.parts import Card, Words, quiet
from fairdesk.wording.words import duration

#: Each kind's name with its mnemonic, and what it is.
NAMES = {
    PlanKind.QUICK: ("&Quick", f"At most {duration(LIMITS[PlanKind.QUICK])}: a first look."),
    PlanKind.FULL: (
        "&Full",
        f"At most {duration(LIMITS[PlanKind.FULL])}, often less: every method available here.",
    ),
    PlanKind.CUSTOM: ("&Custom", "Your methods, their order, and your time limit."),
}


class KindCard(Card):
    """One kind of plan."""

    def __init__(self, kind: PlanKind) -> None:
        super().__init__()
        name, sentence = NAMES[kind]
        self.button = QRadioButton(name)
        self.button.setFont(theme.scaled(self.button.font(), 1.12, strong=True))
        self.button.toggled.connect(self.update)
        self._sentence = sentence
        self._questions = QGridLayout()
        self._questions.setHorizontalSpacing(theme.NEAR)
        self._questions.setVerticalSpacing(theme.TIGHT)
        self._questions.setColumnStretch(1, 1)
        self.marks: dict[Question, Words] = {}
        self._titles: dict[Question, Words] = {}
        for row, question in enumerate(Question):
            mark, words = Words(wrap=False), Words(question.title)
            self._questions.addWidget(mark, row, 0, Qt.AlignmentFlag.AlignTop)
            self._questions.addWidget(words, row, 1)
            self.marks[question], self._titles[question] = mark, words
        self.body.addWidget(self.button)
        self.body.addWidget(quiet(sentence))
        self.body.addSpacing(theme.TIGHT)
        self.body.addLayout(self._questions)
        self.body.addStretch(1)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def show_answers(self, kinds: Collection[QuestionKind]) -> None:
        """Show which questions are answered by methods of these kinds."""
        answered = [each for each in self.marks if any(kind in kinds for kind in ANSWERING[each])]
        for question, mark in self.marks.items():
            answers = question in answered
            mark.setText("✓" if answers else "–")
            for words in (mark, self._titles[question]):
                words.set_tone("" if answers else "quiet")
                # before a method is chosen, a list of noes would read as what it cannot answer
                words.setVisible(bool(answered))
        said = " ".join(each.title for each in answered) or "No question."
        self.button.setAccessibleDescription(f"{self._sentence} Answers: {said}")

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Choose the card wherever it is clicked."""
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(
            event.position().toPoint()
        ):
            self.button.click()
        super().mouseReleaseEvent(event)

    def pen(self) -> QPen:
        """Return the pen of the edge: a strong one where the card is chosen."""
        if self.button.isChecked():
            return QPen(QColor(theme.colours().accent), 2)
        return super().pen()


class KindCards(QWidget):
    """Chooses a kind of plan.

    Signals
    -------
    chosen : PlanKind
        The auditor chose another kind.
    """

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.cards = {kind: KindCard(kind) for kind in PlanKind}
        group = QButtonGroup(self)
        for kind, card in self.cards.items():
            group.addButton(card.button)
            card.button.clicked.connect(lambda _checked=True, kind=kind: self.chosen.emit(kind))
        layouts.row(
            *(layouts.grow(card) for card in self.cards.values()), on=self, spacing=theme.GAP
        )

    def show_kinds(
        self, chosen: PlanKind, answers: Mapping[PlanKind, Collection[QuestionKind]]
    ) -> None:
        """Show which kind is chosen, and by methods of which kinds each answers."""
        for kind, card in self.cards.items():
            card.show_answers(answers[kind])
        self.cards[chosen].button.setChecked(True)
