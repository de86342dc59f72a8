"""The way past us: the native debugger's own commands and protocol."""

from __future__ import annotations

from typing import Annotated, Any

from ..errors import Unsupported
from ..model.backend import Capability
from ..model.outcomes import RawReply
from ..model.powers import Raw, Requests
from ..registry import Access, Param, operation
from ..session.handles import frame_index
from ..session.session import Session
from .common import FrameWord, ThreadWord


@operation(Access.EXEC, example="dbg raw 'len(items)'")
async def raw(
    session: Session,
    line: Annotated[
        tuple[str, ...], Param("a line for the native debugger", positional=True, rest=True, metavar="LINE")
    ],
    frame: FrameWord = None,
    thread: ThreadWord = None,
) -> RawReply:
    """Say a line to the debugger underneath, in its own language, and show what it answers."""
    session.need_live()
    backend = session.backend
    if Capability.RAW not in backend.capabilities or not isinstance(backend, Raw):
        raise Unsupported(f"{session.tool.tool} takes no commands of its own")
    session.touched = True
    frame_id = None
    if session.stop is not None:
        frame_id = await session.frame_id(session.thread_id(thread), frame_index(frame) if frame else None)
    return RawReply(text=await backend.raw(frame_id, " ".join(line)))


@operation(Access.EXEC, aliases=("custom-request",), example="dbg request threads")
async def request(
    session: Session,
    command: Annotated[str, Param("the protocol's name of the request", positional=True, metavar="COMMAND")],
    arguments: Annotated[
        dict[str, Any] | None, Param("its arguments, a JSON object", positional=True, metavar="JSON")
    ] = None,
    timeout: Annotated[float, Param("seconds to wait for the answer", metavar="S")] = 30.0,
) -> RawReply:
    """Send any request of the debugger's protocol and show the body of its answer."""
    session.need_live()
    backend = session.backend
    if Capability.REQUEST not in backend.capabilities or not isinstance(backend, Requests):
        raise Unsupported(f"{session.tool.tool} has no protocol to send requests by")
    session.touched = True
    return RawReply(body=await backend.request(command, arguments or {}, timeout))
