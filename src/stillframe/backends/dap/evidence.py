"""Looking at a held program through standard DAP requests alone: stack, scopes, variables, evaluate."""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import Sequence
from typing import Any

import msgspec

from ...errors import EvalFailed, NotFound, StaleHandle
from ...model.backend import Bounds, Capture, Evaluated
from ...model.powers import Party
from ...model.values import ExceptionInfo, Frame, Frames, Modules, Scope, Value, Values
from . import translate
from .client import DapClient, Refused
from .launch import DapLaunch, Quirk
from .translate import Body

_RETURN = "(return) "
"""What debugpy 1.8.22 puts before the name of a function whose value it tells among the locals of its caller."""


_DEEP = 50
"""So many more frames are asked for where a debugger only knows the depth of a stack that it has told to its end."""

_OF_RUNTIME = "the program's runtime ends it for this signal"

_FRAMES = 32
"""Frames of which it is remembered what their calls returned."""


class _Ahead(msgspec.Struct, frozen=True):
    """What was asked before it was known whether the numbers in it are right."""

    frame: str
    scopes: asyncio.Future[dict[str, Any]]
    refs: tuple[str, ...]
    pages: list[asyncio.Future[dict[str, Any]]]


class Evidence:
    """What any debug adapter can tell. Values are cut on our side, after they have travelled."""

    def __init__(self, client: DapClient, launch: DapLaunch) -> None:
        self._client = client
        self._launch = launch
        self.sets_variables_only = False
        """It assigns to variables by name, and to no other expression."""
        self.sizes: dict[str, int] = {}
        """Values that are told in pages, and how many items each has."""
        self._last: tuple[str, tuple[str, ...]] | None = None
        """The frame that was looked into last, and what its scopes were called."""
        self.instruction_pointers: dict[str, str] = {}
        """Frame to the instruction that is about to run there, of the stacks told since the last move."""
        self._returned: dict[str, list[Value]] = {}
        """Frame to what its calls are told to have returned, at the last stop in it; debugpy 1.8.22 only adds to that."""
        self._known: dict[str, list[Value]] = {}
        """The same as it was when the program last moved: what stands there again is no news."""

    async def capture(self, thread: str, bounds: Bounds, *, excepted: bool, watch: Sequence[str]) -> Capture:
        """The stack and the locals of its top user frame, in three or four requests."""
        asked = self._ask_stack(thread, 0, bounds.frames)
        ahead = self._ask_ahead() if self._launch.repeats_ids else None
        frames = await self._told_stack(asked, thread, 0, bounds.frames)
        at = next((frame for frame in frames.frames if frame.kind == "user"), None)
        at = at or (frames.frames[0] if frames.frames else None)
        found, told = await self._variables_of(at.id, ahead) if at else ([], [])
        returned = self._newly_returned(at.id, told, bounds) if at else ()
        exception = await self.exception(thread) if excepted else None
        return Capture(frames, at, self._page(found, bounds, 0), returned, exception)

    def _newly_returned(self, frame: str, told: Sequence[Body], bounds: Bounds) -> tuple[Value, ...]:
        """What calls of a frame gave back since the last stop in it, as far as it differs from what they had given before."""
        values = [translate.variable(each, bounds.text, self._launch.value_text) for each in told]
        if values:
            self._returned[frame] = [msgspec.structs.replace(each, ref=None) for each in values]
        known = self._known.get(frame, [])
        return tuple(
            msgspec.structs.replace(each, name=each.name.removeprefix(_RETURN))
            for each in values
            if msgspec.structs.replace(each, ref=None) not in known
        )

    def look_ahead(self, thread: str, watch: Sequence[str]) -> None:
        """A stop is about to be told; where one request brings all of it, that may go out now."""

    def announced(self, thread: str) -> None:
        """A stop that is being told brings what is seen there with it, a moment later."""

    def followed(self, thread: str, found: dict[str, Any] | None, error: str | None) -> None:
        """What was announced has come."""

    def forget(self) -> None:
        """The program moves: what was told of its frames holds no longer."""
        self.instruction_pointers.clear()
        self.sizes.clear()
        self._known = dict([*self._known.items(), *self._returned.items()][-_FRAMES:])
        self._returned.clear()

    async def stack(self, thread: str, start: int, count: int) -> Frames:
        return await self._told_stack(self._ask_stack(thread, start, count), thread, start, count)

    def _ask_stack(self, thread: str, start: int, count: int) -> asyncio.Future[dict[str, Any]]:
        levels = count + (_DEEP if Quirk.GUESSES_DEPTH in self._launch.quirks else 0)
        number = wire_id(thread, "thread")
        return self._client.send("stackTrace", {"threadId": number, "startFrame": start, "levels": levels})

    async def _told_stack(self, asked: asyncio.Future[dict[str, Any]], thread: str, start: int, count: int) -> Frames:
        body = await self._client.settle(asked, "stackTrace")
        guesses = Quirk.GUESSES_DEPTH in self._launch.quirks
        found = translate.items(body, "stackFrames")
        frames = tuple(self._judged(translate.frame(each)) for each in found)
        pointers = {str(each.get("id")): translate.text(each.get("instructionPointerReference")) for each in found}
        self.instruction_pointers.update({id: told for id, told in pointers.items() if told})
        total = translate.number(body.get("totalFrames"))
        if guesses and total is not None and total > start + len(frames):
            total = None
        return Frames(frames=frames[:count], total=total, start=start, thread=thread)

    def _judged(self, frame: Frame) -> Frame:
        if (name := self._launch.function_name(frame.function)) != frame.function:
            frame = msgspec.structs.replace(frame, function=name)
        return self._named(msgspec.structs.replace(frame, kind="library")) if self._launch.is_library(frame) else frame

    def _named(self, frame: Frame) -> Frame:
        """A call of a library with the name of what it is of."""
        if frame.kind == "user" or (library := self._launch.library_of(frame)) == frame.module:
            return frame
        return msgspec.structs.replace(frame, module=library)

    async def held_at(self, thread: str) -> Frame | None:
        """The innermost frame of a thread that is surely held; None where that is not sure."""
        return None

    async def why(self, thread: str, *, aside: bool) -> Body:
        """What our code in the debugger knows better of a stop: its reason, the numbers of what was hit, a note; of one that came
        along with that of another thread also whether it is an old one."""
        return {}

    async def waits(self, bounds: Bounds) -> tuple[Party, ...]:
        """What threads and tasks wait for, where our code in the target knows."""
        return ()

    async def scopes(self, frame: str) -> tuple[Scope, ...]:
        return await self._told_scopes(self._ask_scopes(frame))

    def _ask_scopes(self, frame: str) -> asyncio.Future[dict[str, Any]]:
        return self._client.send("scopes", {"frameId": wire_id(frame, "frame")})

    async def _told_scopes(self, asked: asyncio.Future[dict[str, Any]]) -> tuple[Scope, ...]:
        body = await self._client.settle(asked, "scopes")
        return tuple(translate.scope(each) for each in translate.items(body, "scopes"))

    async def locals(self, frame: str, bounds: Bounds, start: int) -> Values:
        found, _ = await self._variables_of(frame)
        return self._page(found, bounds, start)

    async def _local_scopes(self, frame: str, asked: asyncio.Future[dict[str, Any]] | None = None) -> Sequence[Scope]:
        scopes = await self._told_scopes(asked or self._ask_scopes(frame))
        return [scope for scope in scopes if scope.name.lower() in self._launch.local_scopes] or scopes[:1]

    def _ask_ahead(self) -> _Ahead | None:
        """Ask for the variables of the frame that is most likely stood in, before it is known: what each number meant at the
        last stop is what it will mean again. What was asked in vain is asked again."""
        if self._last is None:
            return None
        frame, refs = self._last
        return _Ahead(frame, self._ask_scopes(frame), refs, [self._sent_for(ref) for ref in refs])

    async def _variables_of(self, frame: str, ahead: _Ahead | None = None) -> tuple[list[Body], list[Body]]:
        """The variables of a frame that are worth telling, and the values that its calls returned."""
        ahead = ahead if ahead is not None and ahead.frame == frame else None
        local = await self._local_scopes(frame, ahead.scopes if ahead else None)
        refs = tuple(scope.ref for scope in local if scope.ref is not None)
        pages = ahead.pages if ahead and ahead.refs == refs else [self._sent_for(ref) for ref in refs]
        self._last = (frame, refs)
        found = [each for page in pages for each in await self._arrived(page)]
        returned = [each for each in found if str(each.get("name")).startswith(_RETURN)]
        kept = [each for each in found if each not in returned and self._is_shown(each)]
        return kept, returned

    def _is_shown(self, told: Body) -> bool:
        names = self._launch.unshown_names
        return told.get("type") not in self._launch.unshown and not (names and names.match(str(told.get("name"))))

    async def expand(self, ref: str, bounds: Bounds, start: int) -> Values:
        if ref in self.sizes:
            return await self._items(ref, self.sizes[ref], bounds, start)
        return self._page(await self._children(ref), bounds, start)

    async def _items(self, ref: str, size: int, bounds: Bounds, start: int) -> Values:
        """A page of a long value, as the debugger counts its items."""
        count = max(0, min(bounds.values, size - start))
        question = {
            "variablesReference": reference_number(ref, "r"),
            "filter": "indexed",
            "start": start,
            "count": count,
        }
        found = await self._arrived(self._client.send("variables", question)) if count else []
        page = self._page(found, bounds, 0)
        return Values(values=page.values, total=size, start=start)

    def _page(self, found: Sequence[Body], bounds: Bounds, start: int) -> Values:
        """A page of variables; debugpy 1.8.22 ignores start and count, so they are cut here."""
        page = found[start : start + bounds.values]
        values = tuple(self._value(each, bounds) for each in page)
        return Values(values=values, total=len(found), start=start)

    def _value(self, told: Body, bounds: Bounds) -> Value:
        value = translate.variable(told, bounds.text, self._launch.value_text)
        size = translate.number(told.get("indexedVariables")) or 0
        if self._launch.pages and value.ref is not None and size:
            self.sizes[value.ref] = size
        return value

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
                reason = refused.message.removeprefix(self._launch.error_prefix)
                results.append(Evaluated(expression, error=_naming_line(reason)))
            else:
                results.append(Evaluated(expression, value=self._value({**body, "name": expression}, bounds)))
        return tuple(results)

    async def assign(self, frame: str, target: str, value: str, bounds: Bounds) -> Value:
        arguments = {"expression": target, "value": value, "frameId": wire_id(frame, "frame")}
        try:
            if self.sets_variables_only:
                body = await self._set_variable(frame, target, value)
            else:
                body = await self._client.request("setExpression", arguments)
        except Refused as refused:
            raise EvalFailed(_naming_line(refused.message)) from None
        return translate.variable({**body, "name": target}, bounds.text, self._launch.value_text)

    async def _set_variable(self, frame: str, target: str, value: str) -> Body:
        """Assign by the name of a variable within what holds it: the frame, or the value in front of the last dot or bracket."""
        holder, name = holder_and_name(target)
        if holder:
            question = {"expression": holder, "context": self._launch.evaluates_as, "frameId": wire_id(frame, "frame")}
            body = await self._client.request("evaluate", question)
            references = [translate.number(body.get("variablesReference")) or 0]
        else:
            scopes = await self._local_scopes(frame)
            references = [reference_number(scope.ref, "r") for scope in scopes if scope.ref is not None]
        for reference in references:
            found = await self._arrived(self._client.send("variables", {"variablesReference": reference}))
            if len(found) == 1 and not found[0].get(
                "name"
            ):  # a pointer: what it points to is its one part without a name
                references.append(translate.number(found[0].get("variablesReference")) or 0)
            if any(each.get("name") == name for each in found):
                arguments = {"variablesReference": reference, "name": name, "value": value}
                return await self._client.request("setVariable", arguments)
        raise EvalFailed(f"no variable {target} here")

    async def exception(self, thread: str) -> ExceptionInfo | None:
        try:
            body = await self._client.request("exceptionInfo", {"threadId": wire_id(thread, "thread")})
        except Refused:  # it did not stop for an exception
            return None
        told = translate.exception(body)
        if told.mode == "unknown" and self._launch.exception_mode:
            told = msgspec.structs.replace(told, mode=self._launch.exception_mode)
        if self._launch.fatal_signal and (name := await self._fatal_signal(thread, *self._launch.fatal_signal)):
            return msgspec.structs.replace(told, type=name, message=_OF_RUNTIME)
        return msgspec.structs.replace(told, message=self._launch.exception_text(told.message))

    async def _fatal_signal(self, thread: str, function: str, variable: str) -> str | None:
        """The signal for which the runtime is ending the program, if it is."""
        (top, *_) = (await self.stack(thread, 0, 1)).frames or (None,)
        if top is None or top.function != function:
            return None
        (found,) = await self.evaluate(top.id, (variable,), Bounds(), self._launch.request_timeout)
        number = re.match(r"\d+", found.value.value if found.value else "")
        try:
            return signal.Signals(int(number[0])).name if number else None
        except ValueError:
            return None

    async def modules(self, start: int, count: int) -> Modules:
        body = await self._client.request("modules", {"startModule": start, "moduleCount": count})
        found = translate.items(body, "modules")
        total = translate.number(body.get("totalModules"))
        if total is None or len(found) > count:
            total, found = len(found), found[start : start + count]
        return translate.modules(found, total, start)


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


def holder_and_name(target: str) -> tuple[str, str]:
    """What holds the thing to be assigned to, empty for the frame itself, and its name there: a field, or an item in brackets."""
    if match := re.fullmatch(r"(.+)\.(\w+)", target):
        return match[1], match[2]
    if match := re.fullmatch(r"(.+)(\[[^][]*\])", target):
        return match[1], match[2]
    return "", target


def _naming_line(message: str) -> str:
    """The line that names the error: the last one of a traceback that begins with its frames, else the first."""
    lines = message.strip().splitlines() or ["failed"]
    return lines[-1 if lines[0].startswith("Traceback") else 0].strip()
