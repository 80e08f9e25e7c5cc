"""What is inside an ONNX file: a chain of dense layers, or trees as one list of nodes.

ONNX Runtime rounds what it is given to single precision, compares in that, and adds up in that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.dense.layers import (
    SIGMOID,
    SOFTMAX,
    Chain,
    Float64,
    Learnt,
    NotPlainError,
    Plain,
)
from fairdesk.models.onnx.graph import PLAIN, SLOPED, Graph, Node
from fairdesk.models.structure import (
    Activation,
    Decides,
    Forest,
    ForestBuilder,
    OpaqueError,
    rounded_first,
)

#: Tensors of numbers with a comma, by their numbers in onnx.proto.
_FLOATS = frozenset({1, 11})
#: What the operations of that name have where the file says nothing.
_SELU_DEPTH, _SELU_SCALE = 1.6732632, 1.0507010


def dense_part(
    graph: Graph, output: str, inputs: Sequence[str], learnt: Learnt
) -> tuple[Plain, list[str]]:
    """Read a network as a chain of dense layers.

    Returns
    -------
    plain : Plain
        The layers.
    order : list of str
        Those inputs, in the order in which the first layer has them.

    Raises
    ------
    NotPlainError
        When it is something else.
    DamagedError
        When its constants are damaged.
    """
    nodes: list[tuple[Node, str]] = []
    order: list[str] = []
    value = output
    while not order:
        node = graph.maker(value)
        if value in inputs:
            order = [value]
        elif node is None or len(nodes) > len(graph.nodes):
            raise NotPlainError("an output that is made from nothing")
        elif node.operation == "Concat" and _both_shares(graph, node):
            value = node.inputs[1]
        elif node.operation == "Concat":
            order = [_given(graph, name, inputs) for name in node.inputs]
        else:
            # a classifier answers its decision first, and then its scores
            if value != node.outputs[node.operation == "LinearClassifier"]:
                raise NotPlainError(f"a by-product of “{node.operation}”")
            before = _varying(graph, node)
            nodes.append((node, before))
            value = before
    chain = Chain()
    for node, before in reversed(nodes):
        _append(chain, graph, node, before)
    return chain.finish(learnt), order


def _both_shares(graph: Graph, node: Node) -> bool:
    """Return whether two classes' shares are made of the one of the second class: 1 - p and p."""
    if len(node.inputs) != 2:
        return False
    rest = graph.maker(node.inputs[0])
    if rest is None or rest.operation != "Sub" or rest.inputs[1:] != node.inputs[1:]:
        return False
    whole = graph.constant(rest.first)
    return whole is not None and whole.size == 1 and whole.item() == 1


def _given(graph: Graph, value: str, inputs: Sequence[str]) -> str:
    for _ in range(len(graph.nodes) + 1):
        node = graph.maker(value)
        if value in inputs:
            return value
        if node is None or node.operation not in ("Cast", "Identity"):
            break
        _refuse_whole(node)
        value = node.first
    raise NotPlainError("inputs that are joined in an unusual way")


def _refuse_whole(node: Node) -> None:
    if node.operation == "Cast" and node.integer("to") not in _FLOATS:
        raise NotPlainError("numbers that are rounded")


def _varying(graph: Graph, node: Node) -> str:
    """Return the name of the one input of an operation that depends on the model's inputs."""
    found = [name for name in node.inputs if name and graph.constant(name) is None]
    if len(set(found)) != 1 or len(found) != 1:
        raise NotPlainError(f"an operation “{node.operation}” of several values")
    return found[0]


@dataclass(frozen=True)
class _Step:
    """An operation on the chain: ``first`` tells whether its constants come after the value."""

    node: Node
    constants: list[Float64]
    first: bool


def _append(chain: Chain, graph: Graph, node: Node, value: str) -> None:
    others = [graph.constant(name) for name in node.inputs if name and name != value]
    constants = [np.asarray(other, np.float64) for other in others if other is not None]
    if node.operation not in _STEPS:
        raise NotPlainError(f"an operation “{node.operation}”")
    _STEPS[node.operation](chain, _Step(node, constants, node.inputs[0] == value))


def _silent(_: Chain, step: _Step) -> None:
    _refuse_whole(step.node)
    if step.node.operation == "Flatten" and step.node.integer("axis", 1) != 1:
        raise NotPlainError("an operation “Flatten” along another axis")


def _shares(chain: Chain, step: _Step) -> None:
    """Let shares of a whole stay as they are."""
    if step.node.text("norm") != "L1" or not chain.adds_up:
        raise NotPlainError("an operation “Normalizer”")


def _activation(chain: Chain, step: _Step) -> None:
    chain.activation(_ACTIVATIONS[step.node.operation](step))


def _leak(chain: Chain, step: _Step) -> None:
    if not step.first:
        raise NotPlainError("an unusual PRelu")
    chain.leak(np.atleast_1d(_row(step.constants[0])))


def _arithmetic(chain: Chain, step: _Step) -> None:
    """Append a constant for each column, or for all of them, that is added or multiplied."""
    constant, first = _row(step.constants[0]), step.first
    one, zero = np.ones(()), np.zeros(())
    match step.node.operation:
        case "Add":
            chain.affine(one, constant)
        case "Sub":
            chain.affine(one if first else -one, -constant if first else constant)
        case "Mul":
            chain.affine(constant, zero)
        case _ if first:
            chain.affine(1 / constant, zero)
        case _:
            raise NotPlainError("a division by the input")


def _negative(chain: Chain, _: _Step) -> None:
    chain.affine(-np.ones(()), np.zeros(()))


def _scaler(chain: Chain, step: _Step) -> None:
    scale, offset = step.node.numbers("scale"), step.node.numbers("offset")
    factor = _row(scale) if len(scale) else np.ones(())
    shift = _row(offset) if len(offset) else np.zeros(())
    chain.affine(factor, -shift * factor)


def _batch_normalization(chain: Chain, step: _Step) -> None:
    if not step.first or step.node.integer("training_mode"):
        raise NotPlainError("an unusual BatchNormalization")
    gamma, beta, mean, variance = step.constants
    scale = gamma / np.sqrt(variance + step.node.number("epsilon", 1e-5))
    chain.affine(scale, beta - mean * scale)


def _row(constant: Float64) -> Float64:
    """Return what is added to each column, or to all of them alike."""
    if constant.size == 1:
        return constant.reshape(())
    if constant.ndim > 2 or constant.size != constant.shape[-1]:
        raise NotPlainError("a constant for each row")
    return constant.ravel()


def _multiply(chain: Chain, step: _Step) -> None:
    if not step.first or step.constants[0].ndim != 2:
        raise NotPlainError("an unusual product")
    weights, node = step.constants[0], step.node
    if node.operation == "MatMul":
        chain.dense(weights, None)
        return
    if node.integer("transA"):
        raise NotPlainError("a transposed matrix")
    if node.integer("transB"):
        weights = weights.T
    bias = None
    if len(step.constants) > 1:
        bias = node.number("beta", 1.0) * _row(step.constants[1])
        bias = np.broadcast_to(bias, weights.shape[1])
    chain.dense(node.number("alpha", 1.0) * weights, bias)


def _linear(chain: Chain, step: _Step) -> None:
    """Append what skl2onnx makes of a linear or logistic regression."""
    node = step.node
    coefficients = node.numbers("coefficients")
    intercepts = node.numbers("intercepts")
    after = node.text("post_transform") or "NONE"
    rows = len(intercepts) or max(len(node.classes), node.integer("targets"), 1)
    if len(coefficients) % rows or after not in ("NONE", "LOGISTIC", "SOFTMAX"):
        raise NotPlainError(f"an operation “{node.operation}” of another kind")
    weights = coefficients.reshape(rows, -1).T
    bias = intercepts if len(intercepts) else np.zeros(rows)
    opposite = (
        rows == 2 and np.allclose(weights[:, 0], -weights[:, 1]) and np.isclose(*(bias * [1, -1]))
    )
    if opposite and after == "LOGISTIC":
        # the share of the second class, which the first one's completes
        weights, bias = weights[:, 1:], bias[1:]
    chain.dense(weights, bias)
    if after != "NONE":
        chain.activation(SIGMOID if after == "LOGISTIC" else SOFTMAX)


def _same_rows(chain: Chain, step: _Step) -> None:
    """Let rows stay rows, and one answer per row become a plain list."""
    flat = chain.width == 1
    if step.node.operation == "Reshape":
        shape = step.constants[0].ravel().tolist() if step.constants else []
        flat = shape[:1] in ([0], [-1]) and (len(shape) == 2 or (len(shape) == 1 and flat))
    if not flat:
        raise NotPlainError(f"an operation “{step.node.operation}” to another shape")


def _selu(step: _Step) -> Activation:
    depth = step.node.number("alpha", _SELU_DEPTH)
    scale = step.node.number("gamma", _SELU_SCALE)
    if not np.allclose((depth, scale), (_SELU_DEPTH, _SELU_SCALE), rtol=1e-6):
        raise NotPlainError("an unusual SELU")
    return Activation("selu")


def _softmax(step: _Step) -> Activation:
    if step.node.integer("axis", 1) not in (-1, 1):
        raise NotPlainError("a softmax along another axis")
    return SOFTMAX


def _clip(step: _Step) -> Activation:
    """Read a ReLU with a ceiling; the limits are inputs, in old files settings."""
    limits = [constant.item() for constant in step.constants if constant.size == 1]
    if len(step.node.inputs) < 2:
        limits = [step.node.number(name, np.inf) for name in ("min", "max")]
    lowest, highest = (*limits, np.inf, np.inf)[:2]
    if lowest != 0 or highest <= 0 or not all(step.node.inputs):
        raise NotPlainError("an unusual Clip")
    return Activation("relu", ceiling=highest)


def _sloped(name: str, default: float) -> Callable[[_Step], Activation]:
    return lambda step: Activation(name, alpha=step.node.number("alpha", default))


_ACTIVATIONS: dict[str, Callable[[_Step], Activation]] = {
    **{operation: _sloped(name, 0.0) for operation, name in PLAIN.items()},
    **{operation: _sloped(*settings) for operation, settings in SLOPED.items()},
    "Clip": _clip,
    "Selu": _selu,
    "Softmax": _softmax,
}
_STEPS: dict[str, Callable[[Chain, _Step], None]] = {
    **dict.fromkeys(("Cast", "Dropout", "Flatten", "Identity", "ZipMap"), _silent),
    **dict.fromkeys(_ACTIVATIONS, _activation),
    **dict.fromkeys(("Add", "Div", "Mul", "Sub"), _arithmetic),
    **dict.fromkeys(("Gemm", "MatMul"), _multiply),
    **dict.fromkeys(("LinearClassifier", "LinearRegressor"), _linear),
    **dict.fromkeys(("Reshape", "Squeeze"), _same_rows),
    "BatchNormalization": _batch_normalization,
    "Neg": _negative,
    "Normalizer": _shares,
    "PRelu": _leak,
    "Scaler": _scaler,
}


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
    transform = node.text("post_transform") or "NONE"
    base = node.numbers("base_values")
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
    if ids.any() or node.text("post_transform") not in ("", "NONE"):
        raise OpaqueError("an output that is not supported")
    aggregate = node.text("aggregate_function") or "SUM"
    if aggregate == "AVERAGE":
        weights = weights / len(np.unique(node.integers("nodes_treeids")))
    elif aggregate != "SUM":
        raise OpaqueError("trees that are not added up")
    return _forest(node, (nodes, ids, weights), 1, node.numbers("base_values"), "value")


_Leaves = tuple[NDArray[np.int64], NDArray[np.int64], Float64]


def _leaves(node: Node, kind: str) -> _Leaves:
    """Return what leaves add: (tree, node) as one number each, which class or target, how much."""
    trees = node.integers(f"{kind}_treeids")
    nodes = node.integers(f"{kind}_nodeids")
    if not len(trees):
        raise OpaqueError("weights in double precision, or none")
    return (
        _key(trees, nodes),
        node.integers(f"{kind}_ids"),
        node.numbers(f"{kind}_weights"),
    )


def _key(trees: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    return (trees << 32) + nodes


def _forest(node: Node, leaves: _Leaves, outputs: int, base: Float64, decides: Decides) -> Forest:
    """Return the trees as one forest, each leaf with what it adds to each output."""
    trees = node.integers("nodes_treeids")
    numbers = node.integers("nodes_nodeids")
    modes = np.array(node.texts("nodes_modes"))
    values = node.numbers("nodes_values").astype(np.float32)
    missing = node.integers("nodes_missing_value_tracks_true")
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
    true, false = (node.integers(f"nodes_{name}nodeids") for name in ("true", "false"))
    turned = np.isin(modes, ("BRANCH_GT", "BRANCH_GTE"))
    left, right = np.where(turned, false, true), np.where(turned, true, false)
    features = node.integers("nodes_featureids")
    grove = ForestBuilder()
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
