"""Asking and changing: expressions in any frame, assignments, and the program's standard input."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

import msgspec

from ..errors import EvalFailed, Try, Unsupported, UsageError
from ..model import wording
from ..model.backend import Capability, Evaluated
from ..model.powers import EvaluatesSafely, Feeds
from ..model.values import Value, Values
from ..model.views import Fed
from ..registry import Access, Param, operation
from ..session.handles import frame_index
from ..session.session import Session
from .common import FrameWord, ThreadWord, take_printed
from .inspect import Text, bounds_of

PRINTED = 4096
"""Bytes of what an expression printed that its reply carries."""
EVAL_SECONDS = 10.0
"""Seconds that one expression may run before it is given up."""
_GIVEN_UP = ("timed out after ", "it did not end within ")
"""How those of our code that run expressions say so."""


@operation(Access.EXEC, name="eval", aliases=("print", "p", "evaluate"), example="dbg eval 'len(items)' 'items[0]'")
async def eval_(
    session: Session,
    expressions: Annotated[
        tuple[str, ...],
        Param("expressions or statements of the program's language", positional=True, rest=True, metavar="EXPR"),
    ],
    frame: FrameWord = None,
    thread: ThreadWord = None,
    text: Text = None,
    timeout: Annotated[float, Param("seconds that each may take", metavar="S")] = EVAL_SECONDS,
    safe: Annotated[
        bool,
        Param("let the debugger stop what would change the program, before it does; such an expression is an error"),
    ] = False,
) -> Values:
    """Evaluate expressions in a frame, several in one call. They run in the program and may change it.

    With --safe the debugger itself stops an expression at its first side effect, where it can do that.
    """
    session.need_debugger()
    evaluate = _safely(session) if safe else session.backend.evaluate
    session.need_stopped()
    if not expressions:
        raise UsageError("eval what? Give an expression, as in: dbg eval 'len(items)'")
    if not all(each.strip() for each in expressions):
        raise UsageError("eval what? An expression is empty, as an unset variable is")
    id = session.thread_id(thread)
    frame_id = await session.frame_id(id, frame_index(frame) if frame else None)
    bounds = bounds_of(session, session.bounds.values, text or 4 * session.bounds.text)
    session.touched = session.touched or not safe
    results = await evaluate(frame_id, expressions, bounds, timeout)
    printed = await _printed(session)
    if all(each.error for each in results):
        given_up = any(str(each.error).startswith(_GIVEN_UP) for each in results)
        told = "; ".join(_failure(each, len(results) > 1) for each in results)
        raise EvalFailed(told, detail={"given_up": True} if given_up else None)
    values = tuple(session.handles.value(_value(each)) for each in results)
    return Values(values=values, output=printed.get("stdout", ""), stderr=printed.get("stderr", ""))


def _safely(session: Session) -> Callable[..., Awaitable[tuple[Evaluated, ...]]]:
    backend = session.backend
    if Capability.SAFE_EVAL not in backend.capabilities or not isinstance(backend, EvaluatesSafely):
        raise Unsupported(
            f"{session.tool.tool} cannot keep an expression from changing the program; `locals` and `expand` look without one",
            hint=Try("locals"),
        )
    return backend.evaluate_safely


async def _printed(session: Session) -> dict[str, str]:
    """What the expressions printed; told here, so that no later reply tells it again."""
    await take_printed(session)
    pieces, _ = session.output.news(PRINTED)
    return {piece.stream: piece.text for piece in pieces}


def _value(result: Evaluated) -> Value:
    if result.value is None:
        return Value(name=result.expression, value=result.error or "", error=True)
    return msgspec.structs.replace(result.value, name=result.expression)


def _failure(result: Evaluated, several: bool) -> str:
    return f"{result.expression}: {result.error}" if several else result.error or ""


@operation(Access.EXEC, name="set", aliases=("assign",), example="dbg set price 12.5")
async def set_(
    session: Session,
    target: Annotated[
        str, Param("what to assign to: a name, an attribute or an item", positional=True, metavar="TARGET")
    ],
    value: Annotated[
        str | None, Param("an expression; or write 'target = value' as one word", positional=True, metavar="VALUE")
    ] = None,
    frame: FrameWord = None,
    thread: ThreadWord = None,
) -> Values:
    """Assign to a variable of the program and tell its new value."""
    session.need_stopped()
    if Capability.ASSIGN not in session.backend.capabilities:
        raise Unsupported(f"{session.tool.tool} cannot assign", hint=Try("eval"))
    if value is None:
        target, equals, value = target.partition("=")
        if not equals or value.startswith("=") or target[-1:] in "!<>":
            raise UsageError("set takes a target and a value, as in: dbg set price 12.5")
    if not target.strip() or not value.strip():
        raise UsageError("set takes a target and a value, and one of them is empty, as an unset variable is")
    id = session.thread_id(thread)
    frame_id = await session.frame_id(id, frame_index(frame) if frame else None)
    session.touched = True
    new = await session.backend.assign(frame_id, target.strip(), value.strip(), session.bounds)
    return Values(values=(session.handles.value(msgspec.structs.replace(new, name=target.strip())),))


@operation(Access.EXEC, name="input", aliases=("stdin",), example="dbg input 'yes'")
async def input_(
    session: Session,
    text: Annotated[str, Param("what to write; a newline is added", positional=True, metavar="TEXT")] = "",
    eof: Annotated[bool, Param("close the standard input afterwards")] = False,
    raw: Annotated[bool, Param("add no newline")] = False,
) -> Fed:
    """Write to the program's standard input, which must have been kept open by `launch --stdin -`."""
    session.need_live()
    backend = session.root.backend  # the family reads from the one pipe that we made
    if Capability.INPUT not in backend.capabilities or not isinstance(backend, Feeds):
        started = wording.call("launch", stdin="-")
        raise Unsupported(f"{session.name} has no standard input to write to; start it with: {started}")
    data = text.encode("utf-8", "surrogateescape")
    if not raw and (text or not eof):
        data += b"\n"
    await backend.feed(data, eof=eof)
    return Fed(bytes=len(data), eof=eof)
