"""A repair of an audit's model from its question to what is exported, without a window."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from fairdesk.app.audit import states_of
from fairdesk.app.outputs import make_folder
from fairdesk.audit.plan.spec import AuditSpec, RunSpec
from fairdesk.audit.runs.inspection import MovedError, reopen
from fairdesk.audit.runs.mitigation import check_repair, completed, with_rule
from fairdesk.audit.runs.run import check_run
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.errors import FairDeskError, ModelError, SpecError
from fairdesk.files import sha256
from fairdesk.report.export.mitigation import write_repair
from fairdesk.results.trials import lowest_portion, repair_of, trial_of, trials_of
from fairdesk.samples import is_sample_file

log = logging.getLogger(__name__)


class RepairQuestion(msgspec.Struct, frozen=True):
    """What is to be repaired, as somebody names it.

    Attributes
    ----------
    audit : Path
        The audit, with what was found.
    run : RunSpec
        The method, its options, and what it works with.
    out : Path
        The folder for what is exported.
    rule : int, optional
        Of a repair of groups: the number of the rule set, from 1; by default the worst one.
    trial : int, optional
        The number of the trial that is exported; by default the chosen one.
    provenance : str
        Where it is told what a row comes from: as in `fairdesk.report.export.mitigation`.
    model : Path, optional
        Where the audited model's file is now, if it was moved.
    trusted : bool
        Whether a model file that is a program may run. FairDesk's own samples always may.
    """

    audit: Path
    run: RunSpec
    out: Path
    rule: int | None = None
    trial: int | None = None
    provenance: Literal["sidecar", "columns"] = "sidecar"
    model: Path | None = None
    trusted: bool = False


class RepairOutcome(msgspec.Struct, frozen=True):
    """What came of a repair.

    Attributes
    ----------
    spec : AuditSpec
        What was asked in the audit.
    run : RunRecord
        The repair as the audit remembers it.
    exported : int, optional
        The number of the trial that was exported.
    files : dict[str, str]
        Name and place of each file that was written.
    trouble : str
        Why files are missing, whole sentences; empty when none is.
    """

    spec: AuditSpec
    run: RunRecord
    exported: int | None
    files: dict[str, str]
    trouble: str


def repair(
    worker: Worker,
    question: RepairQuestion,
    watch: Callable[[RunState], None],
    stopped: Callable[[], bool] = lambda: False,
) -> RepairOutcome:
    """Repair the model of an audit, keep that in the audit, and export what came of it.

    Parameters
    ----------
    worker : Worker
        Stopping it ends the repair; what was measured until then is kept, and exported.
    watch : callable
        Told every state of the run, then its end again while files are written.
    stopped : callable, optional
        As of `audit`.

    Raises
    ------
    FairDeskError
        When the repair cannot begin. One that fails is told in the run's record; files that
        cannot be written are told in `RepairOutcome.trouble`.
    """
    with Store.open(question.audit) as store:
        store.close_interrupted_runs()
        run = question.run
        check_run(run, store.spec)
        if question.rule is not None:
            run = with_rule(run, store, question.rule)
        run = completed(run, store)
        check_repair(run, store)
        make_folder(question.out)
        _reopen(worker, store.spec, question)
        for state in states_of(worker, store, run, stopped):
            watch(state)
        record = store.runs()[-1]
        exported, files, trouble = None, dict[str, str](), ""
        try:
            exported = trial_to_export(record, question.trial)
            if exported is not None:
                watch(msgspec.structs.replace(state, phase="writing the files"))
                written = write_repair(
                    store,
                    worker,
                    record.id,
                    exported,
                    question.out.absolute(),
                    provenance=question.provenance,
                )
                files = {name: str(path) for name, path in written.items()}
                store.exported(
                    f"Exported model {exported} of the mitigation run {record.id} to "
                    f"{question.out.absolute()}.",
                    written,
                )
        except FairDeskError as error:
            log.warning("the repair was not exported: %s", error, exc_info=True)
            trouble = str(error)
        return RepairOutcome(store.spec, record, exported, files, trouble)


def _reopen(worker: Worker, spec: AuditSpec, question: RepairQuestion) -> None:
    """Open the audited model.

    Raises
    ------
    FairDeskError
        When it is not there any more, is another one, or cannot be opened.
    """
    places = {} if question.model is None else {Path(spec.model.path): question.model}

    def trusting(path: Path) -> bool:
        return question.trusted or is_sample_file(sha256(path))

    try:
        reopen(spec, places, worker, trusting=trusting)
    except MovedError as error:
        raise ModelError(
            error.what,
            why=error.why,
            remedy=(
                "Give the audited file with --model; its companion files are searched for where "
                "they were, and next to it."
            ),
        ) from error


def trial_to_export(run: RunRecord, wanted: int | None) -> int | None:
    """Say which trial of a repair is exported: what somebody wants, else the chosen one.

    Where none was shown to help it is the portion that leaves least to repair, and is told to be
    no more. Of a model that cannot be retrained there is one trial, and rows to add all the same.

    Raises
    ------
    SpecError
        When there is no such trial.
    """
    repair = repair_of(run.figures)
    if repair is None:
        return None
    if wanted is None:
        if not repair.retrains and repair.rows:
            return 0
        lowest = lowest_portion(run.figures)
        return repair.chosen if repair.chosen >= 0 else None if lowest is None else lowest.number
    trial = trial_of(run.figures, wanted)
    if trial is None or trial.failed:
        there = ", ".join(str(each.number) for each in trials_of(run.figures) if not each.failed)
        raise SpecError(
            f"There is no candidate model {wanted} to export."
            if trial is None
            else f"Candidate {wanted} has no model to export.",
            why="" if trial is None else trial.failed,
            remedy=f"The mitigation is kept in the audit. Its candidates are: {there}.",
        )
    return wanted
