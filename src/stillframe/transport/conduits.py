"""Pipes with names, for a program that its debugger starts and not we: its streams come to us past the debugger."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import threading
from collections.abc import Callable
from pathlib import Path

from ..errors import LaunchFailed
from ..model import plainfiles
from .drains import Drains, Stream
from .folders import private_folder, remove_folder
from .trees import wait_pid

_JOURNAL_REST = 0.05
_JOURNAL_ROOM = 512 * 1024
"""A debugger notes some kilobytes for each time that it holds the program, and may do so a thousand times a second."""


class Conduits:
    """Standard input, output and error of one program as paths, and one for what its debugger notes down. Both ends are held
    by us as well, so that opening a path never blocks, and the end of a pipe says nothing: the program's end is told by its
    debugger."""

    def __init__(
        self,
        stdin: str | None,
        cwd: str,
        on_output: Callable[[Stream, bytes], None],
        on_journal: Callable[[bytes], None],
    ) -> None:
        self._folder = Path(private_folder())
        self._feeding = asyncio.Lock()
        self._fds: list[int] = []
        self._input: int | None = None
        self._released: asyncio.Future[None] | None = None
        self._reader_awaited: threading.Thread | None = None
        try:
            self.stdin = self._source(stdin, cwd)
            self.stdout, out = self._pipe("stdout")
            self.stderr, err = self._pipe("stderr")
            self.journal, notes = self._pipe("journal")
            _widen(notes)
        except BaseException:
            self.close()
            raise
        self.drains = Drains({out: "stdout", err: "stderr"}, on_output)
        self.journal_drains = Drains({notes: "stderr"}, lambda _, data: on_journal(data), rest=_JOURNAL_REST)

    def _source(self, stdin: str | None, cwd: str) -> str:
        if stdin is None:
            return os.devnull
        if stdin == "-":
            path, self._input = self._pipe("stdin")
            return path
        path = str(Path(cwd, stdin))
        try:
            plainfiles.source_of_input(path).close()
        except OSError as error:
            raise LaunchFailed(f"cannot read {stdin} for standard input: {error.strerror}") from None
        return path

    def _pipe(self, name: str) -> tuple[str, int]:
        path = self._folder / name
        os.mkfifo(path, 0o600)
        fd = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._fds.append(fd)
        return str(path), fd

    async def feed(self, data: bytes, *, eof: bool) -> None:
        """Write to the program's standard input, as fast as it reads."""
        async with self._feeding:
            if self._input is None:
                raise BrokenPipeError("its standard input is not ours to feed, or is closed")
            view = memoryview(data)
            while view:
                try:
                    view = view[os.write(self._input, view) :]
                except BlockingIOError:
                    await _writable(self._input)
            if eof:
                self._end_input(self._input)
                self._input = None

    def _end_input(self, fd: int) -> None:
        """Close our end as soon as the program has opened its own: before that, what was written would be lost with it."""
        ours = os.open(self.stdin, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self._fds.append(ours)
        self._let_go(fd)
        loop = asyncio.get_running_loop()
        self._reader_awaited = threading.Thread(
            target=_when_opened, args=(self.stdin, lambda: loop.call_soon_threadsafe(self._let_go, ours)), daemon=True
        )
        self._reader_awaited.start()

    def _let_go(self, fd: int) -> None:
        if fd in self._fds:
            self._fds.remove(fd)
            os.close(fd)

    def release(self, pid: int) -> None:
        """The program lives on without us: what it prints is read and thrown away while it and this host live."""
        self.drains.discard()
        self._released = asyncio.ensure_future(self._until_gone(pid))

    async def _until_gone(self, pid: int) -> None:
        await wait_pid(pid)
        self._released = None
        self.close()

    def close(self) -> None:
        """Let go of everything, unless the program was let go itself; may be called twice."""
        if self._released is not None:
            return
        if hasattr(self, "drains"):
            self.drains.stop()
            self.journal_drains.stop()
        if self._reader_awaited is not None and self._reader_awaited.is_alive():
            os.close(os.open(self.stdin, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))  # nobody will open it any more
            self._reader_awaited.join(1.0)
        for fd in self._fds:
            os.close(fd)
        self._fds, self._input = [], None
        remove_folder(str(self._folder))


def _widen(fd: int) -> None:
    """More room in a pipe, where the system has that: Linux, and as long as this user has not taken too much of it."""
    if resize := getattr(fcntl, "F_SETPIPE_SZ", None):
        with contextlib.suppress(PermissionError):
            fcntl.fcntl(fd, resize, _JOURNAL_ROOM)


def _when_opened(path: str, then: Callable[[], object]) -> None:
    """Wait, on a thread of its own, until somebody reads this pipe."""
    with contextlib.suppress(FileNotFoundError, RuntimeError):  # it is gone, or the loop is: nobody waits any more
        os.close(os.open(path, os.O_WRONLY | os.O_CLOEXEC))
        then()


async def _writable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_writer(fd, _set, ready)
    try:
        await ready
    finally:
        loop.remove_writer(fd)


def _set(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
