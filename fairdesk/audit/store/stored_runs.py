"""What an audit file keeps of runs: what was asked, how far they came, what they measured."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import RunSpec, now, versions
from fairdesk.audit.store import digests
from fairdesk.audit.store.file import MISFITS, AuditFile, json_text, moment
from fairdesk.audit.store.pair import Count
from fairdesk.audit.store.records import (
    RunDropped,
    RunRecord,
    RunsPlanned,
    RunStarted,
    StepOfPlan,
)
from fairdesk.audit.store.schema import BUSY_SECONDS, sqlite_errors_as_store_errors
from fairdesk.errors import StoreError
from fairdesk.results.events import Metric, Progress

#: How a run ended that was cut off.
_CLOSED = "FairDesk was closed or ended while it ran."
#: What the columns of a run hold.
_RunState = Literal["running", "stopped", "done", "failed"]
_RunRow = tuple[
    str, str, str, int, _RunState, str, str, str, float, Count, Count, Count, Count, str
]
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
        rows = self._all(
            "SELECT spec, seconds, sufficient_alone, id, state, message, started, ended, elapsed,"
            " tried, found, queries, rejected, figures FROM run ORDER BY id"
        )
        return [self._readable(row) for row in rows]

    def _readable(self, row: tuple[Any, ...]) -> RunRecord:
        try:
            return self._run(msgspec.convert(row, type=_RunRow))
        except (*MISFITS, KeyError) as error:
            raise StoreError(
                f"Run {row[3]} of the audit “{self.path}” cannot be read.",
                why=f"It contains something that FairDesk never writes: {error}.",
                remedy="Use a copy of the audit from before it was changed or damaged.",
            ) from error

    def _run(self, row: Any) -> RunRecord:  # noqa: ANN401 - a `_RunRow`
        spec, seconds, sufficient_alone, *others, figures = row
        id_, state, message, started, ended, elapsed, tried, found, queries, rejected = others
        record = RunRecord(
            id=id_,
            spec=msgspec.json.decode(spec, type=RunSpec),
            state=state,
            message=message,
            started=moment(started),
            ended=moment(ended) if ended else "",
            elapsed=elapsed,
            tried=tried,
            found=found,
            queries=queries,
            seconds=msgspec.json.decode(seconds, type=dict[str, float]),
            sufficient_alone=msgspec.json.decode(sufficient_alone, type=tuple[int, ...]),
            rejected=rejected,
            figures=msgspec.json.decode(_renamed(figures), type=tuple[Metric, ...]),
        )
        if len(record.sufficient_alone) != len(self.spec.domain.protected):
            raise ValueError("its protected attributes are different")
        if not _title(record.spec.method):
            raise StoreError(
                f"Run {id_} of the audit “{self.path}” has a method that this FairDesk version "
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
