import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdesk.errors import ModelError
from fairdesk.models.dense.layers import DenseNetwork
from fairdesk.models.structure import ACTIVATIONS, LINEAR, Activation, DenseLayer
from tests import phrases
from tests.cards import card

REFERENCES = {
    "relu": lambda z, a: np.minimum(np.maximum(z, 0), a.ceiling),
    "leaky_relu": lambda z, a: np.where(z < 0, a.alpha * z, z),
    "elu": lambda z, a: np.where(z < 0, a.alpha * np.expm1(z), z),
    "selu": lambda z, a: 1.05070098 * np.where(z < 0, 1.67326324 * np.expm1(z), z),
    "sigmoid": lambda z, a: 1 / (1 + np.exp(-z)),
    "tanh": lambda z, a: np.tanh(z),
    "softplus": lambda z, a: np.log1p(np.exp(z)),
    "softsign": lambda z, a: z / (1 + np.abs(z)),
    "exponential": lambda z, a: np.exp(z),
    "silu": lambda z, a: z / (1 + np.exp(-z)),
    "thresholded_relu": lambda z, a: np.where(z <= a.alpha, 0, z),
    "softmax": lambda z, a: np.exp(z) / np.exp(z).sum(axis=1, keepdims=True),
    "linear": lambda z, a: z,
}


def network(rng, widths, activations, centre=None, spread=1.0):
    layers = [
        DenseLayer(
            rng.normal(0, spread, (a, b)).astype(np.float32),
            rng.normal(0, spread, b).astype(np.float32),
            activation,
        )
        for a, b, activation in zip(widths, widths[1:], activations, strict=False)
    ]
    return DenseNetwork(card(width=widths[0], classes=("0", "1")), layers, centre)


def by_differences(net, matrix, column=0, step=1e-6):
    """Return the derivatives of a score as its formula's quotients of differences."""
    columns = []
    for i in range(matrix.shape[1]):
        apart = np.zeros(matrix.shape[1])
        apart[i] = step
        change = reference(net, matrix + apart) - reference(net, matrix - apart)
        columns.append(change[:, column] / (2 * step))
    return np.column_stack(columns)


def reference(net, matrix):
    values = np.asarray(matrix, dtype=np.float64)
    if net.centre is not None:
        values = values - net.centre
    for layer in net.layers:
        values = values @ layer.weights.astype(float) + layer.bias
        values = REFERENCES[layer.activation.name](values, layer.activation)
    return values


def test_every_activation_has_a_reference():
    assert set(ACTIVATIONS) == set(REFERENCES)


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_activation_equals_its_formula(name):
    values = np.linspace(-8, 8, 60).reshape(20, 3)
    activation = Activation(name, alpha=0.3, ceiling=6.0)
    as_it_is = DenseLayer(np.eye(3, dtype=np.float32), np.zeros(3, np.float32), activation)
    computed = DenseNetwork(card(width=3, classes=("0", "1")), [as_it_is]).matrix_scores(values)
    np.testing.assert_allclose(computed, REFERENCES[name](values, activation), atol=2e-6, rtol=2e-6)


@pytest.mark.parametrize(
    "activation",
    [
        *(Activation(name, alpha=0.3) for name in sorted(REFERENCES)),
        Activation("relu", ceiling=0.5),
    ],
    ids=str,
)
def test_activation_between_layers_leaves_the_bias_alone(activation):
    net = network(
        np.random.default_rng(1), (3, 5, 4, 1), (activation, activation, Activation("sigmoid"))
    )
    matrix = np.random.default_rng(2).normal(size=(50, 3)) / 4
    np.testing.assert_allclose(
        net.matrix_scores(matrix), reference(net, matrix), atol=1e-5, rtol=1e-4
    )


@given(
    rows=st.integers(0, 5000),
    widths=st.lists(st.integers(1, 12), min_size=2, max_size=5),
    centred=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_network_equals_the_formula_whatever_the_batch(rows, widths, centred, seed):
    rng = np.random.default_rng(seed)
    activations = [Activation("relu")] * (len(widths) - 2) + [Activation("sigmoid")]
    centre = rng.normal(size=widths[0]) if centred else None
    net = network(rng, widths, activations, centre)
    matrix = rng.integers(-3, 4, (rows, widths[0])).astype(float)
    answers = net.matrix_scores(matrix)
    assert answers.dtype == np.float32
    assert answers.shape == (rows, widths[-1])
    np.testing.assert_allclose(answers, reference(net, matrix), atol=2e-4)
    if rows:
        np.testing.assert_array_equal(answers, net.scores(list(matrix.T)))


@given(
    widths=st.lists(st.integers(1, 20), min_size=2, max_size=5),
    names=st.lists(st.sampled_from(sorted(REFERENCES)), min_size=4, max_size=4),
    rows=st.integers(1, 200),
    seed=st.integers(0, 2**32 - 1),
)
def test_equal_rows_have_equal_answers_to_the_last_bit_wherever_they_stand(
    widths, names, rows, seed
):
    rng = np.random.default_rng(seed)
    activations = [Activation(name, alpha=0.3, ceiling=4.0) for name in names]
    net = network(rng, widths, activations, rng.normal(size=widths[0]))
    matrix = rng.normal(size=(rows, widths[0]))
    answers = net.matrix_scores(matrix).view(np.uint32)
    order = rng.integers(rows, size=rng.integers(1, 300))
    np.testing.assert_array_equal(net.matrix_scores(matrix[order]).view(np.uint32), answers[order])
    alone = int(order[0])
    np.testing.assert_array_equal(
        net.matrix_scores(matrix[alone : alone + 1]).view(np.uint32), answers[alone : alone + 1]
    )
    # rows that do not lie side by side in memory are the same rows
    apart = np.asfortranarray(matrix)
    np.testing.assert_array_equal(net.matrix_scores(apart).view(np.uint32), answers)


@pytest.mark.parametrize("name", sorted(set(REFERENCES) - {"softmax"}))
def test_activations_are_right_to_the_last_digits_and_at_their_ends(name):
    values = np.concatenate(
        [np.linspace(-120, 88, 20_001), [np.inf, -np.inf, np.nan, 0.0, 1e-30, -1e-30, 1e30, -1e30]]
    ).astype(np.float32)
    activation = Activation(name, alpha=0.3, ceiling=6.0)
    one = np.ones((1, 1), np.float32)
    net = DenseNetwork(
        card(width=1, classes=("0", "1")), [DenseLayer(one, np.zeros(1, np.float32), activation)]
    )
    found = net.matrix_scores(values[:, None].astype(np.float64))[:, 0]
    with np.errstate(all="ignore"):
        expected = REFERENCES[name](values.astype(np.float64), activation).astype(np.float32)
        if name == "softplus":
            expected = np.logaddexp(values.astype(np.float64), 0).astype(np.float32)
    np.testing.assert_allclose(found, expected, rtol=3e-7, atol=1e-36)


def test_shares_of_a_whole_keep_what_is_no_number_to_its_row():
    rng = np.random.default_rng(3)
    net = network(rng, (3, 4), (Activation("softmax"),), spread=40.0)
    matrix = rng.normal(size=(40, 3))
    matrix[7, 1] = np.nan
    answers = net.matrix_scores(matrix)
    assert np.isnan(answers).all(axis=1).nonzero()[0].tolist() == [7]
    np.testing.assert_allclose(np.delete(answers, 7, axis=0).sum(axis=1), 1, rtol=1e-6)


def test_what_does_not_fit_is_refused_before_any_loop_runs():
    rng = np.random.default_rng(0)
    net = network(rng, (3, 4, 1), (Activation("relu"), Activation("sigmoid")))
    for matrix in (np.zeros((2, 4)), np.zeros((2, 2)), np.zeros(3)):
        with pytest.raises(ValueError, match="shape"):
            net.matrix_scores(matrix)
        with pytest.raises(ValueError, match="shape"):
            net.gradients(matrix)
    for wrong in ((net.layers[0], net.layers[0]), network(rng, (3, 0, 1), [LINEAR] * 2).layers):
        with pytest.raises(ValueError, match="do not fit"):
            DenseNetwork(card(width=3, classes=("0", "1")), wrong).matrix_scores(np.zeros((2, 3)))


def test_centre_keeps_the_digits_of_large_numbers():
    layers = [
        DenseLayer(np.ones((1, 1), np.float32), np.zeros(1, np.float32), Activation("linear"))
    ]
    net = DenseNetwork(card(width=1, classes=("0", "1")), layers, np.array([2_000_000_000.0]))
    np.testing.assert_array_equal(net.matrix_scores(np.array([[2_000_000_001.0]])), [[1.0]])


def test_missing_number_gives_no_answer_for_its_row_alone():
    net = network(np.random.default_rng(0), (2, 3, 1), (Activation("relu"), Activation("sigmoid")))
    answers = net.matrix_scores(np.array([[1.0, 2.0], [np.nan, 2.0], [3.0, 4.0]]))
    assert np.isnan(answers[:, 0]).tolist() == [False, True, False]


def test_far_scores_end_at_nought_and_one_without_a_warning():
    layers = [
        DenseLayer(np.ones((1, 1), np.float32), np.zeros(1, np.float32), Activation("sigmoid"))
    ]
    net = DenseNetwork(card(width=1, classes=("0", "1")), layers)
    with np.errstate(all="raise", under="ignore"):
        answers = net.matrix_scores(np.array([[-1000.0], [1000.0]]))
    assert answers.ravel().tolist() == [0.0, 1.0]


@pytest.mark.parametrize("name", sorted(REFERENCES))
@pytest.mark.parametrize("last", ["sigmoid", "softmax", "linear"])
def test_gradients_are_those_of_the_formula(name, last):
    rng = np.random.default_rng(4)
    between = Activation(name, alpha=0.3, ceiling=2.0)
    widths = (3, 6, 5, 1 if last != "softmax" else 4)
    net = network(rng, widths, (between, between, Activation(last)), rng.normal(size=3), 0.4)
    matrix = rng.normal(size=(700, 3)) / 3
    for column in {0, widths[-1] - 1}:
        found = net.gradients(matrix, column)
        assert (found.dtype, found.shape) == (np.float32, (700, 3))
        expected = by_differences(net, matrix, column)
        # next to a kink, a quotient of differences is that of neither side
        close = np.isclose(found, expected, rtol=2e-3, atol=2e-4 * np.abs(expected).max())
        assert close.all(axis=1).mean() > 0.995


def test_gradients_too_are_equal_to_the_last_bit_wherever_a_row_stands():
    rng = np.random.default_rng(8)
    names = ("relu", "elu", "tanh", "softmax")
    net = network(rng, (5, 13, 7, 6, 3), [Activation(name, alpha=0.5) for name in names])
    matrix = rng.normal(size=(150, 5))
    found = net.gradients(matrix, 2)
    order = rng.permutation(150)[:77]
    np.testing.assert_array_equal(net.gradients(matrix[order], 2), found[order])
    np.testing.assert_array_equal(net.gradients(matrix[9:10], 2), found[9:10])


def test_gradients_do_not_vanish_far_from_the_limit():
    layers = [
        DenseLayer(np.ones((2, 1), np.float32), np.zeros(1, np.float32), Activation("sigmoid"))
    ]
    net = DenseNetwork(card(width=2, classes=("0", "1")), layers)
    found = net.gradients(np.array([[20.0, 20.0], [-20.0, -20.0]]))
    np.testing.assert_allclose(found, np.exp(-40.0), rtol=1e-5)
    assert net.gradients(np.empty((0, 2))).shape == (0, 2)


def test_text_where_a_number_is_taken_is_told():
    net = network(np.random.default_rng(0), (2, 1), (Activation("sigmoid"),))
    with pytest.raises(ModelError, match=phrases.TEXT_FOR_NUMBER):
        net.scores([np.array([1.0]), np.array(["m"], dtype=object)])
