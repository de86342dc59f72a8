"""What is spawned for one launch: the program or its debugger, its pipes, and the places of ours that it is told of."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable, Mapping
from typing import Any

from ...model.backend import Output
from ...transport.conduits import Conduits
from ...transport.drains import Stream
from ...transport.folders import remove_folder
from ...transport.process import Exit, PipeLine, Process, feed, spawn
from ...transport.streams import SocketLine
from ...transport.trees import MARK
from .client import Body
from .launch import HELPER, JOURNAL, STDERR, STDIN, STDOUT, DapLaunch, DialsBack, PrintedAddress
from .reaching import PrintedPlace, SocketPlace, walked
from .terminals import Terminals

_TAIL = 4000
_HANGING_UP = 1.0
"""How long a debugger may take to go once nobody speaks to it any more."""
_QUITTING = 2.0
"""How long a debugger may take to go once it has let its program go."""


class Hosted:
    """Owns the spawned process, the pipes with names, the socket's directory, and programs run because a debugger asked."""

    def __init__(
        self,
        launch: DapLaunch,
        tell: Callable[[Output], None],
        died: Callable[[str], None],
        forked: Callable[[int], None],
    ) -> None:
        self._launch = launch
        self._tell = tell
        self._died = died
        self._forked = forked
        self._journal = b""
        self.process: Process | None = None
        self.socket: SocketPlace | None = None
        self.printed = PrintedPlace(launch.reach.pattern) if isinstance(launch.reach, PrintedAddress) else None
        self.spoke = asyncio.Event()
        """It printed something: whoever waits for it to listen looks at once."""
        self._pipe: PipeLine | None = None
        self._aside: socket.socket | None = None
        self._conduits: Conduits | None = None
        self._terminals = Terminals()
        self._places: dict[str, str] = {}
        """What stands in words, variables and arguments for a place, and the place."""
        self._tail = b""

    def spawn(self, stdin: str | None, places: Mapping[str, str] | None = None) -> Process:
        launch = self._launch
        self._places.update(places or {})
        if launch.has_conduits:
            ours = self._conduits = Conduits(
                launch.stdin, launch.cwd, lambda stream, data: self._tell(Output(stream, data)), self._noted
            )
            self._places |= {STDIN: ours.stdin, STDOUT: ours.stdout, STDERR: ours.stderr, JOURNAL: ours.journal}
        theirs: socket.socket | None = None
        if launch.helper_is_apart:
            self._aside, theirs = socket.socketpair()
            self._places[HELPER] = str(theirs.fileno())
        with contextlib.closing(theirs) if theirs else contextlib.nullcontext():
            self.process = spawn(
                [self._filled(word) for word in launch.argv], cwd=launch.cwd, env=self.environment(),
                umask=launch.umask, stdin=stdin, on_output=self._output, gently=not launch.launched,
                # Who only makes another process dial in goes by itself, and must not be ended halfway.
                guarded=launch.launched or not isinstance(launch.reach, DialsBack),
                lent=(theirs.fileno(),) if theirs else (),
            )  # fmt: skip
        return self.process

    async def helper_line(self) -> SocketLine | None:
        """The line on which our code inside the debugger is spoken to, where that is another one than the debugger's own."""
        aside, self._aside = self._aside, None
        if aside is None:
            return None
        return (await asyncio.get_running_loop().create_connection(SocketLine, sock=aside))[1]

    def spawn_speaking(self) -> PipeLine:
        """Spawn a debugger that speaks on its standard input and output; the line to it."""
        self._pipe = PipeLine(self.spawn("-"))
        return self._pipe

    def run_in_terminal(self, asked: Body, tell: Callable[[Output], None]) -> Process:
        """Start the program that the debugger wants to be started by us; it ends with what was spawned."""
        launch = self._launch
        return self._terminals.run(
            asked, cwd=launch.cwd, env=self.environment(), umask=launch.umask, stdin=launch.stdin,
            guarded=launch.launched, tell=tell,
        )  # fmt: skip

    # Places

    def environment(self) -> dict[str, str]:
        env = {name: self._filled(value) for name, value in self._launch.env.items()}
        return {**env, MARK: self._launch.mark} if self._launch.mark else env

    def _filled(self, word: str) -> str:
        """A word with our places in it, where something stands for them."""
        for mark, place in self._places.items() if "\0" in word else ():
            word = word.replace(mark, place)
        return word

    def filled(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the start, with our places in them."""
        filled: dict[str, Any] = walked(dict(arguments), self._filled)
        return filled

    # Output and input

    def _output(self, stream: Stream, data: bytes) -> None:
        self.spoke.set()
        if stream == "stderr":
            self._tail = (self._tail + data)[-_TAIL:]
        if self._pipe is not None and stream == "stdout":
            self._pipe.received(data)
            return
        if self.printed is not None:
            self.printed.take(data)
        if self._launch.talk is not None and not (data := self._launch.talk.sub(b"", data)):
            return
        is_programs = self._launch.owns_target or self._launch.replays is not None
        self._tell(Output(stream if is_programs else "console", data))

    def _noted(self, data: bytes) -> None:
        """Look in the debugger's journal for the signal that the program died of, and for processes that it forked."""
        noted = self._journal + data
        self._journal = noted[noted.rfind(b"\n") + 1 :][-_TAIL:]  # a line may come in two parts
        if self._launch.deaths is not None and (match := self._launch.deaths.search(noted)):
            self._died(Exit.of(-int(match[1])).signal or "")
        if self._launch.forks is not None and (match := self._launch.forks.search(noted)):
            self._forked(int(match[1]))

    def stderr_tail(self) -> str:
        """The last of what the process wrote to its standard error."""
        return self._tail.decode("utf-8", "backslashreplace").strip()

    def hold_output(self) -> None:
        self._terminals.pause_output()
        if self._conduits is not None:
            self._conduits.drains.pause()
        elif self.process is not None and self._pipe is None:
            self.process.pause_output()

    def let_output_go(self) -> None:
        self._terminals.resume_output()
        if self._conduits is not None:
            self._conduits.drains.resume()
        if self.process is not None:
            self.process.resume_output()

    def read_output(self) -> None:
        """Take what is in the pipes now, unless it is being held back."""
        self._terminals.drain()
        if self._conduits is not None and not self._conduits.drains.is_paused:
            self._conduits.drains.drain()
        if self._conduits is not None:
            self._conduits.journal_drains.drain()
        if self.process is not None and not self.process.is_paused and self._pipe is None:
            self.process.drain()

    async def feed(self, data: bytes, *, eof: bool) -> None:
        """Write to the standard input of a program that its debugger started."""
        await feed(self._conduits, data, eof=eof, timeout=self._launch.request_timeout)

    # The end

    async def exit_soon(self) -> Exit | None:
        """How the spawned process ended, if it is just about to have."""
        if self.process is None or (isinstance(self._launch.reach, DialsBack) and not self._launch.owns_target):
            return None  # it only helped another process to dial in
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.1):
                await asyncio.shield(self.process.exited)
        return self.process.exited.result() if self.process.exited.done() else None

    async def end(self, *, at_once: bool = False) -> None:
        """End what was spawned: the program, or the debugger that holds it."""
        await self._terminals.end()
        if self.process is not None and not self.process.exited.done():
            if not at_once:
                await self._hang_up(self.process)
            await self.process.terminate()

    async def release(self, pid: int) -> None:
        """Let a program live on that its debugger started and has let go of; the debugger itself goes."""
        if self._conduits is not None:
            self._conduits.release(pid)
        if self.process is not None:
            self.process.release()
            await asyncio.wait({self.process.exited}, timeout=_QUITTING)
            if not self.process.exited.done():
                os.kill(self.process.pid, signal.SIGKILL)

    async def _hang_up(self, process: Process) -> None:
        """Who speaks on its standard input goes when that ends; gdb 18.1 does not hear SIGTERM there, and may crash of it."""
        if self._pipe is not None:
            with contextlib.suppress(BrokenPipeError, TimeoutError):
                async with asyncio.timeout(_HANGING_UP):
                    await process.feed(b"", eof=True)
                    await asyncio.shield(process.exited)

    async def close(self) -> None:
        """Let go of everything; what still runs and was not let go ends now."""
        await self._terminals.end()
        self._terminals.close()
        if self.process is not None and not self.process.released:
            await self.end()
            self.process.close()
        for ours in (self._conduits, self.socket, self._aside):
            if ours is not None:
                ours.close()
        if self._launch.folder is not None:
            remove_folder(self._launch.folder)
