"""One audit from its question to its files, without a window."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec

from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.plan.plan import Limits, domain_of
from fairdesk.audit.plan.spec import AuditSpec, RunSpec
from fairdesk.audit.runs.inspection import Inspection, Subject, inspect
from fairdesk.audit.runs.mitigation import check_repair, completed, with_rule
from fairdesk.audit.runs.plausibility import weigh_findings
from fairdesk.audit.runs.reopening import MovedError, reopen
from fairdesk.audit.runs.run import check_run
from fairdesk.audit.runs.run import run as run_audit
from fairdesk.audit.store.details import Categories, Choice, Details
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.audit.store.schema import release
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.certify.proof.certificate import SUFFIX
from fairdesk.data.domain.feasibility import check_admits
from fairdesk.data.profiling.profile import problems
from fairdesk.errors import FairDeskError, ModelError, ReportError, SpecError, StoreError
from fairdesk.files import sha256
from fairdesk.report.content.choosing import Part, parts
from fairdesk.report.content.choosing import check as check_parts
from fairdesk.report.content.fields import LABELS, read_details, read_logo
from fairdesk.report.content.status import check_final, mark_final, standing
from fairdesk.report.document import Format, Written, whole_report, write_pdf, write_report
from fairdesk.report.export.exports import (
    GROUP_FILES,
    UnlabelledError,
    group_files,
    write_certificate,
    write_findings_csv,
    write_findings_json,
    write_retraining_csv,
)
from fairdesk.report.export.mitigation import write_repair
from fairdesk.report.provenance.manifest import sidecar
from fairdesk.report.provenance.signing import Key, open_key, read_key
from fairdesk.report.writing import check_place, replacing
from fairdesk.results.trials import lowest_portion, repair_of, trial_of, trials_of
from fairdesk.samples import is_sample_file
from fairdesk.wording import inspected

log = logging.getLogger(__name__)

AUDIT_FILE, REPORT, MANIFEST = "audit.fairdesk", "report.pdf", "manifest.json"
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
        As in `fairdesk.audit.plan.spec.AuditSpec`.
    limits : Limits
        What may be asked about, where that is not simply what the data hold.
    """

    subject: Subject
    protected: tuple[str, ...]
    runs: tuple[RunSpec, ...]
    title: str
    person: str = "person"
    limits: Limits = Limits()


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


class ReportQuestion(msgspec.Struct, frozen=True):
    """Which report is to be written, as somebody names it.

    Attributes
    ----------
    audit : Path
        The audit.
    out : Path
        The report's file.
    form : str
        ``"pdf"``, ``"html"`` or ``"json"``.
    changes : dict
        What is to be otherwise than the audit has it, by the names of
        `fairdesk.audit.store.details.Choice`; of what is dropped and added: besides. For this
        report only.
    details, logo : Path, optional
        Files of what the auditor fills in, and of a picture; they are kept in the audit.
    final : bool
        Whether the report is marked as final, which the audit keeps too.
    key : Path, optional
        A PKCS#12 file to sign with.
    passphrase : Path, optional
        The file whose first line opens it.
    """

    audit: Path
    out: Path
    form: Format = "pdf"
    changes: dict[str, Any] = msgspec.field(default_factory=dict)
    details: Path | None = None
    logo: Path | None = None
    final: bool = False
    key: Path | None = None
    passphrase: Path | None = None


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
    worker: Worker,
    question: Question,
    folder: Path,
    watch: Callable[[RunState], None],
    stopped: Callable[[], bool] = lambda: False,
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
    stopped : callable, optional
        Tells whether the audit is to end, also where that was said while the worker did nothing.

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
            store.log(inspected.agreement(found), "begun")
        # where no method was asked for, the report still counts groups
        state = RunState(0, "groups", "done")
        refused = ""
        left = list(question.runs)
        while left and not stopped() and state.state != "stopped":
            run = left.pop(0)
            try:
                for state in _states(worker, store, run, stopped):
                    watch(state)
            except SpecError as error:
                # a repair may turn out to have nothing to work with; what was found is written
                log.warning("%s was not begun: %s", run.method, error)
                refused = refused or str(error)

        def doing(phase: str, done: int = 0, total: int = 0) -> None:
            watch(msgspec.structs.replace(state, phase=phase, done=done, total=total))

        unweighed = _weigh(worker, store, found, doing)
        files, trouble, left_out = _write_outputs(
            store, folder, lambda name: doing(f"writing {name}")
        )
        unseen = (each.name for each in spec.domain.unseen)
        names = (*spec.domain.names, *unseen, spec.label)
        not_begun = (
            f"{method_named(run.method).title} was not begun: the audit was stopped."
            for run in left
        )
        warnings = (*_warnings(found, names), *not_begun, *unweighed, *left_out)
        return Outcome(spec, found, tuple(store.runs()), files, refused or trouble, warnings)


def _states(
    worker: Worker, store: Store, run: RunSpec, stopped: Callable[[], bool]
) -> Iterator[RunState]:
    """Run a method, and stop it too where that was asked for before its search had begun."""
    for state in run_audit(worker, store, run):
        yield state
        if stopped() and state.state in ("running", "paused"):
            worker.stop()


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
    question : RepairQuestion
        What to repair.
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
        _make_folder(question.out)
        _reopen(worker, store.spec, question)
        for state in _states(worker, store, run, stopped):
            watch(state)
        record = store.runs()[-1]
        exported, files, trouble = None, dict[str, str](), ""
        try:
            exported = _to_export(record, question.trial)
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
                    f"Exported model {exported} of the repair of run {record.id} to "
                    f"{question.out.absolute()}.",
                    written,
                )
        except FairDeskError as error:
            log.warning("the repair was not exported: %s", error, exc_info=True)
            trouble = str(error)
        return RepairOutcome(store.spec, record, exported, files, trouble)


def report(question: ReportQuestion) -> Written:
    """Write a report of an audit, also of one that cannot be written to.

    Raises
    ------
    FairDeskError
        When the audit cannot be read; a detail, or a part that is named, is unknown; the report
        cannot be final yet, or be written or signed. Nothing is written then, and nothing kept.
    """
    check_place(question.out)
    key = None if question.key is None else _signing_key(question.key, question.passphrase)
    with _to_report(question) as (store, unlogged):
        choice = _changed(store.choice(), question.changes)
        details = _filled_in(store.details(), question)
        final = question.final or standing(store, choice.template, choice).word == "Final"
        named = {name: question.changes.get(name, ()) for name in ("left_out", "added")}
        if any(named.values()):
            # what the audit keeps may be of another kind of report, and is no mistake here
            asked = msgspec.structs.replace(choice, **named)
            check_parts(parts(whole_report(store, choice), choice), asked, final=final)
        if question.final:
            check_final(choice.template, details, store)
        store.write_details(details, LABELS)
        if question.final:
            mark_final(store, choice.template, choice)
        return write_report(store, question.out, question.form, choice, key=key, unlogged=unlogged)


def report_parts(audit: Path, changes: dict[str, Any]) -> tuple[Part, ...]:
    """List what a report of an audit could hold, and what of it is shown.

    Raises
    ------
    FairDeskError
        When the audit cannot be read.
    """
    with Store.read(audit) as store:
        choice = _changed(store.choice(), changes)
        return parts(whole_report(store, choice), choice)


@contextmanager
def _to_report(question: ReportQuestion) -> Iterator[tuple[Store, str]]:
    """Open the audit, or read it where it cannot be written to; gives why, then.

    Raises
    ------
    StoreError
        When it cannot be read; or not be written to, and something is to be kept in it.
    """
    keeps = question.final or question.details is not None or question.logo is not None
    with ExitStack() as stack:
        unlogged = ""
        try:
            store = stack.enter_context(Store.open(question.audit))
        except StoreError as error:
            store = stack.enter_context(Store.read(question.audit))
            if keeps:
                raise
            unlogged = str(error)
        yield store, unlogged


def _changed(choice: Choice, changes: dict[str, Any]) -> Choice:
    """Make a choice otherwise: parts are dropped and added besides those that are already."""
    wanted = dict(changes)
    left_out, added = wanted.pop("left_out", ()), wanted.pop("added", ())
    choice = msgspec.structs.replace(choice, **wanted)
    return msgspec.structs.replace(
        choice,
        left_out=tuple(
            key for key in dict.fromkeys((*choice.left_out, *left_out)) if key not in added
        ),
        added=tuple(key for key in dict.fromkeys((*choice.added, *added)) if key not in left_out),
    )


def _filled_in(details: Details, question: ReportQuestion) -> Details:
    """Return what is filled in, with what files say besides."""
    if question.details is not None:
        read = read_details(question.details)
        details = Details(
            texts={**details.texts, **read.texts},
            signers=read.signers or details.signers,
            categories=details.categories if read.categories == Categories() else read.categories,
            logo=read.logo or details.logo,
        )
    if question.logo is not None:
        details = msgspec.structs.replace(details, logo=read_logo(question.logo))
    return details


def _signing_key(key: Path, passphrase: Path | None) -> Key:
    word = ""
    if passphrase is not None:
        try:
            word = passphrase.read_text(encoding="utf-8").partition("\n")[0].rstrip("\r")
        except (OSError, UnicodeDecodeError) as error:
            raise ReportError(
                f"The passphrase in “{passphrase}” cannot be read.",
                why=f"The system says: {getattr(error, 'strerror', None) or error}.",
                remedy="Name a text file whose first line is the passphrase.",
            ) from error
    return open_key(read_key(key), word)


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
            remedy="Name the audited file with --model; files beside it are looked for where they "
            "were, and beside it.",
        ) from error


def _to_export(run: RunRecord, wanted: int | None) -> int | None:
    """Say which trial of a repair is exported: what somebody wants, else the chosen one.

    Where none was shown to help it is the portion that leaves least to repair, and is told to be
    no more. Of a model that cannot be retrained there is one trial, and rows to add all the same.

    Raises
    ------
    SpecError
        When there is no such trial.
    """
    told = repair_of(run.figures)
    if told is None:
        return None
    if wanted is None:
        if not told.retrains and told.rows:
            return 0
        lowest = lowest_portion(run.figures)
        return told.chosen if told.chosen >= 0 else None if lowest is None else lowest.number
    trial = trial_of(run.figures, wanted)
    if trial is None or trial.failed:
        there = ", ".join(str(each.number) for each in trials_of(run.figures) if not each.failed)
        raise SpecError(
            f"There is no trial {wanted} to export."
            if trial is None
            else f"Trial {wanted} has no model to export.",
            why="" if trial is None else trial.failed,
            remedy=f"The repair is kept in the audit. Its trials are: {there}.",
        )
    return wanted


def _weigh(
    worker: Worker, store: Store, found: Inspection, doing: Callable[[str, int, int], None]
) -> tuple[str, ...]:
    """Return how near to real people the findings are; gives a sentence when that was not done."""
    if not any(run.found for run in store.runs()):
        return ()
    try:
        people = store.spec.domain.people(found.table)
        weigh_findings(worker, store, people, lambda done, total: doing("weighing", done, total))
    except FairDeskError as error:
        log.warning("findings were not weighed: %s", error)
        return (f"Findings were not all compared with real people: {error}",)
    return ()


def _warnings(found: Inspection, columns: Collection[str]) -> tuple[str, ...]:
    """Gather what looks wrong: with the model, how it is fed, and the columns that are used.

    Of cells that are not what the rest of their column is, what was done with them is told too.
    """
    told = [
        f"{problem.what} {problem.remedy}" if problem.changes else problem.what
        for problem in problems(found.table)
        if problem.column in columns
    ]
    return (*inspected.warnings(found), *told)


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
        method_named(run.spec.method).answers not in (*ABOUT_GROUPS, QuestionKind.REPAIR)
        for run in store.runs()
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
    begin(MANIFEST)
    try:
        _write_manifest(store, folder, files)
    except FairDeskError as error:
        log.warning("%s: %s", MANIFEST, error, exc_info=True)
        troubles[MANIFEST] = str(error)
    first, *others = troubles.values() or [""]
    if others:
        first += f" Not written either: {', '.join(list(troubles)[1:])}."
    return files, first, tuple(left_out)


def _write_manifest(store: Store, folder: Path, files: dict[str, str]) -> None:
    """Write what shows that files are those of this audit, and log them all.

    Raises
    ------
    FairDeskError
        When it cannot be written.
    """
    told = {name: Path(path) for name, path in files.items() if name != AUDIT_FILE}
    manifest = sidecar(store, told)
    with replacing(folder / MANIFEST) as draft:
        draft.write_bytes(manifest)
    files[MANIFEST] = str((folder / MANIFEST).absolute())
    told[MANIFEST] = folder / MANIFEST
    store.exported(f"Exported to {folder.absolute()}.", told, manifest.decode())


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
    names = (AUDIT_FILE, *OUTPUTS, *GROUP_FILES, MANIFEST)
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
