"""Moving: continue, steps, until, jump, pause and wait. Each returns where the program came to, with its evidence."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import msgspec

from ..errors import AdapterUnresponsive, NotFound, StillframeError, Try, Unsupported, UsageError
from ..model.backend import Capability, Move
from ..model.outcomes import AnyOutcome, Cancelled, Exited, Running, Stop
from ..model.places import Place
from ..model.plans import Caller
from ..model.powers import Jumps
from ..model.values import Frame
from ..registry import Access, From, Param, operation
from ..session import holding
from ..session.breakpoints import locate
from ..session.session import Session
from ..session.sessions import Sessions
from .common import Do, ThreadWord, Timeout, at_hand, move, run_beside, settle

Times = Annotated[
    int,
    Param(
        "how many steps; every line passed is told, with what it changed", positional=True, flag="--count", metavar="N"
    ),
]
Stops = Annotated[
    int,
    Param(
        "how many times; every place where it was held on the way is told, with what changed until the next",
        positional=True,
        flag="--count",
        metavar="N",
    ),
]
PAUSE_LANDS = 2.0
"""Seconds that a pause is given before a thread counts as blocked."""
UNTOLD = "it has come here since the last reply, and nobody had been told: it was not let go on"
STILL_WANTED = (
    "the pause comes as soon as it runs code that can be held; a server that nobody asks runs none (wait, hang)"
)


@operation(Access.CONTROL, aliases=("c", "cont"), example="dbg continue --do 'curl -s localhost:8000/orders/7'")
async def continue_(
    session: Session,
    sessions: Sessions,
    caller: Caller,
    count: Stops = 1,
    thread: ThreadWord = None,
    timeout: Timeout = None,
    do: Do = None,
) -> From[AnyOutcome]:
    """Run until a breakpoint, an exception or the end. With --count on from breakpoint to breakpoint, that often.

    Where it was said to run, and has come to a stop since that nobody was told of, it tells of that stop instead.
    """
    if session.said_running and session.stop is not None and do is None:
        session.note(UNTOLD)
        return From(session, session.outcome())
    how = Move.CONTINUE
    return await move(sessions, session, how, caller=caller, thread=thread, count=count, timeout=timeout, do=do)


def _stepping(how: Move, doc: str, *, aliases: tuple[str, ...], example: str) -> Callable[..., Awaitable[Any]]:
    """One of the verbs that step: they differ in how far a step goes, and in nothing else."""

    async def steps(
        session: Session,
        sessions: Sessions,
        caller: Caller,
        count: Times = 1,
        thread: ThreadWord = None,
        timeout: Timeout = None,
        do: Do = None,
    ) -> From[AnyOutcome]:
        return await move(sessions, session, how, caller=caller, thread=thread, count=count, timeout=timeout, do=do)

    async def finer(
        session: Session,
        sessions: Sessions,
        caller: Caller,
        count: Times = 1,
        thread: ThreadWord = None,
        timeout: Timeout = None,
        do: Do = None,
        instruction: Annotated[bool, Param("one instruction of the machine, not a line", aliases=("--insn",))] = False,
    ) -> From[AnyOutcome]:
        order = _FINER[how] if instruction else how
        return await move(sessions, session, order, caller=caller, thread=thread, count=count, timeout=timeout, do=do)

    verb = finer if how in _FINER else steps
    verb.__doc__ = doc
    return operation(Access.CONTROL, name=how.value, aliases=aliases, example=example)(verb)


_FINER = {Move.NEXT: Move.NEXT_INSTRUCTION, Move.STEP: Move.STEP_INSTRUCTION}
"""Steps that can be taken by instruction as well."""


next_ = _stepping(
    Move.NEXT,
    "Run one line, calls included, and stop at the next line of this frame or of its caller.\n\n"
    "Where no code of yours goes on behind the end of a function, as of a server's handler, it is held there, with its value.",
    aliases=("n", "step-over", "over"),
    example="dbg next --count 10",
)
step = _stepping(
    Move.STEP,
    "Run to the next line wherever it is, into a called function of your code too.",
    aliases=("s", "step-into", "into", "step-in"),
    example="dbg step",
)
finish = _stepping(
    Move.FINISH,
    "Run until this function has returned, and tell what it returned.",
    aliases=("out", "step-out", "return"),
    example="dbg finish",
)

step_back = _stepping(
    Move.STEP_BACK,
    "Go back to the line before, where the debugger keeps what was (gdb and rdbg, with `launch --record`).",
    aliases=("back", "reverse-next"),
    example="dbg step-back",
)
reverse_continue = _stepping(
    Move.REVERSE,
    "Run backwards to the breakpoint before, or to where the recording begins.",
    aliases=("rc",),
    example="dbg reverse-continue",
)


@operation(Access.CONTROL, aliases=("run-to", "advance"), example="dbg until shop.py:20")
async def until(
    session: Session,
    sessions: Sessions,
    caller: Caller,
    at: Annotated[
        Place, Param("the place to run to; 20 is line 20 of the file that is held", positional=True, metavar="LOC")
    ],
    thread: ThreadWord = None,
    timeout: Timeout = None,
    do: Do = None,
) -> From[AnyOutcome]:
    """Run to a place, or to whatever stops the program before it."""
    session.need_stopped()
    at = await at_hand(session, at, caller)
    id = session.breakpoints.add(at, base=caller.cwd, once=True, hidden=True)
    try:
        await session.breakpoints.sync(session.backend)
        made = session.breakpoints.view(session.breakpoints.get(id))
        if made.state == "failed" or (made.state == "pending" and made.requested.symbol):
            raise NotFound(f"cannot run to {at}: {made.message}")
        how = Move.CONTINUE
        told = await move(sessions, session, how, caller=caller, thread=thread, timeout=timeout, do=do)
    finally:
        if id in session.breakpoints and (session.settled or not session.live):
            session.breakpoints.remove([id])
            if session.live:
                await session.breakpoints.sync(session.backend)
    if isinstance(told.result, Exited):
        notes = (*told.result.notes, f"{at} was not reached")
        told = msgspec.structs.replace(told, result=msgspec.structs.replace(told.result, notes=notes))
    return told


@operation(Access.CONTROL, aliases=("goto", "set-next"), example="dbg jump shop.py:12")
async def jump(
    session: Session,
    sessions: Sessions,
    caller: Caller,
    at: Annotated[
        Place,
        Param("the line to go on at, in the function that is held: 12 or shop.py:12", positional=True, metavar="LOC"),
    ],
    thread: ThreadWord = None,
    timeout: Timeout = None,
) -> From[AnyOutcome]:
    """Go on at another line of this function without running what lies between."""
    session.need_stopped()
    backend = session.backend
    if Capability.JUMP not in backend.capabilities or not isinstance(backend, Jumps):
        raise Unsupported(f"{session.tool.tool} cannot jump", hint=Try("raw"))
    _, wanted = locate(await at_hand(session, at, caller), caller.cwd)
    if wanted.file is None or wanted.line is None:
        raise UsageError("jump takes a line, as in 12 or shop.py:12")
    id, file, line = session.thread_id(thread), wanted.file, wanted.line
    await _need_held_in(session, id, file, str(at))
    await session.relocate(lambda: backend.jump(id, file, line))
    return await settle(sessions, session, timeout)


async def _need_held_in(session: Session, thread: str, file: str, at: str) -> None:
    """A jump stays in its function, and so in its file: debugpy 1.8.22 takes the line alone, whatever file it is of."""
    page = await session.backend.stack(thread, 0, 1)
    here = page.frames[0].file if page.frames else None
    if here is not None and _is_another(file, here):
        held = f"{page.frames[0].function}, in {session.show(here)}"
        why = f"a jump stays in the function that is held, {held}"
        raise NotFound(f"cannot jump to {at}: {why}", hint=Try("until", {"at": at}))


def _is_another(file: str, here: str) -> bool:
    """Whether a file is not the one that is held; not said of one that only the debugger sees."""
    if not os.path.exists(here):
        return here.startswith("<") and file != here
    return not os.path.exists(file) or not os.path.samefile(file, here)


@operation(Access.CONTROL, aliases=("interrupt", "break-in"), example="dbg pause")
async def pause(
    session: Session, sessions: Sessions, thread: ThreadWord = None, timeout: Timeout = None
) -> From[AnyOutcome]:
    """Hold the running program. A thread that is blocked outside the debugger's reach is `running`, with its stack."""
    try:
        await session.pause(session.thread_id(thread) if thread else None)
    except AdapterUnresponsive as silent:  # it is held as soon as it lets its debugger hear of it
        session.note(silent.message)
        return await settle(sessions, session, 0)
    told = await settle(sessions, session, PAUSE_LANDS if timeout is None else timeout)
    if isinstance(told.result, Running):
        blocked = await _blocked(session)
        notes = told.result.notes if blocked else (*told.result.notes, STILL_WANTED)
        return From(told.session, msgspec.structs.replace(told.result, blocked=blocked, notes=notes))
    if thread and told.session is session and isinstance(told.result, Stop) and told.result.thread != thread:
        return From(session, await _of_thread(session, thread, told.result))
    return told


async def _of_thread(session: Session, thread: str, stop: Stop) -> Stop:
    """The stop, told of the thread that was asked for: a debugger that holds all of them tells of whichever it held first."""
    id = session.thread_id(thread)
    try:
        seen = await holding.look(session, id)
    except StillframeError as why:  # it has ended, is blocked, or was not held yet: what was told stands
        return msgspec.structs.replace(stop, notes=(*stop.notes, f"{thread} could not be looked at: {why.message}"))
    session.focus_thread, session.focus_frame = id, 0
    return msgspec.structs.replace(
        seen, reason=stop.reason, output=stop.output, stderr=stop.stderr, log=stop.log, dropped=stop.dropped,
        notes=(*stop.notes, *seen.notes),
    )  # fmt: skip


async def _blocked(session: Session) -> tuple[Frame, ...]:
    """Where the first thread is, as far as the debugger can tell of a running one."""
    try:
        threads = await session.backend.threads()
        page = await session.backend.stack(threads[0].id, 0, 10)
    except (StillframeError, IndexError):
        return ()
    return tuple(session.witness.show_frame(msgspec.structs.replace(frame, id="")) for frame in page.frames)


@operation(Access.INSPECT, example="dbg wait --do 'curl -s localhost:8000/' --timeout 10")
async def wait(
    session: Session, sessions: Sessions, caller: Caller, timeout: Timeout = None, do: Do = None
) -> From[AnyOutcome]:
    """Return at the next stop or at the end, or say that it is running; at once if it is held already."""
    if do:
        if not any(each.live for each in session.root.family()):
            session.need_live()  # nothing is there for the command to make it do something
        await run_beside(session, do, caller)
    elif session.parent is not None and not session.live:
        return From(session, session.outcome())  # a child that had ended before: nobody waits for its family
    return await settle(sessions, session, timeout)


@operation(Access.CONTROL, example="dbg cancel --session shop")
async def cancel(session: Session) -> Cancelled:
    """End the waits of others for this program: they are told that it runs. The program itself is left as it is."""
    session.need_live()
    waits = session.waits.call_off()
    for each in session.root.family():
        each.bell.ring()
    return Cancelled(waits=waits)
