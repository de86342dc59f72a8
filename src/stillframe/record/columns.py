"""What a path leads to in all hits of a stretch, read in one go: as fast for 100,000 values that all differ as for one.

Where most values differ, one pattern reads through the row of their texts (`glances`, `cells`): to be asked for each text by
itself costs more than the reading does. Values that come again and again are read once each. The few texts that are odd are
read thoroughly (`texts`).
"""

from __future__ import annotations

import functools
import itertools
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import msgspec

from ..model import exact
from ..model.values import Value
from . import glances, insides, shapes, texts
from .cells import Cells, Piece, listed
from .conditions import Path, Told
from .pen import ValueRest
from .stretches import Stretch

EXAMPLES = 20
NEAR = 1000
"""Hits among which the first and last of each group are looked for at first."""
WORTH = 100
"""Texts for which a pattern is made; fewer are sooner read thoroughly."""


class Column(msgspec.Struct, frozen=True, dict=True):
    """What a path leads to in each hit."""

    hits: Sequence[int]
    told: list[Told]
    cut: set[int]
    """The values of which the path leads out of what was recorded."""
    lacking: dict[int | None, set[int]]
    """Those that show no such part, by how many they show, where that is known: the path leads out of what was recorded if they
    have more."""
    cells: tuple[tuple[Stretch, str], ...]
    """Where the whole values are: the stretches, and the name."""

    @classmethod
    def of_all(cls, several: Sequence[Column]) -> Column:
        """Of places whose hits take turns, by the order of the hits."""
        cut = set[int]().union(*(each.cut for each in several))
        lacking: dict[int | None, set[int]] = {}
        for shown, those in (pair for each in several for pair in each.lacking.items()):
            lacking.setdefault(shown, set()).update(those)
        hits = [hit for each in several for hit in each.hits]
        told = [part for each in several for part in each.told]
        cells = tuple(pair for each in several for pair in each.cells)
        order = sorted(range(len(hits)), key=hits.__getitem__)
        return cls([hits[at] for at in order], [told[at] for at in order], cut, lacking, cells)

    @functools.cached_property
    def heights(self) -> list[float | None]:
        """The number that is told in each hit; None where it is none."""
        return texts.numbers(self.told)

    def _some(self, chosen: list[bool]) -> Column:
        some = itertools.compress
        return Column(list(some(self.hits, chosen)), list(some(self.told, chosen)), self.cut, self.lacking, self.cells)

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
        of_any = len(self.told) - counts.pop(None, 0)
        told, hits = self.told, self.hits
        if len(counts) == of_any:  # each is another
            each = ((part, 1, hit, hit) for part, hit in zip(told, hits, strict=True) if part is not None)
            return list(itertools.islice(each, max(0, top))), of_any, of_any
        largest = counts.most_common(top)
        shown = {part for part, _ in largest}
        last, first = _last_hits(told, hits, shown), _last_hits(told[::-1], hits[::-1], shown)
        return [(part, count, first[part], last[part]) for part, count in largest], len(counts), of_any


def _last_hits(told: list[Told], hits: Sequence[int], wanted: set[Told]) -> dict[Told, int]:
    """The last hit of each that is wanted; mostly these are all among the very last."""
    near = NEAR
    while True:
        found = dict(zip(told[-near:], hits[-near:], strict=True))
        if near >= len(told) or found.keys() >= wanted:
            return found
        near *= 8


class Columns:
    """Those that were read for one question; each is read once, whoever asks."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.cells = Cells(connection)
        self._connection = connection
        self._read: dict[tuple[Stretch, Path], Column] = {}
        self.known_beyond: dict[Path, int] = {}
        """In how many hits a path leads out of what was recorded; they are counted once, too."""

    def of(self, stretch: Stretch, path: Path) -> Column | None:
        """None where such a path cannot be followed at a glance. Of a name itself its whole values, or their types or lengths."""
        if path.steps and not glances.readable(path.steps):
            return None
        if (stretch, path) not in self._read:
            self._read[stretch, path] = self._column(stretch, path)
        return self._read[stretch, path]

    def few(self, stretch: Stretch, name: str) -> tuple[list[int], list[int], set[int]] | None:
        """The hits that have a name, the value of each by its id, and all these values; None where they are too many to be
        asked about one by one."""
        hits: list[int] = []
        values: list[int] = []
        known: set[int] = set()
        if _differ(*self.cells.variety(stretch, name)):
            return None
        for piece in self.cells.pieces(stretch, name):
            there = self.cells.values(piece)
            before = len(known)
            known.update(there)
            if _differ(len(known) - before, len(there)):
                return None
            hits.extend(self.cells.hits(piece))
            values.extend(there)
        return hits, values, known

    def beyond(self, column: Column, path: Path) -> int:
        """The hits in which a path leads out of what was recorded."""
        cut = set(column.cut)
        for shown, values in column.lacking.items():
            if shown is None:
                cut |= {id for id, whole, more in self._whole(values, "total") if _shows_less(whole, more, path)}
            else:
                cut |= self._with_more(shown, values)
        pieces = [piece for cells in column.cells for piece in self.cells.pieces(*cells)] if cut else []
        if sum(len(self.cells.hits(piece)) for piece in pieces) == len(column.hits):
            return sum(sum(map(cut.__contains__, self.cells.values(piece))) for piece in pieces)
        meant = set(column.hits)
        return sum(
            value in cut and hit in meant
            for piece in pieces
            for hit, value in zip(self.cells.hits(piece), self.cells.values(piece), strict=True)
        )

    def _with_more(self, shown: int, values: Collection[int]) -> set[int]:
        """Those of some values that have more parts than so many."""
        rows = self._connection.execute(
            "SELECT id FROM value WHERE id IN (SELECT value FROM json_each(?)) AND total > ?", (listed(values), shown)
        )
        return {row[0] for row in rows}

    def examples(self, column: Column) -> Iterator[Value]:
        """Some of the whole values."""
        some = " AND c0.hit IN (SELECT value FROM json_each(?))", list[object]([listed(column.hits[:EXAMPLES])])
        rows = [self._connection.execute(*stretch.cells("c0.value", name, some)) for stretch, name in column.cells]
        return self.wholes({row[0] for each in rows for row in each})

    def wholes(self, values: Collection[int]) -> Iterator[Value]:
        return (whole for _, whole, _ in self._whole(values))

    # Reading

    def _column(self, stretch: Stretch, path: Path) -> Column:
        made = Column([], [], set(), {}, ((stretch, path.root),))
        reading = _Whole(self, path) if not path.steps else _Parts(self, path, made)
        known: dict[int, Told] = {}
        hits: list[int] = []
        differ = False
        for piece in self.cells.pieces(stretch, path.root):
            values = [] if differ else self.cells.values(piece)
            fresh = set(values).difference(known)
            differ = differ or _differ(len(fresh), len(values))
            told = reading.in_a_row(piece) if differ else None
            if told is None:
                values = self.cells.values(piece)
                known |= reading.once_each(set(values).difference(known))
                told = list(map(known.get, values))
            made.told.extend(told)
            if not piece.gapless:
                hits.extend(self.cells.hits(piece))
        if self.cells.fills(stretch, path.root):
            return msgspec.structs.replace(made, hits=range(stretch.low, stretch.high + 1))
        # SQLite goes along the table's key, though it does not promise to.
        made = msgspec.structs.replace(made, hits=hits)
        return made if hits == sorted(hits) else Column.of_all([made])

    def thoroughly(self, values: Collection[int], path: Path, cut: set[int]) -> dict[int, Told]:
        """What a path leads to in some values, each read by itself; notes those of which it leads out of what was recorded."""
        told: dict[int, Told] = {}
        for id, whole, more in self._whole(values):
            found = texts.follow(whole, path.steps)
            told[id] = part = _told(found, path) if found else None
            if (part is None or _may_be_cut(part)) and texts.goes_beyond(whole, more, path.steps, path.of):
                cut.add(id)
        return told

    def _whole(self, values: Collection[int], known: str = "text") -> Iterator[tuple[int, Value, bool]]:
        """Values as they were recorded, and whether the live program could have told more; those of which something is known."""
        rows = self._connection.execute(
            f"SELECT id, text, total, rest FROM value WHERE id IN (SELECT value FROM json_each(?)) AND {known} IS NOT NULL",
            (listed(values),),
        )
        for id, text, total, rest in rows if values else ():
            more = exact.decode(rest, ValueRest).more if rest else False
            yield id, texts.restored("", text, total, rest), more


def _differ(fresh: int, all: int) -> bool:
    """Whether so many of some hits have a value that was not met before that all are sooner read in a row."""
    return 2 * fresh > all


_ASKED = {
    "value": "v0.text",
    "type": "v0.type",
    "len": "coalesce(v0.total, sf_length(v0.text, v0.total, v0.rest, ''), '')",
}


class _Whole:
    """Reads whole values, or their types or lengths."""

    def __init__(self, columns: Columns, path: Path) -> None:
        self._cells = columns.cells
        self._asked = _ASKED[path.of]
        self._lengths = path.of == "len"

    def in_a_row(self, piece: Piece) -> list[Told] | None:
        """None where the texts cannot be told apart."""
        row = self._cells.row(piece, self._asked)
        told = row.text.split(glances.END)
        return self._meant(told) if len(told) == len(self._cells.hits(piece)) else None

    def once_each(self, values: Collection[int]) -> dict[int, Told]:
        rows = self._cells.of_values(self._asked, values)
        return dict(zip([id for id, _ in rows], self._meant([str(told) for _, told in rows]), strict=True))

    def _meant(self, told: list[str]) -> list[Told]:
        if not self._lengths:
            return list[Told](told)
        lengths = {each: int(each) if each else None for each in set(told)}
        return [lengths[each] for each in told]


class _Parts:
    """Reads the parts that a path leads to, and notes in the column which values tell less than it asks for."""

    def __init__(self, columns: Columns, path: Path, column: Column) -> None:
        self._columns = columns
        self._cells = columns.cells
        self._path = path
        self._column = column
        self._reader = shapes.Reader(path)
        self._cut_texts = False
        """Whether some of what was read last may be the beginning of a longer text."""
        self._insides: insides.Insides | None = None
        """Where any of the values had parts told beside its text."""
        self._asks_texts = False
        """Whether what stood beside the values that were read last did not tell it of all."""

    def in_a_row(self, piece: Piece) -> list[Told] | None:
        """None where the texts cannot be told apart."""
        read = self._read(
            len(self._cells.hits(piece)),
            lambda asked: self._cells.row(piece, asked).text,
            lambda asked: self._cells.beside(piece, asked, _OWN if self._asks_texts else None),
        )
        if read is None:
            return None
        lacks = self._reader.lacks
        most = self._cells.row(piece, _TEXT, most=True).most if lacks and not lacks.isdisjoint(read) else None
        return self._at_a_glance(read, most, lambda: self._cells.values(piece))

    def once_each(self, values: Collection[int]) -> dict[int, Told]:
        if len(values) < WORTH:
            return self._columns.thoroughly(values, self._path, self._column.cut)
        ids = sorted(values)

        def row(asked: str) -> str:
            told = dict(self._cells.of_values(asked, values))
            return glances.END.join("" if glances.END in told[id] else told[id] for id in ids)

        read = self._read(len(ids), row, lambda asked: row(asked).encode())
        assert read is not None, "nothing in any of them is taken for the end of one"
        return dict(zip(ids, self._at_a_glance(read, None, lambda: ids), strict=True))

    def _read(self, count: int, row: Callable[[str], str], beside: Callable[[str], bytes]) -> list[shapes.Read] | None:
        """What so many values tell: by what stands beside the texts where there is such, and else by these."""
        if self._insides:
            return self._read_beside(self._insides.read(beside(insides.BESIDE), count), row)
        told = row(_TEXT)
        if told.count(glances.END) + 1 != count:
            return None
        self._cut_texts = "…" in told
        read = self._reader.read(told)
        if shapes.UNREAD in read and (like := beside(_WITH_PARTS).strip(_BETWEEN)):
            self._insides = insides.Insides(self._path, like.split(_BETWEEN, 1)[0].decode())
            self._reader = shapes.Reader(self._path)  # of texts that were left out it has learned nothing
            return self._read(count, row, beside)
        return read

    def _read_beside(self, found: list[shapes.Read | None], row: Callable[[str], str]) -> list[shapes.Read] | None:
        """What was found beside the texts, and of the others what these tell."""
        self._cut_texts = True
        self._asks_texts = None in found
        if not self._asks_texts:
            return found  # type: ignore[return-value]
        own = row(_OWN)
        if own.count(glances.END) + 1 != len(found):
            return None
        if found.count(None) == len(found):
            return self._reader.read(own)
        left, each_own = [at for at, each in enumerate(found) if each is None], own.split(glances.END)
        for at, each in zip(left, self._reader.read(glances.END.join(each_own[at] for at in left)), strict=True):
            found[at] = each
        return found  # type: ignore[return-value]

    def _at_a_glance(self, read: list[shapes.Read], most: int | None, values: Callable[[], list[int]]) -> list[Told]:
        """What was read in a row of texts; the values are asked for only where one of them tells too little."""
        seen = set(read)
        if (
            self._cut_texts
            and self._path.of == "value"
            and (cut := {each for each in seen if _may_be_cut(each)} - glances.CUT)
        ):
            self._column.cut.update(_those(values(), read, {each for each in cut if texts.is_cut_text(str(each))}))
        kinds = seen & (_UNTOLD | self._reader.lacks | {shapes.Lacking()})
        if not kinds:
            return list[Told](read)  # type: ignore[arg-type]
        self._column.cut.update(_those(values(), read, kinds & glances.CUT))
        for kind in kinds - glances.CUT - {shapes.UNREAD}:
            shown = kind.shown if isinstance(kind, shapes.Lacking) else None
            if isinstance(kind, shapes.Lacking):
                if shown is None:
                    continue
                most = self._cells.most_parts(values()) if most is None else most
                if most <= shown:
                    continue
            self._column.lacking.setdefault(shown, set()).update(_those(values(), read, {kind}))
        if shapes.UNREAD not in kinds:
            return [None if each in kinds else each for each in read]  # type: ignore[misc]
        unread = set(_those(values(), read, {shapes.UNREAD}))
        thorough = self._columns.thoroughly(unread, self._path, self._column.cut)
        told = [
            (thorough.get(value) if each == shapes.UNREAD else None) if each in kinds else each
            for value, each in zip(values(), read, strict=True)
        ]
        return list[Told](told)  # type: ignore[arg-type]


def _those(values: Sequence[int], read: Sequence[shapes.Read], kinds: Collection[shapes.Read]) -> Iterable[int]:
    """The values of which one of these was read."""
    return itertools.compress(values, map(kinds.__contains__, read)) if kinds else ()


def _may_be_cut(part: shapes.Read) -> bool:
    return isinstance(part, str) and part[-1:] == "…"


def _shows_less(whole: Value, more: bool, path: Path) -> bool:
    """Whether a value has parts that it does not show, where the path leads to such."""
    if len(path.steps) > 1:
        return texts.goes_beyond(whole, more, path.steps, path.of)
    shown = glances.shown(whole.value)
    return texts.is_cut(whole, more) if shown is None else shown < (whole.total or 0)


_UNTOLD = glances.NOWHERE | glances.CUT | {shapes.UNREAD}
_TEXT = f"iif({insides.THERE}, '', v0.text)"
_OWN = "v0.text"
_WITH_PARTS = f"iif({insides.THERE}, v0.rest, '')"
_BETWEEN = glances.END.encode()


def _told(part: Value, path: Path) -> Told:
    match path.of:
        case "type":
            return part.type
        case "len":
            return texts.length_of(part)
        case "value":
            return part.value
