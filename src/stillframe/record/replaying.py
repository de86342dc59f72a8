"""A recorded run as a debugger: the program is held at one hit after the other, and everything is answered from the record.

`continue` goes to the next hit that was no step (and that a breakpoint of the replay names, where there are any), a step to the
next hit whatever it was, and both go backwards as well.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from ..errors import NotFound, Try, Unsupported
from ..model.backend import (
    Binding,
    Bounds,
    Capability,
    Capture,
    CatchRule,
    Ended,
    Evaluated,
    Event,
    Move,
    Output,
    Stopped,
    Tool,
    Wanted,
)
from ..model.outcomes import Stop
from ..model.recorded import RunInfo
from ..model.values import ExceptionInfo, Frame, Frames, Modules, Scope, Thread, Value, Values
from . import reading, texts, where
from .finding import View

Look = Callable[[Callable[[sqlite3.Connection], Any]], Awaitable[Any]]


class Piece(msgspec.Struct, frozen=True):
    """Some of what a run printed, and where in its stream it stands."""

    stream: Literal["stdout", "stderr", "log", "console"]
    at: int
    data: bytes


class Mark(msgspec.Struct, frozen=True):
    """A hit by what tells whether the replay stops at it, so that those in between need not be read."""

    id: int
    spot: tuple[str, int]
    """Its file, as a session names it, and line."""
    is_step: bool


class Recording(msgspec.Struct, frozen=True):
    """What is gone through: one run of the record."""

    info: RunInfo
    root: str
    """The project that its files are of, which need not be that of whoever goes through it."""
    hits: tuple[Mark, ...]
    texts: Mapping[tuple[str, int], str]
    """The files and lines with hits, as a session names them, each with the text of its file then."""
    printed: tuple[Piece, ...]


class Replay:
    """The Backend of a replay: a cursor over the hits of a run."""

    def __init__(self, look: Look, recording: Recording) -> None:
        info = recording.info
        self.tool = Tool("record", f"{info.run} {info.session}", f"a recording of {info.tool}")
        self.capabilities: frozenset[Capability] = frozenset({Capability.STEP_BACK})
        self.pid: int | None = None
        self.launched = True
        self._look = look
        self._hits = recording.hits
        self._places = frozenset(recording.texts)
        self._view = View("/", recording.root)
        self._ending = info.state
        self._at = -1
        self._row: reading.Row | None = None
        self._stop: Stop | None = None
        self._wanted: tuple[Wanted, ...] = ()
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._refs: dict[str, Value] = {}
        self._over = False
        self._unprinted = list(recording.printed)

    async def events(self) -> AsyncIterator[Event]:
        while True:
            event = await self._events.get()
            yield event
            if isinstance(event, Ended):
                return

    async def start(self, wanted: Sequence[Wanted], catch: CatchRule) -> tuple[Binding, ...]:
        bindings = await self.set_breakpoints(wanted)
        await self._go(1, stepping=not wanted)
        return bindings

    async def set_breakpoints(self, wanted: Sequence[Wanted]) -> tuple[Binding, ...]:
        self._wanted = tuple(wanted)
        return tuple(map(self._binding, wanted))

    def _binding(self, wanted: Wanted) -> Binding:
        if not wanted.file:
            return Binding(wanted.id, "failed", message="a replay stops at lines of files only")
        if (wanted.file, wanted.line) not in self._places:
            return Binding(wanted.id, "failed", message="the recording has no hit there")
        return Binding(wanted.id, "bound", file=wanted.file, line=wanted.line, message="stops at recorded hits only")

    async def set_catch(self, catch: CatchRule) -> None:
        pass

    async def resume(self, move: Move, thread: str | None) -> None:
        back = move in (Move.STEP_BACK, Move.REVERSE)
        stepping = move not in (Move.CONTINUE, Move.REVERSE)
        await self._go(-1 if back else 1, stepping=stepping)

    async def _go(self, direction: int, *, stepping: bool) -> None:
        """To the next hit that counts; behind the last one is the end, before the first one there is nothing."""
        at = self._at + direction
        while 0 <= at < len(self._hits) and not (stepping or self._stops_at(self._hits[at])):
            at += direction
        if 0 <= at < len(self._hits):
            await self._hold(at, () if stepping else self._named(self._hits[at]))
        elif direction < 0:
            self._events.put_nowait(Stopped("1", "beginning", all_threads=True, counts=False))
        else:
            self._print_until(None)
            self._end(f"the recording is over (its program {self._ending})")

    def _stops_at(self, mark: Mark) -> bool:
        return bool(self._named(mark)) if self._wanted else not mark.is_step

    def _named(self, mark: Mark) -> tuple[str, ...]:
        return tuple(each.id for each in self._wanted if (each.file, each.line) == mark.spot)

    async def _hold(self, at: int, ids: tuple[str, ...]) -> None:
        row, stop = await self._read(self._hits[at].id)
        self._at, self._row, self._stop = at, row, stop
        self._print_until(reading.rest(row).printed)
        self._refs.clear()
        reason = "breakpoint" if ids else stop.reason
        self._events.put_nowait(Stopped("1", reason, breakpoints=ids, all_threads=True, counts=bool(ids)))

    def _print_until(self, until: tuple[int, int] | None) -> None:
        """Tell what the run had printed by then and was not told before; log points at the end, since it is not recorded
        between which stops they were."""
        upto = dict(zip(("stdout", "stderr"), until, strict=True)) if until else None
        rest: list[Piece] = []
        for piece in self._unprinted:
            if upto is None or piece.at < upto.get(piece.stream, 0):
                self._events.put_nowait(Output(piece.stream, piece.data))
            else:
                rest.append(piece)
        self._unprinted = rest

    async def _read(self, hit: int) -> tuple[reading.Row, Stop]:
        def ask(connection: sqlite3.Connection) -> tuple[reading.Row, Stop]:
            rows = reading.rows(connection, [hit])
            if not rows:
                gone = f"{self.tool.version} has left the record since this replay of it began"
                raise NotFound(gone, hint=Try("history"))
            return rows[0], reading.stop(connection, rows[0], self._view)

        found: tuple[reading.Row, Stop] = await self._look(ask)
        return found

    async def pause(self, thread: str | None) -> None:
        pass

    # Looking

    def _held(self) -> Stop:
        if self._stop is None:
            raise NotFound("the replay is before its first hit", hint=Try("next"))
        return self._stop

    async def threads(self, *, states: bool = False) -> tuple[Thread, ...]:
        return (Thread(id="1", name=self._held().thread_name or "recorded", state="stopped"),)

    async def stack(self, thread: str, start: int = 0, count: int = 20) -> Frames:
        frames = tuple(self._whole(each, n) for n, each in enumerate(self._held().stack))
        return Frames(frames=frames[start : start + count], total=len(frames), start=start)

    def _whole(self, frame: Frame, number: int) -> Frame:
        """A frame with its file as the session wants it: absolute."""
        file = frame.file
        if file and not file.startswith(("/", "<")):
            file = f"/{file}"
        key = (
            f"{self._at}.{number}"  # which frames of two hits are the same call was not recorded, so none is said to be
        )
        return msgspec.structs.replace(frame, id=str(number), file=file, key=key)

    async def capture(self, thread: str, bounds: Bounds) -> Capture:
        stop = self._held()
        frames = await self.stack(thread, 0, bounds.frames)
        at = next((n for n, each in enumerate(stop.stack) if stop.frame and each.id == stop.frame.id), 0)
        handle = f"h{self._row.number}" if self._row else "h?"
        return Capture(
            frames=frames,
            at=frames.frames[at] if at < len(frames.frames) else None,
            values=Values(
                values=tuple(self._linked(each) for each in stop.locals),
                total=len(stop.locals),
                notes=(f"replayed from the record: {handle}, {self._at + 1:,} of {len(self._hits):,}", *stop.notes),
            ),
            exception=stop.exception,
        )

    def _linked(self, value: Value, shown: int | None = None) -> Value:
        """A value with a handle where there is something in it to see beyond so many characters of it."""
        if not texts.inside(value):
            return msgspec.structs.replace(value, ref=None)
        self._refs[ref := f"r{len(self._refs)}"] = value
        more = value.truncated or value.children or (shown is not None and len(value.value) > shown)
        return msgspec.structs.replace(value, ref=ref if more else None)

    async def scopes(self, frame: str) -> tuple[Scope, ...]:
        return (Scope(name="recorded", total=len(self._held().locals)),)

    async def locals(self, frame: str, bounds: Bounds, start: int = 0) -> Values:
        stop = self._held()
        at = stop.frame.id.removeprefix("f") if stop.frame else "0"
        if frame != at:
            raise NotFound(f"only the variables of f{at} were recorded")
        shown = tuple(self._linked(each, bounds.text) for each in stop.locals[start : start + bounds.values])
        return Values(values=shown, total=len(stop.locals), start=start)

    async def expand(self, ref: str, bounds: Bounds, start: int = 0) -> Values:
        children = texts.inside(self._refs[ref])
        shown = tuple(self._linked(each) for each in children[start : start + bounds.values])
        return Values(values=shown, total=len(children), start=start)

    async def evaluate(
        self, frame: str | None, expressions: Sequence[str], bounds: Bounds, timeout: float
    ) -> tuple[Evaluated, ...]:
        """Names and paths that were recorded; nothing runs any more."""
        return tuple(self._evaluated(each) for each in expressions)

    def _evaluated(self, expression: str) -> Evaluated:
        try:
            path = where.parse_path(expression)
        except Exception as error:  # a usage error of the little language says what it knows
            return Evaluated(expression, error=f"a replay knows recorded names and paths only: {error}")
        root = next((each for each in self._held().locals if each.name == path.root), None)
        found = texts.follow(root, path.steps) if root else None
        if found is None:
            return Evaluated(expression, error=f"{expression} was not recorded here")
        if path.of == "value":
            return Evaluated(expression, value=msgspec.structs.replace(found, name=expression, ref=None))
        told = found.type if path.of == "type" else texts.length_of(found)
        return Evaluated(expression, value=Value(name=expression, value=str(told)))

    async def assign(self, frame: str, target: str, value: str, bounds: Bounds) -> Value:
        raise Unsupported("a recorded run cannot be changed")

    async def exception(self, thread: str) -> ExceptionInfo | None:
        return self._held().exception

    async def modules(self, start: int = 0, count: int = 100) -> Modules:
        return Modules(modules=())

    # The end

    async def end(self, *, terminate: bool) -> None:
        self._end("the replay was ended")

    def _end(self, cause: str) -> None:
        if not self._over:
            self._over = True
            self._events.put_nowait(Ended(exit_code=0, cause=cause))

    async def close(self) -> None:
        self._end("the replay was closed")
