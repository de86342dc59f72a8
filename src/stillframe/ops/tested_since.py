"""`test --since REV`: the same tests in a clean copy of an earlier revision, and the first thing that is otherwise now."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ..adapters import understand
from ..adapters.revisions import Revision
from ..model.outcomes import AnyOutcome
from ..model.places import LinePlace
from ..model.plans import Caller, Plan
from ..model.recorder import Ask
from ..model.tested import TestFailure, TestReport
from ..session.breakpoints import absolute
from ..transport.folders import private_folder, remove_folder
from .called_since import Beside, Said, beside, what_was_said
from .common import Cue
from .explaining import report_of
from .flaking import debugged, failed_in, places, recorded_tests
from .since import MOST_PLACES, Behind, check_own
from .since import since as since_revision
from .testruns import Asked, run_tests


async def with_revision(asked: Asked, now: TestReport, name: str, *, once: bool) -> TestReport:
    """The report, with what the first failing test does in a revision, and the first difference on the way to the failure;
    where none failed, with how the same tests went there."""
    first = now.failures[0] if now.failures else None
    if first is not None and asked.choice.runner.alone:
        asked = replace(asked, ask=replace(asked.ask, selector=first.id))
    folder = private_folder()
    try:
        plan = await _plan(asked, first, Path(folder))
        alone = await _alone(asked, first, Path(folder)) if first is not None else None
        made = _made(asked, first) if first is not None else []
        lines = list(dict.fromkeys([*places(asked, first), *made]))[:MOST_PLACES] if first is not None else []
        here = replace(asked.caller, cwd=asked.ask.cwd)

        async def then(old: Revision, moved: Plan, there: Caller) -> tuple[str, AnyOutcome]:
            return await _there(asked, old, moved, there)

        told = await since_revision(
            asked.sessions,
            here,
            plan,
            name,
            lines,
            then,
            asked.wait,
            Cue(do=asked.do),
            leaving=made,
            alone=alone,
            failed_in=failed_in(asked, first) if first is not None else None,
            behind=_behind(asked, first) if first is not None and not once else None,
        )
    finally:
        remove_folder(folder)
    return msgspec.structs.replace(now, since=told)


async def _plan(asked: Asked, failure: TestFailure | None, folder: Path) -> Plan:
    """The tests as a program that can be walked through; a runner that needs no debugger may still run under one."""
    runner = asked.choice.runner
    if (runner.stays or runner.built_there) and (plan := await debugged(asked, failure, folder)) is not None:
        return plan
    return understand(replace(await asked.choice.runner.plan(asked.ask, folder), adapter=None))


async def _alone(asked: Asked, failure: TestFailure, folder: Path) -> Plan | None:
    """The failing test by itself, so that others that come to the same lines are not taken for it."""
    if asked.choice.runner.alone or not asked.choice.runner.by_id or asked.ask.selector == failure.id:
        return None
    return await _plan(replace(asked, ask=replace(asked.ask, selector=failure.id)), failure, folder)


def _made(asked: Asked, failure: TestFailure) -> list[LinePlace]:
    """Where those calls returned that gave the failing one what it failed on."""
    calls = sorted(failure.calls, key=lambda each: each.rank)
    return [LinePlace(absolute(each.file, asked.ask.cwd), each.line) for each in calls if each.file and each.line]


def _behind(asked: Asked, failure: TestFailure) -> Behind | None:
    """How the failing test is recorded in both revisions, by itself where its runner can be asked for it alone."""
    runner = asked.choice.runner
    if not runner.recordable:
        return None
    chosen = failure.id if runner.by_id else asked.ask.selector
    alone = replace(asked, ask=replace(asked.ask, selector=chosen, hold=False))

    async def record(which: Asked, ask: Ask) -> Said:
        async with recorded_tests(which, ask) as (_, recordings):
            return what_was_said(recordings)

    async def behind(old: Revision, moved: Plan, there: Caller) -> Beside | None:
        then = partial(record, _elsewhere(alone, moved, there))
        return await beside(partial(record, alone), then, old, asked.ask.cwd, failure.frames)

    return behind


def _elsewhere(asked: Asked, moved: Plan, there: Caller) -> Asked:
    """The same tests in the revision."""
    ask = replace(asked.ask, cwd=moved.cwd, root=moved.cwd, env=_plain(moved.env, asked.ask.env), hold=False)
    return replace(asked, caller=there, ask=ask)


async def _there(asked: Asked, old: Revision, moved: Plan, there: Caller) -> tuple[str, AnyOutcome]:
    """The same tests in the revision: its verdict in a line."""
    elsewhere = _elsewhere(asked, moved, there)
    async with run_tests(elsewhere, elsewhere.ask) as ran:
        report = report_of(elsewhere, ran, every=False)
    own = (frame for each in report.failures for frame in each.frames)
    check_own(old, (each.file for each in own if each.file and not each.library), there)
    counts = report.counts
    match report.verdict:
        case "green":
            return f"green, {counts.passed:,} passed", report.end
        case "red" if counts.failed:
            return f"{counts.failed:,} of {counts.total:,} failed, {report.failures[0].place}", report.end
        case _:
            return (report.failures[0].place if report.failures else report.verdict), report.end


def _plain(env: Mapping[str, str], before: Mapping[str, str]) -> dict[str, str]:
    """An environment without what the plan of a run added to it, which the next one adds itself."""
    ours = [each for each in env.get("PYTHONPATH", "").split(os.pathsep) if each and "_target" not in Path(each).parts]
    kept = {name: value for name, value in env.items() if name in before or name == "PYTHONPATH"}
    if ours:
        return {**kept, "PYTHONPATH": os.pathsep.join(ours)}
    return {name: value for name, value in kept.items() if name != "PYTHONPATH"}
