"""One open audit: the steps at the left, a page in the middle, the runs at the bottom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QUndoStack
from PySide6.QtWidgets import QWidget

from fairdesk.answers import all_off
from fairdesk.app.run_queue import QueuedRun
from fairdesk.app.standard import timed_run
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.keys import actions_of, buttons_of
from fairdesk.gui.kit.parts import open_dialog
from fairdesk.gui.kit.settings import Glance
from fairdesk.gui.workspace.common.run_page import (
    COMPARE,
    DATA,
    LOG,
    NAMES,
    OF_STATE,
    OVERVIEW,
    PAGES,
    REPAIR,
    REPORT,
    Sign,
    Standing,
    estimates,
    proves,
)
from fairdesk.gui.workspace.groups.findings_view import METHOD
from fairdesk.gui.workspace.groups.terms_view import text_columns
from fairdesk.gui.workspace.mitigation.page import repairs
from fairdesk.gui.workspace.session.session import Session
from fairdesk.gui.workspace.shell import audit_pages
from fairdesk.gui.workspace.shell.again_dialog import AgainDialog
from fairdesk.gui.workspace.shell.audit_pages import AuditPages
from fairdesk.gui.workspace.shell.run_bar import RunBar
from fairdesk.gui.workspace.shell.runner import Runner
from fairdesk.wording import language, words

#: Seconds after which an estimate or a proof ends where nothing else was asked for.
_SECONDS = 60.0


class RunRequests(QObject):
    """Makes what is asked of each run, and has the runner make it once the model is open."""

    def __init__(self, session: Session, runner: Runner, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._runner, self._window = session, runner, window

    def prove_more(self, number: int, seconds: float) -> None:
        """Go on with a run that proves, for so many seconds."""
        run = self._session.record(number)
        if run is not None:
            spec = msgspec.structs.replace(
                run.spec, budget=Budget(seconds=seconds), continues=run.id
            )
            self._runner.ask((timed_run(spec),))

    def find_groups(self) -> None:
        """Look for groups that rules describe; where there are none, for words in texts."""
        if self._session.spec.domain.grouping:
            self.run_method(METHOD)
        else:
            self.compare_words()

    def find_groups_again(self, number: int, theta: float) -> None:
        """Look for groups as a run did, with another least support."""
        run = self._session.record(number)
        if run is not None:
            options = {**run.spec.options, "theta": theta}
            self._runner.ask((msgspec.structs.replace(run.spec, options=options),))

    def compare_words(self) -> None:
        """Compare sentences that name different people, in the first text that the model reads."""
        texts = text_columns(self._session.spec)
        if texts:
            self._runner.ask((msgspec.structs.replace(self._anew(METHOD), text=texts[0]),))

    def run_method(self, method: str) -> None:
        """Run a method as it is usually run, with a seed that it has not used."""
        self._runner.ask((self._anew(method),))

    def repeat(self, number: int) -> None:
        """Make a run again with the next seed that was not used for it."""
        run = self._session.record(number)
        if run is not None:
            self._runner.ask((msgspec.structs.replace(run.spec, seed=self._next_seed(run.spec)),))

    def continue_run(self, number: int) -> None:
        """Go on with a run: others than it has found already are found, or more is proven."""
        run = self._session.record(number)
        if run is not None and proves(run):
            self.prove_more(number, run.spec.budget.seconds or 10 * _SECONDS)
        elif run is not None:
            spec = msgspec.structs.replace(
                run.spec, seed=self._next_seed(run.spec), continues=run.id
            )
            self._runner.ask((spec,))

    def compare_methods(self) -> None:
        """Ask for runs of several methods, and begin them once the model is open."""
        seed = max((run.seed for run in self._made()), default=-1) + 1
        self._open_dialog(None, seed=seed, several=True)

    def run_again(self) -> None:
        """Ask for another run, and begin it once the model is open."""
        # a repair is asked for on its own page
        runs = [run for run in self._session.runs if not repairs(run)]
        # what is offered first must be possible
        first = all_off(self._session.spec, QuestionKind.EXAMPLES) and not runs
        self._open_dialog(runs[-1] if runs else None, method=METHOD if first else "")

    def _open_dialog(
        self, last: RunRecord | None, *, method: str = "", seed: int = 0, several: bool = False
    ) -> None:
        spec, queued = self._session.spec, not self._runner.idle
        if not spec.predictions:
            how = {"queued": queued, "several": several}
            dialog = AgainDialog(spec, last, self._window, method=method, seed=seed, **how)
            dialog.accepted.connect(lambda: self._runner.ask(dialog.runs()))
            open_dialog(dialog)

    def _anew(self, method: str) -> RunSpec:
        """Ask for a run of a method as it is usually made."""
        brief = method_named(method).answers in (QuestionKind.SHARE, QuestionKind.PROOF)
        budget = Budget(seconds=_SECONDS if brief else None)
        fresh = timed_run(RunSpec(method, budget=budget, plausible=True))
        return msgspec.structs.replace(fresh, seed=self._next_seed(fresh))

    def _next_seed(self, run: RunSpec) -> int:
        """Return a seed that no run of the method has used, the first above all of them."""
        used = [each.seed for each in self._made() if each.method == run.method]
        return max(used, default=-1) + 1

    def _made(self) -> tuple[RunSpec, ...]:
        """Return what was asked of all runs, those included that wait."""
        queued = tuple(each.spec for each in self._runner.queue.runs)
        return (*(each.spec for each in self._session.runs), *queued)


class Workspace(AuditPages):
    """Everything of one audit: its pages, the runs that fill them, and how these go.

    Parameters
    ----------
    store : Store
        The open audit file; the workspace closes it in `close_audit`.

    Signals
    -------
    run_started, run_finished
        A run began, or is over and all it found is in the file.
    """

    run_started = Signal()
    run_finished = Signal()

    def __init__(
        self,
        store: Store,
        parent: QWidget | None = None,
        make_worker: Callable[[], Worker] = Worker,
    ) -> None:
        # before a run can begin: what is “running” in the file was cut off when the app ended
        store.close_interrupted_runs()
        super().__init__(store, parent)
        self._store = store
        self._banner = parts.Banner()
        self.runner = Runner(self._session, self._banner, make_worker, self)
        self.queue = self.runner.queue
        self.requests = RunRequests(self._session, self.runner, self)
        self.bar = RunBar(repeats=not self.asks_nobody)
        self._lay_out()
        self._listen()
        self._tell()
        self._session.load()
        self.runner.offer(store.waiting_runs())

    def _listen(self) -> None:
        """Do what pages, bar and runs ask for."""
        wishes, requests = self._session.wishes, self.requests
        for wish, meet in (
            (wishes.estimate, partial(requests.run_method, estimates(self._session.spec))),
            (wishes.prove, partial(requests.run_method, "certify")),
            (wishes.prove_more, requests.prove_more),
            (wishes.find_groups, requests.find_groups),
            (wishes.find_groups_again, requests.find_groups_again),
            (wishes.compare_words, requests.compare_words),
            (wishes.compare_methods, requests.compare_methods),
            *((wishes.run_method, requests.run_method), (wishes.run_again, requests.run_again)),
            *((wishes.repeat, requests.repeat), (wishes.continue_run, requests.continue_run)),
            (wishes.mitigate, lambda run: self.runner.ask((run,))),
        ):
            wish.connect(meet)
        for page in (self.repair, self.report):
            page.stands.connect(self._tell)
        self.bar.again.connect(self._run_like_the_last)
        self.bar.pause.connect(self._session.driver.pause)
        self.bar.resume.connect(self._session.driver.resume)
        self.bar.stop.connect(self.runner.stop)
        self._listen_to_queue()
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
    def glance(self) -> Glance | None:
        """What the audit has come to; nothing until its file was read."""
        if not self._session.loaded:
            return None
        spec, said = self._session.spec, self.overview.figure
        column = words.quoted(spec.predictions)
        model = f"decisions in {column}" if spec.predictions else Path(spec.model.path).name
        date = language.date_text(datetime.fromisoformat(spec.created))
        return Glance(spec.title, model, date, said.value, said.label)

    @property
    def busy(self) -> bool:
        """Whether a run is under way."""
        return self._session.driver.busy

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

    def start_runs(
        self, worker: Worker, runs: Sequence[RunSpec], seconds: float | None = None
    ) -> None:
        """Begin runs, one after the other; of several searches the comparison is shown.

        Parameters
        ----------
        worker : Worker
            Has the audit's model open. The workspace keeps it, and closes it at its own end.
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

    def _lay_out(self) -> None:
        line = parts.Hairline()
        warning = layouts.row(self._banner, margin=(theme.PAGE, 0, theme.PAGE, 0))
        middle = layouts.column(warning, layouts.grow(self._held), spacing=0)
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
        self.bar.setVisible(self.busy or bool(self.queue.runs))
        going = (self.queue.running, *self.queue.waiting)
        self.repair.expect(each.kind for each in going if each is not None)

    def _open_queued(self, number: int) -> None:
        """Show the page of a run of the queue."""
        run = self.queue.find(number)
        if run is not None and run.run_id and self._session.record(run.run_id) is not None:
            self.show_run(run.run_id)
        elif run is not None:
            self.show_answer(run.spec)

    def _show_queued(self, run: QueuedRun) -> None:
        """Show what a run answers; of several that were asked for together what they share."""
        if run.batch.seconds is not None and len(self.queue.of(run.batch)) > 1:
            self.show_page(OVERVIEW)
        elif run.batch.compares:
            self.show_page(COMPARE)
            self.compare.show_runs()
        else:
            self.show_answer(run.spec)

    def _go_on(self, state: RunState) -> None:
        run = self._session.live_spec
        if run is None:
            return
        self.bar.show_live(state, run)
        self.bar.queue.workers.show_workers(self._session.driver.at_work())
        answers = METHODS[run.method].answers
        self.steps.stand(NAMES.index(PAGES[answers]), audit_pages.of_live(state, answers))
        if not self._session.runs:
            self.steps.stand(NAMES.index(OVERVIEW), Standing("first run", OF_STATE[state.state]))
            self.steps.stand(NAMES.index(REPORT), Standing("not complete yet", Sign.NOT_YET))

    def _end(self, state: RunState) -> None:
        ended = self.queue.running
        self.bar.queue.workers.show_workers(())
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
            **audit_pages.of_audit(session.spec, session.runs, outdated=bool(self.repair.outdated)),
        }
        if busy:
            # what a run fills says itself how it goes
            still = (OVERVIEW, REPORT) if self.asks_nobody else (OVERVIEW,)
            stands = {name: stands[name] for name in (*still, DATA, LOG)}
        for name, standing in stands.items():
            self.steps.stand(NAMES.index(name), standing)
        # of what was made before, the pages tell
        self.bar.setVisible(busy or bool(self.queue.runs))
        if busy or self.runner.opens:
            pass  # it says itself how it goes
        elif session.runs:
            self.bar.show_record(session.runs[-1])
        elif not self.asks_nobody:
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
