"""A recorded run gone through once more, under the debugger, and held where it was interesting: `--hold` of its report.

A recorded program runs without a debugger and to its end, so it cannot be held itself; the reply says that this is another
run, and where that came there with other values.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

import msgspec

from ..model import wording
from ..model.outcomes import Stop
from ..model.places import BreakSpec
from ..model.plans import Caller, Plan
from ..model.reports import Held
from ..model.values import Value
from ..registry import Param
from ..session.ready import Ready
from ..session.session import Session
from ..session.sessions import Sessions
from .common import heard_next, run_beside
from .held import LEASE, left_held
from .launch import start
from .private_runs import started
from .programs import default_name

CUT = "…"


def away() -> str:
    return f"{wording.option('hold', None)}: a second run, under the debugger, did not come there"


Hold = Annotated[
    bool, Param("run it once more, under the debugger, and keep it held there, as a session for eval, expand and frame")
]


class Again(msgspec.Struct, frozen=True):
    """The session that is held at the place, and what to say of it."""

    session: Session
    held: Held
    notes: tuple[str, ...]


async def held_again(
    sessions: Sessions,
    caller: Caller,
    plan: Plan,
    spec: BreakSpec,
    readiness: Ready | None,
    do: str | None,
    timeout: float | None,
    seen: Sequence[Value],
) -> Again | None:
    """The second run, held where the first had these values; None where it did not come there."""
    begun = start(
        sessions, plan, caller, breaks=(spec,), catch=("off",), name=None, default_name=default_name(plan), lease=LEASE
    )
    session = await started(sessions, asyncio.ensure_future(begun))
    wait = sessions.settings(session.origin.base).wait if timeout is None else timeout
    if readiness:
        await readiness.wait(session, wait)
    if do:
        await run_beside(session, do, caller)
    member = await heard_next(session, wait)
    stop = member.outcome()
    if isinstance(stop, Stop):
        return Again(member, left_held(member, again=True), _otherwise(stop, seen))
    await asyncio.shield(asyncio.ensure_future(sessions.discard(session)))
    return None


def _otherwise(stop: Stop, seen: Sequence[Value]) -> tuple[str, ...]:
    """What the second run has otherwise than the first had it, as far as both are told whole."""
    told = {each.name: each.value for each in stop.locals if not each.truncated}
    return tuple(
        f"{wording.option('hold', None)}: in the second run {each.name} is {told[each.name]}, not {each.value}"
        for each in seen
        if CUT not in each.value and told.get(each.name, each.value) not in (each.value, None)
    )
