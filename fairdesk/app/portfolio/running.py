"""The audits of a portfolio, one after the other: what is done and unchanged is not run again."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Literal

import msgspec

from fairdesk.app.audit import Question, audit
from fairdesk.app.outputs import AUDIT_FILE, make_folder
from fairdesk.audit.plan.spec import now
from fairdesk.audit.store.records import RunState
from fairdesk.audit.worker.client import Worker
from fairdesk.errors import FairDeskError, ReportError, system_errors
from fairdesk.files import sha256
from fairdesk.report.writing import replacing

log = logging.getLogger(__name__)
#: What is known of the audits, in the folder of their folders.
LEDGER = "portfolio.json"
_FORMAT, _VERSION = "fairdesk-portfolio", 1
#: A process for a model, and whether it was stopped; see `fairdesk.cli.terminal`.
StoppableWorker = Callable[[], AbstractContextManager[tuple[Worker, Callable[[], bool]]]]


class Entry(msgspec.Struct, frozen=True):
    """One audit of a portfolio.

    Attributes
    ----------
    name : str
        Its name, which is also that of its folder.
    question : Question
        What is audited.
    """

    name: str
    question: Question


class Standing(msgspec.Struct, frozen=True):
    """What became of an audit.

    Attributes
    ----------
    state : str
        ``"done"``, ``"failed"``, ``"stopped"``, or ``"open"``: not run yet.
    reason : str
        Why it failed, whole sentences; else empty.
    fingerprint : str
        Of what was asked and of the files that it is about; empty where a file cannot be read.
    seconds : float
        How long it took.
    ended : str
        When: UTC, ISO 8601, to the second.
    """

    state: Literal["done", "failed", "stopped", "open"] = "open"
    reason: str = ""
    fingerprint: str = ""
    seconds: float = 0.0
    ended: str = ""


class _Ledger(msgspec.Struct, frozen=True):
    format: str
    version: int
    audits: dict[str, Standing]


def standings(folder: Path) -> dict[str, Standing]:
    """Return what is known of the audits in a folder, by name.

    Raises
    ------
    ReportError
        When the file that says so cannot be read.
    """
    path = folder / LEDGER
    what = f"The record of the portfolio “{path}” cannot be read."
    remedy = "Delete it to run all audits again, or choose another folder with --out."
    try:
        with system_errors(ReportError, what, remedy):
            found = msgspec.json.decode(path.read_bytes(), type=_Ledger)
    except ReportError:
        if not path.exists():
            return {}
        raise
    except msgspec.MsgspecError as error:
        raise ReportError(what, why=f"It is damaged: {error}.", remedy=remedy) from error
    if (found.format, found.version) != (_FORMAT, _VERSION):
        raise ReportError(what, why="Another version of FairDesk wrote it.", remedy=remedy)
    return found.audits


def run_portfolio(
    entries: Sequence[Entry],
    folder: Path,
    stoppable: StoppableWorker,
    begin: Callable[[Entry], Callable[[RunState], None]],
    ended: Callable[[Entry, Standing], None],
) -> bool:
    """Run the audits that are not done yet, or whose question or files have changed.

    Parameters
    ----------
    entries : sequence of Entry
        The portfolio, in its order. Names are unique.
    folder : Path
        Where each has a folder of its own; made when it is missing.
    stoppable : callable
        Makes the process for a model. Stopping it ends the portfolio after the files of this
        audit are written.
    begin : callable
        Told each audit that is run; returns what is told its states.
    ended : callable
        Told each audit with its standing, also one that is not run again.

    Returns
    -------
    bool
        Whether all audits were looked at; not where it was stopped.

    Raises
    ------
    ReportError
        When the folder, or the record of what is done, cannot be read or written. An audit that
        fails is no error: its standing says why.
    """
    make_folder(folder)
    known = standings(folder)
    hashed = cache(sha256)
    for entry in entries:
        place, before = folder / entry.name, known.get(entry.name, Standing())
        fingerprint = _fingerprint(entry.question, hashed)
        same = bool(fingerprint) and before.fingerprint == fingerprint
        if before.state == "done" and same and (place / AUDIT_FILE).exists():
            ended(entry, before)
            continue
        began = monotonic()
        with stoppable() as (worker, stopped):
            state, reason = _run(worker, entry, place, begin(entry), stopped)
        known[entry.name] = Standing(state, reason, fingerprint, monotonic() - began, now())
        with replacing(folder / LEDGER) as draft:
            ledger = _Ledger(_FORMAT, _VERSION, known)
            draft.write_bytes(msgspec.json.format(msgspec.json.encode(ledger), indent=1))
        ended(entry, known[entry.name])
        if state == "stopped":
            return False
    return True


def _run(
    worker: Worker,
    entry: Entry,
    place: Path,
    watch: Callable[[RunState], None],
    stopped: Callable[[], bool],
) -> tuple[Literal["done", "failed", "stopped"], str]:
    """Make one audit; return its state, and why it failed."""
    try:
        outcome = audit(worker, entry.question, place, watch, stopped)
    except FairDeskError as error:
        if stopped():
            return "stopped", ""
        log.warning("%s failed: %s", entry.name, error, exc_info=True)
        return "failed", str(error)
    except Exception as error:
        # a defect in one audit is no reason to lose the others
        log.exception("%s failed unexpectedly", entry.name)
        return "failed", f"Something unexpected went wrong ({type(error).__name__}: {error})."
    if outcome.failure:
        return "failed", outcome.failure
    if outcome.nothing_measured and not (stopped() or outcome.stopped):
        return "failed", " ".join(outcome.unmeasured)
    return ("stopped", "") if stopped() or outcome.stopped else ("done", "")


def _fingerprint(question: Question, hashed: Callable[[Path], str]) -> str:
    """Return the SHA-256 of a question, with that of each file in the place of its name."""
    subject = question.subject
    paths = (subject.data, subject.model, subject.map, *subject.companions)
    try:
        files = [None if path is None else hashed(path) for path in paths]
    except OSError:
        return ""
    bare = msgspec.structs.replace(subject, data=Path(), model=None, map=None, companions=())
    asked = msgspec.structs.replace(question, subject=bare)
    text = msgspec.json.encode((asked, files), enc_hook=str, order="deterministic")
    return hashlib.sha256(text).hexdigest()
