"""Several runs beside each other: what each found, and whether searches can trust estimates."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QPushButton,
    QTableWidgetItem,
    QWidget,
)

from fairdesk.answers import all_off, searches
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named
from fairdesk.audit.plan.spec import Budget
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.audit.store.store import Store
from fairdesk.charts.kinds.lines import Drawing
from fairdesk.document import comparison
from fairdesk.document.blocks import Grid, Heading, Text
from fairdesk.document.comparison import ESTIMATES, NO_GRADIENTS, diagnosis, run_label
from fairdesk.errors import FairDeskError
from fairdesk.gui.charts.drawn import DrawnChart
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.pages import page_head
from fairdesk.gui.kit.tables import TextTable
from fairdesk.gui.kit.threads import Latest, Soon
from fairdesk.gui.workspace.common.blocks_view import BlocksView
from fairdesk.gui.workspace.common.run_page import Run, RunPage, likenesses
from fairdesk.gui.workspace.common.steps import OF_STATE
from fairdesk.gui.workspace.session.session import Session
from fairdesk.models.model import Capability
from fairdesk.wording import words

if TYPE_CHECKING:
    from fairdesk.audit.runs.comparison import Comparison

_HEADS = ("Run", "Method", "State", "Seed", "Budget", "Pairs found")

_NUMBERS = (3, 5)


#: Milliseconds between two looks at how far the reading is.
_LOOK = 150


def budget_text(budget: Budget) -> str:
    """Write a run's limits for a cell."""
    limits = []
    if budget.seconds is not None:
        limits.append(words.duration(budget.seconds))
    if budget.queries is not None:
        limits.append(f"{words.number(budget.queries)} queries")
    return " or ".join(limits) or "none"


class RunList(TextTable):
    """The runs that can be compared, each with a check box.

    Signals
    -------
    ticked
        The auditor checked or unchecked one.
    """

    ticked = Signal()

    def __init__(self) -> None:
        how = "Space selects or deselects a run."
        super().__init__("Runs to compare", _HEADS, _NUMBERS, description=how, most=8)
        self._boxes: dict[int, QTableWidgetItem] = {}
        self.itemChanged.connect(lambda _item: self.ticked.emit())

    def show_runs(self, runs: tuple[RunRecord, ...]) -> None:
        """List runs; nothing is checked."""
        self.show_rows(
            [
                (
                    str(run.id),
                    METHODS[run.spec.method].short_title,
                    f"{OF_STATE[run.state].value} {words.state_word(run.state)}",
                    str(run.spec.seed),
                    budget_text(run.spec.budget),
                    words.number(run.found),
                )
                for run in runs
            ]
        )
        with QSignalBlocker(self):
            self._boxes = {
                run.id: box for row, run in enumerate(runs) if (box := self.item(row, 0))
            }
            for run, box in zip(runs, self._boxes.values(), strict=True):
                box.setFlags(box.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                box.setCheckState(Qt.CheckState.Unchecked)
                box.setData(Qt.ItemDataRole.AccessibleTextRole, run_label(run.id, run.spec))
            if runs:
                # Space needs a cell that is current
                self.setCurrentCell(max(self.currentRow(), 0), 0)
                self.clearSelection()

    def check(self, numbers: Collection[int]) -> None:
        """Check these runs and no others."""
        on, off = Qt.CheckState.Checked, Qt.CheckState.Unchecked
        with QSignalBlocker(self):
            for number, box in self._boxes.items():
                box.setCheckState(on if number in numbers else off)
        self.viewport().update()

    def checked(self) -> tuple[int, ...]:
        """Return the numbers of the runs that are checked."""
        on = Qt.CheckState.Checked
        return tuple(number for number, box in self._boxes.items() if box.checkState() == on)


class _OvertakenError(FairDeskError):
    """Other runs were chosen while these were read."""


class RunsView(QWidget):
    """The chosen runs: chart, table, and what is to be learned."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._chosen: tuple[int, ...] = ()
        self._by_hand = False
        self._compared: Comparison | None = None
        self._curves: dict[int, comparison.Curve] = {}
        self._wanted: object = None
        self._read = 0.0
        self._latest = Latest(self)
        self._list = RunList()
        self._list.ticked.connect(self._choose_by_hand)
        self._queue = parts.Words(tone="accent", strong=True)
        self._queue.hide()
        self._status = parts.Words(strong=True)
        self.said, self.tables = BlocksView(session), BlocksView(session)
        self._reading = parts.Busy()
        self._banner = parts.Banner()
        self.chart = DrawnChart(Drawing(), fills=True)
        self.chart.setMinimumHeight(240)
        session.hear(self.chart)
        self._stack = layouts.stack(self._make_empty(), self._make_full())
        layouts.column(self._stack, on=self)
        self._redraw = Soon(self, self._draw)
        self._look = QTimer(self, interval=_LOOK)
        self._look.timeout.connect(self._show_reading)
        session.runs_changed.connect(self._take_runs)
        session.live_changed.connect(self._go_on)
        self._take_runs()

    def choose(self, numbers: Collection[int]) -> None:
        """Compare these runs."""
        self._by_hand = True
        self._list.check(numbers)
        self._compare(tuple(numbers))

    def choose_beside(self, number: int) -> None:
        """Let the auditor choose what to compare a run with."""
        self.choose((number,))
        self._list.setFocus()

    def say_queue(self, text: str) -> None:
        """Say which of several runs is under way; an empty text hides that."""
        self._queue.say(text)
        self._compare(self._chosen)
        if text:
            self._stack.setCurrentIndex(1)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Compare what was chosen while nobody looked."""
        super().showEvent(event)
        self._compare(self._chosen)

    # Parts

    def _make_empty(self) -> QWidget:
        button = parts.push_button("&Compare methods…", self._session.wishes.compare_methods.emit)
        reasons = all_off(self._session.spec, QuestionKind.EXAMPLES)
        return parts.empty_page(
            "Nothing to compare yet",
            "Run two or more searches with the same budget to compare the pairs they find, "
            "those that only one of them finds, and the queries used.",
            parts.why_not(button, reasons),
            button,
        )

    def _make_full(self) -> QWidget:
        button = parts.push_button("&Compare methods…", self._session.wishes.compare_methods.emit)
        button.setToolTip("Run several methods with the same budget")
        head = layouts.row(
            layouts.grow(parts.quiet("Select two or more runs (Space selects one).")),
            layouts.at(button, Qt.AlignmentFlag.AlignTop),
        )
        self._by_rows, self._by_time = self.chart.add_choice(
            (
                ("Against queries", "Show pairs found against queries"),
                ("Over time", "Show pairs found against seconds"),
            ),
            self._draw,
        )
        self._chart_title = parts.heading("Pairs found by each run")
        inside = layouts.panel(
            head,
            self._queue,
            self._list,
            *(self._banner, self._status, self._reading, self.said),
            *(self._chart_title, self.chart, self.tables),
            layouts.stretch(),
            margin=(0, theme.GAP, theme.PAGE, theme.PAGE),
            spacing=theme.GAP,
        )
        return parts.scrolled(inside)

    # What happens

    def _take_runs(self) -> None:
        """List the runs that are over; the newest of each method are compared at first."""
        runs = searches(self._session.runs)
        self._list.show_runs(runs)
        if not self._by_hand:
            newest = {run.spec.method: run.id for run in runs}
            picked = newest.values() if len(newest) > 1 else [run.id for run in runs[-2:]]
            self._chosen = tuple(picked)
        self._list.check(self._chosen)
        if len(runs) > 1:
            self._stack.setCurrentIndex(1)
        self._compare(self._chosen)

    def _choose_by_hand(self) -> None:
        self._by_hand = True
        self._compare(self._list.checked())

    def _compare(self, numbers: tuple[int, ...]) -> None:
        """Read and compare runs, off the window's thread; what was asked before is dropped."""
        self._chosen = numbers
        self._ask_curves()
        records = tuple(run for run in self._session.runs if run.id in numbers)
        few = len(records) < 2
        if few:
            self._drop()
            self._compared = None
            self.tables.show_blocks(())
            waiting = not self._queue.isHidden()
            self._say("" if waiting else "Select at least two runs to compare.")
        if few or not self.isVisible():
            return
        if self._compared is not None and self._compared.runs == records:
            self._show(self._compared)
            return
        if self._wanted == records:
            return
        self._wanted, self._read = records, 0.0
        self._say("")
        self._show_reading()
        path: Path = self._session.path

        def watch(share: float) -> None:
            if self._wanted is not records:
                raise _OvertakenError(
                    "Other runs are being compared now.", remedy="No action is needed."
                )
            self._read = share

        def work() -> Comparison:
            # numeric parts that a window opens without
            from fairdesk.audit.runs.comparison import compare  # noqa: PLC0415 - see above

            with Store.open(path) as store:
                return compare(store, [run.id for run in records], watch=watch)

        self._look.start()
        self._latest.ask(work, self._show, self._fail)

    def _say(self, status: str) -> None:
        """Say why nothing is compared now."""
        self._status.say(status)
        self.said.show_blocks(())

    def _drop(self) -> None:
        self._wanted = None
        self._latest.drop()
        self._look.stop()
        self._reading.say("")

    def _show_reading(self) -> None:
        share = words.percent_of(str(round(100 * self._read)))
        self._reading.say(f"Comparing the results: {share} read")

    def _fail(self, error: FairDeskError) -> None:
        self._drop()
        self._say("")
        self._banner.tell(error)

    def _ask_curves(self) -> None:
        """Read how the chosen runs went, as far as that is not known."""
        missing = [number for number in self._chosen if number not in self._curves]
        if not missing:
            self._draw()
            return
        self._session.store.ask(
            lambda store: {number: store.progress(number) for number in missing},
            self._take_curves,
            key="compared curves",
        )

    def _take_curves(self, curves: dict[int, comparison.Curve]) -> None:
        self._curves.update(curves)
        self._draw()

    def _show(self, compared: Comparison) -> None:
        self._look.stop()
        self._reading.say("")
        self._banner.clear()
        self._status.say("")
        self._wanted, self._compared = None, compared
        blocks = comparison.compose(self._session.spec, compared)
        listed = [isinstance(each, Grid | Heading) for each in blocks]
        self.said.show_blocks(blocks[: listed.index(True)])
        self.tables.show_blocks(blocks[listed.index(True) :])
        self._draw()

    def _go_on(self, state: RunState) -> None:
        if state.id and self.isVisible():
            self._redraw.ask()

    def _draw(self) -> None:
        """Draw the chosen runs' lines, and that of a search that is under way."""
        if not self.isVisible():
            return
        curves = [
            (comparison.run_label(run.id, run.spec), self._curves[run.id])
            for run in self._session.runs
            if run.id in self._chosen and run.id in self._curves
        ]
        live, asked = self._session.live, self._session.live_spec
        searches = asked is not None and METHODS[asked.method].answers is QuestionKind.EXAMPLES
        if live is not None and asked is not None and searches and live.id:
            name = comparison.run_label(live.id, asked)
            curves.append((name, self._session.driver.progress()))
        self.chart.draw(comparison.course(curves, over_time=self._by_time.isChecked()))
        self._chart_title.setVisible(bool(curves))
        self.chart.setVisible(bool(curves))


def diagnoses(run: Run) -> bool:
    """Return whether a run is a diagnostic."""
    return method_named(run.method).answers is QuestionKind.DIAGNOSIS


class DiagnosisView(RunPage):
    """A diagnostic: the newest, unless another is chosen."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, diagnoses, "Run whose diagnostic is shown", None)
        self.view = BlocksView(session)
        again = self._make_button("Run t&he diagnostic again")
        inside = layouts.panel(
            layouts.row(self.runs, layouts.stretch(), again),
            *(self._banner, self._standing, self.view),
            layouts.stretch(),
            margin=(0, theme.GAP, theme.PAGE, theme.PAGE),
            spacing=theme.GAP,
        )
        self._stack_up(self._make_empty(), parts.scrolled(inside))
        self.runs.take_runs()

    def _make_empty(self) -> QWidget:
        gradients = Capability.GRADIENTS in self._session.spec.model.can
        button = self._make_button("Run t&he diagnostic")
        return parts.empty_page(
            "No diagnostic yet",
            ESTIMATES if gradients else NO_GRADIENTS,
            parts.why_not(button, all_off(self._session.spec, QuestionKind.DIAGNOSIS)),
            button,
        )

    def _make_button(self, text: str) -> QPushButton:
        return parts.push_button(text, self._start)

    def _start(self, *_on: bool) -> None:
        self._session.wishes.run_method.emit("diagnose")

    def _show_run(self, run: Run) -> None:
        self._say_standing(run)
        self._tell_failure(run, "Run the diagnostic again", self._start)
        self.view.show_blocks(diagnosis(likenesses(run)) or [Text("No result yet.")])


class ComparePage(QWidget):
    """Runs beside each other."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.diagnosis, self.runs = DiagnosisView(session), RunsView(session)
        self._tabs = layouts.tabs(
            (self.runs, "Pairs &found per run"),
            (self.diagnosis, "Gradient-&estimate diagnostic"),
        )
        layouts.column(
            layouts.column(page_head("Compare methods"), margin=(0, 0, theme.PAGE, 0)),
            layouts.grow(self._tabs),
            on=self,
            margin=(theme.PAGE, theme.WIDE, 0, 0),
            spacing=theme.NEAR,
        )

    def show_runs(self) -> None:
        """Show the comparison."""
        self._tabs.setCurrentWidget(self.runs)

    def show_diagnosis(self) -> None:
        """Show the diagnosis."""
        self._tabs.setCurrentWidget(self.diagnosis)
