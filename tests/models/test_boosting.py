"""Boosted trees in their libraries' own files: read as data, they answer as the library does."""

import json
import pickle
import struct
from contextlib import suppress

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from fairdesk.errors import ModelError
from fairdesk.models.boosting.ensemble import BrokenError
from fairdesk.models.boosting.xgboost_model import decode
from fairdesk.models.detect import describe_format
from fairdesk.models.model import Capability
from fairdesk.models.open import open_model
from fairdesk.models.structure import structure_of
from tests.models.sklearn.test_structure import agrees, at_thresholds
from tests.sizes import many

xgboost = pytest.importorskip("xgboost")
lightgbm = pytest.importorskip("lightgbm")

RNG = np.random.default_rng(3)
NUMBERS = RNG.normal(size=(500, 4)).round(1)
NUMBERS[:, 3] = RNG.integers(0, 12, 500)
WHOLE = NUMBERS.copy()
NUMBERS[RNG.random(NUMBERS.shape) < 0.1] = np.nan
TWO = (WHOLE[:, 0] + WHOLE[:, 1] * WHOLE[:, 2] + (WHOLE[:, 3] % 3 == 1) > 0.4).astype(int)
THREE = np.digitize(WHOLE[:, 0] + (WHOLE[:, 3] % 2), [-0.4, 0.9])
AMOUNT = np.abs(WHOLE[:, 0]) * 3 + 0.1
#: What splits may send either way: edges of single precision, fractions of categories, none.
ODD = np.array([0.0, -0.0, -0.5, 3.7, 11.0, 12.0, 40.0, -1.0, 1e-36, -1e-36, 2.0**25, np.nan])


def rows_for(opened):
    """Make rows at every threshold, next to it, and odd ones."""
    rows = (
        at_thresholds(structure_of(opened).body, 4) if Capability.TREES in opened.card.can else []
    )
    odd = np.column_stack([RNG.permutation(ODD) for _ in range(4)])
    return np.concatenate([each for each in (NUMBERS, rows, odd) if len(each)])


def same(opened, told, rows):
    """Compare answers with the library's."""
    got = opened.answers(rows)
    np.testing.assert_allclose(got, np.reshape(told, got.shape), rtol=3e-6, atol=1e-7)
    if got.shape[1] > 1:
        assert (got.argmax(axis=1) == np.argmax(told, axis=1)).all()


XGB = [
    *(("gbtree", "binary:logistic", TWO), ("gbtree", "multi:softprob", THREE)),
    *(("dart", "binary:logistic", TWO), ("dart", "multi:softmax", THREE)),
    *(("gblinear", "binary:logistic", TWO), ("gblinear", "multi:softprob", THREE)),
    *(("gbtree", "binary:logitraw", TWO), ("gbtree", "reg:squarederror", AMOUNT)),
    *(("gbtree", "count:poisson", AMOUNT), ("dart", "reg:gamma", AMOUNT)),
    *(("gbtree", "reg:logistic", TWO), ("gbtree", "rank:ndcg", TWO)),
]


@pytest.mark.parametrize("categories", [False, True])
@pytest.mark.parametrize(("booster", "objective", "truth"), XGB)
def test_xgboosts_files_answer_as_xgboost_does(tmp_path, booster, objective, truth, categories):
    if categories and booster == "gblinear":
        pytest.skip("no categories there")
    how = {"objective": objective, "booster": booster}
    how |= {"num_class": 3} if objective.startswith("multi") else {}
    if booster != "gblinear":
        how |= {"max_depth": 4, "num_parallel_tree": 2 if booster == "gbtree" else 1}
    if booster == "dart":
        how |= {"rate_drop": 0.4, "one_drop": 1}
    kinds = ["q", "q", "q", "c" if categories else "q"]

    def matrix(rows, **more):
        return xgboost.DMatrix(rows, feature_types=kinds, enable_categorical=True, **more)

    queries = {"qid": np.repeat(np.arange(10), 50)} if objective.startswith("rank") else {}
    trained = xgboost.train(how, matrix(NUMBERS, label=truth, **queries), 8)
    for name in ("model.json", "model.ubj"):
        trained.save_model(tmp_path / name)
        opened = open_model(tmp_path / name)
        rows = rows_for(opened)
        # a booster of softmax tells the class only
        if objective == "multi:softmax":
            got = opened.answers(rows).argmax(axis=1)
            assert (got == trained.predict(matrix(rows))).all()
        else:
            same(opened, trained.predict(matrix(rows)), rows)
        card = opened.card
        assert card.read_as_data
        assert not card.named
        assert card.format.startswith("XGBoost ")
        values = not objective.startswith(("binary", "multi"))
        assert card.classes == (() if values else ("0", "1", "2")[: len(np.unique(truth))])
        raw = "scores" if objective == "binary:logitraw" else "probabilities"
        assert card.scores == ("values" if values else raw)
        if Capability.TREES in card.can:
            agrees(opened, list(rows.T))
    assert describe_format(tmp_path / "model.ubj") == "xgboost-ubj"


LGB = [
    *(("binary", "gbdt", TWO), ("multiclass", "gbdt", THREE), ("multiclassova", "gbdt", THREE)),
    *(("regression", "dart", AMOUNT), ("binary", "rf", TWO), ("cross_entropy", "gbdt", TWO)),
    *(("poisson", "gbdt", AMOUNT), ("cross_entropy_lambda", "gbdt", TWO)),
]


@pytest.mark.parametrize("more", [{}, {"zero_as_missing": True}, {"use_missing": False}])
@pytest.mark.parametrize(("objective", "boosting", "truth"), LGB)
def test_lightgbms_files_answer_as_lightgbm_does(tmp_path, objective, boosting, truth, more):
    how = {"objective": objective, "boosting": boosting, "verbose": -1, "reg_sqrt": True, **more}
    how |= {"num_class": 3} if objective.startswith("multi") else {}
    how |= {"sigmoid": 1.7} if objective == "binary" else {}
    how |= {"bagging_freq": 1, "bagging_fraction": 0.7} if boosting == "rf" else {}
    data = lightgbm.Dataset(NUMBERS, label=truth, categorical_feature=[3])
    trained = lightgbm.train(how, data, 8)
    path = tmp_path / "model.txt"
    trained.save_model(path)
    opened = open_model(path)
    assert describe_format(path) == "lightgbm"
    rows = rows_for(opened)
    same(opened, trained.predict(rows), rows)
    assert not opened.card.named
    if Capability.TREES in opened.card.can:
        agrees(opened, list(rows.T))
    else:
        assert more.get("zero_as_missing") or objective in (
            *("multiclassova", "poisson", "cross_entropy", "cross_entropy_lambda", "regression"),
        )


PEOPLE = pd.DataFrame(
    {
        "age": WHOLE[:, 0] * 10 + 40,
        "job": pd.Categorical(np.array(["clerk", "cook", "pilot"])[WHOLE[:, 3].astype(int) % 3]),
        "rooms": pd.Categorical(WHOLE[:, 3].astype(int) % 4 + 2),
    }
)
PAID = ((PEOPLE["age"] > 40) ^ (PEOPLE["job"] == "cook")).astype(int)


def test_categories_have_the_names_that_the_training_table_had(tmp_path):
    one = xgboost.XGBClassifier(n_estimators=5, enable_categorical=True).fit(PEOPLE, PAID)
    other = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(PEOPLE, PAID)
    one.save_model(tmp_path / "one.json")
    other.booster_.save_model(tmp_path / "other.txt")
    for name, model in (("one.json", one), ("other.txt", other)):
        opened = open_model(tmp_path / name)
        codes = opened.card.hints.codes
        assert codes["job"] == {"clerk": 0, "cook": 1, "pilot": 2}
        assert codes["rooms"] == {"2": 0, "3": 1, "4": 2, "5": 3}
        assert opened.card.named
        assert opened.card.inputs == ("age", "job", "rooms")
        rows = np.column_stack(
            [
                PEOPLE["age"],
                *([codes[c][str(v)] for v in PEOPLE[c]] for c in ("job", "rooms")),
            ]
        ).astype(float)
        told = model.predict_proba(PEOPLE)[:, 1]
        np.testing.assert_allclose(opened.matrix_scores(rows)[:, 0], told, rtol=3e-6)
    # a file that does not say which number is which says so
    content = json.loads((tmp_path / "one.json").read_text())
    del content["learner"]["gradient_booster"]["model"]["cats"]
    (tmp_path / "old.json").write_text(json.dumps(content, indent=2))
    card = open_model(tmp_path / "old.json").card
    assert not card.hints.codes
    assert any("“job”" in note and "number" in note for note in card.warnings)


CLASSES = np.array(["low", "middle", "high"])[THREE]
TRAINED_ON_CATEGORIES = {
    "lightgbm": lambda: lightgbm.LGBMClassifier(n_estimators=9, verbose=-1).fit(PEOPLE, PAID),
    "xgboost": lambda: xgboost.XGBClassifier(n_estimators=9, enable_categorical=True).fit(
        PEOPLE, PAID
    ),
    "classes": lambda: lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(PEOPLE, CLASSES),
    "amounts": lambda: lightgbm.LGBMRegressor(n_estimators=9, verbose=-1).fit(PEOPLE, AMOUNT),
    "search": lambda: GridSearchCV(
        lightgbm.LGBMClassifier(n_estimators=9, verbose=-1), {"num_leaves": [7, 15]}
    ).fit(PEOPLE, PAID),
    "pipeline": lambda: make_pipeline(
        xgboost.XGBClassifier(n_estimators=9, enable_categorical=True)
    ).fit(PEOPLE, PAID),
}


@pytest.mark.parametrize("kind", TRAINED_ON_CATEGORIES)
def test_estimators_that_were_trained_on_categories_are_given_the_same_codes(kind, tmp_path):
    model = TRAINED_ON_CATEGORIES[kind]()
    joblib.dump(model, tmp_path / "model.joblib")
    opened = open_model(tmp_path / "model.joblib")
    codes = opened.card.hints.codes
    assert codes["job"] == {"clerk": 0, "cook": 1, "pilot": 2}
    assert codes["rooms"] == {"2": 0, "3": 1, "4": 2, "5": 3}
    assert opened.card.inputs == ("age", "job", "rooms")
    assert opened.card.read_as_data
    assert Capability.TREES in opened.card.can or kind == "amounts"
    assert opened.card.classes == tuple(map(str, getattr(model, "classes_", ())))
    coded = [[codes[name][str(value)] for value in PEOPLE[name]] for name in ("job", "rooms")]
    rows = np.column_stack([PEOPLE["age"], *coded]).astype(float)
    told = model.predict_proba(PEOPLE) if opened.card.classes else model.predict(PEOPLE)
    same(opened, told[:, 1] if opened.answers(rows).shape[1] == 1 < np.ndim(told) else told, rows)


def test_categories_behind_a_wrapper_are_named_with_the_way_out(tmp_path):
    inner = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1)
    joblib.dump(CalibratedClassifierCV(inner, cv=2).fit(PEOPLE, PAID), tmp_path / "model.joblib")
    opened = open_model(tmp_path / "model.joblib")
    with pytest.raises(ModelError, match="categories of pandas") as caught:
        opened.scores([PEOPLE[name].to_numpy(object) for name in PEOPLE])
    assert "decisions" in caught.value.remedy


def test_names_with_letters_of_several_bytes_are_not_believed(tmp_path):
    """XGBoost writes where they end in letters, and so cuts them in the wrong places."""
    sexes = pd.DataFrame({"sex": pd.Categorical(["divers", "männlich", "weiblich"] * 20)})
    model = xgboost.XGBClassifier(n_estimators=3, enable_categorical=True)
    model.fit(sexes, [0, 1, 0] * 20).save_model(tmp_path / "one.json")
    card = open_model(tmp_path / "one.json").card
    assert not card.hints.codes
    assert any("“sex”" in note and "number" in note for note in card.warnings)


def test_training_that_was_stopped_early_answers_as_who_saved_it_would(tmp_path):
    model = xgboost.XGBClassifier(n_estimators=60, early_stopping_rounds=3)
    model.fit(NUMBERS[:300], TWO[:300], eval_set=[(NUMBERS[300:], TWO[300:])], verbose=False)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    model.save_model(tmp_path / "own.json")
    model.get_booster().save_model(tmp_path / "bare.json")
    own, bare = (open_model(tmp_path / name) for name in ("own.json", "bare.json"))
    same(own, model.predict_proba(NUMBERS)[:, 1], NUMBERS)
    same(bare, model.get_booster().predict(xgboost.DMatrix(NUMBERS)), NUMBERS)
    assert len(own.body.trees) == model.best_iteration + 1 < len(bare.body.trees)
    assert all("stopped early" in each.card.warnings[0] for each in (own, bare))


def test_bare_boosters_in_pickles_need_no_consent(tmp_path):
    model = lightgbm.LGBMClassifier(n_estimators=40, verbose=-1)
    model.fit(
        *(NUMBERS[:300], TWO[:300]),
        eval_set=[(NUMBERS[300:], TWO[300:])],
        callbacks=[lightgbm.early_stopping(2, verbose=False)],
    )
    boosters = {
        "xgboost": xgboost.train(
            {"objective": "binary:logistic"}, xgboost.DMatrix(NUMBERS, TWO), 9
        ),
        "lightgbm": model.booster_,
    }
    for name, booster in boosters.items():
        for protocol in (2, 4, 5):
            path = tmp_path / f"{name}.pkl"
            path.write_bytes(pickle.dumps(booster, protocol))
            opened = open_model(path)
            rows = xgboost.DMatrix(NUMBERS) if name == "xgboost" else NUMBERS
            same(opened, booster.predict(rows), NUMBERS)
            assert opened.card.read_as_data
            assert not opened.card.needed_trust


def saved(tmp_path):
    """Return a small file of each library, as JSON and as text."""
    booster = xgboost.train(
        {"objective": "binary:logistic", "max_depth": 2},
        xgboost.DMatrix(NUMBERS, TWO, feature_types=["q", "q", "q", "c"], enable_categorical=True),
        3,
    )
    booster.save_model(tmp_path / "m.json")
    data = lightgbm.Dataset(NUMBERS, TWO, categorical_feature=[3])
    text = lightgbm.train({"objective": "binary", "verbose": -1, "num_leaves": 4}, data, 3)
    return json.loads((tmp_path / "m.json").read_text()), text.model_to_string()


def test_damaged_and_hostile_json_is_refused(tmp_path):
    def tree(document):
        return document["learner"]["gradient_booster"]["model"]["trees"][0]

    def put(part, key, value):
        part[key] = value

    learner, model = "learner", "gradient_booster"
    hostile = {
        "lead back": lambda d: put(tree(d)["left_children"], 0, 0),
        "meet again": lambda d: put(tree(d)["right_children"], 0, tree(d)["left_children"][0]),
        "node that does not exist": lambda d: put(tree(d)["left_children"], 0, 10**9),
        "not a list of numbers": lambda d: put(tree(d)["left_children"], 0, 10**30),
        "uses an input that does not exist": lambda d: put(tree(d)["split_indices"], 0, 4),
        "claims 1000000000": lambda d: put(tree(d)["tree_param"], "num_nodes", "1000000000"),
        "not finite": lambda d: put(tree(d)["split_conditions"], -1, float("nan")),
        "entries, not": lambda d: tree(d)["default_left"].pop(),
        "has trees|has no trees": lambda d: (
            d[learner][model]["model"]["trees"].clear()
            or d[learner][model]["model"]["tree_info"].clear()
        ),
        "“num_feature” is": lambda d: put(
            d[learner]["learner_model_param"], "num_feature", "9" * 9
        ),
        "“num_class” is": lambda d: put(d[learner]["learner_model_param"], "num_class", "9" * 9),
        "do not match “": lambda d: put(d[learner]["learner_model_param"], "num_class", "7"),
        "the class that it": lambda d: put(d[learner][model]["model"]["tree_info"], 0, 5),
        "“base_score” is": lambda d: put(d[learner]["learner_model_param"], "base_score", "1E0"),
        "settings of a training": lambda d: put(d[learner], model, {"name": "gbtree"}),
        "several outputs": lambda d: put(tree(d)["tree_param"], "size_leaf_vector", "3"),
        "objective “rank:new”": lambda d: put(d[learner]["objective"], "name", "rank:new"),
        "“left_children” is not a list": lambda d: put(tree(d), "left_children", {"a": 1}),
        "numbered below 0": lambda d: [
            put(each["categories"], 0, 2**31)
            for each in d[learner][model]["model"]["trees"]
            if each["categories"]
        ],
    }
    document, _ = saved(tmp_path)
    path = tmp_path / "hostile.json"
    for said, change in hostile.items():
        broken = json.loads(json.dumps(document))
        change(broken)
        path.write_text(json.dumps(broken))
        with pytest.raises(ModelError) as caught:
            open_model(path)
        assert any(part in f"{caught.value.what} {caught.value.why}" for part in said.split("|")), (
            said,
            str(caught.value),
        )
        assert caught.value.remedy
    for content in (json.dumps(document)[:-40], '{"learner":' + "[" * 10**6, '{"learner": {}}'):
        path.write_text(content)
        with pytest.raises(ModelError, match="damaged"):
            open_model(path)


def test_damaged_and_hostile_text_is_refused(tmp_path):
    _, text = saved(tmp_path)
    path = tmp_path / "m.txt"
    for before, after in (
        ("num_leaves=4", "num_leaves=1000000000"),
        ("num_leaves=4", "num_leaves=-1"),
        ("left_child=1 ", "left_child=0 "),
        ("left_child=1 ", "left_child=900 "),
        ("right_child=", "right_child=-900 "),
        ("leaf_value=", "leaf_value=nan "),
        ("leaf_value=", "leaf_value=x "),
        ("split_feature=", "split_feature=9 "),
        ("max_feature_idx=3", "max_feature_idx=999999999"),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=2"),
        ("sigmoid:1", "sigmoid:0"),
        ("tree_sizes=", "tree_sizes=1 "),
        ("cat_threshold=", "cat_threshold=-"),
        ("end of trees", ""),
        ("is_linear=0", "is_linear=1"),
        ("objective=binary", "objective=unheard_of"),
    ):
        assert before in text
        path.write_text(text.replace(before, after))
        with pytest.raises(ModelError) as caught:
            open_model(path)
        assert caught.value.why
        assert caught.value.remedy


@settings(max_examples=many(200))
@given(st.data())
def test_any_change_of_a_byte_is_read_or_refused(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp()
    path = folder / "m.ubj"
    if not path.exists():
        xgboost.train({"max_depth": 2}, xgboost.DMatrix(NUMBERS, AMOUNT), 2).save_model(path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(20, len(content) - 1))] = data.draw(st.integers(0, 255))
    changed = folder / "changed.ubj"
    changed.write_bytes(content[: data.draw(st.integers(30, len(content)))])
    # nothing but an answer, or an error for the auditor
    with suppress(ModelError):
        opened = open_model(changed)
        assert len(opened.matrix_scores(np.zeros((2, len(opened.card.inputs))))) == 2


def test_ubjson_is_read_whole():
    def text(name):
        return b"U" + bytes([len(name)]) + name

    document = b"".join(
        (
            *(b"{", text(b"a"), b"[", b"Zi\xffU\xffI", struct.pack(">h", -2)),
            *(b"Nl", struct.pack(">i", -3), b"L", struct.pack(">q", -4)),
            *(b"d", struct.pack(">f", 0.5), b"D", struct.pack(">d", 0.25), b"TF", b"Cx"),
            *(b"S", text("ö".encode()), b"H", text(b"12"), b"[]", b"{}", b"]"),
            *(text(b"b"), b"[$d#U\x02", struct.pack(">2f", 1, 2), text(b"c"), b"[#U\x01T"),
            *(text(b"d"), b"{$i#U\x01", text(b"k"), b"\x07", b"N}N"),
        )
    )
    read = decode(document)
    expected = [None, -1, 255, -2, -3, -4, 0.5, 0.25, True, False, "x", "ö", "12", [], {}]
    assert read["a"] == expected
    assert read["b"].tolist() == [1.0, 2.0]
    assert read["c"] == [True]
    assert read["d"] == {"k": 7}
    count = struct.pack(">q", 10**12)
    for broken in (
        *(document[:end] for end in range(len(document) - 1)),
        *(b"[" * 100_000, b"[$d#L" + count, b"[#L" + count, b"[$Z#L" + count, b"[$T#L" + count),
        *(b"[$d]", b"[#i\xff", b"SL" + count, b"S" + struct.pack(">bq", 76, -1), b"x", b"TT"),
    ):
        with pytest.raises(BrokenError):
            decode(broken)


@pytest.mark.parametrize(
    ("name", "content", "kind", "remedy"),
    [
        ("a.model", b"binf\0\0\0\x3f" + bytes(200), "xgboost-old", "XGBoost 3.0 or older"),
        (
            "b.bin",
            bytes(136) + struct.pack("<q", 15) + b"binary:logistic",
            "xgboost-old",
            "save_model",
        ),
        ("dump.txt", b"booster[0]:\n0:[f0<1] yes=1,no=2", "xgboost-dump", "save_model"),
        ("dump.json", b'[\n  { "nodeid": 0, "depth": 0', "xgboost-dump", "save_model"),
        ("l.json", b'{"name": "tree", "version": "v4"', "lightgbm-dump", "model.txt"),
    ],
)
def test_what_is_not_the_model_is_named_with_what_makes_it(tmp_path, name, content, kind, remedy):
    path = tmp_path / name
    path.write_bytes(content)
    assert describe_format(path) == kind
    with pytest.raises(ModelError) as caught:
        open_model(path)
    assert remedy in caught.value.remedy


def test_lists_beside_a_model_are_no_models(tmp_path):
    for content in ('["age", "sex"]', '{"features": ["learner"]}', '{"version": 1, "inputs": {}}'):
        path = tmp_path / "list.json"
        path.write_text(content)
        assert describe_format(path) == "text"
