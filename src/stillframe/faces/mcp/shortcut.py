"""The short way of a tool call: to the daemon and back, without the tasks and models that the SDK puts each message through.

Those take as long as a step of a debugger (mcp 2.3). So the first call of a connection goes through the SDK, and what that put
around its answer is put around the answers to plain calls like it. All else is always the SDK's: what is no plain call, what
somebody has to agree to, and every other method.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, NamedTuple

import anyio
import mcp_types as types
import msgspec
from mcp.server.subscriptions import ResourcesListChanged, SubscriptionBus

from .client import Client

log = logging.getLogger("stillframe.mcp")

PLAIN_BYTES = 32 * 1024
"""The longest message that is looked at here; the SDK's server bounds the arguments of longer ones."""
PROTOCOL = "io.modelcontextprotocol/"
"""Before the names of what a call says about the protocol itself; whatever else comes with it is nobody's business here."""
_ANSWER = frozenset({"content", "structuredContent", "isError"})


class _Params(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    arguments: dict[str, Any] | None = None
    meta: msgspec.Raw = msgspec.field(name="_meta", default_factory=lambda: msgspec.Raw(b"{}"))


class PlainCall(msgspec.Struct, forbid_unknown_fields=True):
    """A call of a tool with nothing beside its arguments: a message of any other shape is none."""

    jsonrpc: Literal["2.0"]
    id: int | str
    method: Literal["tools/call"]
    params: _Params

    @property
    def meta(self) -> dict[str, Any]:
        said = msgspec.json.decode(self.params.meta)
        return said if isinstance(said, dict) else {PROTOCOL: said}

    @property
    def protocol(self) -> dict[str, Any]:
        """What it says about the protocol; nothing in the older one, where that was settled at the beginning."""
        return {name: said for name, said in self.meta.items() if name.startswith(PROTOCOL)}

    @property
    def progress_token(self) -> int | str | None:
        token = self.meta.get("progressToken")
        return token if isinstance(token, int | str) and not isinstance(token, bool) else None


class Known(NamedTuple):
    """A call that the SDK has answered: what it said about itself, of that what it said about the protocol, what the SDK
    put around its answer, and whether that had JSON in it."""

    meta: bytes
    protocol: dict[str, Any]
    around: dict[str, Any]
    structured: bool


Says = Callable[[bytes, int | str | None], Awaitable[None]]
"""Says a line to the client; the number is that of the request which it answers."""


class Shortcut:
    """The short way on one connection, open once the SDK has answered a call there."""

    def __init__(self, client: Client, bus: SubscriptionBus, say: Says) -> None:
        self._client = client
        self._bus = bus
        self._say = say
        self._watched: tuple[PlainCall, dict[str, Any]] | None = None
        """A plain call that the SDK is answering, and what it said about the protocol."""
        self._known: Known | None = None
        self._running: dict[str, asyncio.Task[None]] = {}

    def takes(self, line: bytes) -> PlainCall | None:
        """The call, if it can go this way."""
        if len(line) > PLAIN_BYTES or self._client.ask:
            return None
        with contextlib.suppress(msgspec.DecodeError):  # it is for the SDK to say what is wrong
            call = _plain_call(line)
            if self._is_like_the_known(call) and str(call.id) not in self._running:
                return call
            self._watched = call, call.protocol
        return None

    def _is_like_the_known(self, call: PlainCall) -> bool:
        known = self._known
        return known is not None and (known.meta == bytes(call.params.meta) or known.protocol == call.protocol)

    def learn(self, number: int | str, answer: Mapping[str, Any]) -> None:
        """Note what the SDK puts around an answer."""
        if self._watched is not None and self._watched[0].id == number and "content" in answer:
            call, protocol = self._watched
            around = {name: said for name, said in answer.items() if name not in _ANSWER}
            structured = "structuredContent" in answer
            self._known, self._watched = Known(bytes(call.params.meta), protocol, around, structured), None

    def cancel(self, number: object) -> None:
        """Give up a call, if it went this way; nothing more is said about it."""
        if (task := self._running.get(str(number))) is not None:
            task.cancel()

    async def close(self) -> None:
        """Give up what is under way: its client is gone."""
        if tasks := list(self._running.values()):
            for each in tasks:
                each.cancel()
            await asyncio.wait(tasks)

    async def go(self, call: PlainCall, otherwise: Callable[[], Awaitable[None]]) -> None:
        """See to a call, in the task of whoever took it; one that has to be asked about goes the other way after all."""

        async def progress(done: float, most: float, word: str) -> None:
            if (token := call.progress_token) is not None:
                said = {"progressToken": token, "progress": done, "total": most, "message": word}
                await self._notify("notifications/progress", params=said)

        key, task = str(call.id), asyncio.current_task()
        assert task is not None and self._known is not None
        self._running[key] = task
        try:
            told = await self._client.call(call.params.name, call.params.arguments or {}, progress)
            if told.asked:
                await otherwise()
                return
            if told.met:
                await self._tell_of_resources(modern=bool(self._known.protocol))
            answer = {"content": [{"type": "text", "text": told.text}], "isError": told.failed, **self._known.around}
            if self._known.structured:
                answer["structuredContent"] = msgspec.Raw(told.envelope)
            await self._answer(call, result=answer)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            log.info("nobody is there to hear what came of %s", call.params.name)
        except Exception:
            log.exception("a call of %s failed", call.params.name)
            await self._answer(call, error={"code": types.INTERNAL_ERROR, "message": "Internal server error"})
        finally:
            del self._running[key]

    async def _tell_of_resources(self, *, modern: bool) -> None:
        if modern:
            await self._bus.publish(ResourcesListChanged())
        else:
            await self._notify("notifications/resources/list_changed")

    async def _notify(self, method: str, **more: Any) -> None:
        await self._say(_line({"jsonrpc": "2.0", "method": method, **more}), None)

    async def _answer(self, call: PlainCall, **answer: Any) -> None:
        await self._say(_line({"jsonrpc": "2.0", "id": call.id, **answer}), call.id)


_plain_call = msgspec.json.Decoder(PlainCall).decode


def _line(message: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(message) + b"\n"
