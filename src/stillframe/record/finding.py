"""Finding things in the record: the run that a word means, the places that a location means, and what there is at a miss."""

from __future__ import annotations

import os
import re
import sqlite3
import zlib
from typing import Any

import msgspec

from ..errors import NotFound, Try, UsageError
from ..model import exact
from ..model.places import LinePlace, Place, SymbolPlace, TextPlace
from ..model.recorded import RunInfo
from .pruning import is_alive
from .schema import HITS

LISTED = 12
"""Things that an answer about a miss names."""


class View(msgspec.Struct, frozen=True):
    """How files are shown: relative to the caller, as everywhere."""

    cwd: str
    root: str

    def file(self, kept: str | None, root: str | None = None) -> str | None:
        if not kept or kept.startswith("<") or os.path.isabs(kept):
            return kept or None
        home = root or self.root
        if home != self.root:
            return kept
        return os.path.relpath(os.path.join(home, kept), self.cwd)

    def place(self, file: str, line: int, root: str | None = None) -> str:
        shown = self.file(file, root) or "?"
        return f"{shown}:{line}" if line else shown


class Run(msgspec.Struct, frozen=True):
    """A run and its children's runs, which count as one."""

    id: int
    name: str
    root: str
    members: tuple[int, ...]

    @property
    def handle(self) -> str:
        return f"r{self.id}"

    @property
    def marks(self) -> str:
        return ",".join("?" * len(self.members))


def is_handle(word: str) -> bool:
    """Whether a word means a run or a hit by its number, so that it is no name for one."""
    return bool(_RUN.match(word) or _HIT.match(word))


_RUN = re.compile(r"r(\d{1,15})\Z")
_HIT = re.compile(r"(?:(?:r(\d{1,15})|([\w.-]+))[.:/])?h(\d{1,15})\Z")


def run(connection: sqlite3.Connection, root: str, word: str | None) -> Run:
    """The run that is meant: its handle, a saved name, a session's name, or the newest of the project."""
    row: tuple[Any, ...] | None
    if word == "":
        raise UsageError("the name of a run is empty; there are r12, saved names and names of sessions")
    if word is None:
        row = _one(connection, "SELECT id FROM run WHERE root=? AND parent IS NULL ORDER BY id DESC LIMIT 1", (root,))
    elif match := _RUN.match(word):
        row = _one(connection, "SELECT id FROM run WHERE id=?", (int(match[1]),))
    else:
        row = _one(connection, "SELECT run FROM saved WHERE root=? AND name=?", (root, word))
        if row is None:
            newest = "SELECT id FROM run WHERE root=? AND name=? ORDER BY id DESC LIMIT 1"
            row = _one(connection, newest, (root, word))
    if row is None:
        raise NotFound(_no_run(connection, root, word), hint=Try("history"))
    return of_id(connection, row[0])


def of_session(connection: sqlite3.Connection, root: str, name: str | None) -> Run:
    """The newest run of a session of this machine; neither a run that was saved under its name nor one taken in from elsewhere
    comes before it."""
    newest = "SELECT id FROM run WHERE root=? AND name=? AND imported IS NULL ORDER BY id DESC LIMIT 1"
    row = _one(connection, newest, (root, name)) if name else None
    return of_id(connection, row[0]) if row else run(connection, root, name)


def since(connection: sqlite3.Connection, root: str, time: float) -> Run | None:
    """The newest run of the project, if it began after this time."""
    newest = "SELECT id, began FROM run WHERE root=? AND parent IS NULL ORDER BY id DESC LIMIT 1"
    row = _one(connection, newest, (root,))
    return of_id(connection, row[0]) if row and row[1] > time else None


def of_id(connection: sqlite3.Connection, id: int) -> Run:
    name, root, parent = connection.execute("SELECT name, root, parent FROM run WHERE id=?", (id,)).fetchone()
    family = connection.execute("SELECT id FROM run WHERE family=? ORDER BY id", (id,)) if parent is None else ()
    return Run(id, name, root, tuple(each[0] for each in family) or (id,))


def _one(connection: sqlite3.Connection, sql: str, parameters: tuple[Any, ...]) -> tuple[Any, ...] | None:
    found: tuple[Any, ...] | None = connection.execute(sql, parameters).fetchone()
    return found


def _no_run(connection: sqlite3.Connection, root: str, word: str | None) -> str:
    rows = connection.execute(
        "SELECT name, max(id) FROM run WHERE root=? AND parent IS NULL GROUP BY name ORDER BY 2 DESC LIMIT ?",
        (root, LISTED),
    ).fetchall()
    saved = [each[0] for each in connection.execute("SELECT name FROM saved WHERE root=? LIMIT ?", (root, LISTED))]
    there = ", ".join([*saved, *(f"{name} (r{id})" for name, id in rows)])
    what = f"no run {word} is recorded here" if word else "no run of this project is recorded"
    return f"{what}; there are: {there}" if there else what


def info(connection: sqlite3.Connection, id: int) -> RunInfo:
    (found,) = infos(connection, "id=?", (id,))
    return found


def infos(connection: sqlite3.Connection, condition: str, parameters: tuple[Any, ...]) -> tuple[RunInfo, ...]:
    rows = connection.execute(
        "SELECT id, name, root, command, tool, version, parent, began, ended, outcome, daemon, imported,"
        f" {HITS}, (SELECT group_concat(name, ' ') FROM saved WHERE saved.run=run.id) FROM run WHERE {condition}",
        parameters,
    ).fetchall()
    return tuple(_info(row) for row in rows)


def _info(row: tuple[Any, ...]) -> RunInfo:
    id, name, root, command, tool, version, parent, began, ended, outcome, daemon, imported, hits, saved = row
    state = outcome or ("live" if is_alive(daemon or "") else "lost with its daemon")
    return RunInfo(
        run=f"r{id}",
        session=name,
        root=root,
        began=began,
        state=state,
        command=tuple(exact.decode(command, list[str])),
        tool=f"{tool} {version}".strip(),
        seconds=round(ended - began, 3) if ended is not None and ended >= began else None,  # clocks are set back
        hits=hits,
        parent=f"r{parent}" if parent else None,
        saved=tuple((saved or "").split()),
        imported=imported,
    )


def hit(connection: sqlite3.Connection, root: str, word: str, home: Run | None = None) -> int:
    """The row of `h3`, `r2.h3` or `shop.h3`."""
    match = _HIT.match(word)
    if not match:
        raise UsageError(f"{word!r} is no hit: they look like h3, or r2.h3 for one of another run")
    named = f"r{match[1]}" if match[1] else match[2]
    found = run(connection, root, named) if named else home or run(connection, root, None)
    row = _one(connection, "SELECT id FROM hit WHERE run=? AND number=?", (found.id, int(match[3])))
    if row is None:
        total = connection.execute(f"SELECT {HITS} FROM run WHERE id=?", (found.id,)).fetchone()[0]
        there = f"it has h1 to h{total}" if total else "it has no hits"
        raise NotFound(f"there is no h{match[3]} in {found.handle} ({found.name}): {there}", hint=Try("hits"))
    return int(row[0])


class Spot(msgspec.Struct, frozen=True):
    """A place that was reached, as it is in the record."""

    id: int
    file: str
    line: int
    symbol: str
    module: str
    source: int


def reached(connection: sqlite3.Connection, within: Run) -> list[Spot]:
    rows = connection.execute(
        "WITH RECURSIVE come(run, place) AS ("  # from place to place, past the hits at each
        " SELECT id, (SELECT min(place) FROM hit WHERE hit.run=run.id) FROM run"
        f" WHERE id IN ({within.marks}) UNION ALL"
        " SELECT run, (SELECT min(place) FROM hit WHERE hit.run=come.run AND hit.place>come.place) FROM come"
        " WHERE place NOT NULL)"
        " SELECT id, file, line, symbol, module, source FROM place WHERE id IN (SELECT place FROM come)",
        within.members,
    )
    return [Spot(*row) for row in rows]


def places(connection: sqlite3.Connection, within: Run, at: Place, view: View) -> list[Spot]:
    """The recorded places that a location means; a miss lists what there is."""
    all_spots = reached(connection, within)
    found = [each for each in all_spots if _matches(connection, each, at, view, within.root)]
    if not found:
        told = _no_place(connection, within, at, view)
        if other := _elsewhere(connection, within, at, view):
            told += f"; {other.handle} ({other.name}) was there"
            raise NotFound(told, hint=Try("hits", {"at": str(at), "run": other.handle}))
        if isinstance(at, SymbolPlace) and (named := _named_run(connection, within.root, str(at))):
            raise NotFound(f"{told}; {at} is a run", hint=Try("hits", {"run": named}))
        raise NotFound(told, hint=Try("hits"))
    return found


def _named_run(connection: sqlite3.Connection, root: str, word: str) -> str | None:
    """The word, where it means a run: `hits before` for `hits --run before`."""
    try:
        run(connection, root, word)
    except NotFound:
        return None
    return word


def _elsewhere(connection: sqlite3.Connection, within: Run, at: Place, view: View) -> Run | None:
    """The newest other run of the project that has hits at a place."""
    runs = connection.execute(
        "SELECT id FROM run WHERE root=? AND EXISTS (SELECT 1 FROM hit WHERE hit.run=run.id)"
        f" AND id NOT IN ({within.marks}) ORDER BY id DESC LIMIT ?",
        (within.root, *within.members, LISTED),
    ).fetchall()
    for (id,) in runs:
        other = of_id(connection, id)
        if any(_matches(connection, each, at, view, within.root) for each in reached(connection, other)):
            return other
    return None


def _matches(connection: sqlite3.Connection, spot: Spot, at: Place, view: View, root: str) -> bool:
    match at:
        case LinePlace(file, line):
            return spot.line == line and _same_file(spot.file, file, view, root)
        case TextPlace(file, text):
            return _same_file(spot.file, file, view, root) and text in line_of(connection, spot.source, spot.line)
        case SymbolPlace(name, module):
            named = _ends_with(spot.symbol, name) or _ends_with(without_arguments(spot.symbol), name)
            return named and (module is None or module in (spot.module, *_stems(spot.file)))
        case _:
            raise UsageError(f'{at} is no place in the record: use file:line, file@"text" or a function\'s name')


def _ends_with(symbol: str, name: str) -> bool:
    return symbol == name or (symbol.endswith(name) and symbol[-len(name) - 1] in ".:#")


_RECEIVER = re.compile(r"\(\*([^()*]+)\)")
_NAMELESS = "(anonymous namespace)::"
_ACCESSOR = re.compile(r"(?<=\.)[gs]et (?=[\w#$])")
_OPERATOR = re.compile(r"\boperator\b.*\Z")
_ARGUMENTS = re.compile(r"(?<=[\w>\]])(?:::)?(?:<(?:[^<>]|->)*>|\[[^\[\]]*\])")
"""The innermost types of a generic function or class: `Cart<int>`, Rust's `push::<i64>`, Go's `Map[...]`."""


def without_arguments(symbol: str) -> str:
    """A symbol as people write it, who leave out what compilers add: `shop::Cart::add` of `shop::Cart<int>::add`,
    `main.cart.add` of `main.(*cart[...]).add`, `Cart.total` of `Cart.get total`."""
    operator = _OPERATOR.search(symbol)
    named, rest = (symbol[: operator.start()], operator[0]) if operator else (symbol, "")
    plain = _RECEIVER.sub(r"\1", _ACCESSOR.sub("", named.replace(_NAMELESS, "")))
    while (shorter := _ARGUMENTS.sub("", plain)) != plain:
        plain = shorter
    return plain + rest


def _stems(file: str) -> tuple[str, str]:
    name = os.path.basename(file)
    return name, name.partition(".")[0]


def _same_file(kept: str, typed: str, view: View, root: str) -> bool:
    whole = os.path.normpath(os.path.join(view.cwd, typed))
    return os.path.normpath(os.path.join(root, kept)) == whole or (
        not os.path.isabs(typed) and (kept == typed or kept.endswith("/" + typed))
    )


def _no_place(connection: sqlite3.Connection, within: Run, at: Place, view: View) -> str:
    rows = connection.execute(
        "SELECT p.file, p.line, p.symbol, count(*) FROM hit h JOIN place p ON p.id=h.place"
        f" WHERE h.run IN ({within.marks}) GROUP BY 1, 2, 3 ORDER BY 4 DESC",
        within.members,
    ).fetchall()
    if not rows:
        return f"{within.handle} ({within.name}) has no hits at all"
    there = ", ".join(
        f"{view.place(file, line, within.root)} in {symbol} ({n:,})" for file, line, symbol, n in rows[:LISTED]
    )
    more = f" and {len(rows) - LISTED} more" if len(rows) > LISTED else ""
    return f"no hit at {at} in {within.handle} ({within.name}); there are: {there}{more}"


def source_lines(connection: sqlite3.Connection, source: int) -> tuple[int, list[str]]:
    """The kept text of a file: the number of its first line, and the lines."""
    row = connection.execute("SELECT first, text FROM source WHERE id=?", (source,)).fetchone()
    if row is None or not row[1]:
        return 1, []
    return int(row[0]), zlib.decompress(row[1]).decode("utf-8", "replace").split("\n")


def line_of(connection: sqlite3.Connection, source: int, line: int) -> str:
    first, lines = source_lines(connection, source)
    return lines[line - first] if 0 <= line - first < len(lines) else ""


def names_at(connection: sqlite3.Connection, spots: list[Spot], within: Run) -> list[str]:
    """The names that were recorded at these places, the most frequent first."""
    marks = ",".join("?" * len(spots))
    rows = connection.execute(
        f"SELECT n.text, count(*) FROM cell c JOIN name n ON n.id=c.name WHERE c.place IN ({marks}) AND c.hit IN"
        f" (SELECT id FROM hit WHERE run IN ({within.marks})) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?",
        (*(each.id for each in spots), *within.members, 3 * LISTED),
    )
    return [each[0] for each in rows]
