"""Keras files as data; the files are written with h5py and zipfile, as Keras writes them."""

import json
import sys
import zipfile
from io import BytesIO

import h5py
import numpy as np
import pytest

from fairdesk.errors import ModelError
from fairdesk.models.dense import DenseNetwork
from fairdesk.models.mapping import match
from fairdesk.models.model import labels
from fairdesk.models.open import open_model
from fairdesk.models.proof import check
from tests.models.tables import SHARED, encoded, needs_shared

RNG = np.random.default_rng(5)
FIRST, BIAS = RNG.normal(size=(3, 4)), RNG.normal(size=4)
LAST = RNG.normal(size=(4, 1))


def dense(name, units, activation="linear", **more):
    return {
        "class_name": "Dense",
        "config": {"name": name, "units": units, "activation": activation, **more},
    }


def sequential(*layers):
    return {"class_name": "Sequential", "config": {"name": "s", "layers": list(layers)}}


PLAIN = sequential(
    dense("a", 4, "tanh", batch_input_shape=[None, 3]), dense("b", 1, "sigmoid", use_bias=False)
)
ARRAYS = {"a": [FIRST, BIAS], "b": [LAST]}


def write_h5(path, config, arrays, version="2.3.0-tf"):
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(config)
        file.attrs["keras_version"] = version
        root = file.create_group("model_weights")
        root.attrs["layer_names"] = [name.encode() for name in arrays]
        for layer, values in arrays.items():
            group = root.create_group(layer)
            names = [f"{layer}/w{i}:0" for i in range(len(values))]
            group.attrs["weight_names"] = [name.encode() for name in names]
            for name, value in zip(names, values, strict=True):
                group[name] = np.asarray(value, dtype=np.float32)
    return path


def write_keras(path, config, arrays, root="layers"):
    raw = BytesIO()
    with h5py.File(raw, "w") as file:
        for place, values in arrays.items():
            group = file.create_group(f"{root}/{place}/vars")
            for i, value in enumerate(values):
                group[str(i)] = np.asarray(value, dtype=np.float32)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.15.1"}))
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("model.weights.h5", raw.getvalue())
    return path


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


MATRIX = RNG.normal(size=(40, 3))
EXPECTED = sigmoid(np.tanh(MATRIX @ FIRST + BIAS) @ LAST)


def test_an_old_h5_file_is_read_as_data(tmp_path):
    opened = open_model(write_h5(tmp_path / "m.h5", PLAIN, ARRAYS))
    assert isinstance(opened, DenseNetwork)
    np.testing.assert_allclose(opened.matrix_scores(MATRIX), EXPECTED, atol=1e-6)
    card = opened.card
    assert card.read_as_data
    assert (card.format, card.saved_with) == ("Keras 2 network", "Keras 2.3.0-tf")
    assert card.summary == "Dense network 3-4-1 with 20 weights."
    assert (card.classes, card.scores, card.warnings) == (("0", "1"), "probabilities", ())
    assert len(card.sha256) == 64


@pytest.mark.parametrize("root", ["layers", "_layer_checkpoint_dependencies"])
def test_a_keras_file_is_read_as_data_by_class_and_place(tmp_path, root):
    path = write_keras(
        tmp_path / "m.keras", PLAIN, {"dense": [FIRST, BIAS], "dense_1": [LAST]}, root
    )
    opened = open_model(path)
    np.testing.assert_allclose(opened.matrix_scores(MATRIX), EXPECTED, atol=1e-6)
    assert opened.card.format == "Keras 3 network"


def test_content_not_suffix_decides(tmp_path):
    path = write_h5(tmp_path / "model.pkl", PLAIN, ARRAYS)
    assert open_model(path).card.read_as_data


def test_the_input_may_be_declared_with_a_free_dimension(tmp_path):
    config = sequential(
        {"class_name": "InputLayer", "config": {"name": "i", "batch_shape": [None, None, 3]}},
        *PLAIN["config"]["layers"],
    )
    opened = open_model(write_h5(tmp_path / "m.h5", config, ARRAYS))
    np.testing.assert_allclose(opened.matrix_scores(MATRIX), EXPECTED, atol=1e-6)


def test_a_functional_chain_computes_in_the_order_of_its_connections(tmp_path):
    tensor = {"class_name": "__keras_tensor__", "config": {"keras_history": ["i", 0, 0]}}
    layers = [
        {**dense("b", 1, "sigmoid", use_bias=False), "inbound_nodes": [[["a", 0, 0, {}]]]},
        {
            **dense("a", 4, "tanh"),
            "inbound_nodes": [{"args": [tensor], "kwargs": {"training": False}}],
        },
        {"class_name": "InputLayer", "config": {"name": "i"}, "inbound_nodes": []},
    ]
    config = {
        "class_name": "Functional",
        "config": {"layers": layers, "input_layers": [["i", 0, 0]], "output_layers": ["b", 0, 0]},
    }
    opened = open_model(write_h5(tmp_path / "m.h5", config, ARRAYS))
    np.testing.assert_allclose(opened.matrix_scores(MATRIX), EXPECTED, atol=1e-6)


def test_scaling_layers_become_part_of_the_dense_ones(tmp_path):
    mean, variance = np.array([1990.0, 50_000.0, 0.5]), np.array([25.0, 1e8, 0.04])
    gamma, beta, moved, spread = (RNG.uniform(0.5, 2, 4) for _ in range(4))
    config = sequential(
        {"class_name": "Normalization", "config": {"name": "n", "axis": [-1]}},
        {"class_name": "Rescaling", "config": {"name": "r", "scale": 0.5, "offset": 0.25}},
        dense("a", 4),
        {
            "class_name": "BatchNormalization",
            "config": {"name": "bn", "axis": [1], "epsilon": 1e-3},
        },
        {"class_name": "Activation", "config": {"name": "act", "activation": "relu"}},
        {"class_name": "Dropout", "config": {"name": "d", "rate": 0.5}},
        {
            "class_name": "BatchNormalization",
            "config": {"name": "bn2", "axis": -1, "epsilon": 1e-3, "scale": False},
        },
        dense("b", 1, "sigmoid", use_bias=False),
    )
    arrays = {
        **ARRAYS,
        "n": [mean, variance, 40],
        "bn": [gamma, beta, moved, spread],
        "bn2": [beta, moved, spread],
    }
    opened = open_model(write_h5(tmp_path / "m.h5", config, arrays))
    matrix = mean + np.sqrt(variance) * RNG.normal(size=(200, 3))
    hidden = ((matrix - mean) / np.sqrt(variance) * 0.5 + 0.25) @ FIRST + BIAS
    hidden = np.maximum((hidden - moved) / np.sqrt(spread + 1e-3) * gamma + beta, 0)
    hidden = (hidden - moved) / np.sqrt(spread + 1e-3) + beta
    assert len(opened.layers) == 2
    np.testing.assert_allclose(opened.matrix_scores(matrix), sigmoid(hidden @ LAST), atol=2e-6)


TWO, THREE = RNG.normal(size=(4, 2)), RNG.normal(size=(4, 3))


@pytest.mark.parametrize(
    ("last", "activation", "expected", "scores", "warned"),
    [
        (TWO, "softmax", lambda z: sigmoid(z[:, 1:] - z[:, :1]), "probabilities", False),
        (TWO, "linear", lambda z: sigmoid(z[:, 1:] - z[:, :1]), "scores", True),
        (LAST, "linear", sigmoid, "scores", True),
        (LAST, "tanh", lambda z: (np.tanh(z) + 1) / 2, "scores", True),
        (
            THREE,
            "softmax",
            lambda z: np.exp(z) / np.exp(z).sum(axis=1, keepdims=True),
            "probabilities",
            False,
        ),
        (THREE, "sigmoid", sigmoid, "scores", True),
    ],
)
def test_the_last_layer_tells_the_classes(tmp_path, last, activation, expected, scores, warned):
    units = last.shape[1]
    config = sequential(dense("a", 4, "tanh"), dense("b", units, activation, use_bias=False))
    opened = open_model(write_h5(tmp_path / "m.h5", config, {**ARRAYS, "b": [last]}))
    answers = expected(np.tanh(MATRIX @ FIRST + BIAS) @ last)
    np.testing.assert_allclose(opened.matrix_scores(MATRIX), answers, atol=2e-6)
    assert opened.card.classes == tuple(str(i) for i in range(max(units, 2)))
    assert opened.card.scores == scores
    assert bool(opened.card.warnings) == warned


@pytest.mark.parametrize("kind", ["Lambda", "TFSMLayer", "StringLookup"])
@pytest.mark.parametrize("write", [write_h5, write_keras])
def test_layers_that_run_code_are_refused_by_name(tmp_path, kind, write):
    wrapped = {"class_name": "TimeDistributed", "config": {"layer": {"class_name": kind}}}
    with pytest.raises(ModelError, match=f"a layer “{kind}”"):
        open_model(write(tmp_path / "m", sequential(wrapped), {}))


def test_without_tensorflow_it_says_what_is_off_and_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    monkeypatch.setitem(sys.modules, "keras", None)
    config = sequential({"class_name": "Conv1D", "config": {"name": "c"}})
    with pytest.raises(ModelError, match="needs TensorFlow") as caught:
        open_model(write_h5(tmp_path / "m.h5", config, {}))
    assert "a layer “Conv1D”" in caught.value.why
    assert "fairdesk[all]" in caught.value.remedy


def test_weights_alone_are_no_model(tmp_path):
    with h5py.File(tmp_path / "w.h5", "w") as file:
        file["layers/dense/vars/0"] = FIRST
    with pytest.raises(ModelError, match="holds no model"):
        open_model(tmp_path / "w.h5")


@pytest.mark.parametrize("suffix", ["h5", "keras"])
@pytest.mark.parametrize("kept", [9, 200, 0.5, 0.95])
def test_a_file_that_is_cut_off_is_told_as_damaged(tmp_path, suffix, kept):
    path = tmp_path / f"m.{suffix}"
    if suffix == "h5":
        write_h5(path, PLAIN, ARRAYS)
    else:
        write_keras(path, PLAIN, {"dense": [FIRST, BIAS], "dense_1": [LAST]})
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept if kept >= 1 else kept * len(whole))])
    with pytest.raises(ModelError, match=r"damaged|no model"):
        open_model(path)


@pytest.mark.parametrize(
    "config",
    [
        [],
        {},
        {"class_name": "Sequential"},
        {"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense"}]}},
        {"class_name": "Functional", "config": {"layers": [dense("a", 4)]}},
        sequential(dense("missing", 4)),
    ],
)
def test_a_strange_description_is_told_as_damaged(tmp_path, config):
    with pytest.raises(ModelError, match="damaged"):
        open_model(write_h5(tmp_path / "m.h5", config, ARRAYS))


def test_weights_in_another_file_are_not_read(tmp_path):
    write_h5(tmp_path / "other.h5", PLAIN, ARRAYS)
    path = write_h5(tmp_path / "m.h5", PLAIN, {"a": ARRAYS["a"]})
    with h5py.File(path, "a") as file:
        file["model_weights/b"] = h5py.ExternalLink("other.h5", "/model_weights/b")
    with pytest.raises(ModelError, match="a link"):
        open_model(path)
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(16))
    path = write_h5(tmp_path / "n.h5", PLAIN, {"a": ARRAYS["a"]})
    with h5py.File(path, "a") as file:
        group = file.create_group("model_weights/b")
        group.attrs["weight_names"] = [b"w"]
        group.create_dataset("w", (4, 1), "f4", external=[(str(secret), 0, 16)])
    with pytest.raises(ModelError, match="does not lie in the file"):
        open_model(path)


def test_a_part_that_unpacks_absurdly_is_refused(tmp_path):
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("metadata.json", "{}")
        archive.writestr("config.json", " " * 10_000_000)
        archive.writestr("model.weights.h5", b"")
    with pytest.raises(ModelError, match=r"config\.json is too large"):
        open_model(path)


@needs_shared
@pytest.mark.parametrize(
    ("model", "data", "accuracy"),
    [
        ("eidig_adult", "eidig_census", 0.842),
        ("eidig_german", "eidig_german", 0.816),
        ("eidig_bank", "eidig_bank", 0.896),
        ("AC-1", "fairify_adult", 0.81),
        ("AC-3", "fairify_adult", 0.81),
        ("AC-5", "fairify_adult", 0.81),
        ("GC-1", "fairify_german", 0.70),
        ("GC-3", "fairify_german", 0.695),
        ("compas-1", "fairquant_compas", 0.744),
    ],
)
def test_every_public_network_opens_as_data_and_reaches_its_accuracy(model, data, accuracy):
    rows = encoded(data)
    label = "score_factor" if model == "compas-1" else rows.names[-1]
    opened = open_model(SHARED / "models" / f"{model}.h5")
    assert opened.card.read_as_data
    mapping = match(opened.card, rows, label, "1")
    proof = check(opened, rows, mapping, label, "1")
    assert proof.accuracy >= accuracy - 0.0005
    assert proof.left_out == 0


@pytest.fixture(scope="module")
def keras():
    return pytest.importorskip("keras", reason="Keras needs TensorFlow, which is not installed")


@pytest.fixture(scope="module")
def networks(keras):
    """Networks with each kind of layer that is read as data, and some inputs."""
    keras.utils.set_random_seed(3)
    layer = keras.layers
    normalization = layer.Normalization()
    normalization.adapt(RNG.normal(3, 20, (100, 4)))
    batch = layer.BatchNormalization(moving_mean_initializer="glorot_uniform")
    batch_first = layer.BatchNormalization(center=False, momentum=0.5)
    inputs = keras.Input((4,))
    hidden = layer.Dense(6, activation="silu")(inputs)
    hidden = layer.Softmax()(layer.Dense(3, activation="exponential")(hidden))
    found = {
        "all": keras.Sequential(
            [
                keras.Input((4,)),
                normalization,
                layer.Rescaling(0.5, offset=1),
                layer.Dense(9),
                batch,
                layer.LeakyReLU(),
                layer.Dropout(0.2),
                layer.Dense(8, activation="elu"),
                layer.ELU(0.7),
                layer.Dense(8, activation="selu"),
                layer.Dense(8, activation="softplus", use_bias=False),
                layer.GaussianNoise(0.1),
                layer.Dense(8, activation="softsign"),
                layer.Activation("leaky_relu"),
                layer.Dense(8, activation="relu6"),
                layer.ReLU(max_value=2),
                layer.Dense(3),
                layer.Softmax(),
            ]
        ),
        "normalised first": keras.Sequential(
            [keras.Input((4,)), batch_first, layer.Flatten(), layer.Dense(1, activation="sigmoid")]
        ),
        "functional": keras.Model(inputs, hidden),
    }
    batch_first(RNG.normal(3, 2, (64, 4)), training=True)
    return found


@pytest.mark.parametrize("suffix", ["keras", "h5"])
def test_answers_are_those_of_keras(networks, tmp_path, suffix):
    matrix = RNG.normal(3, 20, (500, 4)).astype(np.float32)
    for name, network in networks.items():
        path = tmp_path / f"{name}.{suffix}"
        network.save(path)
        opened = open_model(path)
        assert opened.card.read_as_data, name
        expected = np.asarray(network(matrix, training=False))
        np.testing.assert_allclose(
            opened.matrix_scores(matrix.astype(float)), expected, atol=5e-6, err_msg=name
        )


def test_other_networks_are_computed_by_tensorflow(keras, tmp_path):
    layer = keras.layers
    inputs = keras.Input((4,))
    joined = layer.Concatenate()([layer.Dense(3, activation="relu")(inputs), inputs])
    network = keras.Model(inputs, layer.Dense(1, activation="sigmoid")(joined))
    matrix = RNG.normal(size=(50, 4))
    for suffix in ("keras", "h5"):
        path = tmp_path / f"m.{suffix}"
        network.save(path)
        opened = open_model(path)
        assert not opened.card.read_as_data
        assert (opened.card.classes, opened.card.scores) == (("0", "1"), "probabilities")
        expected = np.asarray(network(matrix.astype(np.float32)))
        np.testing.assert_allclose(opened.matrix_scores(matrix), expected, atol=1e-6)
        assert opened.matrix_scores(matrix[:0]).shape == (0, 1)


def test_an_old_sequential_file_gets_its_rank_right_in_tensorflow(keras, tmp_path):
    config = sequential(
        dense("a", 4, "gelu", batch_input_shape=[None, 3], dtype="float32"),
        dense("b", 1, "sigmoid", use_bias=False),
    )
    opened = open_model(write_h5(tmp_path / "m.h5", config, ARRAYS))
    assert not opened.card.read_as_data
    hidden = np.asarray(keras.activations.gelu((MATRIX @ FIRST + BIAS).astype(np.float32)))
    np.testing.assert_allclose(opened.matrix_scores(MATRIX), sigmoid(hidden @ LAST), atol=1e-5)


def test_inputs_of_one_column_each_are_fed_by_name(keras, tmp_path):
    layer = keras.layers
    age, sex = keras.Input((1,), name="age"), keras.Input((1,), name="sex")
    joined = layer.Concatenate()([age, sex])
    network = keras.Model([age, sex], layer.Dense(1)(joined))
    network.save(tmp_path / "m.keras")
    opened = open_model(tmp_path / "m.keras")
    assert opened.card.named
    assert opened.card.inputs == ("age", "sex")
    columns = [RNG.normal(size=20), RNG.normal(size=20)]
    weights, bias = network.get_weights()
    np.testing.assert_allclose(
        opened.scores(columns), sigmoid(np.column_stack(columns) @ weights + bias), atol=1e-6
    )
    assert labels(opened.scores(columns)).shape == (20,)
