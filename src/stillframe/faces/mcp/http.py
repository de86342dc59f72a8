"""MCP over HTTP, for clients that cannot start a command: off unless asked for, on loopback only, behind a token.

A page in the user's browser can reach loopback, too: hence the exact Host and Origin, and the token on every request.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import secrets
import signal
import socket
import sys
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from msgspec.structs import replace

from ...model import exact
from ..cli.catalogue import VERSION
from ..daemon.server import Refusal
from .client import Client
from .lines import CONNECTIONS, Line
from .serve import client_of
from .server import GONE, Context, server_for
from .streams import MESSAGE_BYTES

TOKEN = "STILLFRAME_MCP_TOKEN"
HOST = "127.0.0.1"
CLIENTS = 256
"""How many clients are remembered, each with its current session; the one that was silent longest is forgotten."""
SESSION_HEADER, NAME_HEADER = "mcp-session-id", "stillframe-client"
"""The older protocol's own, and one of ours that somebody may put into the settings of an agent."""

LENGTH = b"content-length"

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def main(argv: list[str]) -> int:
    """Serve until a signal says so; the address and the token go to standard output, for whoever started us."""
    try:
        port = int(next(word.partition("=")[2] for word in argv if word.startswith("--port=")))
        hello = json.loads(argv[-1])
        token = os.environ.pop(TOKEN, "") or secrets.token_urlsafe(32)  # no program that is debugged inherits it
        first, schemas = client_of({**hello, "env": dict(os.environ)})
        listener = socket.create_server((HOST, port), reuse_port=False)
    except Refusal as refusal:
        print(f"error {refusal.code}: {refusal.message}", file=sys.stderr)
        return 2
    except (OSError, OverflowError) as error:
        print(f"error usage: cannot listen on port {port}: {error}", file=sys.stderr)
        return 2
    with listener:
        asyncio.run(_serve(listener, token, Clients(first), schemas))
    return 0


async def _serve(listener: socket.socket, token: str, clients: Clients, schemas: bool) -> None:
    port = listener.getsockname()[1]
    hosts = [f"{HOST}:{port}", f"localhost:{port}"]
    security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts])
    app = server_for(clients.of, schemas=schemas).streamable_http_app(
        transport_security=security, max_request_body_size=MESSAGE_BYTES
    )
    guarded = Guard(app, token, hosts)
    config = uvicorn.Config(
        guarded,
        http=Line,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=CONNECTIONS + 1,  # itself included
        timeout_graceful_shutdown=3,
    )
    server = Server(config)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, server.leave)
    print(f"stillframe {VERSION}: http://{HOST}:{port}/mcp\nAuthorization: Bearer {token}", flush=True)
    await server.serve(sockets=[listener])


class Server(uvicorn.Server):
    """Without uvicorn's own hold on signals: it would raise them again when it has ended."""

    def leave(self) -> None:
        self.should_exit = True

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        await self._serve(sockets)


class Clients:
    """Who calls: a client for each session of the older protocol. The newer one has none, and says nothing else by which one
    client could be told from another: all are one, but for those that a header of ours names."""

    def __init__(self, first: Client) -> None:
        self._first = first
        self._cwd = first.cwd
        """Where each begins, wherever another one has gone since."""
        self._known: OrderedDict[str, Client] = OrderedDict()

    def of(self, context: Context) -> Client:
        headers = getattr(context.request, "headers", None) or {}
        key = headers.get(SESSION_HEADER) or headers.get(NAME_HEADER)
        if not key:
            return self._first
        if key not in self._known:
            fresh = f"mcp:{secrets.token_hex(6)}"
            self._known[key] = replace(self._first, id=fresh, cwd=self._cwd, begun="", cancelled=[], known=set())
        self._known.move_to_end(key)
        while len(self._known) > CLIENTS:
            self._known.popitem(last=False)
        return self._known[key]


async def _whole(receive: Receive) -> Receive | None:
    """The same, from when a request is there in whole, or is longer than is taken; None where whoever sent it left before that,
    and so asks nothing: to the SDK (mcp 2.3) and its server that is an error, with a traceback."""
    heard: deque[Message] = deque()
    size = 0
    while size <= MESSAGE_BYTES and (not heard or heard[-1].get("more_body")):
        heard.append(await receive())
        if heard[-1]["type"] == "http.disconnect":
            return None
        size += len(heard[-1].get("body", b""))

    async def received() -> Message:
        return heard.popleft() if heard else await receive()

    return received


def _noting(receive: Receive, gone: asyncio.Event) -> Receive:
    """The same, with a note made of it when whoever sent the request no longer hears the answer."""

    async def received() -> Message:
        message = await receive()
        if message["type"] == "http.disconnect":
            gone.set()
        return message

    return received


def _harmless(send: Send) -> Send:
    """The same, with nothing sent that steers a terminal. The SDK sends a message whole; one with a length waits for it."""
    waits: list[Message] = []

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start" and any(name == LENGTH for name, _ in message["headers"]):
            waits.append(message)
            return
        if message["type"] == "http.response.body" and message.get("body"):
            message = {**message, "body": exact.harmless(message["body"])}
        if waits:
            start = waits.pop()
            length = (LENGTH, str(len(message.get("body", b""))).encode())
            others = [each for each in start["headers"] if each[0] != LENGTH]
            await send({**start, "headers": [*others, length]})
        await send(message)

    return sent


class Guard:
    """Refuses, before anything reads it, whatever is not addressed to us, not from us, or without the token."""

    def __init__(self, app: App, token: str, hosts: list[str]) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = [host.encode() for host in hosts]
        self._origins = [b"http://" + host for host in self._hosts]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            scope[GONE] = gone = asyncio.Event()
            if (whole := await _whole(receive)) is not None:
                await self._app(scope, _noting(whole, gone), _harmless(send))
            return
        status, said = refusal
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        # One answer, and the line ends: answers that nobody reads would hold its place, without any token.
        length = str(len(said)).encode()
        headers = [(b"content-type", b"text/plain"), (b"content-length", length), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": said})

    def _refusal(self, scope: Scope) -> tuple[int, bytes] | None:
        def given(name: bytes) -> list[bytes]:
            return [value for key, value in scope["headers"] if key == name]

        if len(given(b"host")) != 1 or given(b"host")[0] not in self._hosts:
            return 421, b"not this host"
        if any(origin not in self._origins for origin in given(b"origin")):
            return 403, b"not from this origin"
        # The name of the scheme may be spelt as one likes.
        tokens = [each.partition(b" ") for each in given(b"authorization")]
        if len(tokens) != 1 or tokens[0][0].lower() != b"bearer" or not hmac.compare_digest(tokens[0][2], self._token):
            return 401, b"no token, or a wrong one"
        if scope["type"] != "http":
            return 404, b""
        return None
