"""Reading a stop back as it was told: its frame, source, stack and locals, from the rows that it was taken apart into."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from ..model import exact
from ..model.outcomes import SourceLine, Stop
from ..model.recorded import Hit
from ..model.values import Frame, Value
from . import texts
from .finding import Run, View, source_lines
from .tape import HitRest

BEFORE = 2
"""Lines of source before the one about to run, as a stop shows them."""
SHOWN = 8
"""Locals that a row of a list carries."""

_COLUMNS = (
    "h.id, h.run, h.number, h.time, h.step, h.reason, h.thread, h.stack, h.locals, h.rest,"
    " p.file, p.line, p.symbol, p.source, r.name, r.root"
)


class Row(msgspec.Struct, frozen=True):
    id: int
    run: int
    number: int
    time: float
    step: int
    reason: str
    thread: str
    stack: str
    locals: str
    rest: str
    file: str
    line: int
    symbol: str
    source: int
    session: str
    root: str

    @property
    def handle(self) -> str:
        return f"h{self.number}"


def rows(connection: sqlite3.Connection, ids: list[int]) -> list[Row]:
    marks = ",".join("?" * len(ids))
    found = {
        row[0]: Row(*row)
        for row in connection.execute(
            f"SELECT {_COLUMNS} FROM hit h JOIN place p ON p.id=h.place JOIN run r ON r.id=h.run WHERE h.id IN ({marks})",
            ids,
        )
    }
    return [found[id] for id in ids if id in found]


def first_reason(connection: sqlite3.Connection, run: Run) -> str | None:
    """Why the first hit of all was one: the first of each member is known at once, since its numbers grow with its rows."""
    first = "SELECT id, reason FROM hit WHERE run=? ORDER BY number LIMIT 1"
    found = [row for each in run.members if (row := connection.execute(first, (each,)).fetchone())]
    return min(found)[1] if found else None


def values(
    connection: sqlite3.Connection, row: Row, most: int | None = None, first: Sequence[str] = ()
) -> tuple[Value, ...]:
    """The locals of a stop, or so many of them: those that are asked about before the others."""
    pairs = msgspec.json.decode(row.locals, type=list[tuple[int, int]])
    if first and most is not None:
        sql = f"SELECT id FROM name WHERE text IN ({','.join('?' * len(first))})"
        asked = {each[0] for each in connection.execute(sql, first)}
        pairs.sort(key=lambda pair: pair[0] not in asked)
    pairs = pairs[:most]
    if not pairs:
        return ()
    names = _by_id(connection, "SELECT id, text FROM name", [name for name, _ in pairs])
    kept = _by_id(connection, "SELECT id, type, text, total, rest FROM value", [value for _, value in pairs])
    return tuple(
        msgspec.structs.replace(texts.restored(*kept[value]), name=names[name][0])
        for name, value in pairs
        if name in names and value in kept
    )


def _by_id(connection: sqlite3.Connection, select: str, ids: list[int]) -> dict[int, tuple[Any, ...]]:
    unique = sorted(set(ids))
    marks = ",".join("?" * len(unique))
    return {row[0]: row[1:] for row in connection.execute(f"{select} WHERE id IN ({marks})", unique)}


def locals_of(row: Row) -> tuple[int, int]:
    """How many locals of a stop are kept, and how many it had."""
    kept = len(msgspec.json.decode(row.locals, type=list[Any]))
    return kept, max(kept, rest(row).stop.locals_total or 0)


def rest(row: Row) -> HitRest:
    return exact.decode(row.rest.encode(), HitRest)


def hit(
    connection: sqlite3.Connection, row: Row, view: View, most: int | None = SHOWN, first: Sequence[str] = ()
) -> Hit:
    stop = rest(row).stop
    total = len(msgspec.json.decode(row.locals, type=list[Any]))
    wrong = stop.exception
    return Hit(
        hit=row.handle,
        run=f"r{row.run}",
        session=row.session,
        time=row.time,
        reason=row.reason,
        place=view.place(row.file, row.line, row.root),
        function=row.symbol,
        step=bool(row.step),
        thread=row.thread,
        breakpoints=stop.breakpoints,
        count=stop.hit,
        locals=tuple(msgspec.structs.replace(each, children=()) for each in values(connection, row, most, first)),
        locals_total=stop.locals_total or total,
        exception=f"{wrong.type}: {wrong.message}" if wrong else None,
    )


def frames(connection: sqlite3.Connection, row: Row, view: View) -> tuple[Frame, ...]:
    ids = msgspec.json.decode(row.stack, type=list[int])
    kept = _by_id(connection, "SELECT id, body FROM frame", ids)
    found = [exact.decode(kept[id][0].encode(), Frame) for id in ids if id in kept]
    return tuple(
        msgspec.structs.replace(frame, id=f"f{number}", file=view.file(frame.file, row.root))
        for number, frame in enumerate(found)
    )


def stop(connection: sqlite3.Connection, row: Row, view: View) -> Stop:
    """The stop again, whole, as far as it was kept."""
    more = rest(row)
    stack = frames(connection, row, view)
    first, lines = source_lines(connection, row.source)
    begin = max(first, row.line - BEFORE)
    around = tuple(
        SourceLine(number, lines[number - first][:200], number == row.line)
        for number in range(begin, row.line + 1)
        if 0 <= number - first < len(lines)
    )
    top = stack[more.at] if more.at < len(stack) else None
    return msgspec.structs.replace(
        more.stop,
        frame=top or Frame(function=row.symbol, file=view.file(row.file, row.root), line=row.line or None, id="f0"),
        source=around,
        stack=stack,
        locals=values(connection, row),
        number=row.number,
    )
