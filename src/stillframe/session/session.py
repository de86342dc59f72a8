"""A session: one debugged program. It owns a Backend, applies its events in order, and is where everyone waits.

Only this layer mutates. Events are applied by one task; a stop is captured once, right after it happened, by a task of its
own, so that events never wait for evidence. Locks cover sending an order, never waiting for its outcome.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from pathlib import Path

from ..errors import AdapterGone, NotFound, Try, WrongState
from ..model import backend as contract
from ..model.backend import Backend, Bounds, Capability, Capture, Move, Tool
from ..model.outcomes import AnyOutcome, Stop
from ..model.plans import Plan
from ..model.powers import Wraps
from ..model.recording import BLANK, Tape
from . import holding, telling
from .bell import Bell
from .beside import Beside
from .breakpoints import Breakpoints
from .crowd import Crowd
from .evidence import SourceCache
from .handles import Handles
from .origin import Origin
from .output import OutputLog
from .phases import ENDED, Phase, follows, past
from .ready import Ready
from .waits import Wait, Waits
from .witness import Witness

log = logging.getLogger(__name__)

CODE = "<string>"
"""What debuggers call the file of code that was given by itself."""


class Session:
    """What is so of each at first stands here, what each has of its own in `__init__`."""

    phase = Phase.NEW
    stop: Stop | None = None
    told_stop = False
    """Somebody has been told of the stop that it is in."""
    said_running = False
    """The last reply said that it runs, so that a stop which it has come to since is news."""
    held_thread: str | None = None
    stopped_reason = ""
    focus_thread: str | None = None
    focus_frame = 0
    touched = reads_quickly = False
    """Somebody ran code in the held program, or wrote to it, since its evidence was read."""
    read_again: tuple[str, Capture] | None = None
    """The held thread as it was found after that."""
    stops = 0
    ready: Ready | None = None
    """What it was started to wait for; a restart waits for it again."""
    introduced = False
    log_events = False
    private = False
    """Belongs to one call, such as a probe: never listed, never anybody's current one, not kept on disk."""
    stopping = False
    """We asked for the end, so that it surprises nobody."""
    given_up = ""
    """Why it was ended or left without anybody's order."""
    ended: contract.Ended | None = None
    ended_at: float | None = None
    tape: Tape = BLANK
    _users = 0

    def __init__(self, name: str, backend: Backend, origin: Origin, spill: Path, parent: Session | None = None) -> None:
        self.name = self.recorded_as = name
        """`recorded_as` is what the record knows it by: its name; of a replay, the run that it goes through."""
        self.backend = backend
        self.origin = origin
        self.parent = parent
        self.children: list[Session] = []
        self.bell: Bell = Bell(above=parent.bell if parent else None)
        self.breakpoints = Breakpoints(self.show, lambda: Capability.COLUMNS in backend.capabilities)
        self.catch = origin.catch
        self.handles = Handles()
        self.output: OutputLog = parent.output if parent else OutputLog(spill)
        """One for the family: what its members print comes out of the same pipes."""
        self.sources: SourceCache = parent.sources.shared() if parent else SourceCache()
        self.witness = Witness(self.handles, self.sources, self.show)
        self.bounds = Bounds()
        self.beside: list[Beside] = parent.beside if parent else []
        """Commands of `--do`: the whole family's, since any member may be the one that answers."""
        self.waits: Waits = parent.waits if parent else Waits()
        self.crowd = Crowd()
        self.created, self.last_used, self.started = time.time(), time.monotonic(), time.monotonic()
        self.on_child: Callable[[Session, contract.ChildOpened], None] = lambda parent, event: None
        self.on_end: Callable[[Session], None] = lambda session: None
        self.on_breakpoints: Callable[[Session], None] = lambda session: None
        self._notes: list[str] = []
        self._pulse = telling.Pulse()
        self._sending = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._pump = asyncio.get_running_loop().create_task(self._apply_events(), name=f"events of {name}")

        plan = origin.plan
        self.command: tuple[str, ...] = plan.command if isinstance(plan, Plan) and parent is None else ()
        if isinstance(plan, Plan) and plan.kind == "code" and plan.program:
            self.sources.lend(CODE, plan.program)

    # Who we are

    @property
    def tool(self) -> Tool:
        return self.backend.tool

    @property
    def live(self) -> bool:
        return self.phase not in ENDED

    @property
    def settled(self) -> bool:
        """Held with its evidence read, or over."""
        return self.phase in ENDED or (self.phase is Phase.STOPPED and self.stop is not None)

    @property
    def root(self) -> Session:
        """The session that the whole family descends from; breakpoints are wanted there."""
        return self.parent.root if self.parent else self

    def family(self) -> Iterator[Session]:
        yield self
        for child in self.children:
            yield from child.family()

    def show(self, file: str | None) -> str | None:
        """A file as the user should see it: relative to where the call came from, if it is of this project."""
        return _shown(file, self.origin.root, self.origin.base) if file is not None and os.path.isabs(file) else file

    @contextlib.contextmanager
    def used(self) -> Iterator[None]:
        """Somebody is at it: while they are, and for a lease after, nobody else gives it up."""
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1
            self.last_used = time.monotonic()
            if self.touched and self.reads_quickly and self.stop is not None:
                self.keep(holding.look_behind(self, self._sending), "baseline")

    async def tell_anew(self) -> None:
        """Have the stop tell what is there now, if somebody wrote into the held program."""
        await holding.tell_anew(self, self._sending)

    @property
    def idle_since(self) -> float:
        """When this session was last in use, by the monotonic clock."""
        return time.monotonic() if self._users else self.last_used

    # Orders

    async def start(self) -> None:
        """Hand over what is wanted and let the program run."""
        self._become(Phase.CONFIGURING)
        self.breakpoints.bound(await self.backend.start(self.breakpoints.wanted, self.catch))
        if self.phase is Phase.CONFIGURING:
            self._become(Phase.RUNNING)

    async def resume(self, move: Move, thread: str | None = None) -> None:
        """Let the held program go on; returns as soon as the debugger has taken the order.

        Where another thread has come to a stop of its own meanwhile, a `continue` makes that the next stop instead, so
        that no hit is lost; a step tells of it and goes on.
        """
        async with self._sending:
            self.need_stopped(hint="wait")
            await self.crowd.ask(self.backend)
            while other := self.crowd.next():
                if move is Move.CONTINUE:
                    self._tell_next(other)
                    return
                await holding.mention(self, other)
            self.crowd.let_go()
            await holding.take_baseline(self)
            held = self.stop
            self.witness.moved(move, held)
            self.stop = None
            self._become(Phase.RUNNING)
            restore = self.handles.renew()
            asyncio.get_running_loop().call_soon(self.tape.moved)  # while the debugger has the order
            try:
                await self.backend.resume(move, thread or self.focus_thread)
            except AdapterGone:
                return  # it ended before it could say that it goes on; how it ended comes as an event
            except Exception:  # refused, or a fault of ours: it is held as before
                if self.phase is Phase.RUNNING:
                    self.stop = held
                    restore()
                    self._become(Phase.STOPPED)
                raise

    def _tell_next(self, event: contract.Stopped) -> None:
        """Make another thread's stop the one that we speak of; the program stays as it is."""
        self.witness.moved(Move.CONTINUE, None)
        self.stop = None
        self.handles.renew()
        self._hold(event)

    async def relocate(self, order: Callable[[], Awaitable[None]]) -> None:
        """Let the debugger move the point of execution; the stop at the new place comes as an event."""
        async with self._sending:
            self.need_stopped()
            held, self.stop = self.stop, None
            self.witness.moved(Move.CONTINUE, held)
            restore = self.handles.renew()
            try:
                await order()
            except Exception:
                if self.stop is None:
                    self.stop = held
                    restore()
                raise

    async def pause(self, thread: str | None = None) -> None:
        async with self._sending:
            if self.phase is Phase.STOPPED:
                return
            self.need_debugger()
            with contextlib.suppress(AdapterGone):  # how it ended comes as an event
                await self.backend.pause(thread)

    # Waiting

    async def settle(self, timeout: float | None, *, alone: bool = False, wait: Wait | None = None) -> Session:
        """Wait for a stop in the family, or the end of this session; the session that it came from.

        A stop of a relative counts until it has been told; of a descendant always, since nothing goes on there.
        """
        bell = self.bell if alone else self.root.bell
        off = wait or Wait()
        await bell.wait_for(lambda: off.is_called_off or self.settled_member(alone=alone) is not None, timeout)
        return self.settled_member(alone=alone) or self

    def settled_member(self, *, alone: bool = False) -> Session | None:
        """The session of the family that has something to tell: our own stop first, an end last."""
        if alone or (self.phase is Phase.STOPPED and self.settled):
            return self if self.settled else None
        held = [each for each in self.root.family() if each.phase is Phase.STOPPED and each.settled]
        news = [each for each in held if not each.told_stop]
        below = [each for each in self.family() if each in held]
        for member in (*news, *below):
            return member
        return self if self.settled else None

    def outcome(self, *, after: float | None = None, news: bool = True) -> AnyOutcome:
        """How things stand, with what was printed since the last reply."""
        return telling.outcome(self, after=after, news=news)

    def tell(self, *, runs: bool = False) -> None:
        """Somebody is told how it stands: that it runs, or all of it, with the stop that it is in."""
        self.said_running = runs
        self.told_stop = self.told_stop or (self.stop is not None and not runs)

    def note(self, text: str) -> None:
        """Something that the next reply must say."""
        self._notes.append(text)

    def take_notes(self) -> tuple[str, ...]:
        notes = tuple(self._notes)
        self._notes.clear()
        return notes

    # What an operation may count on

    @property
    def suspended(self) -> bool:
        """Whether a signal keeps its process from answering anybody."""
        pid = self._pid_here
        return pid is not None and self._pulse.is_stopped(pid)

    @property
    def over(self) -> bool:
        """Whether its process has ended, which on a busy machine is so for a while before its debugger's line says it."""
        pid = self._pid_here
        return not self.live or (pid is not None and self._pulse.is_over(pid))

    @property
    def _pid_here(self) -> int | None:
        """Its process, where that is one of this machine."""
        plan = self.origin.plan
        return self.backend.pid if isinstance(plan, Plan) or plan.pid is not None else None

    def need_live(self) -> None:
        if not self.live:
            raise WrongState(f"{self.name} has {past(self.phase)}", hint=self.again())
        if self.suspended:
            raise WrongState(f"{self.name} answers nobody: {telling.suspended(self)}")

    def again(self) -> Try:
        """How it is begun once more, or joined where it was not begun here."""
        if not self.origin.kept:
            return Try("replay", {"name": self.recorded_as})
        plan = self.root.origin.plan
        if self.root.backend.launched or isinstance(plan, Plan):
            return Try("restart")
        return Try("attach") if self.root.over else plan.again

    def need_debugger(self, otherwise: Try | None = None) -> None:
        """Something holds this very process; for a wrapper, the answer names the sessions of what it runs, and as the next step
        the one that is held, or else what would do for all of them."""
        self.need_live()
        if not isinstance(self.backend, Wraps):
            return
        inside = [each for each in self.family() if each is not self and each.live]
        said = f"debugged in it: {', '.join(each.name for each in inside)}"
        meant = next((each for each in inside if each.phase is Phase.STOPPED), None)
        if meant is None and inside and otherwise is None:
            meant = inside[0]
        hint = Try("use", {"": meant.name}) if meant else otherwise or Try("wait")
        what = said if inside else "nothing that could be debugged has come up in it yet"
        raise WrongState(f"{self.backend.without_debugger()}; {what}", hint=hint)

    def need_stopped(self, hint: str = "pause", **arguments: str) -> None:
        if self.phase is Phase.STOPPED and self.stop is not None:
            self.need_live()
            self.tell()  # whoever asks about what is held knows that it is
            return
        self.need_debugger(Try(hint, arguments) if hint == "wait" else None)
        raise WrongState(f"{self.name} is running, not stopped", hint=Try(hint, arguments))

    def thread_id(self, handle: str | None) -> str:
        """The backend's word for a thread; the focus where none is named."""
        if handle is not None:
            return self.handles.thread_id(handle)
        if self.focus_thread is None:
            raise NotFound(f"{self.name} has no thread to look at", hint=Try("threads"))
        return self.focus_thread

    async def frame_id(self, thread: str, index: int | None = None) -> str:
        """The backend's word for a frame of a thread; the focus where none is named."""
        if index is None:
            index = self.focus_frame if thread == self.focus_thread else 0
        known = self.handles.frame_id(thread, index)
        if known is None:
            page = await self.backend.stack(thread, 0, index + 1)
            self.handles.frames(thread, page.frames, page.start)
            known = self.handles.frame_id(thread, index)
            if known is None and len(page.frames) > index:
                raise NotFound(f"of f{index} only the place is known: no call is held there", hint=Try("stack"))
        if known is None:
            raise NotFound(f"there is no frame f{index}", hint=Try("stack"))
        return known

    # Events

    def _become(self, phase: Phase) -> None:
        if phase is self.phase:
            return
        if not follows(self.phase, phase):
            return  # an event that comes late, such as a stop after the end
        self.phase = phase
        self.bell.ring()

    async def _apply_events(self) -> None:
        async for event in self.backend.events():
            self._apply(event)
            self.bell.ring()

    def _apply(self, event: contract.Event) -> None:
        if self.log_events:
            log.info("%s: %.2000r", self.name, event)
        match event:
            case contract.Output(stream, data, logged):
                self.output.write(stream, data)
                holding.count(self, logged)
            case contract.Stopped():
                self._on_stopped(event)
            case contract.Continued(thread):
                if self.phase is Phase.STOPPED and thread in (None, self.focus_thread):
                    self.stop = None
                    self.crowd.let_go()
                    self.handles.renew()
                    self.witness.moved(Move.CONTINUE, None)
                    self._become(Phase.RUNNING)
            case contract.BreakpointChanged(binding):
                self.breakpoints.bound((binding,))
            case contract.ChildOpened():
                self.on_child(self, event)
            case contract.Ended():
                self.ended, self.ended_at = event, time.monotonic()
                self.stop = None
                self._become(Phase.LOST if event.lost else Phase.DETACHED if event.detached else Phase.EXITED)
                self.on_end(self)
            case contract.ThreadChanged(thread, alive):
                self.handles.thread(thread)  # numbered as they appear, so that t1 is the first
                (self.crowd.alive.add if alive else self.crowd.alive.discard)(thread)

    def _on_stopped(self, event: contract.Stopped) -> None:
        if self.phase is Phase.STOPPED and event.thread != self.held_thread:
            self.crowd.keep(event)
            return
        self._hold(event)

    def _hold(self, event: contract.Stopped) -> None:
        self._become(Phase.STOPPED)
        self.stop = None
        self.crowd.tell(event)
        self.held_thread = event.thread
        self.stopped_reason = event.reason
        self.focus_thread, self.focus_frame = event.thread, 0
        self.keep(holding.read(self, event), "capture")

    def keep(self, work: Coroutine[None, None, None], what: str) -> asyncio.Task[None]:
        """Do this in a task of the session's own, which ends with it."""
        task = asyncio.get_running_loop().create_task(work, name=f"{what} of {self.name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # The end

    async def end(self, *, terminate: bool) -> None:
        """End or leave the program; returns when the backend has said so, or its deadline passed."""
        self.stopping = True
        if self.live:
            await self.backend.end(terminate=terminate)
            await self.bell.wait_for(lambda: not self.live, 5.0)

    async def close(self) -> None:
        """Let go of everything; the session's results stay readable."""
        if self.parent is None:
            for each in self.beside:
                await each.close()
            self.beside.clear()
        await self.backend.close()
        self._pulse.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(5):
                await asyncio.gather(self._pump, return_exceptions=True)
        for task in (self._pump, *self._tasks):
            task.cancel()
        await asyncio.gather(self._pump, *self._tasks, return_exceptions=True)
        if self.live:
            self.ended = contract.Ended(lost=True, cause="the session was closed")
            self._become(Phase.LOST)


@functools.lru_cache(maxsize=4096)
def _shown(file: str, root: str, base: str) -> str:
    return os.path.relpath(file, base) if Path(file).is_relative_to(root) else file
