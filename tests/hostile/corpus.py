"""All hostile files, and what comes of opening one with a real worker."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fairdesk.audit.worker.client import Worker
from fairdesk.audit.worker.conversation import Patience
from fairdesk.data.formats.reading import read_table
from fairdesk.data.table import Table
from fairdesk.errors import FairDeskError, TrustRequiredError, WorkerError
from tests.audit import making
from tests.hostile import files, pickles
from tests.hostile.world import World

#: Deeds that end with nothing but the app's patience.
_WAITED_FOR = ("loops", "sleeps", "stops itself", "closes the pipe")
#: Seconds that such get; and all others, on a machine that is busy.
SHORT, LONG = 2.0, 90.0


@dataclass(frozen=True)
class Case:
    """One hostile file.

    Attributes
    ----------
    name : str
        What it is and does.
    what : str
        ``"model"`` or ``"table"``.
    make : callable
        Writes it to a path without suffix, in a world.
    trusted : bool
        Whether the auditor agrees that it runs.
    needs : tuple[str, ...]
        What must hold on this machine for it to do no harm
        (`fairdesk.audit.sandbox.folders.WHAT`).
    patience : float
        Seconds until the app gives it up.
    """

    name: str
    what: str
    make: Callable[[Path, World], Path]
    trusted: bool = False
    needs: tuple[str, ...] = ()
    patience: float = LONG


@dataclass(frozen=True)
class Outcome:
    """What came of opening it: how it ended, in which words, how long it took, what it harmed."""

    verdict: str
    words: str
    seconds: float
    harm: list[str]


def cases() -> list[Case]:
    """Return all hostile files."""
    return [
        *(_pickle(name, when_asked=False) for name in pickles.DEEDS),
        *(_pickle(name, when_asked=True) for name in pickles.DEEDS),
        *(_pickle(name, when_asked=False, trusted=False) for name in ("runs a command", "loops")),
        *(
            Case(f"{name}{', trusted' if trusted else ''}", "model", _suffixed(*made), trusted)
            for name, made in files.MODELS.items()
            for trusted in (False, True)
        ),
        *(Case(name, "table", _suffixed(*made)) for name, made in files.TABLES.items()),
    ]


def opens_a_good_model(worker: Worker, folder: Path) -> bool:
    """Return whether the worker goes on as before."""
    worker._patience = Patience()
    path = making.write_model(folder / "good.pkl")
    return worker.open_model(path, trusted=True).classes == ("0", "1")


def attempt(case: Case, worker: Worker, world: World, folder: Path) -> Outcome:
    """Open a hostile file as the app does; then look at the world."""
    path = case.make(folder / "hostile", world)
    worker._patience = Patience(case.patience, case.patience, case.patience, 0.5, 0.5)
    guests: set[Path] = set()
    began = time.monotonic()
    try:
        words = _use(case, worker, path, guests)
        verdict = "opened"
    except TrustRequiredError as error:
        verdict, words = "refused without consent", str(error)
    except WorkerError as error:
        words = str(error)
        verdict = "timed out" if " within " in error.what else "contained"
    except FairDeskError as error:
        verdict, words = "refused", str(error)
    seconds = time.monotonic() - began
    if case.trusted:
        worker._child.kill()  # whatever it has started must go with it
        worker._child._guest.over.wait(30)
    else:  # no code of the file has run: its process may go on
        guests.clear()
    return Outcome(verdict, words, seconds, world.harm(words, tuple(guests)))


def _use(case: Case, worker: Worker, path: Path, guests: set[Path]) -> str:
    """Open it and ask it; gives all that the app was told."""
    worker.confinement()
    _note(worker, guests)
    if case.what == "table":
        return repr(worker.read_table(path).columns[:20])[:100_000]
    people = _people(path.with_name("people.csv"))
    try:
        card = worker.open_model(path, trusted=case.trusted)
    finally:
        _note(worker, guests)
    spec = making.spec_of(people, card)
    scores = worker.predict(spec.mapping, spec.domain.attributes, spec.domain.people(people))
    _note(worker, guests)
    return f"{card} {scores[:3]}"


@cache
def _people(path: Path) -> Table:
    return read_table(making.write_people(path))


def _note(worker: Worker, guests: set[Path]) -> None:
    sandbox = worker._child._guest.sandbox
    if sandbox is not None:
        guests.add(sandbox.room.folder)


def _pickle(name: str, *, when_asked: bool, trusted: bool = True) -> Case:
    needs, deed = pickles.DEEDS[name]

    def make(path: Path, world: World) -> Path:
        return pickles.write(path.with_suffix(".pkl"), deed, world.names(), when_asked=when_asked)

    when = "when asked" if when_asked else "when opened"
    patience = SHORT if name in _WAITED_FOR else LONG
    consent = "" if trusted else ", untrusted"
    return Case(f"pickle that {name} {when}{consent}", "model", make, trusted, needs, patience)


def _suffixed(suffix: str, make: files.Make) -> Callable[[Path, World], Path]:
    return lambda path, world: make(path.with_suffix(suffix), world)
