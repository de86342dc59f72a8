"""Whether the client of a call is still there: asked only of a call that takes a while, and told to the client by signs of life.

The call itself runs in the task of its connection, since a task of its own would cost a short call more than it does.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")

SIGN_OF_LIFE_SECONDS = 2.0
SOON_SECONDS = 0.05
"""Within this most calls are done."""


class Left(Exception):
    """The client closed its side, or asked to cancel; what it had called for has been given up."""


async def attended(work: Awaitable[T], reader: asyncio.StreamReader, alive: Callable[[], Awaitable[None]]) -> T:
    """What the work comes to, for as long as its client is there; it is cancelled and has ended when that has left."""
    watch = _Watch(reader, alive)
    try:
        return await work
    except asyncio.CancelledError:
        if (reason := watch.taken_back()) is None:
            raise
        raise reason from None
    finally:
        await watch.end()


class _Watch:
    """Cancels the task that made it when the client leaves; it begins by itself when the call has taken a while."""

    def __init__(self, reader: asyncio.StreamReader, alive: Callable[[], Awaitable[None]]) -> None:
        self._reader = reader
        self._alive = alive
        self._caller: asyncio.Task[Any] | None = asyncio.current_task()
        self._reason: Exception | None = None
        self._watching: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(SOON_SECONDS, self._begin)

    def taken_back(self) -> Exception | None:
        """Why the call was cancelled, if it was by us; that is then settled."""
        if self._reason is not None and self._caller is not None:
            self._caller.uncancel()
        return self._reason

    async def end(self) -> None:
        self._timer.cancel()
        if self._watching is not None:
            await ended(self._watching)

    def _begin(self) -> None:
        self._watching = asyncio.create_task(self._watch(), name="whether the client leaves")

    async def _watch(self) -> None:
        leaving = asyncio.create_task(_leaves(self._reader), name="the client leaves")
        try:
            while not leaving.done():
                await asyncio.wait({leaving}, timeout=SIGN_OF_LIFE_SECONDS)
                if not leaving.done():
                    await self._alive()
            self._reason = Left()
        except (ConnectionError, TimeoutError) as error:
            self._reason = error
        finally:
            await ended(leaving)
        if self._caller is not None:
            self._caller.cancel()


async def _leaves(reader: asyncio.StreamReader) -> None:
    """Returns when the client has closed its side or asked to cancel; either ends its waiting."""
    with contextlib.suppress(ConnectionError):
        await reader.read(1)


async def ended(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait until it is over; its outcome is nobody's business any more."""
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled():
        task.exception()
