"""The library over the daemon: the same methods, the same results and errors, on the sessions that `dbg` sees too."""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Self

import msgspec

from ..errors import BY_CODE, Internal, StillframeError, Try
from ..registry import OPERATIONS
from .cli.catalogue import VERBS
from .cli.link import needs_environment
from .daemonline import KeptLines, ask
from .library import caller_here
from .library_methods import Verbs


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
        reply: dict[str, Any] = json.loads(answer.reply)  # the standard one: odd bytes travel as lone surrogates
        if not reply.get("ok"):
            raise _raised(reply.get("error") or {})
        return msgspec.convert(reply.get("result"), type=OPERATIONS[op].result, strict=False)


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
