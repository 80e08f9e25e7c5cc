"""Keras files opened as data: their description, what it may name, and their weights.

Nothing of a file is unpacked to disk, no link in it is followed, and no size that it declares is
believed before it was compared with what the file holds.

A description names classes and functions, and Keras imports what it names. So everything that it
names is compared with a list of what only computes.
"""

from __future__ import annotations

import json
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path, PurePosixPath
from stat import S_ISLNK
from typing import TYPE_CHECKING, Any

import numpy as np

from fairdesk.errors import ModelError
from fairdesk.models.dense.layers import Float64

if TYPE_CHECKING:
    import h5py


#: How deep a description may be nested.
_DEEPEST = 200
_MODELS = frozenset({"Functional", "Model", "Sequential"})
#: Layers whose answers do not change smoothly with their inputs.
STEPPED = frozenset(
    {"CategoryEncoding", "Discretization", "Embedding", "HashedCrossing", "Hashing"}
    | {"IntegerLookup", "Masking", "StringLookup", "TextVectorization"}
)
_WORDS = frozenset({"IntegerLookup", "StringLookup", "TextVectorization"})
_POOLED = ("AveragePooling", "MaxPooling", "GlobalAveragePooling", "GlobalMaxPooling")
_SIZED = ("Conv", "Cropping", "SeparableConv", "SpatialDropout", "UpSampling", "ZeroPadding")
_LAYERS = STEPPED | {
    *("Activation", "ActivityRegularization", "Add", "AdditiveAttention", "AlphaDropout"),
    *("Attention", "Average", "BatchNormalization", "Bidirectional", "Concatenate"),
    *("Conv1DTranspose", "Dense", "DepthwiseConv1D", "Dot", "Dropout", "ELU", "EinsumDense"),
    *("Flatten", "GRU", "GRUCell", "GaussianDropout", "GaussianNoise", "GroupNormalization"),
    *("Identity", "InputLayer", "LSTM", "LSTMCell", "LayerNormalization", "LeakyReLU"),
    *("Maximum", "Minimum", "MultiHeadAttention", "Multiply", "Normalization", "PReLU"),
    *("Permute", "RMSNormalization", "RNN", "ReLU", "RepeatVector", "Rescaling", "Reshape"),
    *("SimpleRNN", "SimpleRNNCell", "Softmax", "SpectralNormalization", "StackedRNNCells"),
    *("Subtract", "ThresholdedReLU", "TimeDistributed", "UnitNormalization"),
    *(f"{name}{size}D" for name in (*_POOLED, *_SIZED) for size in (1, 2, 3)),
}
_OPERATIONS = frozenset(
    {"Absolute", "Add", "Clip", "Concatenate", "Divide", "Exp", "ExpandDims", "GetItem", "Log"}
    | {"Log1p", "Matmul", "Max", "Maximum", "Mean", "Min", "Minimum", "Multiply", "Negative"}
    | {"Power", "Relu", "Reshape", "Sigmoid", "Softmax", "Sqrt", "Square", "Squeeze", "Stack"}
    | {"Subtract", "Sum", "Tanh", "Transpose", "TrueDivide"}
)
_SMALL = frozenset(
    {"Constant", "GlorotNormal", "GlorotUniform", "HeNormal", "HeUniform", "Identity"}
    | {"LecunNormal", "LecunUniform", "Ones", "Orthogonal", "RandomNormal", "RandomUniform"}
    | {"TruncatedNormal", "VarianceScaling", "Zeros", "L1", "L1L2", "L2", "MaxNorm"}
    | {"MinMaxNorm", "NonNeg", "UnitNorm", "DTypePolicy", "FloatDTypePolicy", "Policy"}
)
_ALLOWED = _MODELS | _LAYERS | _OPERATIONS | _SMALL
#: Values that Keras writes as objects.
_VALUES = frozenset({"__bytes__", "__ellipsis__", "__keras_tensor__", "__numpy__", "__slice__"}) | {
    "__tensor__"
}
_FUNCTIONS = frozenset(
    {"celu", "elu", "exponential", "gelu", "glu", "hard_shrink", "hard_sigmoid", "hard_silu"}
    | {"hard_swish", "hard_tanh", "leaky_relu", "linear", "log_sigmoid", "log_softmax", "mish"}
    | {"relu", "relu6", "selu", "sigmoid", "silu", "soft_shrink", "softmax", "softplus"}
    | {"softsign", "sparse_plus", "sparsemax", "squareplus", "swish", "tanh", "tanh_shrink"}
    | {"threshold"}
)
#: Layers that bring a program or another file along, which agreeing would not help to run.
_REFUSED = {
    "TFSMLayer": "loads another model from a folder",
    "TorchModuleWrapper": "carries a PyTorch program",
    "JaxLayer": "carries a JAX program",
    "FlaxLayer": "carries a JAX program",
    "TFOpLambda": "is an operation of TensorFlow that Keras 3 does not have",
    "TensorFlowOpLayer": "is an operation of TensorFlow that Keras 3 does not have",
}
_LAMBDA = "Lambda"
_LAMBDA_VALUE = "__lambda__"
_KERAS_MODULE = re.compile(r"keras(\.[A-Za-z_0-9]+)*")


@dataclass
class Named:
    """What a description names.

    Attributes
    ----------
    programs : list[str]
        The layers that carry Python code of their author, by their names.
    kinds : set[str]
        The classes of all layers and what belongs to them.
    texts : set[str]
        Every text that is a setting.
    """

    programs: list[str] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)


def look_through(config: object, name: str) -> Named:
    """Compare everything that a description names with what only computes.

    Raises
    ------
    ModelError
        When it names something else than Lambda layers that is not on the list.
    ValueError
        When it is nested too deeply.
    """
    found = Named()
    waiting: list[tuple[object, int]] = [(config, 0)]
    while waiting:
        part, depth = waiting.pop()
        if depth > _DEEPEST:
            raise ValueError("its description is nested too deeply")
        if isinstance(part, dict):
            # what a Lambda layer carries is its own
            if not _named(part, found, name):
                waiting += [(value, depth + 1) for value in part.values()]
        elif isinstance(part, list):
            waiting += [(value, depth + 1) for value in part]
        elif isinstance(part, str):
            found.texts.add(part)
    return found


def _named(part: Mapping[str, object], found: Named, name: str) -> bool:
    """Look at one part; tell whether it is a program."""
    kind = part.get("class_name")
    if kind is None and not {"module", "registered_name"} & part.keys():
        return False
    if not isinstance(kind, str):
        raise _refusal(name, str(kind), "is named in an unusual way")
    settings = part.get("config")
    settings = settings if isinstance(settings, dict) else {"name": settings}
    module = part.get("module")
    if module not in (None, "builtins") and not _KERAS_MODULE.fullmatch(str(module)):
        raise _refusal(name, f"{module}.{kind}", "is not part of Keras")
    found.kinds.add(kind)
    if kind == _LAMBDA_VALUE or (kind == _LAMBDA and _carries_code(settings)):
        found.programs.append(str(settings.get("name") or kind))
        return True
    if kind in _REFUSED:
        raise _refusal(name, kind, _REFUSED[kind])
    if kind == "function":
        if settings.get("name") not in _FUNCTIONS:
            raise _refusal(name, str(settings.get("name")), OWN_CODE)
    elif kind not in _VALUES and (
        kind not in _ALLOWED or part.get("registered_name") not in (None, kind)
    ):
        raise _refusal(name, str(part.get("registered_name") or kind), OWN_CODE)
    if kind in _WORDS and any(
        isinstance(settings.get(key), str) for key in ("vocabulary", "idf_weights")
    ):
        raise _refusal(name, kind, "reads its vocabulary from another file")
    return False


def _carries_code(settings: Mapping[str, object]) -> bool:
    """Return whether a Lambda layer has its code inside, not only the name of a function."""
    function = settings.get("function")
    return isinstance(function, list) or (
        isinstance(function, dict) and function.get("class_name") == _LAMBDA_VALUE
    )


OWN_CODE = "is code of its author, or of a library, that is not in the file"


def _refusal(name: str, kind: str, why: str) -> ModelError:
    return ModelError(
        f"“{name}” needs “{kind}”, which {why}.",
        why="FairDesk allows Keras to run only what is known to compute and to do nothing else.",
        remedy="Ask for the model without it, or exported as ONNX.",
    )


#: A description longer than this is no network that anybody trained.
MOST_CONFIG_BYTES = 32 * 1024**2
#: All weights together.
MOST_WEIGHT_BYTES = 2 * 1024**3
#: What unpacks to more than so many times its size is a trap, beyond a size that does no harm.
MOST_RATIO = 200
HARMLESS_BYTES = 16 * 1024**2
#: Parts of an archive, and groups and arrays of an HDF5 file.
MOST_PARTS = 20_000

#: What the libraries below raise on a file that is cut off, altered, or of another making.
DAMAGE = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    lzma.LZMAError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)

Weights = Callable[[str, str], list[Float64]]


@dataclass(frozen=True)
class KerasParts:
    """What a Keras file holds.

    Attributes
    ----------
    config : dict[str, Any]
        The description of the network.
    training : dict[str, Any]
        How it was trained; empty when the file does not say.
    version : str
        Of the Keras that wrote it; empty when the file does not say.
    weights : Callable[[str, str], list[NDArray[np.float64]]]
        Reads the arrays of a layer by its name (`.h5`) or its place among the layers of its class
        (`.keras`).
    suffix : str
        By which Keras itself tells the kind of the file.
    """

    config: dict[str, Any]
    training: dict[str, Any]
    version: str
    weights: Weights
    suffix: str


@contextmanager
def opened(path: Path) -> Iterator[KerasParts]:
    """Open either kind of file.

    Raises
    ------
    ModelError
        When it holds weights without a network.
    ValueError, and others of `DAMAGE`
        When it is damaged or hostile.
    """
    # h5py takes a third of a second to load, and the window never needs it
    import h5py  # noqa: PLC0415

    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            _look_at_archive(archive)
            config = json.loads(_member(archive, "config.json", MOST_CONFIG_BYTES))
            metadata = json.loads(_member(archive, "metadata.json", MOST_CONFIG_BYTES))
            raw = _member(archive, "model.weights.h5", MOST_WEIGHT_BYTES)
        with h5py.File(BytesIO(raw), "r") as file:
            _look_at_groups(file)
            training = config.pop("compile_config", None) or {}
            version = str(metadata.get("keras_version", ""))
            yield KerasParts(config, dict(training), version, _by_place(file), ".keras")
        return
    with h5py.File(path, "r") as file:
        _look_at_groups(file)
        if "model_config" not in file.attrs:
            raise ModelError(
                f"“{path.name}” contains no model.",
                why="It is an HDF5 file without the description of a network: perhaps it "
                "holds weights only.",
                remedy="Save the whole model with model.save(), not only its weights.",
            )
        config = json.loads(_text(file.attrs["model_config"]))
        training = json.loads(_text(file.attrs.get("training_config", "{}"))) or {}
        version = _text(file.attrs.get("keras_version", ""))
        yield KerasParts(config, dict(training), version, _by_name(file), ".h5")


def _look_at_archive(archive: zipfile.ZipFile) -> None:
    """Refuse what would leave a folder when unpacked, or fill it; Keras itself unpacks some."""
    parts = archive.infolist()
    names = [part.filename for part in parts]
    if len(parts) > MOST_PARTS or len(set(names)) != len(names):
        raise ValueError("it has too many parts, or two of one name")
    for part in parts:
        place = PurePosixPath(part.filename.replace("\\", "/"))
        if place.is_absolute() or ".." in place.parts or ":" in part.filename:
            raise ValueError(f"its part “{part.filename}” lies outside of it")
        if S_ISLNK(part.external_attr >> 16):
            raise ValueError(f"its part “{part.filename}” is a link")
        _refuse_bomb(part.filename, part.file_size, part.compress_size)
    if sum(part.file_size for part in parts) > MOST_WEIGHT_BYTES:
        raise ValueError("its parts together are too large")


def _refuse_bomb(name: str, size: int, packed: int) -> None:
    if size > HARMLESS_BYTES and size > MOST_RATIO * max(packed, 1):
        raise ValueError(f"its part {name} is too large for what it holds")


def _member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    info = archive.getinfo(name)
    if info.file_size > most:
        raise ValueError(f"its part {name} is too large")
    return archive.read(info)


def _text(value: object) -> str:
    text = value.decode() if isinstance(value, bytes) else str(value)
    if len(text) > MOST_CONFIG_BYTES:
        raise ValueError("its description is too large")
    return text


def _look_at_groups(file: h5py.File) -> None:
    """Refuse links, arrays in other files and arrays that declare more than the file holds."""
    # h5py takes a third of a second to load, and the window never needs it
    import h5py  # noqa: PLC0415

    seen = set()
    waiting: list[tuple[str, Any]] = [("", file)]
    while waiting:
        place, group = waiting.pop()
        for name in group:
            if type(group.get(name, getlink=True)) is not h5py.HardLink:
                raise ValueError(f"“{place}{name}” is a link")
            found = group[name]
            # parts may hold each other
            address = h5py.h5o.get_info(found.id).addr
            if address in seen:
                continue
            seen.add(address)
            if len(seen) > MOST_PARTS:
                raise ValueError("it has too many parts")
            if isinstance(found, h5py.Group):
                waiting.append((f"{place}{name}/", found))
            elif isinstance(found, h5py.Dataset):
                _look_at_array(f"{place}{name}", found)


def _look_at_array(place: str, found: h5py.Dataset) -> None:
    if found.external or found.is_virtual:
        raise ValueError(f"“{place}” does not lie in the file")
    if found.nbytes > MOST_WEIGHT_BYTES:
        raise ValueError(f"“{place}” is too large")
    _refuse_bomb(f"“{place}”", found.nbytes, found.id.get_storage_size())


def _by_name(file: h5py.File) -> Weights:
    """Find weights as Keras writes them to `.h5`: a group per layer name."""
    read = _reader(file)

    def weights(name: str, _: str) -> list[Float64]:
        place = f"model_weights/{name}" if "model_weights" in file else name
        return [read(f"{place}/{_text(entry)}") for entry in file[place].attrs["weight_names"]]

    return weights


def _by_place(file: h5py.File) -> Weights:
    """Find weights as Keras writes them to `.keras`: a group per class and place in it."""
    read = _reader(file)
    places = slashed(file)
    # the second is how Keras 2.12 to 2.15 wrote sequential models
    roots = ("layers", "_layer_checkpoint_dependencies")
    root = next((name for name in roots if any(p.startswith(f"{name}/") for p in places)), "layers")

    def weights(_: str, place: str) -> list[Float64]:
        where = places[f"{root}/{place}/vars"]
        return [read(f"{where}/{i}") for i in range(len(file[where]))]

    return weights


def slashed(file: h5py.File) -> dict[str, str]:
    r"""Return the places in a file as Keras names them, and as they are called there.

    On Windows some versions of Keras wrote ``layers\dense`` as one name.

    Raises
    ------
    ValueError
        When two places have the same name so.
    """
    found: list[str] = []
    file.visit(found.append)
    places = {place.replace("\\", "/"): place for place in found}
    if len(places) != len(found):
        raise ValueError("two of its parts have the same name")
    return places


def with_slashes(path: Path, target: Path) -> bool:
    r"""Copy a `.keras` file whose parts are named as on Windows, with their names as elsewhere.

    Returns
    -------
    bool
        Whether there was anything to change; else nothing was written.
    """
    # h5py takes a third of a second to load, and the window never needs it
    import h5py  # noqa: PLC0415

    with zipfile.ZipFile(path) as archive:
        members = {part.filename: archive.read(part) for part in archive.infolist()}
    with h5py.File(BytesIO(members["model.weights.h5"]), "r") as file:
        places = slashed(file)
        if not any("\\" in place for place in (*places.values(), *members)):
            return False
        written = BytesIO()
        with h5py.File(written, "w") as copy:
            for place, there in places.items():
                if isinstance(file[there], h5py.Group):
                    made = copy.require_group(place)
                else:
                    made = copy.create_dataset(place, data=file[there][()])
                for name, value in file[there].attrs.items():
                    made.attrs[name] = value
    members["model.weights.h5"] = written.getvalue()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("\\", "/"), content)
    return True


def _reader(file: h5py.File) -> Callable[[str], Float64]:
    """Read arrays of numbers, together not more than a computer can hold."""
    left = MOST_WEIGHT_BYTES

    def read(place: str) -> Float64:
        nonlocal left
        found = file[place]
        if found.dtype.kind not in "fiub":
            raise ValueError(f"“{place}” holds no numbers")
        left -= 8 * found.size
        if left < 0:
            raise ValueError("its arrays together are too large")
        return np.asarray(found[()], dtype=np.float64)

    return read


def of_output(loss: object, output: str, outputs: Sequence[str] = ()) -> object:
    """Choose the loss of an output, which a file may tell by its name or in a list."""
    if isinstance(loss, dict) and output in loss:
        return loss[output]
    if isinstance(loss, list):
        place = outputs.index(output) if output in outputs else 0
        return loss[place] if place < len(loss) else None
    return loss


def described(part: object) -> tuple[str, Mapping[str, Any]]:
    """Read a name and settings in what Keras writes: a name alone, or a description."""
    if isinstance(part, str):
        return part, {}
    if not isinstance(part, dict):
        return "", {}
    settings, name = part.get("config"), part.get("class_name")
    if name == "function":
        return (settings, {}) if isinstance(settings, str) else ("", {})
    return str(name), settings if isinstance(settings, dict) else {}
