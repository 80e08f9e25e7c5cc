"""Numbers as bands, each with several rows of the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairdesk.results.events import Rows
from fairdesk.wording.language import fixed, say

#: What fewer rows than this have in common is not told; the sentences about it say this number.
FEWEST = 5
#: Into so many bands a number is divided at most.
BANDS = 5
WHOLE = fixed("any value")


def band_edges(values: Rows, *, integral: bool) -> tuple[float, ...]:
    """Divide numbers into bands: give where each but the first begins.

    The borders are quantiles of the distinct values, rounded to a hundredth of the range at least,
    so that none is somebody's own number. Every band has at least `FEWEST` rows; the ends are open.

    Parameters
    ----------
    values : Rows
        ``(n,)``; NaN is not known.
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return ()
    distinct = np.unique(known)
    step = 10.0 ** np.floor(np.log10(max(float(distinct[-1] - distinct[0]), 1e-12) / 20))
    step = max(step, 1.0) if integral else step
    wanted = np.quantile(distinct, np.arange(1, BANDS) / BANDS)
    edges: list[float] = []
    before = -np.inf
    for edge in dict.fromkeys((np.round(wanted / step) * step).tolist()):
        inside = int(((known >= before) & (known < edge)).sum())
        if inside >= FEWEST and int((known >= edge).sum()) >= FEWEST:
            # what rounding leaves behind the last decimal of a step is no part of the border
            edges.append(float(f"{edge:.12g}"))
            before = edge
    return tuple(edges)


def band_text(edges: Sequence[float], value: float, *, integral: bool) -> str:
    """Write the band that a number is in: ``under 30``, ``30 to 44``, ``60 or more``."""
    if not edges:
        return say(WHOLE)
    place = int(np.searchsorted(edges, value, side="right"))
    if place == 0:
        return say("under {number}", number=_number(edges[0]))
    low = _number(edges[place - 1])
    if place == len(edges):
        return say("{number} or more", number=low)
    if not integral:
        return say("{low} to under {high}", low=low, high=_number(edges[place]))
    last = edges[place] - 1
    return say("{low} to {high}", low=low, high=_number(last)) if last > edges[place - 1] else low


def _number(value: float) -> str:
    return f"{value:,.10g}"
