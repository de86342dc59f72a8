"""One call's whole life in one answer: `trace` has the program write it down where it can, else steps through it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from ..adapters.recorders import Recorder, recorder_for
from ..errors import Unsupported, UsageError
from ..model.outcomes import Spot, Stop
from ..model.places import BreakSpec, HitRule, LinePlace, Place, SymbolPlace
from ..model.plans import Caller, Plan
from ..model.recorder import Ask, TraceAsk
from ..model.recording import TRACED
from ..model.traces import Life, TraceReport
from ..model.values import Frame, Value
from ..registry import Access, From, Param, operation
from ..session.breakpoints import absolute
from ..session.ready import Ready
from ..session.session import Session
from ..session.sessions import Sessions
from ..settings import file_like
from .common import Do, RunSeconds
from .held_again import Hold, away, held_again
from .lives import TraceTold, told
from .names import NEAR, near
from .private_runs import assumed_note, plan_for
from .programs import Command, ReadyWord, RunTerms
from .recorded_run import RecordedRun, doubts, recorded_run, where
from .stepped import stepped


@operation(Access.EXEC, starts=True, owned=True, example="dbg trace total --if 'len(items) > 100' -- python shop.py")
async def trace(
    sessions: Sessions,
    caller: Caller,
    at: Annotated[Place, Param("a function, or a place in it", positional=True, metavar="FUNCTION|LOC")],
    command: Command = (),
    call: Annotated[int | None, Param("which call of it, from 1; the first if left out", metavar="N")] = None,
    condition: Annotated[
        str | None, Param("the first call in which this holds at its beginning", flag="--if", metavar="EXPR")
    ] = None,
    depth: Annotated[int, Param("follow the functions that it calls so far down, line by line", metavar="N")] = 0,
    *,
    how: RunTerms,
    hold: Hold = False,
    ready: ReadyWord = None,
    do: Do = None,
    timeout: RunSeconds = None,
) -> From[TraceReport]:
    """One call of a function, told whole: its lines in order with what each changed, loops folded, calls made, how it ended.

    The program runs to its end, or for --timeout seconds. Without a command, the file that the place names is run, else
    the last command of this project.
    """
    if call is not None and (call < 1 or condition is not None):
        raise UsageError("--call takes a number from 1 up, and excludes --if")
    readiness = Ready.parse(ready) if ready is not None else None
    if readiness:
        await readiness.check_free()
    asked = TraceAsk(where=where(at, caller.cwd), call=call, condition=condition, depth=depth)
    plan, assumed = plan_for(sessions, caller, "trace", (), command, how, (BreakSpec(at),))
    recorder = recorder_for(plan)
    done = None
    why: tuple[str, ...] = ()
    if recorder is not None:
        try:
            done = await _recorded(sessions, caller, plan, recorder, at, asked, readiness, do, timeout)
        except Unsupported as error:
            why = (error.message,)
    if done is None:
        done = await stepped(sessions, caller, plan, at, asked, readiness, do, timeout, notes=why, hold=hold)
    sessions.commands.keep(plan, caller)
    notes = (*assumed_note(assumed, plan), *done.result.notes)
    report = msgspec.structs.replace(done.result, assumed=assumed is not None, notes=notes)
    if not hold or report.life is None or report.held is not None:
        return From(done.session, report)
    again = await held_again(
        sessions, caller, plan, _beginning(at, asked, report.life), readiness, do, timeout, report.life.arguments
    )
    if again is None:
        return From(done.session, msgspec.structs.replace(report, notes=(*report.notes, away())))
    return From(again.session, msgspec.structs.replace(report, held=again.held, notes=(*report.notes, *again.notes)))


def _beginning(at: Place, asked: TraceAsk, life: Life) -> BreakSpec:
    """Where that very call begins."""
    number = life.number or 1
    hit = HitRule("exactly", number) if number > 1 and asked.condition is None else None
    first = life.steps[0].line if life.steps else life.line
    if isinstance(at, SymbolPlace) or life.file is None or first is None:
        return BreakSpec(at, asked.condition, hit)
    return BreakSpec(LinePlace(life.file, first), asked.condition, hit)


async def _recorded(
    sessions: Sessions,
    caller: Caller,
    plan: Plan,
    recorder: Recorder,
    at: Place,
    asked: TraceAsk,
    readiness: Ready | None,
    do: str | None,
    timeout: float | None,
) -> From[TraceReport]:
    ask = Ask(trace=asked, all_code=not plan.just_my_code)
    async with recorded_run(
        sessions, caller, plan, recorder, ask, verb="trace", readiness=readiness, do=do, timeout=timeout
    ) as run:
        show, source = _shown(run.session)
        found = [await asyncio.to_thread(told, each.said, show, source) for each in run.recordings]
        _check_written(found)
        report = _report(plan, at, asked, run, found, show)
    if report.life is not None:
        await _kept(run.session, report.life)
    return From(run.session, report)


def _check_written(found: Sequence[TraceTold]) -> None:
    """Refuse where the function that is meant is there and was not recorded: no other may be told in its place."""
    unwritten = next((one for each in found for one in each.unwritten), None)
    if unwritten is not None and all(each.life is None for each in found):
        raise Unsupported(f"{unwritten.function} was run a second time, stepped through: {unwritten.reason}")


async def _kept(session: Session, life: Life) -> None:
    """The call goes to the record as a hit at its beginning: where it was, what it was given, what it returned."""
    line = life.steps[0].line if life.steps else life.line
    frames = [Frame(function=life.function, file=life.file, line=line)]
    if life.caller:
        frames.append(Frame(function=life.caller.symbol or "?", file=life.caller.file, line=life.caller.line))
    stop = Stop(
        reason=TRACED,
        thread=life.thread or "",
        frame=frames[0],
        stack=tuple(frames),
        locals=life.arguments,
        hit=life.number,
        returned=Value(name=life.function, value=life.result or "") if life.end == "returned" else None,
    )
    lines = session.sources.lines(absolute(life.file, session.origin.base)) if life.file else []
    await session.tape.stop(stop, lines)


def _shown(session: Session) -> tuple[Callable[[str], str], Callable[[str, int], str]]:
    def show(file: str) -> str:
        return session.show(file) or file

    files: dict[str, list[str]] = {}

    def source(file: str, line: int) -> str:
        if file not in files:  # asked for every line that ran
            files[file] = session.sources.lines(file)
        lines = files[file]
        return lines[line - 1].rstrip() if 0 < line <= len(lines) else ""

    return show, source


def _report(
    plan: Plan, at: Place, asked: TraceAsk, run: RecordedRun, found: Sequence[TraceTold], show: Callable[[str], str]
) -> TraceReport:
    """All processes of the run as one: the first that has the call tells it, all of them count."""
    chosen = next((each for each in found if each.life is not None), None)
    calls = sum(each.calls.number for each in found)
    raising = next((each.raising for each in found if each.raising), None)
    life = chosen.life if chosen else None
    notes = list(dict.fromkeys([*run.notes, *(note for each in found for note in (*each.missing, *each.notes))]))
    spots = {(each.function, each.file, each.line): each for told in found for each in told.found}
    if life is not None and len(spots) > 1:
        others = ", ".join(f"{name} {show(file)}:{line}" for name, file, line in list(spots)[:4])
        notes.append(f"{len(spots)} functions are meant by {at}, counted together: {others}")
    report = TraceReport(
        command=plan.command,
        asked=str(at),
        verdict="traced",
        end=run.end,
        life=life,
        calls=calls,
        raised=sum(each.calls.raised for each in found),
        raising=raising.number if raising and not (life and life.end == "raised") else None,
        raising_what=raising.exception if raising else None,
        found=tuple(Spot(symbol=each.function, file=show(each.file), line=each.line) for each in spots.values()),
        how=run.how,
        notes=tuple(notes),
    )
    return report if life is not None else _nothing(report, at, found, run.session.origin.base)


def _nothing(report: TraceReport, at: Place, found: Sequence[TraceTold], base: str) -> TraceReport:
    """Why there is no call to tell of, truly, and what may have been meant."""
    names: dict[str, bool] = {}
    for each in found:
        for name, ran in each.names.items():
            names[name] = names.get(name, False) or ran
    if not found:
        return msgspec.structs.replace(report, verdict="not recorded")
    if report.calls:
        return msgspec.structs.replace(report, verdict="not chosen")
    if any(each.lost for each in found):  # it may have been called, or loaded, when nobody listened
        return msgspec.structs.replace(report, verdict="not recorded")
    notes = (*report.notes, *doubts((name for each in found for name in each.beside), report.end))
    report = msgspec.structs.replace(report, notes=notes)
    if report.found:
        called = tuple(name for name, did in names.items() if did)
        return msgspec.structs.replace(report, verdict="never called", near=called[:NEAR])
    close = near(str(at), tuple(names)) if isinstance(at, SymbolPlace) else ()
    if isinstance(at, LinePlace) and not os.path.exists(file := Path(absolute(at.file, base))):
        close = tuple(filter(None, [file_like(file, Path(base))]))
    return msgspec.structs.replace(report, verdict="no such function", near=close)
