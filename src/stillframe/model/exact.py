"""JSON that carries any text: half surrogate pairs, which undecodable bytes become in Python, survive as escapes."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

import msgspec

Kind = TypeVar("Kind")

STEERING = (
    "\x7f-\x9f"  # DEL and C1, a CSI of one character among them
    "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"  # bidi, zero width, line separators
    "\ud800-\udfff\ufff9-\ufffb"  # lone surrogates, interlinear marks
)
"""What steers a terminal or hides text, and need not be escaped in JSON, as the characters before the space are."""
_STEERING = re.compile(f"[{STEERING}]")


def encode(value: Any) -> bytes:
    """A struct or plain value as JSON, at full speed unless its text needs the escapes that only the slow way knows."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value), separators=(",", ":")).encode()


def harmless(data: bytes) -> bytes:
    """JSON that is read as the very same, for a terminal: what would steer it stands there as an escape.

    Almost none has any of that, and is not rewritten; of plain ASCII it is seen at a glance.
    """
    if data.isascii() and b"\x7f" not in data:
        return data
    return _STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", data.decode("utf-8", "surrogatepass")).encode()


def indented(value: Any) -> str:
    """Plain values as JSON of several lines, for whoever reads it at a terminal."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    return harmless(text.encode("utf-8", "surrogatepass")).decode()


def decode(data: bytes | str, kind: type[Kind]) -> Kind:
    """The way back; msgspec.DecodeError where it is not of the kind."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        try:
            return msgspec.convert(json.loads(data), type=kind)
        except ValueError as error:
            raise msgspec.DecodeError(str(error)) from None
