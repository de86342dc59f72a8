"""Looking at a held program through our own code inside it: one bounded request for a whole stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from ...errors import (
    AdapterUnresponsive,
    EvalFailed,
    Internal,
    NotFound,
    StaleHandle,
    StillframeError,
    UsageError,
    WrongState,
)
from ...model.backend import Bounds, Capability, Capture, Evaluated
from ...model.powers import Party
from ...model.values import ExceptionInfo, Frame, Frames, Modules, Scope, Value, Values
from . import translate
from .client import Body, DapClient, Refused
from .evidence import Evidence, reference_number, wire_id
from .launch import DapLaunch, DialsBack

_ERRORS: Mapping[str, type[StillframeError]] = {
    "blocked": WrongState,
    "stuck": AdapterUnresponsive,
    "running": WrongState,
    "stale": StaleHandle,
    "unknown": NotFound,
    "broken": EvalFailed,
    "usage": UsageError,
    "internal": Internal,
}
_SLACK = 5.0
"""What a request may take beyond the time that the target itself allows for it."""


class Helper:
    """The extra request that our code inside the target answers, with its errors in our own words."""

    def __init__(self, client: DapClient, launch: DapLaunch) -> None:
        self._client = client
        self._request = launch.helper or ""
        self._timeout = launch.request_timeout

    def send(self, name: str, **arguments: Any) -> asyncio.Future[Body]:
        """Ask; whoever takes the answer sets its deadline."""
        return self._client.send(self._request, {"call": name, **arguments})

    async def call(self, name: str, *, within: float | None = None, extra: float = 0.0, **arguments: Any) -> Body:
        limit = min(self._timeout, self._client.patience) + extra if within is None else within
        return await self.answer(name, self.send(name, **arguments), limit)

    async def answer(self, name: str, asked: asyncio.Future[Body], limit: float | None = None) -> Body:
        """What came of a call that was sent before."""
        limit = min(self._timeout, self._client.patience) if limit is None else limit
        try:
            return await self._client.settle(asked, name, limit)
        except Refused as refused:
            kind = _ERRORS.get(refused.word)
            if kind is None:
                raise
            raise kind(refused.message.partition(": ")[2]) from None


class _Ahead(msgspec.Struct, frozen=True):
    """What was asked of a stop before anybody wanted it."""

    thread: str
    bounds: Bounds
    watch: tuple[str, ...]
    asked: asyncio.Future[Body]


class HelperEvidence(Evidence):
    """What our helper tells: bounded inside the target, a hanging repr cut off there."""

    def __init__(
        self, client: DapClient, launch: DapLaunch, helper: Helper, on_loaded: Callable[[Iterable[str]], None]
    ) -> None:
        super().__init__(client, launch)
        self._helper = helper
        self._on_loaded = on_loaded
        self._ahead: _Ahead | None = None
        self._bounds: Bounds | None = None
        """As somebody wanted them last."""
        self._awaited: tuple[str, asyncio.Future[Body]] | None = None
        """The thread of a stop that was announced to bring what is seen there along, and that."""
        self._token = 0
        """The number of the last evaluation, by which it is known when nobody wants it any more."""
        self._standing: tuple[Bounds, tuple[str, ...]] | None = None
        """What the target was told to tell of each stop that ends a step: with which bounds, and of which files."""

    @property
    def _is_inside(self) -> bool:
        """Whether our code is in the very program, and not in its debugger."""
        return isinstance(self._launch.reach, DialsBack)

    def look_ahead(self, thread: str, watch: Sequence[str]) -> None:
        """A stop is about to be told: it is asked for at once, so as to be here when somebody wants it. Only inside the target
        is a stop complete when it is told: lldb 19 still has its own thoughts about it."""
        if self._ahead is not None and self._ahead.thread == thread:
            return  # it comes by itself
        if self._bounds is not None and self._is_inside:
            asked = self._ask(thread, self._bounds, watch)
            self._ahead = _Ahead(thread, self._bounds, tuple(watch), asked)

    def announced(self, thread: str) -> None:
        if self._standing is not None:
            self._awaited = thread, self._client.expect()
            self._ahead = _Ahead(thread, *self._standing, self._awaited[1])

    def followed(self, thread: str, found: Body | None, error: str | None) -> None:
        if self._awaited is None or self._awaited[0] != thread:
            return  # it was let go meanwhile
        (_, awaited), self._awaited = self._awaited, None
        if awaited.done():  # whoever waited has given up
            return
        if found is not None:
            awaited.set_result(found)
        else:
            awaited.set_exception(Refused(self._launch.helper or "", error or "unknown: nothing was told"))
            awaited.exception()  # seen: nobody may want it

    def _have_told(self, bounds: Bounds, watch: tuple[str, ...]) -> None:
        """Have stops that end a step told as this one was."""
        if self._standing != (bounds, watch) and self._is_inside:
            self._standing = (bounds, watch)
            self._helper.send("follow", **_wanted(bounds, watch))

    def forget(self) -> None:
        super().forget()
        self._ahead = self._awaited = None

    def _page_of_frames(self, body: Body, thread: str, start: int, count: int) -> Frames:
        frames = tuple(self._named(translate.helper_frame(each)) for each in translate.items(body, "frames"))
        total = translate.number(body.get("total"))
        return Frames(frames=frames[start : start + count], total=total, start=start, thread=thread)

    def _ask(self, thread: str, bounds: Bounds, watch: Sequence[str]) -> asyncio.Future[Body]:
        return self._helper.send("stop", threadId=wire_id(thread, "thread"), **_wanted(bounds, watch))

    async def capture(self, thread: str, bounds: Bounds, *, excepted: bool, watch: Sequence[str]) -> Capture:
        ahead, self._ahead, self._bounds = self._ahead, None, bounds
        if ahead is None or (ahead.thread, ahead.bounds, ahead.watch) != (thread, bounds, tuple(watch)):
            asked = self._ask(thread, bounds, watch)
        else:
            asked = ahead.asked
        body = await self._helper.answer("stop", asked)
        asyncio.get_running_loop().call_soon(self._have_told, bounds, tuple(watch))
        frames = self._page_of_frames(body, thread, 0, bounds.frames)
        index = translate.number(body.get("at")) or 0
        values = translate.helper_values(translate.items(body, "locals"))
        exception = body.get("exception")
        self._on_loaded(name for name in body.get("loaded") or () if isinstance(name, str))
        return Capture(
            frames,
            frames.frames[index] if index < len(frames.frames) else None,
            Values(values=values, total=translate.number(body.get("locals_total")), notes=_notes(body)),
            translate.helper_values(translate.items(body, "returned")),
            translate.helper_exception(exception) if isinstance(exception, dict) else None,
            translate.changed_parts(body.get("changed")),
        )

    async def stack(self, thread: str, start: int, count: int) -> Frames:
        try:
            body = await self._helper.call(
                "stop", threadId=wire_id(thread, "thread"), levels=start + count, watch=[], **_limits(Bounds(values=0))
            )
        except WrongState:  # it runs: the server still tells where it is, in its own words
            return await super().stack(thread, start, count)
        return self._page_of_frames(body, thread, start, count)

    async def held_at(self, thread: str) -> Frame | None:
        limits = _limits(Bounds(values=0))
        try:
            body = await self._helper.call(
                "stop", within=_SLACK, threadId=wire_id(thread, "thread"), levels=1, watch=[], **limits
            )
        except (WrongState, AdapterUnresponsive):  # it runs, or is blocked in native code
            return None
        return next(iter(self._page_of_frames(body, thread, 0, 1).frames), None)

    async def why(self, thread: str, *, aside: bool) -> Body:
        return await self._helper.call("why", within=_SLACK, threadId=wire_id(thread, "thread"), aside=aside)

    async def waits(self, bounds: Bounds) -> tuple[Party, ...]:
        if Capability.WAITS not in self._launch.adds:
            return ()
        body = await self._helper.call("waits", extra=_SLACK, **_limits(bounds))
        return tuple(translate.party(each) for each in translate.items(body, "parties"))

    async def scopes(self, frame: str) -> tuple[Scope, ...]:
        number = wire_id(frame, "frame")
        return (Scope(name="locals", ref=f"l{number}"), Scope(name="globals", ref=f"g{number}"))

    async def locals(self, frame: str, bounds: Bounds, start: int) -> Values:
        return await self._scope(wire_id(frame, "frame"), "locals", bounds, start, everything=False)

    async def expand(self, ref: str, bounds: Bounds, start: int) -> Values:
        match ref[:1]:
            case "l":
                return await self._scope(reference_number(ref, "l"), "locals", bounds, start, everything=True)
            case "g":
                return await self._scope(reference_number(ref, "g"), "globals", bounds, start, everything=True)
            case "r":
                return await super().expand(ref, bounds, start)
        limits = _limits(bounds)
        count = limits.pop("values")
        body = await self._helper.call("expand", ref=reference_number(ref, "h"), start=start, count=count, **limits)
        return _page(body, start)

    async def evaluate(
        self, frame: str | None, expressions: Sequence[str], bounds: Bounds, timeout: float
    ) -> tuple[Evaluated, ...]:
        if frame is None:
            return await super().evaluate(frame, expressions, bounds, timeout)
        limits = _limits(bounds)
        del limits["values"]
        self._token += 1
        token = self._token
        try:
            body = await self._helper.call(
                "eval", extra=timeout * len(expressions) + _SLACK, frameId=wire_id(frame, "frame"),
                expressions=list(expressions), timeout=timeout, token=token, **limits,
            )  # fmt: skip
        except asyncio.CancelledError:
            if self._is_inside:  # what gdb and lldb run they run alone
                self._helper.send("forget", token=token)
            raise
        results = translate.items(body, "results")
        return tuple(_evaluated(*pair) for pair in zip(expressions, results, strict=True))

    async def assign(self, frame: str, target: str, value: str, bounds: Bounds) -> Value:
        limits = _limits(bounds)
        del limits["values"]
        body = await self._helper.call(
            "assign", extra=_SLACK, frameId=wire_id(frame, "frame"), target=target, value=value, **limits
        )
        if isinstance(body.get("value"), dict):
            return translate.helper_value(body["value"])
        raise EvalFailed(translate.text(body.get("error")) or "the assignment failed")

    async def exception(self, thread: str) -> ExceptionInfo | None:
        body = await self._helper.call(
            "stop", threadId=wire_id(thread, "thread"), levels=1, watch=[], **_limits(Bounds(values=0))
        )
        found = body.get("exception")
        return translate.helper_exception(found) if isinstance(found, dict) else None

    async def modules(self, start: int, count: int) -> Modules:
        body = await self._helper.call("modules", start=start, count=count)
        return translate.modules(translate.items(body, "modules"), translate.number(body.get("total")), start)

    async def _scope(self, frame: int, scope: str, bounds: Bounds, start: int, *, everything: bool) -> Values:
        limits = _limits(bounds)
        count = limits.pop("values")
        body = await self._helper.call(
            "locals", frameId=frame, scope=scope, start=start, count=count, all=everything, **limits
        )
        return _page(body, start)


def _limits(bounds: Bounds) -> dict[str, Any]:
    return {"values": bounds.values, "text": bounds.text, "items": bounds.items, "seconds": bounds.seconds}


def _wanted(bounds: Bounds, watch: Sequence[str]) -> dict[str, Any]:
    return {"levels": bounds.frames, "watch": list(watch), "inside": bounds.inside, **_limits(bounds)}


def _page(body: Body, start: int) -> Values:
    values = translate.helper_values(translate.items(body, "values"))
    return Values(values=values, total=translate.number(body.get("total")), start=start, notes=_notes(body))


def _notes(body: Body) -> tuple[str, ...]:
    return tuple(each for each in body.get("notes") or () if isinstance(each, str))


def _evaluated(expression: str, result: translate.Body) -> Evaluated:
    value = result.get("value")
    if isinstance(value, dict):
        return Evaluated(expression, value=translate.helper_value({**value, "name": expression}))
    return Evaluated(expression, error=translate.text(result.get("error")) or "failed")
