"""The examples that a search found: how it goes, the pairs, and the two people of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from fairdesk.answers import Question, all_off, best_run, pooled
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.runs.reopening import MovedError
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.charts.kinds.bars import Counts
from fairdesk.charts.kinds.lines import Drawing
from fairdesk.document import comparison, pairs
from fairdesk.errors import FairDeskError
from fairdesk.gui.charts.drawn import DrawnChart, Picture
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.keys import keyed, shortcut
from fairdesk.gui.kit.pages import for_experts, page_head
from fairdesk.gui.kit.threads import Soon
from fairdesk.gui.workspace.common.blocks_view import BlocksView
from fairdesk.gui.workspace.common.run_page import tell_failure
from fairdesk.gui.workspace.common.steps import OF_STATE
from fairdesk.gui.workspace.pairs.pair_detail import PairDetail
from fairdesk.gui.workspace.pairs.pairs_view import PairsView
from fairdesk.gui.workspace.session.session import Session
from fairdesk.wording import figures, words

_HELD = "A report is final. To compare the pairs makes it a draft again."


Curve = NDArray[np.float64]
#: How high the chart is, and table and pair at least.
_CHART, _LEAST = 200, 360
#: In less width the pair stands below the table, not beside it.
_BESIDE = 640


class WeighingLine(QWidget):
    """Says how far it is; hidden while it has nothing to say."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._words = parts.quiet()
        self._words.setWordWrap(False)
        self._button = QToolButton()
        self._button.clicked.connect(self._press)
        layouts.row(self._words, self._button, on=self, spacing=theme.NEAR)
        session.weighing.changed.connect(self._tell)
        self._tell()

    def _tell(self) -> None:
        weighing, many = self._session.weighing, self._session.many
        counts = f"{words.number(weighing.done)} of {words.number(weighing.total)}"
        if weighing.rests:
            self._words.setText(f"Compared with the {many} in the data: {counts}")
            self._button.setText("Continue")
            self._button.setAccessibleName(f"Continue comparing with the {many} in the data")
            self._button.setToolTip(_HELD if weighing.held else "")
        else:
            self._words.setText(f"Comparing with the {many} in the data: {counts}")
            self._button.setText("Stop")
            self._button.setAccessibleName(f"Stop comparing with the {many} in the data")
            self._button.setToolTip("")
        self.setVisible(weighing.rests or weighing.busy)

    def _press(self) -> None:
        weighing = self._session.weighing
        if weighing.rests:
            weighing.go_on()
        else:
            weighing.stop_for_good()


def run_name(number: int, run: RunSpec) -> str:
    """Name a run for people."""
    return f"Run {number}: {METHODS[run.method].short_title}, seed {run.seed}"


class ExamplesPage(QWidget):
    """Found examples.

    Signals
    -------
    start : None
        A run is wanted.
    pair_wanted : int
        The pair of this number is to be shown, whichever run found it.
    """

    start = Signal()
    pair_wanted = Signal(int)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._shown: int | None = None
        #: The run that the auditor wants to see.
        self._wanted: int | None = None
        self._curves: dict[int, Curve] = {}
        self._turned = False
        self._headline = parts.Words(size=1.12, strong=True)
        self._headline.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        #: What all runs found, and for experts what this one spent.
        self._effort, self._spent = parts.quiet(), parts.quiet()
        self._phases = BlocksView(session, folds=False)
        self._weighing = WeighingLine(session)
        self._runs = QComboBox()
        self._runs.setAccessibleName("Run whose pairs are shown")
        self._runs.currentIndexChanged.connect(self._choose_run)
        self._runs.activated.connect(self._want)
        self._banner = parts.Banner()
        self._trouble = parts.Banner()
        self.chart = DrawnChart(Drawing(), fills=True)
        session.hear(self.chart)
        self._bars = Picture(Counts(), "Click or press Enter to list only these pairs")
        self._bars.pressed.connect(self._filter_alone)
        self.pairs = PairsView(session)
        self.detail = PairDetail(session)
        self.pairs.chosen.connect(self.detail.show_pair)
        self.pairs.filters.changed.connect(self._mark_alone)
        self.detail.left.connect(self.pairs.table.setFocus)
        self.detail.worked_on.connect(self.pairs.hold)
        self.detail.wanted.connect(self.pair_wanted)

        people = self._make_people()
        self._stack = QStackedWidget()
        self._stack.addWidget(self._make_empty())
        self._stack.addWidget(self._make_full(people))
        layouts.column(self._stack, on=self)

        self._redraw = Soon(self, self._draw)
        session.runs_changed.connect(self._take_runs)
        session.live_changed.connect(self._go_on)
        session.study.changed.connect(self._trouble.clear)
        session.study.failed.connect(self._tell_trouble)
        session.weighing.failed.connect(
            lambda error: self._trouble.tell(error, (("Try again", session.weighing.go_on),))
        )
        self._make_shortcuts(people)

    def open_run(self, number: int) -> None:
        """Show a run by its number."""
        position = self._runs.findData(number)
        if position >= 0:
            self._wanted = number
            self._runs.setCurrentIndex(position)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Draw what has changed while the page was hidden."""
        super().showEvent(event)
        self._draw()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put the pair below the table where both do not fit beside each other."""
        super().resizeEvent(event)
        room = event.size().width() - theme.AROUND[0] - theme.AROUND[2]
        way = Qt.Orientation
        self._split.setOrientation(way.Horizontal if room >= _BESIDE else way.Vertical)

    # Parts

    def _make_full(self, people: QWidget) -> QWidget:
        """Make what is shown once there is a run: sentence, how it went, people."""
        self.experts = for_experts(self._spent, self._phases, self._make_watching())
        self.experts.opened.connect(self._draw)
        self.experts.button.clicked.connect(self._keep_watching)
        return layouts.panel(
            page_head("Discriminatory pairs", self._runs),
            self._make_head(),
            self._banner,
            self._trouble,
            layouts.grow(people),
            self.experts,
            margin=theme.AROUND,
            spacing=theme.NEAR,
        )

    def _make_head(self) -> QVBoxLayout:
        """Make the sentence above."""
        # as high as the line beside it, which comes and goes: nothing below may move
        self._effort.setMinimumHeight(self._weighing.sizeHint().height())
        effort = layouts.row(layouts.grow(self._effort), self._weighing, spacing=theme.GAP)
        return layouts.column(self._headline, effort, spacing=theme.TIGHT)

    def _make_people(self) -> QWidget:
        """Make the lower part: filters, and below them the table with the two people beside it."""
        split = self._split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(self.pairs)
        split.addWidget(self.detail)
        split.setStretchFactor(0, 23)
        split.setStretchFactor(1, 24)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(theme.GAP)
        split.setSizes([470, 490])
        # in a low window the page scrolls: a table of one row could not be read
        self.detail.setMinimumSize(360, _LEAST)
        self.pairs.setMinimumSize(260, _LEAST)
        # narrower than both beside each other
        split.setMinimumWidth(self.detail.minimumWidth())
        return layouts.panel(self.pairs.filters, layouts.grow(split), spacing=theme.NEAR)

    def _make_watching(self) -> QWidget:
        """Make the upper part: the chart and the counts per attribute."""
        self._over_time, _against = self.chart.add_choice(
            (
                ("Over time", "Show pairs found over time"),
                ("Against queries", "Show pairs found against queries, for every run"),
            ),
            self._draw,
        )
        self._alone_words = parts.quiet()
        counts = layouts.panel(
            parts.heading("Changing one attribute alone"),
            self._bars,
            self._alone_words,
            layouts.stretch(),
            spacing=theme.NEAR,
        )
        counts.setMinimumWidth(210)
        self.chart.setMinimumHeight(_CHART)
        return layouts.strip(
            layouts.grow(self.chart, 5), layouts.grow(counts, 2), spacing=theme.WIDE
        )

    def _make_empty(self) -> QWidget:
        """Make what is shown before the first run."""
        button = parts.push_button("Find &discriminatory pairs…", self.start)
        reasons = all_off(self._session.spec, QuestionKind.EXAMPLES)
        empty = parts.empty_page(
            "No discriminatory pairs yet",
            f"Run a search for two {self._session.many} that are identical except for protected "
            "attributes and receive different decisions. The pairs found are listed here.",
            parts.why_not(button, reasons),
            button,
        )
        return layouts.panel(
            page_head("Discriminatory pairs"), layouts.grow(empty), margin=theme.AROUND
        )

    def _make_shortcuts(self, people: QWidget) -> None:
        # single letters only where no text is typed: not in the filters above the table
        for keys, run, text in (
            ("F", self.detail.flag, "Flag the pair"),
            ("D", self.detail.dismiss, "Dismiss the pair"),
            ("N", self.detail.edit_note, "Write a note on the pair"),
            ("B", self.detail.bring_nearer, "Make the pair more realistic"),
            ("W", self.detail.explain, "Explain the pair"),
            ("T", self._toggle_table, "Show the chart as a table"),
        ):
            shortcut(self.pairs.table, keys, run, text, self.detail)
        keyed(*self.detail.keyed)
        shortcut(people, "Alt+Down", lambda: self.pairs.step(1), "Next pair")
        shortcut(people, "Alt+Up", lambda: self.pairs.step(-1), "Previous pair")
        find = self.pairs.filters.take_focus
        shortcut(self, QKeySequence.StandardKey.Find, find, "Filter the pairs")

    # What happens

    def _toggle_table(self) -> None:
        """Turn the chart that is nearest to a table: of why, if that is told, else of the run."""
        if not self.detail.toggle_table():
            self.experts.set_open(opened=True)
            self.chart.toggle_table()

    def _filter_alone(self, place: int) -> None:
        """List the pairs of a bar; once more, all again."""
        filters, name = self.pairs.filters, self._alone_names[place]
        filters.show_alone(None if filters.alone == name else name)

    def _mark_alone(self) -> None:
        """Mark the bar whose pairs are listed."""
        alone = self.pairs.filters.alone
        self._bars.choose(self._alone_names.index(alone) if alone is not None else None)

    @property
    def _alone_names(self) -> tuple[str, ...]:
        """The protected attributes, in the order of the bars."""
        return words.protected_names(self._session.spec.domain)

    def _keep_watching(self) -> None:
        """Leave open or closed what the auditor opened or closed."""
        self._turned = True

    def _tell_trouble(self, error: FairDeskError, again: Callable[[], None]) -> None:
        """Say why the model told nothing about a pair, and what can be done about it."""
        if isinstance(error, MovedError):
            lost = error.lost
            self._trouble.tell(error, (("Locate the file…", lambda: self._locate(lost, again)),))
        else:
            self._trouble.tell(error, (("Try again", again),))

    def _locate(self, lost: Path, again: Callable[[], None]) -> None:
        name, _kind = QFileDialog.getOpenFileName(
            self, f"Locate “{lost.name}” of this audit", str(self._session.path.parent)
        )
        if name:
            self._session.study.places[lost] = Path(name)
            again()

    def _take_runs(self) -> None:
        """List the runs; the best is shown unless the auditor chose another."""
        runs = self._with_examples()
        if not runs:
            return
        best = best_run(Question.EXAMPLE, runs) or runs[-1]
        wanted = self._wanted if self._record(self._wanted or 0) in runs else best.id
        with QSignalBlocker(self._runs):
            self._runs.clear()
            for record in runs:
                self._runs.addItem(run_name(record.id, record.spec), record.id)
            self._runs.setCurrentIndex(self._runs.findData(wanted))
        self._runs.setVisible(len(runs) > 1)
        self._choose_run()

    def _want(self) -> None:
        self._wanted = self._runs.currentData()

    def _choose_run(self) -> None:
        number = self._runs.currentData()
        if number is None:
            return
        self._shown = number
        self._stack.setCurrentIndex(1)
        self.pairs.show_run(number)
        record = self._record(number)
        if record is not None:
            self._tell(record)
        self._ask_curve(number)

    def _with_examples(self) -> tuple[RunRecord, ...]:
        """Return the searches, and what else came upon examples."""
        return tuple(
            run
            for run in self._session.runs
            if run.found or method_named(run.method).answers is QuestionKind.EXAMPLES
        )

    def _record(self, number: int) -> RunRecord | None:
        return next((each for each in self._session.runs if each.id == number), None)

    def _ask_curve(self, number: int) -> None:
        self._session.store.ask(
            lambda store: (number, store.progress(number)), self._take_curve, key=("curve", number)
        )

    def _take_curve(self, answer: tuple[int, Curve]) -> None:
        number, curve = answer
        self._curves[number] = curve
        self._draw()

    def _go_on(self, state: RunState) -> None:
        """Follow the run that is under way, unless an older one is being read."""
        known = self._runs.findData(state.id) >= 0
        searches = method_named(state.method).answers is QuestionKind.EXAMPLES
        if state.id and searches and not known and self._session.loaded:
            self._follow(state)
        if state.id == self._shown:
            self._tell(state)
            self._redraw.ask()

    def _follow(self, state: RunState) -> None:
        """Begin to show a new run."""
        run = self._session.live_spec
        if run is None:
            return
        with QSignalBlocker(self._runs):
            self._runs.addItem(run_name(state.id, run), state.id)
            self._runs.setCurrentIndex(self._runs.count() - 1)
        self._runs.setVisible(self._runs.count() > 1)
        self._shown, self._wanted = state.id, None
        self._stack.setCurrentIndex(1)
        self.pairs.show_run(state.id)

    def _tell(self, run: RunRecord | RunState) -> None:
        """Say how a run stands, in words and numbers."""
        self._headline.setText(self._session.headline(run, ending=False))
        if not self._turned:
            # once a search is over its pairs are what matters
            self.experts.set_open(opened=run.state in ("running", "paused"))
        sign = OF_STATE[run.state].value
        state = words.state_word(run.state).capitalize()
        told = f"{sign} {state}.", pooled(self._with_examples())
        self._effort.setText(" ".join(filter(None, told)))
        spent = f"{words.capital(words.effort(run))}."
        self._spent.setText(f"{spent} {figures.near_sentence(run)}".rstrip())
        self._phases.show_blocks(comparison.phases([run]))
        alone = pairs.alone(self._session.spec, run)
        self._bars.draw(alone.drawing)
        self._alone_words.setText(f"{alone.caption}. Click a bar to list its pairs.")
        tell_failure(self._banner, run, "Run again…", self.start.emit)

    def _draw(self) -> None:
        if not self.isVisible() or self._shown is None:
            return
        live = self._session.live
        if live is not None and live.id:
            self._curves[live.id] = self._session.driver.progress()
        over_time, numbers = self._over_time.isChecked(), [self._shown]
        if not over_time:
            for record in self._with_examples():
                if record.id not in self._curves:
                    self._curves[record.id] = np.empty((0, 4))
                    self._ask_curve(record.id)
            numbers = sorted(self._curves)
        curves = [(f"run {n}", self._curves[n]) for n in numbers if n in self._curves]
        self.chart.draw(comparison.course(curves, over_time=over_time))
