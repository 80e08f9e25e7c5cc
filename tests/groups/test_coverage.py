"""What TestSGD says it is sure of is so: counted in a thousand whole searches.

The model answers by a table, and everybody whom the search can ask about is listed, so the true
rates are known exactly. Coverage is a binomial count: it passes only where its exact lower bound
(99 %, one-sided) is not below what is stated. So chance may fail a search that is right; it lets
one that is wrong pass in 1 of 100 such simulations at most.
"""

from functools import cache

import numpy as np
import pytest

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.groups import testsgd
from fairdesk.groups.context import GroupContext
from fairdesk.groups.options import TestSgdOptions
from fairdesk.groups.statistics import Side, interval
from fairdesk.groups.tabular.rules import members
from fairdesk.results.events import Measured
from fairdesk.results.subgroups import RuleSet
from tests.individual.conftest import integer
from tests.sizes import many

REPETITIONS = many(1_500)
#: The paper's, of both sides' intervals together; and that of all rule sets' intervals together.
STATED, TOGETHER = 0.95**2, 0.95
#: One sample size; and stopping as soon as the margin is small enough, which here is soon. What is
#: fixed speaks of one attribute at a time, where each rule set has its complement beside it: so the
#: correction for both leaves room for what chance does to the simulation.
STOPPING = {
    "fixed": TestSgdOptions(sample_thr=60, error_thr=0.5, together=1),
    "sequential": TestSgdOptions(sample_thr=20, error_thr=0.2),
}


def listed(name, count, role=Role.VARIES):
    return Attribute(
        name,
        Kind.NOMINAL,
        tuple(f"{name} {i}" for i in range(count)),
        0.0,
        count - 1.0,
        role=role,
        compared=tuple(map(float, range(count))) if role is Role.PROTECTED else (),
    )


DOMAIN = Domain(
    (
        listed("sex", 2, Role.PROTECTED),
        listed("race", 2, Role.PROTECTED),
        integer("years", 0, 4),
        listed("job", 3),
    )
)


class Table:
    """A model that answers by a table: one lot in four is favourable, more of one sex's."""

    has_gradients = False

    def __init__(self):
        lots = np.random.default_rng(5).random((2, 2, 5, 3))
        self.favours = lots < np.array([0.15, 0.35])[:, None, None, None]

    def predict(self, rows):
        return self.favours[tuple(rows.astype(int).T)].astype(np.float32)[:, None]


def real_people(n=120):
    rng = np.random.default_rng(6)
    return np.column_stack(
        [rng.integers(0, 2, n) for _ in range(2)] + [rng.integers(0, 5, n), rng.integers(0, 3, n)]
    ).astype(float)


def true_rates(rows):
    """The rate of everybody who may be made of each real person, each as likely as it is made."""
    made = []
    for by in (-1, 1):
        older = rows.copy()
        older[:, 2] = np.clip(older[:, 2] + by, 0, 4)
        other = rows.copy()
        other[:, 3] = (other[:, 3] + by) % 3
        made += [older, other]
    return np.mean([Table().predict(each)[:, 0] for each in made], axis=0)


def study_of(rows, domain=DOMAIN, model=None):
    return GroupContext(
        domain=domain,
        rows=rows,
        groups=rows[:, :2],
        inside=np.ones(len(rows), dtype=bool),
        label=np.full(len(rows), np.nan),
        decided=np.full(len(rows), np.nan),
        model=model or Table(),
        favourable=1,
        decisions=("no", "yes"),
    )


@cache
def simulated(stopping):
    """Search again and again: the estimates and their ends ``(5, repetitions, R)``; the truth."""
    rows = real_people()
    study, rates = study_of(rows), true_rates(rows)
    told, order = [], None
    for seed in range(REPETITIONS):
        events = testsgd.search(study, rows, STOPPING[stopping], np.random.default_rng(seed))
        figures = [event for event in events if isinstance(event, Measured)][-1].figures
        sets = {each.conditions: each for each in figures if isinstance(each, RuleSet)}
        order = order or list(sets)
        assert sets.keys() == set(order)
        each = [sets[conditions] for conditions in order]
        told.append(
            [(s.phi_in - s.phi_out, s.score, s.margin, s.low, s.high, s.n_in) for s in each]
        )
    inside = [members(DOMAIN.grouping, rows[:, :2], conditions) for conditions in order]
    truth = np.array([rates[each].mean() - rates[~each].mean() for each in inside])
    return np.moveaxis(np.array(told), 2, 0), truth


# Further individuals: the rows are the sample, however many samples are made of each


FIRMS = 40
POPULATION = Domain(
    (
        listed("sex", 2, Role.PROTECTED),
        listed("race", 2, Role.PROTECTED),
        integer("years", 0, 4),
        listed("firm", FIRMS, Role.FIXED),
    )
)
#: So many rows does the auditor have; many samples of each, once and until a margin is reached.
FEW_ROWS = {
    "many": (40, TestSgdOptions(sample_thr=1_000, error_thr=0.5, together=1)),
    "sequential": (60, TestSgdOptions(sample_thr=30, error_thr=0.12, together=1)),
    "together": (150, TestSgdOptions(sample_thr=200, error_thr=0.5)),
}


class Firms:
    """A model that decides by sex and firm: all that is made of one row is decided alike."""

    has_gradients = False

    def __init__(self):
        lots = np.random.default_rng(9).random((2, FIRMS))
        self.favours = lots < np.array([0.2, 0.45])[:, None]

    def predict(self, rows):
        sex, firm = rows[:, [0, 3]].astype(int).T
        return self.favours[sex, firm].astype(np.float32)[:, None]


def true_gap(conditions):
    """The difference in the population, in which all combinations are equally likely."""
    sex, race, firm = (each.ravel() for each in np.meshgrid(*map(np.arange, (2, 2, FIRMS))))
    inside = members(POPULATION.grouping, np.column_stack([sex, race]).astype(float), conditions)
    rates = Firms().favours[sex, firm]
    return rates[inside].mean() - rates[~inside].mean()


@cache
def surveyed(case):
    """Draw a table from the population and search it, again and again.

    Of each: whether all its intervals hold the truth, whether they would at half their width, and
    whether those of so many independent samples would.
    """
    n, options = FEW_ROWS[case]
    held = []
    for seed in range(REPETITIONS):
        rng = np.random.default_rng(seed)
        rows = np.column_stack([rng.integers(0, each, n) for each in (2, 2, 5, FIRMS)])
        asked = study_of(rows.astype(float), POPULATION, Firms())
        events = testsgd.search(asked, asked.rows, options, rng)
        figures = [event for event in events if isinstance(event, Measured)][-1].figures
        sets = [each for each in figures if isinstance(each, RuleSet)]
        truth = np.array([true_gap(each.conditions) for each in sets])
        gap = np.array([each.phi_in - each.phi_out for each in sets])
        low, high = np.array([(each.low, each.high) for each in sets]).T
        samples = [
            Side(np.array([getattr(each, n) for each in sets], dtype=float), np.array(totals))
            for n, totals in (
                ("n_in", [each.phi_in * each.n_in for each in sets]),
                ("n_out", [each.phi_out * each.n_out for each in sets]),
            )
        ]
        naive = interval(*samples, 0.05 / len(sets))
        half = (gap + low) / 2, (gap + high) / 2
        held.append([((a <= truth) & (truth <= b)).all() for a, b in ((low, high), half, naive)])
    return np.array(held)


@pytest.mark.parametrize("case", FEW_ROWS)
def test_the_intervals_hold_the_differences_in_the_population_together(case):
    held, half, naive = surveyed(case).sum(axis=0)
    assert surely(held) >= TOGETHER
    # the simulation would see it otherwise
    assert surely(half) < TOGETHER
    assert naive < 0.8 * REPETITIONS


def surely(hits):
    """The least coverage that is not refuted by so many hits, one of a hundred times too high."""
    from scipy.stats import beta

    return beta.ppf(0.01, hits, REPETITIONS - hits + 1)


@pytest.mark.parametrize("stopping", STOPPING)
def test_the_papers_margin_holds_the_true_score(stopping):
    (_, score, margin, *_), truth = simulated(stopping)
    held = np.abs(score - np.abs(truth)) <= margin
    assert surely(held.sum(axis=0).min()) >= STATED


@pytest.mark.parametrize("stopping", STOPPING)
def test_the_intervals_hold_all_true_differences_together(stopping):
    (_, _, _, low, high, _), truth = simulated(stopping)
    held = ((low <= truth) & (truth <= high)).all(axis=1)
    assert surely(held.sum()) >= TOGETHER


@pytest.mark.parametrize("stopping", STOPPING)
def test_the_simulation_would_see_intervals_that_are_too_narrow(stopping):
    (gap, _, margin, low, high, _), truth = simulated(stopping)
    assert surely((np.abs(gap - truth) <= margin / 2).sum(axis=0).min()) < STATED
    middle, half = (low + high) / 2, (high - low) / 4
    assert surely((np.abs(middle - truth) <= half).all(axis=1).sum()) < TOGETHER


def test_the_second_simulation_does_stop_when_it_likes():
    (*_, fixed), _ = simulated("fixed")
    (*_, sequential), _ = simulated("sequential")
    # at one look sample sizes differ by the chance of who is drawn only
    assert (fixed.std(axis=0) < 20).all()
    assert (sequential.std(axis=0) > 20).sum() >= 3
