"""A real Python program under its real debugger, lent the powers that other debuggers have: each done by what it can.

So the verbs for them are tried with real stops, frames and values, whichever debuggers are installed.
"""

from __future__ import annotations

import ast
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from stillframe.errors import EvalFailed
from stillframe.model.backend import Backend, Bounds, Capability, Capture, ChildOpened, Evaluated, Event, Stopped
from stillframe.model.powers import Jumps
from stillframe.model.values import Frame, Frames, Value

POWERS = {Capability.SAFE_EVAL, Capability.RESTART_FRAME, Capability.SET_RETURN, Capability.HOT_PATCH}
SHIFT = 100
"""Lines that the source of a made file stands before the line that runs."""


class Powered:
    """The backend itself, but for what is written here."""

    def __init__(self, real: Backend) -> None:
        self._real = real
        self._restarting = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self._real.capabilities | POWERS

    async def events(self) -> AsyncIterator[Event]:
        async for event in self._real.events():
            if isinstance(event, Stopped) and self._restarting:
                self._restarting, event = False, replace(event, reason="restart")
            if isinstance(event, ChildOpened):
                event = replace(event, backend=powered(event.backend))
            yield event

    async def stack(self, thread: str, start: int = 0, count: int = 20) -> Frames:
        page = await self._real.stack(thread, start, count)
        return msgspec.structs.replace(page, frames=tuple(map(_mapped, page.frames)))

    async def capture(self, thread: str, bounds: Bounds) -> Capture:
        found = await self._real.capture(thread, bounds)
        frames = msgspec.structs.replace(found.frames, frames=tuple(map(_mapped, found.frames.frames)))
        return replace(found, frames=frames, at=_mapped(found.at) if found.at else None)

    async def evaluate_safely(
        self, frame: str | None, expressions: Sequence[str], bounds: Bounds, timeout: float
    ) -> tuple[Evaluated, ...]:
        told = [
            Evaluated(each, error="Possible side-effect")
            if any(isinstance(node, ast.Call) for node in ast.walk(ast.parse(each)))
            else (await self._real.evaluate(frame, (each,), bounds, timeout))[0]
            for each in expressions
        ]
        return tuple(told)

    async def restart_frame(self, thread: str, frame: str) -> None:
        """To the line marked @begin; its debugger refuses where that is in no frame that it can move in."""
        assert isinstance(self._real, Jumps)
        page = await self._real.stack(thread, 0, 1)
        top = page.frames[0]
        assert top.file is not None
        if top.id != frame:
            raise EvalFailed("only the innermost call can be begun again")
        self._restarting = True
        await self._real.jump(thread, top.file, _begin(top.file))

    async def set_return(self, thread: str, value: str, bounds: Bounds) -> Value:
        page = await self._real.stack(thread, 0, 1)
        return await self._real.assign(page.frames[0].id, "result", value, bounds)

    async def hot_patch(self, file: str, text: str, *, dry_run: bool) -> tuple[str, ...]:
        try:
            compile(text, file, "exec")
        except SyntaxError as error:
            raise EvalFailed(f"{error.msg} at line {error.lineno}") from None
        if not dry_run:
            threads = await self._real.threads()
            page = await self._real.stack(threads[0].id, 0, 1)
            order = f"exec(compile({text.partition(chr(10) * 3)[0]!r}, {file!r}, 'exec'), globals())"
            await self._real.evaluate(page.frames[0].id, (order,), Bounds(), 10.0)
        return ("calls that are under way go on with the old text",)


def powered(real: Backend) -> Backend:
    lent: Any = Powered(real)
    return lent  # type: ignore[no-any-return]


def _begin(file: str) -> int:
    rows = Path(file).read_text().splitlines()
    return next(number for number, row in enumerate(rows, 1) if row.endswith("@begin"))


def _mapped(frame: Frame) -> Frame:
    """Frames of made.py speak of made.tpl, and `later` is no call that its caller waits for."""
    if frame.function == "later":
        frame = msgspec.structs.replace(frame, awaited="setTimeout")
    if frame.file is None or frame.line is None or not frame.file.endswith("made.py"):
        return frame
    return msgspec.structs.replace(
        frame,
        file=frame.file.removesuffix(".py") + ".tpl",
        line=frame.line + SHIFT,
        generated=f"{frame.file}:{frame.line}:5",
    )
