"""One run's hits by place, as a comparison of two runs looks at them: how many there are, and the mark of each.

The marks of a place are compared as one text, since runs are alike for the most part; what a hit's row is, is only asked of the
few that differ.
"""

from __future__ import annotations

import sqlite3

import msgspec

from ..model.recording import PROBED, TRACED
from . import finding
from .cells import numbers
from .finding import Run, Spot

IN_PARTS = (PROBED, TRACED)

_AT = "FROM hit INDEXED BY hit_place WHERE run=?"


class Marks(msgspec.Struct):
    """The marks of a place's hits, in order."""

    count: int
    text: str
    """Each with a comma behind it."""
    ids: list[int] | None = None
    """The hits' rows, where more than one process came there; else they are told by the index."""

    def alike(self, other: Marks) -> int:
        """How many hits of both are alike from the beginning."""
        if self.text == other.text:
            return self.count
        low, high = 0, min(len(self.text), len(other.text))
        while low < high:
            middle = (low + high + 1) // 2
            if self.text[low:middle] == other.text[low:middle]:
                low = middle
            else:
                high = middle - 1
        return self.text.count(",", 0, low)


class Side(msgspec.Struct):
    connection: sqlite3.Connection
    run: Run
    spots: dict[int, Spot]
    marks: dict[int, Marks]
    by: str = ""
    """`probe` or `trace`: its hits have what a probe or a trace asked for and no more, and of many hits there are only some."""

    @classmethod
    def of(cls, connection: sqlite3.Connection, run: Run) -> Side:
        spots = {each.id: each for each in finding.reached(connection, run)}
        first = connection.execute(f"SELECT reason FROM hit WHERE run IN ({run.marks}) LIMIT 1", run.members).fetchone()
        by = first[0] if first is not None and first[0] in IN_PARTS else ""
        return cls(connection, run, spots, _marks(connection, run), by)

    def first(self, place: int) -> int:
        """The row of a place's first hit."""
        return self.hit(place, 0)

    def last(self, place: int) -> int:
        return self.hit(place, self.marks[place].count - 1)

    def hit(self, place: int, number: int) -> int:
        """The row of one of a place's hits, counted from nought."""
        if (known := self.marks[place].ids) is not None:
            return known[number]
        sql = f"SELECT id {_AT} AND place=? ORDER BY number LIMIT 1 OFFSET ?"
        return int(self.connection.execute(sql, (self.run.members[0], place, number)).fetchone()[0])

    def hits(self, place: int) -> list[int]:
        """The rows of all of them, in order."""
        if (known := self.marks[place].ids) is not None:
            return known
        sql = f"SELECT id {_AT} AND place=? ORDER BY number"
        return [row[0] for row in self.connection.execute(sql, (self.run.members[0], place))]


def _marks(connection: sqlite3.Connection, run: Run) -> dict[int, Marks]:
    if len(run.members) == 1:
        sql = f"SELECT place, count(*), group_concat(print) {_AT} GROUP BY place"
        return {place: Marks(count, f"{text},") for place, count, text in connection.execute(sql, run.members)}
    found: dict[int, list[tuple[int, int]]] = {}
    for member in run.members:
        sql = f"SELECT place, group_concat(id), group_concat(print) {_AT} GROUP BY place"
        for place, ids, marks in connection.execute(sql, (member,)):
            found.setdefault(place, []).extend(zip(numbers(ids), numbers(marks), strict=True))
    return {place: _in_order(hits) for place, hits in found.items()}


def _in_order(hits: list[tuple[int, int]]) -> Marks:
    """Of several processes that took turns, by the rows of their hits."""
    hits.sort()
    return Marks(len(hits), "".join(f"{mark}," for _, mark in hits), [id for id, _ in hits])
