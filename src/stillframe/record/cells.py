"""The cells of a stretch, piece by piece: SQLite puts what is asked for in one text, since a row for each costs more.

The hits and the values of a piece are numbers in one text, and what its values show are texts with `END` between them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence

import msgspec

from .glances import END
from .stretches import Stretch

SLICE = 4096
"""Hits whose texts are in memory at once."""
ROOM = 16_000_000
"""Characters of texts that are held for another path into the same values."""
SAMPLE = 256
"""Cells from which it is guessed how many of the values differ."""

ITS_VALUE = " CROSS JOIN value v0 ON v0.id=c0.value"
"""Crossed, so that the cells are gone along, and not the values."""


class Piece(msgspec.Struct, frozen=True):
    stretch: Stretch
    name: str
    gapless: bool
    """Every hit of it has the name."""


class Row(msgspec.Struct, frozen=True):
    """What the values of a piece show."""

    text: str
    most: int | None = None
    """The parts that any of them has at the most, where that was asked for."""


class Cells:
    """Those that one question is about; what was read once is held for whoever asks again."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._counts: dict[tuple[Stretch, str], int] = {}
        self._filled: set[Stretch] = set()
        self._hits: dict[Piece, list[int]] = {}
        self._values: dict[Piece, list[int]] = {}
        self._rows: dict[tuple[Piece, str], Row] = {}
        self._room = ROOM

    def fills(self, stretch: Stretch, name: str) -> bool:
        """Whether every row from the first hit of a stretch to its last is one of it, and has the name."""
        return self._count(stretch, name) == stretch.high - stretch.low + 1

    def is_filled(self, stretch: Stretch) -> bool:
        """The same of any name, as far as it came to be known."""
        return stretch in self._filled

    def _count(self, stretch: Stretch, name: str) -> int:
        if (stretch, name) not in self._counts:
            ((count,),) = self._connection.execute(*stretch.cells("count(*)", name))
            self._counts[stretch, name] = count
            if self.fills(stretch, name):
                self._filled.add(stretch)
        return self._counts[stretch, name]

    def pieces(self, stretch: Stretch, name: str) -> Iterator[Piece]:
        """The stretch in parts that are not too large: a place that was seldom come to is one of them."""
        count = self._count(stretch, name)
        width = (stretch.high - stretch.low) // max(1, -(-count // SLICE)) + 1
        gapless = self.fills(stretch, name)
        for low in range(stretch.low, stretch.high + 1, width) if count else ():
            part = msgspec.structs.replace(stretch, low=low, high=min(low + width - 1, stretch.high))
            yield Piece(part, name, gapless)

    def hits(self, piece: Piece) -> Sequence[int]:
        if piece.gapless:
            return range(piece.stretch.low, piece.stretch.high + 1)
        if piece not in self._hits:
            self.values(piece)
        return self._hits[piece]

    def values(self, piece: Piece) -> list[int]:
        """The value of each hit, by its id."""
        if piece not in self._values:
            asked = f"{self._asked_hits(piece)}, group_concat(c0.value)"
            hits, values = self._connection.execute(*piece.stretch.cells(asked, piece.name)).fetchone()
            self._values[piece] = numbers(values or "")
            self._note_hits(piece, hits)
        return self._values[piece]

    def _asked_hits(self, piece: Piece) -> str:
        """The hits are told along with what else is asked, where they are not known."""
        return "NULL" if piece.gapless or piece in self._hits else "group_concat(c0.hit)"

    def _note_hits(self, piece: Piece, told: str | None) -> None:
        if not piece.gapless and piece not in self._hits:
            self._hits[piece] = numbers(told or "")

    def row(self, piece: Piece, asked: str, *, most: bool = False) -> Row:
        """What is asked of the value of each hit; more than the hits are where one has `END` in it."""
        held = self._rows.get((piece, asked))
        if held and (held.most is not None or not most):
            return held
        columns = f"group_concat({asked}, '{END}'), {'coalesce(max(v0.total), 0)' if most else 'NULL'}"
        text, parts, hits = self._connection.execute(
            *piece.stretch.cells(f"{columns}, {self._asked_hits(piece)}", piece.name, joins=ITS_VALUE)
        ).fetchone()
        self._note_hits(piece, hits)
        made = Row(text or "", parts)
        self._hold(piece, asked, made)
        return made

    def _hold(self, piece: Piece, asked: str, row: Row) -> None:
        held = (piece, asked) in self._rows
        if held or len(row.text) <= self._room:
            self._room -= 0 if held else len(row.text)
            self._rows[piece, asked] = row

    def beside(self, piece: Piece, asked: str, along: str | None = None) -> bytes:
        """What is asked of what stands beside the text of each hit's value, as it is kept. `along`: what else of the values will
        be asked; they are gone to once for both."""
        row = f"CAST(group_concat({asked}, '{END}') AS BLOB)"
        if along is not None:
            row = f"{row}, group_concat({along}, '{END}'), group_concat(c0.value), {self._asked_hits(piece)}"
        told, *more = self._connection.execute(*piece.stretch.cells(row, piece.name, joins=ITS_VALUE)).fetchone()
        if along is not None:
            self._hold(piece, along, Row(more[0] or ""))
            self._values[piece] = numbers(more[1] or "")
            self._note_hits(piece, more[2])
        return told or b""

    def variety(self, stretch: Stretch, name: str) -> tuple[int, int]:
        """How many values differ among some of the first cells, and how many these are."""
        first = stretch.cells("c0.value", name, (" LIMIT ?", [SAMPLE]))
        found: tuple[int, int] = self._connection.execute(
            f"SELECT count(DISTINCT value), count(*) FROM ({first[0]})", first[1]
        ).fetchone()
        return found

    def of_values(self, asked: str, values: Collection[int]) -> list[tuple[int, str]]:
        """What is asked of some values, each with its id."""
        sql = f"SELECT v0.id, {asked} FROM value v0 WHERE v0.id IN (SELECT value FROM json_each(?))"
        return self._connection.execute(sql, (listed(values),)).fetchall() if values else []

    def most_parts(self, values: Collection[int]) -> int:
        """The parts that any of some values has at the most, as far as that is known."""
        sql = "SELECT max(total) FROM value WHERE id IN (SELECT value FROM json_each(?))"
        return self._connection.execute(sql, (listed(values),)).fetchone()[0] or 0


def listed(values: Collection[int]) -> bytes:
    """Numbers as SQLite takes many at once."""
    return msgspec.json.encode(sorted(values))


def numbers(listed: str) -> list[int]:
    """Those that SQLite put into one text: quicker than a row for each."""
    return msgspec.json.decode(f"[{listed}]", type=list[int])
