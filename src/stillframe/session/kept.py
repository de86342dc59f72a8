"""What a session leaves on disk: its command and its breakpoints, so that a later call finds them after a killed daemon.

The environment is never stored: a restart takes it from whoever asks for it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
import psutil  # type: ignore[import-untyped]
from msgspec.structs import replace

from ..errors import NoSession, Try
from ..model.backend import CatchMode, CatchRule
from ..model.plans import AttachPlan, Build, Plan

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
    record: bool = False
    builds: tuple[Build, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan) -> KeptPlan:
        fields = {name: getattr(plan, name) for name in cls.__struct_fields__}
        arguments = {name: value for name, value in plan.arguments.items() if not name.startswith("env")}
        builds = tuple(replace(each, env={}) for each in plan.builds)
        return cls(**{**fields, "arguments": arguments, "builds": builds})

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
        return self.pid is None or _same_birth(self.born, other.born)

    @property
    def gone(self) -> bool:
        """Whether its process is known to be over; of an address nobody can tell without calling there."""
        return self.pid is not None and not self.same(KeptAttach(pid=self.pid, born=_born(self.pid)))

    @property
    def again(self) -> Try:
        return Try("attach", {"pid": self.pid} if self.pid is not None else {"address": self.address})


def _born(pid: int) -> float | None:
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else float(process.create_time())
    except psutil.Error:
        return None


def _same_birth(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and abs(one - other) < SAME_BIRTH


class KeptDaemon(msgspec.Struct, frozen=True, kw_only=True):
    """The daemon that holds a session: its process, and the directory in which clients find its socket."""

    pid: int
    born: float | None
    directory: str

    @classmethod
    def here(cls, directory: str) -> KeptDaemon:
        return cls(pid=os.getpid(), born=_born(os.getpid()), directory=directory)

    @property
    def is_another(self) -> bool:
        """Whether it lives, and is not this process."""
        return self.pid != os.getpid() and _same_birth(self.born, _born(self.pid))

    @property
    def way(self) -> str:
        return f"STILLFRAME_RUNTIME_DIR={shlex.quote(self.directory)} dbg"


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
    daemon: KeptDaemon | None = None

    @property
    def elsewhere(self) -> KeptDaemon | None:
        """The daemon that still holds it, where that is another one than this."""
        return self.daemon if self.state == "live" and self.daemon and self.daemon.is_another else None

    def need_here(self) -> None:
        """Refuse to act on what another daemon holds: it lives, and only that one can tell of it."""
        if daemon := self.elsewhere:
            raise NoSession(
                f"{self.name} lives with another daemon (pid {daemon.pid}): {daemon.way} state --session {self.name}",
                detail={"daemon": daemon.pid, "runtime_dir": daemon.directory},
            )

    @property
    def catch(self) -> CatchRule:
        return CatchRule(frozenset(self.modes), self.classes)

    @property
    def again(self) -> Try:
        """The call that debugs it once more."""
        if self.attached is None:
            return Try("restart", {"session": self.name})
        return Try("launch") if self.attached.gone else self.attached.again
