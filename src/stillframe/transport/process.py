"""A process that we start: its own session and group, its output always drained, its end noticed, its tree endable."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import psutil  # type: ignore[import-untyped]

from ..errors import LaunchFailed, Unsupported, WrongState
from .guardian import GUARDIAN

MARK = "STILLFRAME_MARK"
"""The environment variable by which descendants are known, however far they have moved away."""
_CHUNK = 64 * 1024
_TERM_GRACE = 1.0
_KILL_GRACE = 1.5

Stream = Literal["stdout", "stderr"]


@dataclass(frozen=True)
class Exit:
    """How a process ended: a code, or the name of the signal that ended it."""

    code: int | None
    signal: str | None = None

    @classmethod
    def of(cls, returncode: int) -> Exit:
        if returncode >= 0:
            return cls(returncode)
        try:
            return cls(None, signal.Signals(-returncode).name)
        except ValueError:  # a realtime signal has no name of its own
            return cls(None, f"SIG{-returncode}")

    def __str__(self) -> str:
        return f"signal {self.signal}" if self.signal else f"exit code {self.code}"


class Process:
    """A started process. `exited` is done when it ended; its output goes to `on_output` as it comes."""

    def __init__(self, popen: subprocess.Popen[bytes], on_output: Callable[[Stream, bytes], None]) -> None:
        self._popen = popen
        self._on_output = on_output
        self._loop = asyncio.get_running_loop()
        self._pidfd: int | None = None
        self._readers: dict[int, Stream] = {}
        self._paused = False
        self.released = False
        self._feeding: asyncio.Lock = asyncio.Lock()
        self.pid = popen.pid
        self.exited: asyncio.Future[Exit] = self._loop.create_future()
        self._watch_output()
        self._watch_exit()

    # Output

    def _watch_output(self) -> None:
        pipes: tuple[tuple[Stream, object], ...] = (("stdout", self._popen.stdout), ("stderr", self._popen.stderr))
        for stream, pipe in pipes:
            if pipe is not None:
                fd = pipe.fileno()  # type: ignore[attr-defined]
                os.set_blocking(fd, False)
                self._readers[fd] = stream
                self._loop.add_reader(fd, self._readable, fd)

    def _readable(self, fd: int) -> None:
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._on_output(self._readers[fd], data)
        else:
            self._unwatch(fd)

    def _unwatch(self, fd: int) -> None:
        if self._readers.pop(fd, None) is not None:
            self._loop.remove_reader(fd)

    @property
    def is_paused(self) -> bool:
        return self._paused

    def pause_output(self) -> None:
        """Stop reading until `resume_output`: whoever takes the output cannot keep up, and the pipe holds the writer."""
        if not self._paused:
            self._paused = True
            for fd in self._readers:
                self._loop.remove_reader(fd)

    def resume_output(self) -> None:
        if self._paused:
            self._paused = False
            for fd in self._readers:
                self._loop.add_reader(fd, self._readable, fd)

    def drain(self) -> None:
        """Read what is in the pipes now; never waits for an end that an orphan may hold open."""
        for fd in tuple(self._readers):
            left = struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"\0\0\0\0"))[0]
            while left > 0 and fd in self._readers:
                data = os.read(fd, min(left, _CHUNK))
                if not data:
                    break
                self._on_output(self._readers[fd], data)
                left -= len(data)

    # Input

    async def feed(self, data: bytes, *, eof: bool) -> None:
        """Write to the process's standard input, as fast as it reads."""
        pipe = self._popen.stdin
        if pipe is None or pipe.closed:
            raise BrokenPipeError("its standard input is not ours to feed, or is closed")
        async with self._feeding:
            os.set_blocking(pipe.fileno(), False)
            view = memoryview(data)
            while view:
                try:
                    view = view[os.write(pipe.fileno(), view) :]
                except BlockingIOError:
                    await self._writable(pipe.fileno())
            if eof:
                pipe.close()

    async def _writable(self, fd: int) -> None:
        ready = self._loop.create_future()
        self._loop.add_writer(fd, _settle, ready)
        try:
            await asyncio.wait({ready, self.exited}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._loop.remove_writer(fd)
        if self.exited.done():
            raise BrokenPipeError("it ended before it read its input")

    # The end

    def _watch_exit(self) -> None:
        try:
            self._pidfd = os.pidfd_open(self.pid)
        except (AttributeError, OSError):  # macOS has no pidfd, old kernels neither
            threading.Thread(target=self._wait_in_thread, daemon=True).start()
        else:
            self._loop.add_reader(self._pidfd, self._reap)

    def _wait_in_thread(self) -> None:
        self._popen.wait()
        with contextlib.suppress(RuntimeError):  # the loop may be closed by now, and nobody asks any more
            self._loop.call_soon_threadsafe(self._reap)

    def _reap(self) -> None:
        if self._pidfd is not None:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None
        returncode = self._popen.wait()
        if not _group_lives(
            self.pid
        ):  # else the guardian keeps it until we let go: its children are of our launch, too
            GUARDIAN.forget(self.pid)
        self.drain()
        if not self.exited.done():
            self.exited.set_result(Exit.of(returncode))
        if self.released:
            self.close()

    async def terminate(self) -> None:
        """End the process, its group and its descendants: SIGTERM, a grace, SIGKILL. Within three seconds."""
        await end_tree(self.pid, group=True)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_TERM_GRACE):
                await asyncio.shield(self.exited)

    def release(self) -> None:
        """Let it live on without us: its output is read and thrown away while this host lives."""
        GUARDIAN.forget(self.pid)
        self.released = True
        self._on_output = lambda _stream, _data: None
        self.resume_output()

    def close(self) -> None:
        """Let go of its pipes. Only after its end, or it may die of a closed pipe."""
        if self.exited.done():
            GUARDIAN.forget(self.pid)
        for fd in tuple(self._readers):
            self._unwatch(fd)
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        if self._pidfd is not None and self.exited.done():
            os.close(self._pidfd)


class Feedable(Protocol):
    """A program's standard input that is kept open."""

    async def feed(self, data: bytes, *, eof: bool) -> None: ...


async def feed(process: Feedable | None, data: bytes, *, eof: bool, timeout: float) -> None:
    """Write to a program's standard input, where there is one that is kept open for it."""
    if process is None:
        raise Unsupported("the program's standard input is not kept open for input")
    try:
        async with asyncio.timeout(timeout):
            await process.feed(data, eof=eof)
    except BrokenPipeError as error:
        raise WrongState(f"the program takes no more input: {error}") from None
    except TimeoutError:
        raise WrongState("the program does not read its input") from None


class PipeLine:
    """A line made of a process's standard input and output."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._early: list[bytes] = []
        self._on_bytes: Callable[[bytes], None] | None = None
        self._writes: asyncio.Queue[bytes] = asyncio.Queue()
        self._writer: asyncio.Task[None] | None = None

    def listen(self, on_bytes: Callable[[bytes], None], on_end: Callable[[str | None], None]) -> None:
        self._on_bytes = on_bytes
        early, self._early = self._early, []
        for data in early:
            on_bytes(data)
        self._process.exited.add_done_callback(lambda _: on_end(None))

    def received(self, data: bytes) -> None:
        """Take what the process wrote to its standard output."""
        if self._on_bytes:
            self._on_bytes(data)
        else:
            self._early.append(data)

    def write(self, data: bytes) -> None:
        self._writes.put_nowait(data)
        if self._writer is None:
            self._writer = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        try:
            while not self._writes.empty():
                await self._process.feed(self._writes.get_nowait(), eof=False)
        except BrokenPipeError:
            return  # its end comes by way of `exited`
        finally:
            self._writer = None

    def close(self) -> None:
        if self._writer:
            self._writer.cancel()


def spawn(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    on_output: Callable[[Stream, bytes], None],
    umask: int = -1,
    stdin: str | None = None,
    guarded: bool = True,
    called: str | None = None,
) -> Process:
    """Start a process in its own session. `stdin`: None is empty, `-` a pipe for `feed`, else a file's path.

    `called` is the name by which the program is told it was started, where that is not its path.
    """
    with contextlib.ExitStack() as stack:
        source: int = subprocess.DEVNULL
        if stdin == "-":
            source = subprocess.PIPE
        elif stdin is not None:
            try:
                source = stack.enter_context(open(Path(cwd, stdin), "rb")).fileno()
            except OSError as error:
                raise LaunchFailed(f"cannot read {stdin} for standard input: {error.strerror}") from None
        try:
            popen = subprocess.Popen(
                [called or argv[0], *argv[1:]], executable=argv[0], cwd=cwd, env=dict(env), umask=umask,
                start_new_session=True, bufsize=0, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
        except OSError as error:
            raise _not_started(argv[0], cwd, error) from None
    if guarded:
        GUARDIAN.watch(popen.pid)
    return Process(popen, on_output)


def _not_started(program: str, cwd: str, error: OSError) -> LaunchFailed:
    if not Path(cwd).is_dir():
        return LaunchFailed(f"no such directory to run in: {cwd}")
    return LaunchFailed(f"cannot start {program}: {error.strerror or error}")


async def end_tree(pid: int, *, group: bool) -> None:
    """End a process and everything below it: SIGTERM first, SIGKILL for what is left."""
    victims = _tree(pid)
    _signal(victims, signal.SIGTERM, pid if group else None)
    alive = await _gone(victims, _TERM_GRACE)
    # What was started meanwhile is caught by a second look.
    alive = list({*alive, *_tree(pid)})
    _signal(alive, signal.SIGKILL, pid if group else None)
    if alive:
        await _gone(alive, _KILL_GRACE)


async def _gone(processes: Sequence[psutil.Process], timeout: float) -> list[psutil.Process]:
    """Wait until these have ended, reaped or not; give those that have not. Takes no exit code away from a parent."""
    if not hasattr(os, "pidfd_open"):
        ours = [each for each in processes if each.ppid() == os.getpid()]
        rest = [each for each in processes if each not in ours]
        return [*ours, *(await asyncio.to_thread(psutil.wait_procs, rest, timeout=timeout))[1]]
    async with contextlib.AsyncExitStack() as stack:
        waits = {asyncio.ensure_future(wait_pid(each.pid)): each for each in processes}
        stack.callback(lambda: [wait.cancel() for wait in waits])
        if waits:
            await asyncio.wait(waits, timeout=timeout)
        return [each for wait, each in waits.items() if not wait.done()]


async def wait_pid(pid: int) -> None:
    """Return when a process, ours or not, has ended; at once if there is none."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop = asyncio.get_running_loop()
    ended = loop.create_future()
    loop.add_reader(fd, _settle, ended)
    try:
        await ended
    finally:
        loop.remove_reader(fd)
        os.close(fd)


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
    if group is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
    for each in victims:
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            each.send_signal(number)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _group_lives(leader: int) -> bool:
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


async def left_behind(mark: str, pid: int | None, *, over: bool, end: bool) -> tuple[int, ...]:
    """Processes that carry our mark but are no longer below `pid`; `end` ends them first."""
    if not mark:
        return ()
    found = await asyncio.to_thread(marked, mark)
    # Those of its own process group never left the program, whatever became of it.
    victims = found if end else [each for each in found if in_group(each, pid)]
    if victims:
        await asyncio.gather(*(end_tree(each, group=False) for each in victims))
        found = await asyncio.to_thread(marked, mark)
    family = await asyncio.to_thread(tree, pid) if pid and not over else frozenset[int]()
    return tuple(each for each in found if each not in family)


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
