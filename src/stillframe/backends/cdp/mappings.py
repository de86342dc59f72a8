"""The `mappings` of source maps as flat arrays: decoded once, looked up from either side by bisection.

A segment is one to five numbers in base 64 (VLQ), each told as the difference to the one before. Few of the segments
of a real map are distinct, so each is decoded once and kept; the running sums are then made by `accumulate`, a stretch
of the text at a time. Generated columns are kept as a sum that never starts anew: what a line starts from is in
`bases`, and a column is the difference. That makes a bisection in a line possible without a loop over segments.

Here lines, columns and indexes all count from 0; `sourcemaps` is where lines become those that people count.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate, compress, count, repeat

import msgspec

MOST_SEGMENTS = 4_000_000
MOST_LINES = 4_000_000
_STRETCH = 1 << 16
_MOST_KEPT = 1 << 18
_LONGEST_SEGMENT = 5 * 7  # five numbers of 32 bits, five bits to a digit

_DIGITS = {
    digit: value for value, digit in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
}
_SEPARATOR = re.compile("[,;]")

NOWHERE, PLACED, NAMED = 1, 4, 5
"""How many numbers a segment has: generated text of no source, of a place in a source, of a place with a name."""


class BrokenMap(Exception):
    """This is no source map that can be used; the reason is a sentence for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _numbers(segment: str) -> list[int]:
    if len(segment) > _LONGEST_SEGMENT:
        raise BrokenMap(f"a segment of {len(segment)} characters is too long: {segment[:12]!r}…")
    numbers: list[int] = []
    value = shift = 0
    for character in segment:
        digit = _DIGITS.get(character)
        if digit is None:
            raise BrokenMap(f"{character!r} in the segment {segment!r} is no base 64 digit")
        value |= (digit & 31) << shift
        if digit & 32:
            shift += 5
            continue
        numbers.append(-(value >> 1) if value & 1 else value >> 1)
        value = shift = 0
        if not -(2**31) <= numbers[-1] < 2**31:
            raise BrokenMap(f"a number in the segment {segment!r} has more than 32 bits")
    if shift:
        raise BrokenMap(f"the segment {segment!r} ends within a number")
    return numbers


class _Segments(dict[str, tuple[int, ...]]):
    """The differences that a segment tells, padded with zeros, and how many it told."""

    def __missing__(self, segment: str) -> tuple[int, ...]:
        numbers = _numbers(segment)
        if len(numbers) not in (NOWHERE, PLACED, NAMED):
            raise BrokenMap(f"the segment {segment!r} has {len(numbers)} numbers, not 1, 4 or 5")
        known = self[segment] = (*(*numbers, 0, 0, 0, 0)[:5], len(numbers))
        return known


class Part(msgspec.Struct, frozen=True):
    """One `mappings` text: where in the generated file it begins, and which of all sources and names are its own."""

    mappings: str
    line: int = 0
    column: int = 0
    sources: range = range(0)
    names: range = range(0)


class Lines(msgspec.Struct, frozen=True):
    """The segments of one source, by original line: `lines` ascends, `segments` are in generated order within a line."""

    lines: array[int]
    segments: array[int]

    def on(self, line: int) -> array[int]:
        return self.segments[bisect_left(self.lines, line) : bisect_right(self.lines, line)]

    def next_with_code(self, line: int) -> int | None:
        """This line if it has segments, else the next one that has."""
        at = bisect_left(self.lines, line)
        return self.lines[at] if at < len(self.lines) else None


class Mappings:
    """All segments of a map, in generated order; a segment is an index into the arrays."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self.kinds = bytearray()
        self.columns = array("q")
        self.sources = array("i")
        self.lines = array("i")
        self.source_columns = array("i")
        self.names = array("i")
        self.starts = array("i", [0])
        """The first segment of each generated line, or that of the next line where it has none."""
        self._disordered = False
        known = _Segments()
        try:
            for part in parts:
                self._add(part, known)
        except OverflowError:
            raise BrokenMap("a position has more than 32 bits") from None
        self.bases = array("q", (self.columns[start - 1] if start else 0 for start in self.starts))
        if self._disordered:
            self._order_columns()

    def at(self, line: int, column: int) -> int | None:
        """The last segment of this generated line that begins at the column or before it."""
        if not 0 <= line < len(self.starts):
            return None
        start, end = self._span(line)
        found = bisect_right(self.columns, self.bases[line] + column, start, end) - 1
        return found if found >= start else None

    def before(self, line: int, column: int) -> int | None:
        """The last segment that leads somewhere and begins at this position or before it, on whatever line."""
        found = self.at(line, column)
        if found is None:
            found = (self.starts[line] if line < len(self.starts) else len(self.kinds)) - 1
        while found >= 0 and self.kinds[found] == NOWHERE:
            found -= 1
        return found if found >= 0 else None

    def position(self, segment: int) -> tuple[int, int]:
        """The generated line and column at which a segment begins."""
        line = bisect_right(self.starts, segment) - 1
        return line, self.columns[segment] - self.bases[line]

    def of_sources(self, ids: frozenset[int]) -> Lines:
        """The segments that lead to any of these sources."""
        own = compress(count(), map(ids.__contains__, self.sources))
        found = sorted((each for each in own if self.kinds[each] != NOWHERE), key=self.lines.__getitem__)
        return Lines(array("i", map(self.lines.__getitem__, found)), array("i", found))

    def first_of_runs(self, segments: Iterable[int]) -> list[int]:
        """Of ascending segments those with another place before them; text of no source between two does not count."""
        firsts: list[int] = []
        before: int | None = None
        for segment in segments:
            if before is None or self.kinds[before + 1 : segment].strip(bytes([NOWHERE])):
                firsts.append(segment)
            before = segment
        return firsts

    def _span(self, line: int) -> tuple[int, int]:
        end = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.kinds)
        return self.starts[line], end

    def _add(self, part: Part, known: _Segments) -> None:
        self._begin_at(part.line, part.column)
        start = self.starts[-1]
        column = self.columns[-1] if self.columns else 0
        if part.mappings.lstrip(",")[:1] not in ("", ";"):  # the offset in columns is for the part's first line only
            column = (self.columns[start - 1] if start else 0) + part.column
        sums = [column, part.sources.start, 0, 0, part.names.start]
        for rows in _stretches(part.mappings):
            segments: list[str] = []
            for number, row in enumerate(rows):
                if number:
                    self.starts.append(len(self.kinds) + len(segments))
                if row:
                    segments += row.split(",")
            if len(self.starts) > MOST_LINES or len(self.kinds) + len(segments) > MOST_SEGMENTS:
                raise BrokenMap(f"it has more than {MOST_LINES:,} lines or {MOST_SEGMENTS:,} segments")
            if segments:
                self._extend(part, sums, list(zip(*map(known.__getitem__, segments), strict=True)))
            if len(known) > _MOST_KEPT:
                known.clear()

    def _extend(self, part: Part, sums: list[int], differences: list[tuple[int, ...]]) -> None:
        """Turn differences into positions, from `sums` on, which are then those of the last segment."""
        fields = (self.columns, self.sources, self.lines, self.source_columns, self.names)
        kinds = bytes(differences[-1])
        self._disordered = self._disordered or min(differences[0]) < 0
        for number, field in enumerate(fields):
            values = list(accumulate(differences[number], initial=sums[number]))
            del values[0]
            if number and min(values) < 0:
                raise BrokenMap("a source, line, column or name is negative")
            if field is self.sources and max(kinds) > NOWHERE and not _within(values, part.sources):
                raise BrokenMap(f"a segment leads to a source that is not among the {len(part.sources)}")
            if field is self.names and NAMED in kinds and not _within(values, part.names):
                raise BrokenMap(f"a segment has a name that is not among the {len(part.names)}")
            field.extend(values)
            sums[number] = values[-1]
        self.kinds += kinds

    def _begin_at(self, line: int, column: int) -> None:
        """Let what follows begin here; what an earlier part said of this place and later ones does not hold."""
        if line >= MOST_LINES:
            raise BrokenMap(f"a section begins at line {line:,}; more than {MOST_LINES:,} are not read")
        if line + 1 < len(self.starts):
            self._cut(self.starts[line + 1])
            del self.starts[line + 1 :]
        self.starts.extend(repeat(len(self.kinds), line + 1 - len(self.starts)))
        start = self.starts[-1]
        limit = (self.columns[start - 1] if start else 0) + column
        keep = len(self.kinds)
        while keep > start and self.columns[keep - 1] >= limit:
            keep -= 1
        self._cut(keep)

    def _cut(self, length: int) -> None:
        for field in (self.columns, self.sources, self.lines, self.source_columns, self.names):
            del field[length:]
        del self.kinds[length:]

    def _order_columns(self) -> None:
        """Put the segments of each line in the order of their columns: a tool may write them in any other."""
        for line in range(len(self.starts)):
            start, end = self._span(line)
            order = sorted(range(start, end), key=self.columns.__getitem__)
            if order and self.columns[order[0]] < self.bases[line]:
                raise BrokenMap(f"a column of generated line {line + 1} is negative")
            if order == list(range(start, end)):
                continue
            for field in (self.columns, self.sources, self.lines, self.source_columns, self.names):
                field[start:end] = array(field.typecode, [field[each] for each in order])
            self.kinds[start:end] = bytes([self.kinds[each] for each in order])


def _within(values: list[int], allowed: range) -> bool:
    return allowed.start <= min(values) and max(values) < allowed.stop


def _stretches(mappings: str) -> Iterable[list[str]]:
    """The text in stretches of a bounded size, each as rows; the first row goes on where the last one ended."""
    at = 0
    while at < len(mappings):
        cut = _SEPARATOR.search(mappings, at + _STRETCH)
        end = cut.end() if cut else len(mappings)
        piece = mappings[at:end].strip(",")
        at = end
        if ",," in piece or ",;" in piece or ";," in piece:  # an empty segment is allowed, and means nothing
            yield [",".join(filter(None, row.split(","))) for row in piece.split(";")]
        else:
            yield piece.split(";")
