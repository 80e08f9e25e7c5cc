"""The one model in an archive (zip, tar) or a packed file (gzip, bzip2, xz), taken out of it."""

from __future__ import annotations

import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from fairdesk.errors import ModelError
from fairdesk.models.packed import DAMAGED, Bounded, unpacked
from fairdesk.signatures import recognise

#: An archive with more files, or that unpacks to more bytes, is not searched for a model.
MOST_FILES, MOST_BYTES = 200, 1 << 30
#: So many names are listed.
_LISTED = 10
_PIECE = 1 << 20
_TAKE_OUT = "Extract the model file from it, and choose that file."


@contextmanager
def model_within(path: Path, is_model: Callable[[Path], bool]) -> Iterator[Path]:
    """Unpack an archive to a folder that is deleted afterwards, and give the one model in it.

    Raises
    ------
    ModelError
        When it holds no model or several, is too large, damaged, or protected by a password.
    """
    with tempfile.TemporaryDirectory(prefix="fairdesk-") as folder:
        try:
            files = dict(_extracted(path, Path(folder)))
        except ModelError:
            raise
        except (*DAMAGED, zipfile.BadZipFile, tarfile.TarError, NotImplementedError) as error:
            if "password" in str(error):
                raise ModelError(
                    f"The archive “{path.name}” is protected by a password.", remedy=_TAKE_OUT
                ) from error
            raise ModelError(
                f"The archive “{path.name}” is cut off or damaged: it cannot be unpacked to its "
                "end.",
                why=f"Unpacking reported: {error}.",
                remedy="Download or copy it again, and compare its size with the original’s.",
            ) from error
        models = {name: file for name, file in files.items() if is_model(file)}
        if len(models) != 1:
            raise _not_one(path, files, list(models))
        yield next(iter(models.values()))


def _extracted(path: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """Write each file of an archive to a folder of its own, whatever path it is said to have."""
    left = MOST_BYTES
    for number, (name, stream) in enumerate(_members(path)):
        if number >= MOST_FILES:
            raise _too_large(path, f"It holds more than {MOST_FILES} files.")
        own = folder / str(number)
        own.mkdir()
        target = own / (PurePosixPath(name.replace("\\", "/")).name or "file")
        with target.open("wb") as file:
            while piece := stream.read(min(_PIECE, left + 1)):
                left -= len(piece)
                if left < 0:
                    raise _too_large(path, "It unpacks to more than a gigabyte.")
                file.write(piece)
        yield name, target


def _members(path: Path) -> Iterator[tuple[str, IO[bytes] | Bounded]]:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not info.is_dir() and not _is_hidden(info.filename):
                    with archive.open(info) as stream:
                        yield info.filename, stream
        return
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as tar:
            for member in tar:
                stream_of = tar.extractfile(member) if member.isreg() else None
                if stream_of is not None and not _is_hidden(member.name):
                    yield member.name, stream_of
        return
    with unpacked(path) as packed:
        yield path.stem, packed


def _is_hidden(name: str) -> bool:
    return PurePosixPath(name).name.startswith(".") or "__MACOSX" in PurePosixPath(name).parts


def _not_one(path: Path, files: dict[str, Path], models: list[str]) -> ModelError:
    if models:
        return ModelError(
            f"The archive “{path.name}” contains several files that could be the model: "
            f"{_listed(models)}.",
            remedy=(
                "Extract them. Choose the model, and add scalers and encoders as companion files."
            ),
        )
    if any(PurePosixPath(name).name == "saved_model.pb" for name in files):
        return ModelError(
            f"The archive “{path.name}” contains a TensorFlow SavedModel, which is a folder.",
            remedy="Extract the folder, and choose it.",
        )
    alone = next(iter(files.values())) if len(files) == 1 else None
    known = None if alone is None else recognise(alone)
    if known is not None and alone is not None:
        return ModelError(
            f"The archive “{path.name}” contains “{alone.name}”, {known.what}.",
            remedy=known.as_model,
        )
    return ModelError(
        f"The archive “{path.name}” contains no model that FairDesk opens."
        if files
        else f"The archive “{path.name}” is empty.",
        why=f"It contains: {_listed(list(files))}." if files else "",
        remedy="Choose the file that the trained model was saved to: by joblib.dump(), by "
        "model.save(), or by an export to ONNX or PMML.",
    )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(f"“{name[:80]}”" for name in names[:_LISTED]) + more


def _too_large(path: Path, why: str) -> ModelError:
    return ModelError(
        f"The archive “{path.name}” is too large to be searched for a model.",
        why=why,
        remedy=_TAKE_OUT,
    )
