"""One folder per debugger protocol; each turns a declared launch into a Backend."""

from __future__ import annotations

from ..model.backend import Backend
from .dap.launch import DapLaunch
from .dap.open import open_backend as open_dap

Launch = DapLaunch
"""Every kind of launch that an adapter may declare."""


async def open_backend(launch: Launch) -> Backend:
    """Start or join what the launch declares; the program is held until `start`."""
    match launch:
        case DapLaunch():
            return await open_dap(launch)
