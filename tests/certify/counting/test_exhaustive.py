"""Asking about everybody in boxes: exactly what the model itself says of each."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from time import perf_counter, process_time, sleep
from unittest.mock import patch

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.certify.counting import exhaustive as module
from fairdesk.certify.counting.exhaustive import PointCounter, points_of
from fairdesk.certify.domain import space as space_module
from fairdesk.certify.domain.space import sizes
from fairdesk.data.domain.attributes import Role
from fairdesk.errors import ModelError
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import labels
from fairdesk.models.structure import ACTIVATIONS, Activation
from tests.certify.networks import RELU, drawn, everywhere, fed_with, layer, names, number, small
from tests.certify.populations import SEEDS, peopled, rows_of
from tests.sizes import many


def boxes_in(space, rng, count):
    """Draw boxes; the first is the whole space."""
    ends = rng.integers(
        space.low[0], space.high[0], size=(2, count, len(space.axes)), endpoint=True
    )
    low, high = ends.min(axis=0), ends.max(axis=0)
    low[0], high[0] = space.low[0], space.high[0]
    return low, high


def decided(fed, space, points):
    """Ask the model about whole similar sets: ``(n, C)``."""
    similar = space.domain.similar(space.rows(points))
    told = labels(fed.predict(similar.reshape(-1, similar.shape[2])))
    return told.reshape(similar.shape[:2])


def check(fed, encoded, rng, *, may_be=None, compiled=True, idle=()):
    """Compare what is counted with what the model says of every point."""
    space = encoded.space
    if may_be is not None:
        space = replace(space, may_be=may_be)
    low, high = boxes_in(space, rng, 12)
    group = rng.integers(len(space.may_be), size=len(low))
    everyone = PointCounter(space, fed, encoded.columns)
    assert (everyone._compiled is not None) == compiled
    counted = everyone.count(low, high, group)
    points = everywhere(space)
    told = decided(fed, space, points)
    pairs = np.zeros_like(everyone.pairs)
    queries = 0
    for b in range(len(low)):
        inside = ((points >= low[b]) & (points <= high[b])).all(axis=1)
        members = np.flatnonzero(space.may_be[group[b]])
        own = told[inside][:, members]
        discriminatory = (own != own[:, :1]).any(axis=1)
        assert counted.discriminatory[b] == discriminatory.sum()
        for c, d in combinations(range(len(members)), 2):
            pairs[members[c], members[d]] += (own[:, c] != own[:, d]).sum()
        same = np.prod((high - low + 1)[b, list(idle)])
        queries += own.size // same if len(members) > 1 else 0
    np.testing.assert_array_equal(everyone.pairs, pairs)
    assert everyone.points == sum(sizes(low, high))
    assert counted.queries == queries
    assert_examples(fed, space, counted.examples, any(counted.discriminatory))
    return counted


def assert_examples(fed, space, examples, there_are):
    assert bool(len(examples)) == there_are
    if len(examples):
        told = decided(fed, space, examples)
        assert (told != told[:, :1]).any(axis=1).all()


@settings(max_examples=many(40))
@given(st.integers(0, 2**32 - 1))
def test_networks_are_counted_as_they_answer(seed):
    rng = np.random.default_rng(seed)
    case = drawn(seed, classes=int(rng.choice([2, 2, 3, 4])))
    encoded = case.encoded
    side = encoded.space.may_be.shape[1]
    may_be = rng.random((3, side)) < 0.7
    check(case.fed, encoded, rng, may_be=may_be if rng.random() < 0.5 else None)


@settings(max_examples=many(20))
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 3, 32_768]))
def test_axes_whose_values_are_not_listed(seed, rows):
    with patch.object(space_module, "MOST_LISTED", 2), patch.object(module, "_ROWS", rows):
        case = drawn(seed)
        encoded = case.encoded
        check(case.fed, encoded, np.random.default_rng(seed))
    assert any(not axis.listed for axis in encoded.space.axes) == any(
        axis.count > 2 for axis in encoded.space.axes
    )


def test_of_a_very_long_axis_nothing_is_written_down():
    case = drawn(5)
    with patch.object(module, "_MOST_WRITTEN", 1):
        check(case.fed, case.encoded, np.random.default_rng(0), compiled=False)


@pytest.mark.parametrize("name", [name for name in ACTIVATIONS if name != "softmax"])
def test_every_activation(name):
    rng = np.random.default_rng(ACTIVATIONS.index(name))
    case = drawn(7, activation=Activation(name, alpha=0.3))
    check(case.fed, case.encoded, rng)


def test_relu_with_a_ceiling():
    case = drawn(8, activation=Activation("relu", ceiling=1.5))
    check(case.fed, case.encoded, np.random.default_rng(0))


@pytest.mark.parametrize("place", range(4))
def test_protected_columns_may_stand_anywhere(place):
    attributes = [number("a", 5), names("b", 4), number("c", 7)]
    attributes.insert(place, names("race", 3, role=Role.PROTECTED))
    rng = np.random.default_rng(place)
    case = small(attributes, [9, 13, 4], rng)
    check(case.fed, case.encoded, rng)


def remapped(case, **changes):
    """The same network behind another mapping."""
    fed = case.fed
    mapping = msgspec.structs.replace(fed.mapping, **changes)
    return case._replace(fed=FedModel(fed.opened, mapping, fed.attributes))


def test_another_threshold():
    case = remapped(drawn(29), threshold=0.3)
    assert check(case.fed, case.encoded, np.random.default_rng(0)).discriminatory.any()


def test_several_favourable_classes():
    case = remapped(drawn(29, classes=4), together=(0, 3))
    assert check(case.fed, case.encoded, np.random.default_rng(0)).discriminatory.any()


@pytest.mark.parametrize("beyond", [False, True])
def test_an_estimated_number_at_its_threshold(beyond):
    # whole numbers: many answers are the threshold itself
    attributes = [number("a", 9), number("b", 9), number("sex", 2, role=Role.PROTECTED)]
    layers = [layer([[1], [2], [1]], [0], Activation("linear"))]
    fed = fed_with(attributes, layers)
    fed.opened._card = msgspec.structs.replace(
        fed.opened.card, scores="values", classes=("low", "high")
    )
    case = remapped(
        small(attributes, [2], np.random.default_rng(0))._replace(fed=fed),
        threshold=9.0,
        beyond=beyond,
    )
    assert check(case.fed, case.encoded, np.random.default_rng(0)).discriminatory.any()


def test_axes_that_the_model_does_not_look_at():
    attributes = [number("a", 3), number("idle", 5), number("b", 6)]
    attributes.append(number("race", 3, role=Role.PROTECTED))
    rng = np.random.default_rng(3)
    case = small(attributes, [6, 4], rng)
    inputs = tuple(each for each in case.fed.mapping.inputs if each.attribute != "idle")
    first, *rest = case.fed.opened.layers
    shorter = replace(first, weights=np.delete(first.weights, 1, axis=0))
    fed = fed_with([each for each in attributes if each.name != "idle"], [shorter, *rest])
    fed = FedModel(
        fed.opened, msgspec.structs.replace(fed.mapping, inputs=inputs), tuple(attributes)
    )
    case = case._replace(fed=fed)
    assert check(fed, case.encoded, rng, idle=[1]).discriminatory.any()


def test_a_large_box_is_shared_out():
    attributes = [number("a", 30), number("b", 25), number("c", 40)]
    attributes.append(names("race", 3, role=Role.PROTECTED))
    case = small(attributes, [12, 8], np.random.default_rng(5), activation=RELU)
    encoded = case.encoded
    space = encoded.space
    ours, plain = PointCounter(space, case.fed, encoded.columns), PointCounter(space, case.fed)
    group = np.zeros(1, dtype=np.intp)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_AT_ONCE", 5_000)
        one = ours.count(space.low, space.high, group)
    other = plain.count(space.low, space.high, group)
    assert one.discriminatory[0] == other.discriminatory[0] > 0
    assert one.queries == other.queries == 90_000
    np.testing.assert_array_equal(ours.pairs, plain.pairs)
    assert_examples(case.fed, space, one.examples, there_are=True)


def test_a_model_that_is_no_network_of_ours_is_asked_itself():
    case = drawn(31)

    class Foreign:
        card = case.fed.opened.card

        def matrix_scores(self, matrix):
            return case.fed.opened.matrix_scores(matrix)

    fed = FedModel(Foreign(), case.fed.mapping, case.fed.attributes)
    check(fed, case.encoded, np.random.default_rng(1), compiled=False)


def test_answers_that_are_no_numbers_are_told():
    case = drawn(33, spread=1e30, activation=Activation("linear"))
    encoded = case.encoded
    everyone = PointCounter(encoded.space, case.fed, encoded.columns)
    case.fed.opened.layers[-1].bias[:] = np.nan
    everyone = PointCounter(encoded.space, case.fed, encoded.columns)
    with pytest.raises(ModelError, match="no finite number for 72 of 72 rows"):
        everyone.count(encoded.space.low, encoded.space.high, np.zeros(1, dtype=np.intp))


def test_speed_is_tried_and_then_measured():
    case = drawn(35)
    everyone = PointCounter(case.encoded.space, case.fed, case.encoded.columns)
    assert everyone.clock is process_time
    assert everyone.trial_queries == 0
    assert 0.0 < everyone.speed < np.inf
    assert everyone.points == 0
    assert everyone.trial_queries > 0


def test_a_slow_model_is_not_asked_much_to_see_that():
    attributes = [number("a", 60), number("b", 60), number("race", 3, role=Role.PROTECTED)]
    case = small(attributes, [4], np.random.default_rng(1))
    asked = []

    class Slow:
        card = case.fed.opened.card

        def matrix_scores(self, matrix):
            asked.append(len(matrix))
            sleep(0.03)
            return case.fed.opened.matrix_scores(matrix)

    fed = FedModel(Slow(), case.fed.mapping, case.fed.attributes)
    everyone = PointCounter(case.encoded.space, fed)
    assert everyone.speed > 0.0
    # one point for what is loaded at the first call, then four boxes of sixteen
    assert sum(asked) <= (1 + 4 * 16) * 3
    assert everyone.trial_queries == sum(asked)
    # it may compute in another process
    assert everyone.clock is perf_counter


def test_axes_of_very_many_places_are_cut():
    attributes = [number("a", 700), number("b", 3), number("race", 3, role=Role.PROTECTED)]
    case = small(attributes, [7, 4], np.random.default_rng(6), spread=0.2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MOST_PLACES", 64)
        assert check(case.fed, case.encoded, np.random.default_rng(2)).discriminatory.any()


def test_a_model_that_looks_at_nothing_but_what_is_protected():
    attributes = [number("a", 3), number("b", 4), number("race", 3, role=Role.PROTECTED)]
    inputs = fed_with(attributes[2:], [layer([[2.0, -1.0]], [0.0, 1.0], RELU)])
    ends = layer([[1.0], [1.0]], [-2.5], Activation("sigmoid"))
    fed = fed_with(attributes[2:], [*inputs.opened.layers, ends])
    fed = FedModel(fed.opened, fed.mapping, tuple(attributes))
    case = small(attributes, [2], np.random.default_rng(0))._replace(fed=fed)
    told = check(fed, case.encoded, np.random.default_rng(0), idle=[0, 1])
    assert told.discriminatory[0] == 12


@settings(max_examples=many(40))
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 4, 9, 50, 32_768]))
def test_rows_are_counted_alike_however_many_go_at_once(seed, at_once):
    rng = np.random.default_rng(seed)
    case = drawn(seed)
    space = peopled(case.encoded.space, rows_of(case.domain, rng, 40))
    may_be = rng.random((3, space.may_be.shape[1])) < 0.8
    space = replace(space, may_be=may_be)
    low, high = boxes_in(space, rng, 9)
    group = rng.integers(3, size=len(low))
    ours = PointCounter(space, case.fed, case.encoded.columns)
    plain = PointCounter(space, case.fed)
    with patch.object(module, "_ROWS", at_once):
        told = plain.count(low, high, group)
    assert plain._compiled is None
    true = ours.count(low, high, group)
    np.testing.assert_array_equal(told.discriminatory, true.discriminatory)
    np.testing.assert_array_equal(plain.pairs, ours.pairs)
    assert told.queries == true.queries
    for own, other in zip(told.people, true.people, strict=True):
        np.testing.assert_allclose(own, other, atol=2e-9)
    assert_examples(case.fed, space, told.examples, bool(true.discriminatory.any()))


@given(SEEDS, st.integers(0, 4))
@settings(max_examples=many(60))
def test_points_of_boxes_are_all_there_in_order(seed, axes):
    rng = np.random.default_rng(seed)
    low = rng.integers(-3, 4, (int(rng.integers(0, 6)), axes))
    high = low + rng.integers(0, 4, low.shape) * rng.integers(0, 2, low.shape)
    box, places = points_of(low, high)
    expected = [
        (b, *point)
        for b, ends in enumerate(zip(low.tolist(), high.tolist(), strict=True))
        for point in product(*(range(first, last + 1) for first, last in zip(*ends, strict=True)))
    ]
    assert [(b, *point) for b, point in zip(box.tolist(), places.tolist(), strict=True)] == expected
