"""The processes behind one launch: the one we start or join, and those of its children that dial in after it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from ...errors import AdapterDied, AdapterUnresponsive, Busy, LaunchFailed, StillframeError
from ...model.backend import CatchRule, ChildOpened, Output
from ...transport.drains import Stream
from ...transport.process import Exit, Process
from ...transport.streams import Line, Listener, SocketLine, dial, dial_soon, dial_unix, dial_unix_soon, free_port
from ...transport.trees import ancestors, is_alive, same_output
from ..wrapped import Wrapped
from .arrivals import Arrivals
from .backend import DapBackend
from .client import Body
from .handshake import Greeting
from .hosting import Hosted
from .launch import (
    PORT,
    SOCKET,
    Address,
    Calls,
    DapLaunch,
    DialsBack,
    Listens,
    ListensUnix,
    PrintedAddress,
    Stdio,
    UnixAddress,
)
from .obliging import further
from .reaching import SocketPlace, Switchboard

T = TypeVar("T")

_LIVE: set[Family] = set()
"""The families of this host, so that none is joined twice: a second injection into a debugged process may crash it."""

_EARLY = 64 * 1024
"""Bytes that are kept of what is printed before anybody is there to tell it to."""
_HELPED = 5.0
"""A process that was made to dial in has done so by the time its helper is done, or will not."""
_ENDING = 2.0
"""How long the end of a process may take to be told of once it is gone."""


class Family:
    """Owns the listener, the spawned process and the tasks; every backend of the family leaves it when it closes."""

    def __init__(self, launch: DapLaunch, parent: Family | None = None) -> None:
        self.launch = launch
        self._parent = parent
        self._offspring: list[Family] = []
        """Sessions that our debugger asked us to open, each with a conversation of its own."""
        self.host = Hosted(
            launch, self._printed, lambda name: self._members[0].died_of(name), lambda pid: self._members[0].forked(pid)
        )
        self._listener: Listener | None = None
        self._members: list[DapBackend] = []
        self.arrivals = Arrivals()
        self._tasks: set[asyncio.Task[None]] = set()
        self._root: asyncio.Future[DapBackend] = asyncio.get_running_loop().create_future()
        self._listening: Address | UnixAddress | None = None
        """Where a further conversation with the same debugger is had."""
        self._early: list[Output] = []
        self._closed = False
        self._wrapper: Wrapped | None = None
        self._met = False
        """Somebody has come up behind the wrapper."""
        self._hung_up = False
        """Somebody dialled in and was gone before we knew who it was."""

    async def open(self) -> DapBackend:
        """Start or reach the root process; it is held at its very beginning."""
        target = self.launch.target_pid
        if target is not None and any(target == each.pid for family in _LIVE for each in family._members):
            self._closed = True
            raise Busy(f"process {target} is debugged here already")
        _LIVE.add(self)
        try:
            return await (self._called() if isinstance(self.launch.reach, DialsBack) else self._reached())
        except BaseException:  # cancelled, too: what was started by then is ended, and the reason goes on
            await self.close()
            raise

    @property
    def process(self) -> Process | None:
        """What was spawned: the program, or the debugger that holds it."""
        return self.host.process

    async def follow(self, wrapper: Wrapped) -> Mapping[str, str]:
        """Wait for those that come up behind a program without a debugger; the variables that lead them here."""
        self._wrapper = wrapper
        _LIVE.add(self)
        self._listener = Listener(self._dialled)
        await self._listener.open()
        return {name: value.replace(PORT, str(self._listener.port)) for name, value in self.launch.env.items()}

    def without_talk(self, stream: Stream, data: bytes) -> bytes:
        return data

    async def settle(self) -> None:
        """Wait for the ends of those behind the wrapper whose processes are gone."""
        ending = [each for each in self._members if not each.is_over and each.pid and not is_alive(each.pid)]
        await asyncio.gather(*(each.over(_ENDING) for each in ending))

    # Reaching the root

    async def _called(self) -> DapBackend:
        """Wait until the process dials in; whoever cannot prove itself does not count."""
        self._listener = Listener(self._dialled)
        await self._listener.open()
        self.host.spawn(stdin=self.launch.stdin, places={PORT: str(self._listener.port)})
        root = await self._until(self._root, "dial in")
        if not self.launch.owns_target:
            await self._helped()
        return root

    async def _reached(self) -> DapBackend:
        """Go to where the debugger listens."""
        line = await self._line()
        aside = await self.host.helper_line()
        root = self._member(line, self.process if self.launch.owns_target else None, aside)
        try:
            await root.greet()
        except AdapterDied as died:
            reason = self._why_it_never_came_up(await self.exit_soon(), died.message)
            raise LaunchFailed(reason, detail=died.detail) from None
        return root

    async def _line(self) -> Line:
        launch, patience = self.launch, self.launch.start_timeout
        match launch.reach:
            case Address() | UnixAddress():
                self._listening = launch.reach
                return await self._dial(launch.reach)
            case PrintedAddress():
                self.host.spawn(stdin=launch.stdin)
                assert self.host.printed is not None
                self._listening = Address(*await self._until(self.host.printed.found, "print where it listens"))
                return await self._dial(self._listening)
            case Listens():
                self._listening = Address("127.0.0.1", port := free_port())
                self.host.spawn(stdin=launch.stdin, places={PORT: str(port)})
                return await self._until(asyncio.ensure_future(dial_soon(port, patience, self.host.spoke)), "listen")
            case ListensUnix():
                self.host.socket = SocketPlace()
                self._listening = UnixAddress(path := self.host.socket.path)
                self.host.spawn(stdin=launch.stdin, places={SOCKET: path})
                return await self._until(
                    asyncio.ensure_future(dial_unix_soon(path, patience, self.host.spoke)), "listen"
                )
            case Calls():
                call = Switchboard()
                self._listener = call.listener
                await call.listener.open()
                self.host.spawn(stdin=launch.stdin, places={PORT: str(call.listener.port)})
                return await self._until(call.line, "dial in")
            case Stdio() | DialsBack():
                return self.host.spawn_speaking()

    async def _dial(self, where: Address | UnixAddress) -> Line:
        if isinstance(where, UnixAddress):
            return await dial_unix(where.path, self.launch.start_timeout)
        return await dial(where.host, where.port, self.launch.start_timeout)

    def _member(self, line: Line, process: Process | None, aside: Line | None = None) -> DapBackend:
        root = DapBackend(self.launch, line, self, process, aside=aside)
        self._welcome(root)
        return root

    def _welcome(self, member: DapBackend) -> None:
        self._members.append(member)
        early, self._early = (
            [*(Output("console", f"{each}\n".encode()) for each in self.launch.notes), *self._early],
            [],
        )
        for output in early:
            member.tell(output)

    async def _until(self, wanted: asyncio.Future[T], what: str) -> T:
        """Wait for a sign of life, with an eye on the process: a dead one will never give it."""
        assert self.process is not None
        exited: asyncio.Future[Exit] = self.process.exited
        signs: list[asyncio.Future[Any]] = [wanted, exited]
        await asyncio.wait(signs, timeout=self.launch.start_timeout, return_when=asyncio.FIRST_COMPLETED)
        if exited.done() and not wanted.done():
            how = exited.result()
            if self.launch.owns_target or how.code != 0:
                failure = self.launch.failures.get(how.code or 0, LaunchFailed)
                own = self.launch.owns_target and self.launch.launched
                detail = {"exit_code": how.code, "signal": how.signal, "stderr": self.stderr_tail()} if own else None
                raise failure(self._why_it_never_came_up(how, f"it did not {what}"), detail=detail)
            await asyncio.wait({wanted}, timeout=_HELPED)
        if wanted.done():
            return wanted.result()
        if self._hung_up:
            raise LaunchFailed("the process dialled in and hung up: it may be under another debugger already")
        patience = f"{self.launch.start_timeout:g} s"
        raise AdapterUnresponsive(f"{self.launch.argv[0]} did not {what} within {patience}")

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
        who = "it" if self.launch.owns_target else self.launch.tool.tool
        return f"{who} ended with {how} before it could be debugged" + (f": {said}" if said else "")

    def stderr_tail(self) -> str:
        return self.host.stderr_tail()

    async def exit_soon(self) -> Exit | None:
        return await self.host.exit_soon()

    # Output of the spawned process

    def _printed(self, output: Output) -> None:
        speaker = next((each for each in self._members if not each.is_over), None)
        if speaker is not None:
            speaker.tell(output)
        elif not self._members and sum(len(each.data) for each in self._early) < _EARLY:
            self._early.append(output)

    def hold_output(self) -> None:
        self.host.hold_output()

    def let_output_go(self) -> None:
        self.host.let_output_go()

    def read_output(self) -> None:
        """Take what is in the pipes now, unless it is being held back."""
        if self._wrapper is not None:
            self._wrapper.read_output()
        self.host.read_output()

    async def feed(self, data: bytes, *, eof: bool) -> None:
        await self.host.feed(data, eof=eof)

    def filled(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return self.host.filled(arguments)

    # Children

    def _dialled(self, line: SocketLine) -> None:
        self.run(self._meet(line))

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a task that ends with the family at the latest."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _meet(self, line: SocketLine) -> None:
        """Somebody dialled in: find out who it is. The first that proves itself is the root, the others are children."""
        child = self._root.done() or self._wrapper is not None
        if child and self._wrapper is None and not self.launch.children:
            line.close()
            return
        process = self.process if self.launch.owns_target and not child else None
        caller = DapBackend(self.launch, line, self, process, child=child)
        try:
            greeting = await caller.greet()
        except StillframeError:  # a stranger, or one that died on the way: nobody knows of it, so nobody is told
            self._hung_up = True
            if caller.refusal and not self._root.done():
                self._root.set_exception(LaunchFailed(caller.refusal))
            caller.drop()
            return
        if self._closed or (not child and self._root.done()):
            caller.drop()
        elif not child:
            self._welcome(caller)
            self._root.set_result(caller)
        else:
            self.arrivals.came(greeting.pid)
            await self._adopt(caller, greeting)

    async def _adopt(self, child: DapBackend, greeting: Greeting) -> None:
        """Announce a child where its nearest ancestor is known, else at the wrapper or the eldest that lives."""
        living = [each for each in self._members if not each.is_over]
        self._members.append(child)
        if self.launch.plumbing and self.launch.plumbing.search(" ".join(greeting.argv)):
            await self._run_along(child)
            return
        if self._met and not self.launch.children:
            await child.close()
            return
        if self._is_aside(child, greeting):
            child.step_aside()
        before = next((each for each in living if each.pid == greeting.pid), None)
        announced = ChildOpened(child, child.pid, child.name)
        if parent := before or self._nearest(living, greeting):
            parent.tell(announced)
        elif self._wrapper is None or not self._wrapper.adopt(announced):
            if not living:
                await child.close()
                return
            living[0].tell(announced)
        if before is not None:
            before.hand_over(child)
        elif self._wrapper is not None:
            self._behind_wrapper(child, self._wrapper)

    def _behind_wrapper(self, child: DapBackend, wrapper: Wrapped) -> None:
        """Before its end is watched: the wrapper's own process, if that has become this program, tells its exit code."""
        if not self._met:
            child.lead()
        self._met = True
        if process := wrapper.process_of(child.pid):
            child.inherit(process)

    @staticmethod
    def _nearest(living: Sequence[DapBackend], greeting: Greeting) -> DapBackend | None:
        """The member that a newcomer descends from, be there a shell or more between them."""
        above = [greeting.ppid, *(ancestors(greeting.pid) if greeting.pid else ())]
        return next((each for pid in above for each in living if pid is not None and each.pid == pid), None)

    def _is_aside(self, child: DapBackend, greeting: Greeting) -> bool:
        leader = self._wrapper.pid if self._wrapper is not None else self.process.pid if self.process else None
        if self.launch.asides is None or child.pid is None or leader is None:
            return False
        return bool(self.launch.asides.match(" ".join(greeting.argv))) and not same_output(child.pid, leader)

    async def _run_along(self, child: DapBackend) -> None:
        """A process of the runtime itself: it needs somebody at the other end, and nobody wants to see it."""
        with contextlib.suppress(StillframeError):
            await child.start((), CatchRule(frozenset()))
            async for _event in child.events():
                continue
        await child.close()

    # What the debugger asks of us

    def run_in_terminal(self, member: DapBackend, asked: Body) -> Process:
        """Start the program that the debugger wants to be started by us; it ends with the family."""
        return self.host.run_in_terminal(asked, member.tell)

    async def start_debugging(self, member: DapBackend, asked: Body) -> None:
        """Open a session for another process of the program: where the debugger listens, else with one of its own."""
        family = Family(further(self.launch, asked, self._listening), parent=self)
        self._offspring.append(family)
        child = await family.open()
        child.name = child.name or str(family.launch.arguments.get("name") or "")
        member.tell(ChildOpened(child, child.pid, child.name))

    # The end

    async def end_process(self, *, at_once: bool = False) -> None:
        """End what was spawned: the program, or the adapter that holds it; sessions that it opened end with it."""
        for member in [each for family in self._offspring for each in family._members]:
            member.is_ended_by_us()
        await self.host.end(at_once=at_once)

    async def dismiss(self) -> None:
        """End a debugger that waits for more when all that it debugged has ended."""
        if self._wrapper is None and self.is_over:
            await self.end_process()
            if self._parent is not None:
                await self._parent.dismiss()

    @property
    def is_over(self) -> bool:
        """Whether everybody has ended, those in sessions that the debugger asked for too."""
        return all(each.is_over for each in self._members) and all(each.is_over for each in self._offspring)

    async def release(self, pid: int) -> None:
        """The program, which its debugger started, lives on without it and us."""
        await self.host.release(pid)

    async def leave(self, member: DapBackend) -> None:
        """A backend has closed; with the last one everything of the family is let go."""
        if member in self._members:
            self._members.remove(member)
        await self._close_if_alone()

    async def _close_if_alone(self) -> None:
        others = [each for each in self._members if not each.is_over]
        if not others and not self._offspring and self._wrapper is None:
            await self.close()

    async def close(self) -> None:
        """Let go of listener, tasks and the spawned process, which has ended or ends now."""
        if self._closed:
            return
        self._closed = True
        _LIVE.discard(self)
        if self._listener:
            self._listener.close()
        for task in tuple(self._tasks):
            if task is not asyncio.current_task():
                task.cancel()
        for member in tuple(self._members):
            member.drop()
        for family in tuple(self._offspring):
            await family.close()
        if self._root.done():
            self._root.exception()  # seen: whoever waited for it has gone
        await self.host.close()
        if self._parent is not None and self in self._parent._offspring:
            self._parent._offspring.remove(self)
            await self._parent._close_if_alone()
