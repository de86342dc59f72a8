"""Making a stop out of what the debugger read: source lines, the frame's memory, what each line changed.

A frame is remembered by its depth in its thread for as long as only steps were taken, and by the line of its caller, which
cannot move on before it is left: a step over a thrown exception may end in another call (gdb 18, lldb 19); or by the backend's
own key, which outlives a `continue` too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

import msgspec

from ..model.backend import Move
from ..model.outcomes import Change, Passed, SourceLine, Stop
from ..model.sources import SourceText
from ..model.values import RESTLESS, Frame, Part, Value
from . import sourcefile

LINE_LIMIT = 200
"""Characters of one source line that are shown."""
FILE_LIMIT = 8 * 1024 * 1024


class SourceCache(msgspec.Struct):
    """Lines of source files, read again when the file has changed."""

    _files: dict[str, tuple[tuple[int, int], list[str]]] = msgspec.field(
        default_factory=dict[str, tuple[tuple[int, int], list[str]]]
    )

    _lent: dict[str, list[str]] = msgspec.field(default_factory=dict[str, list[str]])
    _borrowed: dict[str, SourceText] = msgspec.field(default_factory=dict[str, SourceText])
    _glanced: dict[str, tuple[int, int]] | None = None
    _is_foreign: bool = False

    @contextlib.contextmanager
    def glance(self, file: str | None) -> Iterator[None]:
        """Within this each file is looked at once, however often it is asked for, and this one now: a stop is of one moment."""
        self._glanced = {}
        if file is not None:
            self._read(file)
        try:
            yield
        finally:
            self._glanced = None

    def shared(self) -> SourceCache:
        """For a child of the program: the same files, and what was lent by now; what is patched later is one process's own."""
        return SourceCache(self._files, dict(self._lent))

    def belong_elsewhere(self) -> None:
        """The files are those of another machine: what a file of such a name holds here is none of theirs, and never shown."""
        self._is_foreign = True

    def lend(self, name: str, text: str) -> None:
        """Source that is what runs, whatever a file of that name holds: the code of `-c`, or what a file was patched with."""
        self._lent[name] = text.splitlines()

    def borrow(self, name: str, text: SourceText) -> None:
        """Source that the debugger has; it stands in as long as no file of that name can be read."""
        self._borrowed[name] = text

    def is_readable(self, file: str) -> bool:
        """Whether there are lines of this file that are not borrowed."""
        return self._read(file) is not None

    def origin(self, file: str) -> str | None:
        """Whose the lines of this file are, where they are borrowed."""
        return self._borrowed[file].origin if file in self._borrowed and not self.is_readable(file) else None

    def lines(self, file: str) -> list[str]:
        """All lines of a file; empty where it cannot be read or is no source."""
        lines = self._read(file)
        if lines is not None:
            return lines
        return self._borrowed[file].lines if file in self._borrowed else []

    def _read(self, file: str) -> list[str] | None:
        if file in self._lent:
            return self._lent[file]
        if self._is_foreign:
            return None
        try:
            stamp = self._stamp(file)
            known = self._files.get(file)
            if known is not None and known[0] == stamp:
                return known[1]
            lines = sourcefile.lines(file, FILE_LIMIT)
        except (OSError, ValueError):
            return None
        self._files[file] = (stamp, lines)
        return lines

    def _stamp(self, file: str) -> tuple[int, int]:
        if self._glanced is None:
            return sourcefile.stamp(file)
        if file not in self._glanced:
            self._glanced[file] = sourcefile.stamp(file)
        return self._glanced[file]

    def around(self, file: str, line: int, before: int = 2, after: int = 0, column: int = 0) -> tuple[SourceLine, ...]:
        """Lines near a line; of one that is too long to show, what stands around the column."""
        lines = self.lines(file)
        first, last = max(1, line - before), min(len(lines), line + after)
        return tuple(
            SourceLine(number, _short(lines[number - 1], column if number == line else 0), number == line)
            for number in range(first, last + 1)
        )

    def changed_since(self, file: str, when: float) -> bool:
        """Whether the file was written after the program started, so that the lines shown may not be what runs."""
        if file in self._lent or self._is_foreign:
            return False
        try:
            return self._stamp(file)[0] > when * 1e9
        except OSError:
            return False


def _short(line: str, column: int = 0) -> str:
    if len(line) <= LINE_LIMIT:
        return line
    begin = column - LINE_LIMIT // 4 if column > LINE_LIMIT // 2 else 0
    end = begin + LINE_LIMIT
    return ("…" if begin else "") + line[begin:end] + ("…" if end < len(line) else "")


Spot = tuple[str | None, int]


class Remembered(msgspec.Struct, frozen=True):
    """What a frame looked like when the program was last held in it."""

    function: str
    file: str | None
    key: str | None
    values: Mapping[str, tuple[str, int | None]]
    caller: Spot | None = None
    line: int | None = None
    run_on: bool = False
    """It was let go further than a line of it at a time, so that no line can be said to have changed what changed."""


class FrameMemory:
    """The frames that the program was held in, by thread and depth, as long as they are surely the same frames."""

    def __init__(self) -> None:
        self._frames: dict[tuple[str, int], Remembered] = {}

    def moved(self, move: Move) -> None:
        """After a `continue` only frames with a key of their own can be known again; a `finish` lets the innermost run on."""
        if move is Move.CONTINUE:
            self._frames = {at: _let_go(seen) for at, seen in self._frames.items() if seen.key is not None}
        elif move is Move.FINISH and self._frames:
            innermost = max(self._frames, key=lambda at: at[1])
            self._frames[innermost] = _let_go(self._frames[innermost])

    def recall(self, thread: str, depth: int, frame: Frame, caller: Frame | None) -> Remembered | None:
        """The memory of this very frame, or None where it is new or might be another."""
        for at in [at for at in self._frames if at[0] == thread and at[1] > depth]:
            del self._frames[at]  # deeper frames have returned
        seen = self._frames.get((thread, depth))
        if seen is None or (seen.function, seen.file) != (frame.function, frame.file):
            return None
        if seen.key is not None or frame.key is not None:
            return seen if seen.key == frame.key else None
        below = _spot(caller)
        return None if below is not None and seen.caller not in (None, below) else seen

    def remember(self, thread: str, depth: int, frame: Frame, values: tuple[Value, ...], caller: Frame | None) -> None:
        texts = {value.name: (value.value, value.total) for value in values}
        self._frames[thread, depth] = Remembered(
            frame.function, frame.file, frame.key, texts, _spot(caller), line=frame.line
        )


def _let_go(seen: Remembered) -> Remembered:
    return msgspec.structs.replace(seen, run_on=True)


def _spot(caller: Frame | None) -> Spot | None:
    """Where a call was made; None of one that nobody waits for."""
    if caller is None or caller.awaited is not None or caller.line is None:
        return None
    return caller.file, caller.line


def compare(
    before: Remembered, values: tuple[Value, ...], parts: Mapping[str, tuple[Part, ...]] | None = None
) -> tuple[tuple[Value, ...], tuple[Change, ...]]:
    """Mark what is new or different, and tell it as changes: by its parts where the debugger knows them, which a text that is cut
    may not show. Names that only fell out of the page are not called gone."""
    parts = parts or {}
    changes: list[Change] = []
    marked: list[Value] = []
    for value in values:
        if value.shape == RESTLESS:
            marked.append(value)
            continue
        old = before.values.get(value.name)
        within = parts.get(value.name, ())
        changed = old != (value.value, value.total) or bool(within)
        marked.append(msgspec.structs.replace(value, changed=True) if changed else value)
        if changed and old is not None and within:
            changes.append(Change(name=value.name, old=old[0], new=value.value, parts=within))
        elif changed and old is not None and old[0] == value.value:  # it is so long that only its length shows
            changes.append(Change(name=value.name, old=_with_size(*old), new=_with_size(value.value, value.total)))
        elif changed:
            changes.append(Change(name=value.name, old=old[0] if old else None, new=value.value))
    return tuple(marked), tuple(changes)


def _with_size(text: str, total: int | None) -> str:
    return text if total is None else f"{text} ({total:,} in all)"


def _caller(before: Stop, depth: int) -> Frame | None:
    """The frame at this depth as it stood in the call that `before` was held in; None where that was the frame itself."""
    held = next((at for at, frame in enumerate(before.stack) if before.frame and frame.id == before.frame.id), 0)
    at = (before.stack_total or len(before.stack)) - depth
    return before.stack[at] if depth and held < at < len(before.stack) else None


def passed(
    before: Stop | None,
    after: Frame | None,
    changes: tuple[Change, ...],
    *,
    same_frame: bool,
    depth: int = 0,
    seen: Remembered | None = None,
) -> tuple[Passed, ...]:
    """The one line that a step ran: where the program was held before. Out of a call it is two: the line that was left in
    there, and the one in this frame, so many frames deep, that had made the call and now changed something. Where more of this
    frame may have run since it was `seen`, no line of it is said to have changed what changed."""
    if before is None or before.frame is None:
        return ()
    caller = _caller(before, depth) if same_frame else None
    if caller is not None:
        left = Passed(file=before.frame.file, line=before.frame.line, function=before.frame.function)
        sure = seen is None or (not seen.run_on and seen.line == caller.line)
        made = Passed(file=caller.file, line=caller.line, changes=changes) if sure else since(after, changes)
        return (left, made) if changes else (left,)
    if same_frame and seen is not None and seen.run_on and changes:
        return (since(after, changes),)
    line = Passed(
        file=before.frame.file,
        line=before.frame.line,
        function=None if same_frame or after is None else before.frame.function,
        changes=changes if same_frame else (),
    )
    return (line,)


def since(frame: Frame | None, changes: tuple[Change, ...]) -> Passed:
    """What changed in a frame since the program was held in it before, whichever lines ran."""
    return Passed(function=frame.function if frame else None, changes=changes)
