"""Making the record smaller: whole runs go, the oldest first; never one that lives or was saved under a name."""

from __future__ import annotations

import os
import sqlite3
import time
from typing import TYPE_CHECKING

import msgspec

from ..errors import Try, UsageError, WrongState
from ..model.recorded import Pruned
from .pen import Pen
from .schema import HITS

if TYPE_CHECKING:
    from .finding import Run

DAY = 86_400.0
EVENTS = 200_000
"""Events and operations of no run that are kept."""


def prune(
    pen: Pen,
    *,
    days: float | None,
    megabytes: float | None,
    root: str | None = None,
    dry_run: bool = False,
    most: int | None = None,
) -> Pruned:
    """Remove runs that began longer ago than so many days, and the oldest ones until the file is small enough, or so many of
    them. What each frees is measured, since a run of no hits may have printed megabytes; a dry run does it all, and takes it
    back."""
    connection = pen.connection
    before = _size(connection)
    connection.execute("SAVEPOINT pruning")
    gone, kept = list[_Family](), 0
    saved = {row[0] for row in connection.execute("SELECT family FROM run WHERE id IN (SELECT run FROM saved)")}
    limit = time.time() - days * DAY if days is not None else None
    for each in _removable(connection, root):
        is_old = limit is not None and each.began < limit
        if len(gone) == most or (not is_old and (megabytes is None or _size(connection) <= megabytes * 1e6)):
            break
        if each.id in saved:
            kept += 1
            continue
        remove(pen, each.id)
        gone.append(each)
    return msgspec.structs.replace(_released(pen, gone, before, dry_run=dry_run), kept_saved=kept)


def prune_one(pen: Pen, run: Run, *, dry_run: bool) -> Pruned:
    """Remove one run by its name, with its children; a child goes with the run that it is a child of, and not by itself."""
    connection = pen.connection
    (family,) = connection.execute("SELECT family FROM run WHERE id=?", (run.id,)).fetchone()
    if family != run.id:
        words = f"{run.handle} ({run.name}) is a child of r{family}, and goes with it"
        raise UsageError(words, hint=Try("prune", {"run": f"r{family}"}))
    (whole,) = _families(connection, "WHERE family=?", (family,))
    if whole.lives:
        raise WrongState(f"{run.handle} ({run.name}) is live", hint=Try("stop", {"session": run.name}))
    before = _size(connection)
    connection.execute("SAVEPOINT pruning")
    remove(pen, family)
    return _released(pen, [whole], before, dry_run=dry_run)


def _released(pen: Pen, gone: list[_Family], before: int, *, dry_run: bool) -> Pruned:
    """These were removed: sweep behind them and see what that made of the file, for good or not."""
    connection = pen.connection
    if gone:
        _sweep(connection)
    after = _size(connection)
    if dry_run:
        connection.execute("ROLLBACK TO pruning")
    elif gone:
        pen.forget()
    connection.execute("RELEASE pruning")
    runs, hits = sum(each.runs for each in gone), sum(each.hits for each in gone)
    return Pruned(runs=runs, hits=hits, bytes_before=before, bytes_after=after, dry_run=dry_run)


class _Family(msgspec.Struct, frozen=True):
    """A run with its children: they leave the record together."""

    id: int
    began: float
    runs: int
    hits: int
    lives: bool
    root: str


def _families(connection: sqlite3.Connection, condition: str = "", given: tuple[int, ...] = ()) -> list[_Family]:
    """The oldest first."""
    rows = connection.execute(
        f"SELECT family, min(began), count(*), sum({HITS}), sum(ended IS NULL), max(daemon), min(root) FROM run {condition}"
        " GROUP BY family ORDER BY 2",
        given,
    )
    return [
        _Family(id, began, runs, hits, bool(open_) and is_alive(writer or ""), root)
        for id, began, runs, hits, open_, writer, root in rows
    ]


def _removable(connection: sqlite3.Connection, root: str | None) -> list[_Family]:
    """Those that are over."""
    return [each for each in _families(connection) if (root is None or each.root == root) and not each.lives]


def is_alive(daemon: str) -> bool:
    """Whether the process that wrote a run still lives; pids are used again, so it is named by its birth too."""
    pid, _, born = daemon.partition(":")
    return pid.isdigit() and birth(int(pid)) == born


def birth(pid: int) -> str:
    """When a process began, in the machine's own ticks; nothing where there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
            return "" if fields[0] == b"Z" else fields[19].decode()
    except OSError:
        return "" if not _exists(pid) else "?"


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def remove(pen: Pen, family: int) -> None:
    """A run, its children, and everything that is of them alone."""
    connection = pen.connection
    runs = "(SELECT id FROM run WHERE family=?)"
    hits = f"(SELECT id FROM hit WHERE run IN {runs})"
    places = f"(SELECT DISTINCT place FROM hit WHERE run IN {runs})"
    connection.execute(
        f"DELETE FROM value WHERE id IN (SELECT value FROM cell WHERE place IN {places} AND hit IN {hits})",
        (family,) * 2,
    )
    connection.execute(f"DELETE FROM cell WHERE place IN {places} AND hit IN {hits}", (family,) * 2)
    for table in ("hit", "output", "fate", "operation", "event"):
        connection.execute(f"DELETE FROM {table} WHERE run IN {runs}", (family,))
    connection.execute(f"DELETE FROM saved WHERE run IN {runs}", (family,))
    connection.execute("DELETE FROM run WHERE family=?", (family,))


def _sweep(connection: sqlite3.Connection) -> None:
    """What no run needs any more, and the room that it took."""
    connection.execute("DELETE FROM place WHERE id NOT IN (SELECT place FROM hit)")
    connection.execute("DELETE FROM source WHERE id NOT IN (SELECT source FROM place)")
    for table in ("event", "operation"):
        connection.execute(
            f"DELETE FROM {table} WHERE run IS NULL AND id <= (SELECT max(id) FROM {table}) - ?", (EVENTS,)
        )
    connection.execute("PRAGMA incremental_vacuum").fetchall()


def _size(connection: sqlite3.Connection) -> int:
    pages = (
        connection.execute("PRAGMA page_count").fetchone()[0]
        - connection.execute("PRAGMA freelist_count").fetchone()[0]
    )
    return int(pages * connection.execute("PRAGMA page_size").fetchone()[0])
