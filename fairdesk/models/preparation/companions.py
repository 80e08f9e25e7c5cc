"""Files beside a model that tell how it is fed: scalers, encoders, the order of its inputs."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from fairdesk.errors import ModelError
from fairdesk.files import sha256
from fairdesk.models.detect import describe_format
from fairdesk.models.model import Companion, Inputs, ModelCard, OpenedModel
from fairdesk.models.pickles.loading import load
from fairdesk.models.preparation.estimators import is_estimator
from fairdesk.models.preparation.prepared import PreparedModel
from fairdesk.models.preparation.steps import Preparation, is_codes

if TYPE_CHECKING:
    from fairdesk.results.events import Scores

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
    card = msgspec.structs.replace(
        opened.card,
        hints=hints,
        companions=(*opened.card.companions, *(file.companion for file in read)),
        warnings=(*opened.card.warnings, *notes),
    )
    return DescribedModel(opened, card)


class DescribedModel:
    """An opened model of which more is known than its own file tells.

    Parameters
    ----------
    opened : OpenedModel
        The model; all that it offers is offered.
    """

    def __init__(self, opened: OpenedModel, card: ModelCard) -> None:
        self.described = opened
        self.card = card

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for one array per input; as `OpenedModel.scores`."""
        return self.described.scores(inputs)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the model offers
        return getattr(self.described, name)


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
