"""What is proven about networks, against everybody in small domains: never too much."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st

from fairdesk.certify.bounds import network as module
from fairdesk.certify.bounds.dense import state
from fairdesk.certify.bounds.dense.truncation import taken_of
from fairdesk.certify.bounds.network import NetworkExaminer
from fairdesk.certify.refine import Refinery
from fairdesk.data.domain.attributes import Role
from fairdesk.data.domain.domain import Domain
from fairdesk.errors import ModelError
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.structure import ACTIVATIONS, Activation
from tests.certify.networks import (
    RELU,
    Small,
    drawn,
    everywhere,
    fed_with,
    layer,
    names,
    number,
    sharp,
    small,
    truth,
    wide,
)
from tests.sizes import many


@pytest.fixture(autouse=True)
def _nothing_is_asked(monkeypatch):
    """Small boxes are bounded too, unless a test wants otherwise."""
    monkeypatch.setattr(module, "_LEAST", 0.0)


def boxes_in(space, rng, count=12):
    """Draw boxes; the first is the whole space."""
    ends = rng.integers(
        space.low[0], space.high[0], size=(2, count, len(space.axes)), endpoint=True
    )
    low, high = ends.min(axis=0), ends.max(axis=0)
    low[0], high[0] = space.low[0], space.high[0]
    return low, high


def within(points, low, high):
    return ((points >= low) & (points <= high)).all(axis=1)


def check(case, rng, may_be=None, encoded=None):
    """Hold what is said of boxes against what the model says of every point in them."""
    encoded = encoded or case.encoded
    space = encoded.space
    if may_be is not None:
        space = replace(space, may_be=may_be[None])
        encoded = replace(encoded, space=space)
    examiner = NetworkExaminer(encoded, case.fed, threads=1)
    low, high = boxes_in(space, rng)
    found = examiner.examine(low, high, np.zeros(len(low), dtype=np.intp))
    points = everywhere(space)
    discriminatory = truth(case, space, points, may_be)
    decided = 0.0
    for b in range(len(low)):
        assert (found.low[b] >= low[b]).all()
        assert (found.high[b] <= high[b]).all()
        assert (found.low[b] <= found.high[b]).all()
        whole = within(points, low[b], high[b])
        left = within(points, found.low[b], found.high[b])
        assert not discriminatory[whole & ~left].any()
        size, bad = left.sum(), discriminatory[left].sum()
        assert found.consistent[b] * size <= size - bad + 1e-9 * size
        assert found.discriminatory[b] * size <= bad + 1e-9 * size
        assert found.discriminatory_sets[b] == -1
        certain = found.consistent[b] >= 1.0 or found.discriminatory[b] >= 1.0
        wide = (found.high[b] > found.low[b]).any()
        # where all points are counted as consistent, nobody reads along which axis to halve
        assert (found.axis[b] >= 0) == wide or certain
        if found.axis[b] >= 0:
            assert wide
            i = found.axis[b]
            assert found.low[b, i] <= found.cut[b] < found.high[b, i]
        decided += found.consistent[b] + found.discriminatory[b]
    for each in found.examples:
        assert discriminatory[(points == each).all(axis=1)].all()
    return decided / len(low)


@settings(max_examples=many(60))
@given(st.integers(0, 2**32 - 1))
@example(40049816)
def test_never_more_is_claimed_than_is_true(seed):
    rng = np.random.default_rng(seed)
    case = drawn(seed, classes=int(rng.choice([2, 2, 3, 4])))
    side = case.encoded.space.may_be.shape[1]
    may_be = rng.random(side) < 0.7
    check(case, rng, may_be if may_be.sum() > 1 and rng.random() < 0.5 else None)


@settings(max_examples=many(30))
@given(st.integers(0, 2**32 - 1), st.sampled_from(ACTIVATIONS[:-1]))
def test_every_activation(seed, name):
    rng = np.random.default_rng(seed)
    alpha = float(rng.choice([-0.4, 0.1, 0.3, 1.0, 1.7]))
    ceiling = float(rng.choice([0.5, 2.0, np.inf]))
    own = Activation(name, alpha=alpha, ceiling=ceiling if name == "relu" else np.inf)
    case = drawn(seed, activation=own, spread=float(rng.choice([0.3, 1.0, 3.0])))
    try:
        check(case, rng)
    except ModelError:  # an exponential overflows
        reject()


@pytest.mark.parametrize("name", ACTIVATIONS[:-1])
def test_something_is_proven_with_every_activation(name):
    rng = np.random.default_rng(3)
    attributes = [number("a", 6), number("b", 6), names("race", 2, role=Role.PROTECTED)]
    case = small(attributes, [4, 3], rng, activation=Activation(name, alpha=0.3), spread=0.4)
    assert check(case, rng) > 0.2


@settings(max_examples=many(30))
@given(st.integers(0, 2**32 - 1))
def test_weights_that_are_huge_tiny_denormal_or_cancel(seed):
    rng = np.random.default_rng(seed)
    case = drawn(seed)
    layers = []
    for each in case.fed.opened.layers:
        scale = np.float32(10.0) ** rng.integers(-44, 39, size=each.weights.shape)
        usual = rng.random(each.weights.shape) < 0.7
        weights = each.weights * np.where(usual, 1.0, scale).astype(np.float32)
        if weights.shape[1] > 1 and rng.random() < 0.5:
            weights[:, 0] = -weights[:, 1] * np.float32(1.0 + 2.0**-23)
        if not np.isfinite(weights).all():
            weights = np.nan_to_num(weights, posinf=3e38, neginf=-3e38)
        layers.append(layer(weights, each.bias, each.activation))
    fed = fed_with(case.fed.attributes, layers)
    try:
        check(Small(fed, case.domain, case.people), rng)
    except ModelError:  # it overflows, and answers with no number
        reject()


def test_margins_that_rounding_decides_are_not_certain():
    """A sum that is nought but for rounding: the model says something, and nothing is proven."""
    attributes = [number("a", 9), names("race", 2, role=Role.PROTECTED)]
    third = np.float32(1.0 / 3.0)
    layers = [
        layer([[third, -third], [1, 1], [1 + 2**-22, 1]], [0, 0], RELU),
        layer([[1.0], [-1.0]], [0.0], Activation("sigmoid")),
    ]
    case = Small(fed_with(attributes, layers), None, np.array([[0.0, 0.0], [8.0, 1.0]]))
    case = case._replace(domain=Domain(tuple(attributes)))
    examiner = NetworkExaminer(case.encoded, case.fed, threads=1)
    found = examiner.examine(np.array([[0]]), np.array([[0]]), np.zeros(1, dtype=np.intp))
    assert found.consistent[0] == found.discriminatory[0] == 0.0
    assert found.axis[0] == -1
    assert examiner.margin > 0.0


@pytest.mark.parametrize("deep", [False, True])
def test_rounding_inside_is_allowed_for(deep):
    """Large weights cancel, and a small bias is lost on the way: bounds must not rely on it."""
    attributes = [number("a", 2), number("b", 2), names("sex", 2, role=Role.PROTECTED)]
    large = 2.0**23
    layers = [
        layer([[large], [-large], [0.0], [0.6]], [10.3], RELU),
        layer([[1.0]], [-10.15], Activation("sigmoid")),
    ]
    if deep:
        layers.insert(0, layer(np.eye(4), np.zeros(4), RELU))
    case = Small(fed_with(attributes, layers), None, np.array([[0.0, 0, 0], [1, 1, 1]]))
    case = case._replace(domain=Domain(tuple(attributes)))
    points = everywhere(case.encoded.space)
    # in exact numbers 10.3 and 10.9 are both above 10.15; in single precision 10.3 has become 10
    both = np.flatnonzero((points == 1).all(axis=1))
    assert truth(case, case.encoded.space, points)[both].all()
    examiner = NetworkExaminer(case.encoded, case.fed, threads=1)
    found = examiner.examine(points[both], points[both], np.zeros(1, dtype=np.intp))
    assert found.consistent[0] == 0.0


def test_what_comes_after_the_last_layer_rounds_too():
    """The logistic function of a tiny logit is one half: not above it."""
    attributes = [number("a", 2), names("sex", 2, role=Role.PROTECTED)]
    layers = [layer([[0.0], [0.0], [1e-6]], [1e-8], Activation("sigmoid"))]
    layers.insert(0, layer(np.eye(3), np.zeros(3), RELU))
    case = Small(fed_with(attributes, layers), None, np.array([[0.0, 0], [1, 1]]))
    case = case._replace(domain=Domain(tuple(attributes)))
    points = everywhere(case.encoded.space)
    assert truth(case, case.encoded.space, points).all()
    examiner = NetworkExaminer(case.encoded, case.fed, threads=1)
    found = examiner.examine(points, points, np.zeros(len(points), dtype=np.intp))
    assert not found.consistent.any()


def test_a_long_table_is_bounded_by_its_extremes(monkeypatch):
    monkeypatch.setattr(module, "_MOST_ENTRIES", 2)
    rng = np.random.default_rng(1)
    for seed in range(8):
        attributes = [number("a", 5), names("b", 7), names("race", 3, role=Role.PROTECTED)]
        check(small(attributes, [4, 3], np.random.default_rng(seed)), rng)


def with_races(seed, far=1.0, count=5):
    """Draw a network over one attribute with several protected values, far apart or not."""
    rng = np.random.default_rng(seed)
    attributes = [number("a", 6), number("b", 6), number("race", count, role=Role.PROTECTED)]
    attributes.append(names("sex", 2, role=Role.PROTECTED))
    case = small(attributes, [5, 4], rng)
    first = case.fed.opened.layers[0]
    weights = first.weights.copy()
    weights[2:] *= np.float32(far)
    layers = [layer(weights, first.bias, RELU), *case.fed.opened.layers[1:]]
    return case._replace(fed=fed_with(attributes, layers))


@pytest.mark.parametrize("near", [0.0, 0.3, np.inf])
@pytest.mark.parametrize("together", [1, 2, 16])
def test_combinations_may_be_bounded_together_or_one_by_one(monkeypatch, together, near):
    monkeypatch.setattr(module, "_TOGETHER", together)
    monkeypatch.setattr(module, "_NEAR", near)
    rng = np.random.default_rng(together)
    for seed in range(5):
        check(drawn(seed), rng)
        for far in (0.01, 0.2, 2.0):
            case = with_races(seed, far)
            side = case.encoded.space.may_be.shape[1]
            may_be = rng.random(side) < 0.7
            check(case, rng, may_be if may_be.sum() > 1 else None)


def bundled(case, low, high, near):
    """Examine a box; tell what is decided, and how many combinations were bounded together."""
    examiner = NetworkExaminer(case.encoded, case.fed, threads=1)
    examiner._network.limits[[state.NEAR, state.LEAST_GAIN]] = near, np.inf
    found = examiner.examine(low, high, np.zeros(len(low), dtype=np.intp))
    room = examiner._rooms[0]
    ends = room.until[: int(np.flatnonzero(room.until == len(room.until))[0]) + 1]
    return found.consistent[0] + found.discriminatory[0], np.diff(ends, prepend=0).tolist()


def test_combinations_that_are_far_apart_are_bounded_one_by_one():
    """Beside what a box itself makes of the first sums; it decides more than all in one."""
    low, high = np.array([[0, 0]]), np.array([[5, 5]])
    apart = together = 0.0
    for seed in range(12):
        far = with_races(seed, 9.0)
        decided, sizes = bundled(far, low, high, 0.3)
        apart += decided
        # both sexes of a race may be near
        assert max(sizes) <= 2
        decided, sizes = bundled(far, low, high, np.inf)
        together += decided
        assert sizes == [10]
        assert bundled(with_races(seed, 0.001), low, high, 0.3)[1] == [10]
    assert apart > together + 1.0


def test_of_very_many_combinations_some_are_bounded_together_all_the_same():
    _, sizes = bundled(with_races(1, 9.0, 25), np.array([[0, 0]]), np.array([[5, 5]]), 0.0)
    assert sizes == [4] * 12 + [2]


def test_other_thresholds_and_several_favourable_classes():
    for changes, classes in (({"threshold": 0.3}, 2), ({"together": (0, 3)}, 4)):
        case = drawn(29, classes=classes)
        mapping = msgspec.structs.replace(case.fed.mapping, **changes)
        fed = FedModel(case.fed.opened, mapping, case.fed.attributes)
        check(case._replace(fed=fed), np.random.default_rng(0))


def test_combinations_that_are_the_same_to_the_model_are_alike():
    attributes = [number("a", 5), names("race", 3, role=Role.PROTECTED)]
    case = small(attributes, [4], np.random.default_rng(0))
    first = case.fed.opened.layers[0]
    weights = first.weights.copy()
    weights[1:] = weights[1]
    fed = fed_with(attributes, [layer(weights, first.bias, RELU), *case.fed.opened.layers[1:]])
    examiner = NetworkExaminer(case._replace(fed=fed).encoded, fed, threads=1)
    found = examiner.examine(np.array([[0]]), np.array([[4]]), np.zeros(1, dtype=np.intp))
    assert found.consistent[0] == 1.0


def test_small_boxes_are_asked_about_point_by_point(monkeypatch):
    monkeypatch.setattr(module, "_LEAST", 1e9)
    case = drawn(5)
    space = case.encoded.space
    examiner = NetworkExaminer(case.encoded, case.fed)
    found = examiner.examine(space.low, space.high, np.zeros(1, dtype=np.intp))
    assert found.discriminatory_sets[0] == truth(case, space, everywhere(space)).sum()
    assert found.queries > 0


@pytest.mark.parametrize("seed", range(6))
def test_everything_is_decided_in_the_end(monkeypatch, seed):
    monkeypatch.setattr(module, "_LEAST", 4.0)
    case = drawn(seed, classes=2 + seed % 2)
    examiner = NetworkExaminer(case.encoded, case.fed)
    examiner.batch = 8
    refinery = Refinery(case.encoded.space, examiner)
    while not refinery.over:
        refinery.step()
    assert (
        refinery.discriminatory
        == truth(case, case.encoded.space, everywhere(case.encoded.space)).sum()
    )
    assert refinery.undecided == 0


def cut_in(case, low, high, **limits):
    """Examine a box; give what is said, and which share of it each unit was said to exclude."""
    examiner = NetworkExaminer(case.encoded, case.fed, threads=1)
    for name, value in limits.items():
        examiner._network.limits[getattr(state, name)] = value
    found = examiner.examine(low[None], high[None], np.zeros(1, dtype=np.intp))
    return found, examiner._rooms[0].cuts[state.EXCLUDED].copy()


@pytest.mark.parametrize("kind", [sharp, wide])
@pytest.mark.parametrize(("together", "near"), [(1, 0.0), (16, 0.3), (16, np.inf)])
def test_truncated_ranges_never_claim_more_than_is_true(kind, together, near):
    """Of large boxes, where as many units as possible are truncated."""
    for seed in range(150 if kind is sharp else 40):
        case = kind(seed)
        space, rng = case.encoded.space, np.random.default_rng(seed)
        points = everywhere(space)
        discriminatory = truth(case, space, points)
        for low, high in zip(*boxes_in(space, rng, 3), strict=True):
            found, _ = cut_in(case, low, high, LEAST_GAIN=-1.0, TOGETHER=together, NEAR=near)
            left = within(points, found.low[0], found.high[0])
            bad = discriminatory[left].mean()
            assert found.consistent[0] <= 1.0 - bad + 1e-12
            assert found.discriminatory[0] <= bad + 1e-12


def test_truncated_ranges_prove_more():
    before = after = truncated = 0.0
    for seed in range(24):
        case = wide(seed)
        space = case.encoded.space
        plain, none = cut_in(case, space.low[0], space.high[0], LEAST_GAIN=np.inf)
        found, cut = cut_in(case, space.low[0], space.high[0])
        assert not none.any()
        before += plain.consistent[0] + plain.discriminatory[0]
        after += found.consistent[0] + found.discriminatory[0]
        truncated += cut.any()
    assert truncated > 8
    assert after > before + 0.2


def test_what_units_of_earlier_layers_exclude_is_taken_off_every_class():
    """Later ranges are bounded by their lines; of the last units only those a form hangs on."""
    deep = 0
    for seed in range(12):
        case = wide(seed)
        examiner = NetworkExaminer(case.encoded, case.fed, threads=1)
        network, room = examiner._network, examiner._rooms[0]
        last = network.shape[-1, state.FIRST]
        room.cuts[state.EXCLUDED, :last], room.cuts[state.EXCLUDED, last:] = 0.01, 0.5
        room.pulls[:] = 1.0
        for c in range(len(network.needs)):
            assert taken_of.py_func(network, c, room) == pytest.approx(0.01 * last)
        deep += last > 0
    assert deep > 3


@pytest.mark.parametrize("kind", [sharp, wide])
def test_what_truncated_units_exclude_is_never_too_little(kind):
    """The sums of the first layer, at every point, against what is taken off for them."""
    several = 0
    for seed in range(60):
        case = kind(seed)
        encoded = case.encoded
        space, points = encoded.space, everywhere(encoded.space)
        examiner = NetworkExaminer(encoded, case.fed, threads=1)
        network, room = examiner._network, examiner._rooms[0]
        network.limits[state.LEAST_GAIN] = -1.0
        found = examiner.examine(space.low, space.high, np.zeros(1, dtype=np.intp))
        points = points[within(points, found.low[0], found.high[0])]
        sums = np.tile(encoded.bias, (len(points), 1))
        for i, table in enumerate(encoded.tables):
            sums += table[points[:, i]] if len(table) else points[:, i, None] * encoded.slopes[i]
        excluded = room.cuts[state.EXCLUDED, : encoded.bias.size]
        # beyond rounding
        slack = 1e-9 * (1.0 + np.abs(sums).max(axis=0))
        out = (sums < room.first[0] - slack) | (sums > room.first[1] + slack)
        out &= excluded > 0.0
        assert (out.mean(axis=0) <= excluded).all()
        assert out.any(axis=1).mean() <= taken_of.py_func(network, -1, room)
        several += out.any(axis=1).mean() > 1.01 * excluded.max()
    # what is excluded by several is more than what one of them excludes
    assert several > 5
