"""Models of older versions that would give wrong outputs without a word."""

import pickle

import numpy as np
import pytest

from fairdesk.errors import ModelError
from fairdesk.models.open import open_model
from fairdesk.models.pickles.loading import misread

ensemble = pytest.importorskip("sklearn.ensemble")
from sklearn.model_selection import GridSearchCV  # noqa: E402 - as above
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = (X[:, 0] + RNG.normal(size=200) > 0).astype(int)


def as_saved_before(tree):
    """Make the leaves of a trained tree hold counts, as scikit-learn 1.3 saves them."""
    value = tree.tree_.value
    value *= tree.tree_.weighted_n_node_samples[:, None, None]
    return tree


def tree():
    return DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)


def forest():
    return ensemble.RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, Y)


@pytest.mark.parametrize(
    "make",
    [
        tree,
        forest,
        lambda: make_pipeline(StandardScaler(), tree()),
        lambda: {"model": forest(), "scaler": StandardScaler().fit(X)},
        lambda: GridSearchCV(DecisionTreeClassifier(), {"max_depth": [2, 3]}).fit(X, Y),
        lambda: ensemble.GradientBoostingClassifier(n_estimators=5).fit(X, Y),
        lambda: ensemble.AdaBoostClassifier(n_estimators=5).fit(X, Y),
        lambda: ensemble.RandomForestRegressor(5).fit(X, Y),
        lambda: [1, "text", None, np.array([{}, None], dtype=object)],
    ],
)
def test_what_this_version_made_is_read_rightly(make):
    assert misread(make()) == ""


def test_trees_of_before_1_4_are_found():
    old = as_saved_before(tree())

    assert not np.allclose(old.predict_proba(X).sum(axis=1), 1)  # what happens without a word
    assert "shares" in misread(old)


def test_they_are_found_wherever_they_lie():
    old = forest()
    as_saved_before(old.estimators_[3])
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [2]}).fit(X, Y)
    as_saved_before(search.best_estimator_)

    assert misread({"model": make_pipeline(StandardScaler(), old), "order": ["a"]})
    assert misread(search)


def test_an_adaboost_that_is_no_longer_known_is_found():
    old = ensemble.AdaBoostClassifier(n_estimators=5).fit(X, Y)
    old.algorithm = "SAMME.R"

    assert "AdaBoost" in misread((old, "notes"))

    old.algorithm = "SAMME"
    assert misread((old, "notes")) == ""


@pytest.mark.parametrize("trusted", [True, False])
def test_they_are_not_opened(tmp_path, trusted):
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps({"model": as_saved_before(tree()), "scaler": None}))

    with pytest.raises(ModelError, match="would give wrong outputs"):
        open_model(path, trusted=trusted)
