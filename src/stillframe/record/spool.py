"""What a program prints, on its way to the record: in whole lines, so that no secret is cut in two before it is seen, and at a
pace that leaves the daemon to those who ask it. Looking for secrets takes a processor's second for some thirty megabytes, and
the record keeps the last two: of a flood that is never read, most need not be looked through."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable

import msgspec

from . import lookalikes
from .pen import OUTPUT_BYTES

LINE_BYTES = 8192
"""Printed bytes that wait for the end of their line."""
KEY_BYTES = 16 * 1024
"""Printed bytes after the first line of a private key that may belong to it, where its last one does not come."""
PACE = 1024 * 1024
"""Bytes a second that are handed on in a flood. The newest wait, as many as are kept, until the program stands still or ends;
what is older than those is dropped, and the offsets tell that it is missing."""
BURST = 1024 * 1024
"""Bytes that are handed on at once, after a silence."""


class Piece(msgspec.Struct, frozen=True):
    time: float
    stream: str
    at: int
    data: bytes
    in_key: bool
    """It goes on with a private key that was begun before."""


class Spool:
    """The printed bytes of one run that are not yet on their way to the disk."""

    def __init__(self, hand_on: Callable[[Piece], None]) -> None:
        self._hand_on = hand_on
        self._lines: dict[str, bytearray] = {}
        self._offsets: dict[str, int] = {}
        self._in_key: dict[str, int] = {}
        """Streams that are within a private key, and how many bytes of it have come."""
        self._waiting: dict[str, deque[Piece]] = {}
        self._bytes: dict[str, int] = {}
        self._allowed, self._since = float(BURST), time.monotonic()
        self._timer: asyncio.TimerHandle | None = None

    def offset(self, stream: str) -> int:
        """How many bytes of a stream had come when it was last flushed."""
        return self._offsets.get(stream, 0)

    def add(self, stream: str, data: bytes) -> None:
        held = self._lines.setdefault(stream, bytearray())
        held += data
        whole = held.rfind(b"\n") + 1 if b"\n" in data else 0
        if len(held) - whole > LINE_BYTES:
            whole = len(held)
        if whole:
            self._cut(stream, whole)
            self._go_on()

    def flush(self) -> None:
        """Hand on all that has come: the program stands still, or is over."""
        for stream, held in self._lines.items():
            self._cut(stream, len(held))
        while (piece := self._next()) is not None:
            self._hand_on(piece)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _cut(self, stream: str, size: int) -> None:
        """Take so many bytes off the line that is being printed; the oldest that wait make room for them."""
        held = self._lines[stream]
        data = bytes(held[:size])
        if not data:
            return
        del held[:size]
        at = self._offsets.get(stream, 0)
        self._offsets[stream] = at + size
        waiting = self._waiting.setdefault(stream, deque())
        waiting.append(Piece(time.time(), stream, at, data, self._goes_on_in_key(stream, data)))
        self._bytes[stream] = self._bytes.get(stream, 0) + size
        while self._bytes[stream] > OUTPUT_BYTES and len(waiting) > 1:
            self._bytes[stream] -= len(waiting.popleft().data)

    def _goes_on_in_key(self, stream: str, data: bytes) -> bool:
        """Whether this goes on with a private key that was begun before it: programs print one line after another."""
        before = self._in_key.pop(stream, None)
        begun = b"-----BEGIN" in data and lookalikes.begins_key(data.decode("utf-8", "surrogateescape"))
        so_far = 0 if begun else None if before is None or b"-----END" in data else before + len(data)
        if so_far is not None and so_far < KEY_BYTES:
            self._in_key[stream] = so_far
        return before is not None

    def _go_on(self) -> None:
        """Hand on what the pace allows, and come back for the rest."""
        now = time.monotonic()
        self._allowed = min(BURST, self._allowed + (now - self._since) * PACE)
        self._since = now
        while self._allowed > 0:
            piece = self._next()
            if piece is None:
                return
            self._allowed -= len(piece.data)
            self._hand_on(piece)
        if self._timer is None and any(self._waiting.values()):
            self._timer = asyncio.get_running_loop().call_later((1 - self._allowed) / PACE, self._come_back)

    def _come_back(self) -> None:
        self._timer = None
        self._go_on()

    def _next(self) -> Piece | None:
        """The oldest piece that waits, of whatever stream."""
        waiting = min((each for each in self._waiting.values() if each), key=lambda each: each[0].time, default=None)
        if waiting is None:
            return None
        piece = waiting.popleft()
        self._bytes[piece.stream] -= len(piece.data)
        return piece
