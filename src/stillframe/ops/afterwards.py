"""Post mortem: what the looking verbs answer from the record when the program is gone, and that they say so."""

from __future__ import annotations

import sqlite3

from ..errors import NoSession, NotFound, Try
from ..model.outcomes import Stop
from ..model.plans import Caller
from ..model.values import Frames, Values
from ..model.views import OutputPage
from ..record import chronicle, finding, reading
from ..record.finding import Run, View
from ..record.record import Record
from ..registry import Meant
from ..session.roll import nobody_here
from ..session.session import Session
from .record import chosen


async def _seen(
    record: Record, meant: Meant, caller: Caller, session: Session | None, hit: str | None
) -> tuple[reading.Row, Stop, str]:
    """The hit that is meant, or the last one of the run; where there is none, what the session itself would say."""

    def ask(connection: sqlite3.Connection) -> tuple[reading.Row, Stop, str]:
        run = chosen(connection, meant) if hit else finding.run(connection, meant.root, meant.name or meant.running)
        id = finding.hit(connection, meant.root, hit, run) if hit else _last(connection, run)
        (row,) = reading.rows(connection, [id])
        said = _whence(connection, run, row, last=hit is None)
        return row, reading.stop(connection, row, View(caller.cwd, meant.root)), said

    try:
        return await record.look(ask)
    except NotFound:
        if hit is not None:
            raise
        if session is not None:
            session.need_stopped()
        raise _nobody(meant) from None


def _nobody(meant: Meant) -> NoSession:
    if meant.name is None:
        return nobody_here(meant.others)
    return NoSession(f"there is no session {meant.name}, and none is recorded", hint=Try("sessions"))


def _last(connection: sqlite3.Connection, run: Run) -> int:
    found = connection.execute(f"SELECT max(id) FROM hit WHERE run IN ({run.marks})", run.members).fetchone()[0]
    if found is None:
        raise NotFound(f"{run.handle} ({run.name}) was never stopped, so nothing of it was seen", hint=Try("history"))
    return int(found)


def _whence(connection: sqlite3.Connection, run: Run, row: reading.Row, *, last: bool) -> str:
    state = finding.info(connection, row.run).state
    which = f"{row.handle}, its last stop" if last else row.handle
    if state == "live":
        return f"from the record: r{row.run}.{which}"
    return f"post mortem, from the record: r{row.run}.{which} ({row.session} {state})"


async def stack(
    record: Record, meant: Meant, caller: Caller, session: Session | None, hit: str | None, start: int, count: int
) -> Frames:
    _, stop, said = await _seen(record, meant, caller, session, hit)
    return Frames(
        frames=stop.stack[start : start + count],
        total=stop.stack_total or len(stop.stack),
        start=start,
        thread=stop.thread,
        notes=(said,),
    )


async def locals(
    record: Record, meant: Meant, caller: Caller, session: Session | None, hit: str | None, start: int, count: int
) -> Values:
    _, stop, said = await _seen(record, meant, caller, session, hit)
    return Values(
        values=stop.locals[start : start + count],
        total=stop.locals_total or len(stop.locals),
        start=start,
        notes=(said,),
    )


async def output(record: Record, meant: Meant, streams: tuple[str, ...], limit: int) -> OutputPage:
    """What a run printed that no session in memory tells of any more."""

    def ask(connection: sqlite3.Connection) -> OutputPage:
        run = finding.run(connection, meant.root, meant.name)
        told, total, missing = chronicle.output(connection, run, streams, limit)
        return OutputPage(
            **told, total=total, dropped=missing, notes=(f"post mortem, from the record: {run.handle} ({run.name})",)
        )

    try:
        return await record.look(ask)
    except NotFound:
        raise _nobody(meant) from None
