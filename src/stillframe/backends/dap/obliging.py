"""What a debugger asks of us: to start the program for it, or to debug another process of it in a session of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Protocol

from msgspec.structs import replace

from ...errors import Unsupported
from ...model.backend import Capability
from ...transport.process import Process
from ..ending import Signs
from .client import Body
from .launch import Address, DapLaunch, UnixAddress
from .news import News


class Obliged(Protocol):
    """What the family does for one of its members."""

    def run_in_terminal(self, member: Any, asked: Body) -> Process: ...

    async def start_debugging(self, member: Any, asked: Body) -> None: ...


def further(launch: DapLaunch, asked: Body, listening: Address | UnixAddress | None) -> DapLaunch:
    """The launch of a session that a debugger asked for: where it listens, else with a debugger of its own."""
    request, configuration = asked.get("request"), asked.get("configuration")
    if request not in ("launch", "attach") or not isinstance(configuration, dict):
        raise Unsupported("startDebugging names no launch or attach configuration")
    launch = replace(launch, request=request, arguments=configuration, target_pid=None)
    return launch if listening is None else replace(launch, reach=listening, argv=())


class Obliging:
    """The answers of one process's conversation."""

    pid: int | None
    capabilities: frozenset[Capability]
    _launch: DapLaunch
    _signs: Signs
    _news: News
    _end_watch: asyncio.Task[None] | None
    _in_terminal = False
    """Its debugger had us start the process."""

    def inherit(self, process: Process | None) -> None:
        raise NotImplementedError

    def _watch_end(self) -> Coroutine[Any, Any, None]:
        raise NotImplementedError

    async def _oblige(self, family: Obliged, command: str, arguments: Body) -> Body:
        match command:
            case "runInTerminal":
                process = family.run_in_terminal(self, arguments)
                self._run_in(process)
                return {"processId": process.pid}
            case "startDebugging":
                await family.start_debugging(self, arguments)
                return {}
        raise Unsupported(f"this client does not support {command}")

    def _run_in(self, process: Process) -> None:
        """The program is a process that we started for its debugger: what it prints, its input and its exit are ours to know."""
        self.inherit(process)
        self.pid, self._in_terminal = process.pid, True
        if self._launch.stdin == "-":
            self.capabilities |= {Capability.INPUT}
        if self._end_watch is not None:
            self._end_watch.cancel()
        self._end_watch = asyncio.create_task(self._watch_end())

    def died_of(self, signal: str) -> None:
        """Its debugger has written down which signal ended it."""
        self._signs.signal = signal

    def forked(self, pid: int) -> None:
        """Its debugger has written down that it forked a process."""
        self._news.tell_fork(pid)

    def is_ended_by_us(self) -> None:
        """Its debugger is about to be ended, and it with it."""
        self._signs.by_us = True
