"""Cells of an attribute's codes: names a cell each, numbers in bins of equal counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.table import Kind
from fairdesk.results.events import Rows

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
