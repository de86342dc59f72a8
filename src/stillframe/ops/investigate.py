"""Fat calls: one question, one bounded report, and nothing left behind."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import Annotated

import msgspec

from ..adapters.recorders import recorder_for
from ..errors import StillframeError, Unsupported, UsageError
from ..model import wording
from ..model.backend import Bounds, Move
from ..model.outcomes import AnyOutcome, Exited, Stop
from ..model.places import BreakSpec, HitRule, LinePlace, Place, SymbolPlace, TextPlace
from ..model.plans import Caller, Plan
from ..model.sinces import Since
from ..model.values import Value
from ..model.views import ProbedPlace, ProbeReport
from ..registry import Access, From, Param, operation
from ..session import family
from ..session.breakpoints import absolute, locate
from ..session.phases import Phase
from ..session.ready import Ready
from ..session.session import Session
from ..session.sessions import Sessions
from .common import Cue, Do, RunSeconds, heard_next, outlived, run_beside
from .counting import Question, counted
from .evaluate import EVAL_SECONDS
from .held_again import Hold, away, held_again
from .launch import start
from .private_runs import assumed_note, plan_for, started
from .programs import Command, ReadyWord, RunTerms, default_name
from .since import SinceWord
from .since import since as since_revision
from .verdicts import by_stops

MOST_CHECKED = 1000
"""Hits that claims are checked at where each is a stop of the debugger."""
SEEN_ENOUGH = "ended by the probe, which had seen enough"


class Sighting(msgspec.Struct):
    """What a probe has seen of one place."""

    spec: BreakSpec
    id: str
    hits: list[Stop] = msgspec.field(default_factory=list[Stop])
    values: list[tuple[Value, ...]] = msgspec.field(default_factory=list[tuple[Value, ...]])


@operation(Access.EXEC, starts=True, owned=True, example="dbg probe shop.py:14 --eval price --hits 3 -- python shop.py")
async def probe(
    sessions: Sessions,
    caller: Caller,
    places: Annotated[
        tuple[BreakSpec, ...],
        Param("places to run to: LOC or 'LOC if EXPR'", positional=True, rest=True, metavar="LOC"),
    ],
    command: Command = (),
    eval: Annotated[
        tuple[str, ...], Param("an expression to evaluate at each hit; may be repeated", short="-e", metavar="E")
    ] = (),
    expect: Annotated[
        tuple[str, ...], Param("a claim to check at every hit; may be repeated", aliases=("--assert",), metavar="P")
    ] = (),
    hits: Annotated[
        int | None,
        Param("stop at so many hits of each place and report each; 1 without --eval and --expect", metavar="N"),
    ] = None,
    *,
    how: RunTerms,
    hold: Hold = False,
    ready: ReadyWord = None,
    do: Do = None,
    since: SinceWord = None,
    timeout: RunSeconds = None,
) -> From[ProbeReport]:
    """Run a program to some places and report each: reached, with its evidence, not reached, or unbound. Then end it.

    With --eval or --expect every hit of the run is counted, the first 1,000 of a place where each is a stop: distinct
    values, range, claims held or violated with the first counter-example. Without a command, the file that the first
    place names is run, else the last command of this project.
    """
    readiness = await _checked(caller, places, hits, ready)
    plan, assumed = plan_for(sessions, caller, "probe", (), command, how, places)
    question = Question(tuple(dict.fromkeys(places)), eval, expect)
    counting = hits is None and bool(eval or expect)
    if hold and not counting:
        raise UsageError("--hold goes with --eval or --expect; `dbg launch --break LOC` holds a program at a place")
    recorder = recorder_for(plan) if counting and all(_recordable(each.place) for each in places) else None
    notes: tuple[str, ...] = ()
    if recorder is not None:
        try:
            done = await counted(sessions, caller, plan, recorder, question, readiness, do, timeout)
        except Unsupported as error:
            notes = (error.message,)
    if recorder is None or notes:
        wanted = hits or (MOST_CHECKED if counting else 1)
        sums_up = counting or bool(expect)
        done = await _stopping(sessions, caller, plan, question, wanted, readiness, do, timeout, sums_up=sums_up)
    done = await _held(sessions, caller, plan, question, done, readiness, do, timeout) if hold else done
    sessions.commands.keep(plan, caller)
    cue = Cue(readiness, do)
    beside = await _since(sessions, caller, plan, done.result, since, timeout, cue) if since is not None else None
    notes = (*assumed_note(assumed, plan), *notes, *done.result.notes)
    return From(
        done.session,
        msgspec.structs.replace(done.result, assumed=assumed is not None, notes=notes, since=beside),
    )


async def _since(
    sessions: Sessions, caller: Caller, plan: Plan, now: ProbeReport, name: str, timeout: float | None, cue: Cue
) -> Since:
    """The same places in an earlier revision."""
    at = [each.actual for each in now.places]
    places = [LinePlace(each.file, each.line) for each in at if each is not None and each.file and each.line]
    wait = sessions.settings(caller.cwd).wait if timeout is None else timeout
    return await since_revision(sessions, caller, plan, name, places, None, wait, cue)


async def _stopping(
    sessions: Sessions,
    caller: Caller,
    plan: Plan,
    question: Question,
    hits: int,
    readiness: Ready | None,
    do: str | None,
    timeout: float | None,
    *,
    sums_up: bool,
) -> From[ProbeReport]:
    """Stop at so many hits of each place, and look; what came of all of them together, or each by itself."""
    name = f"probe-{default_name(plan)}"
    places, evals, expects = question.places, question.evals, question.expects
    starting = start(sessions, plan, caller, breaks=places, catch=("off",), name=None, default_name=name, private=True)
    session = await started(sessions, asyncio.ensure_future(starting))
    wait = sessions.settings_of(session.origin.root).wait if timeout is None else timeout
    try:
        if readiness:
            await readiness.wait(session, wait)
        if do:
            await run_beside(session, do, caller)
        seen = [Sighting(spec, session.breakpoints.id_of(spec, caller.cwd)) for spec in places]
        end = await _watch(session, seen, evals + expects, hits, wait)
        report = tuple(_report(session, each, hits) for each in seen)
        report = tuple(by_stops(each, evals, expects) for each in report) if sums_up else report
    finally:
        await asyncio.shield(asyncio.ensure_future(sessions.discard(session)))
    notes = (f"each hit was a stop of {session.tool}; at most {hits:,} of a place are looked at",) if sums_up else ()
    return From(session, ProbeReport(command=plan.command, places=report, end=end, notes=notes))


async def _held(
    sessions: Sessions,
    caller: Caller,
    plan: Plan,
    question: Question,
    done: From[ProbeReport],
    readiness: Ready | None,
    do: str | None,
    timeout: float | None,
) -> From[ProbeReport]:
    """The same program once more, held at the first counter-example, or where the first place was come to."""
    report = done.result
    found = _worth_holding(question, report)
    if found is None:
        return done
    spec, stop = found
    rule = HitRule("exactly", stop.hit) if stop.hit and stop.hit > 1 else None
    place = BreakSpec(spec.place, spec.condition, rule)
    again = await held_again(sessions, caller, plan, place, readiness, do, timeout, stop.locals)
    if again is None:
        return From(done.session, msgspec.structs.replace(report, notes=(*report.notes, away())))
    return From(again.session, msgspec.structs.replace(report, held=again.held, notes=(*report.notes, *again.notes)))


def _worth_holding(question: Question, report: ProbeReport) -> tuple[BreakSpec, Stop] | None:
    asked = list(zip(question.places, report.places, strict=True))
    counters = ((spec, claim.counter) for spec, place in asked for claim in place.claims)
    first = ((spec, msgspec.structs.replace(place.hits[0], hit=1)) for spec, place in asked if place.hits)
    return next(((spec, stop) for spec, stop in counters if stop and stop.hit), next(first, None))


def _recordable(place: Place) -> bool:
    return isinstance(place, LinePlace | TextPlace | SymbolPlace)


async def _checked(caller: Caller, places: tuple[BreakSpec, ...], hits: int | None, ready: str | None) -> Ready | None:
    """What to wait for first; what cannot be is said before anything runs."""
    if hits is not None and hits < 1:
        raise UsageError("--hits takes a number from 1 up")
    if not places:
        raise UsageError("probe where? Give places, as in: dbg probe shop.py:14 -- python shop.py")
    readiness = Ready.parse(ready) if ready is not None else None
    if readiness:
        await readiness.check_free()
    for spec in places:
        _check_is_place(spec.place, caller.cwd, alone=len(places) == 1)
    return readiness


def _check_is_place(place: Place, cwd: str, *, alone: bool) -> None:
    if isinstance(place, SymbolPlace) and not alone and os.path.isfile(absolute(place.name, cwd)):
        raise UsageError(
            f"{place.name} is a file, and no place in one: what to run {wording.either('stands behind --', 'is `command`')}"
        )
    locate(place, cwd)


async def _watch(
    session: Session, seen: Sequence[Sighting], expressions: tuple[str, ...], hits: int, timeout: float
) -> AnyOutcome:
    """Go from hit to hit until every place has been seen often enough, the program ends, or the time does."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    while True:
        member = await heard_next(session, max(0.0, began + timeout - loop.time()))
        stop = member.outcome(news=False)
        if not isinstance(stop, Stop):
            if isinstance(stop, Exited) and await outlived(session, max(0.0, began + timeout - loop.time())):
                continue
            end = member.outcome(after=round(loop.time() - began, 1))
            return msgspec.structs.replace(end, never_hit=()) if isinstance(end, Exited) else end
        for place in seen:
            if place.id in stop.breakpoints and stop.hit and len(place.hits) < hits:
                place.hits.append(msgspec.structs.replace(stop, same_frame=False, trail=(), changes=()))
                place.values.append(await _evaluate(member, expressions))
        done = [place.id for place in seen if len(place.hits) >= hits and place.id in session.breakpoints]
        if len(done) == len({place.id for place in seen if place.id in session.breakpoints}):
            told = session.outcome()
            return Exited(
                cause=SEEN_ENOUGH,
                output=told.output,
                stderr=told.stderr,
                log=told.log,
                dropped=told.dropped,
                do=told.do,
            )
        if done:
            session.breakpoints.enable(done, enabled=False)
            await family.sync_breakpoints(session)
        if member.phase is Phase.STOPPED:
            await member.resume(Move.CONTINUE)


async def _evaluate(session: Session, expressions: tuple[str, ...]) -> tuple[Value, ...]:
    if not expressions:
        return ()
    thread = session.thread_id(None)
    try:
        results = await session.backend.evaluate(await session.frame_id(thread), expressions, Bounds(), EVAL_SECONDS)
    except StillframeError as error:
        return tuple(Value(name=each, value=error.message, error=True) for each in expressions)
    return tuple(
        msgspec.structs.replace(each.value, name=each.expression, ref=None)
        if each.value is not None
        else Value(name=each.expression, value=each.error or "", error=True)
        for each in results
    )


def _report(session: Session, seen: Sighting, wanted: int) -> ProbedPlace:
    (made,) = family.as_a_whole(session, (session.breakpoints.view(session.breakpoints.get(seen.id)),))
    location = str(seen.spec.place) + (f" if {seen.spec.condition}" if seen.spec.condition else "")
    if seen.hits:
        plain = tuple(
            msgspec.structs.replace(hit, locals=tuple(_unlinked(value) for value in hit.locals)) for hit in seen.hits
        )
        return ProbedPlace(
            location=location,
            state="reached",
            complete=len(seen.hits) < wanted,
            count=len(plain),
            hits=plain,
            values=tuple(seen.values),
            actual=made.actual,
        )
    unbound = made.state in ("failed", "pending")
    message = made.message and made.message.replace("is known yet", "was found")  # the program is gone
    return ProbedPlace(
        location=location, state="unbound" if unbound else "not_reached", actual=made.actual, message=message
    )


def _unlinked(value: Value) -> Value:
    """A value of a program that is gone: no handle could reach it any more."""
    return msgspec.structs.replace(value, ref=None)
