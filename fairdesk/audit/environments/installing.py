"""Running uv, the installer, and what it has installed in an environment.

The guest runs there whole: it opens the model, searches, computes group metrics, certifies and
trains again. So each library that its modules import is listed here once, with what installs it or
with why it is left out; a test walks through the guest's imports and compares.
"""

from __future__ import annotations

import logging
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from fairdesk.errors import ModelError
from fairdesk.models.pickles.contents import installed

SCIKIT = "scikit-learn"
_LINUX = sys.platform == "linux"

#: What the guest imports, and what installs each; empty where another of them brings it along.
GUEST_IMPORTS = {
    "fairlearn": "fairlearn",
    "google": "",  # protobuf, with onnx
    "h5py": "h5py>=3.11",
    "joblib": "joblib>=1.6",
    "lark": "lark>=1.2",
    "llvmlite": "",  # with numba
    "msgspec": "msgspec>=0.20",
    # what the same numba has compiled for FairDesk is used here and there
    "numba": f"numba<={installed('numba')}",
    "numpy": "numpy>=1.26",
    "onnx": "onnx>=1.16",
    "onnxruntime": "onnxruntime>=1.19",
    "pandas": "pandas>=2.0",
    "platformdirs": "platformdirs>=4.2",
    "pyarrow": "pyarrow>=20",
    "pyseccomp": "pyseccomp>=0.1.2" if _LINUX else "",
    "python_calamine": "python-calamine>=0.4",
    "scipy": "scipy>=1.15",
    "skl2onnx": "skl2onnx",
    "sklearn": "",  # it is what the environment is made for
    "z3": "z3-solver>=4.13",
}
#: What some module of the guest's imports and is not installed there, with the reason.
NOT_INSTALLED = {
    "catboost": "a model of CatBoost’s is opened in FairDesk’s own environment",
    "keras": "a network is opened in FairDesk’s own environment",
    "lime": "no wheel of it exists: FairDesk’s own copy is lent (`beside.lend`)",
    "lz4": "FairDesk has none either: what is packed so opens where the auditor installed it",
    "skops": "only from scikit-learn 1.2 on (`_SKOPS`): there is none for earlier ones",
    "tensorflow": "a network is opened in FairDesk’s own environment",
}
#: What the process that opens older models imports, where scikit-learn is older than 1.1: what
#: goes with all of those, for Python 3.8 to 3.10 (`fairdesk.audit.worker.relay_server`). The guest
#: itself then runs in FairDesk’s own environment.
RELAY_IMPORTS = {
    "joblib": "joblib>=1.3",
    "msgspec": "msgspec>=0.18",
    "numpy": "numpy>=1.21,<1.24",
    "pandas": "pandas>=1.3,<1.5",
    "platformdirs": "platformdirs>=4.2",
    "pyseccomp": "pyseccomp>=0.1.2" if _LINUX else "",
    "sklearn": "scipy<1.8",  # of the time of those that are older
}
#: What some module of that process imports and is not installed there, with the reason.
NOT_RELAYED = {
    "lz4": "few pickles are packed by it",
    "skops": "no scikit-learn as old is read by it: the guest refuses such a file",
}
#: Earlier ones fell back to running a file's code without a word; the first scikit-learn for it.
_SKOPS, _FIRST_WITH_SKOPS = "skops>=0.13", (1, 2)
#: What came later and does not go with an old scikit-learn, though nothing says so: one before
#: the version on the left needs what is on the right.
_NEEDS_OLDER = (
    ((1, 3), "pandas<2.1"),
    ((1, 4, 2), "numpy<2"),
    ((1, 8), "pandas<3"),
    # from here on SciPy cannot use the splines that an earlier one has saved
    ((1, 8), "scipy<1.17"),
)
#: Parts for graphics cards, which are not needed here.
LEFT_OUT = ("nvidia-nccl-cu12", "nvidia-nccl-cu13")
_RELAY_TRIAL = "import joblib, msgspec, numpy.typing, pandas, scipy.stats, sklearn.pipeline"
_TRIAL = "import joblib, numba, pandas, scipy.stats, sklearn.pipeline"


def specifications(packages: Mapping[str, str]) -> list[str]:
    """Return what is to be installed, as installers want it written: ``"numpy<2"``.

    Parameters
    ----------
    packages : Mapping of str to str
        What the model needs, as in `environments.Requirement`.
    """
    scikit = numbers_in(packages[SCIKIT])
    named = [f"{name}=={version}" if version else name for name, version in packages.items()]
    if is_older(scikit):
        also = [each for each in RELAY_IMPORTS.values() if each]
        return [*named, *also, *(["lightgbm<4"] if "lightgbm" in named else [])]
    return [
        *named,
        *(each for each in GUEST_IMPORTS.values() if each),
        *([_SKOPS] if "skops" in packages or scikit >= _FIRST_WITH_SKOPS else []),
        *(needs for before, needs in _NEEDS_OLDER if scikit < before),
    ]


def lacking(packages: Mapping[str, str], present: Mapping[str, str]) -> Sequence[str]:
    """Return the names of those libraries to be installed that are not present."""
    wanted = dict.fromkeys(map(_name, specifications(packages)))
    return [name for name in wanted if name not in present]


def trial(packages: Mapping[str, str]) -> str:
    """Return the statement that shows whether the libraries start."""
    return _RELAY_TRIAL if is_older(numbers_in(packages[SCIKIT])) else _TRIAL


def numbers_in(wanted: str) -> tuple[int, ...]:
    """Return the numbers of a version: ``(1, 3)`` of ``"1.3.*"``."""
    return tuple(int(part) for part in wanted.split(".") if part.isdecimal())


def is_older(scikit: tuple[int, ...]) -> bool:
    """Return whether a scikit-learn has no build for any Python that FairDesk runs on."""
    return scikit < (1, 1)


def _name(specification: str) -> str:
    return specification.partition("=")[0].partition("<")[0].partition(">")[0]


log = logging.getLogger(__name__)

#: How often a running program is looked at, in seconds.
_LOOK_SECONDS = 0.1
#: What the installer says while it fetches something large.
_FETCHES = re.compile(r"Downloading (\S+) \((.+)\)")
#: Why an installation fails, by what the installer says; the first that fits tells.
_CAUSES = (
    (
        r"No space left|not enough space|os error (28|112|122)\b",
        "The disk is full.",
        "Free about two gigabytes and try again.",
    ),
    (
        r"No interpreter found|inspect Python interpreter|Python download|download .*cpython",
        (
            "It needs an older Python version, which was not found on this computer and could "
            "not be downloaded."
        ),
        "Install that Python version and try again, or request the model as ONNX.",
    ),
    (
        r"40[13] |Unauthorized|Forbidden",
        "The package registry refuses access.",
        "Ask your system administrator how uv, the installer, gets its packages.",
    ),
    (
        r"certificate",
        "The connection to the package registry is not trusted: its certificate is unknown.",
        "Ask your system administrator how uv, the installer, gets its packages.",
    ),
    (
        r"(?i)error sending request|dns error|network was disabled|timed out|failed to fetch",
        "The package registry cannot be reached.",
        "Check the connection, or the proxy that is set up for uv, the installer, and try again.",
    ),
    (
        r"there is no version of|not found in the package registry",
        "The package registry has no such version.",
        (
            "Ask the author of the model which versions it was saved with, or request the model "
            "as ONNX."
        ),
    ),
    (
        r"no (usable )?wheels|Wheels are required",
        "The package registry has no build of that version for this computer.",
        "Request the model as ONNX, or retrained with a newer version.",
    ),
)


def uv() -> str:
    """Return the path of the installer that came with FairDesk.

    Raises
    ------
    ModelError
        When it is not there.
    """
    try:
        # needed only where an environment is made
        from uv import find_uv_bin  # noqa: PLC0415

        return str(find_uv_bin())
    except (ImportError, FileNotFoundError) as error:
        raise ModelError(
            "The environment cannot be created.",
            why="uv, the installer that comes with FairDesk, is missing.",
            remedy="Install FairDesk again, or request the model as ONNX.",
        ) from error


def run(
    command: Sequence[str],
    what: str,
    *,
    folder: Path,
    say: Callable[[str], None],
    stopped: Callable[[], bool],
) -> None:
    """Run a program to its end; what it prints goes to the log.

    Parameters
    ----------
    what : str
        What did not happen when it fails, a whole sentence.
    folder : Path
        Where it runs; settings of a project that lies elsewhere are then no concern of it.
    stopped : callable
        Asked ten times a second whether to give up.

    Raises
    ------
    ModelError
        When it fails, or was stopped: then neither it nor what it started still runs.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 - the installer, or an interpreter that it made
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise ModelError(
            what, why=f"The system reported: {error}.", remedy="See the log file for details."
        ) from error
    output: list[str] = []
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    assert process.stdout is not None, "the pipe is asked for"  # noqa: S101 - for mypy
    threading.Thread(target=_read, args=(process.stdout, lines), daemon=True).start()
    try:
        while (line := _next(lines, stopped)) is not None:
            log.info("%s: %s", Path(command[0]).name, line)
            output.append(line)
            if fetches := _FETCHES.search(line):
                say(f"Fetching {fetches[1]} ({fetches[2]})")
        code = process.wait()
    except BaseException:
        _kill(process)
        raise
    if code != 0:
        raise refusal(what, "\n".join(output))


def _read(stream: IO[str], lines: queue.SimpleQueue[str | None]) -> None:
    with stream:
        for line in stream:
            lines.put(line.rstrip())
    lines.put(None)


def _next(lines: queue.SimpleQueue[str | None], stopped: Callable[[], bool]) -> str | None:
    while True:
        if stopped():
            raise ModelError(
                "The environment was not made.",
                why="It was stopped; nothing was kept.",
                remedy="Make it again when it is needed.",
            )
        try:
            return lines.get(timeout=_LOOK_SECONDS)
        except queue.Empty:
            continue


def _kill(process: subprocess.Popen[str]) -> None:
    """End the program and what it has started."""
    if sys.platform == "win32":
        process.kill()
    else:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            log.debug("it had ended by itself")
    process.wait()


def refusal(what: str, output: str) -> ModelError:
    """Return in plain words why the installer failed."""
    for pattern, why, remedy in _CAUSES:
        if re.search(pattern, output):
            return ModelError(what, why=why, remedy=remedy)
    last = [line.strip() for line in output.splitlines() if line.strip()][-1:]
    return ModelError(
        what,
        why=f"The installer reported: {last[0][:200]}" if last else "The installer gave no reason.",
        remedy="See the log file for details.",
    )
