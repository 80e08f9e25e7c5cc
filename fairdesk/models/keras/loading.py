"""Loading TensorFlow, and Keras files by it."""

from __future__ import annotations

import os
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fairdesk.errors import ModelError
from fairdesk.models.keras.parts import KerasParts, with_slashes


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
