import numpy as np
import pytest

from fairdesk.charts.curves import Mark
from fairdesk.gui.workspace.compare.diagnosis_view import agreement, conclusions, sweep
from fairdesk.results.individual import GradientFidelity

SWEPT = (
    GradientFidelity(0.01, 100, 0.62, 0.55, 0.60, 1_000, 241),
    GradientFidelity(1.0, 100, 0.97, 0.95, 0.96, 1_000, 402),
    GradientFidelity(10.0, 100, 0.71, 0.66, 0.74, 1_000, 279),
)
BLIND = (
    GradientFidelity(0.01, 100, None, None, None, 1_000, 3),
    GradientFidelity(1.0, 100, None, None, None, 1_000, 0),
)


def test_the_best_size_is_told_in_words():
    said = conclusions(SWEPT)
    assert said[0] == "At size 1 the estimated gradients agree with the true ones (0.97 of 1)."
    assert "directions" in said[1]
    assert said[-1] == (
        "A short search found most at perturbation size 1: 402 pairs in 1,000 instances tested."
    )
    assert conclusions(BLIND) == [
        "A short search found most at perturbation size 0.01: 3 pairs in 1,000 instances tested."
    ]
    assert conclusions(BLIND[1:]) == [
        "No short search found a discriminatory pair, at any perturbation size."
    ]
    assert conclusions(()) == []


@pytest.mark.parametrize(
    ("cosine", "word"), [(0.95, "agree"), (0.6, "mostly"), (0.3, "hardly"), (-0.2, "do not")]
)
def test_how_far_they_agree_has_a_word(cosine, word):
    (said, *_) = conclusions((GradientFidelity(1.0, 9, cosine, None, None, 10, 0),))
    assert word in said


def test_cosines_are_lines_with_points_over_the_sizes():
    drawing = agreement(SWEPT)
    assert [line.name for line in drawing.lines] == ["gradients", "directions", "probabilities"]
    assert {line.mark for line in drawing.lines} == {Mark.POINTS}
    assert drawing.x_names == ("0.01", "1", "10")
    assert (drawing.y_low, drawing.y_high) == (0.0, 1.0)
    header, rows = drawing.table()
    assert header == ("perturbation size", "gradients", "directions", "probabilities")
    assert rows[1] == ("1", "0.97", "0.95", "0.96")
    against = agreement((GradientFidelity(1.0, 9, -0.4, 0.1, 0.2, 10, 0),))
    assert against.y_low == -1.0


def test_without_gradients_the_sweep_alone_is_drawn():
    assert agreement(BLIND).empty
    (bars,) = sweep(BLIND).lines
    assert bars.mark is Mark.BARS
    assert np.array_equal(bars.y, [3, 0])
