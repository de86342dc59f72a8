"""Running tests: one run as the runner itself would do it, read when it ends, and what matched nothing said to."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ..adapters.runners import Choice, TestAsk
from ..errors import NotFound
from ..model.outcomes import AnyOutcome, Stop
from ..model.plans import Caller, Plan
from ..model.tested import Told
from ..session.session import Session
from ..session.sessions import Sessions
from ..transport.folders import private_folder, remove_folder
from .common import run_beside, take_printed
from .held import LEASE
from .launch import start
from .private_runs import started

WORDS = 16_000
"""Bytes of each stream in which a runner's own words are looked for."""
NEAREST, ALIKE, MOST_NAMES = 6, 0.6, 5000


class Asked(msgspec.Struct, frozen=True):
    """One call of `test`, with what it is done with."""

    sessions: Sessions
    caller: Caller
    choice: Choice
    ask: TestAsk
    wait: float
    do: str | None = None
    recorded: Callable[[Plan], Awaitable[Plan]] | None = None
    """What makes a run record itself."""


class Ran(msgspec.Struct, frozen=True):
    """One run of the tests: what was told, how it ended, and the session that it was, which may still be there."""

    told: Told
    end: AnyOutcome
    session: Session
    plan: Plan


@asynccontextmanager
async def run_tests(asked: Asked, ask: TestAsk) -> AsyncIterator[Ran]:
    """The tests, run once; what is held stays, and everything else is gone behind this."""
    folder = private_folder()
    stays = False
    try:
        plan = await asked.choice.runner.plan(ask, Path(folder))
        plan = await asked.recorded(plan) if asked.recorded else plan
        session = await _started(asked, plan, hold=ask.hold)
        try:
            if asked.do:
                await run_beside(session, asked.do, asked.caller)
            end = await _end(session, asked.wait)
            told = asked.choice.runner.read(ask, Path(folder), _with_words(session, end))
            stays = isinstance(end, Stop) and ask.hold
            yield Ran(told, end, session, plan)
        except BaseException:
            stays = False
            raise
        finally:
            if not stays:
                await asyncio.shield(asyncio.ensure_future(asked.sessions.discard(session)))
    finally:
        remove_folder(folder)


async def _started(asked: Asked, plan: Plan, *, hold: bool) -> Session:
    name = f"test-{asked.choice.runner.name}"
    starting = start(
        asked.sessions, plan, asked.caller, breaks=(), catch=("uncaught",) if hold else ("off",), name=None,
        default_name=name, private=not hold, lease=LEASE if hold else None,
    )  # fmt: skip
    return await started(asked.sessions, asyncio.ensure_future(starting))


async def _end(session: Session, wait: float) -> AnyOutcome:
    """Wait for the end of the tests, or for the failure at which they are held."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    member = await session.settle(wait)
    await take_printed(session)
    return member.outcome(after=round(loop.time() - began, 1))


def _with_words(session: Session, end: AnyOutcome) -> AnyOutcome:
    """The end with more of what was printed than a reply has: what went wrong may stand far above the last lines."""
    texts = {each.stream: each.text for each in session.output.tail(WORDS, ("stdout", "stderr"))[0]}
    return replace(end, output=texts.get("stdout", ""), stderr=texts.get("stderr", ""), stderr_began="")


async def check_matched(asked: Asked, ran: Ran) -> None:
    """Say what matched nothing, with the nearest names that there are."""
    counts, ask = ran.told.counts, asked.ask
    if counts.total or counts.uncollected or not ran.told.begun or not ran.told.finished:
        return
    what = asked.choice.runner.name
    words = " ".join([*([ask.selector] if ask.selector else []), *ask.args])
    if not words:
        raise NotFound(f"{what} finds no tests in {ask.cwd}")
    names = await _names(asked)
    if not names and ran.told.problem:
        raise NotFound(f"{what} runs no test for {words}: {ran.told.problem.splitlines()[-1]}")
    near = _nearest(ask.selector or words, names)
    listed = f"; nearest: {', '.join(near)}" if near else ""
    raise NotFound(f"{what} finds no test that matches {words}{listed}", detail={"nearest": near, "tests": len(names)})


async def _names(asked: Asked) -> tuple[str, ...]:
    """The names of all tests: of the file that was named, if there is one, else of the project."""
    listed = asked.choice.runner.listed(asked.ask)
    if listed is not None:
        return listed
    there = _file_of(asked.ask)
    async with run_tests(replace(asked, do=None), replace(asked.ask, selector=there, args=(), names=True)) as ran:
        return ran.told.names


def _file_of(ask: TestAsk) -> str | None:
    file = (ask.selector or "").partition("::")[0]
    return file if file and Path(ask.cwd, file).is_file() else None


def _nearest(wanted: str, names: tuple[str, ...]) -> list[str]:
    """The names most like the one wanted, compared by their last part."""
    word = _last_part(wanted, cut="[" not in wanted)
    likeness = {
        name: difflib.SequenceMatcher(None, word, _last_part(name, cut="[" not in wanted)).ratio()
        for name in names[:MOST_NAMES]
    }
    best = sorted(likeness, key=lambda name: -likeness[name])
    like = [name for name in best if likeness[name] >= ALIKE]
    return (like or best[:3])[:NEAREST]


def _last_part(name: str, *, cut: bool) -> str:
    last = name.rpartition("::")[2].rpartition("/")[2].lower()
    return last.partition("[")[0] if cut else last
