"""Opening a model and the files beside it, in the background: what can come of it. Knows no Qt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from fairdesk import files
from fairdesk.audit.environments import environments
from fairdesk.audit.environments.environments import Requirement
from fairdesk.audit.sandbox.confinement import Confinement
from fairdesk.audit.worker.client import Worker
from fairdesk.errors import ModelError, TrustRequiredError, system_errors
from fairdesk.models.model import Companion, ModelCard
from fairdesk.models.pickles.contents import Contents
from fairdesk.models.preparation.beside import preparing_files
from fairdesk.samples import is_sample_file


@dataclass(frozen=True)
class Wish:
    """What is to be opened.

    Attributes
    ----------
    path : Path
        The model file.
    companions : tuple[Path, ...]
        The files beside it that tell how it is fed.
    output : str
        The output that decides, of a model with several; empty for the one that is proposed.
    make_environment : bool
        Whether an environment of the versions that it was saved with may be made.
    here : bool
        Whether it is to be opened in FairDesk's own environment, whatever it was saved with.
    """

    path: Path
    companions: tuple[Path, ...] = ()
    output: str = ""
    make_environment: bool = False
    here: bool = False


@dataclass(frozen=True)
class Untrusted:
    """A file that is a program, and that the auditor has not agreed to run."""

    path: Path
    sha256: str
    contents: Contents
    why: TrustRequiredError
    confinement: Confinement


@dataclass(frozen=True)
class Stranded:
    """A model that does not open here, and for which an environment can be made."""

    error: ModelError
    needed: Requirement


@dataclass(frozen=True)
class Opened:
    """An open model.

    Attributes
    ----------
    card : ModelCard
        What it is.
    contents : Contents
        What its file is made of.
    confinement : Confinement
        What its process cannot do.
    better : Requirement, optional
        The versions that it was saved with, where it was opened with others.
    beside : tuple[Path, ...]
        Files next to it that hold scalers or encoders, and are not used.
    """

    card: ModelCard
    contents: Contents
    confinement: Confinement
    better: Requirement | None
    beside: tuple[Path, ...] = ()


def open_files(
    worker: Worker,
    trusted: Sequence[str],
    wish: Wish,
    say: Callable[[str], None],
    stopped: Callable[[], bool],
) -> Untrusted | Stranded | Opened:
    """Open a model, unless it or a file beside it is a program that nobody vouched for.

    Parameters
    ----------
    trusted : sequence of str
        Fingerprints of the files that the auditor agreed to run.
    say : callable
        Told what goes on, a sentence at a time.
    stopped : callable
        Asked whether to give up making an environment.

    Raises
    ------
    FairDeskError
        When it cannot be opened.
    """
    digests = {path: _fingerprint(path) for path in (wish.path, *wish.companions)}
    agreed = {path: each in trusted or is_sample_file(each) for path, each in digests.items()}
    contents = worker.look_into(wish.path)
    needed = environments.needed(contents)
    there = None
    if needed is not None and not wish.here:
        there = environments.find(needed, say, stopped)
        if there is None and wish.make_environment:
            there = environments.make(needed, say, stopped)
    say(f"Opening {wish.path.name}")
    try:
        card = worker.open_model(
            wish.path,
            trusted=agreed[wish.path],
            output=wish.output,
            companions=[Companion(str(path), trusted=agreed[path]) for path in wish.companions],
            command=None if there is None else environments.command(there),
        )
    except TrustRequiredError as error:
        path = _refused(worker, agreed)
        held = worker.confinement()
        return Untrusted(path, digests[path], worker.look_into(path), error, held)
    except ModelError as error:
        if needed is None or there is not None:
            raise
        if needed.obstacle:
            raise ModelError(error.what, why=needed.mismatch, remedy=needed.remedy) from error
        return Stranded(error, needed)
    if there is not None:
        card = msgspec.structs.replace(card, environment=there.title)
    better = needed if there is None else None
    beside = preparing_files(card, worker.look_into)
    return Opened(card, contents, worker.confinement(), better, beside)


def _refused(worker: Worker, agreed: dict[Path, bool]) -> Path:
    """Find the file that was refused: the first that asks for names which nobody vouched for."""
    left = [path for path, vouched in agreed.items() if not vouched]
    strange = (
        path
        for path in left
        if any(each.standing != "known" for each in worker.look_into(path).imports)
    )
    return next(strange, left[0])


def _fingerprint(path: Path) -> str:
    with system_errors(
        ModelError,
        f"The file “{path.name}” cannot be read.",
        "Check that it still exists and that you have permission to read it, or choose "
        "another file.",
    ):
        return files.sha256(path)
