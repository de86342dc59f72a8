"""Reading from a connection without asking for more room than what comes through it needs."""

from __future__ import annotations

import asyncio

ROOM = 64 * 1024
"""Bytes that one read takes at the most."""


def read_sparingly(transport: asyncio.BaseTransport) -> None:
    """Have a transport of asyncio's own loop ask for less at each read: it asks for 256 KiB, which the C library gets from the
    kernel and gives back again, however little has come; that takes seven times as long as the read itself."""
    if hasattr(transport, "max_size"):
        transport.max_size = ROOM
