"""Classifiers of fairlearn's: they draw their decisions, and some are given the group of a row."""

import joblib
import numpy as np
import pandas as pd
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import (
    BoundedGroupLoss,
    DemographicParity,
    EqualizedOdds,
    ExponentiatedGradient,
    GridSearch,
    SquareLoss,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from fairdesk.data.formats.reading import read_table
from fairdesk.errors import ModelError, TrustRequiredError
from fairdesk.models.model import How
from fairdesk.models.open import open_model
from fairdesk.models.preparation.estimators import GROUP
from tests.models.matching import match

RNG = np.random.default_rng(6)
PEOPLE = pd.DataFrame(
    {
        "age": RNG.integers(18, 70, 400),
        "income": RNG.normal(30, 8, 400).round(1),
        "woman": RNG.integers(0, 2, 400),
    }
)
SEX = np.where(PEOPLE["woman"] == 1, "f", "m")
GOOD = (PEOPLE["age"] + PEOPLE["income"] - 12 * PEOPLE["woman"] > 66).astype(int)
NUMBERS = PEOPLE[["age", "income"]]


def logistic():
    return LogisticRegression(max_iter=1000)


def thresholds(inputs, groups):
    model = ThresholdOptimizer(
        estimator=logistic(), constraints="equalized_odds", predict_method="predict_proba"
    )
    return model.fit(inputs, GOOD, sensitive_features=groups)


def reduced(estimator, constraints):
    return ExponentiatedGradient(estimator, constraints).fit(
        PEOPLE, GOOD, sensitive_features=PEOPLE["woman"]
    )


@pytest.fixture
def opened(tmp_path):
    def opened(model):
        joblib.dump(model, tmp_path / "model.joblib")
        return open_model(tmp_path / "model.joblib", trusted=True)

    return opened


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    PEOPLE.assign(sex=SEX, good=GOOD).to_csv(path, index=False)
    return read_table(path)


def drawn(opened, columns, times=60):
    """Return how often each row gets the favourable decision."""
    return np.mean([opened.scores(columns)[:, 0] > 0.5 for _ in range(times)], axis=0)


@pytest.mark.parametrize("constraints", [DemographicParity, EqualizedOdds])
@pytest.mark.parametrize("estimator", [logistic, lambda: DecisionTreeClassifier(max_depth=2)])
def test_a_mixture_draws_each_decision_with_its_weights(estimator, constraints, opened):
    model = reduced(estimator(), constraints())
    made = opened(model)
    assert made.card.inputs == ("age", "income", "woman")
    assert made.card.named
    assert (made.card.classes, made.card.scores) == (("0", "1"), "labels")
    assert made.card.needed_trust
    often = drawn(made, [PEOPLE[name].to_numpy(float) for name in PEOPLE])
    expected = model._pmf_predict(PEOPLE)[:, 1]
    np.testing.assert_allclose(often, expected, atol=0.33)
    np.testing.assert_allclose(often.mean(), expected.mean(), atol=0.02)
    several = (model.weights_ > 0).sum() > 1
    assert any("drawn at random" in each for each in made.card.warnings) == several
    assert type(model).__name__ in made.card.summary


def test_nothing_of_fairlearn_is_opened_without_consent(tmp_path):
    joblib.dump(reduced(logistic(), DemographicParity()), tmp_path / "model.joblib")
    with pytest.raises(TrustRequiredError):
        open_model(tmp_path / "model.joblib")


def test_thresholds_are_given_the_group_of_each_row(opened, table):
    model = thresholds(NUMBERS, SEX)
    made = opened(model)
    assert made.card.inputs == ("age", "income", GROUP)
    assert made.card.accepts[-1] == "text"
    inputs = match(made.card, table, "good", "1", None).inputs
    assert [(each.name, each.attribute, each.how) for each in inputs][-1] == (
        *(GROUP, "sex", How.LABEL),
    )
    often = drawn(made, [*(NUMBERS[name].to_numpy(float) for name in NUMBERS), SEX.astype(object)])
    expected = model._pmf_predict(NUMBERS, sensitive_features=SEX)[:, 1]
    np.testing.assert_allclose(often, expected, atol=0.33)
    with pytest.raises(ModelError, match="rejected") as caught:
        made.scores([np.array([30.0]), np.array([20.0]), np.array(["x"], object)])
    assert "no threshold for “x”" in caught.value.why


def test_a_group_may_be_an_input_of_the_model_too(opened, table):
    made = opened(thresholds(PEOPLE, PEOPLE["woman"]))
    inputs = match(made.card, table, "good", "1", None).inputs
    assert [each.attribute for each in inputs] == ["age", "income", "woman", "woman"]
    columns = [PEOPLE[name].to_numpy(float) for name in (*PEOPLE, "woman")]
    assert 0.2 < drawn(made, columns, 3).mean() < 0.9


def test_a_group_that_several_columns_could_be_is_left_open(opened, tmp_path):
    made = opened(thresholds(NUMBERS, PEOPLE["woman"]))
    path = tmp_path / "people.csv"
    PEOPLE.assign(young=PEOPLE["age"] < 30, good=GOOD).astype(float).to_csv(path, index=False)
    with pytest.raises(ModelError) as caught:
        match(made.card, read_table(path), "good", "1", None)
    assert GROUP in str(caught.value)
    assert "“woman”, “young”" in str(caught.value)


def test_models_without_names_take_a_matrix(opened):
    made = opened(thresholds(NUMBERS.to_numpy(), PEOPLE["woman"].to_numpy()))
    assert made.card.inputs == ("input 1", "input 2", "input 3")
    assert not made.card.named
    assert set(made.matrix_scores(PEOPLE.to_numpy(float))[:, 0].tolist()) == {0.0, 1.0}


def test_a_grid_search_is_the_classifier_that_it_chose(opened):
    model = GridSearch(logistic(), DemographicParity(), grid_size=5)
    model.fit(NUMBERS, GOOD, sensitive_features=SEX)
    made = opened({"model": model, "threshold": 0.5})
    assert made.card.scores == "probabilities"
    told = model.predict_proba(NUMBERS)[:, 1]
    scores = made.scores([NUMBERS[name].to_numpy(float) for name in NUMBERS])
    np.testing.assert_allclose(scores[:, 0], told, rtol=1e-6)


def test_what_cannot_be_asked_names_the_decisions_as_a_way_out(opened):
    model = ExponentiatedGradient(
        LinearRegression(), BoundedGroupLoss(SquareLoss(0, 100), upper_bound=100)
    )
    model.fit(NUMBERS, PEOPLE["income"], sensitive_features=SEX)
    with pytest.raises(ModelError) as caught:
        opened(model)
    assert "--predictions" in caught.value.remedy
