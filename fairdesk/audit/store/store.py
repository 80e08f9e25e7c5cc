"""The audit file: one SQLite database that holds everything an audit asked and found."""

from __future__ import annotations

import io
import sqlite3
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.labels import why_wrong
from fairdesk.audit.plan.spec import RunSpec, now, versions
from fairdesk.audit.store import digests
from fairdesk.audit.store.file import MISFITS, AuditFile, json_text, moment
from fairdesk.audit.store.records import (
    AuditStarted,
    Choice,
    Count,
    Details,
    Exported,
    ExportedFile,
    LogEntry,
    LogKind,
    ModelFile,
    RunDropped,
    RunEnded,
    RunRecord,
    RunsPlanned,
    RunStarted,
    StepOfPlan,
    WaitingRun,
)
from fairdesk.audit.store.schema import (
    BUSY_SECONDS,
    damaged,
    sqlite_errors_as_store_errors,
    unexpected_tables,
)
from fairdesk.audit.store.stored_pairs import Pairs
from fairdesk.certify.proof import certificate, certificate_reading
from fairdesk.errors import StoreError
from fairdesk.files import sha256
from fairdesk.results.events import Metric, Progress
from fairdesk.results.mitigation import Augmented, Retrained

#: How a run ended that was cut off.
_CLOSED = "FairDesk was closed or ended while it ran."
#: Names of members that figures in older audits have, and those in use.
_FORMER = {"whom": "instances", "rule_sets": "subgroups"}


class Runs(AuditFile):
    """The runs of an audit file."""

    def plan_runs(self, runs: Sequence[RunSpec]) -> None:
        """Log which runs are to be made: one that is missing later is missed."""
        if runs:
            with self._writing():
                planned = RunsPlanned(tuple(runs))
                self._write_log(plan_sentence(planned), "planned", planned)

    def drop_run(self, run: RunSpec, why: str) -> str:
        """Log that a planned run was not started, and why, a clause; return the sentence."""
        dropped = RunDropped(run, why)
        with self._writing():
            self._write_log(plan_sentence(dropped), "planned", dropped)
        return plan_sentence(dropped)

    def begin_run(self, run: RunSpec) -> int:
        """Note that a run begins, and what it was asked; gives its number."""
        nobody = [0] * len(self.spec.domain.protected)
        changed_versions = dict(versions().items() - self.spec.versions.items())
        with self._writing():
            cursor = self._connection.execute(
                "INSERT INTO run (spec, state, started, sufficient_alone)"
                " VALUES (?, 'running', ?, ?)",
                (json_text(run), now(), json_text(nobody)),
            )
            number = cursor.lastrowid
            assert number is not None, "an INSERT gives a row number"  # noqa: S101 - mypy
            began = RunStarted(number, run, changed_versions)
            self._write_log(began_sentence(began), "ran", began)
        return number

    def add_progress(self, run_id: int, elapsed: float, progress: Progress) -> None:
        """Keep how far a run is after ``elapsed`` wall seconds."""
        with self._writing():
            self._connection.execute(
                "INSERT INTO progress VALUES (?, ?, ?, ?, ?)",
                (run_id, elapsed, progress.tried, progress.found, progress.queries),
            )
            self._connection.execute(
                "UPDATE run SET elapsed = ?, tried = ?, queries = ?, seconds = ?, rejected = ?"
                " WHERE id = ?",
                (
                    elapsed,
                    progress.tried,
                    progress.queries,
                    json_text(progress.seconds),
                    progress.rejected,
                    run_id,
                ),
            )

    def measure(self, run_id: int, figures: Sequence[Metric]) -> None:
        """Keep all figures of a run as they stand, in place of those before."""
        with self._writing():
            self._connection.execute(
                "UPDATE run SET figures = ? WHERE id = ?", (json_text(figures), run_id)
            )

    def end_run(self, run_id: int, state: str, message: str = "") -> None:
        """Note how a run ended: ``"done"``, ``"stopped"`` or ``"failed"``, and why.

        The log then holds the fingerprint of everything that came of it.
        """
        with sqlite_errors_as_store_errors(self.path):
            # outside the transaction: nobody else writes findings of this run
            running, kept = self._running.pop(run_id, None), self._found(run_id)
            found = (
                running.fingerprint
                if running is not None and running.count == kept
                else digests.found(self._connection, run_id)
            )
        with self._writing():
            self._connection.execute(
                "UPDATE run SET state = ?, message = ?, ended = ? WHERE id = ?",
                (state, message, now(), run_id),
            )
            ended = digests.ended(self._connection, run_id, found)
            self._write_log(ended_sentence(run_id, state, message), "ran", ended)

    def _found(self, run_id: int) -> int:
        (count,) = self._one("SELECT found FROM run WHERE id = ?", run_id)
        return int(count)

    def close_interrupted_runs(self) -> None:
        """Mark runs that were cut off when FairDesk itself ended. Call it while nothing runs.

        They ended when they were last heard of, as far as that is known. Nothing is marked while
        somebody else has the file open: a run of theirs may go on.
        """
        with sqlite_errors_as_store_errors(self.path):
            if not self._alone():
                return
        message = _CLOSED
        with self._writing():
            cut_off = self._connection.execute(
                "SELECT id FROM run WHERE state = 'running' ORDER BY id"
            ).fetchall()
            self._connection.execute(
                "UPDATE run SET state = 'failed', message = ?, ended ="
                " strftime('%Y-%m-%dT%H:%M:%S+00:00', started, elapsed || ' seconds')"
                " WHERE state = 'running'",
                (message,),
            )
            for (run_id,) in cut_off:
                entry = ended_sentence(run_id, "failed", message)
                self._write_log(entry, "ran", digests.run(self._connection, run_id))

    def _alone(self) -> bool:
        """Return whether nobody else has the file open: only then can it leave the WAL mode."""
        self._connection.execute("PRAGMA busy_timeout = 0")
        try:
            self._connection.execute("PRAGMA journal_mode = DELETE")
            self._connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname == "SQLITE_BUSY":
                return False
            raise
        finally:
            self._connection.execute(f"PRAGMA busy_timeout = {int(1000 * BUSY_SECONDS)}")
        return True

    def runs(self) -> list[RunRecord]:
        """Return all runs, in the order of their beginning."""
        names = RunRecord.__struct_fields__
        rows = self._all(f"SELECT {', '.join(names)} FROM run ORDER BY id")  # noqa: S608 - our own
        return [self._run(dict(zip(names, row, strict=True))) for row in rows]

    def _run(self, row: dict[str, Any]) -> RunRecord:
        number = row["id"]
        try:
            row["figures"] = _renamed(msgspec.convert(row["figures"], str))
            row |= {
                name: msgspec.json.decode(msgspec.convert(row[name], str))
                for name in ("spec", "seconds", "sufficient_alone", "figures")
            }
            record = msgspec.convert(row, RunRecord)
            moment(record.started)
            if record.ended:
                moment(record.ended)
            if len(record.sufficient_alone) != len(self.spec.domain.protected):
                raise ValueError("its protected attributes are different")
        except (*MISFITS, KeyError) as error:
            raise StoreError(
                f"Run {number} of the audit “{self.path}” cannot be read.",
                why=f"It contains something that FairDesk never writes: {error}.",
                remedy="Use a copy of the audit from before it was changed or damaged.",
            ) from error
        if not _title(record.spec.method):
            raise StoreError(
                f"Run {number} of the audit “{self.path}” has a method that this FairDesk version "
                "does not support.",
                why=f"It is called “{record.spec.method}”.",
                remedy="Install the newest FairDesk, or use a copy from before it was changed.",
            )
        return record

    def progress(self, run_id: int) -> NDArray[np.float64]:
        """Return a run's course: ``(m, 4)``, elapsed seconds, tried, found, queries."""
        rows = self._all(
            "SELECT elapsed, tried, found, queries FROM progress WHERE run = ? ORDER BY rowid",
            run_id,
        )
        points = self._fitting(rows, list[tuple[float, Count, Count, Count]])
        return np.array(points, dtype=np.float64).reshape(-1, 4)


def _renamed(figures: str) -> str:
    """Return stored figures with the names of members that are in use.

    Quotes inside a text are escaped in JSON, so that only members match.
    """
    for former, name in _FORMER.items():
        figures = figures.replace(f'"{former}":', f'"{name}":')
    return figures


def began_sentence(began: RunStarted) -> str:
    """Return what the log says of a run's beginning."""
    return f"Run {began.run} was started: {_title(began.spec.method)}"


def ended_sentence(run_id: int, state: str, message: str) -> str:
    """Return what the log says of a run's end."""
    if message == _CLOSED:
        return f"Run {run_id} was interrupted: {message}"
    return f"Run {run_id} ended: {state}. {message}".strip()


def plan_sentence(step: StepOfPlan) -> str:
    """Return what the log says of planned runs, or of one that was not started."""
    if isinstance(step, RunDropped):
        return f"“{_title(step.run.method)}” was not started: {step.why}"
    return f"Planned runs: {', '.join(f'“{_title(run.method)}”' for run in step.runs)}."


def _title(method: str) -> str:
    """Return a method's title; empty for a stranger."""
    return METHODS[method].title if method in METHODS else ""


#: The number that stands for no one trial of a repair.
NO_TRIAL = -1
#: SQLite takes no more in one piece than a little more.
MOST_FILE_BYTES = 900_000_000


class Artifacts(AuditFile):
    """What the runs of an audit file made."""

    def certify(self, run_id: int, header: bytes, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep a run's certificate (`proof.certificate`), in place of the one before.

        Which model it speaks of, how that is fed, and who may be asked about is written into it
        from the audit's own question, whatever its maker says.

        Raises
        ------
        CertificateError
            When header and arrays are no certificate of this audit.
        """
        own_header = certificate.about(
            certificate.decoded(header),
            self.spec.model,
            self.spec.mapping,
            self.spec.domain,
            self.spec.versions,
        )
        certificate_reading.check(own_header, arrays)
        file = io.BytesIO()
        certificate.write(file, certificate.encoded(own_header), arrays)
        with self._writing():
            self._connection.execute(
                "INSERT OR REPLACE INTO certificate VALUES (?, ?)", (run_id, file.getbuffer())
            )

    def certificate(self, run_id: int) -> tuple[bytes, dict[str, NDArray[Any]]] | None:
        """Return a run's certificate: its header and its arrays; ``None`` where it has none."""
        rows = self._all("SELECT file FROM certificate WHERE run = ?", run_id)
        if not rows:
            return None
        try:
            return certificate_reading.unpack(io.BytesIO(rows[0][0]))
        except (certificate.CertificateError, *MISFITS) as error:
            raise damaged(self.path) from error

    def certified_runs(self) -> tuple[int, ...]:
        """Return the numbers of the runs that have a certificate."""
        return tuple(run for (run,) in self._all("SELECT run FROM certificate ORDER BY run"))

    def keep_rows(self, run_id: int, added: Augmented) -> None:
        """Keep the rows that a repair adds, in place of those before."""
        description = json_text((added.phase, len(added.rows), added.texts))
        codes = np.asarray(added.rows, dtype="<f8").T.tobytes()
        numbers = (added.labels, added.pairs, added.seeds)
        raw = codes + b"".join(np.asarray(each, dtype="<i8").tobytes() for each in numbers)
        self._keep(run_id, NO_TRIAL, "rows", description, zlib.compress(raw))

    def added_rows(self, run_id: int) -> Augmented | None:
        """Return the rows that a repair adds; ``None`` where it made none."""
        made = self._all(
            "SELECT note, content FROM artifacts WHERE run = ? AND trial = ?", run_id, NO_TRIAL
        )
        if not made:
            return None
        ((description, packed),) = made
        phase, count, texts = self._decoded(description, tuple[str, int, tuple[str, ...]])
        d = len(self.spec.domain.attributes)
        try:
            raw = zlib.decompressobj().decompress(packed, count * (d + 3) * 8 + 1)
            by_column = np.frombuffer(raw, "<i8").reshape(d + 3, count)
        except MISFITS as error:
            raise damaged(self.path) from error
        rows = np.array(by_column[:d].view("<f8").T, dtype=np.float64, order="C")
        labels, pairs, seeds = by_column[d:].astype(np.int64)
        added = Augmented(phase, rows, labels, pairs, seeds, texts)
        if why_wrong(added, self.spec.domain, len(self.spec.model.classes), self.spec.data.held):
            raise damaged(self.path)
        return added

    def keep_model(self, run_id: int, file: Retrained) -> None:
        """Keep a file of a retrained model; of one that is too large only that it is."""
        note, content = file.note, file.content.tobytes()
        if len(content) > MOST_FILE_BYTES:
            note = (
                f"The file would have {len(content):,} bytes, and an audit keeps only files of up "
                f"to {MOST_FILE_BYTES:,}."
            )
            content = b""
        self._keep(run_id, file.trial, file.name, note, content)

    def models(self, run_id: int, trial: int) -> dict[str, ModelFile]:
        """Return which files of a trial's model a repair made, by their names."""
        rows = self._all(
            "SELECT name, note, length(content) FROM artifacts WHERE run = ? AND trial = ?"
            " ORDER BY name",
            run_id,
            trial,
        )
        files = self._fitting(rows, list[tuple[str, str, int]])
        return {name: ModelFile(note, size) for name, note, size in files}

    def model(self, run_id: int, trial: int, name: str) -> bytes:
        """Return a file of a trial's model; empty where there is none."""
        rows = self._all(
            "SELECT content FROM artifacts WHERE run = ? AND trial = ? AND name = ?",
            *(run_id, trial, name),
        )
        return self._fitting(rows[0][0], bytes) if rows else b""

    def _keep(self, run_id: int, trial: int, name: str, description: str, content: bytes) -> None:
        with self._writing():
            self._connection.execute(
                "INSERT OR REPLACE INTO artifacts VALUES (?, ?, ?, ?, ?)",
                (run_id, trial, name, description, content),
            )


T = TypeVar("T")

#: What the log says where contents or form of the report were changed.
CHOSEN = "The report’s contents or form were changed."


class Documents(AuditFile):
    """What the auditor says of the report, and what was exported."""

    def details(self) -> Details:
        """Return what the auditor has filled in for the report."""
        return self._kept("details", Details) or Details()

    def write_details(self, details: Details, labels: Mapping[str, str] | None = None) -> None:
        """Keep what the auditor filled in; what changed is written in the log.

        Parameters
        ----------
        labels : mapping, optional
            What the fields are called for people, by their keys.
        """
        after = digests.details_facts(details)
        with self._writing():
            before = digests.details_facts(self.details())
            changed = [
                name for name in sorted({*before, *after}) if before.get(name) != after.get(name)
            ]
            if not changed:
                return
            self._put("details", json_text(details))
            named = ", ".join((labels or {}).get(name, name) for name in changed)
            what = f"The auditor-supplied information of the report was changed: {named}."
            self._write_log(what, "details", {name: after.get(name, "") for name in changed})

    def choice(self) -> Choice:
        """Return how the auditor wants the report."""
        return self._kept("choice", Choice) or Choice()

    def write_choice(self, choice: Choice) -> None:
        """Keep how the auditor wants the report; it is written in the log."""
        with self._writing():
            if choice == self.choice():
                return
            self._put("choice", json_text(choice))
            self._write_log(CHOSEN, "choice", choice)

    def exported(self, what: str, files: Mapping[str, Path], manifest: str = "") -> None:
        """Log that files were exported, with their fingerprints, and keep the manifest of then.

        Parameters
        ----------
        manifest : str
            As `fairdesk.report.provenance.manifest` makes it; empty for none.

        Raises
        ------
        StoreError
            When a file is not there any more, or cannot be read.
        """
        try:
            files_written = tuple(
                ExportedFile(name, str(path.absolute()), sha256(path), path.stat().st_size)
                for name, path in files.items()
            )
        except OSError as error:
            raise StoreError(
                f"The exported file “{error.filename}” cannot be read.",
                why=f"The system reported: {error.strerror or error}.",
                remedy="Export it again.",
            ) from error
        with self._writing():
            if manifest:
                self._put("manifest", manifest)
            digest = digests.text(manifest) if manifest else ""
            self._write_log(what, "exported", Exported(files_written, digest))

    def manifest(self) -> str:
        """Return the manifest that was kept when something was exported last; empty for none."""
        rows = self._all("SELECT document FROM documents WHERE name = 'manifest'")
        return self._fitting(rows[0][0], str) if rows else ""

    def waiting_runs(self) -> tuple[WaitingRun, ...]:
        """Return the runs that waited for others when the audit was closed, in their order."""
        return self._kept("queue", tuple[WaitingRun, ...]) or ()

    def write_waiting_runs(self, waiting: Sequence[WaitingRun]) -> None:
        """Keep the runs that wait. No report tells of them, and so the log does not either."""
        with self._writing():
            if waiting:
                self._put("queue", json_text(tuple(waiting)))
            else:
                self._connection.execute("DELETE FROM documents WHERE name = 'queue'")

    def _kept(self, name: str, kind: type[T]) -> T | None:
        rows = self._all("SELECT document FROM documents WHERE name = ?", name)
        return self._decoded(rows[0][0], kind) if rows else None

    def _put(self, name: str, document: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO documents VALUES (?, ?)", (name, document))


_LogRow = tuple[str, str, LogKind, str, str]


class Evidence(AuditFile):
    """The log of an audit file, and the fingerprints of what it holds."""

    def log(self, what: str, kind: LogKind, facts: object = None) -> None:
        """Write down what happened, with the time, at the end of the log's chain.

        Parameters
        ----------
        facts : object, optional
            The same for programs; anything that msgspec writes as JSON.
        """
        with self._writing():
            self._write_log(what, kind, facts)

    def log_entries(self) -> list[LogEntry]:
        """Return what was written down, in order."""
        rows = self._all("SELECT at, what, kind, facts, link FROM log ORDER BY number")
        entries = [LogEntry(*row) for row in self._fitting(rows, list[_LogRow])]
        with self._as_written():
            for entry in entries:
                moment(entry.at)
        return entries

    def fingerprints(self) -> AuditStarted:
        """Return the fingerprints of question and table, as they are now."""
        (question,) = self._one("SELECT spec FROM audit")
        spec = self.spec
        return AuditStarted(
            digests.text(self._fitting(question, str)),
            digests.table(self.table()),
            spec.data.sha256,
            spec.model.sha256,
        )

    def run_fingerprints(self, run_id: int) -> RunEnded:
        """Return the fingerprints of a run and all that came of it, as they are now."""
        with sqlite_errors_as_store_errors(self.path), self._as_written():
            return digests.run(self._connection, run_id)

    def weighed_fingerprint(self, first: int, last: int) -> str:
        """Return the SHA-256 of how plausible the findings of these numbers are, as it is now."""
        with sqlite_errors_as_store_errors(self.path), self._as_written():
            return digests.weighed(self._connection, first, last)

    def learned_fingerprints(self) -> dict[tuple[int, str], str]:
        """Return per pair and kind the fingerprint of what was learned, as it is now."""
        with sqlite_errors_as_store_errors(self.path), self._as_written():
            return digests.learned(self._connection)

    def sound(self) -> tuple[str, ...]:
        """Return what is wrong with the file as a database, a sentence each; nothing is well."""
        rows = self._all("PRAGMA integrity_check(20)")
        with sqlite_errors_as_store_errors(self.path):
            strange = unexpected_tables(self._connection)
        return (*(f"SQLite reported: {text}." for (text,) in rows if text != "ok"), *strange)


class Store(Runs, Pairs, Artifacts, Documents, Evidence):
    """An open audit file, with all that is kept in it.

    Made by `create`, `open` or `read`; one instance per thread of use.
    """
