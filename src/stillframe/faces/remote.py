"""The library over the daemon: the same methods, the same results and errors, on the sessions that `dbg` sees too."""

from __future__ import annotations

import functools
import json
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import msgspec

from ..errors import BY_CODE, Internal, StillframeError, Try
from ..registry import OPERATIONS
from .cli.catalogue import VERBS
from .cli.link import needs_environment
from .daemonline import KeptLines, ask
from .library import caller_here
from .library_methods import Verbs

Result = TypeVar("Result")


class Connection(Verbs):
    """Calls to the user's daemon, which is started where there is none. In an `async with` lines are kept from call to call; else
    each call is a line of its own."""

    def __init__(self, *, cwd: str | None = None, client: str | None = None) -> None:
        self._caller = caller_here(cwd)
        self._client = client or self._caller.client
        self._kept: KeptLines | None = None

    async def __aenter__(self) -> Self:
        self._kept = KeptLines()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The sessions live on; no line of ours does."""
        if self._kept is not None:
            kept, self._kept = self._kept, None
            await kept.close()

    async def call(self, op: str, args: dict[str, Any], session: str | None) -> Any:
        given = {name: each for name, each in args.items() if each not in (None, ())}
        request = {
            "op": op,
            "args": given,
            "session": session,
            "json": True,
            "client": self._client,
            "cwd": self._caller.cwd,
            "umask": self._caller.umask,
            "env": dict(self._caller.env) if needs_environment(VERBS.get(op, {}), given) else {},
        }
        answer = await (self._kept.ask(request) if self._kept is not None else ask(request))
        reply = _understood(op, answer.reply)
        if not reply.ok:
            raise _raised(reply.error)
        return reply.result


class _Reply(msgspec.Struct, Generic[Result]):
    ok: bool = False
    result: Result | None = None
    error: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


def _understood(op: str, data: bytes) -> _Reply[Any]:
    decoder = _decoder_of(op)
    try:
        return decoder.decode(data)
    except msgspec.DecodeError:  # odd bytes travel as lone surrogates, which only the standard one takes
        slowly: _Reply[Any] = msgspec.convert(json.loads(data), type=decoder.type, strict=False)
        return slowly


@functools.cache
def _decoder_of(op: str) -> msgspec.json.Decoder[_Reply[Any]]:
    kind: Any = OPERATIONS[op].result
    return msgspec.json.Decoder(_Reply[kind], strict=False)


def _raised(error: dict[str, Any]) -> StillframeError:
    hint = error.get("hint")
    cls = BY_CODE.get(error.get("code", ""), Internal)
    return cls(
        error.get("message", ""),
        hint=Try(hint["op"], hint.get("args", {}), hint.get("once", "")) if hint else None,
        detail=error.get("detail"),
    )


def connect(*, cwd: str | None = None) -> Connection:
    """`async with stillframe.connect() as dbg:` talks to the daemon that `dbg` uses."""
    return Connection(cwd=cwd)
