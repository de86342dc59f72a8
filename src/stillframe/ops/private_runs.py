"""Runs that belong to one call: the program that is meant, and the session that nobody else knows of."""

from __future__ import annotations

import asyncio

from ..errors import StillframeError, UsageError
from ..model.places import BreakSpec, LinePlace, TextPlace
from ..model.plans import Caller, Plan
from ..session.session import Session
from ..session.sessions import Sessions
from .launch import make_plan


async def started(sessions: Sessions, starting: asyncio.Future[Session]) -> Session:
    """The session of a report, which nobody else knows of: given up while it starts, it is ended as soon as it has."""
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await asyncio.shield(asyncio.ensure_future(_undo(sessions, starting)))
        raise


async def _undo(sessions: Sessions, starting: asyncio.Future[Session]) -> None:
    try:
        session = await starting
    except StillframeError:
        return  # it did not even start
    await sessions.discard(session)


def plan_for(
    caller: Caller,
    places: tuple[BreakSpec, ...],
    command: tuple[str, ...],
    module: str | None,
    code: str | None,
    cwd: str | None,
    env: tuple[str, ...],
    stdin: str | None,
    python: str | None,
    all_code: bool,
    children: bool,
    *,
    verb: str = "probe",
) -> tuple[Plan, bool]:
    """The program to look into; where none was given, the file of the first place that names one."""
    program: tuple[str, ...] = ()
    assumed = not command and module is None and code is None
    if assumed:
        files = [spec.place.file for spec in places if isinstance(spec.place, LinePlace | TextPlace)]
        if not files:
            raise UsageError(
                f"{verb} {places[0].place} in what? Give a command: dbg {verb} {places[0].place} -- python app.py"
            )
        program = (files[0],)
    plan = make_plan(
        caller, program, command, module=module, code=code, cwd=cwd, env=env, stdin=stdin, python=python,
        all_code=all_code, children=children,
    )  # fmt: skip
    return plan, assumed
