"""Functions that V8 makes no code of, since nothing uses them: a breakpoint in one has no place, though V8 gives it another."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from .functions import Function, functions
from .scripts import Script
from .texts import Texts

_LARGEST = 200_000
"""Characters of a text that is searched."""
_SAID = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|//[^\n]*|/\*.*?\*/", re.DOTALL)
"""Texts and comments, in which a name is no use of it; templates may hold code."""
_DECLARES = re.compile(r"(?:async\s+)?function\b")

Place = tuple[int, int]
"""Line and column as V8 counts, from 0."""


class _Declared(NamedTuple):
    """A function that is declared and named nowhere else, from the line that it begins on to behind its last letter."""

    name: str
    start: Place
    end: Place


class Unused:
    """What is known of them, by script."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._known: dict[str, tuple[_Declared, ...]] = {}

    def around(self, script: Script, asked: Place, found: Place) -> str | None:
        """The function that holds the place that was asked for and that V8 (of Node 18 to 24) has gone beyond to find another."""
        if found <= asked:
            return None
        if script.id not in self._known:
            self._known[script.id] = self._declared(script)
        return next((each.name for each in self._known[script.id] if each.start <= asked < each.end <= found), None)

    def forget(self) -> None:
        """Scripts may define other things than before."""
        self._known = {}

    def _declared(self, script: Script) -> tuple[_Declared, ...]:
        lines = self._texts.known(script)
        if lines is None and not script.map_url:  # else what runs may be another text than its file
            lines = self._texts.file(script.path)
        if not lines or sum(map(len, lines)) > _LARGEST:
            return ()
        text = "\n".join(lines)
        names = Counter(re.findall(r"[\w$]+", _SAID.sub("", text)))
        return tuple(
            _Declared(each.name, (each.line, 0), (each.end_line, each.end_column))
            for each in functions(text)
            if _is_declared(each, lines) and names[each.name] == 1
        )


def _is_declared(function: Function, lines: list[str]) -> bool:
    """Whether it is a statement of its own, and not the value of something."""
    before, line = lines[function.line][: function.column], lines[function.line][function.column :]
    return _DECLARES.match(line) is not None and before.rstrip()[-1:] in ("", ";", "{", "}")
