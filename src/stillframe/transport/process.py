"""A process that we start: its own session and group, its output always drained, its end noticed, its tree endable."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from ..errors import LaunchFailed, Unsupported, WrongState
from ..model import plainfiles
from .drains import Drains, Stream
from .guardian import GUARDIAN
from .handles import open_handle
from .trees import TERM_GRACE, end_tree, group_lives, settle


class Exit(msgspec.Struct, frozen=True):
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
        self._loop = asyncio.get_running_loop()
        self._pidfd: int | None = None
        out, err = popen.stdout, popen.stderr
        assert out is not None and err is not None, "both are pipes of ours"
        if popen.stdin is not None:
            os.set_blocking(popen.stdin.fileno(), False)
        self._drains = Drains({out.fileno(): "stdout", err.fileno(): "stderr"}, on_output)
        self.released = False
        self._feeding: asyncio.Lock = asyncio.Lock()
        self.pid = popen.pid
        self.exited: asyncio.Future[Exit] = self._loop.create_future()
        self._watch_exit()

    # Output

    @property
    def is_paused(self) -> bool:
        return self._drains.is_paused

    def pause_output(self) -> None:
        """Stop reading until `resume_output`: whoever takes the output cannot keep up, and the pipe holds the writer."""
        self._drains.pause()

    def resume_output(self) -> None:
        self._drains.resume()

    def drain(self) -> None:
        """Read what is in the pipes now; never waits for an end that an orphan may hold open."""
        self._drains.drain()

    # Input

    async def feed(self, data: bytes, *, eof: bool) -> None:
        """Write to the process's standard input, as fast as it reads."""
        async with self._feeding:
            view = memoryview(data)
            while view := view[self.push(view) :]:
                await self._writable(self._input)
            if eof and self._popen.stdin is not None:
                self._popen.stdin.close()

    def push(self, data: bytes | memoryview) -> int:
        """Write as much as its standard input takes now: how many bytes that were."""
        fd = self._input
        try:
            return os.write(fd, data) if data else 0
        except BlockingIOError:
            return 0

    @property
    def _input(self) -> int:
        pipe = self._popen.stdin
        if pipe is None or pipe.closed:
            raise BrokenPipeError("its standard input is not ours to feed, or is closed")
        return pipe.fileno()

    async def _writable(self, fd: int) -> None:
        ready = self._loop.create_future()
        self._loop.add_writer(fd, settle, ready)
        try:
            await asyncio.wait({ready, self.exited}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._loop.remove_writer(fd)
        if self.exited.done():
            raise BrokenPipeError("it ended before it read its input")

    # The end

    def _watch_exit(self) -> None:
        try:
            self._pidfd = open_handle(self.pid)
        except OSError:  # macOS has no such handles, old kernels neither
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
        if not group_lives(self.pid):  # else the guardian keeps it until we let go: its children are of our launch, too
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
            async with asyncio.timeout(TERM_GRACE):
                await asyncio.shield(self.exited)

    def release(self) -> None:
        """Let it live on without us: its output is read and thrown away while this host lives."""
        GUARDIAN.forget(self.pid)
        self.released = True
        if self.exited.done():  # it was faster, as a debugger is that has nothing more to debug
            self.close()
        else:
            self._drains.discard()

    def close(self) -> None:
        """Let go of its pipes. Only after its end, or it may die of a closed pipe."""
        if self.exited.done():
            GUARDIAN.forget(self.pid)
        self._drains.stop()
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
        self._rest = b""
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
        if self._writer is not None:
            self._rest += data
            return
        try:
            rest = data[self._process.push(data) :]
        except BrokenPipeError:
            return  # its end comes by way of `exited`
        if rest:
            self._rest += rest
            self._writer = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        """What the pipe did not take at once."""
        try:
            while self._rest:
                data, self._rest = self._rest, b""
                await self._process.feed(data, eof=False)
        except BrokenPipeError:
            return  # as above
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
    gently: bool = False,
    called: str | None = None,
    lent: tuple[int, ...] = (),
) -> Process:
    """Start a process in its own session. `stdin`: None is empty, `-` a pipe for `feed`, else a file's path.

    `called` is the name by which the program is told it was started, where that is not its path; `lent` are descriptors that
    it gets under their numbers.
    """
    with contextlib.ExitStack() as stack:
        source: int = subprocess.DEVNULL
        if stdin == "-":
            source = subprocess.PIPE
        elif stdin is not None:
            try:
                source = stack.enter_context(plainfiles.source_of_input(Path(cwd, stdin))).fileno()
            except OSError as error:
                raise LaunchFailed(f"cannot read {stdin} for standard input: {error.strerror}") from None
        try:
            popen = subprocess.Popen(
                [called or argv[0], *argv[1:]], executable=argv[0], cwd=cwd, env=dict(env), umask=umask,
                start_new_session=True, bufsize=0, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                pass_fds=lent,
            )  # fmt: skip
        except OSError as error:
            raise _not_started(argv[0], cwd, error) from None
    if guarded:
        try:
            GUARDIAN.watch(popen.pid, gently=gently)
        except LaunchFailed:
            _undone(popen)
            raise
    return Process(popen, on_output)


def _undone(popen: subprocess.Popen[bytes]) -> None:
    """End at once what nobody would end when we die."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(popen.pid, signal.SIGKILL)
    with popen:  # closes its pipes and waits for it
        pass


def _not_started(program: str, cwd: str, error: OSError) -> LaunchFailed:
    if not os.path.isdir(cwd):
        return LaunchFailed(f"no such directory to run in: {cwd}")
    if not os.access(cwd, os.X_OK):
        return LaunchFailed(f"not permitted to run in {cwd}")
    return LaunchFailed(f"cannot start {program}: {error.strerror or error}")
