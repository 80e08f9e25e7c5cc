"""How fast dense networks answer, beside NumPy and ONNX Runtime on the same rows.

    python -m tests.benchmarks.forward [--model census.h5]

One thread each, in turns, each one's best of many: so that a busy machine counts against none. Ours
is given float64 rows, as searches have them; ONNX Runtime what it takes, float32, converted
beforehand. NumPy is the way that FairDesk went before: matrix products over parts of the batch.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from time import thread_time

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from threadpoolctl import threadpool_limits

from fairdesk.models.dense.layers import DenseNetwork
from fairdesk.models.open import open_model
from fairdesk.models.structure import Activation, DenseLayer, Float32
from tests.cards import card as made_up

BATCHES = (256, 1_000, 10_000, 100_000)
NETWORKS = ((12, 30, 20, 15, 15, 10, 1), (64, 128, 64, 1))
#: Rows that each is asked in all, for each batch size.
ROWS = 2_000_000
#: So many bytes of the layers' outputs stay in a core's cache.
CHUNK_BYTES = 768 * 1024

Matrix = NDArray[np.float64]
Ask = Callable[[], object]


def random_network(widths: tuple[int, ...]) -> DenseNetwork:
    """Make a network of ReLU layers with random weights."""
    rng = np.random.default_rng(0)
    layers = [
        DenseLayer(
            rng.normal(0, inputs**-0.5, (inputs, units)).astype(np.float32),
            rng.normal(0, 0.3, units).astype(np.float32),
            Activation("sigmoid" if place == len(widths) - 2 else "relu"),
        )
        for place, (inputs, units) in enumerate(pairwise(widths))
    ]
    card = made_up(width=widths[0], classes=("0", "1"))
    return DenseNetwork(card, layers)


def relu(values: Float32) -> None:
    """Apply in place."""
    np.maximum(values, 0, out=values)


def sigmoid(values: Float32) -> None:
    """Apply in place."""
    with np.errstate(over="ignore"):
        np.exp(-values, out=values)
    values += 1
    np.reciprocal(values, out=values)


IN_PLACE = {"relu": relu, "sigmoid": sigmoid}


class Parts:
    """The earlier way: the bias is one more input, which is handed on as one more unit."""

    def __init__(self, network: DenseNetwork) -> None:
        self._steps = []
        for layer in network.layers:
            weights = np.vstack([layer.weights, layer.bias])
            if layer is not network.layers[-1]:
                hand_on = np.zeros((len(weights), 1), np.float32)
                hand_on[-1] = 1
                weights = np.hstack([weights, hand_on])
            self._steps.append((weights, IN_PLACE[layer.activation.name]))
        widths = [len(weights) for weights, _ in self._steps]
        self._size = min(max(CHUNK_BYTES // (4 * sum(widths)), 128), 4096)
        self._buffers = [np.ones((self._size, width), np.float32) for width in widths]

    def __call__(self, matrix: Matrix) -> Float32:
        answers = np.empty((len(matrix), self._steps[-1][0].shape[1]), np.float32)
        for start in range(0, len(matrix), self._size):
            rows = matrix[start : start + self._size]
            values = self._buffers[0][: len(rows)]
            values[:, :-1] = rows
            for (weights, activation), buffer in zip(self._steps, self._buffers[1:], strict=False):
                values = np.matmul(values, weights, out=buffer[: len(rows)])
                activation(values)
            weights, activation = self._steps[-1]
            answer = answers[start : start + len(rows)]
            np.matmul(values, weights, out=answer)
            activation(answer)
        return answers


def onnx_session(network: DenseNetwork) -> onnxruntime.InferenceSession:
    """Load the same network into ONNX Runtime, for one thread."""
    names = {"relu": "Relu", "sigmoid": "Sigmoid"}
    nodes, constants, value = [], [], "rows"
    for i, layer in enumerate(network.layers):
        constants.append(numpy_helper.from_array(layer.weights, f"weights {i}"))
        constants.append(numpy_helper.from_array(layer.bias, f"bias {i}"))
        given = [value, f"weights {i}", f"bias {i}"]
        nodes.append(helper.make_node("Gemm", given, [f"sums {i}"]))
        value = f"answers {i}"
        nodes.append(helper.make_node(names[layer.activation.name], [f"sums {i}"], [value]))
    width, units = len(network.layers[0].weights), network.layers[-1].bias.size
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("rows", TensorProto.FLOAT, [None, width])],
        [helper.make_tensor_value_info(value, TensorProto.FLOAT, [None, units])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def fastest(programs: list[Ask], times: int) -> list[float]:
    """Run programs in turns; gives each one's least seconds of the processor."""
    least = [np.inf] * len(programs)
    for program in programs:
        program()
    for _ in range(times):
        for i, program in enumerate(programs):
            started = thread_time()
            program()
            least[i] = min(least[i], thread_time() - started)
    return least


def compare(name: str, network: DenseNetwork) -> None:
    """Print a network's table, after a look at whether all answer alike."""
    rng = np.random.default_rng(1)
    parts, session = Parts(network), onnx_session(network)
    output = session.get_outputs()[0].name
    print(
        f"\n{name}\n{'batch':>8} {'ours':>10} {'NumPy':>10} {'ONNX R.':>10}   million rows a second"
    )
    for batch in BATCHES:
        matrix = rng.integers(0, 10, (batch, len(network.layers[0].weights))).astype(np.float64)
        single = {"rows": matrix.astype(np.float32)}
        ours = network.matrix_scores(matrix)
        for answers in (parts(matrix), session.run([output], single)[0]):
            np.testing.assert_allclose(ours, answers, atol=1e-5)
        programs: list[Ask] = [
            lambda rows=matrix: network.matrix_scores(rows),
            lambda rows=matrix: parts(rows),
            lambda rows=single: session.run([output], rows),
        ]
        rates = [batch / s / 1e6 for s in fastest(programs, max(20, ROWS // batch))]
        figures = " ".join(f"{rate:10.2f}" for rate in rates)
        print(f"{batch:8,} {figures}   {rates[0] / rates[2]:.2f} × ONNX Runtime", flush=True)


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, help="a dense Keras network, instead of random ones")
    given = parser.parse_args().model
    with threadpool_limits(1):
        if given is not None:
            network = open_model(given)
            compare(network.card.summary, network)
            return
        for widths in NETWORKS:
            compare("-".join(map(str, widths)), random_network(widths))


if __name__ == "__main__":
    main()
