"""Files of a trained model: each is read again, and says how far it answers like the model."""

import errno
import io
import json
import os
import pickle
import sys
import zipfile

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.models.dense.layers import DenseNetwork
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import Companion, How, Input, Mapping, Takes, labels
from fairdesk.models.onnx.writing import network_as_onnx
from fairdesk.models.open import open_model
from fairdesk.models.retrain import retraining
from fairdesk.models.retrain.retraining import innermost, save
from fairdesk.models.structure import ACTIVATIONS, Activation, DenseLayer
from tests import phrases
from tests.models.keras.test_file import ARRAYS, PLAIN, dense, sequential, write_keras
from tests.models.matching import match

RNG = np.random.default_rng(4)
ROWS = 400
PEOPLE = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, ROWS),
        "hours per week": RNG.normal(40, 10, ROWS).round(2),
        "sex": RNG.choice(["Female", "Male"], ROWS),
        "job-title": RNG.choice([" cook", " clerk", " pilot"], ROWS),
    }
)
PAID = np.where(
    PEOPLE.age + 9 * (PEOPLE.sex == "Male") + RNG.normal(0, 8, ROWS) > 50, ">50K", "<=50K"
)
NUMBERS = ["age", "hours per week"]


def before(scaler=StandardScaler):
    names = OneHotEncoder(handle_unknown="ignore")
    return make_column_transformer((scaler(), NUMBERS), (names, ["sex", "job-title"]))


def fed(folder, model, people=PEOPLE, *, companions=()):
    """Keep a model beside the data, open both and put them together."""
    data = people.assign(income=PAID[: len(people)])
    data.to_csv(folder / "people.csv", index=False)
    path = folder / "model.pkl"
    joblib.dump(model, path)
    table = read_table(folder / "people.csv")
    opened = open_model(path, companions=companions)
    mapping = match(opened.card, table, "income", ">50K")
    names = list(dict.fromkeys(each.attribute for each in mapping.inputs))
    role = dict.fromkeys(["sex"] if "sex" in names else names[:1], Role.PROTECTED)
    if "comment" in names:
        role = {"comment": Role.FIXED}
    domain = Domain(
        tuple(attribute_of(table.column(name), role.get(name, Role.VARIES)) for name in names)
    )
    return FedModel(opened, mapping, domain.attributes), domain.people(table)


def files(model, rows):
    return {each.name: each for each in save(model, rows)}


def answers(content, name, model, rows, folder):
    path = folder / name
    path.write_bytes(content)
    return FedModel(open_model(path), model.mapping, model.attributes).predict(rows)


@pytest.mark.parametrize(
    "classifier",
    [LogisticRegression(), RandomForestClassifier(20, random_state=0), DecisionTreeClassifier()],
    ids=lambda each: type(each).__name__,
)
def test_a_pipeline_becomes_three_files_that_answer_alike(tmp_path, classifier):
    model, rows = fed(tmp_path, make_pipeline(before(), classifier).fit(PEOPLE, PAID))
    saved = files(model, rows)
    assert list(saved) == ["model.joblib", "model.skops", "model.onnx"]
    for name in ("model.joblib", "model.skops"):
        assert "the same outputs for all 400 rows" in saved[name].remark
        own = answers(saved[name].content, name, model, rows, tmp_path)
        assert np.array_equal(own, model.predict(rows))
    own = answers(saved["model.onnx"].content, "model.onnx", model, rows, tmp_path)
    otherwise = int((labels(own) != labels(model.predict(rows))).sum())
    assert (f"{otherwise} differ" if otherwise else "all decisions are equal") in saved[
        "model.onnx"
    ].remark


def test_columns_keep_their_names_in_onnx(tmp_path):
    import onnx

    model, rows = fed(tmp_path, make_pipeline(before(), LogisticRegression()).fit(PEOPLE, PAID))
    content = files(model, rows)["model.onnx"].content
    graph = onnx.load_from_string(content).graph
    assert [each.name for each in graph.input] == list(PEOPLE)
    kinds = [each.type.tensor_type.elem_type for each in graph.input]
    text, number = onnx.TensorProto.STRING, onnx.TensorProto.FLOAT
    assert kinds == [number, number, text, text]
    # no list of dictionaries, which few programs understand
    assert {each.type.WhichOneof("value") for each in graph.output} == {"tensor_type"}
    (tmp_path / "again.onnx").write_bytes(content)
    card = open_model(tmp_path / "again.onnx").card
    assert (card.inputs, card.classes) == (tuple(PEOPLE), ("<=50K", ">50K"))


def test_gradient_boosting_converts(tmp_path):
    forest = HistGradientBoostingClassifier(max_iter=5, random_state=0)
    encoder = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["sex", "job-title"]), remainder="passthrough"
    )
    model, rows = fed(tmp_path, make_pipeline(encoder, forest).fit(PEOPLE, PAID))
    onnx = files(model, rows)["model.onnx"]
    assert onnx.content
    assert "all decisions are equal" in onnx.remark


def test_forests_that_would_take_minutes_are_not_converted(tmp_path, monkeypatch):
    forest = make_pipeline(before(), RandomForestClassifier(8, random_state=0)).fit(PEOPLE, PAID)
    nodes = sum(tree.tree_.node_count for tree in forest.steps[-1][1].estimators_)
    monkeypatch.setattr(retraining, "MOST_NODES", nodes - 1)
    model, rows = fed(tmp_path, forest)
    saved = files(model, rows)
    assert saved["model.onnx"].content == b""
    assert f"{nodes:,} nodes" in saved["model.onnx"].remark
    monkeypatch.setattr(retraining, "MOST_NODES", nodes)
    assert files(model, rows)["model.onnx"].content


def test_numbers_without_names_go_in_as_one_matrix(tmp_path):
    import onnx

    plain = LogisticRegression().fit(PEOPLE[NUMBERS].to_numpy(), PAID)
    model, rows = fed(tmp_path, plain, PEOPLE[NUMBERS])
    graph = onnx.load_from_string(files(model, rows)["model.onnx"].content).graph
    (tensor,) = graph.input
    assert tensor.type.tensor_type.shape.dim[1].dim_value == len(model.opened.card.inputs)


def test_a_conversion_that_decides_otherwise_is_given_and_says_so(tmp_path, monkeypatch):
    model, rows = fed(tmp_path, make_pipeline(before(), LogisticRegression()).fit(PEOPLE, PAID))
    contrary = make_pipeline(before(), LogisticRegression()).fit(PEOPLE, PAID[::-1])
    real = retraining.estimator_as_onnx
    monkeypatch.setattr(
        retraining, "estimator_as_onnx", lambda _, *rest, **more: real(contrary, *rest, **more)
    )
    onnx = files(model, rows)["model.onnx"]
    own = answers(onnx.content, "model.onnx", model, rows, tmp_path)
    otherwise = int((labels(own) != labels(model.predict(rows))).sum())
    assert otherwise > 20
    assert f"{400 - otherwise} decisions are equal, {otherwise} differ" in onnx.remark


def test_what_does_not_convert_is_told_without_a_file(tmp_path):
    from sklearn.semi_supervised import LabelPropagation

    model, rows = fed(tmp_path, make_pipeline(before(), LabelPropagation()).fit(PEOPLE, PAID))
    saved = files(model, rows)
    assert saved["model.onnx"].content == b""
    assert "could not be converted" in saved["model.onnx"].remark
    assert saved["model.joblib"].content


def test_a_copy_that_answers_otherwise_is_left_out(tmp_path, monkeypatch):
    import skops.io

    model, rows = fed(tmp_path, make_pipeline(before(), LogisticRegression()).fit(PEOPLE, PAID))
    contrary = make_pipeline(before(), LogisticRegression()).fit(PEOPLE, PAID[::-1])
    real = skops.io.dumps
    monkeypatch.setattr(skops.io, "dumps", lambda _: real(contrary))
    saved = files(model, rows)
    assert saved["model.skops"].content == b""
    assert "its outputs differ from those of the trained model" in saved["model.skops"].remark
    assert saved["model.joblib"].content


def test_a_library_that_an_older_environment_lacks_is_told(tmp_path, monkeypatch):
    model, rows = fed(tmp_path, make_pipeline(before(), LogisticRegression()).fit(PEOPLE, PAID))
    for name in ("skops.io", "skl2onnx"):
        monkeypatch.setitem(sys.modules, name, None)
    saved = files(model, rows)
    assert saved["model.joblib"].content
    for name, library in (("model.skops", "skops"), ("model.onnx", "skl2onnx")):
        assert saved[name].content == b""
        assert f"has no {library}" in saved[name].remark


def test_a_model_that_decides_only_is_saved_too(tmp_path):
    three = np.where(PEOPLE.age > 60, "C", np.where(PEOPLE.age > 40, "B", ">50K"))
    model, rows = fed(tmp_path, make_pipeline(before(), SVC()).fit(PEOPLE, three))
    saved = files(model, rows)
    assert model.opened.card.scores == "labels"
    assert "the same outputs for all" in saved["model.joblib"].remark
    assert "400 rows: all decisions are equal." in saved["model.onnx"].remark


def test_a_reader_of_texts_is_saved(tmp_path):
    words = np.array(["good", "bad", "plain", "old"])
    texts = [" ".join(RNG.choice(words, 12)) + f" number {i}, as people write" for i in range(200)]
    people = pd.DataFrame({"comment": texts, "sex": PEOPLE.sex[:200]})
    liked = np.where([text.count("good") > 2 for text in texts], ">50K", "<=50K")
    model, rows = fed(
        tmp_path,
        make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, liked),
        people,
    )
    saved = files(model, rows)
    assert "the same outputs for all" in saved["model.skops"].remark
    assert "200 rows" in saved["model.onnx"].remark
    (tmp_path / "texts.onnx").write_bytes(saved["model.onnx"].content)
    assert open_model(tmp_path / "texts.onnx").card.accepts == ("text",)


def test_a_dictionary_stays_one_with_all_that_was_in_it(tmp_path):
    scaler = StandardScaler().fit(PEOPLE[NUMBERS])
    classifier = LogisticRegression().fit(scaler.transform(PEOPLE[NUMBERS]), PAID)
    other = LogisticRegression().fit(scaler.transform(PEOPLE[NUMBERS]), PAID[::-1])
    kept = {"scaler": scaler, "clf": classifier, "features": NUMBERS}
    model, rows = fed(tmp_path, kept, PEOPLE[NUMBERS])
    innermost(model.opened).estimator = other  # as if it had been trained anew
    saved = files(model, rows)
    again = joblib.load(io.BytesIO(saved["model.joblib"].content))
    assert list(again) == ["scaler", "clf", "features"]
    assert np.array_equal(again["clf"].coef_, other.coef_)
    assert np.array_equal(again["scaler"].mean_, scaler.mean_)
    assert "the same outputs for all" in saved["model.skops"].remark


def test_what_comes_before_a_model_stays_before_it(tmp_path):
    steps = PolynomialFeatures(2, include_bias=False).fit(PEOPLE[NUMBERS])
    classifier = LogisticRegression(max_iter=2000).fit(steps.transform(PEOPLE[NUMBERS]), PAID)
    model, rows = fed(tmp_path, {"poly": steps, "model": classifier}, PEOPLE[NUMBERS])
    assert type(model.opened).__name__ == "PreparedModel"
    saved = files(model, rows)
    assert set(joblib.load(io.BytesIO(saved["model.joblib"].content))) == {"poly", "model"}
    assert all(
        "the same outputs for all" in each.remark or "all decisions are equal" in each.remark
        for each in saved.values()
    )
    # without the file that it came from it is put beside the model all the same
    (tmp_path / "model.pkl").unlink()
    saved = files(model, rows)
    assert set(joblib.load(io.BytesIO(saved["model.joblib"].content))) == {"poly", "model"}


def test_what_lies_in_a_file_of_its_own_stays_there(tmp_path):
    steps = make_pipeline(SimpleImputer(), PolynomialFeatures(2)).fit(PEOPLE[NUMBERS])
    classifier = LogisticRegression(max_iter=2000).fit(steps.transform(PEOPLE[NUMBERS]), PAID)
    joblib.dump(steps, tmp_path / "steps.pkl")
    companion = Companion(str(tmp_path / "steps.pkl"))
    model, rows = fed(tmp_path, classifier, PEOPLE[NUMBERS], companions=[companion])
    saved = files(model, rows)
    assert isinstance(joblib.load(io.BytesIO(saved["model.joblib"].content)), LogisticRegression)
    assert all(
        "the same outputs for all" in each.remark or "all decisions are equal" in each.remark
        for each in saved.values()
    )


def test_equal_models_are_equal_bytes(tmp_path):
    model, rows = fed(tmp_path, make_pipeline(before(), LogisticRegression()).fit(PEOPLE, PAID))
    assert files(model, rows) == files(model, rows)


def test_skops_files_tell_nothing_of_memory_or_of_the_moment(tmp_path):
    model, rows = fed(tmp_path, make_pipeline(before(), LogisticRegression()).fit(PEOPLE, PAID))
    with zipfile.ZipFile(io.BytesIO(files(model, rows)["model.skops"].content)) as archive:
        assert {each.date_time[0] for each in archive.infolist()} == {1980}
        schema = json.loads(archive.read("schema.json"))
        assert schema["__id__"] < 10_000
        stems = [each.partition(".")[0] for each in archive.namelist() if each != "schema.json"]
        assert all(int(stem) < 10_000 for stem in stems)


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    model, rows = fed(tmp_path, make_pipeline(before(), KNeighborsClassifier()).fit(PEOPLE, PAID))

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(retraining.Path, "write_bytes", full)
    saved = files(model, rows)
    for name in ("model.joblib", "model.skops"):
        assert saved[name].content == b""
        assert os.strerror(errno.ENOSPC) in saved[name].remark


def network(tmp_path, config=PLAIN, arrays=ARRAYS):
    """Open a Keras network over three numbers."""
    path = write_keras(
        tmp_path / "model.keras",
        config,
        {f"dense_{i}" if i else "dense": values for i, values in enumerate(arrays.values())},
    )
    opened = open_model(path)
    people = pd.DataFrame(RNG.normal(size=(300, 3)).round(3), columns=["a", "b", "c"])
    people.assign(y=["no", "yes"] * 150).to_csv(tmp_path / "numbers.csv", index=False)
    table = read_table(tmp_path / "numbers.csv")
    inputs = tuple(
        Input(name, column, How.AS_IS)
        for name, column in zip(opened.card.inputs, "abc", strict=True)
    )
    role = {"a": Role.PROTECTED}
    domain = Domain(
        tuple(attribute_of(table.column(each), role.get(each, Role.VARIES)) for each in "abc")
    )
    mapping = Mapping(inputs, "by position", 1)
    return FedModel(opened, mapping, domain.attributes), domain.people(table)


def test_a_network_becomes_a_keras_file_and_onnx(tmp_path):
    model, rows = network(tmp_path)
    saved = files(model, rows)
    assert list(saved) == ["model.keras", "model.onnx"]
    assert "the same outputs for all 300 rows" in saved["model.keras"].remark
    own = answers(saved["model.keras"].content, "again.keras", model, rows, tmp_path)
    assert np.array_equal(own, model.predict(rows))
    assert "all decisions are equal" in saved["model.onnx"].remark
    own = answers(saved["model.onnx"].content, "again.onnx", model, rows, tmp_path)
    assert np.allclose(own, model.predict(rows), atol=1e-6)
    assert files(model, rows) == saved


def test_a_network_of_three_classes_answers_with_each(tmp_path):
    config = sequential(
        dense("a", 4, "relu", batch_input_shape=[None, 3]), dense("b", 3, "softmax")
    )
    arrays = {"a": ARRAYS["a"], "b": [RNG.normal(size=(4, 3)), RNG.normal(size=3)]}
    model, rows = network(tmp_path, config, arrays)
    saved = files(model, rows)
    assert "a score for each class" in saved["model.onnx"].remark
    own = answers(saved["model.onnx"].content, "again.onnx", model, rows, tmp_path)
    assert np.allclose(own, model.predict(rows), atol=1e-6)


def test_a_keras_file_tells_nothing_of_the_moment(tmp_path):
    model, rows = network(tmp_path)
    path = tmp_path / "model.keras"
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in parts.items():
            if name != "metadata.json":
                archive.writestr(name, part)
        told = {"keras_version": "3.15.1", "date_saved": "2026-11-22@00:30:00"}
        archive.writestr("metadata.json", json.dumps(told))
    content = files(model, rows)["model.keras"].content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert json.loads(archive.read("metadata.json")) == {"keras_version": "3.15.1"}
        assert archive.read("model.weights.h5") == parts["model.weights.h5"]


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("takes", [Takes.MATRIX, Takes.COLUMNS])
def test_every_activation_is_written(tmp_path, name, takes):
    import msgspec

    alpha = {"leaky_relu": 0.2, "elu": 1.0, "thresholded_relu": 0.3}.get(name, 0.0)
    ceiling = 1.5 if name == "relu" else float("inf")
    first, last = (RNG.normal(size=shape).astype(np.float32) for shape in ((3, 4), (4, 3)))
    layers = [
        DenseLayer(first, first[0][:1].repeat(4), Activation(name, alpha, ceiling)),
        DenseLayer(last, last[0], Activation("softmax")),
    ]
    card = msgspec.structs.replace(
        network(tmp_path)[0].opened.card,
        takes=takes,
        named=takes is Takes.COLUMNS,
        classes=("x", "y", "z"),
        inputs=("age", "hours per week", "//scores") if takes is Takes.COLUMNS else ("1", "2", "3"),
    )
    made = DenseNetwork(card, layers, centre=np.array([1970.0, 0.0, 0.5]))
    path = tmp_path / "made.onnx"
    path.write_bytes(network_as_onnx(made))
    again = open_model(path)
    matrix = RNG.normal(size=(50, 3)) + made.centre
    assert again.card.inputs[: len(card.inputs)] == (
        card.inputs if takes is Takes.COLUMNS else ("input 1", "input 2", "input 3")
    )
    assert np.allclose(again.scores(list(matrix.T)), made.matrix_scores(matrix), atol=1e-5)


def test_another_network_is_no_onnx_here(tmp_path):
    keras = pytest.importorskip("keras")
    pytest.importorskip("tensorflow")
    layers = [keras.Input((3,)), keras.layers.Reshape((3, 1)), keras.layers.Conv1D(4, 2)]
    made = keras.Sequential([*layers, keras.layers.Flatten(), keras.layers.Dense(1, "sigmoid")])
    model, rows = network(tmp_path)
    path = tmp_path / "model.keras"
    made.save(path)
    opened = open_model(path)
    model = FedModel(opened, model.mapping, model.attributes)
    saved = files(model, rows)
    assert "the same outputs for all 300 rows" in saved["model.keras"].remark
    assert saved["model.onnx"].content == b""
    assert "dense layers only" in saved["model.onnx"].remark


def test_a_model_that_cannot_be_trained_has_no_files(tmp_path):
    model, rows = network(tmp_path)
    content = files(model, rows)["model.onnx"].content
    (tmp_path / "it.onnx").write_bytes(content)
    other = FedModel(open_model(tmp_path / "it.onnx"), model.mapping, model.attributes)
    assert list(save(other, rows)) == []


def test_what_cannot_be_pickled_is_told(tmp_path, monkeypatch):
    model, rows = fed(tmp_path, make_pipeline(before(), LogisticRegression()).fit(PEOPLE, PAID))

    def refuse(*_, **__):
        raise pickle.PicklingError("it is a lambda")

    monkeypatch.setattr(joblib, "dump", refuse)
    saved = files(model, rows)
    assert phrases.CANNOT_WRITE_MODEL in saved["model.joblib"].remark
    assert saved["model.skops"].content
