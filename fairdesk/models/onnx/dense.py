"""The dense layers of an ONNX network, where it is a chain of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fairdesk.models.dense.chain import (
    SIGMOID,
    SOFTMAX,
    Chain,
    Float64,
    Learnt,
    NotPlainError,
    Plain,
)
from fairdesk.models.onnx.graph import Graph, Node
from fairdesk.models.structure.dense_layers import Activation

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
    if node.operation == "Cast" and node.setting("to").integer not in _FLOATS:
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
    if step.node.operation == "Flatten" and _axis(step) != 1:
        raise NotPlainError("an operation “Flatten” along another axis")


def _axis(step: _Step) -> int:
    settings = step.node.settings
    return settings["axis"].integer if "axis" in settings else 1


def _shares(chain: Chain, step: _Step) -> None:
    """Let shares of a whole stay as they are."""
    if step.node.setting("norm").text != "L1" or not chain.adds_up:
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
    scale, offset = step.node.setting("scale").numbers, step.node.setting("offset").numbers
    factor = _row(scale) if len(scale) else np.ones(())
    shift = _row(offset) if len(offset) else np.zeros(())
    chain.affine(factor, -shift * factor)


def _batch_normalization(chain: Chain, step: _Step) -> None:
    if not step.first or step.node.setting("training_mode").integer:
        raise NotPlainError("an unusual BatchNormalization")
    gamma, beta, mean, variance = step.constants
    scale = gamma / np.sqrt(variance + _or_default(step.node, "epsilon", 1e-5))
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
    if node.setting("transA").integer:
        raise NotPlainError("a transposed matrix")
    if node.setting("transB").integer:
        weights = weights.T
    bias = None
    if len(step.constants) > 1:
        bias = _or_default(node, "beta", 1.0) * _row(step.constants[1])
        bias = np.broadcast_to(bias, weights.shape[1])
    chain.dense(_or_default(node, "alpha", 1.0) * weights, bias)


def _linear(chain: Chain, step: _Step) -> None:
    """Append what skl2onnx makes of a linear or logistic regression."""
    node = step.node
    coefficients = node.setting("coefficients").numbers
    intercepts = node.setting("intercepts").numbers
    after = node.setting("post_transform").text or "NONE"
    rows = len(intercepts) or max(len(node.classes), node.setting("targets").integer, 1)
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


def _or_default(node: Node, name: str, default: float) -> float:
    return node.settings[name].number if name in node.settings else default


def _selu(step: _Step) -> Activation:
    depth = _or_default(step.node, "alpha", _SELU_DEPTH)
    scale = _or_default(step.node, "gamma", _SELU_SCALE)
    if not np.allclose((depth, scale), (_SELU_DEPTH, _SELU_SCALE), rtol=1e-6):
        raise NotPlainError("an unusual SELU")
    return Activation("selu")


def _softmax(step: _Step) -> Activation:
    if _axis(step) not in (-1, 1):
        raise NotPlainError("a softmax along another axis")
    return SOFTMAX


def _clip(step: _Step) -> Activation:
    """Read a ReLU with a ceiling; the limits are inputs, in old files settings."""
    limits = [constant.item() for constant in step.constants if constant.size == 1]
    if len(step.node.inputs) < 2:
        limits = [_or_default(step.node, name, np.inf) for name in ("min", "max")]
    lowest, highest = (*limits, np.inf, np.inf)[:2]
    if lowest != 0 or highest <= 0 or not all(step.node.inputs):
        raise NotPlainError("an unusual Clip")
    return Activation("relu", ceiling=highest)


def _sloped(name: str, default: float) -> Callable[[_Step], Activation]:
    return lambda step: Activation(name, alpha=_or_default(step.node, "alpha", default))


_ACTIVATIONS: dict[str, Callable[[_Step], Activation]] = {
    "Clip": _clip,
    "Elu": _sloped("elu", 1.0),
    "Exp": lambda _: Activation("exponential"),
    "LeakyRelu": _sloped("leaky_relu", 0.01),
    "Relu": lambda _: Activation("relu"),
    "Selu": _selu,
    "Sigmoid": lambda _: SIGMOID,
    "Softmax": _softmax,
    "Softplus": lambda _: Activation("softplus"),
    "Softsign": lambda _: Activation("softsign"),
    "Tanh": lambda _: Activation("tanh"),
    "ThresholdedRelu": _sloped("thresholded_relu", 1.0),
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
