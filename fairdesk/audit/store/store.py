"""The audit file: one SQLite database that holds everything an audit asked and found."""

from __future__ import annotations

import io
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.adding import why_wrong
from fairdesk.audit.plan.spec import AuditSpec, RunSpec, now, versions
from fairdesk.audit.store import digests
from fairdesk.audit.store.details import Choice, Details
from fairdesk.audit.store.records import (
    AuditStarted,
    Exported,
    ExportedFile,
    Learned,
    LogEntry,
    LogKind,
    Marked,
    ModelFile,
    Pair,
    PairQuery,
    RunEnded,
    RunRecord,
    RunStarted,
    RunState,
    Weighed,
)
from fairdesk.audit.store.schema import (
    BUSY_SECONDS,
    add_entry,
    beside,
    check_file,
    check_schema,
    connect,
    copied,
    damaged,
    make_schema,
    question_of,
    sqlite_errors_as_store_errors,
    transaction,
    unexpected_tables,
)
from fairdesk.certify.proof import certificate
from fairdesk.data.table import Column, Table
from fairdesk.errors import SpecError, StoreError
from fairdesk.files import sha256
from fairdesk.individual.realism.plausibility import Plausibility
from fairdesk.models.model import favourable_scores, labels
from fairdesk.results.events import Found, Metric, Progress, Rows
from fairdesk.results.mitigation import Augmented, Retrained

T = TypeVar("T")

#: Findings of one transaction. With 2,000 the window stood still for up to 60 ms, with 500 for 15.
CHUNK = 500
#: Findings that are asked for by their numbers at once.
_AT_ONCE = 5_000
#: From so many findings on, an order is worth an index.
INDEX_FROM = 20_000
#: What a pair is read with, before the columns of its finding.
_PAIR_COLUMNS = (
    *("id", "run", "phase", "mark", "note"),
    *("distance", "plausibility", "nearest"),
)

MARKS = ("", "flagged", "dismissed")
_Count = Annotated[int, msgspec.Meta(ge=0)]
_Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
#: What the columns of a run, of a pair before its codes and after them, and of the log hold.
_RunState = Literal["running", "stopped", "done", "failed"]
_RunRow = tuple[
    str, str, str, int, _RunState, str, str, str, float, _Count, _Count, _Count, _Count, str
]
_Mark = Literal["", "flagged", "dismissed"]
_PairHead = tuple[int, int, str, _Mark, str, _Share | None, float | None, _Count | None]
_PairTail = tuple[float, float, _Count, _Count, _Count]
_LogRow = tuple[str, str, LogKind, str, str]
#: What comes out of a file that was changed by hand.
_MISFITS = (
    *(msgspec.MsgspecError, zlib.error, ValueError, TypeError, OverflowError, RecursionError),
)
#: The number that stands for no one trial of a repair.
NO_TRIAL = -1
#: SQLite takes no more in one piece than a little more.
MOST_FILE_BYTES = 900_000_000


class Store:
    """An open audit file. Made by `create` or `open`; one instance per thread of use.

    Everything that cannot be read or written raises `StoreError`; what was written before stays
    readable. Use it as a context manager, or call `close`.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, spec: AuditSpec) -> None:
        self.path = path
        self.spec = spec
        self._connection = connection
        domain = spec.domain
        self._columns = {name: f"x{i}" for i, name in enumerate(domain.names)}
        sizes = np.array([len(attribute.values) for attribute in domain.attributes])
        self._named = np.flatnonzero(sizes)
        self._sizes = sizes[self._named]
        self._partner_columns = [f"y{i}" for i in domain.protected.tolist()]
        self._finding_columns = [
            *self._columns.values(),
            *self._partner_columns,
            "row_score",
            "partner_score",
            "row_class",
            "partner_class",
            "alone",
        ]

    @classmethod
    def create(cls, path: Path, spec: AuditSpec, table: Table) -> Self:
        """Begin an audit file.

        Raises
        ------
        StoreError
            When there is a file already (nothing is overwritten), or it cannot be written.
        """
        path = path.absolute()
        try:
            path.open("xb").close()
        except FileExistsError:
            raise StoreError(
                f"There is already a file “{path}”.",
                remedy="Choose another name; an audit is never overwritten.",
            ) from None
        except OSError as error:
            raise StoreError(
                f"The audit file “{path}” cannot be made.",
                why=f"The system says: {error.strerror or error}.",
                remedy="Choose a folder that exists and where you may write.",
            ) from error
        connection = None
        try:
            with sqlite_errors_as_store_errors(path):
                connection = connect(path)
                connection.execute("PRAGMA journal_mode = WAL")
                with transaction(connection):
                    make_schema(connection, spec, table)
        except BaseException:
            if connection is not None:
                connection.close()
            for leftover in (path, *beside(path)):
                leftover.unlink(missing_ok=True)
            raise
        # the question as it will be read: a report of today and one of next year are the same
        return cls(path, connection, msgspec.json.decode(question_of(spec), type=AuditSpec))

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open an audit file.

        Raises
        ------
        StoreError
            When it is missing, no audit, made by another FairDesk, damaged, or not writable.
        """
        path = path.absolute()
        check_file(path)
        return cls._opened(path, path)

    @classmethod
    @contextmanager
    def read(cls, path: Path) -> Iterator[Self]:
        """Read an audit file without changing a byte of it, wherever it lies.

        What is open is a private copy, gone in the end: whatever is written to it is lost. An
        audit that is still written to is copied as it stood at one moment.

        Raises
        ------
        StoreError
            When it is missing, no audit, made by another FairDesk, damaged, or cannot be copied.
        """
        path = path.absolute()
        with copied(path) as copy, cls._opened(copy, path) as store:
            yield store

    @classmethod
    def _opened(cls, file: Path, path: Path) -> Self:
        """Open a file that people know under a path."""
        with sqlite_errors_as_store_errors(path):
            connection = connect(file)
            try:
                check_schema(connection, path)
                connection.execute("PRAGMA journal_mode = WAL")
                (text,) = connection.execute("SELECT spec FROM audit").fetchone()
                spec = msgspec.json.decode(text, type=AuditSpec)
                _check_question(spec)
            except (*_MISFITS, SpecError) as error:
                connection.close()
                raise damaged(path) from error
            except BaseException:
                connection.close()
                raise
        return cls(path, connection, spec)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. May be repeated."""
        with suppress(sqlite3.Error):
            self._connection.close()

    def table(self) -> Table:
        """Return the audited table, as it was read."""
        (packed,) = self._one("SELECT codes FROM audit")
        source, columns = self.spec.data, self.spec.columns
        size = source.rows * len(columns) * 8
        unpacking = zlib.decompressobj()
        try:
            raw = unpacking.decompress(packed, size + 1)
            codes = np.frombuffer(raw, "<f8").reshape(len(columns), source.rows).T
        except _MISFITS as error:
            raise damaged(self.path) from error
        if not unpacking.eof or not all(map(_holds, columns, codes.T)):
            raise damaged(self.path)
        return Table(source, columns, np.ascontiguousarray(codes, dtype=np.float64))

    def begin_run(self, run: RunSpec) -> int:
        """Note that a run begins, and what it was asked; gives its number."""
        nobody = [0] * len(self.spec.domain.protected)
        changed_versions = dict(versions().items() - self.spec.versions.items())
        with self._writing():
            cursor = self._connection.execute(
                "INSERT INTO run (spec, state, started, alone) VALUES (?, 'running', ?, ?)",
                (_json(run), now(), _json(nobody)),
            )
            number = cursor.lastrowid
            assert number is not None, "an INSERT gives a row number"  # noqa: S101 - mypy
            message = f"Run {number} was started: {_title(run.method)}"
            self._write_log(message, "ran", RunStarted(number, run, changed_versions))
        return number

    def add(self, run_id: int, found: Found) -> None:
        """Keep findings of a run, in transactions of at most `CHUNK`."""
        values = self._values(found)
        insert = (
            f"INSERT INTO finding (run, phase, {', '.join(self._finding_columns)})"  # noqa: S608
            f" VALUES (?, ?{', ?' * len(self._finding_columns)})"
        )
        for start in range(0, len(values), CHUNK):
            chunk = values[start : start + CHUNK].tolist()
            with self._writing():
                self._connection.executemany(insert, [[run_id, found.phase, *row] for row in chunk])
                (text,) = self._one("SELECT alone FROM run WHERE id = ?", run_id)
                alone = np.add(
                    msgspec.json.decode(text), found.alone[start : start + CHUNK].sum(axis=0)
                )
                self._connection.execute(
                    "UPDATE run SET found = found + ?, alone = ? WHERE id = ?",
                    (len(chunk), _json(alone.tolist()), run_id),
                )

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
                    _json(progress.seconds),
                    progress.rejected,
                    run_id,
                ),
            )

    def measure(self, run_id: int, figures: Sequence[Metric]) -> None:
        """Keep all figures of a run as they stand, in place of those before."""
        with self._writing():
            self._connection.execute(
                "UPDATE run SET figures = ? WHERE id = ?", (_json(figures), run_id)
            )

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
        certificate.check(own_header, arrays)
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
            return certificate.unpack(io.BytesIO(rows[0][0]))
        except (certificate.CertificateError, *_MISFITS) as error:
            raise damaged(self.path) from error

    def certified_runs(self) -> tuple[int, ...]:
        """Return the numbers of the runs that have a certificate."""
        return tuple(run for (run,) in self._all("SELECT run FROM certificate ORDER BY run"))

    def keep_rows(self, run_id: int, added: Augmented) -> None:
        """Keep the rows that a repair adds, in place of those before."""
        description = _json((added.phase, len(added.rows), added.texts))
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
        except _MISFITS as error:
            raise damaged(self.path) from error
        rows = np.array(by_column[:d].view("<f8").T, dtype=np.float64, order="C")
        labels, pairs, seeds = by_column[d:].astype(np.int64)
        added = Augmented(phase, rows, labels, pairs, seeds, texts)
        if why_wrong(added, self.spec.domain, len(self.spec.model.classes), self.spec.data.rows):
            raise damaged(self.path)
        return added

    def keep_model(self, run_id: int, file: Retrained) -> None:
        """Keep a file of a retrained model; of one that is too large only that it is."""
        note, content = file.note, file.content.tobytes()
        if len(content) > MOST_FILE_BYTES:
            note = (
                f"The file would have {len(content):,} bytes, and an audit keeps none of more than "
                f"{MOST_FILE_BYTES:,}."
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

    def end_run(self, run_id: int, state: str, message: str = "") -> None:
        """Note how a run ended: ``"done"``, ``"stopped"`` or ``"failed"``, and why.

        The log then holds the fingerprint of everything that came of it.
        """
        with sqlite_errors_as_store_errors(self.path):
            # outside the transaction: nobody else writes findings of this run
            found = digests.found(self._connection, run_id)
        with self._writing():
            self._connection.execute(
                "UPDATE run SET state = ?, message = ?, ended = ? WHERE id = ?",
                (state, message, now(), run_id),
            )
            ended = digests.ended(self._connection, run_id, found)
            self._write_log(f"Run {run_id} ended: {state}. {message}".strip(), "ran", ended)

    def close_interrupted_runs(self) -> None:
        """Mark runs that were cut off when FairDesk itself ended. Call it while nothing runs.

        They ended when they were last heard of, as far as that is known. Nothing is marked while
        somebody else has the file open: a run of theirs may go on.
        """
        with sqlite_errors_as_store_errors(self.path):
            if not self._alone():
                return
        message = "FairDesk was closed or ended while it ran."
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
                entry = f"Run {run_id} was cut off: {message}"
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
            "SELECT spec, seconds, alone, id, state, message, started, ended, elapsed, tried,"
            " found, queries, rejected, figures FROM run ORDER BY id"
        )
        return [self._readable(row) for row in rows]

    def _readable(self, row: tuple[Any, ...]) -> RunRecord:
        try:
            return self._run(msgspec.convert(row, type=_RunRow))
        except (*_MISFITS, KeyError) as error:
            raise StoreError(
                f"Run {row[3]} of the audit “{self.path}” cannot be read.",
                why=f"It holds what FairDesk never writes: {error}.",
                remedy="Take a copy of the audit from before it was changed or damaged.",
            ) from error

    def _run(self, row: Any) -> RunRecord:  # noqa: ANN401 - a `_RunRow`
        spec, seconds, alone, *others, figures = row
        id_, state, message, started, ended, elapsed, tried, found, queries, rejected = others
        record = RunRecord(
            id=id_,
            spec=msgspec.json.decode(spec, type=RunSpec),
            state=state,
            message=message,
            started=_moment(started),
            ended=_moment(ended) if ended else "",
            elapsed=elapsed,
            tried=tried,
            found=found,
            queries=queries,
            seconds=msgspec.json.decode(seconds, type=dict[str, float]),
            alone=msgspec.json.decode(alone, type=tuple[int, ...]),
            rejected=rejected,
            figures=msgspec.json.decode(figures, type=tuple[Metric, ...]),
        )
        if len(record.alone) != len(self._partner_columns):
            raise ValueError("it counts other protected attributes")
        if not _title(record.spec.method):
            raise StoreError(
                f"Run {id_} of the audit “{self.path}” has a method that this FairDesk does not "
                "know.",
                why=f"It is called “{record.spec.method}”.",
                remedy="Install the newest FairDesk, or take a copy from before it was changed.",
            )
        return record

    def progress(self, run_id: int) -> NDArray[np.float64]:
        """Return a run's course: ``(m, 4)``, elapsed seconds, tried, found, queries."""
        rows = self._all(
            "SELECT elapsed, tried, found, queries FROM progress WHERE run = ? ORDER BY rowid",
            run_id,
        )
        points = self._fitting(rows, list[tuple[float, _Count, _Count, _Count]])
        return np.array(points, dtype=np.float64).reshape(-1, 4)

    def count(self, query: PairQuery) -> int:
        """Count the pairs of a query."""
        where, values = self._where(query)
        (count,) = self._one(f"SELECT count(*) FROM finding{where}", *values)  # noqa: S608
        return int(count)

    def pairs(self, query: PairQuery, offset: int, limit: int) -> list[Pair]:
        """Return at most ``limit`` pairs of a query from the ``offset``-th on (from 0)."""
        where, values = self._where(query)
        order = self._order(query)
        self._index(query.order)
        # only the chosen findings are read whole: an index skips the ones before
        rows = self._all(
            f"SELECT {self._pair_columns} FROM finding WHERE id IN"  # noqa: S608
            f" (SELECT id FROM finding{where} ORDER BY {order} LIMIT ? OFFSET ?)"
            f" ORDER BY {order}",
            *values,
            limit,
            offset,
        )
        return self._pairs(rows)

    def pair(self, pair_id: int) -> Pair:
        """Return one pair.

        Raises
        ------
        StoreError
            When there is none of that number.
        """
        rows = self._all(
            f"SELECT {self._pair_columns} FROM finding WHERE id = ?",  # noqa: S608
            pair_id,
        )
        if not rows:
            raise _no_pair(pair_id)
        return self._pairs(rows)[0]

    def each_pair(self, query: PairQuery) -> Iterator[Pair]:
        """Yield all pairs of a query, one after the other, without holding them all."""
        where, values = self._where(query)
        sql = (
            f"SELECT {self._pair_columns} FROM finding{where}"  # noqa: S608
            f" ORDER BY {self._order(query)}"
        )
        with sqlite_errors_as_store_errors(self.path):
            cursor = self._connection.execute(sql, values)
            while rows := cursor.fetchmany(CHUNK):
                yield from self._pairs(rows)

    def found_rows(self, run_id: int) -> Iterator[Rows]:
        """Yield the instances that a run found, ``(n, d)`` at a time, in the order of finding."""
        sql = f"SELECT {', '.join(self._columns.values())} FROM finding WHERE run = ? ORDER BY id"  # noqa: S608
        with sqlite_errors_as_store_errors(self.path):
            cursor = self._connection.execute(sql, (run_id,))
            while rows := cursor.fetchmany(20 * CHUNK):
                yield self._people(rows)

    def found_pairs(self, query: PairQuery, step: int) -> tuple[Rows, Rows, NDArray[np.int64]]:
        """Return every ``step``-th pair of a query, in the order of finding; only these are held.

        Returns
        -------
        rows, partners : Rows
            ``(m, d)`` each.
        numbers : NDArray[np.int64]
            ``(m,)``; the pairs' numbers.
        """
        where, values = self._where(query)
        # numbers first: they are small, and rows in between are never read
        with sqlite_errors_as_store_errors(self.path):
            cursor = self._connection.execute(
                f"SELECT id FROM finding{where} ORDER BY id",  # noqa: S608
                values,
            )
            numbers = np.fromiter((number for (number,) in cursor), dtype=np.int64)[::step]
        d = len(self.spec.domain.attributes)
        rows = np.empty((len(numbers), d))
        partners = np.empty((len(numbers), d))
        columns = ", ".join((*self._columns.values(), *self._partner_columns))
        for start in range(0, len(numbers), _AT_ONCE):
            some = numbers[start : start + _AT_ONCE].tolist()
            found = self._all(
                f"SELECT {columns} FROM finding WHERE id IN ({', '.join('?' * len(some))})"  # noqa: S608
                " ORDER BY id",
                *some,
            )
            part = slice(start, start + len(some))
            rows[part], partners[part] = self._both(found, d)
        return rows, partners, numbers

    def unweighed(self, limit: int) -> tuple[NDArray[np.int64], Rows]:
        """Return the numbers and instances, ``(n, d)``, of findings that were not weighed yet."""
        sql = (
            f"SELECT id, {', '.join(self._columns.values())} FROM finding"  # noqa: S608
            " WHERE distance IS NULL ORDER BY id LIMIT ?"
        )
        rows = self._all(sql, limit)
        numbers = np.array([row[0] for row in rows], dtype=np.int64)
        return numbers, self._people([row[1:] for row in rows])

    def weigh(self, pair_ids: NDArray[np.int64], weighed: Plausibility) -> None:
        """Keep how plausible findings are, and log it, in one transaction.

        Parameters
        ----------
        pair_ids : NDArray[np.int64]
            ``(n,)``; the findings' numbers, ascending.
        weighed : Plausibility
            Of each.
        """
        values = zip(
            weighed.distance.tolist(),
            weighed.score.tolist(),
            weighed.nearest.tolist(),
            pair_ids.tolist(),
            strict=True,
        )
        # the log tells of these findings only, not of those in between that somebody else weighed
        gaps = np.flatnonzero(np.diff(pair_ids) > 1) + 1
        with self._writing():
            self._connection.executemany(
                "UPDATE finding SET distance = ?, plausibility = ?, nearest = ? WHERE id = ?",
                values,
            )
            for part in np.split(pair_ids, gaps) if len(pair_ids) else ():
                first, last = int(part[0]), int(part[-1])
                digest = digests.weighed(self._connection, first, last)
                message = f"Pairs {first:,} to {last:,} were compared with real people."
                self._write_log(message, "learned", Weighed(first, last, digest))

    def learn(self, pair_id: int, what: str, document: msgspec.Struct, message: str = "") -> None:
        """Keep what was learned about a pair, in place of what was known of that kind.

        Parameters
        ----------
        pair_id : int
            The pair's number.
        what : str
            Its kind.
        document : Struct
            What was learned.
        message : str
            A sentence for the log.
        """
        text = _json(document)
        with self._writing():
            self._connection.execute(
                "INSERT OR REPLACE INTO pair_analyses VALUES (?, ?, ?)", (pair_id, what, text)
            )
            fact = Learned(pair_id, what, digests.text(text))
            self._write_log(message or f"Pair {pair_id}: {what} is known.", "learned", fact)

    def learned(self, pair_id: int, what: str, kind: type[T]) -> T | None:
        """Return what was learned about a pair; ``None`` when nothing was."""
        rows = self._all(
            "SELECT document FROM pair_analyses WHERE finding = ? AND what = ?", pair_id, what
        )
        return self._decoded(rows[0][0], kind) if rows else None

    def mark(self, pair_id: int, mark: str) -> None:
        """Set the auditor's mark of a pair, one of `MARKS`, and log it.

        Raises
        ------
        StoreError
            When there is no such mark, or no such pair.
        """
        if mark not in MARKS:
            raise StoreError(f"There is no mark “{mark}”.", remedy=f"Marks: {', '.join(MARKS)}.")
        message = f"Pair {pair_id}: {mark or 'not marked'}."
        self._say_of_pair("mark", mark, message, Marked(pair_id, mark=mark))

    def note(self, pair_id: int, text: str) -> None:
        """Set the auditor's note on a pair, and log it.

        Raises
        ------
        StoreError
            When there is no such pair.
        """
        what = f"note “{text}”" if text else "note taken away"
        self._say_of_pair("note", text, f"Pair {pair_id}: {what}.", Marked(pair_id, note=text))

    def _say_of_pair(self, column: str, text: str, message: str, marked: Marked) -> None:
        with self._writing():
            changed = self._connection.execute(
                f"UPDATE finding SET {column} = ? WHERE id = ?",  # noqa: S608 - one of two columns
                (text, marked.pair),
            )
            if not changed.rowcount:
                raise _no_pair(marked.pair)
            self._write_log(message, "marked", marked)

    def log(self, what: str, kind: LogKind, facts: object = None) -> None:
        """Write down what happened, with the time, at the end of the log's chain.

        Parameters
        ----------
        what : str
            A sentence.
        kind : str
            What it is about.
        facts : object, optional
            The same for programs; anything that msgspec writes as JSON.
        """
        with self._writing():
            self._write_log(what, kind, facts)

    def log_entries(self) -> list[LogEntry]:
        """Return what was written down, in order."""
        rows = self._all("SELECT at, what, kind, facts, link FROM log ORDER BY number")
        entries = [LogEntry(*row) for row in self._fitting(rows, list[_LogRow])]
        for entry in entries:
            self._moment(entry.at)
        return entries

    def details(self) -> Details:
        """Return what the auditor has filled in for the report."""
        return self._kept("details", Details) or Details()

    def write_details(self, details: Details, labels: Mapping[str, str] | None = None) -> None:
        """Keep what the auditor filled in; what changed is written in the log.

        Parameters
        ----------
        details : Details
            All of it.
        labels : mapping, optional
            What the fields are called for people, by their keys.
        """
        after = digests.told_details(details)
        with self._writing():
            before = digests.told_details(self.details())
            changed = [
                name for name in sorted({*before, *after}) if before.get(name) != after.get(name)
            ]
            if not changed:
                return
            self._put("details", _json(details))
            named = ", ".join((labels or {}).get(name, name) for name in changed)
            what = f"The report’s details were changed: {named}."
            self._write_log(what, "details", {name: after.get(name, "") for name in changed})

    def choice(self) -> Choice:
        """Return how the auditor wants the report."""
        return self._kept("choice", Choice) or Choice()

    def write_choice(self, choice: Choice) -> None:
        """Keep how the auditor wants the report; it is written in the log."""
        with self._writing():
            if choice == self.choice():
                return
            self._put("choice", _json(choice))
            self._write_log("The report’s contents or form were changed.", "choice", choice)

    def exported(self, what: str, files: Mapping[str, Path], manifest: str = "") -> None:
        """Log that files were exported, with their fingerprints, and keep the manifest of then.

        Parameters
        ----------
        what : str
            A sentence.
        files : mapping of str to Path
            By their names in the export.
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
                why=f"The system says: {error.strerror or error}.",
                remedy="Export it once more.",
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
        return (*(f"SQLite says: {text}." for (text,) in rows if text != "ok"), *strange)

    def _kept(self, name: str, kind: type[T]) -> T | None:
        rows = self._all("SELECT document FROM documents WHERE name = ?", name)
        return self._decoded(rows[0][0], kind) if rows else None

    def _put(self, name: str, document: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO documents VALUES (?, ?)", (name, document))

    def _write_log(self, what: str, kind: LogKind, facts: object) -> None:
        add_entry(self._connection, what, kind, facts)

    @property
    def _pair_columns(self) -> str:
        return ", ".join((*_PAIR_COLUMNS, *self._finding_columns))

    def _values(self, found: Found) -> NDArray[np.float64]:
        """Return the columns of findings side by side, ``(n, columns)``."""
        domain, favourable = self.spec.domain, self.spec.mapping.favourable_class
        return np.column_stack(
            (
                found.rows,
                found.partners[:, domain.protected],
                favourable_scores(found.row_scores, favourable),
                favourable_scores(found.partner_scores, favourable),
                labels(found.row_scores),
                labels(found.partner_scores),
                found.alone @ (1 << np.arange(len(domain.protected))),
            )
        )

    def _pairs(self, rows: Sequence[tuple[Any, ...]]) -> list[Pair]:
        """Make pairs of whole rows of the finding table; their codes in one array."""
        first, p = len(_PAIR_COLUMNS), len(self._partner_columns)
        codes, partners = self._both([row[first:-5] for row in rows], len(self._columns))
        heads = self._fitting([row[:first] for row in rows], list[_PairHead])
        tails = self._fitting([row[-5:] for row in rows], list[_PairTail])
        most = len(self.spec.decisions)
        if any(tail[2] >= most or tail[3] >= most or tail[4] >= 1 << p for tail in tails):
            raise damaged(self.path)
        return [
            Pair(
                *(id_, run, phase, row, partner, *tail[:4]),
                alone=tuple(bool(tail[4] >> i & 1) for i in range(p)),
                mark=mark,
                note=note,
                distance=distance,
                plausibility=plausibility,
                nearest=nearest,
            )
            for (
                id_,
                run,
                phase,
                mark,
                note,
                distance,
                plausibility,
                nearest,
            ), tail, row, partner in (zip(heads, tails, codes, partners, strict=True))
        ]

    def _both(self, rows: Sequence[tuple[Any, ...]], d: int) -> tuple[Rows, Rows]:
        """Return the people of pairs and their partners, ``(n, d)`` each."""
        codes = self._people([row[:d] for row in rows])
        partners, protected = codes.copy(), self.spec.domain.protected
        with self._as_written():
            partners[:, protected] = np.array([row[d:] for row in rows], dtype=np.float64).reshape(
                len(rows), len(protected)
            )
        return codes, self._people(self.spec.domain.apply_dependencies(partners))

    def _people(self, rows: Sequence[Sequence[Any]] | Rows) -> Rows:
        """Take rows as people who can be told of, ``(n, d)``: finite codes, names that there are.

        Whether there can be such people by ranges and constraints is for who checks an audit.
        """
        with self._as_written():
            people = np.array(rows, dtype=np.float64).reshape(len(rows), len(self._columns))
        names = people[:, self._named]
        fits = np.isfinite(people).all() and (names >= 0).all() and (names < self._sizes).all()
        if not fits or (names != np.floor(names)).any():
            raise damaged(self.path)
        return people

    def _where(self, query: PairQuery) -> tuple[str, list[Any]]:
        """Return the WHERE clause, and the values that are bound to it."""
        terms: list[str] = []
        values: list[Any] = []
        if query.run is not None:
            terms.append("run = ?")
            values.append(query.run)
        if query.mark is not None:
            terms.append("mark = ?")
            values.append(query.mark)
        if query.upto is not None:
            terms.append("id <= ?")
            values.append(query.upto)
        if query.within is not None:
            terms.append("distance <= ?")
            values.append(query.within)
        if query.among is not None:
            terms.append(f"id IN ({', '.join('?' * len(query.among))})")
            values.extend(query.among)
        for name, wanted in query.where.items():
            column = self._column(name)
            if isinstance(wanted, str):
                terms.append(f"{column} = ?")
                values.append(self._code(name, wanted))
            else:
                terms.append(f"{column} BETWEEN ? AND ?")
                values.extend(wanted)
        return (" WHERE " + " AND ".join(terms) if terms else ""), values

    def _order(self, query: PairQuery) -> str:
        direction = " DESC" if query.descending else ""
        if query.order == "id":
            return f"id{direction}"
        return f"{self._order_term(query.order)}{direction}, id{direction}"

    def _order_term(self, order: str) -> str:
        if order == "difference":
            return "abs(row_score - partner_score)"
        if order in ("row_score", "partner_score", "mark", "distance", "plausibility"):
            return order
        return self._column(order)

    def _column(self, name: str) -> str:
        try:
            return self._columns[name]
        except KeyError:
            raise StoreError(
                f"There is no attribute “{name}” in this audit.",
                remedy=f"Its attributes are: {', '.join(self._columns)}.",
            ) from None

    def _code(self, name: str, text: str) -> float | None:
        """Return the code of a value's text; ``None``, which nothing equals, for a stranger."""
        attribute = self.spec.domain.attributes[self.spec.domain.names.index(name)]
        try:
            return float(attribute.values.index(text) if attribute.values else text)
        except ValueError:
            return None

    def _index(self, order: str) -> None:
        """Make sure of an index for an order, once there is enough to sort.

        The last page of 300,000 findings then takes milliseconds, without it half a second. The
        run belongs to it because a page is mostly one of one run.
        """
        if order == "id":
            return
        term = self._order_term(order)
        name = f"finding_by_{term if term.isidentifier() else order}"
        (size, exists) = self._one(
            "SELECT (SELECT max(id) FROM finding),"
            " EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?)",
            name,
        )
        if exists or (size or 0) < INDEX_FROM:
            return
        # a full disk must not keep anybody from looking: then it is merely slow
        with suppress(StoreError), self._writing():
            self._connection.execute(
                f"CREATE INDEX IF NOT EXISTS {name} ON finding ({term}, id, run)"
            )

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with sqlite_errors_as_store_errors(self.path), transaction(self._connection):
            yield

    def _all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - SQL values
        with sqlite_errors_as_store_errors(self.path):
            return self._connection.execute(sql, values).fetchall()

    def _one(self, sql: str, *values: Any) -> tuple[Any, ...]:  # noqa: ANN401 - SQL values
        rows = self._all(sql, *values)
        if not rows:
            raise damaged(self.path)
        return rows[0]

    def _decoded(self, text: str, kind: type[T]) -> T:
        with self._as_written():
            return msgspec.json.decode(text, type=kind)

    def _fitting(self, found: object, kind: type[T]) -> T:
        with self._as_written():
            return msgspec.convert(found, type=kind)

    def _moment(self, text: str) -> str:
        """Check that a text is a time."""
        with self._as_written():
            return _moment(text)

    @contextmanager
    def _as_written(self) -> Iterator[None]:
        """Raise that the file is damaged when it holds what was never written to it."""
        try:
            yield
        except (*_MISFITS, KeyError) as error:
            raise damaged(self.path) from error


def _check_question(spec: AuditSpec) -> None:
    """Check that the parts of a question fit together.

    Raises
    ------
    SpecError, ValueError
        When they do not.
    """
    names = {column.name for column in spec.columns}
    used = {each.name for each in (*spec.domain.attributes, *spec.domain.unseen)} | {spec.label}
    if not used <= names or not 0 <= spec.mapping.favourable_class < len(spec.decisions):
        raise ValueError
    # read here, so that a constraint that cannot be is told at once
    _ = spec.domain.rules
    datetime.fromisoformat(spec.created).astimezone(UTC)


def _holds(column: Column, codes: Rows) -> bool:
    """Return whether a column can hold codes; NaN is a missing cell."""
    present = codes[~np.isnan(codes)]
    if not column.values:
        return bool(np.isfinite(present).all())
    fits = (present >= 0) & (present < len(column.values)) & (present == np.floor(present))
    return bool(fits.all())


def _moment(text: str) -> str:
    """Check that a text is a time."""
    datetime.fromisoformat(text).astimezone(UTC)
    return text


def _no_pair(pair_id: int) -> StoreError:
    return StoreError(
        f"There is no pair {pair_id} in this audit.", remedy="Choose one from the table."
    )


def _title(method: str) -> str:
    """Return a method's title; empty for a stranger."""
    from fairdesk.audit.catalogue.methods import METHODS  # noqa: PLC0415 - takes long to load

    return METHODS[method].title if method in METHODS else ""


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


__all__ = ["MARKS", "LogEntry", "Pair", "PairQuery", "RunRecord", "RunState", "Store"]
