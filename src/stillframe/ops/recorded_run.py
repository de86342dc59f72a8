"""A run that is recorded from the inside: a private session without a debugger, and what its processes wrote of themselves."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import msgspec

from ..adapters.recorders import Recorder, Recording, failures, read, recorded, write_ask
from ..errors import UsageError
from ..model.outcomes import AnyOutcome, Exited, Running
from ..model.places import AddressPlace, DataPlace, HerePlace, Place, SymbolPlace
from ..model.plans import Caller, Plan
from ..model.powers import Leaves
from ..model.recorder import Ask, Where
from ..session.breakpoints import locate
from ..session.ready import Ready
from ..session.session import Session
from ..session.sessions import Sessions
from ..transport.folders import private_folder, remove_folder
from ..transport.trees import grouped, is_alive, wait_pid
from .common import AFTER_END, heard_next, run_beside, take_printed, waited_after_do
from .launch import start
from .private_runs import started
from .programs import default_name

SLOW = {
    "sys.settrace": "recorded by sys.settrace, which slows every call in the program, 1.5 to 5 times (not from 3.12 on)"
}


class RecordedRun(msgspec.Struct, frozen=True):
    """The run, which is over, and its recordings, which can be read until the folder goes."""

    session: Session
    end: AnyOutcome
    recordings: tuple[Recording, ...]
    notes: tuple[str, ...]
    how: str
    """What it was recorded by."""


@contextlib.asynccontextmanager
async def recorded_run(
    sessions: Sessions,
    caller: Caller,
    plan: Plan,
    recorder: Recorder,
    ask: Ask,
    *,
    verb: str,
    readiness: Ready | None = None,
    do: str | None = None,
    timeout: float | None = None,
) -> AsyncIterator[RecordedRun]:
    """Run it to its end, or for as long as there is; then nothing of it is left but what was recorded."""
    folder = Path(private_folder())
    try:
        await asyncio.to_thread(write_ask, folder, ask)
        plain = await recorder.prepare(plan, folder)
        name = f"{verb}-{default_name(plan)}"
        begun = start(sessions, plain, caller, breaks=(), catch=("off",), name=None, default_name=name, private=True)
        session = await started(sessions, asyncio.ensure_future(begun))
        try:
            end = await _ended(sessions, session, caller, readiness, do, timeout)
            left = await _left_behind(folder, session.backend.pid) if isinstance(end, Exited) else []
            if left and isinstance(session.backend, Leaves):
                await session.backend.left_behind(end=True)
        finally:
            await asyncio.shield(asyncio.ensure_future(sessions.discard(session)))
        found = await asyncio.to_thread(read, folder)
        notes = [f"the recorder could not begin: {each}" for each in await asyncio.to_thread(failures, folder)]
        if left:
            notes.append(f"what it left behind was ended after {AFTER_END:g} s: pid {', '.join(map(str, left))}")
        if not found and not notes:
            notes.append(f"nothing was recorded: {recorder.unseen(plan)}")
        if isinstance(end, Running) and end.do and not any(each.running for each in end.do):
            notes.append(waited_after_do())
        told = list(dict.fromkeys((each.how, each.runtime) for each in (one.hello for one in found) if each))
        notes += [f"{runtime}: {SLOW[how]}" for how, runtime in told if how in SLOW]
        how = ", ".join(f"{how}, {runtime}" for how, runtime in told)
        yield RecordedRun(session, end, found, tuple(notes), how)
    finally:
        remove_folder(str(folder))


async def _ended(
    sessions: Sessions,
    session: Session,
    caller: Caller,
    readiness: Ready | None,
    do: str | None,
    timeout: float | None,
) -> AnyOutcome:
    wait = sessions.settings(session.origin.base).wait if timeout is None else timeout
    loop = asyncio.get_running_loop()
    began = loop.time()
    if readiness:
        await readiness.wait(session, wait)
    if do:
        await run_beside(session, do, caller)
    await heard_next(session, max(0.0, wait - (loop.time() - began)))
    await take_printed(session)
    end = session.outcome(after=round(loop.time() - began, 1))
    return msgspec.structs.replace(end, never_hit=()) if isinstance(end, Exited) else end


async def _left_behind(folder: Path, program: int | None) -> list[int]:
    """The processes that outlived the program, as a daemon does, after they were waited for a while. Each has a recording, or
    is still of the process group of one that started it: nothing that it does comes before its recorder."""
    until = asyncio.get_running_loop().time() + AFTER_END
    known = {program} if program else set[int]()
    while True:
        for _ in range(2):  # one may have left its group between the two looks, and then has a file
            known |= await asyncio.to_thread(recorded, folder)
            known |= await asyncio.to_thread(grouped, frozenset(known))
        living = [pid for pid in known if is_alive(pid)]
        left = until - asyncio.get_running_loop().time()
        if not living or left <= 0:
            return sorted(living)
        ends = [asyncio.ensure_future(wait_pid(pid)) for pid in living]
        try:
            await asyncio.wait(ends, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in ends:
                each.cancel()


def doubts(commands: Iterable[str], end: AnyOutcome) -> tuple[str, ...]:
    """What is to be said where nothing was reached. The recorder comes along behind other programs, a shell for one, only as far
    as they pass on the environment; and it tells at the program's end whether something there took its place."""
    named = ", ".join(f"`{each}`" for each in dict.fromkeys(commands))
    said: list[str] = []
    if named:
        said.append(
            f"the program also started {named}: what such a program runs with an environment of its own is not recorded"
        )
    if isinstance(end, Exited) and end.signal:
        said.append(f"{end.signal} ended the program before the recorder could say whether it had heard of all of it")
    return tuple(said)


def where(place: Place, cwd: str) -> Where:
    """A place as a recorder is asked for it."""
    match place:
        case SymbolPlace(name, module):
            locate(place, cwd)
            return Where(function=name, module=module)
        case HerePlace() | AddressPlace() | DataPlace():
            raise UsageError(f"{place} is no place that can be recorded: use a function's name, or file:line")
        case _:
            _, wanted = locate(place, cwd)
            return Where(file=str(Path(wanted.file or "").resolve()), line=wanted.line)
