"""From a declared launch to a live backend."""

from __future__ import annotations

from .backend import DapBackend
from .family import Family
from .launch import DapLaunch


async def open_backend(launch: DapLaunch) -> DapBackend:
    """Start or join what the launch declares; the program is held until `start`."""
    return await Family(launch).open()
