"""The table of findings: its columns, named here only, and what stands in them for a pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import Pair, PairQuery
from fairdesk.errors import StoreError
from fairdesk.models.model import favourable_scores, labels
from fairdesk.results.events import Found, Rows

Count = Annotated[int, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Mark = Literal["", "flagged", "dismissed"]

_FIRST = {"id": "INTEGER PRIMARY KEY", "run": "INTEGER NOT NULL", "phase": "TEXT NOT NULL"}
_ANSWERS = {
    "row_score": "REAL NOT NULL",
    "partner_score": "REAL NOT NULL",
    "row_class": "INTEGER NOT NULL",
    "partner_class": "INTEGER NOT NULL",
    "alone": "INTEGER NOT NULL",
}
_WEIGHED = {"distance": "REAL", "plausibility": "REAL", "nearest": "INTEGER"}
_MARKED = {"mark": "TEXT NOT NULL DEFAULT ''", "note": "TEXT NOT NULL DEFAULT ''"}
#: What is written into a finding after its run, and so is no part of the run.
AFTERWARDS = frozenset((*_WEIGHED, *_MARKED))
#: A finding is weighed by its number and these columns.
WEIGHED = tuple(_WEIGHED)
#: All columns but those of codes.
_OTHERS = (*_FIRST, *_ANSWERS, *_WEIGHED, *_MARKED)
#: Columns that pairs can be ordered by, besides attributes.
_ORDERS = frozenset(("row_score", "partner_score", "mark", "distance", "plausibility"))


class _Kept(msgspec.Struct, array_like=True, frozen=True):
    """What the file may hold of a finding besides its codes: `_OTHERS`, in that order."""

    id: int
    run: int
    phase: str
    row_score: float
    partner_score: float
    row_class: Count
    partner_class: Count
    alone: Count
    distance: Share | None
    plausibility: float | None
    nearest: Count | None
    mark: Mark
    note: str


class FindingTable:
    """The columns of an audit's findings.

    A column ``x<i>`` per attribute of the domain and ``y<i>`` per protected one (the partner's),
    so that SQL can sort and filter by any of them. What is read and cannot have been written is a
    `ValueError`, or one of msgspec's.

    Attributes
    ----------
    row_columns : str
        The columns of an instance's codes, for a SELECT.
    code_columns : str
        These and the partner's.
    """

    def __init__(self, spec: AuditSpec) -> None:
        domain = spec.domain
        self._spec, self._domain = spec, domain
        self._columns = {name: f"x{i}" for i, name in enumerate(domain.names)}
        partner_columns = [f"y{i}" for i in domain.protected.tolist()]
        self._codes = [*self._columns.values(), *partner_columns]
        self.row_columns = ", ".join(self._columns.values())
        self.code_columns = ", ".join(self._codes)
        sizes = np.array([len(attribute.values) for attribute in domain.attributes])
        self._named = np.flatnonzero(sizes)
        self._sizes = sizes[self._named]

    @property
    def declaration(self) -> str:
        """The columns with their types, as the table is made."""
        codes = dict.fromkeys(self._codes, "REAL NOT NULL")
        columns = _FIRST | codes | _ANSWERS | _WEIGHED | _MARKED
        return ", ".join(f"{name} {kind}" for name, kind in columns.items())

    # how findings are written

    @property
    def insertion(self) -> str:
        """The statement that writes one finding: its run, its phase, and `values`."""
        names = ["run", "phase", *self._codes, *_ANSWERS]
        places = ", ".join("?" * len(names))
        return f"INSERT INTO finding ({', '.join(names)}) VALUES ({places})"  # noqa: S608 - ours

    def values(self, found: Found) -> NDArray[np.float64]:
        """Return the columns of findings side by side, ``(n, columns)``."""
        domain, favourable = self._domain, self._spec.mapping.favourable_class
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

    # how they are read

    @property
    def pair_columns(self) -> str:
        """What `pairs` reads."""
        return ", ".join((*_OTHERS, *self._codes))

    def pairs(self, rows: Sequence[tuple[Any, ...]]) -> list[Pair]:
        """Make pairs of rows of `pair_columns`; their codes in one array."""
        first, p = len(_OTHERS), len(self._domain.protected)
        codes, partners = self.people_and_partners([row[first:] for row in rows])
        kept = msgspec.convert([row[:first] for row in rows], list[_Kept])
        most = len(self._spec.decisions)
        if any(max(e.row_class, e.partner_class) >= most or e.alone >= 1 << p for e in kept):
            raise ValueError("it has a decision, or an attribute, that there is not")
        return [
            Pair(
                row=row,
                partner=partner,
                **msgspec.structs.asdict(each)
                | {"alone": tuple(bool(each.alone >> i & 1) for i in range(p))},
            )
            for each, row, partner in zip(kept, codes, partners, strict=True)
        ]

    def people_and_partners(self, rows: Sequence[tuple[Any, ...]]) -> tuple[Rows, Rows]:
        """Return the people of pairs and their partners, ``(n, d)`` each, of `code_columns`."""
        d, protected = len(self._columns), self._domain.protected
        codes = self.people([row[:d] for row in rows])
        partners = codes.copy()
        partners[:, protected] = np.array([row[d:] for row in rows], dtype=np.float64).reshape(
            len(rows), len(protected)
        )
        return codes, self.people(self._domain.apply_dependencies(partners))

    def people(self, rows: Sequence[Sequence[Any]] | Rows) -> Rows:
        """Take rows as people who can be told of, ``(n, d)``: finite codes, names that there are.

        Whether there can be such people by ranges and constraints is for who checks an audit.
        """
        people = np.array(rows, dtype=np.float64).reshape(len(rows), len(self._columns))
        names = people[:, self._named]
        fits = np.isfinite(people).all() and (names >= 0).all() and (names < self._sizes).all()
        if not fits or (names != np.floor(names)).any():
            raise ValueError("it has people who cannot be")
        return people

    # which, and in which order

    def where(self, query: PairQuery) -> tuple[str, list[Any]]:
        """Return the WHERE clause, and the values that are bound to it."""
        limits = (
            ("run = ?", query.run),
            ("mark = ?", query.mark),
            ("id <= ?", query.upto),
            ("distance <= ?", query.within),
        )
        terms = [term for term, value in limits if value is not None]
        values: list[Any] = [value for _, value in limits if value is not None]
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

    def order(self, query: PairQuery) -> str:
        """Return what the pairs of a query are ordered by."""
        direction = " DESC" if query.descending else ""
        if query.order == "id":
            return f"id{direction}"
        return f"{self.order_term(query.order)}{direction}, id{direction}"

    def order_term(self, order: str) -> str:
        """Return an order, not that of numbers, as an expression of SQL."""
        if order == "difference":
            return "abs(row_score - partner_score)"
        return order if order in _ORDERS else self._column(order)

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
        attribute = self._domain.attributes[self._domain.names.index(name)]
        try:
            return float(attribute.values.index(text) if attribute.values else text)
        except ValueError:
            return None
