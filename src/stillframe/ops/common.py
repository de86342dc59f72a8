"""What operations share: the parameters that many verbs take, and the way to move a program and tell what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import msgspec

from ..errors import NotFound, UsageError
from ..model import wording
from ..model.backend import Move
from ..model.outcomes import AT_RETURN, AnyOutcome, Exited, Passed, Running, Stop
from ..model.places import HerePlace, LinePlace, Place
from ..model.plans import Caller
from ..model.powers import Prints
from ..registry import Access, From, Param
from ..session import family, telling
from ..session.bell import catch_up
from ..session.beside import Beside
from ..session.evidence import passed, since
from ..session.holding import CAPTURE_SECONDS
from ..session.phases import Phase
from ..session.ready import Ready
from ..session.session import Session
from ..session.sessions import Sessions
from ..session.waits import Wait

Timeout = Annotated[
    float | None, Param("seconds to wait for a stop; then it is `running`, which is no error", metavar="S")
]
RunSeconds = Annotated[
    float | None, Param("seconds that it may run; then what was seen is told, and it is ended", metavar="S")
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


AFTER_END = 5.0
"""Seconds that what a program left behind when it ended, such as a daemon, is watched."""


AFTER_RETURN = 2.0
"""Seconds that a step gets from the end of a call whose value goes to none of the user's code, unless more are asked for."""


def waited_after_do() -> str:
    return f"it was waited for until {AFTER_DO:g} s after the command of {wording.option('do', None)} had ended"


LAST_STEP = 1.0
"""Seconds that the last of many steps gets when the time is over, so as to end between two of them."""
CALLED_OFF = "somebody ended this wait by `cancel`; the program was left as it is"
MOST_PASSED = 500
"""Lines passed that one reply carries; the newest are kept."""


async def at_hand(session: Session | None, place: Place, caller: Caller) -> Place:
    """The place; a line number by itself is a line of the file of the selected frame."""
    if not isinstance(place, HerePlace) or session is None or session.stop is None:
        return place
    page = await session.backend.stack(session.thread_id(None), session.focus_frame, 1)
    file = page.frames[0].file if page.frames else None
    if file is None:
        raise NotFound(f"the selected frame has no source file; name the file too, as in shop.py:{place}")
    return LinePlace(
        str(Path(file).relative_to(caller.cwd)) if Path(file).is_relative_to(caller.cwd) else file, place.line
    )


async def run_beside(session: Session, command: str, caller: Caller) -> Beside:
    """Start the command of `--do`; its end wakes whoever waits for the session."""
    beside = await Beside.start(command, caller, session.root.bell.ring)
    session.beside.append(beside)
    return beside


class Cue(msgspec.Struct, frozen=True):
    """What somebody does to a program once it is ready for it: every further run of a question needs it as the first one did."""

    ready: Ready | None = None
    do: str | None = None

    async def given(
        self, session: Session, caller: Caller, seconds: float, when_ready: Callable[[], Awaitable[None]] | None = None
    ) -> bool:
        """Give it as soon as the program is ready; False where that stopped or ended before, so that it may be asked again."""
        if self.ready and await self.ready.wait(session, seconds) is None:
            return False
        if when_ready is not None:
            await when_ready()
        if self.do:
            await run_beside(session, self.do, caller)
        return True


NO_CUE = Cue()


async def settle(
    sessions: Sessions, session: Session, timeout: float | None, *, alone: bool = False, news: bool = True
) -> From[AnyOutcome]:
    """Wait for what comes: a stop in the family, the end, the end of the time, or of a command that was to cause a stop.

    `alone` waits for this very session, as a step does; `news=False` leaves what was printed for the next reply.
    """
    loop = asyncio.get_running_loop()
    limit = sessions.settings_of(session.origin.root).wait if timeout is None else timeout
    began = loop.time()
    notes: tuple[str, ...] = ()
    with session.waits.one() as wait:
        member = await heard_of(session, limit, alone=alone, wait=wait)
        if member.parent is not None and not member.live:
            # A child's end settles nothing while its family goes on: what was waited for is the next stop, or the end of it all.
            notes = (_how_it_ended(member),)
            member = await heard_next(member.root, max(0.0, limit - (loop.time() - began)), wait)
        if member.phase is Phase.STOPPED and not member.settled:
            # The wait was for a stop; to read it has a time of its own.
            await member.root.bell.wait_for(lambda: member.settled or wait.is_called_off, CAPTURE_SECONDS)
    member.last_used = session.last_used
    outcome = member.outcome(after=round(loop.time() - began, 1), news=news)
    if isinstance(outcome, Running):
        notes += (CALLED_OFF,) if wait.is_called_off else ()
        outcome = _with_held(session, msgspec.structs.replace(outcome, notes=notes + outcome.notes))
    return From(member, outcome)


def _how_it_ended(child: Session) -> str:
    match child.outcome(news=False):
        case Exited(signal=str(signal)):
            return f"{child.name} exited by {signal}"
        case Exited(exit_code=int(code)):
            return f"{child.name} exited {code}"
        case _:
            return f"{child.name} has ended"


async def heard_of(session: Session, limit: float, *, alone: bool = False, wait: Wait | None = None) -> Session:
    """Wait for a stop or the end, or for a little longer than the commands run beside; the member that it came from."""
    loop = asyncio.get_running_loop()
    began, off = loop.time(), wait or Wait()
    beside = [each for each in session.beside if not each.ended]
    if beside:
        await session.root.bell.wait_for(
            lambda: (
                off.is_called_off
                or any(each.ended for each in beside)
                or session.settled_member(alone=alone) is not None
            ),
            limit,
        )
        limit = max(0.0, limit - (loop.time() - began))
        limit = min(limit, AFTER_DO) if any(each.ended for each in beside) else limit
    return await session.settle(limit, alone=alone, wait=off)


async def heard_next(session: Session, limit: float, wait: Wait | None = None) -> Session:
    """As before, from stop to stop of one question: not for long where the commands run beside ended in between, as a server
    may raise its error once more when it has answered the request."""
    asked = session.beside
    limit = min(limit, AFTER_DO) if asked and all(each.ended for each in asked) else limit
    return await heard_of(session, limit, wait=wait)


async def take_printed(session: Session) -> None:
    """Have what was printed by now told with the next outcome, a line that has not ended as well."""
    if isinstance(session.backend, Prints):
        session.backend.read_output()
        await catch_up()


async def outlived(session: Session, limit: float) -> bool:
    """Whether something that an ended program left behind, such as a daemon, came to a stop. That is waited for until all of it
    has ended, and not for long: it may be meant to stay."""

    def stopped() -> bool:
        return any(each.phase is Phase.STOPPED and each.settled for each in family.heirs(session))

    def told() -> bool:
        return stopped() or not family.heirs(session)

    wait, bell = AFTER_END, session.root.bell
    if session.beside:
        await bell.wait_for(lambda: told() or all(each.ended for each in session.beside), limit)
        wait = AFTER_DO
    await bell.wait_for(told, min(limit, wait))
    return stopped()


def _with_held(session: Session, running: Running) -> Running:
    """A program that runs on, with the members of its family that do not: they wait for somebody."""
    notes = tuple(
        f"{each.name} is held at {each.stop.frame.file}:{each.stop.frame.line} ({wording.call('continue', session=each.name)})"
        for each in session.root.family()
        if each is not session and each.stop and each.stop.frame
    )
    return msgspec.structs.replace(running, notes=running.notes + notes)


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
    if do:
        session.need_stopped("wait", do=do)
    loop = asyncio.get_running_loop()
    limit, began = timeout, loop.time()
    trail: list[Passed] = []
    stepping, asked = how is not Move.CONTINUE, count
    while True:
        before = session.stop
        leads_nowhere = stepping and before is not None and before.reason == AT_RETURN
        await session.resume(how, session.thread_id(thread) if thread else None)
        if limit is None:  # looked up when the debugger is at work
            limit = sessions.settings_of(session.origin.root).wait
        if do:
            await run_beside(session, do, caller)
        do, count = None, count - 1
        left = max(LAST_STEP if trail else 0.0, limit - (loop.time() - began))
        left = min(left, AFTER_RETURN) if leads_nowhere and timeout is None else left
        told = await settle(sessions, session, left, alone=stepping, news=False)
        outcome = told.result
        if isinstance(outcome, Stop) and told.session is session:
            if not stepping and asked > 1:
                outcome = _run_on(before, outcome)
            trail.extend(outcome.trail)
            if count > 0 and (_step_done(outcome) if stepping else _at_breakpoint(session, outcome)):
                if loop.time() - began < limit:
                    continue
                session.note(f"{asked - count:,} of {asked:,} {'steps' if stepping else 'times'} in {limit:g} s")
        final = telling.with_news(told.session, outcome)
        if isinstance(final, Running):
            notes = (*final.notes, _of_step(leads_nowhere)) if stepping and session.live else final.notes
            final = msgspec.structs.replace(final, after=round(loop.time() - began, 1), notes=notes)
        return From(told.session, with_trail(final, trail))


def _of_step(leads_nowhere: bool) -> str:
    """Why a step came to no stop in its time."""
    if leads_nowhere:
        return f"nothing of your code goes on with what returned ({wording.call('wait')} tells the next stop)"
    return "its step is still under way"


def _at_breakpoint(session: Session, stop: Stop) -> bool:
    """In a replay, too, where it was one of the run that is gone through."""
    return bool(stop.breakpoints) or (not session.origin.kept and stop.reason == "breakpoint")


def _step_done(stop: Stop) -> bool:
    """Whether a step ended where it would have ended anyway: a breakpoint on the very next line does not cut a count short."""
    return stop.reason == "step" or (bool(stop.breakpoints) and stop.same_frame)


def _run_on(before: Stop | None, stop: Stop) -> Stop:
    """A stop on the way, told as a step is: what ran since the program was held before, and what that changed."""
    if before is not None and before.frame is not None and stop.same_frame and not _in_one_call(before, stop):
        left = Passed(file=before.frame.file, line=before.frame.line, function=before.frame.function)
        return msgspec.structs.replace(
            stop, trail=(left, *([since(stop.frame, stop.changes)] if stop.changes else ())), changes=()
        )
    line = passed(before, stop.frame, stop.changes, same_frame=stop.same_frame)
    return msgspec.structs.replace(stop, trail=line, changes=())


def _in_one_call(before: Stop, stop: Stop) -> bool:
    """Whether a frame that the program was held in before is the one of the last stop, and not one of an earlier stop."""
    one, other = ((each.thread, each.stack_total or len(each.stack)) for each in (before, stop))
    return one == other


def with_trail(outcome: AnyOutcome, trail: list[Passed]) -> AnyOutcome:
    """The outcome of several steps: where it ended, and the lines that led there."""
    if isinstance(outcome, Stop | Exited | Running) and trail:
        return msgspec.structs.replace(outcome, trail=tuple(trail[-MOST_PASSED:]))
    return outcome
