"""Leaving a call: on to where it gives back its value, and to whoever called or awaits it, even if it stops in its midst.

V8 tells no value of a step out, forgets it where an error is caught, and goes past whoever awaits; in an async generator
it crashes (Node 18 and 20). Over an await its step stays with the same call among several. So an async function is
finished in stretches, with breakpoints of ours from one await to the next and a step over each.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from ...model.backend import Move
from ...model.values import Value
from .client import Body, CdpClient
from .frames import FrameTeller, Held, is_top_level, position
from .journeys import Journey, places_in, remove_own, set_at, set_outer, set_own
from .scripts import Scripts
from .suspending import Kind, is_awaited, is_called, kind_of, suspending, yields
from .wording import Wording

RESUME = "Debugger.resume"
STEPS = {Move.NEXT: "Debugger.stepOver", Move.STEP: "Debugger.stepInto", Move.FINISH: "Debugger.stepOut"}
_OVER, _OUT = STEPS[Move.NEXT], STEPS[Move.FINISH]


class Departures:
    """Sets out with a step and leads a `finish` to its end. Answers are orders for V8; None where a pause is to be judged."""

    def __init__(
        self, client: CdpClient, scripts: Scripts, wording: Wording, note: Callable[[Held, bool], Awaitable[None]]
    ) -> None:
        self._client = client
        self._scripts = scripts
        self._wording = wording
        self._note = note

    async def begin(self, journey: Journey, held: Held) -> str:
        journey.kind = kind_of(held.top, await self._wording.lines(position(held.top)[0]))
        if held.at_return:
            await self._note(held, True)
        if journey.move is not Move.FINISH:
            await self._guard(held, journey)
            return STEPS[journey.move]
        if held.at_return:
            return await self._left(held, journey)
        if Kind.ASYNC in journey.kind:
            return await self._stretch(held, journey)
        await self._prepare(journey)
        return _OUT

    async def finishing(self, held: Held, journey: Journey) -> str | None:
        """A `finish` has come to a pause. A deeper call of the same function may be at its return."""
        if Kind.ASYNC in journey.kind:
            return await self._finishing_later(held, journey)
        if held.depth < journey.depth or (journey.leaving and journey.is_hit(held)):
            return None
        if journey.leaving:  # library code calls again
            return RESUME
        if held.depth > journey.depth:
            await remove_own(self._client, journey)
        elif held.at_return:
            return await self._at_end(held, journey)
        elif not journey.own:
            await self._prepare(journey)
        return _OUT

    async def _prepare(self, journey: Journey) -> None:
        journey.own = await set_own(self._client, journey.call, returns=True)
        journey.outer = await set_outer(self._client, journey)

    async def _at_end(self, held: Held, journey: Journey) -> str | None:
        """The call has its value. Where only library code called it, nothing of the user's may go on for long, as in a server: it
        is held here, with that."""
        journey.over = not any(self._is_user(call) and not _is_same(call, held.top) for call in held.chain)
        await self._note(held, not journey.over)
        return None if journey.over else await self._left(held, journey)

    async def _left(self, held: Held, journey: Journey) -> str:
        """On from the return of the call that is to be finished: to its caller, or to whoever awaits it."""
        journey.leaving, journey.line = True, None
        if Kind.ASYNC not in journey.kind:
            await remove_own(self._client, journey, outer=False)
            return _OUT if held.depth > 1 else RESUME
        await remove_own(self._client, journey)
        if await self._await_with(held, journey) and (held.depth > 1 or Kind.GENERATOR in journey.kind):
            return RESUME
        if Kind.GENERATOR in journey.kind:
            journey.outer += await set_outer(self._client, Journey.start(Move.FINISH, held))
            return RESUME
        return _OUT if held.depth > 1 else _OVER  # to who awaits it, or into what was given to its promise's `then`

    # Async functions

    async def _finishing_later(self, held: Held, journey: Journey) -> str | None:
        ours = held.top.get("functionLocation") == journey.call.get("functionLocation")
        if journey.leaving or not ours:
            return None
        if held.hits and held.depth != journey.depth:  # another call of it
            return RESUME
        if held.at_return:
            return await self._at_end(held, journey)
        return await self._stretch(held, journey)

    async def _stretch(self, held: Held, journey: Journey) -> str:
        """On to the next line that awaits, or to a return; or over the await that is here."""
        journey.depth, journey.call = held.depth, held.top
        await remove_own(self._client, journey)
        script, line, _ = position(held.top)
        lines = await self._wording.lines(script)
        places = await places_in(self._client, held.top)
        numbers = [int(each.get("lineNumber", 0)) for each in places]
        waits = suspending(lines, min(numbers, default=line), max(numbers, default=line))
        generates = Kind.GENERATOR in journey.kind
        if generates and line < len(lines) and _hands_over(lines[line]):
            return await self._left(held, journey)
        if line in waits:
            await self._await_with(held, journey)
            return _OVER
        if not await self._await_with(held, journey) and held.depth > 1:
            journey.outer += await set_outer(self._client, Journey.start(Move.FINISH, held))
        ends = [
            each
            for each, number in zip(places, numbers, strict=True)
            if each.get("type") == "return" or number in waits or (generates and _hands_over(_at(lines, each)))
        ]
        journey.own = await set_at(self._client, ends)
        return RESUME

    async def _await_with(self, held: Held, journey: Journey) -> bool:
        """Be there where the one goes on that awaits the held call, which may be by its error. Whether there is one.

        Not where several of it may be under way, as in `Promise.all`: V8's own step knows them apart, a breakpoint does not.
        """
        above = [call for call in held.chain if self._is_user(call)][:2]
        if not above or not await self._awaits(above[0]):
            return False
        if len(above) > 1 and not await self._awaits(above[1]) and not await self._calls(above[1], above[0]):
            return False
        journey.outer += await set_own(self._client, {"location": above[0]["location"]}, returns=False)
        return True

    async def _awaits(self, call: Body) -> bool:
        script, line, column = position(call)
        return is_awaited(await self._wording.lines(script), line, column)

    async def _calls(self, call: Body, other: Body) -> bool:
        script, line, column = position(call)
        name = str(other.get("functionName") or "").rpartition(".")[2]
        return is_called(await self._wording.lines(script), line, column, name)

    def _is_user(self, call: Body) -> bool:
        script = self._scripts.get(position(call)[0])
        return script is not None and script.user

    async def _guard(self, held: Held, journey: Journey) -> None:
        """V8 forgets a step by which a generator or an async function ends in another way than by its last line."""
        if journey.kind is Kind.PLAIN:
            return
        if journey.move is Move.NEXT and yields(await self._wording.line(held.top)):  # it stays with the generator
            return
        if Kind.ASYNC in journey.kind:
            await self._await_with(held, journey)
        else:
            journey.outer = await set_outer(self._client, journey)


def unfinished(journey: Journey, teller: FrameTeller, returned: Sequence[Value]) -> bytes:
    """What became of a step that the program's end has overtaken, where that is not plain to see."""
    if is_top_level(journey.call) or (journey.move is not Move.FINISH and journey.kind is Kind.PLAIN):
        return b""
    name = teller.call(journey.call, "").function
    for value in returned[:1]:
        return f"{name} returned {value.value}, and nothing of your code went on with that\n".encode()
    return f"{name} did not come to its next line or its end before the program ended\n".encode()


def _is_same(call: Body, other: Body) -> bool:
    """Whether both are of one function, as far as a call that awaits tells of itself."""
    return position(call)[0] == position(other)[0] and call.get("functionName") == other.get("functionName")


def _at(lines: list[str], place: Body) -> str:
    line, column = int(place.get("lineNumber", 0)), int(place.get("columnNumber", 0))
    return lines[line][column:] if line < len(lines) else ""


def _hands_over(text: str) -> bool:
    """Whether a generator gives a value to whoever goes through it here."""
    return yields(text) or text.lstrip().startswith("return")
