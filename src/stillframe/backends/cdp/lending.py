"""Source that no file has: the text that V8 runs, and what source maps carry of the text that it was made from."""

from __future__ import annotations

from collections.abc import Callable

from ...model.sources import SourceText
from .client import Body
from .frames import position
from .scripts import Script, Scripts
from .texts import Texts

_RUNS = "what V8 runs"


class Lending:
    """Finds source by frame or by name; `call` gives the call that a frame's name stands for, if it is held."""

    def __init__(self, scripts: Scripts, texts: Texts, call: Callable[[str | None], Body | None]) -> None:
        self._scripts = scripts
        self._texts = texts
        self._call = call

    async def source_text(self, file: str, frame: str | None) -> SourceText | None:
        if frame is not None and frame.isdigit() and (call := self._call(frame)) is not None:
            id, line, column = position(call)
            script, spot = self._scripts.get(id), self._scripts.spot(id, line, column)
            if script is not None and spot is not None and spot.file == file:
                return self._carried(script, file) if spot.mapped else await self._running(script)
        if scripts := self._scripts.of_file(file):
            return await self._running(scripts[-1])
        made = (self._carried(script, source) for script, source in self._scripts.of_source(file))
        return next((each for each in made if each is not None), None)

    async def running_text(self, frame: str) -> SourceText | None:
        call = self._call(frame) if frame.isdigit() else None
        script = self._scripts.get(position(call)[0]) if call is not None else None
        return await self._running(script) if script is not None else None

    async def _running(self, script: Script) -> SourceText | None:
        lines = await self._texts.lines(script)
        return SourceText(_whole(lines), _RUNS) if any(lines) else None

    def _carried(self, script: Script, source: str) -> SourceText | None:
        made = script.map()
        lines = made.lines_of(source) if made is not None else None
        if lines is None:
            return None
        return SourceText(_whole(lines), f"those in the source map of {script.path.rpartition('/')[2]}")


def _whole(lines: list[str]) -> list[str]:
    """Without the empty one behind the last line end."""
    return lines[:-1] if lines[-1:] == [""] else lines
