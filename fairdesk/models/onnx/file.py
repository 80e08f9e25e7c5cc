"""ONNX models, computed by ONNX Runtime from the file's bytes alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.files import sha256
from fairdesk.models.decisions.outputs import (
    from_classes,
    from_margins,
    from_probabilities,
    from_values,
    without_gradients,
)
from fairdesk.models.decisions.tensors import Tensor, fill, fill_matrix, taken
from fairdesk.models.dense.chain import Learnt, NotPlainError, Plain, network_sentence
from fairdesk.models.dense.layers import DenseNetwork
from fairdesk.models.model import Capability, Hints, Inputs, ModelCard, Takes
from fairdesk.models.onnx.graph import Graph
from fairdesk.models.onnx.meaning import (
    TRIED_ROWS,
    OutputMeaning,
    choose_output,
    columns_of,
    meaning_of,
)
from fairdesk.models.onnx.session import Asked, session_of, tensors_of
from fairdesk.models.onnx.structure import dense_part, forest_of
from fairdesk.models.onnx.vetting import DamagedError, Outline, outline, parse, vet
from fairdesk.models.structure import (
    DenseLayer,
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

    Parameters
    ----------
    network : DenseNetwork, optional
        The same as dense layers, where it is such a network.
    forest : Forest, optional
        The same as trees over its inputs, where it is nothing else.

    Attributes
    ----------
    layers : tuple[DenseLayer, ...]
        Its dense layers, as in `DenseNetwork`; empty where it is no such network.
    centre : NDArray[np.float64] or None
        As in `DenseNetwork`.
    roundings : int, optional
        Where it is known how its own arithmetic rounds, for the dense layers' numbers stand in
        the file as they are: how often each input is rounded before the first of them. ``None``
        where it is not known.
    """

    def __init__(
        self,
        card: ModelCard,
        runner: Asked,
        answer: OutputMeaning,
        network: DenseNetwork | None = None,
        forest: Forest | None = None,
    ) -> None:
        self._card = card
        self._runner = runner
        self._answer = answer
        self._network = network
        self.forest = forest
        self.roundings: int | None = None
        self.layers: tuple[DenseLayer, ...] = network.layers if network else ()
        self.centre = network.centre if network else None
        self._places = {name: i for i, name in enumerate(card.classes)}

    @property
    def card(self) -> ModelCard:
        """What it is."""
        return self._card

    def matrix_scores(self, matrix: NDArray[np.float64]) -> Scores:
        """Answer for ``(n, inputs)`` numbers; as `OpenedModel.scores`."""
        return self._scores([fill_matrix(self._runner.tensors[0], matrix)])

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for one array per input; as `OpenedModel.scores`."""
        return self._scores(fill(self._runner.tensors, inputs))

    def structure(self) -> ModelStructure:
        """Return what is inside.

        Raises
        ------
        OpaqueError
            When its arithmetic is none that can be followed.
        """
        if self.roundings is not None:
            return structure_of_network(self.layers, self.centre, self.roundings)
        if self.forest is not None:
            return structure_of_forest(self.forest, len(self._card.inputs))
        raise OpaqueError("only its outputs are available")

    def gradients(self, matrix: NDArray[np.float64], column: int = 0) -> Float32:
        """Return how a score changes with each input; as `DenseNetwork.gradients`.

        Raises
        ------
        ModelError
            When the model is no network of dense layers.
        """
        if self._network is None:
            raise without_gradients("It is not a network of dense layers.")
        return self._network.gradients(matrix, column)

    def _scores(self, tensors: list[NDArray[Any]]) -> Scores:
        batches = self._runner(self._answer.name, tensors)
        scores = [self._from_answers(batch) for batch in batches]
        if len(scores) == 1:
            return scores[0]
        classes = len(self._card.classes)
        nobody = np.empty((0, classes if classes > 2 else 1), dtype=np.float32)
        return np.concatenate([nobody, *scores])

    def _from_answers(self, answers: Any) -> Scores:  # noqa: ANN401 - a list of dictionaries or an array
        kind = self._answer.scores
        if kind == "labels":
            chosen = [self._places.get(str(value), -1) for value in np.ravel(answers).tolist()]
            if -1 in chosen:
                raise ModelError(
                    f"The model returned a class that is not one of {', '.join(self._places)}.",
                    remedy="Ask for the model with its probabilities as an output.",
                )
            return from_classes(np.array(chosen, dtype=np.intp), len(self._places))
        columns = (
            self._from_dictionaries(answers) if self._answer.dictionaries else columns_of(answers)
        )
        if kind == "values":
            return from_values(columns)
        return from_margins(columns) if kind == "scores" else from_probabilities(columns)

    def _from_dictionaries(self, answers: list[dict[int | str, float]]) -> NDArray[np.float64]:
        """Return dictionaries from classes to probabilities as columns in the order of the card."""
        columns = np.empty((len(answers), len(self._places)))
        if answers:
            places = [self._places.get(str(key), -1) for key in answers[0]]
            if len(places) != len(self._places) or -1 in places:
                raise ModelError(
                    "The model returns classes that its file does not name.",
                    remedy="Export the model again.",
                )
            columns[:, places] = [list(row.values()) for row in answers]
        return columns


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
    network, sentence = _network(runner, graph, answer)
    card = ModelCard(
        path=str(path),
        sha256=sha256(path),
        format="ONNX model",
        summary=f"ONNX model of {inside.nodes:,} operations"
        + (f", written by {inside.producer}" if inside.producer else "")
        + f".{sentence}",
        takes=takes.takes,
        inputs=takes.inputs,
        named=takes.named,
        classes=answer.classes,
        scores=answer.scores,
        saved_with=inside.producer,
        warnings=(*warnings, *answer.warnings),
        can=_can(inside, takes.accepts, answer, dense=network is not None),
        accepts=takes.accepts,
        outputs=candidates,
        output=answer.name,
        hints=_hints(inside.notes, takes.inputs, answer.classes),
    )
    if network is not None:
        dense = DenseNetwork(card, network.layers, network.centre)
        opened = OnnxModel(card, runner, answer, dense)
        opened.roundings = _roundings(network, graph)
        return opened
    single = [tensor.name for tensor in runner.tensors if tensor.kind is np.float32]
    forest = forest_of(graph, answer.name, single, answer.scores)
    return OnnxModel(card, runner, answer, forest=forest)


def _network(runner: Asked, graph: Graph, answer: OutputMeaning) -> tuple[Plain | None, str]:
    """Read the model as dense layers, and describe them; none where they would answer otherwise."""
    tensors = runner.tensors
    if answer.scores == "labels" or any(tensor.text for tensor in tensors):
        return None, ""
    names = [tensor.name for tensor in tensors]
    learnt: Learnt = "values" if answer.scores == "values" else ""
    try:
        plain, order = dense_part(graph, answer.name, names, learnt)
        plain = _in_order(plain, order, tensors)
        # operations in an unusual place have constants of unusual shapes
    except (NotPlainError, IndexError, ValueError):
        return None, ""
    # weights may be too large for what they meet; then both do not agree
    with np.errstate(all="ignore"):
        if plain.classes != len(answer.classes) or not _agree(plain, runner, answer):
            return None, ""
    return plain, f" {network_sentence(plain.widths, plain.weights)}"


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
    scales = _scales(graph, first.weights.shape[0])
    if scales is None:
        return None
    # the constant that is taken off is exact in double precision, but for its last bits
    scaled = [
        (each * scale[:, None]).astype(np.float32)
        for each in numbers
        if each.shape == first.weights.shape
        for scale in scales
    ]
    return 4 if any(np.array_equal(each, first.weights) for each in scaled) else None


def _scales(graph: Graph, width: int) -> list[NDArray[np.float64]] | None:
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
    return [scale]


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


def _agree(plain: Plain, runner: Asked, answer: OutputMeaning) -> bool:
    """Whether both ways answer alike about made-up rows, as far apart as the first layer sees."""
    card = ModelCard(
        path="",
        sha256="",
        format="",
        summary="",
        takes=Takes.MATRIX,
        inputs=(),
        named=False,
        classes=answer.classes,
        scores=answer.scores,
    )
    network = DenseNetwork(card, plain.layers, plain.centre)
    model = OnnxModel(card, runner, answer)
    steepest = np.abs(plain.layers[0].weights).max(axis=1).astype(np.float64)
    spread = 1 / np.where(steepest > 0, steepest, 1)
    rng = np.random.default_rng(1)
    for size in (1.0, spread):
        matrix = rng.normal(size=(TRIED_ROWS, len(spread))) * size
        if plain.centre is not None:
            matrix += plain.centre
        if any(np.dtype(tensor.kind).kind != "f" for tensor in runner.tensors):
            matrix = np.clip(np.round(matrix), 0, 1)
        try:
            expected = model.scores(list(matrix.T))
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
