"""The host of all pumps: MCP's own library loaded once, one server a connection, gone when it has been idle.

A connection begins with one line that says who calls and what it may do; what follows is MCP as on a pipe, a message a line.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import select
import signal
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from ...errors import UsageError
from ..cli.catalogue import VERSION
from ..daemon.lifecycle import LOOK_AGAIN, Claim
from ..daemon.serve import Listening, keep_log, reason_to_leave, spare_the_loaded
from ..daemon.server import READ_SECONDS, WRITE_SECONDS, Refusal, check_peer, ended
from .client import Client
from .server import server_for
from .toolset import CLASSES, toolset

log = logging.getLogger("stillframe.mcp")

MESSAGE_BYTES = 1024 * 1024
"""The longest message that is taken; the arguments of a call are bounded further."""
CONNECTIONS = 64
LOOK_SECONDS = 0.2
"""How often we look whether a client that has closed its side still hears us."""


def serve(claim: Claim) -> None:
    """Serve until nobody has been there for a while, or a signal says so."""
    keep_log(claim.directory, "mcp.log")
    log.info("pid %d, version %s, in %s", os.getpid(), VERSION, claim.directory)
    asyncio.run(_live(claim))
    log.info("left")


async def _live(claim: Claim) -> None:
    host = Host()
    listening = Listening(claim, host)
    host.withdraw = listening.withdraw
    await listening.begin()
    spare_the_loaded()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, host.ending.set)
    loop.add_signal_handler(LOOK_AGAIN, listening.look.set)
    watching = asyncio.create_task(listening.watch(), name="watch the socket")
    await reason_to_leave(host, lambda: 0)
    watching.cancel()
    listening.withdraw()
    for each in list(host.tasks):
        each.cancel()
    if host.tasks:
        await asyncio.wait(host.tasks, timeout=WRITE_SECONDS)


class Host:
    """Answers connections until somebody ends it."""

    def __init__(self) -> None:
        self.open = 0
        self.activity = asyncio.Event()
        self.ending = asyncio.Event()
        self.tasks: set[asyncio.Task[Any]] = set()
        self.withdraw: Callable[[], None] = lambda: None

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection; nothing that goes wrong on it may reach another."""
        self.open += 1
        self.activity.set()
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        try:
            check_peer(writer.get_extra_info("socket"))
            if self.open > CONNECTIONS:
                raise Refusal("busy", f"the host already serves {CONNECTIONS} clients")
            await self._serve(reader, writer)
        except Refusal as refusal:
            with contextlib.suppress(ConnectionError):
                writer.write(f"-error {refusal.code}: {refusal.message}\n".encode("utf-8", "backslashreplace"))
                await writer.drain()
        except (ConnectionError, TimeoutError):
            log.info("a client went away")
        except Exception:
            log.exception("a connection failed")
        finally:
            self.tasks.discard(task)
            self.open -= 1
            self.activity.set()
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hello = await _hello(reader)
        if hello.get("leave"):
            if self.open == 1:
                self.withdraw()
                self.ending.set()
            writer.write(b"+\n")
            return
        client, schemas = client_of(hello)
        server = server_for(lambda _: client, schemas=schemas)
        writer.write(b"+\n")
        left = asyncio.Event()
        async with piped(reader, writer, left) as (incoming, outgoing):
            running = asyncio.create_task(server.run(incoming, outgoing, server.create_initialization_options()))
            try:
                await _until_over(running, left, writer.get_extra_info("socket").fileno())
            finally:
                await ended(running)


async def _until_over(running: asyncio.Task[None], left: asyncio.Event, handle: int) -> None:
    """Until the server is done. A client that has only said all it wants to say still gets its answers; one that is gone
    needs none, and what it waited for is given up."""
    leaving = asyncio.create_task(left.wait())
    try:
        await asyncio.wait({running, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await ended(leaving)
    line = select.poll()
    line.register(handle, 0)  # nothing but the end of both directions is told then
    while not running.done() and not line.poll(0):
        await asyncio.wait({running}, timeout=LOOK_SECONDS)


async def _hello(reader: asyncio.StreamReader) -> dict[str, Any]:
    try:
        async with asyncio.timeout(READ_SECONDS):
            line = await reader.readline()
        found = json.loads(line)
    except TimeoutError:
        raise Refusal("usage", f"no whole line within {READ_SECONDS:g} s") from None
    except (ValueError, RecursionError):
        raise Refusal("usage", "the first line is no JSON") from None
    if not isinstance(found, dict) or found.get("v") != 1:
        raise Refusal("usage", "the first line is no object of version 1")
    return found


def client_of(hello: dict[str, Any]) -> tuple[Client, bool]:
    """The client that a first line describes."""
    allow, ask, env = hello.get("allow") or "exec", hello.get("ask") or "", hello.get("env") or {}
    sound = (
        allow in CLASSES and (not ask or ask in CLASSES) and isinstance(hello.get("cwd"), str)
        and isinstance(env, dict) and isinstance(hello.get("umask", 0), int)
    )  # fmt: skip
    if not sound:
        raise Refusal("usage", "the first line's parts have the wrong types")
    try:
        tools = toolset(str(hello.get("tools", "core")), allow)
    except UsageError as error:
        raise Refusal("usage", error.message) from None
    client = Client(
        id=f"mcp:{secrets.token_hex(6)}",
        cwd=hello["cwd"],
        env={str(name): str(value) for name, value in env.items()},
        umask=hello.get("umask", 0o022),
        allow=allow,
        ask=ask,
        tools=tools,
    )
    return client, bool(hello.get("schemas"))


Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


@contextlib.asynccontextmanager
async def piped(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, left: asyncio.Event
) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """The streams that the SDK's server runs on, fed from and written to a connection, as its own for pipes are; `left` is
    set when nothing more comes."""
    feed, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, drained = anyio.create_memory_object_stream[SessionMessage](0)
    pending = Pending()

    async def read() -> None:
        async with feed:
            with contextlib.suppress(ConnectionError):
                await pass_on()
            left.set()
            await pending.none_left()  # the SDK (2.3) drops what is under way when its input ends

    async def pass_on() -> None:
        async for line in messages(reader):
            try:
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                writer.write(_unreadable(line))
                continue
            pending.came(message)
            try:
                await feed.send(SessionMessage(message))
            except anyio.BrokenResourceError:
                return

    async def write() -> None:
        async with drained:
            with contextlib.suppress(ConnectionError, TimeoutError):  # it is gone, or does not read: nobody to tell
                async for message in drained:
                    pending.went(message.message)
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    writer.write(text.encode() + b"\n")
                    async with asyncio.timeout(WRITE_SECONDS):
                        await writer.drain()

    async with anyio.create_task_group() as both:
        both.start_soon(read)
        both.start_soon(write)
        yield incoming, outgoing
        both.cancel_scope.cancel()


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
