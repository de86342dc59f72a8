"""From a red test to evidence, in one call: the tests run as they are, and the first that failed is explained."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import msgspec

from ..adapters.recorders import recorder_for, write_ask
from ..adapters.runners import Choice, TestAsk, choose
from ..errors import NotFound, UsageError
from ..model.backend import Caller, Plan
from ..model.outcomes import AnyOutcome, Exited, Running, Stop
from ..model.reports import Held
from ..model.tested import TestFailure, TestReport, Told, Verdict
from ..model.values import ExceptionInfo, Frame
from ..registry import Access, From, Param, operation
from ..session import taping
from ..session.breakpoints import absolute
from ..session.session import Session
from ..session.sessions import Sessions
from ..transport.folders import private_folder, remove_folder
from .common import Do, Timeout, run_beside
from .launch import Cwd, Env, Python, pair, start
from .made import ask_for, with_calls
from .private_runs import started
from .reproducing import HOLD_LEASE, again_under_debugger, with_frames

NEAREST, ALIKE, MOST_NAMES = 6, 0.6, 5000
Selector = Annotated[
    str | None,
    Param(
        "a file, FILE::NAME, or a test's name; all tests of the project if left out", positional=True, metavar="TEST"
    ),
]
RunnerArgs = Annotated[tuple[str, ...], Param("further arguments for the runner", last=True)]
RunnerName = Annotated[str | None, Param("the runner to use, where the project does not tell", metavar="NAME")]
Every = Annotated[bool, Param("one short entry for each failure, instead of all evidence of the first", flag="--all")]
Once = Annotated[bool, Param("run the tests once only: no second run for the calls that led to the failure")]
Hold = Annotated[bool, Param("keep the first failure live, as a session held in the frame that failed")]


@dataclass(frozen=True)
class Asked:
    """One call of `test`, with what it is done with."""

    sessions: Sessions
    caller: Caller
    choice: Choice
    ask: TestAsk
    wait: float
    do: str | None = None
    recorded: Callable[[Plan], Awaitable[Plan]] | None = None
    """What makes a run record itself."""


@dataclass(frozen=True)
class Ran:
    """One run of the tests: what was told, how it ended, and the session that it was, which may still be there."""

    told: Told
    end: AnyOutcome
    session: Session
    plan: Plan


@operation(Access.EXEC, starts=True, owned=True, example="dbg test tests/test_price.py")
async def test(
    sessions: Sessions,
    caller: Caller,
    selector: Selector = None,
    command: RunnerArgs = (),
    runner: RunnerName = None,
    every: Every = False,
    once: Once = False,
    hold: Hold = False,
    cwd: Cwd = None,
    env: Env = (),
    python: Python = None,
    do: Do = None,
    timeout: Timeout = None,
) -> From[TestReport]:
    """Run tests, and report why the first red one is red: what was compared, the frame that failed, the calls that led there.

    The runner is found from the project: pytest, unittest, node:test, Jest, Vitest, Mocha, go test, cargo test. Green says
    green, with the count; a selector that matches nothing is not found, and the nearest names are told.
    """
    if selector == "":
        raise UsageError("test what? The selector is empty, as an unset variable is")
    here = absolute(cwd, caller.cwd) if cwd else caller.cwd
    choice = choose(selector, here, runner)
    ask = TestAsk(
        selector=selector, args=command, cwd=here, root=choice.root, env={**caller.env, **dict(map(pair, env))},
        umask=caller.umask, python=python, hold=hold,
    )  # fmt: skip
    wait = sessions.settings(here).wait if timeout is None else timeout
    asked = Asked(sessions, caller, choice, ask, wait, do)
    if once and hold and not choice.runner.stays:
        raise UsageError(f"--hold runs a failing test of {choice.runner.name} a second time, which --once forbids")
    async with _run(asked, replace(ask, hold=hold and choice.runner.stays)) as ran:
        await _check(asked, ran)
        report, session = _report(asked, ran, every=every), ran.session
        if report.failures and not isinstance(ran.end, Stop):
            await taping.stopped(ran.session, _as_stop(report.failures[0]))
        if report.verdict == "red" and not (once or every):
            report, session = await _looked_at(asked, ran, report)
            report = await _with_calls(asked, ran, report) if not hold else report
        return From(session, report)


async def _looked_at(asked: Asked, ran: Ran, report: TestReport) -> tuple[TestReport, Session]:
    """The report with the values of the frame that failed, from a second run under a debugger, where those need one."""
    folder = private_folder()
    try:
        live = await asked.choice.runner.live(asked.ask, report.failures[0], Path(folder))
        if live is None:
            return report, ran.session
        seen = await again_under_debugger(asked.sessions, asked.caller, live, asked.wait, hold=asked.ask.hold)
    finally:
        remove_folder(folder)
    report = msgspec.structs.replace(report, ran=report.ran + 1)
    if seen is None:
        note = "a second run, under a debugger, did not fail there, so that no values can be told"
        return msgspec.structs.replace(report, notes=(*report.notes, note)), ran.session
    first = with_frames(report.failures[0], seen.stack, live)
    held = Held(session=seen.session.name, lease=HOLD_LEASE) if asked.ask.hold else None
    report = msgspec.structs.replace(report, failures=(first, *report.failures[1:]), held=held)
    return report, seen.session if held else ran.session


async def _with_calls(asked: Asked, ran: Ran, report: TestReport) -> TestReport:
    """The report with the calls that led to its first failure, from a second run that records itself."""
    first = report.failures[0]
    runner = asked.choice.runner
    wanted = ask_for(first, asked.ask.cwd, ran.told.ordinal, alone=runner.alone) if runner.recordable else None
    recorder = recorder_for(replace(ran.plan, adapter=None)) if wanted is not None else None
    if wanted is None or recorder is None:
        return report
    folder = Path(private_folder())
    try:
        write_ask(folder, wanted)
        again = replace(asked, recorded=lambda plan: recorder.prepare(replace(plan, adapter=None), folder))
        alone = first.id if asked.choice.runner.alone else asked.ask.selector
        async with _run(again, replace(asked.ask, selector=alone, first=True, hold=False)) as second:
            told = with_calls(first, folder, asked.ask.cwd, alone=runner.alone)
            if told is not None:
                await taping.stopped(second.session, _as_stop(told))
    finally:
        remove_folder(str(folder))
    note = "a further, recorded run did not show the call that failed, so the calls that led here are not told"
    if told is None:
        return msgspec.structs.replace(report, ran=report.ran + 1, notes=(*report.notes, note))
    return msgspec.structs.replace(report, ran=report.ran + 1, failures=(told, *report.failures[1:]))


@asynccontextmanager
async def _run(asked: Asked, ask: TestAsk) -> AsyncIterator[Ran]:
    """The tests, run once; what is held stays, and everything else is gone behind this."""
    folder = private_folder()
    stays = False
    try:
        plan = await asked.choice.runner.plan(ask, Path(folder))
        plan = await asked.recorded(plan) if asked.recorded else plan
        session = await _started(asked, plan, hold=ask.hold)
        try:
            if asked.do:
                await run_beside(session, asked.do, asked.caller)
            end = await _end(session, asked.wait)
            told = asked.choice.runner.read(ask, Path(folder), end)
            stays = isinstance(end, Stop) and ask.hold
            yield Ran(told, end, session, plan)
        except BaseException:
            stays = False
            raise
        finally:
            if not stays:
                await asyncio.shield(asyncio.ensure_future(asked.sessions.discard(session)))
    finally:
        remove_folder(folder)


async def _started(asked: Asked, plan: Plan, *, hold: bool) -> Session:
    name = f"test-{asked.choice.runner.name}"
    starting = start(
        asked.sessions, plan, asked.caller, breaks=(), catch=("uncaught",) if hold else ("off",), name=None,
        default_name=name, private=not hold, lease=HOLD_LEASE if hold else None,
    )  # fmt: skip
    return await started(asked.sessions, asyncio.ensure_future(starting))


async def _end(session: Session, wait: float) -> AnyOutcome:
    """Wait for the end of the tests, or for the failure at which they are held."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    member = await session.settle(wait)
    return member.outcome(after=round(loop.time() - began, 1))


async def _check(asked: Asked, ran: Ran) -> None:
    """Say what matched nothing, with the nearest names that there are."""
    counts, ask = ran.told.counts, asked.ask
    if counts.total or counts.uncollected or not ran.told.begun or not ran.told.finished:
        return
    what = asked.choice.runner.name
    words = " ".join([*([ask.selector] if ask.selector else []), *ask.args])
    if not words:
        raise NotFound(f"{what} finds no tests in {ask.cwd}")
    names = await _names(asked)
    if not names and ran.told.problem:
        raise NotFound(f"{what} runs no test for {words}: {ran.told.problem.splitlines()[-1]}")
    near = _nearest(ask.selector or words, names)
    listed = f"; nearest: {', '.join(near)}" if near else ""
    raise NotFound(f"{what} finds no test that matches {words}{listed}", detail={"nearest": near, "tests": len(names)})


async def _names(asked: Asked) -> tuple[str, ...]:
    """The names of all tests: of the file that was named, if there is one, else of the project."""
    listed = asked.choice.runner.listed(asked.ask)
    if listed is not None:
        return listed
    there = _file_of(asked.ask)
    async with _run(replace(asked, do=None), replace(asked.ask, selector=there, args=(), names=True)) as ran:
        return ran.told.names


def _file_of(ask: TestAsk) -> str | None:
    file = (ask.selector or "").partition("::")[0]
    return file if file and Path(ask.cwd, file).is_file() else None


def _nearest(wanted: str, names: tuple[str, ...]) -> list[str]:
    """The names most like the one wanted, compared by their last part."""
    word = _last_part(wanted, cut="[" not in wanted)
    likeness = {
        name: difflib.SequenceMatcher(None, word, _last_part(name, cut="[" not in wanted)).ratio()
        for name in names[:MOST_NAMES]
    }
    best = sorted(likeness, key=lambda name: -likeness[name])
    like = [name for name in best if likeness[name] >= ALIKE]
    return (like or best[:3])[:NEAREST]


def _last_part(name: str, *, cut: bool) -> str:
    last = name.rpartition("::")[2].rpartition("/")[2].lower()
    return last.partition("[")[0] if cut else last


def _report(asked: Asked, ran: Ran, *, every: bool) -> TestReport:
    told = ran.told
    notes = tuple(f"also found: {other} (--runner {other})" for other in asked.choice.others[:1])
    report = TestReport(
        runner=asked.choice.runner.name,
        verdict=_verdict(ran),
        command=ran.plan.command,
        end=ran.end,
        version=told.version,
        runtime=told.runtime,
        interpreter=told.interpreter,
        counts=told.counts,
        failures=told.failures,
        running=told.running,
        problem=told.problem,
        every=every,
        notes=notes,
    )
    if isinstance(ran.end, Stop):
        report = msgspec.structs.replace(report, held=Held(session=ran.session.name, lease=HOLD_LEASE))
    return report


def _as_stop(failure: TestFailure) -> Stop:
    """A failure as the record keeps it, though no debugger stopped there: for `hits`, and for comparing runs."""
    frames = tuple(
        Frame(function=each.function, file=each.file, line=each.line, id=f"f{number}")
        for number, each in enumerate(failure.frames)
    )
    top = failure.frames[0] if failure.frames else None
    return Stop(
        reason="exception",
        thread="t1",
        frame=frames[0] if frames else None,
        stack=frames,
        source=top.source if top else (),
        locals=top.values if top else (),
        exception=ExceptionInfo(type=failure.type, message=failure.message, mode="raised"),
        number=1,
    )


def _verdict(ran: Ran) -> Verdict:
    told = ran.told
    if isinstance(ran.end, Stop):
        return "red"
    if isinstance(ran.end, Running) or (told.begun and not told.finished):
        return "unfinished"
    if told.failures:
        return "red"
    if told.problem or not told.begun or (isinstance(ran.end, Exited) and ran.end.signal):
        return "broken"
    return "green"
