"""A WebSocket over a line: whole text messages in and out, by the protocol core of `websockets` on our own socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol
from urllib.parse import urlsplit

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.uri import parse_uri

from ..errors import AdapterUnresponsive, LaunchFailed, UsageError
from .streams import SocketLine, dial

MOST = 64 * 1024 * 1024
"""Bytes of one message that are taken; a bigger one ends the connection."""


class Messages(Protocol):
    """A two-way stream of whole messages. `listen` must be called once; what came before it is kept."""

    def listen(self, on_message: Callable[[bytes], None], on_end: Callable[[str | None], None]) -> None: ...

    def write(self, *messages: bytes) -> None: ...

    def close(self) -> None: ...


class WebSocket:
    """One open connection. No pings are sent: a debugger that is held at a breakpoint would not answer them."""

    def __init__(self, line: SocketLine, protocol: ClientProtocol) -> None:
        self._line = line
        self._protocol = protocol
        self._parts: list[bytes] = []
        self._early: list[bytes] = []
        self._on_message: Callable[[bytes], None] | None = None
        self._on_end: Callable[[str | None], None] | None = None
        self._ended: tuple[str | None] | None = None
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def begin(self) -> None:
        """Send the upgrade; `opened` tells how it went."""
        self._protocol.send_request(self._protocol.connect())
        self._flush()
        self._line.listen(self._bytes, self._line_ended)

    def listen(self, on_message: Callable[[bytes], None], on_end: Callable[[str | None], None]) -> None:
        self._on_message, self._on_end = on_message, on_end
        early, self._early = self._early, []
        for message in early:
            on_message(message)
        if self._ended:
            on_end(self._ended[0])

    def write(self, *messages: bytes) -> None:
        if self._ended is None and not self._protocol.close_expected():
            for message in messages:
                self._protocol.send_text(message)
            self._flush()

    def close(self) -> None:
        """Say goodbye and leave at once: the other side need not answer."""
        if self._ended is None and self.opened.done() and not self._protocol.close_expected():
            self._protocol.send_close(1000)
            self._flush()
        self._end(None)
        self._line.finish()

    def _flush(self) -> None:
        if data := b"".join(self._protocol.data_to_send()):
            self._line.write(data)

    def _bytes(self, data: bytes) -> None:
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Response):
                self._greeted()
            elif isinstance(event, Frame):
                self._frame(event)
        self._flush()
        if self._protocol.close_expected():
            self._end(self._why_closed())
            self._line.close()

    def _greeted(self) -> None:
        if self.opened.done():
            return
        if refused := self._protocol.handshake_exc:
            self.opened.set_exception(LaunchFailed(f"the inspector refused the connection: {refused}"))
        else:
            self.opened.set_result(None)

    def _frame(self, frame: Frame) -> None:
        if frame.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            return
        self._parts.append(bytes(frame.data))
        if not frame.fin:
            return
        message, self._parts = b"".join(self._parts), []
        if self._on_message:
            self._on_message(message)
        else:
            self._early.append(message)

    def _why_closed(self) -> str | None:
        if problem := self._protocol.parser_exc:
            return f"the inspector sent what cannot be taken: {problem}"
        return "the program closed it" if self._protocol.close_rcvd else None

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
    socket = WebSocket(line, ClientProtocol(parse_uri(url), max_size=MOST))
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
