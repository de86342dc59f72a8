"""Comparing: two hits value by value, and two runs place by place, aligned by the text of their files, not by line numbers."""

from __future__ import annotations

import difflib
import sqlite3
from collections.abc import Iterable, Sequence

from ..model.recorded import Difference, Group, HitDiff, PlaceDiff, RunDiff
from ..model.recording import TRACED
from ..model.values import Value
from . import finding, reading, texts
from .finding import Run, Spot, View
from .pen import same_everywhere
from .reading import Row
from .sides import IN_PARTS, Side

MOST_LINES = 20_000
"""Lines between the first and the last change of a file up to which lines are matched one by one."""
SHOWN = 20
"""Places that differ whose values are told."""
NAMED = 5
"""Values that a note names."""
Values = tuple[Value, ...]
SOME = "of a place some hits alone are recorded, as a trace or a probe that came there very often does: how many is not compared"


def two_hits(connection: sqlite3.Connection, first: int, second: int, view: View) -> HitDiff:
    (one,), (other,) = reading.rows(connection, [first]), reading.rows(connection, [second])
    values, parts = _of_both(connection, one, other)
    found, same = differences(*values)
    stacks = [
        [f"{frame.function} {frame.file}" for frame in reading.frames(connection, row, view)] for row in (one, other)
    ]
    notes = (*_whereabouts(connection, one, other), *_cut_short(*values))
    if parts:
        stacks = [[], []]
        notes += (_in_parts(parts, values[0]),)
    else:
        notes += tuple(each for row in (one, other) if (each := _some_of(row)))
    return HitDiff(
        first=reading.hit(connection, one, view, 0),
        second=reading.hit(connection, other, view, 0),
        differences=tuple(found),
        same=same,
        stack=_stack_words(*stacks),
        notes=notes,
    )


def _whereabouts(connection: sqlite3.Connection, one: Row, other: Row) -> tuple[str, ...]:
    """That two hits are of different places, unless it is one that an edit above it moved."""
    if (one.file, one.line) == (other.file, other.line):
        return ()
    old, new = (finding.line_of(connection, row.source, row.line) for row in (one, other))
    edited = one.source != other.source and (one.file, one.symbol) == (other.file, other.symbol)
    if edited and old.strip() and old == new:
        return (f"an edit has moved the line: it was {one.line}, and is {other.line}",)
    return ("they are hits of different places",)


def _of_both(connection: sqlite3.Connection, one: Row, other: Row) -> tuple[tuple[Values, Values], list[str]]:
    """The values of two hits that can be compared, and which of the two are a probe's or a trace's: of these nothing is
    recorded but what it asked for, and what is missing there may well have been in the program. So may what is missing in a
    hit of very many locals."""
    old, new = reading.values(connection, one), reading.values(connection, other)
    parts = [f"r{row.run}" for row in (one, other) if row.reason in IN_PARTS]
    before, after = {each.name for each in old}, {each.name for each in new}
    if parts or _some_of(other):
        old = tuple(each for each in old if each.name in after)
    if parts or _some_of(one):
        new = tuple(each for each in new if each.name in before)
    return (old, new), list(dict.fromkeys(parts))


def _some_of(row: Row) -> str | None:
    """That a hit had more locals than are recorded of it."""
    kept, total = reading.locals_of(row)
    return f"of r{row.run}.{row.handle} {kept} of {total} locals are recorded, and compared" if kept < total else None


def _cut_short(old: Values, new: Values) -> tuple[str, ...]:
    """That values which seem to be alike are recorded up to where they were cut, and may differ behind it."""
    after = {each.name: each for each in new}
    names = [each.name for each in old if _is_cut(each) and (its := after.get(each.name)) and _equal(each, its)]
    if not names:
        return ()
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return (f"compared as far as they are recorded, which is not whole: {', '.join(names[:NAMED])}{more}",)


def _is_cut(value: Value) -> bool:
    return value.truncated or texts.is_cut_text(value.value) or "…" in value.value


def _in_parts(runs: Iterable[str], compared: Iterable[Value]) -> str:
    """That more was not compared, since it is not recorded."""
    names = ", ".join(dict.fromkeys(each.name for each in compared))
    told = f"{names} alone can be compared" if names else "there is no value to compare"
    return f"of {' and '.join(runs)} only what a probe or trace told is recorded: {told}"


def differences(old: Iterable[Value], new: Iterable[Value]) -> tuple[list[Difference], int]:
    """Names whose values differ, and how many are the same; addresses count for nothing."""
    before, after = {each.name: each for each in old}, {each.name: each for each in new}
    found: list[Difference] = []
    same = 0
    for name in dict.fromkeys([*before, *after]):
        one, other = before.get(name), after.get(name)
        if one and other and _equal(one, other):
            inside = _inside(one, other)
            found += inside
            same += not inside
            continue
        retyped = one and other and _types_differ(one, other)
        found.append(
            Difference(
                name=name,
                old=one.value if one else None,
                new=other.value if other else None,
                old_type=one.type if one and retyped else None,
                new_type=other.type if other and retyped else None,
            )
        )
    return found, same


def _inside(one: Value, other: Value, name: str = "") -> list[Difference]:
    """Parts that differ of values whose texts are cut before them, however deep they were told."""
    after = {each.name: each for each in other.children}
    found: list[Difference] = []
    for each in one.children:
        part = (name or one.name) + (each.name if each.name[:1] == "[" else f".{each.name}")
        new = after.get(each.name)
        if new is not None and _equal(each, new):
            found += _inside(each, new, part)
        elif new is not None:
            found.append(Difference(name=part, old=each.value, new=new.value))
    return found


def _equal(one: Value, other: Value) -> bool:
    same = same_everywhere(one.value) == same_everywhere(other.value)
    return same and not _types_differ(one, other) and (one.total == other.total or not (one.type and other.type))


def _types_differ(one: Value, other: Value) -> bool:
    """As far as both are known: a trace tells none."""
    return bool(one.type and other.type) and one.type != other.type


def _stack_words(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    if list(one) == list(other):
        return ()
    words = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, one[:50], other[:50], autojunk=False).get_opcodes():
        if tag != "equal":
            words += [f"- {each}" for each in one[a:b]] + [f"+ {each}" for each in other[c:d]]
    return tuple(words[:20])


def two_runs(connection: sqlite3.Connection, first: Run, second: Run, view: View, top: int = SHOWN) -> RunDiff:
    top = max(1, top)  # whether there is any difference is always told
    one, other = Side.of(connection, first), Side.of(connection, second)
    pairs, notes = aligned(connection, one, other)
    left, right = {a for a, _ in pairs}, {b for _, b in pairs}
    different = [found for a, b in pairs if (found := _compared(connection, one, other, a, b, view))]
    different.sort(key=lambda each: each[0])
    return RunDiff(
        first=finding.info(connection, first.id),
        second=finding.info(connection, second.id),
        both=len(pairs),
        only_first=_only(one, left, view),
        only_second=_only(other, right, view),
        different=tuple(_with_values(connection, found, rows) for _, found, rows in different[:top]),
        notes=(*notes, *_probes(connection, one, other, pairs), *_left_out(len(different), top)),
    )


def _left_out(found: int, top: int) -> tuple[str, ...]:
    return (f"{top} of {found} places that differ are told",) if found > top else ()


def _probes(connection: sqlite3.Connection, one: Side, other: Side, pairs: list[tuple[int, int]]) -> tuple[str, ...]:
    """What could not be compared, since a probe records what it is asked for."""
    runs = [each.run.handle for each in (one, other) if each.by]
    if not runs or not pairs:
        return ()
    some = any(
        not _has_all(side, _numbered(connection, side, at))
        for pair in pairs
        for side, at in zip((one, other), pair, strict=True)
    )
    firsts = [(one.first(a), other.first(b)) for a, b in pairs]
    shared = [
        each
        for old, new in firsts
        for each in _of_both(connection, *reading.rows(connection, [old]), *reading.rows(connection, [new]))[0][0]
    ]
    return (_in_parts(runs, shared), *((SOME,) if some else ()))


Found = tuple[int, PlaceDiff, tuple[int, int] | None]


def _compared(connection: sqlite3.Connection, one: Side, other: Side, a: int, b: int, view: View) -> Found | None:
    """The first of a place's hits that differs, with the row at which that came up in the second run."""
    old, new = one.marks[a], other.marks[b]
    counts = (old.count, new.count)
    if one.by or other.by:
        first, all_kept = _first_probed(connection, one, other, a, b)
        counts = counts if all_kept else (0, 0)
    else:
        alike = old.alike(new)
        first = (alike + 1, (one.hit(a, alike), other.hit(b, alike))) if alike < min(counts) else None
    if first is None and counts[0] == counts[1]:
        return None
    here, there = other.spots[b], one.spots[a]
    place, was = view.place(here.file, here.line, other.run.root), view.place(there.file, there.line, one.run.root)
    found = PlaceDiff(
        place=place,
        was=was if was != place else None,
        function=here.symbol,
        hits=counts,
        first=first[0] if first else None,
    )
    return (first[1][1], found, first[1]) if first else (other.last(b), found, None)


def _first_probed(
    connection: sqlite3.Connection, one: Side, other: Side, a: int, b: int
) -> tuple[tuple[int, tuple[int, int]] | None, bool]:
    """The same where one run or both are a probe's, whose marks are those of other names: by the values, hits of the same
    number beside each other; and whether all hits of the place were kept."""
    old, new = _numbered(connection, one, a), _numbered(connection, other, b)
    all_kept = _has_all(one, old) and _has_all(other, new)
    for number in sorted(old.keys() & new.keys()):
        (before,), (after,) = reading.rows(connection, [old[number]]), reading.rows(connection, [new[number]])
        values, _ = _of_both(connection, before, after)
        if differences(*values)[0]:
            return (number, (before.id, after.id)), all_kept
    return None, all_kept


def _has_all(side: Side, numbered: dict[int, int]) -> bool:
    """Whether every hit of a place was kept: a trace tells one call, and a probe some of very many hits."""
    return side.by != TRACED and max(numbered) == len(numbered)


def _numbered(connection: sqlite3.Connection, side: Side, place: int) -> dict[int, int]:
    """A place's hits by how often it had been reached; a probe keeps some of many, and tells of each which it was."""
    ids = side.hits(place)
    if side.by:
        told = {reading.rest(row).stop.hit or 1: row.id for row in reading.rows(connection, ids)}
        if len(told) == len(ids):  # not so where several processes came there, each counting for itself
            return told
    return dict(enumerate(ids, 1))


def _with_values(connection: sqlite3.Connection, found: PlaceDiff, rows: tuple[int, int] | None) -> PlaceDiff:
    if rows is None:
        return found
    (one,), (other,) = reading.rows(connection, [rows[0]]), reading.rows(connection, [rows[1]])
    values, _ = _of_both(connection, one, other)
    differ, _ = differences(*values)
    return PlaceDiff(
        place=found.place,
        was=found.was,
        function=found.function,
        hits=found.hits,
        first=found.first,
        handles=(f"r{one.run}.{one.handle}", f"r{other.run}.{other.handle}"),
        differences=tuple(differ),
    )


def _only(side: Side, matched: set[int], view: View) -> tuple[Group, ...]:
    alone = [id for id in side.marks if id not in matched]
    rows: dict[str, int] = {}
    for id in sorted(alone, key=side.first):
        spot = side.spots[id]
        words = f"{view.place(spot.file, spot.line, side.run.root)} in {spot.symbol}"
        rows[words] = rows.get(words, 0) + side.marks[id].count
    return tuple(Group(value=words, count=count) for words, count in rows.items())


def aligned(connection: sqlite3.Connection, one: Side, other: Side) -> tuple[list[tuple[int, int]], list[str]]:
    """Places of the first run with their counterparts in the second: the same line of the text, wherever it stands now."""
    maps = LineMaps(connection)
    there: dict[tuple[str, int, str], int] = {}
    by_line: dict[tuple[str, int], int] = {}
    for id, spot in other.spots.items():
        there[spot.file, spot.line, spot.symbol] = by_line[spot.file, spot.line] = id
    versions = {spot.file: spot.source for spot in other.spots.values()}
    pairs: list[tuple[int, int]] = []
    taken: set[int] = set()
    for id, spot in one.spots.items():
        line = maps.line(spot.source, versions.get(spot.file, spot.source), spot.line)
        found = there.get((spot.file, line, spot.symbol), by_line.get((spot.file, line))) if line else None
        if found is not None and found not in taken:
            pairs.append((id, found))
            taken.add(found)
    pairs += _same_function(connection, one, other, {a for a, _ in pairs}, taken)
    return pairs, maps.notes


def _same_function(
    connection: sqlite3.Connection, one: Side, other: Side, left: set[int], right: set[int]
) -> list[tuple[int, int]]:
    """Of what is left over: a function's only place in each run, or a line with the same text in a file that moved."""
    pairs: list[tuple[int, int]] = []
    texts: dict[tuple[str, str], list[int]] = {}
    for id, spot in other.spots.items():
        if id not in right:
            texts.setdefault((spot.symbol, finding.line_of(connection, spot.source, spot.line).strip()), []).append(id)
    for id, spot in one.spots.items():
        alike = (
            texts.get((spot.symbol, finding.line_of(connection, spot.source, spot.line).strip()), [])
            if id not in left
            else []
        )
        candidates = [each for each in alike if _in_other_text(spot, other.spots[each])]
        if len(candidates) == 1 and candidates[0] not in right:
            pairs.append((id, candidates[0]))
            right.add(candidates[0])
            left.add(id)
    alone: dict[str, list[int]] = {}
    for id, spot in other.spots.items():
        if id not in right:
            alone.setdefault(spot.symbol, []).append(id)
    mine: dict[str, list[int]] = {}
    for id, spot in one.spots.items():
        if id not in left:
            mine.setdefault(spot.symbol, []).append(id)
    for symbol, ids in mine.items():
        there = alone.get(symbol, ())
        if len(ids) == 1 and len(there) == 1 and _in_other_text(one.spots[ids[0]], other.spots[there[0]]):
            pairs.append((ids[0], there[0]))
    return pairs


def _in_other_text(one: Spot, other: Spot) -> bool:
    """Two lines of one and the same text are two places, whatever stands in them."""
    return one.source != other.source or not one.source


class LineMaps:
    """Where each line of one text of a file stands in another text of it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known: dict[tuple[int, int], dict[int, int] | None] = {}
        self.notes: list[str] = []

    def line(self, old: int, new: int, line: int) -> int | None:
        """None where the line is gone; the same number where the texts are the same, or one of them was not kept."""
        if old == new or not old or not new:
            return line
        if (old, new) not in self._known:
            self._known[old, new] = self._map(old, new)
        known = self._known[old, new]
        return line if known is None else known.get(line)

    def _map(self, old: int, new: int) -> dict[int, int] | None:
        (first, one), (second, other) = (finding.source_lines(self._connection, each) for each in (old, new))
        head = _common(one, other)
        tail = _common(one[head:][::-1], other[head:][::-1])
        found = {first + n: second + n for n in range(head)}
        found |= {first + len(one) - 1 - n: second + len(other) - 1 - n for n in range(tail)}
        middle, theirs = one[head : len(one) - tail], other[head : len(other) - tail]
        if len(middle) * len(theirs) > MOST_LINES * 100:
            self.notes.append("a file changed too much for its lines to be matched; they are matched by their numbers")
            return None
        matcher = difflib.SequenceMatcher(
            None, [each.strip() for each in middle], [each.strip() for each in theirs], False
        )
        for tag, a, b, c, d in matcher.get_opcodes():
            if tag == "equal" or (tag == "replace" and b - a == d - c):  # an edited line is still the same line
                found |= {first + head + a + n: second + head + c + n for n in range(b - a)}
        return found


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
