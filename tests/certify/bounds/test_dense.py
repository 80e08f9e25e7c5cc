"""Lines below and above activations, and forms below margins: in the model's own arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fairdesk.certify.bounds.dense import activations, state
from fairdesk.certify.bounds.dense.examining import examine
from fairdesk.certify.bounds.network import NetworkExaminer
from fairdesk.models.dense.forward import forward, packed
from fairdesk.models.structure import ACTIVATIONS, Activation
from tests.certify.networks import drawn, everywhere, layer
from tests.sizes import many


def answers(activation, sums):
    """What the model itself makes of float32 sums."""
    given_to = np.ascontiguousarray(sums[:, None].astype(np.float64))
    told = np.empty((len(sums), 1), dtype=np.float32)
    forward(given_to, np.zeros(1), *packed([layer([[1.0]], [0.0], activation)]), told)
    return told[:, 0].astype(np.float64)


def lines(activation, low, high):
    """Lines and ranges as the loops find them: of one unit."""
    of = np.zeros((11, 1))
    of[state.LOW], of[state.HIGH] = low, high
    alpha, ceiling = float(np.float32(activation.alpha)), float(np.float32(activation.ceiling))
    activations.bend(ACTIVATIONS.index(activation.name), alpha, ceiling, 0, 1, of)
    return of[:, 0]


@settings(max_examples=many(300))
@given(
    st.sampled_from(ACTIVATIONS[:-1]),
    st.sampled_from([0.0, 0.01, 0.3, 1.0, 1.7, -0.4]),
    st.sampled_from([0.5, 6.0, np.inf]),
    st.floats(-60, 60, width=32),
    st.one_of(st.floats(2.0**-40, 100), st.floats(0, 1e-3)),
    st.integers(0, 2**32 - 1),
)
def test_lines_are_below_and_above_what_the_model_answers(name, alpha, ceiling, low, width, seed):
    activation = Activation(name, alpha, ceiling if name == "relu" else np.inf)
    high = low + width
    rng = np.random.default_rng(seed)
    sums = np.concatenate(
        [rng.uniform(low, high, 200), [low, high], low + width * 2.0 ** -rng.uniform(0, 30, 50)]
    )
    sums = np.concatenate([sums, [0.0, alpha, ceiling]]).astype(np.float32)
    x = sums.astype(np.float64)
    sums, x = sums[(x >= low) & (x <= high)], x[(x >= low) & (x <= high)]
    real, of = answers(activation, sums), lines(activation, low, high)
    assume(of[state.ANSWER_HIGH] < 2.0**120)  # beyond, nothing is taken for certain
    assert (real >= of[state.ANSWER_LOW]).all()
    assert (real <= of[state.ANSWER_HIGH]).all()
    slack = 1e-14 * np.abs(of[state.BELOW] * x)
    assert (real >= of[state.BELOW] * x + of[state.BELOW_AT] - slack).all()
    slack = 1e-14 * np.abs(of[state.ABOVE] * x)
    assert (real <= of[state.ABOVE] * x + of[state.ABOVE_AT] + slack).all()


@pytest.mark.parametrize(("low", "high"), [(-1e-310, 3e-310), (-1e30, 1e-30), (-3.0, 3.0)])
def test_a_chord_is_moved_until_it_is_safe(low, high):
    slope, below, above = activations.chord(low, high, 0.0, high)
    assert below <= 0.0 - slope * low
    assert below <= high - slope * high
    assert above >= 0.0 - slope * low
    assert above >= high - slope * high


def summed(rng, terms):
    """Add up float32 numbers in a random order, ``(n, terms, units)``, each step rounded."""
    total = np.zeros(terms[:, 0].shape, dtype=np.float32)
    for k in rng.permutation(terms.shape[1]):
        total = total + terms[:, k].astype(np.float32)
    return total


def margins(case, encoded, points, combination, rng):
    """Compute margins as a float32 program would, adding up in whatever order it likes."""
    numbers = encoded.columns.at(points, np.full(len(points), combination)).astype(np.float32)
    for each in case.fed.opened.layers:
        products = numbers[:, :, None] * each.weights[None]
        bias = np.broadcast_to(each.bias, (len(points), 1, each.bias.size))
        sums = summed(rng, np.concatenate([products, bias], axis=1))
        if each is not case.fed.opened.layers[-1]:
            flat = answers(each.activation, sums.ravel())
            numbers = flat.reshape(sums.shape).astype(np.float32)
    return sums.astype(np.float64) @ encoded.margins.weights - encoded.margins.offset


@settings(max_examples=many(60))
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([*ACTIVATIONS[:-1], "relu", "relu", "relu"]),
    st.sampled_from([(1, 0.0), (16, 0.3), (16, np.inf)]),
)
def test_forms_are_below_the_margins_in_any_order_of_summing(seed, name, together):
    rng = np.random.default_rng(seed)
    case = drawn(seed, activation=Activation(name, alpha=0.3), classes=2 + seed % 2)
    encoded = case.encoded
    examiner = NetworkExaminer(encoded, case.fed, threads=1)
    network, room = examiner._network, examiner._rooms[0]
    network.limits[[state.TOGETHER, state.NEAR]] = together
    network.limits[state.ROUNDS] = 1
    # on truncated ranges forms hold in a part of the box only
    network.limits[state.LEAST_GAIN] = np.inf
    space = encoded.space
    ends = rng.integers(space.low[0], space.high[0], size=(2, len(space.axes)), endpoint=True)
    low, high = ends.min(axis=0)[None].copy(), ends.max(axis=0)[None].copy()
    one = np.zeros(1, dtype=np.int64)
    examined = (examiner._compared, low.copy(), high.copy(), one, 0, 1)
    room.bounds[:] = -np.inf
    examine(network, *examined, one.copy(), np.zeros((1, 5)), one.copy(), room)
    points = everywhere(space)
    points = points[((points >= low) & (points <= high)).all(axis=1)]
    for combination in range(len(encoded.combined)):
        v = np.flatnonzero((network.combined == encoded.combined[combination]).all(axis=1))[0]
        with np.errstate(all="ignore"):
            told = margins(case, encoded, points, combination, rng)
        assume(np.isfinite(told).all())
        for p in range(room.bounds.shape[1]):
            real = told[:, p // 2] * (1 - 2 * (p % 2))
            assert (real >= room.bounds[v, p]).all()
            if room.formed[room.bundle[v]] and room.won[v] < 0:
                form = room.kept[room.bundle[v], p]
                value = room.constants[v, p] + points @ form[: len(space.axes)]
                for i in range(len(space.axes)):
                    entry = network.axes[i, 2]
                    value += form[entry + points[:, i]] if entry >= 0 else 0.0
                # what is no number claims nothing
                assert not (real < value - 1e-12 * np.abs(value)).any()
