"""Landlock: a Linux process gives up files, and whatever else its kernel lets it give up.

It needs no privileges and cannot be undone. The system calls are those of the kernel's
``userspace-api/landlock``; each of its versions ("ABI") can withhold a little more.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable
from pathlib import Path

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
