"""Everybody counted by sums, against everybody asked one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Lasso, LogisticRegression, Perceptron, RidgeClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from fairdesk.certify.bounds import linear
from fairdesk.certify.bounds.linear import LinearCount, LinearExaminer, is_linear
from fairdesk.certify.domain.boxes import partitioned
from fairdesk.certify.domain.encoded import encode
from fairdesk.certify.domain.space import space_of
from fairdesk.certify.refine import Refinery
from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.individual.shares.tally import clopper_pearson
from fairdesk.models.model import labels
from fairdesk.models.structure import structure_of
from tests.certify.scikits import ATTRIBUTES, fed, people, truth, whole
from tests.sizes import many

MODELS = {
    "logistic": lambda: LogisticRegression(max_iter=500),
    "ridge": RidgeClassifier,
    "perceptron": Perceptron,
    "discriminant": LinearDiscriminantAnalysis,
    "support vectors": LinearSVC,
}


def count_linear(encoded, fed):
    """Count all points of a space, root by root."""
    space, examiner = encoded.space, LinearExaminer(encoded, fed)
    total = LinearCount(0, 0, 0, np.empty((0, len(space.axes)), np.int64))
    for low, high, group, unclear in zip(
        space.low, space.high, space.groups, space.unclear, strict=True
    ):
        members = int(space.may_be[group].sum())
        if not members:
            continue
        points = int(np.prod((high - low + 1).astype(object)))
        if unclear:
            total = replace(total, undecided=total.undecided + points)
        else:
            part = examiner.count(low, high, int(group))
            total = LinearCount(
                total.consistent + part.consistent,
                total.discriminatory + part.discriminatory,
                total.undecided + part.undecided,
                np.concatenate([total.examples, part.examples[:8]]),
                total.queries + part.queries,
            )
        yield total


def fitted(final, frame, label):
    names = ["job", "sex", "race"]
    encoder = ColumnTransformer(
        [("names", OneHotEncoder(sparse_output=False), names)], remainder=StandardScaler()
    )
    return fed(make_pipeline(encoder, final).fit(frame, label))


def encoded_over(model, domain, rows):
    anatomy = structure_of(model.opened)
    encoded = encode(space_of(domain, rows), anatomy, model)
    return replace(encoded, space=partitioned(encoded.space))


def last(counts):
    *_, total = counts
    return total


@settings(max_examples=many(6))
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(MODELS)), st.booleans())
def test_counts_are_exact(seed, kind, constrained):
    rng = np.random.default_rng(seed)
    model = fitted(MODELS[kind](), *people(rng))
    domain = Domain(ATTRIBUTES, ("age > 3 or sex = 'f'",) if constrained else ())
    encoded = encoded_over(model, domain, np.zeros((1, 5)))
    assert is_linear(encoded)
    told = truth(encoded.space, model)
    total = last(count_linear(encoded, model))
    assert total.undecided == 0
    assert total.discriminatory == sum(told.values())
    assert total.consistent == len(told) - total.discriminatory
    assert all(told[tuple(point)] for point in total.examples.tolist())
    assert (len(total.examples) > 0) == (total.discriminatory > 0)


@settings(max_examples=many(6))
@given(st.integers(0, 2**32 - 1), st.integers(2, 40))
def test_sums_that_are_put_together_are_never_too_much(seed, most):
    rng = np.random.default_rng(seed)
    model = fitted(LogisticRegression(max_iter=500), *people(rng))
    encoded = encoded_over(model, Domain(ATTRIBUTES), np.zeros((1, 5)))
    told = truth(encoded.space, model)
    discriminatory = sum(told.values())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear, "_MOST_SUMS", most)
        patch.setattr(linear, "_MOST_CELLS", most)
        total = last(count_linear(encoded, model))
    assert total.discriminatory <= discriminatory
    assert total.consistent <= len(told) - discriminatory
    assert total.consistent + total.discriminatory + total.undecided == len(told)


@settings(max_examples=many(12))
@given(
    st.integers(0, 2**32 - 1),
    st.integers(0, 8),
    st.integers(5, 12),
    st.integers(2, 7),
)
def test_halves_beyond_whole_numbers_are_never_too_much(seed, points, values, size):
    """Every limit of size forced low, so that counts are floating-point numbers.

    Some halves then prove less than their whole did; once everything is divided, no more is open.
    """
    rng = np.random.default_rng(seed)
    model = fitted(LogisticRegression(max_iter=500), *people(rng))
    encoded = encoded_over(model, Domain(ATTRIBUTES), np.zeros((1, 5)))
    told = truth(encoded.space, model)
    discriminatory = sum(told.values())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear, "MOST_POINTS", 1 << points)
        patch.setattr(linear, "MOST_POINTS", 1 << points)
        patch.setattr(linear, "_MOST_VALUES", values)
        patch.setattr(linear, "_MOST_PAIRS", 1 << size + 4)
        patch.setattr(linear, "_MOST_CELLS", 1 << size)
        patch.setattr(linear, "_MOST_SUMS", 1 << size)
        patch.setattr(linear, "_AT_ONCE", 16)
        first = last(count_linear(encoded, model))
        refinery = Refinery(encoded.space, LinearExaminer(encoded, model))
        while not refinery.over:
            refinery.step()
            assert refinery.discriminatory <= discriminatory
            assert refinery.consistent <= len(told) - discriminatory
    assert first.discriminatory <= discriminatory
    assert first.consistent <= len(told) - discriminatory
    assert first.consistent + first.discriminatory + first.undecided == len(told)
    assert refinery.undecided <= first.undecided


def test_axes_of_very_many_values_are_decided_nearly_wholly():
    """Numbers with fractions: halves of 10^22 people and more."""
    fraction = {"kind": Kind.REAL, "low": 0.0}
    attributes = (
        *(Attribute(name=f"x{i}", high=10.0**i, **fraction) for i in range(1, 4)),
        *(Attribute(name=f"y{i}", high=3.0 * i, **fraction) for i in range(1, 3)),
        whole("age", 90.0),
        whole("sex", 1.0, Role.PROTECTED),
    )
    rng = np.random.default_rng(7)
    rows = np.column_stack([rng.integers(0, each.high + 1, 400) for each in attributes]).astype(
        float
    )
    scaled = rows / rows.max(axis=0)
    label = (scaled @ [2.0, -1.0, 3.0, 1.0, -1.0, 1.0, 0.6] > 2.5) * 1
    model = fed(make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, label), attributes)
    domain = Domain(attributes)
    encoded = encoded_over(model, domain, rows)
    space, total = encoded.space, last(count_linear(encoded, model))
    assert space.total > 1 << 124
    assert total.consistent + total.discriminatory + total.undecided == space.total
    assert total.undecided < 0.02 * space.total
    drawn = space.rows(rng.integers(0, space.counts, size=(5_000, len(space.axes))))
    decided = labels(model.predict(domain.similar(drawn).reshape(-1, len(attributes))))
    discriminatory = int((np.ptp(decided.reshape(len(drawn), -1), axis=1) > 0).sum())
    low, high = clopper_pearson(discriminatory, len(drawn), 1 - 1e-6)
    assert total.discriminatory / space.total <= high
    assert 1 - total.consistent / space.total >= low
    assert total.discriminatory / space.total > 0.02


def test_a_box_far_from_the_border_is_certain_however_many_are_in_it(monkeypatch):
    model = fitted(LogisticRegression(), *people(np.random.default_rng(2)))
    model.opened.estimator.steps[-1][1].intercept_ = np.array([1e6])
    encoded = encoded_over(model, Domain(ATTRIBUTES), np.zeros((1, 5)))
    monkeypatch.setattr(linear, "MOST_POINTS", 1)
    monkeypatch.setattr(linear, "MOST_POINTS", 1)
    monkeypatch.setattr(linear, "_MOST_CELLS", 8)
    monkeypatch.setattr(linear, "_MOST_SUMS", 8)
    total = last(count_linear(encoded, model))
    assert (total.consistent, total.discriminatory, total.undecided) == (encoded.space.total, 0, 0)


def test_others_are_compared_in_halves_that_were_made_before(monkeypatch):
    model = fitted(LogisticRegression(), *people(np.random.default_rng(2)))
    encoded = encoded_over(model, Domain(ATTRIBUTES), np.zeros((1, 5)))
    examiner, space = LinearExaminer(encoded, model), encoded.space
    examiner.count(space.low[0], space.high[0], 0)
    two = space.may_be & (np.cumsum(space.may_be, axis=1) <= 2)
    fewer = replace(encoded, space=replace(space, may_be=two))
    alone = LinearExaminer(fewer, model).count(space.low[0], space.high[0], 0)
    monkeypatch.setattr(linear, "_put_together", None)
    monkeypatch.setattr(linear, "_added", None)
    again = examiner.comparing(fewer).count(space.low[0], space.high[0], 0)
    assert (again.consistent, again.discriminatory) == (alone.consistent, alone.discriminatory)


def test_ties_are_asked_of_the_model():
    """Whole weights: many points lie exactly at the border."""
    rng = np.random.default_rng(1)
    model = fitted(Perceptron(), *people(rng))
    final = model.opened.estimator.steps[-1][1]
    final.coef_ = np.round(final.coef_ * 0 + [[1, -1, 2, 0, 1, 1, -1, 0, 1, -1, 0, 0]])
    final.intercept_ = np.array([0.0])
    encoded = encoded_over(model, Domain(ATTRIBUTES), np.zeros((1, 5)))
    told = truth(encoded.space, model)
    total = last(count_linear(encoded, model))
    assert total.queries > 0
    assert (total.discriminatory, total.undecided) == (sum(told.values()), 0)


def test_an_engine_takes_it_as_an_examiner():
    rng = np.random.default_rng(2)
    model = fitted(LogisticRegression(), *people(rng))
    frame, _ = people(rng)
    rows = np.column_stack(
        [frame["age"], rng.integers(0, 5, 150), frame["hours"], np.zeros(150), np.zeros(150)]
    )
    encoded = encoded_over(model, Domain(ATTRIBUTES), rows)
    refinery = Refinery(encoded.space, LinearExaminer(encoded, model))
    told = truth(encoded.space, model)
    assert refinery.over
    assert type(LinearExaminer(encoded, model).margin) is float
    assert refinery.undecided == 0
    assert refinery.discriminatory == sum(told.values())


def test_large_domains_are_counted_by_halves(monkeypatch):
    """Forty attributes of many values, and one that does not matter: the counts still add up."""
    attributes = (
        *(whole(f"x{i}", 20.0) for i in range(14)),
        whole("money", 3_000_000.0),
        whole("idle", 999.0),
        whole("sex", 1.0, Role.PROTECTED),
    )
    rng = np.random.default_rng(3)
    rows = np.column_stack([rng.integers(0, each.high + 1, 400) for each in attributes]).astype(
        float
    )
    label = (rows[:, :14] @ rng.normal(size=14) + rows[:, 14] * 1e-5 + 9 * rows[:, 16] > 30) * 1
    final = LogisticRegression(max_iter=500)
    model = fed(make_pipeline(StandardScaler(), final).fit(rows, label), attributes)
    final.coef_[0, 15] = 0.0
    domain = Domain(attributes)
    encoded = encoded_over(model, domain, rows)
    monkeypatch.setattr(linear, "_MOST_SUMS", 1 << 15)
    monkeypatch.setattr(linear, "_MOST_CELLS", 1 << 15)
    total = last(count_linear(encoded, model))
    points = 21**14 * 3_000_001 * 1000
    assert total.consistent + total.discriminatory + total.undecided == points
    assert total.undecided < 0.05 * points
    everyone = encoded.space.rows(
        rng.integers(0, encoded.space.counts, size=(5_000, len(encoded.space.axes)))
    )
    scores = model.predict(domain.similar(everyone).reshape(-1, 17)).reshape(-1, 2) > 0.5
    share = (scores[:, 0] != scores[:, 1]).mean()
    assert abs(share - total.discriminatory / points) < 0.05


def test_estimates_are_counted_at_their_threshold():
    frame, label = people(np.random.default_rng(4))
    names = ["job", "sex", "race"]
    encoder = ColumnTransformer([("n", OneHotEncoder(), names)], remainder="passthrough")
    amount = label * 3.0 + frame["age"]
    final = make_pipeline(encoder, Lasso(0.01)).fit(frame, amount)
    model = fed(final, threshold=6.0, outcomes=("no", "yes"), spread=2.0)
    encoded = encoded_over(model, Domain(ATTRIBUTES), np.zeros((1, 5)))
    total = last(count_linear(encoded, model))
    told = truth(encoded.space, model)
    assert (total.discriminatory, total.undecided) == (sum(told.values()), 0)
    assert total.discriminatory > 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_is_not_linear_is_refused():
    frame, label = people(np.random.default_rng(5))
    model = fitted(MLPClassifier((3,), max_iter=20), frame, label)
    encoded = encoded_over(model, Domain(ATTRIBUTES), np.zeros((1, 5)))
    assert not is_linear(encoded)
    with pytest.raises(ValueError, match="linear"):
        LinearExaminer(encoded, model)
