"""Looking at a held program through standard DAP requests alone: stack, scopes, variables, evaluate."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

from ...errors import EvalFailed, NotFound, StaleHandle
from ...model.backend import Bounds, Capture, Evaluated
from ...model.values import ExceptionInfo, Frame, Frames, Modules, Scope, Value, Values
from . import translate
from .client import DapClient, Refused
from .launch import DapLaunch, Quirk
from .translate import Body

_RETURN = "(return) "
"""What debugpy 1.8.22 puts before the name of a function whose value it tells among the locals of its caller."""


class Evidence:
    """What any debug adapter can tell. Values are cut on our side, after they have travelled."""

    def __init__(self, client: DapClient, launch: DapLaunch) -> None:
        self._client = client
        self._launch = launch
        self.instruction_pointers: dict[str, str] = {}
        """Frame to the instruction that is about to run there, of the stacks told since the last move."""

    async def capture(self, thread: str, bounds: Bounds, *, excepted: bool, watch: Sequence[str]) -> Capture:
        """The stack and the locals of its top user frame, in three or four requests."""
        frames = await self.stack(thread, 0, bounds.frames)
        at = next((frame for frame in frames.frames if frame.kind == "user"), None)
        at = at or (frames.frames[0] if frames.frames else None)
        found, told = await self._variables_of(at.id) if at else ([], [])
        returned = tuple(
            msgspec.structs.replace(value, name=value.name.removeprefix(_RETURN))
            for value in (translate.variable(each, bounds.text) for each in told)
        )
        exception = await self.exception(thread) if excepted else None
        return Capture(frames, at, _page(found, bounds, 0), returned, exception)

    async def stack(self, thread: str, start: int, count: int) -> Frames:
        body = await self._client.request(
            "stackTrace", {"threadId": wire_id(thread, "thread"), "startFrame": start, "levels": count}
        )
        found = translate.items(body, "stackFrames")
        frames = tuple(self._judged(translate.frame(each)) for each in found)
        pointers = {str(each.get("id")): translate.text(each.get("instructionPointerReference")) for each in found}
        self.instruction_pointers.update({id: told for id, told in pointers.items() if told})
        total = translate.number(body.get("totalFrames"))
        if Quirk.GUESSES_DEPTH in self._launch.quirks and total is not None and total > start + len(frames):
            total = None
        return Frames(frames=frames[:count], total=total, start=start, thread=thread)

    def _judged(self, frame: Frame) -> Frame:
        return msgspec.structs.replace(frame, kind="library") if self._launch.is_library(frame) else frame

    async def held_at(self, thread: str) -> Frame | None:
        """The innermost frame of a thread that is surely held; None where that is not sure."""
        return None

    async def scopes(self, frame: str) -> tuple[Scope, ...]:
        body = await self._client.request("scopes", {"frameId": wire_id(frame, "frame")})
        return tuple(translate.scope(each) for each in translate.items(body, "scopes"))

    async def locals(self, frame: str, bounds: Bounds, start: int) -> Values:
        found, _ = await self._variables_of(frame)
        return _page(found, bounds, start)

    async def _variables_of(self, frame: str) -> tuple[list[Body], list[Body]]:
        """The variables of a frame that are worth telling, and the values that its calls returned."""
        scopes = await self.scopes(frame)
        local = [scope for scope in scopes if scope.name.lower() in self._launch.local_scopes] or scopes[:1]
        pages = [self._sent_for(scope.ref) for scope in local if scope.ref is not None]
        found = [each for page in pages for each in await self._arrived(page)]
        returned = [each for each in found if str(each.get("name")).startswith(_RETURN)]
        kept = [each for each in found if each not in returned and each.get("type") not in self._launch.unshown]
        return kept, returned

    async def expand(self, ref: str, bounds: Bounds, start: int) -> Values:
        return _page(await self._children(ref), bounds, start)

    async def _children(self, ref: str) -> list[Body]:
        return await self._arrived(self._sent_for(ref))

    def _sent_for(self, ref: str) -> asyncio.Future[dict[str, Any]]:
        return self._client.send("variables", {"variablesReference": reference_number(ref, "r")})

    async def _arrived(self, answer: asyncio.Future[dict[str, Any]]) -> list[Body]:
        return translate.items(await self._client.settle(answer, "variables"), "variables")

    async def evaluate(
        self, frame: str | None, expressions: Sequence[str], bounds: Bounds, timeout: float
    ) -> tuple[Evaluated, ...]:
        results = []
        for expression in expressions:
            arguments: dict[str, Any] = {"expression": expression, "context": self._launch.evaluates_as}
            if frame is not None:
                arguments["frameId"] = wire_id(frame, "frame")
            try:
                body = await self._client.request("evaluate", arguments, timeout=timeout)
            except Refused as refused:
                results.append(Evaluated(expression, error=_last_line(refused.message)))
            else:
                value = translate.variable({**body, "name": expression}, bounds.text)
                results.append(Evaluated(expression, value=value))
        return tuple(results)

    async def assign(self, frame: str, target: str, value: str, bounds: Bounds) -> Value:
        arguments = {"expression": target, "value": value, "frameId": wire_id(frame, "frame")}
        try:
            body = await self._client.request("setExpression", arguments)
        except Refused as refused:
            raise EvalFailed(_last_line(refused.message)) from None
        return translate.variable({**body, "name": target}, bounds.text)

    async def exception(self, thread: str) -> ExceptionInfo | None:
        try:
            body = await self._client.request("exceptionInfo", {"threadId": wire_id(thread, "thread")})
        except Refused:  # it did not stop for an exception
            return None
        return translate.exception(body)

    async def modules(self, start: int, count: int) -> Modules:
        body = await self._client.request("modules", {"startModule": start, "moduleCount": count})
        found = translate.items(body, "modules")
        total = translate.number(body.get("totalModules"))
        if total is None or len(found) > count:
            total, found = len(found), found[start : start + count]
        return translate.modules(found, total, start)


def _page(found: Sequence[Body], bounds: Bounds, start: int) -> Values:
    """A page of variables; debugpy 1.8.22 ignores start and count, so they are cut here."""
    page = found[start : start + bounds.values]
    return Values(values=tuple(translate.variable(each, bounds.text) for each in page), total=len(found), start=start)


def wire_id(word: str, what: str) -> int:
    """The number behind an opaque id of ours."""
    try:
        return int(word)
    except ValueError:
        raise NotFound(f"no {what} {word!r}") from None


def reference_number(ref: str, kind: str) -> int:
    """The number of a value reference of this kind; another kind's is of another time."""
    if not ref.startswith(kind) or not ref[len(kind) :].isdigit():
        raise StaleHandle(f"no value {ref!r}")
    return int(ref[len(kind) :])


def _last_line(message: str) -> str:
    """The line of a traceback that names the error."""
    lines = message.strip().splitlines()
    return lines[-1].strip() if lines else "failed"
