"""How sure it is that a group's rate differs from that of the reference group.

The tests are those of employment cases: the pooled two-proportion Z (Hazelwood School District v.
United States, 433 U.S. 299), and Fisher's where a cell is expected to hold fewer than five.
"""

from __future__ import annotations

import math
from typing import Literal

import msgspec
import numpy as np

from fairdesk.groups.statistics import holm, wilson_ends
from fairdesk.results.groups import GroupLine, GroupTable

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
