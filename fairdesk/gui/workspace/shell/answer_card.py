"""A question of the overview with its answer: number, sentence, a small chart, a way to more."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton

from fairdesk.answers.answer import Answer, Drawable
from fairdesk.charts.shapes import Laid, Marked, Paper
from fairdesk.gui.charts.picture import Picture
from fairdesk.gui.kit import layouts, parts, theme

#: The mark and the word of each type of evidence.
MARKS = {
    "proven": "■ proven",
    "estimated": "▨ estimated",
    "observed": "□ observed",
    "example": "◆ example",
    "": "",
}


@dataclass(frozen=True)
class _Shown:
    """A chart of an answer as a picture of the window shows it."""

    title: str
    drawing: Drawable | None = None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return self.drawing is None

    def summary(self) -> str:
        """Return it in words."""
        return self.drawing.alt() if self.drawing is not None else ""

    def lay_out(self, paper: Paper, _marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put everything in its place."""
        return self.drawing.lay_out(paper) if self.drawing is not None else Laid(0.0, ())


class AnswerCard(parts.Card):
    """One question with its best answer.

    Parameters
    ----------
    page : str
        The name of the page that says more.

    Attributes
    ----------
    answer : Answer, optional
        What is shown.

    Signals
    -------
    opened : str
        The page is to be shown.
    """

    opened = Signal(str)

    def __init__(self, page: str) -> None:
        super().__init__()
        self.answer: Answer | None = None
        self._question = parts.heading("")
        self._evidence = parts.Words(tone="accent", strong=True, wrap=False)
        self._number = parts.Words(size=1.9, strong=True)
        self._label = parts.Words(strong=True)
        self._sentence = parts.Words()
        self._more = parts.quiet()
        for words in (self._number, self._sentence, self._more):
            words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._chart = Picture(_Shown(""))
        self._link = QPushButton(f"{page} →")
        self._link.setFlat(True)
        self._link.setAccessibleName(f"Open the page {page}")
        self._link.clicked.connect(lambda: self.opened.emit(page))
        head = layouts.row(layouts.grow(self._question), self._evidence, spacing=theme.NEAR)
        self.body.addLayout(head)
        for widget in (self._number, self._label, self._sentence, self._more, self._chart):
            self.body.addWidget(widget)
        self.body.addStretch(1)
        self.body.addLayout(layouts.row(layouts.stretch(), self._link))

    def show_answer(self, answer: Answer) -> None:
        """Show another answer."""
        said, self.answer = answer.said, answer
        self._question.setText(answer.question.title)
        self._evidence.setText(MARKS[answer.evidence])
        self._evidence.setVisible(bool(answer.evidence))
        for words, text in (
            (self._number, said.value),
            (self._label, said.label),
            (self._sentence, said.sentence),
            (self._more, "\n".join(answer.details)),
        ):
            words.setText(text)
            words.setVisible(bool(text))
        self._chart.draw(_Shown(answer.question.title, answer.chart))
        self._chart.setVisible(answer.chart is not None)
        self.setAccessibleName(f"{answer.question.title} {said.label} {said.value}".strip())
        self.setAccessibleDescription(said.sentence)
