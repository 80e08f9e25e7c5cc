"""ONNX models, computed by ONNX Runtime from the file's bytes alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.events import Scores
from fairdesk.files import sha256
from fairdesk.models.answers import (
    first_line,
    from_classes,
    from_margins,
    from_probabilities,
    numbers_of,
)
from fairdesk.models.model import Inputs, ModelCard, Takes
from fairdesk.models.onnx_wire import KNOWN_DOMAINS, Outline, WireError, outline

#: Tensors of ONNX by their names, as NumPy has them; text as Python objects.
_KINDS: dict[str, type] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": object,
}
_SCORES = frozenset({"tensor(float)", "tensor(double)", "tensor(float16)"})
_LABELS = frozenset({"tensor(int64)", "tensor(int32)", "tensor(string)", "tensor(bool)"})
_DICTIONARIES = "seq(map("
#: What these compute is a score without bounds, unlike what a sigmoid or a forest answers.
_UNBOUNDED = frozenset({"Add", "Gemm", "MatMul", "Sub"})
#: Protobuf cannot hold more in one file.
MOST_BYTES = 2 * 1024**3
#: Rows per call: of larger batches a network's layers leave the processor's cache.
BATCH = 2048


@dataclass(frozen=True, slots=True)
class _Output:
    """The output that is asked for."""

    name: str
    kind: str
    unbounded: bool


class OnnxModel:
    """An ONNX classifier.

    Parameters
    ----------
    card : ModelCard
        What it is.
    session : onnxruntime.InferenceSession
        The loaded model.
    output : _Output
        What is asked for.
    """

    def __init__(self, card: ModelCard, session: Any, output: _Output) -> None:  # noqa: ANN401 - ONNX Runtime has no types
        self._card = card
        self._session = session
        self._output = output
        entries = session.get_inputs()
        self._names = [entry.name for entry in entries]
        self._kinds = [_KINDS[entry.type] for entry in entries]
        self._flat = [len(entry.shape) == 1 for entry in entries]
        fixed = entries[0].shape[0]
        # some models are exported for batches of one size only
        self._fixed = fixed if isinstance(fixed, int) else 0
        self._places = {name: i for i, name in enumerate(card.classes)}

    @property
    def card(self) -> ModelCard:
        """What it is."""
        return self._card

    def matrix_scores(self, matrix: NDArray[np.float64]) -> Scores:
        """Answer for ``(n, inputs)`` numbers; as `OpenedModel.scores`."""
        return self._answer([numbers_of(matrix, self._kinds[0])])

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for one array per input; as `OpenedModel.scores`."""
        if self._card.takes is Takes.MATRIX:
            return self.matrix_scores(np.column_stack(inputs).astype(np.float64, copy=False))
        tensors = []
        for name, values, kind, flat in zip(
            self._names, inputs, self._kinds, self._flat, strict=True
        ):
            tensor = _texts(name, values) if kind is object else _numbers(name, values, kind)
            tensors.append(tensor if flat else tensor[:, None])
        return self._answer(tensors)

    def _answer(self, tensors: list[NDArray[Any]]) -> Scores:
        rows = len(tensors[0])
        size = self._fixed or BATCH
        # at least once, so that no rows get an answer of the right width
        starts = range(0, max(rows, 1), size)
        scores = [
            self._batch([tensor[start : start + size] for tensor in tensors]) for start in starts
        ]
        return scores[0] if len(scores) == 1 else np.concatenate(scores)

    def _batch(self, tensors: list[NDArray[Any]]) -> Scores:
        rows = len(tensors[0])
        if self._fixed > rows:
            tensors = [np.concatenate([t, *[t[-1:]] * (self._fixed - rows)]) for t in tensors]
        try:
            answer = self._session.run(
                [self._output.name], dict(zip(self._names, tensors, strict=True))
            )[0]
        except Exception as error:
            # any kind: ONNX Runtime has a dozen without a common base
            raise ModelError(
                f"The model refused {rows:,} rows.",
                why=f"ONNX Runtime says: {_said(error)}",
                remedy="Check that each input is made from the right column.",
            ) from error
        return self._scores(answer)[:rows]

    def _scores(self, answer: Any) -> Scores:  # noqa: ANN401 - a list of dictionaries or an array
        if self._output.kind.startswith(_DICTIONARIES):
            return self._from_numbers(self._from_dictionaries(answer))
        if self._card.scores == "labels":
            chosen = [self._places.get(str(value), -1) for value in np.ravel(answer).tolist()]
            if -1 in chosen:
                raise ModelError(
                    f"The model answered a class that is none of {', '.join(self._places)}.",
                    remedy="Ask for the model with its probabilities as an output.",
                )
            return from_classes(np.array(chosen, dtype=np.intp), len(self._places))
        return self._from_numbers(np.asarray(answer))

    def _from_dictionaries(self, answer: list[dict[int | str, float]]) -> NDArray[np.float64]:
        """Put dictionaries from classes to probabilities into the order of the card's classes."""
        columns = np.empty((len(answer), len(self._places)))
        if answer:
            places = [self._places.get(str(key), -1) for key in answer[0]]
            if len(places) != len(self._places) or -1 in places:
                raise ModelError(
                    "The model answers other classes than its file names.",
                    remedy="Export the model again.",
                )
            columns[:, places] = [list(row.values()) for row in answer]
        return columns

    def _from_numbers(self, columns: NDArray[Any]) -> Scores:
        return from_margins(columns) if self._output.unbounded else from_probabilities(columns)


def _texts(name: str, values: NDArray[Any]) -> NDArray[np.object_]:
    """Give texts; a missing one is empty, as ONNX has no other way to say so."""
    if values.dtype != object:
        raise ModelError(
            f"The model's input “{name}” takes text, but is made from numbers.",
            remedy="Choose another column for it, or read that column as text on the data page.",
        )
    missing = np.array([not isinstance(value, str) for value in values], dtype=bool)
    return np.where(missing, "", values)


def _numbers(name: str, values: NDArray[Any], kind: type) -> NDArray[Any]:
    try:
        return numbers_of(values, kind)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"The model's input “{name}” takes numbers, but is made from text.",
            why=f"The first value that is none: {first_line(error)}",
            remedy="Choose another column for it, or give its values numbers.",
        ) from error


def open_onnx(path: Path, *, output: str = "") -> OnnxModel:
    """Open an ONNX file.

    Raises
    ------
    ModelError
        When it is damaged, refers to other files, needs operations of others, or does not take
        rows of a table and answer classes.
    """
    if path.stat().st_size > MOST_BYTES:
        raise ModelError(
            f"“{path.name}” is too large for an ONNX file of a table's model.",
            remedy="Check that it is the right file.",
        )
    data = path.read_bytes()
    try:
        inside = outline(data)
    except WireError as error:
        raise ModelError(
            f"“{path.name}” is damaged or no ONNX model.",
            why=f"Looking into it failed: {error}.",
            remedy="Get the file again, or export the model again.",
        ) from error
    _refuse_strangers(path, inside)
    session = _session(path, data)
    takes, inputs = _inputs(path, session)
    answer = _output(path, session, inside)
    labels_only = answer.kind in _LABELS
    card = ModelCard(
        path=str(path),
        sha256=sha256(path),
        format="ONNX model",
        summary=f"ONNX model of {inside.nodes:,} operations"
        + (f", written by {inside.producer}" if inside.producer else "")
        + ".",
        takes=takes,
        inputs=inputs,
        named=takes is Takes.COLUMNS,
        classes=_classes(path, session, answer, inside),
        scores="labels" if labels_only else "scores" if answer.unbounded else "probabilities",
        saved_with=inside.producer,
        warnings=(UNBOUNDED,) if answer.unbounded else (),
    )
    return OnnxModel(card, session, answer)


UNBOUNDED = (
    "Its last operation gives plain numbers, not probabilities. One number is read as log-odds "
    "(above 0 means class 1), of several the greatest is the decision. Check the accuracy below."
)


def _refuse_strangers(path: Path, inside: Outline) -> None:
    if not inside.has_graph:
        raise ModelError(f"“{path.name}” holds no network.", remedy="Export the model again.")
    if inside.external:
        raise ModelError(
            f"“{path.name}” refers to other files for its weights.",
            why="FairDesk reads the model file alone, for references can point anywhere on this "
            "computer.",
            remedy="Export the model with its weights inside.",
        )
    strangers = inside.domains - KNOWN_DOMAINS
    if strangers:
        raise ModelError(
            f"“{path.name}” needs operations that FairDesk does not have: "
            f"{', '.join(sorted(strangers))}.",
            why="They are a program of their author, which does not come with the file.",
            remedy="Ask for the model with standard ONNX operations.",
        )


def _session(path: Path, data: bytes) -> Any:  # noqa: ANN401 - ONNX Runtime has no types
    # a third of a second to load; this runs in the model's own process
    import onnxruntime  # noqa: PLC0415

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # it is told below
    try:
        return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        # any kind: ONNX Runtime has a dozen without a common base
        said = _said(error)
        remedy = f"Export the model again, for ONNX Runtime {onnxruntime.__version__} or older."
        if "locale" in said:
            remedy = "Install the language that it names in the operating system."
        raise ModelError(
            f"ONNX Runtime cannot open “{path.name}”.", why=f"It says: {said}", remedy=remedy
        ) from error


def _said(error: Exception) -> str:
    """Give what ONNX Runtime says, without the place in its own source, which it tells first."""
    text = re.sub(r"/onnxruntime_src/.*?[)>] (?=[A-Z])", "", str(error), flags=re.DOTALL)
    return first_line(type(error)(text))


def _inputs(path: Path, session: Any) -> tuple[Takes, tuple[str, ...]]:  # noqa: ANN401 - as above
    entries = session.get_inputs()
    odd = [entry for entry in entries if entry.type not in _KINDS]
    if not entries or odd:
        raise ModelError(
            f"“{path.name}” takes inputs that no table has"
            + (f": “{odd[0].name}” is {odd[0].type}." if odd else "."),
            remedy="Choose a model that takes numbers or text.",
        )
    first = entries[0]
    if len(entries) == 1 and first.type != "tensor(string)" and len(first.shape) == 2:
        if not isinstance(first.shape[1], int):
            raise ModelError(
                f"“{path.name}” does not say how many inputs it takes.",
                remedy="Export it with a fixed number of columns.",
            )
        return Takes.MATRIX, tuple(f"input {i}" for i in range(1, first.shape[1] + 1))
    for entry in entries:
        if not (len(entry.shape) == 1 or (len(entry.shape) == 2 and entry.shape[1] in (1, None))):
            shape = " × ".join(str(length or "any") for length in entry.shape)
            raise ModelError(
                f"“{path.name}” takes an input “{entry.name}” of the shape {shape}.",
                why="FairDesk feeds one matrix of numbers, or one column per input.",
                remedy="Export the model with one of the two.",
            )
    return Takes.COLUMNS, tuple(entry.name for entry in entries)


def _output(path: Path, session: Any, inside: Outline) -> _Output:  # noqa: ANN401 - as above
    """Choose what to ask for: class scores before labels, what is called a probability first."""
    entries = session.get_outputs()
    scored = [
        entry
        for entry in entries
        if entry.type.startswith(_DICTIONARIES) or (entry.type in _SCORES and len(entry.shape) < 3)
    ]
    labelled = [entry for entry in entries if entry.type in _LABELS]
    probable = [entry for entry in scored if "prob" in entry.name.lower()]
    chosen = next(iter(probable or scored or labelled), None)
    if chosen is None:
        raise ModelError(
            f"“{path.name}” answers nothing that is a class or a score.",
            remedy="Choose a classifier.",
        )
    unbounded = chosen.type in _SCORES and inside.maker(chosen.name) in _UNBOUNDED
    return _Output(chosen.name, chosen.type, unbounded)


def _classes(path: Path, session: Any, output: _Output, inside: Outline) -> tuple[str, ...]:  # noqa: ANN401 - as above
    if len(inside.classes) > 1:
        return inside.classes
    shape = next(entry.shape for entry in session.get_outputs() if entry.name == output.name)
    if output.kind in _LABELS or len(shape) == 1:
        return ("0", "1")
    width = shape[1] if len(shape) == 2 else None
    if not isinstance(width, int):
        raise ModelError(
            f"“{path.name}” does not say how many classes it tells apart.",
            remedy="Export it with a fixed number of outputs.",
        )
    return tuple(str(i) for i in range(max(width, 2)))
