"""FairQuant's shares, against counting everybody."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.certify.baselines import fairquant
from fairdesk.certify.baselines.common import Tally
from fairdesk.certify.baselines.fairquant import FairQuantOptions
from fairdesk.certify.baselines.fairquant_kernels import SAMPLERS
from fairdesk.certify.domain.space import sizes, space_of
from fairdesk.data.domain.attributes import Role
from fairdesk.errors import ModelError, SpecError
from fairdesk.individual.engine.context import SearchContext
from fairdesk.models.model import labels
from fairdesk.models.structure import LINEAR, Activation
from fairdesk.results.events import Found, Measured, Progress
from tests.benchmarks.certify import NETWORKS
from tests.certify.networks import (
    RELU,
    Small,
    drawn,
    everywhere,
    fed_with,
    layer,
    names,
    number,
    small,
    truth,
)
from tests.models.tables import needs_shared
from tests.sizes import many

LEAKY = Activation("leaky_relu", 0.25)


def run(case, seed=0, **options):
    context = case.context
    rng = np.random.default_rng(seed)
    events = list(fairquant.search(context, case.people, FairQuantOptions(**options), rng))
    measured = [event for event in events if isinstance(event, Measured)]
    return measured[-1].figures[0], events


def counted(case):
    space = space_of(case.domain, case.people)
    discriminatory = truth(case, space, everywhere(space))
    return int((~discriminatory).sum()), int(discriminatory.sum())


@given(
    seed=st.integers(0, 10_000),
    classes=st.sampled_from((2, 3)),
    activation=st.sampled_from((RELU, LEAKY, LINEAR)),
    spread=st.sampled_from((0.01, 1.0, 1_000.0)),
    depths=st.sampled_from(((15, 20), (0, 20), (100, 100), (1, 2))),
    sampler=st.sampled_from(SAMPLERS),
    after=st.sampled_from(("leave", "halve")),
)
@settings(max_examples=many(60))
def test_shares_are_never_above_the_truth(
    seed, classes, activation, spread, depths, sampler, after
):
    case = drawn(seed, classes=classes, activation=activation, spread=spread)
    told, events = run(
        case,
        seed,
        min_sample_depth=depths[0],
        max_refinement_depth=depths[1],
        sampler=sampler,
        after=after,
    )
    for each in (event for event in events if isinstance(event, Found)):
        assert case.domain.contains(each.rows).all()
    consistent, discriminatory = counted(case)
    certified, falsified = int(told.certified_people), int(told.falsified_people)
    assert int(told.total) == consistent + discriminatory
    assert certified <= consistent
    assert falsified <= discriminatory
    assert told.certified <= certified / (consistent + discriminatory)
    assert told.falsified <= falsified / (consistent + discriminatory)
    if depths[0] == 100:  # nothing is tried, and everything is halved to single points
        assert told.exact
    assert told.exact == (certified + falsified == consistent + discriminatory)


@pytest.mark.parametrize("spread", [1e-30, 1e-41, 1e12, 1e37])
def test_weights_that_single_precision_hardly_holds(spread):
    compared = 0
    for seed in range(20):
        case = drawn(seed, spread=1.0)
        for each in case.fed.opened.layers:
            with np.errstate(over="ignore"):
                each.weights[:] = (each.weights.astype(np.float64) * spread).astype(np.float32)
            each.weights[~np.isfinite(each.weights)] = np.float32(3e38)
        try:
            consistent, discriminatory = counted(case)
            told, _ = run(case, min_sample_depth=100, max_refinement_depth=100)
        except ModelError:  # it has no answer for some, and says so
            continue
        compared += 1
        assert int(told.certified_people) <= consistent
        assert int(told.falsified_people) <= discriminatory
    assert compared > 3


def in_the_first_layer():
    """A sum that is half a unit above or below 0, after 2 ** 24 was added and taken off."""
    large = 2.0**24
    return [layer([[large], [1.0], [-large]], [-0.5], Activation("sigmoid"))]


def in_a_later_layer():
    """Two hundred ones, which are lost one by one where 2 ** 24 is added first."""
    large, units = 2.0**24, 200
    first = np.zeros((3, units + 2))
    first[0, 0], first[1, 1:-1], first[2, -1] = large, 1.0, large
    last = np.ones((units + 2, 1))
    last[-1] = -1.0
    return [
        layer(first, np.zeros(units + 2), RELU),
        layer(last, [-units / 2], Activation("sigmoid")),
    ]


def case_domain(attributes):
    from fairdesk.data.domain.domain import Domain

    return Domain(tuple(attributes))


def people_of(attributes):
    return np.array([[each.low for each in attributes], [each.high for each in attributes]])


@pytest.mark.parametrize("layers", [in_the_first_layer, in_a_later_layer])
def test_rounding_of_the_model_itself_is_allowed_for(layers):
    """In exact arithmetic whoever has n = m is unlike; as the model computes, some are alike."""
    attributes = (number("n", 2), number("sex", 2, role=Role.PROTECTED), number("m", 2))
    case = Small(fed_with(attributes, layers()), case_domain(attributes), people_of(attributes))
    consistent, discriminatory = counted(case)
    assert (consistent, discriminatory) == (3, 1)
    told, _ = run(case)
    assert int(told.certified_people) <= consistent
    assert int(told.falsified_people) <= discriminatory
    # single points were asked of the model
    assert told.exact
    assert told.margin > 0.5


def toy(values=3):
    """A network for which the least and the greatest value are alike, and the middle one not."""
    attributes = (number("n", 8), number("race", values, role=Role.PROTECTED))
    # |race - 1| - 0.5: above 0 for 0 and 2, below for 1
    layers = [
        layer([[0.0, 0.0], [1.0, -1.0]], [-1.0, 1.0], RELU),
        layer([[1.0], [1.0]], [-0.5], Activation("sigmoid")),
    ]
    return Small(fed_with(attributes, layers), case_domain(attributes), people_of(attributes))


def test_a_middle_value_counts():
    told, events = run(toy())
    assert told.falsified == 1.0
    assert told.falsified_people == "8"
    assert not [event for event in events if isinstance(event, Found)]
    assert run(toy(1 + 1))[0].falsified == 1.0


def test_only_those_who_may_be_are_compared():
    """Without the middle value all are alike; where one value may be there is no comparison."""
    case = toy()
    encoded = case.encoded
    for may_be, certified in (((1, 0, 1), 1.0), ((1, 1, 0), 0.0), ((0, 1, 0), 0.0)):
        space = replace(encoded.space, may_be=np.array([may_be], dtype=np.bool_))
        walk = fairquant._Walk(
            case.context,
            replace(encoded, space=space),
            FairQuantOptions(),
            np.random.default_rng(0),
        )
        for _ in walk.run():
            pass
        assert walk.figure().certified == certified
    nobody = replace(encoded.space, may_be=np.zeros((1, 3), dtype=np.bool_))
    walk = fairquant._Walk(
        case.context, replace(encoded, space=nobody), FairQuantOptions(), np.random.default_rng(0)
    )
    assert not list(walk.run())
    assert walk.figure().total == "0"


def test_what_is_unclear_is_not_decided():
    case = toy()
    encoded = case.encoded
    space = replace(encoded.space, unclear=np.ones(1, dtype=np.bool_))
    walk = fairquant._Walk(
        case.context, replace(encoded, space=space), FairQuantOptions(), np.random.default_rng(0)
    )
    assert not list(walk.run())
    told = walk.figure()
    assert told.undecided == 1.0
    assert told.notes


def test_a_protected_attribute_that_the_model_does_not_use():
    attributes = (number("n", 8), number("sex", 2, role=Role.PROTECTED))
    layers = [
        layer([[1.0, -1.0], [0.0, 0.0]], [-3.0, 2.0], RELU),
        layer([[1.0], [1.0]], [-0.5], Activation("sigmoid")),
    ]
    case = Small(fed_with(attributes, layers), case_domain(attributes), people_of(attributes))
    told, _ = run(case)
    assert told.certified == 1.0
    assert told.boxes == 0
    assert "No protected attribute" in told.notes[0]


def larger():
    rng = np.random.default_rng(3)
    attributes = [number(f"n{i}", 20) for i in range(4)]
    return small([*attributes, names("job", 5), number("sex", 2, role=Role.PROTECTED)], [8, 8], rng)


def test_examples_are_unlike_and_in_the_domain():
    case = larger()
    told, events = run(case, min_sample_depth=2, max_refinement_depth=12)
    found = [event for event in events if isinstance(event, Found)]
    rows = np.concatenate([event.rows for event in found])
    partners = np.concatenate([event.partners for event in found])
    assert len(rows) > 5
    assert case.domain.contains(rows).all()
    assert (labels(case.fed.predict(rows)) != labels(case.fed.predict(partners))).all()
    assert told.undecided > 0
    assert "counterexample" in told.notes[0]


def test_a_box_with_an_example_is_not_falsified():
    """One point is proven unlike, not its box: the paper's program looks no further there."""
    case = larger()
    early, _ = run(case, min_sample_depth=0, max_refinement_depth=12)
    late, _ = run(case, min_sample_depth=100, max_refinement_depth=12)
    assert early.undecided > late.undecided
    assert early.boxes < late.boxes


def far(low):
    """A network over numbers from ``low`` on that changes with sex near 0, outside the domain."""
    attributes = (number("n", 64, low), number("m", 64, low), number("sex", 2, role=Role.PROTECTED))
    sign = 1.0 if low < 0 else -1.0
    layers = [
        layer([[1.0, sign], [-1.0, sign], [0.0, 100.0]], [1_000.0, -50.0], RELU),
        layer([[1.0], [2.0]], [-1_000.5], Activation("sigmoid")),
    ]
    return Small(fed_with(attributes, layers), case_domain(attributes), people_of(attributes))


@pytest.mark.parametrize("low", [100, -200, 1_000, 0])
def test_points_outside_the_domain_are_no_counterexamples(low):
    """The published program's points: 0 is one of them, wherever a box lies, and ends the box."""
    options = {"min_sample_depth": 0, "max_refinement_depth": 12}
    told, events = run(far(low), **options, sampler="published")
    found = [event for event in events if isinstance(event, Found)]
    noted = [note for note in told.notes if "outside the input domain" in note]
    assert bool(found) == (low == 0)
    assert bool(noted) == (low != 0)
    inside, events = run(far(low), **options, sampler="diagonal")
    assert not [note for note in inside.notes if "outside the input domain" in note]
    if low:
        assert inside.certified == 1.0
        assert told.certified_people == "0"


@needs_shared
@pytest.mark.parametrize(
    ("name", "certified", "boxes"), [("AC-1", 90.68, 83_537), ("compas-1", 97.27, 93)]
)
def test_the_published_program_is_reproduced(name, certified, boxes):
    """With its own points its walk is the same, whatever is computed once for all values."""
    case = NETWORKS[name].opened()
    context = SearchContext(case.model, case.domain)
    options = FairQuantOptions(sampler="published")
    events = fairquant.search(context, case.people, options, np.random.default_rng(0))
    told = [event for event in events if isinstance(event, Measured)][-1].figures[0]
    assert 100 * told.certified == pytest.approx(certified, abs=0.02)
    assert told.boxes == pytest.approx(boxes, rel=1e-4)


def test_a_box_is_halved_after_a_counterexample_where_that_is_asked_for():
    options = {"min_sample_depth": 2, "max_refinement_depth": 12}
    left, events = run(larger(), **options)
    halved, more = run(larger(), **options, after="halve")
    assert int(halved.certified_people) + int(halved.falsified_people) > int(
        left.certified_people
    ) + int(left.falsified_people)
    found, all_found = (
        sum(len(event.rows) for event in each if isinstance(event, Found))
        for each in (events, more)
    )
    assert all_found > found
    assert "further" in left.notes[0]
    assert "further" not in halved.notes[0]


def test_same_seed_same_events():
    case = larger()
    options = {"min_sample_depth": 3, "max_refinement_depth": 10}
    first, events = run(case, 7, **options)
    second, again = run(case, 7, **options)
    assert (first.certified_people, first.falsified_people, first.boxes) == (
        second.certified_people,
        second.falsified_people,
        second.boxes,
    )
    rows, others = (
        np.concatenate([each.rows for each in told if isinstance(each, Found)])
        for told in (events, again)
    )
    assert np.array_equal(rows, others)


def test_it_can_be_left_at_any_event_and_told_to_end():
    case = larger()
    context = case.context
    events = fairquant.search(
        context, case.people, FairQuantOptions(max_refinement_depth=60), np.random.default_rng(0)
    )
    kinds = {type(next(events)) for _ in range(6)}
    assert {Progress, Measured} <= kinds
    context.request_finish()
    rest = list(events)
    assert len(rest) < 6
    told = [event for event in rest if isinstance(event, Measured)][-1].figures[0]
    assert 0 < told.undecided < 1
    assert told.course[-1][1] == told.certified


def test_a_limit_of_time_is_kept():
    case = larger()
    told, _ = run(case, max_refinement_depth=60, min_sample_depth=60, seconds=0.01)
    everything, _ = run(case, max_refinement_depth=60, min_sample_depth=60)
    assert told.boxes < everything.boxes
    assert everything.exact


@pytest.mark.parametrize(
    "activation", [Activation("tanh"), Activation("relu", ceiling=6.0), Activation("elu", 1.0)]
)
def test_other_units_are_refused(activation):
    case = small(
        [number("n", 3), number("sex", 2, role=Role.PROTECTED)],
        [3],
        np.random.default_rng(0),
        activation=activation,
    )
    with pytest.raises(SpecError, match=f"“{activation.name}”") as raised:
        run(case)
    assert raised.value.why
    assert raised.value.remedy


def test_shares_are_rounded_down_and_counts_are_exact():
    """A domain of 10 ** 21 people, of which one third is proven."""
    case = small(
        [*(number(f"n{i}", 1_000) for i in range(6)), number("sex", 2, role=Role.PROTECTED)],
        [2],
        np.random.default_rng(0),
    )
    space = space_of(case.domain, case.people)
    tally = Tally(space.domain, space.total)
    high = space.high.copy()
    high[0, 0] = 332
    tally.add(sum(sizes(space.low, high)), discriminatory=False)
    told = tally.figure()
    assert told.total == str(10**18)
    assert told.certified_people == str(333 * 10**15)
    assert told.certified <= 0.333
    assert told.undecided >= 0.667
