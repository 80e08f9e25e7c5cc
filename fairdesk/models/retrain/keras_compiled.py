"""How a Keras network was trained: the optimiser and the loss that its file tells, made anew.

Nothing that a file names is imported: names are looked up here, and of their settings only numbers
are taken.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.dense.chain import Learnt

#: Fine-tuning takes steps that are so much smaller.
TUNING = 0.1
_OPTIMISERS = {
    name.lower(): name
    for name in (
        *("Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Ftrl", "Lamb", "Lion"),
        *("Nadam", "RMSprop", "SGD"),
    )
}
#: Their "decay" was of the learning rate, a step at a time; Nadam's was of something else.
_DECAYING = frozenset({"adadelta", "adagrad", "adam", "adamax", "rmsprop", "sgd"})
_SCHEDULES = frozenset(
    {"CosineDecay", "CosineDecayRestarts", "ExponentialDecay", "InverseTimeDecay"}
    | {"PiecewiseConstantDecay", "PolynomialDecay"}
)
#: Settings that say how weights are kept, not how they are learnt; the rate is read by itself.
_NOT_KEPT = frozenset({"ema_momentum", "ema_overwrite_frequency", "learning_rate", "use_ema"})
#: Losses by the names that Keras writes in any version, in small letters without underscores.
_LOSSES = {
    "binarycrossentropy": "BinaryCrossentropy",
    "binaryfocalcrossentropy": "BinaryFocalCrossentropy",
    "categoricalcrossentropy": "CategoricalCrossentropy",
    "categoricalfocalcrossentropy": "CategoricalFocalCrossentropy",
    "categoricalhinge": "CategoricalHinge",
    "hinge": "Hinge",
    "huber": "Huber",
    "kld": "KLDivergence",
    "kldivergence": "KLDivergence",
    "logcosh": "LogCosh",
    "mae": "MeanAbsoluteError",
    "meanabsoluteerror": "MeanAbsoluteError",
    "meansquarederror": "MeanSquaredError",
    "mse": "MeanSquaredError",
    "sparsecategoricalcrossentropy": "SparseCategoricalCrossentropy",
    "squaredhinge": "SquaredHinge",
}
_SPARSE = "SparseCategoricalCrossentropy"
#: Of one number only; of a number for each class only. The others are of either.
_OF_ONE = frozenset({"Hinge", "SquaredHinge"})
_OF_MANY = frozenset(
    {"CategoricalCrossentropy", "CategoricalFocalCrossentropy", "CategoricalHinge", "KLDivergence"}
) | {_SPARSE}


@dataclass(frozen=True, slots=True)
class Loss:
    """What is to become small.

    Attributes
    ----------
    name : str
        Of Keras's class.
    settings : dict[str, Any]
        Its own.
    width : int
        How many numbers the network answers with.
    signed : bool
        Whether class 0 of two is −1 to it, not 0.
    """

    name: str
    settings: dict[str, Any]
    width: int
    signed: bool = False

    def made(self, **more: Any) -> Any:  # noqa: ANN401 - Keras has no types
        """Make it."""
        import keras  # noqa: PLC0415 - loaded with the model

        return getattr(keras.losses, self.name)(**self.settings, **more)

    def targets(self, classes: NDArray[np.int64]) -> NDArray[np.float32] | NDArray[np.int32]:
        """Return what the network should answer: ``(n, width)``, or ``(n, 1)`` classes."""
        if self.name == _SPARSE:
            return classes[:, None].astype(np.int32)
        if self.width == 1:
            return (2 * classes - 1 if self.signed else classes)[:, None].astype(np.float32)
        hot: NDArray[np.float32] = (classes[:, None] == np.arange(self.width)).astype(np.float32)
        return hot


def loss_of(
    training: Mapping[str, Any], output: str, activation: str, width: int, learnt: Learnt
) -> Loss:
    """Return the file's own loss where it is one of classes, else the one that fits the answer.

    Parameters
    ----------
    training : Mapping[str, Any]
        How the network was trained, as the file tells it.
    activation : str
        Its last activation; empty where it is unknown.
    """
    name, settings = _described(_of_output(training.get("loss"), output))
    own = _LOSSES.get(name.replace("_", "").lower(), "")
    if own and own not in (_OF_MANY if width == 1 else _OF_ONE):
        # hinges turn 0 into −1 themselves
        signed = activation == "tanh" and own not in _OF_ONE
        return Loss(own, _numbers(own, settings), width, signed)
    if activation == "tanh" and width == 1:
        return Loss("MeanSquaredError", {}, width, signed=True)
    logits = learnt == "log-odds" or activation == "linear"
    if width == 1:
        return Loss("BinaryCrossentropy", {"from_logits": logits}, width)
    if activation in ("softmax", "linear", ""):
        return Loss(_SPARSE, {"from_logits": logits}, width)
    return Loss("BinaryCrossentropy", {}, width)


def optimiser_of(training: Mapping[str, Any], chosen: str, *, tune: bool) -> Any:  # noqa: ANN401 - Keras has no types
    """Make an optimiser: the file's own where it tells, with its learning rate; else Adam.

    Parameters
    ----------
    chosen : str
        ``"own"``, or another by its name.
    tune : bool
        Whether weights are there already: then a tenth of the learning rate is taken.
    """
    import keras  # noqa: PLC0415 - loaded with the model

    own = training.get("optimizer", training.get("optimizer_config"))
    name, settings = _described(own) if chosen == "own" else (chosen, {})
    name = name.rpartition(">")[2].lower()
    kind = getattr(keras.optimizers, _OPTIMISERS.get(name, "Adam"))
    if name not in _OPTIMISERS:
        settings = {}
    rate = _rate(settings, name, tune=tune)
    numbers = _numbers(kind, settings)
    try:
        made = kind(**{**numbers, **({} if rate is None else {"learning_rate": rate})})
    except (TypeError, ValueError):
        # settings of another version of Keras
        made = kind()
    if tune and rate is None:
        made.learning_rate = TUNING * float(made.learning_rate)
    return made


def _rate(settings: Mapping[str, Any], name: str, *, tune: bool) -> Any:  # noqa: ANN401 - a number or a schedule
    """Return the learning rate that a file tells; ``None`` where it does not."""
    import keras  # noqa: PLC0415 - loaded with the model

    rate: Any = settings.get("learning_rate", settings.get("lr"))
    schedule = ""
    if isinstance(rate, dict):
        schedule, planned = _described(rate)
        values = planned.get("values")
        first = planned.get("initial_learning_rate", values[0] if values else None)
        kept = {key: value for key, value in planned.items() if _plain(value) and key != "name"}
        rate = first
    if not _number(rate) or rate <= 0:
        return None
    if tune:
        return TUNING * rate
    schedules = keras.optimizers.schedules
    if schedule in _SCHEDULES:
        try:
            return getattr(schedules, schedule)(**kept)
        except (TypeError, ValueError):
            # settings of another version of Keras
            return rate
    decay = settings.get("decay")
    if name in _DECAYING and _number(decay) and decay > 0:
        return schedules.InverseTimeDecay(rate, 1, decay)
    return rate


def _of_output(loss: object, output: str) -> object:
    """Choose the loss of the one output, which a file may tell by its name or in a list."""
    if isinstance(loss, dict) and output in loss:
        return loss[output]
    if isinstance(loss, list) and loss:
        return loss[0]
    return loss


def _described(part: object) -> tuple[str, Mapping[str, Any]]:
    """Read a name and settings in what Keras writes: a name alone, or a description."""
    if isinstance(part, str):
        return part, {}
    if not isinstance(part, dict):
        return "", {}
    settings, name = part.get("config"), part.get("class_name")
    if name == "function":
        return (settings, {}) if isinstance(settings, str) else ("", {})
    return str(name), settings if isinstance(settings, dict) else {}


def _numbers(kind: Any, settings: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - a class of Keras, or its name
    """Keep those settings that are plain numbers, and that a class of this Keras takes."""
    import keras  # noqa: PLC0415 - loaded with the model

    made = getattr(keras.losses, kind) if isinstance(kind, str) else kind
    taken = inspect.signature(made.__init__).parameters.keys() - _NOT_KEPT
    return {key: value for key, value in settings.items() if key in taken and _number(value)}


def _plain(value: object) -> bool:
    return _number(value) or (isinstance(value, Sequence) and all(map(_number, value)))


def _number(value: object) -> TypeGuard[float]:
    return isinstance(value, bool | int | float)
