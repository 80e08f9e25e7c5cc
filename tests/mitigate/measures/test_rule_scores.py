"""Scores of one rule set: of moved people and of rewritten texts, against counting by hand."""

import msgspec
import numpy as np
import pytest

from fairdesk.errors import SpecError
from fairdesk.groups.tabular.rules import members
from fairdesk.mitigate.context import MitigationContext, Split
from fairdesk.mitigate.measures.measures import Examiner
from fairdesk.mitigate.measures.rule_scores import (
    MOST_MOVES,
    Apart,
    MovedPeople,
    Outcome,
    Rewritten,
    samples_of,
    score_change,
)
from fairdesk.mitigate.options import RepairOptions
from fairdesk.models.model import labels
from fairdesk.results.proofs import Condition
from tests.groups.readers import Reader, study_of
from tests.mitigate import making


def ask(samples, mitigation, model=None):
    """Ask about samples, and give what came out and how many were asked about."""
    asking = samples.ask(mitigation, model or mitigation.model, Outcome.of(mitigation))
    asked = 0
    while True:
        try:
            asked += next(asking)
        except StopIteration as over:
            return over.value, asked


@pytest.fixture
def ruled(mitigation):
    return making.with_rule(mitigation)


class TestMovedPeople:
    places = np.arange(100, 400)

    def test_samples_stay_on_their_side_and_come_from_the_places_given(self, ruled):
        rows = ruled.rows[self.places]
        men = members(ruled.domain.grouping, ruled.groups[self.places], ruled.rule)
        samples = samples_of(ruled, self.places, 2_000, np.random.default_rng(0))
        sex = ruled.domain.names.index("sex")
        for side, chosen, moves, code in zip(
            samples.sides, (rows[men], rows[~men]), samples.moves, (1, 0), strict=True
        ):
            assert (side[:, sex] == code).all()
            assert moves == min(MOST_MOVES, 2_000 // len(chosen))
            assert len(side) == moves * len(chosen)
            # each is a real person but for one attribute
            apart = (side[:50, None] != chosen[None]).sum(axis=2).min(axis=1)
            assert set(apart.tolist()) <= {0, 1}
            assert ruled.domain.contains(side).all()

    def test_the_score_is_the_difference_of_the_rates(self, ruled):
        samples = samples_of(ruled, self.places, 2_000, np.random.default_rng(0))
        apart, asked = ask(samples, ruled)
        inside, outside = (
            (labels(ruled.model.predict(side)) == ruled.favourable).mean() for side in samples.sides
        )
        assert apart.score == pytest.approx(abs(inside - outside))
        assert apart.n_samples == asked == len(samples)
        low, high = apart.ends
        assert low < apart.score < high

    def test_the_other_decision_and_the_mean_score_are_as_far_apart_as_they_are(self, ruled):
        samples = samples_of(ruled, self.places, 2_000, np.random.default_rng(0))
        favourable, _ = ask(samples, ruled)
        other = making.fresh(ruled, outcome="low")
        assert ask(samples, other)[0].score == pytest.approx(favourable.score)
        scored = making.fresh(ruled, outcome="")
        inside, outside = (making.favoured(ruled, side).mean() for side in samples.sides)
        apart, _ = ask(samples, scored)
        assert apart.score == pytest.approx(abs(inside - outside))
        assert apart.ends[0] < apart.score < apart.ends[1]

    def test_the_same_samples_are_drawn_by_the_same_seed(self, ruled):
        one, other, another = (
            samples_of(ruled, self.places, 500, np.random.default_rng(seed)).sides[0]
            for seed in (0, 0, 1)
        )
        np.testing.assert_array_equal(one, other)
        assert not np.array_equal(one, another)

    def test_no_more_people_than_wanted_are_asked_about(self, ruled):
        samples = samples_of(ruled, self.places, 20, np.random.default_rng(0))
        assert [len(each) for each in samples.sides] == [20, 20]

    def test_without_anybody_on_a_side_there_is_no_score(self, ruled):
        men = self.places[members(ruled.domain.grouping, ruled.groups[self.places], ruled.rule)]
        assert samples_of(ruled, men, 100, np.random.default_rng(0)) is None
        parts = Split(np.arange(1_000, 1_500), men, np.arange(500, 900))
        examiner = Examiner(ruled, parts, RepairOptions(people=1_000), np.random.default_rng(0))
        verdict = examiner.verdict(ruled.model)
        told = verdict.measure("rule_score", "validation")
        assert (told.estimate, told.n_samples) == (None, 0)
        assert verdict.measure("rule_score", "test").estimate > 0

    def test_a_decision_that_the_model_does_not_make_is_refused(self, ruled):
        with pytest.raises(SpecError, match="no decision “maybe”"):
            Outcome.of(making.fresh(ruled, outcome="maybe"))


def test_several_samples_of_a_person_are_not_several_people(ruled):
    """Whoever is decided alike however they are moved counts once."""
    held, wide, times = 0, [], 150
    rng = np.random.default_rng(0)

    class Person:
        """Answers by a number that each person keeps when they are moved."""

        def predict(self, rows):
            return rows[:, :1]

    for _ in range(times):
        lots = [(rng.random(60) < rate).astype(float) for rate in (0.5, 0.3)]
        sides = tuple(np.repeat(each, 10)[:, None] for each in lots)
        samples = MovedPeople(sides, (10, 10))
        asking = samples.ask(_Counting(), Person(), Outcome(1, 1))
        try:
            while True:
                next(asking)
        except StopIteration as over:
            low, high = over.value.low, over.value.high
        held += low <= 0.2 <= high
        wide.append(high - low)
    assert held / times >= 0.92
    assert np.mean(wide) > 0.3  # that of 600 independent people would be 0.11


class _Counting:
    queries = 0

    def predict(self, model, rows):
        return model.predict(rows)


@pytest.mark.parametrize("rates", [(0.6, 0.3, 0.5, 0.3), (0.5, 0.3, 0.4, 0.4)])
def test_intervals_of_changes_hold_the_truth_so_often(rates):
    rng = np.random.default_rng(0)
    held, times = 0, 150
    truth = abs(rates[2] - rates[3]) - abs(rates[0] - rates[1])
    for _ in range(times):
        lots = [rng.random(150), rng.random(250)]
        old = [each < rate for each, rate in zip(lots, rates[:2], strict=True)]
        new = [each < rate for each, rate in zip(lots, rates[2:], strict=True)]
        after, before = (Apart((one * 1.0, -1.0 * two), -1, 1, 0) for one, two in (new, old))
        (low, high), _ = score_change(after, before, rng, 1_000, 0.05)
        held += low <= truth <= high
    assert held / times >= 0.92


def test_the_same_answers_are_no_change_of_the_score():
    apart = Apart((np.repeat([1.0, 0.0], 50), np.repeat([-1.0, 0.0], [20, 80])), -1, 1, 0)
    assert score_change(apart, apart, np.random.default_rng(0), 500, 0.05) == ((None, None), 1)


TERMS = {"gender": ("man", "woman", "person"), "age": ("old", "young")}


def reading(score, texts, rule=(("gender", "woman"),), outcome="good"):
    """Make a mitigation whose model reads texts."""
    context = study_of(texts, Reader(score), terms=TERMS)
    count = len(context.rows)
    return MitigationContext(
        domain=context.domain,
        rows=context.rows,
        groups=context.groups,
        inside=context.inside,
        label=np.arange(count) % 2.0,
        target=np.arange(count) % 2,
        pairs=np.empty((0, 2)),
        partners=np.empty((0, 2)),
        numbers=np.empty(0, dtype=np.int64),
        model=context.model,
        favourable=1,
        rule=tuple(Condition(category, term=term) for category, term in rule),
        outcome=outcome,
        text="note",
        terms=TERMS,
    )


TEXTS = [f"the old {who} number {i}" for i in range(12) for who in ("man", "woman")] + ["nobody"]


class TestRewritten:
    def test_the_score_is_that_of_the_term_beside_all_others(self):
        mitigation = reading(lambda text, _: 0.1 if "woman" in text else 0.9, TEXTS)
        samples = samples_of(mitigation, np.arange(len(TEXTS)), 1_000, np.random.default_rng(0))
        assert isinstance(samples, Rewritten)
        # the two texts of each number come to the same sentences
        assert len(samples) == 12 * 3
        apart, asked = ask(samples, mitigation)
        assert apart.score == 1
        assert asked == mitigation.queries == 36
        low, high = apart.ends
        assert 0.5 < low < 1 == high

    def test_other_terms_count_as_far_as_they_differ(self):
        mitigation = reading(lambda text, _: 0.9 if "person" in text else 0.1, TEXTS)
        samples = samples_of(mitigation, np.arange(len(TEXTS)), 1_000, np.random.default_rng(0))
        assert ask(samples, mitigation)[0].score == pytest.approx(0.5)

    def test_two_categories_and_mean_scores(self):
        rule = (("age", "young"), ("gender", "man"))
        mitigation = reading(
            lambda text, _: 0.8 if "young man" in text else 0.2, TEXTS, rule, outcome=""
        )
        samples = samples_of(mitigation, np.arange(len(TEXTS)), 1_000, np.random.default_rng(0))
        assert samples.choices == 6
        assert ask(samples, mitigation)[0].score == pytest.approx(0.6, abs=1e-6)

    def test_texts_of_the_places_only_and_no_more_than_wanted(self):
        mitigation = reading(lambda text, _: 0.9, TEXTS)
        samples = samples_of(mitigation, np.arange(4), 1_000, np.random.default_rng(0))
        assert {each[-1] for each in samples.sentences} == {"0", "1"}
        many = [f"the old man number {i}" for i in range(300)]
        mitigation = reading(lambda text, _: 0.9, many)
        few = samples_of(mitigation, np.arange(300), 450, np.random.default_rng(0))
        assert len(few) == 150 * 3

    def test_without_such_a_text_there_is_no_score(self):
        mitigation = reading(lambda text, _: 0.9, ["nobody", "nothing"])
        assert samples_of(mitigation, np.arange(2), 100, np.random.default_rng(0)) is None

    def test_an_examiner_measures_it_where_nobody_can_be_invented(self):
        mitigation = reading(lambda text, _: 0.1 if "woman" in text else 0.9, TEXTS)
        parts = Split(np.arange(5), np.arange(5, 15), np.arange(15, 25))
        examiner = Examiner(mitigation, parts, RepairOptions(), np.random.default_rng(0))
        verdict = examiner.verdict(mitigation.model)
        assert examiner.target == "rule_score"
        assert verdict.measure("rule_score", "validation").estimate == 1
        assert verdict.measure("rule_score", "test").estimate == 1
        assert verdict.measure("share_domain", "domain") is None

    def test_a_model_that_knows_new_texts_is_asked_like_another(self):
        mitigation = reading(lambda text, _: 0.1 if "woman" in text else 0.9, TEXTS)
        text, size = mitigation.model.attributes
        wider = msgspec.structs.replace(text, values=(*text.values, "new"), high=text.high + 1)
        model = type(mitigation.model)(
            mitigation.model.opened, mitigation.model.mapping, (wider, size)
        )
        samples = samples_of(mitigation, np.arange(len(TEXTS)), 1_000, np.random.default_rng(0))
        assert ask(samples, mitigation, model)[0].score == 1
