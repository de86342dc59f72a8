"""What a disk does to whoever writes on it: whether it made him wait, and what went wrong there, in words."""

from __future__ import annotations

import errno
import itertools
import resource
import sqlite3

from ..errors import StillframeError

_LOOKS = itertools.count()


def waits() -> int:
    """How often this thread gave up the processor to wait for something, as for a disk; where only the process's are known,
    each look counts as one."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw if hasattr(resource, "RUSAGE_THREAD") else next(_LOOKS)


def is_at_fault(error: Exception) -> bool:
    return (
        isinstance(error, sqlite3.OperationalError | OSError | StillframeError) or type(error) is sqlite3.DatabaseError
    )


def words(error: Exception) -> str:
    if isinstance(error, StillframeError):
        return error.message
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return f"{error.filename} is a link, and the record is written through none; XDG_STATE_HOME puts it elsewhere"
    if isinstance(error, OSError):
        return f"{error.strerror or error} ({error.filename})" if error.filename else str(error.strerror or error)
    return str(error)
