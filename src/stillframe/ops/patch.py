"""Changing what runs: a call done again, another value returned, new source in a running program."""

from __future__ import annotations

from typing import Annotated

import msgspec

from ..errors import NotFound, Try, Unsupported, UsageError
from ..model import plainfiles
from ..model.backend import Capability
from ..model.outcomes import AnyOutcome
from ..model.plans import Caller
from ..model.powers import HotPatches, RestartsFrames, SetsReturn
from ..model.values import Values
from ..model.views import Patched
from ..registry import Access, From, Param, operation
from ..session import holding
from ..session.breakpoints import absolute
from ..session.evidence import FILE_LIMIT
from ..session.handles import frame_index
from ..session.session import Session
from ..session.sessions import Sessions
from .common import ThreadWord, Timeout, settle


@operation(Access.CONTROL, aliases=("drop-frame",), example="dbg restart-frame f1")
async def restart_frame(
    session: Session,
    sessions: Sessions,
    which: Annotated[
        str | None, Param("the call to begin again; the selected frame if left out", positional=True, metavar="F")
    ] = None,
    thread: ThreadWord = None,
    timeout: Timeout = None,
) -> From[AnyOutcome]:
    """Go back to the beginning of a call that has not returned, out of the calls that it made; what they did stays done."""
    session.need_debugger()
    backend = session.backend
    if Capability.RESTART_FRAME not in backend.capabilities or not isinstance(backend, RestartsFrames):
        raise _cannot(
            session, "begin a call again", Capability.JUMP, "jump", "goes to another line of the held function"
        )
    session.need_stopped()
    id = session.thread_id(thread)
    frame = await session.frame_id(id, frame_index(which) if which else None)
    await session.relocate(lambda: backend.restart_frame(id, frame))
    return await settle(sessions, session, timeout, alone=True)


@operation(Access.EXEC, name="set-return", aliases=("return-value",), example="dbg set-return 'null'")
async def set_return(
    session: Session,
    value: Annotated[str, Param("an expression of the program's language", positional=True, metavar="EXPR")],
    thread: ThreadWord = None,
) -> Values:
    """Replace what the function that is held at its return gives back, and tell the new value."""
    session.need_debugger()
    backend = session.backend
    if Capability.SET_RETURN not in backend.capabilities or not isinstance(backend, SetsReturn):
        what = "replace what a function returns"
        raise _cannot(session, what, Capability.ASSIGN, "set", "changes the variables that it returns")
    session.need_stopped()
    if not value.strip():
        raise UsageError("set-return takes an expression, as in: dbg set-return 42")
    id = session.thread_id(thread)
    session.touched = True
    try:
        new = await backend.set_return(id, value.strip(), session.bounds)
    finally:
        await holding.look_again(session)  # a debugger may have to run the `return` itself first
    return Values(values=(session.handles.value(msgspec.structs.replace(new, name="returned")),))


@operation(Access.EXEC, aliases=("hot-patch", "live-edit"), example="dbg hotpatch src/cart.js --dry-run")
async def hotpatch(
    session: Session,
    caller: Caller,
    file: Annotated[str, Param("the loaded file whose source is replaced", positional=True, metavar="FILE")],
    dry_run: Annotated[bool, Param("only say whether it could be done")] = False,
    from_: Annotated[
        str | None, Param("take the new source from this file, not from the one that is replaced", metavar="OTHER")
    ] = None,
) -> Patched:
    """Put a file's present text in the place of what the program has loaded of it, without a restart.

    A call that is under way may go on with the old text, be begun again, or be why it cannot be done; the reply says so.
    """
    session.need_debugger()
    backend = session.backend
    if Capability.HOT_PATCH not in backend.capabilities or not isinstance(backend, HotPatches):
        what = "replace the source of a running program"
        raise _cannot(session, what, None, "restart", "runs the new text with the same breakpoints")
    path = absolute(file, caller.cwd)
    text = _text(absolute(from_, caller.cwd) if from_ else path)
    before = session.stop
    notes = await backend.hot_patch(path, text, dry_run=dry_run)
    if not dry_run:
        session.touched = True
        await holding.patched(session, before, path, text)
    return Patched(file=session.show(path) or path, dry_run=dry_run, notes=notes)


def _text(path: str) -> str:
    """A file, character by character: line ends count in what a debugger compares. A byte order mark is no source."""
    try:
        data = plainfiles.read(path)
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > FILE_LIMIT:
        raise UsageError(f"{path} has {len(data):,} bytes; {FILE_LIMIT:,} are the most")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no UTF-8 text: byte {error.start:,} is {data[error.start]:#04x}") from None


def _cannot(session: Session, what: str, power: Capability | None, other: str, does: str) -> Unsupported:
    """What this debugger lacks, and the verb that comes nearest where it has that; else its own commands."""
    there = power in session.backend.capabilities if power else session.root.backend.launched
    said = f"{session.tool.tool} cannot {what}"
    return Unsupported(f"{said}; `{other}` {does}", hint=Try(other)) if there else Unsupported(said, hint=Try("raw"))
