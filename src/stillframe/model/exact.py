"""JSON that carries any text: half surrogate pairs, which undecodable bytes become in Python, survive as escapes."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import msgspec

Kind = TypeVar("Kind")


def encode(value: Any) -> bytes:
    """A struct or plain value as JSON, at full speed unless its text needs the escapes that only the slow way knows."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value), separators=(",", ":")).encode()


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
