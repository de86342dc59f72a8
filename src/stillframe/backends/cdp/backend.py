"""One V8 isolate as a Backend: a Node process or a worker thread of one; model types in and out."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

from msgspec.structs import replace

from ...errors import NotFound, StillframeError, Unsupported
from ...model.backend import (
    Binding,
    Bounds,
    Capability,
    CatchRule,
    ChildOpened,
    Continued,
    Ended,
    Event,
    Move,
    Output,
    Stopped,
    Wanted,
)  # fmt: skip
from ...model.powers import Party
from ...model.values import Thread, Value
from ...transport.process import Process, feed
from ...transport.trees import end_tree, left_behind, wait_pid
from ...transport.websocket import Messages
from ..closing import ClosesOnce
from ..ending import Signs, ended
from ..flow import Sequence as InOrder
from ..flow import Told, begun
from .breakpoints import Breakpoints
from .client import Body, CdpClient, Refused
from .evidence import Evidence
from .greetings import LEAVE, NOTES_CALLERS, closes_inspector, is_code, last_words, told_code
from .household import Household
from .launch import CAN, CdpLaunch
from .lending import Lending
from .loading import ModuleLoading
from .looking import Looking
from .moves import THREAD, Mover
from .patching import BEGUN_AGAIN, ensure_whole, hot_patch, restart_frame, set_return
from .preparing import Preparing
from .scripts import Scripts
from .talk import console_text
from .texts import Texts
from .thresholds import PASSED, START, Gate, Threshold
from .waiting import awaiting, idle, left_waiting
from .workers import WorkerMessages, end_of_worker

_LETTING_GO = 2.0
_END = 4.0


class CdpBackend(Looking, ClosesOnce):
    """An isolate at the other end of an inspector's conversation."""

    def __init__(
        self,
        launch: CdpLaunch,
        messages: Messages,
        family: Household,
        process: Process | None,
        *,
        pid: int | None,
        name: str = "",
        child: bool = False,
        worker: bool = False,
        held: bool = False,
    ) -> None:
        self._launch = launch
        self._family = family
        self._process = process
        self._child = child
        self._worker = worker
        loop = asyncio.get_running_loop()
        self._told = Told(family.hold_output, family.let_output_go)
        self._signs = Signs(
            loop.create_future(), loop.create_future(), loop.create_future(), process.exited if process else None
        )
        self.tool = launch.tool
        self.capabilities = CAN | ({Capability.INPUT} if process and launch.stdin == "-" else frozenset())
        self.pid = pid
        self.launched = launch.launched
        self.name = name
        self.left_waiting: tuple[Party, ...] = ()
        self._started = False
        self._scripts = Scripts(launch.library, launch.hidden, hides_library=launch.just_my_code, homes=launch.homes)
        self._in_order: InOrder[tuple[str, Body]] = InOrder(self._event)
        self._workers: dict[str, WorkerMessages] = {}
        client = CdpClient(messages, on_event=self._on_event, on_end=self._line_ended, timeout=launch.request_timeout)
        client.on_refusal = self._refused
        self._signs.heard = lambda: client.heard
        texts = Texts(client)
        evidence = Evidence(client, self._scripts, texts)
        super().__init__(client, evidence, Lending(self._scripts, texts, evidence.call_or_none))
        self._scripts.tell = lambda said: self._told.put(Output("console", f"{said}\n".encode()))
        self._breakpoints = Breakpoints(client, self._scripts, texts, self._told.put)
        self._breakpoints.blackbox.stands = not launch.runs_code
        loading = ModuleLoading(client, self._scripts, texts, self._breakpoints, self._told.put)
        self._mover = Mover(
            client, self._scripts, texts, evidence, self._breakpoints, loading, self._told_stop,
            brittle=launch.tool.version.startswith(launch.brittle),
        )  # fmt: skip
        self._threshold: Threshold | None = Threshold(client, launch.start_timeout) if held else None
        preloaded = launch.launched and not worker
        self._gate: Gate | None = Gate(client, launch.start_timeout) if preloaded else None
        self._preparing = Preparing(
            client, launch, self._scripts, self._mover, self._breakpoints, tells_end=process is None, worker=worker
        )
        self._gone_watch: asyncio.Task[None] | None = None
        self._end_watch = asyncio.create_task(self._watch_end())

    # Coming up

    async def start(self, wanted: Sequence[Wanted], catch: CatchRule) -> tuple[Binding, ...]:
        launch = self._launch
        self._mover.entry = self._breakpoints.entry = launch.stop_on_entry
        if self._process is None and self.pid is not None and not self._worker:
            self._gone_watch = asyncio.create_task(wait_pid(self.pid))
            self._signs.gone = self._gone_watch
        with self._client.gathering():
            await self._preparing.greet(self._threshold, self._pauses_on(catch))
            await self._preparing.prepare(wanted)
            self._started = True
            await self._breakpoints.hold(False)
            if self._gate is not None:
                await self._gate.open(self._signs.line, NOTES_CALLERS)
            else:
                await self._client.request("Debugger.resume" if self._threshold else "Runtime.runIfWaitingForDebugger")
        return self._breakpoints.now()  # it runs already: some may have their place

    def events(self) -> AsyncIterator[Event]:
        return self._told.events()

    def tell(self, event: Event) -> None:
        """Put an event that the family knows of into this backend's stream."""
        self._told.put(event)

    @property
    def is_over(self) -> bool:
        return self._told.ended is not None

    @property
    def is_worker(self) -> bool:
        return self._worker

    async def over(self, timeout: float) -> None:
        """Wait until the end is told, no longer than that."""
        await asyncio.wait({self._end_watch}, timeout=timeout)

    def read_output(self) -> None:
        self._family.read_output()

    # What V8 tells

    def _on_event(self, method: str, body: Body) -> None:
        self._in_order.add((method, body))

    def _event(self, message: tuple[str, Body]) -> Any:
        method, body = message
        match method:
            case "Debugger.scriptParsed":
                if body.get("url") or self._evidence.held is None or not self._evidence.asking.is_alone:
                    script = self._scripts.parsed(body)
                    self._preparing.loaded(script)
                    self._breakpoints.loaded(script)
            case "Debugger.scriptFailedToParse":
                self._scripts.failed(body)
            case "Debugger.paused":
                return begun(self._paused(body))  # the usual step is told without a turn of the event loop
            case "Debugger.breakpointResolved":
                self._breakpoints.resolved(body)
            case "Runtime.executionContextCreated":
                context = body.get("context") or {}
                if self._evidence.asking.context is None:
                    self._evidence.asking.context = context.get("id")
            case "Runtime.executionContextDestroyed":
                if body.get("executionContextId") == self._evidence.asking.context:
                    self._ended_by_itself()
            case "Runtime.bindingCalled" if body.get("name") == LEAVE and not is_code(payload := body.get("payload")):
                self.left_waiting = left_waiting(str(payload), self._evidence.teller)
            case "Runtime.bindingCalled" if body.get("name") == LEAVE:
                self._signs.exit_code = told_code(body.get("payload"))
            case "Runtime.bindingCalled" if body.get("name") == PASSED:
                assert self._gate is not None
                self._gate.passed()
            case "Runtime.bindingCalled":
                if (said := self._breakpoints.passes.heard(str(body.get("payload") or ""))) is not None:
                    self._told.put(said)
            case "Runtime.consoleAPICalled" if not self._launch.launched:
                self._told.put(console_text(body))
            case "NodeWorker.attachedToWorker":
                self._worker_came(body)
            case "NodeWorker.receivedMessageFromWorker":
                if worker := self._workers.get(str(body.get("sessionId"))):
                    worker.received(str(body.get("message")).encode())
            case "NodeWorker.detachedFromWorker":
                if worker := self._workers.pop(str(body.get("sessionId")), None):
                    worker.ended()
        return None

    async def _paused(self, body: Body) -> None:
        if not self._breakpoints.knows(body.get("hitBreakpoints") or ()):
            await asyncio.sleep(0)  # the answer that names the breakpoint came with this pause, and is read first
        if self._threshold is not None and self._threshold.paused(body):
            return
        if self._threshold is not None and body.get("reason") == START and not body.get("hitBreakpoints"):
            self._client.send("Debugger.resume")
            return
        try:
            await self._preparing.ready()
            await self._mover.paused(body)
        except StillframeError as error:
            if self._client.ended is None:
                self._told.put(Output("console", f"a pause could not be looked at: {error.message}\n".encode()))

    def _told_stop(self, event: Event) -> None:
        if isinstance(event, Stopped):
            event = replace(event, file=self._evidence.look_ahead())
        self._family.read_output()  # what was printed before the stop is told before it
        self._told.put(event)

    def _refused(self, refused: Refused) -> None:
        self._told.put(Output("console", f"{refused.method} was refused: {refused.message}\n".encode()))

    def _ended_by_itself(self) -> None:
        """The program is over; Node waits for us to leave before it ends."""
        if not self._signs.terminated.done():
            self._signs.terminated.set_result(None)
        if not self._worker:
            self._client.close()

    # Workers

    def _worker_came(self, body: Body) -> None:
        id = str(body.get("sessionId"))
        info = body.get("workerInfo") or {}
        messages = self._workers[id] = WorkerMessages(self._client, id)
        title = str(info.get("url") or info.get("title") or "worker").rpartition("/")[2]
        held = bool(body.get("waitingForDebugger"))
        child = self._family.worker(self, messages, f"worker {title}", held=held)
        self._told.put(ChildOpened(child, self.pid, child.name))

    # Breakpoints

    async def set_breakpoints(self, wanted: Sequence[Wanted]) -> tuple[Binding, ...]:
        return await self._breakpoints.set(wanted)

    async def set_catch(self, catch: CatchRule) -> None:
        await self._client.request("Debugger.setPauseOnExceptions", {"state": self._pauses_on(catch)})
        await self._breakpoints.refresh_interest()

    def _pauses_on(self, catch: CatchRule) -> str:
        if "user" in catch.modes:
            raise Unsupported("V8 cannot tell exceptions that only library code catches; use: catch raised")
        self._breakpoints.uncaught, self._breakpoints.classes = "uncaught" in catch.modes, bool(catch.classes)
        self._breakpoints.raised = "raised" in catch.modes or bool(catch.classes)
        return self._mover.catching.want(catch)

    # Moving

    async def resume(self, move: Move, thread: str | None) -> None:
        if self._client.ended and self._evidence.held is None:
            raise self._client.ended  # as of a worker whose process ended while it was held, before anybody heard of it
        await self._mover.go(move)

    async def pause(self, thread: str | None) -> None:
        await self._mover.order.give()

    async def unpause(self) -> None:
        self._mover.order.take_back()

    async def waits(self, bounds: Bounds) -> tuple[Party, ...]:
        if held := self._evidence.held:
            parties = await awaiting(self._client, self._evidence.teller)
            if await self._mover.is_waiting(held):
                return (Party(THREAD, "thread", self._own_name, waits_for="an Atomics.notify"), *parties)
            return parties
        self._mover.order.take_back()  # or what we ask would be what it holds
        return await idle(self._client, self._evidence.teller, THREAD, self._own_name)

    @property
    def _own_name(self) -> str:
        return self.name if self._worker else "main"

    async def restart_frame(self, thread: str, frame: str) -> None:
        await restart_frame(self._client, self._evidence, self._mover, frame)

    # Looking

    async def threads(self, *, states: bool = False) -> tuple[Thread, ...]:
        state: Any = "stopped" if self._evidence.held else "running"
        return (Thread(id=THREAD, name=self._own_name, state=state),)

    # Changing

    async def set_return(self, thread: str, value: str, bounds: Bounds) -> Value:
        return await set_return(self._client, self._evidence, self._mover, value, bounds)

    async def hot_patch(self, file: str, text: str, *, dry_run: bool) -> tuple[str, ...]:
        scripts = self._scripts.of_file(file)
        if not scripts:
            raise NotFound(f"{file} is not loaded")
        edit = await hot_patch(self._client, scripts[-1], text, self._evidence.held, self._mover, dry_run=dry_run)
        if dry_run:
            return ()
        self._evidence.forget_files()
        await self._breakpoints.set_again()
        ensure_whole(edit.left)
        return (BEGUN_AGAIN,) if edit.begins_again else ()

    async def feed(self, data: bytes, *, eof: bool) -> None:
        process = self._process if Capability.INPUT in self.capabilities else None
        await feed(process, data, eof=eof, timeout=self._launch.request_timeout)

    async def left_behind(self, *, end: bool) -> tuple[int, ...]:
        if self._worker:
            return ()
        return await left_behind(self._launch.mark, self.pid, over=self.is_over, end=end)

    # The end

    def _line_ended(self, error: StillframeError) -> None:
        if not self._signs.line.done():
            self._signs.line.set_result(error)
        if self._evidence.held is not None and not (self._signs.by_us or self._signs.detached):
            self._evidence.moved(far=False)
            self._told.put(Continued(THREAD))  # V8 holds nobody whose debugger is gone
        for worker in list(self._workers.values()):
            worker.ended()

    async def _watch_end(self) -> None:
        if self._worker:
            await asyncio.wait({self._signs.line})
            how = end_of_worker(self._signs)
        else:
            how = await ended(self._signs, self.pid)
        await self._in_order.idle()
        self._family.read_output()
        if how.exit_code is not None and self._client.why_ended and not self._signs.by_us:
            alone = f"it ran on without a debugger, whose connection ended: {self._client.why_ended}\n"
            self._told.put(Output("console", alone.encode()))
        if not self._signs.by_us and (unfinished := self._mover.last_words()):
            self._told.put(Output("console", unfinished))
            how = replace(how, lost_error=self._mover.catching.lost_error)
        self._breakpoints.tell_passes()
        self._told.put(how)
        self._client.close()

    async def end(self, *, terminate: bool) -> None:
        if not terminate:
            self._family.part()
        await self._end(terminate=terminate)

    async def _end(self, *, terminate: bool) -> None:
        if self.is_over:
            return
        with contextlib.suppress(StillframeError):
            await (self._terminate() if terminate else self._detach())
        await asyncio.wait({self._end_watch}, timeout=_END)
        self._told.put(Ended(lost=True, cause="it did not end when told to"))

    async def _terminate(self) -> None:
        self._signs.by_us = True
        if self._worker:
            await self._detach()  # a thread cannot be ended from outside; its process is
            return
        if self._process is None and self.launched and self.pid is not None:
            await end_tree(self.pid, group=False)
        if not self._child:
            await self._family.end_process()
        self._client.close()

    async def _detach(self) -> None:
        """Leave the program running, without a trace of us."""
        self._signs.detached = True
        self._mover.order.take_back()
        try:
            self._client.part(last_words(self._launch, worker=self._worker))
            if self._gate is not None and not self._gate.is_passed:
                await self._gate.open(self._signs.line)
            async with asyncio.timeout(_LETTING_GO):
                await self._client.request("Runtime.evaluate", {"expression": "0", "silent": True})
                if closes_inspector(self._launch, worker=self._worker):
                    await asyncio.wait({self._signs.line})  # else the next one who comes finds the port still open
        except TimeoutError:
            return
        finally:
            if self._process is not None:
                self._process.release()
            self._client.close()

    async def _close(self) -> None:
        if not self.is_over:
            spared = self._family.is_parting or (self._child and not self._started)
            await self._end(terminate=self.launched and not spared)
        self.drop()
        await self._family.leave(self)

    def drop(self) -> None:
        """Let go of the conversation and every task."""
        self._client.close()
        self._in_order.close()
        for task in (self._end_watch, self._gone_watch):
            if task is not None:
                task.cancel()
