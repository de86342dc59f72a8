"""The library over the daemon: the same methods, the same results and errors, on the sessions that `dbg` sees too."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from types import TracebackType
from typing import Any, Self

import msgspec

from ..errors import BY_CODE, Denied, Internal, StillframeError, Try
from ..registry import OPERATIONS
from .cli import link, rendezvous
from .cli.catalogue import HASH, VERSION
from .library import caller_here
from .library_methods import Verbs

START_SECONDS = 30.0


class Connection(Verbs):
    """Calls to the user's daemon, which is started where there is none. Each call is a line of its own."""

    def __init__(self, *, cwd: str | None = None, client: str | None = None) -> None:
        self._caller = caller_here(cwd)
        self._client = client or self._caller.client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The sessions live on; nothing of ours is open between calls."""

    async def call(self, op: str, args: dict[str, Any], session: str | None) -> Any:
        request = {
            "v": 1,
            "catalogue": HASH,
            "version": VERSION,
            "op": op,
            "args": {name: given for name, given in args.items() if given not in (None, ())},
            "session": session,
            "json": True,
            "client": self._client,
            "cwd": self._caller.cwd,
            "umask": self._caller.umask,
            "env": dict(self._caller.env),
        }
        said = await self._converse(json.dumps(msgspec.to_builtins(request)).encode() + b"\n")
        reply: dict[str, Any] = json.loads(said)  # the standard one: odd bytes travel as lone surrogates
        if not reply.get("ok"):
            raise _raised(reply.get("error") or {})
        return msgspec.convert(reply.get("result"), type=OPERATIONS[op].result, strict=False)

    async def _converse(self, line: bytes) -> bytes:
        for _ in range(3):
            reader, writer = await self._open()
            try:
                writer.write(line)
                await writer.drain()
                said = await _read_frames(reader)
            finally:
                writer.close()
            if said is not None:
                return said
            await self._start_daemon()
        raise Internal("the daemon went away before it took the call")

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        line = await self._dial()
        if line is None:
            await self._start_daemon()
            line = await self._dial()
        if line is None:
            raise Internal("no daemon came up")
        return line

    async def _dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
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

    async def _start_daemon(self) -> None:
        """Let the command line start it, which knows how to elect one."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "stillframe", "sessions",
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        async with asyncio.timeout(START_SECONDS):
            _, said = await process.communicate()
        if process.returncode:
            raise Internal(f"no daemon came up: {said.decode(errors='replace').strip()}")


async def _read_frames(reader: asyncio.StreamReader) -> bytes | None:
    """The reply's bytes; None where the daemon is of another version or left before it took the call."""
    said, taken = b"", False
    while header := await reader.readline():
        kind, number = header[:1], header[1:].strip()
        if kind == b"x":
            return said
        body = await reader.readexactly(int(number))
        if kind == b"v":
            return None
        if kind == b"o":
            said += body
        taken = taken or kind == b"a"
    if taken:  # it may have been done: to ask again could do it twice
        raise Internal("the daemon went away in the middle of the call")
    return None


def _raised(error: dict[str, Any]) -> StillframeError:
    hint = error.get("hint")
    cls = BY_CODE.get(error.get("code", ""), Internal)
    return cls(
        error.get("message", ""),
        hint=Try(hint["op"], hint.get("args", {})) if hint else None,
        detail=error.get("detail"),
    )


def connect(*, cwd: str | None = None) -> Connection:
    """`async with stillframe.connect() as dbg:` talks to the daemon that `dbg` uses."""
    return Connection(cwd=cwd)
