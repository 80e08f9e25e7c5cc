"""ATN is 1 for the same rows, and less for others; by columns and pairs of columns."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.population import similarity
from fairdesk.population.similarity import Similarity, atn
from tests.individual.conftest import integer

SEX = Attribute("sex", Kind.NOMINAL, ("f", "m"), 0.0, 1.0, Role.PROTECTED, (0.0, 1.0))
DOMAIN = Domain((SEX, integer("age", 0, 99), Attribute("wage", Kind.REAL, low=0.0, high=100.0)))


def rows(n=3000, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(40 + shift, 10, n), 0, 99)
    sex = (rng.random(n) < age / 99).astype(float)
    return DOMAIN.clip(np.column_stack((sex, age, age + rng.normal(0, 3, n))))


def by_hand(ours, theirs):
    def variation(one, other):
        both = sorted(set(one) | set(other))
        return 1 - sum(abs(one.count(x) / len(one) - other.count(x) / len(other)) for x in both) / 2

    def crossed(each, j):
        bins = np.minimum(each[:, j] // ((99 if j == 1 else 100) / 10), 9)
        return list(zip(each[:, 0].tolist(), bins.tolist(), strict=True))

    columns = [
        variation(ours[:, 0].tolist(), theirs[:, 0].tolist()),
        *(1 - ks_2samp(ours[:, j], theirs[:, j]).statistic for j in (1, 2)),
    ]
    apart = np.corrcoef(ours[:, 1:].T)[0, 1] - np.corrcoef(theirs[:, 1:].T)[0, 1]
    pairs = [*(variation(crossed(ours, j), crossed(theirs, j)) for j in (1, 2)), 1 - abs(apart) / 2]
    return (np.mean(columns) + np.mean(pairs)) / 2


def test_it_is_the_formula():
    ours, theirs = rows(800), rows(500, 1, shift=20)
    assert atn(DOMAIN, ours, theirs) == pytest.approx(by_hand(ours, theirs))


def test_values_that_do_not_occur_need_not_be_counted(monkeypatch):
    ours, others = rows(800), [rows(500, 1, shift=20), rows(40, 2)]
    alike = Similarity(DOMAIN, ours)
    counted = [alike.atn(each) for each in others]
    monkeypatch.setattr(similarity, "MOST_CELLS", 0)
    assert counted == pytest.approx([by_hand(ours, each) for each in others])
    assert [alike.atn(each) for each in others] == pytest.approx(counted)


def test_the_same_rows_others_of_theirs_and_invented_ones():
    ours = rows()
    assert atn(DOMAIN, ours, ours) == pytest.approx(1)
    assert atn(DOMAIN, ours, rows(seed=1)) > 0.96
    shuffled = np.column_stack(
        [np.random.default_rng(i).permutation(x) for i, x in enumerate(ours.T)]
    )
    uniform = DOMAIN.sample(np.random.default_rng(0), 3000)
    assert (
        atn(DOMAIN, ours, rows(seed=1)) > atn(DOMAIN, ours, shuffled) > atn(DOMAIN, ours, uniform)
    )
    assert atn(DOMAIN, ours, uniform) < 0.8


def test_what_cannot_be_compared():
    single = Domain((SEX, Attribute("word", Kind.TEXT, ("a", "b"), 0.0, 1.0, Role.FIXED)))
    ours = np.array([[0.0, 0], [1, 1]])
    # one column: no pairs
    assert atn(single, ours, ours[:1]) == pytest.approx(0.5)
    missing = rows(50)
    missing[:, 2] = np.nan
    assert 0 < atn(DOMAIN, rows(60), missing) < 1
    assert atn(DOMAIN, missing, missing) > 0.4
    assert atn(DOMAIN, rows(60), rows(1)) < 0.9
