"""How far the groups of one attribute are apart: in favourable rates, and in error rates.

Each figure is about the two groups that are farthest apart, so it must not be treated as if these
had been known beforehand. Its interval is made of those of all pairs of groups, which hold together
(Bonferroni): the greatest difference is at least the greatest lower end, and at most the greatest
upper one. Of differences they are Newcombe's (Statistics in Medicine 17, 1998, method 10); of
ratios those of A. Donner and G. Y. Zou, "Closed-Form Confidence Intervals for Functions of the
Normal Mean and Standard Deviation", Statistical Methods in Medical Research 21, 2012, from Wilson's
for each rate. Groups with fewer than two hundredths of the rows are left out (6 RCNY 5-301).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fairdesk.groups.metrics.group_table import counted
from fairdesk.groups.metrics.grouping import cross, divide
from fairdesk.groups.statistics import Side, interval, wilson
from fairdesk.mitigate.context import MitigationContext
from fairdesk.mitigate.measures.differences import (
    ALPHA,
    Contenders,
    Ends,
    Mask,
    Numbers,
    greatest_change,
    resampled,
)

Gap = Literal["impact_ratio", "rate_gap", "error_gap"]
GAPS: tuple[Gap, ...] = ("impact_ratio", "rate_gap", "error_gap")

#: Ratios are told apart up to this.
_MOST_RATIO = 2.0


@dataclass(frozen=True, slots=True)
class Grouped:
    """Rows by the groups of one attribute that are compared.

    Attributes
    ----------
    name : str
        The attribute.
    groups : tuple[NDArray[np.intp], ...]
        Of each group its rows' places.
    """

    name: str
    groups: tuple[NDArray[np.intp], ...]

    @property
    def people(self) -> int:
        """How many rows are compared."""
        return sum(map(len, self.groups))


def grouped(mitigation: MitigationContext, places: NDArray[np.intp]) -> tuple[Grouped, ...]:
    """Divide the rows at some places of the table by each attribute that tells groups apart."""
    everybody = np.ones(len(places), dtype=np.bool_)
    found = []
    for attribute, codes in zip(
        mitigation.domain.grouping, mitigation.groups[places].T, strict=True
    ):
        edges = mitigation.edges.get(attribute.name, ())
        groups = cross([divide(attribute, codes, edges)], everybody)
        lines = counted(groups, ~everybody).lines
        kept = tuple(
            np.flatnonzero(groups.place == place)
            for place, line in enumerate(lines)
            if line.known and line.n_samples and not line.excluded
        )
        found.append(Grouped(attribute.name, kept))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Gaps:
    """What is measured of one attribute's groups.

    Attributes
    ----------
    estimates : dict
        From what is measured to the figure; ``None`` where it is undefined.
    ends : dict
        To its 95 % interval.
    """

    estimates: dict[Gap, float | None]
    ends: dict[Gap, Ends]


def gaps(grouped: Grouped, favourable_mask: Mask, label: Mask) -> Gaps:
    """Measure how far groups are apart.

    Parameters
    ----------
    grouped : Grouped
        Of the ``n`` rows.
    favourable_mask, label : NDArray[np.bool_]
        ``(n,)``; whether the decision is favourable, and whether the label is.
    """
    if len(grouped.groups) < 2:
        return Gaps(dict.fromkeys(GAPS), dict.fromkeys(GAPS, (None, None)))
    rows = _rows(favourable_mask, label)
    sums = np.array([rows[places].sum(axis=0) for places in grouped.groups])
    people = np.array([float(len(places)) for places in grouped.groups])
    found = _figures(sums / people[:, None])
    favourable, positive, hits = sums.T
    pairs = [_pairs(hits, positive), _pairs(favourable - hits, people - positive)]
    ends: dict[Gap, tuple[float, float]] = {
        "impact_ratio": _ratio_ends(favourable, people),
        "rate_gap": _difference_ends([_pairs(favourable, people)]),
        "error_gap": _difference_ends(pairs),
    }
    gaps_found = Gaps(dict.fromkeys(GAPS), dict.fromkeys(GAPS, (None, None)))
    for what in GAPS:
        if not np.isnan(found[what]):
            estimate = gaps_found.estimates[what] = float(found[what])
            low, high = ends[what]
            # last bits must not keep an estimate from its own interval
            gaps_found.ends[what] = min(low, estimate), max(high, estimate)
    return gaps_found


def gap_changes(
    grouped: Grouped, after: Mask, before: Mask, label: Mask, rng: np.random.Generator, alpha: float
) -> dict[Gap, tuple[Ends, float]]:
    """Compare the figures of two models: the interval of each difference, and p.

    Parameters
    ----------
    grouped : Grouped
        Of the ``n`` rows; of two groups or more, each of which is resampled by itself.
    after, before : NDArray[np.bool_]
        ``(n,)``; whether each of the two decides favourably.
    label : NDArray[np.bool_]
        ``(n,)``.
    alpha : float
        The error that an interval may make.
    """
    both = np.concatenate([_rows(after, label), _rows(before, label)], axis=1)
    found = np.stack([both[places].mean(axis=0) for places in grouped.groups])
    drawn = np.stack([resampled(both[places], rng) for places in grouped.groups], axis=1)
    changes: dict[Gap, tuple[Ends, float]] = {}
    for what in GAPS:
        new, old = (
            Contenders(_contenders(what, found[..., half]), _contenders(what, drawn[..., half]))
            for half in (slice(3), slice(3, None))
        )
        (low, high), p = greatest_change(new, old, alpha)
        if what == "impact_ratio" and low is not None and high is not None:
            # the least ratio is the greatest below nought
            low, high = -high, -low
        ends: Ends = (None, None)
        if low is not None and high is not None:
            ends = max(low, -1.0), min(high, 1.0)
        changes[what] = ends, p
    return changes


def _contenders(what: Gap, means: Numbers) -> Numbers:
    """Return what a figure is the greatest of, from ``(..., K, 3)`` means: of every two groups."""
    rate, positive, hits = np.moveaxis(means, -1, 0)
    one, other = (~np.eye(rate.shape[-1], dtype=np.bool_)).nonzero()
    with np.errstate(divide="ignore", invalid="ignore"):
        if what == "rate_gap":
            return np.asarray(rate[..., one] - rate[..., other])
        if what == "impact_ratio":
            ratio = rate[..., one] / rate[..., other]
            # nobody of both is as many of both; what is above one is never the least
            return -np.minimum(np.where(np.isnan(ratio), 1.0, ratio), _MOST_RATIO)
        errors = (hits / positive, (rate - hits) / (1 - positive))
        apart = np.concatenate([each[..., one] - each[..., other] for each in errors], axis=-1)
    return np.where(np.isfinite(apart), apart, -1.0)


def _rows(favourable_mask: Mask, label: Mask) -> Numbers:
    """``(n, 3)``; favourable, should be, both."""
    return np.column_stack([favourable_mask, label, favourable_mask & label]).astype(np.float64)


def _figures(means: Numbers) -> dict[Gap, Numbers]:
    """Make the figures of ``(..., K, 3)`` means of the groups' rows: ``(...)`` each."""
    rate, positive, hits = np.moveaxis(means, -1, 0)
    highest = rate.max(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = rate.min(axis=-1) / highest
        errors = [_range(hits / positive), _range((rate - hits) / (1 - positive))]
    return {
        "impact_ratio": ratio,
        "rate_gap": highest - rate.min(axis=-1),
        "error_gap": np.fmax(*errors),
    }


def _range(rates: Numbers) -> Numbers:
    """Return the greatest difference of those that are known; NaN of fewer than two."""
    several = np.isfinite(rates).sum(axis=-1) > 1
    rates = np.where(np.isfinite(rates), np.clip(rates, 0.0, 1.0), np.nan)
    greatest = np.fmax.reduce(rates, axis=-1) - np.fmin.reduce(rates, axis=-1)
    return np.where(several, greatest, np.nan)


def _pairs(hits: Numbers, people: Numbers) -> tuple[Side, Side]:
    """Set every two groups with anybody side by side."""
    hits, people = hits[people > 0], people[people > 0]
    one, other = np.triu_indices(len(people), 1)
    return Side(people[one], hits[one]), Side(people[other], hits[other])


def _difference_ends(families: Sequence[tuple[Side, Side]]) -> tuple[float, float]:
    """Return between what the greatest difference of all pairs lies."""
    one, other = (
        Side(
            np.concatenate([each.n for each in sides]),
            np.concatenate([each.total for each in sides]),
        )
        for sides in zip(*families, strict=True)
    )
    low, high = interval(one, other, ALPHA / max(1, len(one.n)))
    least = np.maximum(low, -high).max(initial=0.0)
    return float(least), float(np.maximum(-low, high).max(initial=0.0))


def _ratio_ends(hits: Numbers, people: Numbers) -> tuple[float, float]:
    """Return between what the least ratio of all pairs lies, the lower rate by the higher one."""
    from scipy.special import ndtri  # noqa: PLC0415 - slow to import, runs in the guest alone

    one, other = _pairs(hits, people)
    z = np.full(len(one.n), -ndtri(ALPHA / len(one.n) / 2))
    (low_one, high_one), (low_other, high_other) = (
        wilson(side.total, side.n, z) for side in (one, other)
    )
    p, q = one.mean, other.mean
    whole = p * q
    above = low_one * (2 * p - low_one)
    below = low_other * (2 * q - low_other)
    root = np.sqrt(np.maximum(whole**2 - above * high_other * (2 * q - high_other), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(above > 0, above / (whole + root), 0.0)
        root = np.sqrt(np.maximum(whole**2 - high_one * (2 * p - high_one) * below, 0.0))
        high = np.where(below > 0, (whole + root) / below, np.inf)
        least = np.minimum(low, 1 / high)
        most = np.where((low <= 1) & (high >= 1), 1.0, np.where(high < 1, high, 1 / low))
    return float(least.min()), float(most.min())
