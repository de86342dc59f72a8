"""All sessions of one host: making and ending them, and giving up those that nobody uses; `roll` finds them.

A host is a daemon, or a program that uses the library. It is given an `opener` that turns a plan into a Backend, so that this
layer knows no debugger.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from pathlib import Path

import msgspec

from ..errors import Busy, StillframeError, Try, WrongState
from ..model import backend as contract
from ..model.backend import Backend, CatchRule
from ..model.places import BreakSpec
from ..model.plans import AttachPlan, Caller, Plan
from ..model.powers import Leaves
from ..model.recording import Recorder
from ..settings import PerProject, Settings, project_root, root_of
from . import taping
from .commands import Commands
from .kept import Kept, KeptAttach
from .origin import Origin
from .phases import Phase
from .roll import Roll
from .session import Session
from .shelf import Shelf, snapshot

Opener = Callable[[Plan | AttachPlan], Awaitable[Backend]]

MOST_ENDED = 20
"""Ended sessions that stay to be looked at; older ones are forgotten."""
LEAST_LOOK = 0.5
"""Seconds between two looks at leases, at the least."""


class Sessions(Roll):
    def __init__(
        self, opener: Opener, settings: PerProject, scratch: Path, shelf: Shelf | None, recorder: Recorder | None = None
    ) -> None:
        super().__init__(shelf)
        self._settings = settings
        self.on_change: Callable[[], None] = lambda: None
        self._opener = opener
        self.commands = Commands(shelf)
        self.recorder = recorder
        self._spill = scratch
        self._runs = 0
        self._leases: dict[str, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._leaving: set[asyncio.Task[None]] = set()
        self._closing = asyncio.Event()
        self._leases_changed = asyncio.Event()

    async def __aenter__(self) -> Sessions:
        self._spawn(self._watch_leases(), "leases")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def settings(self, cwd: str) -> Settings:
        """What holds for a call from this directory."""
        return self._settings.at(project_root(cwd))

    def settings_of(self, root: str) -> Settings:
        """What holds for the project that lies there."""
        return self._settings.at(root)

    def origins_of(self, root: str) -> Mapping[str, str]:
        """Where the settings of that project come from that are not by default what they are."""
        return self._settings.origins(root)

    # Making

    async def launch(
        self,
        plan: Plan | AttachPlan,
        *,
        name: str | None,
        default_name: str,
        caller: Caller,
        breaks: Sequence[tuple[BreakSpec, bool]] = (),
        catch: CatchRule | None = None,
        lease: float | None = None,
        kept: Kept | None = None,
        private: bool = False,
        recorded: bool = True,
    ) -> Session:
        """Open a debugger for the plan, want the breakpoints, and let the program run."""
        found = self._joined_before(plan, caller) if isinstance(plan, AttachPlan) else None
        self._check_unheld(plan)
        if found is not None:
            kept, catch, default_name = found, catch or found.catch, found.name
        name = self._free_name(name, default_name, caller)
        origin = Origin(plan, caller.cwd, root_of(caller), caller.client, catch or CatchRule(), kept=recorded)
        self._opening.add(name)
        try:
            backend = await self._opener(plan)
        finally:
            self._opening.discard(name)
        session = self._add(name, backend, origin, None)
        session.private = private
        self._leases[name] = self._settings.at(origin.root).lease if lease is None else lease
        self._leases_changed.set()
        try:
            if kept is not None:
                session.breakpoints.restore(kept.breakpoints, kept.issued)
            for spec, once in breaks:
                session.breakpoints.add(spec.place, base=caller.cwd, condition=spec.condition, hit=spec.hit, once=once)
            await session.start()
        except BaseException:
            await self.discard(session)
            raise
        if not private:
            self._keep(session)
            self.use(session, caller.client)
        if found is not None:
            self._found_again(found, session)
        return session

    def hand_over(self, session: Session, client: str, lease: float) -> None:
        """Make a session that belonged to one call everybody's, for as long as somebody uses it."""
        for member in session.family():
            member.private = False
        self._leases[session.name] = lease
        self._leases_changed.set()
        self._keep(session)
        self.use(session, client)
        self.on_change()

    async def open(self, backend: Backend, plan: Plan, name: str, caller: Caller) -> Session:
        """A session over something that is there already, such as a recorded run; nothing of it is kept."""
        origin = Origin(plan, caller.cwd, root_of(caller), caller.client, kept=False)
        return self._add(self._free_name(None, name, caller), backend, origin, None)

    def _check_unheld(self, plan: Plan | AttachPlan) -> None:
        """Refuse to join a process that one of our sessions has, by that session's name."""
        pid = plan.pid if isinstance(plan, AttachPlan) else None
        held = next((each for each in self._all.values() if pid and each.live and each.backend.pid == pid), None)
        if held is not None:
            known = {"session": held.name}
            raise Busy(f"process {pid} is debugged here already, as session {held.name}", hint=Try("state", known))

    def _joined_before(self, plan: AttachPlan, caller: Caller) -> Kept | None:
        """What a daemon that died had attached to, if this is the same process or address."""
        this = KeptAttach.of(plan)
        return next((each for each in self.lost_here(caller) if each.attached and each.attached.same(this)), None)

    def _found_again(self, lost: Kept, session: Session) -> None:
        ids = " ".join(each.id for each in lost.breakpoints if each.id in session.breakpoints)
        if ids:
            session.note(f"found again, from before its daemon was gone: {ids}")
        if self._shelf and lost.name != session.name:
            self._shelf.save(msgspec.structs.replace(lost, state="ended"))

    async def restart(self, session: Session, caller: Caller) -> Session:
        """End the program and run it again with the same command, name and breakpoints."""
        plan = session.origin.plan
        if isinstance(plan, AttachPlan) or not session.origin.kept:
            is_joined = isinstance(plan, AttachPlan)
            how, way = (
                ("attached to", Try("detach"))
                if is_joined
                else ("recorded", Try("replay", {"name": session.recorded_as}))
            )
            raise WrongState(f"{session.name} was {how}, not started here", hint=way)
        kept = snapshot(session)
        dropped = session.breakpoints.of_this_run()
        await self.end(session, terminate=True)
        again = await self.launch(
            plan,
            name=session.name,
            default_name=session.name,
            caller=Caller(session.origin.base, plan.env, plan.umask, caller.client),
            catch=session.catch,
            lease=self._leases.get(session.name),
            kept=kept,
        )
        if dropped:
            again.note(f"not set again, since it was of the run before: {', '.join(dropped)}")
        return again

    async def revive(self, kept: Kept, caller: Caller) -> Session:
        """Start again what a daemon that died was debugging."""
        if kept.plan is None:
            raise WrongState(f"{kept.name} was attached to, not started here", hint=kept.again)
        return await self.launch(
            kept.plan.plan(caller.env, caller.umask),
            name=kept.name,
            default_name=kept.name,
            caller=Caller(kept.base, caller.env, caller.umask, caller.client),
            catch=kept.catch,
            kept=kept,
        )

    def _add(self, name: str, backend: Backend, origin: Origin, parent: Session | None) -> Session:
        self._runs += 1
        if old := self._all.get(name):
            self._forget(old)
        ended = [each for each in self._all.values() if each.parent is None and not any(m.live for m in each.family())]
        for each in ended[: max(0, len(ended) - MOST_ENDED)]:
            self._forget(each)
        session = Session(name, backend, origin, self._spill / f"{name}-{self._runs}", parent)
        if old and not parent and old.origin.root == origin.root:
            session.output.turn = old.output.turn + 1
        session.log_events = self._settings.at(origin.root).log_events
        session.tape = taping.begin(session, self.recorder if self._settings.at(origin.root).record else None)
        session.on_child = self._on_child
        session.on_end = self._on_end
        session.on_breakpoints = self._on_breakpoints
        self._all[name] = session
        self.on_change()
        return session

    def _on_breakpoints(self, session: Session) -> None:
        self._keep(session)
        taping.breakpoints(session)

    def _on_end(self, session: Session) -> None:
        self._keep(session)
        taping.over(session)
        self.on_change()

    def _on_child(self, parent: Session, event: contract.ChildOpened) -> None:
        self._spawn(self._adopt(parent, event), f"child of {parent.name}")

    async def _adopt(self, parent: Session, event: contract.ChildOpened) -> None:
        """Take a new process of the family in: the parent's breakpoints first, then let it run."""
        number = 1 + sum(1 for _ in parent.root.family() if _ is not parent.root)
        name = f"{parent.root.name}.{number}"
        child = self._add(name, event.backend, parent.origin, parent)
        parent.children.append(child)
        child.breakpoints.adopt(parent.breakpoints)
        child.catch, child.private = parent.catch, parent.private
        child.command = (event.name,) if event.name else ()
        try:
            await child.start()
        except StillframeError as error:
            parent.note(f"a child process could not be followed: {error.message}")
            await child.close()

    # Ending

    async def end(self, session: Session, *, terminate: bool, tree: bool = False) -> tuple[int, ...]:
        """End a session and its descendants. The answer names processes that the program had detached and that live on."""
        family = list(session.family())
        # A program goes on when its child ends (a shell to its next command), so the eldest, with all below it, ends first.
        for member in family if terminate else reversed(family):
            await member.end(terminate=terminate)
        left: tuple[int, ...] = ()
        if terminate and session.phase is not Phase.DETACHED and isinstance(session.backend, Leaves):
            left = await session.backend.left_behind(end=tree)
        for member in session.family():
            await member.close()
            taping.over(member)
        self._keep(session)
        self.on_change()
        return left

    async def discard(self, session: Session) -> None:
        """End a session and forget it, as if it had never been."""
        await self.end(session, terminate=session.backend.launched)
        self._forget(session)
        self.on_change()

    def _forget(self, session: Session) -> None:
        for member in list(session.family()):
            member.output.close()
            self._all.pop(member.name, None)
            task = asyncio.get_running_loop().create_task(member.close())  # a debugger's pipes outlive its program
            self._leaving.add(task)
            task.add_done_callback(self._leaving.discard)

    async def close(self) -> None:
        """End everything, leave nothing behind."""
        self._closing.set()
        self._leases_changed.set()
        roots = [each for each in self._all.values() if each.parent is None]
        await asyncio.gather(
            *(self.end(each, terminate=each.backend.launched) for each in roots), return_exceptions=True
        )
        for session in self._all.values():
            await session.close()
            session.output.close()
        self._all.clear()
        with contextlib.suppress(OSError):  # only there if something was spilt
            self._spill.rmdir()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, *self._leaving, return_exceptions=True)

    async def _watch_leases(self) -> None:
        """Give up sessions that nobody used for their lease; looks again when the next one could be over."""
        while not self._closing.is_set():
            waits = [await self._look_at_lease(each) for each in self.all if each.live and each.parent is None]
            self._leases_changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(waits, default=None)):
                    await self._leases_changed.wait()

    async def _look_at_lease(self, session: Session) -> float:
        """End a session whose lease is over; else how long it still has."""
        lease = self._leases.get(session.name, self._settings.at(session.origin.root).lease)
        left = lease - (time.monotonic() - max(member.idle_since for member in session.family()))
        if left > 0 or not lease:
            return max(left, LEAST_LOOK)
        session.given_up = f"since nobody used it for {lease:g} s"
        session.note(f"nobody used it for {lease:g} s, so it was {'ended' if session.backend.launched else 'let go'}")
        await self.end(session, terminate=session.backend.launched)
        return float("inf")

    # On disk

    def _keep(self, session: Session) -> None:
        if self._shelf and session.parent is None and session.origin.kept and not session.private:
            self._shelf.save(snapshot(session))

    def _spawn(self, work: Coroutine[None, None, None], name: str) -> None:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
