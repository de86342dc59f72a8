"""Which hits a question is about: those of a run, at some places, in which a condition holds; read in a row where they lie so."""

from __future__ import annotations

import functools
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from ..errors import NotFound
from ..model.places import Place
from ..model.values import Value
from . import asking, choosing, finding, functions, stretches, texts, where
from .columns import EXAMPLES, Column, Columns
from .conditions import Path
from .finding import LISTED, Run, Spot, View

ITS_CELL = " LEFT JOIN cell c0 ON c0.place=h.place AND c0.hit=h.id AND c0.name=(SELECT id FROM name WHERE text=?)"
"""The value of a name in a hit, told hit by hit."""


class Scope(msgspec.Struct, frozen=True, dict=True):
    """Which hits are asked about."""

    connection: sqlite3.Connection
    run: Run
    view: View
    spots: tuple[Spot, ...]
    """Empty for every place."""
    columns: Columns
    condition: where.Question | None = None
    steps: bool = True

    @functools.cached_property
    def in_a_row(self) -> tuple[stretches.Stretch, ...] | None:
        """The stretches in which all hits of the places lie, whatever the condition, steps too, and perhaps others of other runs;
        None where they are to be looked up."""
        return stretches.found(self.connection, self.run, self.spots or finding.reached(self.connection, self.run))

    @functools.cached_property
    def alone(self) -> bool:
        """Whether nothing but hits of these runs lies in the stretches."""
        return not any(each.shared for each in self.in_a_row or ())

    @functools.cached_property
    def left_out(self) -> frozenset[int]:
        """The steps, where these are not meant."""
        if self.steps:
            return frozenset()
        return frozenset(choosing.listed(self.connection, *_steps(self.run, self.spots)))

    @functools.cached_property
    def quickly(self) -> list[tuple[stretches.Stretch, list[int] | None]] | None:
        """With each stretch which of its hits are meant, if not all; None where that is told hit by hit."""
        if self.in_a_row is None:
            return None
        made: list[tuple[stretches.Stretch, list[int] | None]] = []
        for stretch in self.in_a_row:
            which = self._matching(stretch, self.condition) if self.condition else None
            if self.condition and which is None:
                return None
            made.append((stretch, which))
        return made

    def _matching(self, stretch: stretches.Stretch, condition: where.Question) -> list[int] | None:
        return choosing.matching(self.connection, self.columns, stretch, condition.conjuncts)

    def column(self, path: Path) -> Column | None:
        """What a path leads to in all hits that are meant, in order; None where that is told hit by hit."""
        if self.in_a_row is None:
            return None
        each = [self.columns.of(stretch, path) for stretch in self.in_a_row]
        read = [column for column in each if column is not None]
        if len(read) < len(each):
            return None
        whole = read[0] if len(read) == 1 else Column.of_all(read)
        return whole.only(self.ids) if self.condition or not self.alone else whole.without(self.left_out)

    def cells(self, columns: str, name: str, joins: str = "", end: str = "") -> stretches.SQL | None:
        """The cells of a name in all hits that are meant, stretch by stretch."""
        if self.quickly is None or not self.alone:
            return None
        each = []
        for stretch, which in self.quickly:
            sql, given = choosing.asked(which) if which is not None else ("", [])
            test = f" AND c0.hit IN ({sql})" if sql else ""
            if self.left_out:
                steps, at = _steps(self.run, self.spots)
                test, given = f"{test} AND c0.hit NOT IN ({steps})", [*given, *at]
            each.append(stretch.cells(columns, name, (test, given), joins))
        return " UNION ALL ".join(sql + end for sql, _ in each), [value for _, given in each for value in given]

    @functools.cached_property
    def ids(self) -> list[int]:
        """Every hit that is meant, in order."""
        if self.condition is not None and self.quickly is not None:
            found = [hit for _, which in self.quickly for hit in which or ()]
        else:
            joins, tests, before, after = self.parts if self.condition else replace(self, steps=True).parts
            found = choosing.listed(self.connection, f"SELECT h.id FROM {joins} WHERE {tests}", [*before, *after])
        if self.condition is not None and self.quickly is not None and not self.alone:
            found = [each for each in found if each in self.own]
        elif self.left_out:
            found = [each for each in found if each not in self.left_out]
        return sorted(found)

    @functools.cached_property
    def own(self) -> frozenset[int]:
        """Every hit that is meant, whatever the condition."""
        return frozenset(replace(self, condition=None).ids)

    def total(self) -> int:
        """How many hits are meant."""
        if self.condition is not None:
            return len(self.ids)
        if self.in_a_row and self.alone and all(map(self.columns.cells.is_filled, self.in_a_row)):
            return sum(each.high - each.low + 1 for each in self.in_a_row) - len(self.left_out)
        joins, tests, before, after = replace(self, steps=True).parts
        found = self.connection.execute(f"SELECT count(*) FROM {joins} WHERE {tests}", (*before, *after)).fetchone()
        return int(found[0]) - len(self.left_out)

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

    @property
    def hits(self) -> stretches.SQL:
        """FROM and WHERE of the hits that are meant, `h`, whatever makes them be meant."""
        if self.condition is None:
            joins, tests, before, after = self.parts
            return f"{joins} WHERE {tests}", [*before, *after]
        return "hit h WHERE h.id IN (SELECT value FROM json_each(?))", [msgspec.json.encode(self.ids)]


def _steps(run: Run, spots: Sequence[Spot]) -> stretches.SQL:
    """The question for the steps of a run, at some places or anywhere: an index holds these alone."""
    sql, given = f"SELECT id FROM hit WHERE step AND run IN ({run.marks})", list[object](run.members)
    if spots:
        sql, given = f"{sql} AND place IN ({','.join('?' * len(spots))})", [*given, *(each.id for each in spots)]
    return sql, given


def scope(
    connection: sqlite3.Connection, run: Run, view: View, at: Place | None, condition: str | None, *, steps: bool = True
) -> Scope:
    functions.teach(connection)
    spots = tuple(finding.places(connection, run, at, view)) if at else ()
    asked = where.parse(condition) if condition else None
    sql, given = _steps(run, spots)
    steps = steps or connection.execute(f"{sql} LIMIT 1", given).fetchone() is None
    made = Scope(connection, run, view, spots, Columns(connection), asked, steps)
    for name in asked.names if asked else ():
        need_name(made, name)
    return made


def has_name(scope: Scope, name: str) -> bool:
    """Whether a name was recorded at these places at all."""
    spots = scope.spots or finding.reached(scope.connection, scope.run)
    found = scope.connection.execute(
        f"SELECT 1 FROM cell WHERE name=(SELECT id FROM name WHERE text=?) AND place IN ({','.join('?' * len(spots))}) LIMIT 1",
        (name, *(each.id for each in spots)),
    ).fetchone()
    return found is not None


def need_name(scope: Scope, name: str) -> None:
    """A name that was recorded in none of the hits is a miss that lists those that were."""
    if not has_name(scope, name):
        if not finding.reached(scope.connection, scope.run):
            raise NotFound(f"{scope.run.handle} ({scope.run.name}) has no hits at all")
        names = _names(scope)
        more = " …" if len(names) > LISTED else ""
        there = f"; recorded there: {', '.join(names[:LISTED])}{more}" if names else ""
        raise NotFound(f"no {name} was recorded in these hits{there}")


def _names(scope: Scope) -> list[str]:
    """The names that were recorded at these places, the most frequent first."""
    if scope.in_a_row is None:
        spots = list(scope.spots) or finding.reached(scope.connection, scope.run)
        return finding.names_at(scope.connection, spots, scope.run) if spots else []
    counts = Counter[str]()
    for each in scope.in_a_row:
        here = (each.place, each.low, each.high)
        found = "SELECT name, count(*) AS times FROM cell WHERE place=? AND hit BETWEEN ? AND ? GROUP BY 1"
        sql = f"SELECT n.text, times FROM ({found}) f JOIN name n ON n.id=f.name"
        if each.shared:  # counted with those of others, but named only if they are in ours, too
            ours = "SELECT 1 FROM cell c CROSS JOIN hit h ON h.id=c.hit WHERE c.place=? AND c.hit BETWEEN ? AND ?"
            sql += f" WHERE EXISTS({ours} AND c.name=f.name AND h.run IN ({scope.run.marks}))"
        given = (*here, *here, *scope.run.members) if each.shared else here
        counts.update(dict(scope.connection.execute(sql, given).fetchall()))
    return sorted(counts, key=lambda name: (-counts[name], name))[: 3 * LISTED]


def need_part(scope: Scope, path: Path) -> None:
    """A path that leads nowhere in any of the hits, though its name was recorded, is a miss that lists what there is instead."""
    every = replace(scope, condition=None)
    if not path.steps or _leads_somewhere(every, path) or _beyond(every, path):
        return
    for whole in _examples(every, path):
        reached, way = whole, path.root
        for step in path.steps:
            shown = [
                key if key is not None else str(number) for number, (key, _) in enumerate(texts.parts(reached.value))
            ]
            if (found := texts.follow(reached, (step,))) is None:
                break
            reached, way = found, f"{way}.{step}"
        if shown:
            more = " …" if len(shown) > LISTED else ""
            raise NotFound(f"no {path} was recorded in these hits; {way} has {', '.join(shown[:LISTED])}{more}")
    raise NotFound(f"no {path} was recorded in these hits")


def _leads_somewhere(scope: Scope, path: Path) -> bool:
    """Whether a path leads to anything in any of the hits."""
    if column := scope.column(path):
        return column.told.count(None) < len(column.told)
    (told, given), (joins, tests, before, after) = asking.told(path), scope.parts
    value = " JOIN value v0 ON v0.id=c0.value"
    sql = f"SELECT 1 FROM {joins}{ITS_CELL}{value} WHERE {tests} AND {told} IS NOT NULL LIMIT 1"
    return scope.connection.execute(sql, (*before, path.root, *after, *given)).fetchone() is not None


def _examples(scope: Scope, path: Path) -> Iterator[Value]:
    """Some whole values of a path's name."""
    if column := scope.column(path):
        return scope.columns.examples(column)
    joins, tests, before, after = scope.parts
    sql = f"SELECT c0.value FROM {joins}{ITS_CELL} WHERE {tests} AND c0.value IS NOT NULL ORDER BY h.id LIMIT ?"
    rows = scope.connection.execute(sql, (*before, path.root, *after, EXAMPLES))
    return scope.columns.wholes({row[0] for row in rows})


def beyond(scope: Scope, paths: Iterable[Path]) -> tuple[str, ...]:
    """What must be said of paths that lead deeper into a value than it was recorded: such hits are neither counted nor excluded
    truly. Only values whose text was cut, or that have more to them, are looked into."""
    every = replace(scope, condition=None)
    return tuple(
        f"{path} goes deeper than what was recorded in {number:,} hits; what it was there is not known"
        for path in paths
        if (number := _beyond(every, path))
    )


_HAS_MORE = (
    "(v0.rest IS NOT NULL OR v0.total IS NOT NULL OR instr(v0.text, '…') OR instr(v0.text, '...') OR instr(v0.text, '<'))"
    " AND sf_beyond(v0.text, v0.total, v0.rest, ?, ?)"
)


def _beyond(scope: Scope, path: Path) -> int:
    """The hits in which a path leads out of what was recorded, whatever the condition."""
    known = scope.columns.known_beyond
    if path not in known:
        known[path] = _count_beyond(scope, path)
    return known[path]


def _count_beyond(scope: Scope, path: Path) -> int:
    parts = [scope.columns.of(stretch, path) for stretch in scope.in_a_row or ()]
    if parts and all(each is not None and not each.cut and not each.lacking for each in parts):
        return 0
    if column := scope.column(path):
        return scope.columns.beyond(column, path)
    steps = functions.written(path.steps)
    if all_values := scope.cells("c0.value", path.root):
        rows = scope.connection.execute(
            f"SELECT v0.id FROM value v0 WHERE v0.id IN ({all_values[0]}) AND {_HAS_MORE}",
            (*all_values[1], steps, path.of),
        )
        cut = {row[0] for row in rows}
        return sum(row[0] in cut for row in scope.connection.execute(*all_values)) if cut else 0
    joins, tests, before, after = scope.parts
    each = f"SELECT c0.value AS v, count(*) AS n FROM {joins}{ITS_CELL} WHERE {tests} GROUP BY 1"
    (number,) = scope.connection.execute(
        f"SELECT coalesce(sum(n), 0) FROM ({each}) JOIN value v0 ON v0.id=v WHERE {_HAS_MORE}",
        (*before, path.root, *after, steps, path.of),
    ).fetchone()
    return int(number)
