"""A failing test run once more under a debugger, held where it fails: for what only a living frame can tell."""

from __future__ import annotations

import asyncio
import re

import msgspec

from ..adapters.runners import Live
from ..model.backend import CatchRule, Move
from ..model.outcomes import Stop
from ..model.plans import Caller
from ..model.reports import ReportFrame, Witnessed
from ..model.tested import TestFailure
from ..session import family
from ..session.phases import Phase
from ..session.reporting import witnessed
from ..session.session import Session
from ..session.sessions import Sessions
from .breakpoints import catch_rule
from .common import Cue
from .held import LEASE
from .launch import start
from .private_runs import started

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Seen(msgspec.Struct, frozen=True):
    """A failure as the debugger showed it, and the session, which lives only where it was to be held."""

    session: Session
    stack: Witnessed
    message: str = ""
    """What the error said this time, where there was one."""
    thrown: bool = True
    """Whether it stood at the failure; else the frame is as it was when the failing line was come to."""


async def again_under_debugger(
    sessions: Sessions, caller: Caller, live: Live, wait: float, cue: Cue, *, hold: bool
) -> Seen | None:
    """Run to the failure and read it; None where it does not come again. Where it is told again and yet nothing was thrown
    (`done(error)`), what is read is the line that it is told of, as it was come to."""
    starting = start(
        sessions, live.plan, caller, breaks=live.breaks, catch=live.catch, name=None, default_name="test",
        private=not hold, lease=LEASE if hold else None,
    )  # fmt: skip
    session = await started(sessions, asyncio.ensure_future(starting))
    stays = False
    try:
        await cue.given(session, caller, wait)
        member, before = await _reached(session, live, wait)
        if member is None:
            return Seen(session, before, thrown=False) if live.fails_again() else None
        error = member.stop.exception if member.stop is not None else None
        stack = await witnessed(member, member.thread_id(None), live=hold)
        seen = Seen(member, stack, error.message if error is not None else "")
        if hold:  # whoever goes on from here is not to be stopped by each error that the runner throws and catches
            await family.set_catch(session.root, CatchRule())
        stays = hold
        return seen
    finally:
        if not stays:
            await asyncio.shield(asyncio.ensure_future(sessions.discard(session)))


async def _reached(session: Session, live: Live, wait: float) -> tuple[Session | None, Witnessed]:
    """Let it go from stop to stop until it stands at the failure; the frame of the user's own is the one looked at. Also told is
    how the line was come to."""
    loop = asyncio.get_running_loop()
    before = Witnessed()
    began = loop.time()
    listening = not live.then_catch
    while True:
        member = await session.settle(max(0.0, began + wait - loop.time()))
        stop = member.outcome(news=False)
        if not isinstance(stop, Stop) or loop.time() - began > wait:
            return None, before
        if listening and live.is_it(stop):
            member.focus_frame = next((at for at, each in enumerate(stop.stack) if each.kind == "user"), 0)
            return member, before
        if not listening:
            listening = True
            before = await witnessed(member, member.thread_id(None), live=False)
            await family.set_catch(session, catch_rule(live.then_catch))
        if member.phase is Phase.STOPPED:
            await member.resume(Move.CONTINUE)


def with_frames(failure: TestFailure, stack: Witnessed, live: Live) -> TestFailure:
    """The failure with frames that have values; those of the first run where the debugger showed none of the user's."""
    own = tuple(_without_hidden(each, live) for each in stack.frames if not each.library)
    if not own:
        return failure
    while len(own) > 1 and live.wraps(own[-1]):
        own = own[:-1]
    if live.cuts:
        own = own[: max(1, len(failure.frames))]  # beyond those that the error itself told are the runner's reasons
    # how an assertion is made is nobody's business
    inner = msgspec.structs.replace(own[0], folded=0, folded_in=()) if failure.asserts else own[0]
    return msgspec.structs.replace(failure, frames=(inner, *own[1:]))


def otherwise(failure: TestFailure, message: str) -> str | None:
    """What is to be said where the further run failed with other values than the first: which of them are told."""
    first, again = _said(failure.message), _said(message)
    pair = next(((one, other) for one, other in zip(first, again, strict=False) if one != other), None)
    if pair is None:
        return None
    return (
        f"run again by itself it failed otherwise ({pair[1][:120]}), and the values told are of that run: what ran before it"
        " may have left something behind"
    )


def _said(message: str) -> list[str]:
    """The lines of a message, without colours and blank space."""
    return [" ".join(line.split()) for line in _COLOUR.sub("", message).splitlines() if line.strip()]


def _without_hidden(frame: ReportFrame, live: Live) -> ReportFrame:
    kept = tuple(each for each in frame.values if not live.hidden(each))
    gone = len(frame.values) - len(kept)
    total = frame.values_total - gone if frame.values_total is not None else None
    return msgspec.structs.replace(frame, values=kept, values_total=total)
