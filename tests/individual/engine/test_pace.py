"""How much is asked of a model in one go."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from fairdesk.individual.engine import pace
from fairdesk.individual.engine.pace import Pace, PartTimes


class Model:
    """Takes its time for a call and for each row, on a clock of its own."""

    def __init__(self, monkeypatch, call, row):
        self.now, self.call, self.row = 0.0, call, row
        monkeypatch.setattr(pace, "perf_counter", lambda: self.now)

    def rows_of(self, parts, busy=()):
        """Answer parts; returns of how many rows they were."""
        sizes = []
        for part, slower in zip(parts, itertools.chain(busy, itertools.repeat(1.0)), strict=False):
            sizes.append(part.stop - part.start)
            self.now += slower * (self.call + self.row * sizes[-1])
        return sizes


@pytest.mark.parametrize(
    ("call", "row", "least", "most"),
    [
        (0.0, 0.01, 5, 20),  # each row takes its time: parts of a tenth of a second
        (0.15, 3e-5, 8_000, 20_000),  # each call does: most of a part's time is that of its rows
        (0.15, 0.0, 10_000, 65_536),
        (0.0, 1e-5, 5_000, 20_000),
    ],
)
def test_parts_are_as_long_as_suits_the_model(call, row, least, most, monkeypatch):
    sizes = Model(monkeypatch, call, row).rows_of(itertools.islice(Pace(1).parts(10**9), 60))
    assert min(sizes[-20:]) >= least
    assert max(sizes[-20:]) <= most


def test_parts_are_not_small_on_a_computer_that_is_busy_now_and_then(monkeypatch):
    busy = np.exp(0.3 * np.random.default_rng(1).normal(size=200))
    model = Model(monkeypatch, 0.15, 3e-5)
    sizes = model.rows_of(itertools.islice(Pace(1).parts(10**9), 200), busy)
    assert np.median(sizes[20:]) > 4_000


def test_what_was_learned_of_parts_serves_the_next_shard(monkeypatch):
    model = Model(monkeypatch, 0.15, 3e-5)
    first, second = (SimpleNamespace(rows_left=np.inf, part_times=PartTimes()) for _ in range(2))
    assert model.rows_of(Pace(10, context=first).parts(2_000))[0] == 102
    second.part_times = first.part_times
    assert model.rows_of(Pace(10, context=second).parts(2_000))[0] > 400


def test_no_part_at_the_end_of_a_block_is_small(monkeypatch):
    times = PartTimes()
    context = SimpleNamespace(rows_left=np.inf, part_times=times)
    model = Model(monkeypatch, 0.15, 3e-5)
    model.rows_of(itertools.islice(Pace(1, context=context).parts(10**9), 30))
    for block in (int(1.1 * times.rows), int(2.2 * times.rows), 7):
        sizes = model.rows_of(Pace(1, context=context).parts(block))
        assert sum(sizes[:-1]) < block
        assert len(sizes) == 1 or sizes[-1] > 1_000
