"""Which real person is nearest to an invented one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import DataError
from fairdesk.events import Rows


def gower(domain: Domain, people: Rows, row: Rows) -> NDArray[np.float64]:
    """Measure how far people are from one person, over the attributes that are not protected.

    Gower's distance (J. C. Gower, *A general coefficient of similarity and some of its
    properties*, Biometrics 27, 1971): the mean over the attributes of 0 or 1 for names, equal
    or not, and of the difference as a share of the domain's range for numbers and for places in
    an order. Attributes that are missing in one of the two are left out of the mean.

    Parameters
    ----------
    domain : Domain
        Says what the codes are.
    people : Rows
        ``(n, d)``.
    row : Rows
        ``(d,)``.

    Returns
    -------
    NDArray[np.float64]
        ``(n,)``; 0 (alike in everything) to 1; 1 where nothing can be compared.
    """
    others = domain.others
    names = np.array([domain.attributes[i].kind is Kind.NOMINAL for i in others])
    span = (domain.high - domain.low)[others]
    difference = np.abs(people[:, others] - row[others])
    share = np.minimum(difference / np.where(span > 0, span, 1.0), 1.0)
    apart = np.where(names, np.sign(difference), share)
    known = ~np.isnan(apart)
    compared = known.sum(axis=1)
    total = np.where(known, apart, 0.0).sum(axis=1)
    return np.where(compared > 0, total / np.maximum(compared, 1), 1.0)


def nearest(domain: Domain, people: Rows, row: Rows) -> tuple[int, float]:
    """Find the person nearest to ``row``: their index in ``people``, and the distance.

    The first one where several are equally near.

    Raises
    ------
    DataError
        When there are no people.
    """
    if not len(people):
        raise DataError(
            "The data hold nobody to compare with.",
            why="No row is complete and within the limits of the attributes.",
            remedy="Widen the limits of the attributes.",
        )
    distances = gower(domain, people, row)
    index = int(distances.argmin())
    return index, float(distances[index])
