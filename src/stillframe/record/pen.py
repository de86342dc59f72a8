"""The writer's hand: puts model values into rows, each text, place and frame only once, within the bounds of a record."""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import zlib
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path

import msgspec

from ..model import exact
from ..model.values import Frame, Value
from . import redaction

TEXT = 2000
"""Characters of one value that are kept."""
LOCALS = 100
DEPTH = 3
CHILDREN = 20
HIT_CHARACTERS = 64_000
"""Characters that the values of one hit may take together; those behind are kept by name and type."""
WHOLE_FILE = 512 * 1024
"""Characters of a source file that is kept whole; of a larger one, what stands around the stop."""
AROUND = 40
CACHED = 10_000
"""Values that are known by their ids at hand, and as many again that were not seen for a while."""
SECRETS = 200
"""Secrets that are looked for in the files."""
OUTPUT_BYTES = 2 * 1024 * 1024
"""Bytes of each stream of a run that are kept, the newest."""

LONGEST_NUMBER = 60
"""Characters of a text that is taken for a number."""

_NUMBER = re.compile(r"-?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?(?:n| '.*)?\Z", re.DOTALL)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{5,}")
_IDENTITY = re.compile(r"(?<![\w.])(?:9[3-9]\d{12}|1[0-4]\d{13})(?![\w.])")
"""What CPython's `id` gives on 64 bits of Linux: addresses of the heap, or of what was mapped, in decimal."""


class ValueRest(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a value has beyond type and text."""

    truncated: bool = False
    error: bool = False
    more: bool = False
    """The live program could have told more of it."""
    children: tuple[Value, ...] = ()


class Pen:
    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.connection = connection
        self._inode = os.stat(path).st_ino
        self._seen = -1
        self._ids: dict[Hashable, int] = {}
        self._values: dict[Hashable, tuple[int, int, str]] = {}
        self._values_before: dict[Hashable, tuple[int, int, str]] = {}
        self._kept_output: dict[tuple[int, str], int] = {}
        self._secrets: dict[str, str] = {}
        """Those that names have told, with the markers that stand for them; in memory alone."""
        self.generation = object()
        """Another one for another file: what was written into the one before is not in it."""
        self.later: list[Callable[[Pen], None]] = []
        """What can wait until everybody has been answered."""
        self.undo: list[Callable[[], None]] = []
        """Whoever must know that this transaction was rolled back."""

    def is_on(self, path: Path) -> bool:
        try:
            return os.stat(path).st_ino == self._inode
        except OSError:
            return False

    # Transactions

    def begin(self) -> None:
        self.undo.clear()
        self.connection.execute("BEGIN IMMEDIATE")
        seen = self.connection.execute("PRAGMA data_version").fetchone()[0]
        if seen != self._seen or len(self._ids) > CACHED:  # another host wrote, and may have pruned what we know by id
            self.forget()
        elif len(self._values) > CACHED:
            self._values, self._values_before = {}, self._values
        self._seen = seen

    def commit(self) -> None:
        self.connection.execute("COMMIT")

    def roll_back(self) -> None:
        self.forget()
        self.later.clear()
        self._secrets.clear()
        for tell in self.undo:
            tell()
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def forget(self) -> None:
        self._ids.clear()
        self._values.clear()
        self._values_before.clear()
        self._kept_output.clear()

    def close(self) -> None:
        self.connection.close()

    def insert(self, statement: str, row: Sequence[object]) -> int:
        return int(self.connection.execute(statement, row).lastrowid or 0)

    # Things that are kept once

    def name(self, text: str) -> int:
        known = self._ids.get(("name", text))
        if known is None:
            self.connection.execute("INSERT OR IGNORE INTO name(text) VALUES(?)", (text,))
            known = self.connection.execute("SELECT id FROM name WHERE text=?", (text,)).fetchone()[0]
            self._ids["name", text] = known
        return known

    def place(self, file: str, line: int, symbol: str, module: str, source: int) -> int:
        row = (file, line, symbol, module, source)
        known = self._ids.get(row)
        if known is None:
            self.connection.execute(
                "INSERT OR IGNORE INTO place(file, line, symbol, module, source) VALUES(?,?,?,?,?)", row
            )
            found = self.connection.execute(
                "SELECT id FROM place WHERE file=? AND line=? AND symbol=? AND module=? AND source=?", row
            )
            known = self._ids[row] = found.fetchone()[0]
        return known

    def source(self, file: str, digest: str, lines: Sequence[str], line: int) -> int:
        """The file's text as it was: whole, or of a large one what stands around the line."""
        large = sum(map(len, lines)) > WHOLE_FILE if ("source", file, digest, 1) not in self._ids else False
        begin = max(1, line // AROUND * AROUND - AROUND) if large else 1
        kept = [each[:500] for each in lines[begin - 1 : begin + 3 * AROUND]] if large else lines
        return self.source_part(file, digest, kept, begin)

    def source_part(self, file: str, digest: str, lines: Sequence[str], begin: int) -> int:
        """Lines of a file from a line on."""
        key = ("source", file, digest, begin)
        if key not in self._ids:
            row = (file, digest, begin)
            self.connection.execute("INSERT OR IGNORE INTO source(file, digest, first, text) VALUES(?,?,?,x'')", row)
            found = "SELECT id, length(text) FROM source WHERE file=? AND digest=? AND first=?"
            id, filled = self.connection.execute(found, row).fetchone()
            self._ids[key] = int(id)
            if not filled:  # it is new, or whoever was to fill it died before
                self.later.append(lambda pen: pen.fill_source(id, lines))
        return self._ids[key]

    def fill_source(self, id: int, lines: Sequence[str]) -> None:
        """The text itself, when whoever waited for the stop has been answered: to look for secrets in a file takes a while."""
        self._write_source(id, redaction.without_literals(source_text(lines), self._secrets))

    def _write_source(self, id: int, text: bytes) -> None:
        self.connection.execute("UPDATE source SET text=? WHERE id=?", (zlib.compress(text, 6), id))

    def _note_secret(self, found: Value) -> None:
        """What a name has told to be a secret may stand as it is in the files: `login("ann", "tiger99")`."""
        secret = redaction.literal(found)
        if secret is None or secret in self._secrets or len(self._secrets) >= SECRETS:
            return
        known = self._secrets[secret] = redaction.marker_of(found)
        keys = (key for key in self._ids if isinstance(key, tuple) and len(key) == 4)
        sources = [self._ids[key] for key in keys]  # those in use; what is filled later comes without it
        self.later.append(lambda pen: pen.leave_out({secret: known}, sources))

    def leave_out(self, secrets: dict[str, str], sources: Sequence[int]) -> None:
        """Write the texts of some files again without secrets that stand in them."""
        for id in sources:
            (kept,) = self.connection.execute("SELECT text FROM source WHERE id=?", (id,)).fetchone() or (b"",)
            text = zlib.decompress(kept) if kept else b""
            safe = redaction.without_literals(text, secrets)
            if safe != text:
                self._write_source(id, safe)

    def frame(self, frame: Frame) -> int:
        known = self._ids.get(frame)
        if known is None:
            body = redaction.body(frame)
            self.connection.execute("INSERT OR IGNORE INTO frame(body) VALUES(?)", (body,))
            known = self.connection.execute("SELECT id FROM frame WHERE body=?", (body,)).fetchone()[0]
            self._ids[frame] = known
        return known

    # Values

    def values(self, run: int, place: int, values: Sequence[Value]) -> tuple[list[tuple[int, int]], int]:
        """Names and values by their ids, in order, and the mark by which equal ones are known."""
        pairs: list[tuple[int, int]] = []
        marks: list[str] = []
        room = HIT_CHARACTERS
        for each in values[:LOCALS]:
            room -= len(each.value)
            name, value, mark = self._value(run, each if room > 0 else _emptied(each))
            pairs.append((name, value))
            marks.append(mark)
        digest = hashlib.blake2b("\x1f".join(marks).encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return pairs, int.from_bytes(digest, "big", signed=True)

    def _value(self, run: int, value: Value) -> tuple[int, int, str]:
        """The ids of a name and its value, and the mark of both; what was written before in this run is known by all of it."""
        value = bounded(value)
        key = (
            run, value.name, value.type, value.value, value.total, value.truncated, value.error, value.ref is None,
            value.children if value.children else None,
        )  # fmt: skip
        known = self._values.get(key)
        if known is None and (known := self._values_before.get(key)) is not None:
            self._values[key] = known
        if known is None:
            safe = redaction.value(value)
            if safe is not value:
                self._note_secret(value)
            made = self.insert("INSERT INTO value(type, text, number, total, rest) VALUES(?,?,?,?,?)", value_row(safe))
            mark = f"{safe.name}\x1f{safe.type}\x1f{same_everywhere(safe.value)}"
            known = self._values[key] = (self.name(clean(safe.name[:TEXT])), made, mark)
        return known

    # Output

    def output(self, run: int, stream: str, at: int, data: bytes) -> int:
        """Keep what was printed, and drop the oldest of it where there is more than is kept."""
        key = (run, stream)
        if key not in self._kept_output:
            held = self.connection.execute(
                "SELECT sum(length(data)) FROM output WHERE run=? AND stream=?", (run, stream)
            ).fetchone()
            self._kept_output[key] = held[0] or 0
        made = self.insert("INSERT INTO output(run, stream, at, data) VALUES(?,?,?,?)", (run, stream, at, data))
        self._kept_output[key] += len(data)
        while self._kept_output[key] > OUTPUT_BYTES:
            oldest = self.connection.execute(
                "SELECT id, length(data) FROM output WHERE run=? AND stream=? ORDER BY at LIMIT 1", (run, stream)
            ).fetchone()
            self.connection.execute("DELETE FROM output WHERE id=?", (oldest[0],))
            self._kept_output[key] -= oldest[1]
        return made

    def event(self, time: float, run: int | None, root: str, kind: str, ref: int | None, text: str = "") -> int:
        return self.insert(
            "INSERT INTO event(time, run, root, kind, ref, text) VALUES(?,?,?,?,?,?)",
            (time, run, root, kind, ref, clean(text[:TEXT])),
        )


def source_text(lines: Sequence[str]) -> bytes:
    """A file's text as it is kept."""
    return redaction.text("\n".join(lines)).encode("utf-8", "backslashreplace")


def value_row(value: Value) -> tuple[str, str, float | None, int | None, str | None]:
    text = value.value[:TEXT]
    cut = len(value.value) > TEXT
    rest = ValueRest(value.truncated or cut, value.error, value.ref is not None, value.children)
    body = exact.encode(rest).decode() if rest != ValueRest() else None
    return clean(value.type[:200]), clean(text), number_of(text), _small(value.total), body


def _emptied(value: Value) -> Value:
    return msgspec.structs.replace(value, value="", children=(), truncated=True)


def bounded(value: Value) -> Value:
    """A value of bearable size; its text keeps a margin, so that no secret is cut in two before it is seen."""
    if len(value.value) <= 2 * TEXT and not value.children:
        return value
    text = value.value[: 2 * TEXT]
    return msgspec.structs.replace(value, value=text, children=_pruned(value.children, DEPTH))


def _pruned(children: tuple[Value, ...], depth: int) -> tuple[Value, ...]:
    if not depth:
        return ()
    return tuple(
        Value(
            name=each.name[:200],
            type=each.type[:200],
            value=each.value[:TEXT],
            total=_small(each.total),
            children=_pruned(each.children, depth - 1),
        )
        for each in children[:CHILDREN]
    )


def _small(number: int | None) -> int | None:
    return number if number is not None and abs(number) < 2**63 else None


def number_of(text: str) -> float | None:
    """The number that a value's text is; None where it is none."""
    if len(text) > LONGEST_NUMBER or not _NUMBER.match(text):
        return None
    try:
        return float(text)
    except ValueError:
        return _written_otherwise(text)


def _written_otherwise(text: str) -> float | None:
    """`10n`, `97 'a'`."""
    try:
        return float(text.partition(" ")[0].rstrip("n").replace("_", ""))
    except ValueError:
        return None


def same_everywhere(text: str) -> str:
    """A value's text without what differs from run to run by itself: addresses, and identities among other things."""
    if "0x" in text:
        text = _ADDRESS.sub("0x…", text)
    return text if text.isdigit() or len(text) < 16 else _IDENTITY.sub("id…", text)


def clean(text: str) -> str:
    """Text that SQLite takes: half surrogate pairs as escapes."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def packed(numbers: Sequence[Sequence[int]] | Sequence[int]) -> str:
    return msgspec.json.encode(numbers).decode()
