"""Children that a program said it started, until they have dialled in: its end is not told before."""

from __future__ import annotations

import asyncio

from ...transport.trees import wait_pid

_COMING = 5.0
"""How long a child that lives may take to dial in after its parent has ended."""


class Arrivals:
    """Who is expected in a family, and who has come."""

    def __init__(self) -> None:
        self._awaited: dict[int, asyncio.Future[None]] = {}

    def expect(self, pid: int) -> None:
        self._awaited.setdefault(pid, asyncio.get_running_loop().create_future())

    def came(self, pid: int | None) -> None:
        if pid is not None:
            self.expect(pid)
        if pid is not None and not self._awaited[pid].done():
            self._awaited[pid].set_result(None)

    async def settle(self, *, unless: bool) -> None:
        """Wait for those that are still to come; who ended or takes too long will not."""
        awaited = () if unless else tuple(self._awaited.items())
        await asyncio.gather(*(self._one(pid, came) for pid, came in awaited if not came.done()))

    @staticmethod
    async def _one(pid: int, came: asyncio.Future[None]) -> None:
        gone = asyncio.create_task(wait_pid(pid))
        await asyncio.wait({came, gone}, timeout=_COMING, return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
