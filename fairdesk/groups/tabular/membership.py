"""Who is in a group that rules describe."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.results.conditions import Condition
from fairdesk.results.events import Rows


def members(
    attributes: Sequence[Attribute], codes: Rows, conditions: Sequence[Condition]
) -> NDArray[np.bool_]:
    """Return which rows fulfil all conditions.

    Parameters
    ----------
    attributes : sequence of Attribute
        What the columns of ``codes`` are: ``Domain.grouping``.
    codes : Rows
        ``(n, g)``; a missing cell (NaN) fulfils no condition.
    conditions : sequence of Condition
        At most one per attribute.

    Returns
    -------
    NDArray[np.bool_]
        ``(n,)``.
    """
    names = [attribute.name for attribute in attributes]
    inside = np.ones(len(codes), dtype=np.bool_)
    for condition in conditions:
        values = codes[:, names.index(condition.attribute)]
        if condition.codes:
            inside &= np.isin(values, condition.codes)
            continue
        inside &= ~np.isnan(values)
        if condition.low is not None:
            inside &= values >= condition.low
        if condition.high is not None:
            inside &= values < condition.high if condition.below else values <= condition.high
    return inside
