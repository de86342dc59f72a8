"""Processes by their numbers: the tree below one, those that carry our mark; found, waited for and ended, ours or not."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
from collections.abc import Iterable, Sequence
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from .handles import open_handle

MARK = "STILLFRAME_MARK"
"""The environment variable by which descendants are known, however far they have moved away."""
TERM_GRACE = 1.0
_KILL_GRACE = 1.5
_LOOK = 0.02
"""Seconds between two looks at a process, where nothing tells of its end."""


async def end_tree(pid: int, *, group: bool) -> None:
    """End a process and everything below it: SIGTERM first, SIGKILL for what is left."""
    victims = _tree(pid)
    _signal(victims, signal.SIGTERM, pid if group else None)
    alive = await _gone(victims, TERM_GRACE)
    # What was started meanwhile is caught by a second look.
    alive = list({*alive, *_tree(pid)})
    _signal(alive, signal.SIGKILL, pid if group else None)
    if alive:
        await _gone(alive, _KILL_GRACE)


async def _gone(processes: Sequence[psutil.Process], timeout: float) -> list[psutil.Process]:
    """Wait until these have ended, reaped or not; give those that have not. Takes no exit code away from a parent."""
    async with contextlib.AsyncExitStack() as stack:
        waits = {asyncio.ensure_future(wait_pid(each.pid)): each for each in processes}
        stack.callback(lambda: [wait.cancel() for wait in waits])
        if waits:
            await asyncio.wait(waits, timeout=timeout)
        return [each for wait, each in waits.items() if not wait.done()]


async def wait_pid(pid: int) -> None:
    """Return when a process, ours or not, has ended; at once if there is none."""
    try:
        fd = open_handle(pid)
    except ProcessLookupError:
        return
    except OSError:  # macOS has no such handles, old kernels neither
        await _look_for_end(pid)
        return
    loop = asyncio.get_running_loop()
    ended = loop.create_future()
    loop.add_reader(fd, settle, ended)
    try:
        await ended
    finally:
        loop.remove_reader(fd)
        os.close(fd)


async def _look_for_end(pid: int) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110 (nothing tells of it)
            await asyncio.sleep(_LOOK)


def _tree(pid: int) -> list[psutil.Process]:
    try:
        top = psutil.Process(pid)
        if top.status() == psutil.STATUS_ZOMBIE:
            return []
        return [top, *top.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def tree(pid: int) -> frozenset[int]:
    """A process and everything below it, by number."""
    return frozenset(each.pid for each in _tree(pid))


def is_alive(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def ancestors(pid: int) -> list[int]:
    """The processes above this one, the nearest first; none where it has ended."""
    try:
        return [each.pid for each in psutil.Process(pid).parents()]
    except psutil.NoSuchProcess:
        return []


def _signal(victims: Iterable[psutil.Process], number: signal.Signals, group: int | None) -> None:
    """Each gets it once: a second one finds a program that heeds the first in the middle of its end, where nothing heeds it."""
    if group is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
    for each in victims:
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied, ProcessLookupError):
            if group is None or os.getpgid(each.pid) != group:
                each.send_signal(number)


def signal_main_thread(pid: int, number: signal.Signals) -> None:
    """What is sent to a process goes to any thread of it that is free to take it; this goes to its first."""
    tgkill = getattr(ctypes.CDLL(None, use_errno=True), "tgkill", None)  # glibc 2.30
    if tgkill is None:
        os.kill(pid, number)
    elif tgkill(pid, pid, number):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def settle(future: asyncio.Future[None]) -> None:
    """Wake whoever waits; may be called again."""
    if not future.done():
        future.set_result(None)


def group_lives(leader: int) -> bool:
    """Whether anybody is left of the group that this leader founded."""
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody is there
        return True
    return True


def in_group(pid: int, leader: int | None) -> bool:
    """Whether a process is of the group that this leader founded, dead or alive."""
    try:
        return leader is not None and os.getpgid(pid) == leader
    except ProcessLookupError:
        return False


def grouped(leaders: frozenset[int]) -> set[int]:
    """The processes of these process groups."""
    found: set[int] = set()
    for pid in psutil.pids():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getpgid(pid) in leaders:
                found.add(pid)
    return found


def marked(mark: str) -> list[int]:
    """Processes that carry our mark in their environment, wherever they have moved to."""
    wanted = f"{MARK}={mark}".encode()
    found: list[int] = []
    empty: list[int] = []
    for pid in psutil.pids():
        _look_for(wanted, pid, found, empty)
    for pid in empty:  # one that is in the middle of exec has no environment for a moment
        _look_for(wanted, pid, found, [])
    return found


async def left_behind(
    mark: str, pid: int | None, *, over: bool, end: bool, debugger: str | None = None
) -> tuple[int, ...]:
    """Processes that carry our mark but are no longer below `pid`; `end` ends them first. Those that run the debugger's own
    executable are its own: dlv 1.27.2 starts one that watches over it."""
    if not mark:
        return ()
    found = await asyncio.to_thread(marked, mark)
    # Those of its own process group never left the program, whatever became of it.
    victims = found if end else [each for each in found if in_group(each, pid) or _runs(each, debugger)]
    if victims:
        await asyncio.gather(*(end_tree(each, group=False) for each in victims))
        found = await asyncio.to_thread(marked, mark)
    family = await asyncio.to_thread(tree, pid) if pid and not over else frozenset[int]()
    return tuple(each for each in found if each not in family and is_alive(each))


def _runs(pid: int, program: str | None) -> bool:
    if program is None:
        return False
    try:
        return Path(f"/proc/{pid}/exe").samefile(program)
    except OSError:  # it ended, or there is no such program
        return False


def same_output(pid: int, other: int) -> bool:
    """Whether two processes print, on both streams, to the same places; True where that cannot be told."""
    try:
        found = [[Path(f"/proc/{each}/fd/{stream}").stat() for stream in (1, 2)] for each in (pid, other)]
    except OSError:
        return True
    one, two = ([(each.st_dev, each.st_ino) for each in streams] for streams in found)
    return one == two


def _look_for(wanted: bytes, pid: int, found: list[int], empty: list[int]) -> None:
    try:
        environ = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # it ended, or is somebody else's
        return
    if wanted in environ.split(b"\0"):
        found.append(pid)
    elif not environ:
        empty.append(pid)
