"""The log of an audit file, and the fingerprints that it is held against."""

from __future__ import annotations

from fairdesk.audit.store import digests
from fairdesk.audit.store.file import AuditFile, moment
from fairdesk.audit.store.records import AuditStarted, LogEntry, LogKind, RunEnded
from fairdesk.audit.store.schema import sqlite_errors_as_store_errors, unexpected_tables

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
