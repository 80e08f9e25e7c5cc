"""Which runs the auditor asks for: by buttons of pages, by keys, in dialogs."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from fairdesk.answers.selection import all_off
from fairdesk.app.time_limits import timed_run
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.gui.kit.parts import open_dialog
from fairdesk.gui.workspace.common.answering import estimates, proves
from fairdesk.gui.workspace.compare.compare_dialog import CompareDialog
from fairdesk.gui.workspace.mitigation.page import repairs
from fairdesk.gui.workspace.queue.runner import Runner
from fairdesk.gui.workspace.session.session import Session
from fairdesk.gui.workspace.shell.again_dialog import AgainDialog
from fairdesk.gui.workspace.subgroups.findings_view import METHOD
from fairdesk.gui.workspace.subgroups.terms_view import text_columns

#: Seconds after which an estimate or a proof ends where nothing else was asked for.
_SECONDS = 60.0


class RunRequests(QObject):
    """Makes what is asked of each run, and has the runner make it once the model is open."""

    def __init__(self, session: Session, runner: Runner, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._runner, self._window = session, runner, window

    def estimate(self) -> None:
        """Estimate how common it is."""
        self._runner.ask((self._anew(estimates(self._session.spec), _SECONDS),))

    def prove(self) -> None:
        """Prove what can be proven."""
        self._runner.ask((self._anew("certify", _SECONDS),))

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
            self._runner.ask((self._anew(METHOD, None),))
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
            self._runner.ask((msgspec.structs.replace(self._anew(METHOD, None), text=texts[0]),))

    def measure_groups(self) -> None:
        """Count how groups fare; no model is needed for that."""
        self.run_method("groups")

    def run_method(self, method: str) -> None:
        """Run a method as it is usually run, with a seed that it has not used."""
        self._runner.ask((self._anew(method, None),))

    def diagnose(self) -> None:
        """Check whether the search's own estimates hold."""
        self.run_method("diagnose")

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
        if self._session.spec.predictions:
            return
        seed = max((run.seed for run in self._made()), default=-1) + 1
        dialog = CompareDialog(self._session.spec, seed, self._window, queued=not self._runner.idle)
        dialog.accepted.connect(lambda: self._runner.ask(dialog.runs()))
        open_dialog(dialog)

    def run_again(self) -> None:
        """Ask for another run, and begin it once the model is open."""
        if self._session.spec.predictions:
            return
        # a repair is asked for on its own page
        runs = [run for run in self._session.runs if not repairs(run)]
        spec = self._session.spec
        # what is offered first must be possible
        first = METHOD if not runs and all_off(spec, QuestionKind.EXAMPLES) else ""
        last = runs[-1] if runs else None
        dialog = AgainDialog(spec, last, self._window, method=first, queued=not self._runner.idle)
        dialog.accepted.connect(lambda: self._runner.ask((dialog.run(),)))
        open_dialog(dialog)

    def _anew(self, method: str, seconds: float | None) -> RunSpec:
        """Ask for a run of a method as it is usually made."""
        method_named(method)
        fresh = timed_run(RunSpec(method, budget=Budget(seconds=seconds), plausible=True))
        return msgspec.structs.replace(fresh, seed=self._next_seed(fresh))

    def _next_seed(self, run: RunSpec) -> int:
        """Return a seed that no run of the method has used, the first above all of them."""
        used = [each.seed for each in self._made() if each.method == run.method]
        return max(used, default=-1) + 1

    def _made(self) -> tuple[RunSpec, ...]:
        """Return what was asked of all runs, those included that wait."""
        queued = tuple(each.spec for each in self._runner.queue.runs)
        return (*(each.spec for each in self._session.runs), *queued)
