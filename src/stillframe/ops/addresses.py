"""Where a debugger listens, as users write it."""

from __future__ import annotations

from urllib.parse import urlsplit

from ..errors import UsageError
from ..model.counts import counted

_PORTS = {"ws": 80, "wss": 443}
"""The ports of addresses that name none."""


def parse_address(text: str) -> tuple[str, int, str | None]:
    """Host, port, and the whole of it where it is a URL."""
    scheme, mark, _ = text.partition("://")
    if not mark:
        return *_host_and_port(text), None
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"{text!r} is no address: {error}") from None
    if not host or scheme.lower() not in _PORTS:
        raise UsageError(f"{text!r} is no HOST:PORT and no ws://HOST:PORT/PATH")
    return host, port or _PORTS[scheme.lower()], text


def _host_and_port(text: str) -> tuple[str, int]:
    if text.isdigit():
        raise UsageError(
            f"a number alone may be either: `attach --pid {text}` joins a process, `attach :{text}` a port"
        )
    host, colon, digits = text.rpartition(":")
    port = counted(digits)
    if not colon or port is None or not 0 < port < 65536:
        pid = f"; a process is joined by its number with --pid {text}" if text.isdecimal() else ""
        raise UsageError(f"{text!r:.300} is no HOST:PORT{pid}")
    return host.strip("[]") or "127.0.0.1", port
