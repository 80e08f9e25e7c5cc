"""What an audit file keeps of the report: what the auditor filled in, and how it is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from fairdesk.audit.store import digests
from fairdesk.audit.store.file import AuditFile, json_text
from fairdesk.audit.store.records import Choice, Details, Exported, ExportedFile, WaitingRun
from fairdesk.errors import StoreError
from fairdesk.files import sha256

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
