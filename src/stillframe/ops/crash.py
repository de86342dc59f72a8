"""`crash`: run a program until something goes wrong in it, and tell what, where, with which values, and how it ended."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, TypeVar

import msgspec
from msgspec.structs import replace

from ..adapters.leaving import (
    Leaving,
    Recovering,
    fails_by_handed_errors,
    leaving_of,
    misjudges_errors,
    recovering_of,
    tells_handed_errors,
    waited_in_vain,
)
from ..adapters.recorders import recorder_for
from ..adapters.revisions import Revision
from ..adapters.runners.shown import shown_from
from ..errors import LaunchFailed, UsageError
from ..model import wording
from ..model.outcomes import AnyOutcome, Exited, Lost, Running
from ..model.places import BreakSpec, SymbolPlace
from ..model.plans import Caller, Plan
from ..model.recorder import Ask
from ..model.reports import CrashReport, Failure, Repeated, Verdict
from ..model.tested import TestFailure
from ..registry import Access, From, Param, operation
from ..session import family
from ..session.ready import Ready
from ..session.session import Session
from ..session.sessions import Sessions
from .called_since import Beside, Said, beside, what_was_said
from .calling import Calls, better, by_calls, calls_asked, calls_of, says_why
from .common import Cue, Do, RunSeconds, waited_after_do
from .deaf import gathered_or_told
from .dying import with_last_words
from .failing import MOST_ALSO, Watched, watch
from .held import LEASE, left_held
from .launch import start
from .private_runs import assumed_note, plan_for, started
from .programs import Command, Program, ReadyWord, RunTerms, default_name
from .recorded_run import recorded_run
from .repeating import Attempt, Times, UntilFail, check, compare, ended_well, nothing_to_compare
from .repeating import repeat as repeat_runs
from .reported import handled_before, programs_of, unseen, with_ignored, within
from .sanitized import with_own_words
from .since import Behind, SinceWord, check_own, places_of
from .since import since as since_revision
from .walking import walk

T = TypeVar("T")

Hold = Annotated[bool, Param("keep the program held where it failed, as a session for eval, expand and frame")]


class Wish(msgspec.Struct, frozen=True):
    """What is to be run, and how it is to be watched."""

    plan: Plan
    caller: Caller
    ready: Ready | None
    do: str | None
    seconds: float
    hold: bool

    @property
    def name(self) -> str:
        return f"crash-{default_name(self.plan)}"

    @property
    def cue(self) -> Cue:
        return Cue(self.ready, self.do)


@operation(Access.EXEC, starts=True, owned=True, example="dbg crash -- python shop.py --file orders.json")
async def crash(
    sessions: Sessions,
    caller: Caller,
    program: Program = (),
    command: Command = (),
    *,
    how: RunTerms,
    ready: ReadyWord = None,
    do: Do = None,
    hold: Hold = False,
    since: SinceWord = None,
    repeat: Times = 1,
    until_fail: UntilFail = False,
    timeout: RunSeconds = None,
) -> From[CrashReport]:
    """Run a program until something goes wrong and tell why: the error and its causes, your calls with their values, its end.

    An uncaught exception, a fatal signal, a failed assertion or an exit code that is not 0. Then it is let go to its end. One
    that runs out of time gives the report of `hang`. Of what is asked something by --do, as a server is, errors are told too
    that its framework caught. Without a command, the last one of this project is run.
    """
    readiness = Ready.parse(ready) if ready is not None else None
    if readiness:
        await readiness.check_free()
    plan, assumed = plan_for(sessions, caller, "crash", program, command, how)
    seconds = sessions.settings(caller.cwd).wait if timeout is None else timeout
    wish = Wish(replace(plan, tells_waits=True, tells_exits=True), caller, readiness, do, seconds, hold)
    check(repeat, until_fail)
    if repeat > 1:
        if hold:
            raise UsageError("--hold keeps one run: it does not go with --repeat")
        found = await _again(sessions, wish, repeat, until_fail)
    else:
        found = await run_once(sessions, wish)
    sessions.commands.keep(plan, caller)
    report = found.result if since is None else await _compared(sessions, wish, found.result, since)
    notes = (*assumed_note(assumed, plan), *report.notes)
    return From(found.session, msgspec.structs.replace(report, notes=notes, assumed=assumed is not None))


async def _again(sessions: Sessions, wish: Wish, times: int, until_fail: bool) -> From[CrashReport]:
    """Many runs, and the report of the first that failed."""

    async def once() -> Attempt[From[CrashReport]]:
        found = await run_once(sessions, wish)
        return Attempt(found, _kind(found.result))

    found, repeated = await repeat_runs(once, times, until_fail=until_fail)
    failure = found.result.failure
    places = places_of(failure.stack.frames, wish.caller) if failure else []
    specs = [BreakSpec(place=each) for each in places]
    held = await compare(
        lambda: walk(sessions, wish.caller, wish.plan, specs, wish.seconds, wish.cue), repeated, len(places), 0
    )
    recorded = (
        None if says_why(held) or nothing_to_compare(repeated) else await _by_calls(sessions, wish, failure, held)
    )
    return From(found.session, msgspec.structs.replace(found.result, repeated=better(held, recorded)))


async def _by_calls(sessions: Sessions, wish: Wish, failure: Failure | None, repeated: Repeated) -> Repeated | None:
    """The calls of the outermost one that failed, where they can be recorded and an error ended them; Node's recorder writes
    down functions alone, so that there it is the outermost but one."""
    recorder = recorder_for(wish.plan)
    if recorder is None or failure is None or failure.exception is None or failure.process:
        return None
    error = TestFailure(id="", type=failure.exception.type, message=failure.exception.message)
    own = [each for each in failure.stack.frames if not each.library]
    for frames in (own, own[:-1]):
        if (wanted := calls_asked(frames, None, wish.caller.cwd)) is None:
            break

        async def record(wanted: Ask = wanted) -> Calls:
            run = recorded_run(
                sessions, wish.caller, wish.plan, recorder, wanted, verb="crash", readiness=wish.ready, do=wish.do,
                timeout=wish.seconds,
            )  # fmt: skip
            async with run as ran:
                return calls_of(ran.recordings, ran.end, error, passed=ended_well(ran.end))

        if (found := await by_calls(record, repeated, "it", shown_from(wish.caller.cwd), own=0)) is not None:
            return found
    return None


def _kind(report: CrashReport) -> str | None:
    """What two failures must share to be of one kind; None where nothing failed."""
    if report.verdict == "ended well":
        return None
    if report.failure is not None:
        return report.failure.place
    match report.end:
        case Exited(signal=str(signal)):
            return f"ended by {signal}"
        case Exited(exit_code=int(code)):
            return f"exit {code}"
    return report.verdict


async def _compared(sessions: Sessions, wish: Wish, now: CrashReport, name: str) -> CrashReport:
    """The report, with the same command in an earlier revision beside it."""

    async def then(old: Revision, plan: Plan, there: Caller) -> tuple[str, AnyOutcome]:
        was = (await run_once(sessions, replace(wish, plan=plan, caller=there, hold=False))).result
        own = was.failure.stack.frames if was.failure else ()
        check_own(old, (each.file for each in own if each.file and not each.library), there)
        return was.failure.place if was.failure else was.verdict, was.end

    frames = now.failure.stack.frames if now.failure else ()
    places = places_of(frames, wish.caller)
    outer = places[0] if places else None
    told = await since_revision(
        sessions, wish.caller, wish.plan, name, places, then, wish.seconds, wish.cue, failed_in=outer,
        behind=_behind(sessions, wish, now.failure),
    )  # fmt: skip
    return msgspec.structs.replace(now, since=told)


def _behind(sessions: Sessions, wish: Wish, failure: Failure | None) -> Behind | None:
    """How both revisions are recorded, where their language has a recorder and an error ended a call of the program itself."""
    recorder = recorder_for(wish.plan)
    if recorder is None or failure is None or failure.exception is None or failure.process:
        return None

    async def record(caller: Caller, plan: Plan, ask: Ask) -> Said:
        run = recorded_run(
            sessions, caller, plan, recorder, ask, verb="crash", readiness=wish.ready, do=wish.do, timeout=wish.seconds
        )
        async with run as ran:
            return what_was_said(ran.recordings)

    async def behind(old: Revision, moved: Plan, there: Caller) -> Beside | None:
        now = partial(record, wish.caller, wish.plan)
        return await beside(now, partial(record, there, moved), old, wish.caller.cwd, failure.stack.frames)

    return behind


async def run_once(sessions: Sessions, wish: Wish) -> From[CrashReport]:
    """One run to its end, and the report of it."""
    exits = {BreakSpec(SymbolPlace(each.function)): each for each in leaving_of(wish.plan)}
    how = recovering_of(wish.plan) if wish.do else None
    recovers = {BreakSpec(SymbolPlace(how.function), condition=how.condition): how} if how else {}
    catch = _catch(wish)
    starting = start(
        sessions, wish.plan, wish.caller, breaks=(*exits, *recovers), catch=catch, name=None, default_name=wish.name,
        private=True,
    )  # fmt: skip
    try:
        session = await started(sessions, asyncio.ensure_future(starting))
    except LaunchFailed as failed:
        if "exit_code" not in failed.detail:
            raise
        return From(None, _stillborn(wish.plan, failed))
    kept = False
    try:
        cwd = wish.caller.cwd
        report = await _report(sessions, session, wish, _by_id(session, exits, cwd), _by_id(session, recovers, cwd))
        kept = report.held is not None
    finally:
        if not kept:
            await asyncio.shield(asyncio.ensure_future(sessions.discard(session)))
    return From(session, report)


def _catch(wish: Wish) -> tuple[str, ...]:
    """The errors to look at. What is asked something (`--do`) is mostly a server, whose framework handles all of them. With
    `hold` none that may turn out to be of no account: it would be held there."""
    if misjudges_errors(wish.plan):
        return ("uncaught", "raised")
    if wish.do:
        return ("uncaught", "user") if tells_handed_errors(wish.plan) else ()
    return ("uncaught", "user") if fails_by_handed_errors(wish.plan) and not wish.hold else ()


def _went_on(caught: Failure, failures: Sequence[Failure]) -> bool:
    """Whether an error that a library caught is one that it raised again, and that is told as such."""
    return any((caught.what, caught.place) == (each.what, each.place) for each in failures)


def _by_id(session: Session, specs: Mapping[BreakSpec, T], cwd: str) -> dict[str, T]:
    return {session.breakpoints.id_of(spec, cwd): each for spec, each in specs.items()}


async def _report(
    sessions: Sessions, session: Session, wish: Wish, exits: dict[str, Leaving], recovers: dict[str, Recovering]
) -> CrashReport:
    patience = max(wish.seconds, sessions.settings(wish.caller.cwd).wait) if wish.ready else wish.seconds
    seen = await watch(
        session, wish.seconds, partial(wish.cue.given, session, wish.caller), patience,
        hold=wish.hold, exits=exits, recovers=recovers,
    )  # fmt: skip
    answered = seen.answered if wish.do else seen.handed if _ended_badly(seen) else ()
    handled = [each for each in answered if not _went_on(each, seen.failures)]
    failure = _primary(seen) or next(iter(handled), None)
    caught = handled_before(seen, failure, programs_of(session))
    if failure is seen.leaving is not None and not wish.do:
        caught = caught or next(iter(handled), None)
    report = CrashReport(
        command=wish.plan.command,
        verdict=_verdict(seen, failure),
        end=seen.end,
        failure=failure,
        handled=caught,
        also=tuple(
            _bare(each) for each in (*seen.failures, *handled[:MOST_ALSO]) if each is not failure and each is not caught
        ),
        also_total=max(0, seen.total + len(handled) - (failure is not None)),
        notes=(
            *_notes(seen, failure, wish),
            *unseen(failure, caught, wish.plan),
            *(within(wish.plan) if seen.cued and wish.do and not (failure or caught) else ()),
            *_where_to_hold(failure or caught, wish),
        ),
    )
    report = with_last_words(session, wish.plan, with_own_words(session, report))
    report = with_ignored(session, wish.plan, report)
    if seen.overdue and failure is None:
        told = await gathered_or_told(session, wish.plan, after=seen.after, live=wish.hold)
        report = msgspec.structs.replace(
            report, hang=msgspec.structs.replace(told, command=wish.plan.command, end=seen.end)
        )
    if wish.hold and (seen.held is not None or seen.overdue):
        if ours := [id for id in (*exits, *recovers) if id in session.root.breakpoints]:
            session.root.breakpoints.remove(ours)  # which whoever takes over did not ask for
            await family.sync_breakpoints(session.root)
        sessions.hand_over(session, wish.caller.client, LEASE)
        report = msgspec.structs.replace(report, held=left_held(seen.held or session))
    return report


def _primary(seen: Watched) -> Failure | None:
    """What to tell first: the first thing that went wrong; a rejection or a signal that was handled after all is none."""
    ended_well = isinstance(seen.end, Exited) and seen.end.exit_code == 0
    if not seen.failures and isinstance(seen.end, Exited) and (lost := seen.end.lost_error):
        alike = [each for each in seen.raised if each.what == lost]
        return alike[-1] if alike else Failure(what=lost, kind="exception")
    for each in seen.failures:
        handled = each.exception is not None and each.exception.mode == "unhandled" and ended_well
        if not handled:
            return each
    return None if ended_well else seen.leaving


def _ended_badly(seen: Watched) -> bool:
    return isinstance(seen.end, Exited) and bool(seen.end.exit_code)


def _verdict(seen: Watched, failure: Failure | None) -> Verdict:
    match seen.end:
        case Running() if failure is None and seen.held is None:
            return "hangs"
        case Lost():
            return "lost"
        case Exited(exit_code=0) if failure is None:
            return "ended well"
    return "handled" if failure in seen.answered and failure not in seen.failures else "crashed"


def _notes(seen: Watched, failure: Failure | None, wish: Wish) -> tuple[str, ...]:
    notes: list[str] = []
    if wish.ready and not seen.cued and seen.held is None:
        notes.append(
            f"it was never ready: {wish.ready}" + (f"; {wording.option('do', None)} was not run" if wish.do else "")
        )
    if isinstance(seen.end, Running) and seen.failures and seen.held is None:
        notes.append("it ran on after that, so it was ended")
    if seen.overdue and seen.end.do and not any(each.running for each in seen.end.do):
        notes.append(waited_after_do() + ("" if wish.hold else ", and was then ended"))
    if failure is None and seen.failures:
        count = len(seen.failures)
        what = f"{count} errors were handled after all, the first" if count > 1 else "handled after all"
        notes.append(f"{what}: {seen.failures[0].what}")
    if failure is None and isinstance(seen.end, Exited) and seen.end.exit_code:
        notes.append(_unexplained(seen.end.exit_code, wish.plan))
    return tuple(notes)


def _where_to_hold(failure: Failure | None, wish: Wish) -> tuple[str, ...]:
    """How an error that library code handled can be looked at live, where it is only told since the end was bad."""
    if wish.do or failure is None or failure.exception is None or failure.exception.mode != "user":
        return ()
    return (f"dbg launch --catch user -- {shlex.join(wish.plan.command)} is held where it leaves your code",)


def _unexplained(code: int, plan: Plan) -> str:
    """What is to be said of a bad end that no error and no call of the user's led to."""
    if where := waited_in_vain(plan, code):
        hang = wording.call("hang")
        return f"its runtime ends so in {where} that nothing is left to settle; {hang} with the same command tells for what"
    return "nothing tells which of your calls ended it: no exception, and no call of yours that ends a program"


def _bare(failure: Failure) -> Failure:
    """A further failure in a line: its place, without values."""
    top = tuple(msgspec.structs.replace(each, values=(), source=()) for each in failure.stack.frames[:1])
    return msgspec.structs.replace(failure, stack=msgspec.structs.replace(failure.stack, frames=top), exception=None)


def _stillborn(plan: Plan, failed: LaunchFailed) -> CrashReport:
    """A program that ended before its first line, as one does that cannot be compiled: what it said is all there is."""
    detail = failed.detail
    said = str(detail.get("stderr") or "")
    return CrashReport(
        command=plan.command,
        verdict="crashed",
        end=Exited(exit_code=detail.get("exit_code"), signal=detail.get("signal"), stderr=said),
        notes=("it ended before its first line ran, so there are no calls and no values",),
    )
