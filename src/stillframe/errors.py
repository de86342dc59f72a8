"""Every error that Stillframe can answer with, as one tree; code, exit code and next step are data.

StillframeError
├── UsageError            usage                 2   the words of the call are off
├── SessionError                                3
│   ├── NoSession         no_session                nothing to talk to
│   ├── WrongState        wrong_state               not while it runs, or not after it ended
│   ├── StaleHandle       stale_handle              a v3 or f1 of an earlier stop
│   └── Busy              busy                      somebody else is at it, or a name is taken
├── TargetError                                 1
│   ├── NotFound          not_found                 no such breakpoint, thread, frame, place
│   ├── Unsupported       unsupported               this debugger has no such operation
│   ├── EvalFailed        eval_failed               the program's own answer was an error
│   └── LaunchFailed      launch_failed             the program never came up
├── AdapterUnresponsive   adapter_unresponsive  4   a deadline passed
├── AdapterMissing        adapter_missing       5   a debugger is not installed
├── AdapterGone                                 6
│   ├── AdapterDied       adapter_died              its process or its line is gone
│   └── ProtocolError     protocol_error            it said something that is no protocol
├── Denied                denied                7   the caller may not do this
├── StoreFull             store_full            8   the disk has no room
└── Internal              internal             70   our own fault
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec


class Try(msgspec.Struct, frozen=True):
    """The next valid call: an operation and its arguments, spelled by each face in its own words."""

    op: str
    args: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    once: str = ""
    """What must have come about first, which no call does; the failed call is then made again."""

    def told(self) -> dict[str, Any]:
        """As a reply has it: what is empty is left out."""
        found: dict[str, Any] = {"op": self.op}
        if self.args:
            found["args"] = dict(self.args)
        return {**found, "once": self.once} if self.once else found


class StillframeError(Exception):
    """What is so, in one sentence, and what to do next, as data."""

    code: ClassVar[str] = "internal"
    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, *, hint: Try | None = None, detail: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.detail: dict[str, Any] = dict(detail or {})


class UsageError(StillframeError):
    code = "usage"
    exit_code = 2


class SessionError(StillframeError):
    exit_code = 3


class NoSession(SessionError):
    code = "no_session"


class WrongState(SessionError):
    code = "wrong_state"


class StaleHandle(SessionError):
    code = "stale_handle"


class Busy(SessionError):
    code = "busy"


class TargetError(StillframeError):
    exit_code = 1


class NotFound(TargetError):
    code = "not_found"


class Unsupported(TargetError):
    code = "unsupported"


class EvalFailed(TargetError):
    code = "eval_failed"


class LaunchFailed(TargetError):
    code = "launch_failed"


class AdapterUnresponsive(StillframeError):
    code = "adapter_unresponsive"
    exit_code = 4


class AdapterMissing(StillframeError):
    code = "adapter_missing"
    exit_code = 5


class AdapterGone(StillframeError):
    exit_code = 6


class AdapterDied(AdapterGone):
    code = "adapter_died"


class ProtocolError(AdapterGone):
    code = "protocol_error"


class Denied(StillframeError):
    code = "denied"
    exit_code = 7


class StoreFull(StillframeError):
    code = "store_full"
    exit_code = 8


class Internal(StillframeError):
    code = "internal"
    exit_code = 70


def _concrete(base: type[StillframeError]) -> dict[str, type[StillframeError]]:
    found: dict[str, type[StillframeError]] = {}
    for cls in base.__subclasses__():
        if "code" in vars(cls):
            found[cls.code] = cls
        found.update(_concrete(cls))
    return found


BY_CODE: Mapping[str, type[StillframeError]] = _concrete(StillframeError)
"""Error code to class, for the far side of a link that must raise the same error again."""
