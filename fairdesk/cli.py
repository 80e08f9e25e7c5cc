"""The ``fairdesk`` command: the window at once, or what `fairdesk.commands` does without one."""

from __future__ import annotations

import sys
from collections.abc import Sequence


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
    arguments = sys.argv[1:] if argv is None else list(argv)
    match arguments:
        case [] | ["open"]:
            return _open_window(None)
        case ["open", file] if not file.startswith("-"):
            return _open_window(file)
    # the numeric libraries behind it would keep the window from the screen
    from fairdesk.commands import run  # noqa: PLC0415

    return run(arguments, _open_window)


def _open_window(file: str | None) -> int:
    # Qt is loaded for nothing else
    from fairdesk.gui.app import main as open_window  # noqa: PLC0415

    return open_window([file] if file else [])
