"""Writing a run out: JSON lines for another machine, or one page for a person. A file is made whole or not at all."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from pathlib import Path

from ..errors import UsageError
from ..version import __version__
from . import files, interchange, page
from .finding import Run, View


def jsonl(connection: sqlite3.Connection, run: Run, path: Path, *, force: bool) -> int:
    """Every line of a run; the bytes written."""
    return _write(path, interchange.lines(connection, run, __version__, time.time()), force=force)


def html(
    connection: sqlite3.Connection, run: Run, path: Path, view: View, *, force: bool
) -> tuple[int, tuple[str, ...]]:
    """The page of a run; the bytes written, and what is not on it."""
    text, shown, total = page.page(connection, run, view)
    written = _write(path, [text.encode("utf-8", "backslashreplace")], force=force)
    return written, (
        f"the page shows the first {shown:,} of {total:,} hits; JSON lines hold all",
    ) if shown < total else ()


def _write(path: Path, parts: Iterable[bytes], *, force: bool) -> int:
    if files.place_for(path).exists() and not force:
        raise UsageError(f"{path} is there already; --force replaces it")
    return files.write(path, parts)
