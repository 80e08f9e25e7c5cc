"""An audit from its question to its files, without a window."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import msgspec

from fairdesk.app.outputs import AUDIT_FILE, ON_REQUEST, make_folder, make_room, write_outputs
from fairdesk.app.pair_files import PairFiles
from fairdesk.app.plan import TEXT, AuditPlan
from fairdesk.app.standard import (
    LEAST_SECONDS,
    OUT_OF_TIME,
    StandardPlan,
    StandardRuns,
    TimeLeft,
    standard_runs,
    with_time,
)
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.plan.spec import AuditSpec, Limits, RunSpec
from fairdesk.audit.runs.inspection import Inspection, Subject, inspect
from fairdesk.audit.runs.plausibility import PlausibleShare, plausible_share, weigh_run
from fairdesk.audit.runs.run import check_run
from fairdesk.audit.runs.run import run as run_audit
from fairdesk.audit.sandbox.process import COMPARING_GUEST
from fairdesk.audit.store.records import Noted, RunRecord, RunState
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.cluster.worker import in_parts
from fairdesk.data.domain.feasibility import check_admits
from fairdesk.data.domain.support import CompanionChoice
from fairdesk.data.profiling.profile import problems
from fairdesk.data.table import Table
from fairdesk.errors import SpecError, concerning
from fairdesk.wording import inspected
from fairdesk.wording.attributes import not_received, support_said

log = logging.getLogger(__name__)


class Question(msgspec.Struct, frozen=True):
    """What is to be audited, as somebody names it.

    Attributes
    ----------
    subject : Subject
        The data and the model.
    protected : tuple[str, ...]
        The columns that are compared.
    runs : tuple[RunSpec, ...]
        The methods, each with its options and its seed, in their order.
    title, person : str
        As in `fairdesk.audit.plan.spec.AuditSpec`; without a person, what the data suggest.
    limits : Limits
        What may be asked about, where that is not simply what the data hold.
    companions : CompanionChoice
        Which attributes change with a protected one.
    standard : StandardPlan, optional
        Instead of ``runs``: a standard audit.
    seconds : float, optional
        The time limit of all ``runs`` together; without it each has its own budget. That of a
        standard audit is its own.
    files : tuple[str, ...]
        The names of the files that are written beside the audit; empty for those of every audit.
    all_pairs : bool
        Whether all pairs are compared with the data, instead of the first of each run, and also
        written as JSON.
    accept_guesses : bool
        As of `fairdesk.app.plan.AuditPlan`.
    """

    subject: Subject
    protected: tuple[str, ...]
    runs: tuple[RunSpec, ...]
    title: str
    person: str = ""
    limits: Limits = Limits()
    companions: CompanionChoice = "auto"
    standard: StandardPlan | None = None
    seconds: float | None = None
    files: tuple[str, ...] = ()
    all_pairs: bool = False
    accept_guesses: bool = False

    @property
    def limit(self) -> float | None:
        """The time limit of the whole audit in seconds."""
        return self.seconds if self.standard is None else self.standard.limit


class Outcome(msgspec.Struct, frozen=True):
    """What came of an audit.

    Attributes
    ----------
    spec : AuditSpec
        What was asked.
    found : Inspection
        The data and the model, and how far they agree.
    runs : tuple[RunRecord, ...]
        What each found.
    files : dict[str, str]
        Name and place of each file that was written.
    trouble : str
        Why files are missing, whole sentences; empty when none is.
    warnings : tuple[str, ...]
        What looks wrong with the model, its inputs or their columns, a sentence or two each.
    left_out : dict[str, str]
        By the method's key, what a standard audit left out: why, a sentence.
    plausible : dict[int, PlausibleShare]
        By the run's number, how many of its pairs are plausible; without those that found none.
    unmeasured : tuple[str, ...]
        Why methods measured nothing, a sentence each.
    """

    spec: AuditSpec
    found: Inspection
    runs: tuple[RunRecord, ...]
    files: dict[str, str]
    trouble: str
    warnings: tuple[str, ...]
    left_out: dict[str, str] = {}
    plausible: dict[int, PlausibleShare] = {}
    unmeasured: tuple[str, ...] = ()

    @property
    def nothing_measured(self) -> bool:
        """Whether no method measured anything: then there is no report."""
        return bool(self.unmeasured) and not any(map(_measured, self.runs))

    @property
    def failure(self) -> str:
        """Why the audit failed, whole sentences; empty when it did not.

        That of the first run that failed says more than that of files; a run that is done may have
        a message, too.
        """
        failed = (run.message for run in self.runs if run.state == "failed")
        return next(failed, self.trouble)

    @property
    def stopped(self) -> bool:
        """Whether a run was stopped before its end."""
        return any(run.state == "stopped" for run in self.runs)


def audit(
    worker: Worker,
    question: Question,
    folder: Path,
    watch: Callable[[RunState], None],
    stopped: Callable[[], bool] = lambda: False,
    began: float | None = None,
) -> Outcome:
    """Make an audit and write its files.

    Parameters
    ----------
    worker : Worker
        Stopping it ends the search; what was found until then is written.
    folder : Path
        Where the files go; made when it is missing. The files of an earlier audit in it are
        moved to a folder of their own inside it.
    watch : callable
        Told every state of the run, then its end again with each file that is written as its
        phase. Before the first run, states of no run (number 0) whose phase says what goes on.
    stopped : callable, optional
        Tells whether the audit is to end, also where that was said while the worker did nothing.
    began : float, optional
        From when its time limit counts, by `time.monotonic`; from now on when left out.

    Raises
    ------
    FairDeskError
        When the audit cannot begin. A search that fails is told in the run's record, with what
        was found until then; files that cannot be written are told in `Outcome.trouble`.
    """
    with concerning("out"):
        make_folder(folder)
    with closing(PairFiles()) as pair_files:
        time_left = TimeLeft(question.limit, began)
        return _audit(worker, pair_files, question, folder, watch, stopped, time_left)


def _audit(
    worker: Worker,
    pair_files: PairFiles,
    question: Question,
    folder: Path,
    watch: Callable[[RunState], None],
    stopped: Callable[[], bool],
    time_left: TimeLeft,
) -> Outcome:
    # where no method was asked for, the report still counts groups
    state = RunState(0, "groups", "running", phase="opening the data and the model")
    watch(state)
    found = inspect(
        worker,
        question.subject,
        lambda sentence: watch(msgspec.structs.replace(state, phase=sentence)),
    )
    spec = _spec(question, found)
    runs, left_out = _runs(question, spec, found)
    with concerning("out"):
        make_room(folder)
    with Store.create(folder / AUDIT_FILE, spec, found.table) as store, ExitStack() as also_open:
        _log_plan(store, found, runs)
        state = RunState(0, "groups", "done")
        people = spec.domain.people(found.table)
        comparing = worker
        if spec.trusted or any(each.trusted for each in spec.model.companions):
            # a guest that runs programs of the model's author does not say what is plausible
            comparing = also_open.enter_context(closing(Worker(command=COMPARING_GUEST)))

        def doing(phase: str, done: int = 0, total: int = 0) -> None:
            watch(msgspec.structs.replace(state, phase=phase, done=done, total=total))

        unweighed: list[str] = []
        refused: list[str] = []
        not_begun: list[str] = []
        left = list(runs)
        time_left.note("")
        while left and not stopped() and state.state != "stopped":
            run = left.pop(0)
            if (seconds_left := time_left.seconds) is not None:
                if seconds_left < LEAST_SECONDS:
                    not_begun.append(store.drop_run(run, OUT_OF_TIME))
                    continue
                run = with_time(run, left, seconds_left)
            try:
                for state in states_of(worker, store, run, stopped):
                    time_left.note(state.phase)
                    watch(state)
                    if not question.files:
                        pair_files.expect(state.found)
                if state.found:
                    weigh = partial(weigh_run, comparing, store, state.id, people)
                    unweighed.append(weigh(partial(doing, "weighing"), every=question.all_pairs))
            except SpecError as error:
                # a repair may turn out to have nothing to work with; what was found is written
                log.warning("%s was not begun: %s", run.method, error)
                refused.append(str(error))
                store.drop_run(run, str(error))

        not_begun += [store.drop_run(run, "the audit was stopped.") for run in left]
        done = tuple(store.runs())
        unmeasured = (*not_begun, *refused, *left_out.values(), *_unmeasured(done))
        # a report, and tables, of nothing would pass for a result
        wanted = (AUDIT_FILE,) if unmeasured and not any(map(_measured, done)) else question.files
        also = ON_REQUEST if question.all_pairs else ()
        files, trouble, unwritten = write_outputs(
            store, folder, lambda name: doing(f"writing {name}"), wanted, pair_files, also
        )
        if question.standard is not None:
            # nobody asked for that method
            not_begun, refused = [*not_begun, *refused], []
        warnings = (
            *not_begun,
            *warnings_of(spec, found.table, done, inspected.notes(found)),
            *dict.fromkeys(filter(None, unweighed)),
            *unwritten,
        )
        shares = {run.id: plausible_share(store, people, run.id) for run in done if run.found}
        return Outcome(
            spec,
            found,
            done,
            files,
            refused[0] if refused else trouble,
            warnings,
            left_out,
            {run_id: share for run_id, share in shares.items() if share is not None},
            unmeasured,
        )


def _log_plan(store: Store, found: Inspection, runs: Sequence[RunSpec]) -> None:
    """Log how often the model matches the outcome, what to check, and which runs are to be made."""
    if (agreed := inspected.agreed(found.proof)) is not None:
        store.log(inspected.agreement(agreed), "begun", agreed)
    for note in inspected.notes(found):
        store.log(note, "begun", Noted(note))
    for sentence in support_said(store.spec.domain):
        store.log(sentence, "begun")
    store.plan_runs(runs)


def _measured(run: RunRecord) -> bool:
    """Return whether there is any result of a run."""
    return bool(run.tried or run.found or run.figures)


def _unmeasured(runs: Collection[RunRecord]) -> Iterator[str]:
    """Yield why runs that began measured nothing."""
    for run in runs:
        # that a run failed is said apart
        if run.state != "failed" and not _measured(run):
            why = run.message or (
                "It ended before its first result."
                if run.state != "done" or not run.rejected
                else "No instance that it reached has a comparison that the data support."
            )
            yield f"“{method_named(run.method).title}” measured nothing: {why}"


def _runs(
    question: Question, spec: AuditSpec, found: Inspection
) -> tuple[tuple[RunSpec, ...], dict[str, str]]:
    """Return the runs of a question, each of which can begin, and what is left out.

    Raises
    ------
    SpecError
        When a run that was asked for cannot begin.
    """
    made = (
        StandardRuns(question.runs, {})
        if question.standard is None
        else standard_runs(question.standard, spec, found.table)
    )
    for run in made.runs:
        check_run(run, spec)
    return made.runs, made.left_out


def states_of(
    worker: Worker, store: Store, run: RunSpec, stopped: Callable[[], bool]
) -> Iterator[RunState]:
    """Run a method, and stop it too where that was asked for before its search had begun."""
    for state in run_audit(worker, store, in_parts(run, worker)):
        yield state
        if stopped() and state.state in ("running", "paused"):
            worker.stop()


def _not_compared(spec: AuditSpec) -> Iterator[str]:
    """Yield which protected attributes the model is not given, where others are compared."""
    yield from map(not_received, spec.only_said)
    if spec.domain.protected.size:
        for attribute in spec.domain.unseen:
            yield (
                f"The model does not receive “{attribute.name}”: groups are compared by it, but "
                "changing it changes no decision."
            )


def warnings_of(
    spec: AuditSpec, table: Table, runs: Collection[RunRecord], notes: Iterable[str]
) -> tuple[str, ...]:
    """Gather what looks wrong: runs without a result, the model, how it is fed, and columns.

    Of cells that are not what the rest of their column is, what was done with them is told too.

    Parameters
    ----------
    notes : iterable of str
        What was noticed when data and model were opened.
    """
    columns = {*spec.domain.names, *(each.name for each in spec.domain.unseen), spec.label}
    return (
        *_unmeasured(runs),
        *inspected.of_spec(spec),
        *notes,
        *(
            f"{problem.what} {problem.remedy}" if problem.changes else problem.what
            for problem in problems(table)
            if problem.column in columns
        ),
        *support_said(spec.domain),
        *_not_compared(spec),
    )


def plan_of(question: Question, found: Inspection) -> AuditPlan:
    """Return the plan that a question comes to, once data and model are open.

    Raises
    ------
    DataError, SpecError
        As `AuditPlan.protect`.
    """
    subject = question.subject
    plan = AuditPlan(
        table=found.table,
        person=question.person or "person",
        label=subject.label,
        favourable=found.favourable,
        card=found.card,
        # one that needs trust was not opened without
        trusted=True,
        predictions=subject.predictions,
        mapping=found.mapping,
        proof=found.proof,
        title=question.title,
        accept_guesses=question.accept_guesses,
    )
    if not question.person and plan.only_texts:
        plan.person = TEXT
    edges = {name for run in question.runs for name in run.edges}
    if question.standard is not None:
        edges.update(question.standard.edges)
    plan.protect(question.protected, question.limits, edges)
    plan.companion_choice = question.companions
    return plan


def _spec(question: Question, found: Inspection) -> AuditSpec:
    """Freeze the question, unless nobody fulfils what it asks for."""
    spec = plan_of(question, found).spec()
    if not spec.predictions and not spec.domain.obstacle:
        with concerning("limits"):
            # what the data do not support is told, and no reason to refuse
            domain = spec.domain.every_combination
            check_admits(domain, domain.people(found.table))
    return spec
