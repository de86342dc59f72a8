"""The Node processes behind one launch: each tells of itself on a pipe in a private directory, and waits for us to connect."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Coroutine, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from ...errors import AdapterUnresponsive, LaunchFailed, StillframeError
from ...model.backend import ChildOpened, Output
from ...transport.drains import Stream
from ...transport.folders import private_folder, remove_folder
from ...transport.process import Process, spawn
from ...transport.trees import MARK, ancestors, is_alive
from ...transport.websocket import Messages, open_websocket
from ..wrapped import Wrapped
from .backend import CdpBackend
from .launch import FIFO, CdpLaunch
from .talk import OwnWords

_TAIL = 4000
_ENDING = 2.0
_PARTING = 5.0
"""Seconds for those that come up while everybody leaves."""
_HELLO = "hello"


class Hello(msgspec.Struct):
    """What a process says of itself."""

    pid: int
    url: str
    ppid: int = 0
    argv: tuple[str, ...] = ()
    program: str = ""
    version: str = ""

    @property
    def name(self) -> str:
        words = [self.program or word for word in self.argv if not word.startswith("-")]
        return os.path.basename(words[0]) if words else "node"


class Family:
    """Owns the pipe, the spawned process and the tasks; every backend of the family leaves it when it closes."""

    def __init__(self, launch: CdpLaunch) -> None:
        self.launch = launch
        self.process: Process | None = None
        self._members: list[CdpBackend] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._root: asyncio.Future[CdpBackend] = asyncio.get_running_loop().create_future()
        self._directory: str | None = None
        self._fd: int | None = None
        self._heard = b""
        self._tail = b""
        self._early: list[Output] = []
        self._own_words = OwnWords(launch.talk)
        self._wrapper: Wrapped | None = None
        self._closed = False
        self._parting = False

    async def open(self) -> CdpBackend:
        """Start or reach the root process; it is held before its first line."""
        try:
            return await (self._joined(self.launch.url) if self.launch.url else self._spawned())
        except BaseException:
            await self.close()
            raise

    async def follow(self, wrapper: Wrapped) -> Mapping[str, str]:
        """Wait for those that come up behind a program without a debugger; the variables that lead them here."""
        self._wrapper = wrapper
        return self._variables(self._listen())

    async def settle(self) -> None:
        """Wait for the ends of those behind the wrapper whose processes are gone."""
        ending = [each for each in self._members if not each.is_over and each.pid and not is_alive(each.pid)]
        await asyncio.gather(*(each.over(_ENDING) for each in ending))

    # Reaching the root

    async def _joined(self, url: str) -> CdpBackend:
        messages = await open_websocket(url, self.launch.start_timeout)
        member = CdpBackend(self.launch, messages, self, None, pid=self.launch.target_pid)
        self._members.append(member)
        return member

    async def _spawned(self) -> CdpBackend:
        launch = self.launch
        env = self._variables(self._listen())
        if launch.mark:
            env[MARK] = launch.mark
        self.process = spawn(
            launch.argv, cwd=launch.cwd, env=env, umask=launch.umask, stdin=launch.stdin, on_output=self._output,
            called=launch.called,
        )  # fmt: skip
        signs: list[asyncio.Future[Any]] = [self._root, self.process.exited]
        await asyncio.wait(signs, timeout=launch.start_timeout, return_when=asyncio.FIRST_COMPLETED)
        if self._root.done():
            return self._root.result()
        if self.process.exited.done():
            said = self._tail.decode("utf-8", "backslashreplace").strip()
            how = self.process.exited.result()
            detail = {"exit_code": how.code, "signal": how.signal, "stderr": said}
            text = f"it ended with {how} before it could be debugged"
            raise LaunchFailed(text + (f": {said}" if said else ""), detail=detail)
        raise AdapterUnresponsive(f"{launch.argv[0]} opened no inspector within {launch.start_timeout:g} s")

    def _variables(self, fifo: str) -> dict[str, str]:
        return {name: value.replace(FIFO, fifo) for name, value in self.launch.env.items()}

    def _listen(self) -> str:
        """Open the pipe; it stays open for both directions, so that no writer's end is an end for us."""
        self._directory = private_folder("stillframe-node-")
        fifo = os.path.join(self._directory, _HELLO)
        os.mkfifo(fifo, 0o600)
        self._fd = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
        asyncio.get_running_loop().add_reader(self._fd, self._readable)
        self.launch = replace(self.launch, meeting=fifo)
        return fifo

    def _readable(self) -> None:
        assert self._fd is not None
        with contextlib.suppress(BlockingIOError):
            self._take(os.read(self._fd, 65536))

    def _take(self, data: bytes) -> None:
        self._heard += data
        *lines, self._heard = self._heard.split(b"\n")
        for line in lines:
            with contextlib.suppress(msgspec.DecodeError, msgspec.ValidationError):  # not of our hook's making
                hello = msgspec.json.decode(line, type=Hello)
                self.run(self._meet(hello))

    # Members

    async def _meet(self, hello: Hello) -> None:
        """A process waits for us: the first is the root, unless there is a wrapper; the others are children."""
        child = self._root.done() or self._wrapper is not None
        try:
            messages = await open_websocket(hello.url, self.launch.start_timeout)
        except StillframeError as error:
            if not child and not self._root.done():
                self._root.set_exception(error)
            return
        process = self.process if not child else self._process_of(hello.pid)
        tool = msgspec.structs.replace(self.launch.tool, version=hello.version or self.launch.tool.version)
        enters = self.launch.stop_on_entry and not self._members  # a wrapper is held in its first program
        launch = replace(self.launch, tool=tool, stop_on_entry=enters)
        member = CdpBackend(launch, messages, self, process, pid=hello.pid, name=hello.name, child=child)
        if self._closed or self._parting:
            await member.close()  # it goes on without us
            return
        living = [each for each in self._members if not each.is_over]
        self._members.append(member)
        if not child:
            for output in self._early:
                member.tell(output)
            self._early.clear()
            self._root.set_result(member)
            return
        await self._announce(member, hello, living)

    def _process_of(self, pid: int) -> Process | None:
        return self._wrapper.process_of(pid) if self._wrapper is not None else None

    async def _announce(self, member: CdpBackend, hello: Hello, living: list[CdpBackend]) -> None:
        above = [hello.ppid, *ancestors(hello.pid)]
        parent = next((each for pid in above for each in living if each.pid == pid and not each.is_worker), None)
        told = ChildOpened(member, hello.pid, hello.name)
        if parent is not None:
            parent.tell(told)
        elif self._wrapper is None or not self._wrapper.adopt(told):
            if not living:
                self._members.remove(member)
                await member.close()
                return
            living[0].tell(told)

    def worker(self, parent: CdpBackend, messages: Messages, title: str, *, held: bool) -> CdpBackend:
        """A thread of a member; `held` before anything runs in it, or it runs already."""
        launch = replace(self.launch, tool=parent.tool, stop_on_entry=False)
        member = CdpBackend(
            launch, messages, self, None, pid=parent.pid, name=title, child=True, worker=True, held=held
        )
        self._members.append(member)
        return member

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a task that ends with the family at the latest."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # Output

    def without_talk(self, stream: Stream, data: bytes) -> bytes:
        return self._own_words.without(data) if stream == "stderr" else data

    def _output(self, stream: Stream, data: bytes) -> None:
        data = self.without_talk(stream, data)
        if stream == "stderr":
            self._tail = (self._tail + data)[-_TAIL:]
        if not data:
            return
        speaker = next((each for each in self._members if not each.is_over and not each.is_worker), None)
        if speaker is not None:
            speaker.tell(Output(stream, data))
        elif not self._members:
            self._early.append(Output(stream, data))

    def hold_output(self) -> None:
        if self.process is not None:
            self.process.pause_output()

    def let_output_go(self) -> None:
        if self.process is not None:
            self.process.resume_output()

    def read_output(self) -> None:
        """Take what is in the pipes now, unless it is being held back."""
        if self._wrapper is not None:
            self._wrapper.read_output()
        if self.process is not None and not self.process.is_paused:
            self.process.drain()

    # The end

    def part(self) -> None:
        """From now on nobody is kept: whoever comes up goes on without us."""
        self._parting = True

    @property
    def is_parting(self) -> bool:
        return self._parting

    async def _hear_the_last(self) -> None:
        """Take down the meeting place. Whoever has come there already will wait for us, so it is heard."""
        if self._fd is None or self._directory is None:
            return
        asyncio.get_running_loop().remove_reader(self._fd)
        try:
            pipe = os.open(os.path.join(self._directory, _HELLO), os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:  # somebody tidied up; nobody can come there any more
            return
        finally:
            os.close(self._fd)
            remove_folder(self._directory)
        try:
            async for data in _read_to_end(pipe):
                self._take(data)
        finally:
            os.close(pipe)

    async def end_process(self) -> None:
        if self.process is not None and not self.process.exited.done():
            await self.process.terminate()

    async def leave(self, member: CdpBackend) -> None:
        """A backend has closed; with the last one everything of the family is let go."""
        if member not in self._members:
            return
        self._members.remove(member)
        if all(each.is_over for each in self._members) and self._wrapper is None:
            await self.close()

    async def close(self) -> None:
        """Let go of pipe, tasks and the spawned process, which has ended or ends now."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PARTING):
                await self._hear_the_last()
                if others := self._tasks - {asyncio.current_task()}:
                    await asyncio.wait(others)
        for task in self._tasks - {asyncio.current_task()}:
            task.cancel()
        for member in tuple(self._members):
            member.drop()
        if self._root.done() and not self._root.cancelled():
            self._root.exception()  # seen: whoever waited for it has gone
        if self.process is not None and not self.process.released:
            await self.end_process()
            self.process.close()


async def _read_to_end(pipe: int) -> AsyncIterator[bytes]:
    """What is in a pipe and what comes, until no writer has it open any more."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(pipe, ready.set)
    try:
        while True:
            await ready.wait()
            ready.clear()
            with contextlib.suppress(BlockingIOError):
                if not (data := os.read(pipe, 65536)):
                    return
                yield data
    finally:
        loop.remove_reader(pipe)
