"""TensorFlow's SavedModel: a folder with a program and its weights."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairdesk.errors import ModelError, TrustRequiredError
from fairdesk.files import sha256
from fairdesk.models.decisions.outputs import choose, first_line
from fairdesk.models.decisions.tensors import taken
from fairdesk.models.keras.loading import has_tensorflow, tensorflow
from fairdesk.models.keras.tensorflow import (
    TensorFlowModel,
    answered,
    is_smooth,
    made_up,
    read_answer,
    tensor_of,
)
from fairdesk.models.model import Capability, ModelCard

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
    takes = taken(tensors)
    can = {
        Capability.DECIDES: True,
        Capability.SCORES: True,
        Capability.GRADIENTS: is_smooth(call, tensors, answer.reading),
    }
    card = ModelCard(
        path=str(path),
        sha256=sha256(path),
        format="TensorFlow SavedModel",
        summary=f"TensorFlow program, function “{name}”, computed by TensorFlow {tf.__version__}.",
        takes=takes.takes,
        inputs=takes.inputs,
        named=takes.named,
        classes=answer.classes,
        scores=answer.scores,
        saved_with=f"TensorFlow {loaded.tensorflow_version}"
        if hasattr(loaded, "tensorflow_version")
        else "",
        warnings=answer.warnings,
        can=tuple(capability for capability, it_is in can.items() if it_is),
        accepts=takes.accepts,
        outputs=outputs if len(outputs) > 1 else (),
        output=chosen,
        needed_trust=True,
    )
    return TensorFlowModel(card, call, tensors, answer.reading)


def _name(signatures: Mapping[str, Any]) -> str:
    """Choose the function that is asked; a `LookupError` follows where there is none."""
    return next((name for name in _USUAL if name in signatures), next(iter(signatures), ""))


def _lengths(spec: Any, path: Path) -> list[int | None]:  # noqa: ANN401 - as above
    """Return the shape of an input."""
    if spec.shape.rank is None:
        raise ModelError(
            f"“{path.name}” does not state how many inputs it takes.",
            remedy="Export it with a fixed number of columns.",
        )
    return list(spec.shape)
