"""The daemon's whole life once it listens: serve, notice idleness and signals, end every session, leave."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import logging.handlers
import os
import signal
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

import psutil

from ..cli import rendezvous
from ..cli.catalogue import VERSION
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


Opened = Callable[[], AbstractAsyncContextManager[tuple[Dispatches, Houses, Renders]]]


def serve(claim: Claim, *, on_ready: Callable[[], None], opened: Opened) -> None:
    """Serve until there is a reason to leave; returns when every session is ended."""
    log_path = keep_log(claim.directory)
    log.info("pid %d, version %s, in %s", os.getpid(), VERSION, claim.directory)
    asyncio.run(_live(claim, on_ready, opened, log_path))
    log.info("left")


async def _live(claim: Claim, on_ready: Callable[[], None], opened: Opened, log_path: Path) -> None:
    began = time.monotonic()
    async with opened() as (dispatcher, sessions, render):

        def status() -> dict[str, Any]:
            return {
                "pid": os.getpid(),
                "version": VERSION,
                "sessions": sessions.live,
                "rss_mb": round(psutil.Process().memory_info().rss / 1e6),
                "seconds": round(time.monotonic() - began),
                "socket": str(claim.socket_path),
                "log": str(log_path),
            }  # fmt: skip

        server = Server(dispatcher, render, live=lambda: sessions.live, status=status)
        server.withdraw = claim.withdraw
        sessions.on_change = server.activity.set
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, server.ending.set)
        look = asyncio.Event()
        loop.add_signal_handler(LOOK_AGAIN, look.set)
        listening = await asyncio.start_unix_server(
            server.connected, sock=claim.listener, limit=REQUEST_BYTES, backlog=BACKLOG
        )
        on_ready()
        watching = asyncio.create_task(_watch_socket(claim, server, listening, look), name="watch the socket")
        await _reason_to_leave(server, lambda: sessions.live)
        watching.cancel()
        claim.withdraw()
        for call in list(server.calls):
            call.cancel()
        log.info("leaving with %d sessions to end", sessions.live)
    server.stopped.set()
    await _let_go(server)


async def _reason_to_leave(server: Server, live: Callable[[], int]) -> None:
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


async def _watch_socket(claim: Claim, server: Server, listening: asyncio.Server, look: asyncio.Event) -> None:
    """Listen again where something has removed our socket: a daemon that nobody can reach holds sessions for nothing."""
    while not server.ending.is_set():
        look.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                await look.wait()
        if not claim.is_reachable():
            log.warning("the socket was removed; listening again")
            listening.close()
            listening = await asyncio.start_unix_server(
                server.connected, sock=claim.listen_again(), limit=REQUEST_BYTES, backlog=BACKLOG
            )


async def _let_go(server: Server) -> None:
    """Let the last replies out, within a bound."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(END_SECONDS):
            while server.open:
                server.activity.clear()
                await server.activity.wait()


def idle_seconds() -> float:
    try:
        return max(0.1, float(rendezvous.variable("STILLFRAME_IDLE_SECONDS") or IDLE_SECONDS))
    except ValueError:
        return IDLE_SECONDS


def keep_log(runtime: Path) -> Path:
    """A log for the user's eyes only, rotated once; beside the socket where there is no home to keep it in."""
    for directory in (Path(rendezvous.state_directory()), runtime):
        path = directory / "daemon.log"
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
