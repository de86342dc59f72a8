"""Looking into a held program through DAP, or through our own code beside the adapter."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from ...errors import Try, Unsupported, WrongState
from ...model.backend import Binding, Bounds, Capability, Capture, Evaluated, Stopped
from ...model.powers import Party
from ...model.values import ExceptionInfo, Frames, Modules, Scope, Thread, Value, Values
from ..flow import Told
from . import translate
from .breakpoints import Breakpoints
from .client import DapClient, Refused
from .crowd import HelpedCrowd, listed, standing
from .evidence import Evidence
from .helper import Helper
from .launch import DapLaunch
from .news import News

T = TypeVar("T")

_RUNS = "notStopped"
"""The protocol's own word for a question that only a held program could be asked."""


class Looking:
    """What can be seen of one process."""

    tool: Any
    capabilities: frozenset[Capability]
    _client: DapClient
    _launch: DapLaunch
    _news: News
    _told: Told
    _breakpoints: Breakpoints
    _evidence: Evidence
    _helper: Helper | None
    _crowd: HelpedCrowd | None
    _at_work: tuple[str, ...] = ()
    """Threads that the machine ran when they were last listed, where the debugger tells that."""
    _hit_at: frozenset[str] = frozenset()
    """Instructions that breakpoints have stopped at."""

    async def threads(self, *, states: bool = False) -> tuple[Thread, ...]:
        self._news.threads_are_cut = False
        listed = {str(each.get("id", "")): each for each in await self._listed()}
        if pattern := self._launch.at_work:
            self._at_work = tuple(id for id, each in listed.items() if pattern.search(str(each.get("name"))))
        told = await self._crowd.threads() if states and self._crowd and self._news.held else {}
        named, what = self._launch.thread_name, self._launch.threads_are
        threads = {id: translate.thread(each, self._state(id), named, what) for id, each in listed.items()}
        return tuple({**threads, **told}.values())

    async def _listed(self) -> list[translate.Body]:
        """gdb 16 and lldb-dap 22 refuse to tell the threads of a program that runs: then our code inside them does, or their
        own news of threads that began."""
        try:
            return translate.items(await self._client.request("threads"), "threads")
        except Refused as refused:
            if refused.message != _RUNS or not (self._helper or self._news.began):
                raise
        if self._helper is None:
            return [{"id": int(each)} for each in sorted(self._news.began, key=int)]
        rows = translate.items(await self._helper.call("crowd"), "threads")
        return [{**each, "id": each.get("threadId")} for each in rows]

    async def lists_all_threads(self) -> bool:
        await self._news.idle()
        return not self._news.threads_are_cut

    def _state(self, thread: str) -> Any:
        return "stopped" if self._news.is_held(thread) else "running"

    async def stack(self, thread: str, start: int = 0, count: int = 20) -> Frames:
        return await self._looked(self._evidence.stack(thread, start, count))

    async def waits(self, bounds: Bounds) -> tuple[Party, ...]:
        return await self._looked(self._evidence.waits(bounds))

    async def capture(self, thread: str, bounds: Bounds) -> Capture:
        excepted = self._news.held.get(thread) == "exception" and self._tells_exceptions
        watch = self._breakpoints.pending_files
        capture = await self._looked(self._evidence.capture(thread, bounds, excepted=excepted, watch=watch))
        await self._breakpoints.look_for_symbols()
        if capture.exception is None and self._news.told_error is not None:
            return replace(capture, exception=self._news.told_error)
        return capture

    async def recheck(self) -> tuple[Binding, ...]:
        return await self._breakpoints.recheck()

    async def also_stopped(self) -> tuple[Stopped, ...]:
        await self._news.idle()
        await self._told.applied(self._launch.request_timeout)
        told = self._news.last_thread
        if self._launch.at_work and told is not None and self._news.held.get(told) == "breakpoint":
            return await self._stepped_over(told)
        if self._launch.crowd is None or told is None or not self._news.is_held(told):
            return ()
        if self._crowd is not None:
            found = await self._crowd.listed(told)
        else:
            found = await listed(self._evidence, self._breakpoints, self._launch.crowd, told)
        for stop in found:
            self._news.held[stop.thread or ""] = stop.reason
        return found

    async def _stepped_over(self, told: str) -> tuple[Stopped, ...]:
        """The threads that stand at a breakpoint beside the one that was told of: dlv 1.27.2 takes all of them over it when the
        program goes on, and says nothing."""
        others, self._at_work = [each for each in self._at_work if each != told], ()
        if not others:
            return ()
        (first,) = (await self._evidence.stack(told, 0, 1)).frames[:1] or (None,)
        pointers = self._evidence.instruction_pointers
        self._hit_at |= {pointers[first.id]} if first is not None and first.id in pointers else set()
        found: list[Stopped] = []
        for thread in others:
            (frame,) = (await self._evidence.stack(thread, 0, 1)).frames[:1] or (None,)
            if frame is None or pointers.get(frame.id) not in self._hit_at:
                continue
            if ids := await standing(self._evidence, self._breakpoints, frame):
                self._news.held[thread] = "breakpoint"
                found.append(Stopped(thread, "breakpoint", breakpoints=ids, all_threads=True))
        return tuple(found)

    async def scopes(self, frame: str) -> tuple[Scope, ...]:
        return await self._looked(self._evidence.scopes(frame))

    async def locals(self, frame: str, bounds: Bounds, start: int = 0) -> Values:
        return await self._looked(self._evidence.locals(frame, bounds, start))

    async def expand(self, ref: str, bounds: Bounds, start: int = 0) -> Values:
        return await self._looked(self._evidence.expand(ref, bounds, start))

    def reads(self, name: str) -> bool:
        return self._launch.reads(name)

    async def evaluate(
        self, frame: str | None, expressions: Sequence[str], bounds: Bounds, timeout: float
    ) -> tuple[Evaluated, ...]:
        return await self._looked(self._evidence.evaluate(frame, expressions, bounds, timeout))

    async def assign(self, frame: str, target: str, value: str, bounds: Bounds) -> Value:
        if self._launch.is_dead:
            raise WrongState("a core is what a process left when it died: nothing in it can be changed")
        if Capability.ASSIGN not in self.capabilities:
            raise Unsupported(f"{self.tool.tool} cannot assign", hint=Try("raw"))
        return await self._looked(self._evidence.assign(frame, target, value, bounds))

    async def exception(self, thread: str) -> ExceptionInfo | None:
        if not self._tells_exceptions:
            return self._news.told_error
        return await self._looked(self._evidence.exception(thread)) or self._news.told_error

    @property
    def _tells_exceptions(self) -> bool:
        """Whether it can be asked about an exception: some debuggers do not bear a request that they do not know."""
        return self._helper is not None or Capability.EXCEPTION_INFO in self.capabilities

    async def lacking_classes(self, names: Sequence[str]) -> Mapping[str, str | None]:
        is_told = self._launch.exception_root is not None and Capability.EXCEPTION_CLASSES not in self._launch.adds
        if self._helper is None or not is_told or not names:
            return {}
        told = translate.items(await self._looked(self._helper.call("classes", names=list(names))), "lacking")
        return {str(each.get("name")): translate.text(each.get("nearest")) for each in told}

    async def modules(self, start: int = 0, count: int = 100) -> Modules:
        return await self._looked(self._evidence.modules(start, count))

    async def _looked(self, looking: Awaitable[T]) -> T:
        """A refusal to look means that the program has moved on, or never was where the caller thinks."""
        try:
            return await looking
        except Refused as refused:
            raise WrongState(refused.message) from None
