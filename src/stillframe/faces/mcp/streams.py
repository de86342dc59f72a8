"""The two streams that the SDK's server runs on, straight on a connection: a message a line, either way.

The SDK's own for pipes hand each message from task to task, which costs a step more than all that is done with it here.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from types import TracebackType
from typing import TypeVar

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from ..daemon.server import WRITE_SECONDS

T = TypeVar("T", bound="Stream")

MESSAGE_BYTES = 1024 * 1024
"""The longest message that is taken; the arguments of a call are bounded further."""


def piped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, left: asyncio.Event) -> tuple[Incoming, Outgoing]:
    """Both directions of a connection; `left` is set when nothing more comes."""
    pending = Pending()
    return Incoming(reader, writer, pending, left), Outgoing(writer, pending)


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


class Incoming(Stream):
    """The client's messages. It ends when the last request that came is answered, since the SDK (2.3) drops what is under
    way when its input ends."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pending: Pending, left: asyncio.Event
    ) -> None:
        self._lines = messages(reader)
        self._writer = writer
        self._pending = pending
        self._left = left

    def __aiter__(self) -> Incoming:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        with contextlib.suppress(ConnectionError):
            async for line in self._lines:
                try:
                    message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    self._writer.write(_unreadable(line))
                    continue
                self._pending.came(message)
                return SessionMessage(message)
        self._left.set()
        await self._pending.none_left()
        raise StopAsyncIteration

    async def receive(self) -> SessionMessage | Exception:
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None


class Outgoing(Stream):
    """What we say to the client. One that is gone, or does not read, is told nothing more."""

    def __init__(self, writer: asyncio.StreamWriter, pending: Pending) -> None:
        self._writer = writer
        self._pending = pending
        self._room = asyncio.Lock()
        self._closed = False

    async def send(self, item: SessionMessage, /) -> None:
        if self._closed:
            raise anyio.ClosedResourceError
        self._pending.went(item.message)
        self._writer.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
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


class Pending:
    """The requests that have not been answered yet."""

    def __init__(self) -> None:
        self._ids: set[types.RequestId] = set()
        self._change = asyncio.Event()

    def came(self, message: types.JSONRPCMessage) -> None:
        match message:
            case types.JSONRPCRequest(method="subscriptions/listen"):
                pass  # answered only when the client has had enough, so nobody waits for that
            case types.JSONRPCRequest(id=number):
                self._ids.add(number)
            case types.JSONRPCNotification(method="notifications/cancelled", params=dict(params)):
                self._done(params.get("requestId"))

    def went(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._done(message.id)

    def _done(self, number: types.RequestId | None) -> None:
        if number is not None:
            self._ids.discard(number)
        self._change.set()

    async def none_left(self) -> None:
        while self._ids:
            self._change.clear()
            await self._change.wait()


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
