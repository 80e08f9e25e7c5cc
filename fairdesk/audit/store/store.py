"""The audit file: one SQLite database that holds everything an audit asked and found."""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.labels import why_wrong
from fairdesk.audit.store import digests
from fairdesk.audit.store.file import MISFITS, AuditFile, json_text, moment
from fairdesk.audit.store.records import (
    AuditStarted,
    Choice,
    Details,
    Exported,
    ExportedFile,
    LogEntry,
    LogKind,
    ModelFile,
    RunEnded,
    WaitingRun,
)
from fairdesk.audit.store.schema import damaged, sqlite_errors_as_store_errors, unexpected_tables
from fairdesk.audit.store.stored_pairs import Pairs
from fairdesk.audit.store.stored_runs import Runs
from fairdesk.certify.proof import certificate, certificate_reading
from fairdesk.errors import StoreError
from fairdesk.files import sha256
from fairdesk.results.mitigation import Augmented, Retrained

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
