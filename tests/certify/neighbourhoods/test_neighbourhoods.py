"""Rows with their neighbours, against every neighbour asked one by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.tree import DecisionTreeClassifier

from fairdesk.audit.catalogue.method import stage
from fairdesk.certify.bounds import network
from fairdesk.certify.domain import boxes as domain_boxes
from fairdesk.certify.domain.space import space_of
from fairdesk.certify.neighbourhoods import boxes, prover
from fairdesk.certify.neighbourhoods.boxes import Neighbourhood
from fairdesk.certify.neighbourhoods.prover import Verdict
from fairdesk.certify.neighbourhoods.search import _laid_out, _Rows, search
from fairdesk.certify.options import NeighbourhoodOptions
from fairdesk.data.domain.attributes import Role
from fairdesk.data.domain.dependencies import Determined
from fairdesk.data.domain.domain import Domain
from fairdesk.errors import SpecError
from fairdesk.models.model import labels
from fairdesk.models.structure import Activation
from fairdesk.results.events import Found, Measured, Progress, Rows
from fairdesk.results.proofs import NeighbourhoodCounts
from tests.certify.networks import (
    RELU,
    Small,
    drawn,
    fed_with,
    layer,
    names,
    number,
    small,
    wide,
)
from tests.certify.populations import SEEDS, rows_of
from tests.certify.scikits import ATTRIBUTES, behind_one_hot, domain_of, fed, people, whole
from tests.sizes import many

RULES = ("n0 >= 1 implies race != {last}", "not (n0 = 0 and race = {first})")
CHANGED = st.integers(0, 3)
TOGETHER = st.booleans()
REACH = st.sampled_from([0.0, 0.1, 0.25, 0.34, 0.5, 1.0])


def with_rows(made: Small, seed: int, rules: tuple[str, ...] = (), count: int = 40) -> Small:
    """Give a network rows, and constraints."""
    race = next(each for each in made.domain.attributes if each.name == "race")
    ends = {"first": race.text(race.low), "last": race.text(race.high)}
    domain = Domain(made.domain.attributes, tuple(rule.format(**ends) for rule in rules))
    rng = np.random.default_rng(seed)
    people = rows_of(domain, rng, count)
    # the ends of ranges are rows, too
    people[0], people[1] = domain.low, domain.high
    return Small(made.fed, domain, people)


def fitted(estimator, seed: int, rules: tuple[str, ...] = ()) -> Small:
    """Fit a model to people that are made up."""
    rng = np.random.default_rng(seed)
    frame, label = people(rng)
    domain = Domain(domain_of().attributes, rules)
    model = fed(behind_one_hot(estimator).fit(frame, label))
    return Small(model, domain, domain.sample(rng, 40))


def run_of(case: Small, changed: int, reach: float, *, together: bool) -> _Rows:
    context = case.context
    real, _ = case.domain.admit(case.people)
    options = NeighbourhoodOptions(changed, reach, "yes" if together else "no", 0.0)
    layout = _laid_out(context, case.people)
    return _Rows(context, real, options, np.random.default_rng(0), layout)


def differing(case: Small, changed: int, reach: float, rows: Rows, *, together: bool) -> np.ndarray:
    """Ask about every neighbour of rows: which of them have one whose decision changes."""
    domain = case.domain
    space = space_of(domain, domain.admit(case.people)[0])
    everybody = np.concatenate(
        [
            space.rows(np.array(list(np.ndindex(*(high - low + 1))), dtype=np.int64) + low)
            for low, high in zip(space.low, space.high, strict=True)
        ]
    )
    similar = domain.similar(everybody)
    flat = similar.reshape(-1, similar.shape[2])
    allowed = domain.allowed(flat)
    decided = np.full(len(flat), -1)
    decided[allowed] = labels(case.fed.predict(flat[allowed]))
    sets = [{*own[own >= 0].tolist()} for own in decided.reshape(similar.shape[:2])]
    unlike = everybody[[len(each) > 1 for each in sets]]
    kept = np.setdiff1d(domain.others, np.union1d(domain.varying, domain.following))
    told = []
    for row in rows:
        apart = np.abs(unlike - row)
        own = apart[:, kept] == 0
        told.append(bool((is_near(case, apart, changed, reach, together) & own.all(axis=1)).any()))
    return np.array(told)


def is_near(case: Small, apart: Rows, changed: int, reach: float, together: bool) -> np.ndarray:
    """Return who is a neighbour, by how far codes are apart, ``(n, d)``."""
    attributes = [case.domain.attributes[i] for i in case.domain.varying]
    apart = apart[:, case.domain.varying]
    differs = apart > 0
    numbers = np.array([not each.values for each in attributes])
    spans = np.array([each.high - each.low for each in attributes])
    within = (~differs | ~numbers | (apart <= reach * spans + 1e-6)).all(axis=1)
    few = differs.sum(axis=1) <= changed
    return within & (few | (together & ~differs[:, ~numbers].any(axis=1)))


def check(
    case: Small, changed: int, reach: float, *, together: bool = False, steps: int | None = None
) -> _Rows:
    """Compare what is decided with the truth; after some steps, or when all is done."""
    run = run_of(case, changed, reach, together=together)
    told = run._prover
    space = run._layout.space
    for _ in islice(told.run(), steps):
        pass
    rows = space.rows(told._rows)
    truth = differing(case, changed, reach, rows, together=together)
    assert not truth[told.verdict == Verdict.CERTIFIED].any()
    falsified = told.verdict == Verdict.FALSIFIED
    assert truth[falsified].all()
    # the witness is asked about by itself, and is a neighbour
    witness = space.rows(told.witness[falsified])
    assert differing(case, 0, 0.0, witness, together=False).all()
    assert is_near(case, np.abs(witness - rows[falsified]), changed, reach, together).all()
    if steps is None:
        assert (told.verdict != Verdict.UNDECIDED).all()
    return run


@contextmanager
def bounding(*, always: bool = True) -> Iterator[None]:
    """Have boxes bounded rather than counted, down to single points."""
    if not always:
        yield
        return
    with (
        patch.object(prover, "_MOST", 1.0),
        patch.object(network, "_LEAST", 0.0),
        patch.object(network, "_MOST", 0.0),
    ):
        yield


@given(
    SEEDS,
    CHANGED,
    REACH,
    TOGETHER,
    st.lists(st.sampled_from(RULES), unique=True),
    st.booleans(),
    st.sampled_from([None, 1, 3, 6]),
)
@settings(max_examples=many(60))
def test_networks(seed, changed, reach, together, rules, bounded, steps) -> None:
    case = with_rows(drawn(seed), seed, tuple(rules))
    with bounding(always=bounded):
        check(case, changed, reach, together=together, steps=steps)


@given(SEEDS, CHANGED, REACH, TOGETHER, st.sampled_from([3, 4_096]))
@settings(max_examples=15)
def test_larger_networks_that_are_bounded(seed, changed, reach, together, at_once) -> None:
    with bounding(), patch.object(prover, "_PARTS", at_once):
        check(with_rows(wide(seed), seed), changed, reach, together=together)


@given(SEEDS, CHANGED, REACH, TOGETHER, st.booleans())
@settings(max_examples=many(20))
def test_trees(seed, changed, reach, together, several) -> None:
    kind = (
        GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=0)
        if several
        else DecisionTreeClassifier(max_depth=4, random_state=0)
    )
    rules = ("age >= 6 implies sex != m",) if seed % 2 else ()
    with patch.object(prover, "_MOST", 1.0):
        check(fitted(kind, seed, rules), changed, reach, together=together)


@given(SEEDS, CHANGED, REACH, TOGETHER, st.booleans())
@settings(max_examples=many(20))
def test_linear_models(seed, changed, reach, together, counted) -> None:
    rules = ("age >= 6 implies sex != m",) if seed % 2 else ()
    with patch.object(prover, "_MOST", 16_384.0 if counted else 1.0):
        check(fitted(LogisticRegression(), seed, rules), changed, reach, together=together)


@given(SEEDS, CHANGED, REACH, TOGETHER, st.sampled_from([1, 7, 1 << 17]))
@settings(max_examples=many(20))
def test_a_linear_model_is_decided_at_once(seed, changed, reach, together, at_once) -> None:
    rules = ("age >= 6 implies sex != m",) if seed % 2 else ()
    with (
        patch.object(prover.RowProver, "_decide", side_effect=AssertionError),
        patch.object(boxes, "_AT_ONCE", at_once),
    ):
        check(fitted(LogisticRegression(), seed, rules), changed, reach, together=together)


@given(SEEDS, CHANGED, REACH, TOGETHER, st.integers(0, 9), st.booleans())
@settings(max_examples=many(20))
def test_large_boxes_of_a_linear_model(seed, changed, reach, together, steps, long) -> None:
    """One line of each is searched, or nothing is said of it, and the others divide it."""
    with (
        patch.object(boxes, "_MOST_STEPS", steps),
        patch.object(boxes, "_MOST_PLACES", 4 if long else 1 << 50),
    ):
        check(fitted(LogisticRegression(), seed), changed, reach, together=together)


def test_a_line_of_a_large_box_meets_the_boundary() -> None:
    """All numbers may change at once: far too many steps, and still a point is found."""
    rng = np.random.default_rng(0)
    attributes = [number(f"n{i}", 60) for i in range(6)]
    attributes.append(number("race", 2, role=Role.PROTECTED))
    weights = np.array([0.31, -0.17, 0.07, 0.023, -0.011, 0.003, 0.04])[:, None]
    layers = [layer(weights, [-6.0], Activation("sigmoid"))]
    domain = Domain(tuple(attributes))
    case = Small(fed_with(attributes, layers), domain, rows_of(domain, rng, 40))
    run = run_of(case, 0, 1.0, together=True)
    with patch.object(prover.RowProver, "_decide", side_effect=AssertionError):
        list(run._prover.run())
    assert (run._prover.verdict == Verdict.FALSIFIED).all()


def test_the_rounding_of_a_linear_model_is_allowed_for() -> None:
    """In exact numbers no decision changes; in the model's own the constant is lost on the way."""
    attributes = [*(number("a", 2), number("b", 2)), names("sex", 2, role=Role.PROTECTED)]
    large = 2.0**24
    layers = [layer([[large], [-large], [0.0], [0.6]], [0.3], Activation("sigmoid"))]
    rows = np.array([[0.0, 0, 0]])
    case = Small(fed_with(attributes, layers), Domain(tuple(attributes)), rows)
    figure = check(case, 2, 1.0)._figure()
    assert (figure.falsified, figure.flipped) == (1, 0)
    assert figure.margin > 1.0


@given(
    st.floats(-1e3, 1e3),
    st.lists(st.tuples(*[st.integers(-60, 60)] * 2, *[st.floats(-1e4, 1e4)] * 2), min_size=1),
    st.booleans(),
)
def test_places_between_two_sums(slope, cases, exact) -> None:
    low, high = (np.array([pick(*each[:2]) for each in cases]) for pick in (min, max))
    after, before = (np.array([pick(*each[2:]) for each in cases]) for pick in (min, max))
    if exact:
        # the ends themselves are between
        after, before = slope * (low + 1), slope * (low + 1)
    place, count = boxes._Slope(slope).between(low, high, after, before)
    for i in range(len(cases)):
        own = np.arange(low[i], high[i] + 1)
        inside = own[(after[i] <= slope * own) & (slope * own <= before[i])]
        assert (count[i] > 0) == (inside.size > 0)
        if inside.size:
            assert place[i] in inside
            assert count[i] == inside.size


@given(SEEDS, CHANGED, REACH, TOGETHER)
@settings(max_examples=many(10))
def test_a_network_of_one_layer(seed, changed, reach, together) -> None:
    rng = np.random.default_rng(seed)
    attributes = [number("n0", 5), number("n1", 7), number("race", 2, role=Role.PROTECTED)]
    check(with_rows(small(attributes, (), rng), seed), changed, reach, together=together)


@given(SEEDS, CHANGED, REACH, TOGETHER)
@settings(max_examples=many(10))
def test_a_model_that_is_only_queried(seed, changed, reach, together) -> None:
    run = check(fitted(KNeighborsClassifier(3), seed), changed, reach, together=together)
    (note,) = run._figure().notes
    assert "queried about every neighbour" in note


@given(SEEDS, CHANGED, REACH, TOGETHER, st.booleans())
@settings(max_examples=many(15))
def test_where_it_is_not_known_who_may_be_each_is_asked(
    seed, changed, reach, together, written
) -> None:
    case = with_rows(drawn(seed), seed, RULES)
    with (
        patch.object(domain_boxes, "MOST_LOOKED_AT", 0),
        patch.object(prover, "_MOST", 16_384.0 if written else 1.0),
    ):
        run = check(case, changed, reach, together=together)
    assert run._layout.space.unclear.all()


@given(SEEDS, CHANGED, REACH, TOGETHER)
@settings(max_examples=many(15))
def test_what_is_fixed_stays_as_it_is_in_the_row(seed, changed, reach, together) -> None:
    rng = np.random.default_rng(seed)
    attributes = (
        number("n0", 4),
        number("n1", 5, role=Role.FIXED),
        names("job", 3, role=Role.FIXED),
        number("race", 3, role=Role.PROTECTED),
    )
    check(
        with_rows(small(attributes, (4,), rng), seed, RULES[:1], 15),
        changed,
        reach,
        together=together,
    )


@given(SEEDS, CHANGED, REACH, TOGETHER)
@settings(max_examples=many(10))
def test_what_follows_another_attribute_follows(seed, changed, reach, together) -> None:
    rng = np.random.default_rng(seed)
    attributes = (
        number("n0", 4),
        number("n1", 5),
        number("grade", 3),
        number("race", 3, role=Role.PROTECTED),
    )
    follows = Determined("grade", "n0", ((0.0, 2.0), (2.0, 1.0)))
    made = small(attributes, (4,), rng)
    domain = Domain(attributes, ("grade is determined by n0",), (follows,))
    rows = rows_of(domain, rng, 20)
    rows[:, 0] = rng.choice([0.0, 2.0], len(rows))
    case = Small(made.fed, domain, domain.apply_dependencies(rows))
    check(case, changed, reach, together=together)


def test_numbers_that_a_model_puts_in_bins_ascend() -> None:
    """Bins could be sorted by what they do; then no interval of places would be one of numbers."""
    rng = np.random.default_rng(4)
    attributes = [
        whole("age", 11.0),
        whole("hours", 6.0),
        whole("sex", 1.0, Role.PROTECTED),
    ]
    rows = np.column_stack([rng.integers(0, each.high + 1, 200) for each in attributes])
    label = (rows[:, 0] % 5 + rows[:, 2] + rng.normal(size=200) > 2).astype(int)
    bins = KBinsDiscretizer(6, encode="onehot-dense", strategy="uniform")
    model = make_pipeline(bins, LogisticRegression()).fit(rows.astype(float), label)
    domain = Domain(tuple(attributes))
    case = Small(fed(model, tuple(attributes)), domain, rows[:40].astype(float))
    run = check(case, 0, 0.25, together=True)
    for axis in run._layout.space.axes:
        assert (np.diff(axis.codes) > 0).all()


@pytest.mark.parametrize("deep", [False, True])
def test_rounding_is_allowed_for(deep) -> None:
    """In exact numbers no decision changes; in the model's own a small bias is lost on the way."""
    attributes = [
        *(number("a", 2), number("b", 2), number("c", 3)),
        names("sex", 2, role=Role.PROTECTED),
    ]
    large = 2.0**23
    layers = [
        layer([[large], [-large], [0.0], [0.0], [0.6]], [10.3], RELU),
        layer([[1.0]], [-10.15], Activation("sigmoid")),
    ]
    if deep:
        layers.insert(0, layer(np.eye(5), np.zeros(5), RELU))
    rows = np.array([[1.0, 1, 0, 0], [0, 1, 0, 0]])
    case = Small(fed_with(attributes, layers), Domain(tuple(attributes)), rows)
    with bounding():
        run = check(case, 1, 1.0)
    assert run._figure().falsified == 2
    assert run._figure().flipped == 1


def test_a_row_has_a_box_for_each_choice_and_one_for_its_numbers() -> None:
    space = space_of(Domain(ATTRIBUTES), np.empty((0, 5)))
    around = Neighbourhood(space, 1, 0.25, together=True)
    assert around.count == 4
    low, high = around.boxes(np.array([[1, 2, 6]]))
    assert low[0].tolist() == [[0, 2, 6], [1, 0, 6], [1, 2, 5], [0, 2, 5]]
    assert high[0].tolist() == [[3, 2, 6], [1, 4, 6], [1, 2, 6], [3, 2, 6]]
    assert Neighbourhood(space, 2, 0.25).count == 3
    assert Neighbourhood(space, 0, 0.0).count == 1
    assert Neighbourhood(space, 9, 1.0, together=True).count == 1


def test_where_two_attributes_may_change_one_is_tried_first(monkeypatch) -> None:
    case = with_rows(wide(5), 5)
    run = run_of(case, 2, 0.5, together=False)
    sizes = []
    in_rounds = prover.RowProver._in_rounds

    def noted(own, *until):
        sizes.append((own._around.count, own._rows.shape[0], *until))
        yield from in_rounds(own, *until)

    monkeypatch.setattr(prover.RowProver, "_in_rounds", noted)
    list(run._prover.run())
    (one, first, until), (two, rows) = sizes
    assert (one, two, until) == (7, 21, prover._NEARER)
    assert first == (~run._prover.flipped).sum() <= rows
    assert run_of(case, 1, 0.5, together=False)._prover._nearer == ()


def test_too_many_ways_to_change_a_row_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(boxes, "MOST_BOXES", 3)
    with pytest.raises(SpecError, match="too many ways to change 2 of 3"):
        Neighbourhood(space_of(Domain(ATTRIBUTES), np.empty((0, 5))), 2, 0.0)


def told(case: Small, options: NeighbourhoodOptions, seed: int = 0) -> list:
    return list(search(case.context, case.people, options, np.random.default_rng(seed)))


def figure_of(events) -> NeighbourhoodCounts:
    (figure,) = [each for each in events if isinstance(each, Measured)][-1].figures
    assert isinstance(figure, NeighbourhoodCounts)
    return figure


@given(SEEDS)
@settings(max_examples=many(10))
def test_every_row_counts_and_pairs_are_kept(seed) -> None:
    case = with_rows(drawn(seed), seed, RULES[:1])
    case = case._replace(people=np.concatenate([case.people, case.people[:7]]))
    events = told(case, NeighbourhoodOptions(1, 0.25, "yes", 0.0, 5))
    figure = figure_of(events)
    rows, _ = case.domain.admit(case.people)
    several = case.domain.members(rows)[1].sum(axis=1) > 1
    assert figure.unsupported == (~several).sum()
    rows = rows[several]
    truth = differing(case, 1, 0.25, rows, together=True)
    assert (figure.rows, figure.falsified) == (len(rows), truth.sum())
    assert figure.certified == (~truth).sum()
    assert figure.flipped == differing(case, 0, 0.0, rows, together=False).sum()
    assert figure.undecided == 0
    found = sum(len(each.rows) for each in events if isinstance(each, Found))
    assert found <= 5
    assert bool(found) == bool(figure.falsified)
    phases = {each.phase for each in events if isinstance(each, Progress)}
    assert all(stage(phase) != phase for phase in phases)


def test_a_run_that_is_stopped_tells_what_it_knows() -> None:
    case = with_rows(wide(5), 5)
    context = case.context
    events = []
    for event in search(
        context, case.people, NeighbourhoodOptions(2, 0.5, "yes"), np.random.default_rng(0)
    ):
        events.append(event)
        context.request_finish()
    figure = figure_of(events)
    assert figure.undecided > 0
    assert figure.certified + figure.falsified + figure.undecided == figure.rows


def test_a_table_without_a_row_in_the_domain_is_refused() -> None:
    case = with_rows(drawn(1), 1)
    with pytest.raises(SpecError, match="No row of the data"):
        told(case._replace(people=case.people[:0]), NeighbourhoodOptions())
