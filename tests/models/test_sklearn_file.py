import os
import pickle
import sys
from pathlib import Path
from types import ModuleType

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from fairdesk.errors import ModelError, TrustRequiredError
from fairdesk.models.model import Takes, labels
from fairdesk.models.open import open_model
from fairdesk.models.sklearn_file import saved_version

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
    with pytest.raises(TrustRequiredError, match="is a program") as caught:
        open_model(path)
    assert caught.value.why
    assert caught.value.remedy
    assert not (tmp_path / "ran").exists()
    with pytest.raises(ModelError, match="holds no model"):
        open_model(path, trusted=True)
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("compress", [0, 3, "gzip", "xz"])
def test_a_pipeline_takes_columns_as_the_table_has_them(tmp_path, compress):
    model = PIPELINE.fit(PEOPLE, TRUTH)
    opened = open_model(saved(tmp_path / "m.joblib", model, compress=compress), trusted=True)
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
    opened = open_model(path, trusted=True)
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
    opened = open_model(saved(tmp_path / "m.joblib", model), trusted=True)
    several_vectors = classes == 3 and "SVC" in repr(model)
    assert opened.card.scores == ("labels" if several_vectors else scores)
    assert opened.matrix_scores(NUMBERS).shape == (120, 1 if classes == 2 else 3)
    assert decided(opened, NUMBERS) == [str(value) for value in model.predict(NUMBERS)]


def test_one_model_among_other_things_is_used_with_a_warning(tmp_path):
    model = LogisticRegression().fit(NUMBERS, TRUTH)
    for content in ({"model": model, "features": ["a"]}, ("x", model)):
        opened = open_model(saved(tmp_path / "m.joblib", content), trusted=True)
        assert decided(opened, NUMBERS) == model.predict(NUMBERS).tolist()
        assert "several things" in opened.card.warnings[0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"a": 1}, "holds no model, but a “dict”"),
        (LinearRegression().fit(NUMBERS, NUMBERS[:, 0]), "no trained classifier"),
        (IsolationForest(n_estimators=2).fit(NUMBERS), "no trained classifier"),
        (LogisticRegression(), "no trained classifier"),
        (
            DecisionTreeClassifier().fit(NUMBERS, np.column_stack([TRUTH, TRUTH])),
            "no trained classifier",
        ),
    ],
)
def test_what_is_no_classifier_is_told(tmp_path, content, said):
    with pytest.raises(ModelError, match=said):
        open_model(saved(tmp_path / "m.joblib", content), trusted=True)


def of_version(path, model, version, monkeypatch):
    """Save a model as another version of scikit-learn would have marked it."""
    with monkeypatch.context() as patch:
        patch.setattr("sklearn.base.__version__", version)
        return saved(path, model)


def test_another_version_is_told_on_the_card(tmp_path, monkeypatch):
    model = LogisticRegression().fit(NUMBERS, TRUTH)
    path = of_version(tmp_path / "m.joblib", model, "1.2.1", monkeypatch)
    assert saved_version(path) == "1.2.1"
    card = open_model(path, trusted=True).card
    assert card.saved_with == "scikit-learn 1.2.1"
    assert len(card.warnings) == 1
    assert "1.2.1" in card.warnings[0]
    assert sklearn.__version__ in card.warnings[0]


def test_a_file_that_another_version_wrote_and_this_cannot_open_names_both(tmp_path, monkeypatch):
    model = LogisticRegression().fit(NUMBERS, TRUTH)
    path = of_version(tmp_path / "m.pkl", model, "0.9.8", monkeypatch)
    # the same length, so that the pickle stays well formed
    path.write_bytes(path.read_bytes().replace(b"sklearn.linear_model", b"sklearn.linear_gone_"))
    with pytest.raises(ModelError, match=r"scikit-learn 0\.9\.8") as caught:
        open_model(path, trusted=True)
    assert sklearn.__version__ in caught.value.what


def test_a_library_that_is_missing_is_named(tmp_path, monkeypatch):
    module = ModuleType("somebodys_library")
    kind = type("Model", (), {"__module__": "somebodys_library"})
    module.Model = kind
    monkeypatch.setitem(sys.modules, "somebodys_library", module)
    path = saved(tmp_path / "m.joblib", kind())
    monkeypatch.delitem(sys.modules, "somebodys_library")
    with pytest.raises(ModelError, match="library “somebodys_library”"):
        open_model(path, trusted=True)


@pytest.mark.parametrize("compress", [0, 3, "gzip", "bz2", "xz"])
def test_a_file_that_is_cut_off_is_told(tmp_path, compress):
    path = saved(tmp_path / "m.joblib", PIPELINE.fit(PEOPLE, TRUTH), compress=compress)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ModelError, match="cannot be opened"):
        open_model(path, trusted=True)


def test_a_batch_that_the_model_refuses_is_told(tmp_path):
    opened = open_model(saved(tmp_path / "m", PIPELINE.fit(PEOPLE, TRUTH)), trusted=True)
    with pytest.raises(ModelError, match="refused 1 rows") as caught:
        opened.scores([np.array([30.0]), np.array(["astronaut"], dtype=object)])
    assert "unknown categories" in caught.value.why
    assert sklearn.__version__ in caught.value.remedy


def test_the_version_of_a_file_that_says_none_is_empty(tmp_path):
    assert saved_version(saved(tmp_path / "m", [1, 2])) == ""
    assert saved_version(Path(__file__)) == ""
