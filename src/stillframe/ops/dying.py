"""A program that a signal ended outside its debugger's sight: what its runtime wrote of it last, as part of a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ..adapters.leaving import last_words_of
from ..model.outcomes import Exited
from ..model.plans import Plan
from ..model.reports import CrashReport, Failure, ReportFrame, Witnessed
from ..model.values import Frame
from ..session.reporting import MOST, folded, told_frame
from ..session.session import Session

_READ = 64 * 1024
NO_VALUES = "the runtime wrote this when the signal ended it: there are places, and no values"


class LastCalls(msgspec.Struct, frozen=True):
    """The calls that a runtime wrote down when a signal ended it, and what else there was on standard error."""

    what: str
    frames: tuple[ReportFrame, ...]
    total: int
    rest: str


def last_calls(session: Session, plan: Plan) -> LastCalls | None:
    """What the runtime of a program that a signal ended wrote of where it was; None where it wrote nothing."""
    stderr = "".join(piece.text for piece in session.output.tail(_READ, ("stderr",))[0])
    found = last_words_of(plan, stderr)
    if found is None or not found.calls:
        return None
    return LastCalls(found.what, told_calls(session, plan, found.calls), len(found.calls), found.rest)


def told_calls(session: Session, plan: Plan, found: Sequence[Frame]) -> tuple[ReportFrame, ...]:
    """Calls that a runtime only wrote down, as a report tells them."""
    calls = folded([_judged(each, session, plan) for each in found])[:MOST]
    return tuple(told_frame(session, call, number) for number, call in enumerate(calls))


def with_last_words(session: Session, plan: Plan, report: CrashReport) -> CrashReport:
    """The report with the calls that the runtime told of, where a signal ended the program and nothing else tells why."""
    if report.failure is not None or not isinstance(report.end, Exited) or report.end.signal is None:
        return report
    found = last_calls(session, plan)
    if found is None:
        return report
    failure = Failure(
        what=f"{report.end.signal}: {found.what}",
        kind="signal",
        stack=Witnessed(frames=found.frames, total=found.total),
        notes=(NO_VALUES,),
    )
    end = msgspec.structs.replace(report.end, stderr=found.rest[-2000:], stderr_began="", dropped=0)
    return msgspec.structs.replace(report, failure=failure, end=end)


def _judged(frame: Frame, session: Session, plan: Plan) -> Frame:
    """Whether it is the user's own can only be told by where its file is."""
    file = Path(plan.cwd, frame.file or "")  # Python 3.8 tells it as it was typed
    own = frame.kind == "user" and file.is_relative_to(session.origin.root)
    module = file.parent.name if file.stem == "__init__" else file.stem
    return msgspec.structs.replace(frame, file=str(file), kind="user" if own else "library", module=module)
