"""The folder of kept sessions: one small file a session, in a sub-folder a project, written by renaming.

Daemons that are reached by different directories may share it, so each file names the daemon whose session it is.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ..model import exact
from ..model.plans import AttachPlan, Plan
from .kept import Kept, KeptAttach, KeptDaemon, KeptPlan

if TYPE_CHECKING:
    from .session import Session

MOST = 50
"""Files that are kept for one project; older ones go."""


class Shelf:
    def __init__(self, folder: Path, daemon: KeptDaemon) -> None:
        self._folder = folder
        self._daemon = daemon

    def save(self, kept: Kept) -> None:
        """Keep a session as one of this daemon's."""
        kept = msgspec.structs.replace(kept, daemon=self._daemon)
        path = self._path(kept.root, kept.name)
        self._write(path, exact.encode(kept))
        self._prune(path.parent)

    def save_command(self, root: str, plan: KeptPlan) -> None:
        """Keep what was last run in a project."""
        self._write(self._command_path(root), exact.encode(plan))

    def load_command(self, root: str) -> KeptPlan | None:
        try:
            return exact.decode(self._command_path(root).read_bytes(), KeptPlan)
        except (OSError, msgspec.DecodeError):
            return None

    @staticmethod
    def _write(path: Path, data: bytes) -> None:
        with contextlib.suppress(OSError):  # a full or read-only disk must not stop the debugging
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, path)

    def load(self, root: str, name: str) -> Kept | None:
        return self._read(self._path(root, name))

    def of_project(self, root: str) -> tuple[Kept, ...]:
        """Everything kept for a project, newest first."""
        paths = self._newest_first(self._path(root, "x").parent)
        return tuple(kept for path in paths if (kept := self._read(path)) and kept.root == root)

    def _path(self, root: str, name: str) -> Path:
        project = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
        return self._folder / project / f"{name}.json"

    def _command_path(self, root: str) -> Path:
        return self._path(root, "x").with_name("last-command")

    @staticmethod
    def _read(path: Path) -> Kept | None:
        try:
            return exact.decode(path.read_bytes(), Kept)
        except (OSError, msgspec.DecodeError):
            return None

    @staticmethod
    def _newest_first(folder: Path) -> list[Path]:
        try:
            return sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        except OSError:
            return []

    def _prune(self, folder: Path) -> None:
        for path in self._newest_first(folder)[MOST:]:
            path.unlink(missing_ok=True)


def snapshot(session: Session) -> Kept:
    """A session as it goes to disk."""
    plan = session.origin.plan
    return Kept(
        name=session.name,
        root=session.origin.root,
        base=session.origin.base,
        state="live" if session.live else "ended",
        plan=KeptPlan.of(plan) if isinstance(plan, Plan) else None,
        attached=KeptAttach.of(plan) if isinstance(plan, AttachPlan) else None,
        breakpoints=session.breakpoints.kept(),
        issued=session.breakpoints.issued,
        modes=tuple(sorted(session.catch.modes)),
        classes=session.catch.classes,
    )
