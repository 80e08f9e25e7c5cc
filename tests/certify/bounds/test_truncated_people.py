"""People counted on truncated ranges, against everybody in small domains: never too many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fairdesk.certify.bounds import network as module
from fairdesk.certify.bounds.dense import state
from fairdesk.certify.bounds.dense.truncation import taken_of
from fairdesk.certify.bounds.network import NetworkExaminer
from tests.certify.networks import everywhere, sharp, truth, wide
from tests.certify.populations import box_of, inside, peopled, rows_of


@pytest.fixture(autouse=True)
def _nothing_is_asked(monkeypatch):
    monkeypatch.setattr(module, "_LEAST", 0.0)


def examined(kind, seed, low=None, high=None, **limits):
    """Examine a box of a network with a population: the examiner, what is said, and the truth."""
    case, rng = kind(seed), np.random.default_rng(seed)
    encoded = case.encoded
    space = peopled(encoded.space, rows_of(case.domain, rng, 60))
    encoded = replace(encoded, space=space)
    if low is None:
        low, high = space.low[0], space.high[0]
        if rng.random() < 0.5:
            low, high = box_of(space, rng)
    examiner = NetworkExaminer(encoded, case.fed, threads=1, by_mass=True)
    for name, value in {"BY_PEOPLE": 1.0, **limits}.items():
        examiner._network.limits[getattr(state, name)] = value
    found = examiner.examine(low[None], high[None], np.zeros(1, dtype=np.intp))
    points = everywhere(space)
    points = points[inside(points, found.low[0], found.high[0])]
    mass = space.people.masses(points, points)
    return encoded, examiner, found, points, mass, truth(case, space, points)


@pytest.mark.parametrize("kind", [sharp, wide])
@pytest.mark.parametrize("together", [1, 16])
def test_never_more_people_are_counted_than_there_are(kind, together):
    """Of large boxes, where as many units as possible are truncated."""
    counted = 0
    for seed in range(120 if kind is sharp else 50):
        _, examiner, found, points, mass, discriminatory = examined(
            kind, seed, LEAST_GAIN=-1.0, TOGETHER=together
        )
        assert len(points)
        if not mass.sum() > 0:
            continue
        bad = mass[discriminatory].sum() / mass.sum()
        assert found.people[0][0] <= 1.0 - bad + 1e-9
        assert found.people[1][0] <= bad + 1e-9
        share = discriminatory.mean()
        assert found.consistent[0] <= 1.0 - share + 1e-9
        assert found.discriminatory[0] <= share + 1e-9
        counted += bool(examiner._rooms[0].cuts[state.EXCLUDED].any())
    assert counted > 3


@pytest.mark.parametrize("kind", [sharp, wide])
def test_what_truncated_units_exclude_is_never_too_little(kind):
    """The sums of the first layer, of everybody, against what is taken off for them."""
    several = 0
    for seed in range(60):
        encoded, examiner, _, points, mass, _ = examined(kind, seed, LEAST_GAIN=-1.0)
        network, room = examiner._network, examiner._rooms[0]
        excluded = room.cuts[state.EXCLUDED, : encoded.bias.size]
        if not excluded.any() or not mass.sum() > 0:
            continue
        sums = np.tile(encoded.bias, (len(points), 1))
        for i, table in enumerate(encoded.tables):
            sums += table[points[:, i]] if len(table) else points[:, i, None] * encoded.slopes[i]
        slack = 1e-9 * (1.0 + np.abs(sums).max(axis=0))  # beyond rounding
        out = (sums < room.first[0] - slack) | (sums > room.first[1] + slack)
        out &= excluded > 0.0
        share = mass / mass.sum()
        assert (share @ out <= excluded + 1e-12).all()
        every = float(share @ out.any(axis=1))
        assert every <= taken_of.py_func(network, -1, room) + 1e-12
        several += every > 1e-6
    # somebody is indeed excluded
    assert several > 3


def test_what_each_unit_excludes_is_taken_off():
    """Units may exclude different people: each of them counts."""
    together = 0
    for seed in range(200):
        _, examiner, *_ = examined(wide, seed, LEAST_GAIN=-1.0)
        room = examiner._rooms[0]
        excluded = room.cuts[state.EXCLUDED]
        assert taken_of.py_func(examiner._network, -1, room) >= excluded.sum()
        together += np.count_nonzero(excluded) > 1
    # in some networks more than one unit does
    assert together > 3


def test_nothing_of_the_box_before_is_left_out_of_a_count():
    """A box without people is counted as it is alone, whatever was truncated in one before it."""
    several = 0
    for seed in range(40):
        case, rng = wide(seed), np.random.default_rng(seed)
        space = peopled(case.encoded.space, rows_of(case.domain, rng, 60))
        encoded = replace(case.encoded, space=space)
        low, high = np.repeat(space.low[:1], 2, axis=0), np.repeat(space.high[:1], 2, axis=0)
        axis = int((high[0] - low[0]).argmax())
        high[1, axis] = (low[0, axis] + high[0, axis]) // 2
        masses = space.people.masses(low, high)

        def told(rows, encoded=encoded, case=case, low=low, high=high, masses=masses):
            examiner = NetworkExaminer(encoded, case.fed, threads=1, by_mass=True)
            limits = examiner._network.limits
            limits[state.BY_PEOPLE], limits[state.LEAST_GAIN] = 1.0, -1.0
            # the second box does not hold enough people to count them
            limits[state.PEOPLED] = 0.5 * masses.sum()
            found = examiner.examine(low[rows], high[rows], np.zeros(len(rows), dtype=np.intp))
            return examiner, found.consistent[-1], found.discriminatory[-1]

        examiner, *_ = told([0])
        excluded = examiner._rooms[0].cuts[state.EXCLUDED].any()
        _, *alone = told([1])
        _, *behind = told([0, 1])
        assert behind == alone
        several += bool(excluded) and 0.0 < sum(alone) < 1.0
    assert several > 2


def test_people_are_counted_so_in_shallow_networks():
    chosen = set()
    for seed in range(8):
        encoded, *_ = examined(wide, seed)
        limits = NetworkExaminer(encoded, wide(seed).fed, threads=1, by_mass=True)._network.limits
        layers = len(encoded.layers) - 1
        chosen.add(layers)
        assert limits[state.BY_PEOPLE] == (layers == 1)
        assert (limits[state.LEAST_GAIN] == np.inf) == (layers > 1)
    assert {1, 2} <= chosen


def test_more_people_are_counted_on_truncated_ranges():
    before = after = 0.0
    for seed in range(24):
        space = wide(seed).encoded.space
        ends = space.low[0], space.high[0]
        found = [
            examined(wide, seed, *ends, LEAST_GAIN=gain)[2] for gain in (np.inf, module._LEAST_GAIN)
        ]
        before, after = (
            total + each.people[0][0] + each.people[1][0]
            for total, each in zip((before, after), found, strict=True)
        )
    assert after > before + 0.1
