"""What is measured of a model: against scikit-learn, by asking everybody, and at the edges."""

from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import brier_score_loss, roc_auc_score

from fairdesk.audit.plan.spec import Limits
from fairdesk.mitigate.context import split
from fairdesk.mitigate.measures.measures import Examiner, certified
from fairdesk.mitigate.options import RepairOptions
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import Capability, favourable_scores, labels
from tests.mitigate import making

FEW = RepairOptions(people=1_000)


def examiner(mitigation, options=FEW, seed=0):
    """Return an examiner, and the parts of the data that it looks at."""
    rng = np.random.default_rng(seed)
    parts = split(mitigation, rng)
    return Examiner(mitigation, parts, options, rng), parts


def made(mitigation, answer, **card):
    """Make a model that answers by the columns it is given: ``(n, k)`` of a dict of arrays."""
    card = msgspec.structs.replace(mitigation.model.opened.card, **card)

    def scores(inputs):
        told = np.asarray(answer(dict(zip(card.inputs, inputs, strict=True))), dtype=np.float32)
        return told if told.ndim == 2 else told[:, None]

    opened = SimpleNamespace(card=card, scores=scores)
    return FedModel(opened, mitigation.model.mapping, mitigation.model.attributes)


def discriminatory(mitigation, model, rows):
    """Ask a model about everybody whom each person could be."""
    domain = mitigation.domain
    members = domain.similar(rows)
    flat = members.reshape(-1, rows.shape[1])
    decided = labels(model.predict(flat)).reshape(members.shape[:2])
    allowed = domain.allowed(flat).reshape(members.shape[:2])
    return np.array(
        [len(set(own[may].tolist())) > 1 for own, may in zip(decided, allowed, strict=True)]
    )


def test_what_is_told_of_rows_is_what_scikit_learn_tells(mitigation):
    asking, parts = examiner(mitigation)
    verdict = asking.verdict(mitigation.model)
    for where, places in (("validation", parts.validation), ("test", parts.test)):
        right = (
            labels(mitigation.model.predict(mitigation.rows[places])) == mitigation.target[places]
        )
        told = verdict.measure("accuracy", where)
        assert told.estimate == right.mean()
        assert told.n_samples == len(places)
        ends = binomtest(int(right.sum()), len(right)).proportion_ci(method="wilson")
        assert (told.low, told.high) == pytest.approx(tuple(ends))
    scores = making.favoured(mitigation, mitigation.rows[parts.test])
    good = mitigation.label[parts.test]
    assert verdict.measure("auc", "test").estimate == pytest.approx(roc_auc_score(good, scores))
    assert verdict.measure("brier", "test").estimate == pytest.approx(
        brier_score_loss(good, scores), rel=1e-5
    )
    bins = np.clip(np.ceil(scores * 10) - 1, 0, 9)
    error = sum(abs((scores - good)[bins == each].sum()) / len(good) for each in np.unique(bins))
    assert verdict.measure("calibration", "test").estimate == pytest.approx(error)


def test_intervals_are_in_order_and_measures_in_theirs(mitigation):
    mitigation = making.with_rule(mitigation)
    told = examiner(mitigation)[0].verdict(mitigation.model).measures
    for each in told:
        assert each.low <= each.estimate <= each.high
    assert [(each.what, each.rows) for each in told] == [
        ("accuracy", "validation"),
        ("rule_score", "validation"),
        ("accuracy", "test"),
        ("auc", "test"),
        ("brier", "test"),
        ("calibration", "test"),
        ("share_domain", "domain"),
        ("share_data", "test"),
        ("impact_ratio", "test"),
        ("rate_gap", "test"),
        ("error_gap", "test"),
        ("rule_score", "test"),
    ]
    assert {each.of for each in told} == {"", "sex"}


def test_shares_are_what_asking_everybody_tells(tmp_path):
    mitigation = making.mitigation(tmp_path, protected=("sex", "race"))
    asking, parts = examiner(mitigation)
    verdict = asking.verdict(mitigation.model)
    people, _ = mitigation.domain.admit(mitigation.rows[parts.test])
    np.testing.assert_array_equal(
        verdict.hits["test"], discriminatory(mitigation, mitigation.model, people)
    )
    truth = making.share(mitigation, mitigation.model, drawn=20_000)
    for where in ("validation", "domain"):
        told = verdict.measure("share_domain", where)
        assert told.n_samples == 1_000
        assert told.low < truth < told.high
        ends = binomtest(int(verdict.hits[where].sum()), 1_000).proportion_ci(method="exact")
        assert (told.low, told.high) == pytest.approx(tuple(ends))


def test_all_models_are_asked_about_the_same_people_and_the_result_is_of_others(mitigation):
    asking, _ = examiner(mitigation)
    seen = {}

    def answer(columns):
        seen.setdefault("rows", []).append(np.column_stack([columns["age"], columns["hours"]]))
        return np.full(len(columns["age"]), 0.2)

    first = []
    for _ in range(2):
        seen.clear()
        asking.verdict(made(mitigation, answer))
        first.append(np.unique(np.concatenate(seen["rows"]), axis=0))
    np.testing.assert_array_equal(first[0], first[1])
    chosen, told = (asking._people[where] for where in ("validation", "domain"))
    assert not np.array_equal(chosen, told)
    again, _ = examiner(mitigation)
    np.testing.assert_array_equal(again._people["domain"], told)
    other, _ = examiner(mitigation, seed=1)
    assert not np.array_equal(other._people["domain"], told)


def test_each_row_of_a_similar_set_is_asked_about_once(mitigation):
    asking, parts = examiner(mitigation)
    asked = 0

    def answer(columns):
        nonlocal asked
        asked += len(columns["age"])
        return np.where(columns["sex"] == "male", 0.9, 0.1)

    asking.verdict(made(mitigation, answer))
    members = [mitigation.domain.similar(each) for each in asking._people.values()]
    different = np.unique(np.concatenate(members).reshape(-1, members[0].shape[2]), axis=0)
    assert asked == mitigation.queries
    assert asked == len(different) + len(parts.validation) + len(parts.test)


@pytest.mark.parametrize(("female", "share"), [(0.9, 0.0), (0.1, 1.0)])
def test_nobody_and_everybody(mitigation, female, share):
    model = made(mitigation, lambda columns: np.where(columns["sex"] == "male", 0.9, female))
    verdict = examiner(mitigation)[0].verdict(model)
    for what, where in (("share_domain", "validation"), ("share_data", "test")):
        told = verdict.measure(what, where)
        assert told.estimate == share
        assert (told.low, told.high)[int(share)] == share
        assert told.high - told.low > 0


def test_hits_at_a_border_count_where_they_are_the_same_again(mitigation):
    """Last bits that hang on a row's place in its batch are no discrimination."""
    shaky = made(mitigation, lambda columns: 0.5 + 1e-6 * (-1.0) ** np.arange(len(columns["age"])))
    close = made(
        mitigation, lambda columns: np.where(columns["sex"] == "male", 0.5 + 1e-6, 0.5 - 1e-6)
    )
    asking, _ = examiner(mitigation)
    assert asking.verdict(shaky).measure("share_domain", "domain").estimate == 0
    assert asking.verdict(close).measure("share_domain", "domain").estimate == 1


def test_whoever_could_be_nobody_else_is_not_discriminated_against(tmp_path):
    data = making.people()
    rule = "sex = female implies race = a"
    data = data[~((data["sex"] == "female") & (data["race"] != "a"))]
    limits = Limits(constraints=(rule,))
    mitigation = making.mitigation(tmp_path, data=data, limits=limits, drawn=500)
    asking, _ = examiner(mitigation)
    model = made(mitigation, lambda columns: np.where(columns["sex"] == "male", 0.9, 0.1))
    verdict = asking.verdict(model)
    for where, people in asking._people.items():
        assert mitigation.domain.allowed(people).all()
        # of the other races there are men only
        race = mitigation.domain.names.index("race")
        np.testing.assert_array_equal(verdict.hits[where], people[:, race] == 0)


def test_a_model_that_only_decides_has_no_scores(mitigation):
    model = made(
        mitigation,
        lambda columns: (columns["age"] > 40).astype(float),
        scores="labels",
        can=(Capability.DECIDES,),
    )
    verdict = examiner(mitigation)[0].verdict(model)
    told = {each.what for each in verdict.measures}
    assert not told & {"auc", "brier", "calibration"}
    assert {"accuracy", "share_domain", "rate_gap"} <= told


def test_scores_that_are_no_probabilities_are_not_held_against_them(mitigation):
    model = made(mitigation, lambda columns: columns["age"] / 100, scores="scores")
    told = {each.what for each in examiner(mitigation)[0].verdict(model).measures}
    assert "auc" in told
    assert not told & {"brier", "calibration"}


def test_with_one_label_there_is_no_area(mitigation):
    mitigation = making.fresh(mitigation, label=np.ones_like(mitigation.label))
    asking, parts = examiner(mitigation)
    told = asking.verdict(mitigation.model).measure("auc", "test")
    assert (told.estimate, told.low, told.high) == (None, None, None)
    assert told.n_samples == len(parts.test)


def test_of_three_classes_accuracy_is_the_models_own(three):
    asking, parts = examiner(three)
    verdict = asking.verdict(three.model)
    answers = three.model.predict(three.rows[parts.test])
    right = labels(answers) == three.target[parts.test]
    assert verdict.measure("accuracy", "test").estimate == right.mean()
    scores, good = favourable_scores(answers, three.favourable), three.label[parts.test]
    assert verdict.measure("auc", "test").estimate == pytest.approx(roc_auc_score(good, scores))
    top = labels(answers) == three.favourable
    groups = three.groups[parts.test, 0]
    rates = [top[groups == each].mean() for each in (0, 1)]
    assert verdict.measure("rate_gap", "test", "sex").estimate == pytest.approx(
        abs(rates[0] - rates[1])
    )


def test_of_classes_taken_together_too(tmp_path):
    mitigation = making.mitigation(tmp_path, classes=3, together=(1, 2))
    asking, parts = examiner(mitigation)
    verdict = asking.verdict(mitigation.model)
    rows = mitigation.rows[parts.test]
    right = labels(mitigation.model.answers(rows)) == mitigation.target[parts.test]
    assert verdict.measure("accuracy", "test").estimate == right.mean()
    assert verdict.measure("brier", "test") is None  # a margin is no probability
    good = labels(mitigation.model.predict(rows)) == mitigation.favourable
    np.testing.assert_array_equal(verdict.rows["test"].favourable_mask, good)


def test_at_another_threshold_scores_are_still_the_models_own(tmp_path):
    mitigation = making.mitigation(tmp_path, threshold=0.3)
    asking, parts = examiner(mitigation)
    verdict = asking.verdict(mitigation.model)
    rows, good = mitigation.rows[parts.test], mitigation.label[parts.test]
    own = mitigation.model.answers(rows)[:, 0].astype(float)
    own = own if mitigation.favourable == 1 else 1 - own
    assert verdict.measure("brier", "test").estimate == pytest.approx(((own - good) ** 2).mean())
    right = labels(mitigation.model.predict(rows)) == mitigation.target[parts.test]
    assert verdict.measure("accuracy", "test").estimate == right.mean()


def test_where_nobody_can_be_compared_the_rest_is_measured(mitigation, monkeypatch):
    monkeypatch.setitem(mitigation.domain.__dict__, "obstacle", "nothing is protected")
    told = {each.what for each in examiner(mitigation)[0].verdict(mitigation.model).measures}
    assert not told & {"share_domain", "share_data"}
    assert {"accuracy", "auc", "impact_ratio"} <= told


def test_steps_add_up_to_the_whole(mitigation):
    mitigation = making.with_rule(mitigation)
    asking, _ = examiner(mitigation)
    assert sum(asking.steps(mitigation.model)) == asking.total


class TestProven:
    def run(self, mitigation, model, seconds):
        proving = certified(mitigation, model, seconds)
        told = []
        while True:
            try:
                told.append(next(proving))
            except StopIteration as over:
                return told, over.value

    def test_shares_are_exact_where_all_is_decided(self, mitigation):
        told, (alike, unlike) = self.run(mitigation, mitigation.model, 20.0)
        assert told
        truth = making.share(mitigation, mitigation.model, drawn=20_000)
        assert (alike.what, unlike.what) == ("certified", "falsified")
        assert alike.estimate + unlike.estimate == pytest.approx(1.0)
        assert unlike.estimate == pytest.approx(truth, abs=0.015)
        assert (unlike.low, unlike.high) == (None, None)
        assert (
            unlike.n_samples
            == np.prod(
                [np.floor(each.high - each.low) + 1 for each in mitigation.domain.attributes]
            )
            / 2
        )
        assert mitigation.queries >= told[-1].queries

    def test_nobody_is_asked_for_what_is_not_told(self, mitigation):
        self.run(mitigation, mitigation.model, 20.0)
        # rows of the data, and people who stay undecided, have no part in what is proven
        assert mitigation.queries < len(mitigation.rows)

    def test_nothing_is_said_of_what_cannot_be_looked_into(self, mitigation):
        opaque = made(mitigation, lambda columns: columns["age"] / 100)
        assert self.run(mitigation, opaque, 5.0) == ([], ())

    def test_no_seconds_are_no_proof(self, mitigation):
        assert self.run(mitigation, mitigation.model, 0.0) == ([], ())
