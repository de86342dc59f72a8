"""What was thrown: its class, message and places, what it came from, and what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from ...errors import EvalFailed
from ...model.values import ExceptionInfo, Frame
from .asking import Asking, argument, text_of
from .client import Body
from .frames import TOP, FrameTeller, Held, position
from .imports import importing
from .scripts import Scripts
from .texts import Texts

_RUNS_SCRIPTS = ("node:vm", "node:internal/vm")
_HANDING = ("runInThisContext", "runInContext", "runScriptInThisContext")
"""Node's own functions that run a script in C++, which catches what that throws and throws it again."""
_PLACES = 8
"""Places that are told of such an error."""
Mode = Literal["uncaught", "unhandled", "raised"]


async def described(asking: Asking, teller: FrameTeller, texts: Texts, remote: Body, mode: Mode) -> ExceptionInfo:
    """All that is worth knowing of a thrown value."""
    try:
        body = await asking.ask(
            "thrown(value, isUncaught)", "isUncaught, value", mode != "raised", objects=[argument(remote)]
        )
    except EvalFailed:  # of a world that our code is not in
        head = text_of(remote).partition("\n    at ")[0]
        body = {"type": str(remote.get("className") or remote.get("type")), "message": head}
    message, frames = str(body.get("message") or ""), _places(teller, body)
    if all(each.kind == "library" for each in frames):
        line = importing(message, texts.file)
        if line is None and body.get("type") == "SyntaxError":  # of a module, of which its stack has the loader alone
            line = teller.of_text(await asking.about(remote))
        frames = (line, *frames) if line else frames
    return ExceptionInfo(
        type=str(body.get("type") or ""),
        message=message,
        mode=mode,
        frames=frames,
        cause=str(body["cause"]) if body.get("cause") else None,
        causes=tuple(_other(teller, each, "cause") for each in body.get("causes") or ()),
        members=tuple(_other(teller, each) for each in body.get("members") or ()),
        members_total=body.get("total"),
    )


def named_as_held(info: ExceptionInfo, held: Sequence[Frame]) -> ExceptionInfo:
    """With the name of the held call that threw it: an error's own text does not tell a nameless function of an ES module,
    where it went on after an `await`, from the module itself."""
    first = next(iter(info.frames), None)
    if first is None or first.function != TOP:
        return info
    same = (each.function for each in held if (each.file, each.line) == (first.file, first.line))
    return replace(info, frames=(replace(first, function=next(same, TOP)), *info.frames[1:]))


def _places(teller: FrameTeller, body: Body) -> tuple[Frame, ...]:
    return teller.of_stack(str(body.get("stack") or ""), mapped=bool(body.get("mapped")))


def _other(teller: FrameTeller, body: Body, link: Literal["", "cause"] = "") -> ExceptionInfo:
    """An error that the thrown one came from, or that it holds."""
    return ExceptionInfo(
        type=str(body.get("type") or ""),
        message=str(body.get("message") or ""),
        frames=_places(teller, body)[:_PLACES],
        cause=str(body["cause"]) if body.get("cause") else None,
        members=tuple(_other(teller, each) for each in body.get("members") or ()),
        members_total=body.get("total"),
        link=link,
    )


class Handing:
    """Errors that Node only hands on to who ran a script by `vm`, or by -e. V8 of Node 18 to 22 forgets such an error when
    anything is evaluated in that pause, as the patterns of passed-over scripts are: the program then goes on as if nothing had
    been thrown. So nothing is asked there; whoever does not catch it tells it again."""

    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts
        self.lost: str | None = None
        """One that nobody caught, and that was not told: at the end it is known that V8 has let the program go on."""

    def is_it(self, held: Held) -> bool:
        script = self._scripts.get(position(held.top)[0])
        if script is None or script.url not in _RUNS_SCRIPTS or held.top.get("functionName") not in _HANDING:
            return False
        if held.data.get("uncaught"):
            # above the error's own words Node has put the line that threw it
            self.lost = text_of(held.data).partition("\n    at ")[0].rpartition("\n")[2]
        return True

    def told(self) -> None:
        """Nobody caught it, and that was told."""
        self.lost = None


async def classes(asking: Asking, remote: Body) -> tuple[tuple[str, ...], bool]:
    """The classes of what was thrown, nearest first, and whether it was told before."""
    try:
        body = await asking.ask("chain(value)", "value", objects=[argument(remote)])
    except EvalFailed:
        body = {}
    names = body.get("names") or (remote.get("className") or remote.get("type"),)
    return tuple(str(each) for each in names), bool(body.get("known"))


async def is_foreseen(asking: Asking, remote: Body) -> bool:
    """Whether it was told as what nobody would catch."""
    try:
        body = await asking.ask("chain(value)", "value", objects=[argument(remote)])
    except EvalFailed:
        return False
    return bool(body.get("foreseen"))
