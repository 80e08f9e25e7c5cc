"""How sure it is that a group fares otherwise than the one that fares best.

The tests are those of employment cases: the pooled two-proportion Z (Hazelwood School District v.
United States, 433 U.S. 299), and Fisher's where a cell is expected to hold fewer than five.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.groups.metrics.outcomes import CONFIDENCE
from fairdesk.groups.statistics import holm
from fairdesk.results.groups import GroupLine, GroupTable

Counts = NDArray[np.int64]

#: With fewer expected in a cell than this, Z is not to be relied on.
_LEAST_EXPECTED = 5
#: Two tables are equally probable when their probabilities differ by no more than rounding does.
_ROUNDED = 1e-7


def compared(table: GroupTable) -> GroupTable:
    """Compare every group's rate with the reference's.

    Groups too small for an impact ratio are compared too: the tests know how few they are. No
    test is made where nobody of both groups has the favourable outcome, or everybody.

    Returns
    -------
    GroupTable
        With differences and Newcombe's intervals for them (method 10 of Newcombe 1998), and with
        p-values, each by itself and by Holm (1979) for all tests of the table. That the reference
        is the group that turned out best is not corrected for.
    """
    others = [
        i
        for i, line in enumerate(table.lines)
        if line.known and line.n_samples and i != table.reference
    ]
    if table.reference < 0 or not others:
        return table
    best = table.lines[table.reference]
    people = np.array([table.lines[i].n_samples for i in others])
    favourable = np.array([table.lines[i].favourable for i in others])
    found = _differences(favourable, people, best)
    tests = _tests(favourable, people, best)
    lines = list(table.lines)
    for place, difference, test in zip(others, found, tests, strict=True):
        lines[place] = msgspec.structs.replace(lines[place], **difference, **test)
    return msgspec.structs.replace(table, lines=tuple(lines))


def _differences(favourable: Counts, people: Counts, best: GroupLine) -> list[dict[str, float]]:
    from statsmodels.stats.proportion import (  # noqa: PLC0415 - runs in the guest alone
        confint_proportions_2indep,
    )

    # it divides by odds too, which nobody asked for
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = confint_proportions_2indep(
            favourable,
            people,
            best.favourable,
            best.n_samples,
            method="newcomb",
            compare="diff",
            alpha=1 - CONFIDENCE,
        )
    rates = favourable / people - best.favourable / best.n_samples
    return [
        {"difference": difference, "difference_low": below, "difference_high": above}
        for difference, below, above in zip(
            rates.tolist(), np.clip(low, -1, 1).tolist(), np.clip(high, -1, 1).tolist(), strict=True
        )
    ]


def _tests(
    favourable: Counts, people: Counts, best: GroupLine
) -> list[dict[str, str | float | None]]:
    """Test each group against the reference: the name of the test, Z, p, and p by Holm."""
    from statsmodels.stats.proportion import test_proportions_2indep  # noqa: PLC0415 - see above

    everybody, successes = people + best.n_samples, favourable + best.favourable
    rare = np.minimum(successes, everybody - successes)
    few = rare * np.minimum(people, best.n_samples) < _LEAST_EXPECTED * everybody
    tested = rare > 0
    tests: list[dict[str, str | float | None]] = [{} for _ in people]
    if (usual := np.flatnonzero(tested & ~few)).size:
        with np.errstate(divide="ignore", invalid="ignore"):
            # the score test of no difference is the pooled one
            answer = test_proportions_2indep(
                favourable[usual],
                people[usual],
                best.favourable,
                best.n_samples,
                method="score",
                compare="diff",
                correction=False,
            )
        for place, z, p in zip(
            usual.tolist(), answer.statistic.tolist(), answer.pvalue.tolist(), strict=True
        ):
            tests[place] = {"test": "Z", "z": z, "p": p}
    for place in np.flatnonzero(tested & few).tolist():
        p = mid_p(int(favourable[place]), int(people[place]), best.favourable, best.n_samples)
        tests[place] = {"test": "Fisher mid-p", "p": p}
    made = [test for test in tests if test]
    if made:
        corrected = holm(np.array([test["p"] for test in made]), len(made))
        for test, p in zip(made, corrected.tolist(), strict=True):
            test["holm"] = p
    return tests


def mid_p(favourable: int, n_samples: int, other_favourable: int, other_people: int) -> float:
    """Return the two-sided mid-p-value of Fisher's exact test for two groups.

    The probability of all tables less probable than the one at hand, and half of that of those as
    probable (Lancaster 1961; Lydersen, Fagerland and Laake 2009): Fisher's own is too cautious,
    because few p-values are possible with few people.
    """
    from scipy.stats import hypergeom  # noqa: PLC0415 - runs in the guest alone

    everybody, successes = n_samples + other_people, favourable + other_favourable
    possible = np.arange(max(0, successes - other_people), min(n_samples, successes) + 1)
    probability = hypergeom.pmf(possible, everybody, successes, n_samples)
    observed = probability[favourable - possible[0]]
    less = probability[probability < observed * (1 - _ROUNDED)].sum()
    alike = probability[np.abs(probability - observed) <= observed * _ROUNDED].sum()
    return float(min(1.0, less + alike / 2))
