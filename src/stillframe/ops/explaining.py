"""Why a red test is red: its report, with what further runs under a debugger or a recorder add to it."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec.structs import replace

from ..adapters.recorders import recorder_for, write_ask
from ..adapters.runners.shown import last_lines
from ..model import wording
from ..model.outcomes import Exited, Running, Stop
from ..model.tested import TestFailure, TestReport, Told, Verdict
from ..model.values import ExceptionInfo, Frame
from ..session import taping
from ..session.session import Session
from ..transport.folders import private_folder, remove_folder
from .common import Cue
from .dying import NO_VALUES, last_calls
from .held import left_held
from .made import ask_for, with_calls
from .reproducing import again_under_debugger, otherwise, with_frames
from .testruns import Asked, Ran, run_tests

NOT_THROWN = "run again under a debugger it failed without an error thrown there: it was handed on, as by done(error)"
VALUES_BEFORE = "; the values are those of when the line was come to"
NOTHING_HELD = ", so that there was nothing to hold; the values are those of when the line was come to"


def report_of(asked: Asked, ran: Ran, *, every: bool) -> TestReport:
    told, verdict = _with_last_words(ran), _verdict(ran)
    notes = told.notes + tuple(
        f"also found: {other} ({wording.option('runner', other)})" for other in asked.choice.others[:1]
    )
    report = TestReport(
        runner=asked.choice.runner.name,
        verdict=verdict,
        command=ran.plan.command,
        end=ran.end,
        version=told.version,
        runtime=told.runtime,
        interpreter=told.interpreter,
        counts=told.counts,
        failures=told.failures,
        running=told.running,
        problem=told.problem
        or (last_lines(ran.end.stderr.strip() or ran.end.output.strip()) if verdict == "broken" else ""),
        every=every,
        notes=notes,
    )
    if isinstance(ran.end, Stop):
        report = msgspec.structs.replace(report, held=left_held(ran.session))
    return report


def _with_last_words(ran: Ran) -> Told:
    """What was told, and first of its failures the test that a signal ended: its calls, as far as its runtime wrote them."""
    told = ran.told
    if not isinstance(ran.end, Exited) or ran.end.signal is None or told.running is None:
        return told
    found = last_calls(ran.session, replace(ran.plan, adapter=None))
    if found is None:
        return told
    died = TestFailure(
        id=told.running, type=ran.end.signal, message=found.what, frames=found.frames, notes=(NO_VALUES,)
    )
    return replace(told, failures=(died, *told.failures), problem="")


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
    # Others than those asked for may have run along, and failed.
    if isinstance(ran.end, Exited) and ran.end.exit_code and not told.counts.deselected:
        return "broken"
    return "green"


async def looked_at(asked: Asked, ran: Ran, report: TestReport) -> tuple[TestReport, Session]:
    """The report with the values of the frame that failed, from a second run under a debugger, where those need one."""
    folder = private_folder()
    stays = False
    try:
        live = await asked.choice.runner.live(asked.ask, report.failures[0], Path(folder))
        if live is None:
            return report, ran.session
        seen = await again_under_debugger(
            asked.sessions, asked.caller, live, asked.wait, Cue(do=asked.do), hold=asked.ask.hold
        )
        if seen is not None and seen.thrown and asked.ask.hold:
            stays = True
            seen.session.root.keep(_until_its_end(seen.session.root, folder), "report")
    finally:
        if not stays:
            remove_folder(folder)
    report = msgspec.structs.replace(report, ran=report.ran + 1)
    if seen is None:
        note = "a second run, under a debugger, did not fail there, so that no values can be told"
        return msgspec.structs.replace(report, notes=(*report.notes, note)), ran.session
    if not seen.thrown:
        first = with_frames(report.failures[0], seen.stack, live)
        has_values = any(each.values for each in first.frames[:1])
        note = NOT_THROWN + (NOTHING_HELD if asked.ask.hold else VALUES_BEFORE if has_values else "")
        report = msgspec.structs.replace(report, failures=(first, *report.failures[1:]), notes=(*report.notes, note))
        return report, ran.session
    other = otherwise(report.failures[0], seen.message)
    report = msgspec.structs.replace(report, notes=(*report.notes, other)) if other else report
    first = with_frames(report.failures[0], seen.stack, live)
    held = left_held(seen.session) if asked.ask.hold else None
    report = msgspec.structs.replace(report, failures=(first, *report.failures[1:]), held=held)
    return report, seen.session if held else ran.session


async def _until_its_end(session: Session, folder: str) -> None:
    """Keep the folder while a run that is held may go on: without a place for its report the runner itself would fail."""
    try:
        await session.bell.wait_for(lambda: not session.live, None)
    finally:
        remove_folder(folder)


async def with_made(asked: Asked, ran: Ran, report: TestReport) -> TestReport:
    """The report with the calls that led to its first failure, from a second run that records itself."""
    first = report.failures[0]
    runner = asked.choice.runner
    if first.when == "collection" and not runner.stays:
        return report  # no test was called, and what a module does as it is loaded is in nobody's recording
    if not runner.recordable:
        note = f"the calls that made these values are not told: what {runner.name} runs has no recorder"
        return msgspec.structs.replace(report, notes=(*report.notes, note))
    wanted = ask_for(first, asked.ask.cwd, ran.told.ordinal, alone=runner.alone)
    recorder = recorder_for(replace(ran.plan, adapter=None)) if wanted is not None else None
    if wanted is None or recorder is None:
        return report
    folder = Path(private_folder())
    try:
        write_ask(folder, wanted)
        again = replace(asked, recorded=lambda plan: recorder.prepare(replace(plan, adapter=None), folder))
        alone = first.id if asked.choice.runner.alone else asked.ask.selector
        async with run_tests(again, replace(asked.ask, selector=alone, first=True, hold=False)) as second:
            # A fixture is recorded in the place of the test, so that the runner's word is needed for how that ended.
            fails_again = first.given is None or first.id in [each.id for each in second.told.failures]
            told = with_calls(first, folder, asked.ask.cwd, alone=runner.alone) if fails_again else None
            if told is not None:
                await taping.stopped(second.session, as_stop(told))
    finally:
        remove_folder(str(folder))
    note = "a further, recorded run did not show the call that failed, so the calls that led here are not told"
    if told is None:
        return msgspec.structs.replace(report, ran=report.ran + 1, notes=(*report.notes, note))
    return msgspec.structs.replace(report, ran=report.ran + 1, failures=(told, *report.failures[1:]))


def as_stop(failure: TestFailure) -> Stop:
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
