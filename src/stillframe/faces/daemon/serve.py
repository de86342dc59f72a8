"""The daemon's whole life once it listens: serve, notice idleness and signals, end every session, leave."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import logging.handlers
import os
import signal
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import Any, Protocol

import psutil  # type: ignore[import-untyped]

from ..cli import rendezvous
from ..cli.catalogue import VERSION
from ..reads import read_sparingly
from .lifecycle import BACKLOG, LOOK_AGAIN, Claim
from .server import REQUEST_BYTES, Dispatches, Renders, Server

log = logging.getLogger("stillframe.daemon")

IDLE_SECONDS = 300.0
LOOK_SECONDS = 30.0
"""How often the daemon looks by itself whether its socket is still there."""
END_SECONDS = 10.0
"""How long the sessions may take to end before the daemon leaves without them; the guardian ends what is left."""
LOG_BYTES = 512 * 1024


class Houses(Protocol):
    """What the daemon needs of the sessions: how many live, and a word whenever that changes."""

    on_change: Callable[[], None]

    @property
    def live(self) -> int: ...


class Serves(Protocol):
    """What listening and leaving need of a server: its connections, and when it has to end."""

    open: int
    activity: asyncio.Event
    ending: asyncio.Event

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None: ...


Opened = Callable[[], AbstractAsyncContextManager[tuple[Dispatches, Houses, Renders]]]


def serve(claim: Claim, *, on_ready: Callable[[], None], opened: Opened) -> None:
    """Serve until there is a reason to leave; returns when every session is ended."""
    log_path = keep_log(claim.directory)
    log.info("pid %d, version %s, in %s", os.getpid(), VERSION, claim.directory)
    try:
        asyncio.run(_live(claim, on_ready, opened, log_path))
    except BaseException:
        log.exception("the daemon failed")
        raise
    log.info("left")


async def _live(claim: Claim, on_ready: Callable[[], None], opened: Opened, log_path: Path) -> None:
    held = AsyncExitStack()
    dispatcher, sessions, render = await held.enter_async_context(opened())
    server = Server(dispatcher, render, live=lambda: sessions.live, status=_status(claim, sessions, log_path))
    sessions.on_change = server.activity.set
    listening = Listening(claim, server)
    server.withdraw = listening.withdraw
    await listening.begin()
    spare_the_loaded()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, server.ending.set)
    loop.add_signal_handler(LOOK_AGAIN, listening.look.set)
    on_ready()
    watching = asyncio.create_task(listening.watch(), name="watch the socket")
    await reason_to_leave(server, lambda: sessions.live)
    watching.cancel()
    listening.withdraw()
    server.dismiss()
    for call in list(server.calls):
        call.cancel()
    log.info("leaving with %d sessions to end", sessions.live)
    try:
        async with asyncio.timeout(END_SECONDS):
            await held.aclose()
    except TimeoutError:
        log.error("sessions did not end within %g s; the guardian ends what was launched", END_SECONDS)
    server.stopped.set()
    await _let_go(server)


def _status(claim: Claim, sessions: Houses, log_path: Path) -> Callable[[], dict[str, Any]]:
    """How the daemon stands, told whenever it is asked."""
    began = time.monotonic()

    def status() -> dict[str, Any]:
        return {
            "pid": os.getpid(),
            "version": VERSION,
            "sessions": sessions.live,
            "rss_mb": round(psutil.Process().memory_info().rss / 1e6),
            "seconds": round(time.monotonic() - began),
            "ports": _ports(),
            "socket": str(claim.socket_path),
            "log": str(log_path),
        }

    return status


def _ports() -> list[int]:
    """The ports on which we wait for programs and debuggers that dial in."""
    found = psutil.Process().net_connections(kind="tcp")
    return sorted({each.laddr.port for each in found if each.status == psutil.CONN_LISTEN})


class Listening:
    """The socket that clients find, made again where something has removed it: a daemon that nobody can reach would
    hold its sessions for nothing."""

    def __init__(self, claim: Claim, server: Serves) -> None:
        self._claim = claim
        self._server = server
        self._asyncio: asyncio.Server | None = None
        self.look = asyncio.Event()
        """Set by a signal of a client that could not find us."""

    async def begin(self) -> None:
        self._asyncio = await asyncio.start_unix_server(
            self._connected, sock=self._claim.listener, limit=REQUEST_BYTES, backlog=BACKLOG
        )

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        read_sparingly(writer.transport)
        await self._server.connected(reader, writer)

    def withdraw(self) -> None:
        self._claim.withdraw()
        if self._asyncio is not None:
            self._asyncio.close()

    async def watch(self) -> None:
        while not self._server.ending.is_set():
            self.look.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self.look.wait()
            if not self._claim.is_reachable() and not self._server.ending.is_set():
                log.warning("the socket was removed; listening again")
                self.withdraw()
                self._claim.listen_again()
                await self.begin()


async def reason_to_leave(server: Serves, live: Callable[[], int]) -> None:
    """Returns when told to end, or when nothing lived and nobody called for the idle time."""
    seconds = idle_seconds()
    while not server.ending.is_set():
        server.activity.clear()
        idle = server.open == 0 and live() == 0
        waits = [asyncio.create_task(server.activity.wait()), asyncio.create_task(server.ending.wait())]
        try:
            timeout = seconds if idle else None
            done, _ = await asyncio.wait(waits, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()
        if not done and idle:
            log.info("idle for %g s", seconds)
            server.ending.set()


async def _let_go(server: Server) -> None:
    """Let the last replies out, within a bound."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(END_SECONDS):
            while server.open:
                server.activity.clear()
                await server.activity.wait()


def spare_the_loaded() -> None:
    """What is loaded stays: Python's collector need not look through it again, which takes as long as a step in between."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


def idle_seconds() -> float:
    try:
        return max(0.1, float(rendezvous.variable("STILLFRAME_IDLE_SECONDS") or IDLE_SECONDS))
    except ValueError:
        return IDLE_SECONDS


def keep_log(runtime: Path, name: str = "daemon.log") -> Path:
    """A log for the user's eyes only, rotated once; beside the socket where there is no home to keep it in."""
    for directory in (Path(rendezvous.state_directory()), runtime):
        path = directory / name
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            handler = logging.handlers.RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8")
            path.chmod(0o600)
            break
        except OSError:
            continue
    else:
        return Path(os.devnull)
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    return path
