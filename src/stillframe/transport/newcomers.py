"""The next process of a name that comes up on this machine, waited for."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
from pathlib import Path

from ..errors import NotFound, Unsupported, UsageError

_LOOK = 0.02
"""Seconds between looks; no event tells us of another process's birth."""
_SELDOM = 5
_PROC = Path("/proc")
_INTERPRETERS = re.compile(r"(python|pypy|ruby|node|perl|php)[\d.]*")


async def newcomer(name: str, timeout: float) -> int:
    """The pid of the next process of this name: its program's, the one it gave itself, or the script that it runs. Those that
    are there already do not count."""
    if not name or "/" in name:
        raise UsageError(f"--wait-for takes the name of a program, as in {Path(name).name or 'server'}")
    if not (_PROC / "self" / "stat").exists():
        raise Unsupported("processes that come up can be waited for on Linux only; give --pid")
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    before = _alive()
    named = {pid for pid in before if name in _names(pid)}
    for look in itertools.count(1):
        alive = _alive()
        before &= alive  # a number may be given again
        named &= alive
        # A process that was there may become the program (exec); that is looked at less often, since there are many.
        fresh = alive - named if look % _SELDOM == 0 else alive - before
        if found := next((pid for pid in sorted(fresh) if name in _names(pid)), None):
            return found
        if loop.time() > deadline:
            raise NotFound(f"no new process {name} came up within {timeout:g} s")
        await asyncio.sleep(_LOOK)
    raise AssertionError


def _alive() -> set[int]:
    return {int(word) for word in os.listdir(_PROC) if word.isdigit()}


def _names(pid: int) -> set[str]:
    """What a process may be called; empty for one that is gone again, or not ours to look at."""
    folder = _PROC / str(pid)
    try:
        words = (folder / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        names = {(folder / "comm").read_text().strip(), Path(words[0]).name}
    except OSError:
        return set()
    if _INTERPRETERS.fullmatch(Path(words[0]).name):
        names |= {Path(word).name for word in words[1:] if word and not word.startswith("-")}
    return names - {""}
