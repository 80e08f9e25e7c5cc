"""The inside of the audit file: its tables, their version, and SQLite's errors in plain words."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import msgspec
import numpy as np

from fairdesk.audit.plan.decisions import decisions
from fairdesk.audit.plan.spec import AuditSpec, now
from fairdesk.audit.store import digests
from fairdesk.audit.store.finding_table import FindingTable
from fairdesk.audit.store.records import AuditStarted, LogKind
from fairdesk.data.table import Table
from fairdesk.errors import StoreError, system_errors
from fairdesk.samples import kept_path, path_here

log = logging.getLogger(__name__)

#: "FDsk" in the file's header says that this SQLite database is an audit.
APPLICATION_ID = 0x4644736B


#: What the first entry of the log says.
STARTED = "The audit was started."


def add_entry(connection: sqlite3.Connection, what: str, kind: LogKind, facts: object) -> None:
    """Append an entry to the log's chain. Call it inside a transaction that writes."""
    at = now()
    document = "" if facts is None else msgspec.json.encode(facts).decode()
    last = connection.execute("SELECT link FROM log ORDER BY number DESC LIMIT 1").fetchone()
    linked = digests.link(last[0] if last else digests.GENESIS, at, what, kind, document)
    connection.execute(
        "INSERT INTO log (at, what, kind, facts, link) VALUES (?, ?, ?, ?, ?)",
        (at, what, kind, document, linked),
    )


#: The version of the schema: only files of this one are opened.
VERSION = 8
#: All tables but `finding`, whose columns depend on the question (`FindingTable`).
_TABLES = {
    # the question and the table's codes
    "audit": "spec TEXT NOT NULL, codes BLOB NOT NULL",
    "run": """
        id INTEGER PRIMARY KEY,
        spec TEXT NOT NULL,
        state TEXT NOT NULL,
        message TEXT NOT NULL DEFAULT '',
        started TEXT NOT NULL,
        ended TEXT NOT NULL DEFAULT '',
        elapsed REAL NOT NULL DEFAULT 0,
        tried INTEGER NOT NULL DEFAULT 0,
        found INTEGER NOT NULL DEFAULT 0,
        queries INTEGER NOT NULL DEFAULT 0,
        seconds TEXT NOT NULL DEFAULT '{}',
        sufficient_alone TEXT NOT NULL,
        rejected INTEGER NOT NULL DEFAULT 0,
        figures TEXT NOT NULL DEFAULT '[]'
    """,
    "progress": """
        run INTEGER NOT NULL,
        elapsed REAL NOT NULL,
        tried INTEGER NOT NULL,
        found INTEGER NOT NULL,
        queries INTEGER NOT NULL
    """,
    # what was learned about a finding since: a text for each kind; of no finding (0) what the
    # plausibility of all of them is held against
    "pair_analyses": """
        finding INTEGER NOT NULL,
        what TEXT NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (finding, what)
    """,
    # of a run that proves, all that it proved: a certificate file
    "certificate": "run INTEGER PRIMARY KEY, file BLOB NOT NULL",
    # of a repair, what it made: rows to add (of no trial), and files of retrained models
    "artifacts": """
        run INTEGER NOT NULL,
        trial INTEGER NOT NULL,
        name TEXT NOT NULL,
        note TEXT NOT NULL,
        content BLOB NOT NULL,
        PRIMARY KEY (run, trial, name)
    """,
    # what happened, each entry bound to the one before (`fairdesk.audit.store.digests`)
    "log": """
        number INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        what TEXT NOT NULL,
        kind TEXT NOT NULL,
        facts TEXT NOT NULL,
        link TEXT NOT NULL
    """,
    # what the auditor says of the report, and the runs that wait: a document for each name
    "documents": "name TEXT PRIMARY KEY, document TEXT NOT NULL",
}
_DOCUMENT_NAMES = frozenset(("details", "choice", "manifest", "queue"))
#: So often a file that changes while it is copied is copied anew.
_COPIES = 5
#: Seconds to wait while another thread or program writes.
BUSY_SECONDS = 10.0


def beside(path: Path) -> tuple[Path, Path]:
    """Return the two files that SQLite keeps beside an open database."""
    return Path(f"{path}-wal"), Path(f"{path}-shm")


def connect(path: Path, *, busy_seconds: float = BUSY_SECONDS) -> sqlite3.Connection:
    """Open a connection to an existing file; ``busy_seconds`` to wait while others write."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=busy_seconds, isolation_level=None
    )
    try:
        # the file may come from anywhere: its schema may call no functions with side effects
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what happens inside, or nothing of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def question_of(spec: AuditSpec) -> str:
    """Write the question as the file keeps it: built-in samples lie elsewhere on each computer."""
    return msgspec.json.encode(_with_paths(spec, kept_path), order="deterministic").decode()


def spec_of(question: str) -> AuditSpec:
    """Read a question as the file keeps it; built-in samples are where they lie here.

    Raises
    ------
    msgspec.MsgspecError
        When it is none.
    """
    return _with_paths(msgspec.json.decode(question, type=AuditSpec), path_here)


def _with_paths(spec: AuditSpec, change: Callable[[str], str]) -> AuditSpec:
    """Return a question with the paths of its files changed."""
    replace = msgspec.structs.replace
    card = spec.model
    beside = tuple(replace(each, path=change(each.path)) for each in card.companions)
    model = replace(card, path=change(card.path), companions=beside)
    return replace(spec, data=replace(spec.data, path=change(spec.data.path)), model=model)


def make_schema(connection: sqlite3.Connection, spec: AuditSpec, table: Table) -> None:
    """Make the tables of a new audit and write down its question and its data."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    for name, columns in {**_TABLES, "finding": FindingTable(spec).declaration}.items():
        connection.execute(f"CREATE TABLE {name} ({columns})")
    by_column = np.asarray(table.codes, dtype="<f8").tobytes(order="F")
    question = question_of(spec)
    connection.execute("INSERT INTO audit VALUES (?, ?)", (question, zlib.compress(by_column)))
    begun = AuditStarted(
        digests.text(question), digests.table(table), spec.data.sha256, spec.model.sha256
    )
    add_entry(connection, STARTED, "begun", begun)
    for each in decisions(spec, table):
        add_entry(connection, each.what, "decided", each.facts)


def missing(path: Path) -> StoreError:
    """Return the error for a file that does not exist."""
    return StoreError(
        f"There is no audit file “{path}”.", remedy="It may have been moved or deleted."
    )


def check_file(path: Path) -> None:
    """Refuse a file that is missing or read-only, before SQLite does so darkly."""
    if not path.is_file():
        raise missing(path)
    if not (os.access(path, os.R_OK | os.W_OK) and os.access(path.parent, os.W_OK)):
        raise StoreError(
            f"The audit file “{path}” cannot be opened for writing.",
            why="You do not have write permission for the file or its folder.",
            remedy="Copy it to a folder for which you have write permission, and open the copy.",
        )


@contextmanager
def copied(path: Path) -> Iterator[Path]:
    """Copy an audit file into a folder of its own, gone in the end; it is only read.

    Raises
    ------
    StoreError
        When it is missing, or cannot be copied.
    """
    if not path.is_file():
        raise missing(path)
    with system_errors(
        StoreError,
        f"The audit file “{path}” cannot be copied for reading without changes.",
        f"Check that you have read permission, and that “{gettempdir()}” has space for it.",
    ):
        folder = TemporaryDirectory(prefix="fairdesk-", ignore_cleanup_errors=True)
        copy = Path(folder.name) / "audit.fairdesk"
        _copy(path, copy)
    with folder:
        yield copy


def _copy(path: Path, copy: Path) -> None:
    """Copy an audit file as it stands at one moment."""
    journal, own = beside(path)[0], beside(copy)[0]
    if journal.exists() and _backed_up(path, copy):
        return
    # nobody has it open; or its folder is read-only, and a journal is what a crash has left there
    for _ in range(_COPIES):
        before = _stamp(path)
        shutil.copyfile(path, copy)
        if journal.exists():
            shutil.copyfile(journal, own)
        if _stamp(path) == before:
            return
        own.unlink(missing_ok=True)
        if _backed_up(path, copy):
            return
    raise StoreError(
        f"Another program keeps writing to the audit file “{path}”.",
        remedy="Close it in the other program, then try again.",
    )


def _stamp(path: Path) -> tuple[int, int, bool]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size, beside(path)[0].exists()


def _backed_up(path: Path, copy: Path) -> bool:
    """Copy an audit that somebody may be writing to, as it stands at one moment.

    Gives whether that could be done: not where its folder is read-only.
    """
    copy.unlink(missing_ok=True)
    address = f"{path.as_uri()}?mode=ro"
    try:
        with (
            closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
    except sqlite3.Error as error:
        log.info("%s is copied as it lies there: %s", path, error)
        copy.unlink(missing_ok=True)
        return False
    return True


def check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Check that the file is an audit, of this version, that does nothing by itself.

    Raises
    ------
    StoreError
        When it is not.
    """
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise StoreError(
            f"The file “{path}” is not a FairDesk audit.",
            remedy="Choose a file made by FairDesk; its name ends in .fairdesk.",
        )
    if version != VERSION:
        raise StoreError(
            f"The audit “{path}” was made by another version of FairDesk.",
            why=f"Its format has version {version}; this FairDesk opens version {VERSION} only.",
            remedy="Open it with the FairDesk version that made it.",
        )
    acting = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY name"
    ).fetchone()
    if acting is not None:
        raise StoreError(
            f"The audit “{path}” was not opened: it contains something that runs by itself.",
            why=f"FairDesk never makes triggers or views, and this file has “{acting[0]}”.",
            remedy="The file was changed: use an earlier copy.",
        )


def unexpected_tables(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Return what a file of this version holds that FairDesk never writes, a sentence each."""
    messages = [
        f"There is {'an' if kind == 'index' else 'a'} {kind} “{name}”, which FairDesk never makes."
        for kind, name in connection.execute("SELECT type, name FROM sqlite_schema ORDER BY name")
        if not (
            name in (*_TABLES, "finding")
            if kind == "table"
            else kind == "index" and name.startswith(("sqlite_autoindex_", "finding_by_"))
        )
    ]
    (questions,) = connection.execute("SELECT count(*) FROM audit").fetchone()
    if questions != 1:
        messages.append(f"There are {questions:,} audit plans, but an audit has one.")
    messages += [
        f"The audit contains something named “{name}”, which FairDesk never uses."
        for (name,) in connection.execute("SELECT name FROM documents ORDER BY name")
        if name not in _DOCUMENT_NAMES
    ]
    return tuple(messages)


def release(path: Path) -> None:
    """Bring everything that was written into the one file, so that it can be moved.

    A file that is no database is left alone.

    Raises
    ------
    StoreError
        When it is open elsewhere.
    """
    with sqlite_errors_as_store_errors(path):
        try:
            with closing(connect(path, busy_seconds=1.0)) as connection:
                connection.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            log.info("%s is not a database: %s", path, error)


@contextmanager
def sqlite_errors_as_store_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into what the auditor can do."""
    try:
        yield
    except sqlite3.Error as error:
        raise plain_error(error, path) from error
    except UnicodeDecodeError as error:
        # SQLite quotes a damaged schema
        raise damaged(path) from error


def plain_error(error: sqlite3.Error, path: Path) -> StoreError:
    """Return an SQLite error in plain words."""
    kind = getattr(error, "sqlite_errorname", "")
    if kind == "SQLITE_FULL":
        return StoreError(
            f"The disk is full: the audit file “{path}” cannot grow.",
            remedy="Free space on the disk; the results so far are kept.",
        )
    if kind in ("SQLITE_CORRUPT", "SQLITE_NOTADB") or kind.startswith("SQLITE_CORRUPT"):
        return damaged(path)
    if kind.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return StoreError(
            f"The audit file “{path}” cannot be opened for writing.",
            why="The file, its folder or the disk is read-only, or no longer exists.",
            remedy="Copy it to a folder for which you have write permission, and open the copy.",
        )
    if kind.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreError(
            f"The audit file “{path}” is in use by another program.",
            remedy="Close it there, then try again.",
        )
    if kind.startswith("SQLITE_IOERR"):
        return StoreError(
            f"The disk failed while the audit file “{path}” was read or written.",
            why=f"SQLite reported: {error}.",
            remedy="Check the disk and its free space; copy the file to another one.",
        )
    return StoreError(
        f"The audit file “{path}” cannot be read or written.",
        why=f"SQLite reported: {error}.",
        remedy="It may be damaged, or changed by another program.",
    )


def damaged(path: Path) -> StoreError:
    """Return the error for a file that is not an audit, or a damaged one."""
    return StoreError(
        f"The file “{path}” is not a FairDesk audit, or it is damaged.",
        remedy="Choose another file, or use a copy from before it was damaged.",
    )
