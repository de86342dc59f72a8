"""The library over the daemon: the same methods, the same results and errors, on the sessions that `dbg` sees too."""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Self

import msgspec

from ..errors import BY_CODE, Internal, StillframeError, Try
from ..registry import OPERATIONS
from .daemonline import ask
from .library import caller_here
from .library_methods import Verbs


class Connection(Verbs):
    """Calls to the user's daemon, which is started where there is none. Each call is a line of its own."""

    def __init__(self, *, cwd: str | None = None, client: str | None = None) -> None:
        self._caller = caller_here(cwd)
        self._client = client or self._caller.client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The sessions live on; nothing of ours is open between calls."""

    async def call(self, op: str, args: dict[str, Any], session: str | None) -> Any:
        request = {
            "op": op,
            "args": {name: given for name, given in args.items() if given not in (None, ())},
            "session": session,
            "json": True,
            "client": self._client,
            "cwd": self._caller.cwd,
            "umask": self._caller.umask,
            "env": dict(self._caller.env),
        }
        answer = await ask(request)
        reply: dict[str, Any] = json.loads(answer.reply)  # the standard one: odd bytes travel as lone surrogates
        if not reply.get("ok"):
            raise _raised(reply.get("error") or {})
        return msgspec.convert(reply.get("result"), type=OPERATIONS[op].result, strict=False)


def _raised(error: dict[str, Any]) -> StillframeError:
    hint = error.get("hint")
    cls = BY_CODE.get(error.get("code", ""), Internal)
    return cls(
        error.get("message", ""),
        hint=Try(hint["op"], hint.get("args", {})) if hint else None,
        detail=error.get("detail"),
    )


def connect(*, cwd: str | None = None) -> Connection:
    """`async with stillframe.connect() as dbg:` talks to the daemon that `dbg` uses."""
    return Connection(cwd=cwd)
