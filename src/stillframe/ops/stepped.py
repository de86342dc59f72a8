"""A call's life where no recorder can tell it: run to the function under a debugger and step through it, within a bound."""

from __future__ import annotations

import asyncio
import re
from typing import Literal

import msgspec

from ..errors import StillframeError
from ..model import wording
from ..model.backend import Bounds, Move
from ..model.outcomes import AnyOutcome, Breakpoint, Exited, Passed, Running, Spot, Stop
from ..model.places import BreakSpec, Place, SymbolPlace
from ..model.plans import Caller, Plan
from ..model.recorder import TraceAsk
from ..model.traces import Life, Step, TraceReport
from ..model.values import Value
from ..registry import From
from ..session import family
from ..session.breakpoints import absolute
from ..session.ready import Ready
from ..session.session import Session
from ..session.sessions import Sessions
from .common import heard_next, run_beside, settle
from .folding import Fold, inferred
from .held import LEASE, left_held
from .launch import start
from .private_runs import started
from .programs import default_name

MOST_STEPS = 400
"""Steps of one call: each costs a debugger some milliseconds."""
DECLARATION = 6
"""Lines above a function's first that its declaration may take."""
SEEN = "ended by the trace, which had seen the call"
OVERDUE = "ended by the trace, whose time was over"


class Walked(msgspec.Struct):
    """The call as far as it was stepped through."""

    stop: Stop
    number: int | None
    arguments: tuple[Value, ...]
    passed: list[Passed] = msgspec.field(default_factory=list[Passed])
    last: AnyOutcome | None = None
    at: int | None = None
    """The line that it was held at last."""
    closed: bool = False
    """Whether that was the end of its body, which only a return goes through."""
    cut: bool = False


async def stepped(
    sessions: Sessions,
    caller: Caller,
    plan: Plan,
    at: Place,
    asked: TraceAsk,
    readiness: Ready | None,
    do: str | None,
    timeout: float | None,
    *,
    notes: tuple[str, ...] = (),
    hold: bool = False,
) -> From[TraceReport]:
    """Run to the call that is meant, then a line at a time until it is left; there it can be held, in this very run."""
    spec = BreakSpec(at, asked.condition)
    name = f"trace-{default_name(plan)}"
    begun = start(sessions, plan, caller, breaks=(spec,), catch=("off",), name=None, default_name=name, private=True)
    session = await started(sessions, asyncio.ensure_future(begun))
    kept = False
    try:
        wait = sessions.settings(session.origin.base).wait if timeout is None else timeout
        deadline = asyncio.get_running_loop().time() + wait
        if readiness:
            await readiness.wait(session, wait)
        if do:
            await run_beside(session, do, caller)
        member, outcome, number = await _reach(session, asked.call or 1, deadline)
        made = session.breakpoints.view(session.breakpoints.get(session.breakpoints.id_of(spec, caller.cwd)))
        walked = None
        if isinstance(outcome, Stop):
            session.breakpoints.enable([made.id], enabled=False)
            await family.sync_breakpoints(session)
            counted = number if asked.condition is None else None  # a debugger counts those in which it held
            walked = Walked(outcome, counted, await _arguments(member) or _declared(member, outcome))
            await _walk(sessions, member, walked, deadline)
            kept = hold and isinstance(walked.last, Stop)
            outcome = session.outcome() if kept else _over(session, walked)
        report = _report(plan, at, asked, member, walked, outcome, number)
        if walked is None and not number:
            report = _nothing(report, made, asked.condition)
        if kept:
            sessions.hand_over(session, caller.client, LEASE)
            report = msgspec.structs.replace(report, held=left_held(member))
    except BaseException:
        kept = False
        raise
    finally:
        if not kept:
            await asyncio.shield(asyncio.ensure_future(sessions.discard(session)))
    return From(member, msgspec.structs.replace(report, notes=(*notes, *report.notes)))


async def _reach(session: Session, wanted: int, deadline: float) -> tuple[Session, AnyOutcome, int]:
    """The stop at the call that is meant; or how it ended, and after how many calls."""
    loop = asyncio.get_running_loop()
    number = 0
    while True:
        member = await heard_next(session, max(0.0, deadline - loop.time()))
        stop = member.outcome(news=False)
        if not isinstance(stop, Stop):
            end = member.outcome()
            return member, msgspec.structs.replace(end, never_hit=()) if isinstance(end, Exited) else end, number
        number += 1 if stop.hit else 0
        if number >= wanted:
            return member, stop, number
        await member.resume(Move.CONTINUE)


def _nothing(report: TraceReport, made: Breakpoint, condition: str | None) -> TraceReport:
    """Why there is no call to tell of: a debugger does not tell of the calls in which the condition did not hold."""
    said = (made.message,) if made.message else ()
    if condition is not None and made.state == "failed":  # by its place or by its condition: debuggers say it alike
        note = f"no breakpoint could be set at {report.asked} if {condition}: {made.message or 'nothing says why'}"
        return msgspec.structs.replace(report, verdict="not recorded", notes=(note,))
    called = "never called" if condition is None else "not chosen"
    return msgspec.structs.replace(report, verdict=called if made.state == "bound" else "no such function", notes=said)


async def _arguments(session: Session) -> tuple[Value, ...]:
    """The arguments where the debugger tells them from other locals; else none, for what is not set yet is no argument."""
    try:
        scopes = await session.backend.scopes(await session.frame_id(session.thread_id(None)))
        given = next((each for each in scopes if each.name.lower().startswith("arg") and each.ref), None)
        found = await session.backend.expand(given.ref, Bounds()) if given and given.ref else None
    except StillframeError:
        return ()
    return tuple(msgspec.structs.replace(each, ref=None) for each in found.values) if found else ()


def _declared(session: Session, stop: Stop) -> tuple[Value, ...]:
    """The locals that are named where the function is declared, above its first line: its arguments, as the source has them."""
    frame = stop.frame
    if frame is None or frame.file is None or frame.line is None:
        return ()
    lines = session.sources.lines(absolute(frame.file, session.origin.base))
    name = re.split(r"[.:#]", re.sub(r"\[.*?\]|<.*?>", "", frame.function))[-1]
    for number in range(frame.line, max(0, frame.line - DECLARATION), -1):
        text = lines[number - 1] if number <= len(lines) else ""
        if name and re.search(rf"\b{re.escape(name)}[(\[<]", text):
            named = set(re.findall(r"\w+", " ".join((text, *lines[number : frame.line - 1]))))
            return tuple(msgspec.structs.replace(each, ref=None) for each in stop.locals if each.name in named)
    return ()


async def _walk(sessions: Sessions, session: Session, walked: Walked, deadline: float) -> None:
    """Line by line until the call is left: through the end of its body by `finish`, which tells what it returned."""
    loop = asyncio.get_running_loop()
    stop = walked.stop
    for _ in range(MOST_STEPS):
        walked.at = stop.frame.line if stop.frame else None
        walked.closed = _closes(session, walked)
        await session.resume(Move.FINISH if walked.closed else Move.NEXT)
        told = await settle(sessions, session, max(0.0, deadline - loop.time()), alone=True, news=False)
        walked.last = told.result
        if not isinstance(told.result, Stop):
            return
        stop = told.result
        walked.passed.extend(stop.trail)
        if not stop.same_frame:
            return
    walked.cut = True


def _closes(session: Session, walked: Walked) -> bool:
    """Whether the line that is about to run is the brace that ends the function: it stands further left than all before."""
    frame = walked.stop.frame
    outermost = len(walked.stop.stack) < 2  # gdb finishes no such call
    if frame is None or frame.file is None or walked.at is None or not walked.passed or outermost:
        return False
    lines = session.sources.lines(absolute(frame.file, session.origin.base))
    text = lines[walked.at - 1] if walked.at <= len(lines) else ""
    before = {lines[each.line - 1] for each in walked.passed if each.line and each.line <= len(lines)}
    return text.strip() == "}" and all(_indent(text) < _indent(each) for each in before if each.strip())


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _over(session: Session, walked: Walked) -> AnyOutcome:
    told = session.outcome()
    if isinstance(told, Exited):
        return msgspec.structs.replace(told, never_hit=())
    seen = f"ended by the trace, which had seen {MOST_STEPS} steps of the call" if walked.cut else SEEN
    cause = OVERDUE if isinstance(walked.last, Running) else seen
    return Exited(cause=cause, output=told.output, stderr=told.stderr, log=told.log, dropped=told.dropped, do=told.do)


def _report(
    plan: Plan, at: Place, asked: TraceAsk, session: Session, walked: Walked | None, end: AnyOutcome, number: int
) -> TraceReport:
    notes = [f"seen by steps of {session.tool}, at most {MOST_STEPS}: the calls that it made are not told"]
    if asked.depth:
        notes.append(
            f"{wording.option('depth', None)} needs a recorder inside the program, which there is none of here"
        )
    if not isinstance(at, SymbolPlace):
        notes.append("told from that line on: the debugger was not there when the call began")
    return TraceReport(
        command=plan.command,
        asked=str(at),
        verdict="traced" if walked else "not chosen",
        end=end,
        life=_life(session, walked) if walked else None,
        calls=0 if walked else number,
        how=f"steps, {session.tool}",
        notes=tuple(notes),
    )


def _life(session: Session, walked: Walked) -> Life:
    stop, frame = walked.stop, walked.stop.frame
    lines = [each.line or 0 for each in walked.passed]
    texts = session.sources.lines(absolute(frame.file, session.origin.base)) if frame and frame.file else []
    sources = {line: texts[line - 1].rstrip() for line in set(lines) if 0 < line <= len(texts)}
    fold = Fold(inferred(lines, sources))
    for line, each in zip(lines, walked.passed, strict=True):
        fold.take(Step(line=line, source=sources.get(line, ""), changes=each.changes))
    last = walked.last
    left = isinstance(last, Stop) and not last.same_frame
    returned = last.returned if isinstance(last, Stop) and left else None
    if isinstance(last, Exited) and walked.at is not None:
        fold.take(Step(line=walked.at, source=texts[walked.at - 1].rstrip() if walked.at <= len(texts) else ""))
    caller = stop.stack[1] if len(stop.stack) > 1 else None
    return Life(
        function=frame.function if frame else "?",
        file=frame.file if frame else None,
        line=frame.line if frame else None,
        number=walked.number,
        caller=Spot(file=caller.file, line=caller.line, symbol=caller.function) if caller else None,
        arguments=walked.arguments,
        steps=fold.steps(),
        lines=len(lines),
        end=_end(walked),
        result=returned.value if returned else None,
        at=walked.at,
        cut=("lines",) if walked.cut else (),
    )


def _end(walked: Walked) -> Literal["returned", "left", "ended", "running"]:
    match walked.last:
        case Stop(same_frame=False, returned=returned):
            return "returned" if returned or walked.closed else "left"
        case Exited():
            return "ended"
        case _:
            return "running"
