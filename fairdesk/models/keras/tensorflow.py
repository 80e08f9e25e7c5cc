"""Keras networks and SavedModels other than chains of dense layers, run by TensorFlow."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError, TrustRequiredError
from fairdesk.files import sha256
from fairdesk.models.decisions.outputs import (
    BY_KIND,
    choose,
    first_line,
    no_scores,
    rejected,
    without_gradients,
)
from fairdesk.models.decisions.tensors import (
    Tensor,
    fill,
    fill_matrix,
    not_one_each,
    tail_of,
    taken,
    without_width,
)
from fairdesk.models.dense.layers import EACH_FOR_ITSELF, ESTIMATE, LOGIT, LOGITS, TANH, Learnt
from fairdesk.models.keras.parts import STEPPED, KerasParts, Named, with_slashes
from fairdesk.models.model import Capability, Inputs, ModelCard
from fairdesk.models.structure import Float32
from fairdesk.results.events import Scores


def tensorflow(path: Path, why: str) -> Any:  # noqa: ANN401 - TensorFlow has no types
    """Load TensorFlow.

    Raises
    ------
    ModelError
        When it is not installed.
    """
    # TensorFlow writes its start-up to the terminal unless told otherwise before it is loaded
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    try:
        # ten seconds to load, and not installed everywhere
        import keras  # noqa: PLC0415, F401 - it comes with TensorFlow, but can be missing
        import tensorflow as tf  # noqa: PLC0415
    except ImportError as error:
        raise ModelError(
            f"“{path.name}” needs TensorFlow, which is not installed.",
            why=f"FairDesk itself computes only networks of dense layers; this one has {why}.",
            remedy="Install it with “pip install fairdesk[all]”, or ask for the model as ONNX.",
        ) from error
    return tf


def load_network(keras: Any, path: Path, parts: KerasParts, *, safe: bool) -> Any:  # noqa: ANN401 - as above
    """Load a model without its training state, as the Keras that is installed computes it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / f"model{parts.suffix}"
        # Keras goes by the suffix, FairDesk by the content
        if not (parts.suffix == ".keras" and with_slashes(path, copy)):
            if path.suffix == parts.suffix:
                return _loaded(keras, path, parts, safe=safe)
            shutil.copyfile(path, copy)
        return _loaded(keras, copy, parts, safe=safe)


def load_as_written(keras: Any, path: Path, parts: KerasParts, *, safe: bool) -> Any:  # noqa: ANN401 - as above
    """Load a model without its training state, as the Keras that wrote it computes it."""
    model = load_network(keras, path, parts, safe=safe)
    if parts.version.startswith(("1.", "2.")):
        _as_in_keras_2(keras, model)
    return model


def _loaded(keras: Any, path: Path, parts: KerasParts, *, safe: bool) -> Any:  # noqa: ANN401 - as above
    """Load a file of Keras's own suffix.

    Keras 3 takes the ``batch_input_shape`` that Keras 2 wrote at the first layer of a sequential
    model for the shape of a row, and gets one dimension too many; so it is given an input layer.
    """
    config = parts.config
    layers = config["config"].get("layers", []) if isinstance(config["config"], dict) else []
    first = layers[0]["config"] if layers else {}
    if config.get("class_name") != "Sequential" or "batch_input_shape" not in first:
        return keras.saving.load_model(path, compile=False, safe_mode=safe)
    settings = {key: value for key, value in first.items() if key != "batch_input_shape"}
    shape = {"batch_shape": first["batch_input_shape"], "dtype": first.get("dtype", "float32")}
    rebuilt = [
        {"class_name": "InputLayer", "config": shape},
        {**layers[0], "config": settings},
        *layers[1:],
    ]
    if layers[0]["class_name"] == "InputLayer":
        del rebuilt[1]
    if not safe:
        # what the file names was looked through, and its programs agreed to
        keras.config.enable_unsafe_deserialization()
    model = keras.Sequential.from_config({**config["config"], "layers": rebuilt})
    model.load_weights(path)
    return model


def _as_in_keras_2(keras: Any, model: Any) -> None:  # noqa: ANN401 - as above
    """Give layers the one activation that Keras 3 computes otherwise under the same name."""
    new = keras.activations.hard_sigmoid

    def old(values: Any) -> Any:  # noqa: ANN401 - as above
        return keras.ops.clip(0.2 * values + 0.5, 0.0, 1.0)

    for layer in model._flatten_layers():  # noqa: SLF001 - Keras offers no other way to nested layers
        for name in ("activation", "recurrent_activation"):
            if vars(layer).get(name) is new:
                setattr(layer, name, old)


def has_tensorflow() -> bool:
    """Return whether TensorFlow is installed, without loading it."""
    try:
        return find_spec("tensorflow") is not None
    except ValueError:
        # loaded in part, or kept from loading
        return False


#: Rows per call, to bound the memory of wide networks.
BATCH = 16_384
#: Probabilities may leave 0 to 1 by so much.
_ROUNDING = 1e-4

#: How an answer becomes scores.
Reading = Literal["probabilities", "scores", "values"]
Call = Callable[[list[Any]], Any]


@dataclass(frozen=True)
class Answer:
    """What an output is.

    Attributes
    ----------
    reading : Reading
        How it becomes scores.
    scores : str
        What it is, as in the card.
    classes : tuple[str, ...]
        As in the card.
    warnings : tuple[str, ...]
        What the auditor must know.
    """

    reading: Reading
    scores: str
    classes: tuple[str, ...]
    warnings: tuple[str, ...] = ()


class TensorFlowModel:
    """A model that TensorFlow computes.

    Parameters
    ----------
    call : callable
        From the list of the model's tensors to its answer ``(n, ...)``.
    """

    def __init__(
        self, card: ModelCard, call: Call, tensors: Sequence[Tensor], reading: Reading
    ) -> None:
        self.card = card
        self.call = call
        self.tensors = tensors
        self.reading = reading

    def matrix_scores(self, matrix: NDArray[np.float64]) -> Scores:
        """Answer for ``(n, inputs)`` numbers; as `OpenedModel.scores`."""
        return self._answer([fill_matrix(self.tensors[0], matrix)])

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for one array per input; as `OpenedModel.scores`."""
        return self._answer(fill(self.tensors, inputs))

    def gradients(self, matrix: NDArray[np.float64], column: int = 0) -> Float32:
        """Return how a score changes with each input; as `DenseNetwork.gradients`.

        Raises
        ------
        ModelError
            When the model is none whose answers change smoothly with its inputs.
        """
        if Capability.GRADIENTS not in self.card.can:
            raise without_gradients("Some of its layers are not smooth functions.")
        return gradients(self.call, self.tensors, self.reading, matrix, column)

    def _answer(self, tensors: list[NDArray[Any]]) -> Scores:
        rows = len(tensors[0])
        answers = [
            BY_KIND[self.reading](answered(self.call, [t[start : start + BATCH] for t in tensors]))
            for start in range(0, rows, BATCH)
        ]
        return np.concatenate(answers or [no_scores(self.card)])


def answered(call: Call, tensors: list[NDArray[Any]]) -> NDArray[Any]:
    """Return TensorFlow's answers: ``(n, k)``.

    Raises
    ------
    ModelError
        When it refuses, or does not answer once for each row.
    """
    rows = len(tensors[0])
    try:
        answer = np.array(call(tensors))
    except Exception as error:
        # any kind: TensorFlow and Keras raise their own, without a common base
        raise rejected(rows, f"TensorFlow reported: {first_line(error)}") from error
    if not answer.ndim or len(answer) != rows or sum(length > 1 for length in answer.shape[1:]) > 1:
        raise not_one_each(f"the shape {answer.shape}", rows)
    return answer.reshape(rows, int(np.prod(answer.shape[1:])))


def gradients(
    call: Call,
    tensors: Sequence[Tensor],
    reading: Reading,
    matrix: NDArray[np.float64],
    column: int,
) -> Float32:
    """Return a score's derivatives by each input, in batches: ``(n, inputs)``.

    Raises
    ------
    ModelError
        When TensorFlow cannot take them.
    """
    import tensorflow as tf  # noqa: PLC0415 - loaded with the model

    def score(answer: Any) -> Any:  # noqa: ANN401 - TensorFlow has no types
        answer = tf.reshape(answer, (tf.shape(answer)[0], -1))
        if answer.shape[1] == 2:
            apart = answer[:, 1] - answer[:, 0]
            return tf.sigmoid(apart) if reading == "scores" else (1 + apart) / 2
        if answer.shape[1] == 1 and reading == "scores":
            return tf.sigmoid(answer[:, 0])
        return answer[:, column]

    found = [np.empty((0, matrix.shape[1]), np.float32)]
    for start in range(0, len(matrix), BATCH):
        rows = matrix[start : start + BATCH]
        try:
            given = [tf.constant(values) for values in fill(tensors, list(rows.T))]
            with tf.GradientTape() as tape:
                tape.watch(given)
                answer = score(call(given))
            slopes = tape.gradient(answer, given)
            flat = [np.array(slope).reshape(len(rows), -1) for slope in slopes]
            found.append(np.hstack(flat).astype(np.float32))
        except Exception as error:
            # any kind: TensorFlow and Keras raise their own, without a common base
            raise without_gradients(f"TensorFlow reported: {first_line(error)}") from error
    return np.concatenate(found)


def is_smooth(call: Call, tensors: Sequence[Tensor], reading: Reading) -> bool:
    """Return whether derivatives by all inputs can be taken, by taking some."""
    if any(np.dtype(tensor.kind).kind != "f" for tensor in tensors):
        return False
    width = sum(tensor.width for tensor in tensors)
    try:
        found = gradients(call, tensors, reading, np.zeros((2, width)), 0)
    except ModelError:
        return False
    return found.shape == (2, width)


def read_answer(values: NDArray[Any], activation: str, learnt: Learnt) -> Answer:
    """Return what an output is, from what made it and what it answered to made-up rows.

    Parameters
    ----------
    values : NDArray
        ``(n, k)``.
    activation : str
        The last activation, as Keras names it; empty when unknown.
    """
    width = values.shape[1]
    classes = tuple(str(i) for i in range(max(width, 2)))
    beyond = not ((values >= -_ROUNDING) & (values <= 1 + _ROUNDING)).all()
    if width == 1:
        return _one(activation, learnt, classes, beyond=beyond)
    if activation == "softmax" or (not activation and not beyond):
        return Answer("probabilities", "probabilities", classes)
    if activation == "sigmoid":
        return Answer("probabilities", "scores", classes, (EACH_FOR_ITSELF,))
    linear = activation in ("", "linear")
    return Answer("scores", "scores", classes, (LOGITS if linear else EACH_FOR_ITSELF,))


def _one(activation: str, learnt: Learnt, classes: tuple[str, ...], *, beyond: bool) -> Answer:
    if activation in ("sigmoid", "softmax") or (not activation and not beyond):
        return Answer("probabilities", "probabilities", classes)
    if activation == "tanh":
        return Answer("scores", "scores", classes, (TANH,))
    if learnt == "values":
        return Answer("values", "values", ())
    if activation not in ("", "linear"):
        return Answer("values", "values", (), (ESTIMATE,))
    if learnt == "log-odds":
        return Answer("scores", "probabilities", classes)
    return Answer("scores", "scores", classes, (LOGIT,))


def tensor_of(name: str, shape: Sequence[int | None], kind: str, path: Path) -> Tensor:
    """Describe an input of a model; unknown lengths are those of one row.

    Raises
    ------
    ModelError
        When it is not one of a table's rows.
    """
    tail = tail_of(path, name, shape)
    try:
        numbers = object if kind == "string" else np.dtype(kind).type
    except TypeError as error:
        raise ModelError(
            f"“{path.name}” takes an input “{name}” of the type {kind}.",
            remedy="Choose a model that takes numbers or text.",
        ) from error
    return Tensor(name, numbers, tail)


def made_up(tensors: Sequence[Tensor]) -> list[NDArray[Any]]:
    """Make 64 rows up; whole numbers are noughts and ones, texts are empty."""
    rng = np.random.default_rng(0)
    made: list[NDArray[Any]] = []
    for tensor in tensors:
        shape = (64, *tensor.tail)
        if tensor.text:
            made.append(np.full(shape, "", dtype=object))
        elif np.dtype(tensor.kind).kind == "f":
            made.append(rng.normal(0, 3, shape).astype(tensor.kind))
        else:
            made.append(rng.integers(0, 2, shape).astype(tensor.kind))
    return made


def open_with_tensorflow(
    path: Path,
    parts: KerasParts,
    named: Named,
    *,
    why: str,
    learnt: Learnt = "",
    output: str = "",
    trusted: bool = False,
) -> TensorFlowModel:
    """Open a Keras file with TensorFlow, in Keras's safe mode unless the file needs trust.

    Parameters
    ----------
    named : Named
        What that names, which was looked through already.
    why : str
        What of the network FairDesk does not compute by itself.
    output : str
        Which output answers; empty for the first.
    trusted : bool
        Whether code inside may run.

    Raises
    ------
    TrustRequiredError
        When it carries code and ``trusted`` is false.
    ModelError
        When TensorFlow is not installed or refuses the file, or the model does not take rows of
        a table and answer classes or a number.
    """
    if named.programs and not trusted:
        names = ", ".join(f"“{name}”" for name in named.programs)
        raise TrustRequiredError(
            f"“{path.name}” can run code when opened: its layers {names} contain Python code.",
            why=(
                "Opening it runs any code that its author put into them, with your permissions: "
                "it could read, change or send your files."
            ),
            remedy="Open it only if you know where it comes from. Otherwise ask for the model "
            "without Lambda layers.",
        )
    tf = tensorflow(path, why)
    import keras  # noqa: PLC0415 - loaded just now

    try:
        model = load_as_written(keras, path, parts, safe=not named.programs)
    except Exception as error:
        # any kind: Keras raises whatever its layers do
        raise ModelError(
            f"Keras {keras.__version__} cannot open “{path.name}”.",
            why=f"It has {why}, and Keras reported: {first_line(error)}",
            remedy="Save the model again with that version, or export it as ONNX.",
        ) from error
    makers = [getattr(tensor, "_keras_history", None) for tensor in model.outputs]
    outputs = tuple(maker.operation.name if maker else "" for maker in makers)
    place = outputs.index(output) if output in outputs else 0
    tensors = [
        tensor_of(tensor.name, tensor.shape, str(tensor.dtype), path) for tensor in model.inputs
    ]
    call = tf.function(_call(keras, model, place), reduce_retracing=True)
    values = answered(call, made_up(tensors))
    answer = read_answer(values, last_activation(makers[place]), learnt)
    smooth = not named.kinds & STEPPED and is_smooth(call, tensors, answer.reading)
    texts = any(tensor.text for tensor in tensors) and "TextVectorization" in named.kinds
    can = {
        Capability.GRADIENTS: smooth,
        Capability.TEXT: texts,
        Capability.RETRAINS: bool(answer.classes) and len(outputs) == 1,
    }
    version = parts.version
    return _opened(
        path,
        call,
        tensors,
        answer,
        can,
        format=f"Keras {version.partition('.')[0]} network" if version else "Keras network",
        summary=f"Network with {why}, {model.count_params():,} weights, computed by TensorFlow "
        f"{tf.__version__}.",
        saved_with=f"Keras {version}" if version else "",
        outputs=outputs if len(outputs) > 1 else (),
        output=outputs[place],
        needed_trust=bool(named.programs),
    )


def _opened(
    path: Path,
    call: Call,
    tensors: Sequence[Tensor],
    answer: Answer,
    can: Mapping[Capability, bool],
    **about: Any,  # noqa: ANN401 - the other fields of a card
) -> TensorFlowModel:
    takes = taken(tensors)
    card = ModelCard(
        path=str(path),
        sha256=sha256(path),
        takes=takes.takes,
        inputs=takes.inputs,
        named=takes.named,
        classes=answer.classes,
        scores=answer.scores,
        warnings=answer.warnings,
        can=(Capability.DECIDES, Capability.SCORES, *(each for each in can if can[each])),
        accepts=takes.accepts,
        **about,
    )
    return TensorFlowModel(card, call, tensors, answer.reading)


def _call(keras: Any, model: Any, place: int) -> Call:  # noqa: ANN401 - Keras has no types
    """Return the function from the model's tensors to one of its outputs."""
    structure = getattr(model, "_inputs_struct", None)

    def call(tensors: list[Any]) -> Any:  # noqa: ANN401 - as above
        given = tensors if len(tensors) > 1 else tensors[0]
        if isinstance(structure, dict):
            given = keras.tree.pack_sequence_as(structure, tensors)
        return keras.tree.flatten(model(given, training=False))[place]

    return call


def last_activation(maker: Any) -> str:  # noqa: ANN401 - as above
    """Return the name of an output's last activation; empty when Keras has no name for it."""
    operation = maker.operation if maker else None
    kind = type(operation).__name__
    if kind in ("Softmax", "Sigmoid", "Tanh"):
        return kind.lower()
    if kind in ("ReLU", "LeakyReLU", "ELU", "PReLU"):
        return kind
    if kind not in ("Activation", "Dense"):
        return ""
    return str(getattr(getattr(operation, "activation", None), "__name__", ""))


#: What is asked where a model offers several functions.
_USUAL = ("serving_default", "serve")


def open_saved_model(path: Path, *, trusted: bool = False, output: str = "") -> TensorFlowModel:
    """Open a folder that TensorFlow or Keras exported. This runs whatever its author put into it.

    Parameters
    ----------
    output : str
        Which of its outputs answers; empty for the first.

    Raises
    ------
    TrustRequiredError
        When it is not trusted; then nothing of it was run.
    ModelError
        When TensorFlow is not installed or refuses it, or it does not take rows of a table.
    """
    if any(part.is_symlink() for part in path.rglob("*")):
        raise ModelError(
            f"“{path.name}” contains links to other places on this computer.",
            remedy="Get the folder again, with all of its files inside.",
        )
    if not trusted and has_tensorflow():
        raise TrustRequiredError(
            f"“{path.name}” can run code when opened: it is a TensorFlow SavedModel.",
            why="Its operations can read and write files, with your permissions.",
            remedy="Open it only if you know where it comes from. Otherwise ask for the model as "
            ".keras or ONNX.",
        )
    tf = tensorflow(path, "a TensorFlow program (a SavedModel)")
    try:
        loaded = tf.saved_model.load(str(path))
        name = _name(loaded.signatures)
        function = loaded.signatures[name]
    except Exception as error:
        # any kind: TensorFlow raises its own, without a common base
        raise ModelError(
            f"TensorFlow {tf.__version__} cannot open “{path.name}”.",
            why=f"It reported: {first_line(error)}",
            remedy="Export the model again, or ask for it as .keras or ONNX.",
        ) from error
    given = function.structured_input_signature[1]
    tensors = [
        tensor_of(key, _lengths(spec, path), spec.dtype.name, path) for key, spec in given.items()
    ]
    outputs = tuple(function.structured_outputs)
    if not tensors or not outputs:
        raise ModelError(
            f"“{path.name}” has no inputs or no outputs.",
            remedy="Choose a model of a table’s rows.",
        )
    chosen = choose(path, outputs, output)

    def call(values: list[Any]) -> Any:  # noqa: ANN401 - TensorFlow has no types
        named = zip(given, values, strict=True)
        # a function lives as long as what it was loaded with
        return loaded.signatures[name](**{key: tf.convert_to_tensor(v) for key, v in named})[chosen]

    answer = read_answer(answered(call, made_up(tensors)), "", "")
    return _opened(
        path,
        call,
        tensors,
        answer,
        {Capability.GRADIENTS: is_smooth(call, tensors, answer.reading)},
        format="TensorFlow SavedModel",
        summary=f"TensorFlow program, function “{name}”, computed by TensorFlow {tf.__version__}.",
        saved_with=f"TensorFlow {loaded.tensorflow_version}"
        if hasattr(loaded, "tensorflow_version")
        else "",
        outputs=outputs if len(outputs) > 1 else (),
        output=chosen,
        needed_trust=True,
    )


def _name(signatures: Mapping[str, Any]) -> str:
    """Choose the function that is asked; a `LookupError` follows where there is none."""
    return next((name for name in _USUAL if name in signatures), next(iter(signatures), ""))


def _lengths(spec: Any, path: Path) -> list[int | None]:  # noqa: ANN401 - as above
    """Return the shape of an input."""
    if spec.shape.rank is None:
        raise without_width(path)
    return list(spec.shape)
