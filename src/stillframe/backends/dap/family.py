"""The processes behind one launch: the one we start or join, and those of its children that dial in after it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from ...errors import AdapterDied, AdapterUnresponsive, LaunchFailed, StillframeError
from ...model.backend import CatchRule, ChildOpened, Output
from ...transport.process import MARK, Exit, PipeLine, Process, Stream, spawn
from ...transport.streams import Line, Listener, SocketLine, dial
from .backend import DapBackend
from .launch import PORT, Address, DapLaunch, DialsBack, PrintedAddress, Stdio

T = TypeVar("T")

_TAIL = 4000
_PRINTED = 64 * 1024


class Family:
    """Owns the listener, the spawned process and the tasks; every backend of the family leaves it when it closes."""

    def __init__(self, launch: DapLaunch) -> None:
        self.launch = launch
        self.process: Process | None = None
        self._listener: Listener | None = None
        self._members: list[DapBackend] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._first: asyncio.Future[SocketLine] = asyncio.get_running_loop().create_future()
        self._pipe: PipeLine | None = None
        self._printed = ""
        self._address: asyncio.Future[tuple[str, int]] = asyncio.get_running_loop().create_future()
        self._tail = b""
        self._closed = False

    async def open(self) -> DapBackend:
        """Start or reach the root process; it is held at its very beginning."""
        try:
            line = await self._reach()
            root = DapBackend(self.launch, line, self, self.process if self.launch.owns_target else None)
            self._members.append(root)
            await root.greet()
        except AdapterDied as died:
            how = await self.exit_soon()
            await self.close()
            reason = root.refusal or self._why_it_never_came_up(how, died.message)
            raise LaunchFailed(reason, detail=died.detail) from None
        except BaseException:
            await self.close()
            raise
        return root

    # Reaching the root

    async def _reach(self) -> Line:
        launch = self.launch
        match launch.reach:
            case Address(host, port):
                return await dial(host, port, launch.start_timeout)
            case Stdio():
                self._spawn(launch.argv, stdin="-")
                assert self.process is not None
                self._pipe = PipeLine(self.process)
                return self._pipe
            case PrintedAddress():
                self._spawn(launch.argv, stdin=launch.stdin)
                host, port = await self._until(self._address, "print where it listens")
                return await dial(host, port, launch.start_timeout)
            case DialsBack():
                self._listener = Listener(self._dialled)
                await self._listener.open()
                self._spawn(launch.argv, stdin=launch.stdin, port=str(self._listener.port))
                line = await self._until(self._first, "dial in")
                if not launch.owns_target:
                    await self._helped()
                return line

    def _spawn(self, argv: Sequence[str], stdin: str | None, port: str = "") -> None:
        launch = self.launch
        env = {name: value.replace(PORT, port) for name, value in launch.env.items()}
        if launch.mark:
            env[MARK] = launch.mark
        words = [word.replace(PORT, port) for word in argv]
        self.process = spawn(
            words, cwd=launch.cwd, env=env, umask=launch.umask, stdin=stdin, on_output=self._output,
            guarded=launch.launched,
        )  # fmt: skip

    async def _until(self, wanted: asyncio.Future[T], what: str) -> T:
        """Wait for a sign of life, with an eye on the process: a dead one will never give it."""
        assert self.process is not None
        exited: asyncio.Future[Exit] = self.process.exited
        try:
            async with asyncio.timeout(self.launch.start_timeout):
                signs: list[asyncio.Future[Any]] = [wanted, exited]
                await asyncio.wait(signs, return_when=asyncio.FIRST_COMPLETED)
                if not wanted.done() and (self.launch.owns_target or exited.result().code != 0):
                    how = exited.result()
                    failure = self.launch.failures.get(how.code or 0, LaunchFailed)
                    raise failure(self._why_it_never_came_up(how, f"it did not {what}"))
                return await asyncio.shield(wanted)
        except TimeoutError:
            name = self.launch.argv[0]
            raise AdapterUnresponsive(f"{name} did not {what} within {self.launch.start_timeout:g} s") from None

    async def _helped(self) -> None:
        """Wait until the process that made another one dial in has let go of it: killed halfway, it may take it along."""
        assert self.process is not None
        await asyncio.wait({self.process.exited}, timeout=self.launch.start_timeout)

    def _why_it_never_came_up(self, how: Exit | None, otherwise: str) -> str:
        said = self.stderr_tail()
        if how is None:
            return otherwise + (f": {said}" if said else "")
        if not self.launch.launched and said:
            return said.splitlines()[-1]
        return f"it ended with {how} before it could be debugged" + (f": {said}" if said else "")

    def stderr_tail(self) -> str:
        """The last of what the process wrote to its standard error."""
        return self._tail.decode("utf-8", "backslashreplace").strip()

    async def exit_soon(self) -> Exit | None:
        """How the spawned process ended, if it is just about to have."""
        if self.process is None or (isinstance(self.launch.reach, DialsBack) and not self.launch.owns_target):
            return None  # it only helped another process to dial in
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.1):
                await asyncio.shield(self.process.exited)
        return self.process.exited.result() if self.process.exited.done() else None

    # Output of the spawned process

    def _output(self, stream: Stream, data: bytes) -> None:
        if stream == "stderr":
            self._tail = (self._tail + data)[-_TAIL:]
        if self._pipe is not None and stream == "stdout":
            self._pipe.received(data)
            return
        if isinstance(self.launch.reach, PrintedAddress) and not self._address.done():
            self._look_for_address(data)
        speaker = next((each for each in self._members if not each.is_over), None)
        if speaker is not None:
            speaker.tell(Output(stream if self.launch.owns_target else "console", data))

    def _look_for_address(self, data: bytes) -> None:
        assert isinstance(self.launch.reach, PrintedAddress)
        self._printed = (self._printed + data.decode("utf-8", "replace"))[-_PRINTED:]
        match = self.launch.reach.pattern.search(self._printed)
        if match:
            host, _, port = match[1].rpartition(":")
            self._address.set_result((host or "127.0.0.1", int(port)))

    def hold_output(self) -> None:
        if self.process is not None and self._pipe is None:
            self.process.pause_output()

    def let_output_go(self) -> None:
        if self.process is not None:
            self.process.resume_output()

    def read_output(self) -> None:
        """Take what is in the pipes now, unless it is being held back."""
        if self.process is not None and not self.process.is_paused and self._pipe is None:
            self.process.drain()

    # Children

    def _dialled(self, line: SocketLine) -> None:
        if not self._first.done():
            self._first.set_result(line)
        else:
            self.run(self._adopt(line))

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a task that ends with the family at the latest."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _adopt(self, line: SocketLine) -> None:
        """A further process dialled in: find out who it is and announce it where its parent is known."""
        child = DapBackend(self.launch, line, self, None, child=True)
        try:
            greeting = await child.greet()
        except StillframeError:  # a stranger, or one that died on the way: nobody knows of it, so nobody is told
            child.drop()
            return
        if self._closed:
            child.drop()
            return
        self._members.append(child)
        command = " ".join(greeting.argv)
        if self.launch.plumbing and self.launch.plumbing.search(command):
            await self._run_along(child)
            return
        parent = next((each for each in self._members if each.pid == greeting.ppid and not each.is_over), None)
        parent = parent or next((each for each in self._members if not each.is_over and each is not child), None)
        if parent is None:
            await child.close()
            return
        parent.tell(ChildOpened(child, child.pid, child.name))

    async def _run_along(self, child: DapBackend) -> None:
        """A process of the runtime itself: it needs somebody at the other end, and nobody wants to see it."""
        with contextlib.suppress(StillframeError):
            await child.start((), CatchRule(frozenset()))
            async for _event in child.events():
                continue
        await child.close()

    # The end

    async def end_process(self) -> None:
        """End what was spawned: the program, or the adapter that holds it."""
        if self.process is not None and not self.process.exited.done():
            await self.process.terminate()

    async def leave(self, member: DapBackend) -> None:
        """A backend has closed; with the last one everything of the family is let go."""
        if member in self._members:
            self._members.remove(member)
        others = [each for each in self._members if not each.is_over]
        if not others:
            await self.close()

    async def close(self) -> None:
        """Let go of listener, tasks and the spawned process, which has ended or ends now."""
        if self._closed:
            return
        self._closed = True
        if self._listener:
            self._listener.close()
        for task in tuple(self._tasks):
            if task is not asyncio.current_task():
                task.cancel()
        for member in tuple(self._members):
            member.drop()
        if self._first.done() and not self._first.cancelled() and self._first.exception() is None:
            self._first.result().close()
        if self.process is not None and not self.process.released:
            await self.end_process()
            self.process.close()
