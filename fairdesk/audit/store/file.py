"""An audit file that is open: its question and its table, and how it is read and written."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec
import numpy as np

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.digests import Running
from fairdesk.audit.store.records import LogKind
from fairdesk.audit.store.schema import (
    add_entry,
    beside,
    check_file,
    check_schema,
    connect,
    copied,
    damaged,
    make_schema,
    question_of,
    spec_of,
    sqlite_errors_as_store_errors,
    transaction,
)
from fairdesk.data.table import Column, Table
from fairdesk.errors import SpecError, StoreError
from fairdesk.results.events import Rows

T = TypeVar("T")

#: What comes out of a file that was changed by hand.
MISFITS = (
    *(msgspec.MsgspecError, zlib.error, ValueError, TypeError, OverflowError, RecursionError),
)


class AuditFile:
    """An open audit file, without what is kept of runs, pairs and the report.

    Everything that cannot be read or written raises `StoreError`; what was written before stays
    readable. Use it as a context manager, or call `close`.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, spec: AuditSpec) -> None:
        self.path = path
        self.spec = spec
        self._connection = connection
        #: Per run the fingerprint of its findings, as far as they were written here.
        self._running: dict[int, Running] = {}

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
                f"The audit file “{path}” cannot be created.",
                why=f"The system reported: {error.strerror or error}.",
                remedy="Choose an existing folder for which you have write permission.",
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
        return cls(path, connection, spec_of(question_of(spec)))

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
                spec = spec_of(text)
                _check_question(spec)
            except (*MISFITS, SpecError) as error:
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
        size = source.held * len(columns) * 8
        unpacking = zlib.decompressobj()
        try:
            raw = unpacking.decompress(packed, size + 1)
            codes = np.frombuffer(raw, "<f8").reshape(len(columns), source.held).T
        except MISFITS as error:
            raise damaged(self.path) from error
        if not unpacking.eof or not all(map(_holds, columns, codes.T)):
            raise damaged(self.path)
        return Table(source, columns, np.ascontiguousarray(codes, dtype=np.float64))

    def _write_log(self, what: str, kind: LogKind, facts: object) -> None:
        add_entry(self._connection, what, kind, facts)

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

    @contextmanager
    def _as_written(self) -> Iterator[None]:
        """Raise that the file is damaged when it holds what was never written to it."""
        try:
            yield
        except (*MISFITS, KeyError) as error:
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


def moment(text: str) -> str:
    """Check that a text is a time."""
    datetime.fromisoformat(text).astimezone(UTC)
    return text


def json_text(value: object) -> str:
    """Return a value as the file keeps it."""
    return msgspec.json.encode(value).decode()
