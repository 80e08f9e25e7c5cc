"""What is proven about trees, against everybody asked one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from fairdesk.certify.bounds import forest_encoding as under_test
from fairdesk.certify.bounds.forest import ForestExaminer, arranged
from fairdesk.certify.bounds.forest_encoding import encode_forest
from fairdesk.certify.domain.boxes import partitioned
from fairdesk.certify.domain.space import space_of
from fairdesk.certify.refine import Refinery, at_once
from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import How, Input, Mapping
from fairdesk.models.structure import structure_of
from tests.certify.scikits import (
    ATTRIBUTES,
    behind_one_hot,
    domain_of,
    fed,
    people,
    scikit,
    truth,
    whole,
)
from tests.sizes import many

MODELS = {
    "tree": lambda seed: DecisionTreeClassifier(max_depth=6, random_state=seed),
    "forest": lambda seed: RandomForestClassifier(4, max_depth=5, random_state=seed),
    "even forest": lambda seed: ExtraTreesClassifier(2, random_state=seed),
    "boosting": lambda seed: GradientBoostingClassifier(n_estimators=4, random_state=seed),
    "histograms": lambda seed: HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=5),
}


def examiner(space, anatomy, model):
    return ForestExaminer(space, at_once(encode_forest)(space, anatomy, model), model)


def proven(model, domain, rows, *, steps=100_000, order=True):
    """Divide until nothing is left, or so many steps were made."""
    anatomy = structure_of(model.opened)
    space = space_of(domain, rows)
    if order:
        space = at_once(arranged)(space, anatomy, model)
    refinery = Refinery(space, examiner(space, anatomy, model))
    for _ in range(steps):
        if refinery.over:
            break
        refinery.step()
    return refinery


def agrees(refinery, model, *, whole=True):
    """Compare what is proven with everybody's answers."""
    told = truth(refinery.space, model)
    discriminatory = sum(told.values())
    assert refinery.discriminatory <= discriminatory
    assert refinery.consistent <= len(told) - discriminatory
    assert refinery.space.total == len(told)
    if whole:
        assert refinery.undecided == 0
    for places in refinery.examples:
        assert all(told[tuple(point)] for point in places.tolist())
    return discriminatory


@settings(max_examples=many(15))
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(MODELS)), st.booleans(), st.booleans())
# the widths of a third and two thirds of a box, rounded, add up to more than the box
@example(seed=1, kind="tree", several=True, order=False)
def test_everybody_is_decided_and_rightly(seed, kind, several, order):
    rng = np.random.default_rng(seed)
    frame, label = people(rng)
    if several:
        label = label + (frame["hours"].to_numpy() > 4)
    model = fed(behind_one_hot(MODELS[kind](seed % 1000)).fit(frame, label))
    domain = domain_of()
    rows = np.zeros((1, len(ATTRIBUTES)))
    agrees(proven(model, domain, rows, order=order), model)


@settings(max_examples=many(6))
@given(st.integers(0, 2**32 - 1), st.integers(0, 6))
def test_what_is_proven_early_is_never_too_much(seed, steps):
    frame, label = people(np.random.default_rng(seed))
    model = fed(behind_one_hot(MODELS["forest"](seed % 1000)).fit(frame, label))
    refinery = proven(model, domain_of(), np.zeros((1, 5)), steps=steps)
    agrees(refinery, model, whole=False)


@pytest.mark.parametrize("threshold", [0.25, 0.5, 0.75])
def test_other_thresholds_and_ties(threshold):
    # two trees of which each says 0 or 1: their mean is often exactly a half
    frame, label = people(np.random.default_rng(3))
    model = behind_one_hot(ExtraTreesClassifier(4, random_state=3)).fit(frame, label)
    refinery = proven(
        fed(model, threshold=threshold, outcomes=("no", "yes")), domain_of(), np.zeros((1, 5))
    )
    told = fed(model, threshold=threshold, outcomes=("no", "yes"))
    assert agrees(refinery, told) > 0
    # such sums are asked of the model itself
    assert refinery.queries > 0


def test_several_classes_are_favourable():
    frame, label = people(np.random.default_rng(4))
    label = label + 2 * (frame["hours"].to_numpy() > 3)
    model = behind_one_hot(RandomForestClassifier(5, max_depth=4, random_state=0))
    told = fed(model.fit(frame, label), together=(1, 3), outcomes=("no", "yes"))
    assert agrees(proven(told, domain_of(), np.zeros((1, 5))), told) > 0


def test_estimated_numbers_are_compared_with_the_threshold():
    frame, label = people(np.random.default_rng(5))
    amount = label * 10.0 + frame["hours"].to_numpy()
    for final in (
        DecisionTreeRegressor(max_depth=5, random_state=0),
        GradientBoostingRegressor(n_estimators=5, random_state=0),
    ):
        model = behind_one_hot(final).fit(frame, amount)
        for beyond in (False, True):
            # a threshold that some answers meet exactly
            told = fed(model, threshold=9.0, outcomes=("no", "yes"), spread=4.0, beyond=beyond)
            agrees(proven(told, domain_of(), np.zeros((1, 5))), told)


def test_single_trees_are_decided_without_the_model():
    frame, label = people(np.random.default_rng(6))
    model = fed(behind_one_hot(DecisionTreeClassifier(random_state=0)).fit(frame, label))
    with_model = proven(model, domain_of(), np.zeros((1, 5)))
    assert with_model.undecided == 0
    assert with_model.queries == 0


def test_constraints_decide_who_is_compared():
    frame, label = people(np.random.default_rng(7))
    model = fed(behind_one_hot(RandomForestClassifier(4, random_state=1)).fit(frame, label))
    domain = type(domain_of())(ATTRIBUTES, ("age > 3 or sex = 'f'",))
    anatomy = structure_of(model.opened)
    space = partitioned(space_of(domain, np.zeros((1, 5))))
    refinery = Refinery(space, examiner(space, anatomy, model))
    while not refinery.over:
        refinery.step()
    agrees(refinery, model)


def test_numbers_with_too_many_values_to_list():
    attributes = (
        whole("amount", 3_000_000.0, low=-1_000.0),
        whole("age", 5.0),
        whole("sex", 1.0, Role.PROTECTED),
    )
    rng = np.random.default_rng(8)
    rows = np.column_stack(
        [rng.integers(-1000, 3_000_000, 300), rng.integers(0, 6, 300), rng.integers(0, 2, 300)]
    ).astype(float)
    label = (rows[:, 0] > 800_000 + 400_000 * rows[:, 2] + 100_000 * rows[:, 1]).astype(int)
    domain = domain_of(attributes)
    for final in (
        DecisionTreeClassifier(max_depth=8, random_state=0),
        GradientBoostingClassifier(n_estimators=8, random_state=0),
    ):
        model = fed(final.fit(rows, label), attributes)
        refinery = proven(model, domain, rows)
        assert refinery.undecided == 0
        total = refinery.space.total
        assert total == 3_001_001 * 6
        # everybody at thresholds, and a sample
        rest = rng.integers(0, [3_001_001, 6], (4_000, 2))
        edges = np.unique(np.floor(final_thresholds(final)) + 1000)
        at = np.array(
            [(int(edge) + by, age) for edge in edges for by in (0, 1, 2) for age in range(6)]
        )
        points = np.clip(np.concatenate([rest, at]), 0, [3_001_000, 5])
        everyone = domain.similar(refinery.space.rows(points))
        said = model.predict(everyone.reshape(-1, 3)).reshape(len(points), 2) > 0.5
        discriminatory = said[:, 0] != said[:, 1]
        told = verdicts(refinery, points)
        assert (told == discriminatory).all()


def final_thresholds(final):
    trees = final.estimators_.ravel() if hasattr(final, "estimators_") else [final]
    return np.concatenate([t.tree_.threshold[t.tree_.feature == 0] for t in trees])


def verdicts(refinery, points):
    """Look up what leaves say of points that are not counted one by one."""
    told = np.zeros(len(points), dtype=bool)
    leaves = refinery.tree.leaves
    for leaf, low, high in zip(leaves, *refinery.tree.boxes(leaves), strict=True):
        inside = ((points >= low) & (points <= high)).all(axis=1)
        share = refinery.tree.discriminatory[leaf]
        verdict = int(refinery.tree.verdict[leaf])
        assert verdict in (1, 2) or not inside.any()
        told[inside] = verdict == 2 or (verdict == 3 and share == 1)
    return told


def test_missing_cells_are_followed():
    rng = np.random.default_rng(9)
    rows = np.column_stack(
        [rng.integers(0, 9, 300), rng.integers(0, 4, 300), rng.integers(0, 2, 300)]
    ).astype(float)
    label = ((rows[:, 1] >= 2) ^ (rows[:, 2] > 0) ^ (rows[:, 0] > 4)).astype(int)
    holes = rows.copy()
    holes[rows[:, 1] == 3, 1] = np.nan
    attributes = (
        whole("age", 8.0),
        Attribute(
            name="grade",
            kind=Kind.NOMINAL,
            values=("0", "1", "2", "Unknown"),
            high=3.0,
            unknown=True,
        ),
        whole("sex", 1.0, Role.PROTECTED),
    )
    for final in (
        DecisionTreeClassifier(max_depth=6, random_state=0),
        HistGradientBoostingClassifier(max_iter=5),
    ):
        opened = scikit(final.fit(holes, label))
        inputs = (
            Input("age", "age", How.AS_IS),
            Input("grade", "grade", How.CODE, codes={"0": 0.0, "1": 1.0, "2": 2.0}),
            Input("sex", "sex", How.AS_IS),
        )
        model = FedModel(opened, Mapping(inputs, "by name", 1), attributes)
        agrees(proven(model, domain_of(attributes), rows), model)


def test_many_protected_combinations():
    attributes = (
        whole("age", 9.0),
        whole("sex", 2.0, Role.PROTECTED),
        whole("born", 40.0, Role.PROTECTED),
    )
    rng = np.random.default_rng(10)
    rows = np.column_stack(
        [rng.integers(0, 10, 400), rng.integers(0, 3, 400), rng.integers(0, 41, 400)]
    ).astype(float)
    label = (rows[:, 0] * 4 + rows[:, 2] + 5 * rows[:, 1] > 40).astype(int)
    for depth in (3, None):
        final = RandomForestClassifier(6, max_depth=depth, random_state=0).fit(rows, label)
        model = fed(final, attributes)
        agrees(proven(model, domain_of(attributes), rows), model)


def test_a_model_that_decides_otherwise_than_its_trees_is_refused():
    frame, label = people(np.random.default_rng(11))
    model = fed(behind_one_hot(DecisionTreeClassifier(random_state=0)).fit(frame, label))
    anatomy = structure_of(model.opened)
    space = space_of(domain_of(), np.zeros((1, 5)))
    anatomy.body.value[:] = 1.0 - anatomy.body.value
    with pytest.raises(SpecError, match="do not match its trees"):
        examiner(space, anatomy, model)


def test_a_forgotten_slack_is_noticed(monkeypatch):
    """Ties are decided wrongly by whoever believes the last bit of a sum."""
    frame, label = people(np.random.default_rng(3))
    model = fed(behind_one_hot(ExtraTreesClassifier(4, random_state=3)).fit(frame, label))
    original = under_test.margins_of

    def careless(*asked):
        margins = original(*asked)
        return replace(margins, close=-1.0)

    monkeypatch.setattr(under_test, "margins_of", careless)
    monkeypatch.setattr(under_test, "_try", lambda *_: None)
    with pytest.raises(AssertionError):
        agrees(proven(model, domain_of(), np.zeros((1, 5))), model)
