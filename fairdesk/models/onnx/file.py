"""ONNX models, computed by ONNX Runtime from the file's bytes alone."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
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
)
from fairdesk.models.decisions.tensors import MOST_INPUTS, Tensor, fill, fill_matrix, taken
from fairdesk.models.dense.chain import ESTIMATE, Learnt, NotPlainError, Plain, network_sentence
from fairdesk.models.dense.layers import DenseNetwork
from fairdesk.models.model import Capability, Hints, Inputs, ModelCard, Takes
from fairdesk.models.onnx.asking import Asked, runtime_message
from fairdesk.models.onnx.dense import dense_part
from fairdesk.models.onnx.graph import NO_NODE, Graph
from fairdesk.models.onnx.locales import lend
from fairdesk.models.onnx.trees import forest_of
from fairdesk.models.onnx.wire import KNOWN_DOMAINS, Outline, WireError, outline
from fairdesk.models.structure.dense_layers import DenseLayer, Float32
from fairdesk.models.structure.networks import structure_of_forest, structure_of_network
from fairdesk.models.structure.types import Forest, ModelStructure, OpaqueError
from fairdesk.results.events import Scores

#: Tensors of ONNX by their names, as NumPy has them; text as Python objects.
_KINDS: dict[str, type] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(int16)": np.int16,
    "tensor(int8)": np.int8,
    "tensor(uint64)": np.uint64,
    "tensor(uint32)": np.uint32,
    "tensor(uint16)": np.uint16,
    "tensor(uint8)": np.uint8,
    "tensor(bool)": np.bool_,
    "tensor(string)": object,
}
_SCORES = frozenset({"tensor(float)", "tensor(double)", "tensor(float16)"})
_DICTIONARIES = "seq(map("
#: What these compute last is a score without bounds, unlike what a sigmoid or a forest answers.
_UNBOUNDED = frozenset({"Add", "Gemm", "MatMul", "Sub"})
#: What these compute last is neither a probability nor log-odds.
_ESTIMATES = frozenset({"Elu", "Exp", "LeakyRelu", "Relu", "Selu", "Softplus"})
_REGRESSORS = frozenset({"LinearRegressor", "SVMRegressor", "TreeEnsembleRegressor"})
_TREES = frozenset({"TreeEnsemble", "TreeEnsembleClassifier", "TreeEnsembleRegressor"})
#: What reads text that people wrote.
_READERS = frozenset({"StringNormalizer", "TfIdfVectorizer", "Tokenizer"})
#: How skl2onnx calls what a regressor answers.
_ESTIMATE_NAME = "variable"
#: Under what names authors note their inputs and classes.
_INPUT_NOTES = ("feature_names", "features", "feature_order", "columns", "input_names")
_CLASS_NOTES = ("class_names", "classes", "labels")
#: Protobuf cannot hold more in one file.
MOST_BYTES = 2 * 1024**3
#: Rows that are tried when a file is opened.
_TRIED = 64
#: How far apart ONNX Runtime and the dense layers may be.
_AGREES = 1e-5


@dataclass(frozen=True, slots=True)
class _Answer:
    """The output that is asked for.

    Attributes
    ----------
    name : str
        As the file has it.
    classes : tuple[str, ...]
        Whose scores its columns or keys are.
    scores : str
        What it is, as in the card.
    dictionaries : bool
        Whether it comes as a dictionary for each row.
    warnings : tuple[str, ...]
        What the auditor must know.
    """

    name: str
    classes: tuple[str, ...]
    scores: str = ""
    dictionaries: bool = False
    warnings: tuple[str, ...] = ()


class OnnxModel:
    """An ONNX model.

    Parameters
    ----------
    card : ModelCard
        What it is.
    runner : Asked
        The loaded model.
    answer : _Answer
        What is asked for.
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
    forest : Forest or None
        As given.
    roundings : int, optional
        Where it is known how its own arithmetic rounds, for the dense layers' numbers stand in
        the file as they are: how often each input is rounded before the first of them. ``None``
        where it is not known.
    """

    def __init__(
        self,
        card: ModelCard,
        runner: Asked,
        answer: _Answer,
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
        raise OpaqueError("it can be asked, but not looked into")

    def gradients(self, matrix: NDArray[np.float64], column: int = 0) -> Float32:
        """Return how a score changes with each input; as `DenseNetwork.gradients`.

        Raises
        ------
        ModelError
            When the model is no network of dense layers.
        """
        if self._network is None:
            raise ModelError(
                "The model cannot tell how its answers change with its inputs.",
                why="It is no network of dense layers.",
                remedy="Choose a method that asks for answers only.",
            )
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
                    f"The model answered a class that is none of {', '.join(self._places)}.",
                    remedy="Ask for the model with its probabilities as an output.",
                )
            return from_classes(np.array(chosen, dtype=np.intp), len(self._places))
        columns = (
            self._from_dictionaries(answers) if self._answer.dictionaries else _columns(answers)
        )
        if kind == "values":
            return from_values(columns)
        return from_margins(columns) if kind == "scores" else from_probabilities(columns)

    def _from_dictionaries(self, answers: list[dict[int | str, float]]) -> NDArray[np.float64]:
        """Put dictionaries from classes to probabilities into the order of the card's classes."""
        columns = np.empty((len(answers), len(self._places)))
        if answers:
            places = [self._places.get(str(key), -1) for key in answers[0]]
            if len(places) != len(self._places) or -1 in places:
                raise ModelError(
                    "The model answers other classes than its file names.",
                    remedy="Export the model again.",
                )
            columns[:, places] = [list(row.values()) for row in answers]
        return columns


def _columns(answers: NDArray[Any]) -> NDArray[Any]:
    """Return answers as ``(n, k)``, also where they have dimensions of length 1 beside."""
    return answers.reshape(len(answers), prod(answers.shape[1:]))


def open_onnx(path: Path, *, output: str = "") -> OnnxModel:
    """Open an ONNX file.

    Parameters
    ----------
    path : Path
        The file.
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
            f"“{path.name}” is one part of a model of TensorFlow, not the whole.",
            remedy=f"Choose the folder that it lies in, “{path.parent.name}”.",
        )
    if path.stat().st_size > MOST_BYTES:
        raise ModelError(
            f"“{path.name}” is too large for an ONNX file of a table's model.",
            remedy="Check that it is the right file.",
        )
    data = path.read_bytes()
    try:
        inside = outline(data)
        _refuse_strangers(path, inside)
        graph = Graph(data)
        return _opened(path, data, inside, graph, output)
    except WireError as error:
        raise ModelError(
            f"“{path.name}” is damaged or no ONNX model.",
            why=f"Looking into it failed: {error}.",
            remedy="Download or copy it again and compare its size with the original’s, or export "
            "the model again.",
        ) from error


def _opened(path: Path, data: bytes, inside: Outline, graph: Graph, output: str) -> OnnxModel:
    session, warnings = session_of(path, data)
    runner = Asked(session, *_tensors(path, session, graph))
    takes = taken(runner.tensors)
    chosen, candidates = _choice(path, session, output)
    answer = _answer(path, runner, graph, chosen)
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


UNBOUNDED = (
    "Its last operation gives plain numbers, not probabilities. One number is read as log-odds "
    "(above 0 means class 1), of several the greatest is the decision. Check the accuracy below."
)


def _refuse_strangers(path: Path, inside: Outline) -> None:
    if not inside.has_graph:
        raise ModelError(f"“{path.name}” holds no network.", remedy="Export the model again.")
    if inside.external:
        raise ModelError(
            f"“{path.name}” refers to other files for its weights.",
            why="FairDesk reads the model file alone, for references can point anywhere on this "
            "computer.",
            remedy="Export the model with its weights inside.",
        )
    strangers = inside.domains - KNOWN_DOMAINS
    if strangers:
        raise ModelError(
            f"“{path.name}” needs operations that FairDesk does not have: "
            f"{', '.join(sorted(strangers))}.",
            why="They are a program of their author, which does not come with the file.",
            remedy="Ask for the model with standard ONNX operations.",
        )


def session_of(path: Path, data: bytes) -> tuple[Any, tuple[str, ...]]:
    """Load a model's bytes; give it with what there is to warn of.

    Raises
    ------
    ModelError
        When ONNX Runtime does not take it.
    """
    # a third of a second to load; this runs in the model's own process
    import onnxruntime  # noqa: PLC0415

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # it is told below
    # never its other format, which was not looked into
    options.add_session_config_entry("session.load_model_format", "ONNX")
    warnings: tuple[str, ...] = ()
    while True:
        try:
            session = onnxruntime.InferenceSession(
                data, options, providers=["CPUExecutionProvider"], enable_fallback=0
            )
        except Exception as error:
            # any kind: ONNX Runtime has a dozen without a common base
            message = runtime_message(error)
            locale = _LOCALE.search(message)
            if locale and not warnings and lend(locale[1]):
                warnings = (LENT.format(locale[1]),)
                continue
            remedy = f"Export the model again, for ONNX Runtime {onnxruntime.__version__} or older."
            if locale:
                remedy = "Install the language that it names in the operating system."
            raise ModelError(
                f"ONNX Runtime cannot open “{path.name}”.", why=f"It says: {message}", remedy=remedy
            ) from error
        return session, warnings


_LOCALE = re.compile(r"Failed to construct locale with name:([\w.@-]+)")
LENT = (
    "It asks for the language “{}”, which this computer does not have. Capital letters are made "
    "small by Unicode's rules, which are the same for that language."
)


def _tensors(path: Path, session: Any, graph: Graph) -> tuple[list[Tensor], int]:  # noqa: ANN401 - as above
    """Return what the model takes, and how many rows at once; 0 where any number."""
    entries = session.get_inputs()
    odd = [entry for entry in entries if entry.type not in _KINDS]
    if not entries or odd:
        raise ModelError(
            f"“{path.name}” takes inputs that no table has"
            + (f": “{odd[0].name}” is {odd[0].type}." if odd else "."),
            remedy="Choose a model that takes numbers or text.",
        )
    tensors = [
        Tensor(entry.name, _KINDS[entry.type], _tail(path, entry, graph, alone=len(entries) == 1))
        for entry in entries
    ]
    # some models are exported for batches of one size only
    sizes = {entry.shape[0] for entry in entries if entry.shape and _is_length(entry.shape[0])}
    if sum(tensor.width for tensor in tensors) * max(sizes, default=1) > _MOST_NUMBERS:
        raise ModelError(
            f"“{path.name}” takes more numbers at once than any table has.",
            remedy="Export the model for a free number of rows.",
        )
    return tensors, max(sizes, default=0)


#: Numbers of one batch of a fixed size.
_MOST_NUMBERS = 2**26


def _is_length(length: object) -> bool:
    return isinstance(length, int) and length > 0


def _tail(path: Path, entry: Any, graph: Graph, *, alone: bool) -> tuple[int, ...]:  # noqa: ANN401 - as above
    """Return the shape of an input after its rows, where it is one of a table's rows."""
    shape = list(entry.shape)
    free = [i for i, length in enumerate(shape) if i and not _is_length(length)]
    if not shape or (free and alone):
        # a rank that is not told, or columns that are not counted
        width = graph.width(entry.name)
        if not width or width > MOST_INPUTS or len(free) > 1 or shape[1:].count(1) < len(shape) - 2:
            raise ModelError(
                f"“{path.name}” does not say how many inputs it takes.",
                remedy="Export it with a fixed number of columns.",
            )
        shape = shape or [None, width]
        for place in free:
            shape[place] = width
    # of several inputs each is a column
    tail = tuple(length if _is_length(length) else 1 for length in shape[1:])
    if sum(length > 1 for length in tail) > 1 or max(tail, default=1) > MOST_INPUTS:
        spelt = " × ".join(str(length or "any") for length in entry.shape)
        raise ModelError(
            f"“{path.name}” takes an input “{entry.name}” of the shape {spelt}.",
            why="FairDesk feeds one matrix of numbers, or one column per input.",
            remedy="Export the model with one of the two.",
        )
    return tail


def _choice(path: Path, session: Any, output: str) -> tuple[Any, tuple[str, ...]]:  # noqa: ANN401 - as above
    """Choose what to ask for: class scores before labels, what is called a probability first.

    A classifier's label and its scores are one decision; of several, all names are given.
    """
    entries = session.get_outputs()
    scored = [e for e in entries if e.type in _SCORES or e.type.startswith(_DICTIONARIES)]
    labelled = [e for e in entries if e.type in _KINDS and e not in scored]
    several = len(scored) > 1 or len(labelled) > 1
    names = tuple(e.name for e in entries if e in scored + labelled) if several else ()
    if output:
        chosen_outputs = [e for e in scored + labelled if e.name == output]
        if not chosen_outputs:
            raise ModelError(
                f"“{path.name}” has no output “{output}” that could decide.",
                remedy=f"Choose one of: {', '.join(e.name for e in scored + labelled)}.",
            )
        return chosen_outputs[0], names
    probable = [e for e in scored if "prob" in e.name.lower()]
    chosen = next(iter(probable or scored or labelled), None)
    if chosen is None:
        raise ModelError(
            f"“{path.name}” answers nothing that is a class or a score.",
            remedy="Choose a classifier.",
        )
    return chosen, names


def _answer(path: Path, runner: Asked, graph: Graph, chosen: Any) -> _Answer:  # noqa: ANN401 - as above
    """Find out what an output is, from the operations that make it and from what it answers."""
    names = graph.class_names(chosen.name)
    tried = _answer_to_samples(runner, chosen.name)
    if chosen.type.startswith(_DICTIONARIES):
        keys = tuple(str(key) for key in tried[0]) if isinstance(tried, list) and tried else names
        values = np.array([list(row.values()) for row in tried or []], dtype=float)
        return _scored(
            _Answer(chosen.name, classes=keys, dictionaries=True), graph, values, len(keys), path
        )
    if chosen.type not in _SCORES:
        either = ("False", "True") if chosen.type == "tensor(bool)" else ("0", "1")
        return _Answer(chosen.name, classes=names or either, scores="labels")
    if tried is None:
        declared = chosen.shape[1] if len(chosen.shape) > 1 else 1
        values, width = np.empty(0), declared if _is_length(declared) else 0
    else:
        values = _columns(np.asarray(tried))
        width = values.shape[1]
    if not width:
        raise ModelError(
            f"“{path.name}” does not say how many classes it tells apart.",
            remedy="Export it with a fixed number of outputs.",
        )
    labels = [e for e in runner.session.get_outputs() if e.type in _KINDS and e.type not in _SCORES]
    if len(labels) == 1:
        names = names or graph.class_names(labels[0].name)
        if len(names) > 2 and width not in (1, len(names)):
            # scores of pairs of classes, say: only its decision tells the class
            return _Answer(labels[0].name, classes=names, scores="labels")
    if len(names) != max(width, 2):
        names = tuple(str(i) for i in range(max(width, 2)))
    return _scored(_Answer(chosen.name, classes=names), graph, values, width, path)


def _scored(answer: _Answer, graph: Graph, values: NDArray[Any], width: int, path: Path) -> _Answer:
    """Return whether scores are probabilities, numbers without bounds or estimates."""
    if width < 1 or width > MOST_INPUTS or (answer.dictionaries and width < 2):
        raise ModelError(
            f"“{path.name}” does not say how many classes it tells apart.",
            remedy="Choose a classifier, or export the model again.",
        )
    node = graph.computes(answer.name) or NO_NODE
    operation = node.operation
    regressor = operation in _REGRESSORS and node.setting("post_transform").text in ("", "NONE")
    if width == 1 and (regressor or answer.name == _ESTIMATE_NAME):
        return replace(answer, scores="values", classes=())
    if width == 1 and operation in _ESTIMATES:
        return replace(answer, scores="values", classes=(), warnings=(ESTIMATE,))
    beyond = values.size and not ((values >= -_ROUNDING) & (values <= 1 + _ROUNDING)).all()
    if beyond or operation in _UNBOUNDED or (width == 1 and operation == "Tanh"):
        return replace(answer, scores="scores", warnings=(UNBOUNDED,))
    return replace(answer, scores="probabilities")


#: Probabilities may leave 0 to 1 by so much.
_ROUNDING = 1e-4


def _answer_to_samples(runner: Asked, output: str) -> Any:  # noqa: ANN401 - a list of dictionaries or an array
    """Ask about made-up rows: what comes out tells more than what the file declares.

    Returns
    -------
    list of dict, NDArray or None
        None where the model refuses them; the auditor's own rows may be others.
    """
    rng = np.random.default_rng(0)
    for spread in (3.0, 0.0):
        rows = [_sample_tensor(tensor, rng, spread) for tensor in runner.tensors]
        try:
            batches = runner(output, rows)
        except ModelError:
            if runner.endless:
                raise
            continue
        return batches[0]
    return None


def _sample_tensor(tensor: Tensor, rng: np.random.Generator, spread: float) -> NDArray[Any]:
    shape = (_TRIED, *tensor.tail)
    if tensor.text:
        return np.full(shape, "", dtype=object)
    numbers = rng.normal(0, spread, shape)
    if np.dtype(tensor.kind).kind == "f":
        return numbers.astype(tensor.kind)
    return np.minimum(np.abs(np.round(numbers)), 1 if tensor.kind is np.bool_ else 9).astype(
        tensor.kind
    )


def _network(runner: Asked, graph: Graph, answer: _Answer) -> tuple[Plain | None, str]:
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
    """Put the first layer's inputs into the order of the card's."""
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


def _agree(plain: Plain, runner: Asked, answer: _Answer) -> bool:
    """Ask both ways about made-up rows, as far from each other as the first layer tells apart."""
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
        matrix = rng.normal(size=(_TRIED, len(spread))) * size
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
    inside: Outline, accepts: Sequence[str], answer: _Answer, *, dense: bool
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
        f"The file notes the names of its {what}: {', '.join(names)}."
        for what, names in (("inputs", features), ("classes", called))
        if names
    ]
    return Hints(features=features, classes=called, told=tuple(explanations))


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
