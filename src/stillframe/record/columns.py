"""What a path leads to in all hits of a stretch, read in one go: as fast for 100,000 values that all differ as for one.

SQLite puts the texts in a row, and one pattern reads through it (`glances`): to be asked for each text by itself costs more than
the reading does. The few texts that are odd are read thoroughly (`texts`).
"""

from __future__ import annotations

import itertools
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from ..model import exact
from ..model.values import Value
from . import glances, shapes, texts
from .conditions import Path, Told
from .pen import ValueRest
from .stretches import Stretch

SLICE = 4096
"""Hits whose texts are in memory at once."""
ROOM = 16_000_000
"""Characters of texts that are held for another path into the same values."""
EXAMPLES = 20
MANY = 1000
"""Groups of which the first and last hit are told for the largest alone."""
FEW = 8
"""Values that come in so many hits each, or more, are cheaper read once each."""


class Column(msgspec.Struct, frozen=True):
    """What a path leads to in each hit."""

    hits: list[int]
    values: list[int]
    """The whole value in each hit, by its id."""
    told: list[Told]
    odd: set[int]
    """The values that were not read at a glance: the path may lead out of what was recorded of them."""
    lacking: dict[int | None, set[int]]
    """Those that show no such part, by how many they show, where that is known: the path leads out of what was recorded if they
    have more."""

    @classmethod
    def of_all(cls, several: Sequence[Column]) -> Column:
        """Of places whose hits take turns, by the order of the hits."""
        odd = set[int]().union(*(each.odd for each in several))
        lacking: dict[int | None, set[int]] = {}
        for shown, those in (pair for each in several for pair in each.lacking.items()):
            lacking.setdefault(shown, set()).update(those)
        hits = [hit for each in several for hit in each.hits]
        values = [value for each in several for value in each.values]
        told = [part for each in several for part in each.told]
        order = sorted(range(len(hits)), key=hits.__getitem__)
        return cls(
            [hits[at] for at in order], [values[at] for at in order], [told[at] for at in order], odd, lacking
        )  # fmt: skip

    def _some(self, chosen: list[bool]) -> Column:
        some = itertools.compress
        return Column(
            list(some(self.hits, chosen)), list(some(self.values, chosen)), list(some(self.told, chosen)), self.odd, self.lacking
        )  # fmt: skip

    def only(self, hits: Iterable[int]) -> Column:
        """What it is in some of the hits."""
        wanted = set(hits)
        if wanted.issuperset(self.hits):
            return self
        return self._some([hit in wanted for hit in self.hits])

    def without(self, hits: frozenset[int]) -> Column:
        """What it is in all but some of the hits."""
        if not hits or hits.isdisjoint(self.hits):
            return self
        return self._some([hit not in hits for hit in self.hits])

    def tally(self, top: int) -> tuple[list[tuple[Told, int, int, int]], int, int]:
        """The largest groups of like ones with their first and last hit, the earlier before the later; how many groups there
        are, and how many hits are in any."""
        counts = Counter(self.told)
        nowhere = counts.pop(None, 0)
        largest = counts.most_common(top)
        told, hits = self.told, self.hits
        if len(counts) > MANY:
            shown = {part for part, _ in largest}
            chosen = [part in shown for part in told]
            told, hits = list(itertools.compress(told, chosen)), list(itertools.compress(hits, chosen))
        last = dict(zip(told, hits, strict=True))
        first = dict(zip(reversed(told), reversed(hits), strict=True))
        groups = [(part, count, first[part], last[part]) for part, count in largest]
        return groups, len(counts), len(self.told) - nowhere


class Piece(msgspec.Struct, frozen=True):
    stretch: Stretch
    gapless: bool
    """Every hit of it has the name."""


class Slice(msgspec.Struct, frozen=True):
    """What is in memory of one piece at once."""

    hits: list[int]
    values: list[int]
    row: str
    """Their texts."""
    most: int
    """The parts that any of the values has at the most, as far as that is known."""


class Columns:
    """Those that were read for one question; each is read once, whoever asks."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._read: dict[tuple[Stretch, Path], Column] = {}
        self._held: dict[tuple[Piece, str, str], Slice] = {}
        self._room = ROOM

    def of(self, stretch: Stretch, path: Path) -> Column | None:
        """None where such a path cannot be followed at a glance."""
        if not glances.readable(path.steps):
            return None
        if (stretch, path) not in self._read:
            self._read[stretch, path] = self._column(stretch, path)
        return self._read[stretch, path]

    def with_whole(self, stretch: Stretch, path: Path) -> Column | None:
        """The same; of a name also its whole values, or their types."""
        if path.steps or path.of == "len":
            return self.of(stretch, path)
        made = Column([], [], [], set(), {})
        asked = "v0.type" if path.of == "type" else "v0.text"
        known: dict[int, str] = {}
        differ = False
        for piece in self._pieces(stretch, path.root):
            read = self._slice(piece, path.root, asked if differ else "")
            fresh = set(read.values) - known.keys()
            differ = len(fresh) * FEW >= len(read.values) > 0
            if differ:
                read = read if read.row else self._slice(piece, path.root, asked)
                told = read.row.split(glances.END)
            else:
                known |= self._wholly(asked, fresh)
                told = [known[each] for each in read.values]
            if len(told) != len(read.values):
                return None
            made.told.extend(told)
            made.hits.extend(read.hits)
            made.values.extend(read.values)
        return made if made.hits == sorted(made.hits) else Column.of_all([made])

    def _wholly(self, asked: str, values: Collection[int]) -> dict[int, str]:
        sql = f"SELECT v0.id, {asked} FROM value v0 WHERE v0.id IN (SELECT value FROM json_each(?))"
        return dict(self._connection.execute(sql, (msgspec.json.encode(sorted(values)),)).fetchall())

    def beyond(self, column: Column, path: Path) -> int:
        """The hits in which a path leads out of what was recorded."""
        cut = {
            id
            for id, whole, more in self._whole(column.odd)
            if texts.goes_beyond(whole, more, path.steps, of_length=path.of == "len")
        }
        for shown, values in column.lacking.items():
            if shown is None:
                cut |= {id for id, whole, more in self._whole(values, "total") if _shows_less(whole, more, path)}
            else:
                cut |= self._with_more(shown, values)
        return sum(each in cut for each in column.values) if cut else 0

    def _with_more(self, shown: int, values: Collection[int]) -> set[int]:
        """Those of some values that have more parts than so many."""
        rows = self._connection.execute(
            "SELECT id FROM value WHERE id IN (SELECT value FROM json_each(?)) AND total > ?",
            (msgspec.json.encode(sorted(values)), shown),
        )
        return {row[0] for row in rows}

    def examples(self, column: Column) -> Iterator[Value]:
        """Some of the whole values."""
        return (whole for _, whole, _ in self._whole(set(column.values[:EXAMPLES])))

    def _column(self, stretch: Stretch, path: Path) -> Column:
        made = Column([], [], [], set(), {})
        known: dict[int, Told] = {}
        reader = shapes.Reader(path)
        glanced = False
        for piece in self._pieces(stretch, path.root):
            read = self._slice(piece, path.root, _TEXT if glanced else "")
            fresh = set(read.values) - known.keys()
            glanced = len(fresh) * FEW >= len(read.values) > 0
            if glanced:
                read = read if read.row else self._slice(piece, path.root, _TEXT)
                made.told.extend(self._at_a_glance(read, reader, path, made))
            else:
                known |= self._thoroughly(fresh, path)
                made.odd.update(fresh)
                made.told.extend(known[each] for each in read.values)
            made.hits.extend(read.hits)
            made.values.extend(read.values)
        # SQLite goes along the table's key, though it does not promise to; all three lists are of one walk.
        return made if made.hits == sorted(made.hits) else Column.of_all([made])

    def _pieces(self, stretch: Stretch, name: str) -> Iterator[Piece]:
        """The stretch in parts that are not too large: a place that was seldom come to is one of them."""
        ((count,),) = self._connection.execute(*stretch.cells("count(*)", name))
        width = (stretch.high - stretch.low) // max(1, -(-count // SLICE)) + 1
        gapless = count == stretch.high - stretch.low + 1
        for low in range(stretch.low, stretch.high + 1, width) if count else ():
            part = msgspec.structs.replace(stretch, low=low, high=min(low + width - 1, stretch.high))
            yield Piece(part, gapless)

    def _slice(self, piece: Piece, name: str, text: str) -> Slice:
        """The hits of a piece, and the row of their texts if any are wanted: to ask for all at once is quicker."""
        if held := self._held.get((piece, name, text)):
            return held
        part = piece.stretch
        columns = ["NULL" if piece.gapless else "group_concat(c0.hit)", "group_concat(c0.value)", "NULL", "NULL"]
        joins = ""
        if text:
            columns[2:], joins = [_ROW.format(text), "max(v0.total)"], " JOIN value v0 ON v0.id=c0.value"
        hits, values, row, most = self._connection.execute(
            *part.cells(", ".join(columns), name, joins=joins)
        ).fetchone()
        at = list(range(part.low, part.high + 1)) if piece.gapless else numbers(hits or "")
        made = Slice(at, numbers(values or ""), row or "", most or 0)
        if text == _TEXT and made.row.count(glances.END) >= len(made.values) > 0:
            without = f"iif(instr(v0.text, '{glances.END}'), '', {_TEXT})"
            ((row,),) = self._connection.execute(*part.cells(_ROW.format(without), name, joins=joins))
            made = msgspec.structs.replace(made, row=row)
        if len(made.row) <= self._room:
            self._held[piece, name, text] = made
            self._room -= len(made.row)
        return made

    def _at_a_glance(self, part: Slice, reader: shapes.Reader, path: Path, column: Column) -> list[Told]:
        read = reader.read(part.row)
        seen = set(read)
        kinds = seen & (_UNTOLD | reader.lacks)
        if not kinds:
            return list[Told](read)  # type: ignore[arg-type]
        unread: set[int] = set()
        for kind in kinds:
            shown = kind.shown if isinstance(kind, shapes.Lacking) else None
            if isinstance(kind, shapes.Lacking) and (shown is None or part.most <= shown):
                continue
            those = {value for value, each in zip(part.values, read, strict=True) if each == kind}
            if kind == shapes.UNREAD:
                unread = those
            else:
                column.lacking.setdefault(shown, set()).update(those)
        column.odd.update(unread)
        if kinds == seen and not unread:
            return [None] * len(read)
        thorough = self._thoroughly(unread, path)
        return [
            (thorough.get(value) if each == shapes.UNREAD else None) if each in kinds else each  # type: ignore[misc]
            for value, each in zip(part.values, read, strict=True)
        ]

    def _thoroughly(self, values: Collection[int], path: Path) -> dict[int, Told]:
        return {
            id: _told(found, path) if (found := texts.follow(whole, path.steps)) else None
            for id, whole, _ in self._whole(values)
        }

    def _whole(self, values: Collection[int], known: str = "text") -> Iterator[tuple[int, Value, bool]]:
        """Values as they were recorded, and whether the live program could have told more; those of which something is known."""
        rows = self._connection.execute(
            f"SELECT id, text, total, rest FROM value WHERE id IN (SELECT value FROM json_each(?)) AND {known} IS NOT NULL",
            (msgspec.json.encode(sorted(values)),),
        )
        for id, text, total, rest in rows:
            more = exact.decode(rest, ValueRest).more if rest else False
            yield id, texts.restored("", text, total, rest), more


def _shows_less(whole: Value, more: bool, path: Path) -> bool:
    """Whether a value has parts that it does not show, where the path leads to such."""
    if len(path.steps) > 1:
        return texts.goes_beyond(whole, more, path.steps)
    shown = glances.shown(whole.value)
    return texts.is_cut(whole, more) if shown is None else shown < (whole.total or 0)


_UNTOLD = glances.NOWHERE | {shapes.UNREAD}
_TEXT = "iif(v0.rest IS NULL, v0.text, '')"
_ROW = f"group_concat({{}}, '{glances.END}')"


def numbers(listed: str) -> list[int]:
    """Those that SQLite put into one text: quicker than a row for each."""
    return msgspec.json.decode(f"[{listed}]", type=list[int])


def _told(part: Value, path: Path) -> Told:
    match path.of:
        case "type":
            return part.type
        case "len":
            return texts.length_of(part)
        case "value":
            return part.value
