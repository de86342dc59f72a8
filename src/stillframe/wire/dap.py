"""The framing of the Debug Adapter Protocol without I/O: bytes in, messages out, and nothing hostile allocates."""

from __future__ import annotations

import json
import math
import re
from collections import deque
from typing import Any

import msgspec

from ..errors import ProtocolError

LIMIT = 64 * 1024 * 1024
"""The largest body that is read; a bigger one is refused by its header alone."""
_HEADER_LIMIT = 8 * 1024
"""A header block longer than this is no header block."""
_NOISE_KEPT = 2000
"""How much of what an adapter prints between frames is kept for an error message."""

_START = b"content-length"
_LENGTH = re.compile(rb"^content-length[ \t]*:[ \t]*([^\r\n]*?)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_PLAIN = re.compile(rb"Content-Length: ([0-9]{1,12})\r\n\r\n")
"""A header as nearly all are, at its beginning."""
_END = re.compile(rb"\r?\n\r?\n")

Message = dict[str, Any]

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(dict[str, Any])


def encode(message: Message) -> bytes:
    """One message as a frame, ready to be sent."""
    try:
        body = _encoder.encode(message)
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can only carry escaped
        body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def _leniently(body: bytes) -> Message:
    """Text that is JSON but for bad UTF-8, half a surrogate pair or a NaN: a program's values may hold any of them."""
    message = _printable(json.loads(body.decode("utf-8", "surrogateescape")))
    if not isinstance(message, dict):
        raise ValueError("it is a list or a plain value")
    return message


def _printable(value: Any) -> Any:
    """The same with what UTF-8 cannot carry written as an escape, so that no later encoder stumbles over it."""
    match value:
        case str():
            return as_read(value)
        case dict():
            return {_printable(key): _printable(each) for key, each in value.items()}
        case list():
            return [_printable(each) for each in value]
        case float() if not math.isfinite(value):
            return str(value)
    return value


def as_read(text: str) -> str:
    """A text as it arrives in a message: what no UTF-8 can carry is an escape."""
    return text.encode("utf-8", "backslashreplace").decode()


class Decoder:
    """Cuts a stream of bytes into messages, however it was split; text between frames is skipped and kept as `noise`.

    A frame that cannot be trusted (two lengths, a negative or an absurd one) raises ProtocolError: there is no way to
    know where the next frame starts. A body that is no JSON object raises too where `strict`, else it is counted in
    `dropped` and left out, because its end is known and the next frame is sound.
    """

    def __init__(self, limit: int = LIMIT, *, strict: bool = True) -> None:
        self._limit = limit
        self._strict = strict
        self._head = b""
        """Bytes of a header, or of noise, that are not yet a whole header block."""
        self._chunks: deque[bytes] = deque()
        """Pieces of the body so far: joined once, when it is whole."""
        self._missing = -1
        """Bytes that the body still needs; -1 while a header is read."""
        self.dropped = 0
        self.noise = b""

    def feed(self, data: bytes) -> list[Message]:
        """Take some bytes; give the messages that are now whole."""
        messages: list[Message] = []
        while data:
            in_body = self._missing >= 0
            data = self._body(data, messages) if in_body else self._header(self._head + data)
        return messages

    @property
    def idle(self) -> bool:
        """Whether the stream may end here without cutting a message in two."""
        return self._missing < 0 and not self._head.lower().startswith(_START)

    def _body(self, data: bytes, messages: list[Message]) -> bytes:
        taken = data[: self._missing]
        self._chunks.append(taken)
        self._missing -= len(taken)
        if self._missing == 0:
            self._missing = -1
            body = b"".join(self._chunks) if len(self._chunks) > 1 else taken
            self._chunks.clear()
            self._parse(body, messages)
        return data[len(taken) :]

    def _parse(self, body: bytes, messages: list[Message]) -> None:
        try:
            messages.append(_decoder.decode(body))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            try:
                messages.append(_leniently(body))
            except (ValueError, RecursionError) as error:
                if self._strict:
                    detail = {"start": repr(body[:80])}
                    raise ProtocolError(f"a message is no JSON object: {error}", detail=detail) from None
                self.dropped += 1

    def _header(self, data: bytes) -> bytes:
        """Look for a header block in `data`; give what follows it, or keep what may become one."""
        plain = _PLAIN.match(data)
        if plain is not None and 0 < (length := int(plain[1])) <= self._limit:
            self._head, self._missing = b"", length
            return data[plain.end() :]
        data = self._skip_noise(data)
        self._head = b""
        end = _END.search(data)
        if end is None:
            if len(data) > _HEADER_LIMIT and data[: len(_START)].lower() == _START:
                raise ProtocolError(f"a header of more than {_HEADER_LIMIT} bytes", detail={"start": repr(data[:80])})
            self._head = data
            return b""
        block = data[: end.start()]
        if not _LENGTH.match(block):
            self._note(data[: end.end()])
            return data[end.end() :]
        self._missing = self._length(block)
        if self._missing == 0:
            self._missing = -1
            self._parse(b"", [])  # an empty body is no message either
        return data[end.end() :]

    def _skip_noise(self, data: bytes) -> bytes:
        """Drop whole lines, and text in front of a header on the same line, that cannot belong to a header block."""
        at = data.lower().find(_START)
        if at > 0:
            self._note(data[:at])
            return data[at:]
        if at < 0 and len(data) > _HEADER_LIMIT:
            keep = len(_START) - 1  # the field's name may be cut by the end of this chunk
            self._note(data[:-keep])
            return data[-keep:]
        return data

    def _note(self, noise: bytes) -> None:
        self.noise = (self.noise + noise)[-_NOISE_KEPT:]

    def _length(self, block: bytes) -> int:
        found = _LENGTH.findall(block)
        if len(found) != 1:
            raise ProtocolError("a header with more than one Content-Length", detail={"header": repr(block[:200])})
        digits = found[0]
        if not digits.isdigit() or len(digits) > 12:
            raise ProtocolError(f"Content-Length is no length: {digits[:40]!r}", detail={"header": repr(block[:200])})
        length = int(digits)
        if length > self._limit:
            raise ProtocolError(
                f"a message of {length} bytes is announced, more than the {self._limit} that are read",
                detail={"length": length, "limit": self._limit},
            )
        return length
