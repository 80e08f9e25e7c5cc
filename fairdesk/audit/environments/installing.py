"""Running uv, the installer: watched line by line, stopped when asked, its refusals in words."""

from __future__ import annotations

import logging
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from fairdesk.errors import ModelError

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
