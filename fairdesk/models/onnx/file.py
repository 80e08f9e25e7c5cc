"""ONNX models, computed by ONNX Runtime from the file's bytes alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.files import sha256
from fairdesk.models.decisions.outputs import (
    BY_KIND,
    from_labels,
    no_scores,
    without_gradients,
)
from fairdesk.models.decisions.tensors import Tensor, fill, fill_matrix, taken
from fairdesk.models.dense.layers import (
    DenseNetwork,
    Learnt,
    NotPlainError,
    Plain,
    network_sentence,
)
from fairdesk.models.model import Capability, Hints, Inputs, ModelCard
from fairdesk.models.onnx.graph import DamagedError, Graph, Outline, outline, parse, vet
from fairdesk.models.onnx.session import (
    TRIED_ROWS,
    Asked,
    OutputMeaning,
    choose_output,
    columns_of,
    meaning_of,
    session_of,
    tensors_of,
)
from fairdesk.models.onnx.structure import dense_part, forest_of
from fairdesk.models.structure import (
    Float32,
    Forest,
    ModelStructure,
    OpaqueError,
    structure_of_forest,
    structure_of_network,
)
from fairdesk.results.events import Scores

_TREES = frozenset({"TreeEnsemble", "TreeEnsembleClassifier", "TreeEnsembleRegressor"})
#: What reads text that people wrote.
_READERS = frozenset({"StringNormalizer", "TfIdfVectorizer", "Tokenizer"})
#: Under what names authors note their inputs and classes.
_INPUT_NOTES = ("feature_names", "features", "feature_order", "columns", "input_names")
_CLASS_NOTES = ("class_names", "classes", "labels")
#: Protobuf cannot hold more in one file.
MOST_BYTES = 2 * 1024**3
#: How far apart ONNX Runtime and the dense layers may be.
_AGREES = 1e-5


class OnnxModel:
    """An ONNX model.

    Attributes
    ----------
    network : DenseNetwork, optional
        The same as dense layers, where it is such a network.
    forest : Forest, optional
        The same as trees over its inputs, where it is nothing else.
    roundings : int, optional
        Where it is known how its own arithmetic rounds, for the dense layers' numbers stand in
        the file as they are: how often each input is rounded before the first of them. ``None``
        where it is not known.
    """

    def __init__(self, card: ModelCard, runner: Asked, answer: OutputMeaning) -> None:
        self.card = card
        self.runner = runner
        self.answer = answer
        self.network: DenseNetwork | None = None
        self.forest: Forest | None = None
        self.roundings: int | None = None

    def matrix_scores(self, matrix: NDArray[np.float64]) -> Scores:
        """Answer for ``(n, inputs)`` numbers; as `OpenedModel.scores`."""
        return self._scores([fill_matrix(self.runner.tensors[0], matrix)])

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for one array per input; as `OpenedModel.scores`."""
        return self._scores(fill(self.runner.tensors, inputs))

    def structure(self) -> ModelStructure:
        """Return what is inside.

        Raises
        ------
        OpaqueError
            When its arithmetic is none that can be followed.
        """
        if self.network is not None and self.roundings is not None:
            network = self.network
            return structure_of_network(network.layers, network.centre, self.roundings)
        if self.forest is not None:
            return structure_of_forest(self.forest, len(self.card.inputs))
        raise OpaqueError("only its outputs are available")

    def gradients(self, matrix: NDArray[np.float64], column: int = 0) -> Float32:
        """Return how a score changes with each input; as `DenseNetwork.gradients`.

        Raises
        ------
        ModelError
            When the model is no network of dense layers.
        """
        if self.network is None:
            raise without_gradients("It is not a network of dense layers.")
        return self.network.gradients(matrix, column)

    def _scores(self, tensors: list[NDArray[Any]]) -> Scores:
        scores = [self._from_answers(batch) for batch in self.runner(self.answer.name, tensors)]
        return np.concatenate(scores or [no_scores(self.card)])

    def _from_answers(self, answers: Any) -> Scores:  # noqa: ANN401 - a list of dictionaries or an array
        classes, kind = self.card.classes, self.answer.scores
        if kind == "labels":
            return from_labels(np.ravel(answers).tolist(), classes)
        if not self.answer.dictionaries:
            return BY_KIND[kind](columns_of(answers))
        columns = np.empty((len(answers), len(classes)))
        if answers:
            keys = list(map(str, answers[0]))
            if sorted(keys) != sorted(classes):
                raise ModelError(
                    "The model returns classes that its file does not name.",
                    remedy="Export the model again.",
                )
            columns[:, [classes.index(key) for key in keys]] = [
                list(row.values()) for row in answers
            ]
        return BY_KIND[kind](columns)


def open_onnx(path: Path, *, output: str = "") -> OnnxModel:
    """Open an ONNX file.

    Parameters
    ----------
    output : str
        Which of its outputs answers, of a model with several; one is chosen when left out.

    Raises
    ------
    ModelError
        When it is damaged, refers to other files, needs operations of others, or does not take
        rows of a table and answer classes or a number.
    """
    if path.name == "saved_model.pb":
        raise ModelError(
            f"“{path.name}” is one part of a TensorFlow model, not the whole.",
            remedy=f"Choose the folder that it is in, “{path.parent.name}”.",
        )
    if path.stat().st_size > MOST_BYTES:
        raise ModelError(
            f"“{path.name}” is too large for an ONNX model of tabular data.",
            remedy="Check that it is the right file.",
        )
    data = path.read_bytes()
    try:
        model = parse(data)
        inside = outline(model)
        vet(path, inside)
        graph = Graph(model)
        return _opened(path, data, inside, graph, output)
    except (DamagedError, UnicodeDecodeError) as error:  # names that ONNX Runtime cannot tell
        raise ModelError(
            f"“{path.name}” is damaged or not an ONNX model.",
            why=f"Reading it failed: {error}.",
            remedy="Download or copy it again and compare its size with the original’s, or export "
            "the model again.",
        ) from error


def _opened(path: Path, data: bytes, inside: Outline, graph: Graph, output: str) -> OnnxModel:
    session, warnings = session_of(path, data)
    runner = Asked(session, *tensors_of(path, session, graph))
    takes = taken(runner.tensors)
    chosen, candidates = choose_output(path, session, output)
    answer = meaning_of(path, runner, graph, chosen)
    card = ModelCard(
        path=str(path),
        sha256=sha256(path),
        format="ONNX model",
        summary=f"ONNX model of {inside.nodes:,} operations"
        + (f", written by {inside.producer}." if inside.producer else "."),
        takes=takes.takes,
        inputs=takes.inputs,
        named=takes.named,
        classes=answer.classes,
        scores=answer.scores,
        saved_with=inside.producer,
        warnings=(*warnings, *answer.warnings),
        accepts=takes.accepts,
        outputs=candidates,
        output=answer.name,
        hints=_hints(inside.notes, takes.inputs, answer.classes),
    )
    opened = OnnxModel(card, runner, answer)
    plain = _plain(opened, graph)
    can = _can(inside, takes.accepts, answer, dense=plain is not None)
    opened.card = msgspec.structs.replace(card, can=can)
    if plain is None:
        single = [tensor.name for tensor in runner.tensors if tensor.kind is np.float32]
        opened.forest = forest_of(graph, answer.name, single, answer.scores)
        return opened
    sentence = network_sentence(plain.widths, plain.weights)
    opened.card = msgspec.structs.replace(opened.card, summary=f"{card.summary} {sentence}")
    opened.network = DenseNetwork(opened.card, plain.layers, plain.centre)
    opened.roundings = _roundings(plain, graph)
    return opened


def _plain(opened: OnnxModel, graph: Graph) -> Plain | None:
    """Read the model as dense layers; none where they would answer otherwise."""
    answer, tensors = opened.answer, opened.runner.tensors
    if answer.scores == "labels" or any(tensor.text for tensor in tensors):
        return None
    names = [tensor.name for tensor in tensors]
    learnt: Learnt = "values" if answer.scores == "values" else ""
    try:
        plain, order = dense_part(graph, answer.name, names, learnt)
        plain = _in_order(plain, order, tensors)
        # operations in an unusual place have constants of unusual shapes
    except (NotPlainError, IndexError, ValueError):
        return None
    # weights may be too large for what they meet; then both do not agree
    with np.errstate(all="ignore"):
        agrees = plain.classes == len(answer.classes) and _agree(plain, opened)
    return plain if agrees else None


def _roundings(plain: Plain, graph: Graph) -> int | None:
    """Return how often inputs are rounded before the first layer; ``None`` where that is unclear.

    The layers' numbers must stand in the file as they are, none folded into others; but a
    constant may be taken off the inputs, and these be scaled then. Each of that rounds its own
    result, and so is the scaled weight rounded that stands for both.
    """
    names = {name for node in graph.nodes for name in node.inputs if name}
    known = [array for name in sorted(names) if (array := graph.constant(name)) is not None]
    numbers = [array for array in known if array.dtype.kind == "f"]

    def stands(wanted: NDArray[np.float32]) -> bool:
        exact = wanted.astype(np.float64)
        return any(np.array_equal(each, exact) or np.array_equal(each.T, exact) for each in numbers)

    def begins(bias: NDArray[np.float32]) -> bool:
        return not bias.any() or any(np.array_equal(n.ravel(), bias) for n in numbers)

    first, *others = plain.layers
    if not begins(first.bias) or not all(stands(o.weights) and begins(o.bias) for o in others):
        return None
    if plain.centre is None and stands(first.weights):
        return 0
    scale = _scale(graph, len(first.weights))
    if scale is None:
        return None
    # the constant that is taken off is exact in double precision, but for its last bits
    same = [each for each in numbers if each.shape == first.weights.shape]
    scaled = [(each * scale[:, None]).astype(np.float32) for each in same]
    return 4 if any(np.array_equal(each, first.weights) for each in scaled) else None


def _scale(graph: Graph, width: int) -> NDArray[np.float64] | None:
    """Return what the inputs are multiplied by after a constant was taken off, and before layers.

    ``None`` where something else happens to them first.
    """
    scale: NDArray[np.float64] = np.ones(width)
    operations = []
    for node in graph.nodes:
        if node.operation in ("Gemm", "MatMul"):
            break
        if node.operation in ("Cast", "Identity", "Flatten"):
            continue
        constant = graph.constant(node.inputs[-1]) if len(node.inputs) == 2 else None
        if constant is None or constant.size not in (1, width):
            return None
        operations.append(node.operation)
        if node.operation == "Div":
            scale = 1 / np.broadcast_to(constant.ravel().astype(np.float64), (width,))
        elif node.operation == "Mul":
            scale = np.broadcast_to(constant.ravel().astype(np.float64), (width,))
    if operations not in (["Sub"], ["Sub", "Div"], ["Sub", "Mul"], ["Add", "Div"], ["Add", "Mul"]):
        return None
    return scale


def _in_order(plain: Plain, order: Sequence[str], tensors: Sequence[Tensor]) -> Plain:
    """Return the layers with the first one's inputs in the order of the card's."""
    starts, at = {}, 0
    for tensor in tensors:
        starts[tensor.name] = (at, tensor.width)
        at += tensor.width
    places = [place for name in order for place in range(starts[name][0], sum(starts[name]))]
    first = plain.layers[0]
    if len(places) != len(first.weights) or len(set(places)) != len(places):
        raise NotPlainError("inputs that are joined in an unusual way")
    weights = np.zeros((at, first.weights.shape[1]), np.float32)
    weights[places] = first.weights
    centre = None
    if plain.centre is not None:
        centre = np.zeros(at)
        centre[places] = plain.centre
    return replace(
        plain, layers=(replace(first, weights=weights), *plain.layers[1:]), centre=centre
    )


def _agree(plain: Plain, opened: OnnxModel) -> bool:
    """Whether both ways answer alike about made-up rows, as far apart as the first layer sees."""
    network = DenseNetwork(opened.card, plain.layers, plain.centre)
    steepest = np.abs(plain.layers[0].weights).max(axis=1).astype(np.float64)
    spread = 1 / np.where(steepest > 0, steepest, 1)
    rng = np.random.default_rng(1)
    for size in (1.0, spread):
        matrix = rng.normal(size=(TRIED_ROWS, len(spread))) * size
        if plain.centre is not None:
            matrix += plain.centre
        if any(np.dtype(tensor.kind).kind != "f" for tensor in opened.runner.tensors):
            matrix = np.clip(np.round(matrix), 0, 1)
        try:
            expected = opened.scores(list(matrix.T))
        except ModelError:
            return False
        found = network.matrix_scores(matrix)
        if found.shape != expected.shape or not np.allclose(
            found, expected, rtol=_AGREES, atol=_AGREES
        ):
            return False
    return True


def _can(
    inside: Outline, accepts: Sequence[str], answer: OutputMeaning, *, dense: bool
) -> tuple[Capability, ...]:
    there = {
        Capability.DECIDES: True,
        Capability.SCORES: answer.scores != "labels",
        Capability.GRADIENTS: dense,
        Capability.LAYERS: dense,
        Capability.TREES: not inside.operations.isdisjoint(_TREES),
        Capability.TEXT: "text" in accepts and not inside.operations.isdisjoint(_READERS),
    }
    return tuple(capability for capability, it_is in there.items() if it_is)


def _hints(notes: dict[str, str], inputs: Sequence[str], classes: Sequence[str]) -> Hints:
    """Read what the author noted in the file about inputs and classes."""
    features = _noted(notes, _INPUT_NOTES, len(inputs))
    called = _noted(notes, _CLASS_NOTES, len(classes))
    explanations = [
        f"The file lists the names of its {what}: {', '.join(names)}."
        for what, names in (("inputs", features), ("classes", called))
        if names
    ]
    return Hints(features=features, classes=called, notes=tuple(explanations))


def _noted(notes: dict[str, str], keys: Sequence[str], wanted: int) -> tuple[str, ...]:
    for key, text in notes.items():
        if key.casefold() not in keys:
            continue
        try:
            listed = json.loads(text)
        except (RecursionError, ValueError):
            listed = text.split(",")
        if isinstance(listed, dict):
            listed = list(listed.values())
        if isinstance(listed, list) and len(listed) == wanted and wanted:
            return tuple(str(name).strip() for name in listed)
    return ()
