"""What a family of sessions shares: breakpoints and exception rules go to every member, and what became of them is one answer."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import msgspec

from ..errors import AdapterGone, StillframeError
from ..model.backend import CatchRule
from ..model.outcomes import Breakpoint
from ..model.powers import Rechecks, Wraps
from .phases import Phase

if TYPE_CHECKING:
    from .session import Session

RECHECK_SECONDS = 2.0
"""How long a reply waits for news of pending breakpoints; later news count for the next one."""


async def sync_breakpoints(session: Session) -> None:
    """Make the debuggers of this session and of its descendants want what we want."""
    if session.live and session.phase is not Phase.NEW:
        session.need_live()
        with _may_end(session):
            await session.breakpoints.sync(session.backend)
    for child in session.children:
        child.breakpoints.adopt(session.breakpoints)
        await sync_breakpoints(child)
    session.on_breakpoints(session)


def _may_end(member: Session) -> contextlib.AbstractContextManager[None]:
    """A child that ends in the middle of an order to the family is no fault of the order; its end comes as an event."""
    return contextlib.nullcontext() if member.parent is None else contextlib.suppress(AdapterGone)


async def recheck(session: Session) -> None:
    """Ask anew about breakpoints whose file was not loaded when the family last heard of it."""
    asked = {member.keep(_recheck(member), "recheck") for member in session.family() if member.live}
    if asked:
        await asyncio.wait(asked, timeout=RECHECK_SECONDS)


async def _recheck(member: Session) -> None:
    pending = any(each.state == "pending" for each in member.breakpoints.list())
    if pending and not member.suspended and isinstance(member.backend, Rechecks):
        with contextlib.suppress(StillframeError):  # it cannot say now; what we know stands
            member.breakpoints.bound(await member.backend.recheck())


async def set_catch(session: Session, rule: CatchRule) -> None:
    for member in session.family():
        if member.live:
            with _may_end(member):
                await member.backend.set_catch(rule)
        member.catch = rule


def as_a_whole(session: Session, made: tuple[Breakpoint, ...]) -> tuple[Breakpoint, ...]:
    """Breakpoints of a session; what is not bound there but in a child of it is bound, and the row says where.

    Of a wrapper, which has no debugger, what a child makes of it is told in any case.
    """
    return tuple(each if each.state == "bound" else _seen_below(session, each) for each in made)


def _seen_below(session: Session, made: Breakpoint) -> Breakpoint:
    below = [each for each in session.family() if each is not session and made.id in each.breakpoints]
    seen = [(each, each.breakpoints.view(each.breakpoints.get(made.id))) for each in below]
    bound = [(each, theirs) for each, theirs in seen if theirs.state == "bound"]
    if not bound and not isinstance(session.backend, Wraps):
        return made
    for member, theirs in bound or seen:
        message = theirs.message or f"in {member.name}"
        return msgspec.structs.replace(made, state=theirs.state, actual=theirs.actual, message=message)
    return made


def heirs(session: Session) -> list[Session]:
    """What a program that has ended left behind and that is debugged with it, such as a daemon; none while it lives itself."""
    return [each for each in session.family() if each is not session and each.live] if not session.live else []
