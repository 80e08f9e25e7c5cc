"""The folder of a guest, what else it may read, its variables, and what it was found to hold.

Both sides keep to it: the app, which makes the folder (`fairdesk.audit.sandbox.sandbox`), and the
guest, which confines itself to it (`fairdesk.audit.sandbox.confining`).
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import msgspec

import fairdesk
from fairdesk.files import resources

#: Variables of the user's that a guest is given too; everything else may be a secret.
PASSED = frozenset(
    {
        *("PATH", "LANG", "LANGUAGE", "TZ"),
        *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"),
        *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT"),
        *("NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "PROCESSOR_IDENTIFIER"),
    }
)
PASSED_PREFIX = "LC_"
#: Tells a guest not to confine itself, where that was tried and it could not begin.
UNCONFINED = "--unconfined"
#: Tells a guest that it compares instances with the data, and so what it makes ready for.
COMPARING = "--comparing"
#: Before the interpreter, too old for all that FairDesk does, in which models are to be opened.
OLDER = "--older-python"
#: Variables that name a folder; a guest's are in its own.
FOLDERS = {
    **dict.fromkeys(("HOME", "USERPROFILE"), "."),
    **dict.fromkeys(("TMPDIR", "TEMP", "TMP", "XDG_RUNTIME_DIR"), "tmp"),
    **dict.fromkeys(("APPDATA", "LOCALAPPDATA", "XDG_DATA_HOME", "XDG_STATE_HOME"), "data"),
    "XDG_CONFIG_HOME": "config",
    "XDG_CACHE_HOME": "cache",
    "NUMBA_CACHE_DIR": "compiled",
}
#: How the compiler names what it keeps: so that it is found wherever FairDesk lies.
CACHE_NAMES = {"NUMBA_CACHE_LOCATOR_CLASSES": "fairdesk.compiled.Locator"}

#: Libraries of Python alone that have no wheel: an environment of its own is lent FairDesk's copy.
_LENT = ("lime",)

#: What programs read of a Linux or macOS system; none of it is the user's.
_SYSTEM = (
    *("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/nix/store", "/gnu/store"),
    *("/System", "/Library/Frameworks", "/opt/homebrew", "/opt/local"),
    *("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"),
    *("/etc/ld.so.preload", "/etc/localtime", "/etc/timezone", "/etc/mime.types"),
    *("/etc/nsswitch.conf", "/etc/passwd", "/private/etc/localtime"),
    *("/sys/devices/system", "/sys/fs/cgroup"),
)


@dataclass(frozen=True)
class SandboxDirs:
    """The folders of one guest.

    Attributes
    ----------
    folder : Path
        Holds the others; the guest may not even list it.
    """

    folder: Path

    @property
    def own(self) -> Path:
        """Where the guest may write; its working folder."""
        return self.folder / "own"

    @property
    def given(self) -> Path:
        """The files that it was given to read."""
        return self.folder / "given"

    @property
    def outside(self) -> Path:
        """What is none of its business: it must fail to read, change, add or delete here."""
        return self.folder / "outside"

    @property
    def private(self) -> Path:
        """A file outside."""
        return self.outside / "private"


def current_sandbox() -> SandboxDirs:
    """Return the room that this process was started in, as its guest."""
    return SandboxDirs(Path.cwd().parent)


def readable_paths(python: Path | None = None) -> list[Path]:
    """Name what a guest may read besides what it is given: Python, libraries, FairDesk itself.

    Parameters
    ----------
    python : Path, optional
        The interpreter that the guest runs in; by default this one.

    Returns
    -------
    list of Path
        Only those that are there. Never the user's home, nor a folder that it lies in.
    """
    wanted = [*map(Path, _SYSTEM), package_folder(), *lent_packages(), resources()]
    if python is None or python.absolute() == Path(sys.executable).absolute():
        wanted += map(Path, (sys.prefix, sys.base_prefix, sys.exec_prefix))
        # the user's own packages; the rest of the search path may lead anywhere
        wanted += [Path(each) for each in sys.path if each.endswith("-packages")]
    else:
        wanted += (python.absolute().parent.parent, python.resolve().parent.parent)
    home = user_home().resolve()
    resolved = dict.fromkeys(path.resolve() for path in wanted if path.exists())
    # of a link, its name is needed too
    links = [path.absolute() for path in wanted if path.is_symlink()]
    return [path for path in (*resolved, *links) if path != home and path not in home.parents]


def package_folder() -> Path:
    """Return the folder of FairDesk's own code."""
    return Path(fairdesk.__file__).resolve().parent


def lent_packages() -> list[Path]:
    """Return the folders of those libraries that a guest in another environment is lent."""
    found = [find_spec(name) for name in _LENT]
    return [Path(each.origin).parent for each in found if each is not None and each.origin]


def locked(path: Path) -> int:
    """Open a file and hold it: as long as this process lives, nobody else can.

    Raises
    ------
    OSError
        When somebody else holds it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415 - on Windows only

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415 - not on Windows

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def user_home() -> Path:
    """Return the home of the user, whatever the environment says."""
    if sys.platform == "win32":
        return Path.home()
    import pwd  # noqa: PLC0415 - not on Windows

    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return Path.home()


#: What is tried, in the order in which it is shown.
WHAT = ("network", "files", "programs", "memory", "time", "descriptors", "environment")


class Hold(msgspec.Struct, frozen=True):
    """One thing that a model's code could misuse.

    Attributes
    ----------
    what : str
        One of `WHAT`.
    holds : bool
        Whether it is withheld or limited.
    how : str
        What that means, one plain sentence; where it does not hold, what the code can do.
    """

    what: str
    holds: bool
    how: str


class Confinement(msgspec.Struct, frozen=True):
    """What holds for the process that opens model files, on this machine.

    Attributes
    ----------
    by : str
        What confines it, for people: ``"bubblewrap, Landlock, seccomp and limits"``; empty where
        nothing does.
    holds : tuple[Hold, ...]
        One per entry of `WHAT`.
    """

    by: str
    holds: tuple[Hold, ...]


def of_both(first: Confinement, second: Confinement) -> Confinement:
    """Return what holds for two processes together: what one of them can do is not withheld."""
    pairs = zip(first.holds, second.holds)
    return Confinement(second.by, tuple(a if not a.holds else b for a, b in pairs))


def unknown() -> Confinement:
    """Return what is said of a process that did not tell."""
    return Confinement(
        "", tuple(Hold(what, holds=False, how="It gave no reason.") for what in WHAT)
    )
