"""What the app does to confine a guest: its folder, the files it is given, how it is started.

A guest never sees the user's folders. It reads private copies, which the app puts into the
guest's folder *before* it fingerprints them: what is opened is what was fingerprinted, to
the byte, whatever happens to the original meanwhile. (Passing descriptors instead would save the
copy, but readers want names, and under Landlock a descriptor cannot be opened by name.) Large
tables are linked instead, and looked at again when they have been read.
"""

from __future__ import annotations

import functools
import os
import secrets
import shutil
import site
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import time

import platformdirs

from fairdesk.audit.sandbox import kernel_cache
from fairdesk.audit.sandbox.folders import (
    CACHE_NAMES,
    FOLDERS,
    OLDER,
    PASSED,
    PASSED_PREFIX,
    UNCONFINED,
    SandboxDirs,
    locked,
    package_folder,
    readable_paths,
)
from fairdesk.errors import WorkerError
from fairdesk.files import sha256

#: Smaller tables are copied.
LINKED_FROM = 64 << 20
#: So much is left free on the disk.
LEFT_FREE = 1 << 30
#: What a guest may write in all, and in how many files.
MOST_WRITTEN, MOST_FILES = 4 << 30, 20_000
#: How deep its folders may lie in each other, and how long their names may get: what lies deeper
#: cannot be reached by its name, and would not be counted.
DEEPEST, LONGEST_NAME = 50, 3000
#: How a SQLite file begins, and the files beside it that hold what was not yet put into it.
_SQLITE, _BESIDE_SQLITE = b"SQLite format 3\0", ("-wal", "-shm")
_LOCK = "lock"

Signature = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """A file, or a folder, that was given to a guest.

    Attributes
    ----------
    original, private : Path
        Where the user has it, and where the guest sees it.
    linked : bool
        Whether it is the user's own file under another name, not a copy.
    """

    original: Path
    private: Path
    linked: bool
    _signature: Signature

    @property
    def unchanged(self) -> bool:
        """Whether the user's file is still as it was when it was given."""
        try:
            return _signature(self.original) == self._signature
        except OSError:
            return False

    def fingerprint(self) -> str:
        """Return the SHA-256 of what the guest sees; of a folder, that of all in it."""
        return sha256(self.private)


class Sandbox:
    """The folder of one guest on the user's disk, and how the guest is started in it.

    Raises
    ------
    OSError
        When the folder cannot be made.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = tuple(command)
        home = _home_of_guests()
        self.room = SandboxDirs(Path(tempfile.mkdtemp(prefix="guest-", dir=home)).resolve())
        self._lock = locked(self.room.folder / _LOCK)
        for folder in (self.room.own, self.room.given, self.room.outside):
            folder.mkdir()
        for name in sorted(set(FOLDERS.values())):
            (self.room.own / name).mkdir(exist_ok=True)
        self.room.private.write_bytes(b"none of a model's business")
        #: Whether the guest was given what is compiled for all.
        self.compiled = kernel_cache.copy_to(self.room.own / FOLDERS["NUMBA_CACHE_DIR"])
        self._given: dict[str, Given] = {}
        self._count = 0
        self._free = _free_bytes(self.room.folder)

    def ways(self) -> Iterator[tuple[str, ...]]:
        """Yield the commands by which to start the guest, the most confining first."""
        if wrapping := _bubblewrap(self._command, self.room):
            yield (*wrapping, *self._command)
        yield self._command
        # whatever was wrong with it on this system, it must not be what keeps models closed
        yield (*self._command, UNCONFINED)

    def environment(self) -> dict[str, str]:
        """Return the guest's environment: nothing of the user's that could be a secret.

        One thread for arithmetic, so that the app keeps a core; and what the model prints arrives
        at once, so that nothing of it is lost when the process dies.
        """
        passed = {
            name: value
            for name, value in os.environ.items()
            if name.upper() in PASSED or name.startswith(PASSED_PREFIX)
        }
        folders = {name: str(self.room.own / folder) for name, folder in FOLDERS.items()}
        package_home = str(package_folder().parent)
        search_path = [package_home, *filter(None, [os.environ.get("PYTHONPATH")])]
        users = {"PYTHONUSERBASE": site.getuserbase()} if site.ENABLE_USER_SITE else {}
        return {
            **passed,
            **folders,
            **CACHE_NAMES,
            **users,
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            "LOKY_MAX_CPU_COUNT": str(max((os.cpu_count() or 1) - 1, 1)),
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "HDF5_USE_FILE_LOCKING": "FALSE",
            "PYTHONPATH": os.pathsep.join(search_path),
            "PYTHONUNBUFFERED": "1",
        }

    def give(self, slot: str, path: Path, *, link: bool = False) -> Given | None:
        """Let the guest read a file or folder; what it had in this slot before is taken away.

        Parameters
        ----------
        slot : str
            What the file is to the guest: ``"table"``, ``"model"``.
        link : bool
            Whether a large file may be linked instead of copied.

        Returns
        -------
        Given, optional
            Nothing when there is no such file, or it may not be read: the guest says so.

        Raises
        ------
        WorkerError
            When there is no room on the disk.
        """
        before = self._given.get(slot)
        if before is not None and before.original == path and before.unchanged:
            return before
        self.take(slot)
        self._count += 1
        folder = self.room.given / str(self._count)
        try:
            signature = _signature(path)
            if stat.S_ISREG(path.stat().st_mode):
                path.open("rb").close()
            elif not path.is_dir():
                return None
            self._check_free(path)
            folder.mkdir()
            linked = _place(path, folder / path.name, link=link)
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            return None
        given = Given(path, folder / path.name, linked, signature)
        self._given[slot] = given
        return given

    def take(self, slot: str) -> None:
        """Take away what was given in a slot; nothing without it."""
        if (given := self._given.pop(slot, None)) is not None:
            shutil.rmtree(given.private.parent, ignore_errors=True)

    def in_original_words(self, text: str) -> str:
        """Put the user's names of files into a text for the guest's."""
        for given in self._given.values():
            text = text.replace(str(given.private), str(given.original))
        return text

    def overfull(self) -> bool:
        """Return whether the guest has written more than it may."""
        written = files = 0
        hidden: list[OSError] = []
        above = str(self.room.own).count(os.sep)
        for folder, _, names in os.walk(self.room.own, onerror=hidden.append):
            files += len(names) + 1
            for name in names:
                with suppress(OSError):
                    written += os.lstat(os.path.join(folder, name)).st_size  # noqa: PTH118 - asked for often
            if written > MOST_WRITTEN or files > MOST_FILES:
                return True
            if folder.count(os.sep) - above > DEEPEST or len(folder) > LONGEST_NAME:
                return True
        if any(isinstance(error, PermissionError) for error in hidden):
            return True
        # files that have no name any more are seen by this only
        free = _free_bytes(self.room.folder)
        return free < LEFT_FREE and self._free - free > LEFT_FREE

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        _remove(self.room.folder, self._lock)

    def _check_free(self, path: Path) -> None:
        size = sum(each.lstat().st_size for each in ([path] if path.is_file() else path.rglob("*")))
        if size > max(_free_bytes(self.room.folder) - LEFT_FREE, 0):
            raise WorkerError(
                f"There is not enough space on the disk to open “{path.name}”.",
                why=(
                    "FairDesk opens a private copy of the model file, so that the model never "
                    "accesses your files."
                ),
                remedy="Free space on the disk, then try again.",
            )


def clean_up() -> None:
    """Remove what apps that were killed have left behind."""
    with suppress(OSError):
        for folder in _home_of_guests().glob("guest-*"):
            with suppress(OSError):
                if (folder / _LOCK).exists():
                    _remove(folder, locked(folder / _LOCK))
                # one without a lock is just being made; unless nobody went on with it
                elif time() - folder.stat().st_mtime > 3600:
                    shutil.rmtree(folder, ignore_errors=True)


def _home_of_guests() -> Path:
    """Return the folder of all guests' folders: on the disk of the user's files if possible."""
    for home in (platformdirs.user_cache_path("FairDesk", appauthor=False), _temporary_home()):
        with suppress(OSError):
            guests = home / "guests"
            guests.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.access(guests, os.W_OK) and _is_ours(guests):
                return guests
    return Path(tempfile.gettempdir())


def _is_ours(folder: Path) -> bool:
    """Return whether nobody else has put a folder there before."""
    return not hasattr(os, "getuid") or folder.lstat().st_uid == os.getuid()


def _temporary_home() -> Path:
    return Path(tempfile.gettempdir()) / f"fairdesk-{os.getuid() if hasattr(os, 'getuid') else ''}"


def _remove(folder: Path, lock: int) -> None:
    # what a guest has made unreadable is made readable again, then all goes, links not followed
    _flatten(folder / "own")
    shutil.rmtree(folder / "own", onerror=_permit)
    for part in ("given", "outside"):
        shutil.rmtree(folder / part, ignore_errors=True)
    os.close(lock)
    shutil.rmtree(folder, ignore_errors=True)


def _flatten(folder: Path) -> None:
    """Move all folders in a folder up into it, so that none is too deep to be removed."""
    mark = secrets.token_hex(8)  # no name that is there already
    waiting, count = _folders_in(folder), 0
    while waiting:
        for inner in _folders_in(waiting.pop()):
            count += 1
            with suppress(OSError):
                waiting.append(inner.rename(folder / f"{mark}-{count}"))


def _folders_in(folder: Path) -> list[Path]:
    try:
        inner = [Path(entry) for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    for each in inner:
        with suppress(OSError):
            each.chmod(0o700)
    return inner


def _permit(function: object, path: str, _: object) -> None:
    with suppress(OSError):
        parent = Path(path).parent
        if not parent.is_symlink():
            parent.chmod(0o700)
        if not Path(path).is_symlink():
            Path(path).chmod(0o700)
        if callable(function):
            function(path)


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def _signature(path: Path) -> Signature:
    """Return the state of a file, or of all in a folder; of SQLite also the files beside it.

    Raises
    ------
    OSError
        When it is not there.
    """
    paths = [path]
    if path.is_dir():
        paths += sorted(path.rglob("*"))
    paths += [beside for beside in _beside(path) if beside.exists()]
    signature: list[int] = []
    for each in paths:
        state = each.stat()
        signature += (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)
        if not each.is_dir():
            signature.append(state.st_ctime_ns)
    return tuple(signature)


def _beside(path: Path) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in _BESIDE_SQLITE]


def _place(path: Path, target: Path, *, link: bool) -> bool:
    """Copy or link a file or folder; tells whether it was linked."""
    if path.is_dir():
        return _place_folder(path, target, link=link)
    with path.open("rb") as stream:
        is_sqlite = stream.read(len(_SQLITE)) == _SQLITE
    # a database may be written to by others at any time
    if link and not is_sqlite and path.stat().st_size >= LINKED_FROM:
        with suppress(OSError):
            os.link(path.resolve(), target)
            return True
    _copy(path, target)
    if is_sqlite:
        for beside in _beside(path):
            if beside.is_file():
                _copy(beside, target.with_name(beside.name))
    return False


def _place_folder(path: Path, target: Path, *, link: bool) -> bool:
    """Copy or link the files in a folder; links and whatever else is there stay behind."""
    target.mkdir()
    linked = False
    for entry in os.scandir(path):
        if entry.is_dir(follow_symlinks=False):
            linked |= _place_folder(Path(entry.path), target / entry.name, link=link)
        elif entry.is_file(follow_symlinks=False):
            linked |= _place(Path(entry.path), target / entry.name, link=link)
    return linked


def _copy(path: Path, target: Path) -> None:
    with path.open("rb") as source, target.open("xb") as copy:
        if hasattr(os, "copy_file_range"):
            # where the file system can, nothing is copied until somebody writes
            with suppress(OSError):
                while os.copy_file_range(source.fileno(), copy.fileno(), 1 << 30):
                    pass
        source.seek(copy.seek(0, os.SEEK_END))
        shutil.copyfileobj(source, copy, 1 << 20)


# -- bubblewrap -------------------------------------------------------------------------------


def _bubblewrap(command: tuple[str, ...], room: SandboxDirs) -> tuple[str, ...]:
    """Return the words that start a command inside bubblewrap; none where that does not work."""
    if sys.platform != "linux":
        return ()
    program = shutil.which("bwrap")
    python = shutil.which(command[0])
    if program is None or python is None:
        return ()
    words = (program, *_walls(Path(python), tuple(command[1:])))
    return (*words, *_doors(room), "--") if _bubblewrap_works(words, python) else ()


@functools.cache
def _bubblewrap_works(words: tuple[str, ...], python: str) -> bool:
    trial = (*words, "--", python, "-I", "-S", "-c", "import ctypes")
    try:
        done = subprocess.run(  # noqa: S603 - bubblewrap and our own interpreter
            trial, capture_output=True, timeout=20, check=False, env={"PATH": os.defpath}
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _walls(python: Path, arguments: tuple[str, ...]) -> list[str]:
    """Make a system of its own: nobody else's processes, no network, and only these files."""
    words = ["--unshare-all", "--die-with-parent", "--cap-drop", "ALL"]
    words += ["--proc", "/proc", "--dev", "/dev"]
    scripts = [Path(each).absolute() for each in arguments if each.endswith(".py")]
    if OLDER in arguments:
        scripts += readable_paths(Path(arguments[arguments.index(OLDER) + 1]))
    for path in (*readable_paths(python), *scripts):
        words += ["--ro-bind-try", str(path), str(path)]
    return words


def _doors(room: SandboxDirs) -> list[str]:
    words = ["--bind", str(room.own), str(room.own)]
    words += ["--ro-bind", str(room.given), str(room.given)]
    # also what bubblewrap made itself to hold these: /proc and /dev stay as they are
    return [*words, "--remount-ro", "/", "--chdir", str(room.own)]
