"""Separate environments, in which models that were saved with other versions open.

A model of another scikit-learn is opened with that scikit-learn: the whole guest is started with
the interpreter of an environment that has it, and is talked to as always. Such an environment is
made once, from the package registry that uv is set up with, and kept in the user's cache.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from importlib.metadata import distributions
from pathlib import Path
from shutil import rmtree
from time import time

import msgspec

from fairdesk.audit.environments import installing
from fairdesk.audit.environments.installing import (
    LEFT_OUT,
    SCIKIT,
    is_older,
    lacking,
    numbers_in,
    specifications,
    trial,
)
from fairdesk.audit.sandbox.folders import OLDER, lent_packages
from fairdesk.audit.sandbox.process import GUEST
from fairdesk.audit.worker import beside
from fairdesk.audit.worker.client import Worker
from fairdesk.errors import ModelError, TrustRequiredError, WorkerError
from fairdesk.files import environments_folder
from fairdesk.models.pickles.allowed_names import NETWORKS, is_missing
from fairdesk.models.pickles.contents import Contents, installed

log = logging.getLogger(__name__)
#: Libraries whose version decides whether a pickle opens, by the names under which files tell them.
_BY_NAME = {
    "scikit-learn": SCIKIT,
    "sklearn": SCIKIT,
    "imbalanced-learn": "imbalanced-learn",
    "imblearn": "imbalanced-learn",
    "lightgbm": "lightgbm",
    "xgboost": "xgboost",
    # what is well known is installed by its own name; a name that only a file tells never is
    "category_encoders": "category-encoders",
    "cloudpickle": "cloudpickle",
    "dill": "dill",
    "feature_engine": "feature-engine",
    "mlxtend": "mlxtend",
    "sklearn_pandas": "sklearn-pandas",
}
#: An XGBoost before the version on the left goes with no newer scikit-learn, or NumPy, than the
#: one on the right does.
_XGBOOST = (((1, 6), "0.24.2"), ((2, 0), "1.3.2"), ((2, 1, 4), "1.5.2"))
#: The oldest Python that FairDesk runs on, and the first scikit-learn that has a build for it.
_OLDEST_PYTHON, _OLDEST = (3, 11), (1, 1, 3)
#: Python for what is older: before the version on the left, these have a build.
_OLDER_PYTHON = (((0, 24), ">=3.8,<3.9"), ((1, 1), ">=3.8,<3.10"))
#: The first scikit-learn that has a build for any of them; it reads what was saved since 0.18.
_FIRST_READ, _FIRST = (0, 18), "0.22.2.post1"
#: The newest Python that a scikit-learn before the version on the left has a build for.
_NEWEST_PYTHON = (((1, 3, 1), (3, 11)), ((1, 5, 2), (3, 12)))
#: Released versions, and how any other begins. Files tell versions, and what they tell goes to a
#: command line: nothing else may pass.
_RELEASED, _MINOR = re.compile(r"\d+(\.\d+){1,3}", re.ASCII), re.compile(r"\d+\.\d+", re.ASCII)

#: What an environment says about itself.
_ABOUT = "environment.json"
#: The file that tells the installer what to leave out.
_OVERRIDES = "left-out.txt"
#: Raised when environments that were made before no longer serve.
_RECIPE = 1
#: How folders of what is being made are called, and after how many seconds they were left behind.
_HALF_MADE, _LEFT_BEHIND = "making-", 6 * 3600.0
_OTHERWISE = "Request the model as ONNX, or retrained with a newer version."


class Requirement(msgspec.Struct, frozen=True):
    """What a model needs that is not installed here.

    Attributes
    ----------
    packages : dict[str, str]
        Versions by name: ``"1.3.2"``; ``"1.3.*"`` for any of them; empty for whichever fits.
    mismatch : str
        Both versions, one sentence.
    obstacle : str
        Why no such environment can be made, one sentence; empty when nothing is known against it.
    """

    packages: dict[str, str]
    mismatch: str
    obstacle: str = ""

    @property
    def title(self) -> str:
        """Its name for people: ``"scikit-learn 1.3.2"``."""
        return ", ".join(
            f"{name} {wanted.removesuffix('.*')}"
            for name, wanted in self.packages.items()
            if wanted
        )

    @property
    def remedy(self) -> str:
        """What the auditor can do where the model does not open here."""
        if self.obstacle:
            return f"{self.obstacle} {_OTHERWISE}"
        return (
            f"Let FairDesk make a separate environment with {self.title} for it (on the command "
            "line: --make-environment)."
        )


class Environment(msgspec.Struct, frozen=True):
    """An environment that was made.

    Attributes
    ----------
    folder : Path
        Where it lies.
    title : str
        For people: ``"scikit-learn 1.3.2, Python 3.11"``.
    packages : dict[str, str]
        Versions of all that is installed in it, by name.
    """

    folder: Path
    title: str
    packages: dict[str, str]

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return _python_in(self.folder)

    @property
    def size(self) -> int:
        """What it takes on disk, in bytes."""
        return sum(
            (Path(folder) / name).lstat().st_size
            for folder, _, names in os.walk(self.folder)
            for name in names
        )


class _About(msgspec.Struct, frozen=True):
    title: str
    packages: dict[str, str]
    recipe: int


def needed(contents: Contents) -> Requirement | None:
    """Compare what a file was saved with, and asks for, with what is installed.

    Returns
    -------
    Requirement, optional
        What it takes to open the file as it was saved; ``None`` when what is installed is of the
        same minor version, or the file does not tell.
    """
    if not _can_help(contents):
        return None
    stated = {}
    for key, text in contents.saved_with.items():
        name, wanted = _BY_NAME.get(key.lower()), _wanted(text)
        if name and wanted:
            stated[name] = wanted
    roots = {imported.name.partition(".")[0] for imported in contents.imports}
    used = {_BY_NAME[root]: "" for root in sorted(roots & {*_BY_NAME})}
    mismatches = [
        f"The model was saved with {name} {wanted}, but {installed(name)} is installed."
        for name, wanted in stated.items()
        if installed(name) and _minor(wanted) != _minor(installed(name))
    ]
    missing = [
        f"The model needs {name}, which is not installed."
        for name in used | stated
        if not installed(name)
    ]
    if not mismatches and not missing:
        return None
    packages = {SCIKIT: "", **used, **stated}
    if contents.format == "skops":
        packages["skops"] = ""
    return _requirement(packages, " ".join(mismatches + missing))


def _can_help(contents: Contents) -> bool:
    """Return whether all code that a file asks for can be had in an environment."""
    strange = [each.name for each in contents.imports if each.standing != "known"]
    roots = {name.partition(".")[0] for name in strange} - {*_BY_NAME}
    return not any(root in NETWORKS or is_missing(root) for root in roots)


def _requirement(packages: dict[str, str], mismatch: str) -> Requirement:
    if not packages[SCIKIT]:
        boosting = packages.get("xgboost", "")
        older = (
            scikit for before, scikit in _XGBOOST if boosting and numbers_in(boosting) < before
        )
        packages[SCIKIT] = next(older, installed(SCIKIT))
    scikit, obstacle = packages[SCIKIT], ""
    if numbers_in(scikit) < _FIRST_READ:
        obstacle = (
            f"No {SCIKIT} version that can still be installed reads files of {SCIKIT} {scikit}."
        )
    elif numbers_in(scikit) < numbers_in(_FIRST)[:2]:
        packages[SCIKIT] = _FIRST
    elif (1, 1) <= numbers_in(scikit) < _OLDEST:
        packages[SCIKIT] = _dotted(_OLDEST)
    return Requirement(packages, mismatch, obstacle)


@contextmanager
def way_out(requirement: Requirement | None) -> Iterator[None]:
    """Add the environment that a model needs to the errors of opening and querying it.

    Parameters
    ----------
    requirement : Requirement, optional
        As `needed` gives it; ``None`` where the model is opened in such an environment.
    """
    try:
        yield
    except TrustRequiredError:
        raise
    except ModelError as error:
        if requirement is None:
            raise
        why = error.why if requirement.packages[SCIKIT] in error.what else requirement.mismatch
        raise ModelError(error.what, why=why, remedy=requirement.remedy) from error


def find(
    requirement: Requirement,
    say: Callable[[str], None] = log.info,
    stopped: Callable[[], bool] = lambda: False,
) -> Environment | None:
    """Return an environment that was made before, fits, and still works.

    One fits that has the same minor versions. Its interpreter is started to see that it works: a
    moment's time. What an environment lacks that an earlier FairDesk made is installed first:
    ``say`` and ``stopped`` are those of `make`.

    Raises
    ------
    ModelError
        When what it lacks cannot be installed.
    """
    fitting = [environment for environment in made() if _fits(environment, requirement)]
    wanted = requirement.packages[SCIKIT]
    fitting.sort(key=lambda environment: environment.packages[SCIKIT] != wanted)
    working = next((environment for environment in fitting if _works(environment)), None)
    return working and _completed(working, requirement, say, stopped)


def made() -> list[Environment]:
    """Return all environments that were made: for people to see what they take, and remove them."""
    environments = []
    for path in sorted(environments_folder().glob(f"*/{_ABOUT}")):
        try:
            about = msgspec.json.decode(path.read_bytes(), type=_About)
        except (OSError, msgspec.DecodeError):
            log.warning("%s cannot be read", path)
            continue
        if about.recipe == _RECIPE:
            environments.append(Environment(path.parent, about.title, about.packages))
    return environments


def make(
    requirement: Requirement, say: Callable[[str], None], stopped: Callable[[], bool]
) -> Environment:
    """Make an environment. This takes up to minutes: call it from a thread.

    Only what is built already is installed, so that no package runs code on the way. It gets its
    place when it is whole: half an environment never stays.

    Parameters
    ----------
    say : callable
        Told what goes on, a sentence at a time.
    stopped : callable
        Asked ten times a second whether to give up.

    Raises
    ------
    ModelError
        When it cannot be made: no such version, no build, no network, no space; or it was stopped.
    """
    what = f"The environment with {requirement.title} could not be made."
    if requirement.obstacle:
        raise ModelError(what, why=requirement.obstacle, remedy=_OTHERWISE)
    uv = installing.uv()
    try:
        environments_folder().mkdir(parents=True, exist_ok=True)
        _tidy()
        with tempfile.TemporaryDirectory(
            prefix=_HALF_MADE, dir=environments_folder(), ignore_cleanup_errors=True
        ) as name:
            making = Path(name)
            half = making / "half"
            run = partial(installing.run, what=what, folder=making, say=say, stopped=stopped)
            say(f"Making an environment with {requirement.title}")
            run((uv, "venv", "--relocatable", "--python", _interpreter(requirement), str(half)))
            say("Choosing compatible versions")
            _install(half, requirement.packages, making, run)
            say("Testing the environment")
            _try_guest(_guest(half), making / _OVERRIDES)
            environment = _settle(half, requirement)
    except WorkerError as error:
        raise ModelError(
            what,
            why="The model process does not start in it.",
            remedy="See the log file for details. Request the model as ONNX in the meantime.",
        ) from error
    except OSError as error:
        raise ModelError(
            what,
            why=f"The system reported: {error.strerror or error}.",
            remedy="Check that there is space on the disk, and try again.",
        ) from error
    say(f"The environment is ready and takes {environment.size / 1e6:,.0f} MB")
    return environment


def _completed(
    environment: Environment,
    requirement: Requirement,
    say: Callable[[str], None],
    stopped: Callable[[], bool],
) -> Environment:
    """Install what an environment lacks of what the guest imports."""
    own = {name: environment.packages[name] for name in requirement.packages}
    missing = ", ".join(lacking(own, environment.packages))
    if not missing:
        return environment
    say(f"Adding to the environment with {environment.title}: {missing}")
    what = f"The environment with {environment.title} lacks {missing}, which could not be added."
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        run = partial(installing.run, what=what, folder=folder, say=say, stopped=stopped)
        _install(environment.folder, own, folder, run)
    about = _About(environment.title, _packages_in(environment.folder), _RECIPE)
    (environment.folder / _ABOUT).write_bytes(msgspec.json.encode(about))
    return msgspec.structs.replace(environment, packages=about.packages)


def _install(
    environment: Path,
    packages: dict[str, str],
    folder: Path,
    run: Callable[[tuple[str, ...]], None],
) -> None:
    """Install what goes into an environment, and see that it starts."""
    overrides = folder / _OVERRIDES
    overrides.write_text("".join(f"{part}; sys_platform == 'none'\n" for part in LEFT_OUT))
    python = str(_python_in(environment))
    install = (installing.uv(), "pip", "install", "--python", python, "--only-binary", ":all:")
    more = ("--compile-bytecode", "--overrides", str(overrides), "--")
    run((*install, *more, *specifications(packages)))
    run((python, "-I", "-c", trial(packages)))


def command(environment: Environment) -> tuple[str, ...]:
    """Return the command that starts the guest there, for `fairdesk.audit.worker.client.Worker`."""
    return _guest(environment.folder)


def _interpreter(requirement: Requirement) -> str:
    """Return FairDesk's own interpreter; or, where that is too new, which Python to look for."""
    scikit = numbers_in(requirement.packages[SCIKIT])
    if is_older(scikit):
        return next(pythons for before, pythons in _OLDER_PYTHON if scikit < before)
    newest = next((python for before, python in _NEWEST_PYTHON if scikit < before), None)
    if newest is None or sys.version_info[:2] <= newest:
        return sys.executable
    return f">={_dotted(_OLDEST_PYTHON)},<{newest[0]}.{newest[1] + 1}"


def _try_guest(guest: tuple[str, ...], path: Path) -> None:
    """See that the guest starts with this command, and answers."""
    worker = Worker(command=guest)
    try:
        worker.look_into(path)
    finally:
        worker.close()


def _settle(half: Path, requirement: Requirement) -> Environment:
    """Read an environment's own description, and move it to its place."""
    packages = _packages_in(half)
    listed = ", ".join(f"{name} {packages[name]}" for name in requirement.packages)
    about = _About(f"{listed}, Python {_python_version(half)}", packages, _RECIPE)
    (half / _ABOUT).write_bytes(msgspec.json.encode(about))
    key = sha256(repr((listed, _RECIPE)).encode()).hexdigest()[:8]
    folder = environments_folder() / f"{SCIKIT}-{packages[SCIKIT]}-{key}"
    environment = Environment(folder, about.title, about.packages)
    if folder.exists():
        if _works(environment):  # somebody has just made it too
            return environment
        folder.rename(half.parent / "broken")
    half.rename(folder)
    return environment


def _packages_in(environment: Path) -> dict[str, str]:
    """Return the versions of all that is installed in an environment, by name."""
    homes = (*environment.glob("lib/python*/site-packages"), *environment.glob("Lib/site-packages"))
    listed = distributions(path=[str(homes[0])])
    return {each.name.lower().replace("_", "-"): each.version for each in listed}


def _tidy() -> None:
    """Delete what was left behind half made."""
    for folder in environments_folder().glob(f"{_HALF_MADE}*"):
        if time() - folder.stat().st_mtime > _LEFT_BEHIND:
            rmtree(folder, ignore_errors=True)


def _fits(environment: Environment, requirement: Requirement) -> bool:
    return all(
        name in environment.packages
        and (not wanted or _minor(environment.packages[name]) == _minor(wanted))
        for name, wanted in requirement.packages.items()
    )


def _works(environment: Environment) -> bool:
    """Return whether its interpreter starts: it needs the Python that it was made from."""
    try:
        installing.run(
            (str(environment.python), "-I", "-c", ""),
            what="",
            folder=environment.folder,
            say=log.debug,
            stopped=lambda: False,
        )
    except ModelError:
        log.warning("the environment in %s no longer works", environment.folder)
        return False
    return True


def _guest(folder: Path) -> tuple[str, ...]:
    """Return the command of the guest that opens models in an environment."""
    python = _python_in(folder)
    if tuple(map(int, _python_version(folder).split("."))) < _OLDEST_PYTHON:
        return (*GUEST, OLDER, str(python))
    # -I keeps out what the user's settings and folders would add; -u, so that nothing printed is
    # lost when the process dies
    lent = [f"{beside.LEND}{each}" for each in lent_packages()]
    return (str(python), "-I", "-u", str(Path(beside.__file__)), *lent)


def _python_in(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def _python_version(folder: Path) -> str:
    version = re.search(r"version_info *= *(\d+\.\d+)", (folder / "pyvenv.cfg").read_text())
    return version[1] if version else _dotted(sys.version_info[:2])


def _wanted(text: str) -> str:
    """Return the version to ask for: the one that a file tells, or the next of its kind."""
    if _RELEASED.fullmatch(text):
        return text
    begins = _MINOR.match(text)
    return f"{begins[0]}.*" if begins else ""


def _minor(wanted: str) -> str:
    return ".".join(wanted.split(".")[:2])


def _dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))
