"""One run watched until it is over: every failure on the way is looked into once, and the program is let go to its true end."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import msgspec

from ..adapters.leaving import Leaving, Recovering
from ..errors import AdapterGone, StillframeError
from ..model.backend import Bounds, CatchRule, Move
from ..model.outcomes import AT_RETURN, AnyOutcome, Exited, Running, Stop
from ..model.reports import Failure, FailureWord, ReportFrame, Witnessed, spot
from ..model.values import ExceptionInfo
from ..session import family
from ..session.phases import Phase
from ..session.reporting import unlinked, witnessed
from ..session.session import Session
from .common import heard_next, outlived
from .origins import with_origin
from .recovering import recovered

LET_GO = 5.0
"""Seconds that a program is given to come to its end after something went wrong in it."""
CODE_SECONDS = 5.0
MOST_RAISED = 100
"""Errors that are looked at where they are thrown, though somebody seems to handle them; from then on only the others are."""
KEPT_RAISED = 20
MOST_ALSO = 6
"""Further failures of a run that a report tells."""
_NO_FAILURES = ("pause", "step", AT_RETURN, "entry", "breakpoint", "debugger statement")


WhenReady = Callable[[], Awaitable[None]]
"""Awaited when the program is ready, before it is given what it is to answer."""


class Watched(msgspec.Struct):
    """What was seen of one run."""

    end: AnyOutcome = msgspec.field(default_factory=Running)
    failures: list[Failure] = msgspec.field(default_factory=list[Failure])
    total: int = 0
    """Failures in all; those beyond some are counted and not looked into."""
    leaving: Failure | None = None
    """The last call that was to end the program."""
    raised: list[Failure] = msgspec.field(default_factory=list[Failure])
    """Errors that somebody seemed to handle, the newest ones: where nobody did after all, these have the values."""
    raised_total: int = 0
    """How many of them there were since it had its cue, or until then."""
    raised_before: list[Failure] = msgspec.field(default_factory=list[Failure])
    """Those of them that were kept when it had its cue."""
    handed: list[Failure] = msgspec.field(default_factory=list[Failure])
    """Errors that left the user's code and that library code handled."""

    @property
    def answered(self) -> list[Failure]:
        """Errors in the user's code that somebody handled since the program had its cue, the first of them first."""
        thrown = [each for each in self.raised if all(each is not early for early in self.raised_before)]
        return self.handed or [each for each in thrown if each.stack.frames and not each.stack.frames[0].library]

    held: Session | None = None
    """The member that is still held at its failure, where that was asked for."""
    cued: bool = False
    """It was ready, and was given what it was to answer."""
    overdue: bool = False
    """It ran on when the time was over, without anything having gone wrong."""
    after: float = 0.0
    """Seconds that it was watched."""


async def watch(
    session: Session, seconds: float, cue: Callable[[float, WhenReady], Awaitable[bool]], patience: float, *, hold: bool,
    exits: Mapping[str, Leaving], recovers: Mapping[str, Recovering],
) -> Watched:  # fmt: skip
    """Follow a run from failure to failure to its end, or to the end of the time; `exits` names the breakpoints at functions
    that end a program, `recovers` those at functions that handle its errors. With `hold` the first failure is where it
    stays. The time begins when the program has had its cue, for which it has `patience`; what stops it before that is looked
    into like anything else."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    until = began + patience
    seen = Watched()
    when_ready = partial(_look_anew, session, seen, session.catch)
    while True:
        if not seen.cued and await cue(max(0.0, until - loop.time()), when_ready):
            seen.cued, until = True, loop.time() + seconds
        member = await heard_next(session, max(0.0, until - loop.time()))
        stop = member.outcome(news=False)
        if not isinstance(stop, Stop):
            if isinstance(stop, Exited) and await outlived(session, max(0.0, until - loop.time())):
                continue
            break
        inside = 0
        if (exit_ := _exit_of(stop, exits)) is not None:
            found = await _left(member, stop, seen, exit_, live=hold)
        elif recovers and not recovers.keys().isdisjoint(stop.breakpoints):
            found, inside = await _recovered(member, stop, seen, recovers, live=hold)
        else:
            found = await _failed(member, stop, seen, live=hold)
        if found is not None and hold:
            seen.held = member
            if found.stack.frames and not found.stack.frames[0].library:
                member.focus_frame = inside + found.stack.frames[0].folded  # not in what it called
            break
        if seen.failures:
            until = min(until, loop.time() + LET_GO)
        await _let_go(member)
    seen.overdue = isinstance(stop, Running) and not seen.failures
    seen.after = round(loop.time() - began, 1)
    told = session.outcome(after=seen.after)
    seen.end = msgspec.structs.replace(told, never_hit=()) if isinstance(told, Exited) else told
    return seen


async def _look_anew(session: Session, seen: Watched, rule: CatchRule) -> None:
    """What matters comes now, however much was thrown and handled as the program came up: it is looked at as from the start."""
    if seen.raised_total >= MOST_RAISED:
        await family.set_catch(session, rule)
    seen.raised_before, seen.raised_total = seen.raised, 0


def _exit_of(stop: Stop, exits: Mapping[str, Leaving]) -> Leaving | None:
    """The function of those that end a program that this stop is in. Of several without a line of their own, lldb-dap 19.1 does
    not tell which one was come to: the innermost call does."""
    known = [exits[id] for id in stop.breakpoints if id in exits]
    here = stop.stack[0].function if stop.stack else None
    return next((each for each in exits.values() if known and each.function == here), next(iter(known), None))


async def _failed(member: Session, stop: Stop, seen: Watched, *, live: bool) -> Failure | None:
    """The failure that a stop is for, noted; None where it is for none, or for one more than are looked into."""
    if stop.exception is None and stop.reason in _NO_FAILURES:
        return None
    if stop.exception is not None and stop.exception.mode == "raised":
        await _raised(member, stop, seen)
        return None
    if stop.reason == "exit":
        called = stop.stack[0].function if stop.stack else "exit"
        seen.leaving = await failure_of(member, stop, live=live, what=f"{called} called")
        return seen.leaving
    if stop.exception is not None and stop.exception.mode == "exit":
        seen.leaving = await failure_of(member, stop, live=live)
        return seen.leaving
    if stop.exception is not None and stop.exception.mode == "user":
        return await _handed(member, stop, seen, live=live)
    seen.total += 1
    if seen.total > MOST_ALSO:
        return None
    seen.failures.append(with_origin(await failure_of(member, stop, live=live), seen.raised, live=live))
    return seen.failures[-1]


async def _raised(member: Session, stop: Stop, seen: Watched) -> None:
    """Remember an error where it is thrown; a program that throws all the time is soon left alone."""
    seen.raised_total += 1
    if seen.raised_total >= MOST_RAISED:
        await family.set_catch(member.root, CatchRule())
    found = await failure_of(member, stop, live=False)
    if found.stack != _of_stop(stop):  # else it is library code that passes it on, and no call of the user's is there
        seen.raised = [*seen.raised[1 - KEPT_RAISED :], found]


async def _handed(member: Session, stop: Stop, seen: Watched, *, live: bool) -> Failure | None:
    """An error that leaves the user's code: noted once, though it may come back into that code and leave it again."""
    seen.raised_total += 1
    if seen.raised_total >= MOST_RAISED:
        await family.set_catch(member.root, CatchRule())
    found = await failure_of(member, stop, live=live)
    if seen.handed and seen.handed[-1].what == found.what:
        return None
    seen.handed.append(found)
    if len(seen.handed) >= KEPT_RAISED:
        await family.set_catch(member.root, CatchRule())
    return found


async def _recovered(
    member: Session, stop: Stop, seen: Watched, recovers: Mapping[str, Recovering], *, live: bool
) -> tuple[Failure | None, int]:
    """An error that somebody is about to handle, noted once, and how many calls the handler has; a program that recovers all
    the time is soon left alone."""
    seen.raised_total += 1
    if seen.raised_total == MOST_RAISED:
        member.root.breakpoints.remove(tuple(recovers))
        await family.sync_breakpoints(member.root)
    how = next(recovers[id] for id in stop.breakpoints if id in recovers)
    try:
        found = await recovered(member, stop, how, live=live) if seen.cued else None
    except StillframeError:  # it is gone already, or cannot be read
        found = None
    if found is None or any(each.what == found[0].what for each in seen.handed) or len(seen.handed) >= KEPT_RAISED:
        return None, 0
    seen.handed.append(found[0])
    return found


async def _left(member: Session, stop: Stop, seen: Watched, exit_: Leaving, *, live: bool) -> Failure | None:
    """A call that ends the program, noted unless it does so well; it is what to look at where its code surely is not 0."""
    code = await _code(member, exit_)
    if code == 0:
        return None
    found = await failure_of(member, stop, live=live, what=f"{exit_.function} called")
    top = found.stack.frames[0] if found.stack.frames else None
    if top is None or top.library:
        return None
    if seen.leaving is None or spot(top) != spot(seen.leaving.stack.frames[0]):  # exit itself calls _exit in the end
        seen.leaving = found
    return found if code is not None and seen.leaving is found else None


async def _code(member: Session, exit_: Leaving) -> int | None:
    """The exit code that a function was called with; None where the debugger cannot tell."""
    thread = member.thread_id(None)
    try:
        top = (await member.backend.stack(thread, 0, 1)).frames[0].id
        told = await member.backend.evaluate(top, exit_.code, Bounds(), CODE_SECONDS)
    except (StillframeError, IndexError):
        return None
    found = (re.match(r"-?\d+", each.value.value) for each in told if each.value is not None)
    return next((int(match[0]) for match in found if match), None)


async def _let_go(member: Session) -> None:
    if member.phase is Phase.STOPPED:
        try:
            await member.resume(Move.CONTINUE)
        except AdapterGone:
            return  # its end is told as an event


async def failure_of(member: Session, stop: Stop, *, live: bool, what: str | None = None) -> Failure:
    """A stop as a failure: what went wrong, and the user's calls with their values."""
    try:
        stack = await witnessed(member, member.thread_id(None), live=live)
    except (
        StillframeError
    ):  # it is gone already, or cannot be read any further: what the stop itself tells is the evidence
        stack = _of_stop(stop)
    if all(each.library for each in stack.frames) and stop.frame is not None and stop.frame.kind == "user":
        stack = _of_stop(stop)  # it is about a line that no call is at, such as one that does not compile
    info = stop.exception
    return Failure(
        what=what or (described(info) if info else stop.reason),
        kind=_kind(info) if what is None else "exit",
        exception=info,
        stack=stack,
        process=member.name if member.parent is not None else None,
        thread=stop.thread_name,
        notes=stop.notes if what is None else (),
    )


def described(info: ExceptionInfo) -> str:
    return f"{info.type}: {info.message}" if info.message else info.type


def _kind(info: ExceptionInfo | None) -> FailureWord:
    if info is None:
        return "unknown"
    if info.mode == "exit":
        return "exit"
    return "signal" if info.type.startswith("SIG") else "exception"


def _of_stop(stop: Stop) -> Witnessed:
    at = stop.frame
    if at is None:
        return Witnessed()
    values = tuple(unlinked(each) for each in stop.locals)
    frame = ReportFrame(function=at.function, file=at.file, line=at.line, source=stop.source, values=values)
    return Witnessed(frames=(frame,), total=stop.stack_total)
