"""What is to be debugged, as it was asked for: who asks, a program to start, or one that runs already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from ..errors import Try


class Caller(msgspec.Struct, frozen=True):
    """Where a call came from: its directory, and for a starting verb its whole environment and umask, travel with it."""

    cwd: str
    env: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    umask: int = 0o022
    client: str = ""
    """The same word for calls of one terminal or connection."""
    begun: str = ""
    """The directory that its client was started in, where calls come from another one by now: the settings there hold as well."""


class Build(msgspec.Struct, frozen=True):
    """What makes a program before it is run: a command as typed in a shell, and where."""

    command: str
    cwd: str
    name: str = ""
    """What it is called, where that is not the command itself."""
    env: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """Variables that it gets beside the program's own."""


class Plan(msgspec.Struct, frozen=True):
    """A program to debug, as asked for: everything a restart needs to do it again."""

    command: tuple[str, ...]
    """The program and its arguments as understood, for display and for `restart`; never a shell line."""
    kind: Literal["file", "module", "code", "command"]
    args: tuple[str, ...] = ()
    program: str | None = None
    cwd: str = "."
    env: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """The target's whole environment."""
    umask: int = 0o022
    stdin: str | None = None
    """None: empty; a file's path; or `-`: a pipe that `input` feeds."""
    interpreter: str | None = None
    interpreter_flags: tuple[str, ...] = ()
    stop_on_entry: bool = False
    just_my_code: bool = True
    children: bool = True
    adapter: str | None = None
    record: bool = False
    """Keep what is needed to go back in time, where the debugger can."""
    builds: tuple[Build, ...] = ()
    """What is run before it, each time that it is started; the first one that fails is the failure of the start."""
    sources: tuple[tuple[str, str], ...] = ()
    """Folders that the program was built in or runs in, each with the one here that holds the same files."""
    tells_waits: bool = False
    """Have the program note who waits for what, where it forgets that otherwise."""
    tells_exits: bool = False
    """Hold the program where it ends itself with another code than 0, where the debugger can tell."""
    arguments: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """What a configuration of the project tells a declared debugger beyond all this, in the debugger's own words."""
    asked: tuple[str, ...] = ()
    """The command that was asked for, where the one that is run has words of ours: so it is recorded."""


class AttachPlan(msgspec.Struct, frozen=True):
    """A running program to join: a process of this machine, or an address that a debugger listens on; or a dead one's core."""

    pid: int | None = None
    program: str | None = None
    """The program's own file, where the debugger cannot find it from the process: behind an address, or for a core."""
    core: str | None = None
    """What a process left behind when it died: it can be looked at and never moves."""
    host: str | None = None
    port: int | None = None
    url: str | None = None
    """A debugger's own address, such as ws://127.0.0.1:9229/…"""
    just_my_code: bool = True
    children: bool = True
    cwd: str = "."
    env: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """The caller's environment, for finding tools; the program keeps its own."""
    adapter: str | None = None
    sources: tuple[tuple[str, str], ...] = ()
    """Folders that the program was built in or runs in, each with the one here that holds the same files."""
    arguments: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """As for a Plan."""

    @property
    def again(self) -> Try:
        """The call that joins it once more."""
        if self.core is not None:
            return Try("attach", {"core": self.core} | ({"program": self.program} if self.program else {}))
        if self.pid is not None:
            return Try("attach", {"pid": self.pid})
        return Try("attach", {"address": self.url or f"{self.host}:{self.port}"})
