"""The library: the same operations as async methods, in this process or over the daemon's socket."""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Self

from ..dispatch import Dispatcher
from ..model.plans import Caller
from ..registry import Call
from ..settings import Settings
from .host import host
from .library_methods import Verbs


def caller_here(cwd: str | None = None) -> Caller:
    """A call from this very process."""
    umask = os.umask(0)
    os.umask(umask)
    return Caller(cwd=os.path.abspath(cwd or os.getcwd()), env=_Environment(), umask=umask, client=f"pid:{os.getpid()}")


class _Environment(Mapping[str, str]):
    """The variables of this process, as they are when first looked at: most calls never do, and a copy of them takes time."""

    @functools.cached_property
    def _copy(self) -> dict[str, str]:
        return dict(os.environ)

    def __getitem__(self, name: str) -> str:
        return self._copy[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._copy)

    def __len__(self) -> int:
        return len(self._copy)


class Debugger(Verbs):
    """Debug in this process: `async with Debugger() as dbg: await dbg.launch("app.py", breaks=["app.py:3"])`.

    Leaving it ends every program that it launched and lets go of every one that it joined.
    """

    def __init__(self, *, cwd: str | None = None, settings: Settings | None = None) -> None:
        self._cwd = cwd
        self._host: AbstractAsyncContextManager[Dispatcher] = host(settings)
        self._dispatcher: Dispatcher | None = None

    async def __aenter__(self) -> Self:
        self._dispatcher = await self._host.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._dispatcher = None
        await asyncio.shield(asyncio.ensure_future(self._host.__aexit__(kind, error, trace)))

    async def call(self, op: str, args: dict[str, Any], session: str | None) -> Any:
        if self._dispatcher is None:
            raise RuntimeError("use it as `async with stillframe.Debugger() as dbg:`")
        done = await self._dispatcher.run(Call(op, args, session, caller_here(self._cwd)))
        if done.failure is not None:
            raise done.failure
        return done.reply.result
