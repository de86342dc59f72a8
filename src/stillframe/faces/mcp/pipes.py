"""An agent's own pipes, handed over by the pump that it started: messages then come and go without a process in between.

To wake the pump twice a call takes longer than all that is done with the call here.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator
from typing import IO, NamedTuple

from ..daemon.server import READ_SECONDS, Refusal
from ..reads import read_sparingly

INVITATION = b"=\n"
"""The host takes the pipes; the pump sends them with its next byte."""
FAREWELL = b"\n"
"""All that was asked is answered, and the pump may end."""


class Ends(NamedTuple):
    """Both directions to an agent, and the handle on which the kernel tells that nobody listens any more."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    handle: int


@contextlib.asynccontextmanager
async def handed_over(pump: asyncio.StreamWriter) -> AsyncIterator[Ends]:
    """The agent's pipes, for as long as the block lasts; then they are as they were."""
    handles = await _handles(pump)
    was = [os.get_blocking(each) for each in handles]
    try:
        async with _streams(*handles) as (reader, writer):
            yield Ends(reader, writer, handles[1])
    finally:
        for handle, blocking in zip(handles, was, strict=True):
            os.set_blocking(handle, blocking)  # others may hold the same pipe: a shell, and what it runs next
            os.close(handle)


@contextlib.asynccontextmanager
async def _streams(coming: int, going: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Streams on handles of their own, since asyncio closes those when it sees fit."""
    reader, loop = asyncio.StreamReader(), asyncio.get_running_loop()
    with _opened(coming, "rb") as source, _opened(going, "wb") as sink:
        inward, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
        read_sparingly(inward)
        outward, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), sink
        )
        try:
            yield reader, asyncio.StreamWriter(outward, protocol, None, loop)
        finally:
            inward.close()
            if not outward.is_closing():
                outward.abort()


def _opened(handle: int, mode: str) -> IO[bytes]:
    return open(os.dup(handle), mode, buffering=0)


async def _handles(pump: asyncio.StreamWriter) -> tuple[int, int]:
    """Standard input and output of the pump, by a message that only a read of our own can take them from."""
    pump.transport.pause_reading()  # type: ignore[attr-defined]  # a socket's is one that also reads
    with pump.get_extra_info("socket").dup() as line:
        pump.write(INVITATION)
        await _until_readable(line)
        _, handles, _, _ = socket.recv_fds(line, 1, 2)
    pump.transport.resume_reading()  # type: ignore[attr-defined]
    for each in handles:
        os.set_inheritable(each, False)
    if len(handles) != 2:
        for each in handles:
            os.close(each)
        raise Refusal("usage", "the pipes were not handed over")
    return handles[0], handles[1]


async def _until_readable(line: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(line, ready.set)
    try:
        async with asyncio.timeout(READ_SECONDS):
            await ready.wait()
    except TimeoutError:
        raise Refusal("usage", f"no pipes within {READ_SECONDS:g} s") from None
    finally:
        loop.remove_reader(line)
