"""The parts of the data are apart, alike, and repeatable."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.errors import SpecError
from fairdesk.mitigate.context import LEAST, split
from tests.mitigate import making
from tests.sizes import many


def parts(made, seed=0):
    got = split(made, np.random.default_rng(seed))
    return got.train, got.validation, got.test


def test_every_usable_row_is_in_one_part(mitigation):
    together = np.concatenate(parts(mitigation))
    assert np.array_equal(np.sort(together), mitigation.usable)
    assert all(np.array_equal(each, np.sort(each)) for each in parts(mitigation))


@settings(max_examples=many(20))
@given(seed=st.integers(0, 2**32), kept=st.integers(LEAST, 600), values=st.integers(2, 9))
def test_rows_with_equal_codes_stay_together(made, seed, kept, values):
    rng = np.random.default_rng(seed)
    rows = np.tile(made.domain.low, (kept, 1))
    rows[:, 1] += rng.integers(0, 4, kept)
    rows[:, 0] += rng.integers(0, values * 3, kept)
    target = rng.integers(0, 2, kept)
    few = replace(
        made,
        rows=rows,
        groups=rows[:, made.domain.protected],
        inside=np.ones(kept, bool),
        label=target.astype(float),
        target=target,
    )
    places = parts(few, seed)
    assert np.array_equal(np.sort(np.concatenate(places)), np.arange(kept))
    codes = [set(map(tuple, rows[each].tolist())) for each in places]
    assert not codes[0] & codes[1]
    assert not codes[0] & codes[2]
    assert not codes[1] & codes[2]


@pytest.fixture(scope="module")
def made(_two):
    return making.fresh(_two)


def test_labels_and_groups_are_shared_out_evenly(mitigation):
    sizes = np.array([len(each) for each in parts(mitigation)])
    assert np.allclose(sizes / sizes.sum(), (0.6, 0.2, 0.2), atol=0.01)
    for cell in np.unique(np.column_stack([mitigation.target, mitigation.groups]), axis=0):
        mine = (np.column_stack([mitigation.target, mitigation.groups]) == cell).all(axis=1)
        shares = np.array([mine[each].sum() for each in parts(mitigation)]) / mine.sum()
        assert np.allclose(shares, (0.6, 0.2, 0.2), atol=0.01)


def test_small_groups_are_divided_with_the_others_of_their_label(mitigation):
    groups = mitigation.groups.copy()
    groups[:20] = np.arange(20)[:, None]
    got = parts(replace(mitigation, groups=groups))
    # one by one, all twenty would be trained with
    assert 3 < sum(np.isin(np.arange(20), each).sum() for each in got[1:]) < 16


def test_the_seed_decides(mitigation):
    assert all(map(np.array_equal, parts(mitigation, 1), parts(mitigation, 1)))
    assert not np.array_equal(parts(mitigation, 1)[0], parts(mitigation, 2)[0])


def test_rows_without_label_or_outside_are_in_no_part(mitigation):
    target, inside = mitigation.target.copy(), mitigation.inside.copy()
    target[:300], inside[1000:1200] = -1, False
    got = np.concatenate(parts(replace(mitigation, target=target, inside=inside)))
    assert np.array_equal(np.sort(got), np.r_[300:1000, 1200:2000])


def test_too_few_rows_are_refused_and_counted(mitigation):
    target, inside = mitigation.target.copy(), mitigation.inside.copy()
    target[:1500], inside[1560:] = -1, False
    with pytest.raises(SpecError) as told:
        parts(replace(mitigation, target=target, inside=inside))
    assert "60 usable rows" in told.value.what
    assert "2,000 rows" in told.value.why
    assert "440 are outside" in told.value.why
    assert "1,500 have no label" in told.value.why
    assert told.value.remedy


def test_one_label_alone_is_refused(mitigation):
    alike = replace(mitigation, target=np.ones_like(mitigation.target))
    with pytest.raises(SpecError, match="have the label “low”"):
        parts(alike)


def test_unseen_protected_attributes_and_missing_groups(mitigation):
    groups = mitigation.groups.copy()
    groups[::3] = np.nan
    got = parts(replace(mitigation, groups=groups))
    shares = np.array([np.isnan(groups[each]).sum() for each in got]) / np.isnan(groups).sum()
    assert np.allclose(shares, (0.6, 0.2, 0.2), atol=0.01)
