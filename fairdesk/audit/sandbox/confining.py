"""How the guest confines itself, on each system, before it reads what is not FairDesk's.

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

It needs no privileges and cannot be undone. The system calls are those of the kernel's
``userspace-api/landlock``; each of its versions ("ABI") can withhold a little more.

What is left is enough to calculate, to make threads, and to read and write the files that
Landlock or a mount namespace leaves it.

Written after the manual (``sandbox_init(3)`` and the profiles that come with the system), not
tried on a Mac; what it withholds there is found by trying (`fairdesk.audit.sandbox.probe`). The
profile allows what it does not name, so that a library that needs something unforeseen goes on
working.

Written after the manual (``JOBOBJECT_EXTENDED_LIMIT_INFORMATION``), not tried on Windows; what it
withholds there is found by trying (`fairdesk.audit.sandbox.probe`).

Its handle is closed at once, so that the limits cannot be lifted any more. It therefore does not
kill when it is closed; there is nothing to kill, since no second process may join the job.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from fairdesk.audit.sandbox.folders import SandboxDirs, readable_paths, user_home

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = (1 << i for i in range(4))
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_MAKE_DEVICES_AND_SOCKETS = 1 << 6 | 1 << 9 | 1 << 11
#: How many of the rights on files, and on the network, each version knows, and its scopes.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
_ALL_FILE_RIGHTS = 16
_TCP = 0b11
_SCOPES = 0b11
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL

_READ = _READ_FILE | _READ_DIR


class _Ruleset(ctypes.Structure):
    _fields_ = [
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    ]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def restrict(readable: Iterable[Path], writable: Iterable[Path]) -> int:
    """Withhold all files but these from this thread and all that it starts, for good.

    Nothing may be executed, not even what is readable. From version 4 of Landlock on, TCP is
    withheld too, from version 6 on also signals to other processes.

    Parameters
    ----------
    readable, writable : iterable of Path
        Files, or folders with all that is below them. Those that are not there are left out.

    Returns
    -------
    int
        The version of Landlock.

    Raises
    ------
    OSError
        When this kernel has no Landlock, or it is switched off.
    """
    version = _call(_CREATE_RULESET, None, 0, _ASK_VERSION)
    handled = (1 << _FILE_RIGHTS.get(version, _ALL_FILE_RIGHTS)) - 1
    ruleset = _Ruleset(handled, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    descriptor = _call(_CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    try:
        writing = handled & ~_EXECUTE & ~_MAKE_DEVICES_AND_SOCKETS
        for paths, rights in ((readable, handled & _READ), (writable, writing)):
            for path in paths:
                _allow(descriptor, path, rights)
        _check(_libc().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _call(_RESTRICT_SELF, descriptor, 0)
    finally:
        os.close(descriptor)
    return version


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(parent).st_mode):
            rights &= _OF_A_FILE
        rule = _PathBeneath(rights, parent)
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(parent)


def _call(number: int, *arguments: object) -> int:
    return _check(_libc().syscall(ctypes.c_long(number), *arguments))


def _check(result: int) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


#: Starting programs and processes (threads are let through below).
_PROGRAMS = "execve execveat fork vfork"
#: Sockets of any kind: also local ones lead to programs with the user's rights.
_SOCKETS = "socket connect bind listen accept accept4"
#: Other processes' memory, descriptors and fate.
_OTHERS = (
    "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_open "
    "pidfd_getfd pidfd_send_signal tkill rt_sigqueueinfo rt_tgsigqueueinfo setpriority ioprio_set"
)
#: What Landlock does not withhold of files, or its first versions did not.
_FILES = (
    "chmod fchmod fchmodat chown fchown lchown fchownat utime utimes utimensat futimesat "
    "setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr truncate mknod mknodat "
    "name_to_handle_at open_by_handle_at inotify_add_watch"
)
#: The system itself, and other ways to rights or out of what holds.
_SYSTEM = (
    "mount umount umount2 pivot_root chroot move_mount open_tree fsopen fsmount "
    "fsconfig fspick mount_setattr unshare setns keyctl add_key request_key bpf perf_event_open "
    "userfaultfd init_module finit_module delete_module kexec_load kexec_file_load reboot swapon "
    "swapoff acct syslog quotactl quotactl_fd sethostname setdomainname settimeofday "
    "clock_settime clock_settime64 clock_adjtime adjtimex iopl ioperm modify_ldt vhangup "
    "fanotify_init setrlimit"
)
#: Memory that no limit counts.
_SHARED = "shmget shmat semget msgget mq_open"
_FORBIDDEN = f"{_PROGRAMS} {_SOCKETS} {_OTHERS} {_FILES} {_SYSTEM} {_SHARED}"
#: Libraries do without these when the kernel does not know them.
_NOT_KNOWN = (
    "clone3 openat2 memfd_create memfd_secret io_uring_setup io_uring_enter io_uring_register"
)
#: What kernels learnt after 2022 is as if they had not: these have the same numbers on all
#: processors, and this list would not be complete without what is still to come. Shadow stacks,
#: which threads need on new processors, are let through.
_NEWER = frozenset(range(450, 512)) - {453}

_CLONE_THREAD = 0x0001_0000
#: Having the kernel send a signal of one's choice to another process, by which all can be killed.
_SET_OWNER, _SET_SIGNAL, _SET_OWNER_BY_KIND = 8, 10, 15
_OWN_SOCKET, _OWN_FILE = 0x8902, 0x8901
#: Memory of no file that is shared: the limit of a process's own memory does not count it.
_SHARING, _SHARED_NOWHERE = 0x23, (0x21, 0x23)


def forbid() -> None:
    """Forbid them, for all threads of this process.

    Raises
    ------
    ImportError, RuntimeError
        When libseccomp or its binding is not there.
    OSError
        When the kernel does not take the filter.
    """
    import pyseccomp as seccomp  # noqa: PLC0415 - in the guest only

    forbidden = seccomp.ERRNO(errno.EPERM)
    calls = seccomp.SyscallFilter(seccomp.ALLOW)
    calls.set_attr(seccomp.Attr.CTL_TSYNC, 1)

    def rule(action: int, call: str | int, *conditions: object) -> None:
        # a call that this processor does not have needs no rule
        with suppress(ValueError, OSError):
            calls.add_rule(action, call, *conditions)

    for name in _FORBIDDEN.split():
        rule(forbidden, name)
    for name in _NOT_KNOWN.split():
        rule(seccomp.ERRNO(errno.ENOSYS), name)
    for number in _NEWER:
        rule(seccomp.ERRNO(errno.ENOSYS), number)
    # a process, but not a thread
    rule(forbidden, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, _CLONE_THREAD, 0))
    # signals to others; to itself it may send them, as aborting does
    for name in ("kill", "tgkill"):
        rule(forbidden, name, seccomp.Arg(0, seccomp.NE, os.getpid()))
    for command in (_SET_OWNER, _SET_SIGNAL, _SET_OWNER_BY_KIND):
        rule(forbidden, "fcntl", seccomp.Arg(1, seccomp.MASKED_EQ, 0xFFFF_FFFF, command))
    for command in (_OWN_SOCKET, _OWN_FILE):
        rule(forbidden, "ioctl", seccomp.Arg(1, seccomp.MASKED_EQ, 0xFFFF_FFFF, command))
    for flags in _SHARED_NOWHERE:
        rule(forbidden, "mmap", seccomp.Arg(3, seccomp.MASKED_EQ, _SHARING, flags))
    # limits may be read
    rule(forbidden, "prlimit64", seccomp.Arg(2, seccomp.NE, 0))
    # opened for reading, a file may be emptied all the same
    emptied = seccomp.MASKED_EQ, os.O_TRUNC | os.O_ACCMODE, os.O_TRUNC | os.O_RDONLY
    rule(forbidden, "open", seccomp.Arg(1, *emptied))
    rule(forbidden, "openat", seccomp.Arg(2, *emptied))
    calls.load()


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


def enter_sandbox(text: str) -> None:
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


_ACTIVE_PROCESS, _PROCESS_MEMORY, _DIE_ON_EXCEPTION = 0x8, 0x100, 0x400
_EXTENDED_LIMITS = 9
_Word, _Size, _Long = ctypes.c_uint32, ctypes.c_size_t, ctypes.c_int64


class _Limits(ctypes.Structure):
    _fields_ = [
        ("process_time", _Long),
        ("job_time", _Long),
        ("flags", _Word),
        ("least_working_set", _Size),
        ("most_working_set", _Size),
        ("processes", _Word),
        ("affinity", _Size),
        ("priority", _Word),
        ("scheduling", _Word),
        ("io", ctypes.c_uint64 * 6),
        ("process_memory", _Size),
        ("job_memory", _Size),
        ("peak_process_memory", _Size),
        ("peak_job_memory", _Size),
    ]


class _Memory(ctypes.Structure):
    _fields_ = [
        ("length", _Word),
        ("load", _Word),
        ("physical", ctypes.c_uint64),
        ("others", ctypes.c_uint64 * 6),
    ]


def enter_job(memory: int) -> None:
    """Put this process into a job of one process with so many bytes of memory.

    Raises
    ------
    OSError
        When the system refuses.
    """
    kernel = _kernel()
    for name in ("CreateJobObjectW", "GetCurrentProcess"):
        getattr(kernel, name).restype = ctypes.c_void_p
    job = ctypes.c_void_p(kernel.CreateJobObjectW(None, None))
    limits = _Limits(
        flags=_ACTIVE_PROCESS | _PROCESS_MEMORY | _DIE_ON_EXCEPTION,
        processes=1,
        process_memory=memory,
    )
    process = ctypes.c_void_p(kernel.GetCurrentProcess())
    size = ctypes.sizeof(limits)
    done = kernel.SetInformationJobObject(
        job, _EXTENDED_LIMITS, ctypes.byref(limits), size
    ) and kernel.AssignProcessToJobObject(job, process)
    error = kernel.GetLastError()
    kernel.CloseHandle(job)
    if not done:
        raise OSError(error, "the job object was refused")


def memory() -> int:
    """Return the bytes of memory that the machine has."""
    status = _Memory(length=ctypes.sizeof(_Memory))
    _kernel().GlobalMemoryStatusEx(ctypes.byref(status))
    return int(status.physical)


def _kernel() -> Any:  # noqa: ANN401 - a library has whatever functions it has
    loader: Any = ctypes  # only on Windows does it know these libraries
    return loader.WinDLL("kernel32")


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
        machine = memory()
    else:
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(int(machine * SHARE_OF_MEMORY), LEAST_MEMORY)


def _layers(room: SandboxDirs) -> dict[str, Callable[[], object]]:
    if sys.platform == "win32":
        return {"a job object": lambda: enter_job(memory_limit())}
    readable = [*readable_paths(), room.given]
    if sys.platform == "darwin":
        allowed = profile(user_home(), readable, room.own)
        return {"limits": _limit, "a macOS sandbox": lambda: enter_sandbox(allowed)}
    readable += map(Path, _READABLE_DEVICES)
    writable = [room.own, *map(Path, _DEVICES)]
    return {
        "namespaces": _leave_namespaces,
        "limits": _limit,
        # this needs to find a library by a program, which Landlock lets nobody start
        "seccomp": forbid,
        "Landlock": lambda: restrict(readable, writable),
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
