"""Where the hits of a run lie together: a place's cells are in the order of its hits, so that a stretch of them is read in a row.

Runs of one program share their places. As long as no other run came to a place between the first and the last hit of the ones
asked about, the cells between these two are theirs alone, and need not be looked up hit by hit. Where others did, the stretch is
shared: it is still read in a row while others have not much more of it than they, and what is not theirs is left out afterwards.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

import msgspec

from .finding import Run, Spot

LOOKED_UP = 4000
"""Pairs of a run and a place that are looked up before one question; each takes two or three steps into an index."""

MANY_RUNS = 400
CROWD = 3
"""Times as many hits as ours that are read to have ours."""

SQL = tuple[str, list[object]]


class Stretch(msgspec.Struct, frozen=True):
    """The hits of a place from one to another, whose values are in a row for each name."""

    place: int
    low: int
    high: int
    shared: bool = False
    """Hits of other runs lie among them."""

    def cells(self, columns: str, name: str, test: SQL = ("", []), joins: str = "") -> SQL:
        sql = (
            f"SELECT {columns} FROM cell c0{joins} WHERE c0.place=? AND c0.name=(SELECT id FROM name WHERE text=?)"
            f" AND c0.hit BETWEEN ? AND ?{test[0]}"
        )
        return sql, [self.place, name, self.low, self.high, *test[1]]


def found(connection: sqlite3.Connection, run: Run, spots: Sequence[Spot]) -> tuple[Stretch, ...] | None:
    """A stretch for each place that the run came to; None where these would be too many, or too much of others is in them."""
    if not spots or len(spots) * len(run.members) > LOOKED_UP:
        return None
    own = {spot.id: _around(_ends(connection, each, spot.id) for each in run.members) for spot in spots}
    reached = {place: pair for place, pair in own.items() if pair}
    if not reached:
        return None
    others = _others(connection, run, *_around(reached.values()) or (0, 0))
    if len(others) * len(reached) > LOOKED_UP:
        return None
    made = []
    for place, (low, high) in reached.items():
        ends = (_ends(connection, each, place) for each in others)
        shared = any(pair and pair[0] <= high and low <= pair[1] for pair in ends)
        if shared and _crowded(connection, run, place, low, high):
            return None
        made.append(Stretch(place, low, high, shared))
    return tuple(made)


def _around(pairs: Iterable[tuple[int, int] | None]) -> tuple[int, int] | None:
    known = [pair for pair in pairs if pair]
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None


def _others(connection: sqlite3.Connection, run: Run, low: int, high: int) -> list[int]:
    """The other runs that may have come to these places meanwhile."""
    runs = {
        row[0] for row in connection.execute("SELECT id FROM run WHERE EXISTS (SELECT 1 FROM hit WHERE hit.run=run.id)")
    } - {*run.members}
    if len(runs) > MANY_RUNS:  # to go through the hits themselves is quicker then
        runs &= {
            row[0] for row in connection.execute("SELECT DISTINCT run FROM hit WHERE id BETWEEN ? AND ?", (low, high))
        }
    return sorted(runs)


def _crowded(connection: sqlite3.Connection, run: Run, place: int, low: int, high: int) -> bool:
    """Whether so many hits of others lie between ours that ours are sooner looked up one by one."""
    ((all_of_it,),) = connection.execute(
        "SELECT count(*) FROM cell WHERE place=? AND name=(SELECT name FROM cell WHERE place=? LIMIT 1) AND hit BETWEEN ? AND ?",
        (place, place, low, high),
    )
    ((ours,),) = connection.execute(
        f"SELECT count(*) FROM hit WHERE run IN ({run.marks}) AND place=?", (*run.members, place)
    )
    return bool(all_of_it > CROWD * ours)


def _ends(connection: sqlite3.Connection, run: int, place: int) -> tuple[int, int] | None:
    """A run's first and last hit at a place: its numbers grow with the ids of their rows."""
    ends = [
        connection.execute(
            f"SELECT id FROM hit WHERE run=? AND place=? ORDER BY number {order} LIMIT 1", (run, place)
        ).fetchone()
        for order in ("ASC", "DESC")
    ]
    return (ends[0][0], ends[1][0]) if ends[0] else None
