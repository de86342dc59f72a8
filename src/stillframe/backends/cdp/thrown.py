"""What was thrown: its class, message and places, what it came from, and what it holds."""

from __future__ import annotations

from typing import Literal

from ...errors import EvalFailed
from ...model.values import ExceptionInfo
from .asking import Asking, argument, text_of
from .client import Body
from .frames import FrameTeller

Mode = Literal["uncaught", "unhandled", "raised"]


async def described(asking: Asking, teller: FrameTeller, remote: Body, mode: Mode) -> ExceptionInfo:
    """All that is worth knowing of a thrown value."""
    try:
        body = await asking.ask(
            "thrown(value, isUncaught)", "isUncaught, value", mode != "raised", objects=[argument(remote)]
        )
    except EvalFailed:  # of a world that our code is not in
        head = text_of(remote).partition("\n    at ")[0]
        body = {"type": str(remote.get("className") or remote.get("type")), "message": head}
    return ExceptionInfo(
        type=str(body.get("type") or ""),
        message=str(body.get("message") or ""),
        mode=mode,
        frames=teller.of_stack(str(body.get("stack") or "")),
        cause=str(body["cause"]) if body.get("cause") else None,
        members=tuple(_member(each) for each in body.get("members") or ()),
        members_total=body.get("total"),
    )


def _member(body: Body) -> ExceptionInfo:
    return ExceptionInfo(type=str(body.get("type") or ""), message=str(body.get("message") or ""))


async def classes(asking: Asking, remote: Body) -> tuple[tuple[str, ...], bool]:
    """The classes of what was thrown, nearest first, and whether it was told before."""
    try:
        body = await asking.ask("chain(value)", "value", objects=[argument(remote)])
    except EvalFailed:
        body = {}
    names = body.get("names") or (remote.get("className") or remote.get("type"),)
    return tuple(str(each) for each in names), bool(body.get("known"))
