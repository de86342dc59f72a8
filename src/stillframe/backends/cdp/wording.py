"""What the text of a script says where the program is held."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .client import Body
from .declarations import between, without_texts
from .frames import Held, position
from .scripts import Scripts
from .suspending import end_of_call
from .texts import Texts

_RETURNS = re.compile(r"(?<![\w$.])return(?![\w$])(?P<rest>[^;{}]*)$")
_IS_EXPRESSION = re.compile(r"(?:async\s+)?(?:\([^()]*\)|[\w$]+)\s*=>(?!\s*\{)[^;{}]*")
"""An arrow function that is one expression, as far as some position in that."""
_WAITS = re.compile(r"(?:Atomics\s*\.\s*)?wait\s*\(")
_OF_ATOMICS = re.compile(r"(?<![\w$.])Atomics\s*\.\s*$")


class Wording:
    """Reads what runs, as V8 counts its lines and columns."""

    def __init__(self, scripts: Scripts, texts: Texts) -> None:
        self._scripts = scripts
        self._texts = texts

    async def lines(self, script: str) -> list[str]:
        """All of a script's; none where it is not known."""
        found = self._scripts.get(script)
        return await self._texts.lines(found) if found else []

    async def line(self, call: Body) -> str:
        """The line of the user's that a call is at; of a script that was made from nothing, its own."""
        script, line, column = position(call)
        if (written := self._scripts.written_line(script, line, column)) is not None:
            return written
        lines = await self.lines(script)
        return lines[line] if line < len(lines) else ""

    async def begins(self, held: Held, pattern: str) -> bool:
        """Whether the text at the held position begins so."""
        _, after = await self._beside(held)
        return re.match(rf"(?:{pattern})(?![\w$])", after) is not None

    async def is_returning(self, held: Held) -> bool:
        """Whether the held position is in a `return`, or in the one expression of an arrow function. V8 leaves out the beginning
        of `return a + b` where the line before has just made `a`, and is at the `+` at once."""
        if await self.begins(held, "return"):
            return True
        script, *at = position(held.top)
        begin = held.top.get("functionLocation")
        if not begin:
            return False
        text = without_texts(between(await self.lines(script), position({"location": begin})[1:], (at[0], at[1])))
        if _IS_EXPRESSION.fullmatch(text):
            return True
        found = _RETURNS.search(text)
        if found is None or "=>" in found["rest"]:
            return False
        opened = sum(map(found["rest"].count, "([")) - sum(map(found["rest"].count, ")]"))
        return opened > 0 or "\n" not in found["rest"]  # else the line that it is on ends it

    async def calls(self, held: Held, pattern: str) -> bool:
        """Whether the call at the held position is of what is written so. Where that may be missing (`done?.(x)`), V8 is at the
        parenthesis behind it."""
        before, after = await self._beside(held)
        if after.startswith("("):
            return re.search(rf"(?<![\w$])(?:{pattern})\s*\?\.\s*$", before) is not None
        return await self.begins(held, pattern)

    async def _beside(self, held: Held) -> tuple[str, str]:
        """The line that is held, up to the held position and from there on; nothing where it is not known."""
        script, line, column = position(held.top)
        lines = await self.lines(script)
        return (lines[line][:column], lines[line][column:]) if line < len(lines) else ("", "")

    async def is_waiting(self, held: Held) -> bool:
        """Whether the held position is at a call of `Atomics.wait`, for which V8 makes no frame."""
        before, after = await self._beside(held)
        return _WAITS.match(after) is not None and (after[0] == "A" or _OF_ATOMICS.search(before) is not None)

    async def are_arguments(self, held: Held, places: Sequence[tuple[int, int]]) -> bool:
        """Whether these positions, of which there are some, are in the arguments of the call at the held one. V8 is at a call
        before it comes to `(0, m.f)(x)` in these, as compilers write imported functions, and once more when it has them."""
        script, line, column = position(held.top)
        end = end_of_call(await self.lines(script), line, column)
        return bool(places) and end is not None and all((line, column) < each < end for each in places)

    async def is_closing(self, held: Held) -> bool:
        """Whether the held position is the brace that ends a function, or the end of a module: no line to be told."""
        script, line, column = position(held.top)
        if (closes := self._scripts.is_closing(script, line, column)) is not None:
            return closes
        lines = await self.lines(script)
        if line >= len(lines):
            return False
        return lines[line][column : column + 1] == "}" or (line == len(lines) - 1 and column >= len(lines[line]))
