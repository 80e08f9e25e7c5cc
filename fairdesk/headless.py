"""One audit from its question to its files, without a window."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

import msgspec

from fairdesk.audit.inspection import Inspection, Subject, inspect
from fairdesk.audit.methods import ABOUT_GROUPS, method_named
from fairdesk.audit.question import Limits, domain_of
from fairdesk.audit.run import check_run
from fairdesk.audit.run import run as run_audit
from fairdesk.audit.schema import release
from fairdesk.audit.spec import AuditSpec, RunSpec
from fairdesk.audit.store import RunRecord, RunState, Store
from fairdesk.audit.weighing import weigh_findings
from fairdesk.audit.worker import Worker
from fairdesk.certify.certificate import SUFFIX
from fairdesk.data.profile import problems
from fairdesk.data.witness import check_admits
from fairdesk.errors import FairDeskError, ReportError
from fairdesk.report import inspected
from fairdesk.report.document import write_pdf
from fairdesk.report.exports import (
    GROUP_FILES,
    UnlabelledError,
    group_files,
    write_certificate,
    write_findings_csv,
    write_findings_json,
    write_retraining_csv,
)

log = logging.getLogger(__name__)

AUDIT_FILE, REPORT = "audit.fairdesk", "report.pdf"
#: What an audit leaves in its folder, and who writes it.
OUTPUTS = {
    "findings.csv": write_findings_csv,
    "findings.json": write_findings_json,
    "retraining.csv": write_retraining_csv,
    REPORT: write_pdf,
}
#: What it leaves besides, where a method has proven something; of a second one with its number.
CERTIFICATE = f"certificate{SUFFIX}"


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
        As in `fairdesk.audit.spec.AuditSpec`.
    limits : Limits
        What may be asked about, where that is not simply what the data hold.
    """

    subject: Subject
    protected: tuple[str, ...]
    runs: tuple[RunSpec, ...]
    title: str
    person: str = "person"
    limits: Limits = Limits()


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
    """

    spec: AuditSpec
    found: Inspection
    runs: tuple[RunRecord, ...]
    files: dict[str, str]
    trouble: str
    warnings: tuple[str, ...]


def audit(
    worker: Worker, question: Question, folder: Path, watch: Callable[[RunState], None]
) -> Outcome:
    """Make an audit and write its files.

    Parameters
    ----------
    worker : Worker
        Stopping it ends the search; what was found until then is written.
    question : Question
        What to audit.
    folder : Path
        Where the files go; made when it is missing. The files of an earlier audit in it are
        moved to a folder of their own inside it.
    watch : callable
        Told every state of the run, then its end again with each file that is written as its
        phase.

    Raises
    ------
    FairDeskError
        When the audit cannot begin. A search that fails is told in the run's record, with what
        was found until then; files that cannot be written are told in `Outcome.trouble`.
    """
    _make_folder(folder)
    found = inspect(worker, question.subject, lambda _sentence: None)
    spec = _spec(question, found)
    for run in question.runs:
        check_run(run, spec)
    _make_room(folder)
    with Store.create(folder / AUDIT_FILE, spec, found.table) as store:
        if found.proof is not None:
            store.log(inspected.agreement(found))
        # where no method was asked for, the report still counts groups
        state = RunState(0, "groups", "done")
        for run in question.runs:
            for state in run_audit(worker, store, run):
                watch(state)
            if state.state == "stopped":
                break

        def doing(phase: str, done: int = 0, total: int = 0) -> None:
            watch(msgspec.structs.replace(state, phase=phase, done=done, total=total))

        unweighed = _weigh(worker, store, found, doing)
        files, trouble, left_out = _write_outputs(
            store, folder, lambda name: doing(f"writing {name}")
        )
        names = (*spec.domain.names, *(each.name for each in spec.domain.unseen))
        warnings = (*_warnings(found, names), *unweighed, *left_out)
        return Outcome(spec, found, tuple(store.runs()), files, trouble, warnings)


def _weigh(
    worker: Worker, store: Store, found: Inspection, doing: Callable[[str, int, int], None]
) -> tuple[str, ...]:
    """Tell how near to real people the findings are; gives a sentence when that was not done."""
    if not any(run.found for run in store.runs()):
        return ()
    try:
        people = store.spec.domain.people(found.table)
        weigh_findings(worker, store, people, lambda done, total: doing("weighing", done, total))
    except FairDeskError as error:
        log.warning("findings were not weighed: %s", error)
        return (f"Findings were not all compared with real people: {error}",)
    return ()


def _warnings(found: Inspection, attributes: Collection[str]) -> tuple[str, ...]:
    """Gather what looks wrong: with the model, how it is fed, and the columns that it takes."""
    inputs = [problem.what for problem in problems(found.table) if problem.column in attributes]
    return (*inspected.warnings(found), *inputs)


def _spec(question: Question, found: Inspection) -> AuditSpec:
    """Freeze the question."""
    subject, table, card = question.subject, found.table, found.card
    domain = domain_of(
        table,
        found.mapping,
        subject.label,
        question.protected,
        question.limits,
        takes_missing=() if found.proof is None else found.proof.takes_missing,
        predictions=subject.predictions,
    )
    if not subject.predictions and not domain.obstacle:
        check_admits(domain, domain.people(table))
    return AuditSpec(
        title=question.title,
        person=question.person,
        data=table.source,
        columns=table.columns,
        label=subject.label,
        favourable=found.favourable,
        model=card,
        mapping=found.mapping,
        domain=domain,
        trusted=card.needed_trust,
        predictions=subject.predictions,
    )


def _write_outputs(
    store: Store, folder: Path, begin: Callable[[str], None]
) -> tuple[dict[str, str], str, tuple[str, ...]]:
    """Write what an audit leaves, whatever of it can be; ``begin`` is told each file's name.

    Returns
    -------
    files : dict[str, str]
        Name and place of each file that is there.
    trouble : str
        Why others could not be written, or empty.
    left_out : tuple[str, ...]
        Why others have no meaning for this audit.
    """
    files = {AUDIT_FILE: str((folder / AUDIT_FILE).absolute())}
    about_people = any(
        method_named(run.spec.method).answers not in ABOUT_GROUPS for run in store.runs()
    )
    troubles = {}
    left_out = []
    for name, write in (OUTPUTS | group_files(store) | _certificates(store)).items():
        # groups are no pairs of people, nor is there anybody to compare without a model
        if not about_people and name in OUTPUTS and name != REPORT:
            continue
        begin(name)
        try:
            write(store, folder / name)
        except UnlabelledError as error:
            left_out.append(str(error))
        except FairDeskError as error:
            log.warning("%s: %s", name, error, exc_info=True)
            troubles[name] = str(error)
        else:
            files[name] = str((folder / name).absolute())
    first, *others = troubles.values() or [""]
    if others:
        first += f" Not written either: {', '.join(list(troubles)[1:])}."
    return files, first, tuple(left_out)


def _certificates(store: Store) -> dict[str, Callable[[Store, Path], None]]:
    """Name the certificates that there are, and say who writes each."""
    writers: dict[str, Callable[[Store, Path], None]] = {}
    for run in store.certified_runs():
        name = f"certificate-{run}{SUFFIX}" if writers else CERTIFICATE
        writers[name] = partial(_write_certificate, run)
    return writers


def _write_certificate(run_id: int, store: Store, path: Path) -> None:
    write_certificate(store, run_id, path)


def _make_folder(folder: Path) -> None:
    """Make the folder of the results.

    Raises
    ------
    ReportError
        When that cannot be done, or files cannot be made in it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReportError(
            f"The folder “{folder}” cannot be made.",
            why=f"The system says: {error.strerror or error}.",
            remedy="Choose another folder.",
        ) from error
    if not os.access(folder, os.W_OK):
        raise ReportError(
            f"You may not write to the folder “{folder}”.", remedy="Choose another folder."
        )


def _make_room(folder: Path) -> None:
    """Move the files of an earlier audit out of the way, into a folder of their own.

    Raises
    ------
    StoreError
        When the earlier audit is open elsewhere.
    ReportError
        When its files cannot be moved.
    """
    names = (AUDIT_FILE, *OUTPUTS, *GROUP_FILES)
    there = [folder / name for name in names if (folder / name).exists()]
    there += sorted(folder.glob(f"certificate*{SUFFIX}"))
    if not there:
        return
    if (folder / AUDIT_FILE).exists():
        release(folder / AUDIT_FILE)
    number = 1
    while (folder / f"earlier-{number}").exists():
        number += 1
    earlier = folder / f"earlier-{number}"
    try:
        earlier.mkdir()
        for path in there:
            path.rename(earlier / path.name)
    except OSError as error:
        raise ReportError(
            f"The files of an earlier audit in “{folder}” cannot be moved out of the way.",
            why=f"The system says: {error.strerror or error}.",
            remedy="Choose another folder.",
        ) from error
    log.info("moved an earlier audit to %s", earlier)
