"""The lines of MCP over HTTP, bounded: whoever sends half a request, or none, holds no place for long and keeps nobody out.

Anything on this machine may dial, and has no token to show before its headers are whole. So a request has a time to be whole
in; and where all places are taken, the line that has waited longest for the rest of one makes room.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..daemon.server import READ_SECONDS

CONNECTIONS = 64
LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class Line(H11Protocol):
    """A client's line, on which requests follow each other."""

    seconds = READ_SECONDS
    """How long a request may take to be whole."""
    _deadline: asyncio.TimerHandle | None = None
    """Runs while a whole request is waited for, from when the line is ready for one; not while one is answered."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn narrows it
        super().connection_made(transport)
        waiting = [each for each in self.connections if isinstance(each, Line) and each._deadline is not None]
        self._expect()
        if len(self.connections) > CONNECTIONS and waiting:  # else uvicorn says that it is busy
            min(waiting, key=Line._ends_at).end()

    def handle_events(self) -> None:
        super().handle_events()
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._expect_no_more()
        elif self._deadline is None:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_no_more()
        super().connection_lost(exc)

    def end(self) -> None:
        """Close it, with a word if some of a request was heard that nothing was said to yet."""
        self._expect_no_more()
        self.connections.discard(self)  # its place is free at once
        begun = self.conn.their_state is h11.SEND_BODY or self.conn.trailing_data[0]
        if begun and self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(LATE)
        self.transport.close()

    def _expect(self) -> None:
        self._deadline = self.loop.call_later(self.seconds, self.end)

    def _expect_no_more(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _ends_at(self) -> float:
        return self._deadline.when() if self._deadline is not None else 0.0
