"""Whether a debugger answers at all: it is started without a program, greeted, and let go."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from ..backends import open_backend
from ..backends.dap.launch import DapLaunch
from ..errors import AdapterUnresponsive
from ..model.backend import Tool


@runtime_checkable
class Greets(Protocol):
    """An adapter whose debugger comes up before any program does."""

    async def greeting(self, env: Mapping[str, str], cwd: str) -> DapLaunch:
        """What to start for a greeting alone; AdapterMissing where it is not there."""
        ...


async def greeted(launch: DapLaunch, seconds: float) -> Tool:
    """Start the debugger and have it answer `initialize`; nothing of it is left. The error says why it does not."""
    try:
        async with asyncio.timeout(seconds):
            backend = await open_backend(launch)
    except TimeoutError:
        raise AdapterUnresponsive(f"{launch.tool.tool} did not answer within {seconds:g} s") from None
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await backend.close()
    return backend.tool
