"""The WebSocket protocol from the client's side without I/O: the upgrade, whole messages in, masked frames out (RFC 6455).

A debugger sends several small messages a step, so that a frame must cost next to nothing.
"""

from __future__ import annotations

import base64
import hashlib
import os
from typing import Final, NamedTuple

from ..errors import ProtocolError

LIMIT = 64 * 1024 * 1024
"""Bytes of one message that are taken; a bigger one is refused by its header alone."""
_GREETING_LIMIT = 16 * 1024
_GUID: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
"""What the RFC has a server mix with a client's key, to show that it speaks this protocol."""

CONT, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
"""Kinds of frames: from CLOSE on they may stand between the parts of a message, and are no part of one."""
_FINAL = _MASKED = 0x80
_RESERVED = 0x70


class Upgrade:
    """One request to speak WebSocket, and the judgement of its answer."""

    def __init__(self, host: str, path: str) -> None:
        self._key = base64.b64encode(os.urandom(16))
        self._answer = b""
        self.request = (
            f"GET {path or '/'} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {self._key.decode()}\r\nSec-WebSocket-Version: 13\r\n\r\n"
        ).encode()

    def feed(self, data: bytes) -> bytes | None:
        """None while more of the answer is to come; then what followed it. ProtocolError where it is a refusal."""
        self._answer += data
        head, found, rest = self._answer.partition(b"\r\n\r\n")
        if not found:
            if len(self._answer) > _GREETING_LIMIT:
                raise ProtocolError("what answered has no end")
            return None
        status, *lines = head.split(b"\r\n")
        words = status.split(None, 2)
        if len(words) < 2 or not words[0].startswith(b"HTTP/") or words[1] != b"101":
            raise ProtocolError(status[:200].decode("utf-8", "backslashreplace"))
        fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines)}
        proof = base64.b64encode(hashlib.sha1(self._key + _GUID, usedforsecurity=False).digest())
        if fields.get(b"sec-websocket-accept") != proof:
            raise ProtocolError("what answered does not speak WebSocket")
        return rest


class Received(NamedTuple):
    """A whole message, or a frame that is no part of one."""

    kind: int
    data: bytes


class Decoder:
    """Cuts a stream of bytes into messages, however it was split; once it cannot be trusted any more, `problem` says why."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._needed = 2
        """Bytes that the buffer must hold before it is worth another look."""
        self._parts: list[bytes] = []
        self._size = 0
        self._kind = 0
        self.problem: str | None = None

    def feed(self, data: bytes) -> list[Received]:
        """The messages that are whole now."""
        found: list[Received] = []
        if self._buffer:
            self._buffer += data
            if len(self._buffer) < self._needed:
                return found
            data = bytes(self._buffer)
            self._buffer.clear()
        at = 0
        while self.problem is None and (end := self._frame(data, at, found)):
            at = end
        if at < len(data):
            self._buffer += data[at:] if at else data
            self._needed -= at
        return found

    def _frame(self, data: bytes, at: int, found: list[Received]) -> int:
        """Take the frame that begins here; where it ends, or 0 while it is not whole."""
        have = len(data)
        start = self._needed = at + 2
        if have < start:
            return 0
        first, length = data[at], data[at + 1]
        if length in (126, 127):
            start = self._needed = start + (2 if length == 126 else 8)
            if have < start:
                return 0
            length = int.from_bytes(data[at + 2 : start], "big")
        self.problem = self._judged(first, data[at + 1], length)
        end = self._needed = start + length
        if have < end or self.problem is not None:
            return 0
        self._take(first, data[start:end], found)
        return end

    def _judged(self, first: int, second: int, length: int) -> str | None:
        """By the header alone, why a frame is not taken: no server may send it, or it is too large."""
        kind = first & 0x0F
        if first & _RESERVED or second & _MASKED or BINARY < kind < CLOSE or kind > PONG:
            return "a frame that no server may send"
        if kind >= CLOSE:
            return "a control frame that is too long, or in parts" if length > 125 or not first & _FINAL else None
        if (kind == CONT) != bool(self._parts):
            return "a part of a message that was never begun, or a message within another"
        return f"a message of more than {self._limit:,} bytes" if length + self._size > self._limit else None

    def _take(self, first: int, data: bytes, found: list[Received]) -> None:
        kind = first & 0x0F
        if kind >= CLOSE or (kind and first & _FINAL):
            found.append(Received(kind, data))
            return
        self._kind = kind or self._kind
        self._parts.append(data)
        self._size += len(data)
        if first & _FINAL:
            found.append(Received(self._kind, b"".join(self._parts)))
            self._parts, self._size = [], 0


def encode(data: bytes, kind: int = TEXT) -> bytes:
    """One message as a frame, ready to be sent: masked by a key of its own, as the RFC wants of a client."""
    length = len(data)
    if length < 126:
        head = bytes((_FINAL | kind, _MASKED | length))
    elif length < 1 << 16:
        head = bytes((_FINAL | kind, _MASKED | 126)) + length.to_bytes(2, "big")
    else:
        head = bytes((_FINAL | kind, _MASKED | 127)) + length.to_bytes(8, "big")
    key = os.urandom(4)
    mask = int.from_bytes((key * (length // 4 + 1))[:length], "little")
    return head + key + (int.from_bytes(data, "little") ^ mask).to_bytes(length, "little")
