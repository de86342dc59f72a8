"""Reading a file that somebody named: a plain one, and nothing that could keep its reader waiting."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

NO_PLAIN_FILE = "it is no plain file"


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
    """What a program may have for its standard input: a file or a device. OSError for a pipe: nobody may be writing to it."""
    handle, mode = _at_once(path)
    if stat.S_ISFIFO(mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is a pipe; `-` keeps one open for `input`", str(path))
    os.set_blocking(handle, True)
    return os.fdopen(handle, "rb", buffering=0)


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
