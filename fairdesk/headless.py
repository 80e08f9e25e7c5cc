"""One audit from its question to its files, without a window."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from fairdesk.audit.question import Limits, domain_of, favourable_text
from fairdesk.audit.run import run as run_audit
from fairdesk.audit.schema import release
from fairdesk.audit.spec import AuditSpec, RunSpec
from fairdesk.audit.store import RunRecord, RunState, Store
from fairdesk.audit.worker import Worker
from fairdesk.data.profile import problems
from fairdesk.data.reading import retype
from fairdesk.data.table import Kind, Table
from fairdesk.errors import DataError, FairDeskError, ReportError
from fairdesk.files import sha256
from fairdesk.models.mapping import match
from fairdesk.models.model import ModelCard
from fairdesk.models.proof import Proof
from fairdesk.report import words
from fairdesk.report.document import write_pdf
from fairdesk.report.exports import (
    write_findings_csv,
    write_findings_json,
    write_retraining_csv,
)
from fairdesk.samples import is_sample_file

log = logging.getLogger(__name__)

AUDIT_FILE = "audit.fairdesk"
#: What an audit leaves in its folder, and who writes it.
OUTPUTS = {
    "findings.csv": write_findings_csv,
    "findings.json": write_findings_json,
    "retraining.csv": write_retraining_csv,
    "report.pdf": write_pdf,
}


class Question(msgspec.Struct, frozen=True):
    """What is to be audited, as somebody names it.

    Attributes
    ----------
    data, model : Path
        The CSV file and the model file.
    label, favourable : str
        The column with the decision, and its value that is good for the person.
    protected : tuple[str, ...]
        The columns that are compared.
    run : RunSpec
        The method, its options and its seed.
    title, person : str
        As in `fairdesk.audit.spec.AuditSpec`.
    model_favourable : str, optional
        The model's class that means the favourable value.
    limits : dict
        Per attribute ``[low, high]`` or a list of values; the data's own where left out.
    trusted : bool
        Whether a model file that is a program may run. FairDesk's own samples always may.
    """

    data: Path
    model: Path
    label: str
    favourable: str
    protected: tuple[str, ...]
    run: RunSpec
    title: str
    person: str = "person"
    model_favourable: str | None = None
    limits: Limits = msgspec.field(default_factory=dict)
    trusted: bool = False


class Outcome(msgspec.Struct, frozen=True):
    """What came of an audit.

    Attributes
    ----------
    spec : AuditSpec
        What was asked.
    run : RunRecord
        What was found.
    proof : Proof
        How far the model agrees with the label.
    files : dict[str, str]
        Name and place of each file that was written.
    trouble : str
        Why files are missing, whole sentences; empty when none is.
    warnings : tuple[str, ...]
        What looks wrong with the model, its inputs or their columns, a sentence or two each.
    """

    spec: AuditSpec
    run: RunRecord
    proof: Proof
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
    spec, table, proof = _ask(worker, question)
    _make_room(folder)
    with Store.create(folder / AUDIT_FILE, spec, table) as store:
        store.log(agreement(proof))
        for state in run_audit(worker, store, question.run):
            watch(state)

        def writing(name: str) -> None:
            watch(msgspec.structs.replace(state, phase=f"writing {name}"))

        files, trouble = _write_outputs(store, folder, writing)
        return Outcome(spec, store.runs()[-1], proof, files, trouble, _warnings(spec, table, proof))


def agreement(proof: Proof) -> str:
    """Say how far a model agrees with the label, by which a wrong set-up shows."""
    return (
        f"The model agrees with the label on {words.percent(proof.accuracy, 1)} of "
        f"{words.counted(proof.rows, 'row')}; always guessing the commoner outcome would on "
        f"{words.percent(proof.majority, 1)}."
    )


def _warnings(spec: AuditSpec, table: Table, proof: Proof) -> tuple[str, ...]:
    inputs = [problem.what for problem in problems(table) if problem.column in spec.domain.names]
    return (*spec.model.warnings, *proof.warnings, *inputs)


def _ask(worker: Worker, question: Question) -> tuple[AuditSpec, Table, Proof]:
    """Read the data, open the model, and fit them together."""
    table = worker.read_table(question.data)
    favourable = favourable_text(table, question.label, question.favourable)
    trusted = question.trusted or (
        question.model.is_file() and is_sample_file(sha256(question.model))
    )
    card = worker.open_model(question.model, trusted=trusted)
    table = _with_what_it_takes(table, card, question.label)
    mapping = match(card, table, question.label, favourable, question.model_favourable)
    spec = AuditSpec(
        title=question.title,
        person=question.person,
        data=table.source,
        columns=table.columns,
        label=question.label,
        favourable=favourable,
        model=card,
        mapping=mapping,
        domain=domain_of(table, mapping, question.label, question.protected, question.limits),
        trusted=trusted and not card.read_as_data,
    )
    return spec, table, worker.prove(mapping, table, question.label, favourable)


def _with_what_it_takes(table: Table, card: ModelCard, label: str) -> Table:
    """Give ignored columns that the model takes a kind: without a window nobody else can."""
    if card.named:
        wanted = set(card.inputs)
    else:
        wanted = set(table.names) if len(table.names) == len(card.inputs) + 1 else set()
    for column in table.columns:
        if column.kind is not Kind.IGNORED or column.name not in wanted - {label}:
            continue
        for kind in (Kind.INTEGER, Kind.REAL, Kind.NOMINAL):
            with suppress(DataError):  # of another kind; an empty one is told by what follows
                table = retype(table, column.name, kind)
                break
    return table


def _write_outputs(
    store: Store, folder: Path, begin: Callable[[str], None]
) -> tuple[dict[str, str], str]:
    """Write what an audit leaves, whatever of it can be; ``begin`` is told each file's name.

    Returns
    -------
    files : dict[str, str]
        Name and place of each file that is there.
    trouble : str
        Why the others are not, or empty.
    """
    files = {AUDIT_FILE: str((folder / AUDIT_FILE).absolute())}
    troubles = {}
    for name, write in OUTPUTS.items():
        begin(name)
        try:
            write(store, folder / name)
        except FairDeskError as error:
            log.warning("%s: %s", name, error, exc_info=True)
            troubles[name] = str(error)
        else:
            files[name] = str((folder / name).absolute())
    first, *others = troubles.values() or [""]
    if others:
        first += f" Not written either: {', '.join(list(troubles)[1:])}."
    return files, first


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
    there = [folder / name for name in (AUDIT_FILE, *OUTPUTS) if (folder / name).exists()]
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
