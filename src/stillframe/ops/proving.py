"""A debugger put to the proof: a program of three lines is stopped, looked into and run to its end, as any user's would be."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from ..adapters import Adapter
from ..adapters.samples import Sample
from ..errors import AdapterUnresponsive, EvalFailed
from ..model.backend import Move, Tool
from ..model.outcomes import AnyOutcome, Exited, Stop
from ..model.places import BreakSpec, LinePlace
from ..model.plans import Caller
from ..session.sessions import Sessions
from ..transport.folders import private_folder, remove_folder
from .common import settle
from .launch import start
from .programs import RunTerms, make_plan

_TOTAL = "42"


async def prove(sessions: Sessions, caller: Caller, adapter: Adapter, sample: Sample, seconds: float) -> Tool:
    """Debug the sample by this adapter; the debugger that did it, or the error that says what went wrong."""
    try:
        with _written(sample) as folder:
            async with asyncio.timeout(seconds):
                return await _debugged(sessions, replace(caller, cwd=folder), adapter, sample, seconds)
    except TimeoutError:
        raise AdapterUnresponsive(f"{sample.file} was not debugged to its end within {seconds:g} s") from None


@contextlib.contextmanager
def _written(sample: Sample) -> Iterator[str]:
    folder = private_folder()
    try:
        Path(folder, sample.file).write_text(sample.text)
        yield folder
    finally:
        remove_folder(folder)


async def _debugged(sessions: Sessions, caller: Caller, adapter: Adapter, sample: Sample, seconds: float) -> Tool:
    plan = make_plan(caller, (sample.file,), (), RunTerms(adapter=adapter.name))
    stop_at = (BreakSpec(LinePlace(sample.file, sample.line)),)
    session = await start(
        sessions,
        plan,
        caller,
        breaks=stop_at,
        catch=("off",),
        name=None,
        default_name="sample",
        private=True,
        recorded=False,  # it is ours, and tells nobody anything about a program of theirs
    )
    try:
        first = (await settle(sessions, session, seconds)).result
        _check_stop(first, sample)
        await session.resume(Move.CONTINUE)
        _check_end((await settle(sessions, session, seconds)).result, sample)
        return session.tool
    finally:
        await asyncio.shield(asyncio.ensure_future(sessions.discard(session)))


def _check_stop(outcome: AnyOutcome, sample: Sample) -> None:
    if not isinstance(outcome, Stop) or outcome.frame is None or outcome.frame.line != sample.line:
        raise EvalFailed(f"{sample.file} did not stop at its line {sample.line}: {_told(outcome)}")
    if (seen := outcome.local("total")) != _TOTAL:
        raise EvalFailed(f"the variable total of {sample.file} is {_TOTAL}, and the debugger says {seen}")


def _check_end(outcome: AnyOutcome, sample: Sample) -> None:
    if not isinstance(outcome, Exited) or outcome.exit_code not in (0, None):
        raise EvalFailed(f"{sample.file} did not run to its end: {_told(outcome)}")


def _told(outcome: AnyOutcome) -> str:
    """What came instead, in a few words."""
    match outcome:
        case Stop():
            return f"stopped for {outcome.reason}"
        case Exited():
            missed = "; ".join(each.message for each in outcome.never_hit if each.message)
            return f"exited {outcome.exit_code}" + (f" ({missed})" if missed else "")
        case _:
            return type(outcome).__name__.lower()
