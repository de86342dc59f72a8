"""How a debugged process ended, from signs that come in any order and any subset."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from ..errors import StillframeError
from ..model.backend import Ended
from ..transport import tracing
from ..transport.process import Exit

SILENT = (
    "the program's connection to the debugger ended before the program said that it ends: breakpoints did not stop it from "
    "there on (programs that close files which they did not open do this, or become another one)\n"
)
_LEAVING = 5.0
"""A program that told the debugger of its end may still be busy with its own last things for this long."""
_DROPPED = 2.0
"""A line that ends without a word is mostly the first sign of a process that is about to be gone."""
_SHORTLY = 2.0
"""The other signs of an end that somebody else's process gives come together or not at all."""
_LAST_WORDS = 0.15
"""What a process wrote before it ended is in our socket; its end of file comes along, unless a child holds it open: then the line
is silent for this long. On a busy machine to read what is there may take longer."""

_LONGEST = 30.0
"""For as long as a child that holds the line, and goes on to speak there, is listened to."""


class Signs(msgspec.Struct):
    """The four signs of an end, and what we did ourselves."""

    line: asyncio.Future[StillframeError]
    terminated: asyncio.Future[None]
    replaced: asyncio.Future[None]
    """The process runs another program now (exec), which dialled in by itself."""
    process: asyncio.Future[Exit] | None
    """The exit of the process that is the program itself; None where we cannot wait for it."""
    gone: asyncio.Future[None] | None = None
    """The end of a process that is not our child: that it ended, not how."""
    replacing: bool = False
    """The process said that it is about to run another program (exec), which may be none that we can debug."""
    exit_code: int | None = None
    """From an `exited` event."""
    signal: str | None = None
    """The signal that ended the program, where the debugger told it."""
    unstarted: str | None = None
    """Why the program never began, where the debugger told it."""
    last_word: bool = False
    """Our code inside the program said that the program ends."""
    by_us: bool = False
    """We ended it."""
    detached: bool = False
    """We let it go on without us."""
    heard: Callable[[], int] = lambda: 0
    """How many bytes have come on the line by now."""

    @property
    def is_told(self) -> bool:
        """Whether there is a reason for the line's end: the program's own end, another program, or us."""
        return self.last_word or self.by_us or self.detached or self.is_replaced

    @property
    def is_whole(self) -> bool:
        """The debugger has told that the program ended and how: nothing more is to come."""
        return self.terminated.done() and (self.exit_code is not None or self.signal is not None)

    @property
    def is_replaced(self) -> bool:
        """The line ended since another program runs in the process now; its end is the end of that."""
        return self.replacing or self.replaced.done()


async def ended(signs: Signs, pid: int | None) -> Ended:
    """Wait for the first sign, then as long as is fair for the others, and say what is known."""
    first = {each for each in (signs.line, signs.terminated, signs.process, signs.gone) if each is not None}
    await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
    if signs.detached:
        return Ended(detached=True)
    if signs.process is not None:
        return await _of_our_process(signs, signs.process, pid)
    return await _of_another(signs, pid)


async def _of_our_process(signs: Signs, process: asyncio.Future[Exit], pid: int | None) -> Ended:
    if not process.done() and not signs.is_replaced:
        signs_to_come: list[asyncio.Future[Any]] = [process, signs.replaced]
        patience = _LEAVING if signs.terminated.done() else _DROPPED
        await asyncio.wait(signs_to_come, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
    if signs.is_replaced:
        await asyncio.wait({process})  # its end is that of the program that it is now, which is another session
    if signs.detached:
        return Ended(detached=True)
    if process.done():
        await _last_words(signs)
        how = process.result()
        return Ended(exit_code=how.code, signal=how.signal)
    return Ended(lost=True, cause=f"{_what_happened(signs)}; process {pid} is still running")


async def _last_words(signs: Signs) -> None:
    """Read what a process that is gone has left on its line: up to the end of that, or until it is silent."""
    began, heard = asyncio.get_running_loop().time(), -1
    while not signs.line.done() and heard != signs.heard() and asyncio.get_running_loop().time() - began < _LONGEST:
        heard = signs.heard()
        await asyncio.wait({signs.line}, timeout=_LAST_WORDS)


async def _of_another(signs: Signs, pid: int | None) -> Ended:
    if signs.gone is not None and signs.is_replaced:
        await asyncio.wait({signs.gone})
    rest = {each for each in (signs.line, signs.gone) if each is not None and not each.done()}
    if rest and not signs.is_whole:
        await asyncio.wait(rest, timeout=_SHORTLY)
    if signs.detached:
        return Ended(detached=True)
    if signs.terminated.done() or signs.exit_code is not None or signs.signal is not None:
        cause = await _never_began(signs.unstarted) if signs.unstarted else None
        return Ended(exit_code=None if signs.signal else signs.exit_code, signal=signs.signal, cause=cause)
    if signs.by_us:
        return Ended(cause="ended by us")
    if signs.gone is not None and signs.gone.done():
        return Ended(cause=f"process {pid} ended; only its parent knows its exit code")
    return Ended(lost=True, cause=_what_happened(signs) + (f"; process {pid} is still running" if pid else ""))


async def _never_began(said: str) -> str:
    return f"never began: {await tracing.why_refused(said) or said}"


def _what_happened(signs: Signs) -> str:
    if signs.line.done():
        return signs.line.result().message
    return "the debugger says that the program ended"
