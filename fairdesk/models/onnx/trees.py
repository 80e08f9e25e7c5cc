"""Trees of an ONNX file, read as one list of nodes.

ONNX Runtime rounds what it is given to single precision, compares in that, and adds up in that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.onnx.graph import Graph, Node
from fairdesk.models.structure.forests import ForestBuilder, rounded_first
from fairdesk.models.structure.types import Decides, Forest, OpaqueError

Float64 = NDArray[np.float64]

#: What may stand between trees and the answer without changing a decision.
_BETWEEN = frozenset({"Cast", "Identity", "ZipMap"})
#: The unit roundoff of single precision.
_SINGLE = 2.0**-24
#: Splits with the limit on the left side, and with it on the right.
_UPTO, _BELOW = ("BRANCH_LEQ", "BRANCH_GT"), ("BRANCH_LT", "BRANCH_GTE")


def forest_of(graph: Graph, output: str, inputs: Sequence[str], scores: str) -> Forest | None:
    """Read the trees whose sum an output is; ``None`` where it is none.

    Parameters
    ----------
    inputs : sequence of str
        What the model is given, by name: trees are read that look at one matrix, and nothing else.
    """
    node = graph.maker(output)
    while node is not None and node.operation in _BETWEEN:
        node = graph.maker(node.first)
    if node is None or [node.first] != list(inputs):
        return None
    try:
        if node.operation == "TreeEnsembleClassifier" and scores == "probabilities":
            return _classifier(node)
        if node.operation == "TreeEnsembleRegressor" and scores == "values":
            return _regressor(node)
    except (OpaqueError, IndexError, ValueError, KeyError):
        return None
    return None


def _classifier(node: Node) -> Forest:
    classes = len(node.classes)
    leaves = _leaves(node, "class")
    ids = np.unique(leaves[1])
    transform = node.setting("post_transform").text or "NONE"
    base = node.setting("base_values").numbers
    # with one column of weights the other class is what is left to 1, or its negative
    if classes == 2 and len(ids) == 1:
        decides: Decides = "sigmoid" if transform == "LOGISTIC" else "share"
        if transform not in ("NONE", "LOGISTIC"):
            raise OpaqueError("an output that is not supported")
        if decides == "share" and (leaves[2] < 0).any():
            raise OpaqueError("scores that are not shares")
        return _forest(node, leaves, 1, base[:1], decides)
    if transform not in ("NONE", "SOFTMAX"):
        raise OpaqueError("an output that is not supported")
    own = leaves[0], leaves[1], leaves[2]
    if classes == 2 and transform == "NONE":
        # shares of two classes add up to 1: that of the second one is enough
        second = own[1] == 1
        whole = np.bincount(np.unique(own[0], return_inverse=True)[1], own[2])
        if np.ptp(whole) > 1e-4 * whole.max() or len(base):
            raise OpaqueError("scores that are not shares")
        own = own[0][second], own[1][second] * 0, own[2][second]
        return _forest(node, own, 1, base[1:2], "share")
    if classes == 2:
        raise OpaqueError("an output that is not supported")
    return _forest(node, own, classes, base, "argmax")


def _regressor(node: Node) -> Forest:
    nodes, ids, weights = _leaves(node, "target")
    if ids.any() or node.setting("post_transform").text not in ("", "NONE"):
        raise OpaqueError("an output that is not supported")
    aggregate = node.setting("aggregate_function").text or "SUM"
    if aggregate == "AVERAGE":
        weights = weights / len(np.unique(node.setting("nodes_treeids").integers))
    elif aggregate != "SUM":
        raise OpaqueError("trees that are not added up")
    return _forest(node, (nodes, ids, weights), 1, node.setting("base_values").numbers, "value")


_Leaves = tuple[NDArray[np.int64], NDArray[np.int64], Float64]


def _leaves(node: Node, kind: str) -> _Leaves:
    """Return what leaves add: (tree, node) as one number each, which class or target, how much."""
    trees = node.setting(f"{kind}_treeids").integers
    nodes = node.setting(f"{kind}_nodeids").integers
    if not len(trees):
        raise OpaqueError("weights in double precision, or none")
    return (
        _key(trees, nodes),
        node.setting(f"{kind}_ids").integers,
        node.setting(f"{kind}_weights").numbers,
    )


def _key(trees: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    return (trees << 32) + nodes


def _forest(node: Node, leaves: _Leaves, outputs: int, base: Float64, decides: Decides) -> Forest:
    """Return the trees as one forest, each leaf with what it adds to each output."""
    trees = node.setting("nodes_treeids").integers
    numbers = node.setting("nodes_nodeids").integers
    modes = np.array(node.setting("nodes_modes").texts)
    values = node.setting("nodes_values").numbers.astype(np.float32)
    missing = node.setting("nodes_missing_value_tracks_true").integers
    missing = missing if len(missing) == len(trees) else np.zeros(len(trees), np.int64)
    if set(modes.tolist()) - {*_UPTO, *_BELOW, "LEAF"} or len(values) != len(trees):
        raise OpaqueError("splits that are not supported")
    below = np.nextafter(values, np.float32(-np.inf))
    limit = np.where(np.isin(modes, _BELOW), below, values).astype(np.float64)
    added = np.zeros((len(trees), outputs))
    keys = _key(trees, numbers)
    order = np.argsort(keys)
    at = order[np.searchsorted(keys[order], leaves[0])]
    if not (keys[at] == leaves[0]).all():
        raise OpaqueError("leaves that do not exist")
    np.add.at(added, (at, leaves[1]), leaves[2])
    true, false = (node.setting(f"nodes_{name}nodeids").integers for name in ("true", "false"))
    turned = np.isin(modes, ("BRANCH_GT", "BRANCH_GTE"))
    left, right = np.where(turned, false, true), np.where(turned, true, false)
    features = node.setting("nodes_featureids").integers
    grove = ForestBuilder.empty()
    for tree in np.unique(trees).tolist():
        own = np.flatnonzero(trees == tree)
        place = {int(number): i for i, number in enumerate(numbers[own].tolist())}
        inner = modes[own] != "LEAF"
        children = [
            np.array([place[int(n)] if i else 0 for n, i in zip(side[own], inner, strict=True)])
            for side in (left, right)
        ]
        if any((side[inner] == 0).any() for side in children):
            raise OpaqueError("a tree that does not start at its first node")
        grove.plant(
            np.where(inner, features[own], -1),
            (children[0], children[1]),
            rounded_first(np.where(inner, limit[own], 0.0)),
            (missing[own] == 1) != turned[own],
            added[own],
        )
    full = np.zeros(outputs)
    full[: len(base)] = base
    return grove.forest(full, decides, _SINGLE)
