"""The pairs that several runs found, compared."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QProgressBar,
    QStackedWidget,
    QWidget,
)

from fairdesk.answers.selection import all_off, searches
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.store.records import RunState
from fairdesk.audit.store.store import Store
from fairdesk.charts.kinds.lines import Drawing
from fairdesk.errors import FairDeskError
from fairdesk.gui.charts.drawn import DrawnChart
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.pages import for_experts
from fairdesk.gui.kit.threads.background import Latest
from fairdesk.gui.kit.threads.soon import Soon
from fairdesk.gui.workspace.common.short_table import short_table
from fairdesk.gui.workspace.compare.comparing import (
    HEADER,
    Curve,
    alone_cells,
    cautions,
    cells,
    curves_of,
    lessons,
    phase_cells,
    run_label,
)
from fairdesk.gui.workspace.compare.run_list import RunList
from fairdesk.gui.workspace.session.session import Session
from fairdesk.wording import words
from fairdesk.wording.figures import PHASE_HEADER

if TYPE_CHECKING:
    from fairdesk.audit.runs.comparison import Comparison

#: Milliseconds between two looks at how far the reading is.
_LOOK = 150


class _OvertakenError(FairDeskError):
    """Other runs were chosen while these were read."""


class RunsView(QWidget):
    """The chosen runs: chart, table, and what is to be learned.

    Signals
    -------
    compare_methods
        Runs of several methods are wanted.
    """

    compare_methods = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._chosen: tuple[int, ...] = ()
        self._by_hand = False
        self._compared: Comparison | None = None
        self._curves: dict[int, Curve] = {}
        self._wanted: object = None
        self._read = 0.0
        self._latest = Latest(self)
        self._list = RunList()
        self._list.chosen.connect(self._choose_by_hand)
        self._queue = parts.Words(tone="accent", strong=True)
        self._queue.hide()
        self._lesson = parts.Words(size=1.2, strong=True)
        self._more = parts.Words()
        self._caution = parts.quiet()
        self._reading = QProgressBar()
        self._reading.setRange(0, 100)
        self._reading.setFixedHeight(10)
        self._reading.setTextVisible(False)
        self._reading.setAccessibleName("Reading the results of the runs")
        self._reading.hide()
        self._banner = parts.Banner()
        self.chart = DrawnChart(Drawing(), fills=True)
        self.chart.setMinimumHeight(240)
        session.hear(self.chart)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._make_empty())
        self._stack.addWidget(self._make_full())
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
        button = parts.push_button("&Compare methods…", self.compare_methods)
        reasons = all_off(self._session.spec, QuestionKind.EXAMPLES)
        return parts.empty_page(
            "Nothing to compare yet",
            "Run two or more searches with the same budget to compare the pairs they find, "
            "those that only one of them finds, and the queries used.",
            parts.why_not(button, reasons),
            button,
        )

    def _make_full(self) -> QWidget:
        button = parts.push_button("&Compare methods…", self.compare_methods)
        button.setToolTip("Run several methods with the same budget")
        head = layouts.row(
            layouts.grow(parts.quiet("Select two or more runs (Space selects one).")),
            layouts.at(button, Qt.AlignmentFlag.AlignTop),
        )
        self._made = layouts.column(spacing=theme.GAP)
        self._results = QWidget()
        results = layouts.column(on=self._results, spacing=theme.GAP)
        for widget in (self._lesson, self._more, self._caution):
            widget.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            results.addWidget(widget)
        results.addSpacing(theme.NEAR)
        self._by_rows, self._by_time = self.chart.add_choice(
            (
                ("Against queries", "Show pairs found against queries"),
                ("Over time", "Show pairs found against seconds"),
            ),
            self._draw,
        )
        self._chart_title = parts.heading("Pairs found by each run")
        results.addWidget(self._chart_title)
        results.addWidget(self.chart)
        self._after = for_experts(self._made)
        results.addWidget(self._after)
        inside = layouts.panel(
            head,
            self._queue,
            self._list,
            self._banner,
            self._reading,
            self._results,
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
            waiting = not self._queue.isHidden()
            self._lesson.setText("" if waiting else "Select at least two runs to compare.")
            self._more.setText("")
            self._caution.setText("")
            self._after.hide()
        if few or not self.isVisible():
            return
        if self._compared is not None and self._compared.runs == records:
            self._show(self._compared)
            return
        if self._wanted == records:
            return
        self._wanted, self._read = records, 0.0
        self._lesson.setText("Comparing the results…")
        self._more.setText("")
        self._caution.setText("")
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

    def _drop(self) -> None:
        self._wanted = None
        self._latest.drop()
        self._look.stop()
        self._reading.hide()

    def _show_reading(self) -> None:
        self._reading.show()
        self._reading.setValue(round(100 * self._read))

    def _fail(self, error: FairDeskError) -> None:
        self._drop()
        self._lesson.setText("")
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

    def _take_curves(self, curves: dict[int, Curve]) -> None:
        self._curves.update(curves)
        self._draw()

    def _show(self, comparison: Comparison) -> None:
        self._look.stop()
        self._reading.hide()
        self._banner.clear()
        self._wanted, self._compared = None, comparison
        first, *more = lessons(comparison, "instances")
        self._lesson.setText(first)
        self._more.say(" ".join(more))
        warned = cautions(comparison.runs)
        self._caution.say(warned)
        self._after.show()
        self._show_tables(comparison)
        self._draw()

    def _show_tables(self, comparison: Comparison) -> None:
        parts.clear(self._made)
        self._made.addWidget(parts.heading("Results per run"))
        self._made.addWidget(
            short_table("Runs compared", HEADER, cells(comparison), right=range(1, 7), wide=0)
        )
        self._made.addWidget(
            parts.quiet(
                f"The {self._session.many} in the data were divided into {len(comparison.sizes)} "
                "clusters; a cluster is reached when an instance found is nearest to it. A search "
                "that reaches few clusters covers only part of the data."
            )
        )
        if phases := phase_cells(comparison):
            header = ("Run", "Phase", *PHASE_HEADER)
            self._made.addWidget(parts.heading("Results per phase"))
            self._made.addWidget(
                short_table("Phases of the runs", header, phases, right=range(2, 6), wide=1)
            )
        names = words.protected_names(self._session.spec.domain)
        if len(names) < 2:
            return
        self._made.addWidget(parts.heading("Changing one attribute alone"))
        self._made.addWidget(
            parts.quiet(
                "Number of pairs found in which changing this attribute alone changes the decision."
            )
        )
        self._made.addWidget(
            short_table(
                "Pairs found, by protected attribute whose change alone is sufficient",
                ("Run", *names),
                alone_cells(comparison),
                right=range(1, len(names) + 1),
                wide=0,
            )
        )

    def _go_on(self, state: RunState) -> None:
        if state.id and self.isVisible():
            self._redraw.ask()

    def _draw(self) -> None:
        """Draw the chosen runs' lines, and that of a search that is under way."""
        if not self.isVisible():
            return
        curves = [
            (run_label(run.id, run.spec), self._curves[run.id])
            for run in self._session.runs
            if run.id in self._chosen and run.id in self._curves
        ]
        live, asked = self._session.live, self._session.live_spec
        searches = asked is not None and METHODS[asked.method].answers is QuestionKind.EXAMPLES
        if live is not None and asked is not None and searches and live.id:
            name = run_label(live.id, asked)
            curves.append((name, self._session.driver.progress()))
        self.chart.draw(curves_of(curves, by_time=self._by_time.isChecked()))
        self._chart_title.setVisible(bool(curves))
        self.chart.setVisible(bool(curves))
