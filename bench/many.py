"""Many sessions of mixed debuggers held at once: what a step costs among them, against the same step alone."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

import stillframe
from stillframe.faces.library import Debugger

from .subjects import Subject

SESSIONS = 50
_STEPS = 5
_ALONE = 4
"""How many sessions, one after another, before the crowd and again after it: as many steps are compared with as many."""


async def measure(subjects: Sequence[Subject], sessions: int = SESSIONS) -> dict[str, tuple[float, float]]:
    """For each debugger the median of a step alone and of a step among all the others, in milliseconds."""
    times: dict[str, tuple[list[float], list[float]]] = {each.name: ([], []) for each in subjects}

    async def alone(dbg: Debugger) -> None:
        # The very steps that are taken among the others, and no later ones of the program: the first few after a start cost
        # more in some debuggers, which collect the garbage of their own start then (Ruby, within the first five).
        for each in [each for each in subjects for _ in range(_ALONE)]:
            await _launched(dbg, each, name := f"alone-{each.name}")
            times[each.name][0].extend([await _step(dbg, name) for _ in range(_STEPS)][1:])
            await dbg.stop(session=name)

    async with Debugger() as dbg:
        await alone(dbg)
        held = [(subjects[number % len(subjects)], f"s{number}") for number in range(sessions)]
        for each, name in held:
            await _launched(dbg, each, name)
        for turn in range(_STEPS):
            for each, name in held:
                took = await _step(dbg, name)
                if turn:  # the first step of a session finds caches cold, alone as well
                    times[each.name][1].append(took)
        await dbg.stop(all=True)
        await alone(dbg)  # before and after: what else the machine does changes meanwhile
    return {name: (statistics.median(alone), statistics.median(among)) for name, (alone, among) in times.items()}


async def _launched(dbg: Debugger, subject: Subject, name: str) -> None:
    stop = await dbg.launch(
        str(subject.program), breaks=[f"{subject.source}:{subject.line}"], name=name, python=subject.python,
        adapter=subject.adapter,
    )  # fmt: skip
    assert isinstance(stop, stillframe.Stop), stop


async def _step(dbg: Debugger, session: str) -> float:
    began = time.perf_counter()
    stop = await dbg.next(session=session)
    took = (time.perf_counter() - began) * 1000
    assert isinstance(stop, stillframe.Stop), stop
    return took
