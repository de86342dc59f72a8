"""What the program printed: a ring of the newest bytes for each stream, older ones on disk, all of it counted.

A cursor is a byte offset per stream. What is older than the ring is read back from two spill files that take turns, so
that a program may print without end; what even they no longer hold is told as a number of dropped bytes.
"""

from __future__ import annotations

import contextlib
import operator
import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from ..errors import UsageError

Stream = Literal["stdout", "stderr", "log", "console"]
STREAMS: tuple[Stream, ...] = ("stdout", "stderr", "log", "console")
LINES: tuple[Stream, ...] = ("log", "console")
"""Streams that are written line by line."""

RING = 128 * 1024
SPILL = 8 * 1024 * 1024


class Spill:
    """The last one to two segments of a stream, in files made when first needed and removed at the end."""

    def __init__(self, path: Path) -> None:
        self._paths = (path.with_suffix(".old"), path.with_suffix(".new"))
        self._file: int | None = None
        self._old_at = 0
        self._new_at = 0
        self._end = 0

    def write(self, data: bytes) -> None:
        if self._file is None:
            self._file = self._open()
        while data:
            room = SPILL - (self._end - self._new_at)
            part, data = data[:room], data[room:]
            os.write(self._file, part)
            self._end += len(part)
            if self._end - self._new_at >= SPILL:
                self._turn()

    def read(self, start: int, stop: int) -> tuple[int, bytes]:
        """What is kept of [start, stop): the offset it really begins at, and the bytes."""
        start = max(start, self._old_at)
        if self._file is None or start >= stop:
            return start, b""
        parts: list[bytes] = []
        for path, low, high in (
            (self._paths[0], self._old_at, self._new_at),
            (self._paths[1], self._new_at, self._end),
        ):
            begin, end = max(start, low), min(stop, high)
            if begin < end:
                with path.open("rb") as file:
                    file.seek(begin - low)
                    parts.append(file.read(end - begin))
        return start, b"".join(parts)

    def lost(self, end: int) -> int:
        """How many of the first `end` bytes of the stream are not here any more, or never came."""
        return self._old_at if self._end == end else end

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
        for path in self._paths:
            path.unlink(missing_ok=True)

    def _open(self) -> int:
        self._paths[1].parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(self._paths[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)

    def _turn(self) -> None:
        if self._file is not None:
            os.close(self._file)
        os.replace(self._paths[1], self._paths[0])
        self._old_at, self._new_at = self._new_at, self._end
        self._file = self._open()


class Ring:
    """One stream: the newest bytes in memory, what fell off in the spill."""

    def __init__(self, spill: Spill, size: int = RING, *, by_lines: bool = False) -> None:
        self._chunks: deque[bytes] = deque()
        self._held = 0
        self._size = size
        self._spill = spill
        self._full_disk = False
        self._by_lines = by_lines
        """Cut at the ends of lines where there are any, so that no half of one reads like a whole."""
        self.total = 0

    def write(self, data: bytes) -> None:
        self.total += len(data)
        self._chunks.append(data)
        self._held += len(data)
        while self._held > self._size and self._chunks:
            oldest = self._chunks.popleft()
            self._held -= len(oldest)
            self._keep(oldest)

    def _keep(self, data: bytes) -> None:
        if self._full_disk:
            return
        try:
            self._spill.write(data)
        except OSError:  # no room on the disk: the ring goes on, what falls off is counted as dropped
            self._full_disk = True

    @property
    def lost(self) -> int:
        """Bytes that nobody can be told any more."""
        return self._spill.lost(self.total - self._held)

    def since(self, offset: int, limit: int) -> tuple[bytes, int]:
        """The newest bytes from `offset` on, `limit` at the most, and how many before them were left out."""
        start = max(offset, self.total - limit)
        begin = self.total - self._held
        older = b""
        if start < begin:
            start, older = self._spill.read(start, begin)
            if len(older) < begin - start:
                start, older = begin, b""
        data = older + b"".join(self._chunks)[max(0, start - begin) :]
        if start > offset:  # we cut: do not begin inside a character
            skip = next((at for at, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), 0)
            skip = max(skip, data.find(b"\n") + 1 if self._by_lines else 0)
            data, start = data[skip:], start + skip
        return data, max(0, start - offset)

    def page(self, offset: int, limit: int) -> tuple[bytes, int]:
        """The oldest kept bytes from `offset` on, `limit` at the most, and how many before them are gone."""
        data, gone = self.since(offset, self.total)
        if self._by_lines and len(data) > limit and (end := data.rfind(b"\n", 0, limit)) >= 0:
            limit = end + 1
        data = data[:limit]
        return data[: len(data) - unfinished(data)] or data, gone

    def close(self) -> None:
        self._spill.close()


class Cursor(msgspec.Struct, frozen=True):
    """Where a reader is: `stdout.stderr.log.console` as byte offsets; of a program that was run again, also in which run."""

    offsets: tuple[int, int, int, int] = (0, 0, 0, 0)
    turn: int = 0

    def __str__(self) -> str:
        return ".".join(map(str, (*self.offsets, *([self.turn] if self.turn else []))))

    def of(self, streams: Sequence[Stream]) -> tuple[int, ...]:
        """The offsets of some streams alone."""
        return tuple(offset for stream, offset in zip(STREAMS, self.offsets, strict=True) if stream in streams)

    @classmethod
    def parse(cls, text: str) -> Cursor:
        parts = text.split(".")
        if len(parts) - len(STREAMS) not in (0, 1) or not all(map(_is_offset, parts)):
            raise UsageError(f"{text!r} is no output cursor; use the one that the last `output` reply gave")
        stdout, stderr, log, console, *turn = map(int, parts)
        return cls((stdout, stderr, log, console), *turn)


def _is_offset(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 20


class Piece(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Consecutive output of one stream, as text; bytes that are no UTF-8 are told as \\xNN."""

    stream: Stream
    text: str
    dropped: int = 0


class OutputLog:
    """All streams of one run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rings = {stream: Ring(Spill(folder / stream), by_lines=stream in LINES) for stream in STREAMS}
        self._told = Cursor()
        self.turn = 0
        """How many runs of this name there were before: what was read of them is no part of this one."""
        self.heard: Callable[[str, bytes], None] = lambda stream, data: None
        """Whoever takes down what is printed."""

    @property
    def cursor(self) -> Cursor:
        totals = [self._rings[stream].total for stream in STREAMS]
        return Cursor((totals[0], totals[1], totals[2], totals[3]))

    @property
    def told(self) -> Cursor:
        """Up to where replies have told of it."""
        return self._told

    @property
    def total(self) -> int:
        return sum(self.cursor.offsets)

    def printed(self, streams: Iterable[Stream]) -> int:
        """Bytes that came on these streams."""
        return sum(self._rings[stream].total for stream in streams)

    def lost(self, streams: Iterable[Stream]) -> int:
        """Bytes of these streams, the oldest, that are not kept any more."""
        return sum(self._rings[stream].lost for stream in streams)

    def write(self, stream: Stream, data: bytes) -> None:
        self._rings[stream].write(data)
        self.heard(stream, data)

    def file(self, stream: Stream, data: bytes) -> None:
        """Keep something that is worth keeping and no news; where news waits on this stream, it is told behind them."""
        index = STREAMS.index(stream)
        waits = self._rings[stream].total > self._told.offsets[index]
        self.write(stream, data)
        if not waits:
            told = list(self._told.offsets)
            told[index] = self._rings[stream].total
            self._told = Cursor((told[0], told[1], told[2], told[3]))

    def news(self, limit: int, *, final: bool = False) -> tuple[tuple[Piece, ...], int]:
        """What came since the last reply told of it, the newest `limit` bytes of each stream; and the bytes left out."""
        if self.cursor == self._told:
            return (), 0
        pieces: list[Piece] = []
        told = list(self.cursor.offsets)
        for index, stream in enumerate(STREAMS):
            data, left_out = self._rings[stream].since(self._told.offsets[index], limit)
            held_back = 0 if final else unfinished(data)
            told[index] -= held_back
            data = data[: len(data) - held_back]
            if data or left_out:
                pieces.append(Piece(stream=stream, text=decode(data), dropped=left_out))
        self._told = Cursor((told[0], told[1], told[2], told[3]))
        return tuple(pieces), sum(piece.dropped for piece in pieces)

    def here(self, cursor: Cursor) -> Cursor:
        """Where a reader's cursor is in this run: at its beginning, if it comes from an earlier one."""
        if cursor.turn < self.turn:
            return Cursor()
        if cursor.turn > self.turn or any(map(operator.gt, cursor.offsets, self.cursor.offsets)):
            now = Cursor(self.cursor.offsets, self.turn)
            raise UsageError(f"cursor {cursor} is past what this run has printed, which ends at {now}")
        return cursor

    def read(self, since: Cursor, limit: int, streams: tuple[Stream, ...]) -> tuple[tuple[Piece, ...], Cursor]:
        """A page from a cursor on, oldest first, and the cursor behind it."""
        pieces: list[Piece] = []
        offsets = list(since.offsets)
        for index, stream in enumerate(STREAMS):
            if stream not in streams:
                continue
            data, gone = self._rings[stream].page(offsets[index], limit)
            offsets[index] += gone + len(data)
            limit -= len(data)
            if data or gone:
                pieces.append(Piece(stream=stream, text=decode(data), dropped=gone))
        return tuple(pieces), Cursor((offsets[0], offsets[1], offsets[2], offsets[3]))

    def tail(self, limit: int, streams: tuple[Stream, ...]) -> tuple[tuple[Piece, ...], Cursor]:
        """The newest `limit` bytes of each stream."""
        pieces: list[Piece] = []
        for stream in streams:
            data, gone = self._rings[stream].since(0, limit)
            if data:
                pieces.append(Piece(stream=stream, text=decode(data), dropped=gone))
        return tuple(pieces), self.cursor

    def beginning(self, stream: Stream, since: Cursor, limit: int) -> bytes:
        """The first lines of a stream since then, `limit` bytes at the most; nothing where they are not kept any more."""
        data, gone = self._rings[stream].page(since.offsets[STREAMS.index(stream)], limit)
        return b"" if gone else data[: data.rfind(b"\n") + 1] or data

    def holds(self, text: bytes) -> bool:
        """Whether stdout or stderr has printed this, as far as the rings reach."""
        return any(text in self._rings[stream].since(0, RING)[0] for stream in ("stdout", "stderr"))

    def close(self) -> None:
        for ring in self._rings.values():
            ring.close()
        with contextlib.suppress(OSError):  # another run of the session may have put something there
            self._folder.rmdir()


def unfinished(data: bytes) -> int:
    """How many bytes at the end begin a UTF-8 character whose rest has not come yet."""
    for back in range(1, min(4, len(data) + 1)):
        byte = data[-back]
        if byte & 0xC0 != 0x80:  # not a continuation: the beginning of the last character
            length = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
            return back if back < length else 0
    return 0


def decode(data: bytes) -> str:
    """Bytes as text: UTF-8 where it is, `\\xNN` for each byte that is not."""
    return data.decode("utf-8", "backslashreplace")
