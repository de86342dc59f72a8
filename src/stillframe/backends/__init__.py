"""One folder per debugger protocol; each turns a declared launch into a Backend."""

from __future__ import annotations

from dataclasses import replace

from ..model.backend import Backend
from .dap.family import Family
from .dap.launch import DapLaunch
from .dap.open import open_backend as open_dap
from .wrapped import Followed, Wrapped, WrappedLaunch

Launch = DapLaunch | WrappedLaunch
"""Every kind of launch that an adapter may declare."""


async def open_backend(launch: Launch) -> Backend:
    """Start or join what the launch declares; the program is held until `start`."""
    match launch:
        case DapLaunch():
            return await open_dap(launch)
        case WrappedLaunch():
            return Wrapped(launch, [_followed(each, launch) for each in launch.inside])


def _followed(inside: DapLaunch, launch: WrappedLaunch) -> Followed:
    """Those that come up behind a wrapper have as much time as it has itself."""
    return Family(replace(inside, request_timeout=launch.request_timeout, start_timeout=launch.start_timeout))
