"""How far two people are apart, and which real person is nearest to an invented one.

Gower's distance: J. C. Gower, *A general coefficient of similarity and some of its properties*,
Biometrics 27, 1971.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import DataError
from fairdesk.results.events import Rows

#: Where a missing cell is on the scale of an order that goes from 0 to 1: far from all of it.
NOWHERE = 3.0


def measured(domain: Domain) -> NDArray[np.intp]:
    """Return the positions of the attributes that count for a distance.

    Those in which members of a similar set are equal, without those that have one value only.
    """
    others = domain.others
    return np.asarray(others[domain.low[others] < domain.high[others]])


def everywhere(domain: Domain) -> NDArray[np.intp]:
    """Return the positions of all attributes that have more than one value."""
    return np.flatnonzero(domain.low < domain.high)


def scaled(domain: Domain, rows: Rows, positions: NDArray[np.intp] | None = None) -> Rows:
    """Put people on scales on which Gower's distance is the mean of differences, each at most 1.

    Parameters
    ----------
    rows : Rows
        ``(n, d)``; NaN where a cell is missing.
    positions : NDArray[np.intp], optional
        ``(m,)``; the attributes that count, by default those `measured`.

    Returns
    -------
    Rows
        ``(n, m)``, a column for each of these: for a name its code, so that two names are 1
        apart or more; for a number, or a place in an order, its share of the range.
    """
    places = measured(domain) if positions is None else positions
    low, span, unknown = scales(domain, places).T
    codes = rows[:, places]
    return np.asarray(np.where(codes == unknown, NOWHERE, (codes - low) / span))


def scales(domain: Domain, positions: NDArray[np.intp]) -> Rows:
    """Return the scales of attributes, ``(m, 3)``: where each begins, how long it is, its unknown.

    The last is the code, of an order, that means that its value is not known; NaN where none does.
    """
    return np.array([_scale(domain.attributes[i]) for i in positions.tolist()]).reshape(-1, 3)


def _scale(attribute: Attribute) -> tuple[float, float, float]:
    span = attribute.high - attribute.low - attribute.unknown
    if attribute.kind in (Kind.NOMINAL, Kind.TEXT) or span == 0:
        return 0.0, 1.0, np.nan
    return attribute.low, span, attribute.high if attribute.unknown else np.nan


def gower(
    domain: Domain, people: Rows, row: Rows, positions: NDArray[np.intp] | None = None
) -> NDArray[np.float64]:
    """Measure how far people are from one person: Gower's distance, of what is `measured`.

    The mean over the attributes of 0 or 1 for names, equal or not, and of the difference as a
    share of the domain's range for numbers and for places in an order. Attributes that are
    missing in one of the two are left out of the mean.

    Parameters
    ----------
    people : Rows
        ``(n, d)``.
    row : Rows
        ``(d,)``.

    Returns
    -------
    NDArray[np.float64]
        ``(n,)``; 0 (alike in everything) to 1; 1 where nothing can be compared.
    """
    ours, theirs = (scaled(domain, each, positions) for each in (people, row[None]))
    apart = np.minimum(np.abs(ours - theirs), 1.0)
    known = ~np.isnan(apart)
    compared = known.sum(axis=1)
    total = np.where(known, apart, 0.0).sum(axis=1)
    return np.where(compared > 0, total / np.maximum(compared, 1), 1.0)


def nearest(
    domain: Domain, people: Rows, row: Rows, positions: NDArray[np.intp] | None = None
) -> tuple[int, float]:
    """Find the person nearest to ``row``: their index in ``people``, and the distance.

    The first one where several are equally near; as `gower`.

    Raises
    ------
    DataError
        When there are no people.
    """
    refuse_nobody(people)
    distances = gower(domain, people, row, positions)
    index = int(distances.argmin())
    return index, float(distances[index])


def refuse_nobody(people: Rows) -> None:
    """Raise a `DataError` when there is nobody to compare with."""
    if not len(people):
        raise DataError(
            "The data contain no row to compare with.",
            why="No row is complete and within the limits of the attributes.",
            remedy="Widen the limits of the attributes.",
        )
