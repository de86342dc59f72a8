"""How a program with an inspector is started and reached: data that an adapter declares."""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from ...model.backend import Capability, Tool

FIFO = "\0fifo"
"""Stands in variables for the path of the pipe on which processes tell us of themselves; no real one can hold a NUL."""

CAN = frozenset(
    {
        Capability.CONDITIONS, Capability.HIT_COUNTS, Capability.LOG_POINTS, Capability.FUNCTION_BREAKPOINTS,
        Capability.CONFIRMED_BREAKPOINTS, Capability.EXCEPTION_CLASSES, Capability.ASSIGN, Capability.MODULES,
        Capability.EXCEPTION_INFO, Capability.RAW, Capability.REQUEST, Capability.COLUMNS, Capability.SAFE_EVAL,
        Capability.SET_RETURN, Capability.HOT_PATCH, Capability.RESTART_FRAME,
    }
)  # fmt: skip
"""What every isolate can, whoever started it."""


class CdpLaunch(msgspec.Struct, frozen=True):
    """What to spawn, or where to connect."""

    tool: Tool
    argv: tuple[str, ...] = ()
    called: str | None = None
    """The name by which the program was started, as it sees it, where that is not the first of `argv`."""
    cwd: str = "."
    env: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    umask: int = -1
    stdin: str | None = None
    url: str | None = None
    """The inspector of a program that runs already."""
    target_pid: int | None = None
    """The process behind that inspector, where it is known."""
    opened_by_us: bool = False
    """Nobody listened there before: it is closed again when we leave."""
    launched: bool = True
    store: str = ""
    """Our code for the inside of the target."""
    library: tuple[str, ...] = ()
    """Patterns of script addresses that are not the user's code."""
    runs_code: bool = False
    """It is no file but code that was given in a word."""
    hidden: str = ""
    """The address of our own preloaded script."""
    brittle: tuple[str, ...] = ()
    """Beginnings of versions that crash where the runtime's own code is stepped through."""
    talk: tuple[str, ...] = ()
    """Patterns of what the runtime says of its inspector on standard error; no words of the program."""
    just_my_code: bool = True
    stop_on_entry: bool = False
    promises: str = ""
    """Our code that notes who awaits what, where that is wanted."""
    tells_exits: bool = False
    """Hold the program where it ends itself with another code than 0."""
    children: bool = True
    mark: str = ""
    meeting: str = ""
    """The pipe on which processes tell us of themselves, once there is one."""
    slowness: float = 1.0
    start_timeout: float = 20.0
    request_timeout: float = 30.0

    @property
    def homes(self) -> tuple[str, ...]:
        """Where it is started, and where the files that it is started with are."""
        paths = [os.path.realpath(os.path.join(self.cwd, word)) for word in self.argv[1:] if not word.startswith("-")]
        return (os.path.realpath(self.cwd), *(os.path.dirname(path) for path in paths if os.path.isfile(path)))
