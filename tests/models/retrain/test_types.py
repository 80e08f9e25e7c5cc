"""Fitting scikit-learn models anew, and which models cannot be retrained."""

import warnings

import msgspec
import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, PredefinedSplit, TunedThresholdClassifierCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PowerTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.errors import ModelError
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.inputs.input_check import card_of
from fairdesk.models.model import Capability, Companion
from fairdesk.models.open import open_model
from fairdesk.models.preparation.companions import PreparedModel, with_companions
from fairdesk.models.retrain.losses import Training, TrainingSet, why_card_not, why_not
from fairdesk.models.retrain.retraining import refit
from tests import phrases
from tests.models import tables
from tests.models.learning import (
    HIRED,
    NUMBERS,
    PEOPLE,
    ROWS,
    TABLE,
    TRAIN,
    accuracy,
    driven,
    estimator_of,
    fed,
    saved,
    scores,
    taught,
)
from tests.models.matching import match

OTHERWISE = np.where(HIRED == "yes", "no", "yes")


def pipeline(model):
    columns = make_column_transformer(
        (StandardScaler(), ["age", "hours"]), (OneHotEncoder(), ["job"])
    )
    return make_pipeline(columns, model)


def opened(tmp_path, model, **columns):
    return fed(saved(tmp_path / "model.joblib", model.fit(PEOPLE, HIRED)), **columns)


def of_numbers(tmp_path, model, truth=HIRED):
    return fed(saved(tmp_path / "model.joblib", model.fit(NUMBERS, truth)), ("age", "hours"))


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        RandomForestClassifier(20),
        CalibratedClassifierCV(DecisionTreeClassifier(max_depth=4)),
        VotingClassifier([("a", LogisticRegression()), ("b", DecisionTreeClassifier())]),
        StackingClassifier([("a", LogisticRegression()), ("b", DecisionTreeClassifier())]),
        SVC(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_pipeline_learns_what_it_is_taught_and_nothing_else_changes(tmp_path, model):
    old = opened(tmp_path, pipeline(model))
    before = scores(old)
    new, told = taught(old, truth=OTHERWISE)
    assert not told
    assert accuracy(old) > 0.9
    assert accuracy(new) < 0.1
    np.testing.assert_array_equal(scores(old), before)
    assert new.mapping == old.mapping
    assert new.opened.card == msgspec.structs.replace(old.opened.card, sha256="")
    assert type(new.opened) is type(old.opened)
    assert type(estimator_of(new).steps[-1][1]) is type(model)
    np.testing.assert_array_equal(scores(taught(old, truth=OTHERWISE)[0]), scores(new))


def test_what_the_imported_model_knows_is_no_stranger_to_the_new_one(tmp_path):
    old = opened(tmp_path, pipeline(LogisticRegression()))
    assert "pilot" not in PEOPLE["job"].to_numpy()[TRAIN]
    new, _ = taught(old)
    assert new.predict(ROWS[:1]).shape == (1, 1)
    encoder = estimator_of(new).steps[0][1].named_transformers_["onehotencoder"]
    assert encoder.categories_[0].tolist() == ["clerk", "cook", "pilot", "smith"]


def test_the_seed_is_of_every_part_and_parameters_are_kept(tmp_path):
    forest = RandomForestClassifier(7, max_depth=3, random_state=5)
    old = opened(tmp_path, pipeline(VotingClassifier([("f", forest)], voting="soft")))
    one, again, other = (taught(old, seed=seed)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(scores(one), scores(again))
    assert (scores(one) != scores(other)).any()
    params = estimator_of(one).get_params()
    assert params["votingclassifier__f__random_state"] == 1
    assert params["votingclassifier__f__n_estimators"] == 7
    assert params["votingclassifier__f__max_depth"] == 3
    generator = np.random.RandomState(4)
    old = of_numbers(tmp_path, DecisionTreeClassifier(max_features=1, random_state=generator))
    assert isinstance(estimator_of(taught(old)[0]).random_state, np.random.RandomState)


def test_what_shuffles_without_a_seed_of_its_own_is_seeded_too(tmp_path):
    folds = KFold(3, shuffle=True)
    old = opened(tmp_path, pipeline(CalibratedClassifierCV(DecisionTreeClassifier(), cv=folds)))
    before = np.random.get_state()[1:3]  # noqa: NPY002
    one, other, again = (taught(old, seed=seed)[0] for seed in (1, 2, 1))
    np.testing.assert_array_equal(scores(one), scores(again))
    assert (scores(one) != scores(other)).any()
    # nobody else's numbers are drawn
    np.testing.assert_equal(np.random.get_state()[1:3], before)  # noqa: NPY002


def test_a_search_is_not_made_again_but_its_best_is_fitted(tmp_path):
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 4]}, cv=3)
    columns = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["job"]))
    tree = make_pipeline(columns, DecisionTreeClassifier(max_depth=4))
    around = GridSearchCV(tree, {"decisiontreeclassifier__min_samples_leaf": [1, 2]}, cv=2)
    for model in (pipeline(search), around):
        old = opened(tmp_path, model)
        new, _ = taught(old)
        best = estimator_of(new).steps[-1][1]
        assert isinstance(best, DecisionTreeClassifier)
        assert best.max_depth == 4
        assert best.tree_.n_node_samples[0] == len(TRAIN)


def test_frozen_classifiers_are_fitted_again_and_frozen_transformers_are_not(tmp_path):
    base = LogisticRegression().fit(NUMBERS, HIRED)
    old = of_numbers(tmp_path, CalibratedClassifierCV(FrozenEstimator(base)))
    new, _ = taught(old, truth=OTHERWISE)
    assert accuracy(new) < 0.2
    inner = estimator_of(new).calibrated_classifiers_[0].estimator
    assert inner.coef_[0, 0] * base.coef_[0, 0] < 0

    frozen = FrozenEstimator(StandardScaler().fit(NUMBERS))
    new, _ = taught(of_numbers(tmp_path, make_pipeline(frozen, LogisticRegression())))
    np.testing.assert_array_equal(estimator_of(new).steps[0][1].mean_, NUMBERS.mean(axis=0))


def test_a_division_of_the_old_rows_is_not_one_of_the_new(tmp_path):
    of_old = PredefinedSplit(np.arange(len(NUMBERS)) % 2)
    old = of_numbers(tmp_path, CalibratedClassifierCV(LogisticRegression(), cv=of_old))
    assert accuracy(taught(old)[0]) > 0.7
    prefit = [("a", LogisticRegression().fit(NUMBERS, HIRED))]
    old = of_numbers(tmp_path, StackingClassifier(prefit, cv="prefit"))
    assert accuracy(taught(old)[0]) > 0.7


def test_a_threshold_is_tuned_again(tmp_path):
    old = of_numbers(tmp_path, TunedThresholdClassifierCV(LogisticRegression()))
    new, _ = taught(old)
    assert old.opened.card.scores == new.opened.card.scores == "labels"
    assert estimator_of(new).best_threshold_ != estimator_of(old).best_threshold_


def test_a_scaler_beside_the_model_stays_as_it_is(tmp_path):
    scaler = StandardScaler().fit(NUMBERS)
    model = LogisticRegression().fit(scaler.transform(NUMBERS), HIRED)
    old = fed(saved(tmp_path / "both.joblib", {"model": model, "scaler": scaler}), ("age", "hours"))
    new, _ = taught(old, truth=OTHERWISE)
    assert new.mapping == old.mapping
    assert accuracy(new) < 0.3
    assert accuracy(old) > 0.7


def test_a_transformer_before_the_model_makes_what_it_learns_from(tmp_path):
    power = PowerTransformer().fit(NUMBERS)
    model = LogisticRegression().fit(power.transform(NUMBERS), HIRED)
    path = saved(tmp_path / "both.joblib", {"model": model, "transformer": power})
    old = fed(path, ("age", "hours"))
    assert isinstance(old.opened, PreparedModel)
    new, _ = taught(old, truth=OTHERWISE)
    assert isinstance(new.opened, PreparedModel)
    assert new.opened.before == old.opened.before
    made = power.transform(ROWS[TRAIN][:, :2])
    expected = LogisticRegression(random_state=3).fit(made, OTHERWISE[TRAIN])
    np.testing.assert_allclose(estimator_of(new).coef_, expected.coef_)
    assert new.opened.card == msgspec.structs.replace(old.opened.card, sha256="")


def test_files_beside_the_model_are_told_of_the_new_one_too(tmp_path):
    model = saved(tmp_path / "model.joblib", LogisticRegression().fit(NUMBERS, HIRED))
    (tmp_path / "names.json").write_text('["age", "hours"]')
    beside = with_companions(open_model(model), [Companion(str(tmp_path / "names.json"))])
    kept = fed(model, ("age", "hours"))
    old = FedModel(beside, kept.mapping, kept.attributes)
    new, _ = taught(old, truth=OTHERWISE)
    assert new.opened.card.hints.features == ("age", "hours")
    assert new.opened.card == msgspec.structs.replace(old.opened.card, sha256="")
    assert accuracy(new) < 0.3


def test_weights_reach_the_last_step(tmp_path):
    old = opened(tmp_path, pipeline(LogisticRegression()))
    half = np.arange(len(TRAIN)) % 2
    truth = HIRED.copy()
    truth[TRAIN[half == 0]] = OTHERWISE[TRAIN[half == 0]]
    new, _ = taught(old, truth=truth, weights=np.where(half, 1.99, 0.01))
    assert accuracy(new) > 0.9
    new, _ = taught(old, truth=truth, weights=np.where(half, 0.01, 1.99))
    assert accuracy(new) < 0.1


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsClassifier(),
        VotingClassifier([("a", LogisticRegression()), ("b", KNeighborsClassifier())]),
        CalibratedClassifierCV(KNeighborsClassifier()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_cannot_weigh_rows_says_so(tmp_path, model):
    old = opened(tmp_path, pipeline(model))
    with pytest.raises(ModelError, match=f"“{type(model).__name__}” cannot weigh") as caught:
        taught(old, weights=np.ones(len(TRAIN)))
    assert caught.value.why
    assert "adds rows" in caught.value.remedy
    assert accuracy(taught(old)[0]) > 0.8


def test_warnings_and_prints_are_nobody_s(tmp_path, capfd):
    model = MLPClassifier((20,), max_iter=2, verbose=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old = of_numbers(tmp_path, model)
    capfd.readouterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        taught(old)
    assert capfd.readouterr() == ("", "")


def test_a_pipeline_that_reads_texts_is_fitted_with_them(tmp_path):
    texts = ["good film", "bad film", "fine film", "poor film"] * 20
    truth = ["1", "0"] * 40
    people = tables.table(tables.names("text", texts), tables.names("label", truth))
    path = saved(
        tmp_path / "m.joblib",
        make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, truth),
    )
    attributes = (attribute_of(people.columns[0], Role.VARIES),)
    found = open_model(path)
    old = FedModel(found, match(found.card, people, "label", "1"), attributes)
    assert Capability.RETRAINS in found.card.can
    other = TrainingSet(people.codes[:, :1], 1 - people.codes[:, 1].astype(np.int64))
    new, _ = driven(refit(old, other, other, Training(), 1))
    assert ((old.predict(other.rows)[:, 0] > 0.5) != other.targets).all()
    assert ((new.predict(other.rows)[:, 0] > 0.5) == other.targets).all()


def test_numbers_as_classes_come_back_as_they_were(tmp_path):
    truth = np.where(HIRED == "yes", 2, 1)
    old = of_numbers(tmp_path, DecisionTreeClassifier(max_depth=3), truth)
    new, _ = taught(old)
    assert new.opened.card.classes == ("1", "2")
    assert estimator_of(new).classes_.tolist() == [1, 2]
    assert estimator_of(new).classes_.dtype == truth.dtype


def test_a_missing_class_is_refused_before_anything_is_trained(tmp_path):
    old = of_numbers(tmp_path, LogisticRegression())
    some = TRAIN[HIRED[TRAIN] == "no"]
    with pytest.raises(
        ModelError, match=f"None of the {len(some)} training rows has .* “yes”"
    ) as caught:
        taught(old, places=some)
    assert caught.value.why
    assert caught.value.remedy


def test_what_a_model_says_when_it_fails_is_told(tmp_path):
    old = opened(tmp_path, pipeline(KNeighborsClassifier(n_neighbors=1)))
    estimator_of(old).set_params(kneighborsclassifier__n_neighbors=-1)
    with pytest.raises(ModelError, match="could not be trained with 399 rows") as caught:
        taught(old)
    assert "n_neighbors" in caught.value.why
    assert "Export the augmentation rows" in caught.value.remedy


def test_too_little_memory_is_told(tmp_path, monkeypatch):
    old = of_numbers(tmp_path, LogisticRegression())

    def fit(*_, **__):
        raise MemoryError

    monkeypatch.setattr(LogisticRegression, "fit", fit)
    with pytest.raises(
        ModelError, match=f"{phrases.NOT_ENOUGH_MEMORY} to train the model with 399 rows"
    ):
        taught(old)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_boosting_that_ended_early_takes_as_many_rounds_as_were_best(tmp_path, library):
    boosting = pytest.importorskip(library, reason=f"{library} is not installed")
    truth = (HIRED == "yes").astype(int)
    kind = boosting.XGBClassifier if library == "xgboost" else boosting.LGBMClassifier
    model = kind(n_estimators=60, early_stopping_rounds=3, max_depth=2, learning_rate=0.8)
    # noise is learnt soon
    model.fit(NUMBERS[:300], truth[:300], eval_set=[(NUMBERS[300:], truth[300:])])
    old = fed(saved(tmp_path / "m.joblib", model), ("age", "hours"))
    new, _ = taught(old)
    rounds = estimator_of(new).n_estimators
    best = model.best_iteration + 1 if library == "xgboost" else model.best_iteration_
    assert rounds == best < 60
    assert accuracy(new) > 0.7
    np.testing.assert_array_equal(scores(taught(old)[0]), scores(new))


def test_models_that_cannot_be_trained_say_why(tmp_path):
    linear = LinearRegression().fit(NUMBERS, NUMBERS[:, 0])
    assert "estimates a number" in why_not(open_model(saved(tmp_path / "r.joblib", linear)))
    both = np.column_stack([HIRED, OTHERWISE])
    several = MultiOutputClassifier(LogisticRegression()).fit(NUMBERS, both)
    found = open_model(saved(tmp_path / "s.joblib", several))
    assert "several outputs" in why_not(found)
    assert "decisions" in why_card_not(card_of(TABLE, "hired"))
    old = of_numbers(tmp_path, LogisticRegression())
    assert why_not(old.opened) == ""
    onnx = msgspec.structs.replace(old.opened.card, format="ONNX model", can=(Capability.DECIDES,))
    assert "ONNX" in why_card_not(onnx)
    saved_model = msgspec.structs.replace(onnx, format="TensorFlow SavedModel")
    assert "SavedModel" in why_card_not(saved_model)
    network = msgspec.structs.replace(onnx, format="Keras 3 network")
    assert "needs TensorFlow" in why_card_not(network)


def test_what_cannot_be_trained_is_refused_with_the_reason(tmp_path):
    both = np.column_stack([HIRED, OTHERWISE])
    several = MultiOutputClassifier(LogisticRegression()).fit(NUMBERS, both)
    old = fed(saved(tmp_path / "s.joblib", several), ("age", "hours"))
    with pytest.raises(ModelError, match=phrases.NOT_RETRAINED) as caught:
        taught(old)
    assert "several outputs" in caught.value.why
    assert "Export the augmentation rows" in caught.value.remedy
