"""Taking an export in: all of it or nothing, as new runs of the project that asks, through the same hand as everything else."""

from __future__ import annotations

import hashlib
import os
import stat
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import NotFound, UsageError
from ..model import exact
from . import interchange, redaction
from .interchange import AnyLine, FateLine, HitLine, OperationLine, OutputLine, RunLine, SourceLine
from .pen import Pen, clean, packed, source_text

LARGEST = 1024 * 1024 * 1024


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A plain file of bearable size, and nothing else: no pipe that never ends, no device."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}") from None
    facts = os.fstat(handle)
    if not stat.S_ISREG(facts.st_mode):
        os.close(handle)
        raise UsageError(f"{path} is no plain file")
    with os.fdopen(handle, "rb") as file:
        if facts.st_size > LARGEST:
            raise UsageError(f"{path} is larger than {LARGEST:,} bytes")
        yield file


def check(path: Path) -> int:
    """Read an export through without taking anything in; its hits."""
    runs: set[int] = set()
    sources = {0}
    numbers: dict[int, int] = {}
    with opened(path) as file:
        for line in interchange.read(file, path.name):
            match line:
                case RunLine():
                    if line.id in runs or (line.parent is not None and line.parent not in runs):
                        raise UsageError(f"{path.name} tells of run {line.id} twice, or before its parent")
                    runs.add(line.id)
                case SourceLine():
                    sources.add(line.id)
                case HitLine() | OutputLine() | FateLine() | OperationLine():
                    _check_belongs(line, runs, sources, numbers, path.name)
                case _:
                    pass
    if not runs:
        raise UsageError(f"{path.name} holds no run")
    return sum(numbers.values())


def _check_belongs(line: Any, runs: set[int], sources: set[int], numbers: dict[int, int], name: str) -> None:
    if line.run not in runs:
        raise UsageError(f"{name} tells of run {line.run}, which it does not hold")
    if isinstance(line, HitLine):
        if line.source not in sources:
            raise UsageError(f"{name} tells of a source that it does not hold")
        numbers[line.run] = numbers.get(line.run, 0) + 1
        if line.number != numbers[line.run]:
            raise UsageError(
                f"{name} has a gap: hit {line.number} of run {line.run} where {numbers[line.run]} should be"
            )


class Taking:
    """One import under way: the numbers that things have in the file, and those that they get here."""

    def __init__(self, pen: Pen, root: str, name: str) -> None:
        self._pen = pen
        self._root = root
        self._name = name
        self._runs: dict[int, int] = {}
        self._sources: dict[int, tuple[str, list[str], int]] = {}
        self._new: dict[int, int] = {}

    @property
    def runs(self) -> tuple[int, ...]:
        return tuple(self._runs.values())

    def take(self, line: AnyLine) -> None:
        match line:
            case RunLine():
                self._run(line)
            case SourceLine():
                self._sources[line.id] = (line.digest[:64], line.text.split("\n"), line.first)
            case HitLine():
                self._hit(line)
            case OutputLine():
                data = redaction.text(line.text).encode("utf-8", "surrogateescape")
                self._pen.output(self._runs[line.run], line.stream, line.at, data)
            case FateLine():
                run = self._runs[line.run]
                self._insert(
                    "fate(run, breakpoint, time, state, hits, body)",
                    (run, clean(line.id), line.time, clean(line.state), line.hits, self._json(line.body)),
                )
            case OperationLine():
                run, args = self._runs[line.run], self._json(line.args)
                self._insert(
                    "operation(run, root, op, args, began, seconds, outcome)",
                    (run, self._root, clean(line.op), args, line.began, line.seconds, clean(line.outcome)),
                )
            case _:
                pass

    def _json(self, body: dict[str, Any]) -> str:
        return redaction.body(body)

    def _insert(self, table: str, row: tuple[Any, ...]) -> int:
        return self._pen.insert(f"INSERT INTO {table} VALUES({','.join('?' * len(row))})", row)

    def _run(self, line: RunLine) -> None:
        parent = self._runs[line.parent] if line.parent is not None else None
        family = next(iter(self._runs.values())) if parent is not None else None
        row = (
            clean(line.name[:64]), self._root, self._root, exact.encode(redaction.command(line.command)).decode(),
            clean(line.tool), clean(line.tool_version), line.attached, parent, family, line.began,
            line.ended if line.ended is not None else line.began, clean(line.outcome or "unknown"), self._name,
        )  # fmt: skip
        table = (
            "run(name, root, base, command, tool, version, attached, parent, family, began, ended, outcome, imported)"
        )
        made = self._runs[line.id] = self._insert(table, row)
        if family is None:
            self._pen.connection.execute("UPDATE run SET family=id WHERE id=?", (made,))
        self._pen.event(time.time(), made, self._root, "start", None, f"imported from {self._name}")

    def _hit(self, line: HitLine) -> None:
        pen, run = self._pen, self._runs[line.run]
        source = self._source(line)
        place = pen.place(clean(line.file), line.line, clean(line.symbol[:400]), clean(line.module), source)
        pairs, mark = pen.values(run, place, line.locals)
        row = (
            run, line.number, place, line.time, line.step, clean(line.reason), clean(line.thread),
            packed([pen.frame(each) for each in line.frames]), mark, packed(pairs),
            redaction.body(line.rest),
        )  # fmt: skip
        hit = self._insert("hit(run, number, place, time, step, reason, thread, stack, print, locals, rest)", row)
        pen.connection.executemany(
            "INSERT OR REPLACE INTO cell(place, name, hit, value) VALUES(?,?,?,?)",
            [(place, name, hit, value) for name, value in pairs],
        )

    def _source(self, line: HitLine) -> int:
        if line.source not in self._sources:
            return 0
        if line.source not in self._new:
            digest, text, first = self._sources[line.source]
            file = clean(line.file)
            self._new[line.source] = self._pen.source_part(file, self._key(file, digest, text, first), text, first)
        return self._new[line.source]

    def _key(self, file: str, digest: str, text: list[str], first: int) -> str:
        """What a text is known by: the hash of its file only where that very text is kept under it. Nobody can check what an
        export says of it, and a run of ours of the real file would later be shown with the other text."""
        known = "SELECT text FROM source WHERE file=? AND digest=? AND first=?"
        (kept,) = self._pen.connection.execute(known, (file, digest, first)).fetchone() or (b"",)
        told = source_text(text)
        if kept and zlib.decompress(kept) == told:
            return digest
        return f"imported {hashlib.blake2b(told, digest_size=16).hexdigest()}"


def take_in(pen: Pen, path: Path, root: str) -> tuple[int, ...]:
    """Write a checked export into the record; the numbers of its runs here."""
    taking = Taking(pen, root, path.name)
    with opened(path) as file:
        try:
            for line in interchange.read(file, path.name):
                taking.take(line)
        except (OverflowError, ValueError, TypeError) as error:
            raise UsageError(f"{path.name} holds what no record can: {error}") from None
    return taking.runs
