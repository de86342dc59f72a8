"""The writer's hand: puts model values into rows, each text, place and frame only once, within the bounds of a record."""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import zlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path

import msgspec

from ..errors import Unsupported
from ..model import exact
from ..model.values import Frame, Value
from . import redaction, schema
from .figures import number_of
from .lanes import Lanes

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
AT_ONCE = 20_000
"""Characters of a source file that is written whole together with the first stop in it: some milliseconds."""
PART = " part"
"""Behind the hash of a file of which only some lines are kept."""
CACHED = 10_000
"""Values that are known by their ids at hand, and as many again that were not seen for a while."""
SECRETS = 200
"""Secrets that are looked for in the files."""
OUTPUT_BYTES = 2 * 1024 * 1024
"""Bytes of each stream of a run that are kept, the newest."""

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


class Completed(msgspec.Struct, frozen=True):
    """The whole of a text whose part is kept under this number."""

    id: int
    file: str
    digest: str
    lines: Sequence[str]


class Pen:
    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.connection = connection
        self._path = path
        self._inode = os.stat(path).st_ino
        self._seen = -1
        self._ids: dict[Hashable, int] = {}
        self._values: dict[Hashable, tuple[int, int, str]] = {}
        self._values_before: dict[Hashable, tuple[int, int, str]] = {}
        self._lanes = Lanes(connection)
        self._kept_output: dict[tuple[int, str], int] = {}
        self._secrets: dict[str, str] = {}
        """Those that names have told, with the markers that stand for them; in memory alone."""
        self.generation = object()
        """Another one for another file: what was written into the one before is not in it."""
        self.later: list[Completed] = []
        """Texts of files of which a part is written, and the rest can wait until everybody has been answered."""
        self.holds_secret = False
        """The log still has a text as it was before a secret was left out of it."""
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
            self._check_version()
            self.forget()
        elif len(self._values) > CACHED:
            self._values, self._values_before = {}, self._values
        self._seen = seen

    def _check_version(self) -> None:
        try:
            schema.check_version(self.connection, self._path)
        except Unsupported:
            self.connection.execute("ROLLBACK")
            raise

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
        self._lanes.forget()
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
        """The file's text as it was: whole, or of a large one what stands around the line. To look for secrets in a long text
        takes a while, so of such a one the part around the line is written with the stop, and the whole in its place later."""
        whole = ("source", file, digest, 1)
        if whole in self._ids or (size := sum(map(len, lines))) <= AT_ONCE or self._has_whole(file, digest):
            return self.source_part(file, digest, lines, 1)
        begin = max(1, line // AROUND * AROUND - AROUND)
        part = [each[:500] for each in lines[begin - 1 : begin + 3 * AROUND]]
        id = self.source_part(file, digest + PART, part, begin)
        if size <= WHOLE_FILE and not any(each.id == id for each in self.later):
            self.later.append(Completed(id, file, digest, lines))
        return id

    def _has_whole(self, file: str, digest: str) -> bool:
        found = "SELECT 1 FROM source WHERE file=? AND digest=? AND first=1 AND length(text)"
        return self.connection.execute(found, (file, digest)).fetchone() is not None

    def source_part(self, file: str, digest: str, lines: Sequence[str], begin: int) -> int:
        """Lines of a file from a line on."""
        key = ("source", file, digest, begin)
        if key not in self._ids:
            row = (file, digest, begin)
            self.connection.execute("INSERT OR IGNORE INTO source(file, digest, first, text) VALUES(?,?,?,x'')", row)
            found = "SELECT id, length(text) FROM source WHERE file=? AND digest=? AND first=?"
            id, filled = self.connection.execute(found, row).fetchone()
            self._ids[key] = int(id)
            if not filled:  # it is new, or of a Stillframe that filled it later and died before
                self._write_source(id, self._safe_text(lines))
        return self._ids[key]

    def complete(self, id: int, file: str, digest: str, lines: Sequence[str]) -> None:
        """Put the whole text of a file where a part of it is; where another host has done so, the part stays one."""
        text = self._safe_text(lines)
        whole = "UPDATE OR IGNORE source SET digest=?, first=1 WHERE id=?"
        if self.connection.execute(whole, (digest, id)).rowcount:
            self._write_source(id, text)
            self._ids["source", file, digest, 1] = id

    def _safe_text(self, lines: Sequence[str]) -> bytes:
        return redaction.without_literals(source_text(lines), self._secrets)

    def _write_source(self, id: int, text: bytes) -> None:
        self.connection.execute("UPDATE source SET text=? WHERE id=?", (zlib.compress(text, 6), id))

    def _note_secret(self, run: int, found: Value) -> None:
        """What a name has told to be a secret may stand as it is in the files: `login("ann", "tiger99")`. It leaves them together
        with what told it; what is written later comes without it."""
        secret = redaction.literal(found)
        if secret is None or secret in self._secrets or len(self._secrets) >= SECRETS:
            return
        known = self._secrets[secret] = redaction.marker_of(found)
        self._leave_out({secret: known}, self._sources_of(run))

    def _sources_of(self, run: int) -> set[int]:
        """The texts that a run and its family have, and those that were used of late."""
        kept = self.connection.execute(
            "SELECT DISTINCT source FROM place WHERE id IN (SELECT place FROM hit WHERE run IN"
            " (SELECT id FROM run WHERE family=(SELECT family FROM run WHERE id=?)))",
            (run,),
        )
        recent = {id for key, id in self._ids.items() if isinstance(key, tuple) and len(key) == 4}
        return recent | {each[0] for each in kept}

    def _leave_out(self, secrets: dict[str, str], sources: Iterable[int]) -> None:
        """Write the texts of some files again without secrets that stand in them, and over what they took up."""
        for id in sources:
            (kept,) = self.connection.execute("SELECT text FROM source WHERE id=?", (id,)).fetchone() or (b"",)
            text = zlib.decompress(kept) if kept else b""
            safe = redaction.without_literals(text, secrets)
            if safe != text:
                self.connection.execute("PRAGMA secure_delete=1").fetchall()
                self._write_source(id, safe)
                self.connection.execute("PRAGMA secure_delete=0").fetchall()
                self.holds_secret = True

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
            name, value, mark = self._value(run, place, each if room > 0 else _emptied(each))
            pairs.append((name, value))
            marks.append(mark)
        digest = hashlib.blake2b("\x1f".join(marks).encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return pairs, int.from_bytes(digest, "big", signed=True)

    def _value(self, run: int, place: int, value: Value) -> tuple[int, int, str]:
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
                self._note_secret(run, value)
            made = self._lanes.next((run, place, safe.name))
            self.connection.execute(
                "INSERT INTO value(id, type, text, number, total, rest) VALUES(?,?,?,?,?,?)", (made, *value_row(safe))
            )
            known = self._values[key] = (self.name(clean(safe.name[:TEXT])), made, _mark(safe))
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


def _mark(value: Value) -> str:
    """What equal values have alike; of one whose text is cut also how much there is, and the parts that were told beside it."""
    mark = f"{value.name}\x1f{value.type}\x1f{same_everywhere(value.value)}"
    if value.type and value.total is not None and "…" in value.value:
        mark += f"\x1f{value.total}"
    if value.children:
        mark += f"\x1f{same_everywhere(exact.encode(value.children).decode())}"
    return mark


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
