"""Seccomp: system calls that a guest on Linux gives up, for good and in all its threads.

What is left is enough to calculate, to make threads, and to read and write the files that
`fairdesk.audit.sandbox.landlock` or a mount namespace leaves it.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress

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
