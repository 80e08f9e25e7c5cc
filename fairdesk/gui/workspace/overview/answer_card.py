"""The overview's answers: one large figure, and a tile for each question."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton

from fairdesk.answers.answer import Answer, Drawable
from fairdesk.charts.shapes import Laid, Marked, Paper
from fairdesk.gui.charts.picture import Picture
from fairdesk.gui.kit import layouts, parts, tips
from fairdesk.gui.workspace.common.statement import MARKS
from fairdesk.wording.statements import Statement, unmeasured

#: What a press on a part of a chart does; arrow keys walk the parts.
PRESS = "Click or press Enter to see it in detail"


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

    def lay_out(self, paper: Paper, marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put everything in its place."""
        return self.drawing.lay_out(paper, marked) if self.drawing is not None else Laid(0.0, ())


class Headline(parts.Card):
    """The figure that stands for the audit, with its evidence and one sentence."""

    def __init__(self) -> None:
        super().__init__()
        self.said = unmeasured("")
        self._evidence = parts.Words(tone="accent", strong=True)
        self._value = parts.Words(size=2.4, strong=True)
        self._sentence = parts.Words(size=1.08)
        for words in (self._evidence, self._value, self._sentence):
            words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self.body.addWidget(words)

    def show_statement(self, said: Statement) -> None:
        """Show a figure; hidden without one."""
        self.said = said
        self._evidence.setText(f"{MARKS[said.evidence]}: {said.label[:1].lower()}{said.label[1:]}")
        self._value.setText(said.value)
        self._sentence.setText(said.sentence)
        self.setAccessibleName(f"{said.value}. {said.sentence}")
        self.setVisible(bool(said.value))


class AnswerCard(parts.Card):
    """One question with its best answer in a few words; all that is said of it is the hint.

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
    part_opened : Part
        What a part of the chart stands for is to be shown.
    """

    opened = Signal(str)
    part_opened = Signal(object)

    def __init__(self, page: str) -> None:
        super().__init__()
        self.answer: Answer | None = None
        self._question = parts.heading("")
        self._evidence = parts.Words(tone="accent", strong=True, wrap=False, size=0.92)
        self._number = parts.Words(size=1.6, strong=True)
        self._label = parts.Words(strong=True)
        self._sentence = parts.Words()
        for words in (self._number, self._sentence):
            words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.chart = Picture(_Shown(""), PRESS)
        self.chart.pressed.connect(self._press)
        self._page = page
        self._link = QPushButton(f"{page} →")
        self._link.setFlat(True)
        self._link.setAccessibleName(f"Open the page {page}")
        self._link.clicked.connect(lambda: self.opened.emit(page))
        for widget in (
            self._evidence,
            self._question,
            self._number,
            self._label,
            self._sentence,
            self.chart,
        ):
            self.body.addWidget(widget)
        self.body.addStretch(1)
        self.body.addLayout(layouts.row(layouts.stretch(), self._link))

    def show_answer(self, answer: Answer, *, above: bool = False) -> None:
        """Show another answer, its chart alone where its number is ``above`` the cards already."""
        said, self.answer = answer.said, answer
        self._question.setText(answer.question.title)
        self._evidence.setText(MARKS[answer.evidence])
        self._number.say("" if above else said.value)
        self._label.say(said.label)
        self._sentence.say("" if above else said.shortest)
        self.chart.draw(_Shown(answer.question.title, answer.chart))
        self.chart.setVisible(answer.chart is not None)
        self.setAccessibleName(f"{answer.question.title} {said.label} {said.value}".strip())
        whole = "\n".join((said.sentence, *answer.details))
        self.setToolTip(tips.plain(whole))
        self.setAccessibleDescription(whole)

    def _press(self, key: int) -> None:
        """Ask for what a part of the chart stands for; for the page where that is the answer."""
        parts = () if self.answer is None else self.answer.parts
        part = parts[key] if key < len(parts) else None
        if part is None:
            self.opened.emit(self._page)
        else:
            self.part_opened.emit(part)
