"""The hits of a run: filtered, grouped, counted and followed over time, by SQLite wherever it can."""

from __future__ import annotations

import itertools
import math
import operator
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from ..model.recorded import Group, Hits, Trend
from ..model.recording import PROBED
from . import asking, finding, functions, moments, reading, stretches, texts, where
from .cells import listed as listed_ids
from .cells import numbers
from .conditions import Compared, Condition, Constant, Path, Remainder, Told
from .scopes import ITS_CELL, Scope, beyond, has_name, need_name, need_part

OF_THE_HIT = {
    "place": "p.file || ':' || p.line",
    "function": "p.symbol",
    "file": "p.file",
    "thread": "h.thread",
    "reason": "h.reason",
    "session": "r.name",
}
"""What hits can be grouped by beyond recorded names, where no local has that name."""
LONGEST_EXAMPLE = 60
"""Characters of a value that a note quotes."""


def listed(scope: Scope, start: int, count: int) -> Hits:
    if scope.condition is None:
        shown, total = _page(scope, start, count), scope.total()
    else:
        shown, total = scope.ids[start : start + count], len(scope.ids)
        for path in scope.condition.paths if not total else ():
            need_part(scope, path)
    rows = reading.rows(scope.connection, shown)
    asked = scope.condition.names if scope.condition else ()
    return Hits(
        hits=tuple(reading.hit(scope.connection, row, scope.view, first=asked) for row in rows),
        total=total,
        start=start,
        run=scope.run.handle,
        notes=(
            *sampled(scope),
            *(beyond(scope, scope.condition.paths) if scope.condition else ()),
            *unlike(scope, total),
        ),
    )


def unlike(scope: Scope, total: int) -> tuple[str, ...]:
    """Where no hit fulfils a condition: what it takes for a number, or for a text, and was none in any hit."""
    if total or scope.condition is None:
        return ()
    every = msgspec.structs.replace(scope, condition=None)
    notes = list[str]()
    for path, is_number in dict.fromkeys(_kinds(each.condition) for each in scope.condition.conjuncts):
        if path is None:
            continue
        course = _course(every, path)
        told = Counter(each for each in course.told if each is not None)
        alike = _has_number(course) if is_number else any(map(_is_text, told))
        if told and not alike:
            shown = ", ".join(f"{_short(text)} ({count:,})" for text, count in told.most_common(3))
            notes.append(f"{path} was no {'number' if is_number else 'text'} in {told.total():,} hits: {shown}")
    return tuple(notes)


def _has_number(course: Course) -> bool:
    """Whether any of it can be compared with one."""
    return any(each is not None for each in course.heights) or any(
        texts.number(each) is not None for each in course.told
    )


def _kinds(condition: Condition) -> tuple[Path | None, bool]:
    """What a comparison is about, where it is one with a number or a text; and whether with a number."""
    match condition:
        case Compared(left=Path(of="value") as path, right=Constant(float() | int() | str() as constant)):
            return path, not isinstance(constant, str)
        case Remainder(Path(of="value") as path):
            return path, True
    return None, False


def _is_text(told: Told) -> bool:
    """Whether it can be compared with one: a string, or a date."""
    quoted = isinstance(told, str) and told.lstrip("bBuUrR")[:1] in ("'", '"', "`")
    return quoted or moments.shown(told) is not None


def _short(told: Told) -> str:
    text = str(told)
    return text if len(text) <= LONGEST_EXAMPLE else text[: LONGEST_EXAMPLE - 1] + "…"


LEAFED = 1000
"""Hits of all runs and places that are put in order for one page; for more, SQLite is asked for all of them in order."""


def _page(scope: Scope, start: int, count: int) -> list[int]:
    """Some of the hits, counted from the first, whatever comes after them. Those of one run at one place are in order already."""
    connection, each = scope.connection, "h.run=?" + (" AND h.place=?" if scope.spots else "")
    each = f"SELECT h.id FROM hit h WHERE {each}{'' if scope.steps else ' AND NOT h.step'} ORDER BY h.number LIMIT ?"
    pairs = list(itertools.product(scope.run.members, *([[spot.id for spot in scope.spots]] if scope.spots else [])))
    if start >= 0 <= count and len(pairs) * (start + count) <= LEAFED:
        found = [row[0] for pair in pairs for row in connection.execute(each, (*pair, start + count))]
        return sorted(found)[start : start + count]
    joins, tests, before, after = scope.parts
    page = f"SELECT h.id FROM {joins} WHERE {tests} ORDER BY h.id LIMIT ? OFFSET ?"
    return [row[0] for row in connection.execute(page, (*before, *after, count, start))]


def sampled(scope: Scope) -> tuple[str, ...]:
    """Of places that a probe came to more often than the record keeps hits, how often: the last hit that it keeps says so."""
    if reading.first_reason(scope.connection, scope.run) != PROBED:
        return ()
    last = f"SELECT max(id) FROM hit WHERE run IN ({scope.run.marks}) AND place=?"
    spots = scope.spots or finding.reached(scope.connection, scope.run)
    ids = [scope.connection.execute(last, (*scope.run.members, each.id)).fetchone()[0] for each in spots]
    rows = reading.rows(scope.connection, [each for each in ids if each is not None])
    return tuple(
        f"{scope.view.place(row.file, row.line, row.root)}: {note}"
        for row in rows
        if row.reason == PROBED
        for note in reading.rest(row).stop.notes
    )


def grouped(scope: Scope, by: str, top: int, *, counted: bool) -> Hits:
    """Hits by a recorded path, or by place, function, thread, reason; the largest groups first."""
    own = _path_of(scope, by)
    if own and (column := scope.column(own)):
        shown, groups, counts = column.tally(top)
    else:
        shown, groups, counts = _largest(scope.connection, *_groups(scope, own, by), top)
    total = scope.total()
    without = total - counts
    paths = list(scope.condition.paths) if scope.condition else []
    if own and own.steps and without:
        paths.append(own)
    if own and total and not counts:
        need_part(scope, own)
    handles = _handles(scope, (each for row in shown for each in row[2:]))
    return Hits(
        groups=tuple(
            Group(value=str(text), count=count, first=handles[first], last=handles[last])
            for text, count, first, last in shown
        ),
        groups_total=groups,
        by=by,
        counted=counted,
        total=total,
        without=without,
        run=scope.run.handle,
        notes=(*sampled(scope), *beyond(scope, dict.fromkeys(paths)), *unlike(scope, total)),
    )


_TALLY = "SELECT told, count(*) AS n, min(hit) AS low, max(hit) AS high FROM ({})"


def _groups(scope: Scope, path: Path | None, by: str) -> stretches.SQL:
    """The question for all groups, by a path or else by what every hit has."""
    if path is None:
        asked, given = scope.hits
        kept = f"h.{by}" if by in ("thread", "reason") else "h.run, h.place"
        each = f"SELECT {kept}, count(*) AS n, min(h.id) AS low, max(h.id) AS high FROM {asked} GROUP BY {kept}"
        told = f"SELECT {OF_THE_HIT[by]} AS told, sum(n) AS n, min(low) AS low, max(high) AS high FROM ({each}) h"
        joins = "" if by in ("thread", "reason") else " JOIN place p ON p.id=h.place JOIN run r ON r.id=h.run"
        return told + joins, given
    expression, parameters = asking.told(path)
    if not parameters:
        each, given = _by_hit(scope, expression, path.root)
        return _TALLY.format(each), given
    # to look into a text takes long: first by the value as it was written, and only then by what is in it
    each, given = _by_value(scope, path.root)
    question = f"SELECT {expression} AS told, sum(n) AS n, min(low) AS low, max(high) AS high"
    return f"{question} FROM ({each}) LEFT JOIN value v0 ON v0.id=v", [*parameters, *given]


def _largest(
    connection: sqlite3.Connection, question: str, given: Sequence[object], top: int
) -> tuple[list[tuple[Told, int, int, int]], int, int]:
    """The largest groups, how many there are, and how many hits are in any. Only those that are shown leave SQLite: a name may
    have another value at every hit."""
    *shown, (_, groups, counts, _) = connection.execute(
        f"WITH g AS MATERIALIZED ({question} GROUP BY 1 HAVING told IS NOT NULL)"
        " SELECT * FROM (SELECT * FROM g ORDER BY n DESC, low LIMIT ?)"
        " UNION ALL SELECT NULL, count(*), coalesce(sum(n), 0), NULL FROM g",
        (*given, top),
    )
    return shown, groups, counts


def _by_hit(scope: Scope, expression: str, name: str) -> stretches.SQL:
    """What the value of a name shows in each hit."""
    value = " LEFT JOIN value v0 ON v0.id=c0.value"
    if quick := scope.cells(f"{expression} AS told, c0.hit AS hit", name, value):
        return quick
    joins, tests, before, after = scope.parts
    return f"SELECT {expression} AS told, h.id AS hit FROM {joins}{ITS_CELL}{value} WHERE {tests}", [
        *before,
        name,
        *after,
    ]


def _by_value(scope: Scope, name: str) -> stretches.SQL:
    """How often each value of a name came, and its first and last hit."""
    counts = "c0.value AS v, count(*) AS n, min({0}) AS low, max({0}) AS high"
    if quick := scope.cells(counts.format("c0.hit"), name, end=" GROUP BY 1"):
        return quick
    joins, tests, before, after = scope.parts
    sql = f"SELECT {counts.format('h.id')} FROM {joins}{ITS_CELL} WHERE {tests} GROUP BY 1"
    return sql, [*before, name, *after]


def _path_of(scope: Scope, by: str) -> Path | None:
    """The recorded path that is meant; None where it is something that every hit has."""
    path = where.parse_path(by)
    if by in OF_THE_HIT and not has_name(scope, by):
        return None
    need_name(scope, path.root)
    return path


def _handles(scope: Scope, ids: Iterable[int]) -> dict[int, str]:
    """What hits are called: those of children by their runs, since each run counts its own."""
    rows = scope.connection.execute(
        "SELECT id, run, number FROM hit WHERE id IN (SELECT value FROM json_each(?))", (listed_ids(set(ids)),)
    )
    return {id: f"h{number}" if run == scope.run.id else f"r{run}.h{number}" for id, run, number in rows}


BARS = "▁▂▃▄▅▆▇█"
COLUMNS = 40


def trend(scope: Scope, name: str, place: str, *, drawn: bool = False) -> tuple[Trend, list[tuple[int, float]]]:
    """How one value went over the hits of a place; and for a drawing the points themselves, by the numbers of their hits."""
    path = where.parse_path(name)
    need_name(scope, path.root)
    course = _course(scope, path)
    heights = [each for each in course.heights if each is not None]
    others = Counter[Told]()
    if len(heights) < len(course.heights):
        texts_instead = zip(course.heights, course.told, strict=True)
        others.update(told for height, told in texts_instead if height is None and told is not None)
    total = scope.total()
    if total and not heights and not others:
        need_part(scope, path)
    made = Trend(
        place=place,
        name=name,
        hits=total,
        numbers=len(heights),
        least=min(heights, default=None),
        most=max(heights, default=None),
        first=heights[0] if heights else None,
        last=heights[-1] if heights else None,
        spark=sparkline(heights),
        others=tuple(Group(value=str(text), count=count) for text, count in others.most_common(5)),
        run=scope.run.handle,
        notes=(*sampled(scope), *beyond(scope, [path] if path.steps and len(heights) + others.total() < total else [])),
    )
    return made, _points(scope, course) if drawn else []


class Course(msgspec.Struct, frozen=True):
    """Each hit in order, with the number that a path leads to there, or the text that it is instead."""

    hits: Sequence[int]
    heights: Sequence[float | None]
    told: Sequence[Told]

    @classmethod
    def of(cls, rows: Iterable[tuple[int, float | None, Told]]) -> Course:
        return cls(*zip(*in_order, strict=True)) if (in_order := sorted(rows, key=_first)) else cls((), (), ())


_first = operator.itemgetter(0)


def _course(scope: Scope, path: Path) -> Course:
    if (read := _read(scope, path)) is not None:
        return read
    number, shown, given = "v0.number", "v0.text", list[object]()
    steps = functions.written(path.steps)
    if path.of == "len":
        number, given = asking.length("v0", path.steps)
        shown = "NULL" if steps else shown  # what the whole value is says nothing of a part
    elif steps:
        number, shown, given = "sf_number(v0.text, v0.rest, ?)", "sf_shown(v0.text, v0.rest, ?)", [steps, steps]
    told = f"CAST({number} AS REAL), CASE WHEN v0.number IS NULL THEN {shown} END"
    if (values := scope.cells("c0.value", path.root)) is None:
        joins, tests, before, after = scope.parts
        sql = f"SELECT h.id, {told} FROM {joins}{ITS_CELL} LEFT JOIN value v0 ON v0.id=c0.value WHERE {tests}"
        return Course.of(scope.connection.execute(sql, (*given, *before, path.root, *after)))
    # each value is looked into once, however many hits have it
    sql = f"SELECT v0.id, {told} FROM value v0 WHERE v0.id IN ({values[0]})"
    inside = {row[0]: row[1:] for row in scope.connection.execute(sql, (*given, *values[1]))}
    sql, all_given = scope.cells("c0.hit, c0.value", path.root) or ("", [])
    return Course.of((hit, *inside[value]) for hit, value in scope.connection.execute(sql, all_given))


def _read(scope: Scope, path: Path) -> Course | None:
    """The same, where it can be read in a row. Of a whole value its type says nothing, and where it has no length its text is
    told instead."""
    if path.of == "type" and not path.steps:
        path = Path(path.root)
    column = scope.column(path) if path.of != "type" else None
    if column is None or (path.of == "len" and not path.steps and None in column.told):
        return None
    heights = _finite(column.heights)
    if not path.steps and (path.of == "len" or 0 in heights):  # as SQLite keeps numbers: -0.0 is 0.0
        heights = [each if each is None else each + 0.0 for each in heights]
    return Course(column.hits, heights, column.told)


def _finite(heights: Sequence[float | None]) -> Sequence[float | None]:
    """As they are drawn: what is infinite has no height."""
    if math.inf not in heights and -math.inf not in heights and int not in set(map(type, heights)):
        return heights
    return [None if each is None or math.isinf(each) else float(each) for each in heights]


def _points(scope: Scope, course: Course) -> list[tuple[int, float]]:
    sql = f"SELECT group_concat(id), group_concat(number) FROM hit WHERE run IN ({scope.run.marks})"
    ids, told = (numbers(each or "") for each in scope.connection.execute(sql, scope.run.members).fetchone())
    of = dict(zip(ids, told, strict=True))
    return [(of[id], height) for id, height in zip(course.hits, course.heights, strict=True) if height is not None]


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
