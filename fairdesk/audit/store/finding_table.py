"""The table of findings: columns for the codes and fields of a pair, and pairs read from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, get_type_hints

import msgspec
import numpy as np

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.pair import (
    FIELDS,
    FIRST,
    FOUND,
    MARKED,
    WEIGHED,
    Pair,
    found_values,
    of_kind,
    orderable,
)
from fairdesk.audit.store.records import Count, PairQuery
from fairdesk.errors import StoreError
from fairdesk.results.events import Found, Rows

#: What is written into a finding after its run, and so is no part of the run.
AFTERWARDS = frozenset(WEIGHED | MARKED)
#: Fields that pairs can be ordered by, besides attributes: those with a column in tables.
_ORDERS = frozenset(name for name in FIELDS if orderable(name))
_BITS, _DECISIONS = of_kind("attributes"), of_kind("decision")
_HINTS = get_type_hints(Pair, include_extras=True)
_DTYPES = {
    name: np.int64 if each.column.startswith("INTEGER") else np.float64
    for name, each in FOUND.items()
}
#: What a column of each field holds; attributes as bits.
_COLUMN_TYPES = {name: list[Count] if name in _BITS else list[_HINTS[name]] for name in FIELDS}  # type: ignore[valid-type]


class PairColumns(NamedTuple):
    """Some pairs, field by field: for those who read all of them, and make no object of each.

    Attributes
    ----------
    rows, partners : Rows
        ``(n, d)``.
    fields : dict[str, list]
        ``n`` values for each of `FIELDS`; where these are attributes (`of_kind`), as the bits of a
        whole number, the first attribute being the lowest.
    """

    rows: Rows
    partners: Rows
    fields: dict[str, list[Any]]


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
        columns = {name: field.column for name, field in FIELDS.items()}
        first = {name: columns.pop(name) for name in FIRST}
        codes = dict.fromkeys(self._codes, "REAL NOT NULL")
        return ", ".join(f"{name} {kind}" for name, kind in (first | codes | columns).items())

    # how findings are written

    @property
    def insertion(self) -> str:
        """The statement that writes one finding: its number, run and phase, then `values`."""
        names = ["id", "run", "phase", *self._codes, *FOUND]
        places = ", ".join("?" * len(names))
        return f"INSERT INTO finding ({', '.join(names)}) VALUES ({places})"  # noqa: S608 - ours

    def values(self, found: Found) -> list[list[float]]:
        """Return ``n`` findings column by column, each value as it will be read."""
        values = found_values(found, self._spec.mapping.favourable_class)
        codes = np.column_stack((found.rows, found.partners[:, self._domain.protected]))
        # a file keeps no sign of 0.0
        return [
            *(codes + 0.0).T.tolist(),
            *((each.astype(_DTYPES[name]) + 0).tolist() for name, each in values.items()),
        ]

    # how they are read

    @property
    def pair_columns(self) -> str:
        """What `pairs` reads."""
        return ", ".join((*FIELDS, *self._codes))

    def pairs(self, rows: Sequence[tuple[Any, ...]]) -> list[Pair]:
        """Make pairs of rows of `pair_columns`; their codes in one array."""
        codes, partners = self.people_and_partners([row[len(FIELDS) :] for row in rows])
        named: list[dict[str, Any]] = [dict(zip(FIELDS, row, strict=False)) for row in rows]
        for each, row, partner in zip(named, codes, partners, strict=True):
            each |= {name: self._truths(each[name]) for name in _BITS}
            each |= {"row": row, "partner": partner}
        pairs = msgspec.convert(named, list[Pair])
        most = len(self._spec.decisions)
        if any(getattr(pair, name) >= most for pair in pairs for name in _DECISIONS):
            raise ValueError("it has a decision that does not exist")
        return pairs

    def columns(self, rows: Sequence[tuple[Any, ...]]) -> PairColumns:
        """Return rows of `pair_columns` column by column."""
        by_column = list(zip(*rows, strict=True)) or [()] * (len(FIELDS) + len(self._codes))
        fields: dict[str, list[Any]] = {
            name: msgspec.convert(values, _COLUMN_TYPES[name])
            for name, values in zip(FIELDS, by_column, strict=False)
        }
        held = 1 << len(self._domain.protected)
        most = len(self._spec.decisions)
        for names, end in ((_BITS, held), (_DECISIONS, most)):
            if any(max(fields[name], default=0) >= end for name in names):
                raise ValueError("it has an attribute or a decision that does not exist")
        codes = np.array(by_column[len(FIELDS) :], dtype=np.float64).T
        return PairColumns(*self._people_and_partners(codes), fields)

    def _truths(self, bits: object) -> tuple[bool, ...]:
        """Return the truth for each protected attribute that a whole number's bits hold."""
        p, held = len(self._domain.protected), msgspec.convert(bits, Count)
        if held >= 1 << p:
            raise ValueError("it has an attribute that does not exist")
        return tuple(bool(held >> i & 1) for i in range(p))

    def people_and_partners(self, rows: Sequence[tuple[Any, ...]]) -> tuple[Rows, Rows]:
        """Return the people of pairs and their partners, ``(n, d)`` each, of `code_columns`."""
        return self._people_and_partners(
            np.array(rows, dtype=np.float64).reshape(len(rows), len(self._codes))
        )

    def _people_and_partners(self, codes: Rows) -> tuple[Rows, Rows]:
        d = len(self._columns)
        people = self.people(codes[:, :d])
        partners = people.copy()
        partners[:, self._domain.protected] = codes[:, d:]
        return people, self.people(self._domain.apply_dependencies(partners))

    def people(self, rows: Sequence[Sequence[Any]] | Rows) -> Rows:
        """Take rows as people who can be told of, ``(n, d)``: finite codes, names that there are.

        Whether there can be such people by ranges and constraints is for who checks an audit.
        """
        people = np.array(rows, dtype=np.float64).reshape(len(rows), len(self._columns))
        names = people[:, self._named]
        fits = np.isfinite(people).all() and (names >= 0).all() and (names < self._sizes).all()
        if not fits or (names != np.floor(names)).any():
            raise ValueError("it has instances with impossible values")
        return people

    def check_codes(self, place: int, codes: Sequence[Any]) -> None:
        """Raise what `people` does unless these can be values of an attribute."""
        rows = np.zeros((len(codes), len(self._columns)))
        rows[:, place] = codes
        self.people(rows)

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
        if query.plausible:
            terms.append("plausible = 1")
        if query.among is not None:
            terms.append(f"id IN ({', '.join('?' * len(query.among))})")
            values.extend(query.among)
        if query.alone is not None:
            terms.append("sufficient_alone & ?")
            values.append(1 << self._protected(query.alone))
        for name, code, other in query.changed:
            column = self._column(name)
            terms.append(f"{column} = ? AND {column.replace('x', 'y')} = ?")
            values.extend((code, other))
        if query.decided is not None:
            terms.append("row_class = ? AND partner_class = ?")
            values.extend(query.decided)
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
        return ", ".join(self.order_terms(query.order, descending=query.descending))

    def order_terms(self, order: str, *, descending: bool) -> tuple[str, ...]:
        """Return an order as expressions of SQL with their directions."""
        direction = " DESC" if descending else ""
        if order == "id":
            return (f"id{direction}",)
        if order == "plausible":
            changed = " + ".join(f"(x{i} <> y{i})" for i in self._domain.protected.tolist())
            # of texts no attribute is protected, and a number alone would be that of a column
            fewest = (f"({changed})",) if changed else ()
            return (f"plausible{direction}", *fewest, "repeats", "id")
        return f"{self.order_term(order)}{direction}", f"id{direction}"

    def order_term(self, order: str) -> str:
        """Return an order, not that of numbers, as an expression of SQL."""
        if order == "difference":
            return "abs(row_score - partner_score)"
        return order if order in _ORDERS else self._column(order)

    def _column(self, name: str) -> str:
        if name not in self._columns:
            raise _unknown(name, self._columns)
        return self._columns[name]

    def _protected(self, name: str) -> int:
        """Return the place of an attribute among the protected ones."""
        names = [self._domain.names[place] for place in self._domain.protected.tolist()]
        if name not in names:
            raise _unknown(name, names)
        return names.index(name)

    def _code(self, name: str, text: str) -> float | None:
        """Return the code of a value's text; ``None``, which nothing equals, for a stranger."""
        attribute = self._domain.attributes[self._domain.names.index(name)]
        try:
            return float(attribute.values.index(text) if attribute.values else text)
        except ValueError:
            return None


def _unknown(name: str, known: Iterable[str]) -> StoreError:
    return StoreError(
        f"There is no attribute “{name}” in this audit.",
        remedy=f"Its attributes are: {', '.join(known)}.",
    )
