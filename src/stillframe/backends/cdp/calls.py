"""The calls of a pause, each read when it is looked at: V8 tells of all of them at every step, and most are its runtime's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import msgspec

from ...model import exact

Body = dict[str, Any]

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_HEAD = b'{"method":"Debugger.paused"'
"""How V8 (of Node 18 to 24) begins to tell of a pause."""


class _Location(msgspec.Struct, rename="camel"):
    script_id: str = ""


class _Placed(msgspec.Struct):
    location: _Location = msgspec.field(default_factory=_Location)


class _Params(msgspec.Struct, rename="camel"):
    call_frames: list[msgspec.Raw]
    reason: Any = None
    data: Any = None
    hit_breakpoints: Any = None
    async_stack_trace: Any = None


class _Pause(msgspec.Struct):
    params: _Params


_decode_pause = msgspec.json.Decoder(_Pause).decode
_decode_place = msgspec.json.Decoder(_Placed).decode


class Calls(Sequence[Body]):
    """Innermost first."""

    def __init__(self, told: Sequence[msgspec.Raw], read: Mapping[int, Body] | None = None) -> None:
        self._told = told
        self._read = dict(read or {})
        self._scripts: dict[int, str] = {}
        self._take: Callable[[Body], None] | None = None

    @classmethod
    def of(cls, told: Any) -> Calls:
        """What a pause came with, whichever way it was read."""
        if isinstance(told, Calls):
            return told
        found = [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []
        return cls([msgspec.Raw(b"{}")] * len(found), dict(enumerate(found)))

    def taken(self, take: Callable[[Body], None]) -> None:
        """Have each call looked at when it is read, and those that have been by now."""
        self._take = take
        for call in self._read.values():
            take(call)

    def __len__(self) -> int:
        return len(self._told)

    @overload
    def __getitem__(self, at: int) -> Body: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Body]: ...

    def __getitem__(self, at: int | slice) -> Body | Sequence[Body]:
        if isinstance(at, slice):
            return [self[each] for each in range(len(self._told))[at]]
        if at not in self._read:
            self._read[at] = _body(self._told[at])
            if self._take is not None:
                self._take(self._read[at])
        return self._read[at]

    def script(self, at: int) -> str:
        """The id of a call's script, without reading more of it."""
        if at in self._read:
            return str((self._read[at].get("location") or {}).get("scriptId"))
        if at not in self._scripts:
            self._scripts[at] = _decode_place(self._told[at]).location.script_id
        return self._scripts[at]


def decode(data: bytes) -> Body:
    """A message of V8; the calls of a pause as `Calls`. msgspec.DecodeError where it is none."""
    if not data.startswith(_HEAD):
        return _body(data)
    try:
        told = _decode_pause(data).params
    except msgspec.DecodeError:
        return _body(data)
    params = {
        "callFrames": Calls(told.call_frames),
        "reason": told.reason,
        "data": told.data,
        "hitBreakpoints": told.hit_breakpoints,
        "asyncStackTrace": told.async_stack_trace,
    }
    return {"method": "Debugger.paused", "params": params}


def _body(data: bytes | msgspec.Raw) -> Body:
    """An object that V8 tells. A program's text may hold half a surrogate pair, since it is cut between any two units: V8 sends
    that as an escape, and only the slow way takes it."""
    try:
        return _decode(data)
    except msgspec.DecodeError:
        return exact.decode(bytes(data), Body)
