"""Functions that breakpoints name: where scripts define them, searched in the text of each before it runs."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Iterable, Mapping

from ...model.backend import Wanted
from .functions import Function, functions, matching

LARGEST = 10_000_000
"""Characters of a text that is searched: some seconds of work, for which its program waits."""
LARGE = 200_000
"""Beyond this a text is searched on a thread."""
_LIBRARY = "/node_modules/"
_ESCAPE = "\\u"
"""Names may be written with it, so that a text need not have their letters."""

Places = Mapping[str, list[tuple[int, int]]]
"""Where functions begin, by file; lines and columns from 0."""


class Symbols:
    """What is known of the names in a wanted set."""

    def __init__(self) -> None:
        self._wanted: tuple[Wanted, ...] = ()
        self._named: dict[str, dict[str, list[tuple[int, int]]]] = {}
        self._functions: dict[str, tuple[Function, ...]] = {}
        """What loaded scripts define, by id."""
        self._unsearched: dict[str, None] = {}
        self._packages: dict[str, str | None] = {}

    def want(self, wanted: Iterable[Wanted]) -> None:
        self._wanted = tuple(each for each in wanted if each.symbol)

    @property
    def wanted(self) -> bool:
        return bool(self._wanted)

    @property
    def words(self) -> list[dict[str, str | None]]:
        """What a text has if it defines one of them, the last word of each; and what the path of its file has, if anything."""
        return [{"word": _last_word(each.symbol or ""), "module": each.module} for each in self._wanted]

    def may_be_in(self, path: str) -> bool:
        """Whether one of them is looked for in this file."""
        return any(self._is_in(path, each.module) for each in self._wanted)

    def _may_define(self, path: str, text: str) -> bool:
        words = (_last_word(each.symbol or "") for each in self._wanted if self._is_in(path, each.module))
        return any(word in text or _ESCAPE in text for word in words)

    def places(self, wanted: Wanted) -> Places:
        return self._named.get(_key(wanted), {})

    def problem(self, wanted: Wanted) -> str | None:
        """Why it may never be found: a file that it may be in was not searched."""
        path = next((each for each in self._unsearched if self._is_in(each, wanted.module)), None)
        if path is None:
            return None
        name = os.path.basename(path)
        return f"no function {wanted.symbol} is known, and {name} is too large to be searched ({LARGEST:,} characters)"

    def forget(self) -> None:
        """Scripts may define other things than before."""
        self._functions = {}

    async def learn(self, path: str, text: str) -> bool:
        """A script of this text is about to run. Whether that changes what is known."""
        return self._may_define(path, text) and self._take(path, await self._search(path, text))

    async def learn_loaded(self, id: str, path: str, text: str) -> None:
        """As far as it may define what is wanted now: what is wanted later is looked for then."""
        if not self._may_define(path, text):
            return
        if id not in self._functions:
            self._functions[id] = await self._search(path, text)
        self._take(path, self._functions[id])

    def pass_over(self, path: str) -> bool:
        """A script that is too large is about to run. Whether that changes what is known."""
        known = path in self._unsearched
        self._unsearched[path] = None
        return not known

    def _is_in(self, path: str, module: str | None) -> bool:
        """Whether a file is what the user calls this module: its name with or without the ending, or its package."""
        if module is None:
            return True
        stem, name = os.path.splitext(path)[0], os.path.basename(path)
        if module in (name, os.path.basename(stem)) or stem.endswith("/" + module):
            return True
        return (
            f"/node_modules/{module}/" in path if _LIBRARY in path else module == self._package(os.path.dirname(path))
        )

    def _package(self, folder: str) -> str | None:
        """What the package that a folder is in calls itself: those of a workspace are linked to from where they are used."""
        if folder not in self._packages:
            name = _name_in(os.path.join(folder, "package.json"))
            above = self._package(os.path.dirname(folder)) if name is None and folder not in ("/", "") else None
            self._packages[folder] = name or above
        return self._packages[folder]

    async def _search(self, path: str, text: str) -> tuple[Function, ...]:
        if len(text) < LARGE:
            return functions(text)
        if len(text) > LARGEST:
            self.pass_over(path)
            return ()
        return await asyncio.to_thread(functions, text)

    def _take(self, path: str, known: tuple[Function, ...]) -> bool:
        changed = False
        for each in self._wanted:
            if not each.symbol or not self._is_in(path, each.module):
                continue
            places = [(one.body_line, one.body_column) for one in matching(known, each.symbol)]
            if places and self._named.setdefault(_key(each), {}).get(path) != places:
                self._named[_key(each)][path] = places
                changed = True
        return changed


def _key(wanted: Wanted) -> str:
    return f"{wanted.module or ''}!{wanted.symbol}"


def _last_word(symbol: str) -> str:
    words = re.findall(r"[^\s.#\[\]'\"]+", symbol)
    return words[-1] if words else symbol


def _name_in(manifest: str) -> str | None:
    try:
        with open(manifest, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return None
    name = found.get("name") if isinstance(found, dict) else None
    return name if isinstance(name, str) else None
