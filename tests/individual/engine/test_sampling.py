"""How what is drawn is cut into parts."""

import itertools

import pytest

from fairdesk.individual.engine import sampling
from fairdesk.individual.engine.sampling import Pace


@pytest.mark.parametrize(
    ("call", "row", "least", "most"),
    [
        (0.0, 0.01, 5, 20),  # each row takes its time: parts of a tenth of a second
        (0.15, 3e-5, 500, 5_000),  # each call does: fewer rows would be about as slow
        (0.15, 0.0, 10_000, 65_536),
        (0.0, 1e-5, 5_000, 20_000),
    ],
)
def test_parts_are_as_long_as_suits_the_model(call, row, least, most, monkeypatch):
    now = 0.0
    monkeypatch.setattr(sampling, "perf_counter", lambda: now)
    sizes = []
    for part in itertools.islice(Pace(1).parts(10**9), 60):
        rows = part.stop - part.start
        sizes.append(rows)
        now += call + row * rows
    assert min(sizes[-20:]) >= least
    assert max(sizes[-20:]) <= most
