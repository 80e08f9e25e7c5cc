"""What the description of a Keras network may name, before Keras itself sees it.

A description names classes and functions, and Keras imports what it names. So everything that it
names is compared with a list of what only computes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from fairdesk.errors import ModelError

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
