"""Putting a host together: settings, the sessions, the adapters that open debuggers, and dispatch over them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from .. import settings as settings_
from ..adapters import open_program, open_running
from ..dispatch import Dispatcher
from ..model.backend import AttachPlan, Backend, Plan
from ..session.sessions import Sessions
from ..settings import Settings


async def open_plan(plan: Plan | AttachPlan) -> Backend:
    """The debugger for a plan, whichever kind it is."""
    return await open_program(plan) if isinstance(plan, Plan) else await open_running(plan)


@asynccontextmanager
async def host(settings: Settings | None = None, state: Path | None = None) -> AsyncIterator[Dispatcher]:
    """A dispatcher over a new set of sessions; leaving it ends every one of them."""
    chosen = settings or settings_.load()
    folder = (state or settings_.directory("state")) / f"host-{os.getpid()}"
    async with Sessions(open_plan, chosen, folder, folder.parent / "sessions") as sessions:
        yield Dispatcher(sessions)
