"""The daemon's socket: one request a connection, bounded in size, time and number, answered in frames.

A client that asks often may keep its connection for the next request, by `"keep": true`; while it is silent it does not count.
By `"quiet": true` it then wants to hear of a call only when that is done, or was not taken.
A connection that ends, or says `{"cancel": true}`, ends the waiting of its call and nothing else; what an owned
operation started is ended by the operation itself when its task is cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
import struct
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, NamedTuple, Protocol

import msgspec

from ...model import exact
from ...model.plans import Caller
from ...registry import Access, Call
from ..cli.catalogue import HASH, VERSION
from .attendance import SIGN_OF_LIFE_SECONDS, Left, attended

log = logging.getLogger("stillframe.daemon")

REQUEST_BYTES = 4 * 1024 * 1024
"""The whole environment travels with a starting call; nothing else comes near this."""
READ_SECONDS = 10.0
WRITE_SECONDS = 60.0
KEEP_SECONDS = 60.0
"""How long a connection is kept for the next request."""
CONNECTIONS = 256

_CODES = {"usage": 2, "busy": 3, "denied": 7, "internal": 70}


class Dispatches(Protocol):
    """What the server needs of dispatch."""

    async def run(self, call: Call) -> Any: ...


class Beside(NamedTuple):
    """A face wants the text beside the JSON, in the place of what goes to stderr."""

    room: int
    """Characters of text, with those around it; 0: as many as the settings say."""
    around: int
    """Characters that the face puts around the text."""

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> Beside | None:
        room, around = request.get("text"), request.get("around", 0)
        return cls(room, around) if isinstance(room, int) and isinstance(around, int) else None


class Renders(Protocol):
    """What the server needs of render: a reply's stdout, its stderr and its exit code."""

    def __call__(
        self, reply: Any, *, as_json: bool, budget: int | None, beside: Beside | None = None
    ) -> tuple[str, str, int]: ...


class Refusal(Exception):
    """A request that is answered without being called."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


class Server:
    """Answers requests until somebody ends it."""

    def __init__(
        self, dispatcher: Dispatches, render: Renders, *, live: Callable[[], int], status: Callable[[], dict[str, Any]]
    ) -> None:
        self._dispatcher = dispatcher
        self._render = render
        self._live = live
        self._status = status
        self.open = 0
        """Connections that are open now."""
        self.activity = asyncio.Event()
        """Set whenever a connection opened or closed."""
        self.ending = asyncio.Event()
        """Set by a `daemon stop`, a newer client, or a signal."""
        self.withdraw: Callable[[], None] = lambda: None
        self.calls: set[asyncio.Task[Any]] = set()
        self._idle: set[Frames] = set()
        self.stopped = asyncio.Event()
        """Set when every session is ended, which a `daemon stop` waits for."""

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection; nothing that goes wrong on it may reach another."""
        self.open += 1
        self.activity.set()
        frames = Frames(writer)
        try:
            check_peer(writer.get_extra_info("socket"))
            if self.open > CONNECTIONS:
                raise Refusal("busy", f"the daemon already has {CONNECTIONS} calls open")
            request = await read_request(reader)
            await self._answer(request, reader, frames)
            while request.get("keep") and not self.ending.is_set():
                request = await self._next_request(reader, frames)
                await self._answer(request, reader, frames)
        except Refusal as refusal:
            with contextlib.suppress(ConnectionError, TimeoutError):
                await frames.refuse(refusal)
        except ConnectionError:
            log.info("a client went away")
        except TimeoutError:
            log.warning("a client does not read its reply")
            writer.transport.abort()
        except Exception:
            log.exception("a connection failed")
            with contextlib.suppress(ConnectionError, TimeoutError):
                await frames.refuse(Refusal("internal", "the daemon failed; `dbg daemon status` names its log"))
        finally:
            self.open -= 1
            self.activity.set()
            writer.close()

    async def _next_request(self, reader: asyncio.StreamReader, frames: Frames) -> dict[str, Any]:
        """What a client that kept its connection asks next; it does not keep the daemon alive meanwhile."""
        self.open -= 1
        self._idle.add(frames)
        self._stir()
        try:
            return await read_request(reader, KEEP_SECONDS)
        except Refusal as refusal:
            await frames.not_taken()  # a request may be on its way at this very moment
            raise ConnectionResetError(refusal.message) from None
        finally:
            self._idle.discard(frames)
            self.open += 1
            self._stir()

    def dismiss(self) -> None:
        """Tell those who kept their connections that it is over: a request on its way at this moment was not taken."""
        for frames in self._idle:
            frames.end()

    def _stir(self) -> None:
        """There may be a reason to leave now: not while a session lives, whose end is told by itself."""
        if self.ending.is_set() or not self._live():
            self.activity.set()

    async def _answer(self, request: dict[str, Any], reader: asyncio.StreamReader, frames: Frames) -> None:
        frames.op, frames.as_json = str(request.get("op")), bool(request.get("json"))
        if request.get("op") == "daemon":
            await self._daemon(request, frames)
            return
        if (request.get("catalogue"), request.get("version")) != (HASH, VERSION):
            await self._other_version(request, frames)
            return
        if self.ending.is_set():
            await frames.not_taken()  # so the client may ask the next daemon
            return
        if not request.get("quiet"):
            await frames.taken()
        if request.get("op") == "complete":
            await self._complete(request, frames)
            return
        with _words_of(request):
            await self._reply(request, reader, frames)

    async def _reply(self, request: dict[str, Any], reader: asyncio.StreamReader, frames: Frames) -> None:
        reply = await self._call(call_from(request), reader, frames)
        if reply is not None and request.get("asks") and (needs := _asked_about(reply)):
            await frames.question(needs)
        elif reply is not None:
            told = self._render(reply, as_json=frames.as_json, budget=request.get("budget"), beside=Beside.of(request))
            await frames.finish(*told)

    async def _call(self, call: Call, reader: asyncio.StreamReader, frames: Frames) -> Any:
        """Run a call for as long as its client is there; None where the client left."""
        task = asyncio.current_task()
        assert task is not None
        self.calls.add(task)
        try:
            return await attended(self._dispatcher.run(call), reader, frames.alive)
        except Left:
            log.info("the client of %s left", call.op)
            return None
        except asyncio.CancelledError:
            if not self.ending.is_set():
                raise
            task.uncancel()
            raise Refusal("internal", "the daemon is ending") from None
        finally:
            self.calls.discard(task)

    async def _daemon(self, request: dict[str, Any], frames: Frames) -> None:
        """`dbg daemon status | stop`, which any version may ask."""
        await frames.taken()
        status = {"running": True, **self._status()}
        if request.get("args", {}).get("action") == "stop":
            self.ending.set()
            frames.keep_open()
            while not self.stopped.is_set():
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(SIGN_OF_LIFE_SECONDS):
                        await self.stopped.wait()
                await frames.alive()
            status = {"running": False, "pid": status["pid"], "ended": status["sessions"]}
            text = f"ended: pid {status['pid']}, {_sessions(status['ended'])}"
        else:
            text = (
                f"pid {status['pid']}, version {status['version']}, up {status['seconds']} s, {_sessions(status['sessions'])}, "
                f"{status['rss_mb']} MB, {_open_ports(status['ports'])}\nsocket {status['socket']}\nlog {status['log']}"
            )
        await frames.result(status, text)

    async def _other_version(self, request: dict[str, Any], frames: Frames) -> None:
        """A client of another version: make room where nobody is in the way, else say what to do."""
        theirs = str(request.get("version"))
        if self._live() == 0 and not self.calls:
            log.info("making room for a client of version %s", theirs)
            self.withdraw()
            self.ending.set()
            await frames.other_version(VERSION)
            return
        same = " with other verbs" if theirs == VERSION else ""
        again = "start it again if it is older than what is installed, or " if request.get("stays") else ""
        raise Refusal(
            "busy",
            f"the daemon is stillframe {VERSION} and holds {_sessions(self._live())}, this client is {theirs}{same}; "
            f"{again}end them with: dbg daemon stop",
        )

    async def _complete(self, request: dict[str, Any], frames: Frames) -> None:
        """Ids for a shell's completion: names only, and nothing rather than an error."""
        kind = str(request.get("args", {}).get("kind"))
        names = [name async for name in self._names(kind, request)]
        await frames.finish("".join(name + "\n" for name in names), "", 0)

    async def _names(self, kind: str, request: dict[str, Any]) -> AsyncIterator[str]:
        op, part, key = {
            "sessions": ("sessions", "sessions", "name"),
            "breakpoints": ("breaks", "breakpoints", "id"),
            "threads": ("threads", "threads", "id"),
            "runs": ("history", "runs", "run"),
        }.get(kind, ("", "", ""))
        if not op:
            return
        reply = await self._dispatcher.run(call_from({**request, "op": op, "args": {}, "allow": "inspect"}))
        out, _, _ = self._render(reply, as_json=True, budget=None)
        for each in (json.loads(out).get("result") or {}).get(part, ()):
            if isinstance(each, dict) and isinstance(each.get(key), str):
                yield each[key]


def _words_of(request: dict[str, Any]) -> contextlib.AbstractContextManager[None]:
    """For a client that has tools instead of a shell: what to do next is told in their names."""
    if "words" not in request:
        return contextlib.nullcontext()
    from ..mcp.wording import told_in

    return told_in(request["words"])


def _asked_about(reply: Any) -> str:
    """The class of a call that was not made since nobody here could be asked; nothing for any other reply."""
    failure = getattr(reply, "failure", None)
    return str(failure.detail["needs"]) if failure is not None and failure.detail.get("asked") else ""


def _sessions(count: int) -> str:
    return f"{count} session" + ("s" if count != 1 else "")


def _open_ports(ports: list[int]) -> str:
    return f"listening on {', '.join(map(str, ports))}" if ports else "no open ports"


def _compact(envelope: dict[str, Any]) -> str:
    return exact.harmless(json.dumps(envelope, separators=(",", ":")).encode()).decode()


class Frames:
    """The reply's side of a connection."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self.op = ""
        self.as_json = False

    async def taken(self) -> None:
        self._writer.write(b"a0\n")

    async def not_taken(self) -> None:
        self._writer.write(b"n0\n")
        await self._drain()

    def end(self) -> None:
        self._writer.write(b"n0\n")
        self._writer.close()

    async def alive(self) -> None:
        self._writer.write(b"h0\n")
        await self._drain()

    async def other_version(self, version: str) -> None:
        self._writer.write(_frame(b"v", version))
        await self._drain()

    async def question(self, needs: str) -> None:
        """The call was not made: whoever types there is to be asked, and it may be sent again as agreed to."""
        self._writer.write(_frame(b"q", needs) + b"x%d\n" % _CODES["denied"])
        await self._drain()

    async def finish(self, out: str, err: str, code: int) -> None:
        told = (_frame(kind, text) for kind, text in ((b"o", out), (b"e", err)) if text)
        self._writer.write(b"".join(told) + b"x%d\n" % code)  # at once: each write wakes the other side
        await self._drain()

    async def result(self, result: dict[str, Any], text: str) -> None:
        envelope = {"ok": True, "op": self.op, "result": result}
        await self.finish((_compact(envelope) if self.as_json else text) + "\n", "", 0)

    async def refuse(self, refusal: Refusal) -> None:
        error = {"code": refusal.code, "message": refusal.message}
        envelope = _compact({"ok": False, "op": self.op, "error": error}) + "\n"
        text = f"error {refusal.code}: {refusal.message}\n"
        out, err = (envelope, "") if self.as_json else ("", text)
        await self.finish(out, err, _CODES[refusal.code])

    def keep_open(self) -> None:
        """Let only the end of this process end the connection, so that whoever waits for that sees the truth."""
        os.dup(self._writer.get_extra_info("socket").fileno())

    async def _drain(self) -> None:
        if not self._writer.transport.get_write_buffer_size() and not self._writer.is_closing():
            return  # the kernel has it all
        async with asyncio.timeout(WRITE_SECONDS):
            await self._writer.drain()


def _frame(kind: bytes, text: str) -> bytes:
    data = text.encode("utf-8", "backslashreplace")
    return kind + b"%d\n" % len(data) + data


def check_peer(sock: socket.socket) -> None:
    """Only the same user may talk to us, whatever the directory's mode says."""
    if hasattr(socket, "SO_PEERCRED"):
        _, uid, _ = struct.unpack("iII", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    elif sys.platform == "darwin":  # unverified: struct xucred by LOCAL_PEERCRED of SOL_LOCAL
        _, uid = struct.unpack_from("II", sock.getsockopt(0, 1, 76))
    else:
        raise Refusal("denied", f"this platform ({sys.platform}) does not tell who calls")
    if uid != os.geteuid():
        log.warning("refused uid %d", uid)
        raise Refusal("denied", "this daemon belongs to another user")


async def read_request(reader: asyncio.StreamReader, seconds: float = READ_SECONDS) -> dict[str, Any]:
    """The one line of a request, whole, within its bounds; the time is absolute, however slowly it drips in."""
    try:
        async with asyncio.timeout(seconds):
            line = await reader.readline()
    except TimeoutError:
        raise Refusal("usage", f"no whole request within {seconds:g} s") from None
    except ValueError:
        raise Refusal("usage", f"a request of more than {REQUEST_BYTES} bytes") from None
    if not line.endswith(b"\n"):
        raise ConnectionResetError
    request = _parsed(line)
    if not isinstance(request, dict) or request.get("v") != 1:
        raise Refusal("usage", "the request is no object of version 1")
    return request


def _parsed(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (ValueError, RecursionError):
        pass  # bytes that are no text travel as lone surrogates, which this one does not take
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise Refusal("usage", "the request is no JSON") from None


def call_from(request: dict[str, Any]) -> Call:
    """A request as a call; the caller's own directory, environment and umask go with it."""
    args, env = request.get("args") or {}, request.get("env") or {}
    cwd, session, budget = request.get("cwd") or "/", request.get("session"), request.get("budget")
    allow, umask, begun = request.get("allow") or "exec", request.get("umask", 0o022), request.get("begun") or ""
    shapes = (
        isinstance(args, dict) and isinstance(cwd, str) and isinstance(begun, str) and isinstance(session, str | None)
        and isinstance(budget, int | None) and isinstance(umask, int) and str(allow).upper() in Access.__members__
        and isinstance(env, dict) and all(isinstance(value, str) for value in env.values())
    )  # fmt: skip
    if not shapes:
        raise Refusal("usage", "the request's parts have the wrong types")
    return Call(
        op=str(request.get("op")),
        args=args,
        session=session,
        caller=Caller(cwd, env, umask, client=str(request.get("client") or ""), begun=begun),
        allow=Access[str(allow).upper()],
        budget=budget,
        sticky=bool(request.get("sticky")),
        agreed=request.get("agreed") is True,
        reveal=request.get("reveal") is True,
    )
