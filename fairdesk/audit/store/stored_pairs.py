"""What an audit file keeps of pairs: what was found, and what was learned of it since."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, count, repeat
from pathlib import Path
from typing import Any, TypeVar, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store import digests
from fairdesk.audit.store.file import AuditFile, json_text
from fairdesk.audit.store.finding_table import FindingTable, PairColumns
from fairdesk.audit.store.pair import Mark, Pair, weighed_values
from fairdesk.audit.store.records import Learned, Marked, PairQuery, Weighed
from fairdesk.audit.store.schema import sqlite_errors_as_store_errors
from fairdesk.errors import StoreError
from fairdesk.individual.realism.pair_plausibility import Plausibility, Reference
from fairdesk.results.events import Found, Rows

T = TypeVar("T")

#: Findings of one transaction. With 2,000 the window stood still for up to 60 ms, with 500 for 15.
CHUNK = 500
#: Findings that are asked for by their numbers at once.
_AT_ONCE = 5_000
#: The same of pairs that are read field by field: more would hold the interpreter, and with it the
#: window, for longer than anybody may notice.
_COLUMNS_AT_ONCE = 2_000
#: What is learned of no pair: what the plausibility of all is held against.
_REFERENCE = "plausibility"
#: From so many findings on, an order is worth an index.
INDEX_FROM = 20_000


class Pairs(AuditFile):
    """The pairs of an audit file."""

    def __init__(self, path: Path, connection: sqlite3.Connection, spec: AuditSpec) -> None:
        super().__init__(path, connection, spec)
        self._findings = FindingTable(spec)

    def add(self, run_id: int, found: Found) -> None:
        """Keep findings of a run, in transactions of at most `CHUNK`."""
        columns = self._findings.values(found)
        running = self._running.pop(run_id, None) or digests.Running()
        for start in range(0, len(found.rows), CHUNK):
            some = [column[start : start + CHUNK] for column in columns]
            with self._writing():
                (last,) = self._one("SELECT coalesce(max(id), 0) FROM finding")
                chunk = list(zip(count(last + 1), repeat(run_id), repeat(found.phase), *some))
                self._connection.executemany(self._findings.insertion, chunk)
                (text,) = self._one("SELECT sufficient_alone FROM run WHERE id = ?", run_id)
                sufficient_alone = np.add(
                    msgspec.json.decode(text),
                    found.sufficient_alone[start : start + CHUNK].sum(axis=0),
                )
                self._connection.execute(
                    "UPDATE run SET found = found + ?, sufficient_alone = ? WHERE id = ?",
                    (len(chunk), json_text(sufficient_alone.tolist()), run_id),
                )
            running.add(chunk)
        # only once all of them are in the file: otherwise it is read again when the run ends
        self._running[run_id] = running

    def count(self, query: PairQuery) -> int:
        """Count the pairs of a query."""
        where, values = self._findings.where(query)
        (count,) = self._one(f"SELECT count(*) FROM finding{where}", *values)  # noqa: S608
        return int(count)

    def pairs(self, query: PairQuery, offset: int, limit: int) -> list[Pair]:
        """Return at most ``limit`` pairs of a query from the ``offset``-th on (from 0)."""
        where, values = self._findings.where(query)
        order = self._findings.order(query)
        self._index(query.order)
        # only the chosen findings are read whole: an index skips the ones before
        rows = self._all(
            f"SELECT {self._findings.pair_columns} FROM finding WHERE id IN"  # noqa: S608
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
            f"SELECT {self._findings.pair_columns} FROM finding WHERE id = ?",  # noqa: S608
            pair_id,
        )
        if not rows:
            raise _no_pair(pair_id)
        return self._pairs(rows)[0]

    def each_pair(self, query: PairQuery) -> Iterator[Pair]:
        """Yield all pairs of a query, one after the other, without holding them all."""
        for rows in self._each_rows(query, CHUNK):
            yield from self._pairs(rows)

    def each_columns(self, query: PairQuery) -> Iterator[PairColumns]:
        """Yield pairs field by field, some at a time: far quicker than `each_pair`."""
        for rows in self._each_rows(query, _COLUMNS_AT_ONCE):
            with self._as_written():
                yield self._findings.columns(rows)

    def marks(self) -> Counter[str]:
        """Count the pairs by the auditor's mark."""
        rows = self._all("SELECT mark, count(*) FROM finding GROUP BY mark")
        with self._as_written():
            return Counter(dict(msgspec.convert(rows, list[tuple[Mark, int]])))

    def changes(self) -> dict[int, list[Counter[tuple[float, float]]]]:
        """Count between which values of the protected attributes the decision changed.

        Returns
        -------
        dict[int, list[Counter[tuple[float, float]]]]
            By run, per protected attribute: the pairs by (value of the one who gets the favourable
            decision, value of the other), where the two differ in it.
        """
        protected = self.spec.domain.protected.tolist()
        favourable = self.spec.mapping.favourable_class
        counted: dict[int, list[Counter[tuple[float, float]]]] = {}
        for at, place in enumerate(protected):
            rows = self._all(
                f"SELECT run, partner_class = ?, x{place}, y{place}, count(*) FROM finding"  # noqa: S608
                " GROUP BY 1, 2, 3, 4 ORDER BY min(id)",
                favourable,
            )
            with self._as_written():
                self._findings.check_codes(place, [code for row in rows for code in row[2:4]])
            for run, partner_better, code, partner_code, n in rows:
                counters = counted.setdefault(run, [Counter() for _ in protected])
                better, worse = (partner_code, code) if partner_better else (code, partner_code)
                if better != worse:
                    counters[at][better, worse] += n
        return counted

    def numbers(self, query: PairQuery) -> NDArray[np.int64]:
        """Return the numbers of the pairs of a query, ``(n,)``, in its order."""
        where, values = self._findings.where(query)
        sql = f"SELECT id FROM finding{where} ORDER BY {self._findings.order(query)}"  # noqa: S608
        with sqlite_errors_as_store_errors(self.path):
            cursor = self._connection.execute(sql, values)
            return np.fromiter(chain.from_iterable(cursor), dtype=np.int64)

    def _each_rows(self, query: PairQuery, size: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yield what is read of the pairs of a query, so many at a time."""
        columns = self._findings.pair_columns
        if query.order == "id":
            where, values = self._findings.where(query)
            order = self._findings.order(query)
            with sqlite_errors_as_store_errors(self.path):
                cursor = self._connection.execute(
                    f"SELECT {columns} FROM finding{where} ORDER BY {order}",  # noqa: S608
                    values,
                )
                while rows := cursor.fetchmany(size):
                    yield rows
            return
        # only numbers are sorted: whoever looks at the first few need not wait for all to be read
        numbers = self.numbers(query)
        for start in range(0, len(numbers), size):
            some = numbers[start : start + size].tolist()
            found = self._all(
                f"SELECT {columns} FROM finding WHERE id IN ({', '.join('?' * len(some))})",  # noqa: S608
                *some,
            )
            by_number = {row[0]: row for row in found}
            yield [by_number[number] for number in some]

    def found_rows(self, run_id: int) -> Iterator[Rows]:
        """Yield the instances that a run found, ``(n, d)`` at a time, in the order of finding."""
        sql = f"SELECT {self._findings.row_columns} FROM finding WHERE run = ? ORDER BY id"  # noqa: S608
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
        # numbers first: they are small, and rows in between are never read
        in_order = msgspec.structs.replace(query, order="id", descending=False)
        numbers = self.numbers(in_order)[::step]
        d = len(self.spec.domain.attributes)
        rows = np.empty((len(numbers), d))
        partners = np.empty((len(numbers), d))
        columns = self._findings.code_columns
        for start in range(0, len(numbers), _AT_ONCE):
            some = numbers[start : start + _AT_ONCE].tolist()
            found = self._all(
                f"SELECT {columns} FROM finding WHERE id IN ({', '.join('?' * len(some))})"  # noqa: S608
                " ORDER BY id",
                *some,
            )
            part = slice(start, start + len(some))
            with self._as_written():
                rows[part], partners[part] = self._findings.people_and_partners(found)
        return rows, partners, numbers

    def unweighed(self, limit: int, run: int | None = None) -> tuple[NDArray[np.int64], Rows, Rows]:
        """Return the numbers, instances and partners, ``(n, d)``, of pairs not weighed yet.

        All are of one run, by default the first that has any: of each its first ones are weighed
        before its others, but not before those of another run.
        """
        sql = (
            f"SELECT id, {self._findings.code_columns} FROM finding"  # noqa: S608
            " WHERE distance IS NULL AND run = coalesce(?,"
            " (SELECT run FROM finding WHERE distance IS NULL ORDER BY id LIMIT 1))"
            " ORDER BY id LIMIT ?"
        )
        rows = self._all(sql, run, limit)
        numbers = np.array([row[0] for row in rows], dtype=np.int64)
        with self._as_written():
            return numbers, *self._findings.people_and_partners([row[1:] for row in rows])

    def score_plausibility(self, pair_ids: NDArray[np.int64], weighed: Plausibility) -> None:
        """Keep how plausible pairs are, and log it, in one transaction.

        Parameters
        ----------
        pair_ids : NDArray[np.int64]
            ``(n,)``; the pairs' numbers, ascending.
        """
        columns = weighed_values(weighed) | {"repeats": self._repeats(pair_ids, weighed)}
        values = zip(*(each.tolist() for each in columns.values()), pair_ids.tolist(), strict=True)
        # the log tells of these findings only, not of those in between that somebody else weighed
        gaps = np.flatnonzero(np.diff(pair_ids) > 1) + 1
        with self._writing():
            self._connection.executemany(
                f"UPDATE finding SET {', '.join(f'{name} = ?' for name in columns)} WHERE id = ?",  # noqa: S608
                values,
            )
            if weighed.reference is not None and weighed.reference != self.reference():
                message = "FairDesk learned from the data rows which instances are plausible."
                self._keep_learned(0, _REFERENCE, weighed.reference, message)
            for part in np.split(pair_ids, gaps) if len(pair_ids) else ():
                first, last = int(part[0]), int(part[-1])
                of = Weighed(first, last, digests.weighed(self._connection, first, last))
                self._write_log(of.sentence, "learned", of)

    def reference(self) -> Reference | None:
        """Return what the pairs' plausibility is held against; ``None`` before any was weighed."""
        return self.learned(0, _REFERENCE, Reference)

    def _repeats(self, pair_ids: NDArray[np.int64], weighed: Plausibility) -> NDArray[np.intp]:
        """Count of each pair the earlier ones of its run that are as plausible near the same row.

        Earlier are those of a lower number, which are weighed before.
        """
        if not len(pair_ids):
            return np.empty(0, dtype=np.intp)
        first, last = int(pair_ids[0]), int(pair_ids[-1])
        earlier = self._all(
            "SELECT run, nearest, plausible, count(*) FROM finding"
            " WHERE nearest IS NOT NULL AND id < ? GROUP BY run, nearest, plausible",
            first,
        )
        counts = {tuple(row[:3]): row[3] for row in earlier}
        runs = dict(self._all("SELECT id, run FROM finding WHERE id BETWEEN ? AND ?", first, last))
        repeats = []
        for pair_id, nearest, plausible in zip(
            pair_ids.tolist(), weighed.nearest.tolist(), weighed.plausible.tolist(), strict=True
        ):
            key = (runs.get(pair_id), nearest, int(plausible))
            repeats.append(counts.get(key, 0))
            counts[key] = repeats[-1] + 1
        return np.array(repeats)

    def learn(self, pair_id: int, what: str, document: msgspec.Struct, message: str = "") -> None:
        """Keep what was learned about a pair, in place of what was known of that kind."""
        with self._writing():
            said = message or f"Pair {pair_id}: “{what}” was recorded."
            self._keep_learned(pair_id, what, document, said)

    def learned(self, pair_id: int, what: str, kind: type[T]) -> T | None:
        """Return what was learned about a pair; ``None`` when nothing was."""
        rows = self._all(
            "SELECT document FROM pair_analyses WHERE finding = ? AND what = ?", pair_id, what
        )
        return self._decoded(rows[0][0], kind) if rows else None

    def mark(self, pair_id: int, mark: str) -> None:
        """Set the auditor's mark of a pair, one of `Mark`, and log it.

        Raises
        ------
        StoreError
            When there is no such mark, or no such pair.
        """
        if mark not in get_args(Mark):
            raise StoreError(
                f"There is no review status “{mark}”.",
                remedy=f"Review statuses: {', '.join(filter(None, get_args(Mark)))}, or none.",
            )
        self._say_of_pair("mark", mark, Marked(pair_id, mark=mark))

    def note(self, pair_id: int, text: str) -> None:
        """Set the auditor's note on a pair, and log it.

        Raises
        ------
        StoreError
            When there is no such pair.
        """
        self._say_of_pair("note", text, Marked(pair_id, note=text))

    def _keep_learned(
        self, pair_id: int, what: str, document: msgspec.Struct, message: str
    ) -> None:
        text = json_text(document)
        self._connection.execute(
            "INSERT OR REPLACE INTO pair_analyses VALUES (?, ?, ?)", (pair_id, what, text)
        )
        self._write_log(message, "learned", Learned(pair_id, what, digests.text(text)))

    def _pairs(self, rows: Sequence[tuple[Any, ...]]) -> list[Pair]:
        with self._as_written():
            return self._findings.pairs(rows)

    def _people(self, rows: Sequence[Sequence[Any]]) -> Rows:
        with self._as_written():
            return self._findings.people(rows)

    def _say_of_pair(self, column: str, text: str, marked: Marked) -> None:
        with self._writing():
            changed = self._connection.execute(
                f"UPDATE finding SET {column} = ? WHERE id = ?",  # noqa: S608 - one of two columns
                (text, marked.pair),
            )
            if not changed.rowcount:
                raise _no_pair(marked.pair)
            self._write_log(marked.sentence, "marked", marked)

    def _index(self, order: str) -> None:
        """Make sure of an index for an order, once there is enough to sort.

        The last page of 300,000 findings then takes milliseconds, without it half a second. The
        run belongs to it because a page is mostly one of one run.
        """
        if order == "id":
            return
        term = self._findings.order_term(order)
        name = f"finding_by_{term if term.isidentifier() else order}"
        # the last one is that of the numbers, the same way round in all pages of an order
        terms = self._findings.order_terms(order, descending=order == "plausible")
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
                f"CREATE INDEX IF NOT EXISTS {name} ON finding ({', '.join(terms)}, run)"
            )


def _no_pair(pair_id: int) -> StoreError:
    return StoreError(
        f"There is no pair {pair_id} in this audit.", remedy="Choose one from the table."
    )
