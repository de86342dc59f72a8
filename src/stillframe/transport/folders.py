"""Directories of ours that nobody else can look into, and that go when we go, even by SIGKILL."""

from __future__ import annotations

import shutil
import tempfile

from ..errors import LaunchFailed
from .guardian import GUARDIAN


def private_folder(prefix: str = "stillframe-") -> str:
    """A new directory that only we can look into; `remove_folder` removes it, and the guardian when we die before that."""
    try:
        folder = tempfile.mkdtemp(prefix=prefix)
    except OSError as error:
        raise LaunchFailed(f"cannot make a folder for its files: {error.strerror} ({error.filename})") from None
    try:
        GUARDIAN.litter(folder)
    except LaunchFailed:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def remove_folder(folder: str) -> None:
    """Remove it and what is in it; may be called twice."""
    shutil.rmtree(folder, ignore_errors=True)
    GUARDIAN.tidied(folder)
