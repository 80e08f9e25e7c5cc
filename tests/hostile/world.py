"""What hostile files are after: the user's files, listeners and programs. It sees every touch."""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from fairdesk.audit.sandbox.folders import user_home
from fairdesk.audit.sandbox.kernel_cache import compiled_home

SECRET = "the auditor's own secret 4711"
#: A name that hostile files give to what they leave behind.
MARK = "left-by-a-hostile-file"


class World:
    """A canary tree, listeners, and this process; `harm` tells what happened to them.

    Attributes
    ----------
    canary : Path
        A folder of the user's, none of a model's business.
    tcp : int
        A port that somebody listens on, for TCP and UDP.
    local : str
        A local socket that somebody listens on.
    """

    def __init__(self, folder: Path) -> None:
        self.canary = folder / "canary"
        (self.canary / "deeper").mkdir(parents=True)
        (self.canary / "secret").write_text(SECRET, encoding="utf-8")
        (self.canary / "deeper" / "kept").write_bytes(bytes(100))
        (self.canary / "private").write_bytes(b"private")
        (self.canary / "private").chmod(0o600)
        self._sockets = [self._bound(socket.SOCK_STREAM)]
        self.tcp = self._sockets[0].getsockname()[1]
        self._sockets.append(self._bound(socket.SOCK_DGRAM, self.tcp))
        # the path of a local socket must be short
        self._short = tempfile.TemporaryDirectory(prefix="fd-")
        self.local = f"{self._short.name}/socket"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.local)
        self._sockets.append(listener)
        for each in self._sockets:
            if each.type == socket.SOCK_STREAM:
                each.listen()
        self._compiled = list(compiled_home().glob("*/*/*"))
        self._signals: list[int] = []
        self._before = signal.signal(signal.SIGUSR2, lambda number, _: self._signals.append(number))
        self._seen = self._state()

    @staticmethod
    def _bound(kind: int, port: int = 0) -> socket.socket:
        made = socket.socket(socket.AF_INET, kind)
        made.bind(("127.0.0.1", port))
        return made

    def close(self) -> None:
        """Stop listening."""
        signal.signal(signal.SIGUSR2, self._before)
        for each in self._sockets:
            each.close()
        self._short.cleanup()

    def names(self) -> dict[str, object]:
        """Name everything, for the source of hostile files."""
        return {
            "CANARY": str(self.canary),
            "SECRET": str(self.canary / "secret"),
            "KEPT": str(self.canary / "deeper" / "kept"),
            "HOME": str(user_home()),
            "LIBRARIES": sysconfig.get_path("purelib"),
            "TCP": self.tcp,
            "LOCAL": self.local,
            "APP": os.getpid(),
            "MARK": MARK,
            "TOLD": SECRET,
        }

    def harm(self, words: str = "", guests: tuple[Path, ...] = ()) -> list[str]:
        """Return what was harmed since it was last asked; nothing is good.

        Parameters
        ----------
        words : str
            All that the app was told by the guest: the secret must not be in it.
        guests : tuple of Path
            The folders of guests that have ended: nothing of them may be left.
        """
        harm = []
        seen = self._state()
        if seen != self._seen:
            changed = set(seen.items() ^ self._seen.items())
            harm.append(f"changed: {sorted({name for name, _ in changed})}")
            self._seen = seen
        called = [each for each in self._sockets if select.select([each], [], [], 0)[0]]
        for each in called:
            harm.append("a connection came in")
            if each.type == socket.SOCK_STREAM:
                each.accept()[0].close()
            else:
                each.recv(4096)
        if self._signals:
            harm.append(f"the app got signals {self._signals}")
            self._signals.clear()
        if SECRET in words:
            harm.append("the secret was read")
        harm += [f"left on the disk: {guest}" for guest in guests if guest.exists()]
        harm += left_over(guests)
        return harm

    def _state(self) -> dict[str, object]:
        """Tell everything that a model must leave as it is."""
        seen: dict[str, object] = {}
        for path in (self.canary, *self.canary.rglob("*")):
            state = path.lstat()
            content = path.read_bytes() if path.is_file() else None
            seen[str(path)] = (state.st_mode, state.st_mtime_ns, state.st_nlink, content)
        for folder in (
            user_home(),
            Path(sysconfig.get_path("purelib")),
            Path(tempfile.gettempdir()),
        ):
            seen |= {str(path): "there" for path in folder.glob(f"*{MARK}*")}
        for path in self._compiled:
            seen[str(path)] = path.stat().st_mtime_ns if path.exists() else "gone"
        if sys.platform == "linux":
            import resource

            seen["limits of the app"] = resource.getrlimit(resource.RLIMIT_NOFILE)
        return seen


def left_over(guests: tuple[Path, ...]) -> list[str]:
    """Name processes that outlived their guest: they have its folder in their environment."""
    marks = [str(guest).encode() for guest in guests]
    for _ in range(100):
        found = [
            f"still running: {process.name}"
            for process in Path("/proc").glob("[0-9]*")
            if any(mark in _environment(process) for mark in marks)
        ]
        if not found:
            return []
        time.sleep(0.05)
    return found


def _environment(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes()
    except OSError:
        return b""
