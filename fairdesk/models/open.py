"""Opening a model file: what it is, told by its content, and which reader it goes to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from fairdesk import file_types as types
from fairdesk.errors import ModelError
from fairdesk.files import sha256
from fairdesk.models.detect import BOOSTED, HEAD, OPENED, describe_format, model_within
from fairdesk.models.model import Companion, OpenedModel
from fairdesk.signatures import as_text, looks_tabular, recognise

#: So many files of a folder are listed.
_LISTED = 10

WANTED = f"FairDesk opens {types.MODEL_FORMATS} models."


def open_model(
    path: Path, *, trusted: bool = False, output: str = "", companions: Sequence[Companion] = ()
) -> OpenedModel:
    """Open a model file.

    Parameters
    ----------
    path : Path
        The file. Its content decides, not its name.
    trusted : bool
        Whether the auditor agreed that the file's own code may run.
    output : str
        Which of its outputs decides, of a model with several; one is chosen when left out.
    companions : sequence of Companion
        Files beside it that tell how it is fed.

    Raises
    ------
    ModelError
        When the file is no model that can be opened: what is wrong with it and what to do.
    TrustRequiredError
        When the file is a program and ``trusted`` is false; nothing of it was run.
    """
    kind = describe_format(path)
    if kind == "archive":
        return _opened_within(path, trusted=trusted, output=output, companions=companions)
    # each reader is loaded with its library only when a file needs it
    if kind in ("keras-zip", "hdf5", "saved-model"):
        from fairdesk.models.keras.file import open_keras  # noqa: PLC0415

        opened = open_keras(path, trusted=trusted, output=output)
    elif kind == "onnx":
        from fairdesk.models.onnx.file import open_onnx  # noqa: PLC0415

        opened = open_onnx(path, output=output)
    elif kind == "pmml":
        from fairdesk.models.pmml.file import open_pmml  # noqa: PLC0415

        opened = open_pmml(path)
    elif kind in ("pickle", "skops"):
        from fairdesk.models.sklearn.file import looked_into, open_scikit  # noqa: PLC0415

        opened = looked_into(open_scikit(path, trusted=trusted, output=output))
    elif kind in BOOSTED:
        from fairdesk.models.boosting.opening import open_boosted  # noqa: PLC0415

        opened = open_boosted(path, kind)
    else:
        raise _refusal(path, kind)
    if companions:
        from fairdesk.models.preparation.companions import with_companions  # noqa: PLC0415

        return with_companions(opened, companions)
    return opened


def _opened_within(
    path: Path, *, trusted: bool, output: str, companions: Sequence[Companion]
) -> OpenedModel:
    """Open the one model in an archive."""
    with model_within(path) as model:
        opened = open_model(model, trusted=trusted, output=output, companions=companions)
    note = f"“{path.name}” is an archive: the only model in it, “{model.name}”, was opened."
    opened.card = msgspec.structs.replace(
        opened.card, path=str(path), sha256=sha256(path), warnings=(note, *opened.card.warnings)
    )
    return opened


def _refusal(path: Path, kind: str) -> ModelError:
    """Return the error for a file that is not a model: what it is, why, and what to do."""
    name = f"“{path.name}”"
    known = recognise(path) if kind in ("foreign", "text", "folder") else None
    if known is not None:
        return ModelError(f"{name} is {known.what}.", remedy=known.as_model)
    if kind == "missing":
        return ModelError(
            f"The model file “{path}” does not exist.", remedy="Check its name, or choose another."
        )
    if kind == "empty":
        return ModelError(
            f"The model file {name} is empty.",
            why="A download or a copy that did not start leaves such a file.",
            remedy="Download or copy it again, and compare its size with the original’s.",
        )
    return _of_folder(path) if kind == "folder" else _of_unknown(path)


def _of_folder(path: Path) -> ModelError:
    inside = [each for each in sorted(path.iterdir()) if describe_format(each) in OPENED]
    listed = ", ".join(f"“{each.name}”" for each in inside[:_LISTED])
    return ModelError(
        f"“{path.name}” is a folder, but not a TensorFlow SavedModel.",
        why=f"It contains: {listed}." if inside else "It contains no model that FairDesk opens.",
        remedy="Choose the model’s own file in it." if inside else WANTED,
    )


def _of_unknown(path: Path) -> ModelError:
    with path.open("rb") as stream:
        head = stream.read(HEAD)
    text = as_text(head)
    if text is None:
        return ModelError(
            f"“{path.name}” has a format that FairDesk does not recognise.",
            why=f"It starts with the bytes {head[:8].hex(' ')}.",
            remedy=types.ASK,
        )
    if looks_tabular(text):
        return ModelError(f"“{path.name}” is a table.", remedy=types.AS_DATA)
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return ModelError(
        f"“{path.name}” is a text file, but not in a model format known to FairDesk.",
        why=f"Its first line is “{first[:80]}”." if first else "It contains nothing but spaces.",
        remedy=types.ASK,
    )
