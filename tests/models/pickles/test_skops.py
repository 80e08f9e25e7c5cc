import json
import zipfile

import numpy as np
import pytest
import sklearn
import skops.io
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from fairdesk.errors import ModelError, TrustRequiredError
from fairdesk.models.model import labels
from fairdesk.models.open import open_model
from fairdesk.models.pickles.contents import look_into
from tests import phrases

NUMBERS = np.abs(np.random.default_rng(1).normal(size=(60, 3)))
TRUTH = np.where(NUMBERS[:, 0] > 0.6, "yes", "no")


def saved(tmp_path, model):
    path = tmp_path / "m.skops"
    skops.io.dump(model, path)
    return path


def changed(path, old, new):
    """Write other names into a file's description, as a hostile author would."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    text = json.dumps(json.loads(parts["schema.json"]))
    assert old in text
    parts["schema.json"] = text.replace(old, new).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        RandomForestClassifier(3),
        GradientBoostingClassifier(n_estimators=3),
        HistGradientBoostingClassifier(max_iter=3),
        MLPClassifier(4, max_iter=200),
        make_pipeline(FunctionTransformer(np.log1p), StandardScaler(), LogisticRegression()),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_models_open_without_consent(tmp_path, model):
    path = saved(tmp_path, model.fit(NUMBERS, TRUTH))
    opened = open_model(path)
    assert not opened.card.needed_trust
    assert opened.card.saved_with == f"scikit-learn {sklearn.__version__}"
    decided = [opened.card.classes[i] for i in labels(opened.matrix_scores(NUMBERS))]
    assert decided == model.predict(NUMBERS).tolist()
    contents = look_into(path)
    assert contents.saved_with["scikit-learn"] == sklearn.__version__
    assert {entry.standing for entry in contents.imports} == {"known"}


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("builtins", "eval"),
        ("numpy", "load"),
        ("sklearn.datasets._base", "load_files"),
        ("scipy.stats._continuous_distns", "norm_gen"),
        ("pandas", "DataFrame"),
    ],
)
def test_other_names_need_consent_and_are_told(tmp_path, module, name):
    model = make_pipeline(FunctionTransformer(np.log1p), LogisticRegression())
    path = saved(tmp_path, model.fit(NUMBERS, TRUTH))
    changed(path, '"log1p", "__module__": "numpy"', f'"{name}", "__module__": "{module}"')
    with pytest.raises(TrustRequiredError, match=name):
        open_model(path)


def test_calls_that_skops_itself_makes_need_consent(tmp_path):
    for node in ("MethodNode", "PartialNode", "OperatorFuncNode"):
        broken = saved(tmp_path, LogisticRegression().fit(NUMBERS, TRUTH))
        changed(broken, '"ObjectNode"', f'"{node}"')
        with pytest.raises(ModelError):
            open_model(broken)
        assert {entry.name for entry in look_into(broken).imports} >= {f"skops.{node}"}


def test_a_damaged_file_is_told_and_never_opened_otherwise(tmp_path):
    path = tmp_path / "m.skops"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", json.dumps({"__class__": "dict", "__module__": "builtins"}))
        archive.writestr("data.pkl", b"\x80\x04cos\nsystem\n.")
    with pytest.raises(ModelError, match=phrases.CANNOT_BE_OPENED):
        open_model(path)
    good = saved(tmp_path, LogisticRegression().fit(NUMBERS, TRUTH))
    good.write_bytes(good.read_bytes()[:-30])
    with pytest.raises(ModelError):
        open_model(good)
