"""Putting a host together: settings, the sessions, the adapters that open debuggers, and dispatch over them."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from .. import settings as settings_
from ..adapters import open_program, open_running
from ..dispatch import Dispatcher
from ..model.backend import Backend
from ..model.host import Host
from ..model.plans import AttachPlan, Plan
from ..policy import Audit
from ..record.pruning import birth
from ..record.record import Record
from ..session.kept import KeptDaemon
from ..session.sessions import Sessions
from ..session.shelf import Shelf
from ..settings import Settings
from .surroundings import Surroundings

_SCRATCH = "host-"


async def open_plan(plan: Plan | AttachPlan) -> Backend:
    """The debugger for a plan, whichever kind it is."""
    return await open_program(plan) if isinstance(plan, Plan) else await open_running(plan)


@asynccontextmanager
async def host(
    settings: Settings | None = None, *, reached_in: Path | None = None, around: Host | None = None
) -> AsyncIterator[Dispatcher]:
    """A dispatcher over a new set of sessions; leaving it ends every one of them.

    A host that others reach in a directory, as a daemon is, remembers commands and breakpoints on disk, for the next one to find.
    """
    state = settings_.directory("state")
    sweep(state)
    scratch = state / f"{_SCRATCH}{os.getpid()}"
    shelf = Shelf(state / "sessions", KeptDaemon.here(str(reached_in))) if reached_in else None
    record = Record(state, f"{os.getpid()}:{birth(os.getpid())}")
    if reached_in:
        usual = settings or settings_.load()
        record.keep_within(usual.record_days, usual.record_megabytes)
    try:
        async with Sessions(open_plan, settings_.PerProject(settings), scratch, shelf, record) as sessions:
            dispatcher = Dispatcher(sessions, around or Surroundings(), Audit(state / "audit.log"))
            try:
                yield dispatcher
            finally:
                dispatcher.write_down()
    finally:
        await record.close()


def sweep(state: Path) -> None:
    """Remove what hosts that were killed had spilt."""
    for folder in state.glob(f"{_SCRATCH}*"):
        pid = folder.name.removeprefix(_SCRATCH)
        if pid.isdigit() and not Path(f"/proc/{pid}").exists() and Path("/proc/self").exists():
            shutil.rmtree(folder, ignore_errors=True)
