"""Explanations follow models whose reasons are known."""

import msgspec
import numpy as np
import pytest

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.constraints import parse
from fairdesk.data.domain.dependencies import Determined
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import DataError
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.surrogates import explanation as why
from fairdesk.individual.surrogates.explanation import Explanation, explain
from fairdesk.models.model import favourable_scores
from tests import phrases
from tests.individual.conftest import Network, integer

DOMAIN = Domain(
    (
        integer("age", 18, 90),
        integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
        Attribute("job", Kind.NOMINAL, tuple("abcd"), 0.0, 3.0),
        integer("town", 0, 9, Role.FIXED),
        integer("same", 3, 3),
    )
)


class Linear:
    """The score is a sum of one thing per attribute; town does not count."""

    def predict(self, rows):
        job = np.array([0.1, 0.0, 0.2, 0.0])[rows[:, 2].astype(int)]
        score = 0.2 + 0.3 * (rows[:, 0] > 50) + 0.15 * rows[:, 1] + job
        return score.astype(np.float32)[:, None]


def people(n=400, domain=DOMAIN):
    return domain.sample(np.random.default_rng(8), n)


def explained(model, pair, domain=DOMAIN, favourable=1, seed=0):
    real = people(domain=domain)
    rng = np.random.default_rng(seed)
    return explain(SearchContext(model, domain), real, np.array(pair, float), favourable, rng)


PAIR = [[60, 1, 2, 5, 3], [60, 0, 2, 5, 3]]


def test_a_sum_is_told_apart():
    explanation = explained(Linear(), PAIR)
    real = people()
    # whoever is in another quarter is old in so many cases
    quarter = np.quantile(real[:, 0], (0.5, 0.75))
    others = real[(real[:, 0] <= quarter[0]) | (real[:, 0] > quarter[1]), 0]
    old = 0.3 * (1 - (others > 50).mean())
    job = 0.2 - np.array([0.1, 0.0, 0.2, 0.0])[real[real[:, 2] != 2][:, 2].astype(int)].mean()
    for side, sex in ((explanation.row, 0.15), (explanation.partner, -0.15)):
        expected = [old, sex, job, 0, 0]
        assert side.weights == pytest.approx(expected, abs=0.02)
        assert side.weights[4] == 0
        assert 0.6 < side.fit < 1


def test_what_is_favourable_turns_every_weight_round():
    one, other = (explained(Linear(), PAIR, favourable=which) for which in (1, 0))
    assert one.row.weights == pytest.approx([-each for each in other.row.weights], abs=1e-6)
    assert one.row.fit == pytest.approx(other.row.fit, abs=1e-6)
    assert [each.score for each in one.variants] == pytest.approx([0.85, 0.7])
    assert [each.score for each in other.variants] == pytest.approx([0.3, 0.15])
    assert [each.values for each in one.variants] == [(1.0,), (0.0,)]
    assert [each.values for each in other.variants] == [(0.0,), (1.0,)]


def test_decisions_alone_are_explained_too():
    class Decides:
        def predict(self, rows):
            return (Linear().predict(rows) > 0.5).astype(np.float32)

    explanation = explained(Decides(), PAIR)
    weights = np.array(explanation.row.weights)
    assert weights[0] > 0.15
    assert weights[1] > 0.1
    assert abs(weights[3]) < 0.05


def test_a_constant_model_has_nothing_to_explain():
    class Same:
        def predict(self, rows):
            return np.full((len(rows), 1), 0.7, np.float32)

    explanation = explained(Same(), PAIR)
    assert explanation.row.weights == pytest.approx([0] * 5, abs=1e-6)
    assert explanation.row.fit == 1


def test_the_same_seed_the_same_explanation():
    model = Network(DOMAIN, np.random.default_rng(0), classes=3)
    first, second, third = (explained(model, PAIR, favourable=2, seed=s) for s in (1, 1, 2))
    assert first == second
    assert first.row != third.row
    assert first.row.weights == pytest.approx(third.row.weights, abs=0.1)
    assert msgspec.json.decode(msgspec.json.encode(first), type=Explanation) == first
    assert {each.decided for each in first.variants} <= {0, 1, 2}


def test_a_rare_protected_value_is_explained_as_well_as_a_common_one():
    real = people()
    real[:, 1] = 1
    real[0, 1] = 0
    explanation = explain(
        SearchContext(Linear(), DOMAIN), real, np.array(PAIR, float), 1, np.random.default_rng(0)
    )
    assert explanation.row.weights[1] == pytest.approx(0.15, abs=0.02)


def test_only_people_of_the_domain_are_asked_about():
    attributes = (
        integer("age", 18, 90),
        integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
        integer("work", 0, 60),
        integer("race", 0, 2, Role.PROTECTED, (0, 1, 2)),
        integer("code", 0, 1),
    )
    domain = Domain(
        attributes,
        (
            parse("work <= age - 15", attributes).text,
            parse("not (race = 2 and age > 60)", attributes).text,
            "code is determined by sex",
        ),
        (Determined("code", "sex", ((0.0, 1.0), (1.0, 0.0))),),
    )
    model = Network(domain, np.random.default_rng(4))
    pair = [[70, 0, 5, 0, 1], [70, 1, 5, 0, 0]]
    explanation = explained(model, pair, domain)
    assert domain.contains(np.concatenate(model.asked)).all()
    assert explanation.row.weights[4] == 0  # it follows
    # nobody of race 2 can be 70
    assert len(explanation.variants) == 4
    assert {each.values[1] for each in explanation.variants} == {0.0, 1.0}
    scores = [each.score for each in explanation.variants]
    assert scores == sorted(scores, reverse=True)


def written_out(model, domain, real, person, samples=40_000):
    """LIME's formulas for a domain without names or determined attributes: weights and fit."""
    rng = np.random.default_rng(5)
    drawn = np.stack([rng.choice(column, samples) for column in real.T], axis=1)
    for i in domain.protected:
        drawn[:, i] = rng.choice(domain.attributes[i].compared, samples)
    rows = np.where(rng.random(drawn.shape) < 0.5, person, drawn)
    rows = rows[domain.allowed(rows)]
    same = rows == person
    for i in domain.others:
        quarters = np.quantile(real[:, i], (0.25, 0.5, 0.75))
        same[:, i] = np.searchsorted(quarters, rows[:, i]) == np.searchsorted(quarters, person[i])
    near = np.exp(-(~same).sum(axis=1) / (0.75**2 * same.shape[1]))
    scores = favourable_scores(model.predict(rows), 1)
    root = np.sqrt(near)[:, None]
    features = np.column_stack([same, np.ones(len(same))])
    weights = np.linalg.lstsq(features * root, scores * root[:, 0])[0]
    left = np.average((scores - features @ weights) ** 2, weights=near)
    middle = np.average(scores, weights=near)
    return weights[:-1], 1 - left / np.average((scores - middle) ** 2, weights=near)


def test_weights_and_fit_are_those_of_the_paper_among_people_who_may_be():
    class Knotted:
        calls = 0

        def predict(self, rows):
            self.calls += 1
            age, sex, work, gain = rows.T
            score = 0.4 + 0.2 * np.sin(age / 9) + 0.2 * np.tanh(gain / 50) * sex + work / 300
            return score.astype(np.float32)[:, None]

    attributes = (
        integer("age", 18, 90),
        integer("sex", 0, 2, Role.PROTECTED, (0, 1, 2)),
        integer("work", 0, 60),
        integer("gain", 0, 1000),
    )
    domain = Domain(attributes, (parse("work <= age - 15", attributes).text,))
    real = people(3000, domain)
    real[:, 3] *= np.random.default_rng(1).random(len(real)) < 0.4  # nearly three quarters are one
    pair = np.array([[33.0, 2, 9, 700], [33, 0, 9, 700]])
    model = Knotted()
    told = [
        explain(SearchContext(model, domain), real, pair, 1, np.random.default_rng(seed))
        for seed in range(8)
    ]
    assert model.calls <= 8 * 3  # around the one, around the other, and the variants
    for i, person in enumerate(pair):
        sides = [(each.row, each.partner)[i] for each in told]
        weights, fit = written_out(Knotted(), domain, real, person)
        assert np.mean([each.weights for each in sides], axis=0) == pytest.approx(weights, abs=6e-3)
        assert np.mean([each.fit for each in sides]) == pytest.approx(fit, abs=0.02)


def test_of_many_variants_the_two_ends_are_given(monkeypatch):
    monkeypatch.setattr(why, "MOST_VARIANTS", 2)
    domain = Domain(
        (
            integer("age", 0, 9),
            integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
            integer("race", 0, 4, Role.PROTECTED, range(5)),
        )
    )
    model = Network(domain, np.random.default_rng(4))
    explanation = explained(model, [[4, 0, 0], [4, 1, 3]], domain)
    context = SearchContext(model, domain)
    scores = sorted(context.ask(np.array([[4.0, 0, 0]])).scores[0, :, 0].tolist())
    told = [each.score for each in explanation.variants]
    assert told == pytest.approx([*scores[:-3:-1], *scores[1::-1]])


def test_without_real_people_there_is_nobody_to_compare_with():
    with pytest.raises(DataError, match=phrases.NO_ROW_TO_COMPARE):
        explain(
            SearchContext(Linear(), DOMAIN),
            people()[:0],
            np.array(PAIR, float),
            1,
            np.random.default_rng(0),
        )
