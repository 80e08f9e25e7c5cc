"""Whether boxes are counted or divided."""

from __future__ import annotations

import numpy as np
import pytest

from fairdesk.certify.refine import Pace


def test_boxes_are_counted_where_that_decides_more_in_a_second() -> None:
    pace = Pace()
    assert pace.least_density(100.0) == np.inf, "nobody knows yet what dividing decides"
    pace.divided(0.02, 2.0, 10)
    assert pace.least_density(100.0) == pytest.approx(1.5e-4)
    pace.divided(0.002, 2.0, 10)
    assert pace.least_density(100.0) == pytest.approx(1.5e-5), "dividing decides less by now"
    pace.counted(1.0, 0.1)
    assert pace.least_density(100.0) == pytest.approx(1.5e-4), "counting is slower than thought"
    pace.divided(0.0, 2.0, 10)
    assert 0.0 < pace.least_density(100.0) < 1e-200


def test_dividing_keeps_a_share_of_the_time() -> None:
    pace = Pace()
    pace.divided(0.0, 1.0, 10)
    assert pace.least_density(1.0) < 1.0
    pace.counted(1_000.0, 10.0)
    assert pace.least_density(1.0) == np.inf
    pace.divided(0.0, 2.0, 10)
    assert pace.least_density(1.0) < 1.0


def test_it_knows_what_a_box_costs_in_points() -> None:
    pace = Pace()
    assert pace.points_per_box == 0.0, "nothing was counted yet"
    pace.divided(0.0, 3.0, 100)
    assert pace.points_per_box == 0.0
    pace.counted(1_000.0, 2.0)
    assert pace.points_per_box == pytest.approx(0.03 * 500.0)
