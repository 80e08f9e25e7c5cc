"""The solver's answers about boxes, against counting everybody."""

from __future__ import annotations

from fractions import Fraction
from threading import Thread
from time import perf_counter

import numpy as np
import pytest

from fairdesk.certify.baselines.solver import Inquiry, bounds_of
from fairdesk.data.domain.attributes import Role
from fairdesk.errors import SpecError
from fairdesk.models.structure import Activation
from tests.certify.networks import everywhere, names, number, small, truth

RELU, LEAKY = Activation("relu"), Activation("leaky_relu", 0.25)
CAPPED = Activation("relu", ceiling=1.0)


def easy(seed, **more):
    """A network that the solver is done with at once: one layer of few units."""
    rng = np.random.default_rng(seed)
    attributes = [number(f"n{i}", int(rng.integers(2, 6)), -1) for i in range(2)]
    attributes.append(names("job", 3))
    attributes.append(names("race", int(rng.integers(2, 4)), role=Role.PROTECTED))
    return small(attributes, [3], rng, **more)


def ask(encoded, low, high, may_be, *, margin=0.0, soft_seconds=20.0):
    return Inquiry(encoded, low, high, may_be, margin=margin, soft_seconds=soft_seconds).run()


def box(space, rng):
    ends = rng.integers(0, space.counts, size=(2, len(space.axes)))
    return ends.min(axis=0), ends.max(axis=0)


@pytest.mark.parametrize("seed", range(12))
def test_the_solver_says_what_counting_says(seed):
    rng = np.random.default_rng(100 + seed)
    case = easy(seed, classes=(2, 3)[seed % 2], activation=(RELU, LEAKY, CAPPED)[seed % 3])
    encoded = case.encoded
    points = everywhere(encoded.space)
    low, high = box(encoded.space, rng)
    inside = ((points >= low) & (points <= high)).all(axis=1)
    everyone = np.ones(len(case.domain.combinations), dtype=np.bool_)
    discriminatory = truth(case, encoded.space, points)
    there = discriminatory & inside
    answer = ask(encoded, low, high, everyone)
    assert answer.verdict == ("sat" if there.any() else "unsat")
    if answer.places is not None:
        assert there[(points == answer.places).all(axis=1)].all()


def test_only_those_who_may_be_are_compared():
    case = next(
        case
        for case in map(easy, range(40))
        if len(case.domain.combinations) == 3
        and truth(case, case.encoded.space, everywhere(case.encoded.space)).any()
    )
    encoded = case.encoded
    points, low, high = everywhere(encoded.space), encoded.space.low[0], encoded.space.high[0]
    found = []
    for left_out in range(3):
        may_be = np.arange(3) != left_out
        answer = ask(encoded, low, high, may_be)
        there = truth(case, encoded.space, points, may_be).any()
        assert answer.verdict == ("sat" if there else "unsat")
        if answer.pair is not None:
            assert left_out not in answer.pair
        found.append(answer.verdict)
    assert "sat" in found


def exact_margin(encoded, point, combination):
    """Compute the margin of a point in rational numbers, in the plainest way."""
    values = [
        Fraction(each)
        for each in encoded.columns.at(point[None], np.array([combination]))[0].tolist()
    ]
    for i, each in enumerate(encoded.layers):
        values = [
            sum(
                (Fraction(w) * v for w, v in zip(column, values, strict=True)),
                Fraction(bias),
            )
            for column, bias in zip(each.weights.T.tolist(), each.bias.tolist(), strict=True)
        ]
        if i < len(encoded.layers) - 1:
            values = [max(value, Fraction(0)) for value in values]
    return values[0]


def test_a_margin_is_exact_to_the_last_bit():
    """Just below the distance of the nearer of two decisions somebody is there; at it nobody is."""
    case, point = next(
        (case, point)
        for case in map(easy, range(40))
        for point in everywhere(case.encoded.space)
        if len(case.domain.combinations) == 2 and truth(case, case.encoded.space, point[None])[0]
    )
    encoded = case.encoded
    nearer = min(abs(exact_margin(encoded, point, c)) for c in range(2))
    both = np.ones(2, dtype=np.bool_)
    limit = float(nearer)
    below = np.nextafter(limit, 0.0) if Fraction(limit) >= nearer else limit
    above = limit if Fraction(limit) >= nearer else np.nextafter(limit, 1.0)
    for margin, verdict in ((below, "sat"), (above, "unsat")):
        answer = ask(encoded, point, point, both, margin=float(margin))
        assert answer.verdict == verdict


@pytest.mark.parametrize("activation", [RELU, LEAKY, CAPPED, Activation("linear")])
def test_bounds_hold_what_every_unit_is_given(activation):
    rng = np.random.default_rng(5)
    attributes = [number("n", 4), names("job", 4), names("race", 3, role=Role.PROTECTED)]
    case = small(attributes, [4, 3], rng, activation=activation)
    encoded = case.encoded
    points = everywhere(encoded.space)
    everyone = np.arange(3)
    for _ in range(20):
        low, high = box(encoded.space, rng)
        bounds = bounds_of(encoded, low, high, everyone)
        inside = points[((points >= low) & (points <= high)).all(axis=1)]
        for combination in everyone:
            values = encoded.columns.at(inside, np.full(len(inside), combination))
            for i, each in enumerate(encoded.layers):
                values = values @ each.weights + each.bias
                assert (bounds.low[i][combination] <= values).all()
                assert (values <= bounds.high[i][combination]).all()
                if activation.name == "relu":
                    values = np.clip(values, 0.0, activation.ceiling)
                elif activation.name == "leaky_relu":
                    values = np.where(values > 0, values, activation.alpha * values)


def test_curves_are_refused():
    case = easy(0, activation=Activation("tanh"))
    encoded = case.encoded
    low, high = encoded.space.low[0], encoded.space.high[0]
    with pytest.raises(SpecError, match="“tanh”"):
        ask(encoded, low, high, np.ones(2, dtype=np.bool_))


def hard():
    """A network that no solver is done with soon."""
    rng = np.random.default_rng(0)
    attributes = [number(f"n{i}", 1_000) for i in range(8)]
    return small([*attributes, number("sex", 2, role=Role.PROTECTED)], [24, 24], rng).encoded


def test_a_solver_gives_up_in_time():
    encoded = hard()
    both = np.ones(2, dtype=np.bool_)
    low, high = encoded.space.low[0], encoded.space.high[0]
    assert ask(encoded, low, high, both, soft_seconds=0.2).verdict == "unknown"


def test_a_solver_can_be_stopped_from_another_thread():
    encoded = hard()
    inquiry = Inquiry(
        encoded,
        encoded.space.low[0],
        encoded.space.high[0],
        np.ones(2, dtype=np.bool_),
        margin=0.0,
        soft_seconds=600.0,
    )
    answers = []
    thread = Thread(target=lambda: answers.append(inquiry.run()))
    thread.start()
    until = perf_counter() + 60.0
    while thread.is_alive() and perf_counter() < until:
        inquiry.stop()
        thread.join(0.05)
    assert [each.verdict for each in answers] == ["unknown"]
