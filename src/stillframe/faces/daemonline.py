"""A line to the user's daemon from a program that runs an event loop: ask, hear that it is still at it, get the answer."""

from __future__ import annotations

import asyncio
import contextlib
import json
import select
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from ..errors import Busy, Denied, Internal, Try
from .cli import link, rendezvous
from .cli.catalogue import HASH, VERSION
from .reads import read_sparingly

START_SECONDS = 30.0
TRIES = 3
CHUNK = 256 * 1024


class Answer(msgspec.Struct, frozen=True):
    """What the daemon said: the reply, and the same as text where that was asked for."""

    reply: bytes
    text: bytes
    code: int


Alive = Callable[[], Awaitable[None]]
"""Called now and then while a call is under way."""
Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class OtherVersion(Exception):
    """The daemon that was asked is of another version, which this holds; it had nothing to do, and leaves."""


async def ask(request: Mapping[str, Any], alive: Alive | None = None) -> Answer:
    """One call, on a line of its own; a daemon is started where there is none. Cancelled, the daemon gives up waiting, too."""
    return await _ask(_encoded(request), alive)


class KeptLines:
    """Calls of somebody who makes many: lines that have been answered are used again, which saves both sides a connection."""

    def __init__(self) -> None:
        self._idle: list[Line] = []
        self._closed = False

    async def close(self) -> None:
        """No line is kept any more; calls that are under way come to their ends."""
        self._closed = True
        while self._idle:
            _, writer = self._idle.pop()
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    def _keep(self, line: Line) -> None:
        if self._closed:
            line[1].close()
        else:
            self._idle.append(line)

    async def ask(self, request: Mapping[str, Any], alive: Alive | None = None) -> Answer:
        data = _encoded(request, b'"keep":true,')
        while self._idle:
            line = self._idle.pop()
            answer = await self._on(line, data, alive) if _is_silent(line) else None
            if answer is not None:
                return answer
            line[1].close()  # the daemon has closed it, or is another one by now
        return await _ask(data, alive, self._keep)

    async def _on(self, line: Line, data: bytes, alive: Alive | None) -> Answer | None:
        """On a line that was answered before it need not be said that the call was taken, which would wake us for nothing:
        a daemon that does not take it says that instead."""
        try:
            answer = await _one_try(line, b'{"quiet":true,' + data[1:], alive, taken=True)
        except OtherVersion:
            return None
        except BaseException:
            line[1].close()
            raise
        if answer is not None:
            self._keep(line)
        return answer


def _is_silent(line: Line) -> bool:
    """Whether the daemon neither said nor closed anything since it answered."""
    look = select.poll()
    look.register(line[1].get_extra_info("socket").fileno(), select.POLLIN)
    return not line[0].at_eof() and not look.poll(0)


def _encoded(request: Mapping[str, Any], more: bytes = b"") -> bytes:
    """A request as the line that it is sent as, with who asks and some more members before its own."""
    try:
        data = msgspec.json.encode(request)
    except UnicodeEncodeError:  # bytes of the environment that are no text
        data = json.dumps(msgspec.to_builtins(request)).encode()
    return _ASKER + more + data[1:] + b"\n"


_ASKER = msgspec.json.encode({"v": 1, "catalogue": HASH, "version": VERSION, "stays": True})[:-1] + b","


_LOOK = Try("doctor")


async def _ask(data: bytes, alive: Alive | None, keep: Callable[[Line], None] | None = None) -> Answer:
    others = 0
    for _ in range(TRIES):
        line = await _open()
        answer = None
        try:
            answer = await _one_try(line, data, alive)
        except OtherVersion as theirs:
            others += 1
            if others > 1:  # the one that was started for us is no more like us than the first
                raise Busy(
                    f"stillframe {theirs} was installed since this process of {VERSION} began: "
                    "start it again (an MCP server: connect to it again)"
                ) from None
        finally:
            if answer is None or keep is None:
                line[1].close()
            else:
                keep(line)
        if answer is not None:
            return answer
        await _start_daemon()
    raise Internal("the daemon went away before it took the call", hint=Try("sessions"))


async def _one_try(line: Line, data: bytes, alive: Alive | None, *, taken: bool = False) -> Answer | None:
    reader, writer = line
    writer.write(data)
    if writer.transport.get_write_buffer_size():
        with contextlib.suppress(ConnectionError):  # refused unread: its words are still to come
            await writer.drain()
    return await _read_frames(reader, alive, taken)


async def _open() -> Line:
    line = await _dial()
    if line is None:
        await _start_daemon()
        line = await _dial()
    if line is None:
        raise Internal("no daemon came up", hint=_LOOK)
    return line


async def _dial() -> Line | None:
    """A line to the daemon, with the checks that the command line makes: a request carries our environment."""
    try:
        found = link.connect(rendezvous.runtime_directory())
    except rendezvous.Unsafe as unsafe:
        raise Denied(str(unsafe)) from None
    except link.Gone as gone:
        raise Internal(str(gone)) from None
    if found is None:
        return None
    line = await asyncio.open_unix_connection(sock=socket.socket(fileno=found.sock.detach()))
    read_sparingly(line[1].transport)
    return line


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
        raise Internal(f"no daemon came up within {START_SECONDS:g} s", hint=_LOOK) from None
    if process.returncode:
        raise Internal(f"no daemon came up: {said.decode(errors='replace').strip()}", hint=_LOOK)


async def _read_frames(reader: asyncio.StreamReader, alive: Alive | None, taken: bool) -> Answer | None:
    """The answer; None where the daemon left before it took the call. `taken`: it has, unless it says otherwise."""
    said = {b"o": b"", b"e": b""}
    held = bytearray()
    with contextlib.suppress(ConnectionError):
        while chunk := await reader.read(CHUNK):
            held += chunk
            while frame := _first_frame(held):
                kind, body = frame
                if kind == b"x":
                    return Answer(said[b"o"], said[b"e"], _number(body))
                if kind == b"v":
                    raise OtherVersion(body.decode(errors="replace"))
                if kind == b"n":
                    return None
                if kind in said:
                    said[kind] += body
                taken = taken or kind == b"a"
                if kind == b"h" and alive is not None:
                    await alive()
    if taken:  # it may have been done: to ask again could do it twice
        raise Internal("the daemon went away in the middle of the call", hint=Try("sessions"))
    return None


def _first_frame(held: bytearray) -> tuple[bytes, bytes] | None:
    """The first frame of what has come, taken out of it, as soon as it is whole; an exit code stands in place of a length."""
    head, found, rest = held.partition(b"\n")
    if not found:
        return None
    kind = bytes(head[:1])
    if kind == b"x":
        body, length = bytes(head[1:]), 0
    else:
        length = _number(head[1:])
        if len(rest) < length:
            return None
        body = bytes(rest[:length])
    held[:] = rest[length:]
    return kind, body


def _number(digits: bytes | bytearray) -> int:
    if not digits.isdigit() or len(digits) > link.LONGEST_NUMBER:
        raise Internal(link.STRANGER)
    return int(digits)
