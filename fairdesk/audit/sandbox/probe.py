"""What the confined guest can do: it tries, before it reads anything that is not FairDesk's."""

from __future__ import annotations

import errno
import mmap
import os
import socket
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from fairdesk.audit.sandbox.confining import (
    DESCRIPTORS,
    GIB,
    HOURS_PER_PROCESSOR,
    LONGEST_FILE,
    memory_limit,
)
from fairdesk.audit.sandbox.folders import (
    CACHE_NAMES,
    FOLDERS,
    PASSED,
    PASSED_PREFIX,
    Confinement,
    Hold,
    SandboxDirs,
    user_home,
)

#: Where programs keep the sockets by which they are reached.
_LOCAL_SOCKETS = ("/run", "/var/run", "/tmp", "/private/var/run")  # noqa: S108 - only looked for
#: Where somebody who listens is least likely; being refused there means that the way is open.
_DISCARD = ("127.0.0.1", 9)
#: An address that is kept for examples, so nobody's.
_NOBODY = ("192.0.2.1", 9)
_QUIT = ("-I", "-S", "-c", "raise SystemExit(99)")
#: Variables that are FairDesk's own words to the guest.
WORDS = frozenset(
    {
        *("PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONUSERBASE", "HDF5_USE_FILE_LOCKING"),
        *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT"),
        *("TF_CPP_MIN_LOG_LEVEL", *CACHE_NAMES),
    }
)


def try_out(room: SandboxDirs, layers: Sequence[str]) -> Confinement:
    """Try everything that a model's code should not be able to do.

    Parameters
    ----------
    layers : sequence of str
        What confines it besides what it was started in.
    """
    return Confinement(
        ", ".join((*_walls(), *layers)),
        (_network(), _files(room), _programs(), _memory(), _time(), _descriptors(), _environment()),
    )


def _walls() -> tuple[str, ...]:
    # bubblewrap's first process is the first of its own numbers
    in_walls = sys.platform == "linux" and _first_text("/proc/1/comm") == "bwrap"
    return ("bubblewrap",) if in_walls else ()


def _first_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _network() -> Hold:
    open_ways = []
    if not (_refused(_connect) and _refused(_datagram)):
        open_ways.append("open connections to other computers")
    if not _refused(_local_socket) and any(Path(path).exists() for path in _LOCAL_SOCKETS):
        open_ways.append("communicate with other programs on this computer")
    if open_ways:
        return _open("network", f"A model’s code can {' and '.join(open_ways)}.")
    return _held("network", "A model’s code cannot open any network connection.")


def _connect() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tried:
        tried.settimeout(0.5)
        try:
            tried.connect(_DISCARD)
        except (ConnectionRefusedError, TimeoutError):
            return  # the network was asked


def _datagram() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as tried:
        tried.connect(_NOBODY)  # nothing is sent; without a network it fails


def _local_socket() -> None:
    socket.socket(getattr(socket, "AF_UNIX", -1), socket.SOCK_STREAM).close()


def _files(room: SandboxDirs) -> Hold:
    new, private, renamed = room.outside / "new", room.private, room.outside / "renamed"
    mark = user_home() / f".fairdesk-{os.getpid()}"
    writes: tuple[Callable[[], object], ...] = (
        partial(new.write_bytes, b"x"),
        partial(private.open, "r+b"),
        partial(private.chmod, 0o600),
        partial(os.utime, private),
        partial(os.truncate, private, 1),
        partial(private.rename, renamed),
        partial(private.unlink),
        partial((room.given / "new").write_bytes, b"x"),
        partial(_write_and_remove, mark),
    )
    reads = (private.read_bytes, partial(os.scandir, user_home()))
    can_read = not _all_refused(reads)  # first: writing might take away what is to be read
    can_write = not _all_refused(writes)
    gigabytes = LONGEST_FILE // GIB
    if not can_write and not can_read:
        return _held(
            "files",
            "A model’s code can read Python, system libraries and the files that it was given, and "
            f"can write only to its own folder, at most {gigabytes} GB per file.",
        )
    can = " and ".join(
        words for words, it_can in (("read", can_read), ("change", can_write)) if it_can
    )
    return _open("files", f"A model’s code can {can} your files.")


def _write_and_remove(path: Path) -> None:
    path.write_bytes(b"")
    path.unlink()


def _programs() -> Hold:
    if sys.platform == "win32":
        can_start = not _refused(_start_on_windows)
        return _hold_on_programs(can_start=can_start, can_fork=can_start)
    # without a fork there is no trying but in place: of a program that is not there
    can_start = False
    try:
        os.execv("/nonexistent/program", ["program"])  # noqa: S606 - it is what is tried
    except OSError as error:
        can_start = error.errno not in (errno.EPERM, errno.EACCES)
    try:
        child = os.fork()
    except OSError:
        return _hold_on_programs(can_start=can_start, can_fork=False)
    if child == 0:
        with suppress(OSError):
            os.execv(sys.executable, [sys.executable, *_QUIT])  # noqa: S606 - our own
        os._exit(0)
    _, status = os.waitpid(child, 0)
    started = os.WIFEXITED(status) and os.WEXITSTATUS(status) == 99
    return _hold_on_programs(can_start=started, can_fork=True)


def _start_on_windows() -> None:
    import subprocess  # noqa: PLC0415 - on Windows only

    subprocess.run([sys.executable, *_QUIT], check=False)  # noqa: S603 - our own


def _hold_on_programs(*, can_start: bool, can_fork: bool) -> Hold:
    if can_start:
        return _open("programs", "A model’s code can start other programs.")
    if can_fork:
        return _open(
            "programs",
            "A model’s code cannot start other programs, but can start copies of itself.",
        )
    return _held("programs", "A model’s code cannot start programs or further processes.")


def _memory() -> Hold:
    limit = memory_limit()
    if sys.platform == "win32":
        refused = _refused(lambda: bytearray(limit + GIB))
    else:
        private = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANON", 0)
        # asked for, never touched
        refused = _limited("RLIMIT_DATA", limit) and _refused(
            lambda: mmap.mmap(-1, limit + GIB, flags=private).close()
        )
    if refused:
        return _held("memory", f"It can use at most {limit / GIB:.0f} GB of memory.")
    return _open("memory", "It can use all memory of this computer.")


def _time() -> Hold:
    hours = HOURS_PER_PROCESSOR * (os.cpu_count() or 1)
    more = (
        f", and after {hours} hours of processor time"
        if _limited("RLIMIT_CPU", hours * 3600)
        else ""
    )
    return _held("time", f"FairDesk ends it if it does not respond in time{more}.")


def _descriptors() -> Hold:
    opened: list[int] = []
    try:
        while len(opened) <= DESCRIPTORS:
            opened.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        return _held("descriptors", f"It can have at most {DESCRIPTORS} files open.")
    finally:
        for descriptor in opened:
            os.close(descriptor)
    return _open("descriptors", "It can open as many files as the system allows.")


def _environment() -> Hold:
    known = PASSED | WORDS | FOLDERS.keys()
    more = [name for name in os.environ if name not in known and not _let_pass(name)]
    if more:
        return _open(
            "environment", "It can read environment variables of the program that started it."
        )
    return _held("environment", "It can read only a few harmless environment variables.")


def _let_pass(name: str) -> bool:
    # the C library and macOS put these in themselves
    return name.startswith((PASSED_PREFIX, "__CF", "KMP_")) or name in ("PWD", "SHLVL", "_")


def _held(what: str, how: str) -> Hold:
    return Hold(what, holds=True, how=how)


def _open(what: str, how: str) -> Hold:
    return Hold(what, holds=False, how=how)


def _limited(name: str, most: int) -> bool:
    if sys.platform == "win32":
        return False
    import resource  # noqa: PLC0415 - not on Windows

    _, hard = resource.getrlimit(getattr(resource, name))
    return hard != resource.RLIM_INFINITY and hard <= most


def _all_refused(attempts: Iterable[Callable[[], object]]) -> bool:
    return all(_refused(attempt) for attempt in attempts)


def _refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (OSError, MemoryError, ValueError):
        return True
    return False
