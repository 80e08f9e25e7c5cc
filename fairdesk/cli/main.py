"""The ``fairdesk`` command: the window at once, or what `cli.commands` does without one."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window, or do what the command line says.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process when left out.

    Returns
    -------
    int
        The exit code. Wrong arguments end the process with code 2 instead.
    """
    began = monotonic()
    _open_missing_streams()
    arguments = sys.argv[1:] if argv is None else list(argv)
    match arguments:
        case [] | ["open"]:
            return _open_window(None)
        case ["open", file] if not file.startswith("-"):
            return _open_window(file)
    try:
        if argv is None and _audits(arguments):
            # it is ready when all else is loaded
            from fairdesk.audit.sandbox.process import start_early  # noqa: PLC0415

            start_early()
        # the numeric libraries behind it would keep the window from the screen
        from fairdesk.cli.commands import run  # noqa: PLC0415

        return run(arguments, _open_window, began)
    except KeyboardInterrupt:
        sys.stderr.write("fairdesk: Stopped.\n")
        return 128 + signal.SIGINT  # as shells do


def _audits(arguments: Sequence[str]) -> bool:
    """Return whether a command line asks for an audit, and so for a process that opens files."""
    return arguments[0] in ("audit", "demo") and not {"-h", "--help"} & {*arguments}


def _open_window(file: str | None) -> int:
    # Qt is loaded for nothing else
    from fairdesk.gui.app import main as open_window  # noqa: PLC0415

    return open_window([file] if file else [], _commands_page)


def _commands_page() -> str:
    # it loads all commands, and is asked for with the help only
    from fairdesk.cli.commands import commands_page  # noqa: PLC0415

    return commands_page()


def _open_missing_streams() -> None:
    """Lead streams that whoever started us has closed to nowhere.

    Otherwise the next file or pipe that is opened would take their place.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - stays open
