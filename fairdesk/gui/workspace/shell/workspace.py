"""One open audit: the steps at the left, a page in the middle, the run at the bottom."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QUndoStack
from PySide6.QtWidgets import QWidget

from fairdesk.answers.answer import GroupOf, PairsOf, Part, SubgroupOf
from fairdesk.answers.selection import all_off
from fairdesk.app.run_queue import QueuedRun
from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.records import PairQuery, RunState
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.hints.helping import set_topic
from fairdesk.gui.kit.keys import Found, actions_of, buttons_of, shortcut
from fairdesk.gui.kit.pages import Pages
from fairdesk.gui.kit.settings import Glance
from fairdesk.gui.workspace.certification.page import ProofPage
from fairdesk.gui.workspace.common.answering import proves
from fairdesk.gui.workspace.common.steps import OF_STATE, Sign, Standing, Steps
from fairdesk.gui.workspace.compare.page import ComparePage
from fairdesk.gui.workspace.estimates.page import SharePage
from fairdesk.gui.workspace.groups.page import GroupsPage
from fairdesk.gui.workspace.mitigation.page import RepairPage, repairs
from fairdesk.gui.workspace.pairs.page import ExamplesPage
from fairdesk.gui.workspace.queue.runner import Runner
from fairdesk.gui.workspace.report.exports import Export
from fairdesk.gui.workspace.report.page import ReportPage
from fairdesk.gui.workspace.session.session import Session
from fairdesk.gui.workspace.shell import standings
from fairdesk.gui.workspace.shell.data_page import DataPage
from fairdesk.gui.workspace.shell.finding import find
from fairdesk.gui.workspace.shell.log_page import LogPage
from fairdesk.gui.workspace.shell.overview_page import OverviewPage
from fairdesk.gui.workspace.shell.run_bar import RunBar
from fairdesk.gui.workspace.shell.run_requests import RunRequests
from fairdesk.gui.workspace.shell.standings import (
    COMPARE,
    DATA,
    EXAMPLES,
    GROUPS,
    ICONS,
    LOG,
    NAMES,
    OVERVIEW,
    PAGES,
    PROOF,
    REPAIR,
    REPORT,
    SHARE,
)
from fairdesk.gui.workspace.subgroups.finding import Key
from fairdesk.wording import language, words


class Workspace(QWidget):
    """Everything of one audit.

    Parameters
    ----------
    store : Store
        The open audit file; the workspace closes it in `close_audit`.

    Signals
    -------
    said : str
        Something to tell for some seconds.
    run_started, run_finished
        A run began, or is over and all it found is in the file.
    """

    said = Signal(str)
    run_started = Signal()
    run_finished = Signal()

    def __init__(
        self,
        store: Store,
        parent: QWidget | None = None,
        make_worker: Callable[[], Worker] = Worker,
    ) -> None:
        super().__init__(parent)
        # before a run can begin: what is “running” in the file was cut off when the app ended
        store.close_interrupted_runs()
        self._store = store
        self._session = Session(store, self)
        self._banner = parts.Banner()
        self.runner = Runner(self._session, self._banner, make_worker, self)
        self.queue = self.runner.queue
        self.requests = RunRequests(self._session, self.runner, self)
        self.steps = Steps(NAMES, ICONS)
        self.overview = OverviewPage(self._session)
        self.data = DataPage(store.spec)
        self.examples = ExamplesPage(self._session)
        self.share = SharePage(self._session)
        self.proof = ProofPage(self._session)
        self.compare = ComparePage(self._session)
        self.groups = GroupsPage(self._session)
        self.repair = RepairPage(self._session)
        self.report = ReportPage(self._session)
        self.log = LogPage(self._session)
        self.bar = RunBar()
        pages = (
            *(self.overview, self.data, self.groups, self.share, self.examples),
            *(self.proof, self.repair, self.compare, self.report, self.log),
        )
        for name, page in zip(NAMES, pages, strict=True):
            set_topic(page, name)
        held = Pages(*pages)
        self._pages = held.stack
        self._lay_out(held)

        self._listen()
        self._to_page = {
            name: shortcut(self, f"Ctrl+{number % 10}", partial(self.show_page, name), name)
            for number, name in enumerate(NAMES, start=1)
        }
        if self.asks_nobody:
            for name in (EXAMPLES, SHARE, PROOF, COMPARE, REPAIR):
                self.steps.item(NAMES.index(name)).setHidden(True)
            self.bar.hide()
        self._tell()
        self._session.load()
        self.runner.offer(store.waiting_runs())

    def _listen(self) -> None:
        """Do what pages, bar and runs ask for."""
        requests = self.requests
        self.steps.chosen.connect(self._pages.setCurrentIndex)
        self.overview.go.connect(self.show_page)
        self.overview.open_run.connect(self.show_run)
        self.overview.repeat.connect(requests.repeat)
        self.overview.go_on.connect(requests.continue_run)
        self.overview.compare.connect(self.compare_with)
        for estimating in (self.overview.estimate, self.share.estimate):
            estimating.connect(requests.estimate)
        for proving in (self.overview.prove, self.proof.prove):
            proving.connect(requests.prove)
        self.proof.go_on.connect(requests.prove_more)
        self.proof.stop.connect(self.runner.stop)
        self.proof.show_examples.connect(self._show_examples)
        for showing in (self.overview.open_part, self.share.show_pairs):
            showing.connect(self.show_part)
        self.overview.find_groups.connect(requests.find_groups)
        self.groups.find_groups.connect(requests.find_groups)
        self.groups.compare_words.connect(requests.compare_words)
        self.groups.measure_groups.connect(requests.measure_groups)
        self.groups.again.connect(requests.find_groups_again)
        self.groups.compare.connect(requests.run_method)
        self.examples.pair_wanted.connect(self.show_pair)
        self.compare.compare_methods.connect(requests.compare_methods)
        self.compare.diagnose.connect(requests.diagnose)
        for asker in (self.overview.start, self.examples.start, self.report.start):
            asker.connect(requests.run_again)
        self.repair.repair.connect(lambda run: self.runner.ask((run,)))
        self.repair.search.connect(requests.run_again)
        self.repair.show_examples.connect(partial(self.show_page, EXAMPLES))
        for page in (self.repair, self.report):
            page.stands.connect(self._tell)
        self.bar.again.connect(self._run_like_the_last)
        self.bar.pause.connect(self._session.driver.pause)
        self.bar.resume.connect(self._session.driver.resume)
        self.bar.stop.connect(self.runner.stop)
        self._listen_to_queue()
        self._session.said.connect(self.said)
        self._session.report_wanted.connect(self.show_in_report)
        self._session.failed.connect(self._banner.tell)
        self._session.runs_changed.connect(self._tell)
        self._session.live_changed.connect(self._go_on)
        self._session.driver.ended.connect(self._end)

    def _listen_to_queue(self) -> None:
        """Do what is asked for in the list of runs, and show what became of it."""
        strip, runner = self.bar.queue, self.runner
        strip.opened.connect(self._open_queued)
        strip.placed.connect(runner.place)
        strip.dropped.connect(runner.drop)
        strip.restored.connect(runner.restore)
        strip.stopped.connect(lambda _number: runner.stop())
        strip.add.connect(self.requests.run_again)
        strip.stop_all.connect(self.stop_all)
        strip.go_on.connect(runner.advance)
        strip.report.connect(partial(self.show_page, REPORT))
        runner.changed.connect(self._show_queue)
        runner.opening.connect(lambda: self.bar.show_opening("Opening the model"))
        runner.began.connect(self._begin)
        runner.asked.connect(self._show_queued)
        runner.rested.connect(self._tell)
        runner.said.connect(self.said)

    @property
    def title(self) -> str:
        """The audit's title."""
        return self._session.spec.title

    @property
    def path(self) -> Path:
        """The audit file."""
        return self._session.path

    @property
    def glance(self) -> Glance | None:
        """What the audit has come to; nothing until its file was read."""
        if not self._session.loaded:
            return None
        spec, said = self._session.spec, self.overview.headline.said
        column = words.quoted(spec.predictions)
        model = f"decisions in {column}" if spec.predictions else Path(spec.model.path).name
        date = language.date_text(datetime.fromisoformat(spec.created))
        return Glance(spec.title, model, date, said.value, said.label)

    @property
    def busy(self) -> bool:
        """Whether a run is under way."""
        return self._session.driver.busy

    @property
    def asks_nobody(self) -> bool:
        """Whether there is no model to search with, only its decisions in the data."""
        return bool(self._session.spec.predictions)

    @property
    def page_names(self) -> tuple[str, ...]:
        """The pages that this audit has."""
        return tuple(name for row, name in enumerate(NAMES) if not self.steps.item(row).isHidden())

    @property
    def to_pages(self) -> tuple[QAction, ...]:
        """What shows each page that this audit has."""
        return tuple(self._to_page[name] for name in self.page_names)

    def part_actions(self, owner: QObject) -> tuple[tuple[QAction, ...], ...]:
        """Return what keys do on the page on screen and in the queue, and what other buttons do."""
        page = self._pages.currentWidget()
        parts_of = (self.bar,) if page is None else (page, self.bar)
        return (
            tuple(each for part in parts_of for each in actions_of(part)),
            tuple(each for part in parts_of for each in buttons_of(part, owner)),
        )

    @property
    def undo_stack(self) -> QUndoStack:
        """The auditor's marks and notes, for the window's Edit menu."""
        return self._session.undo

    def show_page(self, name: str) -> None:
        """Show a page by its name."""
        self.steps.setCurrentRow(NAMES.index(name))

    def found_by(self, text: str) -> Iterator[Found]:
        """Yield what may be meant by a text."""
        return find(self._session, text, self)

    def show_attribute(self, name: str) -> None:
        """Show an attribute among the data."""
        self.show_page(DATA)
        self.data.show_attribute(name)

    def show_group(self, attributes: tuple[str, ...], values: tuple[str, ...]) -> None:
        """Show the metrics of a group, by its values of these attributes."""
        self.show_page(GROUPS)
        self.groups.show_group(attributes, values)

    def show_subgroup(self, key: Key) -> None:
        """Show a subgroup that was discovered."""
        self.show_page(GROUPS)
        self.groups.show_subgroup(key)

    def show_part(self, part: Part) -> None:
        """Show what a part of a chart stands for."""
        match part:
            case PairsOf():
                self._show_examples(part.run, ())
                self.examples.pairs.filters.show_only(part.alone, part.within)
            case GroupOf():
                self.show_run(part.run)
                self.show_group(part.attributes, part.values)
            case SubgroupOf():
                self.show_run(part.run)
                self.show_subgroup((part.outcome, part.conditions))

    def show_pair(self, number: int) -> None:
        """Show a pair by its number, once it is found in the file."""
        query = PairQuery(among=(number,))
        self._session.store.ask(
            lambda store: store.pairs(query, 0, 1),
            lambda pairs: self._show_found(number, pairs),
            key="pair",
        )

    def _show_found(self, number: int, pairs: Sequence[Pair]) -> None:
        if pairs:
            self.examples.pairs.filters.clear()
            self._show_examples(pairs[0].run, (number,))
        else:
            self.said.emit(f"This audit has no pair {words.number(number)}.")

    def start_run(self, worker: Worker, run: RunSpec) -> None:
        """Begin a run and show what it answers.

        Parameters
        ----------
        worker : Worker
            Has the audit's model open. The workspace keeps it, and closes it at its own end.
        """
        self.start_runs(worker, (run,))

    def start_runs(
        self, worker: Worker, runs: Sequence[RunSpec], seconds: float | None = None
    ) -> None:
        """Begin runs, one after the other; of several searches the comparison is shown.

        Parameters
        ----------
        worker : Worker
            As of `start_run`.
        runs : sequence of RunSpec
            At least one.
        """
        self.runner.use(worker)
        self.runner.ask(runs, seconds)

    def stop_all(self) -> None:
        """Stop the run, or the opening of the model, and drop the runs that wait."""
        if not self.runner.opens:
            self.bar.show_stopping()
        self.runner.stop_all()

    def _begin(self, run: RunSpec) -> None:
        self.bar.show_beginning(run)
        self.said.emit("The run has started.")
        self.run_started.emit()

    def _show_answer(self, run: RunSpec) -> None:
        """Show the page of what a run answers."""
        answers = METHODS[run.method].answers
        self.show_page(PAGES[answers])
        if answers is QuestionKind.DIAGNOSIS:
            self.compare.show_diagnosis()
        elif answers in ABOUT_GROUPS:
            self.groups.show_run(run)

    def compare_with(self, number: int) -> None:
        """Show a run in the comparison, where others are chosen."""
        self.show_page(COMPARE)
        self.compare.show_runs()
        self.compare.runs.choose_beside(number)

    def _run_like_the_last(self) -> None:
        """Ask for another run of the kind that was made last."""
        if self._session.runs and repairs(self._session.runs[-1]):
            self.show_page(REPAIR)
            self.repair.open_form()
        else:
            self.requests.run_again()

    def stop_and_keep(self) -> None:
        """Stop the run; returns when what it found is safe in the file."""
        self.runner.begin_no_more()
        self.bar.show_stopping()
        self._session.driver.stop_and_wait()

    def export(self, export: Export) -> None:
        """Write a file: the page that says what became of it is shown."""
        self.show_page(REPORT)
        self.report.export(export)

    def sign_report(self) -> None:
        """Write the report, signed."""
        self.show_page(REPORT)
        self.report.sign_report()

    def check_audit(self) -> None:
        """Compare the audit with its data, model and log once more."""
        self.show_page(REPORT)
        self.report.check_audit()

    def show_in_report(self, places: Sequence[str]) -> None:
        """Show where the report tells of something."""
        self.show_page(REPORT)
        self.report.show_place(*places)

    def change_worker(self) -> None:
        """Have the next run made by another worker: where runs are made was changed."""
        self.runner.change_worker()

    def close_audit(self) -> None:
        """Stop what runs, write what waits, close the model and the file."""
        self.report.keep()
        self.runner.begin_no_more()
        self._session.close()
        self.runner.close()
        self._store.close()

    # Parts

    def _lay_out(self, pages: QWidget) -> None:
        line = parts.Hairline()
        warning = layouts.row(self._banner, margin=(theme.PAGE, 0, theme.PAGE, 0))
        middle = layouts.column(warning, layouts.grow(pages), spacing=0)
        upper = layouts.row(
            layouts.column(self.steps, margin=(0, theme.GAP, 0, 0)),
            line,
            layouts.grow(middle),
            spacing=0,
        )
        layouts.column(
            layouts.grow(upper),
            layouts.column(self.bar, margin=(theme.NEAR, 0, theme.NEAR, theme.NEAR)),
            on=self,
            spacing=0,
        )

    # What happens

    def _show_queue(self) -> None:
        """Show the queue, in its list and where something waits for it."""
        self.bar.queue.show_queue(self.queue, opening=self.runner.opens)
        going = (self.queue.running, *self.queue.waiting)
        self.repair.expect(each.kind for each in going if each is not None)
        self._tell_queue()

    def _open_queued(self, number: int) -> None:
        """Show the page of a run of the queue."""
        run = self.queue.find(number)
        if run is not None and run.run_id and self._session.record(run.run_id) is not None:
            self.show_run(run.run_id)
        elif run is not None:
            self._show_answer(run.spec)

    def _show_queued(self, run: QueuedRun) -> None:
        """Show what a run answers; of several that were asked for together what they share."""
        if run.batch.seconds is not None and len(self.queue.of(run.batch)) > 1:
            self.show_page(OVERVIEW)
        elif run.batch.compares:
            self.show_page(COMPARE)
            self.compare.show_runs()
        else:
            self._show_answer(run.spec)

    def show_run(self, number: int) -> None:
        """Show what a run answered."""
        run = self._session.record(number)
        if run is None:
            return
        if method_named(run.method).answers is QuestionKind.EXAMPLES:
            self.examples.open_run(number)
        elif method_named(run.method).answers is QuestionKind.SHARE:
            self.share.open_run(number)
        elif proves(run):
            self.proof.open_run(number)
        elif method_named(run.method).answers in ABOUT_GROUPS:
            self.groups.open_run(number)
        elif repairs(run):
            self.repair.open_run(number)
        self._show_answer(run.spec)

    def _show_examples(self, number: int, pairs: Sequence[int]) -> None:
        """Show a run's examples; some of them only, where these are told."""
        self.examples.open_run(number)
        self.show_page(EXAMPLES)
        if pairs:
            self.examples.pairs.filters.show_chosen(pairs)

    def _compared(self) -> tuple[int, tuple[QueuedRun, ...]]:
        """Return which of several searches to compare is under way, and all of them; else 0."""
        running = self.queue.running
        if running is None or not running.batch.compares:
            return 0, ()
        runs = tuple(each for each in self.queue.of(running.batch) if each.stands != "dropped")
        return runs.index(running) + 1, runs

    def _tell_queue(self) -> None:
        """Say on the page that compares searches which of them is under way."""
        at, runs = self._compared()
        if not at:
            self.compare.runs.say_queue("")
            return
        self.compare.runs.say_queue(
            f"● Run {at} of {len(runs)} in progress: {METHODS[runs[at - 1].spec.method].title}. "
            "Stop ends this run only; Stop all ends the runs in the queue too."
        )

    def _go_on(self, state: RunState) -> None:
        run = self._session.live_spec
        if run is None:
            return
        self.bar.show_live(state, run)
        self.bar.queue.list.workers.show_workers(self._session.driver.at_work())
        self._stand_live(state, METHODS[run.method].answers)
        if not self._session.runs:
            self.steps.stand(NAMES.index(OVERVIEW), Standing("first run", OF_STATE[state.state]))
            self.steps.stand(NAMES.index(REPORT), Standing("not complete yet", Sign.NOT_YET))

    def _stand_live(self, state: RunState, answers: QuestionKind) -> None:
        """Say at its step how a run goes."""
        at, runs = self._compared()
        if at:
            going = Standing(f"run {at} of {len(runs)}", OF_STATE[state.state])
            self.steps.stand(NAMES.index(COMPARE), going)
        self.steps.stand(NAMES.index(PAGES[answers]), standings.of_live(state, answers))

    def _end(self, state: RunState) -> None:
        ended = self.queue.running
        self.bar.queue.list.workers.show_workers(())
        self.said.emit(_ended(state))
        self.runner.end(state, self.bar.clock.elapsed)
        if ended is not None and ended.batch.compares:
            batch = self.queue.of(ended.batch)
            if not any(each.stands == "waiting" for each in batch):
                self.compare.runs.choose([each.run_id for each in batch if each.run_id])
        if not self.busy:
            self.run_finished.emit()

    def _tell(self) -> None:
        """Say how every step stands."""
        session, busy = self._session, self.busy
        stands = {
            REPORT: self.report.standing,
            **standings.of_audit(session.spec, session.runs, outdated=bool(self.repair.outdated)),
        }
        if busy:
            # what a run fills says itself how it goes
            still = (OVERVIEW, REPORT) if self.asks_nobody else (OVERVIEW,)
            stands = {name: stands[name] for name in (*still, DATA, LOG)}
        for name, standing in stands.items():
            self.steps.stand(NAMES.index(name), standing)
        if self.asks_nobody:
            self.bar.setVisible(busy or bool(self.queue.runs))
        elif busy or self.runner.opens:
            pass  # it says itself how it goes
        elif session.runs:
            self.bar.show_record(session.runs[-1])
        else:
            nothing = all_off(session.spec, QuestionKind.EXAMPLES)
            self.bar.show_nothing("subgroups" if nothing else "discriminatory pairs")


def _ended(state: RunState) -> str:
    """Say how a run ended."""
    if not state.id:
        return "The run could not be started."
    if state.state == "done":
        if METHODS[state.method].answers is QuestionKind.EXAMPLES:
            return f"The search is complete: {words.counted(state.found, 'pair')} found."
        return "The run is complete."
    return {
        "stopped": "The run was stopped; the results so far are kept.",
        "failed": "The run failed; the results so far are kept.",
    }[state.state]
