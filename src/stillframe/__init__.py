"""Stillframe: one debugger vocabulary for AI coding agents, over every real debugger.

    async with stillframe.Debugger() as dbg:                    # in this process
        stop = await dbg.launch("shop.py", breaks=["shop.py:14"])

    async with stillframe.connect() as dbg:                     # on the daemon that `dbg` uses
        print(await dbg.sessions())

Names are loaded when they are first used, since the command line's client imports this package too and must not pay for it.
"""

from .version import __version__

TYPE_CHECKING = False  # the type checker takes this name for true; importing it from `typing` would cost 10 ms
if TYPE_CHECKING:
    from typing import Any

    from .errors import StillframeError
    from .faces.library import Debugger
    from .faces.remote import Connection, connect
    from .model.outcomes import Exited, Lost, Running, Stop

_HOMES = {
    "Debugger": "faces.library",
    "Connection": "faces.remote",
    "connect": "faces.remote",
    "StillframeError": "errors",
    "Stop": "model.outcomes",
    "Running": "model.outcomes",
    "Exited": "model.outcomes",
    "Lost": "model.outcomes",
}


def __getattr__(name: str) -> "Any":
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)


__all__ = ["Connection", "Debugger", "Exited", "Lost", "Running", "StillframeError", "Stop", "__version__", "connect"]


def __dir__() -> list[str]:
    return __all__
