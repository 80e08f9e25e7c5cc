"""The table of one attribute's groups: rates, impact ratios, tests, error rates and calibration.

Rate, impact ratio and four fifths: 29 CFR 1607.4(D). Which groups are too small to be compared:
6 RCNY 5-301. The interval: Wilson 1927. NumPy alone: the window counts labels by itself.

The tests are those of employment cases: the pooled two-proportion Z (Hazelwood School District v.
United States, 433 U.S. 299), and Fisher's where a cell is expected to hold fewer than five.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import encode
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Table
from fairdesk.groups.metrics.grouping import MOST_GROUPS, Division, Groups, Mask, cross, divide
from fairdesk.groups.options import FOUR_FIFTHS, LARGE_SHARE, LEAST_ROWS, LEAST_SHARE
from fairdesk.groups.statistics import holm, wilson_ends
from fairdesk.results.events import Rows
from fairdesk.results.groups import Bin, GroupLine, GroupTable

#: How Fisher's test counts the tables that are as probable as the one at hand: half, or whole.
SmallTest = Literal["mid-p", "exact"]
#: With fewer expected in a cell than this, Z is not to be relied on.
_LEAST_EXPECTED = 5
#: Two tables are equally probable when their probabilities differ by no more than rounding does.
_ROUNDED = 1e-7


def compared(table: GroupTable, small: SmallTest = "mid-p") -> GroupTable:
    """Compare every group's rate with the reference's.

    Groups too small for an impact ratio are compared too: the tests know how few they are. No
    test is made where nobody of both groups has the favourable outcome, or everybody.

    Returns
    -------
    GroupTable
        With differences and Newcombe's intervals for them, and with p-values, each by itself and
        by Holm (1979) for all tests of the table. That the reference may be chosen for its high
        rate is not corrected for.
    """
    others = [
        place
        for place, line in enumerate(table.lines)
        if line.known and line.n_samples and place != table.reference
    ]
    if table.reference < 0 or not others:
        return table
    best, lines = table.lines[table.reference], list(table.lines)
    for place in others:
        lines[place] = _against(lines[place], best, small)
    tested = [place for place in others if lines[place].test]
    corrected = holm(np.array([lines[place].p for place in tested]), len(tested)).tolist()
    for place, p in zip(tested, corrected, strict=True):
        lines[place] = msgspec.structs.replace(lines[place], holm=p)
    return msgspec.structs.replace(table, lines=tuple(lines))


def newcombe(one: tuple[int, int], other: tuple[int, int]) -> tuple[float, float]:
    """Return Newcombe's interval (95 %) of the difference of two shares, each of ``(k, n)``.

    From both Wilson intervals: method 10 of Newcombe, Statistics in Medicine 17 (1998).
    """
    (p, low, high), (q, least, most) = ((k / n, *wilson_ends(k, n)) for k, n in (one, other))
    return p - q - math.hypot(p - low, most - q), p - q + math.hypot(high - p, q - least)


def _against(line: GroupLine, best: GroupLine, small: SmallTest) -> GroupLine:
    """Return a group with its difference from the reference, and a test of it."""
    own, its = (line.favourable, line.n_samples), (best.favourable, best.n_samples)
    low, high = newcombe(own, its)
    line = msgspec.structs.replace(
        line,
        difference=own[0] / own[1] - its[0] / its[1],
        difference_low=max(low, -1.0),
        difference_high=min(high, 1.0),
    )
    everybody, successes = own[1] + its[1], own[0] + its[0]
    rare = min(successes, everybody - successes)
    if not rare:
        return line
    if rare * min(own[1], its[1]) < _LEAST_EXPECTED * everybody:
        p = fisher(*own, *its, small)
        return msgspec.structs.replace(line, test=f"Fisher {small}", p=p)
    rate = successes / everybody
    error = math.sqrt(rate * (1 - rate) * (1 / own[1] + 1 / its[1]))
    z = (own[0] / own[1] - its[0] / its[1]) / error
    return msgspec.structs.replace(line, test="Z", z=z, p=math.erfc(abs(z) / math.sqrt(2)))


def fisher(
    favourable: int,
    n_samples: int,
    other_favourable: int,
    other_people: int,
    small: SmallTest = "mid-p",
) -> float:
    """Return the two-sided p-value of Fisher's exact test for two groups.

    The probability of all tables less probable than the one at hand, and of those as probable:
    the whole of that by the exact test, half of it by its mid-p-value (Lancaster 1961; Lydersen,
    Fagerland and Laake 2009). The exact one is cautious: few p-values are possible with few people.
    """
    everybody, successes = n_samples + other_people, favourable + other_favourable
    least = max(0, successes - other_people)
    possible = np.arange(least, min(n_samples, successes) + 1, dtype=np.float64)
    before, after = possible[:-1], possible[1:]
    steps = np.log((n_samples - before) * (successes - before))
    steps -= np.log(after * (everybody - n_samples - successes + after))
    weights = np.concatenate([[0.0], np.cumsum(steps)])
    probability = np.exp(weights - weights.max())
    probability /= probability.sum()
    observed = probability[favourable - least]
    alike = np.abs(probability - observed) <= observed * _ROUNDED
    less = probability[(probability < observed) & ~alike].sum()
    share = 0.5 if small == "mid-p" else 1.0
    return float(min(1.0, less + share * probability[alike].sum()))


def outcomes(
    domain: Domain,
    table: Table,
    favourable_mask: Mask,
    known: Mask,
    *,
    of: Literal["label", "decisions"] = "label",
    outcome: str = "",
    references: Mapping[tuple[str, ...], tuple[str, ...]] = MappingProxyType({}),
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
    references : mapping
        By attributes, as of `counted`: the groups with which others are compared.

    Returns
    -------
    tuple of GroupTable
        One per protected attribute; with several, one more of all together, unless that makes
        more than `MOST_GROUPS` groups.
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
            reference=references.get(tuple(part.name for part in each), ()),
        )
        for each in wanted
    )


def references_of(tables: Iterable[GroupTable]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return with which group others are compared in tables, by their attributes."""
    return {
        each.attributes: each.lines[each.reference].values for each in tables if each.reference >= 0
    }


def counted(
    groups: Groups,
    favourable_mask: Mask,
    *,
    of: Literal["label", "decisions", "scores"] = "label",
    outcome: str = "",
    without: int = 0,
    least_share: float = LEAST_SHARE,
    reference: tuple[str, ...] = (),
    small: SmallTest = "mid-p",
) -> GroupTable:
    """Count the favourable outcomes of groups, and compare their rates with the reference's.

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
    reference : tuple[str, ...]
        The values of the group with which others are compared, chosen in another table of the same
        attributes: all of their tables have the same. Where it is not given, or not to be
        compared here, `chosen_reference` chooses.
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
        low, high = wilson_ends(s, n) if n else (0.0, 1.0)
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
    place = next((i for i, each in enumerate(lines) if each.values == reference), -1)
    if place < 0 or not _comparable(lines[place]) or not lines[place].favourable:
        place = chosen_reference(lines)
    table = GroupTable(
        of=of,
        outcome=outcome,
        attributes=groups.attributes,
        n_samples=everybody,
        unknown=all_people - everybody,
        without=without,
        favourable=total,
        reference=place,
        lines=_screened(lines, place),
    )
    return compared(table, small)


def chosen_reference(lines: Sequence[GroupLine]) -> int:
    """Choose the group with which others are compared; -1 where there is none.

    Of the groups that are compared those of at least `LEAST_ROWS` rows, if there are any. Of them
    the one with the highest rate, of equals the largest, where it has at least `LARGE_SHARE` of the
    people of known group; else the largest one: the rate of a few people is no standard for others.
    """
    places = [i for i, line in enumerate(lines) if _comparable(line)]
    places = [i for i in places if lines[i].n_samples >= LEAST_ROWS] or places
    highest = max(places, key=lambda i: (lines[i].rate or 0.0, lines[i].n_samples), default=-1)
    if highest < 0 or lines[highest].share >= LARGE_SHARE:
        return highest
    return max(places, key=lambda i: (lines[i].n_samples, lines[i].favourable))


def _comparable(line: GroupLine) -> bool:
    return line.known and line.n_samples > 0 and not line.excluded


def _screened(lines: Sequence[GroupLine], reference: int) -> tuple[GroupLine, ...]:
    """Compare each group's rate with the reference's, and look whether one person decides that."""
    if reference < 0 or not lines[reference].favourable:
        return tuple(lines)
    best = lines[reference]
    limit = FOUR_FIFTHS * Fraction(best.favourable, best.n_samples)
    screened = []
    for line in lines:
        if not _comparable(line):
            screened.append(line)
            continue
        # the reference is compared with itself, whatever its rate
        near = () if line is best else (line.favourable - 1, line.favourable + 1)
        rate, n = Fraction(line.favourable, line.n_samples), line.n_samples
        below = rate < limit
        flips = any((Fraction(s, n) < limit) is not below for s in near if 0 <= s <= n)
        ratio = float(rate / Fraction(best.favourable, best.n_samples))
        screened.append(msgspec.structs.replace(line, impact_ratio=ratio, below=below, flips=flips))
    return tuple(screened)


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
