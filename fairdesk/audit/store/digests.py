"""Fingerprints of what an audit holds, as its log keeps them, and the log as a chain of them.

The log is a chain: what its entries tell cannot be changed
without its showing. So whatever a report prints is bound to an entry: the question and the table
when the audit begins, a run with all that it found when it ends, what was learned of a pair or
marked on it when that is written. Who then changes a finding by hand contradicts the log.

A fingerprint of rows is the SHA-256 of the rows one after the other, each as a MessagePack array of
its columns, so that anybody can make it again from the file with SQLite alone.

Who changes, removes or inserts an entry changes every fingerprint after it. The last one, the
chain's *head*, stands in every report and manifest: against it a chain that was written anew from
some point on shows too. Nothing here keeps a file from being changed; it shows that it was.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec
import numpy as np

from fairdesk.audit.store.finding_table import AFTERWARDS
from fairdesk.audit.store.pair import WEIGHED
from fairdesk.audit.store.records import (
    AuditStarted,
    Choice,
    Details,
    Exported,
    ExportedFile,
    LogEntry,
    Marked,
    RunEnded,
    RunStarted,
    StepOfLearning,
    StepOfRun,
    Weighed,
)
from fairdesk.data.table import Table
from fairdesk.errors import StoreError

#: What the first entry follows.
GENESIS = "0" * 64


def link(before: str, at: str, what: str, kind: str, document: str) -> str:
    """Return the fingerprint of an entry that follows another one.

    Parameters
    ----------
    before : str
        The fingerprint of the entry before, or `GENESIS`.
    at, what, kind, document : str
        As in `fairdesk.audit.store.records.LogEntry`.

    Returns
    -------
    str
        SHA-256 of the JSON array of all five, as 64 lower-case hexadecimal digits.
    """
    return hashlib.sha256(msgspec.json.encode((before, at, what, kind, document))).hexdigest()


def broken(entries: Sequence[LogEntry]) -> int | None:
    """Find the first entry, from 0, whose fingerprint is not what it should be; ``None``: none."""
    before = GENESIS
    for place, entry in enumerate(entries):
        if entry.link != link(before, entry.at, entry.what, entry.kind, entry.facts):
            return place
        before = entry.link
    return None


def set_back(entries: Sequence[LogEntry]) -> list[int]:
    """Return the entries, from 0, that are earlier than the entry before them.

    The clock was then set back in between: that is no sign of tampering, but times before and
    after do not tell what came first.
    """
    times = [datetime.fromisoformat(entry.at).astimezone(UTC) for entry in entries]
    return [place for place in range(1, len(times)) if times[place] < times[place - 1]]


def head(entries: Sequence[LogEntry]) -> str:
    """Return the fingerprint of the last entry, `GENESIS` of an empty log."""
    return entries[-1].link if entries else GENESIS


#: The columns of a run, in the order in which they are taken.
_RECORD = (
    *("id", "spec", "state", "message", "started", "ended", "elapsed", "tried", "found"),
    *("queries", "seconds", "sufficient_alone", "rejected", "figures"),
)
#: Rows that are read at once, and bytes.
_ROWS, _BYTES = 2_000, 1 << 20

_packer = msgspec.msgpack.Encoder()


@dataclass
class Replayed:
    """What the log says of the audit, to be compared with what the audit holds.

    Attributes
    ----------
    begun : AuditStarted, optional
        The question and the table. ``None`` where the log does not say.
    began, ended : dict
        Per run what was told at its beginning and at its end.
    weighed : list[Weighed]
        Ranges of findings that were compared with real people.
    learned : dict[tuple[int, str], str]
        Per pair and kind the SHA-256 of what was learned last.
    marks, notes : dict[int, str]
        Per pair; the empty ones are left out.
    details : dict[str, object]
        What the auditor filled in, as `details_facts` tells it; the empty ones are left out.
    choice : Choice
        How the report is wanted.
    manifest : str
        SHA-256 of the manifest that was kept last; empty for none.
    twice : list[int]
        Runs of which a beginning or an end is told that was told before.
    replaced : list[str]
        What was learned and then told otherwise, a few words each.
    """

    begun: AuditStarted | None = None
    began: dict[int, RunStarted] = field(default_factory=dict)
    ended: dict[int, RunEnded] = field(default_factory=dict)
    weighed: list[Weighed] = field(default_factory=list)
    learned: dict[tuple[int, str], str] = field(default_factory=dict)
    marks: dict[int, str] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)
    details: dict[str, object] = field(default_factory=dict)
    choice: Choice = field(default_factory=Choice)
    manifest: str = ""
    twice: list[int] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)


class Running:
    """The fingerprint of rows, made while they are written: as that of `found`, without a look.

    Attributes
    ----------
    count : int
        Rows so far.
    """

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self.count = 0

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Take the next rows, as they will be read."""
        self._digest.update(b"".join(map(_packer.encode, rows)))
        self.count += len(rows)

    @property
    def fingerprint(self) -> str:
        """Of all rows so far."""
        return self._digest.hexdigest()


# Of what the audit holds


def text(document: str) -> str:
    """Return the SHA-256 of a text, in UTF-8."""
    return hashlib.sha256(document.encode()).hexdigest()


def table(data: Table) -> str:
    """Return the SHA-256 of a table's codes: column by column, little-endian doubles."""
    digest = hashlib.sha256()
    for column in data.codes.T:
        digest.update(np.ascontiguousarray(column, dtype="<f8").data)
    return digest.hexdigest()


def run(connection: sqlite3.Connection, run_id: int) -> RunEnded:
    """Return the fingerprints of a run as the file holds it now.

    Memory is bounded, whatever the run found.

    Raises
    ------
    sqlite3.Error
        When the file cannot be read.
    KeyError
        When there is no such run.
    """
    return ended(connection, run_id, found(connection, run_id))


def found(connection: sqlite3.Connection, run_id: int) -> str:
    """Return the fingerprint of a run's findings. Of a run's parts this one takes time."""
    columns = [row[1] for row in connection.execute("PRAGMA table_info(finding)")]
    names = ", ".join(name for name in columns if name not in AFTERWARDS)
    return _of_rows(
        connection,
        f"SELECT {names} FROM finding WHERE run = ? ORDER BY id",  # noqa: S608 - our own columns
        run_id,
    )


def ended(connection: sqlite3.Connection, run_id: int, findings: str) -> RunEnded:
    """Return the fingerprints of a run whose findings' fingerprint is known; as `run`."""
    row = connection.execute(
        f"SELECT {', '.join(_RECORD)} FROM run WHERE id = ?",  # noqa: S608 - our own columns
        (run_id,),
    ).fetchone()
    if row is None:
        raise KeyError(run_id)
    return RunEnded(
        run=run_id,
        state=row[2],
        ended=row[5],
        record=hashlib.sha256(_packer.encode(row)).hexdigest(),
        findings=findings,
        progress=_of_rows(
            connection,
            "SELECT elapsed, tried, found, queries FROM progress WHERE run = ? ORDER BY rowid",
            run_id,
        ),
        certificate=_of_certificate(connection, run_id),
        made=_of_made(connection, run_id),
    )


def weighed(connection: sqlite3.Connection, first: int, last: int) -> str:
    """Return the fingerprint of how plausible findings are: of those from one number to another."""
    return _of_rows(
        connection,
        f"SELECT id, {', '.join(WEIGHED)} FROM finding"  # noqa: S608 - our own columns
        " WHERE id BETWEEN ? AND ? ORDER BY id",
        first,
        last,
    )


def learned(connection: sqlite3.Connection) -> dict[tuple[int, str], str]:
    """Return per pair and kind the fingerprint of what was learned."""
    rows = connection.execute("SELECT finding, what, document FROM pair_analyses")
    return {(pair, what): text(document) for pair, what, document in rows}


def _of_rows(connection: sqlite3.Connection, sql: str, *values: int) -> str:
    digest = hashlib.sha256()
    cursor = connection.execute(sql, values)
    while rows := cursor.fetchmany(_ROWS):
        digest.update(b"".join(map(_packer.encode, rows)))
    return digest.hexdigest()


def _of_certificate(connection: sqlite3.Connection, run_id: int) -> str:
    place = connection.execute("SELECT rowid FROM certificate WHERE run = ?", (run_id,)).fetchone()
    return "" if place is None else _of_blob(connection, "certificate", "file", place[0])


def _of_made(connection: sqlite3.Connection, run_id: int) -> str:
    made = connection.execute(
        "SELECT rowid, trial, name, note FROM artifacts WHERE run = ? ORDER BY trial, name",
        (run_id,),
    ).fetchall()
    digest = hashlib.sha256()
    for place, *about in made:
        content = _of_blob(connection, "artifacts", "content", place)
        digest.update(_packer.encode((*about, content)))
    return digest.hexdigest() if made else ""


def _of_blob(connection: sqlite3.Connection, name: str, column: str, place: int) -> str:
    digest = hashlib.sha256()
    with connection.blobopen(name, column, place, readonly=True) as blob:
        while piece := blob.read(_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def details_facts(details: Details) -> dict[str, object]:
    """Return what the auditor filled in as the log tells it: by name, of a picture its SHA-256."""
    by_name: dict[str, object] = {
        **details.texts,
        "signers": [msgspec.to_builtins(each) for each in details.signers],
        "categories": msgspec.to_builtins(details.categories),
        "logo": hashlib.sha256(details.logo).hexdigest() if details.logo else "",
    }
    empty = msgspec.to_builtins(Details().categories)
    return {name: value for name, value in by_name.items() if value and value != empty}


# Of what the log says


def replayed(entries: Sequence[LogEntry]) -> Replayed:
    """Return what the log says of the audit; the last word on each thing counts.

    But a run begins once, and ends once: of it the first word counts.

    Raises
    ------
    StoreError
        When an entry does not tell what one of its kind tells.
    """
    log_state = Replayed()
    for place, entry in enumerate(entries, start=1):
        if not entry.facts:
            continue
        try:
            _replay(log_state, entry)
        except msgspec.MsgspecError as error:
            raise StoreError(
                f"Entry {place} of the audit log cannot be read.",
                why=f"Its type is “{entry.kind}”, but its contents do not fit this type.",
                remedy=(
                    "The audit log may have been changed by hand: use an earlier copy of the audit."
                ),
            ) from error
    return log_state


def exported_files(entries: Sequence[LogEntry]) -> tuple[ExportedFile, ...]:
    """Return the files that were exported, in order; one written twice stands there twice."""
    exports = (
        _read(entry, Exported) for entry in entries if entry.kind == "exported" and entry.facts
    )
    return tuple(file for each in exports for file in each.files)


def _replay(log_state: Replayed, entry: LogEntry) -> None:
    match entry.kind:
        case "begun":
            log_state.begun = log_state.begun or _read(entry, AuditStarted)
        case "ran":
            _replay_run(log_state, _read(entry, StepOfRun))
        case "marked":
            marked = _read(entry, Marked)
            _put(log_state.marks, marked.pair, marked.mark)
            _put(log_state.notes, marked.pair, marked.note)
        case "learned":
            _replay_fact(log_state, _read(entry, StepOfLearning))
        case "details":
            log_state.details |= _read(entry, dict[str, Any])
            log_state.details = {name: value for name, value in log_state.details.items() if value}
        case "choice":
            log_state.choice = _read(entry, Choice)
        case "exported":
            log_state.manifest = _read(entry, Exported).manifest or log_state.manifest


def _replay_run(log_state: Replayed, step: StepOfRun) -> None:
    if step.run in (log_state.began if isinstance(step, RunStarted) else log_state.ended):
        log_state.twice.append(step.run)
    elif isinstance(step, RunStarted):
        log_state.began[step.run] = step
    else:
        log_state.ended[step.run] = step


def _replay_fact(log_state: Replayed, fact: StepOfLearning) -> None:
    if isinstance(fact, Weighed):
        if any(one.first <= fact.last and fact.first <= one.last for one in log_state.weighed):
            log_state.replaced.append(f"the distances of pairs {fact.first:,} to {fact.last:,}")
        log_state.weighed.append(fact)
        return
    if log_state.learned.get((fact.pair, fact.what), fact.sha256) != fact.sha256:
        log_state.replaced.append(f"“{fact.what}” of pair {fact.pair}")
    log_state.learned[fact.pair, fact.what] = fact.sha256


def _read(entry: LogEntry, kind: Any) -> Any:  # noqa: ANN401 - what msgspec takes and gives
    return msgspec.json.decode(entry.facts, type=kind)


def _put(texts: dict[int, str], pair: int, text: str | None) -> None:
    """Take a pair's text; an empty one takes it away, none leaves it."""
    if text:
        texts[pair] = text
    elif text is not None:
        texts.pop(pair, None)
