"""Letting the program go on, by lines as a reader counts them, and telling the pauses that are stops from those that are ours.

V8 steps from one position to the next, several on a line; it pauses once more where a function gives back its value; it
tells no value when a step leaves a function. What is ours is sent on its way without a word: a module that is about to
run, a position on a line that was told already, a return that was waited for to learn its value.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from ...errors import StillframeError, WrongState
from ...model.backend import Bounds, Move, Output, Stopped
from ...model.values import Value
from .breakpoints import Breakpoints
from .client import Body, CdpClient, Refused
from .evidence import Evidence
from .frames import Held, position
from .scripts import Scripts
from .texts import Texts

THREAD = "1"
"""An isolate has one thread; workers are sessions of their own."""

_STEPS = {Move.NEXT: "Debugger.stepOver", Move.STEP: "Debugger.stepInto", Move.FINISH: "Debugger.stepOut"}
_RESUME = "Debugger.resume"
_ARRIVES = 10.0
_PATIENCE = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds after which a pause that has not come is asked for again."""


class Loading(Protocol):
    """What is done when a module is about to run."""

    async def compiled(self, held: Held) -> None: ...

    async def instrumented(self, held: Held) -> None: ...


@dataclass
class Journey:
    """A step under way: where it began, and what has been passed since."""

    move: Move
    depth: int
    line: tuple[str, int] | None
    columns: set[int] = field(default_factory=set[int])
    returns: list[str] = field(default_factory=list[str])
    """Breakpoints of ours at the returns of the function that is to be finished."""
    entering: bool = False


class Mover:
    """One isolate's pauses and moves."""

    def __init__(
        self,
        client: CdpClient,
        scripts: Scripts,
        texts: Texts,
        evidence: Evidence,
        breakpoints: Breakpoints,
        loading: Loading,
        tell: Callable[[Stopped | Output], None],
    ) -> None:
        self._client = client
        self._scripts = scripts
        self._texts = texts
        self._evidence = evidence
        self._breakpoints = breakpoints
        self._loading = loading
        self._tell = tell
        self._journey: Journey | None = None
        self._calls = 0
        self._arrival: tuple[int, asyncio.Future[Held]] | None = None
        """Somebody waits for the next position, which is no stop."""
        self.pausing = False
        self._paused = asyncio.Event()
        self._asking: asyncio.Task[None] | None = None
        self.restarting = False
        self.compile_id = ""
        self.uncaught_id = ""
        self.classes: tuple[str, ...] = ()
        """Where not empty, only these classes of what is thrown and caught stop the program."""
        self.stops_raised = False
        self.entry = False
        """The first line of the user's own code is to be told as a stop."""

    # Going on

    async def go(self, move: Move) -> None:
        """Let the program go on; the stop comes by itself."""
        held = self._evidence.need_held()
        self._evidence.returned = []
        if move is Move.CONTINUE:
            self._journey = None
            self._calls += 1
            await self._send(_RESUME, far=True)
            return
        script, line, column = position(held.top)
        journey = self._journey = Journey(move, held.depth, (script, line), {column})
        if held.at_return:
            await self._note_return(held)
            self._calls += 1
        if move is Move.FINISH and not held.at_return:
            journey.returns = await self._watch_returns(held.top)
        await self._send(_STEPS[move])

    async def _send(self, method: str, *, far: bool = False) -> None:
        self._evidence.moved(far=far)
        await self._breakpoints.hold(False)
        await self._client.request(method)

    async def _watch_returns(self, call: Body) -> list[str]:
        """Set breakpoints of our own at every return of a function, since a step out of it does not tell its value."""
        scope: Body = next((each for each in call.get("scopeChain") or () if each.get("type") == "local"), {})
        start, end = scope.get("startLocation"), scope.get("endLocation")
        if not isinstance(start, dict) or not isinstance(end, dict):
            return []
        try:
            arguments = {"start": start, "end": end, "restrictToFunction": True}
            found = (await self._client.request("Debugger.getPossibleBreakpoints", arguments)).get("locations") or ()
        except Refused:
            return []
        places = [each for each in found if each.get("type") == "return"]
        plain = [
            {key: each[key] for key in ("scriptId", "lineNumber", "columnNumber") if key in each} for each in places
        ]
        ids = []
        for answer in [self._client.send("Debugger.setBreakpoint", {"location": each}) for each in plain]:
            try:
                ids.append(str((await self._client.settle(answer, "Debugger.setBreakpoint")).get("breakpointId")))
            except Refused:
                continue  # one of the user's stands there
        return ids

    async def _forget_returns(self, journey: Journey) -> None:
        for id in journey.returns:
            await self._client.request("Debugger.removeBreakpoint", {"breakpointId": id})
        journey.returns = []

    async def _note_return(self, held: Held) -> None:
        name = self._evidence.teller.frames(held)[0].function
        try:
            value: Value = await self._evidence.describe(name, held.top["returnValue"], Bounds())
        except StillframeError:
            return
        self._evidence.returned.append(value)

    async def to_return(self) -> Held:
        """Run the `return` that the program is held at, up to where the function gives back its value."""
        held = self._evidence.need_held()
        arrived: asyncio.Future[Held] = asyncio.get_running_loop().create_future()
        self._arrival = (held.depth, arrived)
        try:
            await self._client.request("Debugger.stepOver")
            async with asyncio.timeout(_ARRIVES):
                found = await arrived
        except TimeoutError:
            raise WrongState("the function did not come to its return") from None
        finally:
            self._arrival = None
        if not found.at_return or found.depth != held.depth:
            raise WrongState("the program is not at the return of a function; go to its `return` line first")
        return found

    # Pauses

    async def pause(self) -> None:
        """Ask for a stop."""
        self.pausing = True
        self._paused.clear()
        await self._client.request("Debugger.pause")
        self._asking = asyncio.create_task(self._ask_again())

    async def _ask_again(self) -> None:
        """V8 (of Node 24) forgets the order where it meets library code, as in a loop that has just printed something."""
        for seconds in _PATIENCE:
            try:
                async with asyncio.timeout(seconds):
                    await self._paused.wait()
                return
            except TimeoutError:
                self._client.send("Debugger.pause")

    async def paused(self, body: Body) -> None:
        """A `Debugger.paused`: tell it, or go on."""
        held = Held.of(body)
        self._evidence.held = held
        if self._arrival is not None and not held.hits and held.reason in ("other", "step"):
            if not self._arrival[1].done():
                self._arrival[1].set_result(held)
            return
        reasons = _reasons(held)
        if "instrumentation" in reasons:
            await self._loading.instrumented(held)
            if len(reasons) == 1 and not self._breakpoints.standing(held.hits):
                await self._after_instrumentation(held)
                return
        await self._breakpoints.hold(True)
        if self.compile_id in held.hits:
            await self._loading.compiled(held)
            await self._after_compile(held)
            return
        if self.uncaught_id in held.hits:
            await self._uncaught(held)
            return
        if held.reason in ("exception", "promiseRejection"):
            await self._thrown(held)
            return
        if held.hits and (self._journey is None or not set(held.hits) <= set(self._journey.returns)):
            await self._hit(held)
            return
        if self._journey is not None:
            await self._landed(held, self._journey)
            return
        await self._stop(held, *self._why(held))

    def _why(self, held: Held) -> tuple[str, str | None]:
        if self.pausing:
            return "pause", None
        if self.restarting:
            return "restart", None
        if held.reason == "Break on start":  # of a program that somebody else started with --inspect-brk
            return "entry", None
        if held.reason == "OOM":
            return "exception", "the heap is almost full"
        return "breakpoint", "debugger statement"

    async def _stop(self, held: Held, reason: str, description: str | None = None, ids: tuple[str, ...] = ()) -> None:
        if self._journey is not None:
            await self._forget_returns(self._journey)
        self._journey, self.pausing, self.restarting = None, False, False
        self._paused.set()
        self._evidence.key = f"{held.depth}.{self._calls}"
        self._tell(Stopped(THREAD, reason, description, ids, all_threads=True))

    async def _after_instrumentation(self, held: Held) -> None:
        if self.entry and self._evidence.teller.is_user(held.top):
            await self._breakpoints.hold(True)
            self.entry = False
            await self._stop(held, "entry")
        else:
            await self._send(_RESUME)

    async def _after_compile(self, held: Held) -> None:
        """On from the loader: into the module where its first line is wanted, back to the step that led here, or just on."""
        if self.entry:
            self._journey = Journey(Move.STEP, 0, None, entering=True)
            await self._send("Debugger.stepInto")
        elif self._journey is not None:
            await self._send("Debugger.stepOut")
        else:
            await self._send(_RESUME)

    async def _uncaught(self, held: Held) -> None:
        arguments = {"callFrameId": held.top.get("callFrameId"), "expression": "error", "silent": True}
        answer = await self._client.request("Debugger.evaluateOnCallFrame", arguments)
        self._evidence.lost_error = answer.get("result") or {}
        self._tell(Output("console", b"the calls that threw it are gone, and their values with them\n"))
        await self._stop(held, "exception")

    async def _thrown(self, held: Held) -> None:
        if self.classes and not held.data.get("uncaught"):
            if not set(self.classes) & set(await self._evidence.classes(held.data)):
                await self._go_on()
                return
        elif not self.stops_raised and not held.data.get("uncaught"):
            await self._go_on()
            return
        await self._stop(held, "exception")

    async def _go_on(self) -> None:
        """Past a pause that is nobody's, as the program was going before it."""
        await self._send(_STEPS[self._journey.move] if self._journey else _RESUME)

    async def _hit(self, held: Held) -> None:
        wanted = self._breakpoints.standing(held.hits)
        ids = tuple(each.id for each in wanted)
        if self._breakpoints.is_conditional(held.hits):
            found, failed = await self._evidence.take_hits()
            ids = tuple(id for id in ids if id in found) or ids
            for id, said in failed:
                self._tell(Output("console", f"the condition of {id} raised {said}\n".encode()))
        await self._stop(held, "breakpoint", None, tuple(dict.fromkeys(ids)))

    # Steps

    async def _landed(self, held: Held, journey: Journey) -> None:
        """A step came to a position: the next line, or one that is not worth telling."""
        if self.pausing:
            await self._stop(held, "pause")
            return
        if journey.entering:
            self.entry = False
            await self._stop(held, "entry")
            return
        script, line, column = position(held.top)
        if journey.returns and set(held.hits) & set(journey.returns):
            await self._returning(held, journey)
            return
        same = held.depth == journey.depth and (script, line) == journey.line
        if held.at_return and (same or await self._is_closing(script, line, column)):
            await self._note_return(held)
            self._calls += 1
            journey.line = None
            await self._send("Debugger.stepOver" if journey.move is Move.NEXT else _STEPS[journey.move])
            return
        if same and column not in journey.columns and journey.move is not Move.FINISH:
            journey.columns.add(column)
            await self._send(_STEPS[journey.move])
            return
        await self._stop(held, "step")

    async def _returning(self, held: Held, journey: Journey) -> None:
        """The function that is to be finished, or another call of it, is about to return."""
        if held.depth <= journey.depth and held.at_return:
            await self._note_return(held)
        await self._forget_returns(journey)
        self._calls += 1
        await self._send("Debugger.stepOut")

    async def _is_closing(self, script: str, line: int, column: int) -> bool:
        """Whether a position is the brace that ends a function, which is no line to be told."""
        found = self._scripts.get(script)
        lines = await self._texts.lines(found) if found else []
        return line < len(lines) and lines[line][column : column + 1] == "}"


def _reasons(held: Held) -> list[str]:
    if held.reason == "ambiguous":
        return [str(each.get("reason")) for each in held.data.get("reasons") or ()]
    return [held.reason]
