"""The tensors that libraries take, made from one array per input of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.models.decisions.outputs import first_line, numbers_of
from fairdesk.models.model import Inputs, Takes

#: A table with more columns than that is none that FairDesk reads.
MOST_INPUTS = 100_000


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor that a model takes.

    Attributes
    ----------
    name : str
        As the file has it.
    kind : type
        NumPy's type of its numbers; ``object`` for text.
    tail : tuple[int, ...]
        Its shape after the rows: ``()``, ``(1,)``, ``(inputs,)``, ``(1, inputs)``; at most one of
        them is above 1.
    """

    name: str
    kind: type
    tail: tuple[int, ...]

    @property
    def width(self) -> int:
        """How many inputs of the model it holds."""
        return prod(self.tail)

    @property
    def text(self) -> bool:
        """Whether it holds text."""
        return self.kind is object


@dataclass(frozen=True, slots=True)
class Taken:
    """What a model takes, in the card's terms.

    Attributes
    ----------
    takes : Takes
        One matrix or columns.
    inputs, accepts, named
        As in `fairdesk.models.model.ModelCard`.
    """

    takes: Takes
    inputs: tuple[str, ...]
    accepts: tuple[str, ...]
    named: bool


def taken(tensors: Sequence[Tensor]) -> Taken:
    """Return what a model takes: one tensor of numbers is a matrix, anything else named columns."""
    accepts = tuple("text" if t.text else "number" for t in tensors for _ in range(t.width))
    first = tensors[0]
    if len(tensors) == 1 and not first.text and first.tail:
        names = tuple(f"input {i}" for i in range(1, first.width + 1))
        return Taken(Takes.MATRIX, names, accepts, named=False)
    inputs: list[str] = []
    for tensor in tensors:
        several = [f"{tensor.name} {i}" for i in range(1, tensor.width + 1)]
        inputs += several if tensor.width > 1 else [tensor.name]
    return Taken(Takes.COLUMNS, tuple(inputs), accepts, named=any(t.width == 1 for t in tensors))


def is_length(length: object) -> bool:
    """Whether a dimension of a tensor is told, and is a length."""
    return isinstance(length, int) and length > 0


def tail_of(path: Path, name: str, shape: Sequence[object]) -> tuple[int, ...]:
    """Return the shape of an input after its rows; unknown lengths are those of one row.

    Raises
    ------
    ModelError
        When it is none of a table's rows.
    """
    tail = tuple(length if isinstance(length, int) and length > 0 else 1 for length in shape[1:])
    if sum(length > 1 for length in tail) > 1 or max(tail, default=1) > MOST_INPUTS:
        spelt = " × ".join(str(length or "any") for length in shape)
        raise ModelError(
            f"“{path.name}” takes an input “{name}” of the shape {spelt}.",
            why="FairDesk sends one matrix of numbers, or one column per input.",
            remedy="Export the model with one of the two.",
        )
    return tail


def without_width(path: Path) -> ModelError:
    """Return the error for a model that does not state how many inputs it takes."""
    return ModelError(
        f"“{path.name}” does not state how many inputs it takes.",
        remedy="Export it with a fixed number of columns.",
    )


def not_one_each(what: str, rows: int) -> ModelError:
    """Return the error for a model that returned something else than an output for each row."""
    return ModelError(
        f"The model returned {what} for {rows:,} rows.",
        why="One output for each row was expected.",
        remedy="Choose a model of a table’s rows.",
    )


def fill(tensors: Sequence[Tensor], inputs: Inputs) -> list[NDArray[Any]]:
    """Make the tensors from one array ``(n,)`` per input of the model.

    Raises
    ------
    ModelError
        When one would be given text for numbers, or the other way about.
    """
    made, at = [], 0
    for tensor in tensors:
        parts = inputs[at : at + tensor.width]
        at += tensor.width
        convert = _texts if tensor.text else _numbers
        columns = [convert(tensor, values) for values in parts]
        joined = columns[0] if len(columns) == 1 else np.column_stack(columns)
        made.append(joined.reshape(len(joined), *tensor.tail))
    return made


def fill_matrix(tensor: Tensor, matrix: NDArray[np.float64]) -> NDArray[Any]:
    """Make a model's only tensor from ``(n, inputs)`` numbers."""
    return numbers_of(matrix, tensor.kind).reshape(len(matrix), *tensor.tail)


def _texts(tensor: Tensor, values: NDArray[Any]) -> NDArray[np.object_]:
    """Return texts; a missing one is empty, as tensors have no other way to say so."""
    if values.dtype != object:
        raise ModelError(
            f"The model’s input “{tensor.name}” accepts text, but is made from numbers.",
            remedy="Choose another column for it, or give that column a type that is text.",
        )
    missing = np.array([not isinstance(value, str) for value in values], dtype=bool)
    return np.where(missing, "", values)


def _numbers(tensor: Tensor, values: NDArray[Any]) -> NDArray[Any]:
    try:
        return numbers_of(values, tensor.kind)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"The model’s input “{tensor.name}” accepts numbers, but is made from text.",
            why=f"The first value that is not a number: {first_line(error)}",
            remedy="Choose another column for it, or assign numbers to its values.",
        ) from error
