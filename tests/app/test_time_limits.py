"""How an audit's time limit is divided among its runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdesk.app import standard
from fairdesk.app.standard import SECONDS, TimeLeft, planned, with_time
from fairdesk.audit.catalogue.method import NOT_BEGUN
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import Budget, RunSpec

RUNS = st.lists(st.sampled_from(sorted(METHODS)).map(RunSpec), min_size=1, max_size=8)
LIMITS = st.floats(1.0, 100_000.0)


@given(RUNS, LIMITS)
def test_the_parts_of_all_runs_never_exceed_the_limit(runs, seconds):
    parts = [run.budget.seconds for run in planned(runs, seconds)]
    assert len(parts) == len(runs)
    assert all(part > 0 for part in parts)
    # something is left for the report
    assert sum(parts) < seconds


@given(RUNS, LIMITS, st.data())
def test_what_ends_early_gives_its_rest_to_all_later_ones(runs, seconds, data):
    first_plan, left, spent = planned(runs, seconds), seconds, 0.0
    for place, run in enumerate(runs):
        timed = with_time(run, runs[place + 1 :], left)
        part = timed.budget.seconds
        # nobody before it took more than was theirs, so nobody gets less than planned
        assert part >= first_plan[place].budget.seconds * (1 - 1e-9)
        took = part * data.draw(st.floats(0.0, 1.0))
        spent, left = spent + took, left - took
    assert spent < seconds


@given(RUNS, LIMITS, st.floats(0.01, 0.99))
def test_a_run_that_took_too_long_takes_from_the_later_ones_only(runs, seconds, late):
    left = seconds * (1 - late)
    assert sum(run.budget.seconds for run in planned(runs, left)) < left
    assert with_time(runs[0], runs[1:], left).budget.seconds < left


def test_without_a_limit_no_run_has_one():
    runs = [RunSpec("groups"), RunSpec("certify", budget=Budget(5.0, queries=9))]
    first, second = planned(runs, None)
    assert first.budget == Budget()
    # rows that may be sent are another limit, which stays
    assert second.budget == Budget(queries=9)
    assert second.options == {SECONDS: 0.0}


def test_a_method_that_keeps_time_is_told_its_part():
    timed = with_time(RunSpec("certify", {"keep": 7}), [], 70.0)
    assert timed.options == {"keep": 7, SECONDS: timed.budget.seconds}


def test_no_run_begins_without_time():
    with pytest.raises(ValueError, match="no time"):
        with_time(RunSpec("certify"), [], 0.0)


def test_a_search_for_pairs_ends_where_it_finds_nothing_new():
    pairs, groups = with_time(RunSpec("maft"), [], 100.0), with_time(RunSpec("groups"), [], 100.0)
    assert 0 < pairs.budget.idle < pairs.budget.seconds
    assert groups.budget.idle is None
    # times as they are read
    assert pairs.budget.idle == round(pairs.budget.idle, 1)
    assert pairs.budget.seconds == round(pairs.budget.seconds, 1)


@pytest.mark.parametrize("before", sorted(NOT_BEGUN))
def test_what_comes_before_a_method_takes_none_of_the_limit(before, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(standard, "monotonic", lambda: now[0])
    left = TimeLeft(62.5)
    for seconds, phase in ((2.0, "global"), (300.0, before), (50.0, before), (1.0, "random")):
        now[0] += seconds
        left.note(phase)
    now[0] += 3.0
    assert left.seconds == 60.0 - 2.0 - 3.0
    assert TimeLeft(None).seconds is None


def test_the_time_limit_is_the_auditors(monkeypatch):
    """The start takes its part, and something is kept for the files, less of a short limit."""
    now = [100.0]
    monkeypatch.setattr(standard, "monotonic", lambda: now[0])
    left = TimeLeft(15.0, began=96.0)
    now[0] += 2.0
    # opening data and model was no loading of a method, whatever comes next
    left.note("")
    left.note(next(iter(NOT_BEGUN)))
    assert left.seconds == 15.0 - 2.5 - 6.0
    assert TimeLeft(5.0).seconds == 4.0
