"""What a path leads to in all hits of a stretch, read in one go: as fast for 100,000 values that all differ as for one.

SQLite puts the texts in a row, and one pattern reads through it (`glances`): to be asked for each text by itself costs more than
the reading does. The few texts that are odd are read thoroughly (`texts`).
"""

from __future__ import annotations

import operator
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from ..model.values import Value
from . import glances, texts
from .pen import ValueRest
from .stretches import Stretch
from .where import Path

SLICE = 4096
"""Hits whose texts are in memory at once."""
EXAMPLES = 20
FEW = 8
"""Values that come in so many hits each, or more, are cheaper read once each."""

Told = str | int | None
"""A part as it was written, its type, or its length; None where the path leads nowhere."""


class Column(msgspec.Struct, frozen=True):
    """What a path leads to in each hit."""

    hits: list[int]
    values: list[int]
    """The whole value in each hit, by its id."""
    told: list[Told]
    odd: set[int]
    """The values that were not read at a glance: the path may lead out of what was recorded of them."""
    lacking: set[int]
    """Those that show no such part: the path leads out of what was recorded if they have parts that they do not show."""

    @classmethod
    def of_all(cls, several: Sequence[Column]) -> Column:
        """Of places whose hits take turns, by the order of the hits."""
        odd, lacking = (
            set[int]().union(*each) for each in zip(*((each.odd, each.lacking) for each in several), strict=True)
        )
        return cls._of(
            sorted((row for each in several for row in each.rows()), key=operator.itemgetter(0)), odd, lacking
        )

    @classmethod
    def _of(cls, rows: Sequence[tuple[int, int, Told]], odd: set[int], lacking: set[int]) -> Column:
        return cls([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows], odd, lacking)

    def rows(self) -> Iterator[tuple[int, int, Told]]:
        return zip(self.hits, self.values, self.told, strict=True)

    def only(self, hits: Iterable[int]) -> Column:
        """What it is in some of the hits."""
        wanted = set(hits)
        if wanted.issuperset(self.hits):
            return self
        return self._of([row for row in self.rows() if row[0] in wanted], self.odd, self.lacking)

    def tally(self, top: int) -> tuple[list[tuple[Told, int, int, int]], int, int]:
        """The largest groups of like ones with their first and last hit, the earlier before the later; how many groups there
        are, and how many hits are in any."""
        counts = Counter(self.told)
        nowhere = counts.pop(None, 0)
        last = dict(zip(self.told, self.hits, strict=True))
        first = dict(zip(reversed(self.told), reversed(self.hits), strict=True))
        largest = [(told, count, first[told], last[told]) for told, count in counts.most_common(top)]
        return largest, len(counts), len(self.told) - nowhere


class Columns:
    """Those that were read for one question; each is read once, whoever asks."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._read: dict[tuple[Stretch, Path], Column] = {}

    def of(self, stretch: Stretch, path: Path) -> Column | None:
        """None where such a path cannot be followed at a glance."""
        if not glances.readable(path.steps):
            return None
        if (stretch, path) not in self._read:
            self._read[stretch, path] = self._column(stretch, path)
        return self._read[stretch, path]

    def beyond(self, column: Column, path: Path) -> int:
        """The hits in which a path leads out of what was recorded."""
        cut = {
            id
            for id, whole, more in self._whole(column.odd)
            if texts.goes_beyond(whole, more, path.steps, of_length=path.of == "len")
        }
        cut |= {id for id, whole, more in self._whole(column.lacking, "total") if _shows_less(whole, more)}
        return sum(each in cut for each in column.values) if cut else 0

    def examples(self, column: Column) -> Iterator[Value]:
        """Some of the whole values."""
        return (whole for _, whole, _ in self._whole(set(column.values[:EXAMPLES])))

    def _column(self, stretch: Stretch, path: Path) -> Column:
        made = Column([], [], [], set(), set())
        known: dict[int, Told] = {}
        glanced = False
        for piece in self._pieces(stretch, path.root):
            hits, values, row = self._slice(piece, path.root, glanced)
            fresh = set(values) - known.keys()
            glanced = len(fresh) * FEW >= len(values) > 0
            if glanced:
                row = row if row is not None else self._slice(piece, path.root, True)[2]
                made.told.extend(self._at_a_glance(row or "", values, path, made))
            else:
                known |= self._thoroughly(fresh, path)
                made.odd.update(fresh)
                made.told.extend(known[each] for each in values)
            made.hits.extend(hits)
            made.values.extend(values)
        # SQLite goes along the table's key, though it does not promise to; all three lists are of one walk.
        return made if made.hits == sorted(made.hits) else Column.of_all([made])

    def _pieces(self, stretch: Stretch, name: str) -> Iterator[Stretch]:
        """The stretch in parts that are not too large: a place that was seldom come to is one of them."""
        ((count,),) = self._connection.execute(*stretch.cells("count(*)", name))
        width = (stretch.high - stretch.low) // max(1, -(-count // SLICE)) + 1
        for low in range(stretch.low, stretch.high + 1, width) if count else ():
            yield msgspec.structs.replace(stretch, low=low, high=min(low + width - 1, stretch.high))

    def _slice(self, piece: Stretch, name: str, with_texts: bool) -> tuple[list[int], list[int], str | None]:
        """The hits of a piece, their values, and if wanted the row of their texts: to ask for all at once is quicker."""
        columns, joins = "group_concat(c0.hit), group_concat(c0.value), NULL", ""
        if with_texts:
            text = f"iif(v0.rest IS NULL AND NOT instr(v0.text, '{glances.END}'), v0.text, '')"
            columns = f"group_concat(c0.hit), group_concat(c0.value), group_concat({text}, '{glances.END}')"
            joins = " JOIN value v0 ON v0.id=c0.value"
        hits, values, row = self._connection.execute(*piece.cells(columns, name, joins=joins)).fetchone()
        return numbers(hits or ""), numbers(values or ""), row

    def _at_a_glance(self, row: str, values: list[int], path: Path, column: Column) -> list[Told]:
        parts = glances.parts(row, path.steps)
        seen = set(parts)
        if path.of == "value" and not seen & _UNTOLD:
            return list[Told](parts)
        of = {part: None if part in _UNTOLD else _told(texts.of_text("", part), path) for part in seen}
        told = [of[part] for part in parts]
        lacking = {value for value, part in zip(values, parts, strict=True) if part in glances.NOWHERE}
        unread = {value for value, each in zip(values, told, strict=True) if each is None} - lacking
        column.odd.update(unread)
        column.lacking.update(lacking)
        thorough = self._thoroughly(unread, path)
        return [thorough.get(value) if each is None else each for value, each in zip(values, told, strict=True)]

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
            more = msgspec.json.decode(rest, type=ValueRest).more if rest else False
            yield id, texts.restored("", text, total, rest), more


def _shows_less(whole: Value, more: bool) -> bool:
    """Whether a value has parts that it does not show."""
    shown = glances.shown(whole.value)
    return texts.is_cut(whole, more) if shown is None else shown < (whole.total or 0)


_UNTOLD = glances.NOWHERE | {""}


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
