"""A job object of Windows, entered by the process itself.

Written after the manual (``JOBOBJECT_EXTENDED_LIMIT_INFORMATION``), not tried on Windows; what it
withholds there is found by trying (`fairdesk.audit.sandbox.probe`).

Its handle is closed at once, so that the limits cannot be lifted any more. It therefore does not
kill when it is closed; there is nothing to kill, since no second process may join the job.
"""

from __future__ import annotations

import ctypes
from typing import Any

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


def enter(memory: int) -> None:
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
