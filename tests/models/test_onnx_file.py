import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fairdesk.errors import ModelError
from fairdesk.models.feeding import FedModel
from fairdesk.models.mapping import match
from fairdesk.models.model import Takes
from fairdesk.models.onnx_wire import WireError, outline
from fairdesk.models.open import open_model
from fairdesk.models.proof import attributes_for, check
from tests.models.tables import SHARED, names, needs_shared, number, table

RNG = np.random.default_rng(2)
MATRIX = RNG.normal(size=(5000, 3))


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def save(path, nodes, inputs, outputs, initializers=(), domains=("", "ai.onnx.ml"), **options):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    versions = {"": 18, "ai.onnx.ml": 3}
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid(name, versions.get(name, 1)) for name in domains],
        ir_version=8,
        producer_name="the tests",
        **options,
    )
    path.write_bytes(model.SerializeToString())
    return path


def tensor(name, *shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def gemm(weights, bias, output="z"):
    return helper.make_node("Gemm", ["x", "w", "b"], [output]), [
        numpy_helper.from_array(np.asarray(weights, np.float32), "w"),
        numpy_helper.from_array(np.asarray(bias, np.float32), "b"),
    ]


WEIGHTS, BIAS = RNG.normal(size=(3, 1)), RNG.normal(size=1)


def logistic(path, *, batch=None, last=("Sigmoid",), weights=WEIGHTS, bias=BIAS, **options):
    node, initializers = gemm(weights, bias)
    nodes, value = [node], "z"
    for i, operation in enumerate(last):
        nodes.append(helper.make_node(operation, [value], [f"p{i}"]))
        value = f"p{i}"
    return save(
        path,
        nodes,
        [tensor("x", batch, 3)],
        [tensor(value, batch, np.shape(weights)[1])],
        initializers,
        **options,
    )


@pytest.mark.parametrize("batch", [None, 1, 64])
def test_a_network_on_a_matrix(tmp_path, batch):
    opened = open_model(logistic(tmp_path / "m.onnx", batch=batch))
    card = opened.card
    assert card.takes is Takes.MATRIX
    assert card.inputs == ("input 1", "input 2", "input 3")
    assert (card.classes, card.scores, card.warnings) == (("0", "1"), "probabilities", ())
    assert (card.saved_with, card.read_as_data) == ("the tests", False)
    expected = sigmoid(MATRIX @ WEIGHTS + BIAS)
    np.testing.assert_allclose(opened.matrix_scores(MATRIX), expected, atol=1e-6)
    np.testing.assert_allclose(opened.scores(list(MATRIX[:10].T)), expected[:10], atol=1e-6)


def test_no_rows_get_no_answers(tmp_path):
    opened = open_model(logistic(tmp_path / "m.onnx"))
    assert opened.matrix_scores(MATRIX[:0]).shape == (0, 1)


@pytest.mark.parametrize("last", [(), ("Identity",)])
def test_plain_numbers_are_read_as_log_odds_with_a_warning(tmp_path, last):
    opened = open_model(logistic(tmp_path / "m.onnx", last=last))
    assert opened.card.scores == "scores"
    assert "log-odds" in opened.card.warnings[0]
    expected = sigmoid(MATRIX @ WEIGHTS + BIAS)
    np.testing.assert_allclose(opened.matrix_scores(MATRIX), expected, atol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_one_answer_for_each_class(tmp_path, classes):
    weights, bias = RNG.normal(size=(3, classes)), RNG.normal(size=classes)
    path = logistic(tmp_path / "m.onnx", last=("Softmax",), weights=weights, bias=bias)
    opened = open_model(path)
    shares = np.exp(MATRIX @ weights + bias)
    shares /= shares.sum(axis=1, keepdims=True)
    assert opened.card.classes == tuple(str(i) for i in range(classes))
    np.testing.assert_allclose(
        opened.matrix_scores(MATRIX), shares[:, 1:] if classes == 2 else shares, atol=1e-6
    )


def classifier(path, *, zipmap, ask="both", labels=("bad", "good")):
    """Write what skl2onnx makes of a logistic regression."""
    weights = RNG.normal(size=3).tolist()
    nodes = [
        helper.make_node(
            "LinearClassifier",
            ["x"],
            ["label", "p"],
            domain="ai.onnx.ml",
            coefficients=[-w for w in weights] + weights,
            intercepts=[0.0, 0.0],
            classlabels_strings=list(labels),
            post_transform="SOFTMAX",
        )
    ]
    label = tensor("label", None, kind=TensorProto.STRING)
    scores = tensor("p", None, 2)
    if zipmap:
        nodes.append(
            helper.make_node(
                "ZipMap", ["p"], ["maps"], domain="ai.onnx.ml", classlabels_strings=list(labels)
            )
        )
        value = helper.make_map_type_proto(
            TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, [])
        )
        scores = helper.make_value_info("maps", helper.make_sequence_type_proto(value))
    outputs = [label] if ask == "label" else [label, scores]
    save(path, nodes, [tensor("x", None, 3)], outputs)
    return path, sigmoid(2 * MATRIX @ np.array(weights)[:, None])


@pytest.mark.parametrize("zipmap", [False, True])
def test_class_names_and_probabilities_of_a_classifier(tmp_path, zipmap):
    path, expected = classifier(tmp_path / "m.onnx", zipmap=zipmap)
    opened = open_model(path)
    assert (opened.card.classes, opened.card.scores) == (("bad", "good"), "probabilities")
    np.testing.assert_allclose(opened.matrix_scores(MATRIX), expected, atol=1e-5)


def test_decisions_alone_become_noughts_and_ones(tmp_path):
    path, expected = classifier(tmp_path / "m.onnx", zipmap=False, ask="label")
    opened = open_model(path)
    assert opened.card.scores == "labels"
    np.testing.assert_array_equal(opened.matrix_scores(MATRIX), expected > 0.5)


def test_one_input_for_each_column_is_fed_by_name(tmp_path):
    nodes = [
        helper.make_node(
            "LabelEncoder",
            ["sex"],
            ["code"],
            domain="ai.onnx.ml",
            keys_strings=["f", "m"],
            values_floats=[0.25, 0.75],
        ),
        helper.make_node("Cast", ["age"], ["years"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["code", "years"], ["p"]),
    ]
    path = save(
        tmp_path / "m.onnx",
        nodes,
        [
            tensor("sex", None, 1, kind=TensorProto.STRING),
            tensor("age", None, 1, kind=TensorProto.INT64),
        ],
        [tensor("p", None, 1)],
    )
    opened = open_model(path)
    assert opened.card.named
    assert opened.card.inputs == ("sex", "age")
    rows = table(number("Age", [1, 0, 1]), names("sex", ["m", "f", "f"]), names("y", list("nyy")))
    mapping = match(opened.card, rows, "y", "y")
    asked = FedModel(opened, mapping, attributes_for(mapping, rows))
    assert asked.predict(rows.codes[:, [1, 0]]).ravel().tolist() == [0.75, 0, 0.25]
    with pytest.raises(ModelError, match="“sex” takes text"):
        opened.scores([np.array([1.0]), np.array([2.0])])
    with pytest.raises(ModelError, match="“age” takes numbers"):
        opened.scores([np.array(["m"], dtype=object)] * 2)


def with_external_weights(path, where):
    """Write a model of which a tensor points to another file, in one of the places for tensors."""
    weights = numpy_helper.from_array(np.zeros(3, np.float32), "w")
    outside = TensorProto()
    outside.CopyFrom(weights)
    outside.ClearField("raw_data")
    outside.data_location = TensorProto.EXTERNAL
    outside.external_data.add(key="location", value="/etc/hostname")
    branch = helper.make_graph([], "inner", [], [tensor("w", 3)], [outside])
    nodes, initializers = [helper.make_node("Identity", ["x"], ["y"])], []
    if where == "initializer":
        initializers = [outside]
    elif where == "constant":
        nodes.append(helper.make_node("Constant", [], ["c"], value=outside))
    elif where == "subgraph":
        nodes.append(helper.make_node("If", ["k"], ["c"], then_branch=branch, else_branch=branch))
    graph = helper.make_graph(
        nodes, "g", [tensor("x", None, 3)], [tensor("y", None, 3)], initializers
    )
    if where == "sparse":
        graph.sparse_initializer.add(values=outside, indices=weights, dims=[3])
    model = helper.make_model(graph)
    if where == "function":
        inner = helper.make_node("Constant", [], ["o"], value=outside)
        model.functions.append(
            helper.make_function("mine", "f", [], ["o"], [inner], [helper.make_opsetid("", 18)])
        )
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.parametrize("where", ["initializer", "constant", "subgraph", "sparse", "function"])
def test_weights_in_other_files_are_refused_wherever_they_hide(tmp_path, where):
    with pytest.raises(ModelError, match="refers to other files"):
        open_model(with_external_weights(tmp_path / "m.onnx", where))


def test_operations_of_others_are_refused_by_name(tmp_path):
    path = logistic(tmp_path / "m.onnx", domains=("", "somebody.else"))
    with pytest.raises(ModelError, match=r"somebody\.else"):
        open_model(path)


@pytest.mark.parametrize(
    ("inputs", "outputs", "said"),
    [
        ([tensor("x", None, None)], [tensor("y", None, None)], "how many inputs"),
        ([tensor("x", None, 8, 8)], [tensor("y", None, 8, 8)], "of the shape any × 8 × 8"),
        (
            [tensor("x", None, 3, kind=TensorProto.UINT8)],
            [tensor("y", None, 3, kind=TensorProto.UINT8)],
            "inputs that no table has",
        ),
    ],
)
def test_models_of_other_things_than_tables_are_refused(tmp_path, inputs, outputs, said):
    node = helper.make_node("Identity", ["x"], ["y"])
    with pytest.raises(ModelError, match=said):
        open_model(save(tmp_path / "m.onnx", [node], inputs, outputs))


def test_a_version_of_the_future_is_told(tmp_path):
    path = logistic(tmp_path / "m.onnx")
    model = onnx.load(path)
    model.ir_version = 31
    path.write_bytes(model.SerializeToString())
    with pytest.raises(ModelError, match="cannot open") as caught:
        open_model(path)
    assert "31" in caught.value.why


def test_a_refused_batch_is_told(tmp_path):
    node = helper.make_node("Reshape", ["x", "s"], ["y"])
    shape = numpy_helper.from_array(np.array([7, 3]), "s")
    path = save(
        tmp_path / "m.onnx", [node], [tensor("x", None, 3)], [tensor("y", None, 3)], [shape]
    )
    opened = open_model(path)
    with pytest.raises(ModelError, match="refused 5 rows"):
        opened.matrix_scores(MATRIX[:5])


def test_an_outline_never_fails_otherwise_on_altered_bytes(tmp_path):
    whole = classifier(tmp_path / "m.onnx", zipmap=True)[0].read_bytes()
    assert outline(whole).classes == ("bad", "good")
    refused = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        altered = bytearray(whole)
        for place in rng.integers(len(altered), size=3):
            altered[place] = rng.integers(256)
        try:
            outline(bytes(altered[: rng.integers(1, len(altered))]))
        except WireError:
            refused += 1
    assert refused > 100


def test_nesting_without_end_is_refused():
    part = b""
    # graph in attribute in node, again and again, in a model
    for field in (6, 5, 1) * 100 + (7,):
        size, length = len(part), bytearray()
        while size > 0x7F:
            length.append(size & 0x7F | 0x80)
            size >>= 7
        part = bytes([field << 3 | 2, *length, size]) + part
    with pytest.raises(WireError, match="nested too deeply"):
        outline(part)


@needs_shared
def test_a_public_tree_with_dictionaries_as_answer():
    from fairdesk.data.reading import read_table

    opened = open_model(SHARED / "models" / "diabetes.onnx")
    rows = read_table(SHARED / "tabular" / "diabetes_pima.csv")
    assert opened.card.classes == ("0", "1")
    mapping = match(opened.card, rows, "diabetes", "pos")
    proof = check(opened, rows, mapping, "diabetes", "pos")
    assert proof.accuracy > 0.9
    swapped = match(opened.card, rows, "diabetes", "neg")
    proof = check(opened, rows, swapped, "diabetes", "neg")
    assert proof.accuracy < 0.1
    assert "With the classes swapped it would agree in 95.2%" in proof.warnings[0]


@needs_shared
def test_a_public_forest_answers():
    opened = open_model(SHARED / "models" / "titanic_rf.onnx")
    assert len(opened.card.inputs) == 9
    answers = opened.matrix_scores(RNG.integers(0, 2, (3000, 9)).astype(float))
    assert answers.shape == (3000, 1)
    assert ((answers >= 0) & (answers <= 1)).all()
    assert len(np.unique(answers)) > 10
