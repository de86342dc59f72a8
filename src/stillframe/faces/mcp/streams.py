"""The two streams that the SDK's server runs on, straight on a connection: a message a line, either way.

The SDK's own for pipes hand each message from task to task, which costs a step more than all that is done with it here.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncIterator, Callable
from functools import partial
from types import TracebackType
from typing import Any, TypeVar

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from ..daemon.attendance import ended
from ..daemon.server import WRITE_SECONDS
from .shortcut import Shortcut

T = TypeVar("T", bound="Stream")

MESSAGE_BYTES = 1024 * 1024
"""The longest message that is taken; the arguments of a call are bounded further."""


class Unanswered:
    """The requests that have not been answered yet."""

    def __init__(self) -> None:
        self._ids: set[types.RequestId] = set()
        self.change = asyncio.Event()
        """Set when there is something new for the SDK: a message, or after the last one that nothing is left to answer."""
        self.no_more = False

    def __bool__(self) -> bool:
        return bool(self._ids)

    def came(self, message: types.JSONRPCMessage) -> None:
        match message:
            case types.JSONRPCRequest(method="subscriptions/listen"):
                pass  # answered only when the client has had enough, so nobody waits for that
            case types.JSONRPCRequest(id=number):
                self.add(number)
            case types.JSONRPCNotification(method="notifications/cancelled", params=dict(params)):
                self.discard(params.get("requestId"))

    def add(self, number: types.RequestId) -> None:
        self._ids.add(number)

    def discard(self, number: types.RequestId | None) -> None:
        if number is not None:
            self._ids.discard(number)
        if self.no_more:
            self.change.set()


class Stream:
    """What the SDK asks of either direction beyond its messages."""

    async def aclose(self) -> None:
        """Nothing more is wanted of it; the connection itself is its owner's to close."""

    async def __aenter__(self: T) -> T:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


class Outgoing(Stream):
    """What we say to the client. One that is gone, or does not read, is told nothing more."""

    def __init__(self, writer: asyncio.StreamWriter, unanswered: Unanswered) -> None:
        self._writer = writer
        self._unanswered = unanswered
        self._room = asyncio.Lock()
        self._closed = False
        self.learn: Callable[[types.RequestId, dict[str, Any]], None] = lambda number, answer: None
        """Told of each answer of the SDK's."""

    async def send(self, item: SessionMessage, /) -> None:
        message = item.message
        answered = message.id if isinstance(message, types.JSONRPCResponse | types.JSONRPCError) else None
        if isinstance(message, types.JSONRPCResponse):
            self.learn(message.id, message.result)
        await self.say(message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n", answered)

    async def say(self, line: bytes, answered: types.RequestId | None = None) -> None:
        """Write a line, and wait where the client does not read. `answered`: the request that it is the answer to."""
        if self._closed:
            raise anyio.ClosedResourceError
        self._writer.write(line)
        if answered is not None:
            self._unanswered.discard(answered)
        if self._writer.transport.get_write_buffer_size() or self._writer.is_closing():
            await self._until_read()

    async def _until_read(self) -> None:
        try:
            async with asyncio.timeout(WRITE_SECONDS), self._room:
                await self._writer.drain()
        except (ConnectionError, TimeoutError):
            self._closed = True
            raise anyio.BrokenResourceError from None

    async def aclose(self) -> None:
        self._closed = True


class Incoming(Stream):
    """The client's messages for the SDK. It ends when the last request that came is answered, since the SDK (2.3) drops what
    is under way when its input ends."""

    def __init__(
        self, reader: asyncio.StreamReader, outgoing: Outgoing, unanswered: Unanswered, shortcut: Shortcut
    ) -> None:
        self._lines = messages(reader)
        self._outgoing = outgoing
        self._unanswered = unanswered
        self._shortcut = shortcut
        outgoing.learn = shortcut.learn
        self._waiting: deque[SessionMessage] = deque()
        self._reading: asyncio.Task[None] | None = None
        self._stopped = False
        self.ended = asyncio.Event()
        """Nothing more comes."""

    def read(self) -> None:
        """Take messages, from now on."""
        if not self._stopped:
            self._reading = asyncio.create_task(self._read(), name="read messages")

    async def _read(self) -> None:
        """Take messages until nothing more comes. The task that reads a call which can go the short way sees to it, and
        another one reads on: to hand over the call instead would take the time of another turn of the loop."""
        with contextlib.suppress(ConnectionError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for line in self._lines:
                call = self._shortcut.takes(line)
                if call is None:
                    await self._pass_on(line)
                    continue
                self._unanswered.add(call.id)
                self._reading = None
                asyncio.get_running_loop().call_soon(self.read)
                await self._shortcut.go(call, partial(self._pass_on, line))
                return
        self._unanswered.no_more = True
        self._unanswered.change.set()
        self.ended.set()

    async def stop(self) -> None:
        """Take no more messages."""
        self._stopped = True
        if self._reading is not None:
            await ended(self._reading)

    async def _pass_on(self, line: bytes) -> None:
        """Let the SDK see to a message."""
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            await self._outgoing.say(_unreadable(line))
            return
        match message:
            case types.JSONRPCNotification(method="notifications/cancelled", params=dict(params)):
                self._shortcut.cancel(params.get("requestId"))
        self._unanswered.came(message)
        self._waiting.append(SessionMessage(message))
        self._unanswered.change.set()

    def __aiter__(self) -> Incoming:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        while not self._waiting:
            if self._unanswered.no_more and not self._unanswered:
                raise StopAsyncIteration
            self._unanswered.change.clear()
            await self._unanswered.change.wait()
        return self._waiting.popleft()

    async def receive(self) -> SessionMessage | Exception:
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None


async def messages(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Each line; one that is too long is told as an empty one, however long it goes on."""
    held = bytearray()
    skipping = False
    while chunk := await reader.read(65536):
        *whole, rest = (bytes(held) + chunk).split(b"\n")
        for line in whole:
            if skipping or len(line) > MESSAGE_BYTES:
                skipping = False
                yield b""
            elif line.strip():
                yield line
        held[:] = rest
        if len(held) > MESSAGE_BYTES:
            held.clear()
            skipping = True


def _unreadable(line: bytes) -> bytes:
    """The protocol's own answer to what is no message of it: there is no call that it could belong to."""
    said = "no JSON-RPC message" if line else f"a message of more than {MESSAGE_BYTES} bytes"
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": types.PARSE_ERROR, "message": said}}
    return json.dumps(error).encode() + b"\n"
