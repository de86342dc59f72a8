"""A line to the user's daemon from a program that runs an event loop: ask, hear that it is still at it, get the answer."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from ..errors import Denied, Internal
from .cli import link, rendezvous
from .cli.catalogue import HASH, VERSION

START_SECONDS = 30.0
TRIES = 3


@dataclass(frozen=True)
class Answer:
    """What the daemon said: the reply, and the same as text where that was asked for."""

    reply: bytes
    text: bytes
    code: int


async def ask(request: Mapping[str, Any], alive: Callable[[], Awaitable[None]] | None = None) -> Answer:
    """One call, on a line of its own; a daemon is started where there is none. Cancelled, the daemon gives up waiting, too."""
    line = json.dumps(msgspec.to_builtins({"v": 1, "catalogue": HASH, "version": VERSION, **request})).encode() + b"\n"
    for _ in range(TRIES):
        reader, writer = await _open()
        try:
            writer.write(line)
            with contextlib.suppress(ConnectionError):  # refused unread: its words are still to come
                await writer.drain()
            answer = await _read_frames(reader, alive)
        finally:
            writer.close()
        if answer is not None:
            return answer
        await _start_daemon()
    raise Internal("the daemon went away before it took the call")


async def _open() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    line = await _dial()
    if line is None:
        await _start_daemon()
        line = await _dial()
    if line is None:
        raise Internal("no daemon came up")
    return line


async def _dial() -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
    """A line to the daemon, with the checks that the command line makes: a request carries our environment."""
    try:
        found = link.connect(rendezvous.runtime_directory())
    except rendezvous.Unsafe as unsafe:
        raise Denied(str(unsafe)) from None
    except link.Gone as gone:
        raise Internal(str(gone)) from None
    if found is None:
        return None
    return await asyncio.open_unix_connection(sock=socket.socket(fileno=found.sock.detach()))


async def _start_daemon() -> None:
    """Let the command line start it, which knows how to elect one."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "stillframe", "sessions",
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        async with asyncio.timeout(START_SECONDS):
            _, said = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise Internal(f"no daemon came up within {START_SECONDS:g} s") from None
    if process.returncode:
        raise Internal(f"no daemon came up: {said.decode(errors='replace').strip()}")


async def _read_frames(reader: asyncio.StreamReader, alive: Callable[[], Awaitable[None]] | None) -> Answer | None:
    """The answer; None where the daemon is of another version or left before it took the call."""
    said = {b"o": b"", b"e": b""}
    taken = False
    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
        while header := await reader.readline():
            kind, number = header[:1], header[1:].strip()
            if kind == b"x":
                return Answer(said[b"o"], said[b"e"], int(number))
            body = await reader.readexactly(int(number))
            if kind == b"v":
                return None
            if kind in said:
                said[kind] += body
            taken = taken or kind == b"a"
            if kind == b"h" and alive is not None:
                await alive()
    if taken:  # it may have been done: to ask again could do it twice
        raise Internal("the daemon went away in the middle of the call")
    return None
