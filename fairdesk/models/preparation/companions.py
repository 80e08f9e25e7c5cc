"""Files beside a model that tell how it is fed, and a model behind the transformers among them."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.files import sha256
from fairdesk.models.detect import describe_format
from fairdesk.models.model import (
    Capability,
    Companion,
    Inputs,
    MatrixModel,
    ModelCard,
    OpenedModel,
    Takes,
)
from fairdesk.models.pickles.loading import load
from fairdesk.models.preparation.arranging import wrong_width
from fairdesk.models.preparation.estimators import (
    TEXT_INPUT,
    categories_of_inputs,
    is_estimator,
    kinds_of_inputs,
    matrix_of,
    missing_of_inputs,
    reads_text,
    rows_for,
    transformed,
)
from fairdesk.models.preparation.steps import Preparation, is_codes

if TYPE_CHECKING:
    from fairdesk.models.structure import ModelStructure
    from fairdesk.results.events import Scores

#: What a model can no longer show of itself once its inputs are made by something else.
_HIDDEN = frozenset({Capability.GRADIENTS, Capability.LAYERS, Capability.TREES})


class PreparedModel:
    """An opened model whose rows go through transformers first.

    Parameters
    ----------
    before : sequence of (str, Any)
        Names and fitted transformers with scikit-learn's interface, in order.

    Raises
    ------
    ModelError
        When the first does not say how many columns it takes, or the last gives another number
        of them than the model takes.
    """

    def __init__(self, opened: OpenedModel, before: Sequence[tuple[str, Any]]) -> None:
        self.opened = opened
        self.before = list(before)
        self.card = _card(opened.card, self.before)

    def matrix_scores(self, matrix: NDArray[np.float64]) -> Scores:
        """Answer for ``(n, inputs)`` numbers; as `OpenedModel.scores`."""
        return self._answer(matrix)

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for one array per input; as `OpenedModel.scores`."""
        return self._answer(rows_for(self.card, inputs))

    def structure(self) -> ModelStructure:
        """Return what is inside, transformers included.

        Raises
        ------
        OpaqueError
            When its arithmetic is not known, or is none that is read.
        """
        # not known to older Pythons, which open models too
        from fairdesk.models.preparation.column_sources import sources_of  # noqa: PLC0415
        from fairdesk.models.structure import structure_of  # noqa: PLC0415

        behind = getattr(self.opened, "structure_behind", None)
        if behind is not None:
            return cast("ModelStructure", behind(self.before, self.card))
        return sources_of(self.before, self.card).before(structure_of(self.opened))

    def _answer(self, rows: Any) -> Scores:  # noqa: ANN401 - a matrix, a pandas frame or texts
        made = self.made(rows)
        own = getattr(self.opened, "answer", None)
        if own is not None:
            return cast("Scores", own(made))
        if self.opened.card.takes is Takes.MATRIX:
            return cast("MatrixModel", self.opened).matrix_scores(made)
        return self.opened.scores([np.ascontiguousarray(column) for column in made.T])

    def made(self, rows: Any) -> Any:  # noqa: ANN401 - as above
        """Transform rows: what the model behind the transformers is given.

        Raises
        ------
        ModelError
            When one refuses them, or gives another number of columns than the model takes.
        """
        rows = transformed(self.before, rows, numbers=False)
        if hasattr(self.opened, "answer"):
            return rows
        matrix = matrix_of(rows)
        if matrix.ndim != 2 or matrix.shape[1] != len(self.opened.card.inputs):
            given = matrix.shape[1] if matrix.ndim == 2 else 1
            raise wrong_width(self.before[-1][0], given, len(self.opened.card.inputs))
        return matrix


def _card(card: ModelCard, before: list[tuple[str, Any]]) -> ModelCard:
    name, first = before[0]
    names = getattr(first, "feature_names_in_", None)
    count = getattr(first, "n_features_in_", None)
    text = reads_text(first)
    inputs: tuple[str, ...]
    if text:
        takes, inputs = Takes.COLUMNS, (TEXT_INPUT,)
    elif names is not None:
        takes, inputs = Takes.COLUMNS, tuple(str(name) for name in names)
    elif isinstance(count, (int, np.integer)):
        inputs = tuple(f"input {i}" for i in range(1, int(count) + 1))
        # an encoder that was fitted on an array takes texts, though it knows no names
        texts = "text" in kinds_of_inputs(first, inputs)
        takes = Takes.COLUMNS if texts else Takes.MATRIX
    else:
        raise ModelError(
            f"“{name}” does not state how many columns it takes.",
            remedy="Fit it again with a newer version of scikit-learn.",
        )
    listed = ", then ".join(f"{type(part).__name__} (“{name}”)" for name, part in before)
    can = [ability for ability in card.can if ability not in _HIDDEN]
    if text and Capability.TEXT not in can:
        can.append(Capability.TEXT)
    hints = card.hints
    if hints.features and len(hints.features) != len(inputs):
        # they name what comes out of the transformers
        hints = msgspec.structs.replace(hints, features=())
    return msgspec.structs.replace(
        card,
        summary=f"{card.summary} Before it: {listed}.",
        takes=takes,
        inputs=inputs,
        named=not text and names is not None,
        can=tuple(can),
        accepts=kinds_of_inputs(first, inputs),
        categories=categories_of_inputs(first, inputs),
        missing=missing_of_inputs(first, inputs),
        hints=hints,
        read_as_data=False,
        prepared=True,
    )


EXPECTED = (
    "FairDesk expects scalers, encoders or other fitted transformers (.pkl, .joblib, "
    ".skops), JSON (a list of the inputs' names; {“features”: [...]}; {“column”: {“value”: "
    "code}}; {“classes”: [...]}), or a text file with one name per line or one row of names."
)
#: Lists and codes are never larger.
_MOST_BYTES = 16 << 20


def with_companions(opened: OpenedModel, companions: Sequence[Companion]) -> OpenedModel:
    """Return a model what the files beside it tell.

    What is plain arithmetic or a list becomes `Hints` in the card; any other transformer is put
    before the model, whose inputs are then the transformer's.

    Parameters
    ----------
    companions : sequence of Companion
        The files, in the order in which rows go through those that are transformers.

    Raises
    ------
    ModelError
        When a file cannot be read, tells nothing about how a model is fed, or contradicts
        another.
    TrustRequiredError
        When one is a program that the allow-list refuses, and it is not trusted.
    """
    card = opened.card
    gathered = Preparation(card.hints, len(card.inputs), card.classes, named=card.named)
    read = [_read(companion) for companion in companions]
    unused = gathered.take([entry for file in read for entry in file.things])
    for file in read:
        left = [thing for _, thing in unused]
        if all(any(thing is other for other in left) for _, thing in file.things):
            raise _unknown(
                Path(file.companion.path), "It contains no information about this model’s inputs."
            )
    hints = gathered.hints()
    if gathered.before:
        opened = PreparedModel(opened, gathered.before)
        if len(hints.features) != len(opened.card.inputs):
            hints = msgspec.structs.replace(hints, features=())
    notes = [note for file in read for note in file.notes] + gathered.notes
    opened.card = msgspec.structs.replace(
        opened.card,
        hints=hints,
        companions=(*opened.card.companions, *(file.companion for file in read)),
        warnings=(*opened.card.warnings, *notes),
    )
    return opened


@dataclass(frozen=True)
class _Read:
    """A file beside the model and what it holds, by names."""

    companion: Companion
    things: list[tuple[str, Any]]
    notes: tuple[str, ...] = ()


def _read(companion: Companion) -> _Read:
    path = Path(companion.path)
    kind = describe_format(path)
    notes: tuple[str, ...] = ()
    needed_trust = False
    if kind in ("pickle", "skops"):
        loaded = load(path, trusted=companion.trusted)
        content, notes, needed_trust = loaded.thing, loaded.notes, loaded.needed_trust
    elif kind == "text":
        content = _text(path)
    elif kind == "missing":
        raise ModelError(
            f"The file “{path}” does not exist.", remedy="Check its name, or choose another file."
        )
    else:
        raise _unknown(path, "Its content is not of an expected type.")
    if is_estimator(content):
        raise _unknown(path, f"It is a model, “{type(content).__name__}”, not its preprocessing.")
    several = isinstance(content, Mapping) and not is_codes(content)
    things = (
        [(str(name), thing) for name, thing in content.items() if not is_estimator(thing)]
        if several
        else [(path.stem, content)]
    )
    fingerprint = companion.sha256 or sha256(path)
    return _Read(Companion(companion.path, fingerprint, trusted=needed_trust), things, notes)


def _text(path: Path) -> object:
    """Read names, or what JSON says."""
    if path.stat().st_size > _MOST_BYTES:
        raise _unknown(path, "It is too large for a list of names.")
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise _unknown(path, f"It cannot be read as text: {error}.") from error
    if path.suffix.lower() == ".json" or text.lstrip()[:1] in ("{", "["):
        try:
            content: object = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _unknown(path, f"It is not valid JSON: {error}.") from error
        return content
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise _unknown(path, "It is empty.")
    if len(lines) > 1 and not any(mark in lines[0] for mark in ",;\t"):
        return lines
    try:
        dialect = csv.Sniffer().sniff(lines[0], ",;\t|")
        return [cell.strip() for cell in next(csv.reader(lines, dialect))]
    except csv.Error:
        return lines


def _unknown(path: Path, why: str) -> ModelError:
    return ModelError(
        f"“{path.name}” does not describe the model’s inputs.", why=why, remedy=EXPECTED
    )
