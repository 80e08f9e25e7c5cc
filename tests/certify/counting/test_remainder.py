"""What sampling says beside the proof: intervals that hold, and exact shares of the data's rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec
import numpy as np
import pytest

from fairdesk.certify.counting import remainder as module
from fairdesk.certify.counting.remainder import rest_of, rows_asked
from fairdesk.certify.domain.boxes import Verdict
from fairdesk.certify.refine import Examined, Refinery, at_once
from fairdesk.data.domain.attributes import Role
from fairdesk.individual.engine.context import SearchContext
from tests.certify.networks import drawn, everywhere, names, number, small, truth

remainder = at_once(module.remainder)


class Part:
    """Proves a part of what is true of each box, and never all of it."""

    batch, margin, notes = 8, 0.0, ()

    def __init__(self, points, discriminatory, proven):
        self._points, self._discriminatory, self._proven = points, discriminatory, proven

    def examine(self, low, high, group):
        n, a = low.shape
        shares = np.zeros((2, n))
        for b in range(n):
            inside = ((self._points >= low[b]) & (self._points <= high[b])).all(axis=1)
            share = self._discriminatory[inside].mean()
            shares[:, b] = self._proven * np.array([1.0 - share, share])
        axis = (high - low).argmax(axis=1)
        cut = (low + high)[np.arange(n), axis] // 2
        axis[(high == low).all(axis=1)] = -1
        none = np.full(n, -1)
        return Examined(
            *(low.copy(), high.copy(), *shares, none, axis, cut),
            np.empty((0, a), dtype=np.int64),
        )


@dataclass
class Case:
    fed: object
    space: object
    points: np.ndarray
    discriminatory: np.ndarray


@pytest.fixture(scope="module")
def case():
    attributes = [number("a", 9), number("b", 7), names("job", 5)]
    attributes.append(number("race", 3, role=Role.PROTECTED))
    one = small(attributes, [5, 4], np.random.default_rng(4))
    space = one.encoded.space
    points = everywhere(space)
    discriminatory = truth(one, space, points)
    assert 0.05 < discriminatory.mean() < 0.6
    return Case(one.fed, space, points, discriminatory)


@pytest.mark.parametrize("proven", [0.0, 0.4, 0.8])
def test_the_interval_of_what_is_undecided_holds_as_often_as_told(case, proven):
    refinery = Refinery(case.space, Part(case.points, case.discriminatory, proven))
    for _ in range(3):
        refinery.step()
    undecided = refinery.undecided
    rest = (case.discriminatory.sum() - refinery.discriminatory) / undecided
    assert 0.0 < rest < 1.0
    held, trials = 0, 200
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PEOPLE", 300)
        for seed in range(trials):
            told = remainder(refinery, case.fed, np.random.default_rng(seed))
            assert told.n_samples == 300
            assert told.low <= told.high
            held += told.low <= rest <= told.high
    # less than this by chance alone: once in 10,000
    assert held >= 178


def test_more_people_make_it_narrower(case):
    refinery = Refinery(case.space, Part(case.points, case.discriminatory, 0.3))
    told = remainder(refinery, case.fed, np.random.default_rng(0))
    assert told.n_samples == module._PEOPLE
    assert told.high - told.low < 0.05
    assert told.confidence == 0.95


def test_what_there_is_no_time_for_is_not_asked_about(case):
    refinery = Refinery(case.space, Part(case.points, case.discriminatory, 0.3))
    asked = iter([False, True])
    told = remainder(refinery, case.fed, np.random.default_rng(0), lambda: next(asked))
    whole = remainder(refinery, case.fed, np.random.default_rng(0))
    assert 0 < told.n_samples < whole.n_samples
    # fewer are known about as surely
    assert told.low < whole.low < whole.high < told.high
    assert remainder(refinery, case.fed, np.random.default_rng(0), lambda: True) is None


def test_only_undecided_boxes_are_drawn_from(case):
    refinery = Refinery(case.space, Part(case.points, case.discriminatory, 0.0))
    for _ in range(6):
        refinery.step()
    tree = refinery.tree
    leaves = refinery.undecided_leaves()
    low, high = tree.boxes(leaves)
    shares = np.array(
        [
            case.discriminatory[((case.points >= a) & (case.points <= b)).all(axis=1)].mean()
            for a, b in zip(low, high, strict=True)
        ]
    )
    tree.verdict[leaves[shares > 0]] = Verdict.DISCRIMINATORY
    assert (shares == 0).any()
    told = remainder(refinery, case.fed, np.random.default_rng(0))
    assert told.discriminatory == 0
    assert told.low == 0.0
    # whole boxes are known, nothing of the boxes from which was drawn
    assert told.certified == told.falsified == 0.0


def test_nothing_is_told_where_nothing_is_undecided(case):
    refinery = Refinery(case.space, Part(case.points, case.discriminatory, 0.0))
    refinery.tree.verdict[: refinery.tree.count] = Verdict.CONSISTENT
    assert remainder(refinery, case.fed, np.random.default_rng(0)) is None


def test_the_rest_follows_from_the_whole():
    # of 100, 30 are alike and 20 unlike: 26 unlike in all leave 6 of the other 50
    assert rest_of(0.26, 100.0, 30.0, 20.0) == pytest.approx(0.12)
    assert rest_of(0.0, 100.0, 30.0, 20.0) == 0.0
    assert rest_of(1.0, 100.0, 30.0, 20.0) == 1.0


def test_who_may_not_be_is_not_compared(case):
    may_be = np.array([[True, True, False]])
    space = replace(case.space, may_be=may_be)
    refinery = Refinery(space, Part(case.points, case.discriminatory, 0.0))
    told = remainder(refinery, case.fed, np.random.default_rng(0))
    similar = space.domain.similar(space.rows(case.points))[:, [0, 1]]
    scores = case.fed.predict(similar.reshape(-1, similar.shape[2])).reshape(-1, 2)
    share = ((scores[:, 0] > 0.5) != (scores[:, 1] > 0.5)).mean()
    assert told.low <= share <= told.high
    assert share < case.discriminatory.mean()


def test_in_unclear_roots_the_constraints_are_asked(case):
    space = replace(case.space, unclear=np.ones(1, dtype=np.bool_))
    domain = msgspec.structs.replace(space.domain, constraints=("a <= race",))
    space = replace(space, domain=domain)
    refinery = Refinery(space, Part(case.points, case.discriminatory, 0.0))
    told = remainder(refinery, case.fed, np.random.default_rng(0))
    similar = domain.similar(space.rows(case.points))
    rows = similar.reshape(-1, similar.shape[2])
    decided = np.where(domain.allowed(rows), case.fed.predict(rows)[:, 0] > 0.5, np.nan)
    decided = decided.reshape(similar.shape[:2])
    most, least = (np.where(np.isnan(decided), end, decided) for end in (-1.0, 2.0))
    share = (most.max(axis=1) > least.min(axis=1)).mean()
    assert told.low <= share <= told.high
    assert 0.0 < share < 0.5 * case.discriminatory.mean()


@pytest.mark.parametrize("seed", range(6))
def test_rows_of_the_data_are_asked_about_one_by_one(seed):
    one = drawn(seed, classes=2 + seed % 2)
    rng = np.random.default_rng(seed)
    people = one.domain.sample(rng, 200)
    *_, share = rows_asked(one.context, people)
    discriminatory = np.array(
        [len(set(map(bytes, one.context.ask(row[None]).labels[0][:, None]))) > 1 for row in people]
    )
    assert share.n_samples == 200
    assert (share.whom, share.exhaustive) == ("data", True)
    assert share.hits == discriminatory.sum()
    assert share.estimate == share.low == share.high == discriminatory.mean()
    assert share.attributes == tuple(one.domain.names[i] for i in one.domain.protected)


def test_rows_that_are_too_far_from_anybody_are_left_out():
    one = drawn(2)
    people = one.domain.sample(np.random.default_rng(0), 50)
    context = SearchContext(one.fed, one.domain, fits=lambda rows: rows[:, 0] == rows[:, 0].min())
    near = people[people[:, 0] == people[:, 0].min()]
    *_, share = rows_asked(context, people)
    assert share.n_samples == len(near) < 50
    nobody = SearchContext(one.fed, one.domain, fits=lambda rows: np.zeros(len(rows), dtype=bool))
    *_, share = rows_asked(nobody, people)
    assert share.n_samples == 0


def test_asking_about_rows_can_be_paused():
    one = drawn(3)
    people = one.domain.sample(np.random.default_rng(0), 3_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fairdesk.individual.engine.pace._FIRST_ROWS", 8)
        patch.setattr("fairdesk.individual.engine.pace._MOST_ROWS", 8)
        *between, last = rows_asked(one.context, people)
    assert between
    assert set(between) == {None}
    *_, at_once = rows_asked(one.context, people)
    assert last == at_once
