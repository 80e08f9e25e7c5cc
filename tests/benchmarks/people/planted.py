"""Planted truth: models whose biased group is known, and what each method finds of it.

A population whose attributes depend on one another is drawn, a decision is made of income, debt
and years, and in one planted group it is turned against some values of a protected attribute. A
network is trained on that. What it then does is enumerated for individuals drawn afresh: that is
the truth with which searches, rules and rates are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.neural_network import MLPClassifier

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.groups import testsgd
from fairdesk.groups.metrics import measuring
from fairdesk.groups.options import MeasureOptions, TestSgdOptions
from fairdesk.models.model import Mapping, labels
from fairdesk.population.plausible import Criterion
from fairdesk.results.events import Event, Measured, Metric, Rows, Scores
from fairdesk.results.groups import GroupTable
from fairdesk.results.subgroups import RuleSet
from tests.benchmarks.people.pairs import SEARCHES, searched
from tests.groups.studies import nominal, study

SEX, RACE = nominal("sex", "fm", Role.PROTECTED), nominal("race", "abc", Role.PROTECTED)
REGION = nominal("region", "nesw")
AGE = Attribute("age", Kind.INTEGER, (), 18.0, 80.0)
INCOME, DEBT = (Attribute(name, Kind.INTEGER, (), 0.0, 100.0) for name in ("income", "debt"))
YEARS = Attribute("years", Kind.INTEGER, (), 0.0, 50.0)
DOMAIN = Domain((SEX, RACE, REGION, AGE, INCOME, DEBT, YEARS))
#: Rows of the table that is audited, and individuals drawn afresh.
ROWS, FRESH = 5_000, 20_000
#: Of what is surely another rate.
LEVEL = 0.05
#: Tables, models and searches of each bias; what is printed is their mean.
SEEDS = 3
Mask = NDArray[np.bool_]


class Planted(NamedTuple):
    """A planted bias.

    Attributes
    ----------
    where : callable
        Tells of ``(n, d)`` rows who is in the group, whatever their protected values.
    against : callable
        Tells who of the group is refused.
    """

    where: Callable[[Rows], Mask]
    against: Callable[[Rows], Mask]


PLANTED = {
    "women": Planted(lambda rows: np.ones(len(rows), bool), lambda rows: rows[:, 0] == 0),
    "race c, in the west": Planted(lambda rows: rows[:, 2] == 3, lambda rows: rows[:, 1] == 2),
    "women of race b, over 50": Planted(
        lambda rows: rows[:, 3] > 50, lambda rows: (rows[:, 0] == 0) & (rows[:, 1] == 1)
    ),
    "women, south, high debt": Planted(
        lambda rows: (rows[:, 2] == 2) & (rows[:, 5] > 50), lambda rows: rows[:, 0] == 0
    ),
}


def population(n: int, seed: int) -> Rows:
    """Draw individuals: income grows with age and years, debt with income, regions differ."""
    rng = np.random.default_rng(seed)
    sex, region = rng.integers(0, 2, n), rng.choice(4, n, p=(0.4, 0.3, 0.2, 0.1))
    race = np.where(rng.random(n) < 0.3 + 0.1 * region, rng.integers(1, 3, n), 0)
    age = rng.normal(44, 14, n)
    years = age - 20 - rng.exponential(6, n)
    income = 0.9 * years + 25 + 6 * (region == 0) + rng.normal(0, 10, n)
    debt = 0.8 * income + rng.normal(8, 14, n)
    return DOMAIN.clip(np.column_stack([sex, race, region, age, income, debt, years]))


class Trained:
    """A network trained on the decisions of a population with a planted bias."""

    has_gradients = True

    def __init__(self, planted: Planted, seed: int) -> None:
        rows = population(30_000, 3 * seed)
        good = rows[:, 4] + 0.4 * rows[:, 6] - 0.5 * rows[:, 5] > 18
        good &= ~(planted.where(rows) & planted.against(rows))
        self._net = MLPClassifier((24, 12), max_iter=60, tol=1e-3, random_state=seed)
        self._net.fit(_inputs(rows), good)

    def predict(self, rows: Rows) -> Scores:
        """Return the probability of the favourable decision, ``(n, 1)``."""
        return self._net.predict_proba(_inputs(rows))[:, 1:].astype(np.float32)

    def gradients(self, rows: Rows, column: NDArray[np.intp]) -> Rows:
        """Return the gradient of the score, ``(n, d)``; of names that between their numbers."""
        step = 1e-3
        moved = np.repeat(rows[:, None], rows.shape[1], axis=1)
        moved[:, np.arange(rows.shape[1]), np.arange(rows.shape[1])] += step
        there = self._net.predict_proba(_inputs(moved.reshape(-1, rows.shape[1])))[:, 1]
        here = self._net.predict_proba(_inputs(rows))[:, 1:]
        return np.asarray((there.reshape(len(rows), -1) - here) / step)


def _inputs(rows: Rows) -> Rows:
    return (rows - DOMAIN.low) / (DOMAIN.high - DOMAIN.low) * 4 - 2


def flips(model: Trained, rows: Rows) -> Mask:
    """Return whose decision changes with a protected attribute: every member is asked."""
    members = DOMAIN.similar(rows)
    decided = labels(model.predict(members.reshape(-1, rows.shape[1])))
    decided = decided.reshape(members.shape[:2])
    return np.asarray((decided != decided[:, :1]).any(axis=1))


def kinds(rows: Rows) -> NDArray[np.intp]:
    """Return the kind of each individual, ``(n,)``: region, decade of age, third of the debts."""
    return np.asarray((rows[:, 2] * 100 + rows[:, 3] // 10 * 10 + rows[:, 5] // 34).astype(int))


HEAD = f"  {'method':<18}{'found':>8}{'precision':>11}{'recall':>8}{'least':>9}{'most':>8}"


def worst_rules(model: Trained, people: Rows, fresh: Rows) -> Mask:
    """Return who is in the subgroup with the highest score of those that fare worse (TestSGD)."""
    rng = np.random.default_rng(0)
    asked = study(lambda rows: model.predict(rows)[:, 0], people, DOMAIN)
    found = [
        each
        for each in _figures(testsgd.search(asked, people, TestSgdOptions(), rng))
        if isinstance(each, RuleSet) and each.phi_in < each.phi_out and each.p < LEVEL
    ]
    inside = np.zeros(len(fresh), dtype=bool)
    if found:
        inside[:] = True
        for each in max(found, key=lambda each: each.score).conditions:
            inside &= np.isin(fresh[:, DOMAIN.names.index(each.attribute)], each.codes)
    return inside


def worst_rates(model: Trained, people: Rows, fresh: Rows) -> Mask:
    """Return who is in the group with the lowest impact ratio of those that differ for sure."""
    rng = np.random.default_rng(0)
    asked = study(lambda rows: model.predict(rows)[:, 0], people, DOMAIN)
    # a model that takes any row, and of which the decisions are measured only
    asked.model.mapping = Mapping((), "by name", 1)
    asked.model.opened = SimpleNamespace(card=SimpleNamespace(can=()))
    found = [
        (line.impact_ratio, each.attributes, line.codes)
        for each in _figures(measuring.search(asked, people, MeasureOptions(), rng))
        if isinstance(each, GroupTable) and each.of == "decisions"
        for line in each.lines
        if line.impact_ratio is not None and not line.excluded and (line.holm or 0.0) < LEVEL
    ]
    found = [each for each in found if each[0] < 1]
    inside = np.zeros(len(fresh), dtype=bool)
    if found:
        _, names, codes = min(found)
        places = [DOMAIN.names.index(name) for name in names]
        inside = (fresh[:, places] == codes).all(axis=1)
    return inside


def _figures(events: Iterator[Event]) -> tuple[Metric, ...]:
    return [each for each in events if isinstance(each, Measured)][-1].figures


class Line(NamedTuple):
    """What a method found of a planted bias."""

    found: int
    precision: float
    recall: float


def table(queries: int, seconds: float) -> None:
    """Print of every planted bias and method what it found, the mean over `SEEDS`.

    Of searches, precision is the share of pairs in the planted group, and recall the share of the
    individuals drawn afresh whose decision changes in that group of whose kind a pair was found. Of
    rules and rates, those of the individuals refused: within the worst group that is named. Beside
    the mean of the recall, its least and its greatest.
    """
    for name, planted in PLANTED.items():
        changed, lines = [], []
        for seed in range(SEEDS):
            model, fresh = Trained(planted, seed), population(FRESH, 3 * seed + 2)
            flip = flips(model, fresh)
            changed.append(((flip & planted.where(fresh)).mean(), flip.mean()))
            lines.append(_lines(planted, model, fresh, seed, (queries, seconds)))
        inside, every = np.mean(changed, axis=0)
        print(
            f"\n{name}: the decision of {inside:.2%} changes within the planted group, "
            f"of {every:.2%} in all\n{HEAD}"
        )
        for method in lines[0]:
            _line(method, [each[method] for each in lines])


def _lines(
    planted: Planted, model: Trained, fresh: Rows, seed: int, limits: tuple[int, float]
) -> dict[str, Line]:
    """Return what each method finds of one planted bias."""
    people = population(ROWS, 3 * seed + 1)
    truth = fresh[planted.where(fresh)]
    truth = truth[flips(model, truth)]
    criterion = Criterion.fit(DOMAIN, people)
    lines = {}
    for method in SEARCHES:
        found = searched(model, DOMAIN, people, method, criterion, limits, seed)
        hit = planted.where(found.rows)
        met = np.isin(kinds(truth), kinds(found.rows[hit]))
        lines[method] = Line(len(hit), _mean(hit), _mean(met))
    refused = planted.where(fresh) & planted.against(fresh)
    for method, named in (("testsgd", worst_rules), ("groups", worst_rates)):
        inside = named(model, people, fresh)
        lines[method] = Line(int(inside.sum()), _mean(refused[inside]), _mean(inside[refused]))
    return lines


def _mean(marks: Mask) -> float:
    """Return the share of marks that are set; NaN of none."""
    return float(marks.mean()) if marks.size else np.nan


def _line(method: str, lines: list[Line]) -> None:
    # who names nobody has no precision
    found, precision, recall = (np.array(each) for each in zip(*lines, strict=True))
    precise = precision[~np.isnan(precision)]
    print(
        f"  {method:<18}{found.mean():>8,.0f}{precise.mean() if precise.size else np.nan:>11.1%}"
        f"{recall.mean():>8.1%}{recall.min():>9.1%}{recall.max():>8.1%}",
        flush=True,
    )
