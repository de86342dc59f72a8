"""Leaving a call: on to where it gives back its value, and to whoever called or awaits it, even if it stops in its midst.

V8 tells no value of a step out, forgets it where an error is caught, and goes past whoever awaits; in an async generator
it crashes (Node 18 and 20). Over an await its step stays with the same call among several. So an async function is
finished in stretches, with breakpoints of ours from one await to the next and a step over each.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import islice, pairwise

from ...model.backend import Move
from ...model.values import Value
from .client import Body, CdpClient
from .frames import FrameTeller, Held, is_top_level, position, span_of
from .handing import Given, given_to
from .journeys import Journey, places_in, remove_own, set_at, set_outer, set_own
from .scripts import Scripts
from .suspending import Kind, has_finally, is_awaited, is_behind_finally, is_called, kind_of, suspending, yields
from .wording import Wording

RESUME = "Debugger.resume"
STEPS = {Move.NEXT: "Debugger.stepOver", Move.STEP: "Debugger.stepInto", Move.FINISH: "Debugger.stepOut"}
_CALLERS = 3
"""How many calls a step may leave at once without V8's knowing it."""
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
            journey.back = self.back(held)
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

    def back(self, held: Held) -> int:
        """How deep the user's call is that called the held one, itself or through library code; 0 where none did."""
        found = next((at for at in self._own(held) if at), 0)
        return held.depth - found if found else 0

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
        """The call has its value: held here with that where it goes to nobody."""
        journey.over = await self.is_nobodys(held)
        await self._note(held, not journey.over)
        return None if journey.over else await self._left(held, journey)

    async def is_nobodys(self, held: Held) -> bool:
        """Whether what the held call returns goes to no code of the user's, so that none may go on for long, as in a server: only
        library code called it, or whoever did has dropped its promise, or handed it on to library code (`return next()`)."""
        if is_top_level(held.top) or any(at for at in self._own(held)):
            return False
        above = [call for call in held.chain[held.depth - 1 :] if self._is_user(call)]
        if above and _is_same(above[0], held.top):  # it tells of itself as what awaited
            del above[0]
        for call in above:
            script, line, column = position(call)
            given = given_to(await self._wording.lines(script), line, column)
            if given is not Given.CALLER:
                return given is Given.NOBODY
        return True

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

    async def _await_around(self, held: Held, journey: Journey) -> None:
        """Be behind an expression that awaits what something makes of the held call (`await expect(job()).resolves…`), where
        V8 forgets the step."""
        above = [call for call in held.chain if self._is_user(call)][:1]
        if not above or not is_behind_finally(held.top, await self._wording.lines(position(held.top)[0])):
            return
        script, line, column = position(above[0])
        lines = await self._wording.lines(script)
        if not is_awaited(lines, line, column) and line in suspending(lines, line, line):
            journey.outer += await set_own(self._client, {"location": above[0]["location"]}, returns=False)

    async def _awaits(self, call: Body) -> bool:
        script, line, column = position(call)
        return is_awaited(await self._wording.lines(script), line, column)

    async def _calls(self, call: Body, other: Body) -> bool:
        script, line, column = position(call)
        name = str(other.get("functionName") or "").rpartition(".")[2]
        return is_called(await self._wording.lines(script), line, column, name)

    def _is_user(self, call: Body) -> bool:
        return self._is_users(position(call)[0])

    def _is_users(self, script_id: str) -> bool:
        script = self._scripts.get(script_id)
        return script is not None and script.user

    def _own(self, held: Held) -> Iterator[int]:
        """Where the user's calls are among the held ones, innermost first; the others are not read for it."""
        return (at for at in range(held.depth) if self._is_users(held.calls.script(at)))

    async def _is_forgotten(self, calls: Sequence[Body]) -> bool:
        """Whether V8 may forget a step by which a call ends, or the library code by way of which it was called."""
        if is_behind_finally(calls[0], await self._wording.lines(position(calls[0])[0])):
            return True
        for each in calls[1:]:
            if has_finally(each, await self._wording.lines(position(each)[0])):
                return True
        return False

    async def _guard(self, held: Held, journey: Journey) -> None:
        """V8 forgets a step by which a generator or an async function ends in another way than by its last line, and one by
        which any function ends behind its `finally`: no position is there for the `return` that this has kept waiting."""
        if journey.kind is Kind.PLAIN:
            for at, caller in pairwise(islice(self._own(held), _CALLERS)):
                if await self._is_forgotten(held.calls[at:caller]):
                    journey.outer += await set_own(self._client, held.calls[caller], returns=False)
            return
        if journey.move is Move.NEXT and yields(await self._wording.line(held.top)):  # it stays with the generator
            return
        if Kind.ASYNC in journey.kind:
            if not await self._await_with(held, journey):
                await self._await_around(held, journey)
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
    """Whether a call that awaits, which tells no more of itself than where, is of the function of another one."""
    if position(call)[0] != position(other)[0] or call.get("functionName") != other.get("functionName"):
        return False
    span = span_of(other)
    return span is None or span[0] <= position(call)[1:] <= span[1]


def _at(lines: list[str], place: Body) -> str:
    line, column = int(place.get("lineNumber", 0)), int(place.get("columnNumber", 0))
    return lines[line][column:] if line < len(lines) else ""


def _hands_over(text: str) -> bool:
    """Whether a generator gives a value to whoever goes through it here."""
    return yields(text) or text.lstrip().startswith("return")
