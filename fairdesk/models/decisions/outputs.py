"""What libraries are given, what they answer and what they complain about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from fairdesk.models.model import ModelCard
    from fairdesk.results.events import Scores

Answers = NDArray[Any]

#: Two probabilities that add up to 1 but for so much are shares of a whole, rounded.
_ADDS_UP = 1e-3
#: The least score that chooses class 1 of two.
_JUST_ABOVE = np.nextafter(np.float32(0.5), np.float32(1))
#: So many characters of what a library says are quoted.
_LONGEST = 300


def numbers_of(values: Answers, kind: type | str) -> Answers:
    """Convert numbers to the type that a library wants.

    Raises
    ------
    ModelError
        When the type cannot hold one of them: it would silently become another number.
    ValueError, TypeError
        When they are no numbers.
    """
    wanted = np.dtype(kind)
    numbers = values.astype(np.float64) if values.dtype.kind in "OUS" else values
    if wanted.kind in "iub" and np.isnan(numbers).any():
        raise ModelError(
            "The model accepts whole numbers only, and a cell is missing.",
            remedy="Exclude rows with missing cells.",
        )
    # numbers out of range are looked for below
    with np.errstate(over="ignore", invalid="ignore"):
        converted = numbers.astype(wanted)
    if wanted.kind == "f":
        changed = np.isinf(converted) & np.isfinite(numbers)
    else:
        changed = converted != numbers
    if changed.any():
        raise ModelError(
            f"The model accepts numbers of the type {wanted.name}, which cannot hold "
            f"{numbers[changed].ravel()[0]:g}.",
            why="It would be changed to another number.",
            remedy="Use another column for that input, or scale it as its author did.",
        )
    return converted


def from_probabilities(answers: Answers) -> Scores:
    """Make scores of probabilities ``(n,)``, ``(n, 1)`` (of class 1) or ``(n, k)``.

    Of two or more the greatest is the decision, also where they do not add up to 1 (each class
    judged by itself): then the score of class 1 of two is one half and half their difference.
    """
    columns = _columns(answers)
    if columns.shape[1] > 2:
        return np.ascontiguousarray(columns, dtype=np.float32)
    if columns.shape[1] == 1:
        return of_two(columns, columns > 0.5)
    first, second = columns[:, :1], columns[:, 1:]
    shares = np.abs(first + second - 1) < _ADDS_UP
    return of_two(np.where(shares, second, (1 + second - first) / 2), second > first)


def from_margins(answers: Answers) -> Scores:
    """Make scores of unbounded ones.

    For two classes the logistic function puts them into 0..1, which keeps their order and puts
    the limit at 0.5; for more they stay as they are.

    Parameters
    ----------
    answers : NDArray
        ``(n,)`` or ``(n, 1)``, where class 1 is chosen above 0; or ``(n, k)``.
    """
    columns = _columns(answers).astype(np.float64)
    if columns.shape[1] > 2:
        return np.ascontiguousarray(columns, dtype=np.float32)
    margins = columns[:, 1:] - columns[:, :1] if columns.shape[1] == 2 else columns
    # exp overflows to infinity far below zero, and then 0 is the right answer
    with np.errstate(over="ignore"):
        scores = 1 / (1 + np.exp(-margins))
    return of_two(scores, margins > 0)


def from_values(answers: Answers) -> Scores:
    """Make scores ``(n, 1)`` of estimated numbers ``(n,)`` or ``(n, 1)``.

    They keep their precision: a threshold is compared with what the model said, not with that
    rounded.
    """
    columns = _columns(answers)
    return np.ascontiguousarray(columns, columns.dtype if columns.dtype.kind == "f" else np.float64)


def from_classes(chosen: NDArray[np.intp], classes: int) -> Scores:
    """Make scores of decisions alone: 1 for the chosen class, 0 for the others.

    Parameters
    ----------
    chosen : NDArray[np.intp]
        ``(n,)``; positions of classes.
    """
    scores: Scores = (chosen[:, None] == np.arange(classes)).astype(np.float32)
    return scores[:, 1:] if classes == 2 else scores


#: What makes scores of answers, by what a card says that they are.
BY_KIND: dict[str, Callable[[Answers], Scores]] = {
    "probabilities": from_probabilities,
    "scores": from_margins,
    "values": from_values,
}


def from_labels(labels: Sequence[object], classes: Sequence[str]) -> Scores:
    """Make scores of decided classes, given by their names.

    Raises
    ------
    ModelError
        When one is none of the classes.
    """
    places = {name: place for place, name in enumerate(classes)}
    try:
        chosen = [places[str(label)] for label in labels]
    except KeyError:
        raise ModelError(
            f"The model returned a class that is not one of {', '.join(classes)}.",
            remedy="Ask for the model with its probabilities as an output.",
        ) from None
    return from_classes(np.array(chosen, dtype=np.intp), len(classes))


def no_scores(card: ModelCard) -> Scores:
    """Return the scores of no rows."""
    return np.empty((0, len(card.classes) if len(card.classes) > 2 else 1), np.float32)


def _columns(answers: Answers) -> Answers:
    return answers[:, None] if answers.ndim == 1 else answers


def of_two(scores: Answers, second: NDArray[np.bool_]) -> Scores:
    """Round to float32, but never across the limit between the classes."""
    rounded: Scores = scores.astype(np.float32)
    rounded[second & (rounded <= 0.5)] = _JUST_ABOVE
    rounded[~second & (rounded > 0.5)] = 0.5
    return rounded


def choose(path: Path, outputs: Sequence[str], output: str) -> str:
    """Choose an output by its name, the first one when none is asked for.

    Raises
    ------
    ModelError
        When there is none of that name.
    """
    if output and output not in outputs:
        raise ModelError(
            f"“{path.name}” has no output “{output}”.",
            remedy=f"Choose one of: {', '.join(outputs)}."
            if outputs
            else "Do not choose an output.",
        )
    return output or next(iter(outputs), "")


def rejected(rows: int, why: str) -> ModelError:
    """Return the error for rows that a model refuses; ``why`` is what its library reported."""
    return ModelError(
        f"The model rejected {rows:,} rows.",
        why=why,
        remedy="Check that each input is made from the right column.",
    )


def without_gradients(why: str) -> ModelError:
    """Return the error for gradients that a model does not have."""
    return ModelError(
        "The gradients of the model’s outputs are not available.",
        why=why,
        remedy="Choose a method that needs model outputs only.",
    )


def first_line(error: BaseException, message: str | None = None) -> str:
    """Return the first line of what a library says, with the kind of error, not too long."""
    lines = (str(error) if message is None else message).strip().splitlines()
    text = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
