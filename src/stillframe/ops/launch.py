"""Starting: launch a program, attach to one, run it again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec.structs import replace

from ..adapters import broken_entries
from ..adapters.launchtypes import Configured
from ..adapters.simulators import app_in_simulator
from ..errors import NoSession, Try, UsageError
from ..model.backend import Capability
from ..model.outcomes import AnyOutcome, Breakpoint, Exited, Running
from ..model.places import BreakSpec
from ..model.plans import AttachPlan, Build, Caller, Plan
from ..registry import Access, From, Param, operation
from ..session import family
from ..session.breakpoints import absolute, locate
from ..session.kept import Kept
from ..session.ready import Ready
from ..session.session import Session
from ..session.sessions import Sessions
from ..settings import root_of
from ..transport.newcomers import newcomer
from .addresses import parse_address
from .breakpoints import catch_rule
from .common import Do, Timeout, run_beside, settle
from .making import make, run_builds
from .programs import (
    AdapterName,
    AllCode,
    Children,
    Command,
    Program,
    ReadyWord,
    RunTerms,
    default_name,
    environment,
    make_plan,
)
from .projects import configured_plans

Breaks = Annotated[
    tuple[BreakSpec, ...],
    Param("set a breakpoint first: LOC or 'LOC if EXPR'; may be repeated", flag="--break", short="-b", metavar="LOC"),
]
Catch = Annotated[
    tuple[str, ...], Param("exceptions to stop at: uncaught, raised, user, a class name, off", metavar="WHAT")
]
Name = Annotated[str | None, Param("the session's name", metavar="NAME")]
JustMyCode = Annotated[
    bool, Param("stop and step in your own code only: the default, unless a configuration says otherwise")
]
Config = Annotated[
    str | None,
    Param(
        "start what this configuration of .vscode/launch.json says; alone, it lists them",
        flag="--config",
        metavar="NAME",
    ),
]
Record = Annotated[
    bool, Param("record the run, so that `step-back` and `reverse-continue` work where the debugger can")
]
BuildLine = Annotated[
    str | None,
    Param(
        "a shell command that makes the program first, here and again before each restart: 'make app'",
        flag="--build",
        metavar="COMMAND",
    ),
]
Lease = Annotated[float | None, Param("seconds after which an unused session is given up; 0 for never", metavar="S")]


@operation(
    Access.EXEC, aliases=("start", "run"), starts=True, example="dbg launch shop.py --break 'shop.py:14 if price < 0'"
)
async def launch(
    sessions: Sessions,
    caller: Caller,
    program: Program = (),
    command: Command = (),
    *,
    how: RunTerms,
    breaks: Breaks = (),
    catch: Catch = (),
    name: Name = None,
    stop_on_entry: Annotated[bool, Param("stop at the first line", aliases=("--entry",))] = False,
    just_my_code: JustMyCode = False,
    record: Record = False,
    config: Config = None,
    build: BuildLine = None,
    ready: ReadyWord = None,
    do: Do = None,
    timeout: Timeout = None,
    wait: Annotated[
        bool, Param("wait for the first stop, which is the default; --no-wait returns as soon as it runs")
    ] = True,
    lease: Lease = None,
) -> From[AnyOutcome]:
    """Start a program under the debugger and run to the first stop, or to its end.

    The program is a file and its arguments, a module (-m), code (-c), or a whole command behind `--`.
    A command that runs others (make, uv run, sh -c, a script) runs as it is; what it starts is debugged, as its children.
    A C, C++, Rust or Go source is built by itself; --build runs make, cmake or whatever else makes the program.
    """
    if just_my_code and how.all_code:
        raise UsageError("--just-my-code and --all-code exclude each other")
    just_mine = just_my_code if just_my_code or how.all_code else None
    readiness = Ready.parse(ready) if ready is not None else None
    if readiness:
        await readiness.check_free()
    if config is not None:
        if program or command or any((how.module, how.code, how.cwd, how.python, how.adapter, build)):
            raise UsageError("--config says what is run, how and where; only --env, --stdin and the like go with it")
        wishes = configured_plans(caller, config, how, just_mine=just_mine, stop_on_entry=stop_on_entry, record=record)
        made = [await make(each.plan) for each in wishes]
    else:
        builds = (Build(build, caller.cwd),) if build else ()
        # First, since what is to be run may not be there before.
        made = [await run_builds(builds, environment(caller, how))]
        plan = make_plan(caller, program, command, how, stop_on_entry=stop_on_entry, record=record)
        wishes = (Configured(default_name(plan), replace(plan, builds=builds), ()),)
    session = await start_each(sessions, wishes, caller, breaks=breaks, catch=catch, name=name, lease=lease)
    if config is None and isinstance(session.origin.plan, Plan):
        sessions.commands.keep(session.origin.plan, caller)
    for each in made:
        each.tell(session)
    return await first_outcome(sessions, session, caller, timeout if wait else 0.0, ready=readiness, do=do)


async def start_each(
    sessions: Sessions,
    wishes: Sequence[Configured],
    caller: Caller,
    *,
    breaks: tuple[BreakSpec, ...],
    catch: tuple[str, ...],
    name: str | None,
    lease: float | None,
) -> Session:
    """Start one program, or each one of a compound; the first session, which tells of the others and of what was not done."""
    if name is not None and len(wishes) > 1:
        raise UsageError("--name names one session, and this configuration starts several")
    made: list[Session] = []
    for wish in wishes:
        session = await start(
            sessions, wish.plan, caller, breaks=breaks, catch=catch, name=name, default_name=wish.name, lease=lease
        )
        made.append(session)
        if (
            isinstance(wish.plan, Plan)
            and wish.plan.record
            and Capability.STEP_BACK not in session.backend.capabilities
        ):
            made[0].note(f"{session.backend.tool.tool} cannot record a run: there is no going back in {session.name}")
        for note in wish.notes:
            made[0].note(note)
    if made[1:]:
        made[0].note(f"also started: {', '.join(each.name for each in made[1:])}")
    for each in broken_entries(caller.env, caller.cwd):
        made[0].note(each)
    return made[0]


async def start(
    sessions: Sessions,
    plan: Plan | AttachPlan,
    caller: Caller,
    *,
    breaks: tuple[BreakSpec, ...],
    catch: tuple[str, ...],
    name: str | None,
    default_name: str,
    lease: float | None = None,
    private: bool = False,
    recorded: bool = True,
) -> Session:
    """Make the session in a task of its own: a caller that goes away in the middle leaves no half of one."""
    rule = catch_rule(catch) if catch else None
    for spec in breaks:
        locate(spec.place, caller.cwd)  # what is no place there is said before anything runs
    work = sessions.launch(
        plan,
        name=name,
        default_name=default_name,
        caller=caller,
        breaks=tuple((spec, False) for spec in breaks),
        catch=rule,
        lease=lease,
        private=private,
        recorded=recorded,
    )
    return await asyncio.shield(asyncio.ensure_future(work))


async def first_outcome(
    sessions: Sessions,
    session: Session,
    caller: Caller,
    timeout: float | None,
    *,
    ready: Ready | None = None,
    do: str | None = None,
) -> From[AnyOutcome]:
    """Wait for the first thing worth telling: ready, a stop, the end, or the end of the time."""
    told: str | None = None
    session.ready = ready
    with session.used():  # however short its lease is
        if ready is not None:
            limit = sessions.settings_of(session.origin.root).wait if timeout is None else timeout
            told = await ready.wait(session, limit)
            if do is None or told is None:
                timeout = 0.0  # it is up, or the time is over
        if do:
            await run_beside(session, do, caller)
        await family.recheck(session)
        outcome = await settle(sessions, session, timeout)
    result, made = outcome.result, family.as_a_whole(session, session.breakpoints.list())
    if isinstance(result, Running):
        late = (f"not ready yet: {ready}",) if ready is not None and told is None else ()
        result = msgspec.structs.replace(result, ready=told, breakpoints=made, notes=result.notes + late)
    elif not isinstance(result, Exited):  # an end lists the breakpoints that were never hit anyway
        odd = tuple(each for each in made if _worth_telling(each))
        result = msgspec.structs.replace(result, unbound=odd)
    return From(outcome.session, result)


def _worth_telling(made: Breakpoint) -> bool:
    """Whether a breakpoint is not simply bound where it was asked for, and no hit has shown where it is."""
    if made.requested.column is not None and made.message:
        return True
    moved = made.actual is not None and made.requested.line not in (None, made.actual.line)
    return made.enabled and not made.hits and (made.state != "bound" or moved)


@operation(Access.EXEC, starts=True, example="dbg attach --pid 4121 --break server.py:40")
async def attach(
    sessions: Sessions,
    caller: Caller,
    address: Annotated[
        str | None,
        Param("HOST:PORT or ws:// address that a debugger listens on", positional=True, metavar="HOST:PORT|URL"),
    ] = None,
    pid: Annotated[int | None, Param("a process of this machine", short="-p", metavar="N")] = None,
    wait_for: Annotated[
        str | None, Param("the next process of this name that comes up, within --timeout", metavar="NAME")
    ] = None,
    bundle: Annotated[
        str | None, Param("an app of the booted iOS simulator, by its bundle's exact name; unverified", metavar="ID")
    ] = None,
    core: Annotated[str | None, Param("the core that a program left when it died, to look at", metavar="FILE")] = None,
    program: Annotated[
        str | None, Param("the program's own file, for a core or an address that does not tell it", metavar="FILE")
    ] = None,
    breaks: Breaks = (),
    catch: Catch = (),
    name: Name = None,
    all_code: AllCode = False,
    children: Children = True,
    adapter: AdapterName = None,
    do: Do = None,
    timeout: Timeout = None,
    lease: Lease = None,
) -> From[AnyOutcome]:
    """Join a program that is running. It is left running by `stop`, by `detach`, and when we die."""
    given = sum(each is not None for each in (address, pid, wait_for, bundle, core))
    if given != 1:
        what = "attach to what? Give" if not given else "attach joins one program: give one of"
        raise UsageError(f"{what} --pid N, --wait-for NAME, HOST:PORT, a ws:// address or --core FILE")
    host, port, url = parse_address(address) if address is not None else (None, None, None)
    if wait_for is not None:
        patience = sessions.settings_of(root_of(caller)).wait if timeout is None else timeout
        began = time.monotonic()
        pid = await newcomer(wait_for, patience)
        # The time is for both: what is left of it is the wait for a stop, where one is to be waited for.
        timeout = max(patience - (time.monotonic() - began), 0.0) if breaks or do else 0.0
    if bundle is not None:
        pid, adapter = await app_in_simulator(bundle, caller.env, caller.cwd), adapter or "lldb"
    plan = AttachPlan(
        pid=pid,
        host=host,
        port=port,
        url=url,
        core=absolute(core, caller.cwd) if core else None,
        program=absolute(program, caller.cwd) if program else None,
        just_my_code=not all_code,
        children=children,
        cwd=caller.cwd,
        env=caller.env,
        adapter=adapter,
    )
    word = f"pid-{pid}" if pid is not None else Path(core).name if core else f"port-{port}"
    session = await start(sessions, plan, caller, breaks=breaks, catch=catch, name=name, default_name=word, lease=lease)
    wait = timeout if timeout is not None else (None if breaks or do or core else 0.0)
    return await first_outcome(sessions, session, caller, wait, do=do)


@operation(Access.CONTROL, aliases=("rerun",), starts=True, example="dbg restart")
async def restart(
    session: Session | None,
    kept: Kept | None,
    sessions: Sessions,
    caller: Caller,
    ready: ReadyWord = None,
    timeout: Timeout = None,
    do: Do = None,
) -> From[AnyOutcome]:
    """Run the same command again, with the breakpoints kept; also after its end, or after a daemon that was killed."""
    readiness = Ready.parse(ready) if ready is not None else None
    if session is not None:
        readiness = readiness or session.root.ready
        made = await make(session.root.origin.plan)
        new = await asyncio.shield(asyncio.ensure_future(sessions.restart(session.root, caller)))
    else:
        if kept is None:
            raise NoSession("no session here to restart", hint=Try("launch"))
        kept.need_here()
        made = await make(kept.plan.plan(caller.env, caller.umask) if kept.plan else None)
        new = await asyncio.shield(asyncio.ensure_future(sessions.revive(kept, caller)))
    made.tell(new)
    return await first_outcome(sessions, new, caller, timeout, ready=readiness, do=do)
