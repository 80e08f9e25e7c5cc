"""What proves where a report comes from: the id, the command that repeats it, a manifest."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from fairdesk.audit.question import Attributes, Limits
from fairdesk.audit.spec import AuditSpec, RunSpec
from fairdesk.audit.store import LogEntry, RunRecord
from fairdesk.data.domain import Attribute, Limit, Role, attribute_of
from fairdesk.data.table import Column, Kind
from fairdesk.report.words import protected_names

#: In English whatever the system's language is.
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def identity(spec: AuditSpec) -> str:
    """Give the audit's id: the same for the same question, another one for any other."""
    digits = hashlib.sha256(msgspec.json.encode(spec, order="deterministic")).hexdigest().upper()
    return f"FD-{digits[:4]}-{digits[4:8]}-{digits[8:12]}"


def moment(text: str) -> datetime:
    """Read a time as the audit writes it (ISO 8601), in UTC."""
    return datetime.fromisoformat(text).astimezone(UTC)


def clock(text: str) -> str:
    """Write a time of the audit for tables: ``2026-11-21 01:32:05``, UTC."""
    return f"{moment(text):%Y-%m-%d %H:%M:%S}"


def last_moment(spec: AuditSpec, runs: Sequence[RunRecord]) -> datetime:
    """Give the time of the newest result: when the last run ended, else when it all began."""
    times = [run.ended or run.started for run in runs]
    return max((moment(text) for text in times), default=moment(spec.created))


def date_text(when: datetime) -> str:
    """Write a time: ``21 November 2026, 01:32 UTC``."""
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year}, {when:%H:%M} UTC"


def domain_file(spec: AuditSpec) -> str:
    """Give the JSON of ``--domain``: the constraints, and what is not simply the data's.

    Empty when all is.
    """
    told: Attributes = {
        attribute.name: limit
        for attribute, column in _with_columns(spec)
        if (limit := _limit(attribute, column)) != Limit()
    }
    limits = Limits(told, spec.domain.constraints)
    return msgspec.json.encode(limits).decode() if limits != Limits() else ""


def _limit(attribute: Attribute, column: Column) -> Limit:
    """Give what is allowed of an attribute, beside what the data hold."""
    plain = attribute_of(column, attribute.role, unknown=attribute.unknown)
    fixed = attribute.role is Role.FIXED and attribute.kind is not Kind.TEXT
    limit = Limit(role="fixed" if fixed else "varies")
    if attribute.values != plain.values:
        values = tuple(float(value) for value in attribute.values) if attribute.numeric else None
        return msgspec.structs.replace(limit, values=values or attribute.values)
    if not attribute.values and (attribute.low, attribute.high, attribute.step) != (
        plain.low,
        plain.high,
        plain.step,
    ):
        return msgspec.structs.replace(
            limit, low=attribute.low, high=attribute.high, step=attribute.step
        )
    return limit


def beyond_command(spec: AuditSpec, run: RunSpec) -> tuple[str, ...]:
    """Say what the command line cannot repeat of a run: a sentence each."""
    said = []
    every = [
        attribute.name
        for attribute, column in _with_columns(spec)
        if attribute.role is Role.PROTECTED and attribute.compared != _compared(attribute, column)
    ]
    if every:
        said.append(f"Other values than usual were compared of: {', '.join(every)}.")
    if run.budget.seconds is not None or run.budget.queries is not None:
        said.append("The run had a budget; without it the search goes on until it is done.")
    return tuple(said)


def command(spec: AuditSpec, run: RunSpec) -> str:
    """Write the command line that asks the same question again."""
    domain = domain_file(spec)
    parts = [
        "fairdesk audit",
        f"--data {shlex.quote(spec.data.path)}",
        f"--model {shlex.quote(spec.model.path)}",
        f"--label {shlex.quote(spec.label)}",
        f"--favourable {shlex.quote(spec.favourable)}",
        f"--model-favourable {shlex.quote(spec.decisions[spec.mapping.favourable_class])}",
        *(f"--protected {shlex.quote(name)}" for name in protected_names(spec.domain)),
        *(["--domain domain.json"] if domain else []),
        f"--method {run.method}",
        *(f"--option {name}={value}" for name, value in sorted(run.options.items())),
        f"--seed {run.seed}",
        "--out repeated",
        *(["--trust-model"] if spec.trusted else []),
    ]
    return " \\\n  ".join(parts)


def manifest(spec: AuditSpec, runs: Sequence[RunRecord], log: Sequence[LogEntry]) -> str:
    """Write the question, the runs and the log as JSON, for machines."""
    content = {
        "audit": identity(spec),
        "spec": spec,
        "runs": list(runs),
        "commands": [command(spec, run.spec) for run in runs],
        "domain_file": domain_file(spec),
        "log": list(log),
    }
    return msgspec.json.format(
        msgspec.json.encode(content, order="deterministic"), indent=1
    ).decode()


def _with_columns(spec: AuditSpec) -> list[tuple[Attribute, Column]]:
    columns = {column.name: column for column in spec.columns}
    return [(attribute, columns[attribute.name]) for attribute in spec.domain.attributes]


def _compared(attribute: Attribute, column: Column) -> tuple[float, ...]:
    """Give the values that would be compared by default within the attribute's limits."""
    limit = msgspec.structs.replace(_limit(attribute, column), role="varies")
    return attribute_of(column, Role.PROTECTED, limit, unknown=attribute.unknown).compared
