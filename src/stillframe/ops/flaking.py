"""Tests that fail now and then: run again and again, and what a failing run first does otherwise than a passing one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ..adapters.recorders import Recording, read, recorder_for, write_ask
from ..adapters.runners.shown import shown_from
from ..model.places import BreakSpec, LinePlace
from ..model.plans import Plan
from ..model.recorder import Ask
from ..model.reports import Repeated
from ..model.tested import TestFailure, TestReport
from ..registry import From
from ..session import taping
from ..session.breakpoints import absolute
from ..transport.folders import private_folder, remove_folder
from .calling import Calls, better, by_calls, calls_asked, calls_of
from .common import Cue
from .explaining import as_stop, looked_at, report_of, with_made
from .repeating import Attempt, compare, nothing_to_compare, repeat
from .since import MOST_PLACES, places_of
from .testruns import Asked, Ran, check_matched, run_tests
from .walking import walk


async def repeated(asked: Asked, times: int, *, until_fail: bool, every: bool, further: bool) -> From[TestReport]:
    """Many runs, and the report of the first that failed, or of the last one; where all of several fail, `further` ones tell of
    it what they tell of a single one."""
    red: list[Ran] = []

    async def once() -> Attempt[From[TestReport]]:
        async with run_tests(asked, asked.ask) as ran:
            await check_matched(asked, ran)
            report = report_of(asked, ran, every=every)
            if report.failures:
                red.append(ran)
                await taping.stopped(ran.session, as_stop(report.failures[0]))
            return Attempt(From(ran.session, report), _kind(report))

    found, again = await repeat(once, times, until_fail=until_fail)
    report = found.result
    if report.failures:
        again = await _compared(asked, report.failures[0], again)
    report = msgspec.structs.replace(report, repeated=again, ran=again.runs)
    if further and not every and report.verdict == "red" and 1 < again.runs == again.failed:
        report, _ = await looked_at(asked, red[0], report)
        report = await with_made(asked, red[0], report)
    return From(found.session, report)


def _kind(report: TestReport) -> str | None:
    """What two failing runs must share to be of one kind; None where nothing failed."""
    if report.verdict == "green":
        return None
    return report.failures[0].place if report.failures else report.verdict


async def _compared(asked: Asked, failure: TestFailure, again: Repeated) -> Repeated:
    """Further runs in search of the first thing that is otherwise in a failing one: in what the test calls, as recorded, else in
    the values of the lines that led to the failure, under a debugger."""
    if none := nothing_to_compare(again):
        return none
    found = await _by_calls(asked, failure, again)
    if found is not None and found.difference is not None:
        return found
    return better(await _by_lines(asked, failure, again), found)


async def _by_calls(asked: Asked, failure: TestFailure, again: Repeated) -> Repeated | None:
    """None where nothing can be recorded, or the test calls nothing."""
    runner = asked.choice.runner
    around = runner.around(failure)
    wanted = calls_asked(failure.frames, around, asked.ask.cwd) if runner.recordable else None
    if wanted is None:
        return None
    own = int(around is not None)  # the test itself is one of the runner's calls
    show = shown_from(asked.ask.cwd)
    return await by_calls(lambda: _recorded(asked, failure, wanted), again, "the test", show, own=own)


async def _recorded(asked: Asked, failure: TestFailure, wanted: Ask) -> Calls:
    """One run with the calls of the test."""
    alone = failure.id if asked.choice.runner.alone else asked.ask.selector
    async with recorded_tests(replace(asked, ask=replace(asked.ask, selector=alone)), wanted) as (ran, recordings):
        failed = any(each.id == failure.id for each in ran.told.failures)
        passed = not failed if ran.told.finished else None
        return calls_of(recordings, ran.end, failure, passed=passed)


@asynccontextmanager
async def recorded_tests(asked: Asked, wanted: Ask) -> AsyncIterator[tuple[Ran, tuple[Recording, ...]]]:
    """The tests run once as they are, with this written down."""
    folder = Path(private_folder())
    try:
        write_ask(folder, wanted)

        async def recorded(plan: Plan) -> Plan:
            plan = replace(plan, adapter=None)
            recorder = recorder_for(plan)
            return await recorder.prepare(plan, folder) if recorder else plan

        async with run_tests(replace(asked, recorded=recorded), asked.ask) as ran:
            yield ran, read(folder)
    finally:
        remove_folder(str(folder))


async def _by_lines(asked: Asked, failure: TestFailure, again: Repeated) -> Repeated:
    """Runs under a debugger, past the lines that led to the failure."""
    folder = private_folder()
    try:
        plan = await debugged(asked, failure, Path(folder))
        if plan is None:
            return again
        lines = places(asked, failure)
        specs = [BreakSpec(place=each) for each in lines]
        cue, outer = Cue(do=asked.do), failed_in(asked, failure)
        return await compare(
            lambda: walk(asked.sessions, asked.caller, plan, specs, asked.wait, cue), again, len(specs),
            lines.index(outer) if outer in lines else None,
        )  # fmt: skip
    finally:
        remove_folder(folder)


async def debugged(asked: Asked, failure: TestFailure | None, folder: Path) -> Plan | None:
    """The same tests under a debugger."""
    runner = asked.choice.runner
    if runner.stays:
        return await runner.plan(replace(asked.ask, debugged=True), folder)
    live = await runner.live(asked.ask, failure, folder) if failure is not None else None
    return live.plan if live is not None else None


def places(asked: Asked, failure: TestFailure) -> list[LinePlace]:
    """The lines of the failing calls, and those that made what the failing one uses."""
    here = replace(asked.caller, cwd=asked.ask.cwd)
    made = [LinePlace(absolute(failure.file, here.cwd), line) for line in failure.makers] if failure.file else []
    return list(dict.fromkeys((*made, *places_of(failure.frames, here))))[-MOST_PLACES:]


def failed_in(asked: Asked, failure: TestFailure) -> LinePlace | None:
    """The line of the test itself that it failed in."""
    return next(iter(places_of(failure.frames, replace(asked.caller, cwd=asked.ask.cwd))), None)
