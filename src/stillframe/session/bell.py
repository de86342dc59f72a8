"""The one way to wait: for a predicate to hold, looked at again whenever something happened, inside a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Bell:
    """Rung at every change; everyone who waits looks again. Rings pass on to the bells above, so that a family can wait."""

    def __init__(self, above: Bell | None = None) -> None:
        self._above = above
        self._waiting: dict[asyncio.Future[None], Callable[[], bool]] = {}

    def ring(self) -> None:
        """Something happened. Whoever still waits in vain is not woken: to look here takes far less than a turn of theirs."""
        for future, predicate in list(self._waiting.items()):
            if _may_hold(predicate):
                _wake(future)
        if self._above is not None:
            self._above.ring()

    async def wait_for(self, predicate: Callable[[], bool], timeout: float | None) -> bool:
        """True as soon as the predicate holds, False when the time is over. A timeout of 0 looks once."""
        loop = asyncio.get_running_loop()
        deadline = None if timeout is None else loop.time() + timeout
        while not predicate():
            left = None if deadline is None else deadline - loop.time()
            if left is not None and left <= 0:
                return False
            future: asyncio.Future[None] = loop.create_future()
            self._waiting[future] = predicate
            timer = None if left is None else loop.call_later(left, _wake, future)
            try:
                # Not asyncio.wait_for: in Python 3.11 it swallows a cancellation that comes together with the ring.
                await future
            finally:
                del self._waiting[future]
                if timer is not None:
                    timer.cancel()
        return True


def _may_hold(predicate: Callable[[], bool]) -> bool:
    try:
        return predicate()
    except Exception:  # it is for whoever waits to hear of it
        return True


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def catch_up() -> None:
    """Let events that are here already be applied."""
    loop = asyncio.get_running_loop()
    for _ in range(3):  # from the backend's queue to its stream, and from there to the session
        turn: asyncio.Future[None] = loop.create_future()
        loop.call_soon(turn.set_result, None)
        await turn
