"""Opening a model file: what it is, told by its content, and which reader it goes to."""

from __future__ import annotations

import zipfile
from pathlib import Path

from fairdesk.errors import ModelError
from fairdesk.models.model import OpenedModel

#: How many bytes tell the formats apart.
_HEAD = 4096
_HDF5 = b"\x89HDF\r\n\x1a\n"
#: How compressed pickles of joblib begin: zlib, gzip, bzip2, lzma, xz, lz4.
_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\x5d\x00\x00", b"\xfd7zXZ", b"\x04\x22\x4d\x18")
_ZLIB = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
#: Suffixes under which pickles of the oldest, textual protocol are taken for what they are.
_PICKLE_SUFFIXES = frozenset({".pkl", ".pickle", ".joblib", ".sav", ".p"})
#: The highest versions that exist or are near; a byte beyond them is no such file.
_PICKLE_PROTOCOL, _ONNX_VERSION = 5, 31

WANTED = "FairDesk opens Keras (.keras, .h5), ONNX (.onnx) and scikit-learn (.pkl, .joblib) models."


def describe_format(path: Path) -> str:
    """Tell a model file's format from its first bytes; nothing of it is run.

    Returns
    -------
    str
        ``"keras-zip"``, ``"hdf5"``, ``"onnx"``, ``"pickle"``; or, of what cannot be opened,
        ``"missing"``, ``"folder"``, ``"saved-model"``, ``"empty"``, ``"zip"``, ``"skops"``,
        ``"text"`` or ``"unknown"``.

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
    except OSError as error:
        raise ModelError(
            f"“{path.name}” cannot be read.",
            why=f"The system says: {error.strerror}.",
            remedy="Check that you may read the file.",
        ) from error
    if not head:
        return "empty"
    if head.startswith(_HDF5):
        return "hdf5"
    if head.startswith(b"PK"):
        return _kind_of_zip(path)
    if _is_pickle(head, path.suffix.lower()):
        return "pickle"
    if head[0] == 0x08 and len(head) > 2 and 0 < head[1] <= _ONNX_VERSION:
        return "onnx"
    return "text" if _is_text(head) else "unknown"


def _is_pickle(head: bytes, suffix: str) -> bool:
    if head[0] == 0x80:
        return len(head) > 1 and head[1] <= _PICKLE_PROTOCOL
    if head.startswith(_COMPRESSED) or head.startswith(_ZLIB):
        return True
    return suffix in _PICKLE_SUFFIXES and head[:1] in b"(]}c" and b"\n" in head


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


def open_model(path: Path, *, trusted: bool = False) -> OpenedModel:
    """Open a model file.

    Parameters
    ----------
    path : Path
        The file. Its content decides, not its name.
    trusted : bool
        Whether the auditor agreed that the file's own code may run (pickles).

    Raises
    ------
    ModelError
        When the file is no model that can be opened: what is wrong with it and what to do.
    TrustRequiredError
        When the file is a program and ``trusted`` is false; nothing of it was run.
    """
    kind = describe_format(path)
    # each reader is loaded with its library only when a file needs it
    if kind in ("keras-zip", "hdf5"):
        from fairdesk.models.keras_file import open_keras  # noqa: PLC0415

        return open_keras(path)
    if kind == "onnx":
        from fairdesk.models.onnx_file import open_onnx  # noqa: PLC0415

        return open_onnx(path)
    if kind == "pickle":
        from fairdesk.models.sklearn_file import open_pickle  # noqa: PLC0415

        return open_pickle(path, trusted=trusted)
    raise _refusal(path, kind)


def _refusal(path: Path, kind: str) -> ModelError:
    name = f"“{path.name}”"
    match kind:
        case "missing":
            return ModelError(
                f"The model file {path} is not there.",
                remedy="Check its name, or choose another file.",
            )
        case "empty":
            return ModelError(
                f"The model file {name} is empty.",
                why="Perhaps a download or a copy was cut off.",
                remedy="Get the file again.",
            )
        case "saved-model":
            return ModelError(
                f"{name} is a folder of a TensorFlow SavedModel.",
                why="It holds a program of any kind, and Keras 3 no longer opens it.",
                remedy="Load it where it was made and save it as one file: "
                'model.save("model.keras").',
            )
        case "folder":
            return ModelError(f"{name} is a folder.", remedy=f"Choose a file. {WANTED}")
        case "skops":
            return ModelError(
                f"{name} is a skops file, which FairDesk does not open yet.", remedy=WANTED
            )
        case "zip":
            return ModelError(
                f"{name} is an archive, but not of a Keras model.",
                why="It is damaged, or holds something else.",
                remedy=f"Unpack it if the model is inside. {WANTED}",
            )
        case "text":
            return ModelError(
                f"{name} is a text file, not a model.",
                why="Its content looks like a table or a program."
                if path.suffix.lower() not in (".csv", ".tsv", ".txt")
                else "It looks like a table: was the data file chosen as the model?",
                remedy=WANTED,
            )
    return ModelError(
        f"{name} is no model file that FairDesk knows.",
        why="Its first bytes belong to none of the formats; perhaps it is damaged.",
        remedy=WANTED,
    )
