"""Rules about all rows of a table that is larger than memory: those of the same rows at once."""

import dataclasses

import numpy as np
import pytest

from fairdesk.data.domain.domain import Domain
from fairdesk.groups import testsgd
from fairdesk.groups.options import TestSgdOptions
from fairdesk.groups.tabular.rules import members
from fairdesk.groups.testsgd import Mining
from fairdesk.models.model import labels
from fairdesk.results.events import Measured, Progress
from fairdesk.results.subgroups import RuleSearchSummary, RuleSet
from tests.groups.studies import AGE, COUNTY, INCOME, RACE, SEX, people, study

DOMAIN = Domain((SEX, INCOME, RACE, AGE, COUNTY))


def score(rows):
    sex, income, race, age, _ = rows.T
    return 0.15 + 0.07 * income + 0.2 * (sex == 1) - 0.3 * ((race == 1) & (age > 40))


def in_blocks(whole, held, size):
    """The same study, whose rows come so many at a time; what it holds is a part of them."""
    groups = whole.groups[whole.inside]

    def blocks():
        for start in range(0, len(groups), size):
            yield 2 * len(groups[start : start + size]), groups[start : start + size]

    return dataclasses.replace(
        whole,
        rows=whole.rows[held],
        groups=whole.groups[held],
        inside=whole.inside[held],
        label=whole.label[held],
        decided=whole.decided[held],
        people_blocks=blocks,
        n_rows=2 * len(groups),
    )


def grown(context, options):
    """Return the rules, the rule sets with enough support, and their rows."""
    mining = Mining(context, context.rows[context.inside], options)
    told = list(mining._grow())
    found = [
        (tuple(r.conditions[i] for r, i in zip(mining.members.rules, sets, strict=True) if i >= 0))
        for sets in mining.frequent.chosen.tolist()
    ]
    rows = dict(zip(found, mining.frequent.rows.tolist(), strict=True))
    return mining, rows, [each for each in told if each.phase == "support"]


@pytest.mark.parametrize("bins", [3, 60])
@pytest.mark.parametrize("edges", [{}, {"age": (25.0, 40.0)}])
def test_supports_are_those_of_all_rows(bins, edges):
    whole = study(score, people(DOMAIN, 4_000), DOMAIN)
    whole.groups[5, 0] = np.nan
    whole.edges = edges
    options = TestSgdOptions(bins=min(bins, 50), theta=0.02)
    expected, rows, none = grown(whole, options)
    # ages that only few of all rows have are not among those that are held
    held = np.flatnonzero(whole.groups[:, -1] < np.quantile(whole.groups[:, -1], 0.9))[:900]
    mining, found, told = grown(in_blocks(whole, held, 333), options)
    assert mining.members.weight.sum() == expected.members.weight.sum()
    assert len(found) > 20
    assert found.items() <= rows.items()
    assert mining.frequent.candidates == expected.frequent.candidates
    # what is left out has nobody in the sample on one of the sides
    for conditions in rows.keys() - found.keys():
        inside = members(DOMAIN.grouping, whole.groups[held], conditions)
        assert not inside.any() or inside.all()
    dropped = len(rows) > len(found)
    assert mining.notes[: len(mining.notes) - dropped] == expected.notes
    assert not none
    assert told[-1].done == told[-1].total


def test_scores_are_of_the_rows_that_are_held():
    whole = study(score, people(DOMAIN, 4_000), DOMAIN)
    held = np.arange(1_000)
    context = in_blocks(whole, held, 1_000)
    options = TestSgdOptions(sample_thr=300, error_thr=0.2, bins=4)
    rng = np.random.default_rng(0)
    events = list(testsgd.search(context, context.rows, options, rng))
    (figures,) = (each.figures for each in events[-2:] if isinstance(each, Measured))
    found = [each for each in figures if isinstance(each, RuleSet)]
    (summary,) = (each for each in figures if isinstance(each, RuleSearchSummary))
    assert found
    assert summary.rule_sets >= len(found)
    groups = whole.groups[whole.inside]
    for each in found[:50]:
        inside = members(DOMAIN.grouping, groups, each.conditions)
        assert each.rows == inside.sum()
        assert each.support == inside.mean()
        own = members(DOMAIN.grouping, groups[held], each.conditions)
        favourable = labels(whole.model.predict(whole.rows[held][own])) == 1
        assert each.data_in == pytest.approx(favourable.mean())
    assert any(isinstance(each, Progress) and each.phase == "support" for each in events)
