"""A step under way: where it began, the breakpoints of our own that it needs, and which calls have been left since."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ...model.backend import Move
from .client import Body, CdpClient, Refused
from .frames import Held, is_top_level, position
from .suspending import Kind

_CALLERS = 4
_MADE_UP = 400
"""Positions in code that nobody wrote that a step passes by: helpers and what loads modules have some dozens."""
_RUNTIME = 100
"""Positions in the runtime's own code that a step looks at for a call of the user's: a listener is some ten behind `emit`."""


class Journey(msgspec.Struct):
    """A step: where it began, and what has been passed since."""

    move: Move
    depth: int
    line: tuple[str, int] | None
    """The script and line of what runs where it began; None where any line is another one."""
    written: tuple[str, int] | None = None
    """The same as the user wrote it: a line of that may have become many, or be one of many on a line of what runs."""
    passed: list[tuple[int, int]] = msgspec.field(default_factory=list[tuple[int, int]])
    """Positions of that line that it came by, in their order."""
    call: Body = msgspec.field(default_factory=dict[str, Any])
    """The call in which it began."""
    held: Held | None = None
    """Where it began."""
    own: list[str] = msgspec.field(default_factory=list[str])
    """Breakpoints of ours: at the returns of the function that is to be finished, or wherever it may go on."""
    outer: list[str] = msgspec.field(default_factory=list[str])
    """Breakpoints of ours in those that the call to be finished goes back to, or that may catch its error."""
    leaving: bool = False
    """Its call is at its end, or has returned."""
    back: int = 0
    """How deep the call of the user's is to which a call that has returned gives its value."""
    over: bool = False
    """It ends where its call gives back its value."""
    entering: bool = False
    led_out: bool = False
    """It was led out of library code just now, which its line has called: that goes on where it had come to."""
    looks_on: int = _RUNTIME
    """At how many more positions of the runtime's it may look for a call of the user's."""
    kind: Kind = Kind.PLAIN
    may_pass: int = _MADE_UP
    """How much of what nobody wrote it may still pass by; none where it began in such code."""

    @classmethod
    def start(cls, move: Move, held: Held, written: tuple[str, int] | None = None) -> Journey:
        script, line, column = position(held.top)
        return cls(
            move, held.depth, (script, line), written, [(line, column)], held.top, held, leaving=held.at_return
        )  # fmt: skip

    def is_at(self, held: Held) -> bool:
        """Whether a pause is in the very call in which it began."""
        began = self.call.get("functionLocation")
        return held.depth == self.depth and held.top.get("functionLocation") == began

    def passed_since(self, at: tuple[int, int]) -> list[tuple[int, int]] | None:
        """What was passed since it was at this position; None where it never was, and nothing where it was so twice."""
        if at not in self.passed:
            return None
        return self.passed[self.passed.index(at) + 1 :] if self.passed.count(at) == 1 else []

    def passes_made(self, is_made_up: bool) -> bool:
        """Whether it goes on from here, since a compiler or bundler has made this code up: nobody wrote a line of it."""
        self.may_pass -= is_made_up
        return is_made_up and self.may_pass >= 0

    @property
    def has_passed(self) -> bool:
        """Whether it has come through such code."""
        return 0 <= self.may_pass < _MADE_UP

    def pass_by(self, at: tuple[int, int]) -> None:
        self.passed.append(at)

    def leads_back_to(self, held: Held, is_user: Callable[[Body], bool]) -> bool:
        """Whether a pause is in a call of the user's that called or awaited the one in which it began, or in what that calls."""
        if self.held is None:
            return False
        living = [call.get("functionLocation") for call in held.calls]
        if any(call.get("functionLocation") in living and is_user(call) for call in self.held.calls[1:]):
            return True
        own = position(held.top)[0], held.top.get("functionName")
        awaiting = self.held.chain[self.held.depth - 1 :]
        return any((position(call)[0], call.get("functionName")) == own for call in awaiting)

    def is_deeper(self, held: Held) -> bool:
        """Whether a breakpoint of ours is hit by a call that the line makes, which runs on its way back to this one."""
        return self.move is Move.NEXT and self.kind is Kind.PLAIN and held.depth > self.depth and self.is_hit(held)

    def is_hit(self, held: Held) -> bool:
        return bool(set(held.hits) & {*self.own, *self.outer})

    def owns(self, hits: Sequence[str]) -> bool:
        """Whether no breakpoint of the user's is among those that were hit."""
        return set(hits) <= {*self.own, *self.outer}


class Calls:
    """Which calls have been left, so that another call at the same depth is not taken for the same."""

    def __init__(self) -> None:
        self._count = 0
        self._left: dict[int, int] = {}

    def left(self, depth: int) -> None:
        """The call at this depth has returned, and with it all that it called."""
        self._count += 1
        self._left = {at: count for at, count in self._left.items() if at < depth} | {depth: self._count}

    def key(self, depth: int) -> str:
        """The same word for as long as the call at this depth is surely the same."""
        return f"{depth}.{max((count for at, count in self._left.items() if at <= depth), default=0)}"


async def set_outer(client: CdpClient, journey: Journey) -> list[str]:
    """Breakpoints in the functions that a call goes back to, the nearest ones; not in itself, where it is one of them."""
    ids: list[str] = []
    seen = [journey.call.get("functionLocation")]
    for call in journey.held.calls[1:] if journey.held else ():
        if (where := call.get("functionLocation")) not in seen and len(seen) <= _CALLERS:
            seen.append(where)
            ids += await set_own(client, call, returns=False)
    return ids


async def set_own(client: CdpClient, call: Body, *, returns: bool) -> list[str]:
    """Set breakpoints in a function: at its returns, or wherever the program can be held in it."""
    found = await places_in(client, call)
    return await set_at(client, [each for each in found if not returns or each.get("type") == "return"])


async def places_in(client: CdpClient, call: Body) -> list[Body]:
    """Where the program can be held in a function; from a position on, where no more is known of it."""
    scope: Body = next((each for each in call.get("scopeChain") or () if each.get("type") in ("local", "module")), {})
    # V8 takes the beginning of a file for that of a function which stands there
    start = call.get("location") if is_top_level(call) else scope.get("startLocation")
    start, end = start or call.get("location"), scope.get("endLocation")
    if not isinstance(start, dict):
        return []
    try:
        # V8 leaves out what is at the end: there an arrow function that is one expression has its return
        until = {"end": {**end, "columnNumber": end.get("columnNumber", 0) + 1}} if end else {}
        arguments = {"start": start, "restrictToFunction": True, **until}
        return list((await client.request("Debugger.getPossibleBreakpoints", arguments)).get("locations") or ())
    except Refused:
        return []


async def set_at(client: CdpClient, places: Sequence[Body]) -> list[str]:
    """Set breakpoints at positions; where one of the user's stands, that will do."""
    keys = ("scriptId", "lineNumber", "columnNumber")
    plain = [{key: each[key] for key in keys if key in each} for each in places]
    ids = []
    for answer in [client.send("Debugger.setBreakpoint", {"location": each}) for each in plain]:
        try:
            ids.append(str((await client.settle(answer, "Debugger.setBreakpoint")).get("breakpointId")))
        except Refused:
            continue
    return ids


async def remove_own(client: CdpClient, journey: Journey, *, outer: bool = True) -> None:
    ids, journey.own = journey.own, []
    if outer:
        ids, journey.outer = [*ids, *journey.outer], []
    for answer in [client.send("Debugger.removeBreakpoint", {"breakpointId": id}) for id in ids]:
        await client.settle(answer, "Debugger.removeBreakpoint")
