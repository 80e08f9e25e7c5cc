"""How scores change with attributes: the chain rule through mapping, model and decision."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.table import Kind
from fairdesk.errors import ModelError
from fairdesk.models.decisions.rule import names_around
from fairdesk.models.dense.layers import DenseNetwork
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import Capability, How, Input, Mapping, Step, Takes
from fairdesk.models.structure import Activation, DenseLayer
from tests import phrases
from tests.cards import card as made_up
from tests.models.dense.test_layers import REFERENCES

SMOOTH = ("elu", "selu", "sigmoid", "tanh", "softplus", "softsign", "silu")


def network(rng, inputs, *, classes=2, scores="probabilities", takes=Takes.MATRIX, between="tanh"):
    """Make a smooth network with random weights."""
    units = classes if classes > 2 else 1
    last = {"values": "linear", "scores": "sigmoid"}.get(
        scores, "sigmoid" if units == 1 else "softmax"
    )
    layers = [
        DenseLayer(
            rng.normal(0, 0.6, (a, b)).astype(np.float32),
            rng.normal(0, 0.5, b).astype(np.float32),
            Activation(activation, alpha=1.0),
        )
        for a, b, activation in ((inputs, 6, between), (6, 5, between), (5, units, last))
    ]
    card = made_up(
        width=inputs,
        takes=takes,
        named=takes is Takes.COLUMNS,
        classes=() if scores == "values" else tuple(str(i) for i in range(classes)),
        scores=scores,
        can=(Capability.DECIDES, Capability.SCORES, Capability.GRADIENTS, Capability.LAYERS),
    )
    return DenseNetwork(card, layers)


def exact(fed, rows):
    """Answer as the network does, decided, in double precision."""
    net = fed.opened
    values = (
        fed.matrix(rows) if net.card.takes is Takes.MATRIX else np.column_stack(fed.columns(rows))
    )
    for layer in net.layers:
        values = values @ layer.weights.astype(float) + layer.bias
        values = REFERENCES[layer.activation.name](values, layer.activation)
    mapping = fed.mapping
    if mapping.together:
        inside = np.isin(np.arange(values.shape[1]), mapping.together)
        margin = (values[:, inside].max(axis=1) - values[:, ~inside].max(axis=1))[:, None]
        return 1 / (1 + np.exp(-margin)) if net.card.scores == "scores" else 0.5 + margin / 2
    if mapping.threshold is None:
        return values
    if net.card.scores == "values":
        away = (values - mapping.threshold) / mapping.spread
        return 0.5 + 0.5 * away / (1 + np.abs(away))
    limit = mapping.threshold
    return np.where(values <= limit, values / limit / 2, 1 - (1 - values) / (1 - limit) / 2)


def by_differences(fed, rows, column, steps):
    """Return each attribute's quotient of differences along its own step: ``(n, d)``."""
    people = np.arange(len(rows))
    found = np.zeros(rows.shape)
    for i in np.flatnonzero(steps):
        apart = np.zeros(rows.shape[1])
        apart[i] = steps[i]
        change = exact(fed, rows + apart) - exact(fed, rows - apart)
        found[:, i] = change[people, column] / (2 * steps[i])
    return found


def reals(count):
    return tuple(Attribute(f"a{i}", Kind.REAL, low=-2, high=2) for i in range(count))


@st.composite
def smooth_questions(draw):
    """A smooth network over reals, each scaled, decided in any way, and rows with columns."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    attributes = reals(draw(st.integers(1, 4)))
    inputs = tuple(
        Input(
            f"input {i}",
            draw(st.sampled_from(attributes)).name,
            How.AS_IS,
            then=(Step("subtract", 0.3), Step("divide", draw(st.sampled_from([0.5, -2.0])))),
        )
        for i in range(draw(st.integers(1, 5)))
    )
    mapping = Mapping(inputs, "by name", 1)
    kind = draw(st.sampled_from(["plain", "threshold", "together", "each", "value"]))
    classes, scores = 2, "probabilities"
    if kind == "threshold":
        mapping = msgspec.structs.replace(mapping, threshold=draw(st.floats(0.1, 0.9)))
    elif kind == "value":
        scores = "values"
        mapping = msgspec.structs.replace(
            mapping, threshold=0.3, spread=2.0, outcomes=names_around(0.3)
        )
    else:
        classes = draw(st.integers(2, 5))
    if kind in ("together", "each"):
        classes, scores = 4, "scores" if kind == "each" else "probabilities"
        mapping = msgspec.structs.replace(mapping, together=(0, 2), outcomes=("no", "yes"))
    takes = draw(st.sampled_from(Takes))
    net = network(
        rng,
        len(inputs),
        classes=classes,
        scores=scores,
        takes=takes,
        between=draw(st.sampled_from(SMOOTH)),
    )
    rows = rng.uniform(-1.9, 1.9, (draw(st.integers(0, 30)), len(attributes)))
    width = classes if classes > 2 and kind == "plain" else 1
    return FedModel(net, mapping, attributes), rows, rng.integers(width, size=len(rows))


@given(smooth_questions())
def test_gradients_are_quotients_of_differences(question):
    fed, rows, column = question
    found = fed.gradients(rows, column)
    assert (found.dtype, found.shape) == (np.float64, rows.shape)
    assert np.isfinite(found).all()
    expected = by_differences(fed, rows, column, [1e-6] * rows.shape[1])
    # where another class becomes the best, a quotient of differences is that of neither side
    close = np.isclose(found, expected, rtol=1e-3, atol=1e-4)
    assert (~close.all(axis=1)).sum() <= 1


SEX = Attribute("sex", Kind.NOMINAL, ("f", "m"), high=1)
JOB = Attribute("job", Kind.NOMINAL, ("boss", "clerk", "cook"), high=2)
TERM = Attribute("term", Kind.ORDINAL, ("12", "36", "60"), high=2, numeric=True)
AGE = Attribute("age", Kind.INTEGER, low=18, high=90)
AMOUNT = Attribute("amount", Kind.INTEGER, low=0, high=10_000)
IGNORED = Attribute("idle", Kind.INTEGER, low=0, high=9)
PEOPLE = (SEX, JOB, TERM, AGE, AMOUNT, IGNORED)


def one_hot(attribute):
    return [
        Input(
            f"{attribute.name} {value}", attribute.name, How.CODE, {"": 0.0, value: 1.0}, others=0
        )
        for value in attribute.values
    ]


def census():
    """Make a network over one-hot, coded, scaled and constant inputs; and 200 people."""
    rng = np.random.default_rng(3)
    inputs = (
        *one_hot(JOB),
        Input("sex", "sex", How.CODE, {"f": 3.0, "m": -1.0}),
        Input("term", "term", How.AS_IS, then=(Step("divide", 24.0),)),
        Input("age", "age", How.AS_IS, then=(Step("subtract", 40.0), Step("multiply", 0.05))),
        Input("wage", "amount", How.AS_IS, then=(Step("divide", 5_000.0),)),
        Input("year", "", How.CONSTANT, constant=1.5),
    )
    net = network(rng, len(inputs), classes=3)
    rows = np.column_stack(
        [rng.integers(each.low, each.high + 1, 200).astype(float) for each in PEOPLE]
    )
    return FedModel(net, Mapping(inputs, "by name", 1), PEOPLE), rows, rng.integers(3, size=200)


def test_codes_change_along_one_step_and_downwards_at_the_upper_edge():
    fed, rows, column = census()
    found = fed.gradients(rows, column)
    inputs = np.empty((200, len(fed.mapping.inputs)))
    for k in range(3):
        asked = column == k
        inputs[asked] = fed.opened.gradients(fed.matrix(rows[asked]), k)
    people = np.arange(200)
    job, term = rows[:, 1].astype(int), rows[:, 2]
    other = np.where(job < 2, job + 1, 1)
    expected = (inputs[people, other] - inputs[people, job]) / (other - job)
    np.testing.assert_allclose(found[:, 1], expected, rtol=1e-9)
    np.testing.assert_allclose(found[:, 0], inputs[:, 3] * -4.0, rtol=1e-9)
    assert {0.0, 1.0, 2.0} == set(term)
    np.testing.assert_allclose(found[:, 2], inputs[:, 4], rtol=1e-9)
    np.testing.assert_allclose(found[:, 3], inputs[:, 5] * 0.05, rtol=1e-9)
    np.testing.assert_allclose(found[:, 4], inputs[:, 6] / 5_000, rtol=1e-9)
    assert not found[:, 5].any()


def test_numbers_between_codes_agree_with_quotients_of_differences():
    fed, rows, column = census()
    found = fed.gradients(rows, column)[:, 3:5]
    expected = by_differences(fed, rows, column, [0, 0, 0, 1e-4, 1e-2, 0])[:, 3:5]
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-9)


def test_the_unknown_and_the_only_value_are_no_obstacle():
    net = network(np.random.default_rng(1), 3)
    job = replace_values(JOB, ("cook", "Unknown"))
    only = Attribute("only", Kind.INTEGER, low=4, high=4)
    inputs = (
        Input("cook", "job", How.CODE, {"": 0.0, "cook": 1.0}, others=0.0),
        Input("clerk", "job", How.CODE, {"": 0.5, "cook": 0.0}, others=0.0),
        Input("only", "only", How.AS_IS),
    )
    fed = FedModel(net, Mapping(inputs, "", 1), (job, only))
    rows = np.array([[0.0, 4.0], [1.0, 4.0]])
    found = fed.gradients(rows, np.zeros(2, np.intp))
    slopes = net.gradients(fed.matrix(rows))
    np.testing.assert_allclose(found[:, 0], slopes[:, 1] * 0.5 - slopes[:, 0], rtol=1e-6)
    assert not found[:, 1].any()


def replace_values(attribute, values):
    return msgspec.structs.replace(
        attribute, values=values, high=len(values) - 1.0, unknown=values[-1] == "Unknown"
    )


def test_no_gradient_is_ever_not_a_number():
    rng = np.random.default_rng(2)
    net = network(rng, 2, between="exponential")
    net = DenseNetwork(
        net.card, [replace(each, weights=each.weights * 1e20) for each in net.layers]
    )
    fed = FedModel(
        net, Mapping(tuple(Input(a.name, a.name, How.AS_IS) for a in reals(2)), "", 1), reals(2)
    )
    rows = np.vstack([rng.uniform(-2, 2, (50, 2)), [[np.nan, 0.0]]])
    with np.errstate(all="ignore"):
        assert not np.isfinite(net.gradients(rows)).all()
        assert np.isfinite(fed.gradients(rows, np.zeros(51, np.intp))).all()


def test_gradients_of_tensorflow_go_through_the_mapping(tmp_path):
    keras = pytest.importorskip("keras")
    from fairdesk.models.open import open_model

    layer = keras.layers
    keras.utils.set_random_seed(1)
    net = keras.Sequential(
        [
            keras.Input((1, 4)),
            layer.GRU(6),
            layer.Dense(3, activation="softmax"),
        ]
    )
    net.save(tmp_path / "m.keras")
    opened = open_model(tmp_path / "m.keras")
    assert Capability.GRADIENTS in opened.card.can
    inputs = (
        *one_hot(SEX),
        Input("age", "age", How.AS_IS, then=(Step("subtract", 40.0), Step("multiply", 0.05))),
        Input("wage", "amount", How.AS_IS, then=(Step("divide", 5_000.0),)),
    )
    mapping = Mapping(inputs, "", 1, together=(0, 2), outcomes=("no", "yes"))
    people = (SEX, AGE, AMOUNT)
    rng = np.random.default_rng(2)
    rows = np.column_stack(
        [rng.integers(each.low, each.high + 1, 60).astype(float) for each in people]
    )
    fed = FedModel(opened, mapping, people)
    assert not fed.steady
    found = fed.gradients(rows, np.zeros(60, np.intp))
    for place, step in ((1, 1.0), (2, 50.0)):
        apart = np.zeros(3)
        apart[place] = step
        change = fed.predict(rows + apart) - fed.predict(rows - apart)
        close = np.isclose(found[:, place], change[:, 0] / (2 * step), rtol=0.05, atol=1e-3 / step)
        assert close.mean() > 0.9
    assert (found[:, 0] != 0).all()


def test_networks_read_as_layers_are_steady():
    fed, *_ = census()
    assert fed.steady


def test_a_text_for_a_number_is_told():
    net = network(np.random.default_rng(0), 1, takes=Takes.COLUMNS)
    fed = FedModel(net, Mapping((Input("sex", "sex", How.LABEL),), "", 1), (SEX,))
    with pytest.raises(ModelError, match=phrases.TEXT_FOR_NUMBER):
        fed.gradients(np.zeros((1, 1)), np.zeros(1, np.intp))
