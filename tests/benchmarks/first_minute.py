"""The first minute on a computer: from a clone to the first audit, stage by stage.

    python -m tests.benchmarks.first_minute [--cold] [--keep FOLDER]

What is committed is cloned into an empty folder, with a home that holds no caches: nothing is
installed, and nothing compiled. Packages come out of this user's download cache; with ``--cold``
they are downloaded. What is printed of a stage is what it took by the clock and of the processors,
and how often importing pandas and scikit-learn, in the same run, goes into it.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import monotonic
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
#: What the other stages are compared with.
_UNIT = "import pandas, sklearn.ensemble"
#: Starts the window as ``fairdesk`` does, and ends it once its start page is painted.
_WINDOW = """
import sys
from PySide6.QtCore import QTimer
from fairdesk.gui import app
from fairdesk.gui.main_window import MainWindow

class Window(MainWindow):
    def show(self):
        super().show()
        QTimer.singleShot(0, lambda: (self.grab(), sys.exit(0)))

app.MainWindow = Window
app.main([])
"""


class Taken(NamedTuple):
    """What a stage took, in seconds: by the clock, and of the processors."""

    wall: float
    busy: float


def stages(folder: Path, *, cold: bool) -> Iterator[tuple[str, Taken]]:
    """Go through the first minute; yields what each stage took.

    Parameters
    ----------
    folder : Path
        An empty folder for the clone and its home.
    cold : bool
        Whether packages are downloaded.

    Yields
    ------
    tuple[str, Taken]
        The stage, and what it took.

    Raises
    ------
    subprocess.CalledProcessError
        When a stage fails.
    """
    clone, home = folder / "clone", folder / "home"
    home.mkdir()
    python = str(clone / ".venv" / "bin" / "python")
    environment = _environment(home, cold=cold)

    def run(*command: str) -> Taken:
        begun, before = monotonic(), _busy_children()
        where = clone if clone.exists() else folder
        subprocess.run(command, env=environment, cwd=where, check=True, stdout=subprocess.DEVNULL)
        return Taken(monotonic() - begun, _busy_children() - before)

    yield "clone", run("git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone))
    yield "install", run("bash", "-c", "source packaging/setup.bash; prepare run; prepare_qt")
    yield "window, the first time", run(python, "-c", _WINDOW)
    yield "window", run(python, "-c", _WINDOW)
    yield "compile", run(python, "-m", "fairdesk.audit.sandbox.kernel_cache", "--say")
    demo = str(clone / ".venv" / "bin" / "fairdesk"), "demo", "--out"
    yield "sample audit, the first time", run(*demo, str(folder / "first"))
    yield "sample audit", run(*demo, str(folder / "second"))
    yield _UNIT, run(python, "-c", _UNIT)


def _busy_children() -> float:
    """Return the processors' seconds of processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _environment(home: Path, *, cold: bool) -> Mapping[str, str]:
    """Return this user's variables, without those of this environment and of caches."""
    own = Path(sys.prefix).resolve()
    path = os.environ["PATH"].split(os.pathsep)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "NUMBA_", "XDG_", "VIRTUAL_ENV"))
    }
    kept["PATH"] = os.pathsep.join(each for each in path if own not in Path(each).resolve().parents)
    packages = os.environ.get("UV_CACHE_DIR", str(Path.home() / ".cache" / "uv"))
    caches = {"UV_CACHE_DIR": str(home / "packages") if cold else packages}
    return kept | caches | {"HOME": str(home), "QT_QPA_PLATFORM": "offscreen"}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cold", action="store_true", help="download all packages")
    parser.add_argument("--keep", type=Path, help="an empty folder; kept, by default removed")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        measured = dict(stages(folder, cold=arguments.cold))
    unit = measured[_UNIT].wall
    print(f"{'stage':<34}{'wall s':>8}{'CPU s':>8}{'x imports':>11}")
    for what, (wall, busy) in measured.items():
        print(f"{what:<34}{wall:>8.1f}{busy:>8.1f}{wall / unit:>11.1f}")


if __name__ == "__main__":
    main()
