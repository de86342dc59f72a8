"""The same places walked in two runs, and where the one first differs from the other: what was reached, and with which values."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Container, Sequence

import msgspec

from ..errors import Unsupported
from ..model.backend import Move
from ..model.outcomes import AnyOutcome, Stop
from ..model.places import BreakSpec
from ..model.plans import Caller, Plan
from ..model.recorded import Difference
from ..model.sinces import Divergence
from ..model.values import Value
from ..record.comparing import differences
from ..session.phases import Phase
from ..session.session import Session
from ..session.sessions import Sessions
from .common import NO_CUE, Cue, heard_next
from .launch import start
from .private_runs import started
from .programs import default_name

_LINE = re.compile(r", suspended at line \d+")
MOST_HITS = 1000
"""Stops of one walk; each costs about a millisecond and its line in the record."""


class Walk(msgspec.Struct, frozen=True):
    """What one run came to, in order: the number of a place, and the stop there."""

    seen: tuple[tuple[int, Stop], ...]
    end: AnyOutcome
    unbound: frozenset[int] = frozenset()
    """Places that this run never had."""
    cut: bool = False
    passed: bool | None = None
    """Whether it went well, where that is known otherwise than by how it ended."""

    def at(self, place: int) -> list[tuple[int, Stop]]:
        """The hits of one place, each with its number among all of them."""
        return [(number, stop) for number, (where, stop) in enumerate(self.seen) if where == place]


async def walk(
    sessions: Sessions,
    caller: Caller,
    plan: Plan,
    places: Sequence[BreakSpec],
    seconds: float,
    cue: Cue = NO_CUE,
    *,
    leaving: Container[int] = (),
) -> Walk:
    """Run the plan from place to place until it ends, or until enough was seen; nothing is left of it. The places of `leaving`
    are lines by which a call ends: what it returned is one of the values there."""
    name = f"walk-{default_name(plan)}"
    # A path in a place may lead out of the caller's directory: into another revision of the project.
    begun = start(
        sessions, plan, caller, breaks=tuple(places), catch=("off",), name=None, default_name=name, private=True
    )
    session = await started(sessions, asyncio.ensure_future(begun))
    seen: list[tuple[int, Stop]] = []
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    try:
        ids = [session.breakpoints.id_of(spec, caller.cwd) for spec in places]
        given, left = False, False
        while True:
            given = given or await cue.given(session, caller, max(0.0, deadline - loop.time()))
            member = await heard_next(session, max(0.0, deadline - loop.time()))
            stop = member.outcome(news=False)
            cut = len(seen) >= MOST_HITS
            if cut or not isinstance(stop, Stop):
                break
            if left and stop.returned is not None:
                seen[-1] = seen[-1][0], _with_return(seen[-1][1], stop.returned)
            new = [(number, stop) for number, id in enumerate(ids) if id in stop.breakpoints and stop.hit]
            seen += new
            if member.phase is Phase.STOPPED:
                left = await _went_out(member) if any(number in leaving for number, _ in new) else False
                if not left:
                    await member.resume(Move.CONTINUE)
        states = [session.breakpoints.view(session.breakpoints.get(id)).state for id in ids]
        unbound = frozenset(number for number, state in enumerate(states) if state in ("failed", "pending"))
        return Walk(tuple(seen), stop, unbound, cut)
    finally:
        await asyncio.shield(asyncio.ensure_future(sessions.discard(session)))


async def _went_out(member: Session) -> bool:
    """Let the call at hand end, where its debugger can tell what it returns."""
    with contextlib.suppress(Unsupported):
        await member.resume(Move.FINISH)
        return True
    return False


def _with_return(stop: Stop, value: Value) -> Stop:
    told = msgspec.structs.replace(value, name="returned")
    return msgspec.structs.replace(stop, locals=(*stop.locals, told))


def first_difference(
    old: Walk, new: Walk, same: Callable[[str], str] = str, *, failed_in: int | None = None
) -> Divergence | None:
    """Of each place the first hit that differs, and of those the one that came first in the new run.

    Place by place, not in one row, so that threads which take turns otherwise are no difference. `same` makes the texts of
    the old run comparable, as where it ran in another directory. `failed_in` is the place of the outermost call that the new
    run failed in: what the old one did when that line was done is not compared.
    """
    if failed_in is not None:
        times = len(new.at(failed_in))
        old, new = _until_done(old, failed_in, times), _until_done(new, failed_in, times)
    found: list[tuple[int, Divergence]] = []
    for place in {where for where, _ in (*old.seen, *new.seen)}:
        before, after = old.at(place), new.at(place)
        for hit, ((_, one), (order, other)) in enumerate(zip(before, after, strict=False), 1):
            differ, _ = differences(_texts(one, lambda text: _steady(same(text))), _texts(other, _steady))
            if differ:
                found.append((order, divergence(other, hit, (len(before), len(after)), tuple(differ))))
                break
        else:
            if len(before) != len(after) and not (old.cut or new.cut):
                longer = before if len(before) > len(after) else after
                at = min(len(before), len(after))
                order, stop = longer[at]
                shown = after[-1][1] if after else stop  # the line as it is numbered now
                found.append((order, divergence(shown, at + 1, (len(before), len(after)), ())))
    return min(found, key=lambda each: each[0])[1] if found else None


def _until_done(walked: Walk, place: int, times: int) -> Walk:
    """Without what came in the same thread when the line of a place had been run so many times."""
    hits = walked.at(place)
    if not 0 < times <= len(hits):
        return walked
    begun, last = hits[times - 1]
    kept = (
        each
        for number, each in enumerate(walked.seen)
        if number <= begun or each[1].thread != last.thread or _is_below(each[1], last)
    )
    return msgspec.structs.replace(walked, seen=tuple(kept))


def _is_below(stop: Stop, outer: Stop) -> bool:
    """Whether it is in a call that the line of the other one made."""
    at = outer.frame
    return at is not None and any((each.file, each.line) == (at.file, at.line) for each in stop.stack[1:])


def _steady(text: str) -> str:
    """Without the lines that generators are suspended at: an edit above moves them."""
    return _LINE.sub("", text)


def _texts(stop: Stop, same: Callable[[str], str]) -> tuple[Value, ...]:
    return tuple(msgspec.structs.replace(each, value=same(each.value)) for each in stop.locals)


def divergence(stop: Stop, hit: int, hits: tuple[int, int], found: tuple[Difference, ...]) -> Divergence:
    frame = stop.frame
    return Divergence(
        function=frame.function if frame else "?",
        file=frame.file if frame else None,
        line=frame.line if frame else None,
        hit=hit,
        hits=hits,
        differences=found,
    )
