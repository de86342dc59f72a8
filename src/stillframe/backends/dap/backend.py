"""One debugged process behind DAP, as a Backend: model types in and out, no dictionary crosses."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from msgspec.structs import replace

from ...errors import AdapterDied, AdapterUnresponsive, StillframeError, Try, Unsupported
from ...model.backend import (
    Binding,
    Capability,
    CatchRule,
    Ended,
    Event,
    Move,
    Output,
    Wanted,
)  # fmt: skip
from ...transport.process import Exit, Process, feed
from ...transport.streams import Line
from ...transport.trees import end_tree, left_behind, wait_pid
from ..closing import ClosesOnce
from ..ending import SILENT, Signs, ended
from ..flow import Told
from . import handshake, translate
from .arrivals import Arrivals
from .breakpoints import Breakpoints
from .catching import set_catch
from .client import Body, DapClient
from .console import Console
from .crowd import HelpedCrowd
from .evidence import Evidence
from .helper import Helper, HelperEvidence
from .launch import DapLaunch, DialsBack, Quirk
from .looking import Looking
from .machine import Machine
from .moving import TAKEN, Moving
from .news import News
from .obliging import Obliged, Obliging

T = TypeVar("T")

_ASKED = 1.0
_LETTING_GO = 2.0
"""How long each polite word at the end may take."""
_END = 4.0


class Household(Obliged, Protocol):
    """What a backend needs of the family it belongs to."""

    arrivals: Arrivals

    @property
    def is_over(self) -> bool: ...

    def hold_output(self) -> None: ...

    def let_output_go(self) -> None: ...

    def read_output(self) -> None: ...

    async def exit_soon(self) -> Exit | None: ...

    def stderr_tail(self) -> str: ...

    async def end_process(self, *, at_once: bool = False) -> None: ...

    async def dismiss(self) -> None: ...

    async def release(self, pid: int) -> None: ...

    def filled(self, arguments: Mapping[str, Any]) -> dict[str, Any]: ...

    async def feed(self, data: bytes, *, eof: bool) -> None: ...

    async def leave(self, member: DapBackend) -> None: ...


_NO_HITS = "a core is what a process left when it died: nothing in it comes to a place"


class DapBackend(Looking, Moving, Machine, Console, Obliging, ClosesOnce):
    """A process at the other end of a DAP conversation."""

    def __init__(
        self,
        launch: DapLaunch,
        line: Line,
        family: Household,
        process: Process | None,
        *,
        child: bool = False,
        aside: Line | None = None,
    ) -> None:
        self._launch = launch
        self._family = family
        self._process = process
        self._child = child
        self._arguments = launch.child_arguments if child else launch.arguments
        self._is_aside = False
        loop = asyncio.get_running_loop()
        self._told = Told(family.hold_output, family.let_output_go)
        self._signs = Signs(
            loop.create_future(), loop.create_future(), loop.create_future(), process.exited if process else None
        )
        self._last_move = Move.CONTINUE
        self._last_moved: str | None = None
        self._started = False
        self._greeting = handshake.Greeting({})
        self.tool = launch.tool
        self.capabilities: frozenset[Capability] = frozenset()
        self.pid: int | None = process.pid if process else launch.target_pid
        self.launched = launch.launched or launch.is_dead  # of what is dead nothing runs on without us
        self.name = ""
        self._client = DapClient(
            line, on_event=lambda message: self._news.add(message), on_end=self._line_ended,
            on_request=partial(self._oblige, family), autopsy=self._autopsy, timeout=launch.request_timeout,
        )  # fmt: skip
        self._signs.heard = lambda: self._client.heard
        self._aside = aside and DapClient(
            aside, on_event=lambda _: None, on_end=lambda _: None, autopsy=self._autopsy, timeout=launch.request_timeout
        )
        self._helper = Helper(self._aside or self._client, launch) if launch.helper else None
        self._breakpoints = Breakpoints(self._client, launch, self._helper, lambda: self.capabilities, self._told.put)
        self._evidence = (
            HelperEvidence(self._client, launch, self._helper, self._breakpoints.loaded)
            if self._helper
            else Evidence(self._client, launch)
        )
        self._crowd = HelpedCrowd(self._helper, self._evidence, self._breakpoints) if self._helper else None
        self._news = News(launch, self._told, self._signs, self._breakpoints, self._evidence, self, family.arrivals)
        self._is_inside = isinstance(launch.reach, DialsBack)
        self._client.runs_inside = lambda: self._is_inside and self._started and not self._news.held
        self._end_watch: asyncio.Task[None] | None = None
        self._gone_watch: asyncio.Task[None] | None = None

    # Coming up

    async def greet(self) -> handshake.Greeting:
        """Learn who is there; the program is held until `start`."""
        greeting = self._greeting = await handshake.greet(self._client, self._launch, self._helper)
        self.offer(greeting.offers)
        self.pid = greeting.pid or self.pid
        self.name = greeting.argv[0].rpartition("/")[2] if greeting.argv else ""
        if self._process is None and self.pid is not None:
            self._gone_watch = asyncio.create_task(wait_pid(self.pid))
            self._signs.gone = self._gone_watch
        self._end_watch = asyncio.create_task(self._watch_end())
        return greeting

    def offer(self, body: Body) -> None:
        """Learn what the debugger can do, at the start or later."""
        found = translate.capabilities(body) | {Capability.RAW, Capability.REQUEST}
        if self._helper:
            found |= {
                Capability.CONFIRMED_BREAKPOINTS,
                Capability.ASSIGN,
                Capability.EXCEPTION_INFO,
                *self._launch.adds,
            }
        if self._launch.stdin == "-" and (self._process is not None or self._launch.has_conduits):
            found |= {Capability.INPUT}
        self.capabilities |= found - self._launch.lacks
        if body.get("supportsSetVariable") is True:
            self._evidence.sets_variables_only = body.get("supportsSetExpression") is not True

    async def start(self, wanted: Sequence[Wanted], catch: CatchRule) -> tuple[Binding, ...]:
        arguments = self._family.filled(self._arguments)
        answer = await handshake.begin(self._client, self._launch, arguments, self._news.initialized)
        bindings = await self._breakpoints.set(wanted)
        await self.set_catch(catch)
        try:
            if self._greeting.offers.get("supportsConfigurationDoneRequest") is True:
                await self._let_begin()
            if Quirk.LISTS_FIRST_THREADS in self._launch.quirks:
                self._client.send("threads", {})
            self._started = True
            await handshake.settled(self._client, answer, self._launch)
        except AdapterDied:
            # A program that was let go may be over before its answer has left; how it ended comes as an event.
            if not self._launch.owns_target:
                raise
            self._started = True
        return bindings

    async def _let_begin(self) -> None:
        """Say that all is set; a program around its debugger may go straight into native code, and let nobody answer."""
        taken = self._client.send("configurationDone", {})
        if self._is_inside:
            await asyncio.wait({taken}, timeout=TAKEN)
        if taken.done() or not self._is_inside:
            await self._client.settle(taken, "configurationDone", self._launch.start_timeout)

    def events(self) -> AsyncIterator[Event]:
        return self._told.events()

    def hand_over(self, successor: DapBackend) -> None:
        """The process replaced its program by another one (exec), which is a session of its own; both end with it."""
        successor.inherit(self._process)
        if not self._signs.replaced.done():
            self._signs.replaced.set_result(None)

    def inherit(self, process: Process | None) -> None:
        """Take over the process whose program this one is now; before the end is watched."""
        self._process = process
        self._signs.process = process.exited if process else None

    def lead(self) -> None:
        """The first of those behind a wrapper is started as a program of its own would be."""
        self._arguments = self._launch.arguments

    def step_aside(self) -> None:
        """This process only answers a question of the one that started it, and an exception may be the answer."""
        self._is_aside = True

    def tell(self, event: Event) -> None:
        """Put an event that the family knows of into this backend's stream."""
        self._told.put(event)

    def introduce(self, body: Body) -> None:
        """A `process` event: who is debugged, where that was not known before."""
        self.name = self.name or (translate.text(body.get("name")) or "").rpartition("/")[2]
        # What was started may be a launcher of the program; and a core, or what was recorded, tells a number that may be
        # somebody else's by now.
        if (self.pid is None or self._in_terminal) and not (self._launch.is_dead or self._launch.replays):
            self.pid = translate.number(body.get("systemProcessId")) or self.pid

    def read_output(self) -> None:
        self._family.read_output()

    @property
    def refusal(self) -> str | None:
        """Why the process does not want to be debugged, where our code in it said so."""
        return self._news.refusal

    async def over(self, timeout: float) -> None:
        """Return when its end has been told, or the time is over."""
        if self._end_watch is not None:
            await asyncio.wait({self._end_watch}, timeout=timeout)

    @property
    def is_over(self) -> bool:
        return self._told.ended is not None

    # Breakpoints

    async def set_breakpoints(self, wanted: Sequence[Wanted]) -> tuple[Binding, ...]:
        if self._launch.is_dead:  # a debugger would call them set
            return tuple(Binding(each.id, "failed", each.file, each.line, _NO_HITS) for each in wanted)
        return await self._breakpoints.set(wanted)

    async def set_catch(self, catch: CatchRule) -> None:
        if self._is_aside:
            catch = CatchRule(catch.modes - {"uncaught"}, catch.classes)
        stops, unknown = self._news.stops, [each for each in catch.classes if not self._launch.knows_exception(each)]
        stops.catches_raised = "raised" in catch.modes or bool(catch.classes)
        stops.classes = ()
        if unknown and self._launch.exception_is:
            if "raised" not in catch.modes:
                stops.classes = catch.classes
            catch = CatchRule(catch.modes | {"raised"})
        await set_catch(self._client, self._launch, self._helper, catch, self._greeting.filters)

    # Below the vocabulary

    async def feed(self, data: bytes, *, eof: bool) -> None:
        if self._launch.has_conduits:
            await self._family.feed(data, eof=eof)
            return
        process = self._process if Capability.INPUT in self.capabilities else None
        await feed(process, data, eof=eof, timeout=self._launch.request_timeout)

    async def left_behind(self, *, end: bool) -> tuple[int, ...]:
        if self.is_over:
            await self.over(_END)  # a debugger that is being ended is not left behind
        launch = self._launch
        return await left_behind(launch.mark, self.pid, over=self.is_over, end=end, debugger=launch.debugger)

    # The end

    async def _autopsy(self) -> str:
        """What is known of the debugger's own process once its line ended."""
        how = await self._family.exit_soon()
        tail = self._family.stderr_tail()
        return (f" ({how})" if how else "") + (f": {tail}" if tail and how and how.code != 0 else "")

    def _line_ended(self, error: StillframeError) -> None:
        if self._aside is not None:
            self._aside.close()
        if not self._signs.line.done():
            self._signs.line.set_result(error)

    async def _watch_end(self) -> None:
        how = await ended(self._signs, self.pid)
        await self._news.idle()
        await self._family.arrivals.settle(unless=how.detached)
        self._family.read_output()  # what was printed before the end is told before it
        if self._helper and self._process and how.exit_code is not None and not self._signs.is_told:
            self._told.put(Output("console", SILENT.encode()))
        if how.lost and self._process is None and self.launched and self.pid is not None:
            await end_tree(self.pid, group=False)  # what was launched does not outlive its debugger
            cause = (how.cause or "").partition("; process")[0]
            how = replace(how, cause=f"{cause}; process {self.pid} was ended with it")
        self._told.put(how)
        await self._take_leave(how)
        self._client.close()
        if (self._process is None or self._in_terminal) and not how.detached:
            if how.lost and self.launched and self.pid is not None and not self._child:
                await end_tree(self.pid, group=False)  # its debugger has gone and left it behind
            elif not how.lost:
                await self._family.dismiss()

    async def _take_leave(self, how: Ended) -> None:
        """Tell a debugger of ours that outlives its program that we go: lldb-dap 19.1 aborts if we just hang up, and leaves
        a core."""
        hears = self._launch.debugger is not None and self._client.ended is None
        if hears and self._family.is_over and not how.lost and not how.detached:
            with contextlib.suppress(StillframeError):
                await self._client.request("disconnect", {"terminateDebuggee": self.launched}, timeout=_ASKED)

    async def end(self, *, terminate: bool) -> None:
        if self.is_over:
            return
        if self._launch.never_leaves and not terminate:
            raise Unsupported(self._launch.never_leaves, hint=Try("stop"))
        with contextlib.suppress(StillframeError):
            await (self._terminate() if terminate else self._detach())
        if self._signs.detached and self._signs.is_replaced:
            self._told.put(Ended(detached=True))
        elif self._end_watch is not None:
            await asyncio.wait({self._end_watch}, timeout=_END)
        self._told.put(Ended(lost=True, cause="it did not end when told to"))

    async def _terminate(self) -> None:
        self._signs.by_us = True
        deaf = False
        if (self._process is None or self._in_terminal) and not self._child:
            # The program belongs to its debugger, which has to be asked; one that does not hear is ended with it at once.
            try:
                await self._client.request("disconnect", {"terminateDebuggee": True}, timeout=_ASKED)
            except StillframeError as error:
                deaf = isinstance(error, AdapterUnresponsive)
        if deaf:
            await self._family.end_process(at_once=True)
        if (self._process is None or self._child) and self.launched and self.pid is not None:
            await end_tree(self.pid, group=False)
        if not self._child:
            await self._family.end_process()

    async def _detach(self) -> None:
        self._signs.detached = True
        try:
            if not self._started:
                await handshake.without_debugging(self._client, self._launch, self._arguments, _LETTING_GO)
            if Quirk.LEAVES_HELD in self._launch.quirks:
                await self.let_run()
            if self._helper:
                with contextlib.suppress(StillframeError):
                    await self._helper.call("release", within=_LETTING_GO)
            silent = self._client.runs_inside() and self._client.is_owed_an_answer
            await self._client.request("disconnect", {"terminateDebuggee": False}, timeout=0 if silent else _LETTING_GO)
        finally:
            if self._process is not None:
                self._process.release()
            elif self.launched and self.pid is not None and not self._child:
                await self._family.release(self.pid)
            self._client.close()

    async def _close(self) -> None:
        if not self.is_over:
            # What nobody started to debug runs on without us; what we launched does not outlive its session.
            held_child = self._child and not self._started
            await self.end(terminate=self.launched and not held_child)
        self.drop()
        await self._family.leave(self)

    def drop(self) -> None:
        """Let go of the line and of every task, at once."""
        self._news.close()
        self._client.close()
        for task in (self._end_watch, self._gone_watch):
            if task is not None and task is not asyncio.current_task():
                task.cancel()
        self._told.put(Ended(lost=True, cause="closed"))
