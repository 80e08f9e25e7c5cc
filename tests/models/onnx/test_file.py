from contextlib import suppress

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fairdesk.errors import ModelError
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.inputs.input_check import attributes_for, check
from fairdesk.models.model import Capability, Takes, labels
from fairdesk.models.onnx import session
from fairdesk.models.onnx.graph import DamagedError, Graph, outline, parse
from fairdesk.models.open import open_model
from tests import phrases
from tests.models.dense.test_layers import REFERENCES
from tests.models.matching import match
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
    with pytest.raises(ModelError, match="“sex” accepts text"):
        opened.scores([np.array([1.0]), np.array([2.0])])
    with pytest.raises(ModelError, match="“age” accepts numbers"):
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
        ([tensor("x", None, None)], [tensor("y", None, None)], phrases.HOW_MANY_INPUTS),
        ([tensor("x", None, 8, 8)], [tensor("y", None, 8, 8)], "of the shape any × 8 × 8"),
        (
            [helper.make_tensor_sequence_value_info("x", 1, None)],
            [helper.make_tensor_sequence_value_info("y", 1, None)],
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
    with pytest.raises(ModelError, match="rejected 5 rows"):
        opened.matrix_scores(MATRIX[:5])


def test_an_outline_never_fails_otherwise_on_altered_bytes(tmp_path):
    whole = classifier(tmp_path / "m.onnx", zipmap=True)[0].read_bytes()
    assert outline(parse(whole)).nodes == 2
    refused = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        altered = bytearray(whole)
        for place in rng.integers(len(altered), size=3):
            altered[place] = rng.integers(256)
        try:
            outline(parse(bytes(altered[: rng.integers(1, len(altered))])))
        except DamagedError:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize("name", [b"the tests", b"ai.onnx.ml", b"LinearClassifier", b"maps"])
def test_names_that_are_no_text_are_told_as_far_as_they_are(tmp_path, name):
    path, _ = classifier(tmp_path / "m.onnx", zipmap=True)
    altered = path.read_bytes().replace(name, name[:-1] + b"\xff")
    found = outline(parse(altered))
    told = {found.producer, *found.domains, *found.operations}
    assert any("�" in each for each in told) == (name != b"maps")
    path.write_bytes(altered)
    with suppress(ModelError):
        open_model(path)


def test_nesting_without_end_is_refused():
    part = b""
    # graph in attribute in node, again and again, in a model
    for field in (6, 5, 1) * 100 + (7,):
        size, length = len(part), bytearray()
        while size > 0x7F:
            length.append(size & 0x7F | 0x80)
            size >>= 7
        part = bytes([field << 3 | 2, *length, size]) + part
    with pytest.raises(DamagedError, match=phrases.NESTED):
        outline(parse(part))


@needs_shared
def test_a_public_tree_with_dictionaries_as_answer():
    from fairdesk.data.formats.reading import read_table

    opened = open_model(SHARED / "models" / "diabetes.onnx")
    rows = read_table(SHARED / "tabular" / "diabetes_pima.csv")
    assert opened.card.classes == ("0", "1")
    mapping = match(opened.card, rows, "diabetes", "pos")
    proof = check(opened, rows, mapping, "diabetes", "pos")
    assert proof.accuracy > 0.9
    swapped = match(opened.card, rows, "diabetes", "neg")
    proof = check(opened, rows, swapped, "diabetes", "neg")
    assert proof.accuracy < 0.1
    assert phrases.LESS_THAN_GUESSING in proof.warnings[0]


@needs_shared
def test_a_public_forest_answers():
    opened = open_model(SHARED / "models" / "titanic_rf.onnx")
    assert len(opened.card.inputs) == 9
    answers = opened.matrix_scores(RNG.integers(0, 2, (3000, 9)).astype(float))
    assert answers.shape == (3000, 1)
    assert ((answers >= 0) & (answers <= 1)).all()
    assert len(np.unique(answers)) > 10


def constant(values, name, kind=np.float32):
    return numpy_helper.from_array(np.asarray(values, kind), name)


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        (TensorProto.DOUBLE, np.float64),
        (TensorProto.FLOAT16, np.float16),
        (TensorProto.INT64, np.int64),
        (TensorProto.INT32, np.int32),
        (TensorProto.INT16, np.int16),
        (TensorProto.INT8, np.int8),
        (TensorProto.UINT8, np.uint8),
        (TensorProto.BOOL, np.bool_),
    ],
)
def test_every_kind_of_number_is_taken(tmp_path, kind, dtype):
    nodes = [
        helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["f", "w"], ["z"]),
        helper.make_node("Sigmoid", ["z"], ["p"]),
    ]
    path = save(
        tmp_path / "m.onnx",
        nodes,
        [tensor("x", None, 3, kind=kind)],
        [tensor("p", None, 1)],
        [constant(WEIGHTS, "w")],
    )
    opened = open_model(path)
    matrix = RNG.integers(0, 2, (50, 3)).astype(float)
    np.testing.assert_allclose(opened.matrix_scores(matrix), sigmoid(matrix @ WEIGHTS), atol=1e-6)
    assert opened.card.accepts == ("number",) * 3
    if dtype is not np.float64 and np.dtype(dtype).kind != "f":
        with pytest.raises(ModelError, match="cannot hold"):
            opened.matrix_scores(matrix + 0.5)


@pytest.mark.parametrize("shape", [(None, 3), (None, 1, 3), (None, 3, 1), (1, 3), (None, None), ()])
def test_rows_are_given_in_the_shape_that_is_declared(tmp_path, shape):
    nodes = [
        helper.make_node("Reshape", ["x", "rows"], ["flat"]),
        helper.make_node("MatMul", ["flat", "w"], ["z"]),
        helper.make_node("Sigmoid", ["z"], ["p"]),
    ]
    entry = tensor("x", *shape)
    if not shape:
        entry.type.tensor_type.ClearField("shape")
    path = save(
        tmp_path / "m.onnx",
        nodes,
        [entry],
        [tensor("p", None, None)],
        [constant([-1, 3], "rows", np.int64), constant(WEIGHTS, "w")],
    )
    opened = open_model(path)
    assert opened.card.takes is Takes.MATRIX
    assert len(opened.card.inputs) == 3
    np.testing.assert_allclose(opened.matrix_scores(MATRIX), sigmoid(MATRIX @ WEIGHTS), atol=1e-6)


def trees(path, *, operation="TreeEnsembleClassifier", shape=(None, 3), outputs=None, **options):
    """Write one tree: above a half of the third input it answers 0.9, else 0.2."""
    common = {
        "nodes_treeids": [0, 0, 0],
        "nodes_nodeids": [0, 1, 2],
        "nodes_featureids": [2, 0, 0],
        "nodes_modes": ["BRANCH_GT", "LEAF", "LEAF"],
        "nodes_values": [0.5, 0.0, 0.0],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
    }
    if operation == "TreeEnsembleClassifier":
        own = {
            "class_treeids": [0] * 4,
            "class_nodeids": [1, 1, 2, 2],
            "class_ids": [0, 1, 0, 1],
            "class_weights": [0.1, 0.9, 0.8, 0.2],
            "classlabels_int64s": [1, 2],
        }
        names = ["label", "probabilities"]
    else:
        own = {
            "target_treeids": [0, 0],
            "target_nodeids": [1, 2],
            "target_ids": [0, 0],
            "target_weights": [900.0, 200.0],
            "n_targets": 1,
        }
        names = ["variable"]
    node = helper.make_node(operation, ["x"], names, domain="ai.onnx.ml", **common, **own)
    declared = outputs or [
        tensor(name, None, kind=TensorProto.INT64) if name == "label" else tensor(name, None, 2)
        for name in names
    ]
    return save(path, [node], [tensor("x", *shape)], declared, **options)


def test_trees_tell_their_classes_and_that_they_are_trees(tmp_path):
    opened = open_model(trees(tmp_path / "m.onnx"))
    assert opened.card.classes == ("1", "2")
    assert Capability.TREES in opened.card.can
    assert Capability.LAYERS not in opened.card.can
    assert opened.card.outputs == ()
    found = opened.matrix_scores(MATRIX)
    np.testing.assert_allclose(found[:, 0], np.where(MATRIX[:, 2] > 0.5, 0.9, 0.2), atol=1e-6)
    with pytest.raises(ModelError, match="gradients of the model’s outputs are not available"):
        opened.gradients(MATRIX)


def test_columns_that_are_not_counted_are_those_that_trees_look_at(tmp_path):
    opened = open_model(trees(tmp_path / "m.onnx", shape=(None, None)))
    assert len(opened.card.inputs) == 3


def test_regressors_answer_with_a_number(tmp_path):
    path = trees(
        tmp_path / "m.onnx",
        operation="TreeEnsembleRegressor",
        outputs=[tensor("variable", None, 1)],
    )
    card = open_model(path).card
    assert (card.scores, card.classes, card.warnings) == ("values", (), ())
    found = open_model(path).matrix_scores(MATRIX)
    np.testing.assert_array_equal(found[:, 0], np.where(MATRIX[:, 2] > 0.5, 900, 200))


@pytest.mark.parametrize("declared", [(1,), (), (None, 7)])
def test_what_comes_out_counts_not_what_is_declared(tmp_path, declared):
    path = trees(
        tmp_path / "m.onnx",
        outputs=[tensor("label", 1, kind=TensorProto.INT64), tensor("probabilities", *declared)],
    )
    opened = open_model(path)
    assert opened.card.classes == ("1", "2")
    assert opened.matrix_scores(MATRIX).shape == (5000, 1)


def test_answers_in_one_dimension_are_of_the_second_class(tmp_path):
    nodes = [
        gemm(WEIGHTS, BIAS)[0],
        helper.make_node("Sigmoid", ["z"], ["p"]),
        helper.make_node("Reshape", ["p", "flat"], ["list"]),
    ]
    constants = [*gemm(WEIGHTS, BIAS)[1], constant([-1], "flat", np.int64)]
    path = save(
        tmp_path / "m.onnx", nodes, [tensor("x", None, 3)], [tensor("list", None)], constants
    )
    opened = open_model(path)
    assert opened.card.classes == ("0", "1")
    np.testing.assert_allclose(
        opened.matrix_scores(MATRIX), sigmoid(MATRIX @ WEIGHTS + BIAS), atol=1e-6
    )
    assert Capability.LAYERS in opened.card.can


def test_of_several_outputs_one_is_chosen_by_name(tmp_path):
    nodes = [
        gemm(WEIGHTS, BIAS)[0],
        helper.make_node("Sigmoid", ["z"], ["hired"]),
        helper.make_node("Neg", ["z"], ["other"]),
        helper.make_node("Sigmoid", ["other"], ["promoted"]),
    ]
    path = save(
        tmp_path / "m.onnx",
        nodes,
        [tensor("x", None, 3)],
        [tensor("hired", None, 1), tensor("promoted", None, 1)],
        gemm(WEIGHTS, BIAS)[1],
    )
    first, second = open_model(path), open_model(path, output="promoted")
    assert first.card.outputs == second.card.outputs == ("hired", "promoted")
    assert (first.card.output, second.card.output) == ("hired", "promoted")
    np.testing.assert_allclose(
        first.matrix_scores(MATRIX), 1 - second.matrix_scores(MATRIX), atol=1e-6
    )
    with pytest.raises(ModelError, match="no output “fired”") as caught:
        open_model(path, output="fired")
    assert "hired, promoted" in caught.value.remedy


def test_a_classifier_may_answer_its_label_where_that_is_asked_for(tmp_path):
    path, expected = classifier(tmp_path / "m.onnx", zipmap=True)
    opened = open_model(path, output="label")
    assert opened.card.scores == "labels"
    assert Capability.SCORES not in opened.card.can
    np.testing.assert_array_equal(opened.matrix_scores(MATRIX), expected > 0.5)


def test_true_and_false_are_classes(tmp_path):
    node = helper.make_node("Greater", ["x", "limit"], ["y"])
    path = save(
        tmp_path / "m.onnx",
        [node],
        [tensor("x", None, 1)],
        [tensor("y", None, 1, kind=TensorProto.BOOL)],
        [constant([[0.25]], "limit")],
    )
    opened = open_model(path)
    assert opened.card.classes == ("False", "True")
    assert opened.matrix_scores(np.array([[0.0], [1.0]])).tolist() == [[0], [1]]


def test_numbers_and_texts_side_by_side_and_an_input_with_a_default(tmp_path):
    nodes = [
        helper.make_node(
            "LabelEncoder",
            ["words"],
            ["codes"],
            domain="ai.onnx.ml",
            keys_strings=["f", "m"],
            values_floats=[0.25, 0.75],
        ),
        helper.make_node("Concat", ["numbers", "codes"], ["all"], axis=1),
        helper.make_node("MatMul", ["all", "w"], ["z"]),
        helper.make_node("Add", ["z", "b"], ["s"]),
        helper.make_node("Sigmoid", ["s"], ["p"]),
    ]
    inputs = [
        tensor("numbers", None, 2),
        tensor("words", None, 1, kind=TensorProto.STRING),
        tensor("b", 1),
    ]
    path = save(
        tmp_path / "m.onnx",
        nodes,
        inputs,
        [tensor("p", None, 1)],
        [constant(WEIGHTS, "w"), constant(BIAS, "b")],
    )
    opened = open_model(path)
    assert opened.card.inputs == ("numbers 1", "numbers 2", "words")
    assert opened.card.accepts == ("number", "number", "text")
    assert Capability.TEXT not in opened.card.can
    words = np.array(["m", "f", None], dtype=object)
    found = opened.scores([MATRIX[:2, 0], MATRIX[:2, 1], words[:2]])
    filled = np.column_stack([MATRIX[:2, :2], [0.75, 0.25]])
    np.testing.assert_allclose(found, sigmoid(filled @ WEIGHTS + BIAS), atol=1e-6)
    assert opened.scores([MATRIX[:3, 0], MATRIX[:3, 1], words]).shape == (3, 1)


def test_what_the_author_notes_is_told(tmp_path):
    path = logistic(tmp_path / "m.onnx")
    model = onnx.load(path)
    helper.set_model_props(
        model, {"feature_names": '["age", "sex", "debt"]', "Classes": "bad, good", "note": "x"}
    )
    path.write_bytes(model.SerializeToString())
    hints = open_model(path).card.hints
    assert hints.features == ("age", "sex", "debt")
    assert hints.classes == ("bad", "good")
    assert "age, sex, debt" in hints.notes[0]


def chain_of(*operations):
    """Write operations one after another; each is a name, its constants and its settings."""
    nodes, constants, value = [], [], "x"
    for i, (operation, more, settings) in enumerate(operations):
        names = [f"c{i}_{j}" for j in range(len(more))]
        constants += [
            constant(values, name, np.asarray(values).dtype)
            for values, name in zip(more, names, strict=True)
        ]
        domain = "ai.onnx.ml" if operation in ("Scaler", "LinearClassifier", "Normalizer") else ""
        outputs = [f"label{i}", f"v{i}"] if operation == "LinearClassifier" else [f"v{i}"]
        nodes.append(
            helper.make_node(operation, [value, *names], outputs, domain=domain, **settings)
        )
        value = f"v{i}"
    return nodes, constants, value


def f32(*shape, positive=False):
    values = RNG.uniform(0.5, 2, shape) if positive else RNG.normal(size=shape)
    return values.astype(np.float32)


LAYERS = {
    "products and sums": [
        ("MatMul", [f32(3, 5)], {}),
        ("Add", [f32(5)], {}),
        ("Relu", [], {}),
        ("MatMul", [f32(5, 1)], {}),
        ("Add", [f32(1)], {}),
        ("Sigmoid", [], {}),
    ],
    "PyTorch": [
        ("Gemm", [f32(5, 3), f32(5)], {"transB": 1}),
        ("LeakyRelu", [], {"alpha": 0.2}),
        ("Gemm", [f32(4, 5), f32(4)], {"transB": 1, "alpha": 0.5, "beta": 2.0}),
        ("Elu", [], {}),
        ("Gemm", [f32(3, 4), f32(3)], {"transB": 1}),
        ("Softmax", [], {"axis": 1}),
    ],
    "scaled first": [
        ("Cast", [], {"to": TensorProto.FLOAT}),
        ("Sub", [f32(3)], {}),
        ("Div", [f32(3, positive=True)], {}),
        ("Flatten", [], {}),
        ("MatMul", [f32(3, 4)], {}),
        ("BatchNormalization", [f32(4), f32(4), f32(4), f32(4, positive=True)], {"epsilon": 1e-3}),
        ("Tanh", [], {}),
        ("Mul", [f32(4)], {}),
        ("Gemm", [f32(4, 2), f32(2)], {}),
        ("Softmax", [], {}),
    ],
    "all activations": [
        ("Scaler", [], {"offset": [0.1, 0.2, 0.3], "scale": [1.0, 2.0, 0.5]}),
        *(
            step
            for name, settings in [
                ("Selu", {}),
                ("Softplus", {}),
                ("Softsign", {}),
                ("ThresholdedRelu", {"alpha": 0.3}),
                ("Neg", {}),
            ]
            for step in (
                ("Gemm", [f32(3, 3), f32(3)], {}),
                (name, [], settings),
            )
        ),
        ("Clip", [np.float32(0), np.float32(1.5)], {}),
        ("PRelu", [f32(3)], {}),
        ("Gemm", [f32(3, 1), f32(1)], {}),
    ],
    "skl2onnx": [
        ("Scaler", [], {"offset": [0.1, 0.2, 0.3], "scale": [1.0, 2.0, 0.5]}),
        (
            "LinearClassifier",
            [],
            {
                "coefficients": [-1.0, 2.0, 0.5, 1.0, -2.0, -0.5],
                "intercepts": [-0.3, 0.3],
                "classlabels_ints": [0, 1],
                "post_transform": "LOGISTIC",
            },
        ),
        ("Normalizer", [], {"norm": "L1"}),
    ],
}


@pytest.mark.parametrize("name", LAYERS)
def test_dense_networks_are_known_number_by_number(tmp_path, name):
    nodes, constants, value = chain_of(*LAYERS[name])
    path = save(
        tmp_path / "m.onnx", nodes, [tensor("x", None, 3)], [tensor(value, None, None)], constants
    )
    opened = open_model(path)
    assert {Capability.LAYERS, Capability.GRADIENTS} <= set(opened.card.can)
    assert "Dense network 3-" in opened.card.summary
    scores = opened.matrix_scores(MATRIX)
    values = (MATRIX if opened.network.centre is None else MATRIX - opened.network.centre).astype(
        np.float32
    )
    for layer in opened.network.layers:
        values = values @ layer.weights + layer.bias
        values = REFERENCES[layer.activation.name](values, layer.activation)
    np.testing.assert_allclose(values, scores, atol=2e-5)
    # each input's derivative, beside what ONNX Runtime answers a little to either side
    gradients = opened.gradients(MATRIX[:500])
    for i in range(3):
        apart = np.zeros(3)
        apart[i] = 2e-3
        change = opened.matrix_scores(MATRIX[:500] + apart) - opened.matrix_scores(
            MATRIX[:500] - apart
        )
        close = np.isclose(gradients[:, i], change[:, 0] / 4e-3, atol=4e-3, rtol=0.02)
        assert close.mean() > 0.97


@pytest.mark.parametrize(
    "steps",
    [
        [("MatMul", [f32(3, 2)], {}), ("Softmax", [], {"axis": 0})],
        [("Normalizer", [], {"norm": "L1"}), ("MatMul", [f32(3, 1)], {}), ("Sigmoid", [], {})],
        [
            ("Cast", [], {"to": TensorProto.INT64}),
            ("Cast", [], {"to": 1}),
            ("MatMul", [f32(3, 1)], {}),
        ],
        [("MatMul", [f32(3, 1)], {}), ("Sin", [], {}), ("Sigmoid", [], {})],
    ],
)
def test_other_networks_do_not_claim_layers(tmp_path, steps):
    nodes, constants, value = chain_of(*steps)
    path = save(
        tmp_path / "m.onnx", nodes, [tensor("x", None, 3)], [tensor(value, None, None)], constants
    )
    opened = open_model(path)
    assert opened.card.can == (Capability.DECIDES, Capability.SCORES)
    assert opened.network is None


def test_constants_of_keras_exports_are_turned_round_and_inputs_joined(tmp_path):
    weights = f32(2, 2)
    nodes = [
        helper.make_node("Concat", ["age", "debt"], ["all"], axis=1),
        helper.make_node("Constant", [], ["raw"], value=constant(weights, "raw")),
        helper.make_node("Transpose", ["raw"], ["turned"], perm=[1, 0]),
        helper.make_node("MatMul", ["all", "turned"], ["z"]),
        helper.make_node("Softmax", ["z"], ["p"]),
    ]
    path = save(
        tmp_path / "m.onnx",
        nodes,
        [tensor("debt", None, 1), tensor("age", None, 1)],
        [tensor("p", None, 2)],
    )
    opened = open_model(path)
    assert opened.card.inputs == ("debt", "age")
    assert Capability.LAYERS in opened.card.can
    np.testing.assert_allclose(
        opened.network.layers[0].weights[:, 0], (weights.T[:, 1] - weights.T[:, 0])[::-1], atol=1e-6
    )


def test_a_share_and_what_is_left_to_one_are_one_answer(tmp_path):
    nodes = [
        gemm(WEIGHTS, BIAS)[0],
        helper.make_node("Sigmoid", ["z"], ["p"]),
        helper.make_node("Sub", ["one", "p"], ["rest"]),
        helper.make_node("Concat", ["rest", "p"], ["probabilities"], axis=1),
        helper.make_node("ArgMax", ["probabilities"], ["place"], axis=1),
        helper.make_node(
            "ArrayFeatureExtractor", ["names", "place"], ["label"], domain="ai.onnx.ml"
        ),
    ]
    constants = [
        *gemm(WEIGHTS, BIAS)[1],
        constant([1.0], "one"),
        helper.make_tensor("names", TensorProto.STRING, [2], ["bad", "good"]),
    ]
    path = save(
        tmp_path / "m.onnx",
        nodes,
        [tensor("x", None, 3)],
        [tensor("label", None, kind=TensorProto.STRING), tensor("probabilities", None, 2)],
        constants,
    )
    opened = open_model(path)
    assert opened.card.classes == ("bad", "good")
    assert Capability.LAYERS in opened.card.can
    np.testing.assert_allclose(
        opened.matrix_scores(MATRIX), sigmoid(MATRIX @ WEIGHTS + BIAS), atol=1e-6
    )


@pytest.mark.parametrize("where", ["initializer", "constant", "sparse"])
def test_tensors_that_declare_more_than_they_hold_are_refused_at_once(tmp_path, where):
    large = TensorProto(dims=[1 << 20, 1 << 9], data_type=TensorProto.FLOAT, name="w")
    small = constant([1.0], "s")
    nodes = [helper.make_node("Identity", ["x"], ["y"])]
    if where == "constant":
        nodes.append(helper.make_node("Constant", [], ["c"], value=large))
    graph = helper.make_graph(nodes, "g", [tensor("x", None, 3)], [tensor("y", None, 3)])
    if where == "initializer":
        graph.initializer.append(large)
    elif where == "sparse":
        index = constant([0], "i", np.int64)
        graph.sparse_initializer.add(values=small, indices=index, dims=[1 << 30])
    path = tmp_path / "m.onnx"
    path.write_bytes(helper.make_model(graph).SerializeToString())
    with pytest.raises(ModelError, match="damaged") as caught:
        open_model(path)
    assert "declares more numbers" in caught.value.why


@pytest.mark.parametrize("kind", [TensorProto.FLOAT16, TensorProto.COMPLEX64, 99])
def test_constants_of_other_kinds_are_left_unread(kind):
    graph = helper.make_graph([], "g", [], [])
    graph.initializer.append(TensorProto(dims=[1], data_type=kind, raw_data=b"1234", name="w"))
    assert Graph(helper.make_model(graph)).constant("w") is None


def test_a_batch_that_no_memory_holds_is_refused(tmp_path):
    with pytest.raises(ModelError, match="more numbers at once"):
        open_model(logistic(tmp_path / "m.onnx", batch=1 << 40))


def test_references_to_other_files_are_found_however_they_are_spelt(tmp_path):
    # a number that is read as 1 when it is cut to 32 bits
    path = logistic(tmp_path / "m.onnx")
    model = onnx.load(path)
    model.graph.initializer[0].data_location = TensorProto.EXTERNAL
    tensors = model.graph.initializer[0].SerializeToString()
    assert tensors.endswith(b"\x70\x01")
    altered = tensors[:-1] + b"\x81\x80\x80\x80\x10"
    graph = onnx.GraphProto()
    graph.CopyFrom(model.graph)
    del graph.initializer[:]
    inner = graph.SerializeToString() + b"\x2a" + length_of(altered) + altered
    whole = b"\x08\x08\x3a" + length_of(inner) + inner
    assert outline(parse(whole)).external


def length_of(part):
    size, spelt = len(part), bytearray()
    while size > 0x7F:
        spelt.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([*spelt, size])


def test_functions_of_the_file_itself_are_no_strangers(tmp_path):
    inner = helper.make_node("Sigmoid", ["z"], ["p"])
    function = helper.make_function(
        "their.own", "squash", ["z"], ["p"], [inner], [helper.make_opsetid("", 18)]
    )
    nodes = [gemm(WEIGHTS, BIAS)[0], helper.make_node("squash", ["z"], ["p"], domain="their.own")]
    path = save(
        tmp_path / "m.onnx",
        nodes,
        [tensor("x", None, 3)],
        [tensor("p", None, 1)],
        gemm(WEIGHTS, BIAS)[1],
        domains=("", "their.own"),
        functions=[function],
    )
    opened = open_model(path)
    np.testing.assert_allclose(
        opened.matrix_scores(MATRIX), sigmoid(MATRIX @ WEIGHTS + BIAS), atol=1e-6
    )


def reader(path, locale="en_US.UTF-8"):
    """Write a model of one text: the share of the word in capitals or not."""
    nodes = [
        helper.make_node(
            "StringNormalizer", ["text"], ["small"], case_change_action="LOWER", locale=locale
        ),
        helper.make_node(
            "LabelEncoder",
            ["small"],
            ["p"],
            domain="ai.onnx.ml",
            keys_strings=["bad", "\u00e4rger"],
            values_floats=[0.75, 1.0],
            default_float=0.25,
        ),
    ]
    return save(path, nodes, [tensor("text", None, kind=TensorProto.STRING)], [tensor("p", None)])


def test_text_is_read_also_where_its_language_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.delenv("LOCPATH", raising=False)
    opened = open_model(reader(tmp_path / "m.onnx", "en_GB.UTF-8"))
    assert Capability.TEXT in opened.card.can
    assert (opened.card.accepts, opened.card.inputs) == (("text",), ("text",))
    found = opened.scores([np.array(["BAD", "good", "\u00c4RGER"], dtype=object)])
    assert found.ravel().tolist() == [0.75, 0.25, 1.0]


def test_a_language_with_rules_of_its_own_is_not_lent(tmp_path):
    with pytest.raises(ModelError, match="cannot open") as caught:
        open_model(reader(tmp_path / "m.onnx", "tr_XX.UTF-8"))
    assert "tr_XX" in caught.value.why
    assert "Install the language" in caught.value.remedy


@needs_shared
def test_a_public_reader_of_texts_tells_insults_from_praise():
    opened = open_model(SHARED / "models" / "hatesonar_text.onnx")
    assert opened.card.classes == ("0", "1", "2")
    texts = ["You are a nice person", "You are such a BITCH", "You are such a bitch"]
    scores = opened.scores([np.array(texts, dtype=object)])
    assert labels(scores).tolist() == [2, 1, 1]
    np.testing.assert_array_equal(scores[1], scores[2])


@needs_shared
def test_two_inputs_in_the_wrong_order_turn_a_public_forest_round_without_an_error():
    opened = open_model(SHARED / "models" / "titanic_rf.onnx")
    # class, siblings, parents, age, female, male, and three ports: people alike but for their sex
    people = np.zeros((300, 9))
    people[:, 0] = RNG.integers(1, 4, 300)
    people[:, 3] = RNG.normal(size=300)
    people[np.arange(300), 6 + RNG.integers(0, 3, 300)] = 1
    women, men = people.copy(), people.copy()
    women[:, 4] = men[:, 5] = 1
    right = opened.matrix_scores(women).mean() - opened.matrix_scores(men).mean()
    swapped = [0, 1, 2, 3, 5, 4, 6, 7, 8]
    wrong = (
        opened.matrix_scores(women[:, swapped]).mean()
        - opened.matrix_scores(men[:, swapped]).mean()
    )
    assert right > 0.3
    assert wrong < -0.3


def altered(whole, seed):
    """Flip some bytes, or cut the file off."""
    rng = np.random.default_rng(seed)
    bent = bytearray(whole)
    for place in rng.integers(len(bent), size=rng.integers(1, 4)):
        bent[place] ^= 1 << rng.integers(8)
    return bytes(bent[: rng.integers(1, len(bent))] if seed % 3 == 0 else bent)


def test_altered_files_open_or_are_told_and_nothing_else(tmp_path):
    nodes, constants, value = chain_of(*LAYERS["scaled first"])
    path = save(
        tmp_path / "m.onnx", nodes, [tensor("x", None, 3)], [tensor(value, None, 2)], constants
    )
    refused = 0
    for whole in (path.read_bytes(), classifier(path, zipmap=True)[0].read_bytes()):
        for seed in range(150):
            path.write_bytes(altered(whole, seed))
            try:
                open_model(path)
            except ModelError:
                refused += 1
    assert refused > 100


def endless(path):
    """Write a network whose loop has no end."""
    flag, number_kind = TensorProto.BOOL, TensorProto.FLOAT
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["goes"]),
            helper.make_node("Add", ["v", "one"], ["more"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("n", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", flag, []),
            helper.make_tensor_value_info("v", number_kind, None),
        ],
        [
            helper.make_tensor_value_info("goes", flag, []),
            helper.make_tensor_value_info("more", number_kind, None),
        ],
    )
    node, initializers = gemm(WEIGHTS, BIAS)
    nodes = [
        node,
        helper.make_node("Loop", ["", "true", "z"], ["o"], body=body),
        helper.make_node("Sigmoid", ["o"], ["p"]),
    ]
    more = [
        numpy_helper.from_array(np.array(True), "true"),
        numpy_helper.from_array(np.array(1, np.float32), "one"),
    ]
    inputs, outputs = [tensor("x", None, 3)], [tensor("p", None, 1)]
    return save(path, nodes, inputs, outputs, [*initializers, *more])


def test_a_loop_without_end_is_given_up_with_what_fits_an_onnx_file(tmp_path, monkeypatch):
    monkeypatch.setattr(session, "FIRST_SECONDS", 0.2)
    with pytest.raises(ModelError, match="no output for 64 rows") as caught:
        open_model(endless(tmp_path / "m.onnx"))
    assert "loop that never ends" in caught.value.why
    assert "ONNX" not in caught.value.remedy
    # one that has answered once may take its time
    opened = open_model(logistic(tmp_path / "fine.onnx", last=("Sigmoid", "Sin")))
    monkeypatch.setattr(session, "FIRST_SECONDS", 0.0)
    assert opened.matrix_scores(MATRIX[:3]).shape == (3, 1)
