"""Node programs that run already: whether a process is one, where its inspector listens, and how it is made to open one."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import re
import signal
import time
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil  # type: ignore[import-untyped]

from ...backends.cdp.client import CdpClient
from ...errors import AdapterUnresponsive, Busy, Denied, LaunchFailed, NotFound, Unsupported
from ...transport.trees import MARK, wait_pid
from ...transport.websocket import open_websocket
from ..listening import program_of

_OPENS = 5.0
"""Seconds that a signalled process has to open its inspector."""
_SOON = 1.0
"""Seconds after which one may have been open before."""
_STARTS = 10.0
"""Seconds of a process's life in which it may not have come to handle signals yet, on a busy machine."""
_LOOK = 0.02
"""Seconds between looks for its port; no event tells us of another process's sockets."""
_PORT = 9229
"""Where Node opens its inspector when it is signalled, unless its command line names another port."""
_HERE = "127.0.0.1"


def is_node(pid: int) -> bool:
    """Whether a process runs Node."""
    return program_of(pid) in ("node", "nodejs")


def is_nodes_port(port: int) -> bool:
    """Whether a Node of this machine listens there."""
    try:
        owners = [each.pid for each in psutil.net_connections("tcp") if each.laddr and each.laddr.port == port]
    except psutil.Error:
        return False
    return any(is_node(pid) for pid in owners if pid)


def listed(host: str, port: int) -> str | None:
    """The address of the first inspector that a port tells of; None where it tells of none."""
    found = _asked(host, port, "list")
    try:
        return str(found[0]["webSocketDebuggerUrl"])
    except (LookupError, TypeError):
        return None


def version(host: str, port: int) -> str:
    """The version of Node behind an inspector's port; empty where it does not say."""
    found = _asked(host, port, "version")
    said = re.match(r"node\.js/v([\d.]+)", str(found.get("Browser"))) if isinstance(found, dict) else None
    return said[1] if said else ""


def _asked(host: str, port: int, what: str) -> Any:
    try:
        with urllib.request.urlopen(f"http://{host}:{port}/json/{what}", timeout=2.0) as answer:
            return json.loads(answer.read(1 << 20))
    except (OSError, ValueError, http.client.HTTPException):
        return None


def address(host: str, port: int) -> str:
    """The address of the inspector at a port, which must tell of one."""
    found = listed(host, port)
    if found is None:
        raise LaunchFailed(f"no inspector answers at {host}:{port}; a path may be needed, as in ws://{host}:{port}/…")
    return found


async def ensure_alone(url: str) -> None:
    """Refuse a program in which another one of us is at work: our code in there serves one, and would go with the first."""
    where = urlsplit(url)
    if where.port is None or not await asyncio.to_thread(_is_visited, where.port):
        return
    client = CdpClient(
        await open_websocket(url, _OPENS), on_event=lambda *_: None, on_end=lambda _: None, timeout=_OPENS
    )
    try:
        asked = {"expression": "Symbol.for('stillframe') in globalThis", "silent": True}
        found = (await client.request("Runtime.evaluate", asked)).get("result") or {}
    finally:
        client.close()
    if found.get("value") is True:
        raise Busy("another Stillframe session debugs that program already: use that one, or stop it first")


def _is_visited(port: int) -> bool:
    """Whether somebody of this machine is connected to a port of it."""
    try:
        found = psutil.net_connections("tcp")
    except (psutil.AccessDenied, OSError):
        return False
    return any(each.status == psutil.CONN_ESTABLISHED and each.laddr.port == port for each in found)


async def inspector_of(pid: int) -> tuple[str, bool]:
    """The inspector of a process; where it has none open, SIGUSR1 makes it open one. True where it did."""
    try:
        process = psutil.Process(pid)
        before = _ports(process)
    except psutil.NoSuchProcess:
        raise NotFound(f"no process {pid}") from None
    except psutil.AccessDenied:
        raise Denied(f"not permitted to look at process {pid}") from None
    if (url := await _listed(before if _speaks_of_inspectors(process) else before & {_PORT})) is not None:
        return url, False
    await _come_up(process)
    try:
        _check_signal(process)
    except (Busy, Unsupported):
        if (url := await _listed(before)) is not None:
            return url, False
        raise
    try:
        os.kill(pid, signal.SIGUSR1)
    except PermissionError:
        raise Denied(f"not permitted to signal process {pid}") from None
    except ProcessLookupError:
        raise NotFound(f"no process {pid}") from None
    return await _opened(process, before)


async def _listed(ports: set[int]) -> str | None:
    """The first of these ports that an inspector answers at. What else listens there takes it for a request of its own."""
    for port in sorted(ports, key=lambda each: each != _PORT):
        if (url := await asyncio.to_thread(listed, _HERE, port)) is not None:
            return url
    return None


def _speaks_of_inspectors(process: psutil.Process) -> bool:
    """Whether a process was started with an inspector, as far as its words tell, so that one of its ports may be that."""
    try:
        words = " ".join([*process.cmdline(), process.environ().get("NODE_OPTIONS", "")])
        return re.search(r"--inspect(?!-port|-publish)", words) is not None
    except (psutil.Error, OSError):
        return True


async def _come_up(process: psutil.Process) -> None:
    """Wait while a process has only begun: Node takes the signal from some moment of its start on, and dies of it before."""
    with contextlib.suppress(psutil.NoSuchProcess, TimeoutError):
        async with asyncio.timeout(process.create_time() + _STARTS - time.time()), _watched(process.pid) as ended:
            while not ended.done() and not _handles(process.pid, signal.SIGUSR1):
                await asyncio.wait({ended}, timeout=_LOOK)


async def _opened(process: psutil.Process, before: set[int]) -> tuple[str, bool]:
    """The inspector that comes up, and True; or, where none does for a while, one that was there all the time: what the program
    itself listens at is asked last."""
    why = "it handles that signal itself, or does not come to handle any"
    if _is_marked(process):
        why = "a Stillframe session started it, and may still debug it (dbg sessions); or " + why
    late = f"process {process.pid} opened no inspector within {_OPENS:g} s of SIGUSR1: {why}"
    async with _deadline(_OPENS, late), _watched(process.pid) as ended:
        since, asked = time.monotonic(), False
        while not ended.done():
            with contextlib.suppress(psutil.NoSuchProcess):
                if (url := await _listed(_ports(process) - before)) is not None:
                    return url, True
            if not asked and time.monotonic() - since > _SOON:
                asked = True
                if (url := await _listed(before)) is not None:
                    return url, False
            await asyncio.wait({ended}, timeout=_LOOK)
    raise NotFound(f"process {process.pid} ended when it was to open its inspector")


def _is_marked(process: psutil.Process) -> bool:
    """Whether one of us started a process, or one that it comes from."""
    try:
        return MARK in process.environ()
    except (psutil.Error, OSError):
        return False


def _check_signal(process: psutil.Process) -> None:
    """Refuse to send what would end the process, or what cannot lead to an inspector."""
    if not _handles(process.pid, signal.SIGUSR1):
        raise Unsupported(
            f"process {process.pid} does not open an inspector on SIGUSR1: it takes the signal for itself, or ignores it"
        )
    words = process.cmdline()
    if any(word.startswith(("--inspect-port", "--debug-port")) for word in words):
        return
    taken = next((each for each in _listeners(_PORT) if each != process.pid), None)
    if taken is not None:
        raise Busy(
            f"process {process.pid} would open its inspector on port {_PORT}, where process {taken} listens: "
            "detach from that one first, or start this one with --inspect-port=0"
        )


def _listeners(port: int) -> list[int]:
    try:
        found = psutil.net_connections("tcp")
    except (psutil.AccessDenied, OSError):  # macOS lets nobody but root look; then the deadline tells
        return []
    return [each.pid for each in found if each.status == psutil.CONN_LISTEN and each.laddr.port == port and each.pid]


def _ports(process: psutil.Process) -> set[int]:
    return {each.laddr.port for each in process.net_connections("tcp") if each.status == psutil.CONN_LISTEN}


def _handles(pid: int, number: signal.Signals) -> bool:
    """Whether a process has a handler for a signal; without one it would die of it."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return True
    masks = {line.split(":")[0]: int(line.split()[1], 16) for line in lines if line.startswith(("SigCgt", "SigIgn"))}
    return bool(masks.get("SigCgt", 0) >> (number - 1) & 1)


@contextlib.asynccontextmanager
async def _watched(pid: int) -> AsyncIterator[asyncio.Task[None]]:
    """The end of a process, while one looks at it."""
    ended = asyncio.create_task(wait_pid(pid))
    try:
        yield ended
    finally:
        ended.cancel()
        await asyncio.wait({ended})


@contextlib.asynccontextmanager
async def _deadline(seconds: float, message: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise AdapterUnresponsive(message) from None
