"""Models whose answer is no function of the row are found; rounding is not taken for that."""

import msgspec
import numpy as np
import pytest
from onnx import helper, numpy_helper

from fairdesk.data.formats.reading import read_table
from fairdesk.errors import ModelError
from fairdesk.models.decisions.requerying import compare, query_again
from fairdesk.models.inputs.editing import complete
from fairdesk.models.inputs.input_check import InputCheck, check
from fairdesk.models.inputs.mapping.propose import propose
from fairdesk.models.model import Takes
from fairdesk.models.open import open_model
from fairdesk.samples import samples
from tests.models.inputs.test_input_check import Rule, proof_of
from tests.models.onnx.test_file import gemm, save, tensor
from tests.models.tables import SHARED, names, needs_shared, number, table

RNG = np.random.default_rng(5)
PEOPLE = table(
    number("age", RNG.integers(18, 70, 300).tolist()),
    number("income", RNG.integers(0, 12, 300).tolist()),
    names("paid", RNG.choice(["no", "yes"], 300).tolist()),
)


def constant(name, value, kind=np.float32):
    return numpy_helper.from_array(np.asarray(value, kind), name)


def network(path, *nodes, initializers=(), last="z"):
    """Write a logistic regression with something before its sigmoid."""
    node, weights = gemm([[0.02], [0.1]], [-1.0])
    sigmoid = helper.make_node("Sigmoid", [last], ["p"])
    inputs, outputs = [tensor("x", None, 2)], [tensor("p", None, 1)]
    return save(path, [node, *nodes, sigmoid], inputs, outputs, [*weights, *initializers])


def noisy(path):
    noise = helper.make_node("RandomNormalLike", ["z"], ["n"], scale=0.3)
    return network(path, noise, helper.make_node("Add", ["z", "n"], ["o"]), last="o")


def uniform(path):
    noise = helper.make_node("RandomUniformLike", ["z"], ["n"], low=-0.01, high=0.01)
    return network(path, noise, helper.make_node("Add", ["z", "n"], ["o"]), last="o")


def dropout(path):
    """Keep four of five, as dropout does that was exported as it is while training."""
    nodes = [
        helper.make_node("RandomUniformLike", ["z"], ["u"]),
        helper.make_node("Less", ["u", "keep"], ["kept"]),
        helper.make_node("Where", ["kept", "z", "nothing"], ["o"]),
    ]
    more = constant("keep", 0.8), constant("nothing", 0.0)
    return network(path, *nodes, initializers=more, last="o")


def bernoulli(path):
    before = helper.make_node("Sigmoid", ["z"], ["q"])
    return network(path, before, helper.make_node("Bernoulli", ["q"], ["o"]), last="o")


def batch_norm(path):
    """Scales by the mean and the deviation of the batch, as in training."""
    nodes = [
        helper.make_node("ReduceMean", ["z", "axes"], ["m"], keepdims=1),
        helper.make_node("Sub", ["z", "m"], ["o"]),
    ]
    return network(path, *nodes, initializers=[constant("axes", [0], np.int64)], last="o")


@pytest.mark.parametrize(
    ("write", "batch"),
    [(noisy, False), (uniform, False), (dropout, False), (bernoulli, False), (batch_norm, True)],
)
def test_what_is_no_function_of_the_row_is_found_when_a_model_is_tried(tmp_path, write, batch):
    proof = proof_of(open_model(write(tmp_path / "m.onnx")), PEOPLE)
    found = proof.repeatability
    assert found.rows == 300
    assert not found.holds
    assert found.batch is batch
    assert found.changed >= found.decisions
    told = proof.warnings[0]
    assert f"{found.changed:,} of 300 rows" in told
    assert ("other rows of the batch" in told) is batch
    assert msgspec.json.decode(msgspec.json.encode(proof), type=InputCheck) == proof


def test_an_honest_network_is_repeatable(tmp_path):
    proof = proof_of(open_model(network(tmp_path / "m.onnx")), PEOPLE)
    assert proof.repeatability.holds
    assert proof.repeatability.rows == 300
    assert not any("repeatable" in warning for warning in proof.warnings)


def test_one_row_in_hundreds_that_wavers_is_found():
    calls = np.random.default_rng(1)

    def answer(matrix):
        scores = np.full(len(matrix), 0.8)
        scores[calls.random(len(matrix)) < 1 / 300] = 0.2
        return scores

    found = proof_of(Rule(2, answer), PEOPLE).repeatability
    assert 0 < found.changed < 20
    assert (found.decisions, found.batch) == (found.changed, False)


def test_rounding_is_none_of_it():
    """Last bits change with every call and every batch, and at the border so do decisions."""
    calls = np.random.default_rng(2)

    def rounded(matrix):
        close = 0.5 + (matrix[:, 1] - 6) / 1e6
        return close + calls.normal(0, 2e-6, len(matrix)) + 1e-6 * (len(matrix) == 1)

    proof = proof_of(Rule(2, rounded), PEOPLE)
    assert proof.repeatability.holds
    assert 1e-6 < proof.repeatability.largest < 1e-4

    # a model that only decides: the border that its decisions hide is met by one row in 300
    def decided(matrix):
        at_border = (matrix[:, 0] == matrix[0, 0]) & (matrix[:, 1] == matrix[0, 1])
        return np.where(at_border & (len(matrix) == 1), 0.0, matrix[:, 0] > 40)

    found = query_again(Rule(2, decided).matrix_scores, PEOPLE.codes[:, :2], RNG)
    assert found.holds


def test_scores_of_any_size_are_compared_by_their_size():
    first = np.array([[1e6, 0.0], [0.3, 0.7], [0.5, 0.5]], np.float32)
    again = np.array([[1e6 + 8, 0.0], [0.31, 0.69], [0.5, 0.50001]], np.float32)
    changed, found = compare(first, again)
    assert changed.tolist() == [False, True, False]
    assert (found.rows, found.changed, found.decisions) == (3, 1, 0)
    assert found.largest == pytest.approx(0.01, rel=1e-4)


def test_a_keras_network_with_noise_of_its_own_is_found(tmp_path):
    keras = pytest.importorskip("keras")
    entry = keras.Input((2,))
    value = keras.layers.Dense(1, name="z")(entry)
    noise = keras.layers.Lambda(
        lambda z: z + __import__("keras").random.normal((1, 1), stddev=0.2), output_shape=(1,)
    )
    answer = keras.layers.Activation("sigmoid")(noise(value))
    model = keras.Model(entry, answer)
    model.get_layer("z").set_weights([np.array([[0.02], [0.1]]), np.array([-1.0])])
    model.save(tmp_path / "m.keras")
    proof = proof_of(open_model(tmp_path / "m.keras", trusted=True), PEOPLE)
    assert not proof.repeatability.holds
    assert proof.repeatability.changed == 300
    assert "partly random" in proof.warnings[0]


SAMPLES = [(sample, model) for sample in samples() for model in sample.models]


@pytest.mark.parametrize(("sample", "model"), SAMPLES, ids=[each.file for _, each in SAMPLES])
def test_the_samples_are_repeatable(sample, model):
    rows = read_table(sample.data_path)
    opened = open_model(sample.model_path(model), trusted=True)
    proposal = propose(opened.card, rows, sample.label, sample.favourable)
    mapping = complete(proposal, opened.card, rows, sample.label)
    found = check(opened, rows, mapping, sample.label, sample.favourable).repeatability
    print(f"{model.file}: {found}")
    assert found.holds


@needs_shared
@pytest.mark.parametrize(
    "file",
    sorted(SHARED.glob("models/*")) if SHARED.is_dir() else [],
    ids=lambda file: file.name,
)
def test_models_by_others_are_repeatable(file):
    """On numbers and texts as no table has them: what is looked at is arithmetic alone."""
    try:
        opened = open_model(file)
    except ModelError as error:
        pytest.skip(str(error))
    width = len(opened.card.inputs)
    rng = np.random.default_rng(0)
    rows = np.round(rng.normal(20, 15, (500, width)), 1)
    if opened.card.takes is Takes.MATRIX:
        predict = opened.matrix_scores
    else:
        text = opened.card.accepts[:1] == ("text",)

        def predict(rows):
            inputs = [np.array([f"row {x} of words {x}" for x in each], object) for each in rows.T]
            return opened.scores(inputs if text else list(rows.T))

    found = query_again(predict, rows, rng, predict(np.tile(rows, (3, 1)))[:500])
    print(f"{file.name}: {found}")
    assert found.holds
