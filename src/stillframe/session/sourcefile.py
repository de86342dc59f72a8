"""The text of a source file, wherever it lies and however it is written: on disk or in an archive, with a declared coding."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..model import plainfiles

_CODING = re.compile(rb"^[ \t\f]*(?:#|//|--|;|%).*?coding[:=][ \t]*([-\w.]+)")
"""The comment by which editors and several languages tell a file's coding, in its first two lines."""
_ENDS = re.compile(r"\r\n|\r|\n")


def stamp(file: str) -> tuple[int, int]:
    """When the file was written, and its size; those of the archive that it lies in. OSError where there is none."""
    try:
        stat = os.stat(file)
    except OSError:
        stat = os.stat(_archive(file) or file)
    return stat.st_mtime_ns, stat.st_size


def lines(file: str, limit: int | None = None) -> list[str]:
    """Its lines as debuggers count them: a form feed or a line separator of Unicode ends none."""
    found = _ENDS.split(text(file, limit))
    return found if found[-1] else found[:-1]


def text(file: str, limit: int | None = None) -> str:
    """What is in it, without a byte order mark; OSError where it cannot be read, or is larger than the limit."""
    data = _data(file, limit)
    found = next((match for line in data.split(b"\n", 2)[:2] if (match := _CODING.match(line))), None)
    coding = found[1].decode("ascii", "replace") if found and not data.startswith(b"\xef\xbb\xbf") else "utf-8-sig"
    try:
        return data.decode(coding, "replace")
    except LookupError:  # a coding that nobody knows
        return data.decode("utf-8", "replace")


def _data(file: str, limit: int | None) -> bytes:
    archive = _archive(file)
    if archive is None:
        if limit is not None and os.stat(file).st_size > limit:
            raise OSError(f"{file} is too large")
        return plainfiles.read(file)
    import zipfile  # rarely needed, and slow to load

    try:
        with zipfile.ZipFile(archive) as opened:
            member = opened.getinfo(str(Path(file).relative_to(archive)))
            if limit is not None and member.file_size > limit:
                raise OSError(f"{file} is too large")
            return opened.read(member)
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError) as error:
        raise OSError(f"{file} is not to be had from its archive") from error


def _archive(file: str) -> Path | None:
    """The archive that a path leads into; None where it names a file itself, or nothing."""
    path = Path(file)
    if path.exists():
        return None
    return next((parent for parent in path.parents if parent.is_file()), None)
