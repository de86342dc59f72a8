"""Byte streams to a debugger: a `Line` is dialled, accepted by a listener, or made of a process's own pipes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol, cast

from ..errors import AdapterUnresponsive, Denied, LaunchFailed

_QUICKACK = getattr(socket, "TCP_QUICKACK", None)
"""Linux only: without it the kernel may hold back an acknowledgement for 40 ms, and Nagle on the far side waits for it."""

_ROOM = 64 * 1024
"""Bytes that one read takes at the most."""
_AGAIN = 0.01
"""Between two attempts to reach somebody who is coming up: nothing tells when a port is listened on."""


class Line(Protocol):
    """A two-way stream of bytes. `listen` must be called once; what came before it is kept."""

    def listen(self, on_bytes: Callable[[bytes], None], on_end: Callable[[str | None], None]) -> None: ...

    def write(self, data: bytes) -> None: ...

    def close(self) -> None: ...


class SocketLine(asyncio.BufferedProtocol):
    """A line over TCP or a Unix socket. It reads into room of its own: asyncio would ask for 256 KiB anew at each read, which
    the C library gets from the kernel and gives back again, however little has come (seven times what the read itself takes)."""

    def __init__(self, on_made: Callable[[SocketLine], None] | None = None) -> None:
        self._on_made = on_made
        self._on_bytes: Callable[[bytes], None] | None = None
        self._on_end: Callable[[str | None], None] | None = None
        self._early: list[bytes] = []
        self._transport: asyncio.Transport | None = None
        self._socket: socket.socket | None = None
        self._ended: tuple[str | None] | None = None
        self._room = memoryview(bytearray(_ROOM))

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(bytes(self._room[:nbytes]))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # of a loop such as uvloop's it is none by its class
        sock = transport.get_extra_info("socket")
        if sock is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket = sock
            self._acknowledge_at_once()
        if self._on_made:
            self._on_made(self)

    def data_received(self, data: bytes) -> None:
        """Take what has come."""
        self._acknowledge_at_once()
        if self._on_bytes:
            self._on_bytes(data)
        else:
            self._early.append(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is not None:
            self._take_the_rest()
        self._socket = None
        self._ended = (str(exc) if exc else None,)
        if self._on_end:
            self._on_end(self._ended[0])

    def _take_the_rest(self) -> None:
        """The last words of somebody who has gone: where a write comes too late for him, asyncio gives up the whole line, and
        what he had said before is still unread."""
        made = self._transport.get_extra_info("socket") if self._transport else None
        with contextlib.suppress(OSError, ValueError):  # nothing more is there
            while made is not None and (data := os.read(made.fileno(), 65536)):
                self.data_received(data)

    def listen(self, on_bytes: Callable[[bytes], None], on_end: Callable[[str | None], None]) -> None:
        self._on_bytes, self._on_end = on_bytes, on_end
        early, self._early = self._early, []
        for data in early:
            on_bytes(data)
        if self._ended:
            on_end(self._ended[0])

    def write(self, data: bytes) -> None:
        if self._transport and not self._transport.is_closing():
            self._transport.write(data)

    def close(self) -> None:
        if self._transport:
            self._transport.abort()

    def finish(self) -> None:
        """Close once what was written has left."""
        if self._transport:
            self._transport.close()

    def _acknowledge_at_once(self) -> None:
        # The kernel forgets this setting after a while, so it is set again at each read.
        if self._socket is not None and _QUICKACK is not None:
            try:
                self._socket.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)
            except OSError:  # the peer may have gone between the read and this
                return


class Listener:
    """A loopback port of ours that debugged processes dial; each caller becomes a line, in order of arrival."""

    def __init__(self, on_line: Callable[[SocketLine], None]) -> None:
        self._on_line = on_line
        self._server: asyncio.Server | None = None
        self.host = "127.0.0.1"
        self.port = 0

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        forbidden = f"no port can be opened on {self.host}: the sandbox that this runs in forbids it"
        try:
            self._server = await loop.create_server(lambda: SocketLine(self._on_line), self.host, 0, backlog=256)
        except OSError:  # of asyncio from 3.14 on; before that it leaves out the kinds of sockets that it may not make
            raise Denied(forbidden) from None
        if not self._server.sockets:
            raise Denied(forbidden)
        self.port = self._server.sockets[0].getsockname()[1]

    def close(self) -> None:
        if self._server:
            self._server.close()
            self._server = None


async def dial(host: str, port: int, timeout: float) -> SocketLine:
    """Connect to a TCP address that a debugger listens on."""
    return await _connected(
        asyncio.get_running_loop().create_connection(SocketLine, host, port), f"{host}:{port}", timeout
    )


def free_port() -> int:
    """A loopback port that nobody has at this moment, for a debugger that must be told where to listen."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def dial_soon(port: int, timeout: float, sign: asyncio.Event) -> SocketLine:
    """Connect to a loopback port on which a debugger that was just started is about to listen."""
    return await _soon(lambda left: dial("127.0.0.1", port, left), timeout, sign)


async def dial_unix_soon(path: str, timeout: float, sign: asyncio.Event) -> SocketLine:
    """Connect to a Unix socket on which a debugger that was just started is about to listen."""
    return await _soon(lambda left: dial_unix(path, left), timeout, sign)


async def _soon(attempt: Callable[[float], Awaitable[SocketLine]], timeout: float, sign: asyncio.Event) -> SocketLine:
    """Try now and then, and at once whenever there is a sign: most debuggers say something as soon as they listen."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    while True:
        try:
            return await attempt(max(0.1, deadline - loop.time()))
        except LaunchFailed:
            if loop.time() > deadline:
                raise
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_AGAIN):
                await sign.wait()
        sign.clear()


async def dial_unix(path: str, timeout: float) -> SocketLine:
    """Connect to a Unix socket that a debugger listens on."""
    return await _connected(asyncio.get_running_loop().create_unix_connection(SocketLine, path), path, timeout)


async def _connected(
    connecting: Coroutine[Any, Any, tuple[asyncio.Transport, SocketLine]], name: str, timeout: float
) -> SocketLine:
    try:
        async with asyncio.timeout(timeout):
            return (await connecting)[1]
    except TimeoutError:
        raise AdapterUnresponsive(f"{name} took no connection within {timeout:g} s") from None
    except UnicodeError:
        raise LaunchFailed(f"{name[:80]} is no name of a machine") from None
    except OSError as error:
        # asyncio has words of its own for what the system says: "Connect call failed ('127.0.0.1', 5678)"
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or error
        raise LaunchFailed(f"nothing answers at {name}: {why}") from None
