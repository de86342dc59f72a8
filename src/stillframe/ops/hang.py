"""`hang`: a program that does not come to its end, told by who waits where, for what, and who holds it."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

import msgspec
from msgspec.structs import replace

from ..adapters.leaving import deadlock_of
from ..errors import NoSession, Try
from ..model.backend import Move
from ..model.outcomes import Exited, Lost, Running, Stop
from ..model.plans import AttachPlan, Caller, Plan
from ..model.powers import Unpauses
from ..model.reports import HangReport
from ..model.values import ExceptionInfo
from ..registry import Access, From, Param, operation
from ..session import family
from ..session.phases import Phase
from ..session.ready import Ready
from ..session.session import Session
from ..session.sessions import Sessions
from .common import Do, run_beside
from .crash import Hold
from .deaf import gathered_or_told, without_last_words
from .hanging import gathered, left_waiting
from .held import LEASE, left_held
from .launch import start
from .private_runs import plan_for, started
from .programs import Command, Program, ReadyWord, RunTerms, default_name

PATIENCE = 10.0
"""Seconds that a program is given to come to its end by itself."""
ENDS = 5.0
"""Seconds that one is given to end, that has said itself that it cannot go on."""
LEFT_BEHIND = "the program itself has ended: this is of what it left behind"
Patience = Annotated[
    float | None, Param(f"seconds that it may take before it counts as hanging; {PATIENCE:g} if left out", metavar="S")
]


@operation(Access.EXEC, starts=True, owned=True, example="dbg hang --timeout 5 -- python worker.py")
async def hang(
    session: Session | None,
    sessions: Sessions,
    caller: Caller,
    program: Program = (),
    command: Command = (),
    pid: Annotated[int | None, Param("a running process of this machine; it runs on afterwards", metavar="N")] = None,
    *,
    how: RunTerms,
    ready: ReadyWord = None,
    do: Do = None,
    hold: Hold = False,
    timeout: Patience = None,
) -> From[HangReport]:
    """Run a program, and when it does not end tell who waits where: threads and tasks by your code, for what, held by whom.

    Without a command it looks at the session at hand, which runs on as before; or at a running process, by --pid.
    """
    plan: Plan | AttachPlan | None = None
    if pid is not None:
        plan = AttachPlan(
            pid=pid, just_my_code=not how.all_code, children=how.children, cwd=caller.cwd, env=caller.env,
            adapter=how.adapter,
        )  # fmt: skip
    elif program or command or how.module is not None or how.code is not None:
        plan, _ = plan_for(sessions, caller, "hang", program, command, how)
        plan = replace(plan, tells_waits=True, tells_exits=True)
    if plan is not None:
        return await _run(sessions, caller, plan, ready, do, PATIENCE if timeout is None else timeout, hold)
    if session is None:
        raise NoSession("hang looks at a session, or runs a command: there is neither", hint=Try("launch"))
    return From(session, await _look_at(session, hold))


async def _look_at(session: Session, hold: bool) -> HangReport:
    """A session of somebody's: what ran before runs on."""
    session.need_live()
    running = [each for each in session.family() if each.phase is Phase.RUNNING]
    report = await gathered(session, after=None, live=hold)
    if not hold:
        for member in running:
            if member.phase is Phase.STOPPED:
                await member.resume(Move.CONTINUE)
            elif member.live and isinstance(member.backend, Unpauses):
                await member.backend.unpause()
    was: Final = "running" if running else "held"
    return msgspec.structs.replace(
        report, session=session.name, end=Running(), was=was, left="held" if hold or not running else "running"
    )


async def _run(
    sessions: Sessions,
    caller: Caller,
    plan: Plan | AttachPlan,
    ready: str | None,
    do: str | None,
    seconds: float,
    hold: bool,
) -> From[HangReport]:
    readiness = Ready.parse(ready) if ready is not None else None
    if readiness:
        await readiness.check_free()
    word = default_name(plan) if isinstance(plan, Plan) else f"pid-{plan.pid}"
    deadlock = deadlock_of(plan) if isinstance(plan, Plan) else None
    catch = ("uncaught" if deadlock else "off",)
    starting = start(
        sessions, plan, caller, breaks=(), catch=catch, name=None, default_name=f"hang-{word}", private=True
    )
    session = await started(sessions, asyncio.ensure_future(starting))
    kept = False
    try:
        if readiness:
            await readiness.wait(session, max(seconds, sessions.settings(caller.cwd).wait))
        if do:
            await run_beside(session, do, caller)
        report = await _watched(session, plan, seconds, hold, deadlock)
        if hold and isinstance(report.end, Running):
            kept = True
            sessions.hand_over(session, caller.client, LEASE)
            runs = all(each.phase is not Phase.STOPPED for each in session.family())
            report = msgspec.structs.replace(report, held=left_held(session, runs=runs))
    finally:
        if not kept:
            await asyncio.shield(asyncio.ensure_future(sessions.discard(session)))
    if isinstance(plan, Plan):
        sessions.commands.keep(plan, caller)
    return From(session, report)


async def _watched(
    session: Session, plan: Plan | AttachPlan, seconds: float, hold: bool, deadlock: str | None
) -> HangReport:
    """Wait for the end that is to come, and look where it does not."""
    command = plan.command if isinstance(plan, Plan) else ("pid", str(plan.pid))
    notes: tuple[str, ...] = ()
    if isinstance(plan, Plan):
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while True:
            member = await session.settle(max(0.0, until - loop.time()))
            outcome = member.outcome(news=False)
            if not isinstance(outcome, Stop) or member.phase is not Phase.STOPPED:
                break
            if deadlock and outcome.exception and deadlock in outcome.exception.message:
                return await _locked(session, member, outcome.exception, command)
            await member.resume(Move.CONTINUE)  # nobody asked for this stop: a `breakpoint()` of the program's own
        if isinstance(outcome, Exited | Lost):
            await session.root.bell.wait_for(lambda: not family.heirs(session), max(0.0, until - loop.time()))
            if not family.heirs(session):
                end = session.outcome()
                return msgspec.structs.replace(await left_waiting(session), command=command, end=end)
            notes = (LEFT_BEHIND,)
    report = await gathered_or_told(session, plan, after=seconds if isinstance(plan, Plan) else None, live=hold)
    told = session.outcome()
    said = without_last_words(told.stderr, plan)
    end = Running(after=seconds, output=told.output, stderr=said, dropped=told.dropped, do=told.do)
    left: Final = None if isinstance(plan, Plan) or hold else "running"
    return msgspec.structs.replace(report, command=command, end=end, left=left, notes=(*report.notes, *notes))


async def _locked(session: Session, member: Session, error: ExceptionInfo, command: tuple[str, ...]) -> HangReport:
    """Of a program whose own runtime sees that nobody can go on: who waits, told before it is let come to its end."""
    report = await gathered(session, after=None, live=False)
    if member.phase is Phase.STOPPED:
        await member.resume(Move.CONTINUE)
    await session.settle(ENDS)
    said = f"{error.type}: {error.message}"
    return msgspec.structs.replace(report, command=command, said=said, end=session.outcome())
