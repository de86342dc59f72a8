"""What operations share: the parameters that many verbs take, and the way to move a program and tell what came of it."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec

from ..errors import UsageError
from ..model.backend import Caller, Move
from ..model.outcomes import AnyOutcome, Exited, Passed, Running, Stop
from ..registry import Access, From, Param
from ..session.beside import Beside
from ..session.session import Session
from ..session.sessions import Sessions

Timeout = Annotated[
    float | None, Param("seconds to wait for a stop; then it is `running`, which is no error", metavar="S")
]
Do = Annotated[
    str | None,
    Param("a shell command to run beside the program, such as the request that it is to answer", access=Access.EXEC),
]
ThreadWord = Annotated[str | None, Param("the thread to act on, such as t2; the stopped one if left out", metavar="T")]
FrameWord = Annotated[str | None, Param("the frame to look at, such as f1; the selected one if left out", metavar="F")]
Start = Annotated[int, Param("where the page begins", metavar="N")]
Count = Annotated[int, Param("how many at the most", metavar="N")]

AFTER_DO = 1.0
"""Seconds that a stop may still come after the command of `--do` has ended."""
MOST_PASSED = 500
"""Lines passed that one reply carries; the newest are kept."""


async def run_beside(session: Session, command: str, caller: Caller) -> Beside:
    """Start the command of `--do`; its end wakes whoever waits for the session."""
    beside = await Beside.start(command, caller, session.bell.ring)
    session.beside.append(beside)
    return beside


async def settle(
    sessions: Sessions, session: Session, timeout: float | None, beside: Beside | None = None
) -> From[AnyOutcome]:
    """Wait for what comes: a stop in the family, the end, or the end of the time."""
    loop = asyncio.get_running_loop()
    limit = sessions.settings(session.origin.base).wait if timeout is None else timeout
    began = loop.time()
    if beside is not None:
        await session.bell.wait_for(lambda: beside.ended or session.settled_member() is not None, limit)
        limit = max(0.0, min(limit - (loop.time() - began), AFTER_DO)) if beside.ended else 0.0
    member = await session.settle(limit)
    member.last_used = session.last_used
    return From(member, member.outcome(after=round(loop.time() - began, 1)))


async def move(
    sessions: Sessions,
    session: Session,
    how: Move,
    *,
    caller: Caller,
    thread: str | None = None,
    count: int = 1,
    timeout: float | None = None,
    do: str | None = None,
) -> From[AnyOutcome]:
    """Move the program `count` times, or until something else than a finished step stops it; tell every line passed."""
    if count < 1:
        raise UsageError("--count takes a number from 1 up")
    loop = asyncio.get_running_loop()
    limit = sessions.settings(session.origin.base).wait if timeout is None else timeout
    deadline = loop.time() + limit
    trail: list[Passed] = []
    while True:
        await session.resume(how, session.thread_id(thread) if thread else None)
        beside = await run_beside(session, do, caller) if do else None
        do, count = None, count - 1
        told = await settle(sessions, session, max(0.0, deadline - loop.time()), beside)
        outcome = told.result
        if isinstance(outcome, Stop) and told.session is session:
            trail.extend(outcome.trail)
            if count > 0 and _step_done(outcome):
                continue
        if isinstance(outcome, Running):
            outcome = msgspec.structs.replace(outcome, after=round(limit, 1))
        return From(told.session, with_trail(outcome, trail))


def _step_done(stop: Stop) -> bool:
    """Whether a step ended where it would have ended anyway: a breakpoint on the very next line does not cut a count short."""
    return stop.reason == "step" or (bool(stop.breakpoints) and stop.same_frame)


def with_trail(outcome: AnyOutcome, trail: list[Passed]) -> AnyOutcome:
    """The outcome of several steps: where it ended, and the lines that led there."""
    if isinstance(outcome, Stop | Exited) and trail:
        return msgspec.structs.replace(outcome, trail=tuple(trail[-MOST_PASSED:]))
    return outcome
