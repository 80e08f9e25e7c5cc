"""How often each group of real people gets the favourable outcome: observed in the data's rows.

Rate, impact ratio and four fifths: 29 CFR 1607.4(D). Who is too few to be compared: 6 RCNY 5-301.
The interval: Wilson 1927. NumPy alone: the window counts labels by itself. What needs more is in
`fairdesk.groups.metrics.significance` and `fairdesk.groups.metrics.error_rates`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Literal

import msgspec
import numpy as np

from fairdesk.data.domain.attributes import encode
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Table
from fairdesk.groups import statistics as testing
from fairdesk.groups.metrics.grouping import MOST_GROUPS, Division, Groups, Mask, cross, divide
from fairdesk.groups.options import LEAST_SHARE
from fairdesk.results.groups import GroupLine, GroupTable

#: The interval around a rate holds the true one in so many of a hundred samples.
CONFIDENCE = 0.95
#: A rate below this share of the highest is worth a look (29 CFR 1607.4(D)): a screening line.
FOUR_FIFTHS = Fraction(4, 5)


def outcomes(
    domain: Domain,
    table: Table,
    favourable_mask: Mask,
    known: Mask,
    *,
    of: Literal["label", "decisions"] = "label",
    outcome: str = "",
) -> tuple[GroupTable, ...]:
    """Count the outcomes of every protected attribute's groups, and of their intersections.

    Parameters
    ----------
    domain : Domain
        Its ``grouping`` attributes make the groups, as `fairdesk.groups.metrics.grouping.divide`
        says.
    favourable_mask, known : NDArray[np.bool_]
        ``(n,)``; whether a row has the favourable outcome, and whether it has one at all.
    of, outcome
        As of `GroupTable`.

    Returns
    -------
    tuple of GroupTable
        One per protected attribute; with several, one more of all together, unless that makes
        more than `MOST_GROUPS` groups. Nothing is tested.
    """
    codes = encode(domain.grouping, table).T
    divisions = [
        divide(attribute, each) for attribute, each in zip(domain.grouping, codes, strict=True)
    ]
    wanted: list[tuple[Division, ...]] = [(each,) for each in divisions]
    if len(divisions) > 1 and math.prod(each.size for each in divisions) <= MOST_GROUPS:
        wanted.append(tuple(divisions))
    return tuple(
        counted(
            cross(each, known),
            favourable_mask[known],
            of=of,
            outcome=outcome,
            without=int((~known).sum()),
        )
        for each in wanted
    )


def counted(
    groups: Groups,
    favourable_mask: Mask,
    *,
    of: Literal["label", "decisions", "scores"] = "label",
    outcome: str = "",
    without: int = 0,
    least_share: float = LEAST_SHARE,
) -> GroupTable:
    """Count the favourable outcomes of groups, and compare their rates.

    Parameters
    ----------
    groups : Groups
        The ``k`` people whose outcome is known, by groups.
    favourable_mask : NDArray[np.bool_]
        ``(k,)``; whether theirs is favourable.
    of, outcome, without
        As of `GroupTable`.
    least_share : float
        Groups with a smaller share of the people of known group are shown, and not compared.
    """
    people, favourable = groups.count().tolist(), groups.count(favourable_mask).tolist()
    known = groups.known.tolist()
    everybody = sum(n for n, so in zip(people, known, strict=True) if so)
    all_people = sum(people)
    total = sum(s for s, so in zip(favourable, known, strict=True) if so)
    # exact: two hundredths of 350 people are 7, not a hair more
    least = Fraction(str(least_share)) * everybody
    lines = []
    for values, codes, so, n, s in zip(
        groups.values, groups.codes, known, people, favourable, strict=True
    ):
        low, high = wilson(s, n) if n else (0.0, 1.0)
        whole = everybody if so else all_people
        lines.append(
            GroupLine(
                values=values,
                codes=codes,
                known=so,
                n_samples=n,
                share=n / whole if whole else 0.0,
                favourable=s,
                rate=s / n if n else None,
                low=low,
                high=high,
                excluded=so and n < least,
                shortfall=n * total / everybody - s if so and everybody else None,
            )
        )
    return GroupTable(
        of=of,
        outcome=outcome,
        attributes=groups.attributes,
        n_samples=everybody,
        unknown=all_people - everybody,
        without=without,
        favourable=total,
        reference=_highest(lines),
        lines=_screened(lines),
    )


def newcombe(one: tuple[int, int], other: tuple[int, int]) -> tuple[float, float]:
    """Return Newcombe's interval (95 %) of the difference of two shares, each of ``(k, n)``.

    From both Wilson intervals: method 10 of Newcombe, Statistics in Medicine 17 (1998).
    """
    (p, low, high), (q, least, most) = ((k / n, *wilson(k, n)) for k, n in (one, other))
    return p - q - math.hypot(p - low, most - q), p - q + math.hypot(high - p, q - least)


def _comparable(line: GroupLine) -> bool:
    return line.known and line.n_samples > 0 and not line.excluded


def _highest(lines: Sequence[GroupLine]) -> int:
    """Find the group with the highest rate, of equals the first; -1 where there is none."""
    rates = [(line.rate or 0.0) if _comparable(line) else -1.0 for line in lines]
    return rates.index(max(rates)) if max(rates, default=-1.0) >= 0 else -1


def _screened(lines: Sequence[GroupLine]) -> tuple[GroupLine, ...]:
    """Compare each group's rate with the highest, and look whether one person decides that."""
    rates = [
        Fraction(line.favourable, line.n_samples) if _comparable(line) else None for line in lines
    ]
    best, second = sorted((Fraction(0), Fraction(0), *filter(None, rates)), reverse=True)[:2]
    return tuple(
        line if rate is None or not best else _against(line, rate, second if rate == best else best)
        for line, rate in zip(lines, rates, strict=True)
    )


def _against(line: GroupLine, rate: Fraction, others: Fraction) -> GroupLine:
    """Compare a group's rate with the highest of the ``others``, or its own if that is higher."""
    below = _below(rate, others)
    one = Fraction(1, line.n_samples)
    near = {_below(each, others) for each in (rate - one, rate + one) if 0 <= each <= 1}
    return msgspec.structs.replace(
        line, impact_ratio=float(rate / max(rate, others)), below=below, flips=(not below) in near
    )


def _below(rate: Fraction, others: Fraction) -> bool | None:
    highest = max(rate, others)
    return rate < FOUR_FIFTHS * highest if highest else None


def wilson(k: int, n: int) -> tuple[float, float]:
    """Return Wilson's interval (1927, 95 %) for a rate of ``k`` in ``n`` rows."""
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    (low,), (high,) = testing.wilson(*(np.array([float(each)]) for each in (k, n, z)))
    return float(low), float(high)
