"""What a session tells the record: that a run begins, its stops, how its breakpoints stand, and how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ..model.outcomes import Stop
from ..model.plans import Plan
from ..model.recording import BLANK, Recorder, RunFacts, Tape
from .breakpoints import absolute

if TYPE_CHECKING:
    from .session import Session

INSIDE = 24
"""Parts of values whose text is cut that are recorded with a stop, so that it can be looked into later."""


def begin(session: Session, recorder: Recorder | None) -> Tape:
    """A tape for a new session; what its family prints goes to that of its root."""
    if recorder is None or not session.origin.kept:
        return BLANK
    plan = session.origin.plan
    facts = RunFacts(
        name=session.name,
        root=session.origin.root,
        base=session.origin.base,
        command=(plan.asked or plan.command) if isinstance(plan, Plan) else (),
        tool=session.tool.tool,
        version=session.tool.version,
        attached=not session.backend.launched,
        pid=session.backend.pid,
    )
    session.bounds = msgspec.structs.replace(session.bounds, inside=INSIDE)
    tape = recorder.begin(facts, session.parent.tape if session.parent else None)
    if session.parent is None:
        session.output.heard = tape.printed
    return tape


def breakpoints(session: Session) -> None:
    """They were changed; one that is gone before the program is held again has a fate as well."""
    session.tape.breakpoints(session.breakpoints.list())


async def stopped(session: Session, stop: Stop) -> Stop:
    """Write a stop down, before anybody is told of it; what must be said of that goes with the next reply."""
    if session.tape is BLANK:
        return stop
    session.tape.breakpoints(session.breakpoints.list())
    file = stop.frame.file if stop.frame else None
    lines = session.sources.lines(absolute(file, session.origin.base)) if file else []
    for said in await session.tape.stop(stop, lines):
        session.note(said)  # not with this stop, which is told to nobody where it is one of many that are passed
    if any(each.children for each in stop.locals):  # for the record alone: of a live program they can be asked for
        bare = tuple(msgspec.structs.replace(each, children=()) for each in stop.locals)
        stop = msgspec.structs.replace(stop, locals=bare)
    return stop


def over(session: Session) -> None:
    """It has ended; told as often as anybody notices, written once."""
    session.tape.breakpoints(session.breakpoints.list())
    session.tape.ended(session.outcome(news=False), session.phase.value, session.given_up)
