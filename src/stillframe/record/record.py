"""The user's record as a host holds it: tapes to write on, and looks at what is written."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from msgspec.structs import replace

from ..errors import Busy, NotFound, StillframeError, StoreFull, Unsupported
from ..model.recording import BLANK, Operated, RunFacts
from ..model.recording import Tape as AnyTape
from . import disk, schema
from .jobs import Settled
from .pen import Pen
from .tape import Called, Tape
from .upkeep import EVERY_SECONDS, Upkeep
from .writer import Told, Writer

T = TypeVar("T")


class Noted(Protocol):
    """An answer that can say more of itself."""

    @property
    def notes(self) -> tuple[str, ...]: ...


N = TypeVar("N", bound=Noted)
SETTLE_SECONDS = 5.0
LOOK_SECONDS = 30.0
OTHERS_SECONDS = 0.25
"""How often somebody who waits for news looks whether another host has written, since nobody tells."""


class Record:
    """One for a host. `daemon` names the process that writes, so that others can tell its runs from lost ones."""

    def __init__(self, state: Path, daemon: str) -> None:
        self.path = schema.path_in(state)
        self.daemon = daemon
        self._writer = Writer(self.path)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news = asyncio.Event()
        self._listeners = 0
        self._writer.on_commit = self._committed

    # Writing

    def begin(self, facts: RunFacts, parent: AnyTape | None) -> AnyTape:
        self._loop = asyncio.get_running_loop()
        if parent is not None and not isinstance(parent, Tape):
            return BLANK
        return Tape(self._writer, facts, parent, self.daemon)

    def operation(self, done: Operated, tape: AnyTape | None) -> None:
        if tape is BLANK:
            return
        self._writer.linger(Told(Called(tape if isinstance(tape, Tape) else None, done), lingers=True))

    @property
    def problem(self) -> str | None:
        """Why nothing is written at the moment."""
        return self._writer.problem

    @property
    def gap(self) -> str | None:
        """What every answer must say while nothing is written: more was seen than it knows of."""
        return f"recording is paused: {self.problem}; what was seen since is not in this" if self.problem else None

    def trouble(self) -> str | None:
        """Why the file that is there cannot be read."""
        try:
            schema.open_for_reading(self.path).close()
        except (sqlite3.Error, StillframeError) as error:
            return str(error)
        return None

    async def settled(self) -> None:
        loop = self._loop = asyncio.get_running_loop()
        answer: asyncio.Future[str | None] = loop.create_future()
        self._writer.put(Told(Settled(), loop, answer))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_SECONDS):
                await answer

    async def change(self, what: Callable[[Pen], T]) -> T:
        """Do something to the record, in a transaction of its own."""
        return await asyncio.to_thread(self._writer.task, what)

    def keep_within(self, days: float, megabytes: float, every: float = EVERY_SECONDS) -> None:
        """Keep the record within its bounds from now on, whenever nobody waits for anything; 0 is no bound."""
        self._writer.upkeep = Upkeep(days, megabytes, every)
        if self.path.exists():
            self._writer.put(Told(Settled()))  # so that the thread begins

    # Looking

    async def look(self, what: Callable[[sqlite3.Connection], T]) -> T:
        """Ask the record, read-only, with everything in it that was told before."""
        if self.path.exists() or self._loop is not None:
            await self.settled()
        async with asyncio.timeout(LOOK_SECONDS):
            return await asyncio.to_thread(self._look, what)

    async def ask(self, what: Callable[[sqlite3.Connection], N]) -> N:
        """The same for an answer that somebody is told: one that leaves out what is not yet written says so."""
        try:
            found = await self.look(what)
        except NotFound as error:
            if self.gap is not None:
                error.message += f"; {self.gap}"
            raise
        return replace(found, notes=(*found.notes, self.gap)) if self.gap else found  # type: ignore[type-var]

    def _look(self, what: Callable[[sqlite3.Connection], T]) -> T:
        try:
            connection = schema.open_for_reading(self.path)
        except sqlite3.Error as error:
            raise StoreFull(f"the record cannot be read: {error} ({self.path})") from None
        except NotFound as error:
            if self.problem is None:
                raise
            raise StoreFull(f"{error.message}: recording is paused: {self.problem}") from None
        try:
            connection.execute("BEGIN")
            return what(connection)
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                raise Busy("the record is being written by another process") from None
            raise StoreFull(f"the record cannot be read: {error} ({self.path})") from None
        except sqlite3.DatabaseError as error:
            if not disk.is_at_fault(error):
                raise
            raise Unsupported(f"{self.path} is damaged: {error}; move it away to begin a new one") from None
        finally:
            connection.close()

    async def news(self, seconds: float) -> None:
        """Returns when this host has written something, or the time is over, or another host may have written."""
        self._loop = asyncio.get_running_loop()
        self._news.clear()
        self._listeners += 1
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(seconds, OTHERS_SECONDS)):
                    await self._news.wait()
        finally:
            self._listeners -= 1

    def _committed(self) -> None:
        if self._loop is not None and self._listeners:  # to wake the loop for nobody costs each stop
            with contextlib.suppress(RuntimeError):  # the loop was closed
                self._loop.call_soon_threadsafe(self._news.set)

    async def close(self) -> None:
        await asyncio.to_thread(self._writer.close)
