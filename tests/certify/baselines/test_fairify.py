"""Fairify's verdicts, against counting everybody."""

from __future__ import annotations

import re
import threading

import numpy as np
import pytest

from fairdesk.certify.baselines import fairify
from fairdesk.certify.baselines.fairify import Asking, FairifyOptions, Partitions
from fairdesk.certify.baselines.solver import Answer
from fairdesk.certify.domain.space import space_of
from fairdesk.data.domain.attributes import Role
from fairdesk.errors import SpecError
from fairdesk.models.model import labels
from fairdesk.models.structure import Activation
from fairdesk.results.events import Found, Measured, Progress
from tests.certify.networks import everywhere, names, number, small, truth


def case_of(seed, **more):
    rng = np.random.default_rng(seed)
    attributes = [number("n", 9, -2), number("m", 4), names("job", 3)]
    attributes.append(names("race", int(rng.integers(2, 4)), role=Role.PROTECTED))
    return small(attributes, [3], rng, **more)


def run(case, seed=0, **options):
    given = {"partition_size": 3, "soft_seconds": 20.0} | options
    events = list(
        fairify.search(
            case.context, case.people, FairifyOptions(**given), np.random.default_rng(seed)
        )
    )
    return [event for event in events if isinstance(event, Measured)][-1].figures[0], events


@pytest.mark.parametrize("seed", range(4))
def test_partitions_without_unlike_people_are_certified_and_no_others(seed):
    case = case_of(seed, classes=(2, 3)[seed % 2])
    told, events = run(case)
    space = case.encoded.space
    points = everywhere(space)
    discriminatory = truth(case, space, points)
    partitions = Partitions(space, np.arange(1), 3, np.random.default_rng(0))
    consistent = examples = 0
    for low, high, _ in map(partitions.at, range(partitions.count)):
        inside = ((points >= low) & (points <= high)).all(axis=1)
        consistent += int(inside.sum()) if not discriminatory[inside].any() else 0
        examples += int(discriminatory[inside].any())
    assert told.total == str(len(points))
    # what is within rounding of the border may stay undecided; here nothing is
    assert told.certified_people == str(consistent)
    assert told.falsified_people == str(examples)
    assert told.boxes == partitions.count
    found = [event for event in events if isinstance(event, Found)]
    assert sum(len(event.rows) for event in found) == examples
    for event in found:
        assert (
            labels(case.fed.predict(event.rows)) != labels(case.fed.predict(event.partners))
        ).all()
    assert f"Of {partitions.count} partitions" in told.notes[0]


def test_partitions_are_all_of_a_space_and_share_nobody():
    space = space_of(case_of(0).domain, case_of(0).people)
    ordered = [Partitions(space, np.arange(1), 2, np.random.default_rng(i)) for i in (3, 3, 4)]
    assert [each.count for each in ordered] == [5 * 2 * 2] * 3
    seen = np.zeros(len(everywhere(space)), dtype=int)
    first, again, other = (list(map(each.at, range(each.count))) for each in ordered)
    for low, high, root in first:
        assert root == 0
        assert (high - low < 2).all()
        seen += ((everywhere(space) >= low) & (everywhere(space) <= high)).all(axis=1)
    assert (seen == 1).all()
    order, same, unlike = ([tuple(low) for low, _, _ in each] for each in (first, again, other))
    assert order == same
    assert order != unlike
    assert order != sorted(order)


def test_billions_of_partitions_take_no_memory():
    case = small(
        [*(number(f"n{i}", 1_000) for i in range(7)), number("sex", 2, role=Role.PROTECTED)],
        [2],
        np.random.default_rng(0),
    )
    space = space_of(case.domain, case.people)
    partitions = Partitions(space, np.arange(1), 1, np.random.default_rng(0))
    assert partitions.count == 10**21
    told = {tuple(partitions.at(i)[0]) for i in range(50)}
    assert len(told) == 50
    assert np.ptp(np.array(list(told)), axis=0).min() > 100


def hard():
    rng = np.random.default_rng(0)
    attributes = [number(f"n{i}", 1_000) for i in range(8)]
    return small([*attributes, number("sex", 2, role=Role.PROTECTED)], [24, 24], rng)


def test_the_hard_limit_ends_it():
    told, events = run(hard(), partition_size=10_000, hard_seconds=0.3, soft_seconds=600.0)
    assert told.undecided == 1.0
    assert "gave up on 1 (UNKNOWN)" in told.notes[0]
    assert sum(isinstance(event, Progress) for event in events) > 2


def untested(told):
    return int(re.search(r"([\d,]+) were not tested", told.notes[0])[1].replace(",", ""))


@pytest.mark.parametrize(("size", "count"), [(500, 256), (999, 256), (1_000, 1)])
def test_one_partition_does_not_use_up_the_time_of_all(size, count, monkeypatch):
    """With a long soft limit, too; a partition that is alone may use all of it."""
    clock = [0.0]

    class Thinking:
        """Thinks as long as it may, by a clock of its own."""

        def __init__(self, *_, soft_seconds, **__):
            self.soft_seconds = soft_seconds

        def run(self):
            clock[0] += self.soft_seconds
            return Answer("unknown")

        def stop(self):
            pass

    monkeypatch.setattr(fairify, "Inquiry", Thinking)
    monkeypatch.setattr(fairify, "perf_counter", lambda: clock[0])
    told, _ = run(hard(), partition_size=size, hard_seconds=2.0, soft_seconds=600.0)
    assert f"Of {count} partition" in told.notes[0]
    assert untested(told) == 0
    assert clock[0] == pytest.approx(2.0)


def test_a_query_has_a_fair_share_of_what_is_left():
    case = case_of(0)
    options = FairifyOptions(soft_seconds=4.0, hard_seconds=100.0)
    work = fairify._Verification(case.context, case.people, options, np.random.default_rng(0))
    shares = {}
    for work._to_come, work._seconds in ((1, 0.0), (50, 0.0), (10_000, 0.0), (3, 94.0), (99, 99.0)):
        shares[work._to_come] = work.soft
    assert shares == {1: 4.0, 50: 2.0, 10_000: 1.0, 3: 2.0, 99: pytest.approx(0.1)}
    without = FairifyOptions(soft_seconds=4.0, hard_seconds=0.0)
    free = fairify._Verification(case.context, case.people, without, np.random.default_rng(0))
    assert free.soft == 4.0


def test_it_can_be_left_while_the_solver_thinks():
    case = hard()
    events = fairify.search(
        case.context,
        case.people,
        FairifyOptions(partition_size=10_000, soft_seconds=600.0),
        np.random.default_rng(0),
    )
    before = threading.active_count()
    for _ in range(4):
        next(events)
    assert threading.active_count() == before + 1
    events.close()
    assert threading.active_count() == before


def test_it_ends_when_it_is_told_to():
    case = hard()
    context = case.context
    events = fairify.search(
        context,
        case.people,
        FairifyOptions(partition_size=10_000, soft_seconds=600.0),
        np.random.default_rng(0),
    )
    for _ in range(4):
        next(events)
    context.request_finish()
    (told,) = [event.figures[0] for event in events if isinstance(event, Measured)]
    assert told.undecided == 1.0


def test_an_example_that_the_model_does_not_confirm_counts_for_nothing(monkeypatch):
    case = case_of(0)
    space = case.encoded.space
    points = everywhere(space)
    consistent = points[~truth(case, space, points)][0]

    class Lying:
        def __init__(self, *_, **__):
            pass

        def run(self):
            return Answer("sat", consistent, (0, 1))

        def stop(self):
            pass

    monkeypatch.setattr(fairify, "Inquiry", Lying)
    told, events = run(case)
    assert told.undecided == 1.0
    assert not [event for event in events if isinstance(event, Found)]
    assert "0 have a counterexample" in told.notes[0]


def test_who_leaves_stops_the_solver():
    class Slow:
        stops = 0

        def run(self):
            while self.stops < 3:
                pass
            return Answer("unsat")

        def stop(self):
            self.stops += 1

    with Asking(Slow()) as asking:
        assert not asking.over(0.01)
        assert asking.answer.verdict == "unknown"
    assert asking.answer.verdict == "unsat"


def test_curves_are_refused():
    with pytest.raises(SpecError, match="“tanh”"):
        run(case_of(0, activation=Activation("tanh")))
