"""A handle of a process by which its end is heard: the kernel's pidfd, also in a Python that was built for older C libraries, as
those are that uv brings."""

from __future__ import annotations

import ctypes
import errno
import os
import sys

_PIDFD_OPEN = 434
"""The kernel's number of it, the same on every machine."""


def open_handle(pid: int) -> int:
    """ProcessLookupError where there is no such process; another OSError where there are no such handles, as on macOS."""
    if hasattr(os, "pidfd_open"):
        return os.pidfd_open(pid)
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    handle: int = ctypes.CDLL(None, use_errno=True).syscall(_PIDFD_OPEN, pid, 0)
    if handle < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return handle
