"""The population that the data are a sample of: a Chow-Liu tree over all attributes.

C. K. Chow and C. N. Liu, *Approximating discrete probability distributions with dependence trees*,
IEEE Transactions on Information Theory 14, 1968: of all trees the one under which the data are most
likely joins the attributes with the greatest mutual information.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import DataError, SpecError
from fairdesk.results.events import Rows


def mutual_information(cells: NDArray[np.intp], sizes: Sequence[int]) -> NDArray[np.float64]:
    """Return how much any two attributes tell of each other, in nats, less what chance would.

    Shares in a sample tell something even of independent attributes: Miller and Madow's
    correction (G. A. Miller, *Note on the bias of information estimates*, 1955).

    Parameters
    ----------
    cells : NDArray[np.intp]
        ``(n, d)``.

    Returns
    -------
    NDArray[np.float64]
        ``(d, d)``, symmetric; 0 on the diagonal, and negative where chance would tell more.
    """
    n, d = cells.shape
    columns = [np.ascontiguousarray(cells[:, i]) for i in range(d)]
    entropies = [_entropy(np.bincount(each), n) for each in columns]
    information = np.zeros((d, d))
    for i in range(d):
        ahead = columns[i]
        for j in range(i):
            joint = _entropy(np.bincount(ahead * sizes[j] + columns[j]), n)
            information[i, j] = information[j, i] = entropies[i] + entropies[j] - joint
    return information


def _entropy(counts: NDArray[np.intp], n: int) -> float:
    """Estimate an entropy of counts that sum to ``n``."""
    held = counts[counts > 0]
    return float(np.log(n) - (held * np.log(held)).sum() / n + (len(held) - 1) / (2 * n))


def spanning_forest(weights: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the edges of the forest of the greatest weight (J. B. Kruskal, 1956).

    Parameters
    ----------
    weights : NDArray[np.float64]
        ``(d, d)``, symmetric. An edge that is not positive is in no forest.

    Returns
    -------
    list of (int, int)
        Pairs of vertices; of equally heavy edges the first by number is taken first.
    """
    first, second = np.triu_indices(len(weights), 1)
    heavy = weights[first, second]
    component = np.arange(len(weights))
    edges = []
    for place in np.argsort(-heavy, kind="stable").tolist():
        i, j = int(first[place]), int(second[place])
        if heavy[place] <= 0:
            break
        if component[i] != component[j]:
            component[component == component[j]] = component[i]
            edges.append((i, j))
    return edges


def directed(edges: Sequence[tuple[int, int]], d: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Point the edges of a forest of ``d`` vertices away from the least vertex of each tree.

    Returns
    -------
    parents : NDArray[np.intp]
        ``(d,)``; -1 for a root.
    order : NDArray[np.intp]
        ``(d,)``; all vertices, each behind its parent.
    """
    neighbours: list[list[int]] = [[] for _ in range(d)]
    for i, j in edges:
        neighbours[i].append(j)
        neighbours[j].append(i)
    parents = np.full(d, -1)
    order: list[int] = []
    met = set[int]()
    for root in range(d):
        waiting = deque([] if root in met else [root])
        met.add(root)
        while waiting:
            here = waiting.popleft()
            order.append(here)
            for other in sorted(neighbours[here]):
                if other not in met:
                    met.add(other)
                    parents[other] = here
                    waiting.append(other)
    return parents, np.array(order, dtype=np.intp)


#: Into about so many cells a number is divided, of as many rows each.
BINS = 12
#: Of more names than these the rarest share a cell.
MOST_NAMES = 200
#: An attribute with more values than these has no list of them.
MOST_VALUES = 1 << 22


@dataclass(frozen=True, slots=True)
class Cells:
    """Which codes of an attribute are one cell.

    Attributes
    ----------
    count : int
        How many cells there are, the one of missing codes among them.
    starts : Rows
        ``(m,)``, ascending; of numbers and long orders: the least code of each cell but the first.
    of_name : NDArray[np.intp]
        ``(values,)``; of names: the cell of each code. Empty for numbers.
    missing : bool
        Whether the last cell is that of missing codes.
    """

    count: int
    starts: Rows
    of_name: NDArray[np.intp]
    missing: bool

    def of(self, codes: Rows) -> NDArray[np.intp]:
        """Return the cell of each code, ``(n,)``; that of a missing code is the last one."""
        if self.of_name.size:
            known = np.nan_to_num(codes).astype(np.intp)
            cells = self.of_name[np.clip(known, 0, len(self.of_name) - 1)]
        else:
            cells = np.searchsorted(self.starts, codes, side="right")
        # without a cell of its own a missing code is in the last one, like infinity
        return np.where(np.isnan(codes), self.count - 1, cells)


def cells_of(attribute: Attribute, codes: Rows) -> Cells:
    """Divide an attribute's codes into cells, by how often they occur.

    A text is one cell: no two of them are alike.

    Parameters
    ----------
    codes : Rows
        ``(n,)``, ``n >= 1``; those of the data; NaN where a cell is missing.
    """
    missing = bool(np.isnan(codes).any())
    values, counts = np.unique(codes[~np.isnan(codes)], return_counts=True)
    none = np.empty(0, dtype=np.intp)
    if attribute.kind is Kind.TEXT:
        return Cells(1 + missing, np.empty(0), none, missing)
    ordered = attribute.kind is Kind.ORDINAL and len(attribute.values) > MOST_NAMES
    if attribute.values and not ordered:
        of_name = _names(len(attribute.values), values.astype(np.intp), counts)
        return Cells(int(of_name.max()) + 1 + missing, np.empty(0), of_name, missing)
    starts = _starts(attribute, values, counts)
    return Cells(len(starts) + 1 + missing, starts, none, missing)


def _names(size: int, seen: NDArray[np.intp], counts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Give each of ``size`` names a cell; of too many the rarest share the last one."""
    if size <= MOST_NAMES:
        return np.arange(size)
    often = np.zeros(size, dtype=np.intp)
    often[seen] = counts
    cells = np.full(size, MOST_NAMES - 1)
    cells[np.argsort(-often, kind="stable")[: MOST_NAMES - 1]] = np.arange(MOST_NAMES - 1)
    return cells


def _starts(attribute: Attribute, values: Rows, counts: NDArray[np.intp]) -> Rows:
    """Return where the cells of numbers begin, but for the first.

    A value that is as frequent as a whole bin is a cell by itself. What lies between two such
    values, and what the range holds beyond the data, are cells that no row of the data is in.
    """
    starts: list[float] = []
    last: tuple[float, float] | None = None
    for low, high in _bins(values, counts):
        if last is None:
            if attribute.low < low:
                starts.append(low)
        elif low == high:
            # steps are seldom exact in floats
            gap = low - last[1] > 1.5 * attribute.spacing
            if last[0] == last[1] and gap:
                starts.append(_after(attribute, last[1]))
            starts.append(low)
        else:
            starts.append(_after(attribute, last[1]))
        last = low, high
    if last is not None and last[1] < attribute.high:
        starts.append(_after(attribute, last[1]))
    return np.array(starts)


def _after(attribute: Attribute, code: float) -> float:
    """Return the next code that there can be."""
    return code + attribute.spacing / 2 if attribute.spacing else float(np.nextafter(code, np.inf))


def _bins(values: Rows, counts: NDArray[np.intp]) -> list[tuple[float, float]]:
    """Return the least and the greatest value of each bin, in order."""
    share = counts / counts.sum() * BINS
    number = np.floor(share.cumsum() - share / 2)
    alone = share >= 1.0
    begins = np.flatnonzero(alone[1:] | alone[:-1] | (number[1:] > number[:-1])) + 1
    return [(float(each[0]), float(each[-1])) for each in np.split(values, begins) if len(each)]


def values_of(attribute: Attribute) -> Rows | None:
    """Return all codes that an attribute can have, ascending; ``None`` where there is no list."""
    if not attribute.spacing:
        return np.array([attribute.low]) if attribute.low == attribute.high else None
    count = round((attribute.high - attribute.low) / attribute.spacing) + 1
    if count > MOST_VALUES:
        return None
    codes = attribute.low + np.arange(count) * attribute.spacing
    return np.asarray(np.round(codes * attribute.grid) / attribute.grid)


#: So much is added to the count of every cell, so that nothing is impossible.
SMOOTHING = 0.02
#: Logarithms are kept in such steps: sums of them are exact, in whatever order they are added up.
_STEP = 2.0**-40
#: Rows are drawn by rejection where there are constraints; so many in vain, and none is found.
_MOST_DRAWN = 1_000_000
_AT_ONCE = 10_000


@dataclass(frozen=True)
class PopulationTree:
    """A distribution over whole rows: each attribute's cell depends on that of one other.

    Attributes
    ----------
    domain : Domain
        Says what the codes are; constraints are not part of the distribution.
    cells : tuple[Cells, ...]
        Per attribute: which codes are one cell.
    parents : NDArray[np.intp]
        ``(d,)``; the attribute that each one depends on; -1 for a root.
    order : NDArray[np.intp]
        ``(d,)``; all attributes, each behind its parent.
    log_tables : tuple[Rows, ...]
        Per attribute ``(cells of the parent, or 1; cells)``: log P(cell | parent's cell).
    seen : tuple[Rows, ...]
        Per attribute the codes that the rows have, ascending, without missing ones.
    seen_counts : tuple[NDArray[np.intp], ...]
        How many rows have each of these.
    """

    domain: Domain
    cells: tuple[Cells, ...]
    parents: NDArray[np.intp]
    order: NDArray[np.intp]
    log_tables: tuple[Rows, ...]
    seen: tuple[Rows, ...]
    seen_counts: tuple[NDArray[np.intp], ...]

    @classmethod
    def fit(cls, domain: Domain, rows: Rows) -> PopulationTree:
        """Learn a tree; the same of the same rows.

        Parameters
        ----------
        rows : Rows
            ``(n, d)``, ``n >= 1``; NaN where a cell is missing.

        Raises
        ------
        DataError
            When there are no rows.
        """
        if not len(rows):
            raise DataError(
                "The distribution of the data cannot be estimated from zero rows.",
                remedy="Widen the limits of the attributes, or relax a constraint.",
            )
        rows = domain.clip(rows)
        cells = tuple(
            cells_of(attribute, rows[:, i]) for i, attribute in enumerate(domain.attributes)
        )
        placed = _placed(cells, rows)
        sizes = [each.count for each in cells]
        parents, order = directed(spanning_forest(mutual_information(placed, sizes)), len(cells))
        tables = tuple(
            _log_table(placed[:, i], size, *_of_parent(placed, sizes, parent))
            for i, (size, parent) in enumerate(zip(sizes, parents.tolist(), strict=True))
        )
        seen = [np.unique(each[~np.isnan(each)], return_counts=True) for each in rows.T]
        codes, counts = zip(*seen, strict=True)
        return cls(domain, cells, parents, order, tables, codes, counts)

    @cached_property
    def values(self) -> tuple[Rows | None, ...]:
        """Per attribute all codes that it can have, ascending; ``None`` where there is no list."""
        return tuple(values_of(attribute) for attribute in self.domain.attributes)

    @cached_property
    def within(self) -> tuple[Rows | None, ...]:
        """Per attribute P(code | its cell) of each of `values`; they sum to one in each cell.

        One is added to the count of each value. Over a domain of listed values the probabilities
        of all rows, each the product of its cells' and of these, sum to one where no cell is
        missing in the data.
        """
        return tuple(
            None if values is None else self._shares(i, values)
            for i, values in enumerate(self.values)
        )

    def _shares(self, i: int, values: Rows) -> Rows:
        counts = np.ones(len(values))
        place = np.minimum(np.searchsorted(values, self.seen[i]), len(values) - 1)
        np.add.at(counts, place, self.seen_counts[i])
        cell = self.cells[i].of(values)
        return np.asarray(counts / np.bincount(cell, counts, self.cells[i].count)[cell])

    def log_density(self, rows: Rows) -> Rows:
        """Return the logarithm of the probability of the cells of ``(n, d)`` rows: ``(n,)``.

        Minus infinity where a code is missing that is in none of the rows learned from.
        """
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.population import row_kernels  # noqa: PLC0415

        density: Rows = row_kernels.log_density(rows, *self._laid_out)
        return density

    def sample(self, rng: np.random.Generator, n: int) -> Rows:
        """Draw rows of the domain: ``(n, d)``.

        A code is drawn from its cell: by `within` where its values are listed, else one of the
        data's. Attributes that others determine follow them; rows that break a constraint are
        drawn again.

        Raises
        ------
        SpecError
            When none of a million rows fulfils the constraints.
        """
        if not self.domain.has_constraints:
            return self._drawn(rng, n)
        parts, given, drawn = [np.empty((0, len(self.parents)))], 0, 0
        while given < n:
            rows = self.domain.determine(self._drawn(rng, _AT_ONCE))
            rows = rows[self.domain.allowed(rows)][: n - given]
            parts.append(rows)
            given, drawn = given + len(rows), drawn + _AT_ONCE
            if not given and drawn >= _MOST_DRAWN:
                raise SpecError(
                    "Almost no instance that resembles the data satisfies the constraints: none of "
                    f"{drawn:,} drawn at random.",
                    remedy="Relax the constraints, or widen the ranges.",
                )
        return np.concatenate(parts)

    def _drawn(self, rng: np.random.Generator, n: int) -> Rows:
        placed = np.zeros((n, len(self.parents)), dtype=np.intp)
        rows = np.empty((n, len(self.parents)))
        for i in self.order.tolist():
            parent = int(self.parents[i])
            table = np.exp(self.log_tables[i]).cumsum(axis=1)
            given = table[np.zeros(n, dtype=np.intp) if parent < 0 else placed[:, parent]]
            # the sum of a table's row may be a last bit from one
            chosen = (rng.random((n, 1)) * given[:, -1:] >= given).sum(axis=1)
            placed[:, i] = chosen
            rows[:, i] = self._codes(rng, i, placed[:, i])
        return rows

    def _codes(self, rng: np.random.Generator, i: int, placed: NDArray[np.intp]) -> Rows:
        """Draw a code of an attribute in each of these cells: ``(n,)``; NaN in that of missing."""
        values, sums, ends = self._support[i]
        low, high = ends[placed], ends[placed + 1]
        target = low + rng.random(len(placed)) * (high - low)
        place = np.searchsorted(sums, target, side="right")
        codes = values[np.minimum(place, len(values) - 1)] if len(values) else np.empty(len(placed))
        for cell in np.unique(placed[low == high]).tolist():
            here = placed == cell
            codes[here] = self._anywhere(rng, i, cell, int(here.sum()))
        return np.asarray(codes)

    def _anywhere(self, rng: np.random.Generator, i: int, cell: int, n: int) -> Rows:
        """Draw codes of a cell in which no row of the data is, each as likely as any other."""
        cells = self.cells[i]
        if cells.missing and cell == cells.count - 1:
            return np.full(n, np.nan)
        attribute, starts = self.domain.attributes[i], cells.starts
        low = attribute.low if cell == 0 else starts[cell - 1]
        high = starts[cell] if cell < len(starts) else attribute.high
        drawn = rng.uniform(low, high, (n, 1))
        return np.asarray(self.domain.clip(drawn, np.array([i]))[:, 0])

    @cached_property
    def _support(self) -> tuple[tuple[Rows, Rows, Rows], ...]:
        """Per attribute the codes that are drawn, cell by cell, and running sums of their weights.

        The last are those sums at the ends of the cells, ``(cells + 1,)``.
        """
        supports = []
        for i, (listed, within) in enumerate(zip(self.values, self.within, strict=True)):
            values = self.seen[i] if listed is None else listed
            shares = self.seen_counts[i] if within is None else within
            cell = self.cells[i].of(values)
            in_order = np.argsort(cell, kind="stable")
            sums = shares[in_order].cumsum()
            ends = np.searchsorted(cell[in_order], np.arange(self.cells[i].count + 1))
            supports.append((values[in_order], sums, np.concatenate(([0.0], sums))[ends]))
        return tuple(supports)

    @cached_property
    def _laid_out(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Rows, Rows]:
        """Cells and tables as `row_kernels.log_density` reads them."""
        names = [each.of_name.astype(np.int64) for each in self.cells]
        starts = [each.starts for each in self.cells]
        tables = [each.ravel() for each in self.log_tables]
        counts = [each.count for each in self.cells]
        missing = [each.missing for each in self.cells]
        layout = np.column_stack(
            (
                *(self.parents, counts, missing),
                *(_beginnings(names), [len(each) for each in names]),
                *(_beginnings(starts), [len(each) for each in starts]),
                _beginnings(tables),
            )
        )
        joined = np.concatenate(names), np.concatenate(starts), np.concatenate(tables)
        return np.ascontiguousarray(layout, dtype=np.int64), *joined


def _beginnings(parts: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Return where each of several arrays begins when they are put one behind the other."""
    sizes = [len(each) for each in parts]
    return np.cumsum([0, *sizes[:-1]], dtype=np.int64)


def _placed(cells: Sequence[Cells], rows: Rows) -> NDArray[np.intp]:
    placed = np.empty(rows.shape, dtype=np.intp, order="F")
    for i, each in enumerate(cells):
        placed[:, i] = each.of(rows[:, i])
    return placed


def _of_parent(
    placed: NDArray[np.intp], sizes: Sequence[int], parent: int
) -> tuple[NDArray[np.intp], int]:
    """Return the parent's cells, and how many there are; a root has one that is always the same."""
    if parent < 0:
        return np.zeros(len(placed), dtype=np.intp), 1
    return placed[:, parent], sizes[parent]


def _log_table(cell: NDArray[np.intp], size: int, given: NDArray[np.intp], given_size: int) -> Rows:
    counts = np.bincount(given * size + cell, minlength=given_size * size) + SMOOTHING
    counts = counts.reshape(given_size, size)
    logs = np.log(counts / counts.sum(axis=1, keepdims=True))
    return np.asarray(np.round(logs / _STEP) * _STEP)
