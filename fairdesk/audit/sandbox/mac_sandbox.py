"""The sandbox of macOS, entered by the process itself.

Written after the manual (``sandbox_init(3)`` and the profiles that come with the system), not
tried on a Mac; what it withholds there is found by trying (`fairdesk.audit.sandbox.probe`). The
profile allows what it does not name, so that a library that needs something unforeseen goes on
working.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from pathlib import Path


def profile(home: Path, readable: Iterable[Path], own: Path) -> str:
    """Write the profile; of its rules the last one that fits counts.

    No network, no programs, no writing but in ``own``, no reading in ``home`` but of what is
    ``readable``.
    """
    folders = " ".join(_subpath(path) for path in readable)
    return "\n".join(
        (
            "(version 1)",
            "(allow default)",
            "(deny network*)",
            "(deny process-fork)",
            "(deny process-exec*)",
            "(deny signal (target others))",
            "(deny file-write*)",
            f'(allow file-write* {_subpath(own)} (literal "/dev/null"))',
            f"(deny file-read-data {_subpath(home.resolve())})",
            f"(allow file-read-data {folders} {_subpath(own)})",
        )
    )


def enter(text: str) -> None:
    """Enter a sandbox for good.

    Raises
    ------
    OSError
        When the system does not take the profile.
    """
    library = ctypes.CDLL("/usr/lib/libSystem.B.dylib")
    problem = ctypes.c_char_p()
    if library.sandbox_init(text.encode(), ctypes.c_uint64(0), ctypes.byref(problem)) != 0:
        raise OSError(problem.value)


def _subpath(path: Path) -> str:
    quoted = str(path.resolve()).replace("\\", "\\\\").replace('"', '\\"')
    return f'(subpath "{quoted}")'
