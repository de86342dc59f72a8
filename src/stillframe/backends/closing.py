"""Closing that happens once, however many ask for it and however soon they give up waiting."""

from __future__ import annotations

import asyncio


class ClosesOnce:
    """For a backend that says in `_close` what closing means."""

    _closing: asyncio.Task[None] | None = None

    async def close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        raise NotImplementedError
