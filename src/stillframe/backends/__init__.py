"""One folder per debugger protocol; each turns a declared launch into a Backend."""

from __future__ import annotations

from msgspec.structs import replace

from ..model.backend import Backend
from .cdp.launch import CdpLaunch
from .dap.family import Family
from .dap.launch import DapLaunch
from .dap.open import open_backend as open_dap
from .wrapped import Followed, Wrapped, WrappedLaunch

Launch = DapLaunch | CdpLaunch | WrappedLaunch
"""Every kind of launch that an adapter may declare."""


async def open_backend(launch: Launch) -> Backend:
    """Start or join what the launch declares; the program is held until `start`."""
    match launch:
        case DapLaunch():
            return await open_dap(launch)
        case CdpLaunch():
            from .cdp.family import Family as CdpFamily  # imported where it is needed

            return await CdpFamily(launch).open()
        case WrappedLaunch():
            return Wrapped(launch, [_followed(each, launch) for each in launch.inside])


def _followed(inside: DapLaunch | CdpLaunch, launch: WrappedLaunch) -> Followed:
    """Those that come up behind a wrapper have as much time as it has itself."""
    if isinstance(inside, CdpLaunch):
        from .cdp.family import Family as CdpFamily

        return CdpFamily(replace(inside, request_timeout=launch.request_timeout, start_timeout=launch.start_timeout))
    return Family(replace(inside, request_timeout=launch.request_timeout, start_timeout=launch.start_timeout))
