"""What happened, in order: runs, operations, the fates of breakpoints, and the stream of events with its cursor."""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec

from ..errors import UsageError
from ..model import exact
from ..model.counts import counted
from ..model.outcomes import Breakpoint
from ..model.recorded import Events, FateInfo, History, OperationInfo, RecordedEvent
from . import finding
from .finding import Run, View

KINDS = ("start", "stop", "output", "breakpoint", "operation", "end")


def runs(connection: sqlite3.Connection, root: str | None, start: int, count: int) -> History:
    """Runs of a project, or of all, the newest first."""
    condition, parameters = ("root=?", (root,)) if root is not None else ("1", ())
    total = connection.execute(f"SELECT count(*) FROM run WHERE {condition}", parameters).fetchone()[0]
    found = finding.infos(connection, f"{condition} ORDER BY id DESC LIMIT ? OFFSET ?", (*parameters, count, start))
    shown = tuple(msgspec.structs.replace(each, root=each.root if root is None else None) for each in found)
    return History(runs=shown, total=total, start=start)


def of_run(connection: sqlite3.Connection, run: Run, start: int, count: int) -> History:
    """One run: what was asked of it, and what became of its breakpoints."""
    total = connection.execute(f"SELECT count(*) FROM operation WHERE run IN ({run.marks})", run.members).fetchone()[0]
    rows = connection.execute(
        f"SELECT run, name, op, args, began, seconds, outcome FROM operation WHERE run IN ({run.marks})"
        " ORDER BY id LIMIT ? OFFSET ?",
        (*run.members, count, start),
    )
    members = tuple(finding.info(connection, each) for each in run.members)
    return History(
        runs=tuple(msgspec.structs.replace(each, root=None) for each in members),
        total=len(members),
        start=start,
        operations=tuple(_operation(row) for row in rows),
        operations_total=total,
        breakpoints=_fates(connection, run),
    )


def _operation(row: tuple[Any, ...]) -> OperationInfo:
    run, name, op, args, began, seconds, outcome = row
    return OperationInfo(
        op=op,
        began=began,
        seconds=seconds,
        outcome=outcome,
        run=f"r{run}" if run else None,
        session=name,
        args=exact.decode(args, dict[str, Any]),
    )


def _fates(connection: sqlite3.Connection, run: Run) -> tuple[FateInfo, ...]:
    """The last word on each breakpoint."""
    rows = connection.execute(
        "SELECT breakpoint, time, state, hits, body FROM fate WHERE id IN"
        f" (SELECT max(id) FROM fate WHERE run IN ({run.marks}) GROUP BY breakpoint) ORDER BY id",
        run.members,
    )
    found = []
    for id, time, state, hits, body in rows:
        made = exact.decode(body, Breakpoint)
        spot = made.actual or made.requested
        place = f"{spot.file}:{spot.line}" if spot.file and spot.line else spot.symbol or spot.text or ""
        seen = connection.execute(  # of a live run, more than its last word on it knew
            f"SELECT count(*) FROM hit WHERE run IN ({run.marks}) AND rest LIKE ?",
            (*run.members, f'%"breakpoints":[%"{id}"%'),
        ).fetchone()[0]
        times = max(hits, seen)
        found.append(FateInfo(breakpoint=id, time=time, state=state, hits=times, place=place, message=made.message))
    return tuple(found)


def cursor(text: str | None) -> int:
    if text is None:
        return 0
    number = counted(text)
    if number is None:
        raise UsageError(f"{text!r:.80} is no cursor of events; use the one that the last `events` reply gave, or 0")
    return number


def check_cursor(connection: sqlite3.Connection, since: int) -> None:
    """Refuse one that is ahead of every event there ever was: of another record, it would hide what comes."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name='event'").fetchone()
    last = row[0] if row else 0
    if since > last:
        raise UsageError(
            f"{since} is no cursor of this record, in which there were {last:,} events; 0 tells them from the beginning"
        )


def newest(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM event").fetchone()[0])


def events(
    connection: sqlite3.Connection,
    root: str,
    run: Run | None,
    since: int,
    kinds: tuple[str, ...],
    count: int,
    view: View,
) -> Events:
    """Events from behind a cursor on, oldest first: a call may have been written down after what came of the next."""
    tests, parameters = ["e.id > ?"], list[Any]([since])
    if run is not None:
        tests.append(f"e.run IN ({run.marks})")
        parameters += run.members
    else:
        tests.append("e.root=?")
        parameters.append(root)
    if kinds:
        tests.append(f"e.kind IN ({','.join('?' * len(kinds))})")
        parameters += kinds
    condition = " AND ".join(tests)
    total = connection.execute(f"SELECT count(*) FROM event e WHERE {condition}", parameters).fetchone()[0]
    rows = connection.execute(
        "SELECT e.id, e.time, e.kind, e.text, e.run, r.name, h.number, h.reason, p.file, p.line, p.symbol, o.data, r.root"
        " FROM event e LEFT JOIN run r ON r.id=e.run LEFT JOIN hit h ON e.kind='stop' AND h.id=e.ref"
        " LEFT JOIN place p ON p.id=h.place LEFT JOIN output o ON e.kind='output' AND o.id=e.ref"
        f" WHERE {condition} ORDER BY e.id LIMIT ?",
        (*parameters, count),
    ).fetchall()
    found = tuple(_event(row, view) for row in rows)
    all_told = len(found) == total
    behind = max(since, newest(connection)) if all_told else found[-1].id if found else since
    return Events(events=tuple(sorted(found, key=lambda each: each.time)), cursor=str(behind), total=total)


def _event(row: tuple[Any, ...], view: View) -> RecordedEvent:
    id, time, kind, text, run, name, number, reason, file, line, symbol, data, root = row
    if kind == "stop" and number is not None:
        text = f"{reason} at {view.place(file, line, root)} in {symbol}"
    return RecordedEvent(
        id=id,
        time=time,
        kind=kind,
        session=name,
        run=f"r{run}" if run else None,
        text=text,
        hit=f"h{number}" if number is not None else None,
        data=data.decode("utf-8", "backslashreplace") if data is not None else None,
    )


def output(
    connection: sqlite3.Connection, run: Run, streams: tuple[str, ...], limit: int
) -> tuple[dict[str, str], int, int]:
    """The newest of what a run printed: text by stream, how much of it there is, how much is not told."""
    root = run.members[0]
    told: dict[str, str] = {}
    total = missing = 0
    for stream in streams:
        rows = connection.execute(
            "SELECT at, data FROM output WHERE run=? AND stream=? ORDER BY at", (root, stream)
        ).fetchall()
        if not rows:
            continue
        whole = rows[-1][0] + len(rows[-1][1])
        data = b"".join(each[1] for each in rows)[-limit:] if limit else b""
        total += whole
        missing += max(0, whole - len(data))
        told[stream] = data.decode("utf-8", "backslashreplace")
    return told, total, missing
