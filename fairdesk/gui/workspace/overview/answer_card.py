"""The overview's answers: the board page, and a tile for each question."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from fairdesk.answers import Answer, Drawable
from fairdesk.charts.shapes import Laid, Marked, Paper
from fairdesk.document.blocks import Board, Listed, Tile
from fairdesk.gui.charts.drawn import Picture
from fairdesk.gui.kit import hints, layouts, parts, theme
from fairdesk.gui.workspace.common.blocks_view import MARKS

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


class BoardCard(parts.Card):
    """The board page: the question, the answer, three numbers, a chart, and what is to be decided.

    Attributes
    ----------
    board : Board, optional
        What is shown.
    """

    def __init__(self) -> None:
        super().__init__()
        self.board: Board | None = None
        self._question = parts.heading("")
        self._answer = parts.Words(size=1.5)
        self._answer.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._tiles = layouts.Tiles(least=200)
        self.chart = Picture(_Shown(""))
        self._lists = layouts.Tiles()
        for widget in (self._question, self._answer, self._tiles, self.chart, self._lists):
            self.body.addWidget(widget)

    def show_board(self, board: Board) -> None:
        """Show another board page."""
        if board == self.board:
            return
        self.board = board
        self._question.setText(board.question)
        self._answer.setText(board.answer)
        self._tiles.replace_cards([_tile(each) for each in board.tiles])
        drawing = None if board.chart is None else board.chart.drawing
        self.chart.draw(_Shown(board.question, drawing))
        self.chart.setVisible(drawing is not None)
        self._lists.replace_cards([_listed(each) for each in board.lists])
        self.setAccessibleName(f"{board.question} {board.answer}")


def _tile(tile: Tile) -> QWidget:
    card = parts.Card(tone="tint", margin=theme.NEAR)
    card.body.addWidget(parts.Words(tile.number, size=1.9, strong=True))
    card.body.addWidget(parts.Words(tile.text))
    card.body.addStretch(1)
    return card


def _listed(listed: Listed) -> QWidget:
    items = (parts.Words(f"– {each}") for each in listed.items)
    title = parts.Words(listed.title, strong=True)
    return layouts.panel(title, *items, layouts.stretch(), spacing=theme.TIGHT)


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

    def show_answer(self, answer: Answer) -> None:
        """Show another answer."""
        said, self.answer = answer.said, answer
        self._question.setText(answer.question.title)
        self._evidence.setText(MARKS[answer.evidence])
        self._number.say(said.value)
        self._label.say(said.label)
        self._sentence.say(said.shortest)
        self.chart.draw(_Shown(answer.question.title, answer.chart))
        self.chart.setVisible(answer.chart is not None)
        self.setAccessibleName(f"{answer.question.title} {said.label} {said.value}".strip())
        whole = "\n".join((said.sentence, *answer.details))
        self.setToolTip(hints.plain(whole))
        self.setAccessibleDescription(whole)

    def _press(self, key: int) -> None:
        """Ask for what a part of the chart stands for; for the page where that is the answer."""
        parts = () if self.answer is None else self.answer.parts
        part = parts[key] if key < len(parts) else None
        if part is None:
            self.opened.emit(self._page)
        else:
            self.part_opened.emit(part)
