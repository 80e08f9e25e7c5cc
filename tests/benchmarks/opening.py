"""Which models of a folder open, and what is said of those that do not.

    python -m tests.benchmarks.opening FOLDER [--environments] [--plain] [--seconds 120]

Every file that is a model by its content or its ending is opened the way that ``fairdesk inspect``
opens it, and fed with the table that fits it best: in its folder, below it, or beside it. What
the outcome is, and which of its values is favourable, is guessed from the names of columns, so an
agreement that is shown is one that nobody tuned. Files that hold no model (a scaler, say) are
listed and not counted.

``--plain`` loads each file with its own library in the ordinary environment too, for comparison:
that runs what a pickle asks for, so only on files that you trust.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from pathlib import Path

from fairdesk.audit.environments import environments
from fairdesk.audit.runs.inspection import Inspection, Subject, inspect, opened
from fairdesk.audit.worker.client import Worker
from fairdesk.errors import FairDeskError, ModelError, TrustRequiredError, WorkerError
from fairdesk.models.pickles.contents import Contents
from tests.benchmarks.pairing import SUPPORTED, Candidate, Folder, shown


class Outcome(StrEnum):
    """What came of one file."""

    OPENS = "opens"
    CONSENT = "with consent"
    ENVIRONMENT = "environment"
    ASSIGN = "inputs to be assigned"
    REMEDY = "refused, with remedy"
    WITHOUT = "refused, without"
    NO_MODEL = "contains no model"


#: What counts as open or with its way out named.
GOOD = (Outcome.OPENS, Outcome.CONSENT, Outcome.ENVIRONMENT, Outcome.ASSIGN, Outcome.REMEDY)
#: Remedies that would be said of any file: they tell nobody what to do with this one.
_EMPTY = (
    r"FairDesk opens [^.]*(\.\w+[^.]*)*\.",
    r"Get the file again\.",
    r"Ask for (another file|a smaller model)\.",
    r"Choose (another|a) file[^.]*\.",
    r"Check its name[^.]*\.",
    r"Results so far are kept\.",
    r"The log file tells more\.",
    r"Unpack it[^.]*\.",
)
_GUESSED = re.compile(r"perhaps|it is damaged, or|something unexpected", re.IGNORECASE)
_NO_MODEL = re.compile(r"contains no model")

#: Loads a file with the library that it belongs to, and nothing else.
_PLAIN = """
import sys, warnings
warnings.simplefilter("ignore")
path = sys.argv[1]
ending = path.rpartition(".")[2].lower()
if ending in ("h5", "hdf5", "keras"):
    import keras
    keras.models.load_model(path, compile=False)
elif ending == "onnx":
    import onnxruntime
    onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
elif ending == "skops":
    import skops.io
    skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
elif ending in ("ubj", "json", "bst", "xgb", "model"):
    import xgboost
    xgboost.Booster().load_model(path)
elif ending in ("lgb", "txt"):
    import lightgbm
    lightgbm.Booster(model_file=path)
elif ending == "cbm":
    import catboost
    catboost.CatBoost().load_model(path)
else:
    import joblib
    joblib.load(path)
"""


@dataclass(frozen=True)
class Row:
    """What came of one file, for the table."""

    path: Path
    outcome: Outcome
    said: str
    plain: bool | None = None


def has_remedy(error: FairDeskError) -> bool:
    """Return whether an error says what to do with this very file.

    What would be said of any file, or rests on a guess, is none. A remedy that is left when that
    is taken away has to name something: an ending, a command, a version, a person's answer.
    """
    left = error.remedy
    for sentence in _EMPTY:
        left = re.sub(sentence, "", left)
    return bool(left.strip()) and not _GUESSED.search(f"{error.what} {error.why}")


class Trial:
    """Tries one model file.

    Parameters
    ----------
    folder : Folder
        Where its tables are.
    model : Path
        The file.
    seconds : float
        So long it may take.
    making : bool
        Whether environments are really made.
    """

    def __init__(self, folder: Folder, model: Path, seconds: float, *, making: bool) -> None:
        self._folder = folder
        self._model = model
        self._seconds = seconds
        self._making = making
        self._companions: tuple[Path, ...] = ()

    def row(self) -> Row:
        """Say what came of it; never raises."""
        try:
            outcome, said = self._tried()
        except FairDeskError as error:
            if _NO_MODEL.search(error.what):
                outcome = Outcome.NO_MODEL
            else:
                outcome = Outcome.REMEDY if has_remedy(error) else Outcome.WITHOUT
            said = str(error)
        except Exception as error:  # noqa: BLE001 - a defect is a line of the table, too
            outcome, said = Outcome.WITHOUT, f"DEFECT {type(error).__name__}: {error}"
        return Row(self._model, outcome, said)

    def _tried(self) -> tuple[Outcome, str]:
        with self._worker() as worker:
            contents = worker.look_into(self._model)
            try:
                return self._opened(worker, contents, Outcome.OPENS, trusted=False)
            except TrustRequiredError:
                return self._opened(worker, contents, Outcome.CONSENT, trusted=True)

    @contextmanager
    def _worker(self) -> Iterator[Worker]:
        worker = Worker()
        clock = threading.Timer(self._seconds, worker.close)
        clock.start()
        try:
            yield worker
        except WorkerError as error:
            if clock.is_alive():
                raise
            raise WorkerError(f"It took more than {self._seconds:g} seconds.") from error
        finally:
            clock.cancel()
            worker.close()

    def _opened(
        self, worker: Worker, contents: Contents, outcome: Outcome, *, trusted: bool
    ) -> tuple[Outcome, str]:
        def subject(candidate: Candidate | None = None) -> Subject:
            told = candidate or Candidate(Path(), "", "")
            return Subject(
                data=told.path,
                label=told.label,
                favourable=told.favourable,
                model=self._model,
                companions=self._companions,
                trusted=trusted,
                make_environment=self._making,
            )

        requirement = environments.needed(contents)
        try:
            card = opened(worker, subject(), self._model, contents, lambda _: None)
        except TrustRequiredError:
            raise
        except ModelError as error:
            if self._offered(requirement, error):
                return Outcome.ENVIRONMENT, f"not made: {requirement.title}"
            raise
        if card.environment:
            outcome = Outcome.ENVIRONMENT
        candidates = list(self._folder.candidates(worker, self._model, card))
        if not any(candidates):
            return outcome, "opens; no table is there"
        found, error = self._best(worker, candidates, subject)
        beside = self._folder.companions(self._model)
        if beside and (found is None or _hardly(found[1])):
            self._companions = tuple(beside)
            again, _ = self._best(worker, candidates, subject)
            if again is not None and (found is None or _gain(again[1]) > _gain(found[1])):
                found = again
            else:
                self._companions = ()
        if found is not None:
            return outcome, self._told(*found)
        if error is not None and self._offered(requirement, error):
            return Outcome.ENVIRONMENT, f"not made: {requirement.title}"
        if error is None or "--map" not in error.remedy:
            raise error or AssertionError("nothing was tried")
        return Outcome.ASSIGN, str(error)

    def _offered(self, requirement: environments.Requirement | None, error: FairDeskError) -> bool:
        """Return whether an error offers an environment that can be made, and is not yet."""
        return (
            requirement is not None
            and not requirement.obstacle
            and requirement.remedy == error.remedy
            and not self._making
        )

    def _best(
        self,
        worker: Worker,
        tables: list[list[Candidate]],
        subject: Callable[[Candidate], Subject],
    ) -> tuple[tuple[Candidate, Inspection] | None, FairDeskError | None]:
        """Feed the table that fits best, whose outcome is what the model agrees with best.

        A table that fits less is tried only where the model cannot be fed with those before.
        Gives also why the first one could not be.
        """
        best: tuple[Candidate, Inspection] | None = None
        first: FairDeskError | None = None
        for candidate in chain.from_iterable(tables):
            if best is not None and (candidate.path != best[0].path or not _hardly(best[1])):
                break
            try:
                found = inspect(worker, subject(candidate), lambda _: None)
            except WorkerError:
                raise
            except FairDeskError as error:
                first = first or error
                continue
            if best is None or _gain(found) > _gain(best[1]):
                best = candidate, found
        return best, first

    def _told(self, candidate: Candidate, found: Inspection) -> str:
        proof = found.proof
        parts = [f"{candidate.path.name}: {candidate.label} = {candidate.favourable}"]
        if proof is not None:
            parts.append(f"{proof.accuracy:.1%} of {proof.rows:,} (guessing {proof.majority:.1%})")
        if self._companions:
            parts.append(f"with {shown(self._companions)}")
        if found.card.environment:
            parts.append(f"in {found.card.environment}")
        return ", ".join(parts)


def _gain(found: Inspection) -> float:
    return 0.0 if found.proof is None else found.proof.accuracy - found.proof.majority


def _hardly(found: Inspection) -> bool:
    return _gain(found) < 0.01


def loads_plainly(path: Path, seconds: float) -> bool:
    """Return whether the file's own library loads it in the ordinary environment."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PLAIN, str(path)],
            timeout=seconds,
            capture_output=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def totals(rows: list[Row]) -> Iterator[str]:
    """Yield the lines below the table."""
    counted = [row for row in rows if row.outcome is not Outcome.NO_MODEL]
    supported = [row for row in counted if row.path.suffix.lower() in SUPPORTED]
    for name, some in (("supported formats", supported), ("all", counted)):
        if not some:
            continue
        counts = Counter(row.outcome for row in some)
        good = sum(counts[outcome] for outcome in GOOD)
        yield (
            f"{name}: {len(some)} files, {good / len(some):.1%} open or have their way out named; "
            + ", ".join(f"{outcome} {counts[outcome]}" for outcome in Outcome if counts[outcome])
        )
        if all(row.plain is not None for row in some):
            plain = sum(bool(row.plain) for row in some)
            fed = sum(row.outcome in GOOD[:3] for row in some)
            ratio = f"{fed / plain:.2f}" if plain else "none to compare with"
            yield f"  loaded by their own libraries: {plain}; by FairDesk: {fed}; ratio {ratio}"


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--environments", action="store_true", help="make those that are needed")
    parser.add_argument("--plain", action="store_true", help="load with plain libraries as well")
    parser.add_argument("--seconds", type=float, default=180.0, help="for each file")
    asked = parser.parse_args(arguments)
    folder = Folder(asked.folder.absolute())
    models = folder.models()
    width = max((len(str(path.relative_to(folder.root))) for path in models), default=0)
    rows = []
    for path in models:
        row = Trial(folder, path, asked.seconds, making=asked.environments).row()
        if asked.plain:
            row = Row(path, row.outcome, row.said, loads_plainly(path, asked.seconds))
        rows.append(row)
        plain = "" if row.plain is None else ("plain " if row.plain else "      ")
        name = str(path.relative_to(folder.root))
        print(f"{name:{width}}  {row.outcome:22} {plain}{row.said}", flush=True)
    print()
    for line in totals(rows):
        print(line)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
