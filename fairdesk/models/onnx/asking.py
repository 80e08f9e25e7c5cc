"""A loaded ONNX model that is asked: in batches that it takes, and not for ever."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.models.decisions.outputs import first_line, rejected
from fairdesk.models.decisions.tensors import Tensor

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
            tensors = [_filled_up(tensor, self._fixed) for tensor in tensors]
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
            raise ModelError(
                f"The model returned {length:,} outputs for {rows:,} rows.",
                why="One output for each row was expected.",
                remedy="Check that the file is a classifier of a table’s rows.",
            )
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


def _filled_up(tensor: NDArray[Any], size: int) -> NDArray[Any]:
    """Repeat the last row up to a fixed number of rows."""
    return np.concatenate([tensor, *[tensor[-1:]] * (size - len(tensor))])


def runtime_message(error: Exception) -> str:
    """Return what ONNX Runtime says, without the place in its own source, which it tells first."""
    # it quotes names as the file has them, which need not be text
    text = (
        str(error.object, errors="replace") if isinstance(error, UnicodeDecodeError) else str(error)
    )
    return first_line(
        error, re.sub(r"/onnxruntime_src/.*?[)>] (?=[A-Z])", "", text, flags=re.DOTALL)
    )
