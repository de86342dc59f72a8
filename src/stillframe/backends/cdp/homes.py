"""The class that a function is of, by the text of its script: V8 tells the class of the object that it was called on, which is
another one wherever it is inherited, and none of a static method's."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from typing import NamedTuple

from .functions import Function, functions
from .scripts import Script, Scripts
from .symbols import LARGE
from .texts import Texts

_TELLS = re.compile(r"\bclass\b|\bprototype\b")
"""What a text has that defines a class at all."""


class Known(NamedTuple):
    """The functions of one text, and where they begin."""

    lines: list[str]
    functions: tuple[Function, ...]
    begins: list[tuple[int, int]]
    told: dict[tuple[int, int], tuple[str, str]]


class Homes:
    """Looks each text through once, when a function in it is first told."""

    def __init__(self, scripts: Scripts, texts: Texts) -> None:
        self._scripts = scripts
        self._texts = texts
        self._known: dict[str, Known] = {}
        self._too_large: set[str] = set()
        """Scripts that V8 is not asked for; they are not looked for at each stop."""

    async def read(self, id: str) -> None:
        """Have the text of a script at hand that V8 must be asked for (Node 18 tells no hash of it)."""
        script = self._scripts.get(id)
        if script is None or not script.user or not script.is_file or id in self._too_large:
            return
        if self._texts.known(script) is None:
            if _is_small(script.path):
                await self._texts.lines(script)
            else:
                self._too_large.add(id)

    def of(self, id: str, line: int, column: int) -> tuple[str, str]:
        """The class that the function is of whose parameters begin at this position, and the one that it stands in at all; empty
        where there is none, or its name is none that the user wrote."""
        script = self._scripts.get(id)
        known = self._of_script(script) if script is not None and script.user else None
        if script is None or known is None or not known.functions:
            return "", ""
        if (line, column) not in known.told:
            known.told[line, column] = self._found(script, known, line, column)
        return known.told[line, column]

    def _found(self, script: Script, known: Known, line: int, column: int) -> tuple[str, str]:
        at = bisect_right(known.begins, (line, column)) - 1
        found = known.functions[at] if at >= 0 else None
        if found is None or not found.within or (line, column) > (found.body_line, found.body_column):
            return "", ""
        written = self._scripts.written_text(script, line, column)
        word = rf"(?<![\w$]){re.escape(found.within)}(?![\w$])"
        return (found.home, found.within) if written is None or re.search(word, written) else ("", "")

    def _of_script(self, script: Script) -> Known | None:
        lines = None if script.id in self._too_large else self._texts.known(script)
        if lines is None:
            return None
        known = self._known.get(script.id)
        if known is None or known.lines is not lines:
            text = "\n".join(lines)
            found = functions(text) if len(text) <= LARGE and _TELLS.search(text) else ()
            known = self._known[script.id] = Known(lines, found, [(each.line, each.column) for each in found], {})
        return known


def _is_small(path: str) -> bool:
    try:
        return os.stat(path).st_size <= LARGE
    except OSError:
        return False
