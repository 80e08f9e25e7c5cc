"""Boxes that are proven once more, against everybody in them asked one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from fairdesk.certify.domain.boxes import partitioned
from fairdesk.certify.domain.space import space_of
from fairdesk.certify.proof import reproof
from fairdesk.certify.proof.reproof import reprover
from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import How, Input, Mapping, labels
from fairdesk.models.structure import Activation
from tests.certify import networks
from tests.certify.scikits import ATTRIBUTES, Role, behind_one_hot, fed, people, scikit, whole
from tests.sizes import many

#: All that a hidden layer may have; with what belongs to it.
ACTIVATIONS = (
    Activation("linear"),
    Activation("relu"),
    Activation("relu", ceiling=1.5),
    Activation("leaky_relu", 0.2),
    Activation("leaky_relu", 1.4),
    Activation("elu", 0.7),
    Activation("elu", 1.6),
    Activation("selu"),
    Activation("sigmoid"),
    Activation("tanh"),
    Activation("softplus"),
    Activation("softsign"),
    Activation("exponential"),
    Activation("silu"),
    Activation("thresholded_relu", 0.5),
)
TREES = {
    "tree": lambda: DecisionTreeClassifier(max_depth=6, random_state=0),
    "forest": lambda: RandomForestClassifier(4, max_depth=5, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=4, random_state=0),
    "histograms": lambda: HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=5),
}

#: How many boxes of a model are proven.
BOXES = many(60)


class Asked:
    """Asks the model about points, and remembers of how many it was asked."""

    def __init__(self, space, model):
        self.space, self.model, self.count = space, model, 0

    def __call__(self, places):
        self.count += len(places)
        similar = self.space.domain.similar(self.space.rows(places))
        everyone = similar.reshape(-1, similar.shape[2])
        decided = labels(self.model.predict(everyone)).reshape(similar.shape[:2])
        allowed = self.space.domain.allowed(everyone).reshape(decided.shape)
        most = np.where(allowed, decided, -1).max(axis=1)
        return (allowed & (decided != most[:, None])).any(axis=1)


def boxes_of(space, rng, count=60):
    """Draw boxes inside the roots."""
    root = rng.integers(len(space.low), size=count)
    ends = np.sort(
        rng.integers(space.low[root], space.high[root], (2, *space.low[root].shape), endpoint=True),
        axis=0,
    )
    return *ends, space.groups[root].astype(np.int64)


def points_of(low, high):
    widths = (high - low + 1).tolist()
    return np.stack(np.unravel_index(np.arange(np.prod(widths)), widths), axis=1) + low


def agrees(space, model, rng, *, decided=0.9, boxes=BOXES):
    """Prove boxes of all kinds, and what is false of them; compare with the truth."""
    differ = Asked(space, model)
    prove = reprover(space, model, space.rows, differ)
    low, high, group = boxes_of(space, rng, boxes)
    truth = [differ(points_of(*ends)) for ends in zip(low, high, strict=True)]
    share = np.array([each.mean() for each in truth])
    differ.count = 0
    done = 0
    for stated in (0.0, 1.0):
        claims = np.tile([1.0 - stated, stated], (len(low), 1))
        found = prove(low, high, group, claims, 60.0)
        true = share == stated
        proven = found.discriminatory if stated else found.consistent
        assert not found.contradicted[true].any()
        assert (proven[~true] < 1.0).all()
        assert (found.contradicted[~true] != 2).all()
        done += int((proven[true] >= 1.0).sum() + (found.contradicted[~true] == 1).sum())
        for i in np.flatnonzero(found.contradicted).tolist():
            point = found.places[i]
            assert ((point >= low[i]) & (point <= high[i])).all()
            assert differ(point[None])[0] == (stated == 0.0)
    assert done >= decided * 2 * len(low)
    # shares that are told of boxes
    found = prove(low, high, group, np.column_stack((1.0 - share, share)), 60.0)
    assert not found.contradicted.any()
    assert (found.consistent <= 1.0 - share + 1e-9).all()
    assert (found.discriminatory <= share + 1e-9).all()
    return differ.count


@pytest.fixture
def bounds_only(monkeypatch):
    """Let single points only be asked of the model."""
    monkeypatch.setattr(reproof, "FEW", 1)
    monkeypatch.setattr(reproof, "SMALL", 1)


@pytest.mark.parametrize("activation", ACTIVATIONS, ids=lambda each: f"{each.name} {each.alpha}")
@pytest.mark.parametrize("classes", [2, 3])
def test_networks(activation, classes, bounds_only):
    # what overflows is no answer
    spread = 0.3 if activation.name == "exponential" else 1.0
    for seed in range(4):
        case = networks.drawn(seed, activation=activation, classes=classes, spread=spread)
        agrees(space_of(case.domain, case.people), case.fed, np.random.default_rng(seed))


@settings(max_examples=many(25))
@given(st.integers(0, 2**32 - 1))
def test_networks_of_all_shapes(seed):
    case = networks.drawn(seed)
    space = space_of(case.domain, case.people)
    # of few boxes the share that is decided varies with the seed
    agrees(space, case.fed, np.random.default_rng(seed), boxes=60)


@pytest.mark.parametrize("rules", [(), ("age > 3 or sex = 'f'",)])
@pytest.mark.parametrize("kind", sorted(TREES))
def test_trees(kind, rules, bounds_only):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        frame, label = people(rng)
        model = fed(behind_one_hot(TREES[kind]()).fit(frame, label))
        space = partitioned(space_of(Domain(ATTRIBUTES, rules), np.zeros((1, 5))))
        agrees(space, model, rng)


def test_trees_with_missing_cells(bounds_only):
    rng = np.random.default_rng(9)
    rows = np.column_stack(
        [rng.integers(0, 9, 300), rng.integers(0, 4, 300), rng.integers(0, 2, 300)]
    ).astype(float)
    label = ((rows[:, 1] >= 2) ^ (rows[:, 2] > 0) ^ (rows[:, 0] > 4)).astype(int)
    holes = rows.copy()
    holes[rows[:, 1] == 3, 1] = np.nan
    grade = Attribute(
        name="grade", kind=Kind.NOMINAL, values=("0", "1", "2", "Unknown"), high=3.0, unknown=True
    )
    attributes = (whole("age", 8.0), grade, whole("sex", 1.0, Role.PROTECTED))
    inputs = (
        Input("age", "age", How.AS_IS),
        Input("grade", "grade", How.CODE, codes={"0": 0.0, "1": 1.0, "2": 2.0}),
        Input("sex", "sex", How.AS_IS),
    )
    for final in (DecisionTreeClassifier(max_depth=6), HistGradientBoostingClassifier(max_iter=5)):
        model = FedModel(scikit(final.fit(holes, label)), Mapping(inputs, "", 1), attributes)
        agrees(space_of(Domain(attributes), rows), model, rng)


def test_linear_models_are_counted(bounds_only):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        frame, label = people(rng)
        model = fed(behind_one_hot(LogisticRegression(max_iter=500)).fit(frame, label))
        space = space_of(Domain(ATTRIBUTES), np.zeros((1, 5)))
        differ = Asked(space, model)
        prove = reprover(space, model, space.rows, differ)
        share = differ(points_of(space.low[0], space.high[0])).mean()
        for off in (0.0, 0.01, -0.01):
            stated = np.array([[1.0 - share + off, share - off]])
            found = prove(space.low, space.high, np.zeros(1, np.int64), stated, 1.0)
            # a grid tells nearly all; one hundredth more than there is contradicts it
            assert found.consistent[0] == pytest.approx(1.0 - share, abs=1e-3)
            assert found.discriminatory[0] == pytest.approx(share, abs=1e-3)
            assert found.consistent[0] <= 1.0 - share + 1e-12
            assert found.discriminatory[0] <= share + 1e-12
            assert found.contradicted[0] == (2 if off else 0)
        agrees(space, model, rng, decided=0.9)


def test_what_is_not_done_in_time_is_not_proven():
    case = networks.drawn(3)
    space = space_of(case.domain, case.people)
    prove = reprover(space, case.fed, space.rows, Asked(space, case.fed))
    low, high, group = boxes_of(space, np.random.default_rng(0))
    found = prove(low, high, group, np.tile([1.0, 0.0], (len(low), 1)), 0.0)
    assert not found.contradicted.any()
    assert not found.consistent.any()
