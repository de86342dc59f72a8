"""What a program waits for that does not end: its threads and tasks, grouped by where they stand in the user's code."""

from __future__ import annotations

import re

import msgspec

from ..adapters.leaving import waited_for
from ..errors import AdapterGone, AdapterUnresponsive, StillframeError
from ..model.backend import Bounds
from ..model.outcomes import Stop
from ..model.powers import Party, TellsLeft, TellsWaits, Wraps
from ..model.reports import HangReport, Waiting, Witnessed, spot
from ..model.values import Frame, Thread, Value
from ..session import taping
from ..session.phases import Phase
from ..session.reporting import Call, folded, told_frame, unlinked, with_values
from ..session.session import Session

LANDS = 2.0
"""Seconds that a pause is given; a thread that is blocked where its debugger cannot hold it is looked at all the same."""
UNKNOWN = "unknown"
_TAKES_LOCK = re.compile(
    r"(mutex|lock)\w*(<.*>|\))?[._:#]*(timed|read|write|rd|wr|clock)?_?lock|(Mutex|Monitor)#(mon_)?(enter|synchronize)",
    re.IGNORECASE,
)
"""Calls that take a lock, by name: pthread_mutex_lock, std::mutex::lock, Mutex<T>::lock, sync.(*Mutex).Lock, Mutex#lock."""
MOST_PARTIES = 200
MOST_KEPT = 20
"""Groups that go to the record."""
MOST_CALLS = 8
DEEP = 60


def takes_lock(function: str) -> bool:
    """Whether a call takes a lock, by its name."""
    return _TAKES_LOCK.search(function) is not None


class Stand(msgspec.Struct):
    """Where one of them stands, and what it waits for."""

    member: Session
    party: Party
    calls: list[Call]
    others: dict[str, Stand]
    """All of its process, by their ids."""

    @property
    def name(self) -> str:
        """Its name; a thread of many with the same name is told by its handle, too."""
        threads = [each.party.name for each in self.others.values() if each.party.frames is None]
        if self.party.frames is not None or threads.count(self.party.name) == 1:
            return self.party.name
        return f"{self.party.name} {self.member.handles.thread(self.party.id)}"

    @property
    def is_users(self) -> bool:
        """Whether it stands in the user's code; or nowhere at all, and yet something is known of what it waits for."""
        if not self.calls:
            return self.party.waits_for is not None
        return self.calls[0].frame.kind == "user"

    @property
    def waits_for(self) -> str | None:
        """What is known of it; else the call of somebody else's code that the user's innermost call is in."""
        if self.party.ends in self.others:
            return f"thread {self.others[self.party.ends].name} to end"
        if self.party.waits_for or self.party.state == "running" or not self.is_users:
            return self.party.waits_for
        inside = self.calls[0].folded
        name = inside[-1].function.removeprefix("[C] ").lstrip("_") if inside else None  # rdbg marks C so
        return waited_for(name) if name else None

    @property
    def held_by(self) -> str | None:
        """Who holds what it waits for; where that is a lock, by the name of the call, and nothing tells: nobody known."""
        if self.party.holder in self.others:
            return self.others[self.party.holder].standing
        waits = self.waits_for
        if self.party.held_by or self.party.waits_for or waits is None:
            return self.party.held_by
        return UNKNOWN if takes_lock(waits) else None

    @property
    def standing(self) -> str:
        """Its name and the place in the user's code where it stands."""
        frame = self.calls[0].frame if self.calls and self.is_users else None
        return f"{self.name} at {self.member.show(frame.file)}:{frame.line}" if frame and frame.file else self.name

    @property
    def key(self) -> tuple[object, ...]:
        places = tuple(spot(call.frame) for call in self.calls)
        return self.member.name, self.party.what, places, self.party.state, self.waits_for, self.held_by


class Crowd(msgspec.Struct):
    """All that was found, and what could not be looked at."""

    stands: list[Stand] = msgspec.field(default_factory=list[Stand])
    notes: list[str] = msgspec.field(default_factory=list[str])
    total: int = 0


async def gathered(session: Session, *, after: float | None, live: bool) -> HangReport:
    """Pause every process of the family and tell who waits where; the program stays held."""
    crowd = Crowd()
    for member in session.family():
        if member.live and not isinstance(member.backend, Wraps):
            await pause(member)
            await _look(member, crowd)
    if not crowd.stands:
        crowd.notes += [each.backend.without_debugger() for each in session.family() if isinstance(each.backend, Wraps)]
    return await _report(crowd, after=after, live=live)


async def left_waiting(session: Session) -> HangReport:
    """Of a program that is over: who still waited when it had nothing more to do."""
    crowd = Crowd()
    for member in session.family():
        if isinstance(member.backend, TellsLeft):
            known = member.backend.left_waiting
            others: dict[str, Stand] = {}
            others |= {each.id: Stand(member, each, folded(each.frames or ()), others) for each in known}
            crowd.stands.extend(others.values())
            crowd.total += len(known)
    return await _report(crowd, after=None, live=False)


async def _report(crowd: Crowd, *, after: float | None, live: bool) -> HangReport:
    groups: dict[tuple[object, ...], list[Stand]] = {}
    # Of a program that has nothing of the user's, as `python -m http.server`, what there is.
    shown = [stand for stand in crowd.stands if stand.is_users] or crowd.stands
    for stand in shown:
        groups.setdefault(stand.key, []).append(stand)
    many = len({stand.member.name for stand in crowd.stands}) > 1
    ring = _cycle(crowd.stands)
    told = [await _told(same, live=live, named=many) for same in groups.values()]
    for same, each in list(zip(groups.values(), told, strict=True))[:MOST_KEPT]:
        if each.stack.frames:
            await taping.stopped(same[0].member, _as_stop(each))
    told.sort(key=lambda each: (not set(each.names) & set(ring), each.state == "running", -each.count))
    runtime = len(crowd.stands) - len(shown)
    return HangReport(
        after=after,
        groups=tuple(told),
        parties=crowd.total,
        runtime=runtime + crowd.total - len(crowd.stands),
        cycle=ring,
        notes=tuple(dict.fromkeys(crowd.notes)),
    )


async def pause(member: Session) -> None:
    """Ask for a stop and give it a while: where every thread is blocked it never comes, and that is no error."""
    try:
        await member.pause()
    except AdapterUnresponsive:
        raise  # nor would it answer anything else
    except StillframeError:
        pass  # then it is looked at as it runs, as far as that goes
    await member.bell.wait_for(
        lambda: not member.live or (member.phase is Phase.STOPPED and member.stop is not None), LANDS
    )


async def _look(member: Session, crowd: Crowd) -> None:
    known = await _parties(member, crowd)
    try:
        threads = await member.backend.threads(states=True)
    except AdapterGone:
        return
    crowd.total += len(threads) + sum(each.frames is not None for each in known.values())
    others: dict[str, Stand] = {}
    for thread in threads[:MOST_PARTIES]:
        party = known.get(thread.id) or _plain(thread)
        calls = await _calls(member, thread, crowd, silent=thread.id in known)
        others[party.id] = Stand(member, party, calls, others)
    for party in known.values():
        if party.frames is not None:
            others[party.id] = Stand(member, party, folded(party.frames), others)
    crowd.stands.extend(others.values())


async def _parties(member: Session, crowd: Crowd) -> dict[str, Party]:
    backend = member.backend
    if not isinstance(backend, TellsWaits):
        return {}
    try:
        return {each.id: each for each in await backend.waits(Bounds(values=12, text=120))}
    except StillframeError as error:
        crowd.notes.append(f"what the threads wait for could not be asked: {error.message}")
        return {}


def _plain(thread: Thread) -> Party:
    # Where it stands is told anyway; what its debugger puts behind a number is that again.
    name = thread.name if thread.what == "thread" else thread.name.partition(":")[0]
    return Party(thread.id, thread.what, name)


async def _calls(member: Session, thread: Thread, crowd: Crowd, *, silent: bool) -> list[Call]:
    try:
        page = await member.backend.stack(thread.id, 0, DEEP)
    except StillframeError as error:
        if not silent:
            crowd.notes.append(f"{thread.name} could not be looked at: {error.message}")
        return []
    return folded(page.frames)[:MOST_CALLS]


async def _told(same: list[Stand], *, live: bool, named: bool) -> Waiting:
    """Those that stand in the same place, by the evidence of the first."""
    first = same[0]
    live = live and first.member.phase is Phase.STOPPED  # else no handle could be looked into
    frames = []
    for number, call in enumerate(first.calls):
        frame = told_frame(first.member, call, number)
        if number == 0 and first.party.frames is not None:
            values: tuple[Value, ...] = tuple(unlinked(each) for each in first.party.values)
            frame = msgspec.structs.replace(frame, values=values)
        elif number < 2 and first.party.frames is None and first.is_users:
            frame = await with_values(first.member, frame, call.frame, 1 + number, live=live)
        frames.append(frame)
    where = f" in {first.member.name}" if named else ""
    return Waiting(
        what=first.party.what,
        names=tuple(f"{each.name}{where}" for each in same),
        count=len(same),
        stack=Witnessed(frames=tuple(frames)),
        waits_for=first.waits_for,
        held_by=first.held_by,
        state=first.party.state,
    )


def _as_stop(group: Waiting) -> Stop:
    """Where some wait, as the record keeps it, though nobody was stopped there."""
    top = group.stack.frames[0]
    frames = tuple(
        Frame(function=each.function, file=each.file, line=each.line, id=f"f{number}")
        for number, each in enumerate(group.stack.frames)
    )
    return Stop(
        reason="hang",
        thread=group.names[0],
        frame=frames[0],
        stack=frames,
        source=top.source,
        locals=tuple(unlinked(each) for each in top.values),
    )


def _cycle(stands: list[Stand]) -> tuple[str, ...]:
    """Some that wait for each other all round, by name; empty where there is no such ring."""
    by_id = {(stand.member.name, stand.party.id): stand for stand in stands}
    over: set[tuple[str, str]] = set()  # those from where no ring is come to
    for member, begin in by_id:
        way = [begin] if (member, begin) not in over else []
        ahead = [iter(by_id[member, begin].party.on)]
        while way:
            here = next(ahead[-1], None)
            if here is None:
                ahead.pop()
                over.add((member, way.pop()))
            elif here in way:
                return tuple(by_id[member, id].name for id in way[way.index(here) :])
            elif (member, here) in by_id and (member, here) not in over:
                way.append(here)
                ahead.append(iter(by_id[member, here].party.on))
    return ()
