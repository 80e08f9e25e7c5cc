"""What is compiled for guests, once, by a process that never sees a model: the searches' loops.

A guest may not write where the next one reads: the compiler's cache is made of programs. So the
user's is filled by ``python -m fairdesk.audit.sandbox.kernel_cache``, and each guest gets a copy of
its own.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from importlib import import_module, metadata
from pathlib import Path
from time import monotonic, sleep, time

import platformdirs

from fairdesk.audit.sandbox.folders import CACHE_NAMES, locked, package_folder

#: The modules with compiled loops that Python calls, in the order in which they are compiled.
MODULES = (
    "fairdesk.models.inputs.filling",
    "fairdesk.models.dense.forward",
    "fairdesk.certify.domain.population_kernels",
    "fairdesk.individual.engine.kernels",
    "fairdesk.certify.bounds.tree_kernels",
    "fairdesk.population.row_kernels",
    "fairdesk.models.boosting.kernels",
    "fairdesk.individual.surrogates.tree_kernels",
    "fairdesk.certify.domain.box_kernels",
    "fairdesk.certify.domain.density_kernels",
    "fairdesk.certify.bounds.forest_kernels",
    "fairdesk.certify.baselines.fairquant_kernels",
    "fairdesk.certify.counting.exhaustive_kernels",
    "fairdesk.certify.bounds.dense.examining",
)
#: Those of them that take half the time; by then what they call is compiled beside them.
BESIDE = MODULES[-3:]
#: Modules whose loops are parts of those.
PARTS = (
    "fairdesk.compiled",
    "fairdesk.models.dense.simd",
    "fairdesk.certify.bounds.count_kernels",
    "fairdesk.certify.bounds.tree_tails",
    "fairdesk.certify.bounds.dense.state",
    "fairdesk.certify.bounds.dense.activations",
    "fairdesk.certify.bounds.dense.intervals",
    "fairdesk.certify.bounds.dense.truncation",
    "fairdesk.certify.bounds.dense.backward",
    "fairdesk.certify.bounds.dense.clipping",
    "fairdesk.certify.bounds.dense.counting",
    "fairdesk.certify.bounds.dense.halving",
)
#: Libraries that guests import. They could not keep the bytecode of these either, and what compiles
#: them anew at each start (TensorFlow: for a minute) must not be the guest.
LIBRARIES = (
    *("pandas", "pyarrow.parquet", "h5py", "onnxruntime", "lark", "z3"),
    *("sklearn.ensemble", "sklearn.pipeline", "sklearn.neural_network", "tensorflow"),
)
#: Longer than any compiler takes.
_MOST_SECONDS = 600.0
#: How often one that waits for another looks again.
_LOOK_SECONDS = 0.5
#: Ends the name of what the process that compiles holds: another version does not wait for it.
_LOCK = ".lock"
#: What a folder is called in which something is being compiled.
_MAKING = "making-"
#: What compiles for this program, if anything does.
_COMPILING: set[subprocess.Popen[bytes]] = set()
#: What spares the compiler colours for errors that it meets by the thousand, and shows to nobody.
_PLAIN = {"NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1"}
#: After so many new objects it looks for what is unused: it makes millions, and few of them go.
_NEW_OBJECTS = 50_000
#: How far it stands back where all processors are busy: an audit may be under way.
_NICE = 10


def copy_to(folder: Path) -> bool:
    """Give a guest what was compiled; have it made when it is missing.

    Nothing waits for that: a guest that comes too early compiles for itself.

    Returns
    -------
    bool
        Whether there was something to give.
    """
    try:
        shutil.copytree(_folder(), folder, dirs_exist_ok=True)
    except OSError:
        begin()
        return False
    return True


def is_made() -> bool:
    """Return whether it is there for guests to come."""
    return _folder().exists()


def progress() -> tuple[int, int] | None:
    """Return how many modules are compiled, of how many; ``None`` while nothing compiles them."""
    made = _folder()
    try:
        os.close(locked(made.with_suffix(_LOCK)))
    except (BlockingIOError, PermissionError):
        counts = [
            sum(any(kept.glob("{}/{}.*.nbi".format(*each.rsplit(".", 1)))) for each in MODULES)
            for kept in made.parent.glob(f"{_MAKING}*")
        ]
        return max(counts, default=0), len(MODULES)
    except OSError:
        pass
    return None


@functools.cache
def begin() -> None:
    """Have it made in the background, once while the app runs."""
    threading.Thread(target=make, daemon=True).start()


def make() -> Path:
    """Compile; gives the folder, complete or not there.

    The process that compiles finishes its work also when the app ends meanwhile, unless it is
    told to `stop`.
    """
    made = _folder()
    if made.exists():
        return made
    with suppress(OSError, subprocess.SubprocessError):
        made.parent.mkdir(parents=True, exist_ok=True)
        making = tempfile.mkdtemp(dir=made.parent, prefix=_MAKING)
        package_home = str(package_folder().parent)
        compiling = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            (sys.executable, "-P", "-m", "fairdesk.audit.sandbox.kernel_cache", making, str(made)),
            env=os.environ
            | CACHE_NAMES
            | _PLAIN
            | {"NUMBA_CACHE_DIR": making, "PYTHONPATH": package_home},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        _COMPILING.add(compiling)
        try:
            compiling.wait(_MOST_SECONDS)
        except subprocess.TimeoutExpired:
            stop()
        finally:
            _COMPILING.discard(compiling)
    return made


def stop() -> None:
    """End what compiles for this program, with all that it has started; nothing without it."""
    for each in tuple(_COMPILING):
        with suppress(OSError):
            if hasattr(os, "killpg"):
                # it leads a session of its own
                os.killpg(each.pid, signal.SIGKILL)
            else:
                each.kill()


def _compile(making: Path, made: Path) -> None:
    """Compile into one folder and call it the other when it is complete.

    One process at a time does: where another one was quicker there is nothing left to do.
    """
    try:
        lock = _turn(made.with_suffix(_LOCK))
        try:
            _remove_abandoned(made.parent)
            if made.exists():
                return
            gc.set_threshold(_NEW_OBJECTS)
            program = f"import gc; gc.set_threshold({_NEW_OBJECTS}); import {', '.join(BESIDE)}"
            command = (sys.executable, "-P", "-c", program)
            beside = subprocess.Popen(command) if set(BESIDE) <= {*MODULES} else None  # noqa: S603
            for name in MODULES:
                if beside is None or name not in BESIDE:
                    import_module(name)
            if beside is not None:
                beside.wait()
                for name in BESIDE:
                    import_module(name)
            making.rename(made)
        finally:
            os.close(lock)
        if not sys.dont_write_bytecode:
            for name in LIBRARIES:
                with suppress(ImportError):
                    import_module(name)
    finally:  # it was renamed, or it failed, or another process was quicker
        shutil.rmtree(making, ignore_errors=True)


def _remove_abandoned(home: Path) -> None:
    """Remove what processes that were killed have begun; one that waits has a younger folder."""
    for folder in home.glob(f"{_MAKING}*"):
        with suppress(OSError):
            if time() - folder.stat().st_mtime > 2 * _MOST_SECONDS:
                shutil.rmtree(folder)


def _turn(path: Path) -> int:
    """Wait until no other process compiles; returns the lock, to be closed.

    Raises
    ------
    OSError
        When it is held for longer than any compiler takes, or cannot be made.
    """
    until = monotonic() + _MOST_SECONDS
    while True:
        try:
            return locked(path)
        except (BlockingIOError, PermissionError):
            if monotonic() > until:
                raise
            sleep(_LOOK_SECONDS)


def _folder() -> Path:
    """Name the folder for this version of Python, this processor, these loops and this compiler.

    By what these are and not by where they lie: other copies of FairDesk use it too.
    """
    parts = [sys.version.encode(), _processor()]
    for name in ("numba", "llvmlite", "numpy"):
        with suppress(metadata.PackageNotFoundError):
            parts.append(metadata.version(name).encode())
    for module in sorted((*MODULES, *PARTS)):
        source = package_folder().joinpath(*module.split(".")[1:]).with_suffix(".py")
        parts += [module.encode(), source.read_bytes()]
    key = hashlib.sha256(b"".join(hashlib.sha256(each).digest() for each in parts))
    return compiled_home() / key.hexdigest()[:20]


def _processor() -> bytes:
    """Return what tells processors apart that run different machine code."""
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_bytes().splitlines()
        told = (b"model name", b"flags", b"CPU part", b"Features")
        return b"\n".join(sorted({each for each in lines if each.startswith(told)}))
    return f"{platform.machine()} {platform.processor()}".encode()


def compiled_home() -> Path:
    """Return the folder of what was compiled, for all versions."""
    return platformdirs.user_cache_path("FairDesk", appauthor=False) / "compiled"


if __name__ == "__main__":
    if len(sys.argv) > 2:
        if hasattr(os, "nice"):
            os.nice(_NICE)
        _compile(Path(sys.argv[1]), Path(sys.argv[2]))
    else:  # to have it ready before guests come
        if "--say" in sys.argv and not _folder().exists():
            sys.stderr.write("Compiling what searches compute with, once: about a minute ...\n")
        print(make())  # noqa: T201 - for whoever wants to use it too
