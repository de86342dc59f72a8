"""Directories of ours that nobody else can look into, and that go when we go, even by SIGKILL."""

from __future__ import annotations

import shutil
import tempfile

from .guardian import GUARDIAN


def private_folder() -> str:
    """A new directory that only we can look into; `remove_folder` removes it, and the guardian when we die before that."""
    folder = tempfile.mkdtemp(prefix="stillframe-")
    GUARDIAN.litter(folder)
    return folder


def remove_folder(folder: str) -> None:
    """Remove it and what is in it; may be called twice."""
    shutil.rmtree(folder, ignore_errors=True)
    GUARDIAN.tidied(folder)
