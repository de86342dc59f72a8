"""A recorded run gone through once more, under the debugger, and held where it was interesting: `--hold` of its report."""

from __future__ import annotations

import asyncio
from typing import Annotated

from ..model.outcomes import Stop
from ..model.places import BreakSpec
from ..model.plans import Caller, Plan
from ..model.reports import Held
from ..registry import Param
from ..session.session import Session
from ..session.sessions import Sessions
from .common import heard_of
from .launch import start
from .private_runs import started
from .programs import default_name

LEASE = 600.0
"""Seconds that a program is kept which nobody uses."""
AWAY = "--hold: a second run, under the debugger, did not come there"
Hold = Annotated[
    bool, Param("run it once more, under the debugger, and keep it held there, as a session for eval, expand and frame")
]


async def held_again(
    sessions: Sessions, caller: Caller, plan: Plan, spec: BreakSpec, timeout: float | None
) -> tuple[Session, Held] | None:
    """The session that is held at the place, and what to say of it; None where the second run did not come there."""
    begun = start(
        sessions, plan, caller, breaks=(spec,), catch=("off",), name=None, default_name=default_name(plan), lease=LEASE
    )
    session = await started(sessions, asyncio.ensure_future(begun))
    wait = sessions.settings(session.origin.base).wait if timeout is None else timeout
    member = await heard_of(session, wait)
    if isinstance(member.outcome(), Stop):
        return member, Held(session=member.name, lease=LEASE)
    await asyncio.shield(asyncio.ensure_future(sessions.discard(session)))
    return None
