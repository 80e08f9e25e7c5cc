"""What format a model file is of, told by its content; nothing of it is run."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairdesk import file_types as types
from fairdesk.errors import ModelError, system_errors
from fairdesk.models.packed import PACKED
from fairdesk.models.packed import model_within as within
from fairdesk.signatures import as_text, recognise, unpacked

#: How files begin: JSON with its first name; UBJSON with the type and number of that name's length
#: before it; XGBoost's binary form of before with a name, or with 136 bytes of numbers, the length
#: of the objective and the objective.
_BEGINS = {
    "catboost-cbm": rb"CBM1",
    "catboost-json": rb'\s*\{\s*"(features_info|ctr_data)"\s*:\s*\{',
    "lightgbm": rb"tree\r?\nversion=",
    "xgboost-ubj": rb"\{[iUIlL].{1,8}learner",
    "xgboost-json": rb'\s*\{\s*("version"\s*:\s*\[.*)?"learner"\s*:\s*[\[{]',
    "xgboost-old": rb"binf|CONFIG-offset:|.{136}[\x03-\x30]\0{7}(binary|multi|reg|rank|count|surv)",
    "xgboost-dump": rb'booster\[0\]:?\s|\s*\[\s*\{\s*"nodeid"\s*:',
    "lightgbm-dump": rb'\s*\{\s*"name"\s*:\s*"tree"\s*,\s*"version"',
}
_PATTERNS = {kind: re.compile(begins, re.DOTALL) for kind, begins in _BEGINS.items()}
#: What `kind_of` tells of files that can be opened, and of all.
READABLE = frozenset({"xgboost-json", "xgboost-ubj", "lightgbm", "catboost-cbm", "catboost-json"})
BOOSTED = READABLE | {"xgboost-old", "xgboost-dump", "lightgbm-dump"}


def kind_of(head: bytes) -> str:
    """Return the kind of a file of boosted trees by its first bytes; empty for all others.

    Returns
    -------
    str
        ``"xgboost-json"``, ``"xgboost-ubj"``, ``"lightgbm"``, ``"catboost-cbm"``,
        ``"catboost-json"``; of what is named only:
        ``"xgboost-old"``, ``"xgboost-dump"``, ``"lightgbm-dump"``.
    """
    return next((kind for kind, begins in _PATTERNS.items() if begins.match(head)), "")


#: How many bytes tell the formats apart.
HEAD = 1 << 16
_HDF5 = b"\x89HDF\r\n\x1a\n"
#: Suffixes under which pickles of the oldest, textual protocol are taken for what they are.
_PICKLE_SUFFIXES = frozenset({".pkl", ".pickle", ".joblib", ".sav", ".p"})
#: The highest versions that exist or are near; a byte beyond them is no such file.
_PICKLE_PROTOCOL, _ONNX_VERSION = 5, 31
#: What `describe_format` says of files that `open_model` opens.
OPENED = READABLE | {"keras-zip", "hdf5", "saved-model", "onnx", "pickle", "pmml", "skops"}


def describe_format(path: Path) -> str:
    """Return a model file's format by its first bytes; nothing of it is run.

    Returns
    -------
    str
        ``"keras-zip"``, ``"hdf5"``, ``"saved-model"`` (a folder), ``"onnx"``, ``"pickle"``,
        ``"skops"``, ``"pmml"``, one of `fairdesk.models.detect.BOOSTED`; ``"archive"`` of
        one that may hold a model; or, of what cannot be opened,
        ``"missing"``, ``"folder"``, ``"empty"``, ``"text"``, ``"foreign"`` (known to
        `fairdesk.signatures.recognise`, and no text) or ``"unknown"``.

    Raises
    ------
    ModelError
        When the file is there but may not be read.
    """
    if path.is_dir():
        return "saved-model" if (path / "saved_model.pb").is_file() else "folder"
    if not path.is_file():
        return "missing"
    with system_errors(
        ModelError,
        f"“{path.name}” cannot be read.",
        "Check that you have permission to read the file.",
    ):
        with path.open("rb") as stream:
            head = stream.read(HEAD)
            stream.seek(max(stream.seek(0, os.SEEK_END) - 1, 0))
            last = stream.read(1)
        known = recognise(path)
    if known is not None and not known.opens and not known.text:
        return "archive" if known.unpacks else "foreign"
    if head.startswith(b"PK"):
        return _kind_of_zip(path)
    if boosted := kind_of(head):
        return boosted
    kinds = {
        "empty": not head,
        "hdf5": head.startswith(_HDF5),
        "pickle": _is_pickle(head, last, path.suffix.lower()),
        "archive": _is_packed(head),
        "onnx": head[:1] == b"\x08" and head[1:2] != b"" and 0 < head[1] <= _ONNX_VERSION,
        "pmml": known is types.PMML,
        "text": as_text(head) is not None,
    }
    return next((kind for kind, it_is in kinds.items() if it_is), "unknown")


def _is_pickle(head: bytes, last: bytes, suffix: str) -> bool:
    if head.startswith(b"\x80"):
        return len(head) > 1 and head[1] <= _PICKLE_PROTOCOL
    if _is_packed(head):
        inner = unpacked(head)
        # what cannot be unpacked here, or is cut off, is a pickle until opening it says otherwise
        return not inner or inner[:1] == b"\x80" or (suffix in _PICKLE_SUFFIXES)
    # the oldest protocols begin with any of some letters and signs, but all end with a full stop
    return suffix in _PICKLE_SUFFIXES and head[:1] in (b"(", b"]", b"}", b"c") and last == b"."


def _is_packed(head: bytes) -> bool:
    return head.startswith(tuple(PACKED))


def _kind_of_zip(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        inside = set(archive.namelist())
    return "keras-zip" if {"config.json", "model.weights.h5"} <= inside else "skops"


@contextmanager
def model_within(path: Path) -> Iterator[Path]:
    """Return the one model in an archive, as long as it is needed.

    Raises
    ------
    ModelError
        When it holds none or several, or cannot be unpacked.
    """
    with within(path, lambda each: describe_format(each) in OPENED) as model:
        yield model
