"""Several runs beside each other: what each found, and whether searches can trust estimates."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QPushButton,
    QWidget,
)

from fairdesk.answers import all_off, searches
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.store.records import RunRecord
from fairdesk.audit.store.store import Store
from fairdesk.charts.kinds.lines import Drawing
from fairdesk.document import comparison
from fairdesk.document.blocks import Grid, Heading, Text
from fairdesk.document.comparison import ESTIMATES, NO_GRADIENTS, diagnosis
from fairdesk.errors import FairDeskError
from fairdesk.gui.charts.drawn import DrawnChart
from fairdesk.gui.kit import layouts, parts
from fairdesk.gui.kit.tables import TextTable
from fairdesk.gui.kit.threads import Latest, Soon
from fairdesk.gui.workspace.common.blocks_view import BlocksView
from fairdesk.gui.workspace.common.run_page import (
    OF_STATE,
    Run,
    RunPage,
    TabPage,
    likenesses,
    page_of,
)
from fairdesk.gui.workspace.session.session import Session
from fairdesk.models.model import Capability
from fairdesk.wording import words

if TYPE_CHECKING:
    from fairdesk.audit.runs.comparison import Comparison

_HEADS = ("Run", "Method", "State", "Seed", "Budget", "Pairs found")

_NUMBERS = (3, 5)


def budget_text(budget: Budget) -> str:
    """Write a run's limits for a cell."""
    limits = []
    if budget.seconds is not None:
        limits.append(words.duration(budget.seconds))
    if budget.queries is not None:
        limits.append(f"{words.number(budget.queries)} queries")
    return " or ".join(limits) or "none"


class RunList(TextTable):
    """The runs that can be compared, of which several are selected.

    Signals
    -------
    ticked
        The auditor selected others.
    """

    ticked = Signal()

    def __init__(self) -> None:
        how = "Space selects or deselects a run."
        super().__init__("Runs to compare", _HEADS, _NUMBERS, description=how, most=8)
        self.setSelectionMode(QAbstractItemView.SelectionMode.MultiSelection)
        self._runs: list[int] = []
        self.itemSelectionChanged.connect(self.ticked)

    def show_runs(self, runs: tuple[RunRecord, ...]) -> None:
        """List runs."""
        self._runs = [run.id for run in runs]
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

    def check(self, numbers: Collection[int]) -> None:
        """Select these runs and no others; Space needs a cell that is current."""
        with QSignalBlocker(self):
            rows, current = self.selectionModel(), max(self.currentRow(), 0)
            self.clearSelection()
            for row, number in enumerate(self._runs):
                if number in numbers:
                    self.selectRow(row)
            rows.setCurrentIndex(self.model().index(current, 0), rows.SelectionFlag.NoUpdate)

    def checked(self) -> tuple[int, ...]:
        """Return the numbers of the runs that are selected."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return tuple(self._runs[row] for row in rows)


class CourseChart(DrawnChart[Drawing]):
    """How searches went: the pairs that each had found, against queries or over time.

    What runs that are over found is read from the file, the one under way is followed.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(Drawing(), fills=True)
        self._session = session
        #: The runs that are shown against queries, and over time.
        self._shown: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
        self._curves: dict[int, comparison.Curve] = {}
        _by_queries, self.over_time = self.add_choice(
            (
                ("Against queries", "Show pairs found against queries"),
                ("Over time", "Show pairs found against seconds"),
            ),
            self._draw,
        )
        session.hear(self)
        self._redraw_soon = Soon(self, self._draw)
        session.live_changed.connect(lambda _state: self._redraw_soon.ask())

    def show_runs(self, by_queries: Collection[int], over_time: Collection[int]) -> None:
        """Show runs by their numbers."""
        self._shown = tuple(by_queries), tuple(over_time)
        over = {run.id for run in self._session.runs} - self._curves.keys()
        if missing := over.intersection((*by_queries, *over_time)):
            self._session.store.ask(
                lambda store: {number: store.progress(number) for number in missing},
                self._take,
                key=(id(self), "curves"),
            )
        self._draw()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Draw what was not drawn while nobody looked."""
        super().showEvent(event)
        self._draw()

    def _take(self, curves: dict[int, comparison.Curve]) -> None:
        self._curves.update(curves)
        self._draw()

    def _draw(self) -> None:
        if not self.isVisible():
            return
        session, over_time = self._session, self.over_time.isChecked()
        curves = {
            comparison.run_label(run.id, run.spec): self._curves[run.id]
            for run in session.runs
            if run.id in self._shown[over_time] and run.id in self._curves
        }
        live, asked = session.live, session.live_spec
        if live is not None and live.id and asked is not None and _searches(asked):
            curves[comparison.run_label(live.id, asked)] = session.driver.progress()
        self.draw(comparison.course([*curves.items()], over_time=over_time))


def _searches(run: RunSpec) -> bool:
    return METHODS[run.method].answers is QuestionKind.EXAMPLES


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
        self._wanted: object = None
        self._latest = Latest(self)
        self._list = RunList()
        self._list.ticked.connect(self._choose_by_hand)
        self._status = parts.Words(strong=True)
        self.said, self.tables = BlocksView(session), BlocksView(session)
        self._reading = parts.Busy()
        self._banner = parts.Banner()
        self.chart = CourseChart(session)
        self.chart.setMinimumHeight(240)
        self._stack = layouts.stack(self._make_empty(), self._make_full())
        layouts.column(self._stack, on=self)
        session.runs_changed.connect(self._take_runs)
        session.live_changed.connect(lambda _state: self._offer())
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
        return page_of(
            *(head, self._list),
            *(self._banner, self._status, self._reading, self.said),
            *(parts.heading("Pairs found by each run"), self.chart, self.tables),
            tab=True,
        )

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
        self._offer()
        self._compare(self._chosen)

    def _offer(self) -> None:
        """Show what there is to compare, as soon as a search is under way."""
        asked = self._session.live_spec
        if len(searches(self._session.runs)) > 1 or (asked is not None and _searches(asked)):
            self._stack.setCurrentIndex(1)

    def _choose_by_hand(self) -> None:
        self._by_hand = True
        self._compare(self._list.checked())

    def _compare(self, numbers: tuple[int, ...]) -> None:
        """Read and compare runs, off the window's thread; what was asked before is dropped."""
        self._chosen = numbers
        self.chart.show_runs(numbers, numbers)
        records = tuple(run for run in self._session.runs if run.id in numbers)
        few = len(records) < 2
        if few:
            self._drop()
            self._compared = None
            self.tables.show_blocks(())
            live = self._session.live is not None
            self._say("" if live else "Select at least two runs to compare.")
        if few or not self.isVisible():
            return
        if self._compared is not None and self._compared.runs == records:
            self._show(self._compared)
            return
        if self._wanted == records:
            return
        self._wanted = records
        self._say("")
        self._reading.say("Comparing the results…")
        path: Path = self._session.path

        def watch(_share: float) -> None:
            if self._wanted is not records:
                raise _OvertakenError(
                    "Other runs are being compared now.", remedy="No action is needed."
                )

        def work() -> Comparison:
            # numeric parts that a window opens without
            from fairdesk.audit.runs.comparison import compare  # noqa: PLC0415 - see above

            with Store.open(path) as store:
                return compare(store, [run.id for run in records], watch=watch)

        self._latest.ask(work, self._show, self._fail)

    def _say(self, status: str) -> None:
        """Say why nothing is compared now."""
        self._status.say(status)
        self.said.show_blocks(())

    def _drop(self) -> None:
        self._wanted = None
        self._latest.drop()
        self._reading.say("")

    def _fail(self, error: FairDeskError) -> None:
        self._drop()
        self._say("")
        self._banner.tell(error)

    def _show(self, compared: Comparison) -> None:
        self._reading.say("")
        self._banner.clear()
        self._status.say("")
        self._wanted, self._compared = None, compared
        blocks = comparison.compose(self._session.spec, compared)
        listed = [isinstance(each, Grid | Heading) for each in blocks]
        self.said.show_blocks(blocks[: listed.index(True)])
        self.tables.show_blocks(blocks[listed.index(True) :])


def diagnoses(run: Run) -> bool:
    """Return whether a run is a diagnostic."""
    return method_named(run.method).answers is QuestionKind.DIAGNOSIS


class DiagnosisView(RunPage):
    """A diagnostic: the newest, unless another is chosen."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, diagnoses, "Run whose diagnostic is shown", None)
        self.view = BlocksView(session)
        again = self._make_button("Run t&he diagnostic again")
        above = layouts.row(self.runs, layouts.stretch(), again)
        full = page_of(above, self._banner, self._standing, self.view, tab=True)
        self._stack_up(self._make_empty(), full)

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


class ComparePage(TabPage):
    """Runs beside each other."""

    def __init__(self, session: Session) -> None:
        self.diagnosis, self.runs = DiagnosisView(session), RunsView(session)
        super().__init__(
            "Compare methods",
            (self.runs, "Pairs &found per run"),
            (self.diagnosis, "Gradient-&estimate diagnostic"),
        )

    def show_runs(self) -> None:
        """Show the comparison."""
        self.tabs.setCurrentWidget(self.runs)

    def show_diagnosis(self) -> None:
        """Show the diagnosis."""
        self.tabs.setCurrentWidget(self.diagnosis)
