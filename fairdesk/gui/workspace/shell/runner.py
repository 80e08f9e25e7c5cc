"""Begins the runs that were asked for, one after the other, and opens the model for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from fairdesk.app.run_queue import OVER, QueuedRun, RunQueue
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.runs.inspection import reopen
from fairdesk.audit.store.records import RunState, WaitingRun
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.errors import FairDeskError
from fairdesk.gui.kit.parts import Banner
from fairdesk.gui.kit.threads import in_background
from fairdesk.gui.workspace.common.run_page import tell_trouble
from fairdesk.gui.workspace.session.session import Session
from fairdesk.gui.workspace.shell.queue_strip import waiting_text
from fairdesk.wording import words


class Runner(QObject):
    """Drives the queue of an open audit.

    Parameters
    ----------
    banner : Banner
        Where it says what hinders it, and what is left from before.
    make_worker : callable
        Makes what opens the model and runs with it.

    Attributes
    ----------
    queue : RunQueue
        What runs, waits and is over.

    Signals
    -------
    changed
        The queue is another.
    opening
        The model is being opened.
    began : RunSpec
        A run begins.
    asked : QueuedRun
        Runs were asked for, of which this is the first, and it need not wait.
    rested
        The model could not be opened, or is not opened any more.
    said : str
        Something to tell for some seconds.
    """

    changed = Signal()
    opening = Signal()
    began = Signal(object)
    asked = Signal(object)
    rested = Signal()
    said = Signal(str)

    def __init__(
        self, session: Session, banner: Banner, make_worker: Callable[[], Worker], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._session, self._banner = session, banner
        self._make_worker = make_worker
        #: Whether the next run is made by another worker.
        self._replaces = False
        self.queue = RunQueue()
        self._worker: Worker | None = None
        self._opening: Worker | None = None
        #: What the audit file keeps of the queue.
        self._kept: tuple[WaitingRun, ...] = ()
        #: The runs of it that were not started, as the log tells.
        self._logged: list[QueuedRun] = []
        #: Whether nothing begins any more.
        self._closing = False

    @property
    def opens(self) -> bool:
        """Whether the model is being opened."""
        return self._opening is not None

    @property
    def idle(self) -> bool:
        """Whether a run that is asked for begins at once."""
        return not self._busy and not self.opens and not self.queue.waiting

    @property
    def _busy(self) -> bool:
        return self._session.driver.busy

    def use(self, worker: Worker) -> None:
        """Use a worker that has the audit's model open; it is closed in the end."""
        if self._worker is not None and self._worker is not worker:
            self._worker.close()
        self._worker = worker

    def change_worker(self) -> None:
        """Have the next run made by another worker: where runs are made was changed."""
        self._replaces = True

    def ask(self, runs: Sequence[RunSpec], seconds: float | None = None) -> None:
        """Begin runs, or let them wait until what was asked for before is over.

        Parameters
        ----------
        runs : sequence of RunSpec
            At least one.
        """
        decided = bool(self._session.spec.predictions)
        rates = all(METHODS[run.method].answers is QuestionKind.RATES for run in runs)
        if decided and not rates:
            return
        if decided and self._worker is None:
            # there is no model to open
            self._worker = self._make_worker()
            self._replaces = False
        idle = self.idle
        added = self.queue.add(runs, seconds)
        if idle:
            self._banner.clear()
            self.asked.emit(added[0])
        else:
            waiting = words.counted(len(self.queue.waiting), "run")
            self.said.emit(f"Added to the queue, in which {waiting} wait.")
        self._change()
        self.advance()

    def advance(self) -> None:
        """Begin the next run with the model that is open, else open it again first."""
        if self._busy or self.opens or self._closing or not self.queue.waiting:
            return
        if self._replaces and self._worker is not None:
            self._worker.close()
            self._worker = self._make_worker() if self._session.spec.predictions else None
        self._replaces = False
        if self._worker is None:
            self._open_model()
            return
        begun = self.queue.begin()
        if begun is not None:
            self._session.start(self._worker, begun.spec)
            self.began.emit(begun.spec)
        self._change()

    def end(self, state: RunState, elapsed: float) -> None:
        """Put down how the run under way ended, and begin the next one."""
        stands = state.state if state.state in OVER else "stopped"
        why = state.message if stands == "failed" else ""
        self.queue.end(stands, run_id=state.id, elapsed=elapsed, why=why)
        if not state.id:
            # it ended before it could be written down as a run
            self._banner.say("The run could not be started.", state.message)
        self._change()
        self.advance()

    def stop(self) -> None:
        """Stop the run: the next one begins. Or the opening of the model, and all that wait."""
        if self.opens:
            self.stop_all()
        else:
            self._session.driver.stop()

    def stop_all(self) -> None:
        """Stop the run, or the opening of the model, and drop the runs that wait."""
        dropped = self.queue.drop_waiting()
        if self._opening is None:
            if dropped:
                waiting = words.counted(len(dropped), "run")
                self.said.emit(f"Stopping; {waiting} in the queue will not start.")
            self._session.driver.stop()
        else:
            self._opening.close()
            self._opening = None
            self.rested.emit()
            self.said.emit("Stopped before the run had started.")
        self._change()

    def place(self, number: int, place: int) -> None:
        """Give a run that waits another place; one dragged among what is over goes back."""
        self.queue.move(number, place)
        self._change()

    def drop(self, number: int) -> None:
        """Take a run that waits out of the queue."""
        if self.queue.drop(number):
            self._change()

    def restore(self, number: int) -> None:
        """Put a run that was dropped back into the queue."""
        if self.queue.restore(number):
            self._change()

    def offer(self, kept: tuple[WaitingRun, ...]) -> None:
        """Offer the runs that waited when the audit was closed."""
        if not kept or not self.queue.idle or self._closing:
            return
        self.queue.take_up(kept)
        self._kept = kept
        self._change()
        waiting = self.queue.waiting
        self._banner.say(
            f"{words.counted(len(waiting), 'run').capitalize()} did not start before this audit "
            "was closed.",
            f"Waiting: {waiting_text(waiting)}.",
            (("Start now", self._go_on), ("Drop", self._drop_waiting)),
        )

    def begin_no_more(self) -> None:
        """Let the run under way be the last one."""
        self._closing = True

    def close(self) -> None:
        """Close the model."""
        self._closing = True
        for worker in (self._worker, self._opening):
            if worker is not None:
                worker.close()
        self._worker = self._opening = None

    def _go_on(self) -> None:
        self._banner.clear()
        self.advance()

    def _drop_waiting(self) -> None:
        self._banner.clear()
        self.queue.drop_waiting()
        self._change()

    def _open_model(self) -> None:
        """Open the model for the runs that wait."""
        spec, places = self._session.spec, dict(self._session.study.places)
        self._banner.clear()
        self.opening.emit()
        worker = self._opening = self._make_worker()
        in_background(
            self,
            lambda: reopen(spec, places, worker),
            lambda _none: self._opened(worker),
            lambda error: self._not_open(worker, error),
        )
        self._change()

    def _opened(self, worker: Worker) -> None:
        if worker is self._opening:  # else nobody waits for it any more, and it is closed
            self._opening, self._worker = None, worker
            self.advance()

    def _not_open(self, worker: Worker, error: FairDeskError) -> None:
        if worker is not self._opening:
            return
        self._opening = None
        worker.close()
        self.rested.emit()
        self._change()
        tell_trouble(self._session, self._banner, error, self.advance)

    def _change(self) -> None:
        """Say that the queue is another, and keep in the file what waits."""
        self.changed.emit()
        self._log_dropped()
        kept = self.queue.kept()
        if kept != self._kept:
            self._kept = kept
            self._session.store.ask(lambda store: store.write_waiting_runs(kept))

    def _log_dropped(self) -> None:
        """Log which runs were not started: else they would be missed."""
        for each in self.queue.runs:
            lost = each.stands == "dropped" or (each.stands == "failed" and not each.run_id)
            if lost and each not in self._logged:
                why = each.why or "it was removed from the queue."
                self._session.store.ask(partial(Store.drop_run, run=each.spec, why=why))
        self._logged = [each for each in self.queue.runs if each.stands in ("dropped", "failed")]
