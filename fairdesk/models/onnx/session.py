"""An ONNX file loaded by ONNX Runtime: what it takes, calls in batches, what its outputs mean."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.models.decisions.outputs import first_line, rejected
from fairdesk.models.decisions.tensors import (
    MOST_INPUTS,
    Tensor,
    is_length,
    not_one_each,
    tail_of,
    without_width,
)
from fairdesk.models.dense.layers import ESTIMATE
from fairdesk.models.onnx.graph import NO_NODE, Graph

#: Rows per call: of larger batches a network's layers leave the processor's cache.
BATCH = 2048
#: The first rows, which are few, are answered within so many seconds, or the model is given up.
FIRST_SECONDS = 30.0


class Asked:
    """A loaded model: gives it tensors in batches of the size that it takes."""

    def __init__(self, session: Any, tensors: Sequence[Tensor], fixed: int) -> None:  # noqa: ANN401 - ONNX Runtime has no types
        self.session = session
        self.tensors = tensors
        self._fixed = fixed
        self._answered = False
        #: Whether it was ended, for it did not answer the first rows in time.
        self.endless = False

    def __call__(self, output: str, tensors: list[NDArray[Any]]) -> list[Any]:
        """Return the answers of each batch, without rows that were added to fill it."""
        rows = len(tensors[0])
        size = self._fixed or BATCH
        starts = range(0, rows, size)
        return [self._batch(output, [t[start : start + size] for t in tensors]) for start in starts]

    def _batch(self, output: str, tensors: list[NDArray[Any]]) -> Any:  # noqa: ANN401 - a list of dictionaries or an array
        rows = len(tensors[0])
        if rows < self._fixed:
            # the last row is repeated up to the fixed number
            tensors = [np.concatenate([t, *[t[-1:]] * (self._fixed - rows)]) for t in tensors]
        names = [tensor.name for tensor in self.tensors]
        try:
            answer = self._run(output, dict(zip(names, tensors, strict=True)))
        except Exception as error:
            # any kind: ONNX Runtime has a dozen without a common base
            if self.endless:
                raise ModelError(
                    f"The model gave no output for {rows:,} rows within {FIRST_SECONDS:g} seconds.",
                    why=(
                        "Its graph most likely has a loop that never ends, or it is far too slow "
                        "for a search."
                    ),
                    remedy=(
                        "Ask the model’s author for a graph whose loops end. With the model’s "
                        "decisions as a column of the table, groups can be compared without the "
                        "model."
                    ),
                ) from error
            raise rejected(rows, f"ONNX Runtime reported: {runtime_message(error)}") from error
        length = len(answer) if isinstance(answer, list) or answer.ndim else 1
        if length != max(rows, self._fixed):
            raise not_one_each(f"{length:,} outputs", rows)
        return answer[:rows] if isinstance(answer, list) else np.atleast_1d(answer)[:rows]

    def _run(self, output: str, tensors: dict[str, NDArray[Any]]) -> Any:  # noqa: ANN401 - as above
        """Query once. The first rows, which are few, are given up when they take too long."""
        if self._answered:
            return self.session.run([output], tensors)[0]
        # loaded already; it has no types
        import onnxruntime  # noqa: PLC0415

        options = onnxruntime.RunOptions()

        def end() -> None:
            self.endless = options.terminate = True

        timer = threading.Timer(FIRST_SECONDS, end)
        timer.daemon = True
        timer.start()
        try:
            answer = self.session.run([output], tensors, options)[0]
        finally:
            timer.cancel()
        self._answered = True
        return answer


def runtime_message(error: Exception) -> str:
    """Return what ONNX Runtime says, without the place in its own source, which it tells first."""
    # it quotes names as the file has them, which need not be text
    text = (
        str(error.object, errors="replace") if isinstance(error, UnicodeDecodeError) else str(error)
    )
    return first_line(
        error, re.sub(r"/onnxruntime_src/.*?[)>] (?=[A-Z])", "", text, flags=re.DOTALL)
    )


#: Where glibc keeps the locale without a language: Unicode's own rules for letters.
_NEUTRAL = tuple(
    Path(root) / name
    for root in ("/usr/lib/locale", "/usr/share/locale", "/usr/lib64/locale")
    for name in ("C.utf8", "C.UTF-8")
)
#: Languages with rules of their own for upper and lower case.
_OTHER_RULES = frozenset({"az", "lt", "tr"})
_NAME = re.compile(r"([a-z]{2,3})(_[A-Z]{2})?\.(UTF-8|utf8|utf-8)")


#: Tensors of ONNX by their names, as NumPy has them; text as Python objects.
KINDS: dict[str, type] = {
    **{f"tensor({kind})": np.dtype(kind).type for kind in ("int64", "int32", "int16", "int8")},
    **{f"tensor({kind})": np.dtype(kind).type for kind in ("uint64", "uint32", "uint16", "uint8")},
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(bool)": np.bool_,
    "tensor(string)": object,
}
_LOCALE = re.compile(r"Failed to construct locale with name:([\w.@-]+)")
LENT = (
    "The model was made for the language setting “{}”, which this computer does not have. Its "
    "outputs are the same: capital letters become lower case by the same rules."
)
#: Numbers of one batch of a fixed size.
_MOST_NUMBERS = 2**26


def lend(name: str) -> bool:
    """Make a locale known to this process under a name that the system does not have.

    It has the rules for letters that all languages share but the Turkic and Lithuanian ones. It
    is seen by what looks for locales afterwards, until the process ends; nothing outside of the
    process's own temporary folder changes.

    Parameters
    ----------
    name : str
        ``"en_US.UTF-8"``.

    Returns
    -------
    bool
        Whether that was possible.
    """
    spelt = _NAME.fullmatch(name)
    neutral = next((folder for folder in _NEUTRAL if (folder / "LC_CTYPE").is_file()), None)
    if not sys.platform.startswith("linux") or not spelt or neutral is None:
        return False
    if spelt[1] in _OTHER_RULES:
        return False
    try:
        folder = Path(tempfile.mkdtemp(prefix="locale-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        (folder / name).symlink_to(neutral)
    except OSError:
        return False
    known = os.environ.get("LOCPATH")
    os.environ["LOCPATH"] = f"{known}:{folder}" if known else str(folder)
    return True


def session_of(path: Path, data: bytes) -> tuple[Any, tuple[str, ...]]:
    """Load a model's bytes; give it with what there is to warn of.

    Raises
    ------
    ModelError
        When ONNX Runtime does not take it.
    """
    # a third of a second to load; this runs in the model's own process
    import onnxruntime  # noqa: PLC0415

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # it is told below
    # never its other format, which was not looked into
    options.add_session_config_entry("session.load_model_format", "ONNX")
    warnings: tuple[str, ...] = ()
    while True:
        try:
            session = onnxruntime.InferenceSession(
                data, options, providers=["CPUExecutionProvider"], enable_fallback=0
            )
        except Exception as error:
            # any kind: ONNX Runtime has a dozen without a common base
            message = runtime_message(error)
            locale = _LOCALE.search(message)
            if locale and not warnings and lend(locale[1]):
                warnings = (LENT.format(locale[1]),)
                continue
            remedy = f"Export the model again, for ONNX Runtime {onnxruntime.__version__} or older."
            if locale:
                remedy = "Install the language that the model names in the operating system."
            raise ModelError(
                f"ONNX Runtime cannot open “{path.name}”.",
                why=f"It reported: {message}",
                remedy=remedy,
            ) from error
        return session, warnings


def tensors_of(path: Path, session: Any, graph: Graph) -> tuple[list[Tensor], int]:  # noqa: ANN401 - as above
    """Return what the model takes, and how many rows at once; 0 where any number."""
    entries = session.get_inputs()
    odd = [entry for entry in entries if entry.type not in KINDS]
    if not entries or odd:
        raise ModelError(
            f"“{path.name}” takes inputs that no table has"
            + (f": “{odd[0].name}” is {odd[0].type}." if odd else "."),
            remedy="Choose a model that takes numbers or text.",
        )
    tensors = [
        Tensor(entry.name, KINDS[entry.type], _tail(path, entry, graph, alone=len(entries) == 1))
        for entry in entries
    ]
    # some models are exported for batches of one size only
    sizes = {entry.shape[0] for entry in entries if entry.shape and is_length(entry.shape[0])}
    if sum(tensor.width for tensor in tensors) * max(sizes, default=1) > _MOST_NUMBERS:
        raise ModelError(
            f"“{path.name}” takes more numbers at once than any table has.",
            remedy="Export the model for a variable number of rows.",
        )
    return tensors, max(sizes, default=0)


def _tail(path: Path, entry: Any, graph: Graph, *, alone: bool) -> tuple[int, ...]:  # noqa: ANN401 - as above
    """Return the shape of an input after its rows, where it is one of a table's rows."""
    shape = list(entry.shape)
    free = [i for i, length in enumerate(shape) if i and not is_length(length)]
    if not shape or (free and alone):
        # a rank that is not told, or columns that are not counted
        width = graph.width(entry.name)
        if not width or width > MOST_INPUTS or len(free) > 1 or shape[1:].count(1) < len(shape) - 2:
            raise without_width(path)
        shape = shape or [None, width]
        for place in free:
            shape[place] = width
    # of several inputs each is a column
    return tail_of(path, entry.name, shape)


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
