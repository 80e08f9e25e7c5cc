"""Guests whose code was let run, and means harm to the app that started it."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import pytest

from fairdesk.audit.sandbox import probe, sandbox
from fairdesk.audit.sandbox.sandbox import Sandbox
from fairdesk.audit.worker.client import Worker
from fairdesk.errors import FairDeskError

linux = pytest.mark.skipif(sys.platform != "linux", reason="of Linux")


@pytest.fixture
def guest(tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox, "_home_of_guests", lambda: tmp_path)
    return Sandbox(("python",))


class Runs:
    """Pickled as code that runs when it is opened."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __reduce__(self):
        return exec, (self.code, {})


DEEPER = """
import os
for _ in range(1200):
    os.mkdir("d" * 40)
    os.chdir("d" * 40)
open("hidden", "w").close()
"""


def test_no_folder_is_too_deep_to_be_counted_and_removed(guest):
    assert not guest.overfull()
    subprocess.run([sys.executable, "-c", DEEPER], cwd=guest.room.own, check=True)
    assert guest.overfull()
    guest.remove()
    assert not guest.room.folder.exists()


def test_links_are_not_followed_when_a_folder_goes(guest, tmp_path):
    kept = tmp_path / "user" / "folder"
    kept.mkdir(parents=True, mode=0o750)
    (kept / "file").touch()
    (guest.room.own / "link").symlink_to(kept.parent)
    (guest.room.own / "deep").mkdir()
    (guest.room.own / "deep" / "link").symlink_to(kept)
    guest.remove()
    assert (kept / "file").exists()
    assert kept.stat().st_mode & 0o777 == 0o750


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root reads anything")
def test_what_cannot_be_looked_into_counts_as_too_much(guest):
    (guest.room.own / "closed").mkdir(mode=0o300)
    assert guest.overfull()
    guest.remove()
    assert not guest.room.folder.exists()


def test_a_guest_commands_no_terminal_by_the_log(tmp_path, caplog):
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(Runs(r"import sys; print('\x1b]0;harm\x07', file=sys.stderr)")))
    worker = Worker()
    with caplog.at_level("INFO"), pytest.raises(FairDeskError):
        worker.open_model(path, trusted=True)
    worker.close()
    assert "harm" in caplog.text
    assert "\x1b" not in caplog.text
    assert "\x07" not in caplog.text


ASKS = """
import ctypes, fcntl, mmap, os
from fairdesk.audit.sandbox import confining
confining.forbid()
for command, value in ((fcntl.F_SETOWN, os.getppid()), (10, 9), (15, b"\\0" * 8)):
    try:
        fcntl.fcntl(0, command, value)
    except PermissionError:
        print("refused")
library = ctypes.CDLL(None)
print(library.inotify_add_watch(library.inotify_init(), b"/", 0xFFF))
print(fcntl.fcntl(0, fcntl.F_GETFD))
mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
try:
    mmap.mmap(-1, 4096)
except PermissionError:
    print("not shared")
"""


@linux
def test_the_kernel_signals_watches_and_shares_nothing_for_a_guest():
    pytest.importorskip("pyseccomp")
    done = subprocess.run(
        [sys.executable, "-c", ASKS], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["refused"] * 3 + ["-1", "0", "not", "shared"]


def test_a_way_out_by_datagrams_is_told(monkeypatch):
    def refuse():
        raise PermissionError

    for name in ("_connect", "_local_socket", "_datagram"):
        monkeypatch.setattr(probe, name, refuse)
    assert probe._network().holds
    monkeypatch.setattr(probe, "_datagram", lambda: None)
    assert not probe._network().holds
