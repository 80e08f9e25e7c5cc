"""Scales: round values, with as many decimals as tell where they stand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdesk.charts import shapes


@pytest.mark.parametrize("high", [0.3, 1.1, 5.5, 12.1, 20.5, 22.3])
@pytest.mark.parametrize("low", [0.0, -0.2, 0.2985])
def test_values_between_two_ends_are_round_and_say_where_they_stand(low, high):
    found = shapes.round_between(low, high)
    values = [value for value, _text in found]
    assert 2 <= len(found) <= 12
    assert all(low - 1e-9 <= each <= high + 1e-9 for each in values)
    steps = np.diff(values)
    assert steps == pytest.approx(np.full(len(steps), steps[0]))
    assert [float(text.replace("−", "-")) for _value, text in found] == pytest.approx(values)


@given(st.floats(0, 1e12), st.integers(2, 8))
def test_ticks_are_round_and_reach_the_top(high, most):
    values = shapes.ticks(high, most)
    step = values[1]
    assert values[0] == 0
    assert len(values) <= most + 1
    assert values[-1] >= max(high, 1) * (1 - 1e-12)
    assert values[-2] < max(high, 1)
    assert f"{step:.0e}"[0] in "125"
    assert step >= 1


@given(st.lists(st.floats(0, 100), min_size=1, max_size=8))
def test_labels_are_moved_apart_and_stay_in_order(wanted):
    sizes = [4.0 + 2 * (place % 4) for place in range(len(wanted))]
    moved = shapes.apart(wanted, sizes, 100.0)
    ranked = sorted(range(len(wanted)), key=lambda place: wanted[place])
    ends = [moved[place] + sizes[place] for place in ranked]
    assert moved[ranked[0]] >= -1e-6
    assert ends[-1] <= 100 + 1e-6
    assert all(moved[place] >= end - 1e-6 for place, end in zip(ranked[1:], ends, strict=False))
