"""What searches tell beside each other, composed once for window and report."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.runs.comparison import Comparison, Overlap
from fairdesk.audit.store.store import Store
from fairdesk.charts.kinds.lines import Mark
from fairdesk.document import comparison as composed
from fairdesk.document.blocks import Callout, Chart, Grid, Heading, Statement, Text
from fairdesk.results.individual import GradientFidelity, SearchPhase
from tests import phrases
from tests.gui.auditing import make_audit

SWEPT = (
    GradientFidelity(0.01, 100, 0.62, 0.55, 0.60, 1_000, 241),
    GradientFidelity(1.0, 100, 0.97, 0.95, 0.96, 1_000, 402),
    GradientFidelity(10.0, 100, 0.71, 0.66, 0.74, 1_000, 279),
)
BLIND = (
    GradientFidelity(0.01, 100, None, None, None, 1_000, 3),
    GradientFidelity(1.0, 100, None, None, None, 1_000, 0),
)
PHASES = SearchPhase("seeds", 26, 1, 9, 81), SearchPhase("directed", 974, 480, 14, 81)


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    with Store.open(make_audit(tmp_path_factory.mktemp("compared"), runs=3)) as store:
        return store.spec, store.runs()


@pytest.fixture
def records(audited):
    return audited[1]


@pytest.fixture
def comparison(records):
    return Comparison(
        runs=tuple(records),
        union=1_800,
        overlaps=(Overlap((2,), 1_204), Overlap((1, 2, 3), 310), Overlap((1,), 286)),
        sizes=(100, 60, 40),
        coverage=((5, 0, 1), (0, 0, 9), (1, 1, 1)),
    )


def test_what_is_to_be_learned_comes_before_the_tables(audited, comparison):
    blocks = composed.compose(audited[0], comparison)
    assert [type(each) for each in blocks[:2]] == [Statement, Grid]
    shorter = msgspec.structs.replace(comparison.runs[0], state="stopped")
    unfair = replace(comparison, runs=(shorter, *comparison.runs[1:]))
    kinds = [type(each) for each in composed.compose(audited[0], unfair)]
    assert kinds[:3] == [Statement, Callout, Grid]
    # what only some ask for is in a fold
    folded = kinds[kinds.index(Heading) :]
    assert set(folded) == {Heading, Grid}


def test_the_lesson_names_the_run_that_found_most_alone(comparison):
    said = composed.lesson(comparison)
    assert said.sentence.startswith("Random sampling (run 2) found 1,204 instances that no other")
    assert "1,800 different instances; 310 were found by all of them" in said.details[0]
    nothing = Comparison(comparison.runs, 0, (), (10,), ((0,), (0,), (0,)))
    said = composed.lesson(nothing)
    assert said.sentence == "None of these runs found a discriminatory pair."
    assert (said.evidence, said.details) == ("", ())


def test_unfair_comparisons_are_said(records):
    assert composed.cautions(records) == []
    first, second, third = records
    first = msgspec.structs.replace(first, spec=RunSpec("uniform", budget=Budget(seconds=5.0)))
    second = msgspec.structs.replace(second, state="stopped")
    third = msgspec.structs.replace(third, spec=RunSpec("uniform", continues=2))
    (said,) = composed.cautions((first, second, third))
    assert "different budgets" in said.text
    assert f"Completed before the {phrases.BUDGET_USED_UP}: Random sampling (run 1)." in said.text
    assert "Not completed: Random sampling (run 2)" in said.text
    assert "Pairs that an earlier run had found are excluded: Random sampling (run 3)" in said.text


def test_the_table_tells_price_and_reach(audited, comparison):
    grid = composed.results(audited[0], comparison)
    assert [row[2] for row in grid.rows] == ["286", "1,204", "0"]
    assert [row[6] for row in grid.rows] == ["2 of 3", "1 of 3", "3 of 3"]
    run = comparison.runs[0]
    assert grid.rows[0][4] == f"{run.queries / run.found:,.1f}"
    assert all(len(row) == len(grid.header) for row in grid.rows)


def test_phases_are_listed_with_their_time_for_one_run_and_for_several(records):
    first, second, _ = records
    timed = {"seeds": 1.0, "directed": 65.0}
    counted = msgspec.structs.replace(first, figures=PHASES, seconds=timed)
    (alone,) = composed.phases([counted], "parts-1")
    assert alone.header[0] == "Phase"
    assert [row[:5] for row in alone.rows] == [
        ("Starting instances", "26", "1", "3.8\u00a0%", "9"),
        ("Directed search", "974", "480", "49.3\u00a0%", "14"),
    ]
    assert alone.rows[1][-1] == "1\u00a0min 5\u00a0s"
    (both,) = composed.phases([counted, msgspec.structs.replace(second, seconds=timed)])
    assert both.header[0] == "Run"
    assert len(both.rows) == 4
    # without counts there is nothing but the time
    (times,) = composed.phases([msgspec.structs.replace(first, seconds=timed)])
    assert (len(times.header), times.optional, alone.optional) == (2, True, False)
    assert composed.phases([msgspec.structs.replace(first, seconds={})]) == []


def test_a_curve_begins_at_nothing_and_is_drawn_by_cost_or_time():
    curves = (("a", np.array([[1.0, 10, 4, 30], [2.0, 20, 9, 60]])), ("b", np.empty((0, 4))))
    (line,) = composed.course(curves).lines
    assert (line.x.tolist(), line.y.tolist()) == ([0, 30, 60], [0, 4, 9])
    (line,) = composed.course(curves, over_time=True).lines
    assert line.x.tolist() == [0, 1, 2]


def test_the_best_size_is_told_in_words():
    explained, said, *charts = composed.diagnosis(SWEPT)
    assert explained == Text(composed.ESTIMATES)
    assert said.lead == ("At size 1 the estimated gradients agree with the true ones (0.97 of 1).")
    assert "directions" in said.text
    assert said.text.endswith(
        "A short search found most at perturbation size 1: 402 pairs in 1,000 instances tested."
    )
    assert len(charts) == 2
    assert composed.diagnosis(()) == []


@pytest.mark.parametrize(
    ("cosine", "word"), [(0.95, "agree"), (0.6, "mostly"), (0.3, "hardly"), (-0.2, "do not")]
)
def test_how_far_they_agree_has_a_word(cosine, word):
    measured = GradientFidelity(1.0, 9, cosine, None, None, 10, 0)
    assert word in composed.diagnosis([measured])[1].lead


def test_without_gradients_the_sweep_alone_is_drawn():
    explained, said, *charts = composed.diagnosis(BLIND)
    assert explained == Text(composed.NO_GRADIENTS)
    assert said.lead.startswith("A short search found most at perturbation size 0.01: 3 pairs")
    (chart,) = charts
    (bars,) = chart.drawing.lines
    assert bars.mark is Mark.BARS
    assert np.array_equal(bars.y, [3, 0])
    assert composed.diagnosis(BLIND[1:])[1].lead == (
        "No short search found a discriminatory pair, at any perturbation size."
    )


def test_cosines_are_lines_with_points_over_the_sizes():
    drawing, _ = (each.drawing for each in composed.diagnosis(SWEPT) if isinstance(each, Chart))
    assert [line.name for line in drawing.lines] == ["gradients", "directions", "probabilities"]
    assert {line.mark for line in drawing.lines} == {Mark.POINTS}
    assert drawing.x_names == ("0.01", "1", "10")
    assert (drawing.y_low, drawing.y_high) == (0.0, 1.0)
    header, rows = drawing.table()
    assert header == ("perturbation size", "gradients", "directions", "probabilities")
    assert rows[1] == ("1", "0.97", "0.95", "0.96")
    against = composed.diagnosis([GradientFidelity(1.0, 9, -0.4, 0.1, 0.2, 10, 0)])[2].drawing
    assert against.y_low == -1.0
