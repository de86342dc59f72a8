"""Reading a file that somebody named: a plain one, and nothing that could keep its reader waiting."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

NO_PLAIN_FILE = "it is no plain file"
_AT_ONCE = 2
"""SPLICE_F_NONBLOCK."""


def opened(path: str | Path) -> BinaryIO:
    """The file, to be read. OSError for anything else: opening a pipe waits for who writes to it, a device may have no end."""
    handle, mode = _at_once(path)
    if not stat.S_ISREG(mode):
        os.close(handle)
        is_folder = stat.S_ISDIR(mode)
        raise OSError(
            *((errno.EISDIR, os.strerror(errno.EISDIR)) if is_folder else (errno.EINVAL, NO_PLAIN_FILE)), str(path)
        )
    return os.fdopen(handle, "rb")


def read(path: str | Path) -> bytes:
    """All that is in it; OSError as of `opened`."""
    with opened(path) as file:
        return file.read()


def source_of_input(path: str | Path) -> BinaryIO:
    """What a program may have for its standard input: a file, a device, a pipe. OSError for one that nobody has open to write:
    a shell would wait for who does, and keep nobody waiting but itself."""
    handle, mode = _at_once(path)
    if stat.S_ISFIFO(mode) and not _is_written_to(handle):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is a pipe that nobody writes to; `-` keeps one open for `input`", str(path))
    os.set_blocking(handle, True)
    return os.fdopen(handle, "rb", buffering=0)


def _is_written_to(pipe: int) -> bool:
    """Whether somebody has its other end open: a copy of what was written tells, which leaves it there. Linux alone has that."""
    tee = getattr(ctypes.CDLL(None, use_errno=True), "tee", None)
    if tee is None:
        return True
    reading, writing = os.pipe()
    try:
        copied = tee(pipe, writing, 1, _AT_ONCE)
        return copied > 0 or (copied < 0 and ctypes.get_errno() == errno.EAGAIN)
    finally:
        os.close(reading)
        os.close(writing)


def why_out_of_reach(path: str | Path) -> str | None:
    """What keeps a path from being looked at, in the system's words; None where it can be, or leads to nothing at all.

    A name too long for any file is the caller's fault, and stays an error of its own.
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise
        return error.strerror
    return None


def _at_once(path: str | Path) -> tuple[int, int]:
    """A descriptor and the mode of what it is of, without waiting for anybody."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    return handle, os.fstat(handle).st_mode
