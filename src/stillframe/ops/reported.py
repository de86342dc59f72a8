"""Errors that did not end a program by themselves, as part of a report: caught before it gave up, or only written down by it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

import msgspec

from ..adapters.leaving import ignored_by, tells_handed_errors
from ..model import wording
from ..model.outcomes import Exited
from ..model.plans import Plan
from ..model.powers import Wraps
from ..model.reports import CrashReport, Failure, Witnessed, spot
from ..session.session import Session
from .dying import told_calls
from .failing import Watched

EACH = 10
"""From so many such errors on not each of them is looked at."""
_EXITS_WITH_CALL = re.compile(r"\bexit\(\s*[\w.]+\(")
_READ = 64 * 1024
NO_VALUES = (
    "the runtime only wrote this at its end, when nothing could be held any more: there are places, and no values"
)


OWN: frozenset[str | None] = frozenset({None})
"""The process whose end is that of the run, as failures name it: by no name at all."""


def handled_before(seen: Watched, failure: Failure | None, programs: frozenset[str | None] = OWN) -> Failure | None:
    """The last error that the program caught and reported before it gave up with a failing code, unless its end tells it."""
    if not isinstance(seen.end, Exited) or not seen.end.exit_code:
        return None
    if failure is not None and failure.kind != "exit":
        return _equal_elsewhere(seen.raised, failure)
    told = [each.what for each in _chain(failure)]
    own = [each for each in seen.raised if each.process in programs and each.what not in told]
    if not own:
        return None
    return msgspec.structs.replace(own[-1], notes=(*own[-1].notes, *_several(len(own))))


def programs_of(session: Session) -> frozenset[str | None]:
    """The processes whose end is that of the run: its own, or those that a wrapper runs."""
    if not isinstance(session.backend, Wraps):
        return OWN
    return frozenset(each.name for each in session.family() if each.parent is session)


def _equal_elsewhere(raised: Sequence[Failure], failure: Failure) -> Failure | None:
    """The last error that says the same and was reported where the calls of this one do not lead: what one thread or process
    hands to another by a result or a queue is often made anew there, and says nothing of where it came from."""
    known = {spot(each) for each in failure.stack.frames}
    alike = [each for each in raised if each.what == failure.what and each.stack.frames]
    others = [each for each in alike if not each.stack.frames[0].library and spot(each.stack.frames[0]) not in known]
    if failure.exception is None or not others or len(others) < len(alike):
        return None
    return msgspec.structs.replace(others[-1], notes=(*others[-1].notes, *_several(len(others))))


def unseen(failure: Failure | None, handled: Failure | None, plan: Plan) -> tuple[str, ...]:
    """That an error may have been caught in silence, where a program exits with what a call gave (`sys.exit(main())`), or where
    a library ends it as failed (click, by what a command raised)."""
    if failure is None or handled is not None or failure.kind != "exit" or not tells_handed_errors(plan):
        return ()
    top = next(iter(failure.stack.frames), None)
    line = next((each.text for each in top.source if each.here), "") if top is not None and not top.library else ""
    by_library = top is not None and top.folded > 0 and failure.what == "SystemExit: 1"
    if not (by_library or _EXITS_WITH_CALL.search(line)) or _chain(failure):
        return ()
    again = shlex.join(plan.command)
    return (
        f"no error was reported before; dbg launch --catch raised -- {again} stops at one that is caught in silence",
    )


def within(plan: Plan) -> tuple[str, ...]:
    """That an error may have stayed in the user's own code, of a program that answered what it was asked: in Python such errors
    are too common to be told."""
    if not tells_handed_errors(plan):
        return ()
    again = wording.call("launch", catch="raised")
    return (f"no error left your code; {again} with the same command stops at one that it catches itself",)


def _several(count: int) -> tuple[str, ...]:
    if count < 2:
        return ()
    if count < EACH:
        return (f"the last of {count} errors that it caught and reported",)
    return ("the last that was looked at of many errors that it caught and reported",)


def _chain(failure: Failure | None) -> Sequence[Failure]:
    causes = failure.exception.causes if failure is not None and failure.exception is not None else ()
    return [Failure(what=f"{each.type}: {each.message}" if each.message else each.type) for each in causes]


def with_ignored(session: Session, plan: Plan, report: CrashReport) -> CrashReport:
    """A good end at which the runtime wrote of an error that it could only ignore, told as that error."""
    if report.failure is not None or not isinstance(report.end, Exited) or report.verdict != "ended well":
        return report
    stderr = "".join(piece.text for piece in session.output.tail(_READ, ("stderr",))[0])
    found = ignored_by(plan, stderr)
    if found is None or not (frames := told_calls(session, plan, found.calls)) or frames[0].library:
        return report
    stack = Witnessed(frames=frames, total=len(found.calls))
    failure = Failure(what=found.what, kind="exception", stack=stack, notes=(NO_VALUES,))
    return msgspec.structs.replace(report, failure=failure, verdict="crashed")
