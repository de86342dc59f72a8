"""Programs that listen, for tests: a free port, and the moment at which somebody listens there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

PATIENCE = 30.0


async def printed(process: asyncio.subprocess.Process, text: str) -> None:
    """Return when the process has printed a line with this text."""
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE):
        while text not in (line := (await process.stdout.readline()).decode()):
            assert line, f"it ended before it printed {text!r}"


async def until(holds: Callable[[], bool]) -> None:
    """Return when it holds, for what nobody tells of: the state of a process of somebody else's."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if holds():
                return
            await asyncio.sleep(0.01)
