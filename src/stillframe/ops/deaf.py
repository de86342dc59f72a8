"""A program that lets nobody run, its debugger neither: what its runtime can still write of where it is, as it is ended."""

from __future__ import annotations

import contextlib
import resource
import signal

import msgspec

from ..adapters.leaving import last_words_of
from ..errors import AdapterUnresponsive
from ..model.plans import Plan
from ..model.reports import HangReport, Waiting, Witnessed
from ..session.session import Session
from ..transport.trees import signal_main_thread
from .dying import last_calls
from .hanging import gathered

STATE = "in native code that lets nobody else run"
ENDED = "it could not be held, so it was ended by SIGABRT, and its runtime wrote where it was: there are places, and no values"
_WRITES = 5.0
"""Seconds that a runtime is given to write down where it is."""


async def gathered_or_told(session: Session, plan: object, *, after: float | None, live: bool) -> HangReport:
    """Who waits where; of a program of ours that does not even answer, and that nobody wants to keep, its last words."""
    try:
        return await gathered(session, after=after, live=live)
    except AdapterUnresponsive:
        pid = session.backend.pid
        if live or not isinstance(plan, Plan) or pid is None or len(list(session.family())) > 1:
            raise
        report = await _told(session, plan, pid)
        if report is None:
            raise
        return msgspec.structs.replace(report, after=after)


async def _told(session: Session, plan: Plan, pid: int) -> HangReport | None:
    with contextlib.suppress(ProcessLookupError):
        if hasattr(resource, "prlimit"):
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))  # it ends as planned: no core is wanted
        signal_main_thread(pid, signal.SIGABRT)
    await session.settle(_WRITES)
    told = last_calls(session, plan)
    if told is None:
        return None
    group = Waiting(what="thread", names=("main",), count=1, stack=Witnessed(frames=told.frames), state=STATE)
    return HangReport(groups=(group,), parties=1, notes=(ENDED,))


def without_last_words(stderr: str, plan: object) -> str:
    """Standard error without what a runtime wrote there of its end, which the report tells."""
    found = last_words_of(plan, stderr) if isinstance(plan, Plan) else None
    return found.rest if found is not None else stderr
