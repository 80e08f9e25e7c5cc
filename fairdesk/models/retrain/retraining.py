"""Train an opened model again on other rows, as its author set it up, and write it as files.

What comes before a model (scalers and encoders beside it, how columns become its inputs) stays as
it is: only the model itself learns anew. What a scikit-learn estimator is given is told in
`fairdesk.models.retrain.scikit`, what a Keras network is in `fairdesk.models.retrain.keras`.

The trained model is of the kind of the one given, with its card: but for ``path`` and ``sha256``,
which are those of a new file of a network, and for ``sha256``, which is empty, of an estimator,
which lies in no file yet. `innermost` gives the model itself, of which files can be written: an
estimator is its ``estimator``, and a network lies at its card's ``path``, in a folder that goes
when the model does.
"""

from __future__ import annotations

import io
import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import FairDeskError, ModelError
from fairdesk.models.decisions.outputs import first_line
from fairdesk.models.dense.layers import DenseNetwork
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import Inputs, ModelCard, OpenedModel, Takes, labels
from fairdesk.models.onnx.writing import (
    MOST_NODES,
    Converted,
    estimator_as_onnx,
    network_as_onnx,
    nodes_in,
)
from fairdesk.models.open import open_model
from fairdesk.models.pickles.loading import load
from fairdesk.models.preparation.companions import PreparedModel
from fairdesk.models.preparation.estimators import is_estimator
from fairdesk.models.retrain.losses import (
    EXPORT_ROWS,
    Training,
    TrainingBatch,
    TrainingSet,
    why_not,
)
from fairdesk.results.events import Rows, Scores
from fairdesk.results.mitigation import ModelFileName

if TYPE_CHECKING:
    from fairdesk.models.sklearn.file import ScikitModel


def refit(
    fed: FedModel, training_set: TrainingSet, held_out: TrainingSet, training: Training, seed: int
) -> Generator[tuple[int, int], None, FedModel]:
    """Train the model anew; the one given stays as it is.

    Parameters
    ----------
    held_out : Lesson
        What tells when to end; never trained on.
    seed : int
        Of all randomness that the model lets be set.

    Yields
    ------
    tuple[int, int]
        Epochs done, and at most to be done; nothing where there are none.

    Returns
    -------
    FedModel
        The trained model, fed in the same way.

    Raises
    ------
    ModelError
        When it cannot be trained: with what it says, and what to do. When training diverges, or
        there is not enough memory.
    """
    if reason := why_not(fed.opened):
        raise ModelError(
            "This model cannot be retrained.",
            why=reason,
            remedy=EXPORT_ROWS,
        )
    _refuse_missing_classes(fed.opened.card, training_set)
    model = innermost(fed.opened)
    # each library is loaded with the models that need it
    from fairdesk.models.sklearn.file import ScikitModel  # noqa: PLC0415

    trained: OpenedModel
    if isinstance(model, ScikitModel):
        from fairdesk.models.retrain.scikit import refit_scikit  # noqa: PLC0415

        trained = refit_scikit(model, _taught(fed, training_set), seed)
    else:
        from fairdesk.models.retrain.keras import refit_keras  # noqa: PLC0415

        taught, held = _taught(fed, training_set), _taught(fed, held_out)
        trained = yield from refit_keras(model, taught, held, training, seed)
    return FedModel(_rewrap(fed.opened, trained), fed.mapping, fed.attributes)


def innermost(opened: OpenedModel) -> OpenedModel:
    """Return the model itself, without the transformers before it."""
    while isinstance(opened, PreparedModel):
        opened = opened.opened
    return opened


def _refuse_missing_classes(card: ModelCard, training_set: TrainingSet) -> None:
    """Refuse a lesson without one of the classes: the model would forget it."""
    there = np.bincount(training_set.targets, minlength=len(card.classes))
    missing = [name for name, count in zip(card.classes, there, strict=True) if not count]
    if missing:
        raise ModelError(
            f"None of the {len(training_set.targets):,} training rows has the recorded outcome "
            f"“{missing[0]}”.",
            why="A model that is trained without it would never return it as a decision.",
            remedy="Use more rows, or exclude fewer of them.",
        )


def _taught(fed: FedModel, training_set: TrainingSet) -> TrainingBatch:
    """Put a lesson into the terms of the innermost model."""
    from fairdesk.models.sklearn.file import ScikitModel  # noqa: PLC0415

    opened = fed.opened
    matrix = opened.card.takes is Takes.MATRIX
    given: Any = fed.matrix(training_set.rows) if matrix else fed.columns(training_set.rows)
    while isinstance(opened, PreparedModel):
        made = opened.made(_rows(opened.card, given))
        opened = opened.opened
        if isinstance(opened, ScikitModel):
            return TrainingBatch(made, training_set.targets, training_set.weights)
        given = made if opened.card.takes is Takes.MATRIX else list(made.T)
    if isinstance(opened, ScikitModel):
        given = _rows(opened.card, given)
    return TrainingBatch(given, training_set.targets, training_set.weights)


def _rows(card: ModelCard, given: NDArray[np.float64] | Inputs) -> Any:  # noqa: ANN401 - a matrix, a pandas frame or texts
    """Return rows in the form that scikit-learn takes."""
    # pandas is loaded with it
    from fairdesk.models.preparation.estimators import rows_for  # noqa: PLC0415

    return given if isinstance(given, np.ndarray) else rows_for(card, given)


def _rewrap(opened: OpenedModel, trained: OpenedModel) -> OpenedModel:
    """Put before a trained model what was before the one that was imported."""
    if not isinstance(opened, PreparedModel):
        return trained
    again = PreparedModel(_rewrap(opened.opened, trained), opened.before)
    card = trained.card
    again.card = msgspec.structs.replace(opened.card, path=card.path, sha256=card.sha256)
    return again


#: How far scores may be apart that pass for equal: what single precision rounds away.
_EQUAL = 1e-6
#: Files are packed as if they had been written then, so that equal models are equal bytes.
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Saved:
    """One file of a model.

    Attributes
    ----------
    name : str
        As of `fairdesk.results.mitigation.Retrained`.
    remark : str
        How it was checked, or why there is none; a whole sentence or several.
    content : bytes
        Empty where there is none.
    """

    name: ModelFileName
    remark: str
    content: bytes


def save(fed: FedModel, rows: Rows) -> Iterator[Saved]:
    """Write a model in every format that fits it.

    scikit-learn's estimators become joblib and skops files, as they came: alone, or in the list or
    dictionary that their file held beside other things. Keras networks stay Keras files. Both
    become ONNX where they convert. Each file is read again as an auditor's would be, and asked; one
    that decides otherwise is given all the same if it is a conversion, and told.

    Parameters
    ----------
    fed : FedModel
        The model. Of a Keras network ``fed.opened.card.path`` is its file.
    rows : Rows
        ``(n, d)``; what is written is read again and asked about these, beside the model itself.

    Yields
    ------
    Saved
        Equal bytes for equal models, as far as pickles have them.
    """
    inner: Any = innermost(fed.opened)
    card = inner.card
    check = _Check(fed, rows)
    if hasattr(inner, "estimator"):
        yield _written_file("model.joblib", lambda: _joblib(inner, check))
        yield _written_file("model.skops", lambda: _skops(inner, check))
        yield _written_file("model.onnx", lambda: _estimator_as_onnx(inner, fed, check))
    elif card.format.startswith("Keras"):
        yield _written_file("model.keras", lambda: _keras(inner, check))
        yield _written_file("model.onnx", lambda: _network_as_onnx(inner, check))


def _written_file(name: ModelFileName, make: Callable[[], tuple[bytes, str]]) -> Saved:
    """Make a file, or say why there is none."""
    try:
        content, note = make()
    except FairDeskError as error:
        return Saved(name, str(error), b"")
    except ImportError as error:
        # one of its own, made for a model that was saved with older versions
        why = f"{name} is omitted: the environment that the model runs in has no {error.name}."
        return Saved(name, why, b"")
    except (OSError, MemoryError) as error:
        full = ModelError(
            f"{name} could not be written.",
            why=f"The system reported: {first_line(error)}",
            remedy=(
                "Free some memory or disk space for temporary files, and run the mitigation again."
            ),
        )
        return Saved(name, str(full), b"")
    return Saved(name, note, content)


class _Check:
    """Asks a file that was written, beside the model itself."""

    def __init__(self, fed: FedModel, rows: Rows) -> None:
        self.rows = rows
        self.before = _before(fed.opened)
        self._card = innermost(fed.opened).card
        self._fed = fed
        self._own: Scores = fed.predict(rows)

    def differences(self, opened: OpenedModel) -> tuple[int, float]:
        """Return how many rows a model decides otherwise, and how far its scores are apart.

        Raises
        ------
        ModelError
            When it refuses the rows.
        """
        if self.before and not _before(opened):
            opened = PreparedModel(opened, self.before)
        fed = FedModel(opened, self._fed.mapping, self._fed.attributes)
        scores = fed.predict(self.rows)
        otherwise = int(np.count_nonzero(labels(scores) != labels(self._own)))
        apart = np.abs(scores.astype(np.float64) - self._own).max(initial=0.0)
        return otherwise, float(apart)

    def read(self, name: str, content: bytes) -> tuple[int, float]:
        """Read a file as an auditor's would be, and tell its `differences`.

        Raises
        ------
        ModelError
            When it cannot be read.
        """
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_bytes(content)
            # it holds what the auditor agreed to when the model was opened, and nothing else
            several = self._card.outputs and name != "model.onnx"
            output = self._card.output if several else ""
            return self.differences(
                open_model(path, trusted=self._card.needed_trust, output=output)
            )

    def copy(self, name: str, content: bytes) -> tuple[bytes, str]:
        """Say how a copy was checked.

        Raises
        ------
        ModelError
            When it answers otherwise: it is none.
        """
        otherwise, apart = self.read(name, content)
        if otherwise or apart > _EQUAL:
            raise ModelError(
                f"{name} is omitted: its outputs differ from those of the trained model.",
                why=f"Read again, it decides {otherwise:,} of {len(self.rows):,} rows differently, "
                f"and its scores differ by up to {apart:.2g}.",
                remedy="Use another of its files.",
            )
        return content, f"It was read again, and gives the same outputs for all {self._all}."

    def conversion(self, how: str, otherwise: int, apart: float) -> str:
        """Say how a conversion was checked."""
        text = f"{how} It was read again and queried with {self._all}: "
        count = len(self.rows)
        scored = self._card.scores == "probabilities"
        scores = f", with scores that differ by up to {apart:.2g}" if scored else ""
        if not otherwise:
            return text + f"all decisions are equal{scores}."
        return text + (
            f"{count - otherwise:,} decisions are equal, {otherwise:,} differ{scores}. Where each "
            "decision must be the model’s own, use another of its files."
        )

    @property
    def _all(self) -> str:
        return "1 row" if len(self.rows) == 1 else f"{len(self.rows):,} rows"


def _before(opened: OpenedModel) -> list[tuple[str, Any]]:
    """Return the transformers through which rows go first."""
    return opened.before if isinstance(opened, PreparedModel) else []


def _joblib(model: ScikitModel, check: _Check) -> tuple[bytes, str]:
    import joblib  # noqa: PLC0415 - a quarter of a second to load; the model brought it along

    file = io.BytesIO()
    with _refusal("joblib"):
        joblib.dump(_as_it_came(model, check.before), file, compress=3)
    return check.copy("model.joblib", file.getvalue())


def _skops(model: ScikitModel, check: _Check) -> tuple[bytes, str]:
    with _refusal("skops"):
        # it loads scikit-learn; there is none for versions before 1.2
        import skops.io  # noqa: PLC0415

        content = skops.io.dumps(_as_it_came(model, check.before))
    return check.copy("model.skops", _renumbered(content))


def _estimator_as_onnx(model: ScikitModel, fed: FedModel, check: _Check) -> tuple[bytes, str]:
    """Convert in single precision; in double too, where the first decides somebody otherwise."""
    card = model.card
    columns = card.takes is Takes.COLUMNS and not check.before
    sample = fed.columns(check.rows[:1]) if columns else None
    nodes = nodes_in(model.estimator)
    if nodes > MOST_NODES:
        raise ModelError(
            "There is no model.onnx.",
            why=f"The model has {nodes:,} nodes of trees, and to convert more than {MOST_NODES:,} "
            "takes minutes and gigabytes.",
            remedy="Use model.joblib or model.skops.",
        )
    tried: list[tuple[int, float, bytes]] = []
    troubles: list[ModelError] = []
    for double in (False, True):
        try:
            content = estimator_as_onnx(model.estimator, card, sample, double=double)
            tried.append((*check.differences(Converted(card, content)), content))
        except ModelError as error:
            troubles.append(error)
        if tried and not tried[0][0]:
            break
    if not tried:
        raise troubles[0]
    otherwise, apart, content = min(tried, key=lambda each: each[:2])
    how = f"It was converted by skl2onnx {version('skl2onnx')}."
    return content, check.conversion(how, otherwise, apart)


def _keras(model: OpenedModel, check: _Check) -> tuple[bytes, str]:
    content = Path(model.card.path).read_bytes()
    return check.copy("model.keras", _repacked(content, {"metadata.json": _without_moment}))


def _network_as_onnx(model: OpenedModel, check: _Check) -> tuple[bytes, str]:
    if not isinstance(model, DenseNetwork):
        raise ModelError(
            "There is no model.onnx.",
            why="FairDesk writes networks of dense layers only as ONNX, and this one has others.",
            remedy="Use model.keras.",
        )
    content = network_as_onnx(model)
    score = (
        f"the score of “{model.card.classes[1]}”"
        if len(model.card.classes) == 2
        else "a score for each class"
    )
    how = f"It was written layer by layer; its output is {score}."
    return content, check.conversion(how, *check.read("model.onnx", content))


@contextmanager
def _refusal(library: str) -> Iterator[None]:
    """Raise in plain words why a library cannot write a model."""
    try:
        yield
    except (OSError, MemoryError, ImportError):
        raise
    except Exception as error:
        # any kind: parts of a model may refuse to be written in ways of their own
        raise ModelError(
            f"{library} cannot write this model.",
            why=f"It reported: {first_line(error)}",
            remedy="Use another of its files.",
        ) from error


def _as_it_came(model: ScikitModel, before: list[tuple[str, Any]]) -> Any:  # noqa: ANN401 - what a file may hold
    """Return the trained estimator where its file had the one that was imported.

    A file that held a dictionary or a list keeps it, with everything else as it was. Where the file
    is gone, what comes before the model is put beside it.
    """
    card = model.card
    try:
        thing = load(Path(card.path), trusted=card.needed_trust).thing
    except ModelError:
        return {**dict(before), "model": model.estimator} if before else model.estimator
    if isinstance(thing, Mapping):
        parts = {str(name): name for name in thing}
        return {**thing, parts[_model_in(thing.items(), card.output)]: model.estimator}
    if isinstance(thing, list | tuple):
        place = int(_model_in(enumerate(thing, start=1), card.output))
        return [*thing[: place - 1], model.estimator, *thing[place:]]
    return model.estimator


def _model_in(parts: Iterable[tuple[object, Any]], output: str) -> str:
    """Return the name of the model among other things: of several the one that is asked."""
    names = [str(name) for name, part in parts if is_estimator(part)]
    return next((name for name in names if output.partition(": ")[0] == name), names[0])


def _renumbered(content: bytes) -> bytes:
    """Return the parts of a skops file, numbered by where they lay in memory, numbers in order."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        schema = archive.read("schema.json").decode()
    numbers: dict[str, str] = {}
    for place in re.findall(r'"__id__": (\d+)', schema):
        numbers.setdefault(place, str(len(numbers) + 1))

    def numbered(text: str) -> str:
        pattern = r'(?P<before>"__id__": |"file": "|^)(?P<number>\d+)(?=[,.\s}])'
        return re.sub(pattern, lambda m: m["before"] + numbers.get(m["number"], m["number"]), text)

    return _repacked(
        content, {"schema.json": lambda text: numbered(text.decode()).encode()}, numbered
    )


def _without_moment(text: bytes) -> bytes:
    document = json.loads(text)
    document.pop("date_saved", None)
    return json.dumps(document).encode()


def _repacked(
    content: bytes,
    changes: Mapping[str, Callable[[bytes], bytes]],
    renamed: Callable[[str], str] = str,
) -> bytes:
    """Pack an archive again, without the moment at which it was written."""
    file = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            part = changes.get(name, bytes)(old.read(name))
            new.writestr(zipfile.ZipInfo(renamed(name), _LONG_AGO), part, zipfile.ZIP_DEFLATED)
    return file.getvalue()
