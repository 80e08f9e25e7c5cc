"""Boosted models keep their loss, which every version of scikit-learn pickles in another way."""

import pickle

import numpy as np
import pytest

from fairdesk.models.pickles.rebuilding import RefusedError
from fairdesk.models.pickles.unpickling import rebuild

ensemble = pytest.importorskip("sklearn.ensemble")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
KINDS = (ensemble.HistGradientBoostingClassifier, ensemble.GradientBoostingClassifier)


def trained(kind, classes):
    steps = "max_iter" if "Hist" in kind.__name__ else "n_estimators"
    return kind(**{steps: 5}, random_state=0).fit(X, (X[:, 0] * 2).astype(int) % classes)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classes", [2, 3])
def test_boosted_models_are_rebuilt(kind, classes, tmp_path):
    model = trained(kind, classes)
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(model))

    rebuilt = rebuild(tmp_path / "model.pkl")

    assert (rebuilt.predict_proba(X) == model.predict_proba(X)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_module_of_losses_is_known_by_its_other_name(kind, tmp_path):
    model = trained(kind, 2)
    here, there = b"csklearn._loss._loss\nCy", b"c_loss\nCy"
    as_from_1_7 = pickle.dumps(model, protocol=2).replace(here, there)
    assert there in as_from_1_7
    (tmp_path / "model.pkl").write_bytes(as_from_1_7)

    rebuilt = rebuild(tmp_path / "model.pkl")

    assert (rebuilt.predict_proba(X) == model.predict_proba(X)).all()


@pytest.mark.parametrize(
    "asked",
    [
        # makes what is no loss
        b"c_loss\n__pyx_unpickle_CyHalfMultinomialLoss\n(csklearn.tree._tree\nTree\nI0\n)tR.",
        # a module of that name that lies in the way
        b"c_loss\nsystem\n(Vecho\ntR.",
        b"c_loss\nloss\n.",
    ],
)
def test_nothing_else_is_made_by_that_way(asked, tmp_path):
    (tmp_path / "model.pkl").write_bytes(asked)

    with pytest.raises(RefusedError):
        rebuild(tmp_path / "model.pkl")
