"""Files that are made where a user says: whole or not at all, and never in place of what is no plain file."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from ..errors import NotFound, StillframeError, StoreFull, UsageError


def place_for(path: Path) -> Path:
    """Where it is to be written: behind a link, what that names. What is there and is no plain file stays."""
    real = Path(os.path.realpath(path))
    try:
        mode = real.stat().st_mode
    except OSError:
        return real
    if stat.S_ISDIR(mode):
        raise UsageError(f"{path} is a directory; name a file in it")
    if not stat.S_ISREG(mode):
        raise UsageError(f"{path} is no plain file")
    return real


def write(path: Path, parts: Iterable[bytes]) -> int:
    """Make a file, in place of a plain one that may be there; the bytes written."""
    real = place_for(path)
    size = 0
    try:
        handle, temporary = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name[:40]}.")
        try:
            with os.fdopen(handle, "wb") as file:
                for part in parts:
                    size += file.write(part)
            os.replace(temporary, real)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise _unwritten(path, error) from None
    return size


def _unwritten(path: Path, error: OSError) -> StillframeError:
    """Why a file could not be made: a disk that has no room is another thing than a folder that is not there."""
    kind = StoreFull if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS) else NotFound
    return kind(f"{path} cannot be written: {error.strerror or error}")
