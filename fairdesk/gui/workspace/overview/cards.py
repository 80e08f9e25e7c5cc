"""The overview’s parts: the board page, a tile for each question, and the runs, one row each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QPushButton, QWidget

from fairdesk.answers import Answer, Drawable, main_shares
from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named
from fairdesk.audit.store.records import RunRecord
from fairdesk.charts.shapes import Laid, Marked, Paper
from fairdesk.document.blocks import Board, Listed, Tile
from fairdesk.gui.charts.drawn import Picture
from fairdesk.gui.kit import hints, layouts, parts, theme
from fairdesk.gui.kit.keys import shortcut
from fairdesk.gui.kit.tables import TextTable
from fairdesk.gui.workspace.common.blocks_view import MARKS
from fairdesk.gui.workspace.common.run_page import OF_STATE, can_go_on, shares
from fairdesk.results.groups import GroupTable
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import proofs as proof_words
from fairdesk.wording import words
from fairdesk.wording.figures import share_cell
from fairdesk.wording.groups.sentences import best_so_far, looked_at
from fairdesk.wording.proofs import neighbourhood_counts, neighbourhoods_of

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
        for each in (self._number, self._sentence):
            each.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
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


_HEADER = ("Run", "Method", "State", "Result", "Time", "Seed")
_NUMBERS = (3, 4, 5)
_KEYS = (
    "Enter opens the results of a run; S repeats it with another random seed, C continues it, V "
    "compares it."
)
Act = Callable[[int], object]


class RunsTable(TextTable):
    """The runs; keys, a menu and buttons of the page do the same with the one that is chosen.

    Parameters
    ----------
    repeat, go_on, compare : callable
        Make the run of a number again with another seed, continue it, or compare it.
    """

    def __init__(self, repeat: Act, go_on: Act, compare: Act) -> None:
        super().__init__("Runs of this audit", _HEADER, _NUMBERS, description=_KEYS, most=1_000)
        self._runs: tuple[RunRecord, ...] = ()
        show = partial(self._do, lambda _number: self.opened.emit(self.chosen))
        self.addAction(parts.action(self, "Show the results of the selected run", show))
        #: What can be done with the chosen run, and whether it can.
        self.acts: dict[QAction, Callable[[RunRecord], bool]] = {
            shortcut(self, keys, partial(self._do, act), text): can
            for keys, act, text, can in (
                ("S", repeat, "Repeat the selected run with another seed", lambda _run: True),
                ("C", go_on, "Continue the selected run", _goes_on),
                ("V", compare, "Compare the selected run with others", _searches),
            )
        }
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.itemSelectionChanged.connect(self._offer)
        self._offer()

    def run_at(self, row: int) -> RunRecord | None:
        """Return a run by its row, if there is one."""
        return self._runs[row] if 0 <= row < len(self._runs) else None

    def show_runs(self, runs: tuple[RunRecord, ...]) -> None:
        """Show the runs, with their seeds where these differ; the one that is chosen stays so."""
        self._runs = runs
        places = len(_HEADER) - (len({run.spec.seed for run in runs}) < 2)
        self.show_rows([_texts(run)[:places] for run in runs], header=_HEADER[:places])
        self._offer()

    def _do(self, act: Act) -> None:
        if (run := self.run_at(self.chosen)) is not None:
            act(run.id)

    def _offer(self) -> None:
        run = self.run_at(self.chosen)
        for action, can in self.acts.items():
            action.setEnabled(run is not None and can(run))


def _texts(run: RunRecord) -> tuple[str, ...]:
    # who stopped it is said on the page of the run; here the numbers need the room
    state = "stopped" if run.state == "stopped" else words.state_word(run.state)
    after = f", continues {run.spec.continues}" if run.spec.continues else ""
    return (
        str(run.id),
        f"{METHODS[run.spec.method].short_title}{after}",
        f"{OF_STATE[run.state].value} {state}",
        _result(run),
        words.duration(run.elapsed),
        str(run.spec.seed),
    )


def _goes_on(run: RunRecord) -> bool:
    return can_go_on(run) or (run.found > 0 and _searches(run))


def _searches(run: RunRecord) -> bool:
    return method_named(run.method).answers is QuestionKind.EXAMPLES


def _result(run: RunRecord) -> str:
    """Say what came of a run: a count, what is proven, a share with its interval, or nothing."""
    if _searches(run):
        return f"{words.counted(run.found, 'pair')} found"
    if (proven := proof_words.main_proof(run.figures)) is not None:
        return proof_words.standing_of(proven)
    if (around := neighbourhoods_of(run.figures)) is not None:
        return neighbourhood_counts(around)
    if method_named(run.method).answers in ABOUT_GROUPS:
        return _groups_result(run)
    if method_named(run.method).answers is QuestionKind.REPAIR:
        fall = mitigation_words.fall_text(run.figures)
        return fall or mitigation_words.effort_text(run.figures) or "–"
    measured = main_shares(shares(run))
    return share_cell(measured[0], run.figures) if measured else "–"


def _groups_result(run: RunRecord) -> str:
    """Say what a run about groups came to: how many rule sets, and the greatest difference."""
    if any(isinstance(each, GroupTable) for each in run.figures):
        return "rates by group"
    return ", ".join(filter(None, (looked_at(run.figures), best_so_far(run.figures)))) or "–"
