"""Which output of an ONNX model answers, and what its numbers mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.models.decisions.tensors import MOST_INPUTS, Tensor, is_length
from fairdesk.models.dense.chain import ESTIMATE
from fairdesk.models.onnx.graph import NO_NODE, Graph
from fairdesk.models.onnx.session import KINDS, Asked

_SCORES = frozenset({"tensor(float)", "tensor(double)", "tensor(float16)"})
_DICTIONARIES = "seq(map("
#: What these compute last is a score without bounds, unlike what a sigmoid or a forest answers.
_UNBOUNDED = frozenset({"Add", "Gemm", "MatMul", "Sub"})
#: What these compute last is neither a probability nor log-odds.
_ESTIMATES = frozenset({"Elu", "Exp", "LeakyRelu", "Relu", "Selu", "Softplus"})
_REGRESSORS = frozenset({"LinearRegressor", "SVMRegressor", "TreeEnsembleRegressor"})
#: How skl2onnx calls what a regressor answers.
_ESTIMATE_NAME = "variable"
#: Rows that are tried when a file is opened.
TRIED_ROWS = 64


@dataclass(frozen=True, slots=True)
class OutputMeaning:
    """The output that is asked for.

    Attributes
    ----------
    name : str
        As the file has it.
    classes : tuple[str, ...]
        Whose scores its columns or keys are.
    scores : str
        What it is, as in the card.
    dictionaries : bool
        Whether it comes as a dictionary for each row.
    warnings : tuple[str, ...]
        What the auditor must know.
    """

    name: str
    classes: tuple[str, ...]
    scores: str = ""
    dictionaries: bool = False
    warnings: tuple[str, ...] = ()


def columns_of(answers: NDArray[Any]) -> NDArray[Any]:
    """Return answers as ``(n, k)``, also where they have dimensions of length 1 beside."""
    return answers.reshape(len(answers), prod(answers.shape[1:]))


UNBOUNDED = (
    "Its last operation gives plain numbers, not probabilities. One number is read as "
    "log-odds (above 0 means class 1); of several numbers, the greatest is the decision. "
    "Check the accuracy below."
)


def choose_output(path: Path, session: Any, output: str) -> tuple[Any, tuple[str, ...]]:  # noqa: ANN401 - as above
    """Choose what to ask for: class scores before labels, what is called a probability first.

    A classifier's label and its scores are one decision; of several, all names are given.
    """
    entries = session.get_outputs()
    scored = [e for e in entries if e.type in _SCORES or e.type.startswith(_DICTIONARIES)]
    labelled = [e for e in entries if e.type in KINDS and e not in scored]
    several = len(scored) > 1 or len(labelled) > 1
    names = tuple(e.name for e in entries if e in scored + labelled) if several else ()
    if output:
        chosen_outputs = [e for e in scored + labelled if e.name == output]
        if not chosen_outputs:
            raise ModelError(
                f"“{path.name}” has no output “{output}” that gives a decision.",
                remedy=f"Choose one of: {', '.join(e.name for e in scored + labelled)}.",
            )
        return chosen_outputs[0], names
    probable = [e for e in scored if "prob" in e.name.lower()]
    chosen = next(iter(probable or scored or labelled), None)
    if chosen is None:
        raise ModelError(
            f"“{path.name}” has no output that is a class or a score.",
            remedy="Choose a classifier.",
        )
    return chosen, names


def meaning_of(path: Path, runner: Asked, graph: Graph, chosen: Any) -> OutputMeaning:  # noqa: ANN401 - as above
    """Find out what an output is, from the operations that make it and from what it answers."""
    names = graph.class_names(chosen.name)
    tried = _answer_to_samples(runner, chosen.name)
    if chosen.type.startswith(_DICTIONARIES):
        keys = tuple(str(key) for key in tried[0]) if isinstance(tried, list) and tried else names
        values = np.array([list(row.values()) for row in tried or []], dtype=float)
        return _scored(
            OutputMeaning(chosen.name, classes=keys, dictionaries=True),
            graph,
            values,
            len(keys),
            path,
        )
    if chosen.type not in _SCORES:
        either = ("False", "True") if chosen.type == "tensor(bool)" else ("0", "1")
        return OutputMeaning(chosen.name, classes=names or either, scores="labels")
    if tried is None:
        declared = chosen.shape[1] if len(chosen.shape) > 1 else 1
        values, width = np.empty(0), declared if is_length(declared) else 0
    else:
        values = columns_of(np.asarray(tried))
        width = values.shape[1]
    if not width:
        raise ModelError(
            f"“{path.name}” does not state its number of classes.",
            remedy="Export it with a fixed number of outputs.",
        )
    labels = [e for e in runner.session.get_outputs() if e.type in KINDS and e.type not in _SCORES]
    if len(labels) == 1:
        names = names or graph.class_names(labels[0].name)
        if len(names) > 2 and width not in (1, len(names)):
            # scores of pairs of classes, say: only its decision tells the class
            return OutputMeaning(labels[0].name, classes=names, scores="labels")
    if len(names) != max(width, 2):
        names = tuple(str(i) for i in range(max(width, 2)))
    return _scored(OutputMeaning(chosen.name, classes=names), graph, values, width, path)


def _scored(
    answer: OutputMeaning, graph: Graph, values: NDArray[Any], width: int, path: Path
) -> OutputMeaning:
    """Return whether scores are probabilities, numbers without bounds or estimates."""
    if width < 1 or width > MOST_INPUTS or (answer.dictionaries and width < 2):
        raise ModelError(
            f"“{path.name}” does not state its number of classes.",
            remedy="Choose a classifier, or export the model again.",
        )
    node = graph.computes(answer.name) or NO_NODE
    operation = node.operation
    regressor = operation in _REGRESSORS and node.text("post_transform") in ("", "NONE")
    if width == 1 and (regressor or answer.name == _ESTIMATE_NAME):
        return replace(answer, scores="values", classes=())
    if width == 1 and operation in _ESTIMATES:
        return replace(answer, scores="values", classes=(), warnings=(ESTIMATE,))
    beyond = values.size and not ((values >= -_ROUNDING) & (values <= 1 + _ROUNDING)).all()
    if beyond or operation in _UNBOUNDED or (width == 1 and operation == "Tanh"):
        return replace(answer, scores="scores", warnings=(UNBOUNDED,))
    return replace(answer, scores="probabilities")


#: Probabilities may leave 0 to 1 by so much.
_ROUNDING = 1e-4


def _answer_to_samples(runner: Asked, output: str) -> Any:  # noqa: ANN401 - a list of dictionaries or an array
    """Query made-up rows: what comes out tells more than what the file declares.

    Returns
    -------
    list of dict, NDArray or None
        None where the model refuses them; the auditor's own rows may be others.
    """
    rng = np.random.default_rng(0)
    for spread in (3.0, 0.0):
        rows = [_sample_tensor(tensor, rng, spread) for tensor in runner.tensors]
        try:
            batches = runner(output, rows)
        except ModelError:
            if runner.endless:
                raise
            continue
        return batches[0]
    return None


def _sample_tensor(tensor: Tensor, rng: np.random.Generator, spread: float) -> NDArray[Any]:
    shape = (TRIED_ROWS, *tensor.tail)
    if tensor.text:
        return np.full(shape, "", dtype=object)
    numbers = rng.normal(0, spread, shape)
    if np.dtype(tensor.kind).kind == "f":
        return numbers.astype(tensor.kind)
    return np.minimum(np.abs(np.round(numbers)), 1 if tensor.kind is np.bool_ else 9).astype(
        tensor.kind
    )
