"""The stream of events that a backend tells, in order: bounded by holding back whoever prints too much."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

from ..model.backend import Ended, Event, Output

_HIGH = 4 * 1024 * 1024
_LOW = 1 * 1024 * 1024


class Told:
    """Model events on their way to the session. `on_full` and `on_room` hold back and let go the program's output."""

    def __init__(self, on_full: Callable[[], None], on_room: Callable[[], None]) -> None:
        self._queue: asyncio.Queue[Event | asyncio.Future[None]] = asyncio.Queue()
        self._bytes = 0
        self._full = False
        self._on_full = on_full
        self._on_room = on_room
        self.ended: Ended | None = None

    def put(self, event: Event) -> None:
        """Add an event; nothing follows `Ended`."""
        if self.ended:
            return
        if isinstance(event, Ended):
            self.ended = event
        elif isinstance(event, Output):
            self._bytes += len(event.data)
            if self._bytes > _HIGH and not self._full:
                self._full = True
                self._on_full()
        self._queue.put_nowait(event)

    async def applied(self, patience: float) -> None:
        """Return when whoever reads the events has taken note of all that were put so far."""
        if self.ended or self._queue.empty():
            return
        mark: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait(mark)
        await asyncio.wait({mark}, timeout=patience)

    async def events(self) -> AsyncIterator[Event]:
        while True:
            event = await self._queue.get()
            if isinstance(event, asyncio.Future):
                event.set_result(None)
                continue
            if isinstance(event, Output):
                self._bytes -= len(event.data)
                if self._full and self._bytes < _LOW:
                    self._full = False
                    self._on_room()
            yield event
            if isinstance(event, Ended):
                return


def begun(work: Coroutine[Any, Any, None]) -> Awaitable[None] | None:
    """Do this at once, up to where it has to wait: what is left of it, or None. Until then it is in no task of its own."""
    try:
        waits_for = work.send(None)
    except StopIteration:
        return None
    return _Rest(work, waits_for)


class _Rest:
    """Work that waits for something: whoever awaits this waits for it in its place, and goes on with the work."""

    def __init__(self, work: Coroutine[Any, Any, None], waits_for: Any) -> None:
        self._work = work
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, Any, None]:
        while True:
            try:
                try:
                    came = yield self._waits_for
                except BaseException as error:  # such as a cancellation: it is the work's to deal with
                    self._waits_for = self._work.throw(error)
                else:
                    self._waits_for = self._work.send(came)
            except StopIteration:
                return


M = TypeVar("M")


class Sequence(Generic[M]):
    """Wire events handled one after the other: at once where that is possible, in a task where one needs a request.

    A handler gives an awaitable when it needs the debugger's answer; events that come meanwhile queue up behind it,
    while the reader goes on and can bring that answer.
    """

    def __init__(self, handle: Callable[[M], Awaitable[None] | None]) -> None:
        self._handle = handle
        self._backlog: deque[M] = deque()
        self._task: asyncio.Task[None] | None = None

    def add(self, message: M) -> None:
        if self._task is not None:
            self._backlog.append(message)
            return
        slow = self._handle(message)
        if slow is not None:
            self._task = asyncio.get_running_loop().create_task(self._work(slow))

    async def idle(self) -> None:
        """Return when everything that has come so far is handled."""
        while self._task is not None:
            await asyncio.wait({self._task})

    def close(self) -> None:
        self._backlog.clear()
        if self._task is not None:
            self._task.cancel()

    async def _work(self, slow: Awaitable[None]) -> None:
        try:
            await slow
            while self._backlog:
                following = self._handle(self._backlog.popleft())
                if following is not None:
                    await following
        finally:
            self._task = None
