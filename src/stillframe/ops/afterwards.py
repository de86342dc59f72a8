"""Post mortem: what the looking verbs answer from the record when the program is gone, and that they say so."""

from __future__ import annotations

import sqlite3

from ..errors import NoSession, NotFound, Try, UsageError
from ..model.outcomes import Stop
from ..model.plans import Caller
from ..model.values import Frames, Value, Values
from ..model.views import OutputPage
from ..record import chronicle, finding, reading, texts, where
from ..record.finding import Run, View
from ..record.record import Record
from ..registry import Meant
from ..session.handles import frame_index, is_value_handle
from ..session.roll import nobody_here
from ..session.session import Session
from .record import chosen


async def _seen(
    record: Record, meant: Meant, caller: Caller, session: Session | None, hit: str | None
) -> tuple[reading.Row, Stop, str]:
    """The hit that is meant, or the last one of the run; where there is none, what the session itself would say."""

    def ask(connection: sqlite3.Connection) -> tuple[reading.Row, Stop, str] | Run:
        run = (
            chosen(connection, meant)
            if hit
            else finding.of_session(connection, meant.root, meant.name or meant.running)
        )
        id = finding.hit(connection, meant.root, hit, run) if hit else _last(connection, run)
        if id is None:
            return run
        (row,) = reading.rows(connection, [id])
        said = _whence(connection, run, row, last=hit is None, gap=record.gap)
        return row, reading.stop(connection, row, View(caller.cwd, meant.root)), said

    try:
        found = await record.look(ask)
    except NotFound as error:
        if hit is not None:
            error.message += f"; {record.gap}" if record.gap else ""
            raise
        if session is not None:
            session.need_stopped()
        raise _nobody(meant) from None
    if not isinstance(found, Run):
        return found
    if session is not None:
        session.need_stopped()
    never = f"{found.handle} ({found.name}) was never stopped, so nothing of it was seen"
    raise NotFound(f"{never}; {record.gap}" if record.gap else never, hint=Try("history"))


def _nobody(meant: Meant) -> NoSession:
    if meant.name is None:
        return nobody_here(meant.others)
    return NoSession(f"there is no session {meant.name}, and none is recorded", hint=Try("sessions"))


def _last(connection: sqlite3.Connection, run: Run) -> int | None:
    found = connection.execute(f"SELECT max(id) FROM hit WHERE run IN ({run.marks})", run.members).fetchone()[0]
    return None if found is None else int(found)


def _whence(connection: sqlite3.Connection, run: Run, row: reading.Row, *, last: bool, gap: str | None) -> str:
    state = finding.info(connection, row.run).state
    which = f"{row.handle}, {'the last stop that is written' if gap else 'its last stop'}" if last else row.handle
    more = f"; {gap}" if gap else ""
    if state == "live":
        return f"from the record: r{row.run}.{which}{more}"
    return f"post mortem, from the record: r{row.run}.{which} ({row.session} {state}){more}"


def _need_recorded(stop: Stop, said: str, frame: str | None, thread: str | None) -> None:
    """Nobody is told the variables of another frame, or the calls of another thread, than the one asked for."""
    if thread and thread != stop.thread:
        raise NotFound(f"of the threads only {stop.thread}, which had stopped, was recorded there ({said})")
    if frame and stop.frame is not None and frame_index(frame) != frame_index(stop.frame.id):
        raise NotFound(f"only the variables of {stop.frame.id} were recorded there ({said})", hint=Try("stack"))


async def stack(
    record: Record,
    meant: Meant,
    caller: Caller,
    session: Session | None,
    hit: str | None,
    thread: str | None,
    start: int,
    count: int,
) -> Frames:
    _, stop, said = await _seen(record, meant, caller, session, hit)
    _need_recorded(stop, said, None, thread)
    return Frames(
        frames=stop.stack[start : start + count],
        total=stop.stack_total or len(stop.stack),
        start=start,
        thread=stop.thread,
        notes=(said,),
    )


async def locals(
    record: Record,
    meant: Meant,
    caller: Caller,
    session: Session | None,
    hit: str | None,
    frame: str | None,
    thread: str | None,
    start: int,
    count: int,
) -> Values:
    _, stop, said = await _seen(record, meant, caller, session, hit)
    _need_recorded(stop, said, frame, thread)
    return Values(
        values=stop.locals[start : start + count],
        total=stop.locals_total or len(stop.locals),
        start=start,
        notes=(said,),
    )


async def expand(
    record: Record,
    meant: Meant,
    caller: Caller,
    session: Session | None,
    hit: str | None,
    frame: str | None,
    thread: str | None,
    value: str,
    start: int,
    count: int,
) -> Values:
    """The parts of a value as far as they were recorded; handles went with the program."""
    _, stop, said = await _seen(record, meant, caller, session, hit)
    _need_recorded(stop, said, frame, thread)
    found = _recorded(stop, value, said)
    parts = texts.inside(found)
    if not parts:
        raise NotFound(f"{value} holds nothing more that was recorded: {found.value}")
    total = max(found.total or 0, len(parts))
    notes = (said, f"of {value} only the first {len(parts)} parts were recorded") if total > len(parts) else (said,)
    if total == len(parts) and (found.truncated or (not found.children and texts.is_cut(found, more=False))):
        notes = (said, f"whether {value} had more than this was not recorded")
    return Values(values=parts[start : start + count], total=total, start=start, notes=notes)


def _recorded(stop: Stop, value: str, said: str) -> Value:
    """What a name or a path led to at a stop."""
    known = {each.name: each for each in stop.locals}
    if value in known:
        return known[value]
    path = where.parse_path(value)
    if path.of != "value":
        raise UsageError(f"{value!r} is no value: use a recorded name, or a path such as cart.lines")
    if path.root not in known:
        gone = "; handles went with the program" if is_value_handle(value) else ""
        more = " …" if len(known) > finding.LISTED else ""
        there = f"; there are: {', '.join(list(known)[: finding.LISTED])}{more}" if known else ""
        raise NotFound(f"no {path.root} was recorded there ({said}){gone}{there}", hint=Try("locals"))
    found = texts.follow(known[path.root], path.steps)
    if found is None:
        raise NotFound(f"no {value} was recorded there ({said}); {path.root} is {known[path.root].value}")
    return found


async def output(record: Record, meant: Meant, streams: tuple[str, ...], limit: int) -> OutputPage:
    """What a run printed that no session in memory tells of any more."""

    def ask(connection: sqlite3.Connection) -> OutputPage:
        run = finding.of_session(connection, meant.root, meant.name)
        told, total, missing = chronicle.output(connection, run, streams, limit)
        return OutputPage(
            **told, total=total, dropped=missing, notes=(f"post mortem, from the record: {run.handle} ({run.name})",)
        )

    try:
        return await record.ask(ask)
    except NotFound:
        raise _nobody(meant) from None
