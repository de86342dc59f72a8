"""What a session leaves on disk: its command and its breakpoints, so that a later call finds them after a killed daemon.

One small file a session and project, written at each change by renaming, 0600. The environment is never stored: a restart
takes it from whoever asks for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec
import psutil  # type: ignore[import-untyped]

from ..errors import Try
from ..model import exact
from ..model.backend import AttachPlan, CatchMode, CatchRule, Plan

MOST = 50
"""Files that are kept for one project; older ones go."""
SAME_BIRTH = 5.0
"""Seconds by which two readings of one process's birth may differ, since the clock that dates them is corrected."""


class KeptBreakpoint(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    id: str
    place: str
    base: str
    condition: str | None = None
    hit: str | None = None
    log: str | None = None
    once: bool = False
    enabled: bool = True


class KeptPlan(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A Plan without the environment."""

    command: tuple[str, ...]
    kind: Literal["file", "module", "code", "command"]
    args: tuple[str, ...] = ()
    program: str | None = None
    cwd: str = "."
    stdin: str | None = None
    interpreter: str | None = None
    interpreter_flags: tuple[str, ...] = ()
    stop_on_entry: bool = False
    just_my_code: bool = True
    children: bool = True
    adapter: str | None = None

    @classmethod
    def of(cls, plan: Plan) -> KeptPlan:
        return cls(**{name: getattr(plan, name) for name in cls.__struct_fields__})

    def plan(self, env: Mapping[str, str], umask: int) -> Plan:
        fields = {name: getattr(self, name) for name in self.__struct_fields__}
        return Plan(**fields, env=dict(env), umask=umask)


class KeptAttach(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What was attached to: a process, known by its birth too since pids are used again, or an address."""

    pid: int | None = None
    born: float | None = None
    address: str | None = None

    @classmethod
    def of(cls, plan: AttachPlan) -> KeptAttach:
        if plan.pid is not None:
            return cls(pid=plan.pid, born=_born(plan.pid))
        return cls(address=plan.url or f"{plan.host}:{plan.port}")

    def same(self, other: KeptAttach) -> bool:
        if (self.pid, self.address) != (other.pid, other.address):
            return False
        return self.pid is None or (
            self.born is not None and other.born is not None and abs(self.born - other.born) < SAME_BIRTH
        )

    @property
    def gone(self) -> bool:
        """Whether its process is known to be over; of an address nobody can tell without calling there."""
        return self.pid is not None and not self.same(KeptAttach(pid=self.pid, born=_born(self.pid)))

    @property
    def again(self) -> Try:
        return Try("attach", {"pid": self.pid} if self.pid is not None else {"": self.address})


def _born(pid: int) -> float | None:
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else float(process.create_time())
    except psutil.Error:
        return None


class Kept(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    name: str
    root: str
    base: str
    state: Literal["live", "ended"]
    plan: KeptPlan | None = None
    """None for what was attached to: it cannot be started again."""
    attached: KeptAttach | None = None
    breakpoints: tuple[KeptBreakpoint, ...] = ()
    issued: int = 0
    """How many breakpoint ids were given out, so that no later one takes the id of one that was removed."""
    modes: tuple[CatchMode, ...] = ("uncaught",)
    classes: tuple[str, ...] = ()

    @property
    def catch(self) -> CatchRule:
        return CatchRule(frozenset(self.modes), self.classes)

    @property
    def again(self) -> Try:
        """The call that debugs it once more."""
        if self.attached is None:
            return Try("restart", {"session": self.name})
        return Try("launch") if self.attached.gone else self.attached.again


class Shelf:
    """The folder of kept sessions, one sub-folder a project."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, kept: Kept) -> None:
        path = self._path(kept.root, kept.name)
        with contextlib.suppress(OSError):  # a full or read-only disk must not stop the debugging
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent)
            with os.fdopen(handle, "wb") as file:
                file.write(exact.encode(kept))
            os.replace(temporary, path)
            self._prune(path.parent)

    def load(self, root: str, name: str) -> Kept | None:
        return self._read(self._path(root, name))

    def of_project(self, root: str) -> tuple[Kept, ...]:
        """Everything kept for a project, newest first."""
        paths = self._newest_first(self._path(root, "x").parent)
        return tuple(kept for path in paths if (kept := self._read(path)) and kept.root == root)

    def _path(self, root: str, name: str) -> Path:
        project = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
        return self._folder / project / f"{name}.json"

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
