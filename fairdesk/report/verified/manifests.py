"""A manifest that was given away, held against the audit: all that it tells of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from fairdesk.audit.store import digests
from fairdesk.audit.store.records import LogEntry
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.reproducing import other_versions
from fairdesk.audit.verify.tally import Tally
from fairdesk.report.content.redacted_json import RedactedJson
from fairdesk.report.content.redaction import SENTENCES, Shown
from fairdesk.report.provenance import evidence
from fairdesk.report.provenance.manifest import Manifest, RunOf, as_of

#: What a manifest tells, and what that is.
_TOLD = {
    "title": "a different title",
    "moment": "a different time of its last change",
    "data": "a different data file",
    "model": "a different model file",
    "companions": "different companion files of the model",
    "question_sha256": "a different SHA-256 hash of the audit plan",
    "table_sha256": "a different SHA-256 hash of the table",
    "spec": "a different audit plan",
    "versions": "different versions",
    "details": "different details of the report",
    "log": "different audit log entries",
}
#: What another version may write otherwise of the same audit.
_WRITTEN = ("commands", "domain_file", "map_file")
#: What is told of a run that had ended, and of every other.
_OF_RUN = (
    *("method", "seed", "versions", "sha256", "state", "message", "started", "ended"),
    *("elapsed", "tried", "found", "queries", "rejected"),
)
_OF_OPEN_RUN = ("method", "seed", "versions", "sha256", "started")


def compare_manifest(
    tally: Tally, name: str, content: bytes, store: Store, entries: Sequence[LogEntry]
) -> None:
    """Hold a manifest against the audit as it was when the manifest was made."""
    try:
        document = msgspec.json.decode(content, type=dict[str, Any])
        manifest = msgspec.convert(document, Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        tally.differ(f"The manifest in “{name}” cannot be read.")
        return
    identity = evidence.identity(store.spec)
    if not tally.compare(
        manifest.audit == identity,
        f"“{name}” belongs to the audit {manifest.audit}, and this is {identity}.",
    ):
        return
    if not tally.compare(
        0 < manifest.log.entries <= len(entries)
        and digests.head(entries[: manifest.log.entries]) == manifest.log.head,
        f"“{name}” was made from a different audit log.",
    ):
        return
    again = as_of(store, manifest.log.entries)
    if sentence := document.get("redacted"):
        kind = next((key for key, said in SENTENCES.items() if said == sentence), None)
        if kind is None:
            tally.leave(f"The statement in “{name}” of what it omits is not known to this version.")
            return
        again = RedactedJson(Shown(kind, store.spec, store.table())).manifest(again)
    _compare(tally, name, manifest, msgspec.json.decode(again, type=Manifest), store)


def _compare(tally: Tally, name: str, manifest: Manifest, again: Manifest, store: Store) -> None:
    for member, what in _TOLD.items():
        tally.compare(getattr(manifest, member) == getattr(again, member), f"“{name}” has {what}.")
    runs = {run.id: run for run in again.runs}
    had = {run.id for run in again.runs if run.sha256 is not None}
    for number in sorted(had - {run.id for run in manifest.runs}):
        tally.differ(f"“{name}” does not list run {number}.")
    for run in manifest.runs:
        tally.compare(
            run.id in runs and _same_run(run, runs[run.id]),
            f"“{name}” describes run {run.id} differently.",
        )
    written = all(getattr(manifest, member) == getattr(again, member) for member in _WRITTEN)
    if written or not other_versions(store.spec):
        tally.compare(written, f"“{name}” has different command lines to repeat the runs.")
    else:
        tally.leave(f"The command lines in “{name}” are those of different versions.")


def _same_run(run: RunOf, again: RunOf) -> bool:
    members = _OF_RUN if again.sha256 is not None else _OF_OPEN_RUN
    return all(getattr(run, each) == getattr(again, each) for each in members)
