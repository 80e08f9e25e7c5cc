"""What a repair adds: in the domain, apart from what is tested, labelled as it says."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.audit.plan.spec import Limits
from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError
from fairdesk.groups.tabular.rules import members
from fairdesk.mitigate.context import split
from fairdesk.mitigate.rows.pool import of_pairs, of_rule
from fairdesk.models.model import labels
from fairdesk.results.proofs import Condition
from tests.mitigate import making
from tests.sizes import many

SOURCES = ("majority", "similar", "model", "neighbours")


def rng(seed=0):
    return np.random.default_rng(seed)


def keys(made, rows):
    return set(map(tuple, rows[:, made.domain.others].tolist()))


def held_out(made, parts):
    return keys(made, made.rows[np.concatenate([parts.validation, parts.test])])


@pytest.fixture(scope="module")
def made(_two):
    return making.fresh(_two)


@pytest.fixture
def parts(mitigation):
    return split(mitigation, rng())


@pytest.mark.parametrize("source", SOURCES)
def test_pairs_stand_together_and_are_labelled(mitigation, parts, source):
    pool = of_pairs(mitigation, parts, source, 400, rng())
    assert len(pool.rows) == len(pool.targets) == len(pool.pairs) == len(pool.seeds) == 400
    place = {number: i for i, number in enumerate(mitigation.numbers.tolist())}
    at = [place[number] for number in pool.pairs.tolist()]
    assert np.array_equal(pool.rows[::2], mitigation.pairs[at[::2]])
    assert np.array_equal(pool.rows[1::2], mitigation.partners[at[1::2]])
    assert at[::2] == at[1::2]
    same = pool.targets[::2] == pool.targets[1::2]
    decided = labels(mitigation.model.predict(pool.rows))
    if source == "model":
        assert not same.any()
        assert np.array_equal(pool.targets, decided)
        assert any("expect more discrimination" in note for note in pool.notes)
    else:
        assert same.all()
        # every pair is decided in both ways, so one of its two is contradicted
        assert (pool.targets != decided).sum() == 200
        assert set(pool.targets.tolist()) == {0, 1}
    assert mitigation.domain.contains(pool.rows).all()
    assert np.isin(pool.seeds, parts.train).all()


def test_seeds_are_the_nearest_rows_to_train_with(mitigation, parts):
    from fairdesk.population.nearest import gower

    pool = of_pairs(mitigation, parts, "similar", 40, rng())
    for row, seed in zip(pool.rows, pool.seeds.tolist(), strict=True):
        away = gower(mitigation.domain, mitigation.rows, row)
        assert away[seed] == pytest.approx(away[parts.train].min())


@settings(max_examples=many(15))
@given(seed=st.integers(0, 2**32), less=st.integers(0, 150), more=st.integers(0, 150))
def test_a_smaller_pool_is_the_beginning_of_a_greater_one(made, seed, less, more):
    parts = split(made, rng())
    small, great = (
        of_pairs(made, parts, "similar", most, rng(seed)) for most in (less, less + more)
    )
    assert len(small.rows) == less // 2 * 2
    for name in ("rows", "targets", "pairs", "seeds"):
        start = getattr(great, name)[: len(small.rows)]
        assert np.array_equal(getattr(small, name), start)


def test_nobody_is_added_who_is_tested_with(mitigation, parts):
    # a hundred pairs that are real rows of each part
    places = np.concatenate([each[:100] for each in (parts.train, parts.validation, parts.test)])
    rows = mitigation.rows[places]
    others = rows.copy()
    others[:, mitigation.domain.protected] = 1 - others[:, mitigation.domain.protected]
    known = replace(mitigation, pairs=others, partners=rows, numbers=np.arange(300))
    pool = of_pairs(known, parts, "similar", 1_000, rng())
    assert len(pool.rows) > 0
    assert not keys(mitigation, pool.rows) & held_out(mitigation, parts)
    assert set(pool.pairs.tolist()) <= set(range(100))
    assert pool.available == len(pool.rows) // 2
    assert pool.notes[0].startswith("Excluded: 2")
    assert "could use 1,000" in pool.notes[1]


def test_flagged_pairs_come_first_all_others_at_random(mitigation, parts):
    pool = of_pairs(replace(mitigation, flagged=30), parts, "similar", 10_000, rng())
    numbers = pool.pairs[::2]
    places = numbers - mitigation.numbers[0]
    first = int((places < 30).sum())
    assert 0 < first <= 30
    assert (places[:first] < 30).all()
    assert not np.array_equal(np.sort(places[:first]), places[:first])
    assert not np.array_equal(np.sort(places[first:]), places[first:])
    assert np.unique(numbers).size == numbers.size


def test_who_was_found_twice_is_added_once(mitigation, parts):
    twice = replace(
        mitigation,
        pairs=np.tile(mitigation.pairs[:50], (2, 1)),
        partners=np.tile(mitigation.partners[:50], (2, 1)),
        numbers=np.arange(100),
    )
    pool = of_pairs(twice, parts, "similar", 1_000, rng())
    assert len(keys(mitigation, pool.rows)) == len(pool.rows) // 2 == pool.available <= 50


def test_texts_have_no_part_in_the_vote_which_is_told(mitigation, parts):
    note = Attribute("note", Kind.TEXT, ("x", "y", "z"), 0.0, 2.0, Role.FIXED)
    domain = msgspec.structs.replace(
        mitigation.domain, attributes=(*mitigation.domain.attributes, note)
    )
    plain = of_pairs(mitigation, parts, "majority", 40, rng())
    made = replace(
        mitigation,
        domain=domain,
        rows=np.column_stack([mitigation.rows, np.arange(len(mitigation.rows)) % 3]),
        pairs=np.column_stack([mitigation.pairs, np.arange(len(mitigation.pairs)) % 3]),
        partners=np.column_stack([mitigation.partners, np.arange(len(mitigation.pairs)) % 3]),
    )
    pool = of_pairs(made, parts, "majority", 40, rng())
    # with texts fewer people are like somebody tested with, so others may be among the first
    known = dict(zip(plain.pairs.tolist(), plain.targets.tolist(), strict=True))
    told = dict(zip(pool.pairs.tolist(), pool.targets.tolist(), strict=True))
    both = known.keys() & told.keys()
    assert len(both) > 10
    assert all(known[number] == told[number] for number in both)
    assert "do not use texts" in pool.notes[-1]
    assert not any("texts" in each for each in plain.notes)


def test_no_pairs_make_no_rows(mitigation, parts):
    none = replace(
        mitigation, pairs=mitigation.pairs[:0], partners=mitigation.pairs[:0], numbers=np.arange(0)
    )
    for source in SOURCES:
        pool = of_pairs(none, parts, source, 100, rng())
        assert pool.rows.shape == (0, 6)
        assert pool.targets.shape == pool.pairs.shape == pool.seeds.shape == (0,)
        assert "Only 0 pairs" in pool.notes[0]


def test_the_seed_decides(mitigation, parts):
    first, again, other = (of_pairs(mitigation, parts, "similar", 100, rng(i)) for i in (1, 1, 2))
    assert np.array_equal(first.rows, again.rows)
    assert np.array_equal(first.targets, again.targets)
    assert not np.array_equal(first.rows, other.rows)


# rule sets


def opposite_is_given_to_members(made, pool, parts, conditions, outcome):
    """Check what holds for the samples of every rule set."""
    domain = made.domain
    assert domain.contains(pool.rows).all()
    assert members(domain.grouping, pool.rows[:, domain.protected], conditions).all()
    assert not keys(made, pool.rows) & held_out(made, parts)
    assert len(set(map(tuple, pool.rows.tolist()))) == len(pool.rows)
    assert (pool.pairs == -1).all()
    assert np.isin(pool.seeds, parts.train).all()
    # made of the real row: what is protected is as there, and little else is not
    seeds = made.rows[pool.seeds]
    assert np.array_equal(pool.rows[:, domain.protected], seeds[:, domain.protected])
    assert ((pool.rows != seeds).sum(axis=1) <= 10).all()
    decided = labels(made.model.predict(pool.rows))
    assert (decided == outcome).all()
    assert (pool.targets != decided).all()


def test_samples_of_a_favoured_group_are_refused(mitigation, parts):
    men = making.with_rule(mitigation)
    pool = of_rule(men, parts, 500, rng())
    assert len(pool.rows) == pool.available == 500
    assert not pool.notes
    opposite_is_given_to_members(mitigation, pool, parts, men.rule, mitigation.favourable)


def test_samples_of_a_slighted_group_are_favoured(mitigation, parts):
    women = making.with_rule(mitigation, (Condition("sex", codes=(0.0,)),))
    pool = of_rule(women, parts, 500, rng())
    opposite_is_given_to_members(mitigation, pool, parts, women.rule, 1 - mitigation.favourable)
    assert (pool.targets == mitigation.favourable).all()
    # the other decision, counted, says the same thing
    other = replace(women, outcome="low")
    assert np.array_equal(of_rule(other, parts, 500, rng()).targets, pool.targets)
    # and so does the mean score
    mean = replace(women, outcome="")
    assert np.array_equal(of_rule(mean, parts, 500, rng()).rows, pool.rows)


def test_a_smaller_pool_of_samples_is_as_good(mitigation, parts):
    men = making.with_rule(mitigation)
    small, great = (of_rule(men, parts, most, rng()) for most in (100, 500))
    assert np.array_equal(small.rows, great.rows[:100])


def test_more_samples_than_can_be_made_are_told_of(mitigation, parts):
    # only three men to make samples of, and whatever can be made of them in ten moves
    inside = mitigation.groups[:, 0] == 0
    inside[parts.train[mitigation.groups[parts.train, 0] == 1][:3]] = True
    few = replace(
        parts, train=parts.train[inside[parts.train]], test=parts.test, validation=parts.validation
    )
    pool = of_rule(making.with_rule(mitigation), few, 100_000, rng())
    assert 0 < len(pool.rows) < 100_000
    assert f"Only {len(pool.rows):,} of 100,000 samples" in pool.notes[0]
    assert "from 3 training rows" in pool.notes[0]


def test_three_classes_get_the_best_other_one(three):
    parts = split(three, rng())
    men = making.with_rule(three)
    pool = of_rule(men, parts, 300, rng())
    scores = three.model.predict(pool.rows)
    assert (labels(scores) == three.favourable).all()
    assert np.array_equal(pool.targets, np.argsort(scores, axis=1)[:, -2])
    women = making.with_rule(three, (Condition("sex", codes=(0.0,)),))
    assert (of_rule(women, parts, 300, rng()).targets == three.favourable).all()


def test_a_threshold_decides_what_the_opposite_is(tmp_path):
    made = making.mitigation(tmp_path, threshold=0.3)
    parts = split(made, rng())
    men = making.with_rule(made)
    pool = of_rule(men, parts, 300, rng())
    opposite_is_given_to_members(made, pool, parts, men.rule, made.favourable)
    own = labels(made.model.answers(pool.rows))
    # at the model's own border all of these would be decided so already, and more would be
    assert (own == made.favourable).all()
    women = making.with_rule(made, (Condition("sex", codes=(0.0,)),))
    refused = of_rule(women, parts, 300, rng())
    assert (labels(made.model.answers(refused.rows)) == made.favourable).any()
    opposite_is_given_to_members(made, refused, parts, women.rule, 1 - made.favourable)


def test_classes_that_are_favourable_together(tmp_path):
    made = making.mitigation(tmp_path, classes=3, together=(1, 2))
    parts = split(made, rng())
    men = making.with_rule(made)
    pool = of_rule(men, parts, 200, rng())
    assert (labels(made.model.predict(pool.rows)) == 1).all()
    assert (pool.targets == 0).all()
    women = making.with_rule(made, (Condition("sex", codes=(0.0,)),))
    pool = of_rule(women, parts, 200, rng())
    assert (labels(made.model.predict(pool.rows)) == 0).all()
    assert set(pool.targets.tolist()) <= {1, 2}
    pairs = of_pairs(made, parts, "similar", 200, rng())
    assert set(pairs.targets.tolist()) <= {0, 1, 2}
    assert pairs.targets.max() > 0


def test_constraints_hold_for_all_samples(tmp_path):
    limits = Limits(constraints=("hours <= age",))
    made = making.mitigation(tmp_path, limits=limits)
    assert not made.inside.all()
    parts = split(made, rng())
    men = making.with_rule(made)
    for pool in (of_rule(men, parts, 300, rng()), of_pairs(made, parts, "similar", 300, rng())):
        assert len(pool.rows) == 300
        assert made.domain.contains(pool.rows).all()
        assert (pool.rows[:, 2] <= pool.rows[:, 0]).all()


def test_a_group_by_what_the_model_is_not_given(mitigation, parts):
    ward = Attribute(
        *("ward", Kind.NOMINAL, ("north", "south"), 0.0, 1.0, Role.PROTECTED, (0.0, 1.0))
    )
    domain = msgspec.structs.replace(mitigation.domain, unseen=(ward,))
    south = (mitigation.rows[:, 2] > 35).astype(float)
    south[::5] = np.nan
    made = replace(mitigation, domain=domain, groups=np.column_stack([mitigation.groups, south]))
    pool = of_rule(making.with_rule(made, (Condition("ward", codes=(1.0,)),)), parts, 300, rng())
    assert len(pool.rows) == 300
    assert (south[pool.seeds] == 1).all()
    # they work long hours, so they are favoured
    assert (pool.targets != made.favourable).all()


def test_a_group_without_anybody_is_refused(mitigation, parts):
    nobody = making.with_rule(mitigation, (Condition("sex", codes=(7.0,)),))
    with pytest.raises(SpecError, match="No samples of this subgroup") as told:
        of_rule(nobody, parts, 100, rng())
    assert "None of the 1,2" in told.value.why
    everybody = making.with_rule(mitigation, (Condition("sex", codes=(0.0, 1.0)),))
    with pytest.raises(SpecError, match="no others to compare"):
        of_rule(everybody, parts, 100, rng())


def test_a_model_that_treats_all_alike_has_nothing_to_repair(mitigation, parts):
    alike = making.with_rule(mitigation)
    same = replace(alike, model=_Same(alike.model))
    with pytest.raises(SpecError, match="nothing to mitigate"):
        of_rule(same, parts, 100, rng())


class _Same:
    """A model that says the same of everybody."""

    def __init__(self, model):
        self.mapping, self.opened, self.attributes = model.mapping, model.opened, model.attributes

    def predict(self, rows):
        return np.full((len(rows), 1), 0.75, dtype=np.float32)


def test_a_decision_that_there_is_not_is_refused(mitigation, parts):
    with pytest.raises(SpecError, match="does not decide “perhaps”"):
        of_rule(replace(making.with_rule(mitigation), outcome="perhaps"), parts, 10, rng())
