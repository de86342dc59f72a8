"""What nobody looks for at once waits for company, and for a time when nobody waits: the lines of a few steps go to the disk
together, while the debugger has the next order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

LINGER_SECONDS = 0.01
"""How long it waits at the most."""
COMPANY = 8
"""How many of them are worth a commit of their own."""


class Lingering(Generic[T]):
    """Things in order, none of them for longer than that: then somebody is called to see to them."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call
        self._things: list[T] = []
        self._since = 0.0
        self._watched_by: asyncio.AbstractEventLoop | None = None

    def __len__(self) -> int:
        return len(self._things)

    @property
    def is_due(self) -> bool:
        """Whether a time when nobody waits should be taken for them: soon somebody would be called."""
        things = len(self._things)
        return things >= COMPANY or (things > 0 and time.monotonic() - self._since > LINGER_SECONDS / 2)

    def add(self, thing: T) -> None:
        """For who looks after them by himself."""
        if not self._things:
            self._since = time.monotonic()
        self._things.append(thing)

    def add_watched(self, thing: T) -> None:
        """For who has a loop, which looks after them."""
        self.add(thing)
        loop = asyncio.get_running_loop()
        if self._watched_by is not loop:
            self._watch(loop, LINGER_SECONDS)

    def take(self) -> list[T]:
        taken, self._things = self._things, []
        return taken

    def _watch(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self._watched_by = loop
        loop.call_later(seconds, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """What came in the meantime may find company yet."""
        self._watched_by = None
        left = self._since + LINGER_SECONDS - time.monotonic()
        if self._things and left > 0:
            self._watch(loop, left)
        elif self._things:
            self._call()
