"""Training a Keras network anew, through TensorFlow, an epoch at a time.

An epoch is one call of a compiled loop over its batches: to call a small network's step by step
costs four times what the arithmetic does. A long loop of a network of dense layers is compiled by
XLA, and kept with the network, since a repair trains the same one again and again; data are padded
to few lengths, so that other portions find it compiled.

What is kept of the imported network: layers that learn nothing from labels (normalisations, lists
of words), and layers that its maker froze. All other weights are new, from the layers' own
initialisers; or, for tuning, those of the file.

Same seed, same result, unless the network's own initialisers were given a seed by its maker: then
new weights are always the same, and the seed tells only in which order rows are seen.

Nothing that a file names is imported: names are looked up here, and of their settings only numbers
are taken.
"""

from __future__ import annotations

import inspect
import shutil
import tempfile
import weakref
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.models.decisions.tensors import fill, fill_matrix, taken
from fairdesk.models.dense.layers import DenseNetwork, Learnt
from fairdesk.models.keras.file import learnt_from, open_keras
from fairdesk.models.keras.parts import described, look_through, of_output, opened
from fairdesk.models.keras.tensorflow import (
    TensorFlowModel,
    last_activation,
    load_network,
    tensor_of,
    tensorflow,
)
from fairdesk.models.model import MatrixModel, ModelCard, OpenedModel, Takes
from fairdesk.models.retrain.losses import training_errors
from fairdesk.results.events import Scores

if TYPE_CHECKING:
    from fairdesk.models.retrain.losses import Training, TrainingBatch


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
    name, settings = described(of_output(training.get("loss"), output))
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
    name, settings = described(own) if chosen == "own" else (chosen, {})
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
        schedule, planned = described(rate)
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


#: Layers that learn nothing from labels.
_PREPARING = frozenset(
    {"CategoryEncoding", "Discretization", "HashedCrossing", "Hashing", "IntegerLookup"}
    | {"Normalization", "StringLookup", "TextVectorization"}
)
#: Held-out rows are asked about in batches of so many.
_CHECKED = 1024
#: To compile a loop with XLA takes seconds; fewer steps than that are done sooner without.
_WORTH_COMPILING = 2_000
#: Networks that are kept, with their compiled loops.
_KEPT = 2


def refit_keras(
    model: OpenedModel,
    training_set: TrainingBatch,
    held_out: TrainingBatch,
    training: Training,
    seed: int,
) -> Generator[tuple[int, int], None, OpenedModel]:
    """Train a network anew; the one given stays as it is.

    It ends when the loss on the rows held out has not fallen for ``training.patience`` epochs, and
    keeps the weights of the epoch with the lowest. Without such rows, the lesson's is looked at.

    Parameters
    ----------
    lesson, held_out : Taught
        Numbers ``(n, inputs)``, or one array per input.
    seed : int
        Of new weights, of the order of rows, and of what layers draw.

    Yields
    ------
    tuple[int, int]
        Epochs done, and at most to be done.

    Returns
    -------
    OpenedModel
        Of the same kind, from a new file of its own, which goes when the model does.

    Raises
    ------
    ModelError
        When TensorFlow refuses it, when training diverges, or there is not enough memory.
    """
    card = model.card
    steps = training.epochs * -(-len(training_set.targets) // training.batch)
    with _errors(len(training_set.targets)):
        network = _network(
            card.path,
            card.sha256,
            training.optimiser,
            tune=training.start == "tune",
            trusted=card.needed_trust,
            compiled=isinstance(model, DenseNetwork) and steps > _WORTH_COMPILING,
        )
        network.begin(seed)
        taught, held = network.data(training_set, card), network.data(held_out, card)
    rng = np.random.default_rng(seed)
    best, best_weights, waited = np.inf, network.model.get_weights(), 0
    for epoch in range(1, training.epochs + 1):
        with _errors(len(training_set.targets)):
            loss = network.epoch(taught, training.batch, rng)
            if held.weight:
                loss = network.loss_on(held) if np.isfinite(loss) else loss
        if not np.isfinite(loss):
            what = f"Training diverged in epoch {epoch}: the loss is no longer a number."
            raise _diverged(what, training)
        waited = 0 if loss < best else waited + 1
        if not waited:
            best, best_weights = loss, network.model.get_weights()
        yield epoch, training.epochs
        if waited >= training.patience:
            break
    with _errors(len(training_set.targets)):
        network.model.set_weights(best_weights)
        again = _opened_again(network.model, model)
        alike = np.ptp(_scores(again, training_set.given), axis=0).max() == 0
    if alike:
        raise _diverged("The trained network gives the same scores for all rows.", training)
    return again


#: What TensorFlow raises while it trains.
_errors = partial(
    training_errors,
    library="TensorFlow",
    enough="Use fewer rows per batch, or close other programs.",
)


def _scores(model: OpenedModel, given: Any) -> Scores:  # noqa: ANN401 - a matrix or a list
    if model.card.takes is Takes.MATRIX:
        return cast("MatrixModel", model).matrix_scores(given)
    return model.scores(given)


def _diverged(what: str, training: Training) -> ModelError:
    other = "Adam" if training.optimiser != "adam" else "RMSprop"
    tuned = ", or start training from the original weights" if training.start != "tune" else ""
    return ModelError(
        what,
        why="The learning rate is too high for these rows, or a column holds very large numbers.",
        remedy=f"Choose another optimiser ({other}) or more rows in a batch{tuned}: this takes "
        "smaller steps.",
    )


_Learnt = tuple[list[Any], Any, Any]


class _Data(NamedTuple):
    """A lesson as TensorFlow takes it, padded to a length that others share.

    Attributes
    ----------
    rows : int
        How many there really are.
    padded : int
        How many with padding.
    weight : float
        Of all together.
    learnt : tuple
        What the network is given, what it should answer ``(padded, width)``, and how much each
        counts ``(padded,)``: 0 of padding.
    """

    rows: int
    padded: int
    weight: float
    learnt: _Learnt


class _Network:
    """A network that is trained, again and again, with the loops that train it.

    Parameters
    ----------
    optimiser : str
        As of `Training`.
    tune : bool
        Whether it begins with the weights of the file.
    trusted : bool
        Whether code inside may run.
    """

    def __init__(
        self, path: Path, optimiser: str, *, tune: bool, trusted: bool, compiled: bool
    ) -> None:
        self._tf = tf = tensorflow(path, "to be trained")
        import keras  # noqa: PLC0415 - loaded just now

        self._keras = keras
        with opened(path) as parts:
            named = look_through(parts.config, path.name)
            if named.programs and not trusted:
                raise ModelError(
                    f"“{path.name}” contains Python code, which is not permitted to run.",
                    remedy="Open it with your consent first.",
                )
            if named.programs:
                # its code was agreed to
                keras.config.enable_unsafe_deserialization()
            self.model = load_network(keras, path, parts, safe=not named.programs)
            settings = parts.training
        if not self.model.trainable_variables:
            raise ModelError(
                f"“{path.name}” has no weights that can be trained.",
                why="Its author froze all of them.",
                remedy="Ask for the network before it was frozen.",
            )
        tf.config.experimental.enable_op_determinism()
        self._tune = tune
        self._compiled = compiled
        self._imported = self.model.get_weights()
        (output,) = self.model.outputs
        maker = getattr(output, "_keras_history", None)
        name = maker.operation.name if maker else ""
        learnt = learnt_from(settings.get("loss"), name, (name,))
        width = int(np.prod([length or 1 for length in output.shape[1:]]))
        self._loss = loss_of(settings, name, last_activation(maker), width, learnt)
        self._losses = self._loss.made(reduction=None)
        self._optimiser = optimiser_of(settings, optimiser, tune=tune)
        self._optimiser.build(self.model.trainable_variables)
        # so that its file tells how it was trained
        self.model.compile(self._optimiser, self._loss.made())
        self._unused = [variable.numpy() for variable in self._optimiser.variables]
        self._takes = [
            tensor_of(tensor.name, tensor.shape, str(tensor.dtype), path)
            for tensor in self.model.inputs
        ]

    def begin(self, seed: int) -> None:
        """Forget what was learnt."""
        self._keras.utils.set_random_seed(seed % (1 << 32))
        fresh = self._keras.models.clone_model(self.model, clone_function=_cloned, recursive=True)
        for own, new in zip(self.model.variables, fresh.variables, strict=True):
            own.assign(new)
        if self._tune:
            self.model.set_weights(self._imported)
        for variable, value in zip(self._optimiser.variables, self._unused, strict=True):
            variable.assign(value)

    def data(self, training_set: TrainingBatch, card: ModelCard) -> _Data:
        """Return a lesson to TensorFlow.

        Raises
        ------
        ModelError
            When a number is missing.
        """
        rows = len(training_set.targets)
        tensors = self._filled(training_set.given, card)
        if any(tensor.dtype.kind == "f" and np.isnan(tensor).any() for tensor in tensors):
            raise ModelError(
                "The network cannot learn from rows in which a number is missing.",
                remedy="Exclude the rows with missing cells.",
            )
        weights = np.ones(rows) if training_set.weights is None else training_set.weights
        padding = -rows % _grain(rows)

        def given(values: NDArray[Any]) -> Any:  # noqa: ANN401 - TensorFlow has no types
            empty = np.zeros((padding, *values.shape[1:]), values.dtype)
            if values.dtype == object:
                empty[:] = ""
            return self._tf.constant(np.concatenate([values, empty]))

        learnt = (
            [given(tensor) for tensor in tensors],
            given(self._loss.targets(training_set.targets)),
            given(weights.astype(np.float32)),
        )
        return _Data(rows, rows + padding, float(weights.sum()), learnt)

    def _filled(self, given: Any, card: ModelCard) -> list[NDArray[Any]]:  # noqa: ANN401 - a matrix or a list
        if card.takes is Takes.MATRIX:
            return [fill_matrix(self._takes[0], given)]
        # where columns are joined in the network, their order in the card is that of the joint
        own = taken(self._takes).inputs
        order = [card.inputs.index(name) for name in own] if set(own) == set(card.inputs) else None
        return fill(self._takes, given if order is None else [given[place] for place in order])

    def epoch(self, training_set: _Data, batch: int, rng: np.random.Generator) -> float:
        """Learn from all rows once, in a new order; gives the mean loss.

        The last batch is filled up with the first rows of the order.
        """
        size = min(batch, training_set.rows)
        steps = -(-training_set.rows // size)
        places = np.resize(rng.permutation(training_set.rows), steps * size)
        room = training_set.padded // size + 1
        order = np.zeros((max(room, steps), size), np.int32)
        order[:steps] = places.reshape(steps, size)
        total = self._learn(training_set.learnt, order, steps)
        return float(total) / steps

    def loss_on(self, training_set: _Data) -> float:
        """Return the mean loss on rows, without learning from them."""
        total = self._look(training_set.learnt, -(-training_set.rows // _CHECKED))
        return float(total) / training_set.weight

    @cached_property
    def _learn(self) -> Any:  # noqa: ANN401 - TensorFlow has no types
        tf, model, optimiser = self._tf, self.model, self._optimiser
        weights = model.trainable_variables

        def learn(data: _Learnt, order: Any, steps: Any) -> Any:  # noqa: ANN401 - as above
            tensors, targets, counts = data

            def step(i: Any, total: Any) -> tuple[Any, Any]:  # noqa: ANN401 - as above
                rows = tf.gather(order, i)
                given = [tf.gather(tensor, rows) for tensor in tensors]
                with tf.GradientTape() as tape:
                    each = self._row_losses(given, tf.gather(targets, rows), training=True)
                    loss = tf.reduce_mean(each * tf.gather(counts, rows))
                    whole = tf.add_n([loss, *model.losses])
                optimiser.apply(tape.gradient(whole, weights), weights)
                return i + 1, total + loss

            return tf.while_loop(lambda i, _: i < steps, step, (0, 0.0))[1]

        order = tf.TensorSpec((None, None), tf.int32)
        return self._function(learn, order, tf.TensorSpec((), tf.int32))

    @cached_property
    def _look(self) -> Any:  # noqa: ANN401 - as above
        tf = self._tf

        def look(data: _Learnt, steps: Any) -> Any:  # noqa: ANN401 - as above
            tensors, targets, counts = data

            def step(i: Any, total: Any) -> tuple[Any, Any]:  # noqa: ANN401 - as above
                # what is beyond the end is of no weight
                rows = tf.range(_CHECKED) + i * _CHECKED
                there = tf.cast(rows < tf.shape(counts)[0], tf.float32)
                rows = tf.minimum(rows, tf.shape(counts)[0] - 1)
                given = [tf.gather(tensor, rows) for tensor in tensors]
                each = self._row_losses(given, tf.gather(targets, rows), training=False)
                return i + 1, total + tf.reduce_sum(each * tf.gather(counts, rows) * there)

            return tf.while_loop(lambda i, _: i < steps, step, (0, 0.0))[1]

        return self._function(look, tf.TensorSpec((), tf.int32))

    def _function(self, function: Any, *more: Any) -> Any:  # noqa: ANN401 - as above
        """Compile a loop over data, whatever their length."""
        tf = self._tf
        tensors = [
            tf.TensorSpec((None, *tensor.tail), tf.string if tensor.text else tensor.kind)
            for tensor in self._takes
        ]
        some = self._loss.targets(np.zeros(1, np.int64))
        targets = tf.TensorSpec((None, *some.shape[1:]), some.dtype)
        signature = [(tensors, targets, tf.TensorSpec((None,), tf.float32)), *more]
        return tf.function(
            function, input_signature=signature, jit_compile=self._compiled, autograph=False
        )

    def _row_losses(self, given: list[Any], targets: Any, *, training: bool) -> Any:  # noqa: ANN401 - as above
        """Return the loss of each row."""
        structure = getattr(self.model, "_inputs_struct", None)
        inputs: Any = given if len(given) > 1 else given[0]
        if isinstance(structure, dict):
            inputs = self._keras.tree.pack_sequence_as(structure, given)
        answer = self._keras.tree.flatten(self.model(inputs, training=training))[0]
        # the answer itself: Keras has noted at it what came before its last activation, without
        # which nothing is learnt from an answer that is surely wrong
        shape = (-1, *[1] * (len(answer.shape) - 2), targets.shape[-1])
        return self._tf.reshape(self._losses(self._tf.reshape(targets, shape), answer), (-1,))


def _cloned(layer: Any) -> Any:  # noqa: ANN401 - Keras has no types
    """Make a layer anew; one that learns nothing from labels stays."""
    if type(layer).__name__ in _PREPARING or (layer.weights and not layer.trainable):
        return layer
    return layer.__class__.from_config(layer.get_config())


def _grain(rows: int) -> int:
    """Return the multiple to which a length is padded: at most half as much again."""
    return 1 << max(rows.bit_length() - 2, 0)


@lru_cache(maxsize=_KEPT)
def _network(
    path: str, _sha256: str, optimiser: str, *, tune: bool, trusted: bool, compiled: bool
) -> _Network:
    """Open a network to be trained; the same one for the same file and the same training."""
    return _Network(Path(path), optimiser, tune=tune, trusted=trusted, compiled=compiled)


def _opened_again(trained: Any, model: OpenedModel) -> OpenedModel:  # noqa: ANN401 - Keras has no types
    """Write a network to a file of its own, and open it as the imported one was opened."""
    folder = tempfile.mkdtemp(prefix="trained-")
    path = Path(folder) / "model.keras"
    try:
        trained.save(path)
        new = open_keras(path, trusted=model.card.needed_trust)
        again = _with_card_of(new, model.card, model)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(again, shutil.rmtree, folder, ignore_errors=True)
    return again


def _with_card_of(new: OpenedModel, card: ModelCard, model: OpenedModel) -> OpenedModel:
    """Return a network the card of the one that it was made from, but for its file."""
    card = msgspec.structs.replace(card, path=new.card.path, sha256=new.card.sha256)
    if isinstance(new, DenseNetwork):
        return DenseNetwork(card, new.layers, new.centre)
    if isinstance(new, TensorFlowModel):
        reading = model.reading if isinstance(model, TensorFlowModel) else new.reading
        return TensorFlowModel(card, new.call, new.tensors, reading)
    return new
