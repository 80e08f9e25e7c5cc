"""Opening pickle, joblib and skops files: by the allow-list, else with the auditor's consent."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairdesk.errors import ModelError, TrustRequiredError
from fairdesk.models.decisions.outputs import first_line
from fairdesk.models.packed import MOST_BYTES, flood
from fairdesk.models.pickles.allowed_names import (
    JOBLIB_FILES,
    NETWORKS,
    SCRIPTS,
    is_missing,
    stands_for_another,
)
from fairdesk.models.pickles.contents import (
    Contents,
    installed,
    look_into,
    schema_of,
    spoken,
    types_in,
    wanted_environment,
)
from fairdesk.models.pickles.rebuilding import RefusedError, vet
from fairdesk.models.pickles.unpickling import CUT_OFF, names_in, rebuild, resolve

if TYPE_CHECKING:
    from collections.abc import Iterator


#: Trees that decide; their leaves hold shares since 1.4, and counts before.
_TREES = frozenset({"DecisionTreeClassifier", "ExtraTreeClassifier"})
#: Modules whose objects may hold models.
_LIBRARIES = ("sklearn.", "imblearn.")


#: So many refused names are told.
_MOST_NAMES = 6
#: What installs a library that models need.
_GET = {
    "xgboost": "pip install “fairdesk[boosting]”",
    "lightgbm": "pip install “fairdesk[boosting]”",
    "imblearn": "pip install imbalanced-learn",
}


def misread(thing: object) -> str:
    """Return why what was opened answers otherwise than when it was saved.

    Parameters
    ----------
    thing : object
        What a pickle held: a model, or what holds models.

    Returns
    -------
    str
        The reason, one sentence; empty when nothing of the kind is in it.
    """
    installed = tuple(map(int, version("scikit-learn").split(".")[:2]))
    for part in _parts(thing):
        name = type(part).__name__
        if installed >= (1, 4) and name in _TREES and _counts(part):
            return (
                "Since version 1.4, scikit-learn reads the values in the leaves of its trees "
                "as shares; before, they were numbers of training rows."
            )
        if installed >= (1, 6) and name == "AdaBoostClassifier" and _real(part):
            return (
                "Since version 1.6, scikit-learn no longer supports the way in which such an "
                "AdaBoost model decides."
            )
    return ""


def _counts(tree: object) -> bool:
    grown = getattr(tree, "tree_", None)
    return grown is not None and not np.allclose(grown.value.sum(axis=-1), 1.0)


def _real(boosted: object) -> bool:
    return getattr(boosted, "algorithm", "") == "SAMME.R"


def _parts(thing: object) -> Iterator[object]:
    """Yield the library's objects in something, however deep they lie."""
    waiting, seen = [thing], set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, (list, tuple)):
            waiting.extend(part)
        elif isinstance(part, np.ndarray):
            waiting.extend(part.ravel().tolist() if part.dtype == object else ())
        elif type(part).__module__.startswith(_LIBRARIES):
            yield part
            waiting.extend(getattr(part, "__dict__", {}).values())


@dataclass(frozen=True)
class Loaded:
    """What a file holds.

    Attributes
    ----------
    thing : Any
        It.
    contents : Contents
        What was told of the file before it was opened.
    notes : tuple[str, ...]
        What the auditor must know, a sentence each.
    needed_trust : bool
        Whether it could only be opened because the auditor agreed to run its code.
    """

    thing: Any
    contents: Contents
    notes: tuple[str, ...] = ()
    needed_trust: bool = False


def load(path: Path, *, trusted: bool) -> Loaded:
    """Open a pickle, joblib or skops file.

    Parameters
    ----------
    trusted : bool
        Whether the auditor agreed that the file's own code may run. It is not needed for what
        passes the allow-list.

    Raises
    ------
    TrustRequiredError
        When the allow-list refuses it, and it is not trusted; nothing of it was run.
    ModelError
        When it cannot be opened.
    """
    contents = look_into(path)
    steps = _skops(path) if contents.format == "skops" else _pickle(path)
    refused = refused_names(steps.names, real=steps.real)
    if not refused:
        try:
            with _caught(contents) as notes:
                thing = _opened(path, contents, steps.safely)
            return Loaded(thing, contents, tuple(notes))
        except RefusedError as error:
            refused = (error.name,)
    if hopeless := _beyond_consent(path, refused):
        raise hopeless
    if not trusted:
        raise _needs_trust(path, refused)
    with _caught(contents) as notes:
        thing = _opened(path, contents, steps.freely)
    return Loaded(thing, contents, tuple(notes), needed_trust=True)


def _beyond_consent(path: Path, refused: Sequence[str]) -> ModelError | None:
    """Return why a file cannot be opened even where its code may run; None where it may open."""
    own = [name for name in refused if name.partition(".")[0] in SCRIPTS]
    if own:
        listed = ", ".join(f"“{name.partition('.')[2]}”" for name in own[:_MOST_NAMES])
        return ModelError(
            f"“{path.name}” needs {listed}, which its author wrote in the script that saved it.",
            why=(
                "A pickle contains only the name of such a class or function, not its code: only "
                "its author can open it."
            ),
            remedy=(
                "Ask its author to save the model without it (with scikit-learn components "
                "only), to export it as ONNX, or to provide its decisions as a column of the "
                "table: group metrics can be computed from those."
            ),
        )
    if any(name.partition(".")[0] in NETWORKS for name in refused):
        return ModelError(
            f"“{path.name}” is a Keras network inside a pickle.",
            why=(
                "Opening it runs code from its file, and works only with exactly the versions of "
                "Keras and TensorFlow that saved it."
            ),
            remedy=(
                "Ask for the network saved with model.save(“model.keras”), which FairDesk reads "
                "as data, and for its scaler or encoders as companion files."
            ),
        )
    missing = next((name for name in refused if is_missing(name)), "")
    return _not_installed(path, missing.partition(".")[0]) if missing else None


def _not_installed(path: Path, library: str) -> ModelError:
    return ModelError(
        f"“{path.name}” needs the Python library “{library}”, which is not installed.",
        remedy=f"Install it: {_GET[library]}."
        if library in _GET
        else (
            "Install that library next to FairDesk, or ask for the model as ONNX. If the library "
            "is its author’s own and not public, ask for a model with scikit-learn components "
            "only."
        ),
    )


def refused_names(names: Iterable[tuple[str, str]], *, real: bool = False) -> tuple[str, ...]:
    """Return those names that the allow-list refuses.

    Parameters
    ----------
    real : bool
        Whether the library that opens the file takes each name for what it is, so that nothing
        can stand for it that is harmless.
    """
    refused = []
    for module, name in names:
        if real and stands_for_another(module, name):
            refused.append(f"{module}.{name}")
            continue
        try:
            resolve(module, name)
        except RefusedError as error:
            refused.append(error.name)
        except (ImportError, AttributeError):
            # it may be asked for, but is not here: opening the file says so
            continue
    return tuple(dict.fromkeys(refused))


@dataclass(frozen=True)
class _Steps:
    """How a file is opened."""

    names: list[tuple[str, str]]
    safely: Callable[[], object]
    freely: Callable[[], object]
    real: bool = False


def _pickle(path: Path) -> _Steps:
    def freely() -> object:
        # a quarter of a second to load
        import joblib  # noqa: PLC0415

        thing: object = joblib.load(path)
        return thing

    return _Steps(list(names_in(path)[0]), lambda: rebuild(path), freely)


def _skops(path: Path) -> _Steps:
    # scikit-learn takes seconds to load, and this loads it
    import skops.io  # noqa: PLC0415

    try:
        with zipfile.ZipFile(path) as archive:
            if sum(part.file_size for part in archive.infolist()) > MOST_BYTES:
                raise flood(f"“{path.name}”")  # noqa: TRY301
        listed = skops.io.get_untrusted_types(file=path)
        # what skops would be told to trust too: it has other ways to name things than these
        also = {tuple(name.rpartition(".")[::2]) for name in listed}
        everything = sorted({*types_in(schema_of(path)), *also})
    except ModelError:
        raise
    except Exception as error:
        # any kind: skops builds what a damaged description says
        raise ModelError(
            f"“{path.name}” cannot be opened.",
            why=f"It is damaged, or needs a newer skops: {first_line(error)}",
            remedy="Save the model again with skops.io.dump().",
        ) from error

    def opening() -> object:
        thing: object = skops.io.load(path, trusted=listed)
        return thing

    def safely() -> object:
        thing = opening()
        vet(thing)
        return thing

    return _Steps(everything, safely, opening, real=True)


def _opened(path: Path, contents: Contents, opening: Callable[[], object]) -> object:
    try:
        thing = opening()
        _refuse_misread(thing, path, contents)
        return thing  # noqa: TRY300 - what it holds is the file's too: looking at it may fail
    except (RefusedError, ModelError):
        raise
    except ModuleNotFoundError as error:
        library = (error.name or "").split(".")[0]
        if library and library != "_loss" and is_missing(library):
            raise _not_installed(path, library) from error
        raise _unreadable(path, contents, error) from error
    except Exception as error:
        # any kind: where the file is trusted its own code ran
        raise _unreadable(path, contents, error) from error


@contextmanager
def _caught(contents: Contents) -> Iterator[list[str]]:
    """Turn what libraries say about versions into sentences for the auditor."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    wanted = wanted_environment(contents)
    saved, present = spoken(wanted)
    if wanted:
        notes.append(
            f"It was saved with {saved}, and {present} is installed: it may fail, or give "
            "different outputs. Check the accuracy below, or open it with "
            f"{saved} in a separate environment."
        )
    for warning in caught:
        name = warning.category.__name__
        if name == "InconsistentVersionWarning":
            if not wanted:
                notes.append(_inconsistent(warning.message))
        elif "xgboost" in warning.filename and "serialized model" in str(warning.message):
            if "xgboost" not in wanted:
                notes.append(
                    "XGBoost reports that it was saved with an older version of XGBoost: its "
                    "outputs may differ from those with that version. Check the accuracy "
                    "below."
                )
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    notes[:] = list(dict.fromkeys(notes))


def _inconsistent(message: Any) -> str:  # noqa: ANN401 - scikit-learn's warning
    saved = getattr(message, "original_sklearn_version", "another version")
    return (
        f"Part of it was saved with scikit-learn {saved}, and {installed('scikit-learn')} is "
        "installed: it may fail, or give different outputs. Check the accuracy below."
    )


def _needs_trust(path: Path, refused: tuple[str, ...]) -> TrustRequiredError:
    shown = ", ".join(f"“{name}”" for name in refused[:_MOST_NAMES])
    more = f" and {len(refused) - _MOST_NAMES} more" if len(refused) > _MOST_NAMES else ""
    return TrustRequiredError(
        f"“{path.name}” can run code when opened: it uses {shown}{more}.",
        why=(
            "FairDesk does not recognise what it uses as model components. Opening the file runs "
            "any code that its author put into it, with your permissions: it could read, change "
            "or send your files."
        ),
        remedy="Open it only if you know where it comes from. Otherwise ask for the model as ONNX.",
    )


def _refuse_misread(thing: object, path: Path, contents: Contents) -> None:
    if wrongly := misread(thing):
        saved = contents.saved_with.get("scikit-learn", "of another version")
        raise ModelError(
            f"“{path.name}” was saved with scikit-learn {saved}, and would give wrong outputs with "
            f"{installed('scikit-learn')}.",
            why=wrongly,
            remedy=f"Open it with scikit-learn {saved} in a separate environment.",
        )


def _unreadable(path: Path, contents: Contents, error: Exception) -> ModelError:
    wanted = wanted_environment(contents)
    message = first_line(error)
    if any(name.name in JOBLIB_FILES for name in contents.imports):
        return ModelError(
            f"“{path.name}” is one of several files: its numbers are in other files.",
            why="Versions of joblib before 0.10 wrote every array to a separate file.",
            remedy="Ask for the model saved again with a newer joblib, which writes one file.",
        )
    if isinstance(error, CUT_OFF):
        return ModelError(
            f"“{path.name}” is incomplete: {message}",
            why="A download or a copy was cut off, or changed it (as sending it as text does).",
            remedy="Get the file again and compare its size with the original’s.",
        )
    if not wanted and isinstance(error, (ImportError, AttributeError)):
        return ModelError(
            f"“{path.name}” needs components that the installed libraries do not have.",
            why=f"It was saved with other versions, not named in it. Python reported: {message}",
            remedy="Ask its author which version of scikit-learn saved it (sklearn.__version__), "
            "and for the model saved again with a current one, or exported as ONNX.",
        )
    if not wanted:
        return ModelError(
            f"“{path.name}” cannot be opened with the installed libraries.",
            why=f"Python reported: {message}",
            remedy="Save the model again with joblib.dump(), or export it as ONNX.",
        )
    saved, present = spoken(wanted)
    return ModelError(
        f"“{path.name}” was saved with {saved}, and cannot be opened with {present}.",
        why=f"The error is: {message}",
        remedy=f"Open it with {saved} in a separate environment.",
    )
