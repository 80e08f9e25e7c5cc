"""What is read of opened models, whatever file they came in."""

import numpy as np
import pytest
from onnx import TensorProto, helper, save
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from fairdesk.models.open import open_model
from fairdesk.models.structure import Forest, Layers, OpaqueError, structure_of, sums
from fairdesk.samples import samples
from tests.models.tables import SHARED, needs_shared

RNG = np.random.default_rng(3)
NUMBERS = RNG.normal(size=(200, 3)).round(1).astype(np.float32)
TWO = (NUMBERS[:, 0] * NUMBERS[:, 1] > 0.1).astype(int)
THREE = np.digitize(NUMBERS[:, 0] + NUMBERS[:, 2], [-0.5, 0.5])


def exported(path, forest, *, mode="BRANCH_LEQ", zipmap=False):
    """Write a forest of scikit-learn as ONNX does."""
    classes = list(getattr(forest, "classes_", []))
    settings = {
        f"nodes_{name}": []
        for name in (
            *("treeids", "nodeids", "featureids", "modes", "values"),
            *("truenodeids", "falsenodeids"),
        )
    }
    leaves = []
    turned = mode in ("BRANCH_GT", "BRANCH_GTE")
    for t, each in enumerate(forest.estimators_):
        tree = each.tree_
        for n in range(tree.node_count):
            leaf = tree.children_left[n] < 0
            sides = [tree.children_left[n], tree.children_right[n]]
            true, false = sides[::-1] if turned else sides
            settings["nodes_treeids"].append(t)
            settings["nodes_nodeids"].append(n)
            settings["nodes_featureids"].append(0 if leaf else int(tree.feature[n]))
            settings["nodes_modes"].append("LEAF" if leaf else mode)
            settings["nodes_values"].append(0.0 if leaf else float(tree.threshold[n]))
            settings["nodes_truenodeids"].append(0 if leaf else int(true))
            settings["nodes_falsenodeids"].append(0 if leaf else int(false))
            if leaf:
                shares = tree.value[n, 0] / len(forest.estimators_)
                leaves += [(t, n, k, float(share)) for k, share in enumerate(shares)]
    kind = "class" if classes else "target"
    own = {
        f"{kind}_treeids": [leaf[0] for leaf in leaves],
        f"{kind}_nodeids": [leaf[1] for leaf in leaves],
        f"{kind}_ids": [leaf[2] for leaf in leaves],
        f"{kind}_weights": [leaf[3] for leaf in leaves],
    }
    if classes:
        own["classlabels_int64s"] = [int(each) for each in classes]
        operation, made = "TreeEnsembleClassifier", ["label", "probabilities"]
    else:
        own["n_targets"] = 1
        operation, made = "TreeEnsembleRegressor", ["variable"]
    nodes = [helper.make_node(operation, ["x"], made, domain="ai.onnx.ml", **settings, **own)]
    outputs = [helper.make_tensor_value_info(made[-1], TensorProto.FLOAT, None)]
    if zipmap:
        nodes.append(
            helper.make_node(
                *("ZipMap", ["probabilities"], ["told"]),
                domain="ai.onnx.ml",
                classlabels_int64s=own["classlabels_int64s"],
            )
        )
        map_type = helper.make_map_type_proto(
            TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, [])
        )
        outputs = [helper.make_value_info("told", helper.make_sequence_type_proto(map_type))]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 3])],
        outputs,
    )
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.ml", 1)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return open_model(path)


def agrees(opened, count=500):
    anatomy = structure_of(opened)
    forest = anatomy.body
    assert isinstance(forest, Forest)
    rows = RNG.normal(size=(count, len(opened.card.inputs)))
    for column in range(rows.shape[1]):
        own = forest.threshold[forest.column == column]
        if own.size:
            at = RNG.choice(own, count)
            by = RNG.integers(0, 4, count)
            rows[:, column] = np.select(
                [by == 0, by == 1], [at, np.nextafter(at, np.inf)], rows[:, column]
            )
    numbers = sums(forest, anatomy.prepare(list(rows.T)))
    said = opened.scores(list(rows.T)).astype(float)
    if forest.decides == "argmax":
        best = np.sort(numbers, axis=1)
        sure = best[:, -1] - best[:, -2] > 2 * forest.slack + anatomy.close
        assert (numbers.argmax(axis=1) == said.argmax(axis=1))[sure].all()
        assert sure.mean() > 0.8
    else:
        assert np.abs(numbers - said).max() <= forest.slack + 1e-6


@pytest.mark.parametrize("mode", ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE"])
def test_trees_of_an_onnx_file(tmp_path, mode):
    path = tmp_path / "m.onnx"
    agrees(exported(path, RandomForestClassifier(6, random_state=0).fit(NUMBERS, TWO), mode=mode))


def test_behind_a_zipmap_and_for_several_classes_and_numbers(tmp_path):
    path = tmp_path / "m.onnx"
    two = RandomForestClassifier(6, random_state=0).fit(NUMBERS, TWO)
    agrees(exported(path, two, zipmap=True))
    agrees(exported(path, RandomForestClassifier(5, random_state=0).fit(NUMBERS, THREE)))
    agrees(exported(path, RandomForestRegressor(5, random_state=0).fit(NUMBERS, NUMBERS[:, 0])))


def dense(path, *, scaled=False):
    """Write two dense layers, perhaps behind a scaler, which is folded into the first."""
    rng = np.random.default_rng(0)
    shapes = {"w1": (3, 4), "b1": (4,), "w2": (4, 1), "b2": (1,)}
    constants = [
        helper.make_tensor(
            name, TensorProto.FLOAT, shape, rng.normal(size=shape).astype(np.float32).ravel()
        )
        for name, shape in shapes.items()
    ]
    first = "x"
    nodes = []
    if scaled:
        nodes.append(
            helper.make_node(
                *("Scaler", ["x"], ["scaled"]),
                domain="ai.onnx.ml",
                offset=[1.0, 2.0, 3.0],
                scale=[0.3, 0.7, 0.9],
            )
        )
        first = "scaled"
    nodes += [
        helper.make_node("Gemm", [first, "w1", "b1"], ["h"]),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Gemm", ["r", "w2", "b2"], ["z"]),
        helper.make_node("Sigmoid", ["z"], ["p"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 3])],
        [helper.make_tensor_value_info("p", TensorProto.FLOAT, [None, 1])],
        constants,
    )
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.ml", 1)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return open_model(path)


def test_dense_layers_of_an_onnx_file_are_known_where_they_stand_as_they_are(tmp_path):
    opened = dense(tmp_path / "m.onnx")
    anatomy = structure_of(opened)
    assert isinstance(anatomy.body, Layers)
    rows = RNG.normal(size=(300, 3))
    first, last = anatomy.body.layers
    hidden = np.maximum(anatomy.prepare(list(rows.T)) @ first.weights + first.bias, 0)
    logit = hidden @ last.weights + last.bias
    assert np.allclose(1 / (1 + np.exp(-logit)), opened.scores(list(rows.T)), atol=1e-6)
    # how a scaler's own arithmetic rounds is not told by layers that it was folded into
    folded = dense(tmp_path / "n.onnx", scaled=True)
    assert folded.network is not None
    with pytest.raises(OpaqueError):
        structure_of(folded)


def test_what_is_only_asked_is_opaque():
    class Asked:
        card = None

    with pytest.raises(OpaqueError, match="only its outputs are available"):
        structure_of(Asked())


@needs_shared
def test_a_forest_by_others():
    agrees(open_model(SHARED / "models" / "titanic_rf.onnx"))


def test_an_onnx_network_that_scales_its_inputs_first_is_looked_into():
    """Taking a mean off and dividing are roundings of their own; the layers stand in the file."""
    (path,) = (
        sample.model_path(model)
        for sample in samples()
        for model in sample.models
        if sample.model_path(model).name == "adult_network.onnx"
    )
    opened = open_model(path)
    anatomy = structure_of(opened)
    assert isinstance(anatomy.body, Layers)
    assert anatomy.body.roundings == 4
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 100, (500, len(opened.card.inputs))).astype(np.float64)
    values = anatomy.prepare(list(rows.T))
    for each in anatomy.body.layers:
        values = values @ each.weights + each.bias
        if each.activation.name == "relu":
            values = np.maximum(values, 0.0)
    told = 1 / (1 + np.exp(-values))
    assert np.abs(told - opened.matrix_scores(rows)).max() < 1e-5
