"""The log as a chain: each entry's fingerprint holds that of the entry before it.

Who changes, removes or inserts an entry changes every fingerprint after it. The last one, the
chain's *head*, stands in every report and manifest: against it a chain that was written anew from
some point on shows too. Nothing here keeps a file from being changed; it shows that it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from fairdesk.audit.store.records import LogEntry

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
