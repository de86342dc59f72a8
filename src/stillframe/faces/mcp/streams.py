"""The two streams that the SDK's server runs on, straight on a connection: a message a line, either way.

The SDK's own for pipes hand each message from task to task, which costs a step more than all that is done with it here.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections import deque
from collections.abc import AsyncIterator, Callable
from functools import partial
from types import TracebackType
from typing import Any, TypeVar

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from ...model import exact
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


OVERLONG = b"\0"
"""What stands before the ends of a message that is too long; in no message that can be read."""
ENDS = 200
_NUMBER = rb'(-?\d{1,15}|"[^"\\]{0,100}")'
_FIRST = re.compile(rb'\A\0\n\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*' + _NUMBER + rb"\s*,")
_LAST = re.compile(rb',\s*"id"\s*:\s*' + _NUMBER + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z')


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
        """Write a line, with nothing in it that steers a terminal, and wait where the client does not read. `answered`: the
        request that it is the answer to."""
        if self._closed:
            raise anyio.ClosedResourceError
        self._writer.write(exact.harmless(line))
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
        if isinstance(message, types.JSONRPCNotification) and "id" in json.loads(line):
            # By the number that it gave itself (none, true, 2.5) somebody waits for an answer; to the SDK it is a notification.
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
    """Each line; of one that is too long, however long it goes on, its two ends behind a mark."""
    held = bytearray()
    begin: bytes | None = None
    while chunk := await reader.read(65536):
        *whole, rest = (bytes(held) + chunk).split(b"\n")
        for line in whole:
            if begin is not None or len(line) > MESSAGE_BYTES:
                yield b"\n".join((OVERLONG, line[:ENDS] if begin is None else begin, line[-ENDS:]))
                begin = None
            elif line.strip():
                yield line
        held[:] = rest
        if begin is None and len(held) > MESSAGE_BYTES:
            begin = bytes(held[:ENDS])
        if begin is not None:
            del held[:-ENDS]


def _unreadable(line: bytes) -> bytes:
    """The protocol's own answers to what is no message of it: to each call that is to be seen in it, so that nobody waits for
    one; else to nobody."""
    if line.startswith(OVERLONG):
        numbers, code, said = _number_of(line), types.INVALID_REQUEST, f"a message of more than {MESSAGE_BYTES} bytes"
    else:
        numbers, code, said = _looked_into(line)
    answers = [{"jsonrpc": "2.0", "id": each, "error": {"code": code, "message": said}} for each in numbers or (None,)]
    return b"".join(json.dumps(each).encode() + b"\n" for each in answers)


def _number_of(line: bytes) -> list[types.RequestId]:
    """The call that a message was which cannot be read: its number is the first of its parts, or the last."""
    found = _FIRST.search(line) or _LAST.search(line)
    return [json.loads(found[1])] if found else []


def _looked_into(line: bytes) -> tuple[list[types.RequestId], int, str]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        # It may be JSON all the same, and somebody wait for its answer: nested too deep, or with a number of 5,000 digits.
        ends = b"\n".join((OVERLONG, line[:ENDS], line[-ENDS:]))
        return _number_of(ends), types.PARSE_ERROR, "no JSON"
    calls = [each for each in (found if isinstance(found, list) else [found]) if isinstance(each, dict)]
    numbers = [
        each["id"]
        for each in calls
        if "method" in each and isinstance(each.get("id"), str | int) and each["id"] is not True
    ]
    said = "no JSON-RPC message"
    if isinstance(found, list):
        said = "several messages in a list are no part of this protocol"
    elif numbers and not _is_unicode(found):
        said = "half of a surrogate pair is no text: write the whole character, or U+FFFD in its place"
    return numbers, types.INVALID_REQUEST, said


def _is_unicode(found: Any) -> bool:
    """Whether JSON holds text alone, and no half of a character, which it can spell and nothing can carry."""
    try:
        return bool(json.dumps(found, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        return False
