"""Several threads at breakpoints at once, where the debugger tells of one: asked for before the program goes on."""

from __future__ import annotations

import msgspec

from ...errors import StillframeError
from ...model.backend import Bounds, Stopped
from .breakpoints import Breakpoints
from .evidence import Evidence

_PATIENCE = 2.0
_MANY = 60_000
"""Characters and items of the list; a thousand threads fit."""
_LOOKED_AT = 32
"""So many threads are asked where they stand, when they do not know it themselves."""


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
        if condition is None or await _holds(evidence, frame.id, condition):
            owners.append(id)
    return tuple(owners)


async def _holds(evidence: Evidence, frame: str, condition: str) -> bool:
    try:
        (answer,) = await evidence.evaluate(frame, (f"bool({condition})",), Bounds(), _PATIENCE)
    except StillframeError:
        return False
    return answer.value is not None and answer.value.value.lower() == "true"
