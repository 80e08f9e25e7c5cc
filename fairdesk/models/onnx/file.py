"""ONNX models, computed by ONNX Runtime from the file's bytes alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.files import sha256
from fairdesk.models.decisions.tensors import Tensor, taken
from fairdesk.models.dense.chain import Learnt, NotPlainError, Plain, network_sentence
from fairdesk.models.dense.layers import DenseNetwork
from fairdesk.models.model import Capability, Hints, ModelCard, Takes
from fairdesk.models.onnx.asking import Asked
from fairdesk.models.onnx.dense import dense_part
from fairdesk.models.onnx.graph import Graph
from fairdesk.models.onnx.meaning import TRIED_ROWS, OutputMeaning, choose_output, meaning_of
from fairdesk.models.onnx.model import OnnxModel
from fairdesk.models.onnx.outline import KNOWN_DOMAINS, DamagedError, Outline, outline, parse
from fairdesk.models.onnx.session import session_of, tensors_of
from fairdesk.models.onnx.trees import forest_of

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
        _refuse_strangers(path, inside)
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


def _refuse_strangers(path: Path, inside: Outline) -> None:
    if not inside.has_graph:
        raise ModelError(f"“{path.name}” contains no network.", remedy="Export the model again.")
    if inside.external:
        raise ModelError(
            f"“{path.name}” refers to other files for its weights.",
            why=(
                "FairDesk reads only the model file, because references can point anywhere on "
                "this computer."
            ),
            remedy="Export the model with its weights inside.",
        )
    strangers = inside.domains - KNOWN_DOMAINS
    if strangers:
        raise ModelError(
            f"“{path.name}” needs operations that FairDesk does not have: "
            f"{', '.join(sorted(strangers))}.",
            why="They are custom code of their author, which is not in the file.",
            remedy="Ask for the model with standard ONNX operations.",
        )


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
