"""The audit file: one SQLite database that holds everything an audit asked and found."""

from __future__ import annotations

import hashlib
import io
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.adding import why_wrong
from fairdesk.audit.details import Choice, Details
from fairdesk.audit.records import (
    LogEntry,
    LogKind,
    ModelFile,
    Pair,
    PairQuery,
    RunRecord,
    RunState,
)
from fairdesk.audit.schema import (
    BUSY_SECONDS,
    add_entry,
    beside,
    check_file,
    connect,
    damaged,
    make_schema,
    migrate,
    plainly,
    transaction,
)
from fairdesk.audit.spec import AuditSpec, RunSpec, now
from fairdesk.certify import certificate
from fairdesk.data.table import Table
from fairdesk.errors import StoreError
from fairdesk.events import Figure, Found, Progress, Rows
from fairdesk.individual.plausibility import Plausibility
from fairdesk.models.model import favourable_scores, labels
from fairdesk.trials import Augmented, Retrained

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
            with plainly(path):
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
        return cls(path, connection, spec)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open an audit file, brought to the current version when it is older.

        Raises
        ------
        StoreError
            When it is missing, no audit, made by a newer FairDesk, damaged, or not writable.
        """
        path = path.absolute()
        check_file(path)
        with plainly(path):
            connection = connect(path)
            try:
                migrate(connection, path)
                connection.execute("PRAGMA journal_mode = WAL")
                (text,) = connection.execute("SELECT spec FROM audit").fetchone()
                spec = msgspec.json.decode(text, type=AuditSpec)
            except (msgspec.MsgspecError, TypeError) as error:
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
        """Let the file go. May be repeated."""
        with suppress(sqlite3.Error):
            self._connection.close()

    def table(self) -> Table:
        """Give the audited table, as it was read."""
        (packed,) = self._one("SELECT codes FROM audit")
        source, columns = self.spec.data, self.spec.columns
        size = source.rows * len(columns) * 8
        try:
            raw = zlib.decompressobj().decompress(packed, size + 1)
            codes = np.frombuffer(raw, "<f8").reshape(len(columns), source.rows).T
        except (zlib.error, ValueError) as error:
            raise damaged(self.path) from error
        return Table(source, columns, np.ascontiguousarray(codes, dtype=np.float64))

    def begin_run(self, run: RunSpec) -> int:
        """Note that a run begins; gives its number."""
        nobody = [0] * len(self.spec.domain.protected)
        with self._writing():
            cursor = self._connection.execute(
                "INSERT INTO run (spec, state, started, alone) VALUES (?, 'running', ?, ?)",
                (_json(run), now(), _json(nobody)),
            )
        assert cursor.lastrowid is not None, "an INSERT gives a row number"  # noqa: S101 - mypy
        return cursor.lastrowid

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

    def measure(self, run_id: int, figures: Sequence[Figure]) -> None:
        """Keep all figures of a run as they stand, in place of those before."""
        with self._writing():
            self._connection.execute(
                "UPDATE run SET figures = ? WHERE id = ?", (_json(figures), run_id)
            )

    def certify(self, run_id: int, header: bytes, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep a run's certificate (`fairdesk.certify.certificate`), in place of the one before.

        Which model it speaks of, how that is fed, and who may be asked about is written into it
        from the audit's own question, whatever its maker says.

        Raises
        ------
        CertificateError
            When header and arrays are no certificate of this audit.
        """
        told = certificate.about(
            certificate.decoded(header),
            self.spec.model,
            self.spec.mapping,
            self.spec.domain,
            self.spec.versions,
        )
        certificate.check(told, arrays)
        file = io.BytesIO()
        certificate.write(file, certificate.encoded(told), arrays)
        with self._writing():
            self._connection.execute(
                "INSERT OR REPLACE INTO certificate VALUES (?, ?)", (run_id, file.getbuffer())
            )

    def certificate(self, run_id: int) -> tuple[bytes, dict[str, NDArray[Any]]] | None:
        """Give a run's certificate: its header and its arrays; ``None`` where it has none."""
        rows = self._all("SELECT file FROM certificate WHERE run = ?", run_id)
        if not rows:
            return None
        try:
            return certificate.unpack(io.BytesIO(rows[0][0]))
        except certificate.CertificateError as error:
            raise damaged(self.path) from error

    def certified_runs(self) -> tuple[int, ...]:
        """Give the numbers of the runs that have a certificate."""
        return tuple(run for (run,) in self._all("SELECT run FROM certificate ORDER BY run"))

    def keep_rows(self, run_id: int, added: Augmented) -> None:
        """Keep the rows that a repair adds, in place of those before."""
        told = _json((added.phase, len(added.rows), added.texts))
        codes = np.asarray(added.rows, dtype="<f8").T.tobytes()
        numbers = (added.labels, added.pairs, added.seeds)
        raw = codes + b"".join(np.asarray(each, dtype="<i8").tobytes() for each in numbers)
        self._keep(run_id, NO_TRIAL, "rows", told, zlib.compress(raw))

    def added_rows(self, run_id: int) -> Augmented | None:
        """Give the rows that a repair adds; ``None`` where it made none."""
        made = self._all(
            "SELECT told, content FROM made WHERE run = ? AND trial = ?", run_id, NO_TRIAL
        )
        if not made:
            return None
        ((told, packed),) = made
        phase, count, texts = self._decoded(told, tuple[str, int, tuple[str, ...]])
        d = len(self.spec.domain.attributes)
        try:
            raw = zlib.decompressobj().decompress(packed, count * (d + 3) * 8 + 1)
            by_column = np.frombuffer(raw, "<i8").reshape(d + 3, count)
        except (zlib.error, ValueError, OverflowError) as error:
            raise damaged(self.path) from error
        rows = np.array(by_column[:d].view("<f8").T, dtype=np.float64, order="C")
        labels, pairs, seeds = by_column[d:].astype(np.int64)
        added = Augmented(phase, rows, labels, pairs, seeds, texts)
        if why_wrong(added, self.spec.domain, len(self.spec.model.classes), self.spec.data.rows):
            raise damaged(self.path)
        return added

    def keep_model(self, run_id: int, file: Retrained) -> None:
        """Keep a file of a retrained model; of one that is too large only that it is."""
        told, content = file.told, file.content.tobytes()
        if len(content) > MOST_FILE_BYTES:
            told = (
                f"The file would have {len(content):,} bytes, and an audit keeps none of more than "
                f"{MOST_FILE_BYTES:,}."
            )
            content = b""
        self._keep(run_id, file.trial, file.name, told, content)

    def models(self, run_id: int, trial: int) -> dict[str, ModelFile]:
        """Tell which files of a trial's model a repair made, by their names."""
        rows = self._all(
            "SELECT name, told, length(content) FROM made WHERE run = ? AND trial = ?"
            " ORDER BY name",
            run_id,
            trial,
        )
        return {name: ModelFile(told, size) for name, told, size in rows}

    def model(self, run_id: int, trial: int, name: str) -> bytes:
        """Give a file of a trial's model; empty where there is none."""
        rows = self._all(
            "SELECT content FROM made WHERE run = ? AND trial = ? AND name = ?",
            *(run_id, trial, name),
        )
        return rows[0][0] if rows else b""

    def _keep(self, run_id: int, trial: int, name: str, told: str, content: bytes) -> None:
        with self._writing():
            self._connection.execute(
                "INSERT OR REPLACE INTO made VALUES (?, ?, ?, ?, ?)",
                (run_id, trial, name, told, content),
            )

    def end_run(self, run_id: int, state: str, message: str = "") -> None:
        """Note how a run ended: ``"done"``, ``"stopped"`` or ``"failed"``, and why."""
        with self._writing():
            self._connection.execute(
                "UPDATE run SET state = ?, message = ?, ended = ? WHERE id = ?",
                (state, message, now(), run_id),
            )

    def settle(self) -> None:
        """Mark runs that were cut off when FairDesk itself ended. Call it while nothing runs.

        They ended when they were last heard of, as far as that is known. Nothing is marked while
        somebody else has the file open: a run of theirs may go on.
        """
        with plainly(self.path):
            if not self._alone():
                return
        message = "FairDesk was closed or ended while it ran."
        with self._writing():
            cut_off = self._connection.execute(
                "SELECT id FROM run WHERE state = 'running' ORDER BY id"
            )
            for (run_id,) in cut_off.fetchall():
                said = f"Run {run_id} was cut off: {message}"
                add_entry(self._connection, now(), said, "ran", "")
            self._connection.execute(
                "UPDATE run SET state = 'failed', message = ?, ended ="
                " strftime('%Y-%m-%dT%H:%M:%S+00:00', started, elapsed || ' seconds')"
                " WHERE state = 'running'",
                (message,),
            )

    def _alone(self) -> bool:
        """Tell whether nobody else has the file open: only then can it leave the WAL mode."""
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
        """Give all runs, in the order of their beginning."""
        rows = self._all(
            "SELECT spec, seconds, alone, id, state, message, started, ended, elapsed, tried,"
            " found, queries, rejected, figures FROM run ORDER BY id"
        )
        return [
            RunRecord(
                id=id_,
                spec=self._decoded(spec, RunSpec),
                state=state,
                message=message,
                started=started,
                ended=ended,
                elapsed=elapsed,
                tried=tried,
                found=found,
                queries=queries,
                seconds=self._decoded(seconds, dict[str, float]),
                alone=self._decoded(alone, tuple[int, ...]),
                rejected=rejected,
                figures=self._decoded(figures, tuple[Figure, ...]),
            )
            for (
                spec,
                seconds,
                alone,
                id_,
                state,
                message,
                started,
                ended,
                elapsed,
                tried,
                found,
                queries,
                rejected,
                figures,
            ) in rows
        ]

    def progress(self, run_id: int) -> NDArray[np.float64]:
        """Give a run's course: ``(m, 4)``, elapsed seconds, tried, found, queries."""
        rows = self._all(
            "SELECT elapsed, tried, found, queries FROM progress WHERE run = ? ORDER BY rowid",
            run_id,
        )
        return np.array(rows, dtype=np.float64).reshape(-1, 4)

    def count(self, query: PairQuery) -> int:
        """Count the pairs of a query."""
        where, values = self._where(query)
        (count,) = self._one(f"SELECT count(*) FROM finding{where}", *values)  # noqa: S608
        return int(count)

    def pairs(self, query: PairQuery, offset: int, limit: int) -> list[Pair]:
        """Give at most ``limit`` pairs of a query from the ``offset``-th on (from 0)."""
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
        """Give one pair.

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
            raise StoreError(
                f"There is no pair {pair_id} in this audit.", remedy="Choose one from the table."
            )
        return self._pairs(rows)[0]

    def each_pair(self, query: PairQuery) -> Iterator[Pair]:
        """Give all pairs of a query, one after the other, without holding them all."""
        where, values = self._where(query)
        sql = (
            f"SELECT {self._pair_columns} FROM finding{where}"  # noqa: S608
            f" ORDER BY {self._order(query)}"
        )
        with plainly(self.path):
            cursor = self._connection.execute(sql, values)
            while rows := cursor.fetchmany(CHUNK):
                yield from self._pairs(rows)

    def found_rows(self, run_id: int) -> Iterator[Rows]:
        """Give the instances that a run found, ``(n, d)`` at a time, in the order of finding."""
        sql = f"SELECT {', '.join(self._columns.values())} FROM finding WHERE run = ? ORDER BY id"  # noqa: S608
        with plainly(self.path):
            cursor = self._connection.execute(sql, (run_id,))
            while rows := cursor.fetchmany(20 * CHUNK):
                yield np.array(rows, dtype=np.float64)

    def found_pairs(self, query: PairQuery, step: int) -> tuple[Rows, Rows, NDArray[np.int64]]:
        """Give every ``step``-th pair of a query, in the order of finding; only these are held.

        Returns
        -------
        rows, partners : Rows
            ``(m, d)`` each.
        numbers : NDArray[np.int64]
            ``(m,)``; the pairs' numbers.
        """
        where, values = self._where(query)
        # numbers first: they are small, and rows in between are never read
        with plainly(self.path):
            cursor = self._connection.execute(
                f"SELECT id FROM finding{where} ORDER BY id",  # noqa: S608
                values,
            )
            numbers = np.fromiter((number for (number,) in cursor), dtype=np.int64)[::step]
        domain = self.spec.domain
        d = len(domain.attributes)
        rows = np.empty((len(numbers), d))
        partners = np.empty((len(numbers), d))
        columns = ", ".join((*self._columns.values(), *self._partner_columns))
        for start in range(0, len(numbers), _AT_ONCE):
            some = numbers[start : start + _AT_ONCE].tolist()
            found = np.array(
                self._all(
                    f"SELECT {columns} FROM finding WHERE id IN ({', '.join('?' * len(some))})"  # noqa: S608
                    " ORDER BY id",
                    *some,
                )
            )
            part = slice(start, start + len(some))
            rows[part] = partners[part] = found[:, :d]
            partners[part, domain.protected] = found[:, d:]
        return rows, domain.settle(partners), numbers

    def unweighed(self, limit: int) -> tuple[NDArray[np.int64], Rows]:
        """Give the numbers and instances, ``(n, d)``, of findings that were not weighed yet."""
        sql = (
            f"SELECT id, {', '.join(self._columns.values())} FROM finding"  # noqa: S608
            " WHERE distance IS NULL ORDER BY id LIMIT ?"
        )
        rows = np.array(self._all(sql, limit), dtype=np.float64).reshape(-1, 1 + len(self._columns))
        return rows[:, 0].astype(np.int64), rows[:, 1:]

    def weigh(self, pair_ids: NDArray[np.int64], weighed: Plausibility) -> None:
        """Keep how plausible findings are, in transactions of at most `CHUNK`."""
        values = list(
            zip(
                weighed.distance.tolist(),
                weighed.score.tolist(),
                weighed.nearest.tolist(),
                pair_ids.tolist(),
                strict=True,
            )
        )
        for start in range(0, len(values), CHUNK):
            with self._writing():
                self._connection.executemany(
                    "UPDATE finding SET distance = ?, plausibility = ?, nearest = ? WHERE id = ?",
                    values[start : start + CHUNK],
                )

    def learn(self, pair_id: int, what: str, document: msgspec.Struct) -> None:
        """Keep what was learned about a pair, in place of what was known of that kind."""
        with self._writing():
            self._connection.execute(
                "INSERT OR REPLACE INTO learned VALUES (?, ?, ?)", (pair_id, what, _json(document))
            )

    def learned(self, pair_id: int, what: str, kind: type[T]) -> T | None:
        """Give what was learned about a pair; ``None`` when nothing was."""
        rows = self._all(
            "SELECT document FROM learned WHERE finding = ? AND what = ?", pair_id, what
        )
        return self._decoded(rows[0][0], kind) if rows else None

    def mark(self, pair_id: int, mark: str) -> None:
        """Set the auditor's mark of a pair, one of `MARKS`."""
        if mark not in MARKS:
            raise StoreError(f"There is no mark “{mark}”.", remedy=f"Marks: {', '.join(MARKS)}.")
        with self._writing():
            self._connection.execute("UPDATE finding SET mark = ? WHERE id = ?", (mark, pair_id))

    def note(self, pair_id: int, text: str) -> None:
        """Set the auditor's note on a pair."""
        with self._writing():
            self._connection.execute("UPDATE finding SET note = ? WHERE id = ?", (text, pair_id))

    def log(self, what: str, kind: LogKind = "told", told: object = None) -> None:
        """Write down what happened, with the time, at the end of the log's chain.

        Parameters
        ----------
        what : str
            A sentence.
        kind : str
            What it is about.
        told : object, optional
            The same for programs; anything that msgspec writes as JSON.
        """
        with self._writing():
            self._write_log(what, kind, told)

    def log_entries(self) -> list[LogEntry]:
        """Give what was written down, in order."""
        rows = self._all("SELECT at, what, kind, told, link FROM log ORDER BY number")
        return [LogEntry(*row) for row in rows]

    def details(self) -> Details:
        """Give what the auditor has filled in for the report."""
        return self._kept("details", Details) or Details()

    def write_details(self, details: Details) -> None:
        """Keep what the auditor filled in; what changed is written in the log."""
        before = self.details()
        if details == before:
            return
        changed = [
            *(
                key
                for key in sorted({*before.texts, *details.texts})
                if before.texts.get(key, "") != details.texts.get(key, "")
            ),
            *(
                name
                for name in ("signers", "categories", "logo")
                if getattr(before, name) != getattr(details, name)
            ),
        ]
        told = {name: _told_of(details, name) for name in changed}
        with self._writing():
            self._put("details", details)
            what = f"The report’s details were changed: {', '.join(changed)}."
            self._write_log(what, "details", told)

    def choice(self) -> Choice:
        """Give how the auditor wants the report."""
        return self._kept("choice", Choice) or Choice()

    def write_choice(self, choice: Choice) -> None:
        """Keep how the auditor wants the report; it is written in the log."""
        if choice == self.choice():
            return
        with self._writing():
            self._put("choice", choice)
            self._write_log("The report’s contents or form were changed.", "choice", choice)

    def _kept(self, name: str, kind: type[T]) -> T | None:
        rows = self._all("SELECT document FROM kept WHERE name = ?", name)
        return self._decoded(rows[0][0], kind) if rows else None

    def _put(self, name: str, document: msgspec.Struct) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO kept VALUES (?, ?)", (name, _json(document))
        )

    def _write_log(self, what: str, kind: LogKind, told: object) -> None:
        add_entry(self._connection, now(), what, kind, "" if told is None else _json(told))

    @property
    def _pair_columns(self) -> str:
        return ", ".join((*_PAIR_COLUMNS, *self._finding_columns))

    def _values(self, found: Found) -> NDArray[np.float64]:
        """Give the columns of findings side by side, ``(n, columns)``."""
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
        domain = self.spec.domain
        first, d, p = len(_PAIR_COLUMNS), len(domain.attributes), len(domain.protected)
        codes = np.array([row[first : first + d] for row in rows]).reshape(len(rows), d)
        partners = codes.copy()
        partners[:, domain.protected] = np.array(
            [row[first + d : first + d + p] for row in rows]
        ).reshape(len(rows), p)
        domain.settle(partners)
        return [
            Pair(
                id=row[0],
                run=row[1],
                phase=row[2],
                row=one,
                partner=other,
                row_score=row[-5],
                partner_score=row[-4],
                row_class=row[-3],
                partner_class=row[-2],
                alone=tuple(bool(row[-1] >> i & 1) for i in range(p)),
                mark=row[3],
                note=row[4],
                distance=row[5],
                plausibility=row[6],
                nearest=row[7],
            )
            for row, one, other in zip(rows, codes, partners, strict=True)
        ]

    def _where(self, query: PairQuery) -> tuple[str, list[Any]]:
        """Give the WHERE clause, and the values that are bound to it."""
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
        """Give the code of a value's text; ``None``, which nothing equals, for a stranger."""
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
        with plainly(self.path), transaction(self._connection):
            yield

    def _all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - SQL values
        with plainly(self.path):
            return self._connection.execute(sql, values).fetchall()

    def _one(self, sql: str, *values: Any) -> tuple[Any, ...]:  # noqa: ANN401 - SQL values
        rows = self._all(sql, *values)
        if not rows:
            raise damaged(self.path)
        return rows[0]

    def _decoded(self, text: str, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(text, type=kind)
        except msgspec.MsgspecError as error:
            raise damaged(self.path) from error


def _told_of(details: Details, name: str) -> object:
    """Give what was filled in, for the log; of a picture its fingerprint."""
    if name == "logo":
        return hashlib.sha256(details.logo).hexdigest() if details.logo else ""
    return getattr(details, name) if name in ("signers", "categories") else details.texts.get(name)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


__all__ = ["MARKS", "LogEntry", "Pair", "PairQuery", "RunRecord", "RunState", "Store"]
