"""The hits of a run: filtered, grouped, counted and followed over time, by SQLite wherever it can."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from ..errors import NotFound
from ..model.places import Place
from ..model.recorded import Group, Hits, Trend
from . import finding, reading, where
from .finding import LISTED, Run, Spot, View

OF_THE_HIT = {
    "place": "p.file || ':' || p.line",
    "function": "p.symbol",
    "file": "p.file",
    "thread": "h.thread",
    "reason": "h.reason",
    "session": "r.name",
}
"""What hits can be grouped by beyond recorded names, where no local has that name."""


class Scope(msgspec.Struct, frozen=True):
    """Which hits are asked about."""

    connection: sqlite3.Connection
    run: Run
    view: View
    spots: tuple[Spot, ...] = ()
    """Empty for every place."""
    condition: where.Question | None = None
    steps: bool = True

    @property
    def parts(self) -> tuple[str, str, list[object], list[object]]:
        """FROM and WHERE, each with its parameters."""
        joins, before = "hit h", []
        names = self.condition.names if self.condition else []
        for number, name in enumerate(names, 1):
            joins += (
                f" LEFT JOIN cell c{number} ON c{number}.place=h.place AND c{number}.hit=h.id"
                f" AND c{number}.name=(SELECT id FROM name WHERE text=?)"
                f" LEFT JOIN value v{number} ON v{number}.id=c{number}.value"
            )
            before.append(name)
        tests, after = [f"h.run IN ({self.run.marks})"], list[object](self.run.members)
        if self.spots:
            tests.append(f"h.place IN ({','.join('?' * len(self.spots))})")
            after += [each.id for each in self.spots]
        if not self.steps:
            tests.append("NOT h.step")
        if self.condition:
            tests.append(self.condition.sql)
            after += self.condition.parameters
        return joins, " AND ".join(tests), [*before], after


def scope(
    connection: sqlite3.Connection, run: Run, view: View, at: Place | None, condition: str | None, *, steps: bool = True
) -> Scope:
    where.teach(connection)
    spots = tuple(finding.places(connection, run, at, view)) if at else ()
    asked = where.parse(condition) if condition else None
    made = Scope(connection, run, view, spots, asked, steps)
    for name in asked.names if asked else ():
        need_name(made, name)
    return made


def need_name(scope: Scope, name: str) -> None:
    """A name that was recorded in none of the hits is a miss that lists those that were."""
    spots = list(scope.spots) or finding.reached(scope.connection, scope.run)
    marks = ",".join("?" * len(spots))
    found = scope.connection.execute(
        f"SELECT 1 FROM cell WHERE name=(SELECT id FROM name WHERE text=?) AND place IN ({marks}) LIMIT 1",
        (name, *(each.id for each in spots)),
    ).fetchone()
    if found is None:
        names = finding.names_at(scope.connection, spots, scope.run) if spots else []
        more = " …" if len(names) > LISTED else ""
        there = f"; recorded there: {', '.join(names[:LISTED])}{more}" if names else ""
        raise NotFound(f"no {name} was recorded in these hits{there}")


def beyond(scope: Scope, paths: Iterable[where.Path]) -> tuple[str, ...]:
    """What must be said of paths that lead deeper into a value than it was recorded: such hits are neither counted nor excluded
    truly. Only values whose text was cut, or that have more to them, are looked into."""
    notes = []
    every = replace(scope, condition=None)
    for path in paths:
        joins, tests, before, after = every.parts
        each = f"SELECT c0.value AS v, count(*) AS n FROM {joins}{_ITS_CELL} WHERE {tests} GROUP BY 1"
        (number,) = scope.connection.execute(
            f"SELECT coalesce(sum(n), 0) FROM ({each}) JOIN value v0 ON v0.id=v WHERE (v0.rest IS NOT NULL OR"
            " instr(v0.text, '…') OR instr(v0.text, '...') OR instr(v0.text, '<')) AND sf_beyond(v0.text, v0.total, v0.rest, ?)",
            (*before, path.root, *after, where.written(path.steps)),
        ).fetchone()
        if number:
            notes.append(
                f"{path} goes deeper than what was recorded in {number:,} hits; what it was there is not known"
            )
    return tuple(notes)


def listed(scope: Scope, start: int, count: int) -> Hits:
    joins, tests, before, after = scope.parts
    found = scope.connection.execute(f"SELECT h.id FROM {joins} WHERE {tests}", (*before, *after)).fetchall()
    ids = sorted(row[0] for row in found)
    rows = reading.rows(scope.connection, ids[start : start + count])
    return Hits(
        hits=tuple(reading.hit(scope.connection, row, scope.view) for row in rows),
        total=len(ids),
        start=start,
        run=scope.run.handle,
        notes=beyond(scope, scope.condition.paths) if scope.condition else (),
    )


_ITS_CELL = " LEFT JOIN cell c0 ON c0.place=h.place AND c0.hit=h.id AND c0.name=(SELECT id FROM name WHERE text=?)"


def grouped(scope: Scope, by: str, top: int, *, counted: bool) -> Hits:
    """Hits by a recorded path, or by place, function, thread, reason; the largest groups first."""
    own: where.Path | None
    try:
        expression, name, parameters = _by(scope, by)
        own = where.parse_path(by)
    except NotFound:
        if by not in OF_THE_HIT:
            raise
        expression, name, parameters, own = OF_THE_HIT[by], None, [], None
    joins, tests, before, after = scope.parts
    if name is None:
        joins += " JOIN place p ON p.id=h.place JOIN run r ON r.id=h.run"
        question = f"SELECT {expression}, count(*), min(h.id), max(h.id) FROM {joins} WHERE {tests}"
    else:
        # first by the value as it was written, of which there are few, and only then by what it shows
        joins += _ITS_CELL
        before = [*before, name]
        each = f"SELECT c0.value AS v, count(*) AS n, min(h.id) AS low, max(h.id) AS high FROM {joins} WHERE {tests} GROUP BY 1"
        question = f"SELECT {expression}, sum(n), min(low), max(high) FROM ({each}) LEFT JOIN value v0 ON v0.id=v"
    rows = scope.connection.execute(
        f"{question} GROUP BY 1 ORDER BY 2 DESC, 3", (*parameters, *before, *after)
    ).fetchall()
    with_it = [row for row in rows if row[0] is not None]
    paths = list(scope.condition.paths) if scope.condition else []
    if own and own.steps and len(with_it) < len(rows):
        paths.append(own)
    shown = with_it[:top]
    handles = _handles(scope.connection, [each for row in shown for each in row[2:]])
    return Hits(
        groups=tuple(
            Group(value=str(text), count=count, first=handles[first], last=handles[last])
            for text, count, first, last in shown
        ),
        groups_total=len(with_it),
        by=by,
        counted=counted,
        total=sum(row[1] for row in rows),
        without=sum(row[1] for row in rows if row[0] is None),
        run=scope.run.handle,
        notes=beyond(scope, dict.fromkeys(paths)),
    )


def _by(scope: Scope, by: str) -> tuple[str, str, list[object]]:
    """The SQL of a path, the name at its root, and its parameters."""
    path = where.parse_path(by)
    need_name(scope, path.root)
    steps = where.written(path.steps)
    match path.of:
        case "len":
            return "sf_length(v0.text, v0.total, v0.rest, ?)", path.root, [steps]
        case "type":
            return ("sf_type(v0.text, v0.rest, ?)", path.root, [steps]) if steps else ("v0.type", path.root, [])
        case _:
            return ("sf_shown(v0.text, v0.rest, ?)", path.root, [steps]) if steps else ("v0.text", path.root, [])


def _handles(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, str]:
    unique = sorted(set(ids))
    marks = ",".join("?" * len(unique))
    return {
        id: f"h{number}"
        for id, number in connection.execute(f"SELECT id, number FROM hit WHERE id IN ({marks})", unique)
    }


BARS = "▁▂▃▄▅▆▇█"
COLUMNS = 40


def trend(scope: Scope, name: str, place: str) -> tuple[Trend, list[tuple[int, float]]]:
    """How one value went over the hits of a place; and the points themselves, for a drawing."""
    path = where.parse_path(name)
    need_name(scope, path.root)
    steps = where.written(path.steps)
    number, shown = "v0.number", "v0.text"
    parameters: list[object] = []
    if path.of == "len":
        number, parameters = "sf_length(v0.text, v0.total, v0.rest, ?)", [steps]
    elif steps:
        number, shown = "sf_number(v0.text, v0.rest, ?)", "sf_shown(v0.text, v0.rest, ?)"
        parameters = [steps, steps]
    joins, tests, before, after = scope.parts
    joins += f"{_ITS_CELL} LEFT JOIN value v0 ON v0.id=c0.value"
    rows = scope.connection.execute(
        f"SELECT h.id, h.number, {number}, CASE WHEN v0.number IS NULL THEN {shown} END FROM {joins} WHERE {tests}",
        (*parameters, *before, path.root, *after),
    ).fetchall()
    rows.sort()
    points = [(row[1], float(row[2])) for row in rows if row[2] is not None]
    others = Counter(row[3] for row in rows if row[2] is None and row[3] is not None)
    heights = [height for _, height in points]
    made = Trend(
        place=place,
        name=name,
        hits=len(rows),
        numbers=len(points),
        least=min(heights, default=None),
        most=max(heights, default=None),
        first=heights[0] if heights else None,
        last=heights[-1] if heights else None,
        spark=sparkline(heights),
        others=tuple(Group(value=text, count=count) for text, count in others.most_common(5)),
        run=scope.run.handle,
        notes=beyond(scope, [path] if path.steps and len(points) + others.total() < len(rows) else []),
    )
    return made, points


def sparkline(heights: Sequence[float]) -> str:
    """So many bars, each the mean of its share of the numbers."""
    if not heights:
        return ""
    columns = min(COLUMNS, len(heights))
    means = []
    for column in range(columns):
        share = heights[column * len(heights) // columns : (column + 1) * len(heights) // columns]
        means.append(sum(share) / len(share))
    low, high = min(means), max(means)
    if high == low:
        return BARS[3] * columns
    return "".join(BARS[round((mean - low) / (high - low) * (len(BARS) - 1))] for mean in means)
