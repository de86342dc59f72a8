"""A run being taken down: turns what a session tells into jobs for the writer, in order, each stop with its own number."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import Sequence

import msgspec

from ..model import exact
from ..model.outcomes import AT_RETURN, AnyOutcome, Breakpoint, Exited, Lost, Passed, Stop
from ..model.recording import Operated, RunFacts
from ..model.values import ExceptionInfo, Frame
from . import discretion, redaction
from .pen import Pen, clean, packed
from .spool import Piece, Spool
from .writer import Told, Writer

STOP_SECONDS = 2.0
"""How long a stop waits to be on disk before the caller is told without it."""
PENDING_BYTES = 4 * 1024 * 1024
"""Printed bytes that may wait for the writer; more are counted and left out."""
SMALL_CHARACTERS = 8192
STEPS = frozenset({"step", AT_RETURN, "jump", "restart", "goto"})
"""Reasons of stops that nobody set a breakpoint for."""
DETAIL = 4000


class HitRest(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a hit has beyond its columns: the stop without what is kept elsewhere, and which frame it is in."""

    stop: Stop
    at: int = 0
    """Where in the stack the frame is that the locals belong to."""
    printed: tuple[int, int] = (0, 0)
    """Bytes of stdout and stderr that had come by then."""
    bare: bool = False
    """The disk took nothing when it happened, for so long that only this much of it could be kept."""


class Tape:
    def __init__(self, writer: Writer, facts: RunFacts, parent: Tape | None, daemon: str) -> None:
        self.facts = facts
        self.parent = parent
        self.daemon = daemon
        self.began = time.time()
        self.run: int | None = None
        """Its number in the record, once that has been written to."""
        self.generation: object = None
        self.number = 0
        self.pending = 0
        self._writer = writer
        self._known: dict[str, Breakpoint] = {}
        self._texts: dict[str, tuple[Sequence[str], str]] = {}
        self._files: dict[str, str] = {}
        self._spool = Spool(self._print)
        self._complained: str | None = None
        self._over = False
        writer.upkeep.run_began()
        self._put(Began(self))

    # What a session tells

    async def stop(self, stop: Stop, lines: Sequence[str], *, many: bool = False) -> tuple[str, ...]:
        self._spool.flush()
        self.number += 1
        printed = (self._spool.offset("stdout"), self._spool.offset("stderr"))
        job = Stopped(self, self.number, time.time(), stop, lines, printed)
        if not many and job.is_small and self._writer.at_once(job):
            return self._said(self._writer.problem)
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[str | None] = loop.create_future()
        self._writer.put(Told(job, loop, answer))
        try:
            async with asyncio.timeout(STOP_SECONDS):
                problem = await answer
        except TimeoutError:
            problem = f"the disk has not taken it within {STOP_SECONDS:g} s"
        return self._said(problem)

    def _said(self, problem: str | None) -> tuple[str, ...]:
        """What is news of the recording itself: that it pauses, and that it goes on."""
        before, self._complained = self._complained, problem
        if problem is not None and problem != before:
            return (f"recording is paused: {problem}; debugging goes on, and what is seen waits in memory",)
        return ("recording goes on; what was seen meanwhile is recorded",) if before and problem is None else ()

    def moved(self) -> None:
        self._writer.catch_up()

    def printed(self, stream: str, data: bytes) -> None:
        self._spool.add(stream, data)

    def _print(self, piece: Piece) -> None:
        if self.pending > PENDING_BYTES:
            return  # the offsets tell that something is missing
        self.pending += len(piece.data)
        self._put(Printed(self, piece))

    def breakpoints(self, now: Sequence[Breakpoint]) -> None:
        for each in now:
            known = self._known.get(each.id)
            self._known[each.id] = each
            if known is None or msgspec.structs.replace(known, hits=each.hits) != each:  # hits are told at the end
                self._put(Fate(self, time.time(), each, each.state))
        for id in [id for id in self._known if id not in {each.id for each in now}]:
            self._put(Fate(self, time.time(), self._known.pop(id), "removed"))

    def ended(self, how: AnyOutcome, phase: str, why: str = "") -> None:
        if self._over:
            return
        self._over = True
        self._writer.upkeep.run_ended()
        self._spool.flush()
        for each in self._known.values():
            if each.hits:
                self._put(Fate(self, time.time(), each, each.state))
        self._put(Over(self, time.time(), how, phase, why))

    def _put(self, job: Began | Printed | Fate | Over) -> None:
        self._writer.put(Told(job))

    # For the writer

    def row(self, pen: Pen) -> int:
        """The run's row, made where the file at hand has none yet."""
        if self.run is None or self.generation is not pen.generation:
            family, parent = None, None
            if self.parent is not None:
                parent = self.parent.row(pen)
                family = pen.connection.execute("SELECT family FROM run WHERE id=?", (parent,)).fetchone()[0]
            self.run, self.generation = _insert_run(pen, self, parent, family), pen.generation
            pen.undo.append(self._unwritten)
        return self.run

    def _unwritten(self) -> None:
        self.generation = None

    def kept_file(self, file: str | None) -> str:
        """A file relative to the project where it is of the project, else as it is."""
        if not file or file.startswith("<"):
            return file or ""
        if file not in self._files:
            whole = os.path.normpath(os.path.join(self.facts.base, file))
            root = self.facts.root.rstrip("/") + "/"
            self._files[file] = whole[len(root) :] if whole.startswith(root) else whole
        return self._files[file]

    def has_text(self, file: str | None, lines: Sequence[str]) -> bool:
        """Whether a file's text was told before, so that its hash is known."""
        known = self._texts.get(self.kept_file(file))
        return not lines or (known is not None and known[0] is lines)

    def digest(self, file: str, lines: Sequence[str]) -> str:
        """The hash of a file's text, worked out once for each text."""
        known = self._texts.get(file)
        if known is None or known[0] is not lines:
            body = "\n".join(lines).encode("utf-8", "surrogatepass")
            known = self._texts[file] = (lines, hashlib.blake2b(body, digest_size=16).hexdigest())
        return known[1]


def _insert_run(pen: Pen, tape: Tape, parent: int | None, family: int | None) -> int:
    facts = tape.facts
    row = (
        facts.name, facts.root, facts.base, exact.encode(redaction.command(facts.command)).decode(), facts.tool,
        facts.version, facts.attached, facts.pid, parent, family, tape.began, tape.daemon,
    )  # fmt: skip
    run = pen.insert(
        "INSERT INTO run(name, root, base, command, tool, version, attached, pid, parent, family, began, daemon)"
        " VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
        tuple(clean(each) if isinstance(each, str) else each for each in row),
    )
    if family is None:
        pen.connection.execute("UPDATE run SET family=id WHERE id=?", (run,))
    pen.event(tape.began, run, facts.root, "start", None, " ".join(redaction.command(facts.command)))
    return run


class Began(msgspec.Struct, frozen=True):
    tape: Tape

    def write(self, pen: Pen) -> None:
        self.tape.row(pen)

    def reduced(self) -> Began:
        return self


class Stopped(msgspec.Struct, frozen=True):
    tape: Tape
    number: int
    time: float
    stop: Stop
    lines: Sequence[str]
    printed: tuple[int, int]

    @property
    def is_small(self) -> bool:
        """Whether it is written in no time: its values are short, and the text of its file is known already."""
        stop = self.stop
        known = self.tape.has_text(stop.frame.file if stop.frame else None, self.lines)
        return known and not stop.exception and sum(len(each.value) for each in stop.locals) < SMALL_CHARACTERS

    def write(self, pen: Pen) -> None:
        tape, stop = self.tape, self.stop
        run = tape.row(pen)
        frames = [_kept(tape, frame) for frame in stop.stack]
        at = next((n for n, frame in enumerate(stop.stack) if stop.frame and frame.id == stop.frame.id), 0)
        frame = frames[at] if frames else _kept(tape, stop.frame) if stop.frame else Frame(function="?")
        place = self._place(pen, frame)
        pairs, mark = pen.values(run, place, stop.locals)
        rest = HitRest(_bare(stop), at, self.printed)
        row = (
            run, self.number, place, self.time, stop.reason in STEPS and not stop.breakpoints, clean(stop.reason),
            clean(stop.thread), packed([pen.frame(each) for each in frames]), mark, packed(pairs),
            clean(exact.encode(rest).decode()),
        )  # fmt: skip
        self._insert(pen, run, row, place, pairs)

    def _insert(
        self, pen: Pen, run: int, row: tuple[object, ...], place: int, pairs: Sequence[tuple[int, int]]
    ) -> None:
        hit = pen.insert(
            "INSERT INTO hit(run, number, place, time, step, reason, thread, stack, print, locals, rest)"
            " VALUES(?,?,?,?,?,?,?,?,?,?,?)",
            row,
        )
        pen.connection.executemany(
            "INSERT OR REPLACE INTO cell(place, name, hit, value) VALUES(?,?,?,?)",
            [(place, name, hit, value) for name, value in pairs],
        )
        pen.event(self.time, run, self.tape.facts.root, "stop", hit)

    def _place(self, pen: Pen, frame: Frame) -> int:
        file, line = frame.file or "", frame.line or 0
        source = 0
        if self.lines and file:
            source = pen.source(clean(file), self.tape.digest(file, self.lines), self.lines, line)
        return pen.place(clean(file), line, clean(frame.function[:400]), clean(frame.module or ""), source)

    def reduced(self) -> MissedStop:
        frame = self.stop.frame
        return MissedStop(self.tape, self.number, self.time, self.stop.reason, frame)


class MissedStop(msgspec.Struct, frozen=True):
    """The bare fact of a stop, so that the numbers have no gaps."""

    tape: Tape
    number: int
    time: float
    reason: str
    frame: Frame | None

    def write(self, pen: Pen) -> None:
        stop = Stop(reason=self.reason, notes=("not captured: the disk took nothing when it happened",))
        bare = Stopped(self.tape, self.number, self.time, stop, (), (0, 0))
        run = self.tape.row(pen)
        place = bare._place(pen, _kept(self.tape, self.frame) if self.frame else Frame(function="?"))
        rest = clean(exact.encode(HitRest(stop, bare=True)).decode())
        step = self.reason in STEPS
        row = (run, self.number, place, self.time, step, clean(self.reason), "", "[]", 0, "[]", rest)
        bare._insert(pen, run, row, place, ())

    def reduced(self) -> MissedStop:
        return self


class Printed(msgspec.Struct, frozen=True):
    tape: Tape
    piece: Piece

    def write(self, pen: Pen) -> None:
        self.reduced()
        piece = self.piece
        text = piece.data.decode("utf-8", "surrogateescape")
        safe = redaction.rest_of_key(text) if piece.in_key else redaction.text(text)
        run = self.tape.row(pen)
        made = pen.output(run, piece.stream, piece.at, safe.encode("utf-8", "surrogateescape"))
        pen.event(piece.time, run, self.tape.facts.root, "output", made, piece.stream)

    def reduced(self) -> None:
        """It waits no longer, written or not."""
        self.tape.pending = max(0, self.tape.pending - len(self.piece.data))


class Fate(msgspec.Struct, frozen=True):
    tape: Tape
    time: float
    breakpoint: Breakpoint
    state: str

    def write(self, pen: Pen) -> None:
        run = self.tape.row(pen)
        found = self.breakpoint
        body = redaction.body(found)
        made = pen.insert(
            "INSERT INTO fate(run, breakpoint, time, state, hits, body) VALUES(?,?,?,?,?,?)",
            (run, found.id, self.time, self.state, found.hits, body),
        )
        pen.event(self.time, run, self.tape.facts.root, "breakpoint", made, f"{found.id} {self.state}")

    def reduced(self) -> Fate:
        return self


class Over(msgspec.Struct, frozen=True):
    tape: Tape
    time: float
    how: AnyOutcome
    phase: str
    why: str = ""

    def write(self, pen: Pen) -> None:
        run = self.tape.row(pen)
        words = self.phase if self.phase == "detached" else _end_words(self.how)
        words += f", {self.why}" if self.why else ""
        body = redaction.body(self.how)
        pen.connection.execute(
            "UPDATE run SET ended=?, outcome=?, end=? WHERE id=?", (self.time, clean(words), body, run)
        )
        pen.event(self.time, run, self.tape.facts.root, "end", None, words)

    def reduced(self) -> Over:
        return self


class Called(msgspec.Struct, frozen=True):
    """One operation."""

    tape: Tape | None
    done: Operated

    def write(self, pen: Pen) -> None:
        done = self.done
        run = self.tape.row(pen) if self.tape is not None else None
        args = clean(exact.encode(redaction.anything(done.args)).decode())
        args = args if len(args) <= DETAIL else exact.encode({"cut": args[:DETAIL]}).decode()
        made = pen.insert(
            "INSERT INTO operation(run, root, name, op, args, began, seconds, outcome) VALUES(?,?,?,?,?,?,?,?)",
            (run, done.root, done.name, done.op, args, done.began, done.seconds, done.outcome),
        )
        pen.event(done.began + done.seconds, run, done.root, "operation", made, f"{done.op} {done.outcome}")

    def reduced(self) -> None:
        return None


def _end_words(how: AnyOutcome) -> str:
    match how:
        case Exited(signal=str(signal)):
            return f"exited by {signal}"
        case Exited(exit_code=int(code)):
            return f"exited {code}"
        case Exited():
            return "exited"
        case Lost(cause=cause):
            return f"lost: {cause}"
        case _:
            return how.state


def _kept(tape: Tape, frame: Frame) -> Frame:
    return msgspec.structs.replace(frame, file=tape.kept_file(frame.file) or None, id="", key=None)


def _bare(stop: Stop) -> Stop:
    """The stop without what has a place of its own, and without secrets."""
    return msgspec.structs.replace(
        stop,
        frame=None,
        source=(),
        stack=(),
        locals=(),
        trail=tuple(_safe_line(each) for each in stop.trail),
        changes=tuple(discretion.change(each) for each in stop.changes),
        returned=redaction.value(stop.returned) if stop.returned else None,
        exception=_safe(stop.exception),
        notes=tuple(redaction.text(each) for each in stop.notes),
    )


def _safe_line(line: Passed) -> Passed:
    changes = tuple(discretion.change(each) for each in line.changes)
    return msgspec.structs.replace(line, changes=changes) if changes != line.changes else line


def _safe(info: ExceptionInfo | None) -> ExceptionInfo | None:
    if info is None:
        return None
    return msgspec.structs.replace(
        info,
        message=redaction.text(info.message[:DETAIL]),
        cause=redaction.text(info.cause[:DETAIL]) if info.cause else None,
        causes=tuple(each for cause in info.causes if (each := _safe(cause))),
        members=tuple(each for member in info.members[:8] if (each := _safe(member))),
        notes=tuple(redaction.text(each) for each in info.notes),
        values=tuple(redaction.value(each) for each in info.values),
        locals=tuple(redaction.value(each) for each in info.locals),
    )
