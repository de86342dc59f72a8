"""Whether a running Python may be joined by its pid, and what it means when that fails."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import psutil  # type: ignore[import-untyped]

from ...errors import (
    AdapterMissing,
    AdapterUnresponsive,
    Busy,
    Denied,
    NotFound,
    StillframeError,
    Unsupported,
    WrongState,
)
from ...transport import tracing


class NotJoined(Denied):
    """A process that is there and may not be joined; where nobody may trace it, told with what to do about that."""

    def __init__(self, message: str, **more: Any) -> None:
        super().__init__(f"{message}; {tracing.advice()}" if "ptrace" in message else message, **more)


FAILURES: Mapping[int, type[StillframeError]] = {
    3: NotFound,
    5: AdapterMissing,
    6: NotJoined,
    8: WrongState,
    9: Busy,
    10: AdapterUnresponsive,
}
"""The exit codes of `_target/attach.py` that mean more than a failed launch."""


def check_process(pid: int) -> None:
    """Fail with what can be said at once."""
    try:
        owner = psutil.Process(pid).uids().real
    except psutil.NoSuchProcess:
        raise NotFound(f"no process {pid}") from None
    except psutil.AccessDenied:
        raise Denied(f"not permitted to look at process {pid}") from None
    if os.geteuid() not in (0, owner):
        raise Denied(f"process {pid} belongs to another user")
    if sys.platform != "linux":
        raise Unsupported("attaching by pid is proven on Linux only")
    try:
        os.readlink(f"/proc/{pid}/exe")
    except PermissionError:  # one that hides itself, as an agent with keys does, or of another container
        raise Denied(f"not permitted to look at process {pid}") from None
    except FileNotFoundError:
        raise NotFound(f"process {pid} has ended, or is the kernel's own") from None


def mapped(sources: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """What debugpy is told of folders that are elsewhere for the program."""
    pairs = [{"remoteRoot": there, "localRoot": here} for there, here in sources]
    return {"pathMappings": pairs} if pairs else {}
