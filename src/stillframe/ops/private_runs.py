"""Runs that belong to one call: the program that is meant, and the session that nobody else knows of."""

from __future__ import annotations

import asyncio
import os
import shlex
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from ..adapters.interpreters import on_path
from ..errors import StillframeError, UsageError
from ..model.places import BreakSpec, LinePlace, TextPlace
from ..model.plans import Caller, Plan
from ..session.breakpoints import absolute
from ..session.session import Session
from ..session.sessions import Sessions
from .programs import RunTerms, environment, interpreter, make_plan

Assumed = Literal["script", "last command"]
"""How a program was found that nobody named."""


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
    sessions: Sessions,
    caller: Caller,
    verb: str,
    program: tuple[str, ...],
    command: tuple[str, ...],
    how: RunTerms,
    places: tuple[BreakSpec, ...] = (),
) -> tuple[Plan, Assumed | None]:
    """The program to run, and where none was given how it was found: the script that a place names, else the last command."""
    if how.stdin == "-":
        raise UsageError(f"{verb} runs a program by itself: --stdin takes a file here")
    if places and not program and _is_source(command, caller, how):
        program, command = command, ()
    given = program or command or how.module is not None or how.code is not None
    files = [spec.place.file for spec in places if isinstance(spec.place, LinePlace | TextPlace)]
    if given or files:
        plan = make_plan(caller, program if given else (files[0],), command, how)
        return plan, None if given else "script"
    last = sessions.commands.last(caller)
    if last is None:
        asked = f"{verb} {places[0].place}" if places else verb
        raise UsageError(
            f"{asked}{' in' if places else ''} what? None was run in this project yet: dbg {asked} -- python app.py"
        )
    if how.cwd is not None or how.stdin is not None:
        raise UsageError(
            f"--cwd and --stdin say how to run a command: give it, too, as in: dbg {verb} -- python app.py"
        )
    plan = replace(
        last,
        env=environment(caller, how),
        stdin=last.stdin if last.stdin != "-" else None,
        stop_on_entry=False,
        record=False,
        interpreter=interpreter(how, last.cwd) or last.interpreter,
        just_my_code=not how.all_code,
        children=how.children,
        adapter=how.adapter or last.adapter,
    )
    return plan, "last command"


def _is_source(command: tuple[str, ...], caller: Caller, how: RunTerms) -> bool:
    """Whether a command begins with a file that only a debugger's language makes a program of; verbs whose first words are
    places take it behind the `--`, where others take it before."""
    if not command or how.module is not None or how.code is not None:
        return False
    here = absolute(how.cwd, caller.cwd) if how.cwd else caller.cwd
    path = Path(here, command[0])
    is_command = os.access(path, os.X_OK) if "/" in command[0] else on_path(command[0], environment(caller, how), here)
    return os.path.isfile(path) and not is_command


def assumed_note(how: Assumed | None, plan: Plan) -> tuple[str, ...]:
    """What the reply says of a command that nobody gave."""
    if how != "last command":
        return ()
    return (f"no command was given, so the last one of this project was run: {shlex.join(plan.command)}",)
