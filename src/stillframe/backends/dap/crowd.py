"""Several threads at breakpoints at once, where the debugger tells of one: asked for before the program goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from ...errors import StillframeError
from ...model.backend import Bounds, Stopped
from ...model.values import Frame, Thread
from . import translate
from .breakpoints import Breakpoints
from .evidence import Evidence
from .helper import Helper

_PATIENCE = 2.0
_MANY = 60_000
"""Characters and items of the list; a thousand threads fit."""
_LOOKED_AT = 32
"""So many threads are asked where they stand, when they do not know it themselves."""


class HelpedCrowd:
    """The same where our helper is in the target: it knows each time that a thread was held from every other."""

    def __init__(self, helper: Helper, evidence: Evidence, breakpoints: Breakpoints) -> None:
        self._helper = helper
        self._evidence = evidence
        self._breakpoints = breakpoints
        self._told: set[int] = set()

    async def threads(self) -> dict[str, Thread]:
        """Every thread by its id, told whether it is really held; and what else takes turns in the program."""
        rows = translate.items(await self._helper.call("crowd"), "threads")
        return {
            str(row.get("threadId")): translate.thread({**row, "id": row.get("threadId")}, _state(row)) for row in rows
        }

    async def listed(self, told: str) -> tuple[Stopped, ...]:
        """The stops of other threads than the one that was told of, each once."""
        # With all threads, since it waits for those that are about to be held: let go then, they would pass unseen.
        rows = translate.items(await self._helper.call("crowd"), "held")
        found: list[Stopped] = []
        looked = 0
        for row in rows:
            thread, halt = str(row.get("threadId")), translate.number(row.get("halt")) or 0
            if thread == told or halt in self._told:
                self._told.add(halt)
                continue
            owners = self._breakpoints.owners({"hitBreakpointIds": row.get("hit")})
            if not owners and row.get("arrived") is True and looked < _LOOKED_AT:
                looked += 1
                owners = await _standing(self._evidence, self._breakpoints, thread)
            if owners:
                self._told.add(halt)
                found.append(Stopped(thread, "breakpoint", breakpoints=owners, all_threads=True))
        return tuple(found)


async def listed(evidence: Evidence, breakpoints: Breakpoints, expression: str, told: str) -> tuple[Stopped, ...]:
    """The stops of other threads than the one that was told of."""
    frames = (await evidence.stack(told, 0, 1)).frames
    if not frames:
        return ()
    limits = Bounds(text=_MANY, items=_MANY)
    (answer,) = await evidence.evaluate(frames[0].id, (expression,), limits, _PATIENCE)
    numbers = _numbers(answer.value.value if answer.value else "")
    found: list[Stopped] = []
    unsure: list[str] = []
    for thread, number in zip(numbers[::2], numbers[1::2], strict=False):
        if str(thread) == told:
            continue
        if number < 0:
            unsure.append(str(thread))
        elif owners := breakpoints.named(number):
            found.append(Stopped(str(thread), "breakpoint", breakpoints=owners, all_threads=True))
    standing = {word: await _standing(evidence, breakpoints, word) for word in unsure[:_LOOKED_AT]}
    return (
        *found,
        *(Stopped(word, "breakpoint", breakpoints=ids, all_threads=True) for word, ids in standing.items() if ids),
    )


def _state(row: Mapping[str, Any]) -> Literal["stopped", "blocked", "running"]:
    return "stopped" if row.get("held") else "blocked" if row.get("blocked") else "running"


def _numbers(text: str) -> list[int]:
    try:
        return msgspec.json.decode(text, type=list[int])
    except msgspec.DecodeError:  # the debugger could not tell
        return []


async def _standing(evidence: Evidence, breakpoints: Breakpoints, thread: str) -> tuple[str, ...]:
    """The breakpoints on whose line a held thread stands, and whose condition holds there."""
    frame = await evidence.held_at(thread)
    if frame is None:
        return ()
    owners = []
    for id, condition in breakpoints.at_line(frame.file, frame.line):
        if condition is None or await holds(evidence, frame.id, condition):
            owners.append(id)
    return tuple(owners)


async def standing(evidence: Evidence, breakpoints: Breakpoints, frame: Frame) -> tuple[str, ...]:
    """The breakpoints of a frame's line that hold there, as far as that can be asked: not those that count their hits."""
    found = []
    for wanted in breakpoints.standing_at(frame.file, frame.line):
        if wanted.hit or wanted.log:
            continue
        if wanted.condition is not None:
            (answer,) = await evidence.evaluate(frame.id, (wanted.condition,), Bounds(), _PATIENCE)
            if answer.value is None or answer.value.value != "true":
                continue
        found.append(wanted.id)
    return tuple(found)


async def holds(evidence: Evidence, frame: str, condition: str, truth: str = "bool({})") -> bool:
    """Whether a breakpoint's condition is true in this frame; one that cannot be evaluated is not."""
    try:
        (answer,) = await evidence.evaluate(frame, (truth.replace("{}", condition),), Bounds(), _PATIENCE)
    except StillframeError:
        return False
    return answer.value is not None and answer.value.value.lower() in ("true", "1")
