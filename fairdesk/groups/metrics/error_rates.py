"""How right a model is about each group: error rates, mean scores, and calibration."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.groups.metrics.grouping import Groups, Mask
from fairdesk.results.events import Rows
from fairdesk.results.groups import Bin, GroupLine, GroupTable

#: Scores are looked at in so many bins of equal width.
BINS = 10


def judged(table: GroupTable, groups: Groups, favourable_mask: Mask, label: Rows) -> GroupTable:
    """Add error rates to a table of decisions.

    Parameters
    ----------
    table : GroupTable
        Made of ``groups``.
    groups : Groups
        The ``k`` people with decisions.
    favourable_mask : NDArray[np.bool_]
        ``(k,)``; whether theirs is favourable.
    label : Rows
        ``(k,)``; 1 with the favourable label, 0 with another, NaN with none: these count nowhere.
    """
    counts = [
        groups.count(among).tolist()
        for among in (
            label == 1,
            (label == 1) & favourable_mask,
            label == 0,
            (label == 0) & favourable_mask,
        )
    ]
    lines = [
        msgspec.structs.replace(
            line,
            positives=positives,
            true_positives=hits,
            negatives=negatives,
            false_positives=alarms,
            true_positive_rate=_share(hits, positives),
            false_positive_rate=_share(alarms, negatives),
            precision=_share(hits, hits + alarms),
            accuracy=_share(hits + negatives - alarms, positives + negatives),
        )
        for line, positives, hits, negatives, alarms in zip(table.lines, *counts, strict=True)
    ]
    best = lines[table.reference] if table.reference >= 0 else None
    return msgspec.structs.replace(table, lines=tuple(_differing(line, best) for line in lines))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _differing(line: GroupLine, best: GroupLine | None) -> GroupLine:
    """Compare error rates with the reference's (Hardt, Price and Srebro 2016)."""
    if best is None or line is best or not line.known:
        return line
    hits = _less(line.true_positive_rate, best.true_positive_rate)
    alarms = _less(line.false_positive_rate, best.false_positive_rate)
    return msgspec.structs.replace(
        line,
        equal_opportunity=hits,
        average_odds=None if hits is None or alarms is None else (hits + alarms) / 2,
    )


def _less(rate: float | None, other: float | None) -> float | None:
    return None if rate is None or other is None else rate - other


def scored(table: GroupTable, groups: Groups, scores: Rows, deviation: float) -> GroupTable:
    """Add mean scores and their standardised differences to a table.

    Parameters
    ----------
    table : GroupTable
        Made of ``groups``.
    groups : Groups
        The ``k`` people with scores.
    scores : Rows
        ``(k,)``.
    deviation : float
        The standard deviation of everybody's scores, taken as the whole population.
    """
    means = [None if np.isnan(mean) else mean for mean in groups.mean(scores).tolist()]
    best = means[table.reference] if table.reference >= 0 else None
    lines = []
    for place, (line, mean) in enumerate(zip(table.lines, means, strict=True)):
        difference = _less(mean, best) if line.known and place != table.reference else None
        smd = None if difference is None or not deviation else difference / deviation
        lines.append(msgspec.structs.replace(line, mean_score=mean, smd=smd))
    return msgspec.structs.replace(table, lines=tuple(lines))


def calibrated(table: GroupTable, groups: Groups, scores: Rows, label: Rows) -> GroupTable:
    """Add to a table of scores how often those with a score have the favourable label.

    Parameters
    ----------
    table, groups
        As in `judged`.
    scores : Rows
        ``(k,)``; probabilities of the favourable decision.
    label : Rows
        As in `judged`.
    """
    labelled = ~np.isnan(label)
    number = np.clip(np.ceil(scores[labelled] * BINS) - 1, 0, BINS - 1).astype(np.intp)
    place = groups.place[labelled] * BINS + number
    shape = (len(groups.values), BINS)

    def summed(weights: Rows | None = None) -> NDArray[np.float64]:
        summed = np.bincount(place, weights, minlength=shape[0] * BINS)
        return summed.reshape(shape).astype(np.float64)

    people, expected, observed = summed(), summed(scores[labelled]), summed(label[labelled])
    lines = []
    for line, *counts in zip(
        table.lines, people.tolist(), expected.tolist(), observed.tolist(), strict=True
    ):
        bins = tuple(
            Bin(i / BINS, (i + 1) / BINS, int(n), total / n, favourable / n)
            for i, (n, total, favourable) in enumerate(zip(*counts, strict=True))
            if n
        )
        lines.append(msgspec.structs.replace(line, calibration=bins))
    return msgspec.structs.replace(table, lines=tuple(lines))
