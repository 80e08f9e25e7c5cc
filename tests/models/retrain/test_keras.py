"""Training Keras networks anew: small ones, written by Keras itself."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.errors import ModelError
from fairdesk.models.dense.layers import DenseNetwork
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.keras.tensorflow import TensorFlowModel
from fairdesk.models.model import Capability
from fairdesk.models.open import open_model
from fairdesk.models.retrain.losses import Training, TrainingSet, why_not
from fairdesk.models.retrain.retraining import refit
from tests import phrases
from tests.models import tables
from tests.models.keras.test_file import dense, sequential, write_h5
from tests.models.learning import (
    HIRED,
    JOB,
    NUMBERS,
    TRAIN,
    accuracy,
    driven,
    fed,
    scores,
    taught,
    trained_file,
    training_set,
)
from tests.models.matching import match

keras = pytest.importorskip("keras", reason="Keras needs TensorFlow, which is not installed")

OTHERWISE = np.where(HIRED == "yes", "no", "yes")
COLUMNS = ("age", "hours")
QUICK = Training(epochs=25, batch=32, patience=25)


@pytest.fixture(scope="module")
def layers():
    """Layers of networks of the numbers, by what their end is like."""
    layer = keras.layers
    keras.utils.set_random_seed(1)
    normal = layer.Normalization()
    normal.adapt(NUMBERS)
    return {
        "sigmoid": [normal, layer.Dense(8, "relu"), layer.Dense(1, "sigmoid")],
        "softmax": [normal, layer.Dense(8, "tanh"), layer.Dense(2), layer.Softmax()],
        "logits": [normal, layer.Dense(8, "relu"), layer.Dense(2)],
        "tanh": [normal, layer.Dense(8, "relu"), layer.Dense(1, "tanh")],
    }


LOSSES = {
    "sigmoid": "binary_crossentropy",
    "softmax": "categorical_crossentropy",
    "logits": keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    "tanh": "hinge",
}


@pytest.fixture(scope="module")
def files(layers, tmp_path_factory):
    """Networks in files, by what their end is like."""
    folder = tmp_path_factory.mktemp("networks")
    found = {}
    for name, parts in layers.items():
        network = keras.Sequential([keras.Input((2,)), *parts])
        network.compile(keras.optimizers.Adam(0.02), LOSSES[name])
        found[name] = folder / f"{name}.keras"
        network.save(found[name])
    return found


def opened(path):
    return fed(path, COLUMNS, favourable="yes")


@pytest.mark.parametrize("end", ["sigmoid", "softmax", "logits", "tanh"])
def test_a_network_learns_what_it_is_taught_and_nothing_else_changes(files, end):
    old = opened(files[end])
    before = scores(old)
    new, told = taught(old, training=QUICK)
    assert told == [(i, 25) for i in range(1, len(told) + 1)]
    assert accuracy(new) > 0.8
    np.testing.assert_array_equal(scores(old), before)
    assert isinstance(new.opened, DenseNetwork)
    assert new.mapping == old.mapping
    card = new.opened.card
    assert card == msgspec.structs.replace(old.opened.card, path=card.path, sha256=card.sha256)
    assert card.sha256 != old.opened.card.sha256
    again = opened(trained_file(new))
    assert again.opened.card.sha256 == card.sha256
    np.testing.assert_array_equal(scores(again), scores(new))


def test_the_file_of_a_trained_network_goes_with_it(files):
    new, _ = taught(opened(files["sigmoid"]), training=Training(epochs=1))
    path = trained_file(new)
    assert path.is_file()
    del new
    assert not path.parent.exists()


def test_same_seed_same_network_also_after_others(files):
    old = opened(files["sigmoid"])
    few = Training(epochs=2)
    one = scores(taught(old, seed=1, training=few)[0])
    other = scores(taught(old, seed=2, training=few)[0])
    taught(old, seed=1, training=few, places=TRAIN[:150])
    np.testing.assert_array_equal(scores(taught(old, seed=1, training=few)[0]), one)
    assert (one != other).any()


def test_tuning_begins_with_the_imported_weights_and_takes_small_steps(files):
    old = opened(files["sigmoid"])
    one = Training(epochs=1, batch=512)
    tuned, _ = taught(old, training=replace(one, start="tune"))
    fresh, _ = taught(old, training=one)
    before = old.opened.layers
    moved = [
        np.abs(a.weights - b.weights).max()
        for a, b in zip(before, tuned.opened.layers, strict=True)
    ]
    # one step of Adam moves a weight by about its learning rate, a tenth of 0.02
    assert 0 < max(moved) < 0.01
    assert max(np.abs(before[0].weights - fresh.opened.layers[0].weights).ravel()) > 0.05


def test_training_ends_when_nothing_is_gained_and_keeps_the_best(files):
    old = opened(files["sigmoid"])
    training = Training(epochs=60, batch=16, patience=2)
    # what it is taught is the contrary of what is held out: the first epoch is the best
    contrary, told = taught(old, truth=OTHERWISE, training=training, held=TRAIN)
    assert told == [(1, 60), (2, 60), (3, 60)]
    first, _ = taught(old, truth=OTHERWISE, training=Training(epochs=1, batch=16))
    np.testing.assert_array_equal(scores(contrary), scores(first))


def test_weights_say_what_counts(files):
    old = opened(files["sigmoid"])
    half = np.arange(len(TRAIN)) % 2
    truth = HIRED.copy()
    truth[TRAIN[half == 0]] = OTHERWISE[TRAIN[half == 0]]
    new, _ = taught(old, truth=truth, weights=np.where(half, 1.9, 0.1), training=QUICK)
    assert accuracy(new) > 0.7
    held = training_set(old, TRAIN[half == 0], truth=truth)
    weights = np.where(half, 0.1, 1.9)
    new, _ = taught(old, truth=truth, weights=weights, training=QUICK, held=held)
    assert accuracy(new) < 0.3


def test_what_learns_nothing_from_labels_and_what_is_frozen_stay(tmp_path, layers):
    normal = layers["sigmoid"][0]
    frozen = keras.layers.Dense(8, "relu", name="frozen")
    network = keras.Sequential(
        [keras.Input((2,)), normal, frozen, keras.layers.Dense(1, "sigmoid")]
    )
    frozen.trainable = False
    network.save(tmp_path / "m.keras")
    new, _ = taught(opened(tmp_path / "m.keras"), training=Training(epochs=1))
    found = keras.models.load_model(trained_file(new))
    np.testing.assert_array_equal(found.get_layer("frozen").kernel, frozen.kernel)
    np.testing.assert_array_equal(found.layers[0].mean, normal.mean)
    network.trainable = False
    network.save(tmp_path / "m.keras")
    with pytest.raises(ModelError, match="no weights that can be trained"):
        taught(opened(tmp_path / "m.keras"))


@pytest.mark.parametrize(
    ("activation", "what"),
    [("linear", "Training diverged in epoch 1:"), ("relu", "gives the same scores for all rows")],
)
def test_divergence_is_told_with_a_way_out(tmp_path, activation, what):
    hidden, end = keras.layers.Dense(8, activation), keras.layers.Dense(1)
    network = keras.Sequential([keras.Input((2,)), hidden, end])
    network.compile(keras.optimizers.SGD(1e6), keras.losses.BinaryCrossentropy(from_logits=True))
    network.save(tmp_path / "m.keras")
    with pytest.raises(ModelError, match=what) as caught:
        taught(opened(tmp_path / "m.keras"), training=Training(epochs=3))
    assert "learning rate" in caught.value.why
    assert "another optimiser (Adam)" in caught.value.remedy


def test_too_little_memory_is_told(files, monkeypatch):
    from fairdesk.models.retrain import keras as refit_keras

    def filled(*_):
        raise MemoryError

    monkeypatch.setattr(refit_keras._Network, "_filled", filled)
    with pytest.raises(
        ModelError, match=f"{phrases.NOT_ENOUGH_MEMORY} to train the model with 399 rows"
    ):
        taught(opened(files["sigmoid"]))


def test_missing_numbers_are_refused(files):
    old = opened(files["sigmoid"])
    some = training_set(old)
    rows = some.rows.copy()
    rows[0, 0] = np.nan
    steps = refit(old, replace(some, rows=rows), some, Training(), 1)
    with pytest.raises(ModelError, match="a number is missing"):
        next(steps)


def test_no_row_held_out_ends_by_the_lesson(files):
    old = opened(files["sigmoid"])
    new, told = taught(old, held=np.empty(0, int), training=Training(epochs=3))
    assert len(told) == 3
    assert np.isfinite(scores(new)).all()


def test_old_files_with_a_free_dimension_are_trained_too(tmp_path):
    rng = np.random.default_rng(2)
    arrays = {
        "a": [rng.normal(size=(2, 6)), np.zeros(6)],
        "b": [rng.normal(size=(6, 1)), np.zeros(1)],
    }
    for shape in ([None, 2], [None, None, 2]):
        config = sequential(
            dense("a", 6, "tanh", batch_input_shape=shape), dense("b", 1, "sigmoid")
        )
        old = opened(write_h5(tmp_path / f"m{len(shape)}.h5", config, arrays))
        new, _ = taught(old, training=Training(epochs=20, batch=16, patience=20))
        assert isinstance(new.opened, DenseNetwork)
        assert new.opened.card.format == old.opened.card.format == "Keras 2 network"
        assert accuracy(new) > 0.6


def test_inputs_that_are_joined_are_given_in_their_order(tmp_path):
    hours, age = keras.Input((1,), name="hours"), keras.Input((1,), name="age")
    scaled = [keras.layers.Rescaling(1 / 50)(part) for part in (age, hours)]
    joined = keras.layers.Concatenate()(scaled)
    hidden = keras.layers.Dense(8, "relu")(joined)
    network = keras.Model([hours, age], keras.layers.Dense(1, "sigmoid")(hidden))
    network.compile(keras.optimizers.Adam(0.05), "binary_crossentropy")
    network.save(tmp_path / "m.keras")
    old = opened(tmp_path / "m.keras")
    assert isinstance(old.opened, DenseNetwork)
    assert old.opened.card.inputs == ("age", "hours")
    new, _ = taught(old, training=Training(epochs=40, batch=32, patience=40))
    assert new.opened.card.inputs == ("age", "hours")
    assert accuracy(new) > 0.75


def test_other_networks_are_trained_by_tensorflow_as_they_are_asked(tmp_path):
    layer = keras.layers
    network = keras.Sequential(
        [
            keras.Input((2, 1)),
            layer.Rescaling(1 / 50),
            layer.Conv1D(6, 1, activation="relu"),
            layer.Flatten(),
            layer.Dense(2, activation="softmax"),
        ]
    )
    network.compile(keras.optimizers.Adam(0.05), "sparse_categorical_crossentropy")
    network.save(tmp_path / "m.keras")
    old = opened(tmp_path / "m.keras")
    assert isinstance(old.opened, TensorFlowModel)
    assert why_not(old.opened) == ""
    new, _ = taught(old, training=Training(epochs=30, batch=32, patience=30))
    assert isinstance(new.opened, TensorFlowModel)
    assert new.opened.card.can == old.opened.card.can
    assert accuracy(new) > 0.75


def test_a_network_that_reads_texts_learns_from_them(tmp_path):
    layer = keras.layers
    words = layer.TextVectorization(vocabulary=["clerk", "cook", "smith"], output_sequence_length=1)
    network = keras.Sequential(
        [
            keras.Input((1,), dtype="string"),
            words,
            layer.Embedding(5, 3),
            layer.Flatten(),
            layer.Dense(1, activation="sigmoid"),
        ]
    )
    network.compile(keras.optimizers.Adam(0.1), "binary_crossentropy")
    network.save(tmp_path / "m.keras")
    jobs = tables.table(
        tables.names("text", JOB.tolist()),
        tables.names("label", np.where(JOB == "cook", "1", "0").tolist()),
    )
    found = open_model(tmp_path / "m.keras")
    attributes = (attribute_of(jobs.columns[0], Role.VARIES),)
    old = FedModel(found, match(found.card, jobs, "label", "1"), attributes)
    everybody = TrainingSet(jobs.codes[:, :1], jobs.codes[:, 1].astype(np.int64))
    training = Training(epochs=10, batch=32, patience=10)
    new, _ = driven(refit(old, everybody, everybody, training, 1))
    assert ((new.predict(everybody.rows)[:, 0] > 0.5) == everybody.targets).all()


def test_code_that_was_agreed_to_runs_when_its_network_is_trained(tmp_path):
    layer = keras.layers
    network = keras.Sequential(
        [keras.Input((2,)), layer.Lambda(lambda x: x / 50), layer.Dense(1, "sigmoid")]
    )
    network.compile(keras.optimizers.Adam(0.1), "binary_crossentropy")
    network.save(tmp_path / "m.keras")
    trusted = open_model(tmp_path / "m.keras", trusted=True)
    new, _ = taught(fed(trusted, COLUMNS), training=Training(epochs=20, batch=32, patience=20))
    assert new.opened.card.needed_trust
    assert accuracy(new) > 0.75


def test_dropout_normalised_batches_and_penalties_are_learnt_with(tmp_path):
    layer = keras.layers
    network = keras.Sequential(
        [
            keras.Input((2,)),
            layer.BatchNormalization(),
            layer.Dense(16, "relu", kernel_regularizer="l2", activity_regularizer="l2"),
            layer.Dropout(0.1),
            layer.Dense(1, "sigmoid"),
        ]
    )
    network.compile(keras.optimizers.Adam(0.02), "binary_crossentropy")
    network.save(tmp_path / "m.keras")
    old = opened(tmp_path / "m.keras")
    training = Training(epochs=40, batch=32, patience=40)
    new, _ = taught(old, training=training)
    assert accuracy(new) > 0.75
    found = keras.models.load_model(trained_file(new))
    assert abs(float(found.layers[0].moving_mean[0]) - NUMBERS[TRAIN, 0].mean()) < 5
    np.testing.assert_array_equal(scores(taught(old, training=training)[0]), scores(new))


def test_several_outputs_are_refused_with_the_reason(tmp_path):
    given = keras.Input((2,))
    ends = [keras.layers.Dense(1, "sigmoid", name=name)(given) for name in ("a", "b")]
    keras.Model(given, ends).save(tmp_path / "m.keras")
    found = open_model(tmp_path / "m.keras")
    assert Capability.RETRAINS not in found.card.can
    assert "several outputs" in why_not(found)


def test_what_a_description_names_is_looked_through_before_keras_sees_it(tmp_path):
    rng = np.random.default_rng(2)
    hostile = {"class_name": "Evil", "module": "os", "config": {}, "registered_name": None}
    config = sequential(
        dense("a", 1, "sigmoid", batch_input_shape=[None, 2], kernel_initializer=hostile)
    )
    arrays = {"a": [rng.normal(size=(2, 1)), np.zeros(1)]}
    old = opened(write_h5(tmp_path / "m.h5", config, arrays))
    with pytest.raises(ModelError, match=r"needs “os.Evil”"):
        taught(old)
