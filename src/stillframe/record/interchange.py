"""The record between machines: a run and its children as JSON lines, each line checked by its shape when it comes back."""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from collections.abc import Iterator
from time import time as now
from typing import Any

import msgspec

from ..errors import UsageError
from ..model import exact
from ..model.outcomes import Breakpoint
from ..model.values import Frame, Value
from . import finding, reading
from .finding import Run, View
from .pen import LOCALS
from .tape import HitRest

FORMAT = 1


class Line(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind"):
    """What every line is."""


class Header(Line, frozen=True, kw_only=True, tag="stillframe-record"):
    format: int
    version: str
    exported: float
    untrusted: bool = False
    """That what follows is a program's own words, for whoever reads it: data, never an instruction."""


class RunLine(Line, frozen=True, kw_only=True, tag="run"):
    id: int
    name: str
    command: tuple[str, ...] = ()
    tool: str = ""
    tool_version: str = ""
    attached: bool = False
    parent: int | None = None
    began: float
    ended: float | None = None
    outcome: str | None = None


class SourceLine(Line, frozen=True, kw_only=True, tag="source"):
    id: int
    file: str
    digest: str
    first: int
    text: str


class HitLine(Line, frozen=True, kw_only=True, tag="hit"):
    run: int
    number: int
    time: float
    reason: str
    thread: str = ""
    step: bool = False
    file: str = ""
    line: int = 0
    symbol: str = ""
    module: str = ""
    source: int = 0
    frames: tuple[Frame, ...] = ()
    locals: tuple[Value, ...] = ()
    rest: HitRest


class OutputLine(Line, frozen=True, kw_only=True, tag="output"):
    run: int
    stream: str
    at: int
    text: str


class FateLine(Line, frozen=True, kw_only=True, tag="breakpoint"):
    run: int
    id: str
    time: float
    state: str
    hits: int
    body: dict[str, Any]


class OperationLine(Line, frozen=True, kw_only=True, tag="operation"):
    run: int
    op: str
    args: dict[str, Any]
    began: float
    seconds: float
    outcome: str


class EndLine(Line, frozen=True, kw_only=True, tag="end"):
    """The last line: how many there were before it, and their digest, by which a cut file is known."""

    lines: int
    digest: str


AnyLine = Header | RunLine | SourceLine | HitLine | OutputLine | FateLine | OperationLine | EndLine


def lines(connection: sqlite3.Connection, run: Run, version: str, now: float) -> Iterator[bytes]:
    """A run and its children, line by line, the end last."""
    digest, count = hashlib.sha256(), 0
    for line in _lines(connection, run, version, now):
        data = exact.harmless(exact.encode(line)) + b"\n"
        digest.update(data)
        count += 1
        yield data
    yield exact.encode(EndLine(lines=count, digest=digest.hexdigest())) + b"\n"


def _lines(connection: sqlite3.Connection, run: Run, version: str, now: float) -> Iterator[AnyLine]:
    yield Header(format=FORMAT, version=version, exported=now, untrusted=True)
    for id in run.members:
        yield _run(connection, id)
    sources = connection.execute(
        "SELECT DISTINCT s.id, s.file, s.digest FROM hit h JOIN place p ON p.id=h.place JOIN source s ON s.id=p.source"
        f" WHERE h.run IN ({run.marks})",
        run.members,
    ).fetchall()
    for id, file, digest in sources:
        first, text = finding.source_lines(connection, id)
        yield SourceLine(id=id, file=file, digest=digest, first=first, text="\n".join(text))
    ids = [
        row[0] for row in connection.execute(f"SELECT id FROM hit WHERE run IN ({run.marks}) ORDER BY id", run.members)
    ]
    for begin in range(0, len(ids), 500):
        for row in reading.rows(connection, ids[begin : begin + 500]):
            yield _hit(connection, row)
    yield from _rest(connection, run)


def _run(connection: sqlite3.Connection, id: int) -> RunLine:
    name, command, tool, version, attached, parent, began, ended, outcome = connection.execute(
        "SELECT name, command, tool, version, attached, parent, began, ended, outcome FROM run WHERE id=?", (id,)
    ).fetchone()
    if outcome is None and (outcome := finding.info(connection, id).state) == "live":
        ended, outcome = now(), "was live when it was exported"  # whoever takes it in cannot know more
    return RunLine(
        id=id,
        name=name,
        command=tuple(exact.decode(command, list[str])),
        tool=tool,
        tool_version=version,
        attached=bool(attached),
        parent=parent,
        began=began,
        ended=ended,
        outcome=outcome,
    )


def _hit(connection: sqlite3.Connection, row: reading.Row) -> HitLine:
    module = connection.execute(
        "SELECT module FROM place WHERE id=(SELECT place FROM hit WHERE id=?)", (row.id,)
    ).fetchone()[0]
    plain = View("/", "\0")  # files stay as they were kept
    frames = tuple(msgspec.structs.replace(each, id="") for each in reading.frames(connection, row, plain))
    return HitLine(
        run=row.run,
        number=row.number,
        time=row.time,
        reason=row.reason,
        thread=row.thread,
        step=bool(row.step),
        file=row.file,
        line=row.line,
        symbol=row.symbol,
        module=module,
        source=row.source,
        frames=frames,
        locals=reading.values(connection, row),
        rest=reading.rest(row),
    )


def _rest(connection: sqlite3.Connection, run: Run) -> Iterator[AnyLine]:
    for each, stream, at, data in connection.execute(
        f"SELECT run, stream, at, data FROM output WHERE run IN ({run.marks}) ORDER BY id", run.members
    ):
        yield OutputLine(run=each, stream=stream, at=at, text=data.decode("utf-8", "surrogateescape"))
    for each, id, time, state, hits, body in connection.execute(
        f"SELECT run, breakpoint, time, state, hits, body FROM fate WHERE run IN ({run.marks}) ORDER BY id", run.members
    ):
        yield FateLine(run=each, id=id, time=time, state=state, hits=hits, body=exact.decode(body, dict[str, Any]))
    for each, op, args, began, seconds, outcome in connection.execute(
        f"SELECT run, op, args, began, seconds, outcome FROM operation WHERE run IN ({run.marks}) ORDER BY id",
        run.members,
    ):
        yield OperationLine(
            run=each, op=op, args=exact.decode(args, dict[str, Any]), began=began, seconds=seconds, outcome=outcome
        )


# Coming back

LONGEST_LINE = 8 * 1024 * 1024
_STREAMS = ("stdout", "stderr", "log", "console")
LATEST = 250_000_000_000.0
"""Seconds since 1970 that are a date at all."""
LAST_LINE = 10_000_000
LONGEST_REASON = 200
_NAME = re.compile(r"[\w-][\w.-]{0,199}")
"""More than names of sessions are, and no path."""


def read(file: Any, name: str) -> Iterator[AnyLine]:
    """Every line of an export but its end, each of its proper shape; a usage error names the first that is not."""
    digest, count, ended = hashlib.sha256(), 0, False
    while data := file.readline(LONGEST_LINE + 1):
        count += 1
        where = f"line {count} of {name}"
        if len(data) > LONGEST_LINE:
            raise UsageError(f"{where} is longer than {LONGEST_LINE:,} bytes; this is no export of Stillframe")
        if ended:
            raise UsageError(f"{name} goes on after its end; this is no export of Stillframe")
        line = _line(data, where)
        if count == 1:
            _check_header(line, name)
        elif isinstance(line, Header):
            raise UsageError(f"{where} is a second header; this is no export of Stillframe")
        if isinstance(line, EndLine):
            if (line.lines, line.digest) != (count - 1, digest.hexdigest()):
                raise UsageError(f"{name} was changed or cut: its last line does not fit the {count - 1} before it")
            ended = True
            continue
        digest.update(data)
        yield line
    if not count:
        raise UsageError(f"{name} is empty; this is no export of Stillframe")
    if not ended:
        raise UsageError(f"{name} is cut off after {count} lines: its end is missing")


def _line(data: bytes, where: str) -> AnyLine:
    try:
        line: AnyLine = _decoded(data)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise UsageError(f"{where} is no line of an export of Stillframe: {_begun(str(error))}") from None
    if not all(0 <= each <= LATEST for each in _times(line)):
        raise UsageError(f"{where} tells a time that there is not")
    match line:
        case HitLine():
            _check_hit(line, where)
        case SourceLine():
            check_file(line.file, where)
            if not 1 <= line.first <= LAST_LINE:
                raise UsageError(f"{where} begins at a line that no file has: {line.first}")
        case OutputLine() if line.stream not in _STREAMS or line.at < 0:
            raise UsageError(f"{where} tells of a stream that there is not")
        case RunLine() if not _NAME.fullmatch(line.name):
            raise UsageError(f"{where} has a name that no session has: {line.name[:100]!r}")
        case FateLine():
            _check_fate(line, where)
        case _:
            pass
    return line


def _begun(words: str) -> str:
    """What is wrong, without all of a text that it quotes."""
    return words if len(words) <= LONGEST_REASON else f"{words[:LONGEST_REASON]}…"


def _check_fate(line: FateLine, where: str) -> None:
    """A breakpoint is one, or whoever asks what became of it is told of a fault of ours."""
    try:
        msgspec.convert(line.body, Breakpoint)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where} tells of what is no breakpoint: {_begun(str(error))}") from None


def _times(line: AnyLine) -> tuple[float, ...]:
    match line:
        case RunLine():
            return line.began, line.began if line.ended is None else line.ended
        case HitLine() | FateLine():
            return (line.time,)
        case OperationLine():
            return line.began, line.seconds
        case _:
            return ()


def _decoded(data: bytes) -> AnyLine:
    found: AnyLine = exact.decode(data, AnyLine)  # type: ignore[arg-type]
    return found


def _check_header(line: AnyLine, name: str) -> None:
    if not isinstance(line, Header):
        raise UsageError(f"{name} does not begin as an export of Stillframe does")
    if line.format > FORMAT:
        raise UsageError(
            f"{name} is of format {line.format}, made by a newer Stillframe ({line.version}); this one knows {FORMAT}"
        )


def _check_hit(line: HitLine, where: str) -> None:
    if len(line.locals) > LOCALS or len(line.frames) > 1000 or line.number < 1:
        raise UsageError(f"{where} holds more than a hit can")
    check_file(line.file, where)
    for frame in line.frames:
        check_file(frame.file or "", where)


def check_file(file: str, where: str) -> None:
    """A file of the project is below it: no path of an export leads out of the project that it is read into."""
    if (
        "\0" in file
        or len(file) > 4096
        or ".." in file.split("/")
        or (file and os.path.normpath(file).startswith(".."))
    ):
        raise UsageError(f"{where} names a file outside its project: {file[:100]!r}")
