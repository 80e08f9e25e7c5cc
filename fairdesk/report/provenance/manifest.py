"""The manifest: what an audit asked, ran and decided, as JSON with fingerprints of all of it.

It stands in every report, beside every export, and in the audit file. Who has one can tell, years
later, whether an audit file is still the one it was made of: the head of its log's chain is here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from fairdesk.audit.catalogue.methods import parse_options
from fairdesk.audit.plan.spec import AuditSpec, OptionValue
from fairdesk.audit.store import digests
from fairdesk.audit.store.digests import details_facts, replayed
from fairdesk.audit.store.records import PASSING, Choice, LogEntry, RunEnded, RunRecord
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import ReportError, system_errors
from fairdesk.files import sha256
from fairdesk.report.content.material import Material
from fairdesk.report.provenance import evidence

T = TypeVar("T", Column, Attribute)


class FileOf(msgspec.Struct, frozen=True):
    """A file that the audit was made of: where it was then, and its SHA-256."""

    path: str
    sha256: str


class ExportOf(msgspec.Struct, frozen=True):
    """A file that was exported: its name, its bytes, its SHA-256."""

    name: str
    size: int
    sha256: str


class LogOf(msgspec.Struct, frozen=True):
    """The audit's log, up to its last entry that is no mere passing one.

    Attributes
    ----------
    entries : int
        How many there are up to that one, passing ones too.
    head : str
        The fingerprint of that one (`fairdesk.audit.store.digests`).
    lasting : tuple[LogEntry, ...]
        They themselves, without passing ones: exports, which change nothing.
    """

    entries: int
    head: str
    lasting: tuple[LogEntry, ...]


class RunOf(msgspec.Struct, frozen=True):
    """A run.

    Attributes
    ----------
    id, state, message, started, ended, elapsed, tried, found, queries, rejected
        As in `fairdesk.audit.store.records.RunRecord`; times are UTC.
    method, seed
        As in `fairdesk.audit.plan.spec.RunSpec`.
    options : dict
        All of the method's parameters, those with their default too.
    asked : dict
        The rest of the `RunSpec`, as far as it was said.
    versions : dict[str, str]
        Those that are others than the audit's.
    sha256 : Ended, optional
        The fingerprints of what came of it, as the log has them; ``None`` before its end.
    """

    id: int
    method: str
    seed: int
    options: dict[str, OptionValue]
    asked: dict[str, object]
    state: str
    message: str
    started: str
    ended: str
    elapsed: float
    tried: int
    found: int
    queries: int
    rejected: int
    versions: dict[str, str]
    sha256: RunEnded | None


#: What is the same of a run in the audit file.
_OF_RECORD = (
    *("id", "state", "message", "started", "ended"),
    *("elapsed", "tried", "found", "queries", "rejected"),
)


class Manifest(msgspec.Struct, frozen=True):
    """All of it. Its JSON has its members in the order of their names: equal audits, equal bytes.

    Attributes
    ----------
    format, version
        What this is. A member may be added under one version; none changes its meaning.
    audit : str
        The audit's id.
    title : str
        Its title.
    moment : str
        When it was changed last: UTC, ISO 8601.
    log : LogOf
        What happened in it.
    data, model : FileOf
        What was audited.
    companions : tuple[FileOf, ...]
        Files beside the model that tell how it is fed.
    question_sha256 : str
        Of the question, as the audit file writes it.
    table_sha256 : str
        Of the table's codes, as `fairdesk.audit.store.digests.table` makes it.
    spec : AuditSpec
        The question. Texts that people wrote, and what only names rows, are left out of it.
    runs : tuple[RunOf, ...]
        In their order.
    commands : tuple[str, ...]
        Command lines that ask the same again.
    domain_file, map_file : str
        The JSON files that they name; empty where they name none.
    versions : dict[str, str]
        Of everything that a result depends on, when the audit was made; system and machine too.
    details : dict
        What the auditor filled in; of a picture its SHA-256.
    files : tuple[ExportOf, ...]
        What was exported. Empty in a report, which cannot name itself.
    choice : Choice, optional
        Of a report how it is wanted, so that it can be made again.
    """

    audit: str
    title: str
    moment: str
    log: LogOf
    data: FileOf
    model: FileOf
    companions: tuple[FileOf, ...]
    question_sha256: str
    table_sha256: str
    spec: AuditSpec
    runs: tuple[RunOf, ...]
    commands: tuple[str, ...]
    domain_file: str
    map_file: str
    versions: dict[str, str]
    details: dict[str, object]
    files: tuple[ExportOf, ...] = ()
    choice: Choice | None = None
    format: Literal["FairDesk manifest"] = "FairDesk manifest"
    version: int = 1


def manifest(material: Material) -> str:
    """Write the manifest that stands in a report."""
    details = details_facts(material.details)
    made = _made(material.spec, material.table, material.runs, material.log, details)
    return _written(msgspec.structs.replace(made, choice=material.choice))


def as_of(store: Store, entries: int) -> str:
    """Write the manifest that an audit had when its log had so many entries.

    Runs that had not ended then are told as they are now, but for their fingerprints.
    """
    log = store.log_entries()
    before, since = replayed(log[:entries]), replayed(log[entries:])
    runs = [run for run in store.runs() if run.id not in since.began]
    return _written(_made(store.spec, store.table(), runs, log[:entries], before.details))


def sidecar(store: Store, files: Mapping[str, Path]) -> bytes:
    """Write the manifest that stands beside exported files, and names them.

    Parameters
    ----------
    files : mapping of str to Path
        By the names they are told under. A folder counts as one.

    Raises
    ------
    ReportError
        When one of them cannot be read.
    """
    entries = []
    for name, path in files.items():
        what = f"The exported file “{path}” cannot be read."
        with system_errors(ReportError, what, "Export it again."):
            entries.append(ExportOf(name, _size(path), sha256(path)))
    details = details_facts(store.details())
    made = _made(store.spec, store.table(), store.runs(), store.log_entries(), details)
    return _written(msgspec.structs.replace(made, files=tuple(entries))).encode()


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    return path.stat().st_size


def _made(
    spec: AuditSpec,
    table: Table,
    runs: Sequence[RunRecord],
    log: Sequence[LogEntry],
    details: dict[str, object],
) -> Manifest:
    lasting = evidence.lasting(log)
    said = replayed(log)
    mapping = evidence.map_file(spec, table)
    return Manifest(
        audit=evidence.identity(spec),
        title=spec.title,
        moment=evidence.last_moment(spec, log).isoformat(),
        log=LogOf(
            entries=len(lasting),
            head=digests.head(lasting),
            lasting=tuple(entry for entry in lasting if entry.kind not in PASSING),
        ),
        data=FileOf(spec.data.path, spec.data.sha256),
        model=FileOf(spec.model.path, spec.model.sha256),
        companions=tuple(FileOf(each.path, each.sha256) for each in spec.model.companions),
        question_sha256="" if said.begun is None else said.begun.question,
        table_sha256="" if said.begun is None else said.begun.table,
        spec=_without_texts(spec),
        runs=tuple(
            _run(
                run,
                said.began[run.id].versions if run.id in said.began else {},
                said.ended.get(run.id),
            )
            for run in runs
        ),
        commands=tuple(evidence.commands(spec, runs, mapped=bool(mapping))),
        domain_file=evidence.domain_file(spec),
        map_file=mapping,
        versions=spec.versions,
        details=details,
    )


def _run(run: RunRecord, versions: dict[str, str], ended: RunEnded | None) -> RunOf:
    asked = msgspec.to_builtins(run.spec)
    plain = msgspec.to_builtins(type(run.spec)(run.spec.method))
    same = {name: getattr(run, name) for name in _OF_RECORD}
    return RunOf(
        **same,
        method=run.spec.method,
        seed=run.spec.seed,
        options=msgspec.to_builtins(parse_options(run.spec.method, run.spec.options)),
        asked={
            name: value
            for name, value in asked.items()
            if name not in ("method", "seed", "options") and value != plain[name]
        },
        versions=versions,
        sha256=ended,
    )


def _without_texts(spec: AuditSpec) -> AuditSpec:
    """Leave out what people wrote, and what only names rows: there is no end to it."""
    return msgspec.structs.replace(
        spec,
        columns=tuple(map(_without_its_texts, spec.columns)),
        domain=msgspec.structs.replace(
            spec.domain, attributes=tuple(map(_without_its_texts, spec.domain.attributes))
        ),
    )


def _without_its_texts(each: T) -> T:
    if each.kind not in (Kind.TEXT, Kind.IGNORED):
        return each
    bare = msgspec.structs.replace(each, values=())
    return msgspec.structs.replace(bare, garbled=()) if isinstance(bare, Column) else bare


def _written(made: Manifest) -> str:
    return msgspec.json.format(msgspec.json.encode(made, order="deterministic"), indent=1).decode()
