"""Names that a frame does not have though the text declares them: why V8 does not tell them, and where they can be had."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice

from .client import Body, CdpClient, Refused
from .declarations import AT_RETURN, declared_around, is_of_earlier_round, is_uninitialised, lost_at_return
from .frames import Held, position
from .scripts import Script, Scripts
from .spellings import Spellings
from .texts import Texts

_UNDEFINED = re.compile(r"ReferenceError: ([A-Za-z_$][\w$]*) is not defined")
_UNAVAILABLE = re.compile(r"ReferenceError: Cannot access '([A-Za-z_$][\w$]*)' from debugger")
_MOST_FRAMES = 8
_DECLARING = ("local", "block", "module", "script")


class Missing:
    """Explains within one isolate; `held` is the pause, if there is one."""

    def __init__(
        self,
        client: CdpClient,
        scripts: Scripts,
        texts: Texts,
        spellings: Spellings,
        held: Callable[[], Held | None],
    ) -> None:
        self._client = client
        self._spellings = spellings
        self._scripts = scripts
        self._texts = texts
        self._held = held

    async def explained(self, call: Body | None, expression: str, said: str) -> str:
        """What V8 said of an expression that failed, with what is so of the name that it could not find."""
        found = _UNDEFINED.fullmatch(said) or _UNAVAILABLE.fullmatch(said)
        if call is None or found is None or not re.search(rf"(?<![\w$.]){re.escape(found[1])}(?![\w$])", expression):
            return said  # or it was raised by what the expression called
        if _UNAVAILABLE.fullmatch(said):
            return _unset(found[1]) if await self.is_unset(call, found[1]) else said
        runs_as = (await self._spellings.of(call, found[1])).get(found[1], (found[1],))
        why = await self._why(call, re.split(r"[.(]", runs_as[-1])[0])
        return f"{said} here: {why}" if why else said

    async def without_value(self, call: Body | None, name: str, *, undefined: bool) -> str | None:
        """What to say of a name where what it reads is not its value: undefined (V8 before 12), or that of an earlier round."""
        return _unset(name) if call is not None and await self.is_unset(call, name, undefined=undefined) else None

    async def is_unset(self, call: Body, name: str, *, undefined: bool = True) -> bool:
        """Whether the program has not come to the declaration of this name yet."""
        script = self._scripts.get(position(call)[0])
        own = [each for each in call.get("scopeChain") or () if each.get("type") in _DECLARING]
        if script is None:
            return False
        tells = is_uninitialised if undefined else is_of_earlier_round
        return tells(name, await self._texts.lines(script), position(call)[1:], own)

    async def _why(self, call: Body, name: str) -> str | None:
        id, line, column = position(call)
        script = self._scripts.get(id)
        if script is None:
            return None
        inner = str(call.get("functionName") or "this function")
        lines = await self._texts.lines(script)
        if name in lost_at_return(call, lines, ()):
            return f"V8 no longer tells it; {AT_RETURN}"
        rule = f"V8 keeps for {inner} only the outer variables that it uses"
        if (number := await self._frame_with(call, name)) is not None:
            return f"{rule}; ask with --frame f{number}"
        declared = declared_around(lines, (line, column), name)
        if declared is None:
            return None
        why = "for a block that does not reach here" if _begin(call) <= declared else f"but {rule}"
        return f"line {self._line(script, declared)} declares one, {why}"

    async def _frame_with(self, call: Body, name: str) -> int | None:
        """The call of a function around this one that still has the name."""
        held = self._held()
        calls = held.calls if held is not None else ()
        at = next((number for number, each in enumerate(calls) if each is call), len(calls))
        around = (number for number in range(at + 1, len(calls)) if _is_around(calls[number], call))
        for number in islice(around, _MOST_FRAMES):
            outer = calls[number]
            words = {
                "callFrameId": outer.get("callFrameId"),
                "expression": name,
                "throwOnSideEffect": True,
                "silent": True,
            }
            try:
                answer = await self._client.request("Debugger.evaluateOnCallFrame", words)
            except Refused:
                continue
            if "exceptionDetails" not in answer:
                return number
        return None

    def _line(self, script: Script, at: tuple[int, int]) -> int:
        spot = self._scripts.spot(script.id, *at)
        return spot.line if spot is not None else at[0] + 1


def _unset(name: str) -> str:
    return f"ReferenceError: Cannot access '{name}' before initialization"


def _begin(call: Body) -> tuple[int, int]:
    """Where the text of a call's function begins."""
    at = call.get("functionLocation") or {}
    return int(at.get("lineNumber", 0)), int(at.get("columnNumber", 0))


def _is_around(outer: Body, inner: Body) -> bool:
    """Whether the one call is of a function in whose text the other's stands."""
    (script, *_), (id, *at) = position(outer), position(inner)
    if script != id or outer.get("functionLocation") == inner.get("functionLocation"):
        return False  # or another call of the same one
    local: Body = next((each for each in outer.get("scopeChain") or () if each.get("type") == "local"), {})
    start, end = (local.get(each) or {} for each in ("startLocation", "endLocation"))
    begins = (int(start.get("lineNumber", 0)), int(start.get("columnNumber", 0)))
    return bool(end) and begins <= tuple(at) <= (int(end["lineNumber"]), int(end["columnNumber"]))
