"""A WebSocket over a line: whole text messages in and out, on our own socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol
from urllib.parse import urlsplit

from ..errors import AdapterUnresponsive, LaunchFailed, ProtocolError, UsageError
from ..wire.websocket import BINARY, CLOSE, PING, PONG, TEXT, Decoder, Upgrade, encode
from .streams import SocketLine, dial

_NORMAL = (1000).to_bytes(2, "big")
"""How a connection is closed that did its work."""


class Messages(Protocol):
    """A two-way stream of whole messages. `listen` must be called once; what came before it is kept."""

    def listen(self, on_message: Callable[[bytes], None], on_end: Callable[[str | None], None]) -> None: ...

    def write(self, *messages: bytes) -> None: ...

    def close(self) -> None: ...


class WebSocket:
    """One open connection. No pings are sent: a debugger that is held at a breakpoint would not answer them."""

    def __init__(self, line: SocketLine, upgrade: Upgrade) -> None:
        self._line = line
        self._upgrade: Upgrade | None = upgrade
        self._decoder = Decoder()
        self._early: list[bytes] = []
        self._on_message: Callable[[bytes], None] = self._early.append
        self._on_end: Callable[[str | None], None] | None = None
        self._ended: tuple[str | None] | None = None
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def begin(self) -> None:
        """Send the upgrade; `opened` tells how it went."""
        assert self._upgrade is not None
        self._line.write(self._upgrade.request)
        self._line.listen(self._bytes, self._line_ended)

    def listen(self, on_message: Callable[[bytes], None], on_end: Callable[[str | None], None]) -> None:
        self._on_message, self._on_end = on_message, on_end
        for message in self._early:
            on_message(message)
        if self._ended:
            on_end(self._ended[0])

    def write(self, *messages: bytes) -> None:
        if self._ended is None:
            self._line.write(encode(messages[0]) if len(messages) == 1 else b"".join(map(encode, messages)))

    def close(self) -> None:
        """Say goodbye and leave at once: the other side need not answer."""
        if self._ended is None and self.opened.done():
            self._line.write(encode(_NORMAL, CLOSE))
        self._end(None)
        self._line.finish()

    def _bytes(self, data: bytes) -> None:
        if self._ended is not None:
            return
        if self._upgrade is not None:
            rest = self._greeted(self._upgrade, data)
            if not rest:
                return
            data = rest
        for kind, message in self._decoder.feed(data):
            self._received(kind, message)
        if self._decoder.problem is not None:
            self._end(f"the inspector sent what cannot be taken: {self._decoder.problem}")
            self._line.close()

    def _greeted(self, upgrade: Upgrade, data: bytes) -> bytes | None:
        try:
            rest = upgrade.feed(data)
        except ProtocolError as refused:
            if not self.opened.done():
                self.opened.set_exception(LaunchFailed(f"the inspector refused the connection: {refused.message}"))
            return None
        if rest is not None:
            self._upgrade = None
            if not self.opened.done():
                self.opened.set_result(None)
        return rest

    def _received(self, kind: int, message: bytes) -> None:
        if kind in (TEXT, BINARY):
            self._on_message(message)
        elif kind == PING:
            self._line.write(encode(message, PONG))
        elif kind == CLOSE and self._ended is None:
            self._line.write(encode(message[:2], CLOSE))
            self._end("the program closed it")
            self._line.finish()

    def _line_ended(self, reason: str | None) -> None:
        if not self.opened.done():
            self.opened.set_exception(LaunchFailed("the inspector closed the connection at once"))
        self._end(reason)

    def _end(self, reason: str | None) -> None:
        if self._ended is None:
            self._ended = (reason,)
            if self._on_end:
                self._on_end(reason)


async def open_websocket(url: str, timeout: float) -> WebSocket:
    """Connect to a `ws://` address of this machine or another."""
    parts = urlsplit(url)
    if parts.scheme != "ws" or not parts.hostname:
        raise UsageError(f"not an address of an inspector: {url}; it looks like ws://127.0.0.1:9229/…")
    line = await dial(parts.hostname, parts.port or 80, timeout)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    socket = WebSocket(line, Upgrade(parts.netloc.rpartition("@")[2], path))
    socket.begin()
    try:
        async with asyncio.timeout(timeout):
            await socket.opened
    except TimeoutError:
        line.close()
        raise AdapterUnresponsive(f"{parts.netloc} did not answer as an inspector within {timeout:g} s") from None
    except BaseException:
        line.close()
        raise
    return socket
