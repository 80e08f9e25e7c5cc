"""Rows are plausible by the data's own measure: calibrated on rows held out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import DataError
from fairdesk.population.nearest import gower
from fairdesk.population.plausible import LEAST_ROWS, MOST_ATTRIBUTES, RAREST, Criterion
from tests.individual.conftest import integer
from tests.sizes import many

SEX = Attribute("sex", Kind.NOMINAL, ("f", "m"), 0.0, 1.0, Role.PROTECTED, (0.0, 1.0))
RELATION = Attribute("relation", Kind.NOMINAL, ("wife", "husband", "none"), 0.0, 2.0)
DOMAIN = Domain(
    (SEX, RELATION, integer("age", 0, 120), Attribute("wage", Kind.REAL, low=0.0, high=9000.0))
)


def people(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    relation = np.where(rng.random(n) < 0.6, sex, 2)
    age = np.clip(rng.normal(35 + 10 * (relation < 2), 8), 18, 90)
    rows = np.column_stack((sex, relation, age, 60 * age + rng.normal(0, 200, n)))
    return DOMAIN.clip(rows)


def test_others_of_the_same_population_are_plausible_and_invented_ones_are_not():
    criterion = Criterion.fit(DOMAIN, people())
    assert criterion.held_out == pytest.approx(0.92, abs=0.03)
    assert criterion.plausible(people(seed=1)).mean() == pytest.approx(criterion.held_out, abs=0.03)
    assert criterion.usual(people(seed=1)).mean() == pytest.approx(0.95, abs=0.02)
    assert criterion.near(people(seed=1)).mean() == pytest.approx(0.95, abs=0.02)
    uniform = criterion.plausible(DOMAIN.sample(np.random.default_rng(1), 1000)).mean()
    assert uniform < 0.2
    assert criterion.uniform == pytest.approx(uniform, abs=0.05)


def test_both_halves_count():
    rows = people()
    criterion = Criterion.fit(DOMAIN, rows)
    husbands = rows[(rows[:, 1] == 1) & criterion.plausible(rows)]
    wives = husbands.copy()
    wives[:, 0] = 1 - wives[:, 0]
    assert len(husbands) > 500
    assert not criterion.plausible(wives).any()


@settings(max_examples=many(20))
@given(seed=st.integers(0, 1000), n=st.sampled_from([2, 30, LEAST_ROWS, 700]))
def test_it_is_what_it_says(seed, n):
    rows = people(n, seed)
    rows[n // 2 :: 3] = rows[: len(rows[n // 2 :: 3])]
    criterion = Criterion.fit(DOMAIN, rows)
    order = np.random.default_rng(0).permutation(n)
    held, fitted = np.sort(order[: n // 2]), np.sort(order[n // 2 :])
    tried = np.concatenate((people(60, seed + 1), DOMAIN.sample(np.random.default_rng(seed), 20)))
    whole = Domain(
        (
            integer("nobody", 0, 1, Role.PROTECTED, (0, 1)),
            *(_free(each) for each in DOMAIN.attributes),
        )
    )

    def distance(among, row):
        # nobody's code is not compared: it is protected
        return gower(whole, *(np.insert(each, 0, 0.0, axis=-1) for each in (among, row)))

    apart = sorted(distance(np.delete(rows, i, axis=0), rows[i]).min() for i in held)
    limit = apart[len(apart) - 1 - int(0.05 * len(apart))]
    near = np.array([distance(rows, row).min() for row in tried]) <= limit + 1e-9
    assert criterion.greatest_distance == pytest.approx(limit, abs=1e-9)
    if n < LEAST_ROWS:
        assert criterion.tree is None
        assert np.isnan(criterion.assess(tried).typicality).all()
        assert (criterion.plausible(tried) == near).all()
        return
    densities = np.sort(criterion.tree.log_density(rows[held]))
    floor = densities[int(0.05 * len(densities))]
    assert (criterion.tree.seen_counts[0].sum()) == len(fitted)
    usual = criterion.tree.log_density(tried) >= floor
    assert (criterion.usual(tried) == usual).all()
    assert (criterion.plausible(tried) == (usual & near)).all()
    assert ((criterion.assess(tried).typicality > RAREST) == usual).all()


def _free(attribute):
    return Attribute(
        attribute.name, attribute.kind, attribute.values, attribute.low, attribute.high
    )


def test_the_same_again():
    rows, tried = people(500), people(200, 3)
    one, other = Criterion.fit(DOMAIN, rows), Criterion.fit(DOMAIN, rows.copy())
    assert (one.least_density, one.greatest_distance, one.held_out) == (
        other.least_density,
        other.greatest_distance,
        other.held_out,
    )
    assert (one.assess(tried).typicality == other.assess(tried).typicality).all()
    parts = np.concatenate([one.plausible(tried[:7]), one.plausible(tried[7:])])
    assert (parts == one.plausible(tried)).all()


@pytest.mark.parametrize("n", [1, 2, 3, 20])
def test_too_few_rows_are_compared_by_distance_only(n):
    criterion = Criterion.fit(DOMAIN, people(n))
    assert criterion.tree is None
    assert criterion.plausible(people(n)).all()
    assert criterion.plausible(people(n)[:0]).shape == (0,)


def test_too_many_attributes_are_compared_by_distance_only():
    wide = Domain((SEX, *(integer(f"a{i}", 0, 3) for i in range(MOST_ATTRIBUTES))))
    rows = wide.sample(np.random.default_rng(0), 300)
    criterion = Criterion.fit(wide, rows)
    assert criterion.tree is None
    assert criterion.plausible(rows).all()


def test_no_rows_at_all():
    with pytest.raises(DataError):
        Criterion.fit(DOMAIN, people()[:0])


def test_a_protected_column_that_the_model_is_not_given_is_no_part_of_it():
    blind = Domain(DOMAIN.attributes[1:], unseen=(SEX,))
    rows = people()[:, 1:]
    criterion = Criterion.fit(blind, rows)
    assert criterion.plausible(rows).mean() == pytest.approx(0.95, abs=0.03)
    assert criterion.uniform < 0.3


def test_constant_and_missing_columns():
    domain = Domain((*DOMAIN.attributes, integer("same", 3, 3)))
    rows = np.column_stack((people(), np.full(4000, 3.0)))
    rows[::3, 3] = np.nan
    criterion = Criterion.fit(domain, rows)
    assert criterion.held_out == pytest.approx(0.9, abs=0.03)
    # whose wage is missing is near to others whose wage is, and usual
    assert criterion.plausible(rows[::3]).mean() > 0.9
    rows[:, 2] = np.nan
    assert not criterion.plausible(rows).any()


def test_constraints_that_nearly_nothing_fulfils_leave_nothing_to_draw():
    domain = Domain((SEX, *(integer(f"a{i}", 0, 1000) for i in range(3))), ("a0 == a1", "a1 == a2"))
    same = np.random.default_rng(0).integers(0, 1000, (300, 1)).repeat(3, axis=1)
    rows = np.column_stack((np.arange(300) % 2, same)).astype(float)
    criterion = Criterion.fit(domain, rows)
    assert criterion.uniform is None
    assert criterion.plausible(rows).mean() > 0.85
