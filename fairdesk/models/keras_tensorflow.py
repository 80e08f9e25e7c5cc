"""Keras networks that are no plain chain of dense layers, computed by TensorFlow."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.events import Scores
from fairdesk.files import sha256
from fairdesk.models.answers import (
    first_line,
    from_margins,
    from_probabilities,
    numbers_of,
)
from fairdesk.models.model import Inputs, ModelCard, Takes

#: Rows per call, to bound the memory of wide networks.
BATCH = 16_384


class TensorFlowModel:
    """A Keras classifier that TensorFlow computes.

    Parameters
    ----------
    card : ModelCard
        What it is.
    call : callable
        From the list of the model's tensors to its answer ``(n, k)``.
    kinds : list of str
        The type of each tensor, as NumPy names it; ``"string"`` for text.
    """

    def __init__(self, card: ModelCard, call: Callable[[list[Any]], Any], kinds: list[str]) -> None:
        self._card = card
        self._call = call
        self._kinds = kinds

    @property
    def card(self) -> ModelCard:
        """What it is."""
        return self._card

    def matrix_scores(self, matrix: NDArray[np.float64]) -> Scores:
        """Answer for ``(n, inputs)`` numbers; as `OpenedModel.scores`."""
        return self._answer([numbers_of(matrix, self._kinds[0])])

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for one array per input; as `OpenedModel.scores`."""
        if self._card.takes is Takes.MATRIX:
            return self.matrix_scores(np.column_stack(inputs).astype(np.float64, copy=False))
        try:
            tensors = [
                (values.astype(str) if kind == "string" else numbers_of(values, kind))[:, None]
                for values, kind in zip(inputs, self._kinds, strict=True)
            ]
        except ValueError as error:
            raise ModelError(
                "The model takes a number where it was given text.",
                why=first_line(error),
                remedy="Check that each input is made from the right column.",
            ) from error
        return self._answer(tensors)

    def _answer(self, tensors: list[NDArray[Any]]) -> Scores:
        try:
            answers = [
                np.asarray(self._call([tensor[start : start + BATCH] for tensor in tensors]))
                for start in range(0, max(len(tensors[0]), 1), BATCH)
            ]
        except Exception as error:
            # any kind: TensorFlow and Keras raise their own, without a common base
            raise ModelError(
                f"The model refused {len(tensors[0]):,} rows.",
                why=f"TensorFlow says: {first_line(error)}",
                remedy="Check that each input is made from the right column.",
            ) from error
        make = from_margins if self._card.scores == "scores" else from_probabilities
        return make(np.concatenate(answers))


def open_with_tensorflow(
    path: Path, config: dict[str, Any], version: str, *, why: str
) -> TensorFlowModel:
    """Open a Keras file with TensorFlow, in Keras's safe mode.

    Parameters
    ----------
    path : Path
        The file.
    config : dict
        Its description, in which layers that run code were looked for already.
    version : str
        The Keras version that wrote it.
    why : str
        What of the network FairDesk does not compute by itself.

    Raises
    ------
    ModelError
        When TensorFlow is not installed or refuses the file, or the model does not take rows of
        a table and answer classes.
    """
    # TensorFlow writes its start-up to the terminal unless told otherwise before it is loaded
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    try:
        # ten seconds to load, and not installed everywhere
        import keras  # noqa: PLC0415
        import tensorflow as tf  # noqa: PLC0415
    except ImportError as error:
        raise ModelError(
            f"“{path.name}” needs TensorFlow, which is not installed.",
            why=f"FairDesk computes networks of dense layers by itself; this one has {why}.",
            remedy="Install it with “pip install fairdesk[all]”, or ask for the model as ONNX.",
        ) from error
    try:
        model = _load(keras, path, config)
    except Exception as error:
        # any kind: Keras raises whatever its layers do
        raise ModelError(
            f"Keras {keras.__version__} cannot open “{path.name}”.",
            why=f"It has {why}, and Keras says: {first_line(error)}",
            remedy="Save the model again with that version, or export it as ONNX.",
        ) from error
    takes, inputs = _inputs(model, path)
    classes, scores = _outputs(model, path)
    card = ModelCard(
        path=str(path),
        sha256=sha256(path),
        format=f"Keras {version.partition('.')[0]} network" if version else "Keras network",
        summary=f"Network with {why}, {model.count_params():,} weights, computed by TensorFlow "
        f"{tf.__version__}.",
        takes=takes,
        inputs=inputs,
        named=takes is Takes.COLUMNS,
        classes=classes,
        scores=scores,
        saved_with=f"Keras {version}" if version else "",
    )
    call = tf.function(
        lambda tensors: model(tensors if len(tensors) > 1 else tensors[0], training=False),
        reduce_retracing=True,
    )
    return TensorFlowModel(card, call, [str(tensor.dtype) for tensor in model.inputs])


def _load(keras: Any, path: Path, config: dict[str, Any]) -> Any:  # noqa: ANN401 - Keras has no types
    """Load a model without its training state.

    Keras 3 takes the ``batch_input_shape`` that Keras 2 wrote at the first layer of a sequential
    model for the shape of a row, and gets one dimension too many; so it is given an input layer.
    """
    layers = config["config"].get("layers", []) if isinstance(config["config"], dict) else []
    first = layers[0]["config"] if layers else {}
    if config.get("class_name") != "Sequential" or "batch_input_shape" not in first:
        return keras.saving.load_model(path, compile=False, safe_mode=True)
    settings = {key: value for key, value in first.items() if key != "batch_input_shape"}
    shape = {"batch_shape": first["batch_input_shape"], "dtype": first.get("dtype", "float32")}
    rebuilt = [
        {"class_name": "InputLayer", "config": shape},
        {**layers[0], "config": settings},
        *layers[1:],
    ]
    if layers[0]["class_name"] == "InputLayer":
        del rebuilt[1]
    model = keras.Sequential.from_config({**config["config"], "layers": rebuilt})
    model.load_weights(path)
    return model


def _inputs(model: Any, path: Path) -> tuple[Takes, tuple[str, ...]]:  # noqa: ANN401 - as above
    shapes = [tuple(tensor.shape) for tensor in model.inputs]
    if len(shapes) == 1 and len(shapes[0]) == 2 and shapes[0][1]:
        return Takes.MATRIX, tuple(f"input {i}" for i in range(1, shapes[0][1] + 1))
    if all(len(shape) == 2 and shape[1] == 1 for shape in shapes):
        return Takes.COLUMNS, tuple(tensor.name for tensor in model.inputs)
    raise ModelError(
        f"“{path.name}” takes inputs of the shapes {', '.join(map(str, shapes))}.",
        why="FairDesk feeds one matrix of numbers, or one column per input.",
        remedy="Choose a model of tables.",
    )


def _outputs(model: Any, path: Path) -> tuple[tuple[str, ...], str]:  # noqa: ANN401 - as above
    """Give the classes, and whether the answers are probabilities or scores without bounds."""
    shapes = [tuple(tensor.shape) for tensor in model.outputs]
    if len(shapes) != 1 or len(shapes[0]) != 2 or not shapes[0][1]:
        raise ModelError(
            f"“{path.name}” answers in the shapes {', '.join(map(str, shapes))}.",
            why="FairDesk audits models that answer a score per class for each row.",
            remedy="Choose a classifier.",
        )
    activation = getattr(getattr(model.layers[-1], "activation", None), "__name__", "")
    classes = tuple(str(i) for i in range(max(shapes[0][1], 2)))
    return classes, "scores" if activation == "linear" else "probabilities"
