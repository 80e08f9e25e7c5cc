"""Models as ONNX files: estimators by skl2onnx, networks of dense layers by ourselves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.models.decisions.outputs import first_line, from_labels, from_probabilities
from fairdesk.models.decisions.tensors import Tensor, fill
from fairdesk.models.dense.layers import DenseNetwork
from fairdesk.models.model import Inputs, ModelCard, Takes
from fairdesk.models.onnx.graph import PLAIN, SLOPED
from fairdesk.models.onnx.session import KINDS, session_of
from fairdesk.models.structure import Activation
from fairdesk.results.events import Scores

#: What networks are written for: new enough for all that they need, old enough for most runtimes.
_OPERATORS, _FORMAT = 17, 8
#: Trees with more nodes than this are not converted: it takes minutes, and gigabytes.
MOST_NODES = 500_000


def estimator_as_onnx(
    estimator: Any,  # noqa: ANN401 - any of scikit-learn's kind
    card: ModelCard,
    sample: Inputs | None,
    *,
    double: bool,
) -> bytes:
    """Convert an estimator with skl2onnx.

    Parameters
    ----------
    sample : Inputs, optional
        What it is given, one array per input, for an estimator that takes named columns: each
        becomes an input of its own, a text or a number. Where all are numbers and the estimator is
        no pipeline, and for one that takes a matrix, there is one input, ``"X"``.

    Raises
    ------
    ModelError
        When it does not convert, with what skl2onnx says.
    """
    # it loads scikit-learn
    from skl2onnx import convert_sklearn  # noqa: PLC0415
    from skl2onnx.common import data_types  # noqa: PLC0415

    number = data_types.DoubleTensorType if double else data_types.FloatTensorType
    takes: list[tuple[str, Any]] = [("X", number([None, len(card.inputs)]))]
    if sample is not None and (hasattr(estimator, "steps") or any(map(_is_text, sample))):
        kinds = [data_types.StringTensorType if _is_text(each) else number for each in sample]
        takes = [(name, kind([None, 1])) for name, kind in zip(card.inputs, kinds, strict=True)]
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    try:
        with _plain_numbers():
            model = convert_sklearn(
                estimator,
                "model",
                takes,
                options={id(last): {"zipmap": False}} if hasattr(last, "predict_proba") else None,
            )
    except Exception as error:
        # any kind: a converter raises whatever the estimator's parts make it stumble over
        raise ModelError(
            "It could not be converted to ONNX.",
            why=f"skl2onnx reported: {first_line(error)}",
            remedy="Use model.joblib or model.skops.",
        ) from error
    _rename(model.graph, [name for name, _ in takes])
    return _noted(model, card)


class Converted:
    """An estimator that was converted, as ONNX Runtime computes it.

    Answers with probabilities where the estimator does, else with decisions only.

    Parameters
    ----------
    content : bytes
        As `estimator_as_onnx` gives it.

    Raises
    ------
    ModelError
        When ONNX Runtime does not take it.
    """

    def __init__(self, card: ModelCard, content: bytes) -> None:
        self.card = card
        self._session, _ = session_of(Path("model.onnx"), content)
        self._tensors = [
            Tensor(each.name, KINDS[each.type], tuple(each.shape[1:]))
            for each in self._session.get_inputs()
        ]

    def matrix_scores(self, matrix: NDArray[np.float64]) -> Scores:
        """Answer for ``(n, inputs)`` numbers; as `OpenedModel.scores`."""
        return self.scores(list(matrix.T))

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for one array per input; as `OpenedModel.scores`."""
        given = fill(self._tensors, inputs)
        names = [tensor.name for tensor in self._tensors]
        try:
            decided, *scores = self._session.run(None, dict(zip(names, given, strict=True)))
        except Exception as error:
            # any kind: ONNX Runtime has a dozen without a common base
            raise ModelError(
                "It was converted to ONNX, but cannot be computed.",
                why=f"ONNX Runtime reported: {first_line(error)}",
                remedy="Use model.joblib or model.skops.",
            ) from error
        if self.card.scores == "probabilities":
            return from_probabilities(scores[0])
        return from_labels(np.ravel(decided).tolist(), self.card.classes)


def nodes_in(estimator: Any) -> int:  # noqa: ANN401 - any of scikit-learn's kind
    """Count the nodes of all trees in an estimator."""
    tree = getattr(estimator, "tree_", None)
    if tree is not None:
        return int(tree.node_count)
    parts = [part for _, part in getattr(estimator, "steps", [])]
    parts += np.ravel(np.array(getattr(estimator, "estimators_", []), dtype=object)).tolist()
    return sum(map(nodes_in, parts))


def network_as_onnx(network: DenseNetwork) -> bytes:
    """Write a network of dense layers: a product and an activation for each.

    Named inputs stay inputs of their own, ``(n, 1)``; else there is one, ``"X"``, ``(n, inputs)``.
    There is one output, ``"scores"``: as `DenseNetwork` answers.

    Raises
    ------
    ModelError
        When the network is too large for one file.
    """
    from onnx import TensorProto, helper, numpy_helper  # noqa: PLC0415 - used in the guest only

    card, width = network.card, len(network.layers[0].weights)
    centred = network.centre is not None
    kind = TensorProto.DOUBLE if centred else TensorProto.FLOAT
    nodes, constants = [], []

    def constant(name: str, array: Any) -> str:  # noqa: ANN401 - NumPy's
        constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def then(operation: str, names: Sequence[str], result: str, **settings: Any) -> str:  # noqa: ANN401 - ONNX's
        nodes.append(helper.make_node(operation, list(names), [result], **settings))
        return result

    names = card.inputs if card.takes is Takes.COLUMNS else ("X",)
    size = 1 if card.takes is Takes.COLUMNS else width
    inputs = [helper.make_tensor_value_info(name, kind, [None, size]) for name in names]
    own = _unlike(names)
    tensor = names[0] if len(names) == 1 else then("Concat", names, f"{own}joined", axis=1)
    if network.centre is not None:
        # in double precision: a large number with a small spread keeps its digits
        tensor = then("Sub", [tensor, constant(f"{own}centre", network.centre)], f"{own}centred")
        tensor = then("Cast", [tensor], f"{own}single", to=TensorProto.FLOAT)
    for i, layer in enumerate(network.layers, start=1):
        weights = constant(f"{own}weights {i}", layer.weights)
        bias = constant(f"{own}bias {i}", layer.bias)
        tensor = then("Gemm", [tensor, weights, bias], f"{own}sums {i}")
        tensor = _activated(layer.activation, tensor, f"{own}{{}} {i}".format, then, constant)
    scores = f"{own if 'scores' in names else ''}scores"
    then("Identity", [tensor], scores)
    units = network.layers[-1].bias.size
    answer = helper.make_tensor_value_info(scores, TensorProto.FLOAT, [None, units])
    model = helper.make_model(
        helper.make_graph(nodes, "model", inputs, [answer], constants),
        opset_imports=[helper.make_opsetid("", _OPERATORS)],
        ir_version=_FORMAT,
        producer_name="FairDesk",
    )
    return _noted(model, card)


def _activated(
    activation: Activation,
    tensor: str,
    called: Callable[[str], str],
    then: Callable[..., str],
    constant: Callable[[str, Any], str],
) -> str:
    """Append an activation; give the name of what comes out."""
    name, result = activation.name, called("activated")
    if name == "linear":
        return tensor
    if name == "softmax":
        return then("Softmax", [tensor], result, axis=1)
    for operation, (sloped, _) in SLOPED.items():
        if name == sloped:
            return then(operation, [tensor], result, alpha=activation.alpha)
    if name == "silu":
        return then("Mul", [tensor, then("Sigmoid", [tensor], called("gate"))], result)
    if name == "relu" and np.isfinite(activation.ceiling):
        least = constant(called("least"), np.array(0, np.float32))
        most = constant(called("most"), np.array(activation.ceiling, np.float32))
        return then("Clip", [tensor, least, most], result)
    operations = {own: operation for operation, own in PLAIN.items()}
    return then(operations[name], [tensor], result)


def _unlike(names: Sequence[str]) -> str:
    """Return a beginning that none of these names has."""
    beginning = "/"
    while any(name.startswith(beginning) for name in names):
        beginning += "/"
    return beginning


def _noted(model: Any, card: ModelCard) -> bytes:  # noqa: ANN401 - ONNX has no types
    """Note the names of inputs and classes in a model, and give its bytes."""
    from onnx import helper  # noqa: PLC0415 - as above

    notes = {"feature_names": list(card.inputs)} if card.named else {}
    notes["class_names"] = list(card.classes)
    helper.set_model_props(model, {key: json.dumps(names) for key, names in notes.items()})
    try:
        # the parts of a map have no order of their own
        content: bytes = model.SerializeToString(deterministic=True)
    except ValueError as error:
        raise ModelError(
            "It is too large for an ONNX file.",
            why=f"ONNX reported: {first_line(error)}",
            remedy="Use another of its files.",
        ) from error
    return content


def _rename(graph: Any, names: Sequence[str]) -> None:  # noqa: ANN401 - as above
    """Call the inputs as the columns are called, which skl2onnx spells with letters only."""
    changed = {
        each.name: name for each, name in zip(graph.input, names, strict=True) if each.name != name
    }
    inside = {name for node in graph.node for name in (*node.input, *node.output)}
    if inside & set(changed.values()):
        return
    for each in graph.input:
        each.name = changed.get(each.name, each.name)
    for node in graph.node:
        node.input[:] = [changed.get(name, name) for name in node.input]


@contextmanager
def _plain_numbers() -> Iterator[None]:
    """Let skl2onnx write truth values, which new versions of ONNX no longer take for numbers."""
    from skl2onnx.common import _container  # noqa: PLC0415 - as above

    write = _container.make_node

    def write_plainly(*args: Any, **settings: Any) -> Any:  # noqa: ANN401 - ONNX's
        plain = {
            key: [int(each) if isinstance(each, bool) else each for each in value]
            if isinstance(value, list)
            else value
            for key, value in settings.items()
        }
        return write(*args, **plain)

    _container.make_node = write_plainly
    try:
        yield
    finally:
        _container.make_node = write


def _is_text(values: Any) -> bool:  # noqa: ANN401 - an array
    return bool(values.dtype == object)
