import json
import os
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import (
    LabelEncoder,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

from fairdesk.errors import ModelError, TrustRequiredError
from fairdesk.models.model import Capability, Companion, ModelCard, Step, Takes
from fairdesk.models.open import open_model
from tests.models.hostile import Calls

RNG = np.random.default_rng(2)
NUMBERS = RNG.normal(size=(60, 3))
TRUTH = (NUMBERS[:, 0] > 0).astype(int)
FRAME = pd.DataFrame(NUMBERS, columns=["age", "pay", "hours"])


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.joblib"
    joblib.dump(LogisticRegression().fit(NUMBERS, TRUTH), path)
    return path


def beside(tmp_path, name, content):
    path = tmp_path / name
    if name.endswith((".pkl", ".joblib")):
        joblib.dump(content, path)
    elif name.endswith(".json"):
        path.write_text(json.dumps(content))
    else:
        path.write_text(content)
    return Companion(str(path))


def hints(model, *companions):
    return open_model(model, companions=companions).card.hints


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("features.json", ["age", "pay", "hours"]),
        ("order.json", {"features": ["age", "pay", "hours"]}),
        ("about.json", {"feature_names": ["age", "pay", "hours"], "accuracy": 0.8}),
        ("features.txt", "age\npay\nhours\n"),
        ("header.csv", "age,pay,hours\n1,2,3\n"),
        ("header.csv", "age;pay;hours\n"),
        ("header.txt", "\ufeffage\tpay\thours"),
        ("columns.pkl", ["age", "pay", "hours"]),
        ("columns.joblib", FRAME.columns),
        ("columns.pkl", np.array(["age", "pay", "hours"])),
    ],
)
def test_an_order_of_inputs_is_read(tmp_path, model, name, content):
    assert hints(model, beside(tmp_path, name, content)).features == ("age", "pay", "hours")


def test_codes_are_read(tmp_path, model):
    wanted = {"sex": {"m": 0.0, "f": 1.0}, "job": {"cook": 0.0, "clerk": 1.0}}
    nested = beside(
        tmp_path, "codes.json", {"sex": {"m": 0, "f": 1}, "job": {"cook": 0, "clerk": 1}}
    )
    assert hints(model, nested).codes == wanted
    flat = beside(tmp_path, "sex_mapping.json", {"m": 0, "f": 1})
    turned = beside(tmp_path, "job.json", {"0": "cook", "1": "clerk"})
    assert hints(model, flat, turned).codes == wanted
    encoder = LabelEncoder().fit(["m", "f"])
    assert hints(model, beside(tmp_path, "le_sex.pkl", encoder)).codes == {
        "sex": {"f": 0.0, "m": 1.0}
    }
    people = pd.DataFrame({"sex": ["m", "f"], "job": ["cook", "clerk"]})
    ordinal = OrdinalEncoder(categories=[["m", "f"], ["cook", "clerk"]]).fit(people)
    assert hints(model, beside(tmp_path, "oe.pkl", ordinal)).codes == wanted


def test_one_hot_columns_are_read(tmp_path, model):
    people = pd.DataFrame({"sex": ["m", "f", "f"], "job": ["cook", "clerk", "boss"]})
    kept = OneHotEncoder().fit(people)
    dropped = OneHotEncoder(drop="first").fit(people[["job"]])
    assert hints(model, beside(tmp_path, "e.pkl", kept)).one_hot == {
        "sex": ("f", "m"),
        "job": ("boss", "clerk", "cook"),
    }
    assert hints(model, beside(tmp_path, "e.pkl", dropped)).one_hot == {"job": ("clerk", "cook")}


def test_classes_and_target_are_read(tmp_path, model):
    told = hints(
        model,
        beside(tmp_path, "target_encoder.pkl", LabelEncoder().fit(["yes", "no"])),
        beside(tmp_path, "about.json", {"target": "hired"}),
    )
    assert (told.classes, told.target) == (("no", "yes"), "hired")
    assert hints(model, beside(tmp_path, "c.json", {"classes_": ["no", "yes"]})).classes == (
        "no",
        "yes",
    )
    flat = beside(tmp_path, "label_map.json", {"target": {"bad": 0, "good": 1}})
    assert hints(model, flat).classes == ("bad", "good")


def test_a_scaler_becomes_steps_and_several_files_combine(tmp_path, model):
    scaler = StandardScaler().fit(NUMBERS)
    told = hints(
        model,
        beside(tmp_path, "scaler.pkl", scaler),
        beside(tmp_path, "features.json", list(FRAME)),
    )
    assert told.features == tuple(FRAME)
    assert told.steps_in_order[1] == (
        Step("subtract", float(scaler.mean_[1])),
        Step("divide", float(scaler.scale_[1])),
    )
    named = hints(model, beside(tmp_path, "scaler.pkl", MinMaxScaler().fit(FRAME[["pay"]])))
    assert set(named.steps) == {"pay"}
    assert [step.op for step in named.steps["pay"]] == ["multiply", "add"]
    assert not named.steps_in_order


def test_the_card_keeps_the_files_and_what_they_need(tmp_path, model):
    companion = beside(tmp_path, "scaler.pkl", StandardScaler().fit(NUMBERS))
    card = open_model(model, companions=[companion]).card
    assert [Companion(c.path) for c in card.companions] == [companion]
    assert len(card.companions[0].sha256) == 64
    assert not card.companions[0].trusted
    assert card.takes is Takes.MATRIX


def test_contradictions_are_told(tmp_path, model):
    first = beside(tmp_path, "a.json", ["age", "pay", "hours"])
    for other in (
        beside(tmp_path, "b.json", ["pay", "age", "hours"]),
        beside(tmp_path, "c.txt", "age\nhours\npay\n"),
    ):
        with pytest.raises(ModelError, match="a different order"):
            open_model(model, companions=[first, other])
    codes = [beside(tmp_path, f"{i}.json", {"sex": {"m": i, "f": 1 - i}}) for i in (0, 1)]
    with pytest.raises(ModelError, match="other codes"):
        open_model(model, companions=codes)
    scalers = [
        beside(tmp_path, "s.pkl", StandardScaler().fit(NUMBERS)),
        beside(tmp_path, "m.pkl", MinMaxScaler().fit(NUMBERS)),
    ]
    with pytest.raises(ModelError, match="another scaler"):
        open_model(model, companions=scalers)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.json", ["age", "pay"], "contains no information"),
        ("a.json", {"accuracy": 0.9}, "contains no information"),
        ("a.txt", "some words that are no list", "contains no information"),
        ("a.json", 3, "contains no information"),
        ("a.pkl", LogisticRegression().fit(NUMBERS, TRUTH), "It is a model, “LogisticRegression”"),
        ("a.pkl", 17, "contains no information"),
    ],
)
def test_what_tells_nothing_is_refused_with_what_is_expected(tmp_path, model, name, content, why):
    with pytest.raises(ModelError, match="does not describe the model’s inputs") as caught:
        open_model(model, companions=[beside(tmp_path, name, content)])
    assert why in caught.value.why
    assert "one name per line" in caught.value.remedy


def test_broken_files_are_told(tmp_path, model):
    (tmp_path / "a.json").write_text("{")
    (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(40))
    (tmp_path / "c.json").write_text("[" * 200_000)
    (tmp_path / "d.txt").write_bytes(b"")
    for name in ("a.json", "b.png", "c.json", "d.txt", "gone.pkl"):
        with pytest.raises(ModelError) as caught:
            open_model(model, companions=[Companion(str(tmp_path / name))])
        assert caught.value.remedy
    with pytest.raises(ModelError, match="not fitted"):
        open_model(model, companions=[beside(tmp_path, "s.pkl", LabelEncoder())])


@pytest.mark.parametrize("content", [b"", b" \n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_tells_nothing(tmp_path, content):
    from fairdesk.models.preparation.companions import with_companions

    path = tmp_path / "names.txt"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="does not describe the model’s inputs"):
        with_companions(network(3), [Companion(str(path))])


def test_a_program_beside_the_model_needs_consent_of_its_own(tmp_path, model):
    mark = tmp_path / "mark"
    path = tmp_path / "scaler.pkl"
    path.write_bytes(pickle.dumps({"features": list(FRAME), "x": Calls(os.mkdir, str(mark))}))
    with pytest.raises(TrustRequiredError, match="mkdir"):
        open_model(model, trusted=True, companions=[Companion(str(path))])
    assert not mark.exists()
    card = open_model(model, companions=[Companion(str(path), trusted=True)]).card
    assert mark.exists()
    assert card.companions[0].trusted
    assert not card.needed_trust


def network(inputs):
    weights = [np.ones((inputs, 1), np.float32)]
    card = ModelCard(
        path="n.h5", sha256="0" * 64, format="Keras network", summary="Dense network.",
        takes=Takes.MATRIX, inputs=tuple(f"input {i + 1}" for i in range(inputs)), named=False,
        classes=("0", "1"), scores="probabilities", read_as_data=True,
        can=(Capability.DECIDES, Capability.SCORES, Capability.GRADIENTS, Capability.LAYERS),
    )  # fmt: skip

    class Network:
        def __init__(self):
            self.card = card
            self.layers = weights

        def matrix_scores(self, matrix):
            return (1 / (1 + np.exp(-(matrix.astype(np.float32) @ weights[0])))).astype(np.float32)

        def scores(self, inputs):
            return self.matrix_scores(np.column_stack(inputs))

    return Network()


def test_a_transformer_stands_before_any_model(tmp_path):
    from fairdesk.models.preparation.companions import with_companions

    people = pd.DataFrame({"age": NUMBERS[:, 0], "job": ["cook", "clerk", "boss"] * 20})
    columns = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(), ["job"]))
    columns.fit(people)
    dense = network(4)
    opened = with_companions(dense, [beside(tmp_path, "prep.joblib", columns)])
    assert opened.card.inputs == ("age", "job")
    assert opened.card.accepts == ("number", "text")
    assert opened.card.can == (Capability.DECIDES, Capability.SCORES)
    assert not opened.card.read_as_data
    given = [people["age"].to_numpy(), people["job"].to_numpy(dtype=object)]
    np.testing.assert_allclose(
        opened.scores(given), dense.matrix_scores(columns.transform(people)), atol=1e-6
    )
    with pytest.raises(ModelError, match="takes 9"):
        with_companions(network(9), [beside(tmp_path, "prep.joblib", columns)])


def test_transformers_go_in_the_order_given(tmp_path):
    from fairdesk.models.preparation.companions import with_companions

    scaler = StandardScaler().fit(NUMBERS)
    reduced = PCA(2).fit(scaler.transform(NUMBERS))
    dense = network(2)
    files = [beside(tmp_path, "scaler.pkl", scaler), beside(tmp_path, "pca.pkl", reduced)]
    opened = with_companions(dense, files)
    assert opened.card.inputs == ("input 1", "input 2", "input 3")
    np.testing.assert_allclose(
        opened.matrix_scores(NUMBERS),
        dense.matrix_scores(reduced.transform(scaler.transform(NUMBERS))),
        atol=1e-6,
    )


def test_hints_leave_a_network_what_it_is(tmp_path):
    from fairdesk.models.preparation.companions import with_companions

    dense = network(3)
    opened = with_companions(dense, [beside(tmp_path, "scaler.pkl", StandardScaler().fit(NUMBERS))])
    assert opened.card.can == dense.card.can
    assert opened.layers is dense.layers
    np.testing.assert_array_equal(opened.matrix_scores(NUMBERS), dense.matrix_scores(NUMBERS))
