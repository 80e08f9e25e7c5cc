"""Keras files as data; the files are written with h5py and zipfile, as Keras writes them."""

import json
import re
import stat
import sys
import warnings
import zipfile
from io import BytesIO

import h5py
import numpy as np
import pytest

from fairdesk.errors import ModelError, TrustRequiredError
from fairdesk.models.dense.layers import DenseNetwork
from fairdesk.models.inputs.input_check import check
from fairdesk.models.model import Capability, Takes, labels
from fairdesk.models.open import open_model
from tests import phrases
from tests.models.matching import match
from tests.models.tables import SHARED, encoded, needs_shared

RNG = np.random.default_rng(5)
FIRST, BIAS = RNG.normal(size=(3, 4)), RNG.normal(size=4)
LAST = RNG.normal(size=(4, 1))


def dense(name, units, activation="linear", **more):
    return {
        "class_name": "Dense",
        "config": {"name": name, "units": units, "activation": activation, **more},
    }


def keras_object(kind, module="keras.layers", registered=None, **settings):
    """Describe an object as Keras 3 does."""
    return {
        "module": module,
        "class_name": kind,
        "config": settings,
        "registered_name": registered,
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
    assert {Capability.GRADIENTS, Capability.LAYERS} <= set(card.can)
    assert card.accepts == ("number",) * 3
    assert len(card.sha256) == 64


@pytest.mark.parametrize("root", ["layers", "_layer_checkpoint_dependencies"])
def test_a_keras_file_is_read_as_data_by_class_and_place(tmp_path, root):
    path = write_keras(
        tmp_path / "m.keras", PLAIN, {"dense": [FIRST, BIAS], "dense_1": [LAST]}, root
    )
    opened = open_model(path)
    np.testing.assert_allclose(opened.matrix_scores(MATRIX), EXPECTED, atol=1e-6)
    assert opened.card.format == "Keras 3 network"


@pytest.mark.parametrize("plain", [True, False])
def test_a_keras_file_from_windows_is_read(tmp_path, plain):
    if plain:
        config, values = PLAIN, {"dense": [FIRST, BIAS], "dense_1": [LAST]}
        expected = EXPECTED
    else:  # computed by TensorFlow
        keras = pytest.importorskip("keras")
        network = keras.Sequential(
            [
                *(keras.Input((3,)), keras.layers.Reshape((3, 1)), keras.layers.Conv1D(2, 2)),
                *(keras.layers.Flatten(), keras.layers.Dense(1, "sigmoid")),
            ]
        )
        config = json.loads(network.to_json())
        values = {
            name: [weight.numpy() for weight in layer.weights]
            for name, layer in (("conv1d", network.layers[1]), ("dense", network.layers[3]))
        }
        expected = np.array(network(MATRIX.astype(np.float32)))
    raw = BytesIO()
    with h5py.File(raw, "w") as file:
        for place, arrays in values.items():
            group = file.create_group(f"layers\\{place}").create_group("vars")
            for i, value in enumerate(arrays):
                group[str(i)] = np.asarray(value, dtype=np.float32)
        if not plain:  # Keras asks for every layer
            for place in ("input_layer", "reshape", "flatten"):
                file.create_group(f"layers\\{place}").create_group("vars")
    with zipfile.ZipFile(tmp_path / "m.keras", "w") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.0.5"}))
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("model.weights.h5", raw.getvalue())
    opened = open_model(tmp_path / "m.keras")
    assert opened.card.read_as_data == plain
    np.testing.assert_allclose(opened.matrix_scores(MATRIX), expected, atol=1e-6)


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


def functional(layers, outputs, inputs=("i",)):
    """Describe layers as Keras 2 does, each with the names of those before it."""
    described = [
        {
            **layer,
            "inbound_nodes": [[[name, 0, 0, {}] for name in before]] if before else [],
        }
        for layer, before in layers
    ]
    return {
        "class_name": "Functional",
        "config": {
            "layers": described,
            "input_layers": [[name, 0, 0] for name in inputs],
            "output_layers": [[name, 0, 0] for name in outputs],
        },
    }


def given(name, width=3, **more):
    return {
        "class_name": "InputLayer",
        "config": {"name": name, "batch_input_shape": [None, width], **more},
    }


def test_of_two_heads_one_is_chosen_by_name(tmp_path):
    config = functional(
        [
            (given("i"), []),
            (dense("a", 4, "tanh"), ["i"]),
            (dense("b", 1, "sigmoid", use_bias=False), ["a"]),
            (dense("c", 1, "linear", use_bias=False), ["a"]),
        ],
        ["b", "c"],
    )
    path = write_h5(tmp_path / "m.h5", config, {**ARRAYS, "c": [-LAST]})
    with h5py.File(path, "a") as file:
        file.attrs["training_config"] = json.dumps(
            {"loss": {"b": "binary_crossentropy", "c": "mean_squared_error"}}
        )
    first, second = open_model(path), open_model(path, output="c")
    assert first.card.outputs == second.card.outputs == ("b", "c")
    assert (first.card.output, second.card.output) == ("b", "c")
    assert (second.card.scores, second.card.classes) == ("values", ())
    np.testing.assert_allclose(first.matrix_scores(MATRIX), EXPECTED, atol=1e-6)
    np.testing.assert_allclose(
        second.matrix_scores(MATRIX), -np.tanh(MATRIX @ FIRST + BIAS) @ LAST, atol=1e-5
    )
    with pytest.raises(ModelError, match="no output “d”"):
        open_model(path, output="d")


def test_one_input_for_each_column_is_read_as_data(tmp_path):
    scaled = {"class_name": "Rescaling", "config": {"name": "r", "scale": 0.5, "offset": 1.0}}
    joined = {"class_name": "Concatenate", "config": {"name": "j", "axis": -1}}
    config = functional(
        [
            *((given(name, 1), []) for name in ("age", "sex", "debt")),
            (scaled, ["debt"]),
            (joined, ["sex", "r", "age"]),
            (dense("a", 4, "tanh"), ["j"]),
            (dense("b", 1, "sigmoid", use_bias=False), ["a"]),
        ],
        ["b"],
        ["age", "sex", "debt"],
    )
    opened = open_model(write_h5(tmp_path / "m.h5", config, ARRAYS))
    assert opened.card.read_as_data
    assert (opened.card.takes, opened.card.named) == (Takes.COLUMNS, True)
    assert opened.card.inputs == ("sex", "debt", "age")
    columns = [MATRIX[:, 0], (MATRIX[:, 1] - 1) / 0.5, MATRIX[:, 2]]
    np.testing.assert_allclose(opened.scores(columns), EXPECTED, atol=1e-6)


@pytest.mark.parametrize(
    ("layer", "arrays", "reference"),
    [
        (
            {"class_name": "PReLU", "config": {"name": "p"}},
            [np.array([0.1, 0.2, 0.3, 0.4])],
            lambda z: np.where(z < 0, z * [0.1, 0.2, 0.3, 0.4], z),
        ),
        (
            {"class_name": "ThresholdedReLU", "config": {"name": "p", "theta": 0.7}},
            [],
            lambda z: np.where(z > 0.7, z, 0),
        ),
        (
            {"class_name": "Reshape", "config": {"name": "p", "target_shape": [4]}},
            [],
            lambda z: z,
        ),
    ],
)
def test_rarer_layers_are_read_as_data(tmp_path, layer, arrays, reference):
    config = sequential(dense("a", 4), layer, dense("b", 1, "sigmoid", use_bias=False))
    opened = open_model(write_h5(tmp_path / "m.h5", config, {**ARRAYS, "p": arrays}))
    expected = sigmoid(reference(MATRIX @ FIRST + BIAS) @ LAST)
    np.testing.assert_allclose(opened.matrix_scores(MATRIX), expected, atol=1e-6)


FROM_LOGITS = keras_object("BinaryCrossentropy", "keras.losses", from_logits=True)
MSE = {"module": "builtins", "class_name": "function", "config": "mean_squared_error"}


@pytest.mark.parametrize(
    ("loss", "activation", "scores", "warned"),
    [
        ("mse", "linear", "values", False),
        ("MeanAbsoluteError", "relu", "values", False),
        (MSE, "linear", "values", False),
        (["huber_loss"], "linear", "values", False),
        ("mse", "sigmoid", "probabilities", False),
        (FROM_LOGITS, "linear", "probabilities", False),
        ("binary_crossentropy", "linear", "scores", True),
        (None, "linear", "scores", True),
        (None, "relu", "values", True),
        ({"odd": 1}, "linear", "scores", True),
    ],
)
@pytest.mark.parametrize("write", [write_h5, write_keras])
def test_the_loss_tells_an_estimate_from_a_decision(
    tmp_path, write, loss, activation, scores, warned
):
    config = sequential(dense("a", 4, "tanh"), dense("b", 1, activation, use_bias=False))
    arrays = ARRAYS
    if write is write_keras:
        config["compile_config"] = {"loss": loss}
        arrays = {"dense": ARRAYS["a"], "dense_1": ARRAYS["b"]}
    path = write(tmp_path / "m", config, arrays)
    if write is write_h5:
        with h5py.File(path, "a") as file:
            file.attrs["training_config"] = json.dumps({"loss": loss})
    opened = open_model(path)
    assert (opened.card.scores, bool(opened.card.warnings)) == (scores, warned)
    assert opened.card.classes == (() if scores == "values" else ("0", "1"))
    raw = np.tanh(MATRIX @ FIRST + BIAS) @ LAST
    expected = np.maximum(raw, 0) if activation == "relu" else raw
    expected = expected if scores == "values" else sigmoid(raw)
    np.testing.assert_allclose(opened.matrix_scores(MATRIX), expected, atol=1e-5)


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


LAMBDA = keras_object(
    "Lambda", name="twice", function={"class_name": "__lambda__", "config": {"code": "4wAA"}}
)
OLD_LAMBDA = {
    "class_name": "Lambda",
    "config": {"name": "twice", "function": ["4wAA", None, None], "function_type": "lambda"},
}
STRANGERS = [
    (keras_object("TFSMLayer", filepath="/tmp/other"), "TFSMLayer"),
    (keras_object("TorchModuleWrapper"), "TorchModuleWrapper"),
    (keras_object("StringLookup", vocabulary="/etc/passwd"), "StringLookup"),
    (keras_object("TextVectorization", vocabulary="/etc/passwd"), "TextVectorization"),
    (keras_object("IntegerLookup", vocabulary="gs://x"), "IntegerLookup"),
    (keras_object("system", module="os"), "os.system"),
    (keras_object("get_file", module="keras.utils"), "get_file"),
    (keras_object("Dense", module="kerasx.layers"), "kerasx.layers.Dense"),
    (keras_object("Swirl", registered="their>Swirl"), "their>Swirl"),
    (keras_object("Dense", registered="their>Dense"), "their>Dense"),
    (
        {"module": "builtins", "class_name": "function", "config": "eval", "registered_name": "x"},
        "eval",
    ),
    ({"class_name": "TFOpLambda", "config": {"function": "math.add"}}, "TFOpLambda"),
    ({"class_name": "__typespec__", "spec_name": "x", "module": "os", "config": []}, "os"),
    ({"class_name": ["Dense"], "config": {}}, "Dense"),
    ({"class_name": "Lambda", "config": {"name": "l", "function": "mine"}}, "Lambda"),
]


@pytest.mark.parametrize(("part", "named"), STRANGERS)
@pytest.mark.parametrize("write", [write_h5, write_keras])
@pytest.mark.parametrize("trusted", [False, True])
def test_what_does_more_than_compute_is_refused_by_name(
    tmp_path, monkeypatch, part, named, write, trusted
):
    monkeypatch.setitem(sys.modules, "keras", None)  # it never gets so far
    wrapped = {"class_name": "TimeDistributed", "config": {"name": "t", "layer": part}}
    path = write(tmp_path / "m", sequential(wrapped), {})
    with pytest.raises(ModelError, match=f"needs “.*{re.escape(named)}") as caught:
        open_model(path, trusted=trusted)
    assert not isinstance(caught.value, TrustRequiredError)
    assert caught.value.remedy


@pytest.mark.parametrize("part", [LAMBDA, OLD_LAMBDA])
@pytest.mark.parametrize("write", [write_h5, write_keras])
def test_code_inside_needs_consent_and_is_told_by_name(tmp_path, part, write):
    path = write(tmp_path / "m", sequential(part, dense("a", 1)), {})
    with pytest.raises(TrustRequiredError, match="“twice”") as caught:
        open_model(path)
    assert phrases.YOUR_RIGHTS in caught.value.why


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
    with pytest.raises(ModelError, match=phrases.NO_MODEL_IN_FILE):
        open_model(tmp_path / "w.h5")


@pytest.mark.parametrize("suffix", ["h5", "keras"])
@pytest.mark.parametrize("kept", [9, 200, 0.5, 0.95])
def test_a_file_that_is_cut_off_is_called_so(tmp_path, suffix, kept):
    path = tmp_path / f"m.{suffix}"
    if suffix == "h5":
        write_h5(path, PLAIN, ARRAYS)
    else:
        write_keras(path, PLAIN, {"dense": [FIRST, BIAS], "dense_1": [LAST]})
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept if kept >= 1 else kept * len(whole))])
    with pytest.raises(
        ModelError, match="damaged" if (kept, suffix) == (9, "h5") else phrases.IS_CUT_OFF
    ):
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


def archive(path, **parts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two parts of one name
        for name, content in (
            ("metadata.json", "{}"),
            ("config.json", "{}"),
            ("model.weights.h5", b""),
            *parts.items(),
        ):
            file.writestr(name, content)
    return path


LINK = zipfile.ZipInfo("assets/link")
LINK.external_attr = (stat.S_IFLNK | 0o777) << 16


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"bomb": b" " * 40_000_000}, "bomb is too large"),
        ({"../outside": b"x"}, "lies outside"),
        ({"assets/../../outside": b"x"}, "lies outside"),
        ({"/etc/outside": b"x"}, "lies outside"),
        ({"..\\outside": b"x"}, "lies outside"),
        ({"C:/outside": b"x"}, "lies outside"),
        ({LINK: b"/etc/passwd"}, "is a link"),
        ({"config.json": b"[]"}, "two of one name"),
    ],
)
def test_hostile_archives_are_refused(tmp_path, parts, said):
    path = archive(tmp_path / "m.keras")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two parts of one name
        for name, content in parts.items():
            file.writestr(name, content)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ModelError, match="damaged") as caught:
        open_model(path)
    assert said in caught.value.why
    assert sorted(tmp_path.rglob("*")) == before


def test_many_large_parts_are_too_large_together(tmp_path, monkeypatch):
    monkeypatch.setattr("fairdesk.models.keras.parts.MOST_WEIGHT_BYTES", 10_000)
    path = archive(tmp_path / "m.keras", **{f"assets/{i}": b"x" * 1_000 for i in range(20)})
    with pytest.raises(ModelError, match="damaged") as caught:
        open_model(path)
    assert "together are too large" in caught.value.why


@pytest.mark.parametrize("depth", [300, 100_000])
def test_descriptions_without_end_are_refused(tmp_path, depth):
    deep = "[" * depth + "]" * depth
    layer = f'{{"class_name": "Conv1D", "config": {{"deep": {deep}}}}}'
    config = f'{{"class_name": "Sequential", "config": {{"layers": [{layer}]}}}}'
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("config.json", config)
        file.writestr("metadata.json", "{}")
        file.writestr("model.weights.h5", whole_h5(tmp_path))
    with pytest.raises(ModelError, match="damaged"):
        open_model(path)


def whole_h5(folder):
    with h5py.File(folder / "w.h5", "w") as file:
        file["layers/dense/vars/0"] = FIRST
    return (folder / "w.h5").read_bytes()


def test_a_hundred_thousand_layers_are_refused_at_once(tmp_path):
    config = sequential(*(dense(f"l{i}", 4) for i in range(100_000)))
    with pytest.raises(ModelError, match="damaged") as caught:
        open_model(write_keras(tmp_path / "m.keras", config, {"dense": [FIRST, BIAS]}))
    assert "100,000 layers" in caught.value.why


def soft_link(file):
    file["model_weights/b/more"] = h5py.SoftLink("/model_weights/a")


def huge(file):
    file.create_dataset("model_weights/b/more", (1 << 26,), "f4", chunks=(1024,))


def larger_than_memory(file):
    file.create_dataset("model_weights/b/more", (1 << 40,), "f4", chunks=(1024,))


def virtual(file):
    layout = h5py.VirtualLayout((4,), "f4")
    layout[:] = h5py.VirtualSource("other.h5", "x", (4,))
    file.create_virtual_dataset("model_weights/b/more", layout)


@pytest.mark.parametrize(
    ("alter", "said"),
    [
        (soft_link, "is a link"),
        (huge, "too large for what it holds"),
        (larger_than_memory, "too large"),
        (virtual, "does not lie in the file"),
    ],
)
def test_hostile_arrays_are_refused_wherever_they_are(tmp_path, alter, said):
    path = write_h5(tmp_path / "m.h5", PLAIN, ARRAYS)
    with h5py.File(path, "a") as file:
        alter(file)
    with pytest.raises(ModelError, match="damaged") as caught:
        open_model(path)
    assert said in caught.value.why


def test_references_are_no_numbers_and_loops_of_groups_end(tmp_path):
    path = write_h5(tmp_path / "m.h5", PLAIN, ARRAYS)
    with h5py.File(path, "a") as file:
        file["model_weights/a/loop"] = file["model_weights"]
    assert open_model(path).card.read_as_data
    with h5py.File(path, "a") as file:
        del file["model_weights/b/b/w0:0"]
        file["model_weights/b/b/w0:0"] = np.array([file.ref], dtype=h5py.ref_dtype)
    with pytest.raises(ModelError, match="damaged") as caught:
        open_model(path)
    assert "holds no numbers" in caught.value.why


def altered(whole, seed):
    """Flip some bits, or cut the file off."""
    rng = np.random.default_rng(seed)
    bent = bytearray(whole)
    for place in rng.integers(len(bent), size=rng.integers(1, 4)):
        bent[place] ^= 1 << rng.integers(8)
    return bytes(bent[: rng.integers(1, len(bent))] if seed % 3 == 0 else bent)


@pytest.mark.parametrize("suffix", ["h5", "keras"])
def test_altered_files_open_or_are_told_and_nothing_else(tmp_path, monkeypatch, suffix):
    # where a bit makes another layer of a dense one, TensorFlow would be loaded
    monkeypatch.setitem(sys.modules, "keras", None)
    path = tmp_path / f"m.{suffix}"
    if suffix == "h5":
        write_h5(path, PLAIN, ARRAYS)
    else:
        write_keras(path, PLAIN, {"dense": [FIRST, BIAS], "dense_1": [LAST]})
    whole, refused = path.read_bytes(), 0
    for seed in range(150):
        path.write_bytes(altered(whole, seed))
        try:
            open_model(path)
        except ModelError:
            refused += 1
    assert refused > 50


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


def test_derivatives_are_those_of_tensorflow(networks, keras, tmp_path):
    tf = pytest.importorskip("tensorflow")
    matrix = RNG.normal(3, 5, (60, 4)).astype(np.float32)
    for name, network in networks.items():
        network.save(tmp_path / "m.keras")
        opened = open_model(tmp_path / "m.keras")
        for column in range(network.output_shape[1]):
            given = tf.constant(matrix)
            with tf.GradientTape() as tape:
                tape.watch(given)
                score = network(given, training=False)[:, column]
            expected = np.asarray(tape.gradient(score, given))
            found = opened.gradients(matrix.astype(float), column)
            # where a softmax is all but 1, TensorFlow's own have no digits left
            close = 1e-3 * np.abs(expected).max()
            np.testing.assert_allclose(found, expected, atol=close, rtol=1e-3, err_msg=name)


@pytest.fixture(scope="module")
def sequences(keras):
    """Networks of other layers: a name, the network and what it may do."""
    layer = keras.layers
    keras.utils.set_random_seed(4)
    return {
        "convolution": keras.Sequential(
            [
                keras.Input((4, 1)),
                layer.Conv1D(3, 2, activation="relu"),
                layer.GlobalAveragePooling1D(),
                layer.Dense(2, activation="softmax"),
            ]
        ),
        "memory": keras.Sequential(
            [keras.Input((1, 4)), layer.LSTM(3), layer.Dense(1, activation="sigmoid")]
        ),
    }


@pytest.mark.parametrize("name", ["convolution", "memory"])
def test_convolutions_and_memories_take_rows_and_give_derivatives(sequences, tmp_path, name):
    network = sequences[name]
    # the content decides, not the suffix
    network.save(tmp_path / "m.keras")
    path = (tmp_path / "m.keras").rename(tmp_path / "model.bin")
    opened = open_model(path)
    assert opened.card.takes is Takes.MATRIX
    assert set(opened.card.can) == {
        *(Capability.DECIDES, Capability.SCORES, Capability.GRADIENTS, Capability.RETRAINS)
    }
    matrix = np.random.default_rng(6).normal(size=(30, 4))
    expected = np.asarray(network(matrix.reshape(30, *network.input_shape[1:])))[:, -1:]
    np.testing.assert_allclose(opened.matrix_scores(matrix), expected, atol=1e-6)
    found = opened.gradients(matrix)
    assert found.shape == (30, 4)
    for i in range(4):
        apart = np.zeros(4)
        apart[i] = 2e-3
        change = opened.matrix_scores(matrix + apart) - opened.matrix_scores(matrix - apart)
        # next to a kink, a quotient of differences is that of neither side
        assert np.isclose(found[:, i], change[:, 0] / 4e-3, atol=2e-3).mean() > 0.9


def test_words_inside_the_file_are_read_and_text_is_told(keras, tmp_path):
    layer = keras.layers
    words = layer.TextVectorization(vocabulary=["bad", "good"], output_sequence_length=3)
    network = keras.Sequential(
        [
            keras.Input((1,), dtype="string"),
            words,
            layer.Embedding(4, 2),
            layer.Flatten(),
            layer.Dense(1, activation="sigmoid"),
        ]
    )
    network.save(tmp_path / "m.keras")
    opened = open_model(tmp_path / "m.keras")
    assert opened.card.takes is Takes.COLUMNS
    assert opened.card.accepts == ("text",)
    assert Capability.TEXT in opened.card.can
    assert Capability.GRADIENTS not in opened.card.can
    scores = opened.scores([np.array(["good", "BAD good", "good"], dtype=object)])
    assert scores[0] == scores[2] != scores[1]
    with pytest.raises(ModelError, match="accepts text"):
        opened.scores([np.array([1.0])])
    with pytest.raises(ModelError, match="are not smooth functions"):
        opened.gradients(np.zeros((1, 1)))


@pytest.mark.parametrize("suffix", ["keras", "h5"])
def test_code_that_was_agreed_to_runs_and_is_told(keras, tmp_path, suffix):
    layer = keras.layers
    network = keras.Sequential(
        [
            keras.Input((3,)),
            layer.Lambda(lambda x: x * 2, output_shape=(3,), name="twice"),
            layer.Dense(1, activation="sigmoid"),
        ]
    )
    path = tmp_path / f"m.{suffix}"
    network.save(path)
    with pytest.raises(TrustRequiredError, match="“twice”"):
        open_model(path)
    opened = open_model(path, trusted=True)
    assert opened.card.needed_trust
    weights, bias = network.get_weights()
    np.testing.assert_allclose(
        opened.matrix_scores(MATRIX), sigmoid(2 * MATRIX @ weights + bias), atol=1e-6
    )


def test_an_activation_that_changed_its_meaning_keeps_the_one_of_the_file(keras, tmp_path):
    config = sequential(
        dense("a", 4, "hard_sigmoid", batch_input_shape=[None, 3], dtype="float32"),
        dense("b", 1, "sigmoid", use_bias=False),
    )
    opened = open_model(write_h5(tmp_path / "m.h5", config, ARRAYS))
    hidden = np.clip(0.2 * (MATRIX @ FIRST + BIAS) + 0.5, 0, 1)
    np.testing.assert_allclose(opened.matrix_scores(MATRIX), sigmoid(hidden @ LAST), atol=1e-6)


def test_a_folder_of_tensorflow_needs_consent(networks, keras, tmp_path):
    network = networks["functional"]
    network.export(tmp_path / "m", verbose=False)
    with pytest.raises(TrustRequiredError, match="SavedModel"):
        open_model(tmp_path / "m")
    opened = open_model(tmp_path / "m", trusted=True)
    assert opened.card.needed_trust
    assert opened.card.format == "TensorFlow SavedModel"
    assert opened.card.classes == ("0", "1", "2")
    matrix = RNG.normal(size=(40, 4))
    expected = np.asarray(network(matrix.astype(np.float32)))
    np.testing.assert_allclose(opened.matrix_scores(matrix), expected, atol=1e-6)
    same = networks["functional"]
    same.save(tmp_path / "m.keras")
    np.testing.assert_allclose(
        opened.gradients(matrix, 1),
        open_model(tmp_path / "m.keras").gradients(matrix, 1),
        atol=1e-5,
    )
    (tmp_path / "m" / "assets" / "link").symlink_to("/etc/hostname")
    with pytest.raises(ModelError, match="contains links"):
        open_model(tmp_path / "m", trusted=True)


def test_what_is_no_such_folder_is_told(keras, tmp_path):
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "saved_model.pb").write_bytes(b"x")
    with pytest.raises(ModelError, match=r"TensorFlow .* cannot open “m”"):
        open_model(folder, trusted=True)
    (folder / "saved_model.pb").write_bytes(b"\x08\x01x")
    with pytest.raises(ModelError, match="one part of a TensorFlow model") as caught:
        open_model(folder / "saved_model.pb")
    assert "“m”" in caught.value.remedy


def test_a_folder_of_tensorflow_without_tensorflow_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    monkeypatch.setitem(sys.modules, "keras", None)
    (tmp_path / "saved_model.pb").write_bytes(b"x")
    with pytest.raises(ModelError, match="needs TensorFlow") as caught:
        open_model(tmp_path)
    assert not isinstance(caught.value, TrustRequiredError)
