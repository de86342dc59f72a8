"""Where the hits of a run lie together: a place's cells are in the order of its hits, so that a stretch of them is read in a row.

Runs of one program share their places. As long as no other run came to a place between the first and the last hit of the ones
asked about, the cells between these two are theirs alone, and need not be looked up hit by hit.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec

from .finding import Run, Spot

LOOKED_UP = 4000
"""Pairs of a run and a place that are looked up before one question; each takes two or three steps into an index."""

SQL = tuple[str, list[object]]


class Stretch(msgspec.Struct, frozen=True):
    """The hits of a place from one to another, whose values are in a row for each name."""

    place: int
    low: int
    high: int

    def cells(self, columns: str, name: str, test: SQL = ("", []), joins: str = "") -> SQL:
        sql = (
            f"SELECT {columns} FROM cell c0{joins} WHERE c0.place=? AND c0.name=(SELECT id FROM name WHERE text=?)"
            f" AND c0.hit BETWEEN ? AND ?{test[0]}"
        )
        return sql, [self.place, name, self.low, self.high, *test[1]]


def found(connection: sqlite3.Connection, run: Run, spots: Sequence[Spot]) -> tuple[Stretch, ...] | None:
    """A stretch for each place; None where another run's hits lie in between, or it would take long to find out."""
    runs = [row[0] for row in connection.execute("SELECT id FROM run WHERE hits")]
    if not spots or len(runs) * len(spots) > LOOKED_UP:
        return None
    made = []
    for spot in spots:
        ends = {each: _ends(connection, each, spot.id) for each in {*runs, *run.members}}
        own = [pair for each in run.members if (pair := ends.pop(each))]
        if not own:
            continue
        low, high = min(first for first, _ in own), max(last for _, last in own)
        if any(pair and pair[0] <= high and low <= pair[1] for pair in ends.values()):
            return None
        made.append(Stretch(spot.id, low, high))
    return tuple(made) or None


def _ends(connection: sqlite3.Connection, run: int, place: int) -> tuple[int, int] | None:
    """A run's first and last hit at a place: its numbers grow with the ids of their rows."""
    ends = [
        connection.execute(
            f"SELECT id FROM hit WHERE run=? AND place=? ORDER BY number {order} LIMIT 1", (run, place)
        ).fetchone()
        for order in ("ASC", "DESC")
    ]
    return (ends[0][0], ends[1][0]) if ends[0] else None
