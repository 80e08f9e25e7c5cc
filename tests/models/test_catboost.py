"""CatBoost's files, asked by CatBoost: categories by name, classes by name, probabilities."""

import sys

import numpy as np
import pandas as pd
import pytest

from fairdesk.errors import ModelError
from fairdesk.models.detect import describe_format
from fairdesk.models.model import Takes
from fairdesk.models.open import open_model

RNG = np.random.default_rng(2)
PEOPLE = pd.DataFrame(
    {
        "age": RNG.normal(40, 10, 400).round(1),
        "job": RNG.choice(["clerk", "cook", "pilot"], 400),
        "rooms": RNG.integers(1, 5, 400),
    }
)
PAID = np.where((PEOPLE["age"] > 40) ^ (PEOPLE["job"] == "cook"), "yes", "no")
HOW = {"iterations": 12, "verbose": 0, "allow_writing_files": False, "thread_count": 1}


def test_without_the_library_the_way_to_it_is_named(tmp_path, monkeypatch):
    path = tmp_path / "m.cbm"
    path.write_bytes(b"CBM1" + bytes(200))
    monkeypatch.setitem(sys.modules, "catboost", None)
    with pytest.raises(ModelError, match="not installed") as caught:
        open_model(path)
    assert "fairdesk[catboost]" in caught.value.remedy


@pytest.mark.parametrize("form", ["cbm", "json"])
def test_categories_and_classes_have_their_names(tmp_path, form):
    catboost = pytest.importorskip("catboost")
    path = tmp_path / f"m.{form}"
    named = ["job", "rooms"] if form == "cbm" else []
    people = PEOPLE if form == "cbm" else PEOPLE[["age", "rooms"]]
    model = catboost.CatBoostClassifier(cat_features=named, **HOW).fit(people, PAID)
    model.save_model(path, format=form)
    assert describe_format(path) == f"catboost-{form}"
    opened = open_model(path)
    card = opened.card
    assert card.named
    assert card.inputs == tuple(people.columns)
    assert card.classes == ("no", "yes")
    assert card.takes is (Takes.COLUMNS if named else Takes.MATRIX)
    told = model.predict_proba(people)[:, 1]
    # whole numbers come as numbers with a point
    inputs = [
        people[name].to_numpy(object if name == "job" else np.float64) for name in people.columns
    ]
    scores = opened.scores(inputs)[:, 0]
    assert np.allclose(scores, told, atol=1e-6)
    assert ((scores > 0.5) == (model.predict(people) == "yes")).all()
    assert len(opened.scores([each[:0] for each in inputs])) == 0
    assert not card.warnings
    if named:
        model.set_probability_threshold(0.3)
        model.save_model(path)
        assert "0.3" in open_model(path).card.warnings[0]
        inputs[1] = np.array([None] * len(people), object)
        with pytest.raises(ModelError, match="“job” is missing"):
            opened.scores(inputs)


def test_several_classes_numbers_and_what_is_not_asked(tmp_path):
    catboost = pytest.importorskip("catboost")
    path = tmp_path / "m.cbm"
    ages = PEOPLE[["age"]].to_numpy()
    model = catboost.CatBoostClassifier(**HOW).fit(ages, PEOPLE["job"])
    model.save_model(path)
    opened = open_model(path)
    assert opened.card.classes == ("clerk", "cook", "pilot")
    assert not opened.card.named
    assert np.allclose(opened.matrix_scores(ages), model.predict_proba(ages), atol=1e-6)
    for loss in ("RMSE", "Poisson"):
        model = catboost.CatBoostRegressor(loss_function=loss, **HOW).fit(ages, PEOPLE["rooms"])
        model.save_model(path)
        opened = open_model(path)
        assert opened.card.classes == ()
        assert np.allclose(opened.matrix_scores(ages)[:, 0], model.predict(ages), atol=1e-6)
    several = catboost.CatBoostRegressor(loss_function="MultiRMSE", **HOW)
    several.fit(ages, np.column_stack([ages, ages]))
    several.save_model(path)
    with pytest.raises(ModelError, match="several outputs at once"):
        open_model(path)
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(ModelError, match="damaged"):
        open_model(path)
