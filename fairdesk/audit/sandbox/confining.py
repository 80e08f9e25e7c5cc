"""How the guest confines itself before it reads anything that is not FairDesk's.

The layers are independent: each takes away what it can, and where one is missing the others hold
what they hold. None needs privileges, and none can be undone by the code that comes after.

========  =====================================================================================
Linux     namespaces of its own (user, network, messages); Landlock (files, TCP, signals);
          limits; seccomp (programs, sockets, other processes, ...). The app starts the guest
          inside bubblewrap where that works (`fairdesk.audit.sandbox.sandbox`).
macOS     a sandbox profile and limits. Written after the manual, not tried on a Mac.
Windows   a job object: memory, and no other programs. Written after the manual, not tried on
          Windows; network and files are not withheld there.
========  =====================================================================================

The auditor is not told this list, but what `fairdesk.audit.sandbox.probe` found.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from fairdesk.audit.sandbox import landlock, mac_sandbox, syscalls, windows_job
from fairdesk.audit.sandbox.folders import SandboxDirs, readable_paths, user_home

GIB = 1 << 30
#: Memory for a model and its answers: this share of the machine's, but no less than this.
SHARE_OF_MEMORY, LEAST_MEMORY = 0.75, 2 * GIB
#: Addresses that are reserved and not used: libraries, and the stacks and arenas of threads.
RESERVED, RESERVED_PER_PROCESSOR = 4 * GIB, GIB // 2
#: Processor time: a search may take a night on all processors.
HOURS_PER_PROCESSOR = 24
DESCRIPTORS = 1024
#: One file's length; how much there is in all the app watches.
LONGEST_FILE = 2 * GIB

_DEVICES = ("/dev/null", "/dev/full")
_READABLE_DEVICES = ("/dev/zero", "/dev/random", "/dev/urandom", "/proc")
_NEW_MESSAGES, _NEW_USER, _NEW_NETWORK = 0x0800_0000, 0x1000_0000, 0x4000_0000
_CAPABILITIES_VERSION = 0x2008_0522


def confine(room: SandboxDirs) -> tuple[str, ...]:
    """Apply all layers that this system has.

    To be called before there are threads, and before anything is imported that makes some.

    Returns
    -------
    tuple of str
        The names of those that could be applied.
    """
    applied = []
    for name, apply in _layers(room).items():
        # A layer that this system lacks, or that somebody forbids, must stop no audit: what is
        # missing shows when it is tried.
        with suppress(OSError, ImportError, RuntimeError, AttributeError, ValueError):
            apply()
            applied.append(name)
    return tuple(applied)


def memory_limit() -> int:
    """Return how many bytes of memory the guest may take."""
    if sys.platform == "win32":
        machine = windows_job.memory()
    else:
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(int(machine * SHARE_OF_MEMORY), LEAST_MEMORY)


def _layers(room: SandboxDirs) -> dict[str, Callable[[], object]]:
    if sys.platform == "win32":
        return {"a job object": lambda: windows_job.enter(memory_limit())}
    readable = [*readable_paths(), room.given]
    if sys.platform == "darwin":
        profile = mac_sandbox.profile(user_home(), readable, room.own)
        return {"limits": _limit, "a macOS sandbox": lambda: mac_sandbox.enter(profile)}
    readable += map(Path, _READABLE_DEVICES)
    writable = [room.own, *map(Path, _DEVICES)]
    return {
        "namespaces": _leave_namespaces,
        "limits": _limit,
        # this needs to find a library by a program, which Landlock lets nobody start
        "seccomp": syscalls.forbid,
        "Landlock": lambda: landlock.restrict(readable, writable),
    }


def _limit() -> None:
    import resource  # noqa: PLC0415 - not on Windows

    processors = os.cpu_count() or 1
    memory = memory_limit()
    limits = {
        "RLIMIT_CORE": 0,
        "RLIMIT_NOFILE": DESCRIPTORS,
        "RLIMIT_FSIZE": LONGEST_FILE,
        "RLIMIT_CPU": HOURS_PER_PROCESSOR * 3600 * processors,
        "RLIMIT_DATA": memory,
        "RLIMIT_AS": memory + RESERVED + RESERVED_PER_PROCESSOR * processors,
    }
    for name, wanted in limits.items():
        number = getattr(resource, name)
        _, hard = resource.getrlimit(number)
        limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(OSError, ValueError):  # macOS knows some of them by name only
            resource.setrlimit(number, (limit, limit))
    # when the machine runs out of memory all the same, this is what goes first
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def _leave_namespaces() -> None:
    """Leave the network, and the message queues and shared memory of other programs."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_NEW_USER | _NEW_NETWORK | _NEW_MESSAGES) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    with suppress(OSError):  # without it, files are the same user's all the same
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    # the rights that one has in a new namespace are of no use but to attack the kernel
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    libc.capset(header, (ctypes.c_uint32 * 6)())
