"""Errors that somebody recovers from, seen where that happens: the calls that failed are still there, outside of the handler."""

from __future__ import annotations

from collections.abc import Sequence

from ..adapters.leaving import Recovering
from ..errors import StillframeError
from ..model.backend import Bounds
from ..model.outcomes import Stop
from ..model.reports import Failure
from ..model.values import ExceptionInfo, Frame
from ..session.reporting import DEEP, witnessed
from ..session.session import Session

_SECONDS = 5.0
_TEXT = 400


async def recovered(member: Session, stop: Stop, how: Recovering, *, live: bool) -> tuple[Failure, int] | None:
    """The error that is about to be handled, and how many calls lie inside of those that failed; None where it never left
    the library that raised it, which is how some libraries return early."""
    thread = member.thread_id(None)
    frames = (await member.backend.stack(thread, 0, DEEP)).frames
    inside = next((at + 1 for at, each in enumerate(frames) if each.function == how.thrown_by), None)
    if inside is None or not _passed_user_code(frames, inside, how):
        return None
    stack = await witnessed(member, thread, live=live, start=inside)
    info = ExceptionInfo(type=how.type, message=await _message(member, frames[0], how), mode="user")
    handler = next((each for each in frames[1:inside] if each.kind == "user"), None)
    return Failure(
        what=f"{info.type}: {info.message}" if info.message else info.type,
        kind="exception",
        exception=info if handler is None else ExceptionInfo(type=info.type, message=info.message, mode="raised"),
        stack=stack,
        process=member.name if member.parent is not None else None,
        thread=stop.thread_name,
    ), inside


def _passed_user_code(frames: Sequence[Frame], inside: int, how: Recovering) -> bool:
    """Whether a call of the user's own lies between what raised the error and what handles it."""
    handler, failed = [[each.function for each in part] for part in (frames[1 : inside - 1], frames[inside:])]
    passed = frames[inside : inside + how.reach(handler, failed) + 1]
    return any(each.kind == "user" for each in passed)


async def _message(member: Session, top: Frame, how: Recovering) -> str:
    try:
        (told,) = await member.backend.evaluate(top.id, (how.error,), Bounds(text=_TEXT), _SECONDS)
    except StillframeError:  # what cannot be read has a place all the same
        return ""
    return how.text(told.value.value) if told.value is not None else ""
