"""A program that is run for those it starts, such as a shell, make or a task runner: no debugger holds it, they are its children.

It runs as it is, with variables in its environment by which programs of a kind that we can debug find us. Each of them is held at
its beginning and told as `ChildOpened`; the end of this backend is the end of the wrapper itself, with its exit code.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol

import msgspec

from ..errors import WrongState
from ..model.backend import (
    Binding,
    Bounds,
    BreakpointChanged,
    Capability,
    Capture,
    CatchRule,
    ChildOpened,
    Ended,
    Evaluated,
    Event,
    Move,
    Output,
    Tool,
    Wanted,
)  # fmt: skip
from ..model.values import ExceptionInfo, Frames, Modules, Scope, Thread, Value, Values
from ..transport.drains import Stream
from ..transport.process import Exit, Process, feed, spawn
from ..transport.trees import MARK, left_behind
from .cdp.launch import CdpLaunch
from .closing import ClosesOnce
from .dap.launch import DapLaunch
from .flow import Told
from .hiding import Hiding

_WANTED = frozenset(
    {Capability.CONDITIONS, Capability.HIT_COUNTS, Capability.LOG_POINTS, Capability.FUNCTION_BREAKPOINTS}
)
"""What may be wanted of a breakpoint here, for those to come; each says for itself what it cannot do."""
_END = 4.0
"""How long the end may take to be seen once everything was ended."""


class WrappedLaunch(msgspec.Struct, frozen=True):
    """What to spawn, and how those behind it are reached. The variables of each `inside` are added to the environment."""

    tool: Tool
    argv: tuple[str, ...]
    inside: tuple[DapLaunch | CdpLaunch, ...]
    cwd: str = "."
    env: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    umask: int = -1
    stdin: str | None = None
    mark: str = ""
    pending: str = ""
    """What is said of a breakpoint as long as nothing has come up that it could be set in."""
    unseen: str = ""
    """What is said at the end where nothing came up at all."""
    hidden: tuple[bytes, ...] = ()
    """Lines on standard error that have one of these in them are ours and not the program's."""
    slowness: float = 1.0
    start_timeout: float = 20.0
    request_timeout: float = 30.0


class Followed(Protocol):
    """One kind of program that may come up behind a wrapper."""

    async def follow(self, wrapper: Wrapped) -> Mapping[str, str]:
        """Listen, and hand whoever comes to `wrapper.adopt`; the variables that lead them here."""
        ...

    def without_talk(self, stream: Stream, data: bytes) -> bytes:
        """What was printed, without what a debugger or its runtime says of itself."""
        ...

    async def settle(self) -> None:
        """Return when those whose processes have ended are over, or will not be soon."""
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...


class Wrapped(ClosesOnce):
    """The wrapper's process, as a Backend that cannot hold it."""

    def __init__(self, launch: WrappedLaunch, followed: Sequence[Followed]) -> None:
        self._launch = launch
        self._followed = tuple(followed)
        self._process: Process | None = None
        self._told = Told(self._hold_output, self._let_output_go)
        self._hiding = Hiding(launch.hidden) if launch.hidden else None
        self._seen = False
        self._wanted: tuple[str, ...] = ()
        self._watch: asyncio.Task[None] | None = None
        self.tool = launch.tool
        self.capabilities = _WANTED | ({Capability.INPUT} if launch.stdin == "-" else frozenset[Capability]())
        self.pid: int | None = None
        self.launched = True

    # What those behind it need

    def adopt(self, child: ChildOpened) -> bool:
        """Announce one that came up; False where it came too late, so that nobody would hear of it."""
        if self._told.ended is not None:
            return False
        self._seen = True
        self._told.put(child)
        return True

    def process_of(self, pid: int | None) -> Process | None:
        """The process itself, where the wrapper has become the program that came up (exec)."""
        return self._process if self._process is not None and self._process.pid == pid else None

    def read_output(self) -> None:
        """Take what is in the pipes now, unless it is being held back."""
        if self._process is not None and not self._process.is_paused:
            self._process.drain()
            self._tell_rest()

    # Its life

    def events(self) -> AsyncIterator[Event]:
        return self._told.events()

    async def start(self, wanted: Sequence[Wanted], catch: CatchRule) -> tuple[Binding, ...]:
        launch = self._launch
        env = dict(launch.env)
        for each in self._followed:
            env.update(await each.follow(self))
        if launch.mark:
            env[MARK] = launch.mark
        self._process = spawn(
            launch.argv, cwd=launch.cwd, env=env, umask=launch.umask, stdin=launch.stdin, on_output=self._output
        )
        self.pid = self._process.pid
        self._watch = asyncio.get_running_loop().create_task(self._watch_end(self._process.exited))
        return await self.set_breakpoints(wanted)

    async def _watch_end(self, exited: asyncio.Future[Exit]) -> None:
        how = await asyncio.shield(exited)
        for each in self._followed:
            await each.settle()
        if not self._seen and self._launch.inside:
            self._tell_unseen()
        self._end_told(Ended(exit_code=how.code, signal=how.signal))

    def _tell_unseen(self) -> None:
        """Nobody came: whether a breakpoint's file was loaded in there cannot be known."""
        for id in self._wanted:
            self._told.put(BreakpointChanged(Binding(id, "unconfirmed", message=self._launch.unseen)))
        self._told.put(Output("console", self._launch.unseen.encode()))

    def _output(self, stream: Stream, data: bytes) -> None:
        for each in self._followed:
            data = each.without_talk(stream, data)
        if stream == "stderr" and self._hiding is not None:
            data = self._hiding.shown(data)
        if data:
            self._told.put(Output(stream, data))

    def _end_told(self, how: Ended) -> None:
        """Tell the end, behind all of the output; the first one counts."""
        self._tell_rest()
        self._told.put(how)

    def _tell_rest(self) -> None:
        """What is held back of the output: a line that has not ended, or may belong to the next."""
        if self._hiding is not None and (rest := self._hiding.rest()):
            self._told.put(Output("stderr", rest))

    def _hold_output(self) -> None:
        if self._process is not None:
            self._process.pause_output()

    def _let_output_go(self) -> None:
        if self._process is not None:
            self._process.resume_output()

    async def feed(self, data: bytes, *, eof: bool) -> None:
        process = self._process if Capability.INPUT in self.capabilities else None
        await feed(process, data, eof=eof, timeout=self._launch.request_timeout)

    async def left_behind(self, *, end: bool) -> tuple[int, ...]:
        return await left_behind(self._launch.mark, self.pid, over=self._told.ended is not None, end=end)

    async def end(self, *, terminate: bool) -> None:
        if self._told.ended is None and self._process is not None:
            if terminate:
                await self._process.terminate()
                if self._watch is not None:
                    await asyncio.wait({self._watch}, timeout=_END)
            else:
                self._process.release()
                self._end_told(Ended(detached=True))
        self._end_told(Ended(lost=True, cause="it did not end when told to"))

    async def _close(self) -> None:
        await self.end(terminate=True)
        for each in self._followed:
            await each.close()
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
        if self._process is not None and not self._process.released:
            self._process.close()

    # What only a debugger could do

    def without_debugger(self) -> str:
        return f"{self.tool.tool} itself runs without a debugger"

    def _bare(self) -> WrongState:
        return WrongState(self.without_debugger())

    async def set_breakpoints(self, wanted: Sequence[Wanted]) -> tuple[Binding, ...]:
        self._wanted = tuple(each.id for each in wanted)
        return tuple(Binding(each.id, "pending", message=self._launch.pending) for each in wanted)

    async def set_catch(self, catch: CatchRule) -> None:
        return None

    async def resume(self, move: Move, thread: str | None) -> None:
        raise self._bare()

    async def pause(self, thread: str | None) -> None:
        raise self._bare()

    async def threads(self, *, states: bool = False) -> tuple[Thread, ...]:
        raise self._bare()

    async def stack(self, thread: str, start: int = 0, count: int = 20) -> Frames:
        raise self._bare()

    async def capture(self, thread: str, bounds: Bounds) -> Capture:
        raise self._bare()

    async def scopes(self, frame: str) -> tuple[Scope, ...]:
        raise self._bare()

    async def locals(self, frame: str, bounds: Bounds, start: int = 0) -> Values:
        raise self._bare()

    async def expand(self, ref: str, bounds: Bounds, start: int = 0) -> Values:
        raise self._bare()

    async def evaluate(
        self, frame: str | None, expressions: Sequence[str], bounds: Bounds, timeout: float
    ) -> tuple[Evaluated, ...]:
        raise self._bare()

    async def assign(self, frame: str, target: str, value: str, bounds: Bounds) -> Value:
        raise self._bare()

    async def exception(self, thread: str) -> ExceptionInfo | None:
        raise self._bare()

    async def modules(self, start: int = 0, count: int = 100) -> Modules:
        raise self._bare()
