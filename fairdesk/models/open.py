"""Opening a model file: what it is, told by its content, and which reader it goes to."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

from fairdesk.errors import ModelError
from fairdesk.models.model import Companion, OpenedModel
from fairdesk.models.packed import PACKED

#: How many bytes tell the formats apart.
_HEAD = 4096
_HDF5 = b"\x89HDF\r\n\x1a\n"
#: Suffixes under which pickles of the oldest, textual protocol are taken for what they are.
_PICKLE_SUFFIXES = frozenset({".pkl", ".pickle", ".joblib", ".sav", ".p"})
#: The highest versions that exist or are near; a byte beyond them is no such file.
_PICKLE_PROTOCOL, _ONNX_VERSION = 5, 31

WANTED = (
    "FairDesk opens Keras (.keras, .h5), ONNX (.onnx) and scikit-learn (.pkl, .joblib, .skops) "
    "models."
)


def describe_format(path: Path) -> str:
    """Tell a model file's format from its first bytes; nothing of it is run.

    Returns
    -------
    str
        ``"keras-zip"``, ``"hdf5"``, ``"saved-model"`` (a folder), ``"onnx"``, ``"pickle"``,
        ``"skops"``; or, of what cannot be opened, ``"missing"``, ``"folder"``, ``"empty"``,
        ``"zip"``, ``"text"`` or ``"unknown"``.

    Raises
    ------
    ModelError
        When the file is there but may not be read.
    """
    if path.is_dir():
        return "saved-model" if (path / "saved_model.pb").is_file() else "folder"
    if not path.is_file():
        return "missing"
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
            stream.seek(max(stream.seek(0, os.SEEK_END) - 1, 0))
            last = stream.read(1)
    except OSError as error:
        raise ModelError(
            f"“{path.name}” cannot be read.",
            why=f"The system says: {error.strerror}.",
            remedy="Check that you may read the file.",
        ) from error
    if head.startswith(b"PK"):
        return _kind_of_zip(path)
    kinds = {
        "empty": not head,
        "hdf5": head.startswith(_HDF5),
        "pickle": _is_pickle(head, last, path.suffix.lower()),
        "onnx": head[:1] == b"\x08" and head[1:2] != b"" and 0 < head[1] <= _ONNX_VERSION,
        "text": _is_text(head),
    }
    return next((kind for kind, it_is in kinds.items() if it_is), "unknown")


def _is_pickle(head: bytes, last: bytes, suffix: str) -> bool:
    if head.startswith(b"\x80"):
        return len(head) > 1 and head[1] <= _PICKLE_PROTOCOL
    if head.startswith(tuple(PACKED)):
        return True
    # the oldest protocols begin with any of some letters and signs, but all end with a full stop
    return suffix in _PICKLE_SUFFIXES and head[:1] in (b"(", b"]", b"}", b"c") and last == b"."


def _kind_of_zip(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except zipfile.BadZipFile:
        # cut off: its list of parts, at the end, is missing
        return "keras-zip" if path.suffix.lower() == ".keras" else "zip"
    if {"config.json", "model.weights.h5"} <= names:
        return "keras-zip"
    return "skops" if "schema.json" in names else "zip"


def _is_text(head: bytes) -> bool:
    try:
        # the last character may be cut
        head[:-4].decode() if len(head) == _HEAD else head.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in head


def open_model(
    path: Path,
    *,
    trusted: bool = False,
    output: str = "",
    companions: Sequence[Companion] = (),
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
    # each reader is loaded with its library only when a file needs it
    if kind in ("keras-zip", "hdf5", "saved-model"):
        from fairdesk.models.keras_file import open_keras  # noqa: PLC0415

        opened = open_keras(path, trusted=trusted, output=output)
    elif kind == "onnx":
        from fairdesk.models.onnx_file import open_onnx  # noqa: PLC0415

        opened = open_onnx(path, output=output)
    elif kind in ("pickle", "skops"):
        from fairdesk.models.sklearn_file import open_scikit  # noqa: PLC0415

        opened = open_scikit(path, trusted=trusted, output=output)
    else:
        raise _refusal(path, kind)
    if companions:
        from fairdesk.models.companions import with_companions  # noqa: PLC0415

        return with_companions(opened, companions)
    return opened


def _refusal(path: Path, kind: str) -> ModelError:
    """Say what the file is instead of a model: what, why and what to do."""
    name = f"“{path.name}”"
    what, why, remedy = {
        "missing": (
            f"The model file “{path}” is not there.",
            "",
            "Check its name, or choose another file.",
        ),
        "empty": (
            f"The model file {name} is empty.",
            "Perhaps a download or a copy was cut off.",
            "Get the file again.",
        ),
        "folder": (f"{name} is a folder.", "", f"Choose a file. {WANTED}"),
        "zip": (
            f"{name} is an archive, but not of a Keras model.",
            "It is damaged, or holds something else.",
            f"Unpack it if the model is inside. {WANTED}",
        ),
        "text": (
            f"{name} is a text file, not a model.",
            "Perhaps the data file was chosen as the model.",
            WANTED,
        ),
    }.get(
        kind,
        (
            f"{name} is no model file that FairDesk knows.",
            "Its first bytes belong to none of the formats; perhaps it is damaged.",
            WANTED,
        ),
    )
    return ModelError(what, why=why, remedy=remedy)
