"""The sessions themselves: which there are, how each stands, what its debugger can do, what it printed, its end."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Annotated, Literal

import msgspec

from ..errors import StillframeError, Try, WrongState
from ..model import wording
from ..model.backend import Capability
from ..model.machine import Disassembles
from ..model.outcomes import Ended, Exited
from ..model.plans import Caller
from ..model.views import Capabilities, OutputPage, SessionInfo, SessionList, ToolInfo
from ..record.record import Record
from ..record.replaying import Replay
from ..registry import Access, From, Meant, Param, operation
from ..session import family
from ..session.kept import Kept
from ..session.output import STREAMS, Cursor, Stream
from ..session.phases import Phase
from ..session.session import Session
from ..session.sessions import Sessions
from ..settings import project_root
from ..transport.trees import is_alive
from . import afterwards
from .breakpoints import caught_words

_PRINTED: tuple[Stream, ...] = ("stdout", "stderr")
_SOON = 1.0
"""Seconds that a part of the status may take that can be done without."""
_EARLIER = "the cursor is of an earlier run: this is what the present one printed, from its beginning"
_UNVERIFIED = "unverified: nobody has run this debugger with Stillframe yet; it says so of itself"


@operation(Access.READ, name="sessions", aliases=("ls", "ps"), example="dbg sessions")
async def sessions_(
    sessions: Sessions,
    caller: Caller,
    all: Annotated[bool, Param("those of other projects too")] = False,
) -> SessionList:
    """List the sessions of this project: live ones, ended ones, those that a killed daemon lost, those of another."""
    root = project_root(caller.cwd)
    shown = [each for each in sessions.all if not each.private and (all or each.origin.root == root)]
    await asyncio.gather(*(family.recheck(each) for each in shown if each.parent is None))
    found = [describe(each) for each in shown]
    lost = [
        SessionInfo(
            name=kept.name,
            state="lost",
            command=kept.plan.command if kept.plan else (),
            cwd=kept.base,
            breakpoints=len(kept.breakpoints),
            attached=kept.attached is not None,
            note=_way_back(kept),
        )
        for kept in sessions.lost_here(caller)
    ]
    others = [
        SessionInfo(
            name=kept.name,
            state="elsewhere",
            command=kept.plan.command if kept.plan else (),
            cwd=kept.base,
            attached=kept.attached is not None,
            note=f"lives with another daemon, pid {daemon.pid}: {daemon.way} sessions",
        )
        for kept in sessions.elsewhere(caller)
        if (daemon := kept.elsewhere)
    ]
    known = (*found, *others, *lost)
    return SessionList(sessions=known, others=() if known else sessions.in_other_projects(caller))


def _way_back(kept: Kept) -> str:
    """How to come back to a session that a daemon lost, and to its breakpoints."""
    if kept.attached is None:
        return f"its daemon is gone; `{wording.call('restart', session=kept.name)}` runs it again with its breakpoints"
    if kept.attached.gone:
        return "its daemon is gone, and so is the process that it was attached to"
    pid, address = kept.attached.pid, kept.attached.address
    way = wording.call("attach", pid=pid) if pid is not None else wording.call("attach", {"address": address or ""})
    return f"its daemon is gone; `{way}` joins it again, with its breakpoints"


@operation(Access.READ, example="dbg status")
async def status(session: Session) -> SessionInfo:
    """How one session stands: program, state, place, breakpoints, output, family."""
    await family.recheck(session)
    told = msgspec.structs.replace(describe(session), instruction=await _instruction(session))
    session.tell()
    return told


async def _instruction(session: Session) -> str | None:
    """Where the held thread goes on, by the machine's own count."""
    backend, thread = session.backend, session.focus_thread
    if session.stop is None or thread is None or not isinstance(backend, Disassembles):
        return None
    frame = session.handles.frame_id(thread, session.focus_frame)
    if frame is not None and Capability.DISASSEMBLY in backend.capabilities:
        with contextlib.suppress(StillframeError, TimeoutError):  # it was let go meanwhile, or its debugger is busy
            async with asyncio.timeout(_SOON):
                return await backend.instruction_pointer(frame)
    return None


def describe(session: Session) -> SessionInfo:
    plan, stop = session.origin.plan, session.stop
    ended = session.outcome(news=False) if session.phase is Phase.EXITED else None
    bound = [each for each in family.as_a_whole(session, session.breakpoints.list()) if each.state == "bound"]
    return SessionInfo(
        name=session.name,
        state=session.phase.value,
        tool=session.tool.tool,
        version=session.tool.version,
        command=session.command,
        cwd=plan.cwd,
        pid=session.backend.pid if session.live else None,
        attached=not session.backend.launched,
        thread=stop.thread if stop else None,
        frame=stop.frame if stop else None,
        reason=stop.reason if stop else None,
        exit_code=ended.exit_code if isinstance(ended, Exited) else None,
        signal=ended.signal if isinstance(ended, Exited) else None,
        breakpoints=len(session.breakpoints.list()),
        bound=len(bound),
        stops=session.stops,
        output_bytes=0 if session.parent else session.output.printed(_PRINTED),  # the family's, told once
        output_lost=0 if session.parent else session.output.lost(_PRINTED),
        parent=session.parent.name if session.parent else None,
        children=tuple(child.name for child in session.children),
        just_my_code=plan.just_my_code,
        catch=caught_words(session.catch),
    )


@operation(Access.READ, example="dbg use shop")
async def use(
    sessions: Sessions,
    caller: Caller,
    name: Annotated[str, Param("the session", positional=True, metavar="NAME")],
) -> From[SessionInfo]:
    """Make a session the one that the verbs without --session act on."""
    session = sessions.find(name, caller)
    return From(session, describe(session))


@operation(Access.READ, example="dbg capabilities")
async def capabilities(session: Session) -> Capabilities:
    """What the debugger of this session can do, and what it cannot."""
    can = session.backend.capabilities
    return Capabilities(
        can=tuple(each.value for each in Capability if each in can),
        cannot=tuple(each.value for each in Capability if each not in can),
        note=_UNVERIFIED if session.tool.how == "unverified" else None,
    )


@operation(Access.READ, example="dbg tool")
async def tool(session: Session) -> ToolInfo:
    """Name the debugger underneath and the process it debugs."""
    used = session.tool
    return ToolInfo(
        tool=used.tool, version=used.version, how=used.how, pid=session.backend.pid if session.live else None
    )


@operation(Access.READ, aliases=("console",), example="dbg output --since 120.0.0.0")
async def output(
    session: Session | None,
    meant: Meant,
    record: Record,
    since: Annotated[
        str | None, Param("a cursor from an earlier reply: only what came after it", metavar="CURSOR")
    ] = None,
    kind: Annotated[
        Literal["stdout", "stderr", "log", "console"] | None, Param("one stream only; log is what log points printed")
    ] = None,
    limit: Annotated[int, Param("bytes at the most", flag="--bytes", metavar="N")] = 3000,
    wait: Annotated[bool, Param("wait until there is something new, or the end")] = False,
    timeout: Annotated[float | None, Param("seconds to wait at the most; default 30", metavar="S")] = None,
) -> OutputPage:
    """What the program printed, by stream: the newest part, or everything from a cursor on, page by page.

    Of a run that only the record knows, the newest part that it kept.
    """
    streams: tuple[Stream, ...] = (kind,) if kind else STREAMS
    if session is None:
        return await afterwards.output(record, meant, streams, limit)
    asked = Cursor.parse(since) if since else None
    begin = session.output.here(asked) if asked else None
    earlier = asked is not None and asked.turn < session.output.turn and any(asked.offsets)
    if wait:
        seen = (begin or session.output.told).of(streams)
        await session.root.bell.wait_for(
            lambda: session.output.cursor.of(streams) != seen or not session.live,
            30.0 if timeout is None else timeout,
        )
    if begin is None:
        pieces, cursor = session.output.tail(limit, streams)
    else:
        pieces, cursor = session.output.read(begin, limit, streams)
    texts = {piece.stream: piece.text for piece in pieces}
    return OutputPage(
        stdout=texts.get("stdout", ""),
        stderr=texts.get("stderr", ""),
        log=texts.get("log", ""),
        console=texts.get("console", ""),
        dropped=sum(piece.dropped for piece in pieces),
        total=session.output.printed(streams),
        cursor=str(msgspec.structs.replace(cursor, turn=session.output.turn)),
        notes=(_EARLIER,) if earlier else (),
    )


@operation(Access.CONTROL, aliases=("kill", "quit", "terminate", "close", "end", "exit"), example="dbg stop")
async def stop(
    session: Session,
    sessions: Sessions,
    caller: Caller,
    tree: Annotated[bool, Param("end the processes that the program detached, too")] = False,
    all: Annotated[bool, Param("every session of this project", project=True)] = False,
) -> Ended:
    """End the program that was launched, with its children; leave a program that was attached to running."""
    others: list[Session] = []
    if all:
        root = project_root(caller.cwd)
        others = [
            each
            for each in sessions.all
            if each.origin.root == root and each.parent is None and each is not session.root and each.live
        ]
        if others and not any(member.live for member in session.root.family()):
            session, *others = others  # what is ended now is the answer, not what had ended before
        for each in others:
            await sessions.end(each, terminate=each.backend.launched)
    ended = await _end(sessions, session, terminate=session.root.backend.launched, tree=tree)
    return msgspec.structs.replace(ended, also=tuple(each.name for each in others))


@operation(Access.CONTROL, example="dbg detach")
async def detach(session: Session, sessions: Sessions) -> Ended:
    """Leave the program and let it run on without a debugger."""
    return await _end(sessions, session, terminate=False, tree=False)


async def _end_what_is_over(sessions: Sessions, home: Session, *, terminate: bool, tree: bool) -> Ended:
    """Of a session without a debugger: its program may run on alone, until now or for longer."""
    pid = home.backend.pid if home.phase is Phase.LOST else None
    ran = pid is not None and is_alive(pid)
    left = await sessions.end(home, terminate=terminate, tree=tree)
    action: Literal["terminated", "detached", "already_ended", "already_detached"] = "already_ended"
    if home.phase is Phase.DETACHED:
        action = "already_detached"
    elif pid is not None and ran:
        action = "detached" if is_alive(pid) else "terminated"
    return Ended(session=home.name, action=action, left=left)


async def _end(sessions: Sessions, session: Session, *, terminate: bool, tree: bool) -> Ended:
    home = session.root
    if not any(member.live for member in home.family()):
        return await _end_what_is_over(sessions, home, terminate=terminate, tree=tree)
    if home.phase is Phase.NEW:
        raise WrongState(f"{home.name} is only just starting", hint=Try("wait"))
    terminate = terminate or isinstance(home.backend, Replay)  # no program of a recording runs on
    left = await sessions.end(home, terminate=terminate, tree=tree)
    outcome = home.outcome(news=False)
    code, signal = (outcome.exit_code, outcome.signal) if isinstance(outcome, Exited) else (None, None)
    return Ended(
        session=home.name, action="terminated" if terminate else "detached", exit_code=code, signal=signal, left=left
    )
