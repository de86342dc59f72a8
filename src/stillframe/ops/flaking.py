"""Tests that fail now and then: run again and again, and what a failing run first does otherwise than a passing one."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec.structs import replace

from ..model.places import BreakSpec, LinePlace
from ..model.plans import Plan
from ..model.reports import Repeated
from ..model.tested import TestFailure, TestReport
from ..registry import From
from ..session import taping
from ..session.breakpoints import absolute
from ..transport.folders import private_folder, remove_folder
from .common import Cue
from .explaining import as_stop, report_of
from .repeating import Attempt, compare, repeat
from .since import MOST_PLACES, places_of
from .testruns import Asked, check_matched, run_tests
from .walking import walk


async def repeated(asked: Asked, times: int, *, until_fail: bool, every: bool) -> From[TestReport]:
    """Many runs, and the report of the first that failed, or of the last one."""

    async def once() -> Attempt[From[TestReport]]:
        async with run_tests(asked, asked.ask) as ran:
            await check_matched(asked, ran)
            report = report_of(asked, ran, every=every)
            if report.failures:
                await taping.stopped(ran.session, as_stop(report.failures[0]))
            return Attempt(From(ran.session, report), _kind(report))

    found, again = await repeat(once, times, until_fail=until_fail)
    if found.result.failures:
        again = await _compared(asked, found.result.failures[0], again)
    return From(found.session, msgspec.structs.replace(found.result, repeated=again, ran=again.runs))


def _kind(report: TestReport) -> str | None:
    """What two failing runs must share to be of one kind; None where nothing failed."""
    if report.verdict == "green":
        return None
    return report.failures[0].place if report.failures else report.verdict


async def _compared(asked: Asked, failure: TestFailure, again: Repeated) -> Repeated:
    """Runs under a debugger, past the lines that led to the failure, in search of the first thing that is otherwise."""
    folder = private_folder()
    try:
        plan = await debugged(asked, failure, Path(folder))
        if plan is None:
            return again
        specs = [BreakSpec(place=each) for each in places(asked, failure)]
        cue = Cue(do=asked.do)
        return await compare(
            lambda: walk(asked.sessions, asked.caller, plan, specs, asked.wait, cue), again, len(specs)
        )
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
