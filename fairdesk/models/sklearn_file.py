"""scikit-learn models in pickle or joblib files: programs, run only with the auditor's consent."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError, TrustRequiredError
from fairdesk.events import Scores
from fairdesk.files import sha256
from fairdesk.models.answers import (
    first_line,
    from_classes,
    from_margins,
    from_probabilities,
)
from fairdesk.models.model import Inputs, ModelCard, Takes

#: Where a pickle says which scikit-learn wrote it: the key, perhaps remembered, and its text.
_VERSION = re.compile(
    rb"_sklearn_version(?:\x94|q.|r.{4})?(?:X.{4}|\x8c.)(\d+\.\d+[0-9A-Za-z.]*)", re.DOTALL
)
#: So much is read of a file at once, and at most, to find that.
_PIECE, _MOST_PIECES = 1 << 20, 1 << 10
#: Their decision is not where their probability passes one half.
_OWN_LIMIT = frozenset({"FixedThresholdClassifier", "TunedThresholdClassifierCV"})
#: Their probabilities may contradict their decisions; scikit-learn says so.
_SUPPORT_VECTORS = frozenset({"SVC", "NuSVC"})


class ScikitModel:
    """An unpickled classifier with scikit-learn's interface.

    Parameters
    ----------
    card : ModelCard
        What it is.
    estimator : object
        The classifier.
    """

    def __init__(self, card: ModelCard, estimator: Any) -> None:  # noqa: ANN401 - any class that the file names
        self._card = card
        self._estimator = estimator
        self._places = {value: i for i, value in enumerate(estimator.classes_.tolist())}

    @property
    def card(self) -> ModelCard:
        """What it is."""
        return self._card

    def matrix_scores(self, matrix: NDArray[np.float64]) -> Scores:
        """Answer for ``(n, inputs)`` numbers; as `OpenedModel.scores`."""
        return self._answer(matrix)

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for one array per input; as `OpenedModel.scores`."""
        if self._card.takes is Takes.MATRIX:
            return self._answer(np.column_stack(inputs))
        # pandas takes a second to load; this runs in the model's own process
        import pandas as pd  # noqa: PLC0415

        return self._answer(pd.DataFrame(dict(zip(self._card.inputs, inputs, strict=True))))

    def _answer(self, rows: Any) -> Scores:  # noqa: ANN401 - a matrix or a pandas frame
        try:
            match self._card.scores:
                case "probabilities":
                    return from_probabilities(np.asarray(self._estimator.predict_proba(rows)))
                case "scores":
                    return from_margins(np.asarray(self._estimator.decision_function(rows)))
                case _:
                    decided = np.asarray(self._estimator.predict(rows)).tolist()
                    places = np.array([self._places[value] for value in decided], dtype=np.intp)
                    return from_classes(places, len(self._places))
        except Exception as error:
            raise ModelError(
                f"The model refused {len(rows):,} rows.",
                why=f"It says: {first_line(error)}",
                remedy="Check that each input is made from the right column; missing cells and "
                "values that the model has never seen are other causes."
                + _resave(self._card.saved_with),
            ) from error


def open_scikit(path: Path, *, trusted: bool = False, output: str = "") -> ScikitModel:
    """Open a pickle or joblib file. This runs whatever its author put into it.

    Raises
    ------
    TrustRequiredError
        When it is not trusted; then nothing of it was run.
    ModelError
        When it cannot be opened, or is no classifier.
    """
    if not trusted:
        raise TrustRequiredError(
            f"“{path.name}” is a program, not only data.",
            why="Opening it runs whatever its author put into it, with your rights: it could "
            "read, change or send your files.",
            remedy="Open it only if you know where it comes from. Otherwise ask for the model "
            "as ONNX.",
        )
    version = saved_version(path)
    loaded, notes = _load(path, version)
    estimator, more = _estimator(loaded, path)
    card = _card(path, estimator, version, (*notes, *more))
    return ScikitModel(card, estimator)


def saved_version(path: Path) -> str:
    """Find, without running anything, the scikit-learn version that wrote a file.

    Returns
    -------
    str
        ``"1.5.2"``; empty when the file does not say.
    """
    tail = b""
    try:
        for piece in _unpacked(path):
            found = _VERSION.search(tail + piece)
            if found:
                return found[1].decode()
            tail = piece[-64:]
    except (OSError, EOFError, lzma.LZMAError, zlib.error):
        # cut off: opening it will say so
        return ""
    return ""


def _unpacked(path: Path) -> Iterator[bytes]:
    """Give a file's content in pieces, unpacked where joblib has packed it."""
    with path.open("rb") as stream:
        head = stream.read(6)
    openers: dict[bytes, Callable[[Path, str], Any]] = {
        b"\x1f\x8b": gzip.open,
        b"BZh": bz2.open,
        b"\xfd7zXZ": lzma.open,
        b"\x5d\x00": lzma.open,
    }
    opener = next((make for magic, make in openers.items() if head.startswith(magic)), Path.open)
    inflate = zlib.decompressobj() if head.startswith(b"\x78") else None
    with opener(path, "rb") as source:
        for _ in range(_MOST_PIECES):
            piece = source.read(_PIECE)
            if not piece:
                return
            yield inflate.decompress(piece) if inflate else piece


def _load(path: Path, version: str) -> tuple[object, list[str]]:
    """Unpickle a trusted file: what it holds, and what is to be known about it."""
    # scikit-learn takes seconds to load; this runs in the model's own process
    import joblib  # noqa: PLC0415
    import sklearn  # noqa: PLC0415
    from sklearn.exceptions import InconsistentVersionWarning  # noqa: PLC0415

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            loaded: object = joblib.load(path)
        except ModuleNotFoundError as error:
            if error.name and error.name.split(".")[0] not in ("sklearn", "_loss"):
                raise ModelError(
                    f"“{path.name}” needs the Python library “{error.name}”, "
                    "which is not installed.",
                    remedy="Install that library beside FairDesk, or ask for the model as ONNX.",
                ) from error
            raise _unreadable(path, version, sklearn.__version__, error) from error
        except Exception as error:
            # any kind: the file's own code ran
            raise _unreadable(path, version, sklearn.__version__, error) from error
    mismatched = False
    for warning in caught:
        if issubclass(warning.category, InconsistentVersionWarning):
            mismatched = True
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    if not mismatched:
        return loaded, []
    note = (
        f"It was saved with scikit-learn {version or 'of another version'}, and "
        f"{sklearn.__version__} is installed: it may fail, or answer differently than it did. "
        "Check the accuracy below."
    )
    return loaded, [note]


def _unreadable(path: Path, version: str, installed: str, error: Exception) -> ModelError:
    if not version or version == installed:
        return ModelError(
            f"“{path.name}” cannot be opened.",
            why=f"It is damaged, or needs code that is not here: {first_line(error)}",
            remedy="Save the model again with joblib.dump(), or export it as ONNX.",
        )
    return ModelError(
        f"“{path.name}” was saved with scikit-learn {version}, and cannot be opened with "
        f"{installed}.",
        why=f"It says: {first_line(error)}",
        remedy=f"Open it with scikit-learn {version} and export it as ONNX, or train it again "
        f"with {installed}.",
    )


def _resave(saved_with: str) -> str:
    return f" It was saved with {saved_with}." if saved_with else ""


def _estimator(loaded: Any, path: Path) -> tuple[Any, list[str]]:  # noqa: ANN401 - any class that the file names
    """Find the one classifier in what a file holds."""
    notes: list[str] = []
    parts = dict(enumerate(loaded, start=1)) if isinstance(loaded, (list, tuple)) else loaded
    models = []
    if isinstance(parts, dict):
        models = [(name, part) for name, part in parts.items() if hasattr(part, "predict")]
    if len(models) == 1:
        name, loaded = models[0]
        notes.append(
            f"The file holds several things, of which the model “{name}” is used. Whatever lies "
            "beside it, such as scaling, is not applied. Check the accuracy below."
        )
    if not hasattr(loaded, "predict"):
        raise ModelError(
            f"“{path.name}” holds no model, but a “{type(loaded).__name__}”.",
            remedy="Save the trained classifier or pipeline itself with joblib.dump().",
        )
    classes = getattr(loaded, "classes_", None)
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) < 2:
        raise ModelError(
            f"“{path.name}” holds a “{type(loaded).__name__}”, which is no trained classifier.",
            why="FairDesk audits models that decide between two classes or more.",
            remedy="Choose a trained classifier.",
        )
    return loaded, notes


def _card(path: Path, estimator: Any, version: str, notes: tuple[str, ...]) -> ModelCard:  # noqa: ANN401 - any class that the file names
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        takes, inputs = Takes.COLUMNS, tuple(str(name) for name in names)
    else:
        count = getattr(estimator, "n_features_in_", None)
        if not isinstance(count, int):
            raise ModelError(
                f"“{path.name}” does not say how many inputs it takes.",
                remedy="Save it again with a newer version of scikit-learn.",
            )
        takes, inputs = Takes.MATRIX, tuple(f"input {i}" for i in range(1, count + 1))
    steps = [type(step).__name__ for _, step in getattr(estimator, "steps", [])]
    library = type(estimator).__module__.partition(".")[0].replace("sklearn", "scikit-learn")
    what = "pipeline" if steps else "model"
    kind = f"{library} {version} {what}" if version else f"{library} {what}"
    return ModelCard(
        path=str(path),
        sha256=sha256(path),
        format=kind,
        summary=f"{', then '.join(steps) if steps else type(estimator).__name__}, "
        f"{len(inputs):,} inputs, {len(estimator.classes_):,} classes.",
        takes=takes,
        inputs=inputs,
        named=names is not None,
        classes=tuple(str(value) for value in estimator.classes_.tolist()),
        scores=_scores(estimator),
        saved_with=f"scikit-learn {version}" if version else "",
        warnings=notes,
    )


def _scores(estimator: Any) -> str:  # noqa: ANN401 - any class that the file names
    """Choose what to ask: probabilities, unless the classifier decides by something else."""
    last = estimator
    while hasattr(last, "steps") or hasattr(last, "best_estimator_"):
        last = last.steps[-1][1] if hasattr(last, "steps") else last.best_estimator_
    kind = type(last).__name__
    if kind in _OWN_LIMIT or (kind in _SUPPORT_VECTORS and len(estimator.classes_) > 2):
        return "labels"
    if hasattr(estimator, "predict_proba") and kind not in _SUPPORT_VECTORS:
        return "probabilities"
    return "scores" if hasattr(estimator, "decision_function") else "labels"
