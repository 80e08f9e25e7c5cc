import os
import pickle
import sys
import threading
import warnings
from pathlib import Path
from types import ModuleType

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
)
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from fairdesk.audit.environments.environments import needed
from fairdesk.errors import ModelError, TrustRequiredError
from fairdesk.models.model import Capability, Step, Takes, labels
from fairdesk.models.open import open_model
from fairdesk.models.pickles.contents import look_into
from tests import phrases

RNG = np.random.default_rng(1)
NUMBERS = RNG.normal(size=(120, 3))
TRUTH = np.where(NUMBERS[:, 0] + NUMBERS[:, 1] > 0, "yes", "no")
PEOPLE = pd.DataFrame(
    {"Age": RNG.integers(18, 80, 120), "job title": RNG.choice(["cook", "clerk", "?"], 120)}
)
PIPELINE = make_pipeline(
    make_column_transformer((StandardScaler(), ["Age"]), (OneHotEncoder(), ["job title"])),
    LogisticRegression(),
)
TREE_OF_AGES = make_pipeline(
    make_column_transformer((StandardScaler(), ["Age"])), DecisionTreeClassifier()
)


def saved(path, model, **options):
    joblib.dump(model, path, **options)
    return path


def decided(opened, matrix):
    return [opened.card.classes[i] for i in labels(opened.matrix_scores(matrix))]


class Hostile:
    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


@pytest.mark.parametrize("compress", [0, 3])
def test_nothing_of_a_hostile_file_runs_without_trust(tmp_path, compress):
    path = saved(tmp_path / "m.joblib", Hostile(tmp_path / "ran"), compress=compress)
    with pytest.raises(TrustRequiredError, match=phrases.CAN_RUN_CODE) as caught:
        open_model(path)
    assert "posix.mkdir" in caught.value.what
    assert caught.value.why
    assert caught.value.remedy
    assert not (tmp_path / "ran").exists()
    with pytest.raises(ModelError, match=phrases.NO_MODEL_IN_FILE):
        open_model(path, trusted=True)
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("compress", [0, 3, "gzip", "xz"])
def test_a_pipeline_takes_columns_as_the_table_has_them(tmp_path, compress):
    model = PIPELINE.fit(PEOPLE, TRUTH)
    opened = open_model(saved(tmp_path / "m.joblib", model, compress=compress))
    card = opened.card
    assert (card.takes, card.named, card.inputs) == (Takes.COLUMNS, True, ("Age", "job title"))
    assert (card.classes, card.scores) == (("no", "yes"), "probabilities")
    assert card.saved_with == f"scikit-learn {sklearn.__version__}"
    assert card.format == f"scikit-learn {sklearn.__version__} pipeline"
    assert card.summary == "ColumnTransformer, then LogisticRegression, 2 inputs, 2 classes."
    assert not card.warnings
    columns = [PEOPLE["Age"].to_numpy(float), PEOPLE["job title"].to_numpy(object)]
    np.testing.assert_allclose(
        opened.scores(columns)[:, 0], model.predict_proba(PEOPLE)[:, 1], atol=1e-6
    )


def test_a_plain_pickle_of_a_model_on_numbers_takes_a_matrix(tmp_path):
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(NUMBERS, TRUTH)
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(model))
    opened = open_model(path)
    assert opened.card.takes is Takes.MATRIX
    assert opened.card.inputs == ("input 1", "input 2", "input 3")
    assert decided(opened, NUMBERS) == model.predict(NUMBERS).tolist()
    np.testing.assert_array_equal(opened.scores(list(NUMBERS.T)), opened.matrix_scores(NUMBERS))


@pytest.mark.parametrize(
    ("model", "scores"),
    [
        (RidgeClassifier(), "scores"),
        (SVC(), "scores"),
        (SVC(probability=True, random_state=0), "scores"),
        (make_pipeline(StandardScaler(), SVC()), "scores"),
        (FixedThresholdClassifier(LogisticRegression(), threshold=0.8), "labels"),
        (LogisticRegression(), "probabilities"),
    ],
)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_decisions_are_those_of_predict(tmp_path, model, scores, classes):
    if classes == 3 and scores == "labels":
        pytest.skip("a threshold has no meaning for three classes")
    truth = np.digitize(NUMBERS[:, 0], [0] if classes == 2 else [-0.5, 0.5]) * 10
    model.fit(NUMBERS, truth)
    opened = open_model(saved(tmp_path / "m.joblib", model))
    several_vectors = classes == 3 and "SVC" in repr(model)
    assert opened.card.scores == ("labels" if several_vectors else scores)
    assert opened.matrix_scores(NUMBERS).shape == (120, 1 if classes == 2 else 3)
    assert decided(opened, NUMBERS) == [str(value) for value in model.predict(NUMBERS)]


def test_one_model_among_other_things_is_used(tmp_path):
    model = LogisticRegression().fit(NUMBERS, TRUTH)
    for content in ({"model": model, "features": ["a"]}, ("x", model), [model, {"accuracy": 1.0}]):
        opened = open_model(saved(tmp_path / "m.joblib", content))
        assert decided(opened, NUMBERS) == model.predict(NUMBERS).tolist()
        assert "several objects" in opened.card.hints.notes[0]
    opened = open_model(saved(tmp_path / "m.joblib", {"model": model, "features": ["a"]}))
    assert "names 1 columns" in opened.card.warnings[0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"a": 1}, f"{phrases.NO_MODEL_IN_FILE}, but a “dict”"),
        (LinearRegression(), "not a trained classifier"),
        (KMeans(2, n_init=1).fit(NUMBERS), "not a trained classifier"),
        (IsolationForest(n_estimators=2).fit(NUMBERS), "not a trained classifier"),
        (LogisticRegression(), "not a trained classifier"),
        (StandardScaler().fit(NUMBERS), f"{phrases.NO_MODEL_IN_FILE}, but a “StandardScaler”"),
    ],
)
def test_what_is_no_classifier_is_told(tmp_path, content, said):
    with pytest.raises(ModelError, match=said):
        open_model(saved(tmp_path / "m.joblib", content))


def of_version(path, model, version, monkeypatch):
    """Save a model as another version of scikit-learn would have marked it."""
    with monkeypatch.context() as patch:
        patch.setattr("sklearn.base.__version__", version)
        return saved(path, model)


def test_another_version_is_told_on_the_card(tmp_path, monkeypatch):
    model = LogisticRegression().fit(NUMBERS, TRUTH)
    path = of_version(tmp_path / "m.joblib", model, "1.2.1", monkeypatch)
    assert look_into(path).saved_with["scikit-learn"] == "1.2.1"
    card = open_model(path).card
    assert card.saved_with == "scikit-learn 1.2.1"
    assert len(card.warnings) == 1
    assert "1.2.1" in card.warnings[0]
    assert sklearn.__version__ in card.warnings[0]


def test_a_file_that_another_version_wrote_and_this_cannot_open_names_both(tmp_path, monkeypatch):
    model = LogisticRegression().fit(NUMBERS, TRUTH)
    path = of_version(tmp_path / "m.pkl", model, "0.9.8", monkeypatch)
    # the same length, so that the pickle stays well formed
    path.write_bytes(path.read_bytes().replace(b"linear_model._log", b"linear_model._gon"))
    with pytest.raises(ModelError, match=r"scikit-learn 0\.9\.8") as caught:
        open_model(path)
    assert sklearn.__version__ in caught.value.what
    assert "scikit-learn 0.9.8 in a separate environment" in caught.value.remedy


def test_a_library_that_is_missing_is_named(tmp_path, monkeypatch):
    module = ModuleType("somebodys_library")
    kind = type("Model", (), {"__module__": "somebodys_library"})
    module.Model = kind
    monkeypatch.setitem(sys.modules, "somebodys_library", module)
    path = saved(tmp_path / "m.joblib", kind())
    monkeypatch.delitem(sys.modules, "somebodys_library")
    for trusted in (False, True):  # agreeing does not help, so nobody is asked to
        with pytest.raises(ModelError, match="library “somebodys_library”") as caught:
            open_model(path, trusted=trusted)
        assert type(caught.value) is ModelError
    assert needed(look_into(path)) is None


@pytest.mark.parametrize("compress", [0, 3, "gzip", "bz2", "xz"])
def test_a_file_that_is_cut_off_is_told(tmp_path, compress):
    path = saved(tmp_path / "m.joblib", PIPELINE.fit(PEOPLE, TRUTH), compress=compress)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ModelError, match="is incomplete") as caught:
        open_model(path, trusted=True)
    assert "KeyError" not in str(caught.value)


def test_nobody_is_asked_to_agree_to_a_class_of_its_authors_script(tmp_path, monkeypatch):
    kind = type("Mine", (LogisticRegression,), {"__module__": "__main__"})
    monkeypatch.setattr(sys.modules["__main__"], "Mine", kind, raising=False)
    model = make_pipeline(StandardScaler(), kind()).fit(NUMBERS, TRUTH)
    path = of_version(tmp_path / "m.pkl", model, "1.2.2", monkeypatch)
    monkeypatch.delattr(sys.modules["__main__"], "Mine")
    for trusted in (False, True):
        with pytest.raises(ModelError, match=r"“Mine”.*script that saved it") as caught:
            open_model(path, trusted=trusted)
        assert type(caught.value) is ModelError
        assert "ONNX" in caught.value.remedy
    # nor does another version bring the class back
    assert needed(look_into(path)) is None


def test_a_pickled_network_is_asked_for_in_its_own_format(tmp_path, monkeypatch):
    kind = type("Sequential", (), {"__module__": "keras.engine.sequential"})
    for name in ("keras", "keras.engine", "keras.engine.sequential"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["keras.engine.sequential"].Sequential = kind
    path = saved(tmp_path / "m.pkl", {"model": kind(), "scaler": StandardScaler()})
    monkeypatch.undo()
    with pytest.raises(ModelError, match="Keras network inside a pickle") as caught:
        open_model(path)
    assert type(caught.value) is ModelError
    assert "model.keras" in caught.value.remedy


@pytest.mark.parametrize("width", [1, 3, 40])
def test_a_model_that_does_not_say_how_many_inputs_it_takes_is_asked(tmp_path, width):
    rows = np.random.default_rng(0).normal(size=(60, width))
    model = make_pipeline(FunctionTransformer(np.log1p), LogisticRegression()).fit(
        abs(rows), rows[:, 0] > 0
    )
    for part in (model, *(step for _, step in model.steps)):  # as before scikit-learn 0.24
        part.__dict__.pop("n_features_in_", None)
    opened = open_model(saved(tmp_path / "m.joblib", model))
    assert len(opened.card.inputs) == width
    model.steps[-1] = ("any", DummyClassifier().fit(rows, rows[:, 0] > 0))
    model.steps[-1][1].__dict__.pop("n_features_in_", None)
    with pytest.raises(ModelError, match=f"does not state {phrases.HOW_MANY_INPUTS}"):
        open_model(saved(tmp_path / "m.joblib", model))


def test_old_transformers_of_columns_name_them(tmp_path):
    model = clone(PIPELINE).fit(PEOPLE, TRUTH)
    expected = open_model(saved(tmp_path / "m.joblib", model)).card
    first = model.steps[0][1]
    del first.feature_names_in_, first.n_features_in_
    assert open_model(saved(tmp_path / "m.joblib", model)).card.inputs == expected.inputs


def test_a_batch_that_the_model_refuses_is_told(tmp_path):
    opened = open_model(saved(tmp_path / "m", PIPELINE.fit(PEOPLE, TRUTH)))
    with pytest.raises(ModelError, match="rejected 1 rows") as caught:
        opened.scores([np.array([30.0]), np.array(["astronaut"], dtype=object)])
    assert "unknown categories" in caught.value.why
    assert sklearn.__version__ in caught.value.remedy


def test_the_version_of_a_file_that_says_none_is_empty(tmp_path):
    assert not look_into(saved(tmp_path / "m", [1, 2])).saved_with
    assert not look_into(Path(__file__)).saved_with


def many(tmp_path, model, rows=NUMBERS, truth=TRUTH, **options):
    return open_model(saved(tmp_path / "m.joblib", model.fit(rows, truth)), **options)


def test_consent_opens_what_the_allow_list_refuses_and_is_noted(tmp_path):
    model = make_pipeline(FunctionTransformer(np.sort), LogisticRegression()).fit(NUMBERS, TRUTH)
    path = saved(tmp_path / "m.joblib", model)
    with pytest.raises(TrustRequiredError, match=r"numpy\.sort"):
        open_model(path)
    opened = open_model(path, trusted=True)
    assert opened.card.needed_trust
    assert decided(opened, NUMBERS) == model.predict(NUMBERS).tolist()
    trusted = open_model(saved(path, LogisticRegression().fit(NUMBERS, TRUTH)), trusted=True)
    assert not trusted.card.needed_trust


def test_a_regressor_gives_values(tmp_path):
    model = LinearRegression().fit(NUMBERS, NUMBERS @ [1, 2, 3])
    opened = open_model(saved(tmp_path / "m.joblib", model))
    assert (opened.card.classes, opened.card.scores) == ((), "values")
    assert opened.card.can == (Capability.DECIDES, Capability.SCORES, Capability.LAYERS)
    np.testing.assert_allclose(
        opened.matrix_scores(NUMBERS)[:, 0], model.predict(NUMBERS), rtol=1e-6
    )


def test_labels_only_is_told(tmp_path):
    opened = many(tmp_path, Perceptron())
    assert opened.card.scores == "scores"
    opened = many(tmp_path, FixedThresholdClassifier(LogisticRegression(), threshold=0.8))
    assert opened.card.can == (Capability.DECIDES, Capability.RETRAINS)


@pytest.mark.parametrize(
    ("model", "trees"),
    [
        (RandomForestClassifier(3), True),
        (HistGradientBoostingClassifier(max_iter=2), True),
        (make_pipeline("passthrough", DecisionTreeClassifier()), True),
        (make_pipeline(StandardScaler(), DecisionTreeClassifier()), False),
        (LogisticRegression(), False),
    ],
)
def test_trees_are_declared_where_their_splits_are_about_the_inputs(tmp_path, model, trees):
    assert (Capability.TREES in many(tmp_path, model).card.can) is trees


@pytest.mark.parametrize(
    "model",
    [RandomForestClassifier(5, random_state=0), MultiOutputClassifier(LogisticRegression())],
)
def test_one_of_several_outputs_is_chosen(tmp_path, model):
    other = np.where(NUMBERS[:, 2] > 0, "up", "down")
    model.fit(NUMBERS, np.column_stack([TRUTH, other]))
    path = saved(tmp_path / "m.joblib", model)
    first, second = open_model(path), open_model(path, output="output 2")
    assert first.card.outputs == ("output 1", "output 2")
    assert (first.card.output, first.card.classes) == ("output 1", ("no", "yes"))
    assert "several outputs" in first.card.warnings[0]
    assert (second.card.output, second.card.classes) == ("output 2", ("down", "up"))
    assert not second.card.warnings
    answers = model.predict(NUMBERS)
    assert decided(first, NUMBERS) == answers[:, 0].tolist()
    assert decided(second, NUMBERS) == answers[:, 1].tolist()
    with pytest.raises(ModelError, match="no output “output 9”"):
        open_model(path, output="output 9")


def test_of_several_labels_that_may_all_hold_one_is_chosen(tmp_path):
    truth = np.column_stack([TRUTH == "yes", NUMBERS[:, 2] > 0]).astype(int)
    for model in (MLPClassifier(8, max_iter=60, random_state=0), OneVsRestClassifier(SVC())):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(NUMBERS, truth)
        path = saved(tmp_path / "m.joblib", model)
        opened = open_model(path, output="1")
        assert opened.card.outputs == ("0", "1")
        assert opened.card.classes == ("0", "1")
        assert decided(opened, NUMBERS) == [str(row[1]) for row in model.predict(NUMBERS)]


def test_one_of_several_numbers_is_chosen(tmp_path):
    model = LinearRegression().fit(NUMBERS, NUMBERS[:, :2] * [2, 5])
    opened = open_model(saved(tmp_path / "m.joblib", model), output="output 2")
    np.testing.assert_allclose(opened.matrix_scores(NUMBERS)[:, 0], NUMBERS[:, 1] * 5, atol=1e-5)


def test_one_of_several_models_is_chosen(tmp_path):
    forest = RandomForestClassifier(3, random_state=0).fit(NUMBERS, TRUTH)
    content = {"backup": LogisticRegression().fit(NUMBERS, TRUTH), "best_model": forest}
    path = saved(tmp_path / "m.joblib", content)
    card = open_model(path).card
    assert (card.outputs, card.output) == (("best_model", "backup"), "best_model")
    assert "LogisticRegression" in open_model(path, output="backup").card.summary


def test_texts_are_read(tmp_path):
    texts = np.array(["a good day", "a bad night", "good"] * 30, dtype=object)
    truth = [text.startswith("a bad") for text in texts]
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, truth)
    opened = open_model(saved(tmp_path / "m.joblib", model))
    assert Capability.TEXT in opened.card.can
    assert (opened.card.inputs, opened.card.accepts) == (("text",), ("text",))
    np.testing.assert_allclose(
        opened.scores([texts])[:, 0], model.predict_proba(texts)[:, 1], atol=1e-6
    )
    assert opened.scores([np.array([np.nan, "bad"], dtype=object)]).shape == (2, 1)
    apart = {"vectorizer": model[0], "model": model[1]}
    beside = open_model(saved(tmp_path / "m.joblib", apart))
    assert beside.card.inputs == ("text",)
    assert Capability.TEXT in beside.card.can
    np.testing.assert_array_equal(beside.scores([texts]), opened.scores([texts]))


def test_what_inputs_accept_is_told(tmp_path):
    people = PEOPLE.assign(note="a note", left="x")
    columns = make_column_transformer(
        (StandardScaler(), ["Age"]),
        (make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()), ["job title"]),
        (TfidfVectorizer(), "note"),
    )
    opened = many(tmp_path, make_pipeline(columns, LogisticRegression()), people)
    assert opened.card.accepts == ("number", "text", "text", "either")
    assert Capability.TEXT in opened.card.can
    assert many(tmp_path, LogisticRegression()).card.accepts == ("number",) * 3


@pytest.mark.parametrize(
    "wrapped",
    [
        CalibratedClassifierCV(PIPELINE, cv=2),
        CalibratedClassifierCV(FrozenEstimator(clone(PIPELINE).fit(PEOPLE, TRUTH))),
        FixedThresholdClassifier(PIPELINE, threshold=0.4, pos_label="yes"),
        VotingClassifier([("coded", TREE_OF_AGES), ("named", PIPELINE)]),
        StackingClassifier([("named", PIPELINE)], cv=2),
        OneVsRestClassifier(PIPELINE),
        GridSearchCV(PIPELINE, {"logisticregression__C": [1]}, cv=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_inputs_accept_is_read_inside_what_wraps_a_pipeline(tmp_path, wrapped):
    """An encoder that ignores what it does not know would take a number without a word."""
    assert many(tmp_path, wrapped, PEOPLE).card.accepts == ("number", "text")


def test_a_search_is_opened(tmp_path):
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2, scoring="roc_auc")
    opened = many(tmp_path, search)
    assert opened.card.summary == "LogisticRegression, 3 inputs, 2 classes."
    assert decided(opened, NUMBERS) == search.predict(NUMBERS).tolist()


def test_models_that_would_use_all_processors_answer_in_their_own_thread(tmp_path):
    model = BaggingClassifier(LogisticRegression(), n_estimators=4, n_jobs=2, random_state=0)
    opened = many(tmp_path, model)
    before = threading.active_count()
    assert decided(opened, NUMBERS) == model.predict(NUMBERS).tolist()
    assert threading.active_count() <= before + 2


def test_lists_and_encoders_beside_the_model_become_hints(tmp_path):
    people = pd.DataFrame({"age": NUMBERS[:, 0], "job": [0, 1] * 60, "sex": [1, 0] * 60})
    scaler = StandardScaler().fit(people.to_numpy())
    model = LogisticRegression().fit(scaler.transform(people.to_numpy()), TRUTH == "yes")
    job = LabelEncoder().fit(["cook", "clerk"])
    content = {
        "model": model,
        "scaler": scaler,
        "feature_names": people.columns,
        "label_encoders": {"job": job},
        "sex_map": {"m": 0, "f": 1},
        "target": "hired",
        "target_encoder": LabelEncoder().fit(["no", "yes"]),
        "categorical": ["job", "sex"],
        "metrics": {"accuracy": 0.9},
        "version": 3,
    }
    card = open_model(saved(tmp_path / "m.joblib", content)).card
    assert not card.warnings
    assert card.hints.features == ("age", "job", "sex")
    assert card.hints.codes == {"job": {"clerk": 0.0, "cook": 1.0}, "sex": {"m": 0.0, "f": 1.0}}
    assert card.hints.target == "hired"
    assert not card.hints.classes  # the model's own are False and True, not numbers
    assert len(card.hints.steps_in_order) == 3
    assert card.hints.steps_in_order[0] == (
        Step("subtract", float(scaler.mean_[0])),
        Step("divide", float(scaler.scale_[0])),
    )
    assert card.inputs == ("input 1", "input 2", "input 3")


@pytest.mark.parametrize(
    "scaler", [StandardScaler(), MinMaxScaler((-1, 2)), MaxAbsScaler(), RobustScaler(),
               StandardScaler(with_mean=False), RobustScaler(with_scaling=False)],
)  # fmt: skip
def test_the_steps_of_a_scaler_do_what_it_does(tmp_path, scaler):
    frame = pd.DataFrame(NUMBERS, columns=["a", "b", "c"])
    model = LogisticRegression().fit(NUMBERS, TRUTH)
    content = {"scaler": scaler.fit(frame), "model": model}
    steps = open_model(saved(tmp_path / "m.joblib", content)).card.hints.steps
    operations = {
        "subtract": np.subtract,
        "divide": np.divide,
        "multiply": np.multiply,
        "add": np.add,
    }
    for place, name in enumerate(frame):
        column = frame[name].to_numpy()
        for step in steps[name]:
            column = operations[step.op](column, step.by)
        np.testing.assert_allclose(column, scaler.transform(frame)[:, place], atol=1e-12)


def test_other_transformers_are_put_before_the_model(tmp_path):
    people = PEOPLE.assign(pay=NUMBERS[:, 0])
    columns = make_column_transformer(
        (OneHotEncoder(), ["job title"]), remainder="passthrough"
    ).fit(people)
    scaler = StandardScaler().fit(columns.transform(people))
    model = LogisticRegression().fit(scaler.transform(columns.transform(people)), TRUTH)
    content = {"preprocessor": columns, "scaler": scaler, "model": model}
    opened = open_model(saved(tmp_path / "m.joblib", content))
    assert opened.card.inputs == ("Age", "job title", "pay")
    assert opened.card.named
    assert opened.card.accepts == ("either", "text", "either")
    assert "Before it: ColumnTransformer (“preprocessor”)" in opened.card.summary
    given = [people[name].to_numpy() for name in people]
    wanted = model.predict_proba(scaler.transform(columns.transform(people)))[:, 1]
    np.testing.assert_allclose(opened.scores(given)[:, 0], wanted, atol=1e-6)
    with pytest.raises(ModelError, match=r"“preprocessor”.*rejected 120 rows"):
        opened.scores([people["Age"].to_numpy(), np.array(["x"] * 120, object), given[2]])


def test_a_chain_of_numbers_takes_a_matrix(tmp_path):
    reduced = PCA(2).fit(NUMBERS)
    model = LogisticRegression().fit(reduced.transform(NUMBERS), TRUTH)
    opened = open_model(saved(tmp_path / "m.joblib", (reduced, model)))
    assert opened.card.takes is Takes.MATRIX
    assert opened.card.inputs == ("input 1", "input 2", "input 3")
    assert decided(opened, NUMBERS) == model.predict(reduced.transform(NUMBERS)).tolist()
    with pytest.raises(ModelError, match="gives 1 columns"):
        open_model(saved(tmp_path / "m.joblib", (PCA(1).fit(NUMBERS), model)))


def test_a_model_of_another_version_that_fails_when_asked_is_told(tmp_path, monkeypatch):
    model = make_pipeline(SimpleImputer(), LogisticRegression()).fit(NUMBERS, TRUTH)
    del model[0]._fill_dtype
    path = of_version(tmp_path / "m.joblib", model, "1.7.2", monkeypatch)
    opened = open_model(path)
    assert any("returned no output" in warning for warning in opened.card.warnings)
    with pytest.raises(ModelError, match="_fill_dtype") as caught:
        opened.matrix_scores(NUMBERS)
    assert "scikit-learn 1.7.2 in a separate environment" in caught.value.remedy


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_boosted_wrappers_open_without_consent(tmp_path, library):
    module = pytest.importorskip(library)
    kind = {"xgboost": "XGBClassifier", "lightgbm": "LGBMClassifier"}[library]
    options = {"verbose": -1} if library == "lightgbm" else {}
    model = getattr(module, kind)(n_estimators=5, **options).fit(NUMBERS, TRUTH == "yes")
    opened = open_model(saved(tmp_path / "m.joblib", model))
    assert opened.card.format.startswith(library)
    np.testing.assert_allclose(
        opened.matrix_scores(NUMBERS)[:, 0], model.predict_proba(NUMBERS)[:, 1], atol=1e-6
    )


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_a_boosting_library_that_is_missing_is_named_with_its_remedy(
    tmp_path, library, monkeypatch
):
    module = pytest.importorskip(library)
    kind = {"xgboost": "XGBClassifier", "lightgbm": "LGBMClassifier"}[library]
    path = saved(tmp_path / "m.joblib", getattr(module, kind)())
    for name in [name for name in sys.modules if name.split(".")[0] == library]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModelError, match=library) as caught:
        open_model(path)
    assert "fairdesk[boosting]" in caught.value.remedy


def test_an_old_xgboost_is_told(tmp_path):
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBClassifier(n_estimators=3).fit(NUMBERS, TRUTH == "yes")
    path = tmp_path / "m.pkl"
    content = pickle.dumps(model)
    major = xgboost.__version__.split(".")[0]
    place = content.index(b"version[#L") + len(b"version[#L") + 8
    assert content[place : place + 2] == b"i" + bytes([int(major)])
    path.write_bytes(content[: place + 1] + b"\x02" + content[place + 2 :])
    card = open_model(path).card
    assert "xgboost 2." in card.saved_with
    assert any("xgboost 2." in warning for warning in card.warnings)
