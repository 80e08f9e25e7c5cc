"""What a Keras file tells about its training, read as names and numbers only."""

import numpy as np
import pytest

from fairdesk.models.retrain.keras import loss_of, optimiser_of

keras = pytest.importorskip("keras", reason="Keras needs TensorFlow, which is not installed")


def own(name, tune=False, **settings):
    told = {"optimizer_config": {"class_name": name, "config": settings}}
    return optimiser_of(told, "own", tune=tune)


def rate(optimiser):
    return float(optimiser.learning_rate)


def test_the_own_optimiser_keeps_its_settings():
    found = own("Adam", learning_rate=0.03, beta_1=0.8, amsgrad=True, decay=0.0)
    assert type(found) is keras.optimizers.Adam
    assert (rate(found), found.beta_1, found.amsgrad) == (pytest.approx(0.03), 0.8, True)
    assert rate(own("SGD", lr=0.5, momentum=0.9)) == 0.5
    assert type(own("Custom>RMSprop", learning_rate=0.1)) is keras.optimizers.RMSprop
    assert type(optimiser_of({"optimizer": "nadam"}, "own", tune=False)) is keras.optimizers.Nadam


def test_tuning_takes_a_tenth_of_the_learning_rate():
    assert rate(own("Adam", tune=True, learning_rate=0.03)) == pytest.approx(0.003)
    assert rate(optimiser_of({}, "own", tune=True)) == pytest.approx(0.0001)
    assert rate(optimiser_of({}, "sgd", tune=True)) == pytest.approx(0.001)


def test_another_optimiser_than_the_own_one_has_its_usual_settings():
    told = {"optimizer": {"class_name": "SGD", "config": {"learning_rate": 7.0}}}
    found = optimiser_of(told, "adam", tune=False)
    assert type(found) is keras.optimizers.Adam
    assert rate(found) == pytest.approx(0.001)


def test_a_learning_rate_that_falls_goes_on_falling():
    plan = {"initial_learning_rate": 0.4, "decay_steps": 10, "decay_rate": 0.5}
    schedule = {"class_name": "ExponentialDecay", "config": plan, "module": "os"}
    found = own("Adam", learning_rate=schedule)
    found.iterations.assign(10)
    assert rate(found) == pytest.approx(0.2)
    assert rate(own("Adam", tune=True, learning_rate=schedule)) == pytest.approx(0.04)
    # as Keras 2 wrote it; of Nadam that name means something else
    found = own("Adam", lr=0.4, decay=0.1)
    found.iterations.assign(10)
    assert rate(found) == pytest.approx(0.2)
    assert rate(own("Nadam", learning_rate=0.001, decay=0.004)) == pytest.approx(0.001)


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"optimizer": {"class_name": "Mine", "config": {"learning_rate": 9.0}}},
        {"optimizer": {"class_name": "__import__", "module": "os", "config": None}},
        {"optimizer": ["adam"]},
        {"optimizer_config": {"class_name": "Adam", "config": {"learning_rate": "much"}}},
        {"optimizer_config": {"class_name": "Adam", "config": {"learning_rate": -1.0}}},
        {"optimizer_config": {"class_name": "Adam", "config": {"clipnorm": -5, "clipvalue": 3}}},
    ],
)
def test_what_is_not_known_is_adam(told):
    found = optimiser_of(told, "own", tune=False)
    assert type(found) is keras.optimizers.Adam
    assert rate(found) == pytest.approx(0.001)


@pytest.mark.parametrize(
    ("loss", "activation", "width", "learnt", "name", "settings"),
    [
        ("binary_crossentropy", "sigmoid", 1, "", "BinaryCrossentropy", {}),
        ({"class_name": "function", "config": "mse"}, "sigmoid", 1, "", "MeanSquaredError", {}),
        ({"end": "hinge"}, "tanh", 1, "", "Hinge", {}),
        (["mae"], "softmax", 2, "", "MeanAbsoluteError", {}),
        # a loss that cannot be of such an answer, or is nobody's
        (
            "categorical_crossentropy",
            "sigmoid",
            1,
            "",
            "BinaryCrossentropy",
            {"from_logits": False},
        ),
        ("hinge", "softmax", 3, "", "SparseCategoricalCrossentropy", {"from_logits": False}),
        ("mine", "linear", 1, "log-odds", "BinaryCrossentropy", {"from_logits": True}),
        (None, "linear", 4, "", "SparseCategoricalCrossentropy", {"from_logits": True}),
        (None, "sigmoid", 2, "", "BinaryCrossentropy", {}),
        (None, "tanh", 1, "", "MeanSquaredError", {}),
    ],
)
def test_the_loss_is_the_own_one_or_the_one_that_fits(
    loss, activation, width, learnt, name, settings
):
    found = loss_of({"loss": loss}, "end", activation, width, learnt)
    assert (found.name, found.settings) == (name, settings)
    assert found.made(reduction=None) is not None


def test_only_numbers_are_taken_from_the_settings_of_a_loss():
    settings = {"from_logits": True, "name": "x", "axis": -1, "dtype": {"module": "os"}}
    told = {"loss": {"class_name": "BinaryCrossentropy", "module": "os", "config": settings}}
    found = loss_of(told, "", "linear", 1, "log-odds")
    assert found.settings == {"from_logits": True, "axis": -1}


def test_targets_are_what_the_loss_compares_with():
    classes = np.array([0, 1, 2])
    sparse = loss_of({}, "", "softmax", 3, "").targets(classes)
    assert sparse.tolist() == [[0], [1], [2]]
    hot = loss_of({"loss": "categorical_crossentropy"}, "", "softmax", 3, "").targets(classes)
    np.testing.assert_array_equal(hot, np.eye(3))
    one = loss_of({}, "", "sigmoid", 1, "").targets(classes[:2])
    assert one.tolist() == [[0.0], [1.0]]
    signed = loss_of({"loss": "mse"}, "", "tanh", 1, "").targets(classes[:2])
    assert signed.tolist() == [[-1.0], [1.0]]
